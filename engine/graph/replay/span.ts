/** Events of a span of ids, by the index, oldest segment first: it stops where there are enough. */
import { offsetsOf, SEGMENT_SIZE, segmentOf, sizeOf } from '../../store/posting.ts'
import { eachPosition } from '../../store/scan.ts'
import type { ReadContext } from '../../timeline/context.ts'

/** Each an AND of groups, which are ORs of label ids. */
type Groups = readonly (readonly (readonly number[])[])[]

/**
 * @param any the events of any of these.
 * @param afterId,ceiling ids above the one, up to the other.
 * @param most at least so many are looked for.
 * @returns ids, ascending, at most `most`
 */
export function idsWith(
  ctx: ReadContext,
  any: Groups,
  afterId: number,
  ceiling: number,
  most: number,
): number[] {
  const ids: number[] = []
  const asked = any.filter((groups) => groups.every((group) => group.length))
  if (asked.length === 0) return ids
  for (const segment of ctx.index.all()) {
    const found = new Set<number>()
    for (const groups of asked) {
      const query = {
        groups,
        masked: [],
        from: Number.MIN_SAFE_INTEGER,
        to: Number.MAX_SAFE_INTEGER,
        afterId,
        ceiling,
      }
      eachPosition([segment], query, (id) => {
        found.add(id)
      })
    }
    ids.push(...[...found].sort((a, b) => a - b))
    if (ids.length >= most) break
  }
  return ids.slice(0, most)
}

/** How many events of a label lie in a span of ids: of whole segments their index says it. */
export function countWith(ctx: ReadContext, label: number, afterId: number, ceiling: number): number {
  let n = 0
  for (const segment of ctx.index.all()) {
    if (segment.seg < segmentOf(afterId + 1) || segment.seg > segmentOf(ceiling)) continue
    const posting = segment.posting(label)
    if (!posting) continue
    const first = segment.seg * SEGMENT_SIZE
    if (first > afterId && first + SEGMENT_SIZE - 1 <= ceiling) n += sizeOf(posting)
    else
      for (const offset of offsetsOf(posting)) if (first + offset > afterId && first + offset <= ceiling) n++
  }
  return n
}
