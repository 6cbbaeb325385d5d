/** A catalog file checked, planned and applied: a plan that was approved, or nothing. */
import { createHash, randomUUID } from 'node:crypto'
import type {
  Catalog,
  CatalogCheck,
  CatalogChecked,
  CatalogImport,
  CatalogImported,
  CatalogProblem,
  ChangePlan,
} from '../../../schemas/types.ts'
import type { Review } from '../../documents/change-sets.ts'
import { fail, SvcError } from '../../errors.ts'
import type { Database } from '../../log/store/handle.ts'
import { type Edit, kindWord } from '../../model/documents.ts'
import { MASK } from '../../model/plan.ts'
import { secretParts } from '../../net/address-secrets.ts'
import { identityOf, NAME_KEY } from '../catalog-text/render.ts'
import { isCompact, readCatalog, updateCatalog } from '../catalog-text/update.ts'
import type { Declared } from '../declared.ts'
import { mintForNew } from '../source-writes.ts'
import type { WriteBy } from '../write.ts'
import { refuse, stageCatalog } from './import.ts'
import {
  hiddenAt,
  isPlainAt,
  type Locate,
  pathOfPlace,
  type SecretPlace,
  secretPlaces,
  textOf,
  withValues,
} from './import-run.ts'

const SECTIONS = ['sources', 'triggers', 'agents', 'mcp_servers', 'projects', 'skills'] as const
const CHECK: WriteBy = { caller: { id: 'check', name: 'check' }, origin: 'catalog' }

/** Every problem of a file, and the plan when it has one. @param compares as of CatalogFiles.check. */
export function checkFile(
  declared: Declared,
  body: CatalogCheck,
  compares: boolean,
  remembered: readonly RememberedFile[] = [],
): CatalogChecked {
  const { catalog, problems, locate, files } = readTexts(body)
  const [{ name }] = files
  const nothing = { warnings: [], plan: null, fingerprint: null, name }
  if (!catalog || problems.length) return { ...nothing, problems }
  const places = secretPlaces(catalog, declared.templates)
  const warnings = warningsOf(places, declared.env, locate)
  if (body.strict && warnings.length) return { ...nothing, problems: warnings }
  if (!compares) warnings.push(...notCompared(places, locate))
  const prune = body.prune ?? false
  const owned = ownedByOthers(remembered, files)
  const contested = contestedIn(catalog, files, owned, locate)
  if (contested.length) return { ...nothing, warnings, problems: contested }
  try {
    const stage = stagingOf(declared, catalog, { prune, locate, compares, spared: sparedBy(files, owned) })
    const { plan, basis } = declared.changes.commit(CHECK, stage, true)
    const fingerprint = fingerprintOf(body, prune, plan, basis)
    return { problems: guardProblems(plan, catalog, body, locate), warnings, plan, fingerprint, name }
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    const found = error.extra.problems ?? [{ ...locate([]), path: '', message: error.message }]
    return { ...nothing, warnings, problems: found }
  }
}

/** How texts are staged. @param compares as of CatalogFiles.check. */
function stagingOf(
  declared: Declared,
  catalog: Catalog,
  { compares, ...how }: Parameters<typeof stageCatalog>[3] & { compares: boolean },
): (edit: Edit) => void {
  // A value of its own for each, so that the plan says nothing about the one that is stored.
  const staged = compares
    ? catalog
    : withValues(
        catalog,
        plainOnes(catalog, declared.templates, () => randomUUID()),
      )
  return (edit) => stageCatalog(declared, edit, staged, how)
}

/** The same of texts, for who plans more than their fields. @throws SvcError invalid with every problem of the texts themselves */
export function stagingOfFile(
  declared: Declared,
  { prune = false, ...body }: Pick<CatalogCheck, 'yaml' | 'name' | 'file' | 'others' | 'prune'>,
  compares: boolean,
): (edit: Edit) => void {
  const { catalog, problems, locate, files } = readTexts(body)
  refuse(problems)
  const owned = ownedByOthers(rememberedFiles(declared.store.db).all(), files)
  refuse(contestedIn(catalog!, files, owned, locate))
  return stagingOf(declared, catalog!, { prune, locate, compares, spared: sparedBy(files, owned) })
}

