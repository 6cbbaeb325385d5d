/**
 * Appends events: the write half of the event index. Rows go in inside the caller's transaction;
 * the in-memory postings change only after COMMIT, so memory never knows an event the disk does
 * not have. Sealing a full segment is spread over later commits in small steps, because one stall
 * of all postings at once held ingest for a quarter second.
 */

import { createHash } from 'node:crypto'
import type { Statement } from 'better-sqlite3'
import { fail } from '../../errors.ts'
import { labelStart, NEW_LABEL, type PackedEvents, rawOf, textBytesOf } from '../ingest/packed.ts'
import type { Database } from './handle.ts'
import { type Dictionary, LabelCounts, SEGMENT_SIZE, segmentOf } from './labels.ts'
import { bumpSegmentsVersion, encodeTimes, ItemKeys } from './segments.ts'
import { BlockBuilder, BlockStore, labelIdsOf, OpenSegment, type SortedPostings, type Tail } from './tail.ts'

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
  private readonly keys: ItemKeys
  /** Keys of items that were claimed in this transaction. */
  private claimed = 0
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
    this.keys = new ItemKeys(db)
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
      if (key !== null) this.claimed++
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
    if (this.claimed > 0) this.keys.add(this.claimed)
    this.claimed = 0
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
    this.claimed = 0
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

/*
 * Retries that are safe: the answer to an Idempotency-Key is stored in the transaction of what it
 * answers and replayed for 24 hours; item keys are refused a second time for 72 hours. Unique
 * indexes decide, so two racing sends store one event.
 */

export class Idempotency {
  private readonly find: Statement<[string], { body_hash: string; answer: string }>
  private readonly save: Statement<[string, string, string, number]>
  private readonly settle: Statement<[string, string]>
  private readonly forget: Statement<[string]>
  private readonly claim: Statement<[number, string, number, number]>

  constructor(db: Database) {
    this.find = db.prepare('SELECT body_hash, answer FROM idempotency WHERE key = ?')
    this.save = db.prepare('INSERT INTO idempotency (key, body_hash, answer, created_at) VALUES (?, ?, ?, ?)')
    this.settle = db.prepare('UPDATE idempotency SET answer = ? WHERE key = ?')
    this.forget = db.prepare('DELETE FROM idempotency WHERE key = ?')
    this.claim = db.prepare(
      'INSERT OR IGNORE INTO dedupe (source_id, key, event_id, created_at) VALUES (?, ?, ?, ?)',
    )
  }

  /**
   * The stored answer of a key, or null when it is new.
   * @throws SvcError key_reused when the key came with another body.
   */
  replay<T>(key: string, bodyHash: string): T | null {
    const row = this.find.get(key)
    if (!row) return null
    if (row.body_hash !== bodyHash)
      fail('key_reused', 'this Idempotency-Key was used with another body; use a new key for a new body', {
        field: 'Idempotency-Key',
      })
    return JSON.parse(row.answer) as T
  }

  /** Stores the answer; call inside the transaction. @param at epoch ms. */
  store(key: string, bodyHash: string, answer: unknown, at: number): void {
    this.save.run(key, bodyHash, JSON.stringify(answer), at)
  }

  /**
   * Claims a key for a call that is answered by more than one transaction.
   * @returns null: it is this call's; else what is stored of the first, null while that has not been answered
   * @throws SvcError key_reused
   */
  begin(key: string, bodyHash: string, at: number): { answer: string | null } | null {
    const first = this.replay<{ answer: string | null }>(key, bodyHash)
    if (!first) this.store(key, bodyHash, { answer: null }, at)
    return first
  }

  /** Keeps the answer of a call that claimed the key; null: it changed nothing, and the key is free again. */
  end(key: string, answer: string | null): void {
    if (answer === null) this.forget.run(key)
    else this.settle.run(JSON.stringify({ answer }), key)
  }

  /** Claims an item key. @returns false when it was claimed before. */
  claimItem(sourceId: number, key: string, eventId: number, at: number): boolean {
    return this.claim.run(sourceId, hash(key), eventId, at).changes === 1
  }
}

/** Storage key of an Idempotency-Key: two callers or two routes never meet. */
export function idempotencyKeyOf(caller: string, route: string, key: string): string {
  return hash(`${caller}\0${route}\0${key}`)
}

