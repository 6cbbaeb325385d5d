/** What was changed by hand since files were applied, as a catalog that the files can be brought up to. */
import type { Catalog, CatalogPatch } from '../../../schemas/types.ts'
import { type ChangeKind, type Doc, type Edit, partKinds, type StoredOf } from '../../model/documents.ts'
import type { Declared } from '../declared.ts'
import { CHECK, mergingOf, refuseConflicting, stagingOf } from './apply.ts'
import type { ExportParts } from './export.ts'
import { refuse } from './import-run.ts'
import type { RememberedFile } from './remembered.ts'
import { contestedIn, ownedByOthers, readTexts, sparedBy } from './texts.ts'

/**
 * Texts and what was changed by hand since they were applied: what an instance would say that has both.
 * @param tell makes a catalog of that instance. @returns what the texts say, and what it says
 * @throws SvcError invalid with every problem; conflict with every field that both changed
 */
export function handChanged(
  declared: Declared,
  remembered: readonly RememberedFile[],
  body: CatalogPatch,
  tell: (view: ExportParts, said: Catalog) => Catalog,
): { said: Catalog; current: Catalog } {
  const { catalog, problems, locate, files } = readTexts(body)
  refuse(problems)
  const owned = ownedByOthers(remembered, files)
  refuse(contestedIn(catalog!, files, owned, locate))
  const spared = sparedBy(files, owned)
  const merging = mergingOf(body, remembered, files)!
  // What the texts took out is no longer in them: it is pruned, or it would come back.
  const stage = stagingOf(declared, catalog!, { prune: true, locate, compares: true, spared, merging })
  const { result: current } = declared.changes.commit(
    CHECK,
    (edit) => {
      refuseConflicting(stage(edit)!.conflicts)
      return tell(viewOf(declared, edit), catalog!)
    },
    true,
  )
  const others = new Set(owned.keys())
  const own = Object.entries(current).map(([section, entries]) => [
    section,
    (entries as { name?: string }[]).filter(({ name }) => !others.has(`${section}:${name}`)),
  ])
  return { said: catalog!, current: Object.fromEntries(own) as Catalog }
}

/** The instance as an edit would leave it, as far as an export looks at it. */
function viewOf({ projects, templates }: Declared, edit: Edit): ExportParts {
  const viewed = <K extends ChangeKind>(kind: K) => {
    const list = () =>
      [...edit.all(kind)].map(([key, doc]): StoredOf<K> => {
        const fields: Doc = doc
        const name = kind === 'project' ? String(fields.name) : key
        return { ...(edit.stored(kind, key) ?? NEW), key, doc, name }
      })
    return { list, find: (key: string) => list().find((one) => one.key === key) }
  }
  const planned = () => {
    const rows = projects.planned()
    const known = new Set(rows.map(({ kind, name }) => `${kind}:${name}`))
    const made = [...edit.all('project').values()].flatMap(({ plan = {} }) =>
      partKinds.flatMap((kind) =>
        Object.values(plan[kind] ?? {}).map(({ name }) => ({ kind, name, state: 'planned' })),
      ),
    )
    return [...rows, ...made.filter(({ kind, name }) => !known.has(`${kind}:${name}`))]
  }
  const kinds = {
    source: viewed('source'),
    mcp_server: viewed('mcp_server'),
    skill: viewed('skill'),
    trigger: viewed('trigger'),
    agent: viewed('agent'),
    entity: viewed('entity'),
    project: viewed('project'),
  }
  return { kinds, projects: { planned }, templates }
}

/** What an object that is only staged has beside its document. */
const NEW = { sealed: '', changeSet: 0, state: '', createdAt: 0, updatedAt: 0, unreadable: [] }
