/**
 * The only writer of a state. It reads the row's snapshot, asks the machine, saves the next
 * snapshot against the version it read, and appends to the history, all inside the caller's
 * transaction: the state, what it causes and the record of it stand or fall together.
 */
import { type Kind, lifecycles } from '../../machines/index.ts'
import { accepts, type Effect, type LifecycleEvent, type Snapshot, start, step } from '../../machines/step.ts'
import { countWords } from '../../schemas/plain-words.ts'
import type { Caller } from '../calls.ts'
import { fail, StartError } from '../errors.ts'
import type { Database, Statement, StoreHandle } from './store/handle.ts'

/** What is moved: its row, and how errors and the history call it. */
interface LifecycleObject {
  kind: Kind
  /** Primary key of its row. */
  id: number | string
  name: string
}

/**
 * The stored form of a new object's first state; the caller inserts it with the row.
 * @param input what the object brings with it, such as a run's round cap.
 */
export function firstSnapshot(kind: Kind, input?: Record<string, unknown>): string {
  const asked = input === undefined ? kind : `${kind} ${JSON.stringify(input)}`
  let first = firsts.get(asked)
  if (first === undefined) {
    first = JSON.stringify(start(lifecycles[kind], input))
    firsts.set(asked, first)
  }
  return first
}

/** A machine starts the same each time, and XState takes an eighth of a firing for it; inputs are few small numbers. */
const firsts = new Map<string, string>()

/** Records that an object was made, in the transaction that makes it. @param at epoch ms. */
export function recordCreated(db: Database, kind: Kind, name: string, by: Caller, at: number): void {
  const to = start(lifecycles[kind]).value
  lifecycleQueries(db).append({ at, kind, object: name, from: null, event: 'create', to, actor: actorOf(by) })
}

/** The history of an object goes along when it gets another name: from when it was made on. */
export function renameInHistory(db: Database, kind: Kind, from: string, to: string): void {
  db.prepare(
    `UPDATE history SET object = @to WHERE kind = @kind AND object = @from
       AND id >= (SELECT coalesce(max(id), 0) FROM history WHERE kind = @kind AND object = @from AND (event = 'create' OR from_state = 'none'))`,
  ).run({ kind, from, to })
}

/**
 * Moves one object by an event; call inside a transaction.
 * @param at epoch ms.
 * @returns the new state and the effects the caller writes in the same transaction.
 * @throws SvcError not_found; wrong_state, naming the state and what it accepts; conflict
 */
export function advance(
  db: Database,
  { kind, id, name }: LifecycleObject,
  event: string,
  by: Caller,
  at: number,
): { state: string; effects: Effect[] } {
  const { from, state, effects } = move(db, { kind, id, name }, { type: event, at })
  lifecycleQueries(db).append({ at, kind, object: name, from, event, to: state, actor: actorOf(by) })
  return { state, effects }
}

/**
 * The same for what keeps a record of its own, as firings and deliveries do: nothing is appended to
 * the history. The event may bring more than its type.
 * @returns the states before and after, the new snapshot and the effects.
 * @throws SvcError not_found; wrong_state, naming the state and what it accepts; conflict
 */
export function move(
  db: Database,
  { kind, id, name }: LifecycleObject,
  event: LifecycleEvent,
): { from: string; state: string; snapshot: Snapshot; effects: Effect[] } {
  const queries = lifecycleQueries(db)
  const row =
    queries.read(kind, id) ??
    fail('not_found', `no ${kind} ${name === id ? 'has the id' : 'is named'} ${name}`)
  const before = JSON.parse(row.snapshot) as Snapshot
  const { accepted, snapshot, effects } = step(lifecycles[kind], before, event)
  if (!accepted) {
    const open = accepts(lifecycles[kind], before, event.at)
    fail(
      'wrong_state',
      `${kind} ${name} is ${before.value} and does not accept ${event.type}; it accepts ${open.join(', ') || 'nothing more'}`,
      { state: before.value, accepts: open },
    )
  }
  if (!queries.save(kind, id, JSON.stringify(snapshot), row.version))
    fail('conflict', `${kind} ${name} was changed at the same time; try again`)
  return { from: before.value, state: snapshot.value, snapshot, effects }
}

