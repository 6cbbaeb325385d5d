/**
 * What the evaluator of triggers takes and gives. It is one pure machine over definitions, events in
 * the order they were stored, and a clock: live, at boot, in a backtest and in tests. What it has to
 * remember beyond memory it asks of two ports, the history of events and the ledger of firings, so
 * that everything it holds is a cache that can be dropped at any time.
 *
 * Rules (docs/triggers.md says them for users):
 * - Events are judged in the order they were stored, each at its time of ingest, by event time: an
 *   event counts in every window it falls in. It is judged in the window that ends with it and, if it
 *   came late, in those that end with later events of its key.
 * - An event older than `max_late` when it is stored is not judged and never counted.
 * - Cooldowns, pauses of storms, limits and silence go by the clock of ingest. What is more severe than what fired, by
 *   `severity_field`, waits for no cooldown.
 */
import type { TriggerSpec, WhyRecord } from '../../schemas/types.ts'
import type { EntityRule } from '../log/entity-rules.ts'
import type { PackedEvents } from '../log/ingest/packed.ts'

/** A trigger as it is to be evaluated. */
export interface TriggerDefinition {
  /** Of its row. */
  id: number
  name: string
  /** Canonical (documents/trigger.ts). */
  spec: TriggerSpec
  paused: boolean
  /** Live sources it watches. */
  sourceIds: readonly number[]
  /** Label that is the entity: key_field, else the primary label of the first source that has one. */
  entityLabel: string | null
  /** Joined entities, where the trigger goes by them (`joined`). */
  entities?: readonly EntityRule[]
}

/** An event as triggers see it; what costs to read is read when it is asked for. */
export interface Seen {
  id: number
  sourceId: number
  /** Event time, epoch ms. */
  ts: number
  /** Epoch ms. */
  ingestedAt: number
  /** Label ids: @source, @type, then its own strings, the entity first where it has one. */
  labels: Uint32Array
  hasEntity: boolean
  /** Its post asked for triggers to be woken inside their cooldown. */
  bypass: boolean
  /** Number labels. */
  numbers(): Readonly<Record<string, number>>
  /** The same as JSON, where it is at hand so; null: there are none. */
  numbersText?: string | null
  text(): string
  /** Parsed payload; undefined where it is no JSON. */
  payload(): unknown
}

/** Stored events of one body, as the store appended them. */
export interface SeenBatch {
  sourceId: number
  ingestedAt: number
  /** Id of the first; the others follow one another. */
  firstId: number
  /** Labels are ids. */
  events: PackedEvents
  /** Places in `events` that were stored; null: all. */
  kept: readonly number[] | null
  bypass: boolean
}

/** Names and values of label ids. */
export interface LabelLookup {
  label(id: number): { name: string; value: string }
  /** The id of a label, or undefined when no event ever had it. */
  find(name: string, value: string): number | undefined
}

export interface HistoryQuery {
  sourceIds: readonly number[]
  /** Label ids that all must be there. */
  labels: readonly number[]
  /** Instead of each of these any of some: names of one thing. */
  alike?: readonly (readonly number[])[] | undefined
  /** Event time, epoch ms, both inclusive. */
  from: number
  to: number
  /** Only events with a smaller id. */
  beforeId: number
  /** By event time; at most so many. */
  order: 'asc' | 'desc'
  limit: number
  /** Payloads will be asked for. */
  withPayload: boolean
}

/** Stored events, without those of the transaction that is open. */
export interface History {
  /** Events by (event time, id). */
  read(query: HistoryQuery): Seen[]
}

/** What was decided and has to outlive the process. Times are epoch ms, of ingest. */
export interface Ledger {
  /** When a key last fired (also as one of several of a burst); null: never. */
  lastFired(triggerId: number, key: string): number | null
  /** How severe that was, 3 being critical; null: it is not known. Asked of triggers with `severity_field`. */
  lastRank(triggerId: number, key: string): number | null
  /** Times of the firings since an instant, exclusive, ascending. */
  firedSince(triggerId: number, after: number): number[]
  /** The burst that gathers or is held back. */
  open(triggerId: number): OpenBurst | null
  /** Keys that fired and have not resolved, of a trigger with `resolve`. */
  active(triggerId: number): ActiveKey[]
  /** Alerts that are not over, of a trigger whose events say when they are. */
  alerts(triggerId: number): KeyAlert[]
  /** When the last incident of a key was handled; null: it is not, or there is none. */
  handledAt(triggerId: number, key: string): number | null
  /** Keys that are watched for silence. */
  watched(triggerId: number): WatchedKey[]
}

/** One alert of a key, from the event that said that it is on until one says that it is over. */
export interface KeyAlert {
  key: string
  /** Label ids of the key. */
  labels: readonly number[]
  /** What its events have in common (`resolve.equal`), as JSON. */
  alert: string
  /** The newest event of it. */
  eventId: number
  /** Event time of that, epoch ms. */
  ts: number
  /** When the first of it was stored, epoch ms. */
  since: number
  /** How severe it is by `severity_field`, 3 being critical; null: the trigger has none. */
  rank: number | null
  /** Whether a firing told of it. */
  isTold: boolean
}

