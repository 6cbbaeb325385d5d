/**
 * Finds events by label: the query half of the index. A query is an AND of groups, each group an
 * OR of labels (one label of a selector, several sources or types of a narrowing). Per segment the
 * rarest group drives and the others are probed, so the order in which labels are written costs
 * nothing. Events may arrive late: order and windows go by event time, and a segment is skipped
 * by its range of times.
 */

import { has, offsetsOf, type Posting, SEGMENT_SIZE, sizeOf, union } from './posting.ts'
import type { Segment } from './segments.ts'

export interface Query {
  /** AND of groups; each is an OR of label ids. An empty group matches nothing. */
  groups: readonly (readonly number[])[]
  /** Labels whose events are not to be seen (sources being purged). */
  masked: readonly number[]
  /** Event time, epoch ms, both inclusive. */
  from: number
  to: number
  /** Ids: larger than `afterId`, at most `ceiling`. */
  afterId: number
  ceiling: number
}

/** Place in the order (ts, id). */
export interface Position {
  ts: number
  id: number
}

/** Compares places by time, then by order of arrival. */
export function comparePositions(a: Position, b: Position): number {
  return a.ts - b.ts || a.id - b.id
}

/**
 * The first `limit` events of the query in the given direction, past `after`.
 * @returns positions in that direction: newest first for desc, oldest first for asc.
 */
export function firstPositions(
  segments: readonly Segment[],
  query: Query,
  direction: 'asc' | 'desc',
  limit: number,
  after: Position | null,
): Position[] {
  const sign = direction === 'desc' ? 1 : -1
  const heap = new BoundedHeap(limit, sign)
  const relevant = segments.filter(
    (segment) => isRelevant(segment, query) && (!after || reaches(segment, after, direction)),
  )
  relevant.sort((a, b) => (direction === 'desc' ? b.maxTs - a.maxTs : a.minTs - b.minTs))
  for (const segment of relevant) {
    const best = direction === 'desc' ? segment.maxTs : segment.minTs
    if (heap.full && sign * (best - heap.worst.ts) < 0) break
    visit(segment, query, (id, ts) => {
      if (after && sign * (ts - after.ts || id - after.id) >= 0) return
      heap.offer(ts, id)
    })
  }
  return heap.sorted()
}

/** Calls `each` for every event of the query, in no particular order across segments. */
export function eachPosition(
  segments: readonly Segment[],
  query: Query,
  each: (id: number, ts: number, segment: Segment) => void,
): void {
  for (const segment of segments)
    if (isRelevant(segment, query)) visit(segment, query, (id, ts) => each(id, ts, segment))
}

/**
 * The same segment by segment. Each is looked up anew, for between two steps it may be sealed, or gone.
 * @param segments those of now.
 */
export function* eachPositionInSteps(
  segments: () => readonly Segment[],
  query: Query,
  each: (id: number, ts: number, segment: Segment) => void,
): Generator<void, void, void> {
  const numbers = segments()
    .filter((segment) => isRelevant(segment, query))
    .map(({ seg }) => seg)
  for (const [i, number] of numbers.entries()) {
    if (i > 0) yield
    const segment = segments().find(({ seg }) => seg === number)
    if (segment) visit(segment, query, (id, ts) => each(id, ts, segment))
  }
}

function isRelevant(segment: Segment, query: Query): boolean {
  const first = segment.seg * SEGMENT_SIZE
  return (
    segment.maxTs >= query.from &&
    segment.minTs <= query.to &&
    first <= query.ceiling &&
    first + SEGMENT_SIZE - 1 > query.afterId
  )
}

function reaches(segment: Segment, after: Position, direction: 'asc' | 'desc'): boolean {
  return direction === 'desc' ? segment.minTs <= after.ts : segment.maxTs >= after.ts
}

/** The offsets of a segment that fit the groups and the mask, whatever their time. */
export function matchingOffsets(
  segment: Segment,
  query: Pick<Query, 'groups' | 'masked'>,
): { driver: Uint16Array; probes: Posting[]; masks: Posting[] } | null {
  const postings: Posting[] = []
  for (const group of query.groups) {
    const found: Posting[] = []
    for (const labelId of group) {
      const posting = segment.posting(labelId)
      if (posting) found.push(posting)
    }
    if (found.length === 0) return null
    postings.push(union(found))
  }
  if (postings.length === 0) return null
  postings.sort((a, b) => sizeOf(a) - sizeOf(b))
  const masks = query.masked
    .map((labelId) => segment.posting(labelId))
    .filter((posting) => posting !== undefined)
  return { driver: offsetsOf(postings[0]!), probes: postings.slice(1), masks }
}

function visit(segment: Segment, query: Query, each: (id: number, ts: number) => void): void {
  const found = matchingOffsets(segment, query)
  if (!found) return
  const { driver, probes, masks } = found
  const times = segment.times()
  const first = segment.seg * SEGMENT_SIZE
  // Newest arrivals first: a bounded heap of the newest then fills at once and refuses the rest.
  next: for (let i = driver.length - 1; i >= 0; i--) {
    const offset = driver[i]!
    const id = first + offset
    if (id > query.ceiling || id <= query.afterId) continue
    const ts = times.at(offset)
    if (!(ts >= query.from && ts <= query.to)) continue
    for (const probe of probes) if (!has(probe, offset)) continue next
    for (const mask of masks) if (has(mask, offset)) continue next
    each(id, ts)
  }
}

/** Keeps the `capacity` best positions; the root is the worst of them. sign 1: larger is better. */
class BoundedHeap {
  private readonly ts: number[] = []
  private readonly ids: number[] = []

  constructor(
    private readonly capacity: number,
    private readonly sign: 1 | -1,
  ) {}

  get full(): boolean {
    return this.ts.length >= this.capacity
  }

  get worst(): Position {
    return { ts: this.ts[0]!, id: this.ids[0]! }
  }

  offer(ts: number, id: number): void {
    if (!this.full) {
      this.ts.push(ts)
      this.ids.push(id)
      this.up(this.ts.length - 1)
    } else if (this.sign * (ts - this.ts[0]! || id - this.ids[0]!) > 0) {
      this.ts[0] = ts
      this.ids[0] = id
      this.down(0)
    }
  }

  /** Best first. */
  sorted(): Position[] {
    const all = this.ts.map((ts, i) => ({ ts, id: this.ids[i]! }))
    return all.sort((a, b) => -this.sign * comparePositions(a, b))
  }

  private worse(a: number, b: number): boolean {
    return this.sign * (this.ts[a]! - this.ts[b]! || this.ids[a]! - this.ids[b]!) < 0
  }

  private swap(a: number, b: number): void {
    const ts = this.ts[a]!
    const id = this.ids[a]!
    this.ts[a] = this.ts[b]!
    this.ids[a] = this.ids[b]!
    this.ts[b] = ts
    this.ids[b] = id
  }

  private up(at: number): void {
    let child = at
    while (child > 0) {
      const parent = (child - 1) >> 1
      if (!this.worse(child, parent)) return
      this.swap(child, parent)
      child = parent
    }
  }

  private down(at: number): void {
    let parent = at
    for (;;) {
      let worst = parent
      for (const child of [2 * parent + 1, 2 * parent + 2])
        if (child < this.ts.length && this.worse(child, worst)) worst = child
      if (worst === parent) return
      this.swap(parent, worst)
      parent = worst
    }
  }
}