/** What snapshots accept, by kind and text: lists have thousands of objects in the same few states. */
const known = new Map<string, readonly string[]>()
const KNOWN_MAX = 1_000

/** The events an object in this state accepts, where only the state is known. */
export function acceptedIn(kind: Kind, state: string): string[] {
  const { version } = lifecycles[kind]
  return acceptedBy(kind, JSON.stringify({ value: state, context: {}, status: 'active', v: version }))
}

/** Refuses an event with the state and what it accepts. @throws SvcError wrong_state */
export function refuseEvent(kind: Kind, name: string, state: string, event: string): never {
  const open = acceptedIn(kind, state)
  return fail(
    'wrong_state',
    `${kind} ${name} is ${state} and does not accept ${event}; it accepts ${open.join(', ') || 'nothing more'}`,
    { state, accepts: open },
  )
}

/** The events a stored snapshot accepts now. */
export function acceptedBy(kind: Kind, snapshot: string): string[] {
  const key = `${kind} ${snapshot}`
  let accepted = known.get(key)
  if (!accepted) {
    accepted = accepts(lifecycles[kind], JSON.parse(snapshot) as Snapshot)
    if (known.size === KNOWN_MAX) known.clear()
    known.set(key, accepted)
  }
  return [...accepted]
}

/** The id finds the credential, the name is for people: it may have been reused since. */
function actorOf({ id, name }: Caller): string {
  return `${id} ${name}`
}

/* The SQL of lifecycles: a row's snapshot, read and saved against its version, and the history. */

const lifecycleTables = {
  source: 'sources',
  key: 'keys',
  trigger: 'triggers',
  agent: 'agents',
  mcp_server: 'mcp_servers',
  skill: 'skills',
  project: 'projects',
  ownership: 'planned_objects',
  firing: 'firings',
  delivery: 'deliveries',
  incident: 'incidents',
  run: 'runs',
  handoff: 'handoffs',
  proposal: 'proposals',
  draft: 'setups',
  ask_turn: 'ask_turns',
  catalog_sync: 'catalog_syncs',
} as const satisfies Record<Kind, string>

interface StoredState {
  /** JSON of the machine's snapshot. */
  snapshot: string
  version: number
}

/** One row of the history; `at` in epoch ms, `from` null for a creation. */
interface HistoryEntry {
  at: number
  kind: Kind
  object: string
  from: string | null
  event: string
  to: string
  actor: string
}

interface LifecycleQueries {
  read(kind: Kind, id: number | string): StoredState | undefined
  /** @returns false when the row is no longer of that version: another change came between. */
  save(kind: Kind, id: number | string, snapshot: string, version: number): boolean
  append(entry: HistoryEntry): void
  /** Whether a source is remembered to take nothing in for this reason. */
  isStill(source: string, why: Fault): boolean
}

/** Statements are prepared once per connection, which every slice shares. */
const prepared = new WeakMap<Database, LifecycleQueries>()

/** The lifecycle statements of a connection. */
export function lifecycleQueries(db: Database): LifecycleQueries {
  const known = prepared.get(db)
  if (known) return known
  const queries = prepare(db)
  prepared.set(db, queries)
  return queries
}

function prepare(db: Database): LifecycleQueries {
  const ofTable = (table: string) => ({
    read: db.prepare<[number | string], StoredState>(`SELECT snapshot, version FROM ${table} WHERE id = ?`),
    save: db.prepare<[string, number | string, number]>(
      `UPDATE ${table} SET snapshot = ?, version = version + 1 WHERE id = ? AND version = ?`,
    ),
  })
  const tables = Object.fromEntries(
    Object.entries(lifecycleTables).map(([kind, table]) => [kind, ofTable(table)]),
  ) as Record<Kind, ReturnType<typeof ofTable>>
  const append = db.prepare<HistoryEntry>(
    'INSERT INTO history (at, kind, object, from_state, event, to_state, actor) VALUES (@at, @kind, @object, @from, @event, @to, @actor)',
  )
  const last = db
    .prepare<[string, string, string], string>(
      `SELECT event FROM history WHERE kind = 'source' AND object = ? AND event IN ('create', 'delete', ?, ?)
       ORDER BY id DESC LIMIT 1`,
    )
    .pluck()
  return {
    isStill: (source, why) => last.get(source, why, FAULTS[why]) === why,
    read: (kind, id) => tables[kind].read.get(id),
    save: (kind, id, snapshot, version) => tables[kind].save.run(snapshot, id, version).changes === 1,
    append: (entry) => {
      append.run(entry)
    },
  }
}

