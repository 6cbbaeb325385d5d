import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decodePosting,
  encodePosting,
  GrowingList,
  has,
  offsetsOf,
  type Posting,
  sizeOf,
  union,
} from '../../../../engine/log/store/labels.ts'
import { decodeTimes, encodeTimes } from '../../../../engine/log/store/segments.ts'

const offsets = fc
  .uniqueArray(fc.integer({ min: 0, max: 65_535 }), { maxLength: 6_000, size: 'max' })
  .map((all) => Uint16Array.from(all.sort((a, b) => a - b)))
const posting = (all: Uint16Array): Posting => decodePosting(encodePosting(all), all.length)

describe('postings', () => {
  it('read back what was written, as a list or as a bitmap', () => {
    fc.assert(
      fc.property(offsets, fc.integer({ min: 0, max: 65_535 }), (all, probe) => {
        const read = posting(all)
        expect(offsetsOf(read)).toEqual(all)
        expect(sizeOf(read)).toBe(all.length)
        expect(has(read, probe)).toBe(all.includes(probe))
      }),
      { numRuns: 60 },
    )
    for (const n of [0, 1, 4_095, 4_096, 4_097, 65_536]) {
      const all = Uint16Array.from({ length: n }, (_, i) => i)
      expect(offsetsOf(posting(all))).toEqual(all)
    }
  })

  it('unite without repeats', () => {
    fc.assert(
      fc.property(offsets, offsets, (a, b) => {
        const both = Uint16Array.from([...new Set([...a, ...b])].sort((x, y) => x - y))
        expect(offsetsOf(union([posting(a), posting(b)]))).toEqual(both)
      }),
      { numRuns: 30 },
    )
  })

  it('grow at the end and lose what is removed', () => {
    const list = new GrowingList()
    for (let i = 0; i < 100; i++) list.push(i * 3)
    list.remove((offset) => offset % 2 === 0)
    expect([...list.view()]).toEqual(
      Array.from({ length: 100 }, (_, i) => i * 3).filter((offset) => offset % 2),
    )
  })
})

describe('segment times', () => {
  it.each([
    ['within 49 days', 40 * 86_400_000],
    ['over years', 3_000 * 86_400_000],
  ])('read back to the millisecond when they lie %s, with gaps kept', (_name, span) => {
    const ts = new Float64Array(65_536).fill(Number.NaN)
    for (let i = 0; i < 65_536; i += 3) ts[i] = 1.76e12 + Math.floor((span * ((i * 7_919) % 65_536)) / 65_536)
    const times = decodeTimes(encodeTimes(ts))
    for (let i = 0; i < 65_536; i++) expect(Object.is(times.at(i), ts[i])).toBe(true)
  })
})
