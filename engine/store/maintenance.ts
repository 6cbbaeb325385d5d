/**
 * Work between commits of ingest, one small step at a time: finishing a full segment's sealing,
 * purging a deleted source, retention by age and by size, forgetting old idempotency and
 * deduplication keys. Every job is a row or follows from rows, so a restart goes on with it.
 */
import type { Appender } from './append.ts'
import { BlockStore } from './blocks.ts'
import type { Capacity } from './capacity.ts'
import type { Dictionary } from './dictionary.ts'
import type { StoreHandle } from './handle.ts'
import { LabelCounts } from './label-counts.ts'
import { SEGMENT_SIZE } from './posting.ts'
import { idsOfSource, keepHighId, REMOVE_CHUNK, removeEvents } from './remove.ts'
import { spanOf } from './sealer.ts'
import { bumpSegmentsVersion, type SegmentIndex } from './segments.ts'

export interface Retention {
  /** Events older than this by event time go; null keeps them. Milliseconds. */
  maxAgeMs: number | null
  /** Oldest events go when the store is larger; null keeps them. Bytes. */
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
  constructor(private readonly parts: Parts) {}

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
      this.sizeStep(now) ||
      this.forgetStep(now) ||
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
      const dropped = new BlockStore(db, true).dropSome(seg, DROP_BLOCKS)
      if (dropped) {
        new LabelCounts(db, true).add(
          new Map([...dropped].map(([labelId, n]) => [labelId, { n: -n, last: 0 }])),
        )
        return
      }
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
    else
      store.tx(() => {
        store.db.prepare('DELETE FROM documents WHERE source_id = ?').run(sourceId)
        store.db.prepare('DELETE FROM dedupe WHERE source_id = ?').run(sourceId)
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

  /** Retention by size: the oldest arrivals go until the store fits. */
  private sizeStep(now: number): boolean {
    const { maxBytes } = this.parts.retention
    const { index, store, capacity } = this.parts
    if (maxBytes === null || capacity.measureAnew(now).usedBytes <= maxBytes) return false
    const oldest = index.all()[0]
    if (!oldest) return false
    if (oldest.seg <= index.lastSealed()) {
      this.drop(oldest.seg)
      return true
    }
    return (
      removeEvents(
        store,
        index.tail,
        this.oldestOf(oldest.seg, () => true),
      ) > 0
    )
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
    const items = db
      .prepare(
        'DELETE FROM dedupe WHERE (source_id, key) IN (SELECT source_id, key FROM dedupe WHERE created_at < ? LIMIT 1000)',
      )
      .run(now - DEDUPE_MS)
    return answers.changes + items.changes > 0
  }
}