export interface OpenBurst {
  state: 'gathering' | 'held'
  openedAt: number
  /** Last crossing folded into it. */
  lastAt: number
  /** Events gathered. */
  events: number
  /** Their ids. */
  ids(): Iterable<number>
  /** Keys it spreads over. */
  keys(): Iterable<string>
  dueAt: number
}

export interface ActiveKey {
  key: string
  /** Label ids of the key, to read its history by. */
  labels: readonly number[]
  /** When it fired, or was found to go on by another clock. */
  since: number
  /** How far ahead of now its window ends, ms; negative: behind. */
  lead: number
}

export interface WatchedKey {
  key: string
  labels: readonly number[]
  lastId: number
  /** When its last matching event was stored. */
  lastAt: number
  /** It has fallen silent: it is watched no more until it is heard again. */
  isSilent: boolean
}

/** The same as its row. */
export interface AlertRow extends Omit<KeyAlert, 'labels' | 'eventId' | 'isTold'> {
  /** JSON list of label ids. */
  labels: string
  event_id: number
  told: 0 | 1
}

/** Why something fires: a condition that was met, by one key. */
export interface Crossing {
  key: string
  /** Label ids of the key. */
  labels: readonly number[]
  /** Unique among the causes of its trigger for all time: the same cause never fires twice. */
  cause: string
  /** Instant it was found, epoch ms. */
  at: number
  /** Events that met it, ascending; at most EVIDENCE_MAX, the newest. */
  eventIds: number[]
  /** The event that was judged; null: none, as with silence. */
  eventId: number | null
  /** Value that met the predicate; null where there is none. */
  value: number | null
  /** In plain words, such as "7 events in 5m, above 5". */
  reason: string
  /** How severe the event is by `severity_field`, 3 being critical; absent: the trigger has none, or no event met it. */
  rank?: number
}

/** What one judgement came to, in the words of schemas/why-record.json. */
export type Verdict = Omit<WhyRecord, 'trigger' | 'at' | 'dispatch_id' | 'recomputed' | 'until' | 'key'> & {
  triggerId: number
  eventId: number | null
  key: string | null
  /** Epoch ms. */
  at: number
  until: number | null
}

/** What is to be written, in order. */
export type Decision =
  /** Fires now. */
  | { do: 'fire'; triggerId: number; crossing: Crossing; verdict: Verdict }
  /** A burst begins to gather, or to be held back by a limit; decided at `dueAt`. */
  | {
      do: 'open'
      triggerId: number
      state: 'gathering' | 'held'
      crossing: Crossing
      dueAt: number
      verdict: Verdict
    }
  /** Folded into the open burst. */
  | { do: 'fold'; triggerId: number; crossing: Crossing; dueAt: number; verdict: Verdict }
  /** The open burst: fires, is held back until `dueAt`, or is dropped. */
  | { do: 'release'; triggerId: number; at: number }
  | { do: 'hold'; triggerId: number; at: number; dueAt: number }
  | { do: 'drop'; triggerId: number; at: number }
  /** A key met its resolve predicate: a firing that wakes no agent. */
  | {
      do: 'resolve'
      triggerId: number
      key: string
      at: number
      value: number | null
      reason: string
      eventIds: number[]
    }
  /** An alert is on. */
  | { do: 'alert'; triggerId: number; alert: KeyAlert }
  /** An alert is over, and others of its key are not; null: all of a key of which nothing was told. */
  | { do: 'over'; triggerId: number; key: string; alert: string | null; at: number }
  /** Whether a key is over is seen in the window that ends so far ahead of now, ms. */
  | { do: 'shift'; triggerId: number; key: string; at: number; lead: number }
  /** A key is watched for silence from this event on; `isNew` when it was not, or was silent. */
  | { do: 'watch'; triggerId: number; watched: WatchedKey }
  /** Did not fire, with why; for the record. */
  | { do: 'note'; verdict: Verdict }

/** Events of a crossing kept as evidence. */
export const EVIDENCE_MAX = 10_000
export const MAX_LATE_DEFAULT = '24h'

/** The evaluator. Any call may be followed by a rollback of the transaction: then `reset` is called. */
export interface Evaluator {
  /** Replaces the definitions; state of those unchanged stays. */
  define(definitions: readonly TriggerDefinition[]): void
  /** Judges stored events, in order. `notes`: also decisions that only say why nothing fired. */
  judge(batch: SeenBatch, notes: NoteFilter): Decision[]
  /** The same for one event, as it was read from the store. */
  judgeSeen(event: Seen, notes: NoteFilter): Decision[]
  /** What is due by the clock alone: ends of bursts, silence, resolving. @param now epoch ms */
  tick(now: number): Decision[]
  /** When tick has something to do next, epoch ms; null: nothing waits. */
  nextDue(): number | null
  /** Forgets all state, to be read again through the ports; definitions stay. */
  reset(): void
}

/** Whether a note of this kind is wanted now: asked before it is made, since most are not. */
export type NoteFilter = (triggerId: number, reason: WhyRecord['reason'], at: number) => boolean
