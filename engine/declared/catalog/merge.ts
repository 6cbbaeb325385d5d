/**
 * Three ways: what was applied last, what a file says now and what the instance is, merged field by field. All three
 * are looked at as documents, staged on the same instance, so that two ways of writing the same are the same.
 */
import { kindOfSection, SECTION_OF } from '../../../schemas/kinds.ts'
import type { Catalog, CatalogProblem, MergeChoice, MergeConflict } from '../../../schemas/types.ts'
import { completeEdit } from '../../documents/wiring.ts'
import { SvcError } from '../../errors.ts'
import { type Move, movesOf, withMoves } from '../../gitops/moved.ts'
import {
  type ChangeKind,
  changeKinds,
  type Doc,
  differences,
  Edit,
  equal,
  isPart,
  namedKinds,
  type ProjectDoc,
  type SyncMode,
  UNMARKED,
} from '../../model/documents.ts'
import { type FieldConflict, merge, nameOfEntry, stepsOf, valueAt } from '../../model/merge.ts'
import { DEFAULT_TEMPLATE, projectOf, projectsOf, putProject, usersOf } from '../../model/project.ts'
import type { Declared } from '../declared.ts'
import { stageCatalog, stageMoves, stageRunning } from './import.ts'
import {
  collecting,
  isTemplate,
  type Paused,
  pauseAgain,
  pausedIn,
  refuse,
  resumePaused,
} from './import-run.ts'
import type { Locate, Path } from './texts.ts'

/** Where a conflict, or what stays by hand, says the name of a part. */
export const NAME_PATH = '/name'

/** Edits by hand that are named at most. */
const KEPT_TOLD = 200

export interface MergeOf {
  /** What was applied last by the same names; null: nothing was, and what differs is a conflict. */
  base: Catalog | null
  /** When that was, epoch ms. */
  since?: number | undefined
  wanted: Catalog
  prune: boolean
  locate: Locate
  /** What pruning leaves, such as triggers:slow, since another catalog owns it. */
  spared: ReadonlySet<string>
  /** Whose value a field gets that both changed; absent: it is a conflict. */
  ours?: 'file' | 'instance' | undefined
  /** The same of single fields, which goes before. */
  choices?: readonly MergeChoice[] | undefined
  /** Names that people gave since, which `wanted` has already. */
  byHand?: readonly Omit<Move, 'index'>[] | undefined
}

export interface Merged {
  /** Fields that file and instance changed in different ways: base, file (`mine`) and instance (`theirs`). */
  conflicts: MergeConflict[]
  /** Fields that were changed by hand and stay, as conflicts are told. */
  kept: MergeConflict[]
}

/**
 * Stages the merge of a file with what was changed by hand since it was last applied.
 * @throws SvcError invalid with every problem of the file
 */
export function stageMerged(declared: Declared, edit: Edit, of: MergeOf): Merged {
  const { wanted, locate } = of
  const problems: CatalogProblem[] = []
  const given = stageMoves(edit, wanted, of.spared, collecting(problems, locate))
  refuse(problems)
  // What was applied last is compared in the names of now.
  const base = of.base && withMoves(of.base, movesOf(wanted.moved ?? []).moves)
  const renamed = new Set(given.map(({ kind, from }) => `${kind}:${from}`))
  const named = namedIn(wanted)
  const before = namedIn(base ?? {})
  const how = { prune: of.prune, locate, spared: unnamed(declared, [named, before, renamed], of.spared) }
  const mine = scratchOf(declared)
  refuse(stageRunning(declared, mine, wanted, how).problems)
  completeEdit(mine)
  const was = base === null ? null : baseOf(declared, { ...base, moved: wanted.moved ?? [] }, how)
  const paused = resumePaused(edit)
  const told: Merged = { conflicts: [], kept: namesKept(of) }
  const merging = new Merging(declared, edit, { mine, was, named, before }, of, told)
  for (const kind of changeKinds) merging.kind(kind)
  completeEdit(edit)
  const isPaused = pauseOf({ ...of, base }, paused)
  pauseAgain(edit, paused, isPaused, wanted, locate)
  return { ...told, kept: told.kept.slice(0, KEPT_TOLD) }
}

