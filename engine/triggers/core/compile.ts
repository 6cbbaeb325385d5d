/** Definitions made ready to judge by: durations in milliseconds, filters and key as functions. */
import type { AggregateCondition, Condition, TriggerSpec } from '../../../schemas/types.ts'
import { parseDuration } from '../../timeline/duration.ts'
import { MAX_LATE_DEFAULT, type TriggerDefinition } from '../types.ts'
import { type CompiledFilter, compileFilters } from './filters.ts'
import { compileKey, type KeyReader } from './keys.ts'

const COOLDOWN_DEFAULT = '5m'
/** Of `quiet`, where max_wait is absent. */
const MAX_WAIT_QUIETS = 10

/** What events trip. */
export type EventfulCondition = Exclude<Condition, { every: string } | { cron: string }>

export interface Limit {
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
