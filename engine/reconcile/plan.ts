/**
 * What a commit would do, on the thread of wide reads: its files put together as a folder's are, checked against the
 * instance, and told by file and part.
 */

import { posix } from 'node:path'
import { kindOfSection } from '../../schemas/kinds.ts'
import type {
  CatalogCheck,
  CatalogProblem,
  CatalogSync,
  CatalogSyncAsk,
  CatalogSyncFile,
  CatalogSyncPart,
  ChangePlan,
  MergeConflict,
} from '../../schemas/types.ts'
import type { CatalogRead } from '../declared/catalog/apply.ts'
import { type CatalogFiles, namedByFiles, namesBefore, unmanagedBy } from '../declared/catalog/catalog.ts'
import { NAME_PATH, namedIn } from '../declared/catalog/merge.ts'
import { rememberedFiles } from '../declared/catalog/texts.ts'
import type { Declared } from '../declared/declared.ts'
import { type Composed, type ComposeInput, compose } from '../gitops/compose.ts'
import { type CatalogText, pathOfProblem } from '../gitops/nodes.ts'
import { NAME_KEY, SECTIONS } from '../gitops/render.ts'
import type { SyncMode } from '../model/documents.ts'

/** The files of a commit. */
export interface CommitTexts {
  /** What its parts are remembered by where no file says `catalog`. */
  name: string
  /** Those at the path that is followed. */
  texts: readonly CatalogText[]
  /** Those that were asked for because a file includes them, by the path that was asked for. */
  included: Readonly<Record<string, readonly CatalogText[]>>
  environment: string | null
}

/** How a commit is applied. */
export interface HowApplied {
  prune: boolean
  maxDeletions?: number | undefined
  allowEmpty?: boolean | undefined
  /** Drift of parts with `sync: warn` is written over, too. */
  heal?: boolean | undefined
  /** What was changed by hand stays; null: it is overwritten. */
  merge: Pick<CatalogCheck, 'ours' | 'choices'> | null
}

/**
 * Whether a plan is asked for that is not the policy's. A look is stored, and applied, as the policy has it: what is asked
 * for otherwise is in the plan that is answered alone.
 */
export const asksOtherwise = (asked: CatalogSyncAsk | null): boolean =>
  [asked?.prune, asked?.max_deletions, asked?.allow_empty, asked?.heal].some((field) => field !== undefined)

/** Parts of these modes keep what was changed by hand. */
export const modesOf = ({ heal }: Pick<HowApplied, 'heal'>): ReadonlySet<SyncMode> =>
  new Set(heal ? ['adopt'] : ['warn', 'adopt'])

export interface PlanAsked extends CommitTexts, HowApplied {
  /** Names under which files of earlier commits are remembered. */
  remembered: readonly string[]
  /** Whether the texts are read for an apply, too. */
  reads: boolean
}

/** What an import takes of it. */
export interface ApplyTexts {
  yaml: string
  name: string
  others?: { name: string; yaml: string }[]
}

/** What a commit comes to; what is stored of it is `Outcome`. */
export interface PlannedCommit {
  outcome: Outcome
  /** Newest change-set when it was planned. */
  version: number
  /** Null with a problem. */
  apply: { texts: ApplyTexts; read: CatalogRead | null; names: string[]; gone: string[] } | null
}

export type Outcome = Pick<
  CatalogSync,
  'conflicts' | 'kept' | 'plan' | 'fingerprint' | 'problems' | 'warnings' | 'files' | 'parts' | 'unmanaged'
> & {
  /** Whether the plan deletes what no file names. */
  prune: boolean
  /** Problems that keep the plan from being applied as it is: bounds of deletions. */
  refused: boolean
}

