/**
 * Appends events: the write half of the event index. Rows go in inside the caller's transaction;
 * the in-memory postings change only after COMMIT, so memory never knows an event the disk does
 * not have. Sealing a full segment is spread over later commits in small steps, because one stall
 * of all postings at once held ingest for a quarter second.
 */
import type { Statement } from 'better-sqlite3'
import { labelStart, NEW_LABEL, type PackedEvents, rawOf, textBytesOf } from '../ingest/packed.ts'
import type { Dictionary } from './dictionary.ts'
import type { Database } from './handle.ts'
import { Sealer } from './sealer.ts'
import type { Tail } from './tail.ts'

/** Events of one body stored in this transaction, under ids that follow one another. */
export interface AppendedBatch {
  sourceId: number
  ingestedAt: number
  firstId: number
  /** Labels are ids only, for those that were stored. */
  events: PackedEvents
  /** Places in `events` that were stored; null: all. */
  kept: number[] | null
  /** Ids of `events.newLabels`; 0 where no stored event has it. */
  newLabelIds: Uint32Array
}

/** How many events of a batch were stored. */
export const sizeOfBatch = ({ events, kept }: AppendedBatch): number => kept?.length ?? events.n

/** Events between two steps of sealing. */
const SEAL_EVERY = 500
/**
 * Rows a statement inserts: 20 % less time an event than one by one; more than 20 gained nothing
 * (measured 2026-11).
 */
const ROWS = 20
const COLUMNS = 10

export class Appender {
  private nextId: number
  /** Where `nextId` stood before the first append of the transaction; null outside of one. */
  private savedNextId: number | null = null
  private pending: AppendedBatch[] = []
  private pendingEvents = 0
  private readonly insertRows: Statement<unknown[]>
  private readonly insertRow: Statement<unknown[]>
  /** Values of the rows that wait until a statement is full, or for the end of the transaction. */
  private readonly row: unknown[] = new Array(ROWS * COLUMNS)
  private rows = 0
  private readonly countSource: Statement<[number, number, number]>
  readonly sealer: Sealer
  /** Events appended since the last step of sealing. */
  private unsealedPace = 0
  /** `unsealedPace` before the transaction. */
  private savedPace = 0

  constructor(
    db: Database,
    private readonly dictionary: Dictionary,
    private readonly tail: Tail,
  ) {
    // OR FAIL: what fails fails the transaction anyway, and without it SQLite keeps the pages a
    // statement of several rows changes in a temporary file, to undo it alone: half as much again.
    const insert = (rows: number) =>
      db.prepare<unknown[]>(
        `INSERT OR FAIL INTO events (id, source_id, ts, ingested_at, labels, entity, numbers, claimed_time, text, raw) VALUES ${new Array(rows).fill('(?,?,?,?,?,?,?,?,CAST(? AS TEXT),?)').join(',')}`,
      )
    this.insertRows = insert(ROWS)
    this.insertRow = insert(1)
    this.countSource = db.prepare('UPDATE sources SET events = events + ?, last_ingest = ? WHERE id = ?')
    this.sealer = new Sealer(db, tail)
    this.nextId = tail.lastId + 1
  }

  /** Reserves the next id of the one counter that events and reference documents share. */
  reserveId(): number {
    return this.nextId++
  }

  /**
   * Inserts events; call inside a transaction, then commit() or rollback().
   * @param ingestedAt epoch ms, never below that of an event before.
   * @param claim whether an event with this key is stored under this id; else it is a duplicate.
   */
  append(
    sourceId: number,
    events: PackedEvents,
    ingestedAt: number,
    claim: (key: string, id: number) => boolean,
  ): AppendedBatch {
    this.savedNextId ??= this.nextId
    const newLabelIds = new Uint32Array(events.newLabels.length)
    const batch: AppendedBatch = {
      sourceId,
      ingestedAt,
      firstId: this.nextId,
      events,
      kept: events.dedupeKeys && [],
      newLabelIds,
    }
    for (let i = 0; i < events.n; i++) {
      const key = events.dedupeKeys?.[i] ?? null
      if (key !== null && !claim(key, this.nextId)) continue
      batch.kept?.push(i)
      if (newLabelIds.length > 0) this.internNew(events, i, newLabelIds)
      this.insert(batch, i, this.nextId++)
    }
    this.pending.push(batch)
    this.pendingEvents += sizeOfBatch(batch)
    return batch
  }