/*
 * Whether every stored state is one its machine knows. A state that was renamed without a migration
 * must stop the start with its name, not fail later in the middle of a request.
 */

/** @throws StartError 78 naming the kind, the state and how many rows have it. */
export function checkKnownStates(db: Database): void {
  for (const kind of Object.keys(lifecycleTables) as Kind[]) {
    const known = Object.keys(lifecycles[kind].machine.states)
    const stored = db
      .prepare<[], { state: string; n: number }>(
        `SELECT state, count(*) AS n FROM ${lifecycleTables[kind]} GROUP BY state`,
      )
      .all()
    for (const { state, n } of stored)
      if (!known.includes(state))
        throw new StartError(
          `${countWords(n, `stored ${kind} row is`, `stored ${kind} rows are`)} in state ${state}, which this svc does not know; start the version that wrote them`,
          78,
        )
  }
}

/* Effects of machines carried out: by the name the machine returned, inside the transaction of its step. */

/** What each effect of a machine is. @param of what was moved */
export type Executors<T> = Readonly<Record<string, (of: T, params: never) => void>>

/**
 * Carries out what a step asks for, in order.
 * @param kind of the machine, for the error
 * @throws Error for an effect that nothing carries out: a fault of ours, and the step is rolled back
 * @example
 * carryOut('delivery', effects, asked, { rows, id, at, moved })
 */
export function carryOut<T>(kind: string, executors: Executors<T>, asked: readonly Effect[], of: T): void {
  for (const { type, params } of asked) {
    const executor = executors[type]
    if (!executor) throw new Error(`nothing carries out the effect ${type} of a ${kind}`)
    executor(of, params as never)
  }
}

/*
 * When sources took nothing in, by the history: then that there are no events says nothing of what happened. It is told
 * as of an instant, so that the same question has the same answer later.
 */

/**
 * Why a source takes nothing in although nobody paused it, with what is written down once that is over: no events of its
 * machine, which only people move.
 */
const FAULTS = {
  polls_fail: 'polls_work',
  storage_full: 'storage_free',
  secret_missing: 'secret_there',
} as const

type Fault = keyof typeof FAULTS

const SERVICE: Caller = { id: 'svc', name: 'svc' }

/** Remembers once that a source takes nothing in, or that it does again; in the transaction of what shows it. */
export function recordFault(db: Database, name: string, why: Fault, isSo: boolean, at: number): void {
  const { isStill, append } = lifecycleQueries(db)
  if (isStill(name, why) === isSo) return
  append({
    at,
    kind: 'source',
    object: name,
    from: 'active',
    event: isSo ? why : FAULTS[why],
    to: 'active',
    actor: actorOf(SERVICE),
  })
}

/** What a source refuses, and why: what was sent then is lost, or comes later. */
interface Refusal {
  sourceId: number
  why: 'storage_full' | 'secret_missing'
}

/** Which sources refuse all that is sent to them: remembered with the first that is refused, until they take it again. */
export class Refusals {
  private added: Refusal[] = []
  /** Those that are remembered. */
  private readonly open = new Map<string, Refusal>()

  /** @param nameOf the name of a source that is there. @param sources those that are there */
  constructor(
    private readonly store: Pick<StoreHandle, 'db' | 'tx'>,
    private readonly nameOf: (sourceId: number) => string | undefined,
    sources: readonly { id: number; name: string }[],
  ) {
    const { isStill } = lifecycleQueries(store.db)
    for (const { id: sourceId, name } of sources)
      for (const why of ['storage_full', 'secret_missing'] as const)
        if (isStill(name, why)) this.open.set(keyOf({ sourceId, why }), { sourceId, why })
  }

