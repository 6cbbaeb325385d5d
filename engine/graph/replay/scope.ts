/** What a replay is of: a project, a range, and the chain of runs it was asked for, if it was. */
import type { ReplayMoment, TriggerSpec } from '../../../schemas/types.ts'
import type { ReadContext } from '../../timeline/context.ts'
import { parseDuration } from '../../timeline/duration.ts'
import type { Chain } from './chain.ts'
import type { Configurations } from './configurations.ts'

/** A trigger by its row: one that was deleted and made again has two. */
export interface TriggerRow {
  id: number
  name: string
}

export interface Scope {
  ctx: ReadContext
  project: { id: string; name: string; createdAt: number }
  /** Epoch ms, both inclusive. */
  from: number
  to: number
  /** Rows of one kind that are read at most. */
  most: number
  configurations: Configurations
  triggers: readonly TriggerRow[]
  /** Null: all of the project. */
  chain: Chain | null
}

export const triggersNamed = ({ db }: ReadContext, names: readonly string[]): TriggerRow[] =>
  db
    .prepare<[string], TriggerRow>(
      'SELECT id, name FROM triggers WHERE name IN (SELECT value FROM json_each(?)) ORDER BY id',
    )
    .all(JSON.stringify(names))

/** Whether an instant is in the range. */
export const isWithin = ({ from, to }: Scope, at: number | null): at is number =>
  at !== null && at >= from && at <= to

/** A window as a moment tells it; null where the condition has no number to reach. */
export function windowOfMoment(
  trigger: string,
  key: string | null,
  value: number | null,
  predicate: string | null,
  window: string | null,
): ReplayMoment['window'] {
  if (predicate === null || value === null) return null
  return { trigger, key: key ?? '', value, threshold: numberOf(predicate), predicate, window }
}

/** @param predicate as it was recorded: of one that an older version let through nothing is told */
function numberOf(predicate: string): number | null {
  const digits = /-?\d+(?:\.\d+)?/.exec(predicate)
  return digits ? Number(digits[0]) : null
}

const COOLDOWN_DEFAULT = '5m'

/** Wait after a firing, milliseconds. */
export function cooldownMsOf({ cooldown = COOLDOWN_DEFAULT, condition }: TriggerSpec): number {
  if ('every' in condition || 'cron' in condition) return 0
  return /^[0.]+[smhd]$/.test(cooldown) ? 0 : parseDuration(cooldown, 'cooldown')
}

export const iso = (ms: number): string => new Date(ms).toISOString()

export const entityOf = (label: string | null, value: string | null): ReplayMoment['entity'] =>
  label === null || value === null ? null : { label, value }
