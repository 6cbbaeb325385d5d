/** A catalog file checked, planned and applied: a plan that was approved, or nothing. */
import { createHash, randomUUID } from 'node:crypto'
import { kindWord, SECTION_OF } from '../../../schemas/kinds.ts'
import type {
  Catalog,
  CatalogCheck,
  CatalogChecked,
  CatalogImport,
  CatalogImported,
  CatalogProblem,
  ChangePlan,
  MergeConflict,
} from '../../../schemas/types.ts'
import type { Review } from '../../documents/change-sets.ts'
import { fail, SvcError } from '../../errors.ts'
import {
  lineOf,
  type Move,
  movesBack,
  movesByHand,
  movesOf,
  movesOfBoth,
  onwards,
  withMoves,
} from '../../gitops/moved.ts'
import { NAME_KEY } from '../../gitops/render.ts'
import { pathText } from '../../gitops/tree.ts'
import { bounded, isCompact, rewritten, type Sound, saysBeside, updateCatalog } from '../../gitops/update.ts'
import type { ChangeKind, Edit, StoredOf, SyncMode } from '../../model/documents.ts'
import { MASK } from '../../model/plan.ts'
import { secretParts } from '../../net/address-secrets.ts'
import { unopened } from '../../net/secrets.ts'
import type { Declared, WriteBy } from '../declared.ts'
import { mintForNew } from '../source-writes.ts'
import { type StageOf, stageCatalog, stageRunning } from './import.ts'
import {
  hiddenAt,
  isPlainAt,
  pathOfPlace,
  refuse,
  type SecretPlace,
  secretPlaces,
  withValues,
} from './import-run.ts'
import { type KeepOf, type Merged, type MergeOf, scratchOf, stageKeeping, stageMerged } from './merge.ts'
import {
  appliedAt,
  appliedLast,
  contestedIn,
  guardProblems,
  type KeptText,
  type Locate,
  movedLast,
  neededByOthers,
  neededInstead,
  ownedByOthers,
  ownershipOf,
  type Path,
  type ReadText,
  type RememberedFile,
  type RememberedFiles,
  readTexts,
  rememberedFiles,
  SECTIONS,
  sparedBy,
} from './texts.ts'

export const CHECK: WriteBy = { caller: { id: 'check', name: 'check' }, origin: 'catalog' }

/** Every problem of a file, and the plan when it has one. @param compares as of CatalogFiles.check. */
export function checkFile(
  declared: Declared,
  body: CatalogCheck,
  compares: boolean,
  remembered: readonly RememberedFile[] = [],
  modes: Modes = null,
): CatalogChecked {
  const { catalog: read, sound, problems, locate, files } = readTexts(body)
  const [{ name }] = files
  const nothing = { warnings: [], plan: null, fingerprint: null, name }
  if (!read || problems.length) {
    const owned = ownedNow(declared, remembered, files)
    const others = sound ? problemsBeside(declared, body, sound, locate, { files, owned }) : []
    return { ...nothing, problems: told([...problems, ...others], files) }
  }
  const { catalog, byHand } = namedNow(declared, read, remembered, files, {
    isMerge: body.merge === true,
    modes,
  })
  const places = secretPlaces(catalog, declared.templates)
  const warnings = warningsOf(places, declared.env, locate)
  const early = body.strict ? warnings.splice(0) : []
  if (!compares && early.length === 0) warnings.push(...notCompared(places, locate))
  const prune = body.prune ?? false
  const owned = ownedNow(declared, remembered, files)
  early.push(...contestedIn(catalog, files, owned, locate))
  const merging = mergingOf(body, remembered, files, byHand)
  const keeping = keepingOf(modes, remembered, files, byHand)
  try {
    const how = { prune, locate, compares, spared: sparedBy(files, owned), merging, keeping }
    const { plan, basis, result } = declared.changes.commit(CHECK, stagingOf(declared, catalog, how), true)
    if (early.length) return { ...nothing, warnings, problems: bounded(early) }
    if (result?.conflicts.length) return { ...nothing, problems: [], warnings, ...result }
    const fingerprint = fingerprintOf(body, prune, plan, basis)
    const found = [
      ...guardProblems(plan, catalog, body, locate),
      ...neededByOthers(plan, files, owned, locate),
    ]
    const whole = withOwnership(declared, plan, remembered, files)
    return { problems: found, warnings, plan: whole, fingerprint, name, ...(result ?? {}) }
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    const needed = neededInstead(error, files, owned, locate)
    const found = error.extra.problems ?? needed ?? [{ ...locate([]), path: '', message: error.message }]
    const isAlone = (one: CatalogProblem) =>
      !found.some((of) => of.line === one.line && of.column === one.column)
    return { ...nothing, warnings: warnings.filter(isAlone), problems: bounded([...early, ...found]) }
  }
}

