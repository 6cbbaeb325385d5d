/** Distributions of metric points: OpenTelemetry, Metrics Data Model (Histogram, ExponentialHistogram). */
import { describe, expect, it } from 'vitest'
import {
  type Buckets,
  bucketsOf,
  combined,
  isBelow,
  pointMeasurer,
  quantileOf,
} from '../../../../schemas/distributions.ts'

const explicit = (bounds: number[], counts: number[]): Buckets =>
  bucketsOf({ explicitBounds: bounds, bucketCounts: counts })!
const exponential = (scale: number, offset: number, counts: number[], zeroCount = 0): Buckets =>
  bucketsOf({ scale, zeroCount, positive: { offset, bucketCounts: counts } })!

describe('explicit buckets', () => {
  it('give percentiles between the bounds of a bucket', () => {
    const all = explicit([10, 20, 40], [0, 10, 10, 0])
    expect(quantileOf(all, 0.5)).toBe(20)
    expect(quantileOf(all, 0.25)).toBe(15)
    expect(quantileOf(all, 0.75)).toBe(30)
  })

  it('have no upper bound in the last: what is there is at least its lower one', () => {
    expect(quantileOf(explicit([10], [0, 5]), 0.99)).toBe(10)
  })

  it('begin at 0, or below where the first bound is below it', () => {
    expect(quantileOf(explicit([10], [10, 0]), 0.5)).toBe(5)
    expect(quantileOf(explicit([-10, 0], [10, 0, 0]), 0.5)).toBe(-10)
  })

  it('that nothing was counted in have none', () => {
    expect(quantileOf(explicit([10], [0, 0]), 0.5)).toBeNull()
    expect(bucketsOf({ explicitBounds: [1, 2], bucketCounts: [1] })).toBeNull()
    expect(bucketsOf({ count: 3 })).toBeNull()
  })

  it('with other bounds are not added', () => {
    expect(combined(explicit([10], [1, 1]), explicit([20], [1, 1]), 1)).toBeNull()
    expect(combined(explicit([10], [3, 1]), explicit([10], [1, 1]), -1)).toMatchObject({ counts: [2, 0] })
    expect(isBelow(combined(explicit([10], [0, 1]), explicit([10], [1, 1]), -1)!)).toBe(true)
  })
})

describe('exponential buckets', () => {
  it('grow by 2^(2^-scale): of scale 0 from 1 to 2, to 4, to 8', () => {
    expect(quantileOf(exponential(0, 0, [0, 10]), 0.5)).toBe(3)
    expect(quantileOf(exponential(0, -1, [10]), 1)).toBe(1)
    expect(quantileOf(exponential(0, 0, [1], 99), 0.5)).toBe(0)
  })

  it('of two scales are added at the coarser one, below 1 too', () => {
    const merged = combined(exponential(1, -2, [1, 2, 3, 4]), exponential(0, 0, [5]), 1)
    expect(merged).toMatchObject({
      scale: 0,
      counts: new Map([
        [-1, 3],
        [0, 12],
      ]),
    })
  })

  it('that count below zero are left out', () => {
    const point = { scale: 0, positive: { bucketCounts: [1] }, negative: { bucketCounts: [1] } }
    expect(bucketsOf(point)).toBeNull()
  })
})

describe('points that are measured one after another', () => {
  const SECOND = 1_000_000_000n
  const BEGUN = 1_700_000_000n * SECOND
  const shared = (at: number, since = 0) => ({
    metricName: 'took',
    resourceAttributes: { 'service.name': 'pay' },
    timeUnixNano: String(BEGUN + BigInt(at) * SECOND),
    startTimeUnixNano: String(BEGUN + BigInt(since) * SECOND),
    aggregationTemporality: 'AGGREGATION_TEMPORALITY_CUMULATIVE',
  })
  const histogram = (at: number, counts: number[], sum: number, since = 0) => ({
    ...shared(at, since),
    ...{ metricType: 'histogram', explicitBounds: [10, 20], bucketCounts: counts, sum, max: 900 },
    count: String(counts.reduce((all, one) => all + one, 0)),
  })
  const counter = (at: number, value: number, more: object = {}) => ({
    ...shared(at),
    ...{ metricName: 'orders', metricType: 'sum', isMonotonic: true, asInt: String(value), ...more },
  })

  it('have what was counted since the point before, each once', () => {
    const measure = pointMeasurer()
    expect(measure(histogram(60, [5, 0, 0], 25))).toEqual({})
    const measured = { mean: 15, p50: 15, p95: 19.5, p99: 19.9, rate: 0.1 }
    expect(measure(histogram(70, [5, 1, 0], 40))).toEqual({ ...measured })
    expect(measure(histogram(70, [5, 1, 0], 40))).toEqual(measured)
    expect(measure(histogram(65, [5, 0, 0], 25))).toEqual({})
    expect(measure(histogram(80, [5, 1, 0], 40))).toEqual({ rate: 0 })
  })

  it('have nothing across a new beginning, and nothing of another process', () => {
    const measure = pointMeasurer()
    measure(histogram(60, [5, 0, 0], 25))
    expect(measure(histogram(70, [1, 0, 0], 5, 65))).toEqual({})
    expect(measure(histogram(80, [2, 0, 0], 12, 65))).toMatchObject({ mean: 7, rate: 0.1 })
    expect(measure(histogram(80, [6, 0, 0], 28))).toMatchObject({ mean: 3, rate: 0.05 })
    // Without a time at which it began, by its counts alone.
    const nameless = (at: number, n: number) => ({ ...histogram(at, [n, 0, 0], n), startTimeUnixNano: '0' })
    measure(nameless(60, 5))
    expect(measure(nameless(70, 2))).toEqual({})
    expect(measure(nameless(80, 4))).toMatchObject({ mean: 1, rate: 0.2 })
  })

  it('have a rate where they are a counter, and nothing where they go up and down', () => {
    const measure = pointMeasurer()
    expect(measure(counter(60, 100))).toEqual({})
    expect(measure(counter(70, 150))).toEqual({ rate: 5 })
    expect(measure(counter(80, 20))).toEqual({})
    expect(measure(counter(90, 30))).toEqual({ rate: 1 })
    expect(
      measure({
        ...counter(100, 30),
        aggregationTemporality: 1,
        startTimeUnixNano: String(BEGUN + 90n * SECOND),
      }),
    ).toEqual({ rate: 3 })
    for (const more of [{ isMonotonic: false }, { metricType: 'gauge', isMonotonic: undefined }]) {
      measure(counter(60, 1, { ...more, metricName: 'queue' }))
      expect(measure(counter(70, 9, { ...more, metricName: 'queue' }))).toEqual({})
    }
  })

  it('are of 10,000 series at most: what was heard of longest ago begins anew', () => {
    const measure = pointMeasurer()
    const of = (n: number, at: number, value: number) => counter(at, value, { attributes: { n } })
    for (let n = 0; n <= 10_000; n++) measure(of(n, 60, 1))
    expect(measure(of(0, 70, 11))).toEqual({})
    expect(measure(of(10_000, 70, 11))).toEqual({ rate: 1 })
  })
})
