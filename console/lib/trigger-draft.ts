/** A trigger as its form edits it: everything as typed. trigger-form.ts makes it a trigger again. */
import type { AggregateCondition, Condition, Filter, Trigger } from '../../schemas/types.ts'
import { FILTER_WORDS } from '../../schemas/words.ts'

export type Aggregate = AggregateCondition['aggregate']
/** `exists` with the value false has a word of its own. */
export type FilterOp = Filter['op'] | 'missing'
export type Kind = 'event' | 'threshold' | 'silence' | 'change' | 'sequence' | 'schedule'

export interface FilterRow {
  field: string
  op: FilterOp
  /** As typed. */
  value: string
  /** Of `in`. */
  values: string[]
  /** The stored value, kept as it is unless typed anew: "5" and 5 look the same here. */
  kept?: Filter['value']
}

export interface TriggerDraft {
  name: string
  sources: string[]
  kind: Kind
  aggregate: Aggregate
  field: string
  op: string
  number: string
  /** Of a rate. */
  unit: 's' | 'm' | 'h'
  window: string
  resolve: 'no' | 'over' | 'when'
  resolve_op: string
  resolve_number: string
  /** Of any event: which say that it is over; none: nothing does. */
  over_filters: FilterRow[]
  /** What the events of one alert have in common; none: the default. */
  over_equal: string[]
  absent_for: string
  change_of: string
  from: string
  to: string
  steps: { name: string; filters: FilterRow[] }[]
  within: string
  timing: 'every' | 'cron'
  every: string
  cron: string
  time_zone: string
  /** custom: what is stored, which has more than the form shows. */
  summary: 'plain' | 'rich' | 'custom'
  summary_by: string[]
  group_by: string[]
  filters: FilterRow[]
  key_field: string
  context_window: string
  cooldown: string
  max_late: string
  quiet: string
  max_wait: string
  min_count: string
  limits: { max: string; per: string }[]
  /** Of the incidents it opens; blank: the default. */
  severity: '' | NonNullable<Trigger['severity']>
  /** Field of what tripped it that says how bad it is. */
  severity_field: string
  /** Whether its key is the joined entity. */
  joined: boolean
  description: string
  /** Kind of its firings; blank: the name of the trigger. */
  emit_kind: string
  /** Agents it wakes; null: those it wakes now. */
  wakes: string[] | null
  /** Addresses that are to be subscribed. */
  addresses: string[]
}

const EMPTY_FILTER: FilterRow = { field: '', op: 'eq', value: '', values: [] }
const newStep = () => ({ name: '', filters: [{ ...EMPTY_FILTER }] })

export const NEW_TRIGGER: TriggerDraft = {
  name: '',
  sources: [],
  kind: 'threshold',
  aggregate: 'count',
  field: '',
  op: '>',
  number: '5',
  unit: 's',
  window: '5m',
  resolve: 'no',
  resolve_op: '<=',
  resolve_number: '1',
  over_filters: [],
  over_equal: [],
  absent_for: '15m',
  change_of: '',
  from: '',
  to: '',
  steps: [newStep(), newStep()],
  within: '10m',
  timing: 'every',
  every: '1h',
  cron: '0 9 * * 1-5',
  time_zone: '',
  summary: 'plain',
  summary_by: [],
  group_by: [],
  filters: [],
  key_field: '',
  context_window: '15m',
  cooldown: '5m',
  max_late: '24h',
  quiet: '',
  max_wait: '',
  min_count: '',
  limits: [],
  severity: '',
  severity_field: '',
  joined: false,
  description: '',
  emit_kind: '',
  wakes: null,
  addresses: [],
}

export { EMPTY_FILTER, newStep }

export const AGGREGATES: { value: Aggregate; label: string }[] = [
  { value: 'count', label: 'number of events' },
  { value: 'rate', label: 'rate of events' },
  { value: 'distinct', label: 'number of different' },
  { value: 'sum', label: 'sum of' },
  { value: 'avg', label: 'average of' },
  { value: 'max', label: 'highest' },
  { value: 'min', label: 'lowest' },
]

export const FILTER_OPS: { value: FilterOp; label: string }[] = [
  ...Object.entries(FILTER_WORDS).map(([value, label]) => ({ value: value as FilterOp, label })),
  { value: 'missing', label: 'is not there' },
]

/** Counts events, not a field. */
export const countsEvents = (aggregate: Aggregate): boolean => aggregate === 'count' || aggregate === 'rate'

export const isDuration = (text: string): boolean => /^\d+(\.\d+)?(s|m|h|d)$/.test(text.trim())

/** Seconds of the units of a duration, the largest first. */
const UNITS = { d: 86_400, h: 3_600, m: 60, s: 1 } as const
type Unit = keyof typeof UNITS

/** What people write for a unit; a week is seven days. */
const UNIT_WORDS: Readonly<Record<string, { unit: Unit; times: number }>> = {
  ...named('s', 1, 's sec second'),
  ...named('m', 1, 'm min minute'),
  ...named('h', 1, 'h hr hour'),
  ...named('d', 1, 'd day'),
  ...named('d', 7, 'w wk week'),
}

function named(unit: Unit, times: number, words: string) {
  return Object.fromEntries(
    words.split(' ').flatMap((word) => [word, `${word}s`].map((one) => [one, { unit, times }])),
  )
}

