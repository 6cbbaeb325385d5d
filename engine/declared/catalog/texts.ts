/** The texts of an import as one catalog, and who owns which part: a catalog that carries its name owns what it declares. */
import { kindOfSection, kindWord, SECTION_OF } from '../../../schemas/kinds.ts'
import type {
  Catalog,
  CatalogCheck,
  CatalogMoved,
  CatalogProblem,
  ChangePlan,
  Wake,
} from '../../../schemas/types.ts'
import { fail, type SvcError } from '../../errors.ts'
import { MOVED_KEY, moveFaults, movesOf, withMoves } from '../../gitops/moved.ts'
import { identityOf } from '../../gitops/render.ts'
import { pathText, sizeFault } from '../../gitops/tree.ts'
import { isCompact, readCatalog, type Sound, soundOf } from '../../gitops/update.ts'
import type { Database } from '../../log/store/handle.ts'
import { type ChangeKind, type Edit, type PartKind, partKinds } from '../../model/documents.ts'
import { DEFAULT_TEMPLATE, type ProjectDoc, projectsOf } from '../../model/project.ts'

export type Path = (string | number)[]
export type Locate = (
  path: Path,
) => Pick<CatalogProblem, 'line' | 'column' | 'end_line' | 'end_column' | 'file'>

/** Sections of parts and projects. */
export const SECTIONS = Object.values(SECTION_OF)

export interface KeptText {
  name: string
  text: string
  /** Whether the text itself carries the name. */
  carries: boolean
}

/** One text of an import, read by itself. */
export interface ReadText extends KeptText {
  catalog: Catalog | null
  sound: Sound | null
  moved: readonly CatalogMoved[]
  problems: CatalogProblem[]
  locate: Locate
}

/** @throws SvcError too_large with the size and the bound */
export function refuseLarge({ yaml, others = [] }: Pick<CatalogCheck, 'yaml' | 'others'>): void {
  const given = [['yaml', yaml] as const, ...others.map((one, i) => [`others[${i}].yaml`, one.yaml] as const)]
  for (const [field, text] of given) {
    const fault = sizeFault(text, field)
    if (fault) fail('too_large', fault, { field })
  }
}

/**
 * The texts of an import as one catalog: each section has the entries of the first, then those of the others.
 * @throws SvcError too_large; invalid for a name that is given twice
 */
export function readTexts(body: Pick<CatalogCheck, 'yaml' | 'name' | 'file' | 'others'>): {
  catalog: Catalog | null
  /** What else of one text can be looked at beside its problems. */
  sound: Sound | null
  problems: CatalogProblem[]
  locate: Locate
  files: [ReadText, ...ReadText[]]
} {
  refuseLarge(body)
  const { yaml, others = [] } = body
  const read = (text: string, as: Pick<CatalogCheck, 'name' | 'file'>): ReadText => {
    const { name: carried, ...said } = readCatalog(text)
    return { name: nameOfFile(carried, as), carries: carried !== null, text, ...said }
  }
  const first = read(yaml, body)
  const files: [ReadText, ...ReadText[]] = [first, ...others.map((other) => read(other.yaml, other))]
  if (files.length === 1) {
    const { locate, sound } = first
    return { ...withMoved(first, files, locate), sound, locate, files }
  }
  const repeated = files.find(({ name }, i) => files.findIndex((file) => file.name === name) !== i)
  if (repeated) fail('invalid', `others: ${repeated.name} is given twice`, { field: 'others' })
  const problems = files.flatMap((file, n) => problemsIn(file, files.slice(0, n)))
  const locate: Locate = ([section, index, ...rest]) => {
    let at = Number(index)
    for (const file of files) {
      const { locate: inner, name } = file
      const length = countIn(file, String(section))
      if (section !== undefined && at < length) return { ...inner([section, at, ...rest]), file: name }
      at -= length
    }
    return { ...first.locate([]), file: first.name }
  }
  if (problems.length) return { catalog: null, sound: soundIn(files), problems, locate, files }
  const whole = joined(files.map(({ catalog }) => catalog ?? {}))
  const said = { catalog: whole, problems: twiceIn(whole, locate) }
  return { ...withMoved(said, files, locate), sound: null, locate, files }
}

