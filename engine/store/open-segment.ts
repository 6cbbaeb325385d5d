/**
 * The segment that still grows, in memory: times and postings of events that have no postings on
 * disk yet. It is derived: rebuilt from the events table at boot and by each reader (about 3 µs
 * an event), so nothing is lost with the process.
 */
import { GrowingList, offsetOf, type Posting, SEGMENT_SIZE } from './posting.ts'

export class OpenSegment {
  readonly seg: number
  /** Event time by offset, epoch ms; NaN where no event has the offset. */
  readonly ts = new Float64Array(SEGMENT_SIZE).fill(Number.NaN)
  /** Time of ingest by offset, epoch ms. */
  readonly ingestedAt = new Float64Array(SEGMENT_SIZE)
  private readonly lists: GrowingList[] = []
  private readonly labelIds: number[] = []
  /** Label id → index in `lists` plus one: three times faster than a Map of 20,000 labels. */
  private slots = new Uint32Array(1_024)
  n = 0
  minTs = Number.POSITIVE_INFINITY
  maxTs = Number.NEGATIVE_INFINITY
  maxIngestedAt = 0
  /** Largest id added; ids below the segment's start mean none. */
  lastId: number

  constructor(seg: number) {
    this.seg = seg
    this.lastId = seg * SEGMENT_SIZE - 1
  }

  /** Adds an event whose id is larger than all before; its labels lie in `labels` from `from` to `to`. */
  add(id: number, ts: number, ingestedAt: number, labels: Uint32Array, from: number, to: number): void {
    const offset = offsetOf(id)
    this.ts[offset] = ts
    this.ingestedAt[offset] = ingestedAt
    this.n++
    this.lastId = id
    if (ts < this.minTs) this.minTs = ts
    if (ts > this.maxTs) this.maxTs = ts
    this.maxIngestedAt = ingestedAt
    for (let i = from; i < to; i++) {
      const labelId = labels[i]!
      const slot = this.slots[labelId]
      if (slot) this.lists[slot - 1]!.push(offset)
      else this.open(labelId).push(offset)
    }
  }

  private open(labelId: number): GrowingList {
    if (labelId >= this.slots.length) {
      const larger = new Uint32Array(Math.max(this.slots.length * 2, labelId + 1))
      larger.set(this.slots)
      this.slots = larger
    }
    const list = new GrowingList()
    this.lists.push(list)
    this.labelIds.push(labelId)
    this.slots[labelId] = this.lists.length
    return list
  }

  /** The offsets that carry a label, or undefined. */
  list(labelId: number): GrowingList | undefined {
    const slot = this.slots[labelId]
    return slot ? this.lists[slot - 1] : undefined
  }

  /** Every label of the segment, ascending. */
  sortedLabels(): Uint32Array {
    return Uint32Array.from(this.labelIds).sort()
  }

  /** The posting of a label, or undefined. Valid until the segment changes. */
  posting(labelId: number): Posting | undefined {
    const list = this.list(labelId)
    return list && list.length > 0 ? { list: list.view() } : undefined
  }

  /** Forgets events: their offsets leave all postings that `labelIds` names. */
  remove(ids: readonly number[], labelIds: Iterable<number>): void {
    const gone = new Set(ids.map(offsetOf))
    for (const labelId of labelIds) this.list(labelId)?.remove((offset) => gone.has(offset))
    for (const offset of gone) {
      if (Number.isNaN(this.ts[offset]!)) continue
      this.ts[offset] = Number.NaN
      this.n--
    }
  }
}

/** Label ids of an event's `labels` blob. */
export function labelIdsOf(blob: Uint8Array): Uint32Array {
  if (blob.byteOffset % 4 === 0) return new Uint32Array(blob.buffer, blob.byteOffset, blob.byteLength >> 2)
  const copy = new Uint8Array(blob)
  return new Uint32Array(copy.buffer, 0, copy.byteLength >> 2)
}
