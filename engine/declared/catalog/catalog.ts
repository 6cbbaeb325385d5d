/**
 * The catalog as files (SPEC.md, Catalog YAML): import with a plan, export that keeps the comments
 * and the order of the file last imported, and what happens at boot.
 */

import { catalogFileSchema } from '../../../schemas/catalog-file.ts'
import { kindOfSection, SECTION_OF } from '../../../schemas/kinds.ts'
import { countWords } from '../../../schemas/plain-words.ts'
import { andMore } from '../../../schemas/problem-words.ts'
import type {
  Catalog,
  CatalogCheck,
  CatalogChecked,
  CatalogDrift,
  CatalogFileDrift,
  CatalogFileSchema,
  CatalogForgotten,
  CatalogImport,
  CatalogImported,
  CatalogPatch,
  CatalogProblem,
  CatalogUnmanaged,
  ChangePlan,
} from '../../../schemas/types.ts'
import { fail, SvcError } from '../../errors.ts'
import { renamedText } from '../../gitops/pull.ts'
import { identityOf, type Section } from '../../gitops/render.ts'
import { isCompact, readCatalog, readTree, renderCatalog, updateCatalog } from '../../gitops/update.ts'
import {
  type ChangeKind,
  type Doc,
  type Edit,
  type NamedKind,
  namedKinds,
  partKinds,
  type Stored,
  type StoredOf,
} from '../../model/documents.ts'
import { MASK } from '../../model/plan.ts'
import { DEFAULT_TEMPLATE } from '../../model/project.ts'
import { connectorOf, describeConnectorSchemas } from '../../sources/connectors/index.ts'
import type { Declared, WriteBy } from '../declared.ts'
import { createProject } from '../projects/project-writes.ts'
import {
  type CatalogRead,
  CHECK,
  checkFile,
  importFile,
  type Modes,
  mergingOf,
  type Named,
  namedNow,
  ownedNow,
  readFile,
  refuseConflicting,
  refuseWhole,
  stagingOf,
} from './apply.ts'
import { type ExportParts, exportCatalog } from './export.ts'
import { isPlain, refuse, sameEntry, secretPlaces, withValues } from './import-run.ts'
import { namedIn } from './merge.ts'
import {
  contestedIn,
  type RememberedFile,
  type RememberedFiles,
  readTexts,
  refuseLarge,
  rememberedFiles,
  sparedBy,
} from './texts.ts'

export interface CatalogFiles {
  /** The instance as a catalog file; of these sources only, when given. JSON is read as YAML is. */
  render(sources?: readonly string[], format?: 'yaml' | 'json'): string
  /**
   * A given file brought up to date: comments, order and formatting of what stays are kept, a secret in
   * plain text becomes its mask. With `merge` only what was changed by hand is written.
   * @throws SvcError invalid; conflict with what both changed
   */
  update(body: CatalogPatch): string
  /**
   * All problems of a file, or its plan when it has none.
   * @param compares whether the caller may learn if a secret is the stored one.
   * @param modes of parts that keep what was changed by hand.
   */
  check(body: CatalogCheck, compares: boolean, modes?: Modes): CatalogChecked
  /**
   * @param read of the file, where it was read before.
   * @throws SvcError invalid with every problem and its place, conflict when another plan was approved;
   *   nothing is then written.
   */
  import(body: CatalogImport, by: WriteBy, read?: CatalogRead, modes?: Modes): CatalogImported
  /** What an import takes from the text of a file. @throws SvcError invalid with all that is wrong with a file that has problems of its own */
  read(body: CatalogImport): CatalogRead
  /** Texts that say what the instance has are those applied last: what changes from here on is told from them. */
  remember(body: CatalogImport, read?: CatalogRead): void
  /** How the instance differs from the files that were imported. */
  drift(): CatalogDrift
  /** A file is not compared any more; what it declared stays. @throws SvcError not_found */
  forget(name: string): CatalogForgotten
  /** The JSON Schema of the file, for editors. */
  schema(): CatalogFileSchema
  /** Whether anything is declared. */
  isEmpty(): boolean
}