/** All that an import takes from the text of a file, read where no events are stored. */
export interface CatalogRead {
  catalog: Catalog
  warnings: CatalogProblem[]
  /** What to remember by which name: its secrets are masked, which an import takes for the stored ones. */
  files: readonly [KeptText, ...KeptText[]]
}

interface KeptText {
  name: string
  text: string
  /** Whether the text itself carries the name. */
  carries: boolean
}

/** Nothing of the store is looked at. @throws SvcError invalid with every problem of the file itself */
export function readFile(
  { templates, env }: Pick<Declared, 'templates' | 'env'>,
  body: CatalogImport,
): CatalogRead {
  const { catalog, problems, locate, files } = readTexts(body)
  refuse(problems)
  const places = secretPlaces(catalog!, templates)
  const warnings = warningsOf(places, env, locate)
  if (body.strict) refuse(warnings)
  const kept = ({ name, carries, catalog: own, text }: ReadText): KeptText => ({
    name,
    carries,
    text: body.dry_run ? '' : withoutSecrets(text, own!, templates),
  })
  const [first, ...others] = files
  return { catalog: catalog!, warnings, files: [kept(first), ...others.map(kept)] }
}

/** One text of an import, read by itself. */
interface ReadText extends KeptText {
  catalog: Catalog | null
  problems: CatalogProblem[]
  locate: Locate
}

/** The texts of an import as one catalog: each section has the entries of the first, then those of the others. */
function readTexts(body: Pick<CatalogCheck, 'yaml' | 'name' | 'file' | 'others'>): {
  catalog: Catalog | null
  problems: CatalogProblem[]
  locate: Locate
  files: [ReadText, ...ReadText[]]
} {
  const { yaml, others = [] } = body
  const read = (text: string, as: Pick<CatalogCheck, 'name' | 'file'>): ReadText => {
    const { catalog, name: carried, problems, locate } = readCatalog(text)
    return { name: nameOfFile(carried, as), carries: carried !== null, text, catalog, problems, locate }
  }
  const first = read(yaml, body)
  const files: [ReadText, ...ReadText[]] = [first, ...others.map((other) => read(other.yaml, other))]
  if (files.length === 1) return { ...first, files }
  const repeated = files.find(({ name }, i) => files.findIndex((file) => file.name === name) !== i)
  if (repeated) fail('invalid', `others: ${repeated.name} is given twice`, { field: 'others' })
  const problems = files.flatMap(({ name, problems: own }) => own.map((one) => ({ ...one, file: name })))
  const catalogs = files.flatMap(({ catalog }) => catalog ?? [])
  const entriesIn = (catalog: Catalog | null, section: string): unknown[] =>
    (catalog?.[section as (typeof SECTIONS)[number]] as unknown[] | undefined) ?? []
  const sections = [...new Set(catalogs.flatMap((catalog) => Object.keys(catalog)))]
  const locate: Locate = ([section, index, ...rest]) => {
    let at = Number(index)
    for (const { catalog, locate: inner, name } of files) {
      const { length } = entriesIn(catalog, String(section))
      if (section !== undefined && at < length) return { ...inner([section, at, ...rest]), file: name }
      at -= length
    }
    return { ...first.locate([]), file: first.name }
  }
  const whole = Object.fromEntries(
    sections.map((section) => [section, files.flatMap(({ catalog }) => entriesIn(catalog, section))]),
  ) as Catalog
  return {
    catalog: problems.length ? null : whole,
    problems: problems.length ? problems : twiceIn(whole, locate),
    locate,
    files,
  }
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
      return [{ ...locate([section, i]), path: textOf([section, i]), message }]
    })
  })
}