/** A plan with what a catalog comes to own or gives up of what is neither made, deleted nor renamed. */
function withOwnership(
  { kinds }: Declared,
  plan: ChangePlan,
  remembered: readonly RememberedFile[],
  files: readonly ReadText[],
): ChangePlan {
  const isTold = (kind: ChangeKind, part: string) =>
    plan.changes.some(
      ({ kind: of, name, action, renamed_from: was, fields }) =>
        of === kind &&
        ((name === part && (action === 'create' || action === 'delete' || was !== undefined)) ||
          was === part ||
          fields?.some(({ path, from }) => path === '/name' && from === part)),
    )
  const isThere = (kind: ChangeKind, part: string) =>
    kind === 'project'
      ? kinds.project.list().some(({ name }) => name === part)
      : kinds[kind].find(part) !== undefined
  const isLeft = (kind: ChangeKind, part: string) => isThere(kind, part) && !isTold(kind, part)
  const ownership = ownershipOf(remembered, files, isLeft)
  return ownership.length ? { ...plan, ownership } : plan
}

/**
 * Refuses a file with all that is wrong with it, as a check tells it.
 * @param found what is wrong already. @throws SvcError invalid
 */
export function refuseWhole(
  declared: Declared,
  body: CatalogImport,
  found: readonly CatalogProblem[],
  remembered: readonly RememberedFile[],
): void {
  if (found.length === 0) return
  const { problems } = checkFile(declared, body, true, remembered)
  refuse(problems.length > found.length ? problems : found)
}

/** Runs a commit. Where it is refused since a trigger reads what it deletes, that says which catalog has it. @throws SvcError */
function refusingNeeded<T>(
  commit: () => T,
  files: readonly KeptText[],
  owned: ReadonlyMap<string, string>,
  locate: Locate,
): T {
  try {
    return commit()
  } catch (error) {
    if (error instanceof SvcError) refuse(neededInstead(error, files, owned, locate) ?? [])
    throw error
  }
}

/** As many problems as are told, in the order of the files. */
function told(problems: readonly CatalogProblem[], files: readonly KeptText[]): CatalogProblem[] {
  const orderOf = ({ file }: CatalogProblem) => files.findIndex(({ name }) => name === file)
  return bounded(
    problems.toSorted((a, b) => orderOf(a) - orderOf(b) || a.line - b.line || a.column - b.column),
  )
}

/** What is wrong beside what breaks a rule: with all else, as far as it is not about that. */
function problemsBeside(
  declared: Declared,
  { strict }: Pick<CatalogCheck, 'strict'>,
  { catalog, indexes, faulty }: Sound,
  locateInFile: Locate,
  { files, owned }: { files: readonly KeptText[]; owned: ReadonlyMap<string, string> },
): CatalogProblem[] {
  const inFile = ([section, index, ...rest]: Path): Path =>
    typeof index === 'number' ? [section!, indexes[section!]?.[index] ?? index, ...rest] : [section!]
  const locate: Locate = (path) => locateInFile(path.length ? inFile(path) : path)
  const contested = contestedIn(catalog, files, owned, locate)
  const { problems } = stageRunning(declared, scratchOf(declared), catalog, { prune: false, locate, faulty })
  const warnings = strict ? warningsOf(secretPlaces(catalog, declared.templates), declared.env, locate) : []
  return [...contested, ...problems, ...warnings].map((problem) => ({
    ...problem,
    path: problem.path.replace(/^(\w+)\[(\d+)\]/, (_, section, index) =>
      pathText(inFile([section, Number(index)])),
    ),
  }))
}

