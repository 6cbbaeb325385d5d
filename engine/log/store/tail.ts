/**
 * The tail: all segments without postings on disk, oldest first. Usually one that grows, and
 * while the one before is being sealed, two. Every connection has its own copy; a reader's
 * catches up by id before each read.
 */
import type { Statement } from 'better-sqlite3'
import type { Database } from './handle.ts'
import {
  decodePosting,
  encodePosting,
  GrowingList,
  offsetOf,
  offsetsOf,
  type Posting,
  SEGMENT_SIZE,
  segmentOf,
} from './labels.ts'

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
  private readonly newest: Statement<[], [event: number | null, document: number | null]>
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
    this.newest = db
      .prepare('SELECT (SELECT max(id) FROM events), (SELECT max(id) FROM documents)')
      .raw() as Statement<[], [event: number | null, document: number | null]>
    this.lastId = 0
  }

  /** Rebuilds the tail from the rows past the last sealed segment (-1: none is sealed). @returns as `catchUp`. */
  rebuild(lastSealed: number): boolean {
    this.segments = []
    this.lastId = (lastSealed + 1) * SEGMENT_SIZE - 1
    if (this.lastId < 0) this.lastId = 0
    const hasDocuments = this.catchUp()
    // Rows with the largest ids may be gone; their ids are not given again.
    const high = Number(this.highId.get() ?? 0)
    if (high > this.lastId) this.lastId = high
    return hasDocuments
  }

  /** Adds the events committed since the last call. @returns whether there is a document, of any version. */
  catchUp(): boolean {
    const [event, document] = this.newest.get()!
    if (event && event > this.lastId)
      for (let read = BULK_ROWS; read === BULK_ROWS; ) read = this.addBulk(this.after.get(this.lastId)!)
    if (document && document > this.lastId) this.lastId = document
    return document !== null
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

/*
 * The segment that still grows, in memory: times and postings of events that have no postings on
 * disk yet. It is derived: rebuilt from the events table at boot and by each reader (about 3 µs
 * an event), so nothing is lost with the process.
 *
 * Labels are kept in order of arrival, and postings made of them when somebody looks: on the writer
 * nobody does until the segment is sealed.
 */

/** All postings of a segment: those of label `ids[i]` are the offsets from `starts[i]` to `starts[i + 1]`. */
export interface SortedPostings {
  /** Label ids, ascending. */
  ids: Uint32Array
  starts: Uint32Array
  offsets: Uint16Array
}

export class OpenSegment {
  readonly seg: number
  /** Event time by offset, epoch ms; NaN where no event has the offset. */
  readonly ts = new Float64Array(SEGMENT_SIZE).fill(Number.NaN)
  /** Time of ingest by offset, epoch ms. */
  readonly ingestedAt = new Float64Array(SEGMENT_SIZE)
  /** Labels of the events in order of arrival; where those of each end, and its offset. */
  private labels = new Uint32Array(4 * 1_024)
  private readonly labelEnds = new Uint32Array(SEGMENT_SIZE)
  private readonly offsets = new Uint16Array(SEGMENT_SIZE)
  private arrived = 0
  /** Of the arrived, those that are in `lists`: they follow when somebody looks. */
  private listed = 0
  private readonly lists: GrowingList[] = []
  /** Label id → index in `lists` plus one: three times faster than a Map of 20,000 labels. */
  private slots = new Uint32Array(1_024)
  private hasRemoved = false
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
    let end = this.arrived === 0 ? 0 : this.labelEnds[this.arrived - 1]!
    if (end + to - from > this.labels.length) this.growLabels(end + to - from)
    for (let i = from; i < to; i++) this.labels[end++] = labels[i]!
    this.labelEnds[this.arrived] = end
    this.offsets[this.arrived++] = offset
  }

  /** The offsets that carry a label, or undefined. */
  list(labelId: number): GrowingList | undefined {
    this.listArrived()
    const slot = this.slots[labelId]
    return slot ? this.lists[slot - 1] : undefined
  }

  /** The posting of a label, or undefined. Valid until the segment changes. */
  posting(labelId: number): Posting | undefined {
    const list = this.list(labelId)
    return list && list.length > 0 ? { list: list.view() } : undefined
  }

  /** Those of the offsets whose events are still there. */
  present(offsets: Uint16Array): Uint16Array {
    return this.hasRemoved ? offsets.filter((offset) => !Number.isNaN(this.ts[offset]!)) : offsets
  }

  /**
   * Every posting, by counting: a tenth of the work of lists that grow, where nobody looked at them.
   * Offsets that were removed are in it; `present` leaves them out.
   */
  sorted(): SortedPostings {
    const { labels, arrived } = this
    const total = arrived === 0 ? 0 : this.labelEnds[arrived - 1]!
    let most = 0
    for (let i = 0; i < total; i++) if (labels[i]! > most) most = labels[i]!
    // First how many of each label, then where the next of each goes.
    const places = new Uint32Array(most + 1)
    let distinct = 0
    for (let i = 0; i < total; i++) if (places[labels[i]!]!++ === 0) distinct++
    const ids = new Uint32Array(distinct)
    for (let i = 0, at = 0; at < distinct; i++) if (places[i]! > 0) ids[at++] = i
    const starts = new Uint32Array(distinct + 1)
    for (let i = 0; i < distinct; i++) {
      starts[i + 1] = starts[i]! + places[ids[i]!]!
      places[ids[i]!] = starts[i]!
    }
    const offsets = new Uint16Array(total)
    for (let k = 0, i = 0; k < arrived; k++) {
      const offset = this.offsets[k]!
      for (const end = this.labelEnds[k]!; i < end; i++) offsets[places[labels[i]!]!++] = offset
    }
    return { ids, starts, offsets }
  }

  /** Forgets events: their offsets leave all postings that `labelIds` names. */
  remove(ids: readonly number[], labelIds: Iterable<number>): void {
    const gone = new Set(ids.map(offsetOf))
    for (const labelId of labelIds) this.list(labelId)?.remove((offset) => gone.has(offset))
    for (const offset of gone) {
      if (Number.isNaN(this.ts[offset]!)) continue
      this.ts[offset] = Number.NaN
      this.hasRemoved = true
      this.n--
    }
  }

  private growLabels(size: number): void {
    const larger = new Uint32Array(Math.max(2 * this.labels.length, this.labels.length + size))
    larger.set(this.labels)
    this.labels = larger
  }

  private listArrived(): void {
    for (; this.listed < this.arrived; this.listed++) {
      const offset = this.offsets[this.listed]!
      const end = this.labelEnds[this.listed]!
      for (let i = this.listed === 0 ? 0 : this.labelEnds[this.listed - 1]!; i < end; i++) {
        const labelId = this.labels[i]!
        const slot = this.slots[labelId]
        if (slot) this.lists[slot - 1]!.push(offset)
        else this.open(labelId).push(offset)
      }
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
    this.slots[labelId] = this.lists.length
    return list
  }
}

/** Label ids of an event's `labels` blob. */
export function labelIdsOf(blob: Uint8Array): Uint32Array {
  if (blob.byteOffset % 4 === 0) return new Uint32Array(blob.buffer, blob.byteOffset, blob.byteLength >> 2)
  const copy = new Uint8Array(blob)
  return new Uint32Array(copy.buffer, 0, copy.byteLength >> 2)
}

/*
 * Posting blocks: the postings of neighbouring labels of one segment in one row. Most labels of a
 * segment have a handful of events, so a row each would cost more than the postings themselves.
 *
 * Layout, little-endian: u32 number of labels; per label u32 id, u32 number of offsets, u32 start
 * of its bytes after the directory; then the encoded postings (see labels.ts).
 */

/** Bytes of postings a block is closed at. */
const BLOCK_BYTES = 8_192
const ENTRY_BYTES = 12
/** Offsets that need no view; a block that is not full has room for them. */
const FEW = 16

interface Entry {
  labelId: number
  n: number
  start: number
}

/** Collects postings in ascending label order and hands out full blocks. */
export class BlockBuilder {
  private entries: Entry[] = []
  private scratch = new Uint8Array(4 * BLOCK_BYTES)
  private used = 0

  get isEmpty(): boolean {
    return this.entries.length === 0
  }

  get lastLabel(): number {
    return this.entries.at(-1)!.labelId
  }

  /** @returns true when the block is full and should be taken. */
  add(labelId: number, offsets: Uint16Array): boolean {
    if (offsets.length <= FEW) return this.addFew(labelId, offsets)
    const bytes = encodePosting(offsets)
    if (this.used + bytes.length > this.scratch.length) {
      const larger = new Uint8Array(2 * this.scratch.length + bytes.length)
      larger.set(this.scratch)
      this.scratch = larger
    }
    this.scratch.set(bytes, this.used)
    return this.close(labelId, offsets.length, bytes.length)
  }

  /** Most labels of a segment: written byte by byte, a view would cost more than its bytes. */
  private addFew(labelId: number, offsets: Uint16Array): boolean {
    for (let i = 0; i < offsets.length; i++) {
      this.scratch[this.used + 2 * i] = offsets[i]! & 0xff
      this.scratch[this.used + 2 * i + 1] = offsets[i]! >> 8
    }
    return this.close(labelId, offsets.length, 2 * offsets.length)
  }

  private close(labelId: number, n: number, bytes: number): boolean {
    this.entries.push({ labelId, n, start: this.used })
    this.used += bytes
    return this.used + this.entries.length * ENTRY_BYTES >= BLOCK_BYTES
  }

  /** The block, and an empty builder. */
  take(): Uint8Array {
    const { entries } = this
    const head = 4 + entries.length * ENTRY_BYTES
    const data = new Uint8Array(head + this.used)
    const view = new DataView(data.buffer)
    view.setUint32(0, entries.length, true)
    entries.forEach((entry, i) => {
      const at = 4 + i * ENTRY_BYTES
      view.setUint32(at, entry.labelId, true)
      view.setUint32(at + 4, entry.n, true)
      view.setUint32(at + 8, entry.start, true)
    })
    data.set(this.scratch.subarray(0, this.used), head)
    this.entries = []
    this.used = 0
    return data
  }
}

/** The posting of a label in a block, or undefined. */
function findInBlock(data: Uint8Array, labelId: number): Posting | undefined {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  let low = 0
  let high = view.getUint32(0, true) - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const found = view.getUint32(4 + middle * ENTRY_BYTES, true)
    if (found === labelId) return entryAt(data, view, middle)
    if (found < labelId) low = middle + 1
    else high = middle - 1
  }
  return undefined
}