/** @returns paths that its files include and that were not given, or what it comes to */
export function planCommit(
  { declared, catalog }: { declared: Declared; catalog: CatalogFiles },
  asked: PlanAsked,
): { wanted: string[] } | { planned: PlannedCommit } {
  const wanted = new Set<string>()
  const composed = compose(inputOf(asked, wanted))
  if (wanted.size) return { wanted: [...wanted] }
  const version = declared.changes.version()
  if (composed.problems.length)
    return { planned: { outcome: brokenBy(composed, composed.problems), version, apply: null } }
  const gone = asked.prune ? goneOf(asked, composed) : []
  const texts = textsOf(composed, gone)
  const checked = catalog.check(
    {
      ...{ ...texts, prune: asked.prune, allow_empty: asked.allowEmpty, max_deletions: asked.maxDeletions },
      ...(asked.merge ? { merge: true, ...asked.merge } : {}),
    },
    true,
    modesOf(asked),
  )
  const placed = <T extends Partial<CatalogProblem> & { path: string }>(problem: T): T => ({
    ...problem,
    ...(composed.isPlain
      ? { file: composed.files[0]!.path }
      : composed.locate(pathOfProblem(composed, problem))),
  })
  const warnings = [...composed.warnings, ...checked.warnings.map(placed)]
  const { plan, fingerprint, conflicts = [], kept = [] } = checked
  const merged = asked.merge
    ? { conflicts: conflicts.map(placed), kept: conflicts.length ? [] : kept.map(placed) }
    : {}
  if (!plan) {
    const outcome = { ...brokenBy(composed, checked.problems.map(placed)), warnings, ...merged }
    return { planned: { outcome, version, apply: null } }
  }
  const outcome: Outcome = {
    plan: { ...plan, changes: plan.changes.filter(({ action }) => action !== 'none') },
    fingerprint,
    // Beside a plan they are its bounds, which are of no file.
    problems: checked.problems,
    warnings,
    ...statesOf(composed, plan, checked.kept ?? []),
    unmanaged: unmanagedBy(
      declared,
      namedWith(declared, composed, plan, { remembered: asked.remembered, kept: checked.kept ?? [] }),
    ),
    prune: asked.prune,
    refused: checked.problems.length > 0,
    ...merged,
  }
  const names = composed.owned.map(({ name }) => name)
  const read = asked.reads && plan.creates + plan.updates + plan.deletes > 0 ? catalog.read(texts) : null
  return { planned: { outcome, version, apply: { texts, read, names, gone } } }
}

/** What the files of the commit name, and those of other catalogs that are remembered, as drift takes them. */
function namedWith(
  { store }: Declared,
  { catalog, owned }: Composed,
  plan: ChangePlan,
  { remembered, kept }: { remembered: readonly string[]; kept: readonly MergeConflict[] },
): Set<string> {
  // What an earlier commit of the same repository said is no longer in a file.
  const isOurs = (name: string) => remembered.includes(name) || owned.some((one) => one.name === name)
  const others = rememberedFiles(store.db)
    .all()
    .filter(({ name }) => !isOurs(name))
  return new Set([
    ...namedIn(catalog ?? {}),
    ...namedByFiles(others),
    ...namesBefore(plan),
    ...kept.filter(({ path }) => path === NAME_PATH).map(({ kind, name }) => `${kind}:${name}`),
  ])
}

/** How the texts of a commit are put together. @param wanted paths that they include and that were not given */
export const inputOf = (asked: CommitTexts, wanted: Set<string>): ComposeInput => ({
  roots: [{ name: asked.name, files: asBefore(asked.texts) }],
  read: (from, path) => includedBy(asked, from, path, wanted),
  environment: asked.environment,
})

/** The files of the commit before, by path: of those that are the same what was parsed is used again. */
let before = new Map<string, CatalogText>()

function asBefore(texts: readonly CatalogText[]): CatalogText[] {
  const same = texts.map((one) => {
    const known = before.get(one.path)
    return known?.text === one.text ? known : one
  })
  before = new Map(same.map((one) => [one.path, one]))
  return same
}

/** @throws Error that says why a file cannot be included */
function includedBy(
  { texts, included }: CommitTexts,
  from: string,
  path: string,
  wanted: Set<string>,
): CatalogText[] {
  const at = posix.normalize(posix.join(posix.dirname(from), path)).replace(/\/$/, '')
  if (path.startsWith('/') || at.startsWith('..')) throw new Error(`${path} leads out of the repository`)
  const known = included[at] ?? texts.filter((one) => one.path === at || one.path.startsWith(`${at}/`))
  if (known.length) return [...known]
  if (included[at]) throw new Error(`${at} is not in the commit, or holds no catalog file`)
  wanted.add(at)
  return []
}

/** Catalogs of earlier commits that this one has no more: what they own is free to be deleted. */
const goneOf = ({ remembered }: PlanAsked, { owned }: Composed): string[] =>
  remembered.filter((name) => !owned.some((one) => one.name === name))

