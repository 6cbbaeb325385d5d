/** What models were used for: recorded as it is known, added up when asked. */

import type { ModelSpend, ModelUsageResult } from '../../schemas/types.ts'
import type { Database, StoreHandle } from '../store/handle.ts'
import type { Tallies } from '../tallies.ts'
import { dollarsSql } from './dollars.ts'
import type { Usage } from './types.ts'

/** One run, one turn of Ask, or one call of guided setup; runs on several models have an entry for each. */
export interface UsageEntry {
  /** Recorded once: an entry with an id that is there is left out. */
  id: string
  /** Epoch ms. */
  at: number
  surface: 'agent' | 'ask' | 'setup'
  agent: string | null
  runId: string | null
  practice: boolean
  /** Named in the reply. */
  model: string
  provider: string
  keySource: string
  calls: number
  usage: Usage
  /** US dollars; null: uncosted. */
  costUsd: number | null
}

const DAY_MS = 86_400_000
const SUMS = `sum(calls) AS calls, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
  sum(cache_creation_input_tokens) AS cache_creation_input_tokens,
  sum(cache_read_input_tokens) AS cache_read_input_tokens, ${dollarsSql('sum(cost_usd)')} AS cost_usd,
  sum(CASE WHEN cost_usd IS NULL THEN calls ELSE 0 END) AS uncosted_calls`
const NOTHING: ModelSpend = {
  calls: 0,
  input_tokens: 0,
  output_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cost_usd: 0,
  uncosted_calls: 0,
}

/** @returns how to record an entry, on the writing connection. */
export function usageRecorder(store: StoreHandle, tallies: Tallies): (entry: UsageEntry) => void {
  const insert = store.db.prepare(`INSERT OR IGNORE INTO model_usage
    (id, at, surface, agent, run_id, practice, model, provider, key_source, calls, input_tokens,
     output_tokens, cache_creation_input_tokens, cache_read_input_tokens, cost_usd)
    VALUES (@id, @at, @surface, @agent, @runId, @practice, @model, @provider, @keySource, @calls,
     @input_tokens, @output_tokens, @cache_creation_input_tokens, @cache_read_input_tokens, @costUsd)`)
  return ({ usage, practice, ...entry }) => {
    const { changes } = insert.run({ ...entry, ...usage, practice: practice ? 1 : 0 })
    if (changes > 0) store.afterCommit(() => countUsage(tallies, { usage, practice, ...entry }))
  }
}

function countUsage(tallies: Tallies, { provider, surface, calls, usage, costUsd }: UsageEntry): void {
  tallies.add('model_calls', { provider, surface }, calls)
  for (const [direction, tokens] of [
    ['input', usage.input_tokens],
    ['output', usage.output_tokens],
    ['cache_creation', usage.cache_creation_input_tokens],
    ['cache_read', usage.cache_read_input_tokens],
  ] as const)
    tallies.add('model_tokens', { provider, surface, direction }, tokens)
  if (costUsd === null) tallies.add('model_unpriced_calls', { provider }, calls)
  else tallies.add('model_spend_usd', { provider }, costUsd)
}

/**
 * Totals of all time, and the days of a window that ends today (UTC). Practice counts too: it is paid.
 * @param days 1 to 366. @param now epoch ms
 */
export function modelUsageOf(db: Database, days: number, now: number): ModelUsageResult {
  const by = (column: 'surface' | 'key_source' | 'provider'): Record<string, ModelSpend> =>
    Object.fromEntries(
      db
        .prepare<[], ModelSpend & { name: string }>(
          `SELECT ${column} AS name, ${SUMS} FROM model_usage GROUP BY ${column} ORDER BY ${column}`,
        )
        .all()
        .map(({ name, ...spend }) => [name, spend]),
    )
  const { calls, ...total } = db
    .prepare<[], ModelSpend | { calls: null }>(`SELECT ${SUMS} FROM model_usage`)
    .get() as ModelSpend
  const bySurface = by('surface')
  const from = Math.floor(now / DAY_MS - days + 1) * DAY_MS
  return {
    total: calls === null ? NOTHING : { calls, ...total },
    by_surface: {
      agent: bySurface.agent ?? NOTHING,
      ask: bySurface.ask ?? NOTHING,
      setup: bySurface.setup ?? NOTHING,
    },
    by_key_source: by('key_source'),
    by_provider: by('provider'),
    days: db
      .prepare<[number], ModelSpend & { day: string }>(
        `SELECT date(at / 1000, 'unixepoch') AS day, ${SUMS} FROM model_usage WHERE at >= ? GROUP BY day ORDER BY day`,
      )
      .all(from),
    window_days: days,
  }
}
