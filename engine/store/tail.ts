/**
 * The tail: all segments without postings on disk, oldest first. Usually one that grows, and
 * while the one before is being sealed, two. Every connection has its own copy; a reader's
 * catches up by id before each read.
 */
import type { Statement } from 'better-sqlite3'
import type { Database } from './handle.ts'
import { labelIdsOf, OpenSegment } from './open-segment.ts'
import { SEGMENT_SIZE, segmentOf } from './posting.ts'

interface TailRow {
  id: number
  ts: number
  ingested_at: number
  labels: Uint8Array
}

export class Tail {
  /** Unsealed segments, oldest first. */
  segments: OpenSegment[] = []
  /** Largest event or document id known to this connection. */
  lastId: number
  private readonly after: Statement<[number], TailRow>
  private readonly newestDocument: Statement<[], number | null>

  private readonly highId: Statement<[], string | undefined>

  constructor(db: Database) {
    this.highId = db.prepare("SELECT value FROM meta WHERE key = 'high_id'").pluck() as Statement<
      [],
      string | undefined
    >
    this.after = db.prepare('SELECT id, ts, ingested_at, labels FROM events WHERE id > ? ORDER BY id')
    this.newestDocument = db.prepare('SELECT max(id) FROM documents').pluck() as Statement<[], number | null>
    this.lastId = 0
  }

  /** Rebuilds the tail from the rows past the last sealed segment (-1: none is sealed). */
  rebuild(lastSealed: number): void {
    this.segments = []
    this.lastId = (lastSealed + 1) * SEGMENT_SIZE - 1
    if (this.lastId < 0) this.lastId = 0
    this.catchUp()
    // Rows with the largest ids may be gone; their ids are not given again.
    const high = Number(this.highId.get() ?? 0)
    if (high > this.lastId) this.lastId = high
  }

  /** Adds the events committed since the last call. @returns how many. */
  catchUp(): number {
    let n = 0
    // Rows are read one by one and not kept, so a rebuild of 130,000 events stays small in memory.
    for (const row of this.after.iterate(this.lastId)) {
      const labels = labelIdsOf(row.labels)
      this.add(row.id, row.ts, row.ingested_at, labels, 0, labels.length)
      n++
    }
    const document = this.newestDocument.get()
    if (document && document > this.lastId) this.lastId = document
    return n
  }

  /** Adds one event with an id larger than all before; its labels lie in `labels` from `from` to `to`. */
  add(id: number, ts: number, ingestedAt: number, labels: Uint32Array, from: number, to: number): void {
    const seg = segmentOf(id)
    let open = this.segments.at(-1)
    if (!open || open.seg < seg) {
      open = new OpenSegment(seg)
      this.segments.push(open)
    }
    open.add(id, ts, ingestedAt, labels, from, to)
    this.lastId = id
  }

  /** Drops segments that are sealed now. */
  dropThrough(seg: number): void {
    if (this.segments.length && this.segments[0]!.seg <= seg)
      this.segments = this.segments.filter((s) => s.seg > seg)
  }

  /** Events in the tail that carry a label. */
  count(labelId: number): number {
    let n = 0
    for (const segment of this.segments) n += segment.list(labelId)?.length ?? 0
    return n
  }
}
