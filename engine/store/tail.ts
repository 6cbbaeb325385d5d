/**
 * The tail: all segments without postings on disk, oldest first. Usually one that grows, and
 * while the one before is being sealed, two. Every connection has its own copy; a reader's
 * catches up by id before each read.
 */
import type { Statement } from 'better-sqlite3'
import type { Database } from './handle.ts'
import { labelIdsOf, OpenSegment } from './open-segment.ts'
import { SEGMENT_SIZE, segmentOf } from './posting.ts'

/** Rows told at once. A row by itself costs 4 µs to bring over from SQLite, a quarter of that in bulk. */
const BULK_ROWS = 1_024

/** Columns of some rows: lists of numbers as JSON, labels in hexadecimal one after another. */
interface Bulk {
  ids: string
  ts: string
  ingested: string
  /** Bytes of labels of each row. */
  sizes: string
  labels: string | null
}

export class Tail {
  /** Unsealed segments, oldest first. */
  segments: OpenSegment[] = []
  /** Largest event or document id known to this connection. */
  lastId: number
  private readonly after: Statement<[number], Bulk>
  private readonly newestDocument: Statement<[], number | null>

  private readonly highId: Statement<[], string | undefined>

  constructor(db: Database) {
    this.highId = db.prepare("SELECT value FROM meta WHERE key = 'high_id'").pluck() as Statement<
      [],
      string | undefined
    >
    this.after = db.prepare(
      `SELECT json_group_array(id) AS ids, json_group_array(ts) AS ts, json_group_array(ingested_at) AS ingested,
              json_group_array(length(labels)) AS sizes, group_concat(hex(labels), '') AS labels
       FROM (SELECT id, ts, ingested_at, labels FROM events WHERE id > ? ORDER BY id LIMIT ${BULK_ROWS})`,
    )
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
    for (let read = BULK_ROWS; read === BULK_ROWS; n += read)
      read = this.addBulk(this.after.get(this.lastId)!)
    const document = this.newestDocument.get()
    if (document && document > this.lastId) this.lastId = document
    return n
  }

  private addBulk(bulk: Bulk): number {
    const [ids, ts, ingestedAt, sizes] = [bulk.ids, bulk.ts, bulk.ingested, bulk.sizes].map(
      (list) => JSON.parse(list) as number[],
    ) as [number[], number[], number[], number[]]
    const labels = labelIdsOf(Buffer.from(bulk.labels ?? '', 'hex'))
    let at = 0
    for (let i = 0; i < ids.length; i++) {
      const end = at + sizes[i]! / 4
      this.add(ids[i]!, ts[i]!, ingestedAt[i]!, labels, at, end)
      at = end
    }
    return ids.length
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
