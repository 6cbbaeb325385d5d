/**
 * Work between commits of ingest, one small step at a time: finishing a full segment's sealing,
 * purging a deleted source, retention by age and by size, forgetting old idempotency and
 * deduplication keys. Every job is a row or follows from rows, so a restart goes on with it.
 */

import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Appender, spanOf } from './append.ts'
import { keepHighId, type StoreHandle } from './handle.ts'
import { type Dictionary, LabelCounts, offsetOf, SEGMENT_SIZE, SOURCE_LABEL, segmentOf } from './labels.ts'
import type { OpenStore } from './open.ts'
import { matchingOffsets } from './scan.ts'
import {
  bumpSegmentsVersion,
  bumpTailVersion,
  ItemKeys,
  megabytes,
  PARTS,
  type SegmentIndex,
  Sizes,
} from './segments.ts'
import { BlockStore, labelIdsOf, type Tail } from './tail.ts'

export interface Retention {
  /** Events older than this by event time go; null keeps them. Milliseconds. */
  maxAgeMs: number | null
  /** Oldest keys of items over their part, then oldest events, go when the store is larger; null keeps them. Bytes. */
  maxBytes: number | null
}

const IDEMPOTENCY_MS = 24 * 3_600_000
const DEDUPE_MS = 72 * 3_600_000
/** Rows per transaction when a whole segment goes: 2,048 took 12 ms at most. */
const DROP_SLICE = 2_048
/** Pages given back per transaction: 4 MiB. */
const SHRINK_PAGES = 512
/** Posting blocks per transaction, of some 400 a segment has. */
const DROP_BLOCKS = 64

interface Parts {
  store: StoreHandle
  index: SegmentIndex
  appender: Appender
  dictionary: Dictionary
  capacity: Capacity
  retention: Retention
}

export class Maintenance {
  private readonly keys: ItemKeys
  private readonly sizes: Sizes

  constructor(private readonly parts: Parts) {
    this.keys = new ItemKeys(parts.store.db)
    this.sizes = new Sizes(parts.store, parts.index)
  }

  /**
   * Does one step. @param now epoch ms.
   * @returns true when there is more to do at once.
   */
  step(now: number): boolean {
    const { appender } = this.parts
    if (appender.sealer.busy) {
      this.sealStep()
      return true
    }
    return (
      this.dropStep() ||
      this.purgeStep() ||
      this.ageStep(now) ||
      this.forgetStep(now) ||
      this.sizeStep(now) ||
      this.shrinkStep(now)
    )
  }

  private sealStep(): void {
    const { sealer } = this.parts.appender
    try {
      this.parts.store.tx(() => sealer.step(500))
    } catch (error) {
      // Else the next commit would take for published what was undone.
      sealer.rollback()
      throw error
    }
    sealer.commit()
    this.parts.index.refresh(false)
  }

  /** Continues with a segment retention has begun to drop. */
  private dropStep(): boolean {
    const { db } = this.parts.store
    const seg = db.prepare('SELECT seg FROM segs WHERE dropping = 1 LIMIT 1').pluck().get() as
      | number
      | undefined
    if (seg === undefined) return false
    const [first, last] = spanOf(seg)
    this.parts.store.tx(() => {
      if (dropBlocks(this.parts.store, seg)) return
      const from = db
        .prepare('SELECT id FROM events WHERE id BETWEEN ? AND ? ORDER BY id LIMIT 1')
        .pluck()
        .get(first, last) as number | undefined
      if (from === undefined) {
        db.prepare('DELETE FROM segs WHERE seg = ?').run(seg)
        return
      }
      const to = Math.min(from + DROP_SLICE - 1, last)
      const counts = db
        .prepare('SELECT source_id, count(*) AS n FROM events WHERE id BETWEEN ? AND ? GROUP BY source_id')
        .all(from, to) as { source_id: number; n: number }[]
      for (const { source_id, n } of counts)
        db.prepare('UPDATE sources SET events = max(0, events - ?) WHERE id = ?').run(n, source_id)
      db.prepare('DELETE FROM events WHERE id BETWEEN ? AND ?').run(from, to)
    })
    return true
  }

