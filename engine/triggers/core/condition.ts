/**
 * What every kind of condition is to the evaluator; and the filters of all, compiled: all must hold, those first that
 * cost least to read.
 */

import { RE2JS } from 're2js'
import type { Condition, Filter, TriggerSpec, WhyRecord } from '../../../schemas/types.ts'
import { filterWords } from '../../../schemas/words.ts'
import { severityOf } from '../../documents/trigger.ts'
import { compareDecimals } from '../../log/ingest/json.ts'
import { compileField } from '../../log/ingest/json-project.ts'
import { TYPE_LABEL } from '../../log/store/labels.ts'
import { WORK_MAX } from '../../model/pattern.ts'
import { parseDuration, rankOf, severityNamed, spellingsOf } from '../../model/units.ts'
import {
  type History,
  type LabelLookup,
  type Ledger,
  MAX_LATE_DEFAULT,
  type TriggerDefinition,
  type Verdict,
} from '../types.ts'
import { compileKey, type EventCursor, type Key, type KeyReader } from './entries.ts'

/** A condition was met. */
export interface Met {
  value: number | null
  reason: string
  /**
   * Events that met it, ascending.
   * @param burst folded into this one: without those that were given to it before.
   */
  evidence(burst: object | null): number[]
  /** Event time at which the window ends that met it, epoch ms; undefined: it has none. */
  end?: number
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
/** What the events of one alert have in common. */
const EQUAL_DEFAULT = ['event_type']
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
  /** Of events that say themselves when it is over: which do, and what those of one alert have in common. */
  over: { filters: readonly CompiledFilter[]; equal: readonly Field[] } | null
  /** How severe an event is by `severity_field`, 3 being critical; null: the trigger has none. */
  rankOf: ((event: EventCursor) => number) | null
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
    readsPayload: JSON.stringify([spec.filters, condition, spec.severity_field]).includes('"payload.'),
    maxLateMs: parseDuration(spec.max_late ?? MAX_LATE_DEFAULT, 'max_late'),
    cooldownMs: cooldownOf(spec),
    gather: maxWaitMs ? { quietMs, maxWaitMs } : null,
    minCount: storm?.min_count ?? 1,
    limits: limitsOf(spec),
    over: compileOver(condition),
    rankOf: compileRank(spec),
  }
}

function compileOver(condition: EventfulCondition): Compiled['over'] {
  if (!('event' in condition) || !condition.resolve) return null
  const { filters, equal = EQUAL_DEFAULT } = condition.resolve
  return { filters: compileFilters(filters), equal: equal.map(fieldOf) }
}

function compileRank(spec: TriggerSpec): Compiled['rankOf'] {
  if (!spec.severity_field) return null
  const field = fieldOf(spec.severity_field)
  const severity = severityOf(spec)
  const own = severity === 'none' ? 0 : rankOf(severity)
  return (event) => {
    const said = severityNamed(field.text(event))
    return said === undefined ? own : rankOf(said)
  }
}

const cooldownOf = ({ cooldown = COOLDOWN_DEFAULT }: TriggerSpec): number => durationOrNone(cooldown)

const limitsOf = ({ storm }: TriggerSpec): { max: number; perMs: number }[] =>
  (storm?.limits ?? []).map(({ max, per }) => ({ max, perMs: parseDuration(per, 'storm.limits.per') }))

/**
 * How long a firing still decides whether its trigger may fire again, by the cooldown or a limit, in milliseconds. It
 * compiles nothing: retention asks it of every trigger in each of its steps.
 */
