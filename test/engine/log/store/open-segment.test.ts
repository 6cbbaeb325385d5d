import { expect, it } from 'vitest'
import { OpenSegment } from '../../../../engine/log/store/tail.ts'

/** Events 0 to 99, each with its own label and one of three. */
function filled(): OpenSegment {
  const segment = new OpenSegment(0)
  for (let id = 0; id < 100; id++) segment.add(id, id, id, Uint32Array.of(1 + (id % 3), 100 + id), 0, 2)
  return segment
}

const listed = (segment: OpenSegment): [number, number[]][] => {
  const { ids, starts, offsets } = segment.sorted()
  return Array.from(ids, (id, i) => [id, [...segment.present(offsets.subarray(starts[i], starts[i + 1]))]])
}

it('has the same postings by counting and by lists, whoever looks first', () => {
  for (const looks of [true, false]) {
    const segment = filled()
    if (looks) expect(segment.list(1)!.length).toBe(34)
    segment.add(200, 200, 200, Uint32Array.of(1), 0, 1)
    const postings = listed(segment)
    expect(postings).toHaveLength(103)
    for (const [id, offsets] of postings) expect([...segment.posting(id)!.list!]).toEqual(offsets)
    expect(postings[0]).toEqual([1, [...Array.from({ length: 34 }, (_, i) => 3 * i), 200]])
  }
})

it('has no posting of what was removed, neither by counting nor by lists', () => {
  const segment = filled()
  segment.remove([3, 50], [1, 3, 103, 150])
  const postings = new Map(listed(segment))
  expect(postings.get(1)).not.toContain(3)
  expect(postings.get(1)).toContain(6)
  expect(postings.get(3)).not.toContain(50)
  expect(postings.get(103)).toEqual([])
  expect(segment.list(103)!.length).toBe(0)
  expect(segment.n).toBe(98)
})
