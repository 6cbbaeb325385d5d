/** Counts events of a query by source and type without reading their rows. */
import { SOURCE_LABEL, TYPE_LABEL } from '../store/dictionary.ts'
import { offsetOf, offsetsOf, SEGMENT_SIZE } from '../store/posting.ts'
import {
  comparePositions,
  eachPosition,
  eachPositionInSteps,
  type Position,
  type Query,
} from '../store/scan.ts'
import type { Segment } from '../store/segments.ts'
import type { ReadContext } from './context.ts'
import type { Steps } from './steps.ts'

export interface Counted {
  source: string
  eventType: string
  count: number
}

/** The label id of each offset among `labelIds`, 0 where there is none. */
function labelByOffset(segment: Segment, labelIds: ReadonlySet<number>): Uint32Array {
  const out = new Uint32Array(SEGMENT_SIZE)
  for (const [labelId, posting] of segment.postings(labelIds))
    for (const offset of offsetsOf(posting)) out[offset] = labelId
  return out
}

/** Ids and values of all labels of a name. */
export function labelsNamed(ctx: ReadContext, name: string): Map<number, string> {
  const rows = ctx.db.prepare('SELECT id, value FROM named_labels WHERE name = ?').all(name) as {
    id: number
    value: string
  }[]
  return new Map(rows.map((row) => [row.id, row.value]))
}

/** Events of the query past a position, in the given direction. */
export function classify(
  ctx: ReadContext,
  query: Query,
  past: Position,
  direction: 'asc' | 'desc',
): Counted[] {
  const sources = labelsNamed(ctx, SOURCE_LABEL)
  const types = labelsNamed(ctx, TYPE_LABEL)
  const sourceIds = new Set(sources.keys())
  const typeIds = new Set(types.keys())
  const sign = direction === 'desc' ? 1 : -1
  const counts = new Map<string, Counted>()
  let current: Segment | null = null
  let bySource: Uint32Array = new Uint32Array()
  let byType: Uint32Array = new Uint32Array()
  eachPosition(ctx.index.all(), query, (id, ts, segment) => {
    if (sign * comparePositions({ ts, id }, past) >= 0) return
    if (segment !== current) {
      current = segment
      bySource = labelByOffset(segment, sourceIds)
      byType = labelByOffset(segment, typeIds)
    }
    const sourceLabel = bySource[offsetOf(id)]!
    const typeLabel = byType[offsetOf(id)]!
    const key = `${sourceLabel}.${typeLabel}`
    const entry = counts.get(key)
    if (entry) entry.count++
    else
      counts.set(key, {
        source: ctx.names.get(Number(sources.get(sourceLabel)))?.name ?? '',
        eventType: types.get(typeLabel) ?? '',
        count: 1,
      })
  })
  return [...counts.values()]
}

/**
 * Every event of a query with the one of some labels that it carries, segment by segment.
 * @param labelIds of which an event has at most one, such as those of sources
 * @param each told the label's id (0: none), the event's id and its time, epoch ms
 */
export function* eachLabelled(
  ctx: ReadContext,
  query: Query,
  labelIds: ReadonlySet<number>,
  each: (labelId: number, id: number, ts: number) => void,
): Steps<void> {
  let current: Segment | null = null
  let byOffset: Uint32Array = new Uint32Array()
  yield* eachPositionInSteps(
    () => ctx.index.all(),
    query,
    (id, ts, segment) => {
      if (segment !== current) {
        current = segment
        byOffset = labelByOffset(segment, labelIds)
      }
      each(byOffset[offsetOf(id)]!, id, ts)
    },
  )
}