export function holdOf({ spec }: TriggerDefinition): number {
  if (!isEventful(spec)) return 0
  return Math.max(cooldownOf(spec), ...limitsOf(spec).map(({ perMs }) => perMs))
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

export interface CompiledFilter {
  field: Field
  op: Filter['op']
  test(event: EventCursor): boolean
  /** Of a text. */
  testText(text: string): boolean
  /** Values it lets through, where those can be listed; lower case for `in`. */
  values: readonly string[] | null
  /** Operator and value. */
  expected: string
  /** The same as the trigger's sentence says it. */
  words: string
}

/** Answers remembered by label id and filter; then they are forgotten. */
const MEMO_MAX = 10_000
const COMPARE = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const
/** Fields that hold the level of an event. */
const LEVEL_FIELDS = new Set(['event_type', 'severity', 'level'])
/** What is told of an actual value. */
const ACTUAL_MAX = 200

/** Compiled filters in the order they are judged. @throws Error when a pattern is not supported. */
export function compileFilters(filters: readonly Filter[]): CompiledFilter[] {
  return filters.map(compileFilter).sort((a, b) => a.field.cost - b.field.cost)
}

/** The first filter that does not hold, or null. */
export function failing(filters: readonly CompiledFilter[], event: EventCursor): CompiledFilter | null {
  for (const filter of filters) if (!filter.test(event)) return filter
  return null
}

/** What an event has in the field of a filter; null: nothing. */
export function actualOf({ field }: CompiledFilter, event: EventCursor): string | null {
  const text = field.text(event)
  if (text === undefined) return null
  return text.length > ACTUAL_MAX ? `${text.slice(0, ACTUAL_MAX)}…` : text
}

function compileFilter(given: Filter): CompiledFilter {
  return { ...testOf(given), words: filterWords(given) }
}

function testOf({ field: name, op: given, value = '' }: Filter): Omit<CompiledFilter, 'words'> {
  const field = fieldOf(name)
  const list = Array.isArray(value) ? value : [value]
  // A level is a level however it was spelled when the trigger was made: Info, INFO and info are one.
  const levels = LEVEL_FIELDS.has(name) ? list.flatMap((item) => spellingsOf(String(item))) : []
  const op = given === 'eq' && levels.length > 0 ? 'in' : given
  if (given === 'neq' && levels.length > 0) {
    const others = textTest('in', levels)
    const testText = (text: string): boolean => !others(text)
    return {
      field,
      op,
      values: null,
      testText,
      test: remembering(field, testText),
      expected: `neq ${list[0]}`,
    }
  }
  const texts = [
    ...list.map((item) => (op === 'in' ? String(item).toLowerCase() : String(item))),
    ...(op === 'in' ? levels : []),
  ]
  const filter = { field, op, values: op === 'eq' || op === 'in' ? texts : null }
  if (op === 'exists') {
    const wanted = String(value) !== 'false'
    const test = (event: EventCursor) => (field.text(event) !== undefined) === wanted
    return { ...filter, test, testText: () => wanted, expected: `exists ${wanted}` }
  }
  const testText = textTest(op, texts)
  return { ...filter, testText, test: remembering(field, testText), expected: `${given} ${list.join(', ')}` }
}

function textTest(op: Filter['op'], values: string[]): (text: string) => boolean {
  const value = values[0]!
  switch (op) {
    case 'eq':
      return (text) => text === value
    case 'neq':
      return (text) => text !== value
    case 'prefix':
      return (text) => text.startsWith(value)
    case 'in': {
      const set = new Set(values)
      return (text) => set.has(text.toLowerCase())
    }
    case 'contains': {
      const part = value.toLowerCase()
      return (text) => text.toLowerCase().includes(part)
    }
    case 'regex': {
      const pattern = RE2JS.compile(value)
      const longest = Math.floor(WORK_MAX / pattern.programSize())
      return (text) => pattern.matcher(text.length > longest ? text.slice(0, longest) : text).find()
    }
    default: {
      const holds = comparison(COMPARE[op as keyof typeof COMPARE], 0)
      return (text) => numberIn(text) !== undefined && holds(compareDecimals(text, value))
    }
  }
}

/** Remembers the answer for a label's id: the same few values come again and again. */
function remembering(field: Field, testText: (text: string) => boolean): (event: EventCursor) => boolean {
  const plain = (event: EventCursor) => {
    const text = field.text(event)
    return text !== undefined && testText(text)
  }
  if (field.labelName === null) return plain
  const memo = new Map<number, boolean>()
  const numbers = new Map<number, boolean>()
  return (event) => {
    const label = field.label(event)
    if (label === undefined) {
      const number = field.number?.(event)
      if (number === undefined) return plain(event)
      let answer = numbers.get(number)
      if (answer === undefined) {
        if (numbers.size >= MEMO_MAX) numbers.clear()
        answer = plain(event)
        numbers.set(number, answer)
      }
      return answer
    }
    let answer = memo.get(label)
    if (answer === undefined) {
      if (memo.size >= MEMO_MAX) memo.clear()
      answer = testText(event.value(label))
      memo.set(label, answer)
    }
    return answer
  }
}

/* Fields that filters and conditions name, found in an event. */

/** Stands for every string label: that of the entity can be of any name. */
export const ANY_LABEL = ''

export interface Field {
  name: string
  /** Name of the label whose value it is, if it is one: its tests can be remembered by label id. */
  labelName: string | null
  /** That label of an event. */
  label(event: EventCursor): number | undefined
  /** The number it is, where it is a number label: tests of its text can be remembered by it. */
  number?(event: EventCursor): number | undefined
  /** Text form; undefined: it is missing. */
  text(event: EventCursor): string | undefined
  /** What it costs to read, as an order. */
  cost: number
}

const PAYLOAD = 'payload.'
const NO_LABEL = () => undefined

export function fieldOf(name: string): Field {
  if (name === 'event_type') return labelField(name, TYPE_LABEL, (event) => event.typeLabel())
  if (name === 'key_value') return labelField(name, ANY_LABEL, (event) => event.entityLabel())
  if (name === 'source') return plainField(name, 1, (event) => event.sourceName(event.sourceId))
  if (name === 'text') return plainField(name, 3, (event) => event.text())
  if (name.startsWith(PAYLOAD)) {
    const find = compileField(name.slice(PAYLOAD.length))
    return plainField(name, 4, (event) => textForm(find(event.payload())))
  }
  return {
    name,
    labelName: name,
    label: (event) => event.label(name),
    number: (event) => event.number(name),
    text(event) {
      const label = event.label(name)
      return label === undefined ? textForm(event.number(name)) : event.value(label)
    },
    cost: 2,
  }
}

function labelField(
  name: string,
  labelName: string,
  label: (event: EventCursor) => number | undefined,
): Field {
  const text = (event: EventCursor) => {
    const id = label(event)
    return id === undefined ? undefined : event.value(id)
  }
  return { name, labelName, label, text, cost: 0 }
}

function plainField(name: string, cost: number, text: (event: EventCursor) => string | undefined): Field {
  return { name, labelName: null, label: NO_LABEL, text, cost }
}

/** Null is as good as missing, as it is for labels. */
function textForm(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The number a text is, or undefined. */
export function numberIn(text: string): number | undefined {
  if (text.trim() === '') return undefined
  const number = Number(text)
  return Number.isFinite(number) ? number : undefined
}

/* Predicates of thresholds, such as "> 5" or, of a rate, "> 5/m". */

export interface Predicate {
  text: string
  /** Of a rate: milliseconds of its unit. */
  unitMs: number
  holds(value: number): boolean
  /** "above 5". */
  words: string
}

const UNIT_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000 }
const WORDS: Record<string, string> = {
  '>': 'above',
  '>=': 'at least',
  '<': 'below',
  '<=': 'at most',
  '==': 'exactly',
}

/** @throws Error when it is none; the schema of triggers lets only these through. */
export function parsePredicate(text: string): Predicate {
  const match = /^(>=|<=|==|>|<) ?(-?\d+(?:\.\d+)?)(\/([smh]))?$/.exec(text)
  if (!match) throw new Error(`${text} is no comparison with a number`)
  const [, op, digits, per = '', unit = 's'] = match
  const limit = Number(digits)
  return {
    text,
    unitMs: UNIT_MS[unit]!,
    holds: comparison(op!, limit),
    words: `${WORDS[op!]} ${digits}${per}`,
  }
}

/** @param op as in predicates */
function comparison(op: string, limit: number): (value: number) => boolean {
  switch (op) {
    case '>':
      return (value) => value > limit
    case '>=':
      return (value) => value >= limit
    case '<':
      return (value) => value < limit
    case '<=':
      return (value) => value <= limit
    default:
      return (value) => value === limit
  }
}