/** Every posting of a block: [label id, posting]. */
function* postingsOfBlock(data: Uint8Array, wanted?: ReadonlySet<number>): Iterable<[number, Posting]> {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  const n = view.getUint32(0, true)
  for (let i = 0; i < n; i++) {
    const labelId = view.getUint32(4 + i * ENTRY_BYTES, true)
    if (!wanted || wanted.has(labelId)) yield [labelId, entryAt(data, view, i)]
  }
}

function entryAt(data: Uint8Array, view: DataView, i: number): Posting {
  const entries = view.getUint32(0, true)
  const head = 4 + entries * ENTRY_BYTES
  const n = view.getUint32(4 + i * ENTRY_BYTES + 4, true)
  const start = head + view.getUint32(4 + i * ENTRY_BYTES + 8, true)
  const end = i + 1 < entries ? head + view.getUint32(4 + (i + 1) * ENTRY_BYTES + 8, true) : data.length
  return decodePosting(data.subarray(start, end), n)
}

/** A block, for labels from the first that was looked for in it, or is in it, to its last. */
interface KeptBlock {
  seg: number
  from: number
  last: number
  data: Uint8Array
}

/**
 * Blocks that were read last. Handing one over takes as long as reading a row (7 µs of 60 for a small read that looks
 * in three, 2026-11-26), and the same ones are asked for again and again.
 */