/** As an import takes them: one file that says all by itself as it is, so that its comments are remembered. */
function textsOf({ owned, isPlain, files }: Composed, gone: readonly string[]): ApplyTexts {
  const all = [
    ...owned.map(({ name, text }) => ({ name, yaml: isPlain ? files[0]!.text : text })),
    ...gone.map((name) => ({ name, yaml: JSON.stringify({ [NAME_KEY]: name }) })),
  ]
  const [first, ...others] = all
  return { ...first!, ...(others.length ? { others } : {}) }
}

/** Of files that have problems: what is not in doubt is not known, so that no part is said to be synced. */
function brokenBy({ files, warnings }: Composed, problems: readonly CatalogProblem[]): Outcome {
  const inFile = (path: string) => problems.filter(({ file }) => file === path).length
  return {
    ...{ plan: null, fingerprint: null, problems: [...problems], warnings, parts: [], unmanaged: [] },
    files: files.map(({ path }): CatalogSyncFile => {
      const count = inFile(path)
      return { file: path, state: count ? 'failed' : 'unknown', parts: 0, out_of_sync: 0, problems: count }
    }),
    ...{ prune: false, refused: false },
  }
}

/** Every part of the commit with its state, and the same by file. */
function statesOf(
  composed: Composed,
  plan: ChangePlan,
  kept: readonly MergeConflict[],
): Pick<Outcome, 'files' | 'parts'> {
  const byHand = new Map<string, string[]>()
  // The files have by its name what people gave another one.
  const called = new Map(
    kept.flatMap(({ kind, name, path, mine }) =>
      path === NAME_PATH ? [[`${kind}:${name}`, `${kind}:${String(mine)}`] as const] : [],
    ),
  )
  for (const { kind, name, path } of kept) {
    const id = called.get(`${kind}:${name}`) ?? `${kind}:${name}`
    byHand.set(id, [...(byHand.get(id) ?? []), path])
  }
  const actions = new Map(
    plan.changes.map(({ kind, name, action }) => [
      called.get(`${kind}:${name}`) ?? `${kind}:${name}`,
      action,
    ]),
  )
  const parts = entriesOf(composed).map((entry): CatalogSyncPart => {
    const id = `${entry.kind}:${entry.name}`
    const action = actions.get(id)
    const edited = byHand.get(id)
    const told = { ...entry, ...(edited ? { edited } : {}) }
    if (action === 'create' || action === 'update') return { ...told, state: 'out_of_sync', action }
    if (!edited) return { ...told, state: 'synced' }
    return { ...told, state: entry.sync === 'adopt' ? 'adopted' : 'drifted' }
  })
  const files = new Map<string, CatalogSyncFile>(
    composed.files.map(({ path }) => [
      path,
      { file: path, state: 'synced', parts: 0, out_of_sync: 0, problems: 0 },
    ]),
  )
  for (const { file, state } of parts) {
    const one = files.get(file)!
    one.parts++
    if (state === 'synced' || state === 'adopted') continue
    one.out_of_sync++
    one.state = 'out_of_sync'
  }
  return { files: [...files.values()], parts }
}

type Entry = Pick<CatalogSyncPart, 'kind' | 'name' | 'file' | 'line' | 'sync'>

function entriesOf({ catalog, locate }: Composed): Entry[] {
  return SECTIONS.flatMap((section) => {
    const kind = kindOfSection(section)
    const entries = (catalog?.[section] ?? []) as { name?: string; sync?: SyncMode }[]
    return kind === undefined
      ? []
      : entries.flatMap(({ name, sync }, i): Entry[] => {
          if (name === undefined) return []
          const { file, line } = locate([section, i])
          return [{ kind, name, file, line, ...(sync ? { sync } : {}) }]
        })
  })
}

/** Parts that were changed by hand and stay so, which is told. */
export const driftedIn = ({ parts }: Pick<Outcome, 'parts'>): Outcome['parts'] =>
  parts.filter(({ state }) => state === 'drifted')

/** Whether applying would change anything. */
export const changesIn = ({ plan }: Pick<Outcome, 'plan'>): number =>
  plan ? plan.creates + plan.updates + plan.deletes : 0
