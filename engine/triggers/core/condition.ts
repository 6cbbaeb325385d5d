/** What every kind of condition is to the evaluator. */
import type { AggregateCondition, Condition, TriggerSpec, WhyRecord } from '../../../schemas/types.ts'
import { parseDuration } from '../../model/units.ts'
import {
  type History,
  type LabelLookup,
  type Ledger,
  MAX_LATE_DEFAULT,
  type TriggerDefinition,
  type Verdict,
} from '../types.ts'
import { compileKey, type EventCursor, type Key, type KeyReader } from './entries.ts'
import { type CompiledFilter, compileFilters, failing } from './filters.ts'

/** A condition was met. */
export interface Met {
  value: number | null
  reason: string
  /**
   * Events that met it, ascending.
   * @param burst folded into this one: without those that were given to it before.
   */
  evidence(burst: object | null): number[]
}

/** It was not. */
export interface Unmet {
  why: Extract<WhyRecord['reason'], 'below' | 'no_value' | 'unchanged' | 'waiting' | 'late' | 'filter'>
  value: number | null
  text(): string
}

export type Outcome = Met | Unmet

export const isMet = (outcome: Outcome): outcome is Met => 'evidence' in outcome

/** State of a condition by key. */
export interface ConditionState {
  /** @param beforeId events from this id on are not in the history yet. */
  judge(event: EventCursor, key: Key, beforeId: number): Outcome
  /** Value over the window that ends now, by the clock of ingest. Only of thresholds. */
  valueAt?(key: Pick<Key, 'id' | 'labels'>, now: number): number | null
  /** When that value changes next by the clock alone; null: it does not. */
  changesAt?(key: Pick<Key, 'id' | 'labels'>, now: number): number | null
  /** Gives memory back: what no window reaches any more. @returns entries that stay. */
  sweep(now: number): number
  /** Keys in memory with the id of the event that used them last, for those that go first. */
  keys(): Iterable<[id: number | string, used: number, weight: number]>
  drop(id: number | string): void
}

/** What a key costs besides its entries, in entries. */
export const KEY_WEIGHT = 8

/* What a judgement came to, as a record. */

type About = Pick<Verdict, 'eventId' | 'key' | 'at' | 'reason' | 'text'> &
  Partial<Pick<Verdict, 'field' | 'expected' | 'actual' | 'value' | 'until'>>

/** @param about all but what follows from the definition. */
export function verdictOf({ id, spec: { condition } }: TriggerDefinition, about: About): Verdict {
  return {
    triggerId: id,
    field: null,
    expected: null,
    actual: null,
    value: null,
    until: null,
    predicate: 'predicate' in condition ? condition.predicate : null,
    window: windowText(condition),
    ...about,
  }
}