class KeptBlocks {
  /** By segment, by their last label. */
  private readonly bySegment = new Map<number, KeptBlock[]>()
  /** In the order of use. */
  private readonly used = new Set<KeptBlock>()
  private bytes = 0

  /** @param most bytes */
  constructor(private readonly most: number) {}

  /** The block that holds a label if any does; undefined: it is not kept. */
  find(seg: number, labelId: number): Uint8Array | undefined {
    const blocks = this.bySegment.get(seg)
    const block = blocks?.[placeIn(blocks, labelId)]
    if (!block || block.from > labelId) return undefined
    this.used.delete(block)
    this.used.add(block)
    return block.data
  }

  /** Keeps the block that was found for a label. */
  keep(seg: number, labelId: number, last: number, data: Uint8Array): void {
    const blocks = this.bySegment.get(seg) ?? []
    const at = placeIn(blocks, last)
    if (blocks[at]?.last === last) {
      blocks[at].from = Math.min(blocks[at].from, labelId)
      return
    }
    const block = { seg, from: Math.min(labelId, firstLabelOf(data)), last, data }
    blocks.splice(at, 0, block)
    this.bySegment.set(seg, blocks)
    this.used.add(block)
    this.bytes += data.length
    while (this.bytes > this.most) this.giveBack(this.used.values().next().value!)
  }