/** Catalogs as one: each section has the entries of the first, then those of the others. */
function joined(catalogs: readonly Catalog[]): Catalog {
  const sections = new Set(catalogs.flatMap((catalog) => Object.keys(catalog)))
  const entriesOf = (catalog: Catalog, section: string) =>
    (catalog as Readonly<Record<string, unknown[] | undefined>>)[section] ?? []
  return Object.fromEntries(
    [...sections].map((section) => [section, catalogs.flatMap((catalog) => entriesOf(catalog, section))]),
  ) as Catalog
}

/** How many entries of a section a text has, those with problems among them. */
function countIn({ catalog, sound, moved }: ReadText, section: string): number {
  if (section === MOVED_KEY) return moved.length
  const entries = catalog?.[section as (typeof SECTIONS)[number]] as unknown[] | undefined
  return entries?.length ?? sound?.counts[section] ?? 0
}

/** The problems of one of several texts, by their places in all of them. @param before the texts before it */
const problemsIn = ({ name, problems }: ReadText, before: readonly ReadText[]): CatalogProblem[] =>
  problems.map((problem) => ({
    ...problem,
    path: problem.path.replace(/^(\w+)\[(\d+)\]/, (_, section: string, index: string) => {
      const skipped = before.reduce((sum, file) => sum + countIn(file, section), 0)
      return `${section}[${Number(index) + skipped}]`
    }),
    file: name,
  }))

/** What of several texts can be looked at beside their problems; null where nothing can be told of one of them. */
function soundIn(files: readonly ReadText[]): Sound | null {
  const sounds: Sound[] = []
  const counts: Record<string, number> = {}
  for (const { catalog, sound } of files) {
    const own = sound ?? (catalog && soundOf(catalog, []))
    if (!own) return null
    const from = { ...counts }
    const indexes = Object.entries(own.indexes).map(([section, all]) => [
      section,
      all.map((index) => index + (from[section] ?? 0)),
    ])
    for (const [section, count] of Object.entries(own.counts)) counts[section] = (from[section] ?? 0) + count
    sounds.push({ ...own, indexes: Object.fromEntries(indexes) })
  }
  const indexesOf = (section: string) => sounds.flatMap(({ indexes }) => indexes[section] ?? [])
  return {
    catalog: joined(sounds.map(({ catalog }) => catalog)),
    indexes: Object.fromEntries(Object.keys(counts).map((section) => [section, indexesOf(section)])),
    counts,
    faulty: new Set(sounds.flatMap(({ faulty }) => [...faulty])),
  }
}

/** A whole catalog with what moved in it, and what is wrong with that. */
function withMoved(
  { catalog, problems }: Pick<ReadText, 'catalog' | 'problems'>,
  files: readonly ReadText[],
  locate: Locate,
): Pick<ReadText, 'catalog' | 'problems'> {
  const moved = files.flatMap((file) => file.moved)
  if (!catalog || problems.length || moved.length === 0) return { catalog, problems }
  const { moves, faults } = movesOf(moved)
  const found = [...faults, ...moveFaults(moves, catalog)].map(
    ({ path, message }): CatalogProblem => ({ ...locate([...path]), path: pathText([...path]), message }),
  )
  return found.length ? { catalog: null, problems: found } : { catalog: { ...catalog, moved }, problems }
}

/** Parts that two of several texts name. */
function twiceIn(catalog: Catalog, locate: Locate): CatalogProblem[] {
  return Object.entries(catalog).flatMap(([section, entries]) => {
    const first = new Map<string, number>()
    return (entries as unknown[]).flatMap((entry, i) => {
      const identity = identityOf(section as (typeof SECTIONS)[number], entry)
      const other = identity === null ? undefined : first.get(identity)
      if (identity === null) return []
      if (other === undefined) {
        first.set(identity, i)
        return []
      }
      const { file, line, column } = locate([section, other])
      const message = `is already defined at ${file}:${line}:${column}: one catalog can own it`
      return [{ ...locate([section, i]), path: pathText([section, i]), message }]
    })
  })
}

/* Who owns which part: a catalog that carries its name owns what it declares. */

/**
 * @param nowOf what a part or project is called that people gave another name: it is that catalog's still; null: it has its name
 * @returns the parts and projects of the other catalogs that carry their name, with the place of each; what these put into
 *   projects, and what they name
 */