/** A catalog in the names that hold, and what people gave another name in the instance since it was applied. */
export interface Named {
  catalog: Catalog
  /** Those whose new name stays. */
  byHand: Omit<Move, 'index'>[]
}

/**
 * A catalog in which names that parts had before are theirs again. One that people gave in the instance goes with all
 * else that they changed: it stays in a merge, and for parts that keep what was changed by hand; else the part gets
 * back the name that the file has. A name that the file gives goes before one that people gave.
 */
export function namedNow(
  declared: Declared,
  catalog: Catalog,
  remembered: readonly RememberedFile[],
  files: readonly KeptText[],
  { isMerge, modes = null }: { isMerge: boolean; modes?: Modes },
): Named {
  const { renames } = declared.changes
  // Some were given before the catalog came here.
  const made = [...renames.since(0), ...movesOf(movedLast(remembered, files)).moves]
  const projects = declared.kinds.project.list()
  const nowOf = nameNow(declared, projects)
  const isUnnamed = (entry: { name: string }) => !projects.some(({ name }) => name === entry.name)
  const isAnyAway = made.length > 0 || (catalog.projects ?? []).some((entry) => isUnnamed(entry as never))
  // What was applied last is read where it matters alone.
  const base = isAnyAway ? appliedLast(remembered, files) : null
  if (!base) return { catalog, byHand: [] }
  const owned = ownedNow(declared, remembered, files)
  const isOurs = (kind: ChangeKind, name: string) => !owned.has(`${SECTION_OF[kind]}:${name}`)
  const all = movesByHand(catalog, base, nowOf).filter(({ kind, to }) => isOurs(kind, to))
  const both = movesOfBoth(catalog, base, nowOf).filter(({ kind, from }) => isOurs(kind, from))
  const stays = ({ kind, from }: Omit<Move, 'index'>): boolean => {
    const entries = (catalog[SECTION_OF[kind]] ?? []) as { name?: string; sync?: SyncMode }[]
    const sync = entries.find(({ name }) => name === from)?.sync
    return isMerge || (modes !== null && sync !== undefined && modes.has(sync))
  }
  const byHand = all.filter(stays)
  const back = [
    ...movesBack(catalog, base, made),
    ...all.filter((move) => !stays(move)).map(({ kind, from, to }) => lineOf({ kind, from: to, to: from })),
    ...both.map(lineOf),
  ]
  if (byHand.length === 0 && back.length === 0) return { catalog, byHand }
  const moved = [...(catalog.moved ?? []), ...back]
  return {
    catalog: { ...withMoves(catalog, byHand), moved: [...onwards(moved, byHand), ...byHand.map(lineOf)] },
    byHand,
  }
}

/** What a part or project of the instance is called that had a name; null: it has it, or is gone. */
function nameNow(
  { changes: { renames }, kinds }: Declared,
  projects: readonly StoredOf<'project'>[],
): (kind: ChangeKind, name: string) => string | null {
  return (kind, name) => {
    if (kind === 'project') {
      if (projects.some((one) => one.name === name)) return null
      const id = renames.projectCalled(name)
      return projects.find(({ key }) => key === id)?.name ?? null
    }
    const now = kinds[kind].find(name) ? null : renames.nowOf(kind, name)
    return now !== null && kinds[kind].find(now) ? now : null
  }
}

/** What other catalogs own, by the names of now. @returns as `ownedByOthers` */
export const ownedNow = (
  declared: Declared,
  remembered: readonly RememberedFile[],
  files: readonly KeptText[],
): Map<string, string> => ownedByOthers(remembered, files, nameNow(declared, declared.kinds.project.list()))