export interface KeepOf extends Omit<MergeOf, 'ours'> {
  /** Parts of these modes keep what was changed by hand. */
  modes: ReadonlySet<SyncMode>
}

/**
 * Stages a file as it is, but for edits by hand of parts that keep them by their own `sync`: of a field that file and
 * instance both changed a part with `warn` gets the value of the file, one with `adopt` keeps that of the instance. A part
 * that was deleted by hand is made again, since others may need it.
 * @throws SvcError invalid with every problem of the file
 */
export function stageKeeping(declared: Declared, edit: Edit, of: KeepOf): Merged {
  const { wanted, locate, spared, modes } = of
  stageCatalog(declared, edit, wanted, { prune: of.prune, locate, spared })
  const told: Merged = { conflicts: [], kept: namesKept(of) }
  const keeping = namedKinds.flatMap((kind) =>
    ((wanted[SECTION_OF[kind]] ?? []) as { name: string; sync?: SyncMode }[]).flatMap(({ name, sync }) =>
      sync && modes.has(sync) && edit.stored(kind, name) ? { kind, name, sync } : [],
    ),
  )
  if (keeping.length === 0 || of.base === null) return told
  const base = withMoves(of.base, movesOf(wanted.moved ?? []).moves)
  const was = baseOf(declared, { ...base, moved: wanted.moved ?? [] }, { prune: false, spared })
  const known = namedIn(base)
  for (const { kind, name, sync } of keeping) {
    const id = `${kind}:${name}`
    if (!was || was.lost.has(id) || !known.has(id)) continue
    const mine: Doc = edit.require(kind, name)
    // What stops with its project is not edited.
    const isStopped = isPart(kind) && usersOf(edit, kind, name).some((user) => projectOf(edit, user).paused)
    const running = (doc: Doc): Doc => (isStopped ? { ...doc, paused: mine.paused } : doc)
    const before = running(was.edit.require(kind, name))
    const theirs = running(edit.storedNow(kind, name)!)
    const { merged } = merge<Doc>(before, mine, theirs, {
      byName: true,
      isSet: (path) => declared.kinds[kind].isSet?.(path) ?? false,
      prefer: () => (sync === 'adopt' ? 'theirs' : 'mine'),
    })
    for (const { path } of differences(mine, merged))
      told.kept.push(telling(declared, of, { kind, name, path }, { base: before, mine, theirs }))
    if (!equal(merged, mine)) edit.put(kind, name, { ...UNMARKED, ...merged })
  }
  return told
}

/** An edit that is thrown away: documents as they would be. */
export const scratchOf = ({ kinds }: Declared): Edit => new Edit(kinds, () => undefined)

/** What was applied last as documents, as far as it can still be staged. */
interface Base {
  edit: Edit
  /** kind:name of what cannot: it is as if it had not been applied. */
  lost: ReadonlySet<string>
}

function baseOf(
  declared: Declared,
  base: Catalog,
  how: { prune: boolean; spared: ReadonlySet<string> },
): Base | null {
  const edit = scratchOf(declared)
  const lost = new Set<string>()
  const locate: Locate = () => ({ line: 1, column: 1 })
  const { problems } = stageRunning(declared, edit, base, { ...how, locate })
  for (const { path } of problems) {
    const [, section, index] = /^(\w+)\[(\d+)\]/.exec(path) ?? []
    const kind = kindOfSection(section ?? '')
    const entry = (base[section as keyof Catalog] as { name?: string; project?: string }[] | undefined)?.[
      Number(index)
    ]
    if (kind && entry?.name) lost.add(`${kind}:${entry.name}`)
    if (entry?.project) lost.add(`project:${entry.project}`)
  }
  try {
    completeEdit(edit)
  } catch (error) {
    // Something it needs is gone: without a base all that differs is told, and nothing overwritten.
    if (!(error instanceof SvcError)) throw error
    return null
  }
  return { edit, lost }
}

