/**
 * Change-sets: the one way in which anything declared is written. REST, catalog import, templates,
 * the console and undo all compose an edit; it is checked, compared with what is stored, written in
 * one transaction, and recorded with who, when and why. The same computation without the writing is
 * the plan that is shown first.
 */

import { kindWord } from '../../schemas/kinds.ts'
import type { ChangePlan, ChangeSet, ChangeSetsResult } from '../../schemas/types.ts'
import type { Caller } from '../calls.ts'
import type { Clock } from '../clock.ts'
import { fail } from '../errors.ts'
import type { Database, StoreHandle } from '../log/store/handle.ts'
import {
  type ChangeKind,
  changeKinds,
  type DeclaredKind,
  type Doc,
  differences,
  Edit,
  equal,
  isPart,
  type Kinds,
  type NamedKind,
  nameSince,
  type Rename,
  renamedBy,
  type Staged,
  type Stroke,
  UNMARKED,
} from '../model/documents.ts'
import { valueAt } from '../model/merge.ts'
import { plannedChange, planOf, summaryOf } from '../model/plan.ts'
import { type Renames, renamesOf } from './record.ts'

/** Newest changes of an object in which one of a field is looked for. */
const LOOKED_AT = 100
/** Objects of a change-set that a list shows. */
const LISTED_OBJECTS = 50

/** Who writes, where it comes from and why. */
export interface Authoring {
  caller: Caller
  origin: ChangeSet['origin']
  why?: string | undefined
  /** What was done, where the changed fields do not say it; asked once the edit is composed. */
  summary?: (() => string | null) | undefined
}

export interface Committed<T> {
  result: T
  plan: ChangePlan
  /** Each object that changes with the version it is changed from. */
  basis: string[]
  /** Null when nothing changed, or when it was only planned. */
  changeSet: number | null
}

/** Refuses a plan by throwing, before anything of it is written. */
export type Review = (planned: Pick<Committed<unknown>, 'plan' | 'basis'>) => void

interface ChangeSetsParts {
  store: StoreHandle
  clock: Clock
  kinds: Kinds
  /** Completes an edit before it is planned: memberships, references, what must not be orphaned. */
  complete(edit: Edit): void
  /** What should be known of an edit although it is allowed, in sentences. */
  warn?(edit: Edit, touched: readonly Staged[]): string[]
  /** Ids of the live projects that use a part, as stored now. */
  projectsOf(kind: ChangeKind, key: string): string[]
  /** Writes what follows from the edit beside the documents, in the same transaction. */
  follow(edit: Edit, staged: readonly Staged[], stroke: Stroke): void
  /** After the commit: what is held in memory is read again. */
  committed(kinds: ReadonlySet<ChangeKind>): void
}

export class ChangeSets {
  private readonly queries: ChangeQueries
  /** Names that parts were given in place of others. */
  readonly renames: Renames

  constructor(private readonly parts: ChangeSetsParts) {
    this.renames = renamesOf(parts.store.db)
    this.queries = changeQueries(parts.store.db, this.renames)
  }

  /** Version of the whole: id of the newest change-set. */
  version(): number {
    return this.queries.newest()
  }

  /**
   * Composes, checks and writes a change-set in one transaction; with `dryRun` it only plans.
   * @param review sees the whole plan before anything is written, and may refuse it.
   * @throws SvcError what `compose` throws; conflict when a field was changed by two writers, with
   *   base, mine and theirs of each.
   */
  commit<T>(authoring: Authoring, compose: (edit: Edit) => T, dryRun = false, review?: Review): Committed<T> {
    return this.write(authoring, compose, { undoes: null, dryRun, review })
  }

  /**
   * Undoes a change-set by a new one: later changes to other fields stay.
   * @throws SvcError not_found; conflict when it was undone already, or a later change touched the
   *   same field.
   */
  undo(id: number, authoring: Omit<Authoring, 'origin'>, dryRun = false): Committed<void> {
    const set = this.queries.set(id) ?? fail('not_found', `no change-set has the id ${id}`)
    if (set.undone_by !== null) fail('conflict', `change-set ${id} was undone by change-set ${set.undone_by}`)
    const changes = this.queries.changes(id)
    if (changes.length === 0)
      fail('conflict', `change-set ${id} changed nothing that is declared: ${set.summary} cannot be undone`)
    const why = authoring.why ?? `undo of change-set ${id}`
    const compose = (edit: Edit) => stageUndo(edit, id, changes, this.parts.kinds, this.renames)
    return this.write({ ...authoring, why, origin: 'undo' }, compose, { undoes: id, dryRun })
  }

