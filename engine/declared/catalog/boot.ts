/**
 * What is declared at boot: the catalog file on the first boot, or on every boot when it is to be
 * kept in step; a project to begin with, once; and a home for parts of before there were projects
 * (SPEC.md, Deployment: SVC_CATALOG, SVC_CATALOG_SYNC, SVC_SEED_PROJECT). A file with problems does
 * not stop the start: what was declared stays, and the report says why.
 */
import type { CatalogImport } from '../../../schemas/types.ts'
import { SvcError } from '../../errors.ts'
import type { Declared } from '../declared.ts'
import { createProject } from '../project-writes.ts'
import type { WriteBy } from '../write.ts'
import type { CatalogFiles } from './catalog.ts'

export interface BootCatalog {
  /** The catalog file, as text, with its path for messages; of a folder, what its owners declare. */
  catalog?: ({ path: string } & Pick<CatalogImport, 'yaml' | 'name' | 'others'>) | undefined
  /** Path of the catalog file, there or not: drafts are offered as patches of it; catalog.yaml when absent. */
  file?: string | undefined
  /** Import on every boot, not only into an empty store. */
  sync?: boolean | undefined
  /** Template key of a project to make once. */
  seedProject?: string | undefined
}

export interface BootReport {
  /** Sentences for the log. */
  done: string[]
  /** Sentences for the log and GET /health: what could not be done. */
  failed: string[]
  /** Sentences for the log as errors; GET /health has them from the status, while they hold. */
  warned?: string[]
}

const BOOT: WriteBy = { caller: { id: 'boot', name: 'svc' }, origin: 'boot' }
const SEEDED = 'seeded_project'

export function bootCatalog(declared: Declared, catalog: CatalogFiles, boot: BootCatalog): BootReport {
  const report: BootReport = { done: [], failed: [] }
  housePartsOfBefore(declared, report)
  if (boot.catalog && (boot.sync || catalog.isEmpty()))
    importFile(catalog, boot.catalog, boot.sync ?? false, report)
  if (boot.seedProject) seed(declared, boot.seedProject, report)
  return report
}

function importFile(
  catalog: CatalogFiles,
  { path, ...texts }: NonNullable<BootCatalog['catalog']>,
  sync: boolean,
  report: BootReport,
): void {
  try {
    const { plan, change_set } = catalog.import(
      { ...texts, file: path, why: sync ? `synced from ${path}` : `imported from ${path} on the first boot` },
      { ...BOOT, origin: 'catalog' },
    )
    const { creates, updates, unchanged } = plan
    report.done.push(
      change_set === null
        ? `${path}: no change`
        : `${path} ${sync ? 'synced' : 'imported'}: ${creates} created, ${updates} changed, ${unchanged} as they were`,
    )
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    report.failed.push(`${path} was not imported, and what was declared before stays: ${error.message}`)
  }
}

/** Once, whatever comes of it later: a project that is deleted is not made again. */
function seed(declared: Declared, template: string, report: BootReport): void {
  const { db } = declared.store
  if (db.prepare('SELECT 1 FROM meta WHERE key = ?').get(SEEDED)) return
  try {
    declared.store.tx(() => {
      const { id, name } = createProject(declared, { template }, { ...BOOT, why: 'SVC_SEED_PROJECT' })
      db.prepare('INSERT INTO meta VALUES (?, ?)').run(SEEDED, id)
      report.done.push(`seeded project ${name} (${id})`)
    })
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    report.failed.push(`SVC_SEED_PROJECT=${template}: ${error.message}`)
  }
}

/** Sources made before there were projects join the Default one. */
function housePartsOfBefore(declared: Declared, report: BootReport): void {
  const homeless = declared.kinds.source
    .list()
    .filter(({ name }) => declared.projects.users('source', name).length === 0)
  if (homeless.length === 0) return
  declared.changes.commit({ ...BOOT, why: 'parts of before there were projects' }, (edit) => {
    for (const { name, doc } of homeless) edit.put('source', name, doc)
  })
  report.done.push(`${homeless.length} source${homeless.length === 1 ? '' : 's'} joined the Default project`)
}