/* Who owns which part: a catalog that carries its name owns what it declares. */

/** @returns the parts and projects of the other catalogs that carry their name, with the place of each */
function ownedByOthers(
  remembered: readonly RememberedFile[],
  files: readonly KeptText[],
): Map<string, string> {
  const owned = new Map<string, string>()
  for (const { name, text } of remembered) {
    if (files.some((file) => file.name === name) || !/^["{\s]*catalog"?\s*:/m.test(text)) continue
    const { catalog, name: carried, locate } = readCatalog(text)
    if (!catalog || carried === null) continue
    const hasLines = !isCompact(text)
    for (const section of SECTIONS)
      for (const [i, entry] of ((catalog[section] ?? []) as { name?: string }[]).entries()) {
        if (entry.name === undefined) continue
        // Of several files that were put together the lines are not known here.
        const { line, column } = hasLines ? locate([section, i]) : { line: 0, column: 0 }
        owned.set(`${section}:${entry.name}`, hasLines ? `${name}:${line}:${column}` : name)
      }
  }
  return owned
}

/** What pruning leaves: a catalog without a name speaks for the whole instance. */
const sparedBy = (files: readonly KeptText[], owned: ReadonlyMap<string, string>): ReadonlySet<string> =>
  new Set(files.some(({ carries }) => carries) ? owned.keys() : [])

/** Parts of a catalog that carries its name which another owns. */
function contestedIn(
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
      return [{ ...locate([section, i]), path: textOf([section, i, 'name']), message }]
    }),
  )
}

/**
 * Imports a file inside the caller's transaction and remembers it.
 * @param read of the file.
 * @throws SvcError invalid with every problem; conflict with the plan of now, when another was approved
 */
export function importFile(
  declared: Declared,
  files: RememberedFiles,
  body: CatalogImport,
  by: WriteBy,
  { catalog, warnings, files: kept }: CatalogRead,
): CatalogImported {
  // Only what is refused is looked up in the text again.
  let places: ReturnType<typeof readTexts> | null = null
  const locate: Locate = (path) => {
    places ??= readTexts(body)
    return places.locate(path)
  }
  const owned = ownedByOthers(files.all(), kept)
  refuse(contestedIn(catalog, kept, owned, locate))
  const spared = sparedBy(kept, owned)
  const prune = body.prune === true || body.mode === 'replace'
  const dryRun = body.dry_run ?? false
  let fingerprint = ''
  const review: Review = ({ plan, basis }) => {
    fingerprint = fingerprintOf(body, prune, plan, basis)
    requireApproved(body, fingerprint, plan)
    refuseGuards(guardProblems(plan, catalog, body, locate), plan)
  }
  const stage = (edit: Edit) => stageCatalog(declared, edit, catalog, { prune, locate, spared })
  const { plan, changeSet } = declared.changes.commit(
    { ...by, why: body.why ?? by.why },
    stage,
    dryRun,
    review,
  )
  if (!dryRun) for (const { name, text } of kept.toReversed()) files.keep(name, text, declared.clock.now())
  const keys = dryRun ? {} : mintForNew(declared, plan, by)
  const counts = countsOf(catalog)
  return {
    ok: true,
    dry_run: dryRun,
    change_set: changeSet,
    plan,
    fingerprint,
    name: kept[0].name,
    warnings,
    ...keys,
    ...counts,
  }
}

function requireApproved(body: CatalogImport, fingerprint: string, plan: CatalogImported['plan']): void {
  if (body.fingerprint === undefined || body.fingerprint === fingerprint) return
  fail(
    'conflict',
    'nothing was applied: since that plan was made the instance, the file or what is done with it changed, and this is another plan',
    { plan, fingerprint },
  )
}

function refuseGuards(problems: readonly CatalogProblem[], plan: CatalogImported['plan']): void {
  const [first] = problems
  if (first) fail('invalid', first.message, { problems: [...problems], plan })
}