  forget(seg: number): void {
    for (const block of [...(this.bySegment.get(seg) ?? [])]) this.giveBack(block)
  }

  private giveBack(block: KeptBlock): void {
    const blocks = this.bySegment.get(block.seg)!
    blocks.splice(blocks.indexOf(block), 1)
    if (blocks.length === 0) this.bySegment.delete(block.seg)
    this.used.delete(block)
    this.bytes -= block.data.length
  }
}

/** Of the first block whose last label is this one or beyond. */
function placeIn(blocks: readonly KeptBlock[], labelId: number): number {
  let low = 0
  let high = blocks.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (blocks[middle]!.last < labelId) low = middle + 1
    else high = middle
  }
  return low
}

const firstLabelOf = (data: Uint8Array): number =>
  new DataView(data.buffer, data.byteOffset, data.byteLength).getUint32(4, true)

/** The rows of `post` of one connection. */
export class BlockStore {
  private readonly kept: KeptBlocks | null
  private readonly find: Statement<[number, number], Uint8Array>
  private readonly findRow: Statement<[number, number], { last_label: number; data: Uint8Array }>
  private readonly ofSegment: Statement<[number], Uint8Array>
  private readonly last: Statement<[number], number | null>
  private readonly insertBlock: Statement<[number, number, Uint8Array]> | null
  private readonly deleteBlock: Statement<[number, number]> | null

  /**
   * @param writable only on the writing connection.
   * @param keptBytes so much of the blocks that were read last stays at hand until it is forgotten; none where they
   *   may be changed unsaid
   */
  constructor(db: Database, writable: boolean, keptBytes = 0) {
    this.kept = keptBytes > 0 ? new KeptBlocks(keptBytes) : null
    const first = 'FROM post WHERE seg = ? AND last_label >= ? ORDER BY last_label LIMIT 1'
    this.find = db.prepare(`SELECT data ${first}`).pluck() as Statement<[number, number], Uint8Array>
    this.findRow = db.prepare(`SELECT last_label, data ${first}`)
    this.ofSegment = db
      .prepare('SELECT data FROM post WHERE seg = ? ORDER BY last_label')
      .pluck() as Statement<[number], Uint8Array>
    this.last = db.prepare('SELECT max(last_label) FROM post WHERE seg = ?').pluck() as Statement<
      [number],
      number | null
    >
    this.insertBlock = writable
      ? db.prepare('INSERT INTO post (seg, last_label, data) VALUES (?, ?, ?)')
      : null
    this.deleteBlock = writable ? db.prepare('DELETE FROM post WHERE seg = ? AND last_label = ?') : null
  }

