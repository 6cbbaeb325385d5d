/**
 * Distributions of metric points: what was counted between two points, and percentiles of it (OpenTelemetry, Metrics
 * Data Model: Histogram, ExponentialHistogram). Pure.
 */

/** Counts below upper bounds, or by index of base 2^(2^-scale). */
export type Buckets =
  | { kind: 'explicit'; bounds: readonly number[]; counts: number[] }
  | { kind: 'exponential'; scale: number; zero: number; counts: Map<number, number> }

/** The buckets of a point as it was received; null: it has none, or counts what is below zero. */
export function bucketsOf(point: Record<string, unknown>): Buckets | null {
  const { explicitBounds, bucketCounts, positive, negative, scale, zeroCount } = point
  if (Array.isArray(explicitBounds) && Array.isArray(bucketCounts)) {
    if (bucketCounts.length !== explicitBounds.length + 1) return null
    return { kind: 'explicit', bounds: explicitBounds.map(Number), counts: bucketCounts.map(Number) }
  }
  if (typeof positive !== 'object' || positive === null || scale === undefined) return null
  if (countsOf(negative).some(([, count]) => count > 0)) return null
  return {
    kind: 'exponential',
    scale: Number(scale),
    zero: Number(zeroCount ?? 0),
    counts: new Map(countsOf(positive)),
  }
}

function countsOf(given: unknown): [index: number, count: number][] {
  const { offset = 0, bucketCounts = [] } = (given ?? {}) as { offset?: unknown; bucketCounts?: unknown }
  if (!Array.isArray(bucketCounts)) return []
  return bucketCounts.map((count, i) => [Number(offset) + i, Number(count)])
}

/** `a` and `sign` times `b`; null: their bounds differ. */
export function combined(a: Buckets, b: Buckets, sign: 1 | -1): Buckets | null {
  if (a.kind === 'explicit') {
    if (b.kind !== 'explicit' || a.bounds.length !== b.bounds.length) return null
    if (a.bounds.some((bound, i) => bound !== b.bounds[i])) return null
    return { ...a, counts: a.counts.map((count, i) => count + sign * b.counts[i]!) }
  }
  if (b.kind !== 'exponential') return null
  const scale = Math.min(a.scale, b.scale)
  const counts = atScale(a, scale)
  for (const [index, count] of atScale(b, scale)) counts.set(index, (counts.get(index) ?? 0) + sign * count)
  return { kind: 'exponential', scale, zero: a.zero + sign * b.zero, counts }
}

/** A coarser scale merges each two neighbours (Metrics Data Model, Exponential Scale: perfect subsetting). */
function atScale(
  { scale, counts }: Extract<Buckets, { kind: 'exponential' }>,
  to: number,
): Map<number, number> {
  const merged = new Map<number, number>()
  for (const [index, count] of counts) {
    const at = Math.floor(index / 2 ** (scale - to))
    merged.set(at, (merged.get(at) ?? 0) + count)
  }
  return merged
}

/** Whether it was counted anew between two points of a sum that goes on: some bucket has less than before. */
export const isBelow = (buckets: Buckets): boolean =>
  [...buckets.counts.values()].some((count) => count < 0) ||
  (buckets.kind === 'exponential' && buckets.zero < 0)

/** The least and the greatest value that was counted. */
interface Extremes {
  low: number
  high: number
}

export const NO_EXTREMES: Extremes = { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY }

/**
 * The value that a part of what was counted is not above, between the bounds of its bucket as if what is in it were
 * spread evenly; of the last bucket, which has no upper bound, its lower one. What was never counted is no percentile:
 * where the least and the greatest value are known it is between them.
 * @param part from 0 to 1. @returns null: nothing was counted
 */
export function quantileOf(
  buckets: Buckets,
  part: number,
  { low, high }: Extremes = NO_EXTREMES,
): number | null {
  const value = spreadAt(buckets, part)
  return value === null ? null : Math.min(high, Math.max(low, value))
}

function spreadAt(buckets: Buckets, part: number): number | null {
  const rows = rowsOf(buckets)
  const total = rows.reduce((sum, { count }) => sum + count, 0)
  if (total <= 0) return null
  let left = part * total
  for (const { low, high, count } of rows) {
    if (count > 0 && left <= count) return high === null ? low : low + ((high - low) * left) / count
    left -= count
  }
  return rows.at(-1)!.low
}

function rowsOf(buckets: Buckets): { low: number; high: number | null; count: number }[] {
  if (buckets.kind === 'explicit') {
    const { bounds, counts } = buckets
    return counts.map((count, i) => {
      const high = bounds[i] ?? null
      // What is below the first bound is from 0, or there where the bound is below it.
      const low = i === 0 ? Math.min(0, high ?? 0) : bounds[i - 1]!
      return { low, high, count }
    })
  }
  const base = 2 ** (2 ** -buckets.scale)
  const rows = [...buckets.counts]
    .sort(([a], [b]) => a - b)
    .map(([index, count]) => ({ low: base ** index, high: base ** (index + 1), count }))
  return [{ low: 0, high: 0, count: buckets.zero }, ...rows]
}

