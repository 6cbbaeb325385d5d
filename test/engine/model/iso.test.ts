import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { iso } from '../../../engine/model/units.ts'

describe('times in answers', () => {
  it('are as Date writes them, whatever came before', () => {
    fc.assert(
      fc.property(fc.array(fc.maxSafeInteger().filter((ms) => Math.abs(ms) <= 8.64e15)), (times) => {
        expect(times.map(iso)).toEqual(times.map((ms) => new Date(ms).toISOString()))
      }),
    )
    for (const ms of [0, -1, 1.5, -1.5, 86_399_999, 86_400_000, -86_400_000, 8.64e15, -8.64e15])
      expect(iso(ms)).toBe(new Date(ms).toISOString())
    expect(() => iso(Number.NaN)).toThrow(RangeError)
  })
})