  private drop(seg: number): void {
    this.parts.store.tx(() => {
      this.parts.store.db.prepare('UPDATE segs SET dropping = 1 WHERE seg = ?').run(seg)
      keepHighId(this.parts.store, this.parts.index.tail.lastId)
      bumpSegmentsVersion(this.parts.store.db)
    })
    this.parts.index.refresh(false)
  }

  /** Removes a chunk of a purged source. */
  private purgeStep(): boolean {
    const { store, index, dictionary } = this.parts
    const sourceId = store.db
      .prepare('SELECT source_id FROM purges ORDER BY requested_at LIMIT 1')
      .pluck()
      .get() as number | undefined
    if (sourceId === undefined) return false
    const ids: number[] = []
    for (const id of idsOfSource(index, dictionary, sourceId)) if (ids.push(id) >= REMOVE_CHUNK) break
    if (ids.length) removeEvents(store, index.tail, ids)
    else if (store.tx(() => this.keys.forgetOf(sourceId)) === 0)
      store.tx(() => {
        store.db.prepare('DELETE FROM documents WHERE source_id = ?').run(sourceId)
        store.db.prepare('DELETE FROM purges WHERE source_id = ?').run(sourceId)
      })
    index.refresh(false)
    return true
  }

  /** What was removed is given back to a volume that runs out; otherwise its pages are kept to be written again. */
  private shrinkStep(now: number): boolean {
    const { store, capacity } = this.parts
    if (!capacity.wantsRoom(now)) return false
    store.tx(() => store.db.exec(`PRAGMA incremental_vacuum(${SHRINK_PAGES})`))
    capacity.gaveBack(now)
    return true
  }

  /** Retention by age: whole sealed segments, single events of the open one. */
  private ageStep(now: number): boolean {
    const { maxAgeMs } = this.parts.retention
    if (maxAgeMs === null) return false
    const cutoff = now - maxAgeMs
    const { index, store } = this.parts
    for (const segment of index.all()) {
      if (segment.minTs >= cutoff) continue
      const isOpen = segment.seg > index.lastSealed()
      if (!isOpen && segment.maxTs < cutoff) {
        this.drop(segment.seg)
        return true
      }
      if (!isOpen) continue
      const ids = this.oldestOf(segment.seg, (ts) => ts < cutoff)
      if (ids.length) return removeEvents(store, index.tail, ids) > 0
    }
    return false
  }

  /**
   * Retention by size: keys over their part go, then the oldest arrivals until the store fits, or until events are down
   * to their part: what is left is not theirs, and none of them would make room for it.
   */
  private sizeStep(now: number): boolean {
    const { maxBytes } = this.parts.retention
    const { index, store, capacity } = this.parts
    const used = maxBytes === null ? 0 : capacity.measureAnew(now).usedBytes
    if (maxBytes === null || used <= maxBytes) return this.sizes.say(now, null)
    const forgotten = store.tx(() => (this.keys.bytes() > PARTS.keys * maxBytes ? this.keys.forget(now) : 0))
    if (forgotten > 0) return true
    const perEvent = this.sizes.perEvent(now)
    const events = perEvent * this.sizes.events()
    const spare = events - PARTS.events * maxBytes
    const oldest = index.all()[0]
    if (!oldest || spare <= 0) return this.sizes.say(now, { used, maxBytes, events })
    const isSealed = oldest.seg <= index.lastSealed()
    if (isSealed && perEvent * oldest.n <= spare) {
      this.drop(oldest.seg)
      return true
    }
    const ids = isSealed ? this.firstOf(oldest.seg) : this.oldestOf(oldest.seg, () => true)
    const removed = removeEvents(store, index.tail, ids)
    index.refresh(false)
    return removed > 0
  }