  /** Gives the new labels of one event their ids; those of a duplicate event never get one. */
  private internNew(events: PackedEvents, i: number, ids: Uint32Array): void {
    const { labels, newLabels } = events
    for (let at = labelStart(events, i); at < events.labelEnds[i]!; at++) {
      if (labels[at]! < NEW_LABEL) continue
      const place = labels[at]! - NEW_LABEL
      if (ids[place] === 0) ids[place] = this.dictionary.intern(...newLabels[place]!)
      labels[at] = ids[place]!
    }
  }

  private insert({ sourceId, ingestedAt, events }: AppendedBatch, i: number, id: number): void {
    const { labels, numbers, claimed } = events
    const from = labelStart(events, i)
    const { row } = this
    let at = this.rows * COLUMNS
    row[at++] = id
    row[at++] = sourceId
    row[at++] = tsOf(events, i, ingestedAt)
    row[at++] = ingestedAt
    row[at++] = new Uint8Array(labels.buffer, labels.byteOffset + 4 * from, 4 * (events.labelEnds[i]! - from))
    row[at++] = events.hasEntity[i] ? labels[from + 2]! : null
    row[at++] = numbers && numbers[i]!
    row[at++] = claimed && claimed[i]!
    row[at++] = textBytesOf(events, i)
    row[at++] = rawOf(events, i)
    if (++this.rows < ROWS) return
    this.insertRows.run(...row)
    this.rows = 0
  }

  /** Inserts what waits, so that it can be read within the transaction. */
  insertRest(): void {
    for (let r = 0; r < this.rows; r++) this.insertRow.run(...this.row.slice(r * COLUMNS, (r + 1) * COLUMNS))
    this.rows = 0
    // What was bound must not stay in memory until the next call.
    this.row.fill(null, 0, Math.min(ROWS, this.pendingEvents) * COLUMNS)
  }

  /** Last statements of the transaction: rows that wait, counts per source, one step of sealing. */
  beforeCommit(): void {
    this.insertRest()
    const perSource = new Map<number, { n: number; at: number }>()
    for (const batch of this.pending) {
      const n = perSource.get(batch.sourceId)?.n ?? 0
      perSource.set(batch.sourceId, { n: n + sizeOfBatch(batch), at: batch.ingestedAt })
    }
    for (const [sourceId, { n, at }] of perSource) if (n > 0) this.countSource.run(n, at, sourceId)
    this.dictionary.beforeCommit()
    // Faster than postings come in (0.3 an event), so a segment is sealed before the next is full;
    // small commits only gather pace: a step writes at least a whole block.
    this.unsealedPace += this.pendingEvents
    if (this.unsealedPace < SEAL_EVERY) return
    this.sealer.step(this.unsealedPace)
    this.unsealedPace = 0
  }

  /** After COMMIT: makes the events visible to this connection's index. */
  commit(): AppendedBatch[] {
    const committed = this.pending
    this.forget()
    this.savedPace = this.unsealedPace
    this.dictionary.commit()
    for (const batch of committed) this.index(batch)
    this.sealer.commit()
    return committed
  }

  private index(batch: AppendedBatch): void {
    const { events, kept, firstId, ingestedAt } = batch
    const n = sizeOfBatch(batch)
    for (let k = 0; k < n; k++) {
      const i = kept ? kept[k]! : k
      const from = labelStart(events, i)
      this.tail.add(
        firstId + k,
        tsOf(events, i, ingestedAt),
        ingestedAt,
        events.labels,
        from,
        events.labelEnds[i]!,
      )
    }
  }

  /** After ROLLBACK: the ids are used again. */
  rollback(): void {
    if (this.savedNextId !== null) this.nextId = this.savedNextId
    this.forget()
    this.unsealedPace = this.savedPace
    this.dictionary.rollback()
    this.sealer.rollback()
  }

  private forget(): void {
    this.rows = 0
    this.pending = []
    this.pendingEvents = 0
    this.savedNextId = null
  }
}

/** Event time, or that of ingest where it has none, epoch ms. */
export function tsOf(events: PackedEvents, i: number, ingestedAt: number): number {
  const ts = events.ts[i]!
  return Number.isNaN(ts) ? ingestedAt : ts
}