  /**
   * Takes objects back to what they were right after a change-set, by a new one.
   * @param isMeant narrows to some objects, told the edit before anything is staged.
   * @throws SvcError not_found
   */
  rollback(
    id: number,
    isMeant: (edit: Edit) => (kind: ChangeKind, key: string) => boolean,
    authoring: Omit<Authoring, 'origin'>,
    dryRun = false,
  ): Committed<void> {
    if (!this.queries.set(id)) fail('not_found', `no change-set has the id ${id}`)
    const why = authoring.why ?? `roll back to change-set ${id}`
    const open = (kind: ChangeKind, sealed: string) => this.parts.kinds[kind].open(sealed)
    const compose = (edit: Edit) => stageRollback(edit, id, this.queries, open, isMeant(edit), this.renames)
    return this.write({ ...authoring, why, origin: 'undo' }, compose, { undoes: null, dryRun })
  }

  /**
   * An object's document as of a change-set, in the names of now; null when it was not there, undefined without a record.
   */
  documentAt(kind: ChangeKind, key: string, changeSet: number): Doc | null | undefined {
    const sealed = this.queries.documentAt(kind, key, changeSet)
    if (typeof sealed !== 'string') return sealed
    return renamedBy(kind, this.parts.kinds[kind].open(sealed), this.renames.since(changeSet))
  }

  /** What an object was since a time, whatever it was called, in the names of now; the newest first. @param at epoch ms */
  documentsSince(kind: ChangeKind, key: string, at: number): Doc[] {
    return this.queries
      .since(kind, key, at)
      .map(({ changeSet, text }) =>
        renamedBy(kind, this.parts.kinds[kind].open(text), this.renames.since(changeSet)),
      )
  }

  /** An object's document, sealed, when it was last deleted; undefined: it never was. */
  lastDeleted(kind: ChangeKind, key: string): string | undefined {
    return this.queries.lastDeleted(kind, key)
  }

  /**
   * The newest change-set that changed a field of an object, or what it is in or what is in it.
   * @param path RFC 6901 pointer; entries of a list may go by their names. @returns null: none did
   */
  lastChange({ kind, key, path }: { kind: ChangeKind; key: string; path: string }): ChangeSetRow | null {
    const open = (sealed: string | null) =>
      sealed === null ? undefined : this.parts.kinds[kind].open(sealed)
    const found = this.queries.changesOf(kind, key, LOOKED_AT).find((change) => {
      const [was, is] = [open(change.before), open(change.after)]
      if (was === undefined || is === undefined) return was !== is
      return !equal(valueAt(was, path), valueAt(is, path))
    })
    return found ? this.queries.set(found.change_set)! : null
  }

  /** @throws SvcError not_found */
  get(id: number): ChangeSet {
    const row = this.queries.set(id) ?? fail('not_found', `no change-set has the id ${id}`)
    return presentSet(row, this.queries, this.parts.kinds)
  }

  /** Newest first. */
  list(filter: ChangeSetFilter): ChangeSetsResult {
    const rows = this.queries.list({ ...filter, limit: filter.limit + 1 })
    const shown = rows.slice(0, filter.limit)
    return {
      change_sets: shown.map((row) => presentSet(row, this.queries, this.parts.kinds, LISTED_OBJECTS)),
      next_before: rows.length > filter.limit ? shown.at(-1)!.id : null,
      version: this.queries.newest(),
    }
  }

  /** What an object was before a change-set, as recorded. @throws Error when it is not in it: a fault of ours. */
  sealedBefore(id: number, kind: ChangeKind, key: string): string {
    const change = this.queries.changes(id).find((row) => row.kind === kind && row.key === key)
    if (!change?.before) throw new Error(`change-set ${id} has no earlier ${kind} ${key}`)
    return change.before
  }

  /** Records what was done in a project that changed nothing declared, such as an action of its template. */
  note({ caller, origin, why }: Authoring, project: string, summary: string): void {
    this.parts.store.tx(() => {
      const changeSet = this.queries.insertSet({
        at: this.parts.clock.now(),
        actor: caller.name,
        actor_id: caller.id,
        origin,
        why: why ?? '',
        summary,
        undoes: null,
      })
      this.queries.insertProject(project, changeSet)
    })
  }