  /** Ids of a sealed segment in order of arrival, at most a chunk. */
  private firstOf(seg: number): number[] {
    return this.parts.store.db
      .prepare<[number, number], number>(
        `SELECT id FROM events WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ${REMOVE_CHUNK}`,
      )
      .pluck()
      .all(...spanOf(seg))
  }

  /** Ids of an open segment whose time fits, in order of arrival, at most a chunk. */
  private oldestOf(seg: number, fits: (ts: number) => boolean): number[] {
    const open = this.parts.index.tail.segments.find((segment) => segment.seg === seg)
    const ids: number[] = []
    if (!open) return ids
    for (let offset = 0; offset < SEGMENT_SIZE && ids.length < REMOVE_CHUNK; offset++) {
      const ts = open.ts[offset]!
      if (!Number.isNaN(ts) && fits(ts)) ids.push(seg * SEGMENT_SIZE + offset)
    }
    return ids
  }

  private forgetStep(now: number): boolean {
    const { db } = this.parts.store
    const answers = db
      .prepare(
        'DELETE FROM idempotency WHERE key IN (SELECT key FROM idempotency WHERE created_at < ? LIMIT 1000)',
      )
      .run(now - IDEMPOTENCY_MS)
    const items = this.parts.store.tx(() => this.keys.forget(now - DEDUPE_MS))
    return answers.changes + items > 0
  }
}

/*
 * Takes events out of the store again, for purges and retention: rows, postings and counts in one
 * transaction per chunk, so a crash leaves every chunk whole and the job resumes.
 */

