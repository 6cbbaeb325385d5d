/**
 * What was changed by hand as the files of a commit would say it, by the same code as `svc catalog pull`, and told by
 * field with who changed it: found on the thread of wide reads, pushed as a branch where git is run.
 */
import { SECTION_OF } from '../../schemas/kinds.ts'
import type {
  Catalog,
  CatalogAdoptedFile,
  CatalogAdoption,
  CatalogCommit,
  CatalogDifference,
  CatalogHand,
  CatalogProblem,
  MergeConflict,
  PlannedChange,
} from '../../schemas/types.ts'
import type { CatalogFiles } from '../declared/catalog/catalog.ts'
import { NAME_PATH } from '../declared/catalog/merge.ts'
import type { Declared } from '../declared/declared.ts'
import { fail } from '../errors.ts'
import { type Composed, compose } from '../gitops/compose.ts'
import { pathOfProblem } from '../gitops/nodes.ts'
import { type PulledFile, patchOf, pullInto, withFiles } from '../gitops/pull.ts'
import type { ChangeKind } from '../model/documents.ts'
import { nameOfEntry, stepsOf } from '../model/merge.ts'
import type { Access, Mirror, Person } from './mirror.ts'
import { type ApplyTexts, type CommitTexts, inputOf } from './plan.ts'

/** Fields that are told. */
const DIFFERENCES_MAX = 500

/** A difference before git is asked who wrote its line. */
type Difference = Omit<CatalogDifference, 'commit'>

export interface Adopted {
  /** None with a problem or a conflict. */
  files: PulledFile[]
  held: CatalogProblem[]
  problems: CatalogProblem[]
  differences: Difference[]
  conflicts: MergeConflict[]
}

interface AdoptionParts {
  declared: Declared
  catalog: CatalogFiles
}

/** @returns paths that its files include and that were not given, or what of the instance they do not say */
export function adoptCommit(
  parts: AdoptionParts,
  asked: CommitTexts,
): { wanted: string[] } | { adopted: Adopted } {
  const wanted = new Set<string>()
  const input = inputOf(asked, wanted)
  const composed = compose(input)
  if (wanted.size) return { wanted: [...wanted] }
  const none = { files: [], held: [], differences: [], conflicts: [] }
  if (composed.problems.length) return { adopted: { ...none, problems: composed.problems } }
  const texts = ownedTexts(composed)
  const merged = parts.catalog.check({ ...texts, merge: true }, true)
  const placed = placing(composed)
  if (merged.problems.length) return { adopted: { ...none, problems: merged.problems.map(placed) } }
  const { conflicts = [], kept = [] } = merged
  const differing = new Differing(parts.declared, composed)
  const told = [
    ...conflicts.map((one) => differing.of(one, 'both')),
    // What is in conflict has the instance's value until somebody chooses.
    ...kept.filter((one) => !conflicts.some(isSame(one))).map((one) => differing.of(one, 'instance')),
  ]
  const plan = conflicts.length
    ? parts.catalog.check({ ...texts, merge: true, ours: 'instance' }, true).plan
    : merged.plan
  const ofFiles = (plan?.changes ?? []).flatMap((change) => differing.ofChange(change))
  const adopted = (more: Difference[] = [], pulled: Pick<Adopted, 'files' | 'held'> = none) => ({
    adopted: {
      ...pulled,
      problems: [],
      conflicts: conflicts.map(placed),
      differences: [...told, ...more, ...ofFiles].slice(0, DIFFERENCES_MAX),
    },
  })
  if (conflicts.length) return adopted()
  const current = JSON.parse(parts.catalog.update({ ...texts, merge: true })) as Catalog
  const made = differing.made(current)
  const { files, notPulled } = pullInto(composed, current, (changed) =>
    compose(withFiles(inputOf(asked, wanted), changed)),
  )
  return adopted(made, { files, held: notPulled })
}