  private write<T>(
    authoring: Authoring,
    compose: (edit: Edit) => T,
    { undoes, dryRun, review }: { undoes: number | null; dryRun: boolean; review?: Review | undefined },
  ): Committed<T> {
    return this.parts.store.tx(() => {
      const edit = new Edit(this.parts.kinds, this.documentAt.bind(this), this.version())
      const result = compose(edit)
      this.parts.complete(edit)
      refuseConflicts(edit)
      const changed = edit.touched().filter(isChange)
      // Of what was saved, changed or not: whoever saves a part again is told what is still wrong with it.
      const warnings = this.parts.warn?.(edit, edit.touched()) ?? []
      const plan = { ...planOf(edit.touched(), this.parts.kinds), ...(warnings.length ? { warnings } : {}) }
      const basis = changed.map(versionOf)
      review?.({ plan, basis })
      if (dryRun || changed.length === 0) return { result, plan, basis, changeSet: null }
      const kinds = new Set(changed.map(({ kind }) => kind))
      this.parts.store.afterCommit(() => this.parts.committed(kinds))
      return { result, plan, basis, changeSet: this.apply(edit, changed, authoring, undoes) }
    })
  }

  private apply(
    edit: Edit,
    changed: Staged[],
    { caller, origin, why, summary }: Authoring,
    undoes: number | null,
  ): number {
    const at = this.parts.clock.now()
    const changeSet = this.queries.insertSet({
      at,
      actor: caller.name,
      actor_id: caller.id,
      origin,
      why: why ?? '',
      summary: summary?.() ?? summaryOf(changed),
      undoes,
    })
    const stroke: Stroke = { at, by: caller, changeSet }
    const projects = new Set<string>()
    for (const staged of changed) this.noteProjects(staged, projects)
    let seq = 0
    // What is no longer referred to goes first, in the reverse order of making.
    const removed = changed.filter((staged) => !staged.doc).reverse()
    for (const staged of [...removed, ...changed.filter((entry) => entry.doc)])
      this.record(staged, stroke, seq++)
    this.parts.follow(edit, changed, stroke)
    for (const staged of changed) this.noteProjects(staged, projects)
    for (const project of projects) this.queries.insertProject(project, changeSet)
    if (undoes !== null) this.queries.markUndone(undoes, changeSet)
    return changeSet
  }

  private record({ kind, key, stored, doc, revive }: Staged, stroke: Stroke, seq: number): void {
    const adapter = this.parts.kinds[kind]
    const was = stored?.was
    let after: string | null = null
    // What was given another name and is deleted goes by the one it is stored by.
    const own = doc ? key : (was ?? key)
    if (!doc) adapter.remove(was === undefined ? stored! : { ...stored!, key: own, name: own }, stroke)
    else if (stored && was !== undefined) {
      adapter.rename?.(was, key)
      this.renames.add({ changeSet: stroke.changeSet, seq, kind: kind as NamedKind, from: was, to: key })
      after = adapter.update(adapter.find(key)!, doc, stroke)
    } else after = stored ? adapter.update(stored, doc, stroke) : adapter.create(key, doc, stroke, revive)
    this.queries.insertChange({
      change_set: stroke.changeSet,
      seq,
      kind,
      key: own,
      name: nameOf(kind, own, doc ?? stored!.doc),
      action: !doc ? 'delete' : stored ? 'update' : 'create',
      before: stored?.sealed ?? null,
      after,
    })
  }

  private noteProjects({ kind, key }: Staged, into: Set<string>): void {
    if (kind === 'project') into.add(key)
    else if (isPart(kind)) for (const project of this.parts.projectsOf(kind, key)) into.add(project)
  }
}

function isChange({ stored, doc }: Staged): boolean {
  if (!stored) return doc !== null
  return doc === null || stored.was !== undefined || differences(stored.doc, doc).length > 0
}

/** An object with the version a change is made from; a project that is made has no id worth keeping. */
const versionOf = ({ kind, key, stored, doc }: Staged): string =>
  `${kind}:${stored ? (stored.was ?? key) : nameOf(kind, key, doc!)}@${stored ? stored.changeSet : 'new'}`

/** What people call an object: a project goes by its name, not by its id. */
function nameOf(kind: ChangeKind, key: string, doc: Readonly<Record<string, unknown>>): string {
  return kind === 'project' ? String(doc.name) : key
}