export function openCatalog(declared: Declared): CatalogFiles {
  const files = rememberedFiles(declared.store.db)
  const readWhole = (body: CatalogImport): CatalogRead => {
    try {
      return readFile(declared, body)
    } catch (error) {
      if (error instanceof SvcError) refuseWhole(declared, body, error.extra.problems ?? [], files.all())
      throw error
    }
  }
  return {
    render: (sources, format = 'yaml') => {
      if (format === 'json') return JSON.stringify(exportCatalog(declared, { sources }))
      const kept = sources ? null : files.newest()
      // What several files said is remembered as one line of JSON, which nobody wrote.
      if (!kept || isCompact(kept.text)) return renderCatalog(exportCatalog(declared, { sources }))
      const reading = readTree(kept.text)
      const own = reading.name === null ? null : [{ ...kept, carries: true }]
      // One catalog may not declare what others own: of several the whole is in none of their names.
      if (own && ownedNow(declared, files.all(), own).size > 0) return renderCatalog(exportCatalog(declared))
      return updateCatalog(kept.text, exportCatalog(declared, reading), sameEntry, reading)
    },
    update: (body) => {
      const { yaml, others = [] } = body
      if (body.merge) {
        const { said, current, byHand } = handChanged(declared, files.all(), body, (view, wanted) =>
          masked({ ...declared, ...view }, wanted, exportCatalog(view, { said: wanted })),
        )
        const text = others.length ? JSON.stringify(said) : yaml
        return updateCatalog(renamedText(text, byHand, byHand) ?? text, current, sameEntry)
      }
      if (others.length) fail('invalid', 'others needs merge', { field: 'others' })
      refuseLarge(body)
      const reading = readTree(yaml, true)
      refuse(reading.problems)
      const said = reading.catalog!
      const current = masked(declared, said, exportCatalog(declared, reading))
      // A file that carries its name says what is its own, and what nobody owns.
      const own = reading.name === null ? null : [{ name: reading.name, carries: true, text: yaml }]
      const shown = own ? withoutOthers(current, said, ownedNow(declared, files.all(), own)) : current
      return updateCatalog(yaml, shown, sameEntry, reading)
    },
    check: (body, compares, modes) => checkFile(declared, body, compares, files.all(), modes),
    import: (body, by, read = readWhole(body), modes = null) =>
      declared.store.tx(() => importFile(declared, files, body, by, read, modes)),
    read: readWhole,
    remember: (body, read = readWhole(body)) =>
      declared.store.tx(() => {
        for (const { name, text } of read.files.toReversed()) files.keep(name, text, declared.clock.now())
      }),
    drift: () => driftOf(declared, files),
    forget: (name) => {
      files.forget(name)
      return { ok: true, name }
    },
    schema: () => catalogFileSchema(describeConnectorSchemas()),
    isEmpty: () => declared.kinds.source.list().length === 0 && declared.kinds.trigger.list().length === 0,
  }
}

type Viewed = Pick<Declared, 'templates'> & Pick<ExportParts, 'kinds'>

/** The instance, with a mask where the file has a secret in plain text and the instance has one, too. */
function masked(declared: Viewed, said: Catalog, current: Catalog): Catalog {
  // An address is masked in the instance's own export already.
  const plain = secretPlaces(said, declared.templates).filter(
    ({ value, isAddress }) => !isAddress && (isPlain(value) || value === MASK),
  )
  return plain.reduce((catalog, place) => {
    const index = (catalog[place.section] as { name?: string }[] | undefined)?.findIndex(
      ({ name }) => name === place.name,
    )
    const isStored = index !== undefined && index >= 0 && hasSecret(declared, place)
    return isStored ? withValues(catalog, [[{ ...place, index }, MASK]]) : catalog
  }, current)
}

/** Whether the instance has text of its own, not a reference, where the file has a secret. */
function hasSecret({ kinds }: Viewed, { section, name, inner }: ReturnType<typeof secretPlaces>[number]) {
  const stored =
    section === 'projects'
      ? kinds.project.list().find((project) => project.name === name)
      : kinds[kindOfSection(section)!].find(name)
  const value = inner.reduce<unknown>(
    (at, step) => (at as Record<string, unknown> | undefined)?.[step],
    stored?.doc,
  )
  return typeof value === 'string' && isPlain(value)
}

/* How the instance differs from the catalog files it was told, each by itself, and what is in none. */