function windowText(condition: TriggerDefinition['spec']['condition']): string | null {
  if ('window' in condition) return condition.window
  if ('within' in condition) return condition.within
  return 'absent_for' in condition ? condition.absent_for : null
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const

/** A span in words: the two largest units of it, such as "26h 5m" or "40s". */
export function spanWords(ms: number): string {
  const parts: string[] = []
  let rest = Math.max(0, ms)
  for (const [unit, length] of UNITS) {
    const n = Math.floor(rest / length)
    rest -= n * length
    if (n > 0) parts.push(`${n}${unit}`)
    if (parts.length === 2) break
  }
  return parts.join(' ') || 'under 1s'
}

export const instantWords = (ms: number): string => new Date(ms).toISOString()

/* What the evaluator is given to read by. */

export interface EvaluatorPorts {
  labels: LabelLookup
  /** Name of a source as it is now. */
  sourceName(id: number): string
  /** Null: no event but those that are judged. */
  history: History | null
  ledger: Ledger
  /** Nothing could be stored before this instant, epoch ms: silence counts from then at the earliest. */
  listensSince?: number
  /** Entries of all windows in memory; beyond, those used last stay. Only with a history. */
  entriesMax?: number
  /** Whether nobody wants to be told which keys are watched for silence. */
  withoutWatch?: boolean
  /** How often what no window reaches is given back, in milliseconds of the clock of ingest; 60,000 when absent. */
  sweepMs?: number
}

/* Definitions made ready to judge by: durations in milliseconds, filters and key as functions. */

const COOLDOWN_DEFAULT = '5m'
/** Of `quiet`, where max_wait is absent. */
const MAX_WAIT_QUIETS = 10

/** What events trip. */
type EventfulCondition = Exclude<Condition, { every: string } | { cron: string }>

interface Limit {
  max: number
  perMs: number
}

export interface Compiled {
  definition: TriggerDefinition
  condition: EventfulCondition
  filters: readonly CompiledFilter[]
  /** Of a sequence: filters of each step, besides those of the trigger. */
  steps: readonly (readonly CompiledFilter[])[]
  key: KeyReader
  /** A filter or the condition names a field of the payload. */
  readsPayload: boolean
  maxLateMs: number
  cooldownMs: number
  /** Null: bursts are not gathered. */
  gather: { quietMs: number | null; maxWaitMs: number } | null
  minCount: number
  limits: readonly Limit[]
  resolve: AggregateCondition['resolve']
}

/** Whether a trigger is judged by events; one with a schedule is not. */
export function isEventful({ condition }: TriggerSpec): boolean {
  return !('every' in condition || 'cron' in condition)
}

/** @throws Error when the definition breaks a rule that is checked when it is saved. */
export function compile(definition: TriggerDefinition): Compiled {
  const { spec } = definition
  const { storm } = spec
  const condition = spec.condition as EventfulCondition
  const quietMs = storm?.quiet ? parseDuration(storm.quiet, 'storm.quiet') : null
  const maxWaitMs = storm?.max_wait
    ? parseDuration(storm.max_wait, 'storm.max_wait')
    : quietMs && quietMs * MAX_WAIT_QUIETS
  return {
    definition,
    condition,
    filters: compileFilters(spec.filters ?? []),
    steps: 'sequence' in condition ? condition.sequence.map((step) => compileFilters(step.filters)) : [],
    key: compileKey(definition),
    readsPayload: JSON.stringify([spec.filters, condition]).includes('"payload.'),
    maxLateMs: parseDuration(spec.max_late ?? MAX_LATE_DEFAULT, 'max_late'),
    cooldownMs: durationOrNone(spec.cooldown ?? COOLDOWN_DEFAULT),
    gather: maxWaitMs ? { quietMs, maxWaitMs } : null,
    minCount: storm?.min_count ?? 1,
    limits: (storm?.limits ?? []).map(({ max, per }) => ({
      max,
      perMs: parseDuration(per, 'storm.limits.per'),
    })),
    resolve: 'resolve' in condition ? condition.resolve : undefined,
  }
}

/** All that decides which events a condition is asked about, and by which key. */
export const intakeOf = ({ spec, sourceIds, entityLabel, entities }: TriggerDefinition): unknown => [
  ...[sourceIds, spec.filters ?? [], spec.max_late ?? MAX_LATE_DEFAULT, spec.key_field ?? '', entityLabel],
  'group_by' in spec.condition ? spec.condition.group_by : null,
  entities ?? null,
]

/** No event has this id. */
export const NO_EVENT = -1

/** What comes before the condition of an event: filters, how late it is, its key. */
export class Intake {
  /** The first filter that does not hold of the event taken last. */
  failed: CompiledFilter | null = null
  isLate = false
  /** Null: it lacks a component. */
  key: Key | null = null
  private eventId = NO_EVENT

  /** @param isShared whether several triggers take each event: it is then looked at once. */
  constructor(
    private readonly trigger: Compiled,
    private readonly isShared: boolean,
  ) {}

  /** @throws what the lookup of labels throws */
  take(event: EventCursor): this {
    if (this.isShared && event.id === this.eventId) return this
    const { filters, maxLateMs, key } = this.trigger
    this.eventId = NO_EVENT
    this.failed = failing(filters, event)
    this.isLate = this.failed === null && event.ingestedAt - event.ts > maxLateMs
    this.key = this.failed || this.isLate ? null : key.read(event)
    this.eventId = event.id
    return this
  }
}

/** The state of a condition that several triggers have: each event is judged once. */
export class SharedState implements ConditionState {
  private eventId = NO_EVENT
  private outcome: Outcome | null = null
  private sweptAt = Number.NaN
  private weight = 0

  constructor(private readonly state: ConditionState) {}

  judge(event: EventCursor, key: Key, beforeId: number): Outcome {
    if (this.outcome && event.id === this.eventId) return this.outcome
    this.outcome = this.state.judge(event, key, beforeId)
    this.eventId = event.id
    return this.outcome
  }

  sweep(now: number): number {
    if (now !== this.sweptAt) this.weight = this.state.sweep(now)
    this.sweptAt = now
    return this.weight
  }

  keys(): Iterable<[number | string, number, number]> {
    return this.state.keys()
  }

  drop(id: number | string): void {
    this.state.drop(id)
  }
}

/** Longest span of event time a condition looks back over; of a change there is none. */
export function windowOf(condition: Condition): number {
  if ('window' in condition && 'aggregate' in condition) return parseDuration(condition.window, 'window')
  if ('within' in condition) return parseDuration(condition.within, 'within')
  if ('absent_for' in condition) return parseDuration(condition.absent_for, 'absent_for')
  return 0
}

function durationOrNone(text: string): number {
  return /^[0.]+[smhd]$/.test(text) ? 0 : parseDuration(text, 'cooldown')
}