/** What a catalog names, as kind:name. */
export const namedIn = (catalog: Catalog): ReadonlySet<string> =>
  new Set(
    changeKinds.flatMap((kind) =>
      ((catalog[SECTION_OF[kind]] ?? []) as { name?: string }[]).flatMap(({ name }) =>
        name === undefined ? [] : [`${kind}:${name}`],
      ),
    ),
  )

/** What neither file names: made by hand or by others, pruning is no matter of theirs. */
function unnamed(
  { kinds }: Declared,
  named: readonly ReadonlySet<string>[],
  spared: ReadonlySet<string>,
): Set<string> {
  const out = new Set(spared)
  for (const kind of changeKinds)
    for (const { name } of kinds[kind].list())
      if (!named.some((names) => names.has(`${kind}:${name}`))) out.add(`${SECTION_OF[kind]}:${name}`)
  return out
}

/** Whether a project is to be paused: as the file says where it changed that, else as it is. */
function pauseOf(
  { base, wanted }: MergeOf,
  paused: ReadonlyMap<string, Paused>,
): (id: string, doc: ProjectDoc) => boolean {
  const [was, says] = [pausedIn(base ?? {}), pausedIn(wanted)]
  return (id, { name }) => {
    const said = says.get(name)
    return said === undefined || said === (was.get(name) ?? false) ? paused.has(id) : said
  }
}

/** What is merged: each object as it was applied, as the file has it, and as it is. */
interface Worlds {
  mine: Edit
  was: Base | null
  named: ReadonlySet<string>
  before: ReadonlySet<string>
}

class Merging {
  private readonly projects: Record<'mine' | 'was' | 'edit', ReadonlyMap<string, string>>

  constructor(
    private readonly declared: Declared,
    private readonly edit: Edit,
    private readonly worlds: Worlds,
    private readonly of: MergeOf,
    private readonly told: Merged,
  ) {
    const { mine, was } = worlds
    this.projects = { mine: idsIn(mine), was: was ? idsIn(was.edit) : new Map(), edit: idsIn(edit) }
  }

  /** Merges the objects of a kind that a file touches, or touched. */
  kind(kind: ChangeKind): void {
    const { mine, was } = this.worlds
    const namesIn = (edit: Edit) =>
      edit
        .touched()
        .filter((one) => one.kind === kind)
        .map(({ key, doc, stored }) => (kind === 'project' ? String((doc ?? stored?.doc)?.name) : key))
    const said = new Set(namesIn(mine))
    for (const name of new Set([...(was ? namesIn(was.edit) : []), ...said]))
      this.object(kind, name, said.has(name))
  }

  /**
   * @param name of a project, too: one that is made has another id each time
   * @param isSaid whether the file says something of it: what it leaves as it is is then part of the plan, too
   */
  private object(kind: ChangeKind, name: string, isSaid: boolean): void {
    const { mine, was } = this.worlds
    const of = (edit: Edit, at: 'mine' | 'was' | 'edit'): Doc | undefined => {
      const key = kind === 'project' ? this.projects[at].get(name) : name
      const found: Doc | undefined = key === undefined ? undefined : edit.get(kind, key)
      return found
    }
    const theirs = of(this.edit, 'edit')
    const wanted = of(mine, 'mine')
    const isKnown = was !== null && !was.lost.has(`${kind}:${name}`) && this.wasApplied(kind, name)
    const base = isKnown ? of(was.edit, 'was') : undefined
    const isTemplated = kind === 'project' && isTemplate(String((wanted ?? theirs ?? base)?.template))
    const { merged, conflicts } = merge<Doc | undefined>(base, wanted, theirs, {
      byName: true,
      isSet: (path) => this.declared.kinds[kind].isSet?.(path) ?? false,
      // What a template plans follows from all of its parameters.
      isWhole: (path) => isTemplated && path === '/params',
      prefer: (path) => (this.takes(kind, name, path) === 'file' ? 'mine' : 'theirs'),
    })
    const open = conflicts.filter(({ path }) => this.takes(kind, name, path) === undefined)
    this.conflicts(kind, name, open, { base, mine: wanted, theirs })
    this.keep(kind, name, { base, mine: wanted, theirs, merged })
    if (equal(merged, theirs)) {
      const kept = kind === 'project' ? this.projects.edit.get(name) : name
      if (isSaid && theirs && kept !== undefined) this.edit.put(kind, kept, theirs)
      return
    }
    const id = this.projects.edit.get(name) ?? this.projects.mine.get(name) ?? this.projects.was.get(name)
    const key = kind === 'project' ? id! : name
    if (merged === undefined) this.edit.remove(kind, key)
    else if (kind === 'project') {
      this.edit.put('project', key, merged)
      putProject(this.edit, key, projectOf(this.edit, key))
    } else this.edit.put(kind, key, { ...UNMARKED, ...merged })
  }

