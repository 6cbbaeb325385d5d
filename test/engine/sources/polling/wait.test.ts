import { describe, expect, it } from 'vitest'
import { afterError, afterPoll } from '../../../../engine/sources/polls.ts'

describe('after a poll that worked, the next is due', () => {
  it('an interval after it began, whatever was missed before', () => {
    expect(afterPoll(1_000, 1_200, 10_000)).toBe(11_000)
  })

  it('half an interval after one that took longer than that', () => {
    expect(afterPoll(0, 18_000, 10_000)).toBe(23_000)
  })
})

describe('after one that failed, the next is due', () => {
  const wait = (errors: number, retryAfterMs: number | null = null, random = 0.999, interval = 10_000) =>
    Math.round(afterError(0, interval, errors, retryAfterMs, random) / 1_000)

  it('after twice the wait with each error in a row, up to an hour', () => {
    expect([1, 2, 3, 4, 8, 9, 100].map((errors) => wait(errors))).toEqual([
      20, 40, 80, 160, 2_559, 3_598, 3_598,
    ])
  })

  it('spread over half of it, never sooner than the interval', () => {
    expect([wait(1, null, 0), wait(3, null, 0), wait(3, null, 0.5)]).toEqual([10, 40, 60])
    expect(wait(1, null, 0, 7_200_000)).toBe(7_200)
  })

  it('when the upstream asks for it, within an hour and not below the interval', () => {
    expect([wait(7, 30_000), wait(1, 0), wait(1, 86_400_000)]).toEqual([30, 10, 3_600])
  })
})