function refuseConflicts(edit: Edit): void {
  const [first] = edit.conflicts
  if (!first) return
  const many = edit.conflicts.length > 1 ? ` and ${edit.conflicts.length - 1} more` : ''
  fail(
    'conflict',
    `${kindWord(first.kind)} ${first.name} was changed since: ${first.path || 'it'}${many} was changed by both; read it again and choose`,
    { conflicts: edit.conflicts },
  )
}

/** @throws SvcError invalid when it is no kind of declared object. */
export function changeKindOf(word: string): ChangeKind {
  const kind = word === 'mcp server' ? 'mcp_server' : word
  return (changeKinds as readonly string[]).includes(kind)
    ? (kind as ChangeKind)
    : fail('invalid', `kind must be one of ${changeKinds.join(', ')}`, { field: 'kind' })
}

/* The SQL of change-sets: the record of who changed what, when and why. */

export interface ChangeSetRow {
  id: number
  at: number
  actor: string
  actor_id: string
  origin: ChangeSet['origin']
  why: string
  summary: string
  undoes: number | null
  undone_by: number | null
}

/** One object's change; documents as JSON, secrets sealed, null where it was not there. */
interface ChangeRow {
  change_set: number
  seq: number
  kind: string
  key: string
  name: string
  action: 'create' | 'update' | 'delete'
  before: string | null
  after: string | null
}

/** Narrows a list of change-sets; null narrows nothing. */
interface ChangeSetFilter {
  project: string | null
  kind: string | null
  key: string | null
  before: number | null
  limit: number
}

type ChangeQueries = ReturnType<typeof changeQueries>

