/**
 * Takes events out of the store again, for purges and retention: rows, postings and counts in one
 * transaction per chunk, so a crash leaves every chunk whole and the job resumes.
 */
import { BlockStore } from './blocks.ts'
import { type Dictionary, SOURCE_LABEL } from './dictionary.ts'
import type { StoreHandle } from './handle.ts'
import { LabelCounts } from './label-counts.ts'
import { labelIdsOf } from './open-segment.ts'
import { offsetOf, SEGMENT_SIZE, segmentOf } from './posting.ts'
import { matchingOffsets } from './scan.ts'
import { bumpSegmentsVersion, bumpTailVersion, type SegmentIndex } from './segments.ts'
import type { Tail } from './tail.ts'

/** Rows removed per transaction: 1,000 stay under 10 ms, so ingest never waits longer. */
export const REMOVE_CHUNK = 1_000

/** Remembers the largest id ever given, so that ids never come back after their rows are gone. */
export function keepHighId(store: StoreHandle, id: number): void {
  store.db
    .prepare(
      "INSERT INTO meta VALUES ('high_id', ?) ON CONFLICT (key) DO UPDATE SET value = max(CAST(value AS INTEGER), excluded.value)",
    )
    .run(String(id))
}

/**
 * Removes events by id.
 * @param ids at most REMOVE_CHUNK.
 * @returns how many rows went.
 */
export function removeEvents(store: StoreHandle, tail: Tail, ids: readonly number[]): number {
  const tailStart = tail.segments[0] ? tail.segments[0].seg * SEGMENT_SIZE : Number.POSITIVE_INFINITY
  const rows = store.tx(() => {
    const found = store.db
      .prepare<[string], { id: number; source_id: number; labels: Uint8Array }>(
        'SELECT e.id, e.source_id, e.labels FROM json_each(?) j JOIN events e ON e.id = j.value',
      )
      .all(JSON.stringify(ids))
    removeFromSegments(
      store,
      found.filter((row) => row.id < tailStart),
    )
    store.db
      .prepare('DELETE FROM events WHERE id IN (SELECT value FROM json_each(?))')
      .run(JSON.stringify(ids))
    discountSources(
      store,
      found.map((row) => row.source_id),
    )
    keepHighId(store, tail.lastId)
    if (found.some((row) => row.id >= tailStart)) bumpTailVersion(store.db)
    return found
  })
  const inTail = rows.filter((row) => row.id >= tailStart)
  // Where it is a part of a larger transaction, memory waits for that.
  store.afterCommit(() => {
    for (const segment of tail.segments) {
      const mine = inTail.filter((row) => segmentOf(row.id) === segment.seg)
      if (mine.length)
        segment.remove(
          mine.map((row) => row.id),
          new Set(mine.flatMap((row) => [...labelIdsOf(row.labels)])),
        )
    }
  })
  return rows.length
}

/** Removes events at once, in the caller's transaction, where purges and retention take their time. */
export interface EventRemoval {
  /** All of these sources. @returns how many */
  ofSources(ids: readonly number[]): number
  /** @returns how many there were */
  byId(ids: readonly number[]): number
}

export function eventRemoval(
  store: StoreHandle,
  index: SegmentIndex,
  dictionary: Pick<Dictionary, 'find'>,
): EventRemoval {
  const byId = (ids: readonly number[]): number => {
    let removed = 0
    for (let i = 0; i < ids.length; i += REMOVE_CHUNK)
      removed += removeEvents(store, index.tail, ids.slice(i, i + REMOVE_CHUNK))
    store.afterCommit(() => index.refresh(false))
    return removed
  }
  return {
    byId,
    ofSources: (ids) => byId(ids.flatMap((id) => [...idsOfSource(index, dictionary, id)])),
  }
}

/** Events of a source, found by its postings, oldest first. */
export function* idsOfSource(
  index: SegmentIndex,
  dictionary: Pick<Dictionary, 'find'>,
  sourceId: number,
): Iterable<number> {
  const labelId = dictionary.find(SOURCE_LABEL, String(sourceId))
  if (labelId === undefined) return
  for (const segment of index.all())
    for (const offset of matchingOffsets(segment, { groups: [[labelId]], masked: [] })?.driver ?? [])
      yield segment.seg * SEGMENT_SIZE + offset
}

function discountSources(store: StoreHandle, sourceIds: number[]): void {
  const update = store.db.prepare('UPDATE sources SET events = max(0, events - ?) WHERE id = ?')
  const counts = new Map<number, number>()
  for (const id of sourceIds) counts.set(id, (counts.get(id) ?? 0) + 1)
  for (const [id, n] of counts) update.run(n, id)
}

/** Rewrites the postings of sealed segments without the given rows. */
function removeFromSegments(store: StoreHandle, rows: { id: number; labels: Uint8Array }[]): void {
  if (rows.length === 0) return
  const { db } = store
  const blocks = new BlockStore(db, true)
  const counts = new LabelCounts(db, true)
  const bySegment = new Map<number, Map<number, Set<number>>>()
  const perSegment = new Map<number, number>()
  for (const row of rows) {
    const seg = segmentOf(row.id)
    perSegment.set(seg, (perSegment.get(seg) ?? 0) + 1)
    const byLabel = bySegment.get(seg) ?? new Map<number, Set<number>>()
    bySegment.set(seg, byLabel)
    for (const labelId of labelIdsOf(row.labels))
      byLabel.set(labelId, (byLabel.get(labelId) ?? new Set()).add(offsetOf(row.id)))
  }
  for (const [seg, byLabel] of bySegment) {
    const removed = blocks.remove(seg, byLabel)
    counts.add(new Map([...removed].map(([labelId, n]) => [labelId, { n: -n, last: 0 }])))
    db.prepare('UPDATE segs SET n = n - ? WHERE seg = ?').run(perSegment.get(seg)!, seg)
  }
  bumpSegmentsVersion(db)
}