  /** Something was refused; `write` writes it down. */
  add(refusal: Refusal): void {
    if (!this.open.has(keyOf(refusal))) this.added.push(refusal)
  }

  /**
   * Writes down what began or is over, in a transaction of its own.
   * @param at epoch ms. @param isSo whether a source refuses everything for that reason now
   */
  write(at: number, isSo: (refusal: Refusal) => boolean): void {
    if (this.added.length === 0 && this.open.size === 0) return
    const begun = this.added.filter(isSo)
    this.added = []
    const over = [...this.open.values()].filter((refusal) => !isSo(refusal))
    if (begun.length === 0 && over.length === 0) return
    this.store.tx(() => {
      for (const refusal of begun) this.record(refusal, true, at)
      for (const refusal of over) this.record(refusal, false, at)
    })
    for (const refusal of begun) this.open.set(keyOf(refusal), refusal)
    for (const refusal of over) this.open.delete(keyOf(refusal))
  }

  private record({ sourceId, why }: Refusal, isSo: boolean, at: number): void {
    const name = this.nameOf(sourceId)
    // What is deleted has no gaps from then on.
    if (name !== undefined) recordFault(this.store.db, name, why, isSo, at)
  }
}

const keyOf = ({ sourceId, why }: Refusal): string => `${why} ${sourceId}`

/** A time in which a source took nothing in, epoch ms. */
export interface Gap {
  source: string
  why: 'paused' | 'deleted' | Fault
  from: number
  /** Null: it goes on. */
  to: number | null
}

const MOVED: Readonly<Record<string, Gap['why']>> = { pause: 'paused', delete: 'deleted' }
const GAPS = Object.entries({ pause: 'resume', delete: 'restore', ...FAULTS }).map(([begins, ends]) => ({
  ...{ begins, ends },
  why: MOVED[begins] ?? (begins as Fault),
}))
const BEGINS = new Map(GAPS.map(({ begins, why }) => [begins, why]))
const ENDS = new Map<string, Gap['why']>(GAPS.map(({ ends, why }) => [ends, why]))

/** The gaps of all sources, read again where the history has more of them. */
export class SourceGaps {
  private gaps: Gap[] = []
  private known = ''
  private last = 0
  private readonly newest: Statement<[], number | null>
  private readonly since: Statement<[number], number>
  private readonly all: Statement<[], { object: string; event: string; at: number }>

  constructor(db: Database) {
    this.newest = db.prepare<[], number | null>('SELECT max(id) FROM history').pluck()
    this.since = db
      .prepare<[number], number>("SELECT 1 FROM history WHERE id > ? AND +kind = 'source' LIMIT 1")
      .pluck()
    this.all = db.prepare("SELECT object, event, at FROM history WHERE kind = 'source' ORDER BY id")
  }

  /**
   * Those that lie in a window, as far as they were known at an instant; by source, then by time.
   * @param version of the sources: a renamed one takes its history along
   */
  within({ from, to, asOf, version }: { from: number; to: number; asOf: number; version: string }): Gap[] {
    this.refresh(version)
    return this.gaps
      .filter((gap) => gap.from <= asOf && gap.from < to && (gap.to ?? Number.POSITIVE_INFINITY) > from)
      .map((gap) => (gap.to !== null && gap.to > asOf ? { ...gap, to: null } : gap))
  }

  private refresh(version: string): void {
    const newest = this.newest.get() ?? 0
    const isMore = newest > this.last && this.since.get(this.last) !== undefined
    this.last = newest
    if (version === this.known && !isMore) return
    this.known = version
    const found = new Map<string, Gap[]>()
    for (const { object, event, at } of this.all.all()) {
      const own = found.get(object) ?? []
      // Another source of that name, which has a past of its own.
      found.set(object, event === 'create' ? [] : own)
      for (const gap of own)
        if (gap.to === null && (ENDS.get(event) === gap.why || event === 'delete')) gap.to = at
      const why = BEGINS.get(event)
      if (why) own.push({ source: object, why, from: at, to: null })
    }
    this.gaps = [...found]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      // What is deleted is asked by nobody; only of what was brought back it is a gap.
      .flatMap(([, own]) => own.filter(({ why, to }) => why !== 'deleted' || to !== null))
  }
}