/** Each file by name; `plan` and `imported_at` of the whole are those of the file imported last. */
function driftOf(declared: Declared, remembered: RememberedFiles): CatalogDrift {
  const kept = remembered.all()
  const wiring = kept.filter(({ text }) => text.includes('wiring'))
  const files = kept.map((file) => fileDrift(declared, file, wiring))
  const renamed = files.flatMap(({ plan }) => (plan ? namesBefore(plan) : []))
  const unmanaged = kept.length ? unmanagedBy(declared, new Set([...namedByFiles(kept), ...renamed])) : []
  const last = files.find(({ name }) => name === remembered.newest()?.name)
  return {
    imported_at: last?.imported_at ?? null,
    plan: last?.plan ?? null,
    drifted: files.some(hasDrifted) || unmanaged.length > 0,
    files,
    unmanaged,
  }
}

const hasDrifted = ({ plan }: CatalogFileDrift): boolean => plan === null || plan.changes.length > 0

/** @param wiring remembered files with wiring rows: what they wire is no drift of this file */
function fileDrift(
  declared: Declared,
  file: RememberedFile,
  wiring: readonly RememberedFile[],
): CatalogFileDrift {
  const { name, text, imported_at } = file
  // What an import was allowed to do is not asked again; what it said is what was applied last.
  const { plan, problems } = checkFile(declared, { yaml: text, name }, true, [
    file,
    ...wiring.filter((other) => other !== file),
  ])
  return {
    name,
    imported_at: new Date(imported_at).toISOString(),
    plan: plan && onlyChanges(plan),
    problems: plan ? [] : problems,
  }
}

/** A plan without what stays as it is. */
function onlyChanges(plan: ChangePlan): ChangePlan {
  return { ...plan, changes: plan.changes.filter(({ action }) => action !== 'none') }
}

/** What the files name that are remembered, as kind:name. */
export function namedByFiles(kept: readonly RememberedFile[]): Set<string> {
  return new Set(kept.flatMap(({ text }) => [...namedIn(readCatalog(text).catalog ?? {})]))
}

/** What a plan gives another name is in the files by that. */
export const namesBefore = ({ changes }: ChangePlan): string[] =>
  changes.flatMap(({ kind, renamed_from: from }) => (from === undefined ? [] : [`${kind}:${from}`]))

/**
 * Parts and projects that no file names and no template of a project plans.
 * @param named as kind:name; what templates plan is added to it
 */
export function unmanagedBy({ kinds }: Pick<Declared, 'kinds'>, named: Set<string>): CatalogUnmanaged[] {
  const found: CatalogUnmanaged[] = []
  for (const { name, doc } of kinds.project.list()) {
    const { template, draft, plan } = doc
    for (const [kind, entries] of Object.entries(plan ?? {}))
      for (const planned of Object.values(entries ?? {})) named.add(`${kind}:${planned.name}`)
    if (template !== DEFAULT_TEMPLATE && !draft && !named.has(`project:${name}`))
      found.push({ kind: 'project', name })
  }
  const parts = namedKinds.flatMap((kind) =>
    kinds[kind]
      .list()
      .filter(({ name, doc }: Stored) => !named.has(`${kind}:${name}`) && !isInternal(kind, doc.connector))
      .map(({ name }): CatalogUnmanaged => ({ kind, name })),
  )
  return [...parts, ...found]
}

/** The service's own sources are in no file. */
const isInternal = (kind: NamedKind, connector: unknown): boolean =>
  kind === 'source' && connectorOf(String(connector)).internal === true

/* What was changed by hand since files were applied, as a catalog that the files can be brought up to. */

/**
 * Texts and what was changed by hand since they were applied: what an instance would say that has both.
 * @param tell makes a catalog of that instance. @returns what the texts say, and what it says
 * @throws SvcError invalid with every problem; conflict with every field that both changed
 */
function handChanged(
  declared: Declared,
  remembered: readonly RememberedFile[],
  body: CatalogPatch,
  tell: (view: ExportParts, said: Catalog) => Catalog,
): { said: Catalog; current: Catalog; byHand: Named['byHand'] } {
  const { catalog: said, problems, locate, files } = readTexts(body)
  refuse(problems)
  const owned = ownedNow(declared, remembered, files)
  refuse(contestedIn(said!, files, owned, locate))
  const spared = sparedBy(files, owned)
  const { catalog, byHand } = namedNow(declared, said!, remembered, files, { isMerge: true })
  const merging = mergingOf(body, remembered, files, byHand)!
  // What the texts took out is no longer in them: it is pruned, or it would come back.
  const stage = stagingOf(declared, catalog, { prune: true, locate, compares: true, spared, merging })
  const { result: current } = declared.changes.commit(
    CHECK,
    (edit) => {
      refuseConflicting(stage(edit)!.conflicts)
      return tell(viewOf(declared, edit), catalog)
    },
    true,
  )
  return { said: said!, current: withoutOthers(current, catalog, owned), byHand }
}