const isSame = (one: MergeConflict) => (other: MergeConflict) =>
  one.kind === other.kind && one.name === other.name && one.path === other.path

/** As an import takes them, each owner as it was put together. */
function ownedTexts({ owned }: Composed): ApplyTexts {
  const [first, ...others] = owned.map(({ name, text }) => ({ name, yaml: text }))
  return { ...first!, ...(others.length ? { others } : {}) }
}

/** What is told of what was put together, with the places of the files. */
const placing =
  (composed: Composed) =>
  <T extends Partial<CatalogProblem> & { path: string }>(told: T): T => ({
    ...told,
    ...composed.locate(pathOfProblem(composed, told)),
  })

/** Tells fields that differ, each with its place and who changed it in the instance. */
class Differing {
  constructor(
    private readonly declared: Declared,
    private readonly composed: Composed,
  ) {}

  of(told: MergeConflict, changedIn: 'both' | 'instance'): Difference {
    const { kind, name, path, base, mine, theirs } = told
    const at = pathOfProblem(this.composed, told)
    return {
      ...{ kind, name, path, changed_in: changedIn },
      ...{ base, in_files: mine, in_instance: theirs },
      ...this.placeAt(at),
      hand: this.handOf(kind, name, path),
    }
  }

  /** Fields that the files alone changed; an object that they make is one. */
  ofChange({ action, kind, name, fields }: PlannedChange): Difference[] {
    const all = action === 'update' ? fields : action === 'none' ? [] : [{ path: '' }]
    return all.map(({ path, from = null, to = null }) => ({
      ...{ kind, name, path, changed_in: 'files' },
      ...{ base: from, in_files: to, in_instance: from },
      ...this.placeAt(this.pathOf(kind, name, path)),
      hand: null,
    }))
  }

  /** Objects that were made by hand, and that the files do not have. */
  made(current: Catalog): Difference[] {
    return Object.entries(SECTION_OF).flatMap(([word, section]) => {
      const kind = word as ChangeKind
      const entriesIn = (catalog: Catalog) => (catalog[section] ?? []) as { name?: string }[]
      const known = new Set(entriesIn(this.composed.catalog!).map(({ name }) => name))
      // What was given another name by hand was not made by it.
      for (const line of current.moved ?? []) if (line[kind] !== undefined) known.add(line.to)
      return entriesIn(current)
        .filter(({ name }) => name !== undefined && !known.has(name))
        .map((entry) => ({
          ...{ kind, name: entry.name!, path: '', changed_in: 'instance' as const },
          ...{ base: null, in_files: null, in_instance: entry, file: null },
          hand: this.handOf(kind, entry.name!, ''),
        }))
    })
  }

  private placeAt(path: (string | number)[]): Pick<Difference, 'file' | 'line'> {
    if (path.length < 2) return { file: null }
    const { file, line } = this.composed.locate(path)
    return { file, line }
  }

  private pathOf(kind: ChangeKind, name: string, pointer: string): (string | number)[] {
    const section = SECTION_OF[kind]
    const entries = (this.composed.catalog![section] ?? []) as { name?: string }[]
    const index = entries.findIndex((entry) => entry.name === name)
    if (index < 0) return []
    const path: (string | number)[] = [section, index]
    let at: unknown = entries[index]
    for (const step of stepsOf(pointer)) {
      const inner = Array.isArray(at) ? at.findIndex((item) => nameOfEntry(item) === step) : step
      const next = (at as Record<string | number, unknown> | undefined)?.[inner]
      if (next === undefined) break
      path.push(inner)
      at = next
    }
    return path
  }

  private handOf(kind: ChangeKind, name: string, path: string): CatalogHand | null {
    const { changes, kinds } = this.declared
    if (path === NAME_PATH && kind !== 'project') {
      const [{ from: named } = { from: 0 }] = changes.renames.lineage(kind, name)
      if (named === 0) return null
      const { actor, at, id, why } = changes.get(named)
      return { by: actor, at, change_set: id, why }
    }
    const key = kind === 'project' ? kinds.project.list().find((one) => one.name === name)?.key : name
    const set = key === undefined ? null : changes.lastChange({ kind, key, path })
    return set && { by: set.actor, at: new Date(set.at).toISOString(), change_set: set.id, why: set.why }
  }
}

