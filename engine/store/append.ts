/**
 * Appends events: the write half of the event index. Rows go in inside the caller's transaction;
 * the in-memory postings change only after COMMIT, so memory never knows an event the disk does
 * not have. Sealing a full segment is spread over later commits in small steps, because one stall
 * of all postings at once held ingest for a quarter second.
 */
import type { Statement } from 'better-sqlite3'
import type { PreparedEvent } from '../ingest/prepared.ts'
import { type Dictionary, SOURCE_LABEL, TYPE_LABEL } from './dictionary.ts'
import type { Database } from './handle.ts'
import { Sealer } from './sealer.ts'
import type { Tail } from './tail.ts'

/** An event stored in this transaction, with what the index needs of it. */
export interface Appended {
  id: number
  sourceId: number
  ts: number
  ingestedAt: number
  labelIds: Uint32Array
  event: PreparedEvent
}

type InsertRow = [
  number,
  number,
  number,
  number,
  Uint8Array,
  number | null,
  string | null,
  string | null,
  string,
  Uint8Array,
]

/** Events between two steps of sealing. */
const SEAL_EVERY = 500

export class Appender {
  private nextId: number
  /** Where `nextId` stood before the first append of the transaction. */
  private savedNextId: number
  private pending: Appended[] = []
  private readonly insert: Statement<InsertRow>
  private readonly countSource: Statement<[number, number, number]>
  readonly sealer: Sealer
  private lastSource = { sourceId: -1, labelId: 0 }
  /** Events appended since the last step of sealing. */
  private unsealedPace = 0

  constructor(
    db: Database,
    private readonly dictionary: Dictionary,
    private readonly tail: Tail,
  ) {
    this.insert = db.prepare(
      'INSERT INTO events (id, source_id, ts, ingested_at, labels, entity, numbers, claimed_time, text, raw) VALUES (?,?,?,?,?,?,?,?,?,?)',
    )
    this.countSource = db.prepare('UPDATE sources SET events = events + ?, last_ingest = ? WHERE id = ?')
    this.sealer = new Sealer(db, tail)
    this.nextId = tail.lastId + 1
    this.savedNextId = this.nextId
  }

  /** Reserves the next id of the one counter that events and reference documents share. */
  reserveId(): number {
    return this.nextId++
  }

  /** The id the next event will get. */
  get upcomingId(): number {
    return this.nextId
  }

  /**
   * Inserts one event; call inside a transaction, then commit() or rollback().
   * @param ingestedAt epoch ms, never below that of an event before.
   */
  append(sourceId: number, event: PreparedEvent, ingestedAt: number): Appended {
    if (this.pending.length === 0) this.savedNextId = this.nextId
    const id = this.nextId++
    const { strings } = event
    const labelIds = new Uint32Array(strings.length + 2)
    labelIds[0] = this.sourceLabel(sourceId)
    labelIds[1] = this.dictionary.intern(TYPE_LABEL, event.eventType)
    for (let i = 0; i < strings.length; i++) {
      const pair = strings[i]!
      labelIds[i + 2] = this.dictionary.intern(pair[0], pair[1])
    }
    const ts = event.ts ?? ingestedAt
    const numbers = event.numbers ? JSON.stringify(event.numbers) : null
    const blob = new Uint8Array(labelIds.buffer)
    this.insert.run(
      id,
      sourceId,
      ts,
      ingestedAt,
      blob,
      event.hasEntity ? labelIds[2]! : null,
      numbers,
      event.claimed,
      event.text,
      event.raw,
    )
    const appended = { id, sourceId, ts, ingestedAt, labelIds, event }
    this.pending.push(appended)
    return appended
  }

  /** Batches come from one source, so the last one's label is nearly always the next one's. */
  private sourceLabel(sourceId: number): number {
    if (this.lastSource.sourceId !== sourceId)
      this.lastSource = { sourceId, labelId: this.dictionary.intern(SOURCE_LABEL, String(sourceId)) }
    return this.lastSource.labelId
  }

  /** Last statements of the transaction: counts per source, and one step of sealing. */
  beforeCommit(): void {
    const perSource = new Map<number, { n: number; at: number }>()
    for (const { sourceId, ingestedAt } of this.pending) {
      const entry = perSource.get(sourceId)
      if (entry) {
        entry.n++
        entry.at = ingestedAt
      } else perSource.set(sourceId, { n: 1, at: ingestedAt })
    }
    for (const [sourceId, { n, at }] of perSource) this.countSource.run(n, at, sourceId)
    // Faster than postings come in (0.3 an event), so a segment is sealed before the next is full;
    // small commits only gather pace: a step writes at least a whole block.
    this.unsealedPace += this.pending.length
    if (this.unsealedPace < SEAL_EVERY) return
    this.sealer.step(this.unsealedPace)
    this.unsealedPace = 0
  }

  /** After COMMIT: makes the events visible to this connection's index. */
  commit(): Appended[] {
    const committed = this.pending
    this.pending = []
    this.dictionary.commit()
    for (const { id, ts, ingestedAt, labelIds } of committed) this.tail.add(id, ts, ingestedAt, labelIds)
    this.sealer.commit()
    return committed
  }

  /** After ROLLBACK: the ids are used again. */
  rollback(): void {
    if (this.pending.length) this.nextId = this.savedNextId
    this.pending = []
    this.lastSource = { sourceId: -1, labelId: 0 }
    this.dictionary.rollback()
    this.sealer.rollback()
  }
}
