/**
 * The rules of a declared trigger that its schema cannot say, and its canonical form: what equals a
 * default is left out, so that two ways of writing the same are the same document.
 */

import { check } from '../../schemas/index.ts'
import type { Condition, Emit, Filter, Storm, TriggerSpec } from '../../schemas/types.ts'
import { TRIGGER_DEFAULTS } from '../../schemas/unset-words.ts'
import { conditionKind, isSchedule } from '../../schemas/words.ts'
import { fail } from '../errors.ts'
import type { Staged } from '../model/documents.ts'
import { patternFault } from '../model/pattern.ts'
import { cronFault } from '../model/slots.ts'
import { parseDuration } from '../model/units.ts'

export { TRIGGER_DEFAULTS }

const SCHEDULE_MIN_MS = 60_000
const NUMERIC = new Set(['gt', 'gte', 'lt', 'lte'])

/** @returns the spec in canonical form. @throws SvcError invalid, naming the field and the rule. */
export function normaliseTrigger(given: TriggerSpec): TriggerSpec {
  const fault = check('trigger-spec.json', given)
  if (fault) fail('invalid', fault)
  given.filters?.forEach((filter, i) => {
    checkFilter(filter, `filters[${i}]`)
  })
  parseDuration(given.cooldown ?? TRIGGER_DEFAULTS.cooldown, 'cooldown')
  parseDuration(given.max_late ?? TRIGGER_DEFAULTS.max_late, 'max_late')
  // It is read after the word "When", which many begin theirs with.
  const description = given.description
    ?.trim()
    .replace(/^when\s+/i, '')
    .replace(/\.$/, '')
  const emit = normaliseEmit(given.emit)
  const storm = normaliseStorm(given.storm)
  if (storm && isSchedule(given.condition))
    fail('invalid', 'storm must be absent: a schedule fires at its own times', { field: 'storm' })
  if (given.joined) refuseJoined(given.condition)
  // A burst is of the whole trigger, what lasts is of one key.
  if (storm && 'resolve' in given.condition && given.condition.resolve !== undefined)
    fail('invalid', 'storm must be absent: with condition.resolve a key fires once until it is over', {
      field: 'storm',
    })
  return {
    sources: given.sources,
    ...(given.filters?.length ? { filters: given.filters } : {}),
    ...(given.key_field ? { key_field: given.key_field } : {}),
    ...(given.joined ? { joined: true } : {}),
    condition: normaliseCondition(given.condition, given.filters),
    ...(emit ? { emit } : {}),
    ...(given.cooldown && given.cooldown !== TRIGGER_DEFAULTS.cooldown ? { cooldown: given.cooldown } : {}),
    ...(storm ? { storm } : {}),
    ...(given.max_late && given.max_late !== TRIGGER_DEFAULTS.max_late ? { max_late: given.max_late } : {}),
    ...(given.severity && given.severity !== defaultSeverity(given) ? { severity: given.severity } : {}),
    ...(given.severity_field ? { severity_field: given.severity_field } : {}),
    ...(description ? { description } : {}),
    ...(given.paused ? { paused: true } : {}),
  }
}

/** @throws SvcError invalid */
function refuseJoined(condition: Condition): void {
  if (isSchedule(condition))
    fail('invalid', 'joined must be absent: a schedule fires for all entities', { field: 'joined' })
}

/** What a schedule says and has no use for: its own times say when it fires. @returns sentences that begin with the trigger */
export const scheduleWarnings = (touched: readonly Staged[]): string[] =>
  touched.flatMap(({ kind, key, doc }) => {
    if (kind !== 'trigger' || !doc) return []
    return scheduleFaults(doc).map((fault) => `trigger ${key}: ${fault}`)
  })

/** What a schedule is given and has no use for, a sentence each. */
export function scheduleFaults({ condition, cooldown }: Partial<TriggerSpec>): string[] {
  if (!condition || !isSchedule(condition) || cooldown === undefined) return []
  return ['cooldown does nothing: a schedule fires at its own times, and has none']
}

/** Of the incidents its firings open, where it does not say: a schedule opens none. */
const defaultSeverity = ({ condition }: Pick<TriggerSpec, 'condition'>): 'warning' | 'none' =>
  isSchedule(condition) ? 'none' : 'warning'

