/** A part as it was after a change-set: from how it is now, with the changes since taken back, newest first. */
import type { ChangeSet, FieldChange, Trigger, TriggerDefinition } from '../../schemas/types.ts'

type Doc = Record<string, unknown>

/**
 * @param now as it is; null: it is no longer there
 * @param sets of the part, newest first, each with its change of it
 * @param version change-set whose state is wanted: later ones are taken back
 * @returns null where it was not there then
 */
export function asOf(
  now: Doc | null,
  sets: readonly ChangeSet[],
  part: { kind: string; name: string },
  version: number,
): Doc | null {
  let doc = now
  for (const set of sets) {
    if (set.id <= version) break
    const change = set.changes.find(({ kind, key }) => kind === part.kind && key === part.name)
    if (!change || change.action === 'none') continue
    doc = change.action === 'create' ? null : change.fields.reduce(takeBack, doc ?? {})
  }
  return doc
}

/** Takes one field back to what it was. */
function takeBack(doc: Doc, { path, from }: FieldChange): Doc {
  const keys = path
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  if (keys.length === 0) return (from ?? {}) as Doc
  return put(doc, keys, from)
}

function put(doc: Doc, [key, ...rest]: string[], value: unknown): Doc {
  const { [key!]: old, ...others } = doc
  if (rest.length) {
    const inner = typeof old === 'object' && old !== null ? (old as Doc) : {}
    return { ...doc, [key!]: put(inner, rest, value) }
  }
  return value === undefined ? others : { ...doc, [key!]: value }
}

/** What of a trigger decides when it fires. */
export function definitionIn(doc: Doc | Trigger): TriggerDefinition {
  const { sources, condition, filters, key_field, cooldown, storm, max_late } = doc as Trigger
  return {
    sources,
    condition,
    ...(filters ? { filters } : {}),
    ...(key_field ? { key_field } : {}),
    ...(cooldown ? { cooldown } : {}),
    ...(storm ? { storm } : {}),
    ...(max_late ? { max_late } : {}),
  }
}