/** The statements of change-sets, prepared once. */
function changeQueries(db: Database, renames: Renames) {
  const newest = db.prepare<[], number | null>('SELECT max(id) FROM change_sets').pluck()
  const insertSet = db.prepare<Omit<ChangeSetRow, 'id' | 'undone_by'>>(
    'INSERT INTO change_sets (at, actor, actor_id, origin, why, summary, undoes) VALUES (@at, @actor, @actor_id, @origin, @why, @summary, @undoes)',
  )
  const setSummary = db.prepare<[string, number]>('UPDATE change_sets SET summary = ? WHERE id = ?')
  const insertChange = db.prepare<ChangeRow>(
    'INSERT INTO changes (change_set, seq, kind, key, name, action, before, after) VALUES (@change_set, @seq, @kind, @key, @name, @action, @before, @after)',
  )
  const insertProject = db.prepare<[string, number]>(
    'INSERT OR IGNORE INTO change_set_projects (project, change_set) VALUES (?, ?)',
  )
  const set = db.prepare<[number], ChangeSetRow>('SELECT * FROM change_sets WHERE id = ?')
  const changes = db.prepare<[number], ChangeRow>('SELECT * FROM changes WHERE change_set = ? ORDER BY seq')
  const projects = db
    .prepare<[number], string>(
      'SELECT project FROM change_set_projects WHERE change_set = ? ORDER BY project',
    )
    .pluck()
  const since = db.prepare<
    { kind: string; lineage: string; at: number },
    { changeSet: number; text: string }
  >(
    `SELECT c.change_set AS changeSet, c.after AS text FROM json_each(@lineage) n
       CROSS JOIN changes c CROSS JOIN change_sets s
     WHERE c.kind = @kind AND c.key = n.value ->> 'name' AND c.change_set >= n.value ->> 'from'
       AND c.change_set < n.value ->> 'until' AND s.id = c.change_set AND s.at >= @at AND c.after IS NOT NULL
     ORDER BY c.change_set DESC LIMIT 100`,
  )
  const lastDeleted = db
    .prepare<[string, string], string | null>(
      "SELECT before FROM changes WHERE kind = ? AND key = ? AND action = 'delete' ORDER BY change_set DESC, seq DESC LIMIT 1",
    )
    .pluck()
  const changedSince = db.prepare<[number], { kind: string; key: string; name: string }>(
    'SELECT kind, key, max(name) AS name FROM changes WHERE change_set > ? GROUP BY kind, key',
  )
  const changesOf = db.prepare<[string, string, number], ChangeRow>(
    'SELECT * FROM changes WHERE kind = ? AND key = ? ORDER BY change_set DESC, seq DESC LIMIT ?',
  )
  const markUndone = db.prepare<[number, number]>('UPDATE change_sets SET undone_by = ? WHERE id = ?')
  const list = db.prepare<Omit<ChangeSetFilter, 'key'> & { lineage: string | null }, ChangeSetRow>(
    `SELECT * FROM change_sets s
     WHERE (@before IS NULL OR s.id < @before)
       AND (@project IS NULL OR EXISTS (SELECT 1 FROM change_set_projects p WHERE p.project = @project AND p.change_set = s.id))
       AND (@kind IS NULL OR (@lineage IS NULL AND EXISTS (SELECT 1 FROM changes c WHERE c.change_set = s.id AND c.kind = @kind))
         OR EXISTS (SELECT 1 FROM json_each(@lineage) n CROSS JOIN changes c
           WHERE c.kind = @kind AND c.key = n.value ->> 'name' AND c.change_set = s.id
             AND c.change_set >= n.value ->> 'from' AND c.change_set < n.value ->> 'until'))
     ORDER BY s.id DESC LIMIT @limit`,
  )
  return {
    /** Version of the whole: id of the newest change-set, 0 when there is none. */
    newest: () => newest.get() ?? 0,
    insertSet: (row: Omit<ChangeSetRow, 'id' | 'undone_by'>) => Number(insertSet.run(row).lastInsertRowid),
    setSummary: (id: number, summary: string) => setSummary.run(summary, id),
    insertChange: (row: ChangeRow) => insertChange.run(row),
    insertProject: (project: string, changeSet: number) => insertProject.run(project, changeSet),
    set: (id: number) => set.get(id),
    changes: (id: number) => changes.all(id),
    projects: (id: number) => projects.all(id),
    /** An object's document as of a change-set: null, it was not there; undefined, nothing is recorded of it. */
    documentAt: (kind: string, key: string, changeSet: number): string | null | undefined =>
      renames.recorded(kind, key, changeSet)?.text,
    /** What an object was since a time, the newest first, the last 100. */
    since: (kind: string, key: string, at: number) =>
      since.all({ kind, lineage: JSON.stringify(renames.lineage(kind, key)), at }),
    /** The document of an object when it was last deleted. */
    lastDeleted: (kind: string, key: string) => lastDeleted.get(kind, key) ?? undefined,
    /** Newest changes of an object. */
    changesOf: (kind: string, key: string, limit: number) => changesOf.all(kind, key, limit),
    /** Objects that were changed after a change-set. */
    changedSince: (id: number) => changedSince.all(id),
    markUndone: (id: number, by: number) => markUndone.run(by, id),
    renamesIn: (id: number) => renames.of(id),
    list: ({ key, ...filter }: ChangeSetFilter) => {
      const lineage = filter.kind !== null && key !== null ? renames.lineage(filter.kind, key) : null
      return list.all({ ...filter, lineage: lineage && JSON.stringify(lineage) })
    },
  }
}

/* A recorded change-set as it is shown: who, when, why, and each object's fields, secrets masked. */

/** @param most objects shown; a list must not repeat a catalog of thousands. */
function presentSet(
  row: ChangeSetRow,
  queries: ChangeQueries,
  kinds: Kinds,
  most = Number.POSITIVE_INFINITY,
): ChangeSet {
  const changes = queries.changes(row.id)
  const renames = queries.renamesIn(row.id)
  return {
    id: row.id,
    at: new Date(row.at).toISOString(),
    actor: row.actor,
    actor_id: row.actor_id,
    origin: row.origin,
    why: row.why,
    summary: row.summary,
    undoes: row.undoes,
    undone_by: row.undone_by,
    projects: queries.projects(row.id),
    objects: changes.length,
    changes: changes.slice(0, most).map((change) => {
      const kind = change.kind as ChangeKind
      const open = (sealed: string | null) => (sealed === null ? null : kinds[kind].open(sealed))
      const was = renames.find((one) => one.kind === kind && one.to === change.key)?.from
      const planned = plannedChange(
        kind,
        change.key,
        open(change.before),
        open(change.after),
        kinds[kind],
        was,
      )
      return { ...planned, name: change.name }
    }),
  }
}

/*
 * Rolling back: objects are taken to what they were right after a change-set, whatever came since.
 * What was made since is deleted, what was deleted comes back.
 */

/**
 * @param changeSet id of the last one that stays in effect; 0: before there were any.
 * @param isMeant narrows to some objects, such as those of a project; told what they are and were.
 */