/** A file of it as its readers see it. */
export const adoptedFile = (file: PulledFile): CatalogAdoptedFile => ({
  file: file.path,
  action: file.before === null ? 'create' : file.after === null ? 'delete' : 'change',
  patch: patchOf(file),
})

/* Where git is run. */

/** Files whose lines git is asked about: each is a walk through the history. */
const FILES_ASKED = 30

/** Each difference with the commit that wrote its line. @throws RepositoryFault */
export async function writtenBy(
  mirror: Mirror,
  commit: CatalogCommit,
  differences: readonly Difference[],
): Promise<CatalogDifference[]> {
  const lines = new Map<string, number[]>()
  for (const { file, line } of differences)
    if (file !== null && line !== undefined && (lines.has(file) || lines.size < FILES_ASKED))
      lines.set(file, [...(lines.get(file) ?? []), line])
  const writers = new Map<string, Map<number, CatalogCommit>>()
  for (const [file, asked] of lines) writers.set(file, await mirror.writersOf(commit.id, file, asked))
  return differences.map((one) => ({
    ...one,
    commit: (one.file !== null && writers.get(one.file)?.get(one.line ?? 0)) || null,
  }))
}

/** @throws SvcError invalid with every problem, or where there is nothing to adopt; conflict with every conflict */
export function refuseAdopting(
  { files, problems, held }: Pick<CatalogAdoption, 'files' | 'problems' | 'held'>,
  conflicts: readonly MergeConflict[],
): void {
  const [problem] = problems
  if (problem) fail('invalid', `${problem.file}:${problem.line}: ${problem.message}`, { problems })
  if (conflicts.length)
    fail(
      'conflict',
      `nothing was pushed: ${conflicts.length === 1 ? 'a field was' : `${conflicts.length} fields were`} changed in the files and by hand; settle that first`,
      { conflicts: [...conflicts] },
    )
  if (files.length) return
  const [first] = held
  fail(
    'invalid',
    first
      ? `no file takes what was changed by hand: ${first.file}:${first.line}: ${first.path} ${first.message}`
      : 'nothing was changed by hand: the files say what the instance has',
    held.length ? { problems: held } : {},
  )
}

/** The branch of an instance: the same each time, so that there is one pull request. */
export function branchOf(instance: string): string {
  const word = instance.replace(/[^A-Za-z0-9_-]+/g, '-').replace(/^-+|-+$/g, '')
  return `svc/adopt-${word.slice(0, 60).toLowerCase() || 'instance'}`
}

interface PushedChanges {
  head: CatalogCommit
  files: readonly PulledFile[]
  branch: string
  message: string
  atMs: number
  author: Person
  committer: Person
}

/**
 * Changes of files as one commit on the newest, pushed as a branch of ours. What somebody else has pushed to it stays.
 * @returns its hash. @throws RepositoryFault; SvcError conflict where the branch has commits of others
 */
export async function pushChanges(mirror: Mirror, access: Access, of: PushedChanges): Promise<string> {
  const { head, files, branch, committer } = of
  const tip = await mirror.tipOf(branch, access)
  if (tip && tip.committer !== committer.email)
    fail(
      'conflict',
      `nothing was pushed: the branch ${branch} has a commit of ${tip.author} (${tip.id.slice(0, 10)}); merge it, or delete the branch`,
    )
  const made = await mirror.commitOn(head.id, files, of)
  if (tip && tip.parent === head.id && tip.tree === (await mirror.treeOf(made))) return tip.id
  await mirror.push(made, branch, tip?.id ?? null, access)
  return made
}
