/**
 * The catalog as files (SPEC.md, Catalog YAML): import with a plan, export that keeps the comments
 * and the order of the file last imported, and what happens at boot.
 */
import type {
  Catalog,
  CatalogChecked,
  CatalogDrift,
  CatalogImport,
  CatalogImported,
  ChangePlan,
} from '../../schemas/types.ts'
import { describeConnectorSchemas } from '../connectors/index.ts'
import type { Declared } from '../declared/declared.ts'
import { mintForNew } from '../declared/source-writes.ts'
import type { WriteBy } from '../declared/write.ts'
import { SvcError } from '../errors.ts'
import { catalogFileSchema, readCatalog, renderCatalog, updateCatalog } from './document/index.ts'
import { exportCatalog } from './export.ts'
import { refuse, stageCatalog } from './import.ts'
import { sameEntry } from './same.ts'

export interface CatalogFiles {
  /** The instance as YAML; of these sources only, when given. */
  render(sources?: readonly string[]): string
  /** A given file brought up to date: comments, order and formatting of what stays are kept. @throws SvcError invalid */
  update(yaml: string): string
  /** Every problem of a file, and the plan when there is none. */
  check(yaml: string, prune: boolean): CatalogChecked
  /** @throws SvcError invalid with every problem and its place; nothing is then written. */
  import(body: CatalogImport, by: WriteBy): CatalogImported
  /** How the instance differs from the file last imported. */
  drift(): CatalogDrift
  /** The JSON Schema of the file, for editors. */
  schema(): object
  /** Whether anything is declared. */
  isEmpty(): boolean
}

const SECTIONS = ['sources', 'triggers', 'agents', 'mcp_servers', 'projects', 'skills'] as const

export function openCatalog(declared: Declared): CatalogFiles {
  const { db } = declared.store
  const keepFile = db.prepare('INSERT OR REPLACE INTO catalog_file (id, text, imported_at) VALUES (1, ?, ?)')
  const selectKept = db.prepare<[], { text: string; imported_at: number }>(
    'SELECT text, imported_at FROM catalog_file WHERE id = 1',
  )
  const current = () => exportCatalog(declared)
  const update = (yaml: string): string => updateCatalog(yaml, current(), sameEntry)
  const check = (yaml: string, prune: boolean): CatalogChecked => {
    const { catalog, problems, locate } = readCatalog(yaml)
    if (!catalog || problems.length) return { problems, plan: null }
    const author: WriteBy = { caller: { id: 'check', name: 'check' }, origin: 'catalog' }
    try {
      const stage = (edit: Parameters<typeof stageCatalog>[1]) =>
        stageCatalog(declared, edit, catalog, { prune, locate })
      return { problems: [], plan: declared.changes.commit(author, stage, true).plan }
    } catch (error) {
      if (!(error instanceof SvcError)) throw error
      const found = error.extra.problems ?? [{ line: 1, column: 1, path: '', message: error.message }]
      return { problems: found, plan: null }
    }
  }
  return {
    render: (sources) => {
      if (sources) return renderCatalog(exportCatalog(declared, sources))
      const kept = selectKept.get()?.text
      return kept === undefined ? renderCatalog(current()) : update(kept)
    },
    update: (yaml) => {
      refuse(readCatalog(yaml).problems)
      return update(yaml)
    },
    check,
    import: (body, by) =>
      declared.store.tx(() => {
        const { catalog, problems, locate } = readCatalog(body.yaml)
        refuse(problems)
        const prune = body.prune === true || body.mode === 'replace'
        const isDry = body.dry_run ?? false
        const { plan, changeSet } = declared.changes.commit(
          { ...by, why: body.why ?? by.why },
          (edit) => stageCatalog(declared, edit, catalog!, { prune, locate }),
          isDry,
        )
        // Kept without the secrets it may hold: what is exported holds none.
        if (!isDry) keepFile.run(update(body.yaml), declared.clock.now())
        const keys = isDry ? {} : mintForNew(declared, plan, by)
        return { ok: true, dry_run: isDry, change_set: changeSet, plan, ...keys, ...countsOf(catalog!) }
      }),
    drift: () => {
      const kept = selectKept.get()
      if (!kept) return { imported_at: null, plan: null }
      const { plan } = check(kept.text, false)
      return { imported_at: new Date(kept.imported_at).toISOString(), plan: plan && onlyChanges(plan) }
    },
    schema: () => catalogFileSchema(describeConnectorSchemas()),
    isEmpty: () => declared.kinds.source.list().length === 0 && declared.kinds.trigger.list().length === 0,
  }
}

/** A plan without what stays as it is. */
function onlyChanges(plan: ChangePlan): ChangePlan {
  return { ...plan, changes: plan.changes.filter(({ action }) => action !== 'none') }
}

function countsOf(catalog: Catalog) {
  const names = Object.fromEntries(
    SECTIONS.map((section) => [
      section,
      ((catalog[section] ?? []) as { name?: string }[]).map(({ name }) => name ?? ''),
    ]),
  )
  const counts = Object.fromEntries(SECTIONS.map((section) => [section, names[section]!.length]))
  return { ...(counts as Record<(typeof SECTIONS)[number], number>), names }
}
