/** What a backtest said, as a chart and lists show it. */

import type { BacktestResult, BacktestRun, WhyRecord } from '../../schemas/types.ts'
import { ago, value } from './time.ts'

export const BACKTEST_WINDOWS = ['1h', '24h', '7d', '30d'] as const

export interface ChartBucket {
  /** Epoch ms. */
  at: number
  firings: number
  /** By the stored definition; null: there is none to compare with. */
  before: number | null
  matched: number
}

/** Both runs by bucket: the same spans, whichever run lists them. */
export function chartBuckets({ result, compare }: BacktestResult): ChartBucket[] {
  const before = new Map(compare?.buckets.map(({ at, firings }) => [Date.parse(at), firings]))
  const now = result.buckets.map(({ at, firings, matched }) => ({ at: Date.parse(at), firings, matched }))
  const known = new Set(now.map(({ at }) => at))
  const only = [...before.keys()].filter((at) => !known.has(at))
  return [...now, ...only.map((at) => ({ at, firings: 0, matched: 0 }))]
    .sort((a, b) => a.at - b.at)
    .map((bucket) => ({ ...bucket, before: compare ? (before.get(bucket.at) ?? 0) : null }))
}

export interface KeyChange {
  key: string
  firings: number
  before: number | null
}

/** Firings by key, before and now; where they differ most first. */
export function keyChanges(result: BacktestRun, compare: BacktestRun | undefined): KeyChange[] {
  const now = new Map(result.by_key.map(({ key, firings }) => [key, firings]))
  const before = new Map(compare?.by_key.map(({ key, firings }) => [key, firings]))
  return [...new Set([...now.keys(), ...before.keys()])]
    .map((key) => ({ key, firings: now.get(key) ?? 0, before: compare ? (before.get(key) ?? 0) : null }))
    .sort((a, b) => differs(b) - differs(a) || b.firings - a.firings)
}

const differs = ({ firings, before }: KeyChange): number => (before === null ? 0 : Math.abs(firings - before))

/** Reasons in words that follow a number of events. */
export const REASON_WORDS: Record<WhyRecord['reason'], string> = {
  fired: 'fired',
  no_subscriber: 'fired, no subscribers',
  folded: 'joined a firing',
  held: 'held back by a limit',
  dropped: 'too few for a burst',
  cooldown: 'in its cooldown',
  active: 'not over yet',
  resolved: 'over',
  below: 'threshold not met',
  filter: 'filter did not hold',
  no_key: 'entity or label missing',
  no_value: 'field missing',
  unchanged: 'unchanged',
  waiting: 'waiting for the rest',
  late: 'too late',
  paused: 'paused',
  error: 'error',
}

export const reasonWords = (reason: string): string =>
  (REASON_WORDS as Record<string, string>)[reason] ?? reason

/** How far a threshold's slider goes: beyond the highest value seen, and beyond what is set. */
export function sliderMax(peak: number | null, number: number): number {
  const top = Math.max((peak ?? 0) * 1.25, number * 1.5, 1)
  const unit = 10 ** Math.floor(Math.log10(top))
  return Math.ceil((top / unit) * 2) * (unit / 2)
}

/** Steps that people would type. */
export function sliderStep(max: number, isWhole: boolean): number {
  const step = 10 ** Math.floor(Math.log10(max / 50))
  return isWhole ? Math.max(1, Math.round(step)) : step
}

/** A number as short as it can be said. */
export const shortNumber = value

/** Milliseconds after which a trial says that it is old: what was stored since is not in it. */
export const TRIAL_STALE_MS = 30_000

/**
 * @param at of the answer, epoch ms. @param isOther it is of another definition than is on the page
 * @returns null: it is of what is on the page, and of now
 */
export function staleWords({
  at,
  isOther,
  now,
}: {
  at: number
  isOther: boolean
  now: number
}): string | null {
  if (isOther) return 'From before your last edit; trying again…'
  const age = now - at
  if (at === 0 || age < TRIAL_STALE_MS) return null
  return `Tried ${ago(new Date(at).toISOString(), now)}; later events are not included.`
}