/** With what a file is merged; null: it is applied as it is. */
type MergingOf = Pick<MergeOf, 'base' | 'since' | 'ours' | 'choices' | 'byHand'> | null

export const mergingOf = (
  { merge: isMerge, ours, choices }: Pick<CatalogCheck, 'merge' | 'ours' | 'choices'>,
  remembered: readonly RememberedFile[],
  files: readonly KeptText[],
  byHand: MergeOf['byHand'],
): MergingOf => {
  if (!isMerge && ours !== undefined)
    fail('invalid', 'ours needs merge: without it the file is applied as it is', { field: 'ours' })
  if (!isMerge && choices?.length)
    fail('invalid', 'choices needs merge: without it the file is applied as it is', { field: 'choices' })
  return isMerge
    ? { base: appliedLast(remembered, files), since: appliedAt(remembered, files), ours, choices, byHand }
    : null
}

/** Modes of parts that keep what was changed by hand, where a repository is followed; null: no part does. */
export type Modes = ReadonlySet<SyncMode> | null

const keepingOf = (
  modes: Modes,
  remembered: readonly RememberedFile[],
  files: readonly KeptText[],
  byHand: KeepOf['byHand'],
) => modes && { modes, base: appliedLast(remembered, files), byHand }

interface StagingOf extends StageOf {
  spared: ReadonlySet<string>
  /** As of CatalogFiles.check. */
  compares: boolean
  merging: MergingOf
  keeping?: Pick<KeepOf, 'modes' | 'base' | 'byHand'> | null
}

/** How texts are staged; of a merge it says what the two sides differ in. */
export function stagingOf(
  declared: Declared,
  catalog: Catalog,
  { compares, merging, keeping, ...how }: StagingOf,
): (edit: Edit) => Merged | null {
  // A value of its own for each, so that the plan says nothing about the one that is stored.
  const staged = compares
    ? catalog
    : withValues(
        catalog,
        plainOnes(catalog, declared.templates, () => randomUUID()),
      )
  return (edit) => {
    if (merging) return stageMerged(declared, edit, { ...merging, ...how, wanted: staged })
    if (keeping) return stageKeeping(declared, edit, { ...keeping, ...how, wanted: staged })
    stageCatalog(declared, edit, staged, how)
    return null
  }
}

/** The same of texts, for who plans more than their fields. @throws SvcError invalid with every problem of the texts themselves */
export function stagingOfFile(
  declared: Declared,
  {
    prune = false,
    ...body
  }: Pick<CatalogCheck, 'yaml' | 'name' | 'file' | 'others' | 'prune' | 'merge' | 'ours' | 'choices'>,
  compares: boolean,
): (edit: Edit) => void {
  const { catalog, problems, locate, files } = readTexts(body)
  refuse(problems)
  const remembered = rememberedFiles(declared.store.db).all()
  const owned = ownedNow(declared, remembered, files)
  refuse(contestedIn(catalog!, files, owned, locate))
  const isMerge = body.merge === true
  const { catalog: named, byHand } = namedNow(declared, catalog!, remembered, files, { isMerge })
  const merging = mergingOf(body, remembered, files, byHand)
  return stagingOf(declared, named, { prune, locate, compares, spared: sparedBy(files, owned), merging })
}

