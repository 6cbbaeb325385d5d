/**
 * The rules of a declared trigger that its schema cannot say, and its canonical form: what equals a
 * default is left out, so that two ways of writing the same are the same document.
 */
import { check } from '../../schemas/index.ts'
import type { Condition, Emit, Filter, TriggerSpec } from '../../schemas/types.ts'
import { fail } from '../errors.ts'
import { parseDuration } from '../timeline/duration.ts'

export const TRIGGER_DEFAULTS = { cooldown: '5m', context_window: '15m' }
const SCHEDULE_MIN_MS = 60_000
const NUMERIC = new Set(['gt', 'gte', 'lt', 'lte'])

/** @returns the spec in canonical form. @throws SvcError invalid, naming the field and the rule. */
export function normaliseTrigger(given: TriggerSpec): TriggerSpec {
  const fault = check('trigger-spec.json', given)
  if (fault) fail('invalid', fault)
  given.filters?.forEach(checkFilter)
  parseDuration(given.cooldown ?? TRIGGER_DEFAULTS.cooldown, 'cooldown')
  const description = given.description?.trim().replace(/\.$/, '')
  const emit = normaliseEmit(given.emit)
  return {
    sources: given.sources,
    ...(given.filters?.length ? { filters: given.filters } : {}),
    ...(given.key_field ? { key_field: given.key_field } : {}),
    condition: normaliseCondition(given.condition),
    ...(emit ? { emit } : {}),
    ...(given.cooldown && given.cooldown !== TRIGGER_DEFAULTS.cooldown ? { cooldown: given.cooldown } : {}),
    ...(description ? { description } : {}),
    ...(given.paused ? { paused: true } : {}),
  }
}

function normaliseEmit(emit: Emit | undefined): Emit | undefined {
  const window = emit?.context_window
  const kept: Emit = {
    ...(emit?.kind ? { kind: emit.kind } : {}),
    ...(window && window !== TRIGGER_DEFAULTS.context_window ? { context_window: window } : {}),
  }
  return Object.keys(kept).length ? kept : undefined
}

function normaliseCondition(condition: Condition): Condition {
  if ('every' in condition) {
    if (parseDuration(condition.every, 'condition.every') < SCHEDULE_MIN_MS)
      fail('invalid', 'condition.every must be at least 60s', { field: 'condition.every' })
    return condition
  }
  const { aggregate, field, predicate } = condition
  if (aggregate === 'count' && field !== undefined)
    fail('invalid', 'condition.field must be absent: count counts events', { field: 'condition.field' })
  if (!['count', 'any'].includes(aggregate) && field === undefined)
    fail('invalid', `condition.field is required: ${aggregate} aggregates a number label`, {
      field: 'condition.field',
    })
  parseDuration(condition.window, 'condition.window')
  return { ...condition, predicate: predicate.replace(/^(>=|<=|==|>|<) ?/, '$1 ') }
}

function checkFilter({ op, value }: Filter, i: number): void {
  const at = `filters[${i}].value`
  if (op === 'in' && !Array.isArray(value)) fail('invalid', `${at} must be a list for in`, { field: at })
  if (op !== 'in' && Array.isArray(value))
    fail('invalid', `${at} must not be a list for ${op}`, { field: at })
  if (NUMERIC.has(op) && !Number.isFinite(Number(value)))
    fail('invalid', `${at} must be a number for ${op}`, { field: at })
}