/**
 * A duration as people write it, as the daemon takes it.
 * @param text such as "5 min", "300 seconds", "1h 30m" or "1.5 hours"
 * @returns such as 5m, 300s, 90m or 1.5h; null where it is none, or says no unit
 */
export function durationOf(text: string): string | null {
  const typed = text.trim().toLowerCase()
  const parts = [...typed.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)\.?,?\s*(?:and\s+)?/g)]
  if (parts.length === 0 || parts.map(([whole]) => whole).join('') !== typed) return null
  const amounts = parts.flatMap(([, number, word]) => {
    const of = UNIT_WORDS[word!]
    return of ? [{ number: Number(number) * of.times, unit: of.unit }] : []
  })
  const [first] = amounts
  if (!first || amounts.length < parts.length) return null
  if (amounts.length === 1) return `${first.number}${first.unit}`
  const seconds = amounts.reduce((sum, { number, unit }) => sum + number * UNITS[unit], 0)
  const unit = (Object.keys(UNITS) as Unit[]).find((one) => seconds % UNITS[one] === 0) ?? 's'
  return `${seconds / UNITS[unit]}${unit}`
}

/** What is wrong with a duration that is typed, in a sentence. */
export const durationFault = (text: string): string =>
  /^\d+(\.\d+)?$/.test(text.trim())
    ? `Add a unit: ${text.trim()}s, ${text.trim()}m, ${text.trim()}h or ${text.trim()}d`
    : 'For example 30s, 5m, 1h or 2d'

export function draftOf(trigger: Trigger): TriggerDraft {
  const { storm } = trigger
  return {
    ...NEW_TRIGGER,
    name: trigger.name,
    sources: trigger.sources,
    filters: (trigger.filters ?? []).map(rowOf),
    key_field: trigger.key_field ?? '',
    context_window: trigger.emit?.context_window ?? NEW_TRIGGER.context_window,
    cooldown: trigger.cooldown ?? NEW_TRIGGER.cooldown,
    max_late: trigger.max_late ?? NEW_TRIGGER.max_late,
    severity: trigger.severity ?? '',
    severity_field: trigger.severity_field ?? '',
    joined: trigger.joined ?? false,
    description: trigger.description ?? '',
    emit_kind: trigger.emit?.kind === trigger.name ? '' : (trigger.emit?.kind ?? ''),
    ...stormDraft(storm),
    ...conditionDraft(trigger.condition),
  }
}

/** What the form shows of a burst. */
export const stormDraft = (storm: Trigger['storm']) => ({
  quiet: storm?.quiet ?? '',
  max_wait: storm?.max_wait ?? '',
  min_count: storm?.min_count === undefined ? '' : String(storm.min_count),
  limits: (storm?.limits ?? []).map(({ max, per }) => ({ max: String(max), per })),
})

/** What the form shows of a condition. */
export function conditionDraft(condition: Condition): Partial<TriggerDraft> {
  const group_by = 'group_by' in condition ? (condition.group_by ?? []) : []
  if ('event' in condition) {
    const { filters = [], equal = [] } = condition.resolve ?? {}
    return { kind: 'event', group_by, over_filters: filters.map(rowOf), over_equal: equal }
  }
  if ('absent_for' in condition) return { kind: 'silence', group_by, absent_for: condition.absent_for }
  if ('change_of' in condition) {
    const { change_of, from = '', to = '' } = condition
    return { kind: 'change', group_by, change_of, from, to }
  }
  if ('sequence' in condition) {
    const steps = condition.sequence.map(({ name = '', filters }) => ({ name, filters: filters.map(rowOf) }))
    return { kind: 'sequence', group_by, steps, within: condition.within }
  }
  if ('aggregate' in condition) return { kind: 'threshold', group_by, ...thresholdDraft(condition) }
  const { summary, summary_by = [] } = condition
  return {
    kind: 'schedule',
    summary: summary === undefined ? 'plain' : summary === 'rich' ? 'rich' : 'custom',
    summary_by,
    ...('every' in condition
      ? { timing: 'every', every: condition.every }
      : { timing: 'cron', cron: condition.cron, time_zone: condition.time_zone ?? '' }),
  }
}

function thresholdDraft({ aggregate, field = '', predicate, window, resolve }: AggregateCondition) {
  const { op, number, unit } = partsOf(predicate)
  const over = typeof resolve === 'string' ? partsOf(resolve) : null
  return {
    aggregate,
    field,
    op,
    number,
    unit,
    window,
    resolve: resolve === undefined ? ('no' as const) : over ? ('when' as const) : ('over' as const),
    ...(over ? { resolve_op: over.op, resolve_number: over.number } : {}),
  }
}

/** "> 5/m" taken apart. */
function partsOf(predicate: string): { op: string; number: string; unit: TriggerDraft['unit'] } {
  const [, op = '>', number = '', unit = 's'] = /^(>=|<=|==|>|<) ?([^/]*)(?:\/(\w))?$/.exec(predicate) ?? []
  return { op, number, unit: unit as TriggerDraft['unit'] }
}

export function rowOf({ field, op, value }: Filter): FilterRow {
  const shown = Array.isArray(value) ? '' : value === undefined ? '' : String(value)
  return {
    field,
    op: op === 'exists' && value === false ? 'missing' : op,
    value: shown,
    values: Array.isArray(value) ? value.map(String) : [],
    ...(value === undefined ? {} : { kept: value }),
  }
}