export function hash(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/*
 * Writes a full segment's postings to disk in small steps, one step per commit of ingest, and
 * publishes the segment by its `segs` row last. A crash in between leaves postings without a
 * `segs` row: readers do not look at them, and the next start goes on after the last one.
 *
 * How far it has come is read from those rows at each step, inside the transaction that writes the
 * next ones. A position kept in memory would have to follow every way a transaction can fail.
 *
 * Modes: idle (no full segment) → sealing (labels in ascending id order, so both tables are
 * written in key order and each page once) → publish → idle.
 */

interface Sealing {
  segment: OpenSegment
  postings: SortedPostings
}

class Sealer {
  private sealing: Sealing | null = null
  /** The segment whose row this transaction has written. */
  private published: number | null = null
  readonly blocks: BlockStore
  readonly counts: LabelCounts
  private readonly insertSegment: Statement<[number, number, number, number, number, Uint8Array]>

  constructor(
    private readonly db: Database,
    private readonly tail: Tail,
  ) {
    this.blocks = new BlockStore(db, true)
    this.counts = new LabelCounts(db, true)
    this.insertSegment = db.prepare(
      'INSERT INTO segs (seg, n, min_ts, max_ts, max_ingested_at, ts) VALUES (?, ?, ?, ?, ?, ?)',
    )
  }

  /** True while a full segment waits to be sealed. */
  get busy(): boolean {
    return this.sealing !== null || this.due() !== undefined
  }

  /** Seals at least `postings` postings, up to the end of a block; call inside the transaction. */
  step(postings: number): void {
    this.published = null
    this.sealing ??= this.begin()
    if (!this.sealing) return
    const { segment, postings: sorted } = this.sealing
    const next = writePostings(this, segment, sorted, postings)
    if (next === sorted.ids.length) this.publish(segment)
  }

  private begin(): Sealing | null {
    const segment = this.due()
    return segment ? { segment, postings: segment.sorted() } : null
  }

  private publish(segment: OpenSegment): void {
    if (segment.n > 0) {
      this.insertSegment.run(
        segment.seg,
        segment.n,
        segment.minTs,
        segment.maxTs,
        segment.maxIngestedAt,
        encodeTimes(segment.ts),
      )
      bumpSegmentsVersion(this.db)
    }
    this.published = segment.seg
  }

  /** After COMMIT. */
  commit(): void {
    if (this.published === null) return
    this.tail.dropThrough(this.published)
    this.published = null
    this.sealing = null
  }

  /** After ROLLBACK: nothing was published. */
  rollback(): void {
    this.published = null
  }

  /** The oldest segment that can no longer grow. */
  private due(): OpenSegment | undefined {
    const first = this.tail.segments[0]
    return first && first.seg < segmentOf(this.tail.lastId + 1) ? first : undefined
  }
}

/**
 * Writes at least `postings` postings of a segment, up to the end of a block, from the first that is not written; and
 * counts them. @returns the place in `sorted` where it ended
 */
function writePostings(
  { blocks, counts }: { blocks: BlockStore; counts: LabelCounts },
  segment: OpenSegment,
  sorted: SortedPostings,
  postings: number,
): number {
  const builder = new BlockBuilder()
  const changes = new Map<number, { n: number; last: number }>()
  let next = placeAfter(sorted.ids, blocks.lastLabel(segment.seg))
  const target = next + postings
  while (next < sorted.ids.length) {
    const place = next++
    const labelId = sorted.ids[place]!
    const offsets = segment.present(sorted.offsets.subarray(sorted.starts[place], sorted.starts[place + 1]))
    if (offsets.length === 0) continue
    changes.set(labelId, { n: offsets.length, last: segment.ingestedAt[offsets.at(-1)!]! })
    if (!builder.add(labelId, offsets)) continue
    blocks.insert(segment.seg, labelId, builder.take())
    if (next >= target) break
  }
  if (!builder.isEmpty) blocks.insert(segment.seg, builder.lastLabel, builder.take())
  counts.add(changes)
  return next
}

/** Place of the first of the ascending ids that is larger than `id`. */
function placeAfter(ids: Uint32Array, id: number): number {
  let low = 0
  let high = ids.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (ids[middle]! > id) high = middle
    else low = middle + 1
  }
  return low
}

/** Ids a segment spans: [first, last]. */
export function spanOf(seg: number): [number, number] {
  return [seg * SEGMENT_SIZE, seg * SEGMENT_SIZE + SEGMENT_SIZE - 1]
}

/*
 * Labels that are stored twice. Until 2026-12-01 a daemon that was started again before its file had keys of labels took
 * each label of before that start for new once it had written the first ones: events of then were missing where the
 * label was read, and the next keys could not be written, which ended the daemon.
 */

interface LabelledRow {
  id: number
  ts: number
  ingestedAt: number
  /** Label id of its entity, if it has one. */
  entity: number | null
  ids: Uint32Array
}