  /** Whose value a field in conflict gets; undefined: nobody said. */
  private takes(kind: ChangeKind, name: string, path: string): 'file' | 'instance' | undefined {
    const chosen = this.of.choices?.find(
      (one) =>
        one.kind === kind &&
        one.name === name &&
        // What a template plans is said by its parameters.
        (one.path === path || (one.path === '/params' && /^\/plan(\/|$)/.test(path))),
    )
    return chosen?.take ?? this.of.ours
  }

  /** Whether what was applied last said something of an object, by its name or as part of a template. */
  private wasApplied(kind: ChangeKind, name: string): boolean {
    const { before, was, named } = this.worlds
    return (
      before.has(`${kind}:${name}`) || !named.has(`${kind}:${name}`) || this.isPlanned(was!.edit, kind, name)
    )
  }

  private isPlanned(edit: Edit, kind: ChangeKind, name: string): boolean {
    if (!isPart(kind)) return false
    return [...projectsOf(edit).values()].some(
      ({ name: project, plan }) =>
        this.worlds.before.has(`project:${project}`) &&
        Object.values(plan?.[kind] ?? {}).some((planned) => planned.name === name),
    )
  }

  private conflicts(
    kind: ChangeKind,
    name: string,
    found: readonly FieldConflict[],
    docs: Record<'base' | 'mine' | 'theirs', Doc | undefined>,
  ): void {
    // What a template plans is said by its parameters.
    const isOfParams = found.some(({ path }) => path === '/params')
    const told = found.filter(
      ({ path }) => !(isOfParams && path.startsWith('/plan')) && !this.wasPulled(kind, name, path, docs.mine),
    )
    this.told.conflicts.push(...told.map(({ path }) => this.telling(kind, name, path, docs)))
  }

  /** Whether the file has what the instance had since: it was pulled, and what came later is newer than both. */
  private wasPulled(kind: ChangeKind, name: string, path: string, mine: Doc | undefined): boolean {
    const { since } = this.of
    const key = kind === 'project' ? this.projects.edit.get(name) : name
    if (since === undefined || key === undefined || mine === undefined) return false
    const stored = this.edit.stored(kind, key)
    const said = valueAt(mine, path)
    return this.declared.changes
      .documentsSince(kind, stored?.was ?? key, since)
      .some((doc) => equal(valueAt(doc, path), said))
  }

  /** Notes what was changed by hand and stays as it is. */
  private keep(
    kind: ChangeKind,
    name: string,
    { base, mine, theirs, merged }: Record<'base' | 'mine' | 'theirs' | 'merged', Doc | undefined>,
  ): void {
    if (this.told.kept.length >= KEPT_TOLD || equal(base, theirs) || base === undefined) return
    const isHidden = (path: string) => /^\/(uses|plan|stopped)(\/|$)/.test(path)
    for (const { path } of differences(base, theirs)) {
      const isKept = equal(valueAt(merged, path), valueAt(theirs, path))
      const isSaid = equal(valueAt(mine, path), valueAt(theirs, path))
      if (isKept && !isSaid && !(kind === 'project' && isHidden(path)))
        this.told.kept.push(this.telling(kind, name, path, { base, mine, theirs }))
    }
  }