function stageRollback(
  edit: Edit,
  changeSet: number,
  queries: ChangeQueries,
  open: (kind: ChangeKind, sealed: string) => Doc,
  isMeant: (kind: ChangeKind, key: string) => boolean,
  renames: Renames,
): void {
  const since = renames.since(changeSet)
  const now = (kind: string, key: string) => nameSince(since, kind, key)
  const meant = (kind: string, key: string) => isMeant(kind as ChangeKind, now(kind, key))
  const due = queries.changedSince(changeSet).filter(({ kind, key }) => meant(kind, key))
  // Names first, the newest before those it came of. What keeps its name is said by it in what else goes back.
  const kept: Rename[] = []
  for (const one of since.toReversed()) {
    const { kind, from, to } = one
    if (meant(kind, to) && edit.has(kind, to)) edit.rename(kind, to, from)
    else kept.unshift(one)
  }
  const order = (kind: string) => changeKinds.indexOf(kind as ChangeKind)
  const keys = new Map<string, { kind: ChangeKind; key: string }>()
  for (const row of due.sort((a, b) => order(a.kind) - order(b.kind))) {
    const kind = row.kind as ChangeKind
    const key = edit.nameOf(kind, now(kind, row.key))
    keys.set(`${kind}:${key}`, { kind, key })
  }
  for (const { kind, key } of keys.values()) {
    const then = renames.recordedThen(kind, key, changeSet)?.text
    const doc = then && renamedBy(kind, open(kind, then), kept)
    if (!doc) edit.remove(kind, key)
    else if (edit.has(kind, key)) edit.put(kind, key, { ...UNMARKED, ...doc })
    else edit.revive(kind, key, then)
  }
}

/*
 * Undoing a change-set: each object is taken back to what it was, by a three-way merge with what it
 * is now, so that later changes to other fields stay.
 */

/**
 * @throws SvcError conflict when the object is no longer there, or is there again; fields changed
 *   since are collected by the edit.
 */
function stageUndo(
  edit: Edit,
  changeSet: number,
  changes: readonly ChangeRow[],
  kinds: Kinds,
  renames: Renames,
): void {
  const since = renames.since(changeSet)
  const own = renames.of(changeSet)
  const back = own.toReversed().map(({ kind, from, to }) => ({ kind, from: to, to: from }))
  for (const { kind, from, to } of own.toReversed()) {
    const now = nameSince(since, kind, to)
    const later = now !== to ? `renamed to ${now}` : edit.has(kind, to) ? null : 'deleted'
    if (later)
      fail('conflict', `${kindWord(kind)} ${to} was ${later} since change-set ${changeSet}; undo that first`)
    edit.rename(kind, to, from)
  }
  for (const change of [...changes].reverse()) {
    const kind = change.kind as ChangeKind
    const label = `${kindWord(kind)} ${change.name}`
    const key = edit.nameOf(kind, nameSince(since, kind, change.key))
    const now = edit.get(kind, key)
    if (change.before === null) {
      undoCreate(edit, { ...change, key }, now, label, kinds[kind])
    } else if (change.after === null) {
      if (now) fail('conflict', `${label} was made again since change-set ${changeSet}; delete it first`)
      edit.revive(kind, key, change.before)
    } else {
      if (!now) fail('conflict', `${label} was deleted since change-set ${changeSet}; undo that first`)
      // What it was named by then: the name of this change-set, those of later ones, and the one it has again.
      const was = renamedBy(kind, kinds[kind].open(change.before), [...own, ...since, ...back])
      edit.put(kind, key, { ...UNMARKED, ...was }, changeSet)
    }
  }
}

function undoCreate(
  edit: Edit,
  change: ChangeRow,
  now: Readonly<Record<string, unknown>> | undefined,
  label: string,
  adapter: DeclaredKind,
): void {
  const kind = change.kind as ChangeKind
  if (!now) return
  // The Default project is made with the first part outside a project, and outlives that part.
  if (now.template === 'default') {
    const made = adapter.open(change.after!)
    edit.put(kind, change.key, { ...made, uses: {}, wakes: {}, handoffs: {} }, change.change_set)
    return
  }
  // What others made of it since would be lost with it.
  if (!equal(now, adapter.open(change.after!)))
    fail('conflict', `${label} was changed after it was made; delete it instead of undoing its creation`)
  edit.remove(kind, change.key)
}