/** Of an enum, by number or name (OTLP/JSON has both). */
const DELTA = new Set<unknown>([1, 'AGGREGATION_TEMPORALITY_DELTA'])
const CUMULATIVE = new Set<unknown>([2, 'AGGREGATION_TEMPORALITY_CUMULATIVE'])

/** Whether the point says what was counted since the one before, and not since its process began. */
export const isDelta = ({ aggregationTemporality }: Record<string, unknown>): boolean =>
  DELTA.has(aggregationTemporality)

/** What was measured in a span of time. */
export interface Measured {
  mean?: number
  p50?: number
  p95?: number
  p99?: number
  /** How much was counted a second. */
  rate?: number
}

/** Series of a measurer: those that were heard of longest ago go. */
const SERIES_MAX = 10_000

/** What a point has counted, and since when. */
interface Counted {
  /** Nanoseconds since 1970. */
  at: bigint
  count: number
  sum: number
  buckets: Buckets | null
}

/**
 * Measures the points of histograms and of counters, which are monotonic sums: a delta point by itself, a cumulative one
 * by what was counted since the point before it. The first point of a series has nothing before it, nor has the first one
 * after a process began anew (Metrics Data Model: Resets and Gaps); neither is measured. A point that is given again is
 * measured as before.
 * @returns takes points as they were received, in the order of their series
 * @example
 * const measure = pointMeasurer()
 * measure({ aggregationTemporality: 1, count: 2, sum: 30, explicitBounds: [10, 20], bucketCounts: [0, 2, 0] })
 *   // { mean: 15, p50: 15, p95: 19.5, p99: 19.9 }
 */
export function pointMeasurer(): (point: Record<string, unknown>) => Measured {
  const known = new Map<string, Counted & { measured: Measured }>()
  return (point) => {
    const now = countedOf(point)
    if (now === null) return {}
    if (isDelta(point)) {
      const extremes = {
        low: finiteOr(point.min, Number.NEGATIVE_INFINITY),
        high: finiteOr(point.max, Number.POSITIVE_INFINITY),
      }
      return measuredOf(now, now.at - nanosOf(point.startTimeUnixNano, now.at), extremes)
    }
    const series = seriesOf(point)
    const before = known.get(series)
    if (before && now.at <= before.at) return now.at === before.at ? before.measured : {}
    const since = before && countedSince(now, before)
    const measured = since ? measuredOf(since, now.at - before.at) : {}
    known.delete(series)
    known.set(series, { ...now, measured })
    if (known.size > SERIES_MAX) known.delete(known.keys().next().value!)
    return measured
  }
}

/** Processes that no attribute tells apart began at different times. */
const seriesOf = ({
  metricName,
  resourceAttributes,
  scope,
  attributes,
  startTimeUnixNano,
}: Record<string, unknown>) =>
  JSON.stringify([metricName, resourceAttributes, scope, attributes, startTimeUnixNano])

/** @returns null: the point counts nothing */
function countedOf(point: Record<string, unknown>): Counted | null {
  const isSum = point.metricType === 'sum'
  if (isSum ? point.isMonotonic !== true : point.count === undefined) return null
  // A summary counts, too, and has percentiles of its own.
  if (!isSum && !isDelta(point) && !CUMULATIVE.has(point.aggregationTemporality)) return null
  const count = Number(isSum ? (point.asDouble ?? point.asInt) : point.count)
  if (!Number.isFinite(count)) return null
  const sum = isSum ? Number.NaN : Number(point.sum ?? Number.NaN)
  return { at: nanosOf(point.timeUnixNano, 0n), count, sum, buckets: isSum ? null : bucketsOf(point) }
}

/** @returns null: it was counted anew between the two */
function countedSince(now: Counted, before: Counted): Counted | null {
  if (now.count < before.count) return null
  const buckets = now.buckets && before.buckets && combined(now.buckets, before.buckets, -1)
  if (buckets && isBelow(buckets)) return null
  return { at: now.at, count: now.count - before.count, sum: now.sum - before.sum, buckets }
}

/** @param nanos in which it was counted; none: its rate is not known */
function measuredOf({ count, sum, buckets }: Counted, nanos: bigint, extremes?: Extremes): Measured {
  const measured: Measured = nanos > 0n ? { rate: plain((count / Number(nanos)) * 1e9) } : {}
  if (!(count > 0)) return measured
  if (Number.isFinite(sum)) measured.mean = plain(sum / count)
  if (buckets === null) return measured
  for (const [name, part] of [
    ['p50', 0.5],
    ['p95', 0.95],
    ['p99', 0.99],
  ] as const) {
    const value = quantileOf(buckets, part, extremes)
    if (value !== null && Number.isFinite(value)) measured[name] = plain(value)
  }
  return measured
}

/** Without what a division of binary numbers leaves behind the twelfth digit. */
const plain = (value: number): number => Number(value.toPrecision(12))

function finiteOr(given: unknown, otherwise: number): number {
  const value = given === undefined || given === null ? Number.NaN : Number(given)
  return Number.isFinite(value) ? value : otherwise
}

/** Nanoseconds as OTLP has them, of which 0 stands for none. */
const nanosOf = (given: unknown, otherwise: bigint): bigint =>
  /^0*[1-9]\d{0,19}$/.test(String(given)) ? BigInt(String(given)) : otherwise