function withoutSecrets(yaml: string, catalog: Catalog, templates: Declared['templates']): string {
  const plain = plainOnes(catalog, templates, () => MASK)
  if (plain.length === 0) return yaml
  const masked = withValues(catalog, plain)
  if (!isCompact(yaml)) return updateCatalog(yaml, masked)
  const { [NAME_KEY]: name } = JSON.parse(yaml) as { [NAME_KEY]?: string }
  return JSON.stringify({ ...(name === undefined ? {} : { [NAME_KEY]: name }), ...masked })
}

function plainOnes(catalog: Catalog, templates: Declared['templates'], value: () => string) {
  return secretPlaces(catalog, templates)
    .filter(isPlainAt)
    .map((place): [typeof place, string] => [place, hiddenAt(place, value)])
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

/*
 * The fingerprint of a plan: of the file, of what is done with it, of every change and of the version of
 * each object it changes. An approval names it, so that nothing else is done in its name.
 */

/**
 * @param basis the objects that change with their versions, as of Committed. Ids of projects that the
 *   plan makes are drawn anew each time and are no part of it; secrets are masked in the plan.
 * @returns 64 hex digits
 */
function fingerprintOf(
  { yaml, others }: Pick<CatalogCheck, 'yaml' | 'others'>,
  prune: boolean,
  plan: ChangePlan,
  basis: readonly string[],
): string {
  const changes = plan.changes
    .filter(({ action }) => action !== 'none')
    .map(({ action, kind, name, fields }) => [action, kind, name, fields])
  return createHash('sha256')
    .update(JSON.stringify([yaml, prune, changes, basis, ...(others?.length ? [others] : [])]))
    .digest('hex')
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
function guardProblems(
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

/* What a catalog file may say, but should not: variables that are not set, secrets in plain text. */

type Env = Readonly<Record<string, string | undefined>>

/** @param places of the secrets of the catalog. @returns warnings in the order of the file */
function warningsOf(places: readonly SecretPlace[], env: Env, locate: Locate): CatalogProblem[] {
  return places.flatMap((place) => {
    const said = warningOf(place, env)
    return said ? [{ ...locate(pathOfPlace(place)), path: textOf(pathOfPlace(place)), ...said }] : []
  })
}

function warningOf(place: SecretPlace, env: Env): Pick<CatalogProblem, 'code' | 'message'> | null {
  const { inner, value } = place
  const field = inner.at(-1)!
  const variable = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(value)?.[1]
  if (variable !== undefined)
    return env[variable]
      ? null
      : { code: 'unset_variable', message: `the variable ${variable} is not set where svc runs` }
  if (!isPlainAt(place)) return null
  if (place.isAddress)
    return {
      code: 'plain_secret',
      message: `${field} has a secret in plain text in it, ${secretParts(value).join(', ')}; where the other side takes a header, refer to a variable in the field of the credential instead`,
    }
  return {
    code: 'plain_secret',
    message: `${field} is a secret in plain text; refer to a variable as \${${variableFor(field)}} instead`,
  }
}

/** A name that an instance opens without being told to. */
const variableFor = (field: string): string => `SVC_SECRET_${field.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}`

/** Said to whoever may not learn whether a secret is the one that is stored. */
function notCompared(places: readonly SecretPlace[], locate: Locate): CatalogProblem[] {
  return places.filter(isPlainAt).map((place) => ({
    ...locate(pathOfPlace(place)),
    path: textOf(pathOfPlace(place)),
    code: 'secret_not_compared',
    message: 'is planned as a change: only an admin may learn whether it is the secret that is stored',
  }))
}

/** Whether a file declares nothing at all. */
const isEmptyCatalog = (catalog: Catalog): boolean =>
  Object.values(catalog).every((entries) => !Array.isArray(entries) || entries.length === 0)

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