export function ownedByOthers(
  remembered: readonly RememberedFile[],
  files: readonly KeptText[],
  nowOf: (kind: ChangeKind, name: string) => string | null,
): Map<string, string> {
  const owned = new Map<string, string>()
  const read = remembered.flatMap((file) => {
    if (!/^["{\s]*catalog"?\s*:/m.test(file.text)) return []
    const { catalog, name: carried, locate } = readCatalog(file.text)
    return catalog && carried !== null ? [{ ...file, catalog, locate }] : []
  })
  const others = read.filter(({ name }) => !files.some((file) => file.name === name))
  for (const other of others) addOwned(owned, other, other.catalog)
  // A name that a catalog says is that one's, whoever had it before.
  const said = new Set(read.flatMap(({ catalog }) => [...partsIn(catalog)]))
  for (const other of others) {
    const moves = [...partsIn(other.catalog)].flatMap((part) => {
      const [kind, from] = JSON.parse(part) as [ChangeKind, string]
      const to = nowOf(kind, from)
      return to === null || said.has(JSON.stringify([kind, to])) ? [] : [{ kind, from, to }]
    })
    if (moves.length) addOwned(owned, other, withMoves(other.catalog, moves))
  }
  return owned
}

/** @param catalog of the text, or the same in other names: its entries stand at the same places */
function addOwned(
  owned: Map<string, string>,
  { name, text, locate }: Pick<RememberedFile, 'name' | 'text'> & { locate: Locate },
  catalog: Catalog,
): void {
  // Of several files that were put together the lines are not known here.
  const hasLines = !isCompact(text)
  const add = (key: string, path: Path) => {
    if (owned.has(key)) return
    const { line, column } = hasLines ? locate(path) : { line: 0, column: 0 }
    owned.set(key, hasLines ? `${name}:${line}:${column}` : name)
  }
  for (const section of SECTIONS)
    for (const [i, entry] of ((catalog[section] ?? []) as { name?: string }[]).entries())
      if (entry.name !== undefined) add(`${section}:${entry.name}`, [section, i])
  for (const use of usesIn(catalog)) owned.set(use, name)
  for (const { path, kind, name: part } of referencesIn(catalog)) add(neededKey(kind, part), path)
}

/** That a catalog names a part or project, which it may leave to another to declare. */
const neededKey = (kind: ChangeKind, name: string): string => `needs:${kind}:${name}`

interface Reference {
  path: Path
  kind: ChangeKind
  name: string
}

/** What the entries of a catalog name, each with its place. */
export function referencesIn(catalog: Catalog): Reference[] {
  const found: Reference[] = []
  const add = (path: Path, kind: ChangeKind, name: string | null | undefined) => {
    if (name) found.push({ path, kind, name })
  }
  for (const section of ['triggers', 'agents', 'mcp_servers', 'skills', 'wiring'] as const)
    for (const [i, entry] of (catalog[section] ?? []).entries())
      add([section, i, 'project'], 'project', entry.project)
  for (const [i, { projects = [] }] of (catalog.sources ?? []).entries())
    for (const [n, word] of projects.entries()) add(['sources', i, 'projects', n], 'project', word)
  for (const [i, { used_by = [] }] of (catalog.skills ?? []).entries())
    for (const [n, word] of used_by.entries()) add(['skills', i, 'used_by', n], 'project', word)
  for (const [i, { sources }] of (catalog.triggers ?? []).entries())
    for (const [n, source] of sources.entries()) add(['triggers', i, 'sources', n], 'source', source)
  for (const [i, { trigger, handoffs = [], mcp_servers = [] }] of (catalog.agents ?? []).entries()) {
    add(['agents', i, 'trigger'], 'trigger', trigger)
    for (const [n, server] of mcp_servers.entries())
      add(['agents', i, 'mcp_servers', n], 'mcp_server', server)
    for (const [n, row] of handoffs.entries()) add(['agents', i, 'handoffs', n, 'agent'], 'agent', row.agent)
  }
  for (const [i, row] of (catalog.wiring ?? []).entries()) {
    add(['wiring', i, 'agent'], 'agent', row.agent)
    if ('wake' in row) add(['wiring', i, 'wake'], 'trigger', row.wake)
    else add(['wiring', i, 'to'], 'agent', row.to)
  }
  for (const [i, { objects = [] }] of (catalog.projects ?? []).entries())
    for (const [n, { kind, name }] of objects.entries())
      add(['projects', i, 'objects', n, 'name'], kind.replace(' ', '_') as ChangeKind, name)
  return found
}

/** What a plan deletes though a catalog of another owner names it: that one could not be applied again. */
export function neededByOthers(
  { changes }: { changes: readonly Pick<ChangePlan['changes'][number], 'action' | 'kind' | 'name'>[] },
  files: readonly KeptText[],
  owned: ReadonlyMap<string, string>,
  locate: Locate,
): CatalogProblem[] {
  if (!files.some(({ carries }) => carries)) return []
  return changes.flatMap(({ action, kind, name }) => {
    const where = action === 'delete' ? owned.get(neededKey(kind, name)) : undefined
    if (where === undefined) return []
    const [other, ...place] = where.split(':')
    const at = place.length ? ` (${where})` : ''
    const message = `${kindWord(kind)} ${name} is named by the catalog ${other}${at}, which could not be applied again without it: take it out there and apply that first, or end the comparison with it by "svc catalog forget ${other}"`
    return [{ ...locate([]), path: '', message }]
  })
}

/**
 * The same where the deletion is refused before there is a plan, since a trigger reads the source.
 * @returns null where no catalog of another owner has it
 */
export function neededInstead(
  { extra: { about } }: SvcError,
  files: readonly KeptText[],
  owned: ReadonlyMap<string, string>,
  locate: Locate,
): CatalogProblem[] | null {
  if (about?.kind !== 'source') return null
  const changes = [{ action: 'delete', kind: 'source', name: about.name } as const]
  const found = neededByOthers({ changes }, files, owned, locate)
  return found.length ? found : null
}

/**
 * What an import writes although nothing of a part changes: that a catalog owns it from then on, or no more.
 * @param isLeft whether a part stays as it is @returns a sentence each
 */
export function ownershipOf(
  remembered: readonly RememberedFile[],
  files: readonly ReadText[],
  isLeft: (kind: ChangeKind, name: string) => boolean,
): string[] {
  return files.flatMap(({ name, carries, catalog }) => {
    if (!carries || !catalog) return []
    const before = remembered.find((file) => file.name === name)
    const last = before ? readCatalog(before.text) : null
    const owned = last?.name === name && last.catalog ? partsIn(last.catalog) : new Set<string>()
    const owns = partsIn(catalog)
    const said = (from: ReadonlySet<string>, other: ReadonlySet<string>, word: (part: string) => string) =>
      [...from].flatMap((one) => {
        const [kind, part] = JSON.parse(one) as [ChangeKind, string]
        return other.has(one) || !isLeft(kind, part) ? [] : [word(`${kindWord(kind)} ${part}`)]
      })
    return [
      ...said(owns, owned, (part) => `${name} comes to own ${part}`),
      ...said(owned, owns, (part) => `${name} gives up ${part}`),
    ]
  })
}

/** What a catalog declares, by kind and name. */
const partsIn = (catalog: Catalog): Set<string> =>
  new Set(
    SECTIONS.flatMap((section) =>
      ((catalog[section] ?? []) as { name?: string }[]).flatMap(({ name }) =>
        name === undefined ? [] : [JSON.stringify([kindOfSection(section), name])],
      ),
    ),
  )

/** Keys of the parts that a catalog puts into projects, and of its wiring rows: pruning by another catalog leaves these. */
function usesIn(catalog: Catalog): string[] {
  const said: [string | undefined, PartKind, string][] = []
  for (const kind of partKinds)
    for (const entry of (catalog[SECTION_OF[kind]] ?? []) as Placed[])
      for (const project of [entry.project, ...(entry.projects ?? []), ...(entry.used_by ?? [])])
        said.push([project, kind, entry.name])
  return [
    ...said.flatMap(([project, kind, name]) => (project === undefined ? [] : [useOf(project, kind, name)])),
    ...(catalog.wiring ?? []).map((row) => wireOf(row)),
  ]
}

type Placed = { name: string; project?: string; projects?: string[]; used_by?: string[] }

/** That a project has a part, as a key of what pruning leaves. */
export const useOf = (project: string, kind: PartKind, name: string): string =>
  `uses:${project}|${kind}|${name}`

/** A row of wiring, as a key of what pruning leaves. */
export const wireOf = (row: NonNullable<Catalog['wiring']>[number]): string =>
  'wake' in row
    ? `wires:${row.project}|${row.wake}>${row.agent}`
    : `wires:${row.project}|${row.agent}/${row.verdict.toLowerCase()}/${row.to}`

/** Whether a wake in the Default project ends where its agent leaves that: the agent's own entry says what wakes it. */
export function wokenByEntry(
  catalog: Catalog,
  spared: ReadonlySet<string>,
): (project: string, wake: Pick<Wake, 'trigger' | 'agent'>) => boolean {
  const said = new Set(
    (catalog.agents ?? []).filter(({ trigger }) => trigger !== undefined).map(({ name }) => name),
  )
  return (project, { trigger, agent }) =>
    said.has(agent) && !spared.has(wireOf({ project, wake: trigger, agent }))
}

/** What pruning leaves: a catalog without a name speaks for the whole instance. */
export const sparedBy = (
  files: readonly KeptText[],
  owned: ReadonlyMap<string, string>,
): ReadonlySet<string> => new Set(files.some(({ carries }) => carries) ? owned.keys() : [])

/** Projects that a pruning import deletes. */
export function doomedBy(edit: Edit, catalog: Catalog, spared: ReadonlySet<string>): Set<string> {
  const named = new Set((catalog.projects ?? []).map((entry) => entry.name))
  const isKept = ({ name, template, draft }: ProjectDoc) =>
    template === DEFAULT_TEMPLATE || draft || named.has(name) || spared.has(`projects:${name}`)
  const found = [...projectsOf(edit)].filter(([id, doc]) => !isKept(doc) && edit.stored('project', id))
  return new Set(found.map(([id]) => id))
}

/** Parts of a catalog that carries its name which another owns. */
export function contestedIn(
  catalog: Catalog,
  files: readonly KeptText[],
  owned: ReadonlyMap<string, string>,
  locate: Locate,
): CatalogProblem[] {
  if (owned.size === 0 || !files.some(({ carries }) => carries)) return []
  return SECTIONS.flatMap((section) =>
    ((catalog[section] ?? []) as { name?: string }[]).flatMap(({ name }, i) => {
      const owner = name === undefined ? undefined : owned.get(`${section}:${name}`)
      if (owner === undefined) return []
      const [other, ...place] = owner.split(':')
      const at = place.length ? ` (${owner})` : ''
      const message = `${name} belongs to the catalog ${other}${at}: take it out of one of the two, or give the other up by "svc catalog forget ${other}"`
      return [{ ...locate([section, i]), path: pathText([section, i, 'name']), message }]
    }),
  )
}

/**
 * What was applied last by the names of these texts, as one catalog: the base of a merge.
 * @returns null where nothing was, or what was is no longer read
 */
export function appliedLast(
  remembered: readonly RememberedFile[],
  files: readonly KeptText[],
): Catalog | null {
  const texts = remembered.filter(({ name }) => files.some((file) => file.name === name))
  const catalogs = texts.map(({ text }) => readCatalog(text).catalog)
  if (catalogs.length === 0 || catalogs.includes(null)) return null
  const whole: Record<string, unknown[]> = {}
  for (const catalog of catalogs)
    for (const [section, entries] of Object.entries(catalog ?? {}))
      whole[section] = [...(whole[section] ?? []), ...(entries as unknown[])]
  return whole as Catalog
}

/** What moved in it, as it said. */
export const movedLast = (
  remembered: readonly RememberedFile[],
  files: readonly Pick<KeptText, 'name'>[],
): CatalogMoved[] =>
  remembered
    .filter(({ name, text }) => text.includes(MOVED_KEY) && files.some((file) => file.name === name))
    .flatMap(({ text }) => readCatalog(text).moved)

/** When that was, epoch ms; undefined: nothing was. */
export function appliedAt(
  remembered: readonly RememberedFile[],
  files: readonly KeptText[],
): number | undefined {
  const times = remembered
    .filter(({ name }) => files.some((file) => file.name === name))
    .map(({ imported_at: at }) => at)
  return times.length ? Math.min(...times) : undefined
}

/* The catalog files that were imported, each by its own name, as text without secrets. */

/** A file that is named by nothing else. */
const UNNAMED = 'catalog'
const NAME_MAX = 64

export interface RememberedFile {
  name: string
  /** Without the secrets it may have held. */
  text: string
  /** Epoch ms. */
  imported_at: number
}

export interface RememberedFiles {
  keep(name: string, text: string, at: number): void
  /** By name. */
  all(): RememberedFile[]
  /** The one imported last. */
  newest(): RememberedFile | undefined
  /** @throws SvcError not_found */
  forget(name: string): void
}

export function rememberedFiles(db: Database): RememberedFiles {
  // A replaced row gets a new rowid, so that the newest is the last whatever the clock says.
  const keep = db.prepare('INSERT OR REPLACE INTO catalog_files (name, text, imported_at) VALUES (?, ?, ?)')
  const all = db.prepare<[], RememberedFile>(
    'SELECT name, text, imported_at FROM catalog_files ORDER BY name',
  )
  const newest = db.prepare<[], RememberedFile>(
    'SELECT name, text, imported_at FROM catalog_files ORDER BY rowid DESC LIMIT 1',
  )
  const forget = db.prepare('DELETE FROM catalog_files WHERE name = ?')
  return {
    keep: (name, text, at) => void keep.run(name, text, at),
    all: () => all.all(),
    newest: () => newest.get(),
    forget: (name) => {
      if (forget.run(name).changes === 0)
        fail('not_found', `no catalog file is remembered by the name ${name}`, { field: 'name' })
    },
  }
}

/**
 * The name a file is remembered by: the one it carries under `catalog`, the one it is given, or that
 * of the file without its folder and ending.
 * @throws SvcError invalid when it carries one and is given another
 */
function nameOfFile(
  carried: string | null,
  { name, file }: { name?: string | undefined; file?: string | undefined },
): string {
  if (carried !== null && name !== undefined && carried !== name)
    fail('invalid', `name must be ${carried}, which the file carries under catalog`, { field: 'name' })
  return carried ?? name ?? baseName(file ?? '')
}

function baseName(file: string): string {
  const last = file.split(/[/\\]/).at(-1) ?? ''
  const stem = last.replace(/\.(ya?ml|json)$/i, '').replace(/[^A-Za-z0-9_.-]/g, '-')
  return stem.replace(/^[^A-Za-z0-9]+/, '').slice(0, NAME_MAX) || UNNAMED
}

/* What keeps a plan from deleting more than was meant. */

/** Objects that an import deletes at most, unless it is told otherwise. */
const MAX_DELETIONS = 10
const NAMED_MOST = 10

interface Bounds {
  allow_empty?: boolean | undefined
  max_deletions?: number | undefined
}

/** @returns a problem when the plan deletes more than the bounds let it. */
export function guardProblems(
  plan: ChangePlan,
  catalog: Catalog,
  { allow_empty = false, max_deletions = MAX_DELETIONS }: Bounds,
  locate: Locate,
): CatalogProblem[] {
  if (plan.deletes === 0) return []
  const at = { ...locate([]), path: '' }
  if (isEmptyCatalog(catalog) && !allow_empty)
    return [
      {
        ...at,
        message: `the file declares nothing, and pruning by it would delete ${deletedIn(plan)}; allow_empty (--allow-empty) says that this is meant`,
      },
    ]
  if (plan.deletes <= max_deletions) return []
  return [
    {
      ...at,
      message: `${plan.deletes} objects would be deleted, and at most ${max_deletions} may be: ${deletedIn(plan)}; max_deletions (--max-deletions ${plan.deletes}) raises that`,
    },
  ]
}

function deletedIn({ changes, deletes }: ChangePlan): string {
  const names = changes
    .filter(({ action }) => action === 'delete')
    .slice(0, NAMED_MOST)
    .map(({ kind, name }) => `${kindWord(kind)} ${name}`)
  return `${names.join(', ')}${deletes > NAMED_MOST ? ` and ${deletes - NAMED_MOST} more` : ''}`
}

/** Whether a file declares nothing at all. */
const isEmptyCatalog = (catalog: Catalog): boolean =>
  Object.values(catalog).every((entries) => !Array.isArray(entries) || entries.length === 0)