  private telling(
    kind: ChangeKind,
    name: string,
    path: string,
    docs: Record<'base' | 'mine' | 'theirs', Doc | undefined>,
  ): MergeConflict {
    return telling(this.declared, this.of, { kind, name, path }, docs)
  }
}

/** Names that were given by hand and stay, as other fields are told. */
const namesKept = ({ byHand = [], wanted, locate }: Pick<MergeOf, 'byHand' | 'wanted' | 'locate'>) =>
  byHand.map(
    ({ kind, from, to }): MergeConflict => ({
      ...{ kind, name: to, path: NAME_PATH, base: from, mine: from, theirs: to },
      ...locate(placeIn(wanted, kind, to, NAME_PATH)),
    }),
  )

/** A field as it was applied, as the file has it and as it is, with its place. */
function telling(
  { kinds }: Pick<Declared, 'kinds'>,
  { wanted, locate }: Pick<MergeOf, 'wanted' | 'locate'>,
  { kind, name, path }: { kind: ChangeKind; name: string; path: string },
  docs: Record<'base' | 'mine' | 'theirs', Doc | undefined>,
): MergeConflict {
  const mask = (doc: Doc | undefined) => (doc ? kinds[kind].mask(doc) : undefined)
  const shown = (doc: Doc | undefined): unknown => valueAt(mask(doc), path) ?? null
  const values = { base: shown(docs.base), mine: shown(docs.mine), theirs: shown(docs.theirs) }
  return { kind, name, path, ...values, ...locate(placeIn(wanted, kind, name, path)) }
}

/** Ids of projects by name. */
const idsIn = (edit: Edit): ReadonlyMap<string, string> =>
  new Map([...projectsOf(edit)].map(([id, { name }]) => [name, id]))

/* Where a field of an object is said in a file. */

function placeIn(catalog: Catalog, kind: ChangeKind, name: string, pointer: string): Path {
  const steps = stepsOf(pointer)
  if (kind === 'project') {
    const wired = wiredAt(catalog, steps)
    if (wired) return wired
  }
  const section = SECTION_OF[kind]
  const entries = (catalog[section] ?? []) as { name?: string; template?: string }[]
  const isDefault = (entry: { template?: string }) =>
    kind === 'project' && entry.template === DEFAULT_TEMPLATE
  const index = entries.findIndex(
    (entry) => entry.name === name || (entry.name === undefined && isDefault(entry)),
  )
  if (index < 0) return []
  let at: unknown = entries[index]
  const path: Path = [section, index]
  for (const step of steps) {
    const inner = Array.isArray(at) ? at.findIndex((item) => nameOfEntry(item) === step) : step
    if (inner === -1) break
    path.push(inner)
    at = (at as Record<string | number, unknown> | undefined)?.[inner]
  }
  return path
}

/** Wiring of a project is said by the entries of its agents, or by rows. */
function wiredAt(catalog: Catalog, [what, first, second, third]: readonly string[]): Path | null {
  if (what !== 'wakes' && what !== 'handoffs') return null
  const isWake = what === 'wakes'
  const row = (catalog.wiring ?? []).findIndex((one) =>
    isWake
      ? 'wake' in one && one.wake === first && (second === undefined || one.agent === second)
      : 'to' in one && one.agent === first && (third === undefined || one.to === third),
  )
  if (row >= 0) return ['wiring', row]
  const agent = isWake ? second : first
  const index = (catalog.agents ?? []).findIndex((entry) => entry.name === agent)
  return index < 0 ? null : ['agents', index, isWake ? 'trigger' : 'handoffs']
}
