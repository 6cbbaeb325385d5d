/**
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
import type { Statement } from 'better-sqlite3'
import { BlockBuilder, BlockStore } from './blocks.ts'
import type { Database } from './handle.ts'
import { LabelCounts } from './label-counts.ts'
import type { OpenSegment, SortedPostings } from './open-segment.ts'
import { SEGMENT_SIZE, segmentOf } from './posting.ts'
import { bumpSegmentsVersion } from './segments.ts'
import type { Tail } from './tail.ts'
import { encodeTimes } from './times.ts'

interface Sealing {
  segment: OpenSegment
  postings: SortedPostings
}

export class Sealer {
  private sealing: Sealing | null = null
  /** The segment whose row this transaction has written. */
  private published: number | null = null
  private readonly blocks: BlockStore
  private readonly counts: LabelCounts
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
    const builder = new BlockBuilder()
    const changes = new Map<number, { n: number; last: number }>()
    let next = placeAfter(sorted.ids, this.blocks.lastLabel(segment.seg))
    const target = next + postings
    while (next < sorted.ids.length) {
      const place = next++
      const labelId = sorted.ids[place]!
      const offsets = segment.present(sorted.offsets.subarray(sorted.starts[place], sorted.starts[place + 1]))
      if (offsets.length === 0) continue
      changes.set(labelId, { n: offsets.length, last: segment.ingestedAt[offsets.at(-1)!]! })
      if (!builder.add(labelId, offsets)) continue
      this.blocks.insert(segment.seg, labelId, builder.take())
      if (next >= target) break
    }
    if (!builder.isEmpty) this.blocks.insert(segment.seg, builder.lastLabel, builder.take())
    this.counts.add(changes)
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