/** Rows removed per transaction: 1,000 stay under 10 ms, so ingest never waits longer. */
const REMOVE_CHUNK = 1_000

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
    const inTail = found.filter((row) => row.id >= tailStart)
    // Sealing that is under way has written postings of these: it begins anew, without them.
    for (const seg of new Set(inTail.map((row) => segmentOf(row.id)))) while (dropBlocks(store, seg));
    if (inTail.length > 0) bumpTailVersion(store.db)
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
function* idsOfSource(
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

/** Removes some of a segment's postings on disk, with their counts. @returns whether there were any */
function dropBlocks({ db }: StoreHandle, seg: number): boolean {
  const dropped = new BlockStore(db, true).dropSome(seg, DROP_BLOCKS)
  if (dropped)
    new LabelCounts(db, true).add(new Map([...dropped].map(([labelId, n]) => [labelId, { n: -n, last: 0 }])))
  return dropped !== null
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

/*
 * Storage in use against its limit (SPEC.md, Storage): SVC_MAX_DB_SIZE, else the volume's size.
 * At 95 % ingest is refused with 507 and admitted again below 93 %, so that it does not flap; a body
 * that would go past the limit itself is refused before it is stored.
 *
 * Counted is what data needs: pages freed by deletion are free, because they are written again before
 * the file grows, and the log is not counted, because what it holds are pages that are counted already.
 * Its bytes do count where the volume itself runs out; then it is folded into the data file first.
 */

const REFUSE_PCT = 95
const ADMIT_PCT = 93
/** With less than this left on the volume, a checkpoint could fail half way. */
const RESERVE_BYTES = 32 * 1024 * 1024
/** Fewer free pages are kept: the next writes take them. */
const GIVEN_BACK_BYTES = 1024 * 1024
const MAX_AGE_MS = 1_000
/** The log is not folded for room more often than this. */
const FOLD_EVERY_MS = 10_000
/** Measured anew once what was admitted may have grown the data by this part of the limit. */
const GROWTH_PART = 0.005
/** Bytes of data that a byte of a body becomes: at first, and within which bounds it is learned. */
const GROWTH = { first: 3, least: 1.5, most: 30 }
/** A body up to this part of the limit that finds no room means that storage is full. */
const USUAL_PART = 0.2
/** A body must be this long to learn from, in bytes. */
const LEARN_FROM = 32_768

export interface Measure {
  dbBytes: number
  walBytes: number
  freeBytes: number
  usedBytes: number
  maxBytes: number
  maxBytesSource: 'env' | 'volume'
  diskTotal: number
  diskFree: number
  /** Of what is free, what is left once the log is folded: the file grows by the pages that only the log has. */
  room: number
  /** Percent of the limit in use, two decimals. */
  pctUsed: number
}

/** Ingest begins to be refused for want of storage, or is taken again. */
export interface StorageTurn {
  isRefused: boolean
  /** Why and what to do, or how full it is, with figures. */
  why: string
}

export class Capacity {
  private cached: { at: number; measure: Measure } | null = null
  /** Bytes of bodies admitted since the measurement. */
  private admitted = 0
  /** Bytes of data per byte of a body, learned from one measurement to the next. */
  private growth = GROWTH.first
  private refusing = false
  /** What a refused body would have needed: as long as there is no room for that, nothing is taken. */
  private wanted = 0
  private foldedAt = Number.NEGATIVE_INFINITY

  /**
   * @param maxDbSize bytes, or null for the volume's size.
   * @param told what `refusal` says, for others to see.
   * @param onTurn told once when ingest begins to be refused, and once when it is taken again.
   */
  constructor(
    private readonly store: Pick<OpenStore, 'db' | 'file' | 'foldLog'>,
    private readonly maxDbSize: number | null,
    private readonly told: { refusal: string | null } = { refusal: null },
    private readonly onTurn: (turn: StorageTurn) => void = () => {},
  ) {}

  /** Counts the bytes of a body that will be stored, so that a burst cannot outrun the measurement. */
  admit(bytes: number): void {
    this.admitted += bytes
  }

  /** Storage in use; at most a second old. @param now epoch ms. */
  measure(now: number): Measure {
    if (
      this.cached &&
      now - this.cached.at < MAX_AGE_MS &&
      now >= this.cached.at &&
      this.admitted * this.growth < GROWTH_PART * this.cached.measure.maxBytes
    )
      return this.cached.measure
    const measure = this.read()
    this.learn(measure)
    this.cached = { at: now, measure }
    this.admitted = 0
    return measure
  }

  /** Storage in use, measured anew: for retention, which must not act on a figure of before. */
  measureAnew(now: number): Measure {
    this.cached = null
    return this.measure(now)
  }

  /** Whether the volume runs out while the file has pages that nothing is on. @param now epoch ms */
  wantsRoom(now: number): boolean {
    const { room, freeBytes } = this.measure(now)
    return room < RESERVE_BYTES && freeBytes >= GIVEN_BACK_BYTES
  }

  /** Such pages were cut off: once there are no more the log is folded, and the file is as short as it can be. */
  gaveBack(now: number): void {
    this.cached = null
    if (!this.wantsRoom(now)) this.foldedAt = Number.NEGATIVE_INFINITY
  }

  /**
   * Why ingest is refused now, in a sentence, or null when it is not.
   * Not between `admit` and the commit, for what is admitted would be forgotten.
   */
  refusal(now: number): string | null {
    const reason = this.reasonAt(now)
    const before = this.told.refusal
    if (reason === before) return reason
    this.told.refusal = reason
    // Its figures change with each measurement; that it is refused does not.
    if ((reason === null) !== (before === null))
      this.onTurn({ isRefused: reason !== null, why: reason ?? this.inUse(now) })
    return reason
  }

  private inUse(now: number): string {
    const { pctUsed, maxBytes, room } = this.measure(now)
    const free = room < Number.MAX_SAFE_INTEGER ? `, and the volume has ${megabytes(room)} free` : ''
    return `storage is at ${pctUsed} % of ${megabytes(maxBytes)}${free}`
  }

  private reasonAt(now: number): string | null {
    if (this.measure(now).room < RESERVE_BYTES) this.foldLog(now)
    const m = this.measure(now)
    if (m.pctUsed >= REFUSE_PCT) this.refusing = true
    else if (m.pctUsed < ADMIT_PCT && m.usedBytes + this.wanted < m.maxBytes) {
      this.refusing = false
      this.wanted = 0
    }
    if (m.room < RESERVE_BYTES)
      return `the volume has ${megabytes(m.room)} free, under the ${megabytes(RESERVE_BYTES)} a checkpoint needs; free some space`
    if (!this.refusing) return null
    const limit = m.maxBytesSource === 'env' ? 'SVC_MAX_DB_SIZE' : 'the volume'
    const why =
      m.pctUsed < REFUSE_PCT && this.wanted > 0
        ? `, and a request that needs about ${megabytes(this.wanted)} did not fit; ingest is taken again below ${ADMIT_PCT} % with room for that`
        : `; ingest is refused from ${REFUSE_PCT} % and taken again below ${ADMIT_PCT} %`
    return `storage is at ${m.pctUsed} % of ${megabytes(m.maxBytes)} (${limit})${why}: purge a source, set retention, or raise SVC_MAX_DB_SIZE`
  }

  /**
   * Why a body cannot be stored although others are, in a sentence, or null when it can: with what was
   * admitted before it, it would go past the limit. Reckoned from the last measurement.
   * @param bytes length of the body.
   */
  refusalOf(bytes: number): string | null {
    const m = this.cached?.measure
    if (!m) return null
    if (m.usedBytes + (this.admitted + bytes) * this.growth < m.maxBytes) return null
    // One that is far too large says nothing about the others.
    if (bytes * this.growth <= USUAL_PART * m.maxBytes) {
      this.refusing = true
      this.wanted = bytes * this.growth
    }
    return `storage is at ${m.pctUsed} % of ${megabytes(m.maxBytes)}, and this request, which needs about ${megabytes(bytes * this.growth)}, would take it past the limit: send less at once, purge a source, set retention, or raise SVC_MAX_DB_SIZE`
  }

  private learn({ usedBytes }: Measure): void {
    if (!this.cached || this.admitted < LEARN_FROM) return
    const seen = (usedBytes - this.cached.measure.usedBytes) / this.admitted
    this.growth = Math.min(GROWTH.most, Math.max(GROWTH.least, (this.growth + seen) / 2))
  }

  private foldLog(now: number): void {
    if (now - this.foldedAt < FOLD_EVERY_MS) return
    this.foldedAt = now
    this.store.foldLog()
    this.cached = null
  }

  private read(): Measure {
    const { db, file } = this.store
    const pageSize = db.pragma('page_size', { simple: true }) as number
    const dbBytes = (db.pragma('page_count', { simple: true }) as number) * pageSize
    const freeBytes = (db.pragma('freelist_count', { simple: true }) as number) * pageSize
    const walBytes = file ? sizeOf(`${file}-wal`) : 0
    const volume = file ? statfsSync(dirname(file)) : null
    const diskTotal = volume ? volume.blocks * volume.bsize : Number.MAX_SAFE_INTEGER
    const diskFree = volume ? volume.bavail * volume.bsize : Number.MAX_SAFE_INTEGER
    const maxBytes = this.maxDbSize ?? diskTotal
    const usedBytes = dbBytes - freeBytes
    const toCome = file ? Math.max(0, dbBytes - sizeOf(file)) : 0
    const pctUsed = Math.round((usedBytes / maxBytes) * 10_000) / 100
    return {
      dbBytes,
      walBytes,
      freeBytes,
      usedBytes,
      maxBytes,
      maxBytesSource: this.maxDbSize === null ? 'volume' : 'env',
      diskTotal,
      diskFree,
      room: Math.max(0, diskFree - toCome),
      pctUsed,
    }
  }
}

/** Stat only: opening a database file by another way would drop its locks. */
function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