  posting(seg: number, labelId: number): Posting | undefined {
    const data = this.blockOf(seg, labelId)
    return data && findInBlock(data, labelId)
  }

  /** Blocks of a segment changed: what is kept of them is not right any more. */
  forget(seg: number): void {
    this.kept?.forget(seg)
  }

  private blockOf(seg: number, labelId: number): Uint8Array | undefined {
    if (!this.kept) return this.find.get(seg, labelId)
    const known = this.kept.find(seg, labelId)
    if (known) return known
    const row = this.findRow.get(seg, labelId)
    if (row) this.kept.keep(seg, labelId, row.last_label, row.data)
    return row?.data
  }

  *postings(seg: number, wanted: ReadonlySet<number>): Iterable<[number, Posting]> {
    // Few labels are fetched one by one; for many, one pass over the segment is cheaper.
    if (wanted.size <= 100) {
      for (const labelId of wanted) {
        const posting = this.posting(seg, labelId)
        if (posting) yield [labelId, posting]
      }
      return
    }
    for (const data of this.ofSegment.iterate(seg)) yield* postingsOfBlock(data, wanted)
  }

  /** Largest label written for a segment, 0 when there is none. */
  lastLabel(seg: number): number {
    return this.last.get(seg) ?? 0
  }

  insert(seg: number, lastLabel: number, data: Uint8Array): void {
    this.insertBlock!.run(seg, lastLabel, data)
  }

  /**
   * Takes offsets out of the postings of a segment.
   * @param gone label id → offsets. @returns label id → how many really went.
   */
  remove(seg: number, gone: ReadonlyMap<number, ReadonlySet<number>>): Map<number, number> {
    const removed = new Map<number, number>()
    const labelIds = [...gone.keys()].sort((a, b) => a - b)
    let through = -1
    for (const labelId of labelIds) {
      if (labelId <= through) continue
      const row = this.findRow.get(seg, labelId)
      if (!row) break
      through = row.last_label
      this.rewrite(seg, row, gone, removed)
    }
    return removed
  }

  private rewrite(
    seg: number,
    row: { last_label: number; data: Uint8Array },
    gone: ReadonlyMap<number, ReadonlySet<number>>,
    removed: Map<number, number>,
  ): void {
    const builder = new BlockBuilder()
    for (const [labelId, posting] of postingsOfBlock(row.data)) {
      const offsets = offsetsOf(posting)
      const leaving = gone.get(labelId)
      const kept = leaving ? offsets.filter((offset) => !leaving.has(offset)) : offsets
      if (leaving) removed.set(labelId, offsets.length - kept.length)
      if (kept.length) builder.add(labelId, kept)
    }
    this.deleteBlock!.run(seg, row.last_label)
    // The row keeps its key even when its last label is gone: lookups only need an upper bound.
    if (!builder.isEmpty) this.insert(seg, row.last_label, builder.take())
  }

  /** Deletes up to `limit` blocks of a segment. @returns label id → events that went; null when none was left. */
  dropSome(seg: number, limit: number): Map<number, number> | null {
    const counts = new Map<number, number>()
    let dropped = 0
    while (dropped < limit) {
      const row = this.findRow.get(seg, 0)
      if (!row) break
      for (const [labelId, posting] of postingsOfBlock(row.data))
        counts.set(labelId, posting.bits ? posting.n : posting.list.length)
      this.deleteBlock!.run(seg, row.last_label)
      dropped++
    }
    return dropped ? counts : null
  }
}
