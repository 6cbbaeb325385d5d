/** Whose parts are: the project they belong to, those that use them, and whether a hand edited them. */
import type { PartKind } from '../changes/declared.ts'
import type { Belonging } from '../sources/sources.ts'
import { DEFAULT_TEMPLATE } from '../wiring/project-doc.ts'
import type { Declared } from './declared.ts'

/** Looks everything up once, for lists. */
export function belongings({ kinds, projects }: Declared): (kind: PartKind, name: string) => Belonging {
  const users = new Map<string, string[]>()
  const owner = new Map<string, string>()
  for (const { key: id, doc } of kinds.project.list()) {
    const { uses, template } = doc
    for (const [kind, names] of Object.entries(uses))
      for (const [name, use] of Object.entries(names ?? {})) {
        const part = `${kind}:${name}`
        users.set(part, [...(users.get(part) ?? []), id])
        if (use.owned && template !== DEFAULT_TEMPLATE) owner.set(part, id)
      }
  }
  const customized = new Set(
    projects
      .planned()
      .filter(({ state }) => state === 'customized')
      .map(({ kind, name }) => `${kind}:${name}`),
  )
  return (kind, name) => {
    const part = `${kind}:${name}`
    return {
      owned_by: owner.get(part) ?? null,
      customized: customized.has(part),
      projects: (users.get(part) ?? []).sort(),
    }
  }
}