/** Of the incidents a trigger's firings open; none: they open none. */
export const severityOf = (
  spec: Pick<TriggerSpec, 'condition' | 'severity'>,
): NonNullable<TriggerSpec['severity']> => spec.severity ?? defaultSeverity(spec)

function normaliseEmit(emit: Emit | undefined): Emit | undefined {
  const window = emit?.context_window
  if (window) parseDuration(window, 'emit.context_window')
  const kept: Emit = {
    ...(emit?.kind ? { kind: emit.kind } : {}),
    ...(window && window !== TRIGGER_DEFAULTS.context_window ? { context_window: window } : {}),
  }
  return Object.keys(kept).length ? kept : undefined
}

function normaliseStorm(storm: Storm | undefined): Storm | undefined {
  if (!storm || Object.keys(storm).length === 0) return undefined
  const quiet = storm.quiet === undefined ? null : parseDuration(storm.quiet, 'storm.quiet')
  const longest = storm.max_wait === undefined ? null : parseDuration(storm.max_wait, 'storm.max_wait')
  if (quiet !== null && longest !== null && longest < quiet)
    fail('invalid', 'storm.max_wait must be at least storm.quiet', { field: 'storm.max_wait' })
  if (storm.min_count !== undefined && quiet === null && longest === null)
    fail(
      'invalid',
      'storm.min_count needs storm.quiet or storm.max_wait: what is counted is what they gather',
      {
        field: 'storm.min_count',
      },
    )
  for (const [i, { per }] of (storm.limits ?? []).entries()) parseDuration(per, `storm.limits[${i}].per`)
  return storm
}

function normaliseCondition(condition: Condition, filters: readonly Filter[] = []): Condition {
  const kinds = conditionKind(condition)
  if (kinds === null) fail('invalid', 'condition must be of one kind', { field: 'condition' })
  if ('every' in condition) {
    if (parseDuration(condition.every, 'condition.every') < SCHEDULE_MIN_MS)
      fail('invalid', 'condition.every must be at least 60s', { field: 'condition.every' })
    return condition
  }
  if ('cron' in condition) {
    const fault = cronFault(condition, 'condition')
    if (fault) fail('invalid', fault.message, { field: `condition.${fault.field}` })
    return condition
  }
  if ('absent_for' in condition) parseDuration(condition.absent_for, 'condition.absent_for')
  if ('sequence' in condition) {
    parseDuration(condition.within, 'condition.within')
    condition.sequence.forEach(({ filters }, i) => {
      filters.forEach((filter, j) => {
        checkFilter(filter, `condition.sequence[${i}].filters[${j}]`)
      })
    })
  }
  if ('event' in condition && condition.resolve) {
    condition.resolve.filters.forEach((filter, i) => {
      checkFilter(filter, `condition.resolve.filters[${i}]`)
    })
    refuseSameEvents(condition.resolve.filters, filters)
  }
  return 'aggregate' in condition ? normaliseAggregate(condition) : condition
}

/** Where each event that passes the filters says that it is over, none is left that fires. @throws SvcError invalid */
function refuseSameEvents(over: readonly Filter[], filters: readonly Filter[]): void {
  const asked = new Set(filters.map(textOf))
  if (over.some((filter) => !asked.has(textOf(filter)))) return
  fail(
    'invalid',
    'condition.resolve.filters must not be among filters: each event that passes these would say that it is over, and none would fire',
    { field: 'condition.resolve.filters' },
  )
}

const textOf = ({ field, op, value }: Filter): string => JSON.stringify([field, op, value])

type Aggregate = Extract<Condition, { aggregate: string }>

