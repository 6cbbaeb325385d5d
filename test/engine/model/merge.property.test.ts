/** Three-way merges of documents at random: no edit is lost. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { equal, merge } from '../../../engine/model/merge.ts'

type Doc = Record<string, unknown>
const leaf = fc.constantFrom('a', 'b', 1, true)
const words = fc.subarray(['x', 'y', 'z'])
const entries = fc.uniqueArray(
  fc.record({ name: fc.constantFrom('n1', 'n2', 'n3'), when: leaf }, { requiredKeys: ['name'] }),
  {
    selector: ({ name }) => name,
  },
)
const inner = fc.dictionary(fc.constantFrom('p', 'q'), fc.oneof(leaf, words))
const doc: fc.Arbitrary<Doc> = fc.dictionary(
  fc.constantFrom('f', 'g', 'h', 'entries'),
  fc.oneof(leaf, words, inner, entries),
)

/** Each leaf of a document by its way; lists of entries by name, their order left out. */
function leaves(value: unknown, way = ''): Map<string, unknown> {
  // An empty list says nothing that a leaf could lose.
  if (Array.isArray(value) && value.every((one) => typeof one === 'object'))
    return new Map(value.flatMap((one) => [...leaves(one, `${way}/${(one as { name: string }).name}`)]))
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return new Map([[way, value]])
  return new Map(Object.entries(value).flatMap(([key, one]) => [...leaves(one, `${way}/${key}`)]))
}
const RULES = { byName: true } as const
const covered = (paths: readonly string[], way: string) =>
  paths.some((path) => way === path || way.startsWith(`${path}/`) || path.startsWith(`${way}/`))

describe('a merge', () => {
  it('is the other side where one did not change', () => {
    fc.assert(
      fc.property(doc, doc, (base, other) => {
        expect(merge(base, base, other, RULES)).toEqual({ merged: other, conflicts: [] })
        expect(merge(base, other, base, RULES)).toEqual({ merged: other, conflicts: [] })
        expect(merge(base, other, other, RULES)).toEqual({ merged: other, conflicts: [] })
      }),
    )
  })

  it('has each leaf that either side changed, in the result or among the conflicts', () => {
    let conflicted = 0
    fc.assert(
      fc.property(doc, doc, doc, (base, mine, theirs) => {
        const { merged, conflicts } = merge(base, mine, theirs, RULES)
        if (conflicts.length) conflicted++
        const paths = conflicts.map(({ path }) => path)
        const [was, is] = [leaves(base), leaves(merged)]
        for (const side of [leaves(mine), leaves(theirs)]) {
          for (const [way, value] of side)
            if (!equal(was.get(way), value) && !covered(paths, way)) expect(is.get(way)).toEqual(value)
          for (const way of was.keys())
            if (
              !side.has(way) &&
              !covered(paths, way) &&
              ![...side.keys()].some((one) => one.startsWith(`${way}/`))
            )
              expect(is.has(way)).toBe(false)
        }
      }),
      { numRuns: 2_000 },
    )
    expect(conflicted).toBeGreaterThan(100)
  })

  it('has the same conflicts whoever is which side, and each is settled as is preferred', () => {
    fc.assert(
      fc.property(doc, doc, doc, (base, mine, theirs) => {
        const one = merge(base, mine, theirs, RULES).conflicts
        const other = merge(base, theirs, mine, RULES).conflicts
        const told = (all: typeof one) => all.map(({ path }) => path).sort()
        expect(told(one)).toEqual(told(other))
        for (const { path, mine: first, theirs: second } of one) {
          const twin = other.find((conflict) => conflict.path === path)!
          expect([twin.theirs, twin.mine]).toEqual([first, second])
        }
        const settled = merge(base, mine, theirs, { ...RULES, prefer: () => 'mine' }).merged
        const [is, wanted] = [leaves(settled), leaves(mine)]
        for (const { path, mine: value } of one)
          if (typeof value !== 'object' && value !== undefined && wanted.has(path))
            expect(is.get(path)).toEqual(value)
      }),
      { numRuns: 2_000 },
    )
  })
})
