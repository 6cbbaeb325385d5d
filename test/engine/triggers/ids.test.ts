import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newDispatchId, packIds, unpackIds } from '../../../engine/model/ids.ts'

describe('lists of event ids as bytes', () => {
  it('come back as they were, in their order', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 2 ** 40 })), (ids) => {
        expect(unpackIds(packIds(ids))).toEqual(ids)
      }),
    )
  })

  it('take about a byte for each of a burst', () => {
    const burst = Array.from({ length: 1_000 }, (_, n) => 9_000_000_000 + 3 * n)
    expect(packIds(burst).length).toBeLessThan(1_010)
  })
})

describe('an id of a firing', () => {
  it('is 32 hexadecimal digits that sort by time', () => {
    const ids = [1, 1_700_000_000_000, 1_800_000_000_000].map(newDispatchId)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/)
    expect([...ids].sort()).toEqual(ids)
    expect(new Set(Array.from({ length: 1_000 }, () => newDispatchId(1))).size).toBe(1_000)
  })
})
