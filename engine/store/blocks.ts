/**
 * Posting blocks: the postings of neighbouring labels of one segment in one row. Most labels of a
 * segment have a handful of events, so a row each would cost more than the postings themselves.
 *
 * Layout, little-endian: u32 number of labels; per label u32 id, u32 number of offsets, u32 start
 * of its bytes after the directory; then the encoded postings (see posting.ts).
 */
import type { Statement } from 'better-sqlite3'
import type { Database } from './handle.ts'
import { decodePosting, encodePosting, offsetsOf, type Posting } from './posting.ts'

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
export function findInBlock(data: Uint8Array, labelId: number): Posting | undefined {
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
export function* postingsOfBlock(
  data: Uint8Array,
  wanted?: ReadonlySet<number>,
): Iterable<[number, Posting]> {
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

/** The rows of `post` of one connection. */
export class BlockStore {
  private readonly find: Statement<[number, number], Uint8Array>
  private readonly findRow: Statement<[number, number], { last_label: number; data: Uint8Array }>
  private readonly ofSegment: Statement<[number], Uint8Array>
  private readonly last: Statement<[number], number | null>
  private readonly insertBlock: Statement<[number, number, Uint8Array]> | null
  private readonly deleteBlock: Statement<[number, number]> | null

  /** @param writable only on the writing connection. */
  constructor(db: Database, writable: boolean) {
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
    const data = this.find.get(seg, labelId)
    return data && findInBlock(data, labelId)
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
