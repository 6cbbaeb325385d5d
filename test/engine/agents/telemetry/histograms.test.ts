/** Distributions of metric points: OpenTelemetry, Metrics Data Model (Histogram, ExponentialHistogram). */
import { describe, expect, it } from 'vitest'
import { type Buckets, bucketsOf, combined, isBelow, quantileOf } from '../../../../schemas/distributions.ts'

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