/**
 * Joins labels that are stored twice: events of both have the first. For the writing connection, before anything is
 * read of the file. Each segment by a transaction of its own, and the labels last: a start that is cut off goes on.
 * @returns how many labels were stored twice
 */
export function joinDoubledLabels(db: Database): number {
  const pairs = db
    .prepare(
      `SELECT l.id, k.id FROM labels l JOIN label_keys k ON k.name = l.name AND k.value = l.value
       WHERE l.id > (SELECT through FROM labels_keyed)`,
    )
    .raw()
    .all() as [second: number, first: number][]
  if (pairs.length === 0) return 0
  const firstOf = new Map(pairs)
  for (const seg of segmentsSince(db, Math.min(...firstOf.keys()))) {
    db.transaction(() => joinInSegment(db, seg, firstOf)).immediate()
    db.pragma('wal_checkpoint(PASSIVE)')
  }
  const remove = db.prepare('DELETE FROM labels WHERE id = ?')
  db.transaction(() => {
    for (const table of ['active_keys', 'watched_keys'] as const) joinInKeys(db, table, firstOf)
    for (const second of firstOf.keys()) remove.run(second)
    bumpSegmentsVersion(db)
  }).immediate()
  return pairs.length
}

/** Segments whose events may have a label of this id, or a later one; the last of them grow or wait to be sealed. */
function segmentsSince(db: Database, labelId: number): number[] {
  const number = (sql: string, ...values: number[]) =>
    db
      .prepare(sql)
      .pluck()
      .get(...values) as number | null
  const growing = (number('SELECT max(seg) FROM segs') ?? -1) + 1
  const from = Math.min(
    growing,
    number('SELECT min(seg) FROM post WHERE last_label >= ?', labelId) ?? growing,
  )
  const to = segmentOf(number('SELECT max(id) FROM events') ?? 0)
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, n) => from + n)
}

/** What triggers keep of their keys names the labels of each. */
function joinInKeys(
  db: Database,
  table: 'active_keys' | 'watched_keys',
  firstOf: ReadonlyMap<number, number>,
): void {
  const rows = db
    .prepare<[], { trigger_id: number; key: string; labels: string }>(
      `SELECT trigger_id, key, labels FROM ${table}`,
    )
    .all()
  const update = db.prepare(`UPDATE ${table} SET labels = ? WHERE trigger_id = ? AND key = ?`)
  for (const { trigger_id, key, labels } of rows) {
    const ids = JSON.parse(labels) as number[]
    if (ids.some((id) => firstOf.has(id)))
      update.run(JSON.stringify(ids.map((id) => firstOf.get(id) ?? id)), trigger_id, key)
  }
}

function joinInSegment(db: Database, seg: number, firstOf: ReadonlyMap<number, number>): void {
  const rows = readLabels(db, seg)
  const update = db.prepare('UPDATE events SET labels = ?, entity = ? WHERE id = ?')
  const join = (id: number): number => firstOf.get(id) ?? id
  const changed = rows.filter(({ ids }) => ids.some((id) => firstOf.has(id)))
  for (const row of changed) {
    row.ids = row.ids.map(join)
    update.run(Buffer.from(row.ids.buffer), row.entity === null ? null : join(row.entity), row.id)
  }
  if (changed.length > 0) writePostingsAnew(db, seg, rows)
}

function readLabels(db: Database, seg: number): LabelledRow[] {
  return db
    .prepare<unknown[], Omit<LabelledRow, 'ids'> & { labels: Buffer }>(
      'SELECT id, ts, ingested_at AS ingestedAt, entity, labels FROM events WHERE id BETWEEN ? AND ? ORDER BY id',
    )
    .all(...spanOf(seg))
    .map(({ labels, ...row }) => ({ ...row, ids: labelIdsOf(labels) }))
}

/** Of a segment that is sealed; the postings of another are dropped alone, since sealing writes them. */
function writePostingsAnew(db: Database, seg: number, rows: readonly LabelledRow[]): void {
  const blocks = new BlockStore(db, true)
  const counts = new LabelCounts(db, true)
  const before = blocks.dropSome(seg, Number.POSITIVE_INFINITY) ?? new Map<number, number>()
  counts.add(new Map([...before].map(([id, n]) => [id, { n: -n, last: 0 }])))
  if (db.prepare('SELECT 1 FROM segs WHERE seg = ? AND dropping = 0').get(seg) === undefined) return
  const segment = new OpenSegment(seg)
  for (const { id, ts, ingestedAt, ids } of rows) segment.add(id, ts, ingestedAt, ids, 0, ids.length)
  writePostings({ blocks, counts }, segment, segment.sorted(), Number.POSITIVE_INFINITY)
}