function normaliseAggregate(condition: Aggregate): Aggregate {
  const { aggregate, field, predicate, resolve } = condition
  const counts = aggregate === 'count' || aggregate === 'rate'
  if (counts && field !== undefined)
    fail('invalid', `condition.field must be absent: ${aggregate} counts events`, {
      field: 'condition.field',
    })
  if (!counts && aggregate !== 'any' && field === undefined)
    fail('invalid', `condition.field is required: ${aggregate} aggregates a field`, {
      field: 'condition.field',
    })
  checkUnit(aggregate, predicate, 'condition.predicate')
  if (typeof resolve === 'string') {
    checkUnit(aggregate, resolve, 'condition.resolve')
    refuseOverlap(condition, resolve)
  }
  parseDuration(condition.window, 'condition.window')
  return {
    ...condition,
    predicate: spaced(predicate),
    ...(typeof resolve === 'string' ? { resolve: spaced(resolve) } : {}),
  }
}

/** Where both hold at once, each event would fire and resolve, and a firing tell its addresses twice. @throws SvcError invalid */
function refuseOverlap({ aggregate, predicate }: Aggregate, resolve: string): void {
  const isWhole = aggregate === 'count' || aggregate === 'distinct'
  const [fires, over] = [predicate, resolve].map((text) => spanOf(text, isWhole)) as [Span, Span]
  const [from, to] = [Math.max(fires.from, over.from), Math.min(fires.to, over.to)]
  const isIn = ({ from: low, to: high, isOpen }: Span): boolean => !isOpen || (from !== low && from !== high)
  if (from > to || (from === to && !(isIn(fires) && isIn(over)))) return
  fail(
    'invalid',
    `condition.resolve (${resolve}) must not hold while condition.predicate (${predicate}) does: it says when that is over`,
    { field: 'condition.resolve' },
  )
}

/** The numbers for which a comparison holds. */
interface Span {
  from: number
  to: number
  /** Its finite ends are not in it. */
  isOpen: boolean
}

const PER_HOUR: Readonly<Record<string, number>> = { s: 3_600, m: 60, h: 1 }

/** @param isWhole only whole numbers come, which no rate is. */
function spanOf(text: string, isWhole: boolean): Span {
  const [, op, digits, unit = 's'] = /^(>=|<=|==|>|<) ?([^/]+)(?:\/(.))?$/.exec(text)!
  const limit = Number(digits) * (isWhole ? 1 : PER_HOUR[unit]!)
  const ends = isWhole ? [Math.ceil(limit), Math.floor(limit)] : [limit, limit]
  const next = isWhole ? 1 : 0
  const isOpen = !isWhole && (op === '>' || op === '<')
  if (op === '>') return { from: ends[1]! + next, to: Number.POSITIVE_INFINITY, isOpen }
  if (op === '>=') return { from: ends[0]!, to: Number.POSITIVE_INFINITY, isOpen }
  if (op === '<') return { from: Number.NEGATIVE_INFINITY, to: ends[0]! - next, isOpen }
  if (op === '<=') return { from: Number.NEGATIVE_INFINITY, to: ends[1]!, isOpen }
  return { from: ends[0]!, to: ends[1]!, isOpen }
}

const spaced = (predicate: string): string => predicate.replace(/^(>=|<=|==|>|<) ?/, '$1 ')

function checkUnit(aggregate: string, predicate: string, field: string): void {
  if (aggregate !== 'rate' && predicate.includes('/'))
    fail('invalid', `${field} has a unit, which only a rate has`, { field })
}

function checkFilter({ op, value }: Filter, of: string): void {
  const at = `${of}.value`
  const rule = filterFault(op, value)
  if (rule) fail('invalid', `${at} ${rule}`, { field: at })
}

/** An integer past it is not the one that was written: JSON numbers are read as doubles. */
const isRounded = (value: unknown): boolean => Number.isInteger(value) && !Number.isSafeInteger(value)

function filterFault(op: Filter['op'], value: Filter['value']): string | null {
  if ([value].flat().some(isRounded)) return 'has more digits than a number keeps; put it in quotes'
  if (op === 'exists')
    return value === undefined || typeof value === 'boolean' ? null : 'must be true or false for exists'
  if (value === undefined) return `is required for ${op}`
  if (op === 'in') return Array.isArray(value) ? null : 'must be a list for in'
  if (Array.isArray(value)) return `must not be a list for ${op}`
  if (NUMERIC.has(op)) return Number.isFinite(Number(value)) ? null : `must be a number for ${op}`
  if (op !== 'regex') return null
  return patternFault(String(value), '')?.replace(/^pattern /, '') ?? null
}
