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

/**
 * The value that a part of what was counted is not above, between the bounds of its bucket as if what is in it were
 * spread evenly; of the last bucket, which has no upper bound, its lower one.
 * @param part from 0 to 1. @returns null: nothing was counted
 */
export function quantileOf(buckets: Buckets, part: number): number | null {
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
