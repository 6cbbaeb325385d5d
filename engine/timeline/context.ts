/** What reads work on: one connection with its view of the index. */

import { Dictionary } from '../store/dictionary.ts'
import type { Database } from '../store/handle.ts'
import { LabelCounts } from '../store/label-counts.ts'
import { RowReader } from '../store/rows.ts'
import { SegmentIndex } from '../store/segments.ts'
import { Tail } from '../store/tail.ts'
import { CursorCodec } from './cursor.ts'
import { SourceNames } from './source-names.ts'

export interface ReadContext {
  db: Database
  index: SegmentIndex
  dictionary: Dictionary
  rows: RowReader
  names: SourceNames
  cursors: CursorCodec
  counts: LabelCounts
  /** The largest id that had been ingested by an instant, epoch ms. */
  ceilingAt(asOf: number): number
}

/**
 * @param db a connection. @param writable the writing one, whose dictionary interns.
 * @param cursorSecret from meta.
 */
export function createReadContext(db: Database, writable: boolean, cursorSecret: string): ReadContext {
  const index = new SegmentIndex(db, new Tail(db))
  // A reader's view catches up before each read, the first time from nothing.
  if (writable) index.load()
  const ingestedAt = db.prepare<[number], { id: number; ingested_at: number }>(
    'SELECT id, ingested_at FROM events WHERE id >= ? ORDER BY id LIMIT 1',
  )
  return {
    db,
    index,
    dictionary: new Dictionary(db, writable),
    rows: new RowReader(db),
    names: new SourceNames(db),
    cursors: new CursorCodec(cursorSecret),
    counts: new LabelCounts(db, false),
    ceilingAt: (asOf) => {
      // Times of ingest never fall as ids grow, so the last id by an instant is found by halving.
      let low = 0
      let high = index.tail.lastId
      while (low < high) {
        const middle = Math.ceil((low + high) / 2)
        const row = ingestedAt.get(middle)
        if (row === undefined || row.ingested_at > asOf) high = middle - 1
        else low = Math.max(middle, Math.min(row.id, high))
      }
      return low
    },
  }
}