/** All that an import takes from the text of a file, read where no events are stored. */
export interface CatalogRead {
  catalog: Catalog
  warnings: CatalogProblem[]
  /** What to remember by which name: its secrets are masked, which an import takes for the stored ones. */
  files: readonly [KeptText, ...KeptText[]]
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
  { catalog: read, warnings, files: kept }: CatalogRead,
  modes: Modes = null,
): CatalogImported {
  // Only what is refused is looked up in the text again.
  let places: ReturnType<typeof readTexts> | null = null
  const locate: Locate = (path) => {
    places ??= readTexts(body)
    return places.locate(path)
  }
  const isMerge = body.merge === true
  const { catalog, byHand } = namedNow(declared, read, files.all(), kept, { isMerge, modes })
  const owned = ownedNow(declared, files.all(), kept)
  refuseWhole(declared, body, contestedIn(catalog, kept, owned, locate), files.all())
  const spared = sparedBy(kept, owned)
  const prune = body.prune === true || body.mode === 'replace'
  const dryRun = body.dry_run ?? false
  let fingerprint = ''
  const review: Review = ({ plan, basis }) => {
    fingerprint = fingerprintOf(body, prune, plan, basis)
    requireApproved(body, fingerprint, plan)
    const needed = neededByOthers(plan, kept, owned, locate)
    refuseGuards([...guardProblems(plan, catalog, body, locate), ...needed], plan)
  }
  const merging = mergingOf(body, files.all(), kept, byHand)
  const keeping = keepingOf(modes, files.all(), kept, byHand)
  const staging = stagingOf(declared, catalog, { prune, locate, spared, merging, keeping, compares: true })
  const stage = (edit: Edit): Merged | null => {
    const merged = staging(edit)
    if (merged) refuseConflicting(merged.conflicts)
    return merged
  }
  const commit = () => declared.changes.commit({ ...by, why: body.why ?? by.why }, stage, dryRun, review)
  const { plan, changeSet, result } = refusingNeeded(commit, kept, owned, locate)
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
    ...(result ? { kept: result.kept } : {}),
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

/** @throws SvcError conflict with every field that file and instance both changed */
export function refuseConflicting(conflicts: readonly MergeConflict[]): void {
  const [first] = conflicts
  if (!first) return
  const more = conflicts.length > 1 ? ` and ${conflicts.length - 1} more were` : ' was'
  fail(
    'conflict',
    `nothing was applied: ${kindWord(first.kind)} ${first.name}, ${first.path || 'it'}${more} changed in the file and by hand; ours (--ours file or instance) says whose value is taken`,
    { conflicts: [...conflicts] },
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
  if (!isCompact(yaml)) {
    const updated = updateCatalog(yaml, masked)
    // Where an anchor beside the parts stands for a secret, the form of the file is not kept.
    return saysBeside(
      updated,
      plain.map(([{ value }]) => value),
    )
      ? rewritten(updated, masked)
      : updated
  }
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
  {
    yaml,
    others,
    merge: isMerge,
    ours,
    choices,
  }: Pick<CatalogCheck, 'yaml' | 'others' | 'merge' | 'ours' | 'choices'>,
  prune: boolean,
  plan: ChangePlan,
  basis: readonly string[],
): string {
  const changes = plan.changes
    .filter(({ action }) => action !== 'none')
    .map(({ action, kind, name, fields }) => [action, kind, name, fields])
  return createHash('sha256')
    .update(
      JSON.stringify([
        ...[yaml, prune, changes, basis],
        ...(others?.length ? [others] : []),
        ...(isMerge ? [{ merge: ours ?? null, ...(choices?.length ? { choices } : {}) }] : []),
      ]),
    )
    .digest('hex')
}

/* What a catalog file may say, but should not: variables that are not set, secrets in plain text. */

type Env = Readonly<Record<string, string | undefined>>

/** @param places of the secrets of the catalog. @returns warnings in the order of the file */
function warningsOf(places: readonly SecretPlace[], env: Env, locate: Locate): CatalogProblem[] {
  return places.flatMap((place) => {
    const said = warningOf(place, env)
    return said ? [{ ...locate(pathOfPlace(place)), path: pathText(pathOfPlace(place)), ...said }] : []
  })
}

function warningOf(place: SecretPlace, env: Env): Pick<CatalogProblem, 'code' | 'message'> | null {
  const { inner, value } = place
  const field = inner.at(-1)!
  const variable = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(value)?.[1]
  const unset = variable === undefined ? null : unopened(variable, env)
  if (unset !== null) return { code: 'unset_variable', message: unset }
  if (variable !== undefined || !isPlainAt(place)) return null
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
    path: pathText(pathOfPlace(place)),
    code: 'secret_not_compared',
    message: 'is planned as a change: only an admin may learn whether it is the secret that is stored',
  }))
}