/**
 * What catalogs that carry their names own is left to them, and so is what nobody owns but is in a project of theirs, or
 * refers to what is theirs: a file that had it could not be read by itself.
 * @param said what the file says: that stays its own
 */
function withoutOthers(current: Catalog, said: Catalog, owned: ReadonlyMap<string, string>): Catalog {
  const left = new Set(owned.keys())
  const known = new Set(
    Object.entries(said).flatMap(([section, entries]) =>
      (entries as unknown[]).map((entry) => `${section}:${identityOf(section as Section, entry)}`),
    ),
  )
  const isLeft = (section: string, entry: object): boolean => {
    const id = `${section}:${identityOf(section as Section, entry)}`
    return left.has(id) || (!known.has(id) && referencesOf(entry).some((reference) => left.has(reference)))
  }
  // What refers to what is left is left, and so on.
  for (let before = -1; before !== left.size; ) {
    before = left.size
    for (const [section, entries] of Object.entries(current))
      for (const entry of entries as object[])
        if (isLeft(section, entry)) left.add(`${section}:${identityOf(section as Section, entry)}`)
  }
  return Object.fromEntries(
    Object.entries(current).map(([section, entries]) => [
      section,
      (entries as object[]).filter((entry) => !isLeft(section, entry)),
    ]),
  ) as Catalog
}

/** What an entry of a catalog refers to, as section:name. */
function referencesOf(entry: object): string[] {
  const { project, projects, used_by: users, sources, mcp_servers: servers, tools } = entry as Doc
  const { trigger, wake, agent, to, handoffs, objects } = entry as Doc
  const rows = (list: unknown) => (Array.isArray(list) ? (list as Doc[]) : [])
  const all: Record<string, unknown[]> = {
    projects: [project, projects, users],
    sources: [sources],
    mcp_servers: [servers, rows(tools).map(({ server }) => server)],
    triggers: [trigger, wake],
    agents: [agent, to, rows(handoffs).map((row) => row.agent)],
  }
  const shared = rows(objects).map(
    ({ kind, name }) => `${SECTION_OF[String(kind).replace(' ', '_') as ChangeKind]}:${String(name)}`,
  )
  const named = Object.entries(all).flatMap(([section, values]) =>
    values.flat(2).flatMap((name) => (typeof name === 'string' ? `${section}:${name}` : [])),
  )
  return [...named, ...shared]
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

/*
 * What is declared at boot: the catalog file on the first boot, or on every boot when it is to be
 * kept in step; a project to begin with, once; and a home for parts of before there were projects
 * (SPEC.md, Deployment: SVC_CATALOG, SVC_CATALOG_SYNC, SVC_SEED_PROJECT). A file with problems does
 * not stop the start: what was declared stays, and the report says why.
 */

type BootFile = Pick<CatalogImport, 'yaml' | 'name' | 'others'> & {
  path: string
  /** The one file that `yaml` is the text of, as it was written; absent: it was put together of several. */
  written?: string
}

export interface BootCatalog {
  /** The catalog file, as text, with its path for messages; of a folder, what its owners declare. */
  catalog?: BootFile | undefined
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
    importAtBoot(catalog, boot.catalog, boot.sync ?? false, report)
  if (boot.seedProject) seed(declared, boot.seedProject, report)
  return report
}

function importAtBoot(
  catalog: CatalogFiles,
  { path, written, ...texts }: BootFile,
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
    const { problems = [] } = error.extra
    const why = written === undefined || problems.length === 0 ? error.message : placed(written, problems)
    // Of an empty instance nothing was declared before.
    const stays = catalog.isEmpty() ? '' : ', and what was declared before stays'
    report.failed.push(`${path} was not imported${stays}: ${why}`)
  }
}

/** The first problem of a file with its place, as `svc catalog check` prints it. */
function placed(file: string, problems: readonly CatalogProblem[]): string {
  const { line, column, path, message } = problems[0]!
  return `${file}:${line}:${column}: ${path ? `${path}: ` : ''}${message}${andMore(problems)}`
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
  report.done.push(`${countWords(homeless.length, 'source')} joined the Default project`)
}
