/**
 * Label interning: (name, value) ↔ id. Rows of the labels table are the truth; the caches are
 * bounded, so a label with millions of values costs lookups, never memory. Two names are ours and
 * cannot be a caller's, because a label name holds no @: @source and @type.
 */
import type { Statement } from 'better-sqlite3'
import type { Database } from './handle.ts'

export const SOURCE_LABEL = '@source'
export const TYPE_LABEL = '@type'
const CACHE_MAX = 200_000

interface Label {
  name: string
  value: string
}

export class Dictionary {
  private readonly ids = new LabelIds()
  private readonly newLabels: NewLabels
  private labels = new Map<number, Label>()
  /** Whether all labels were made here, so that one that was never at hand is new. */
  private readonly beganEmpty: boolean
  private readonly selectId: Statement<[string, string], number>
  private readonly selectLabel: Statement<[number], Label>
  private readonly selectLabels: Statement<[string], string>
  private readonly insert: Statement<[string, string]> | null

  /** @param writable whether `intern` may be called: only on the writing connection. */
  constructor(db: Database, writable: boolean) {
    this.selectId = db.prepare('SELECT id FROM label_keys WHERE name = ? AND value = ?').pluck() as Statement<
      [string, string],
      number
    >
    this.selectLabel = db.prepare('SELECT name, value FROM labels WHERE id = ?')
    this.selectLabels = db
      .prepare(
        'SELECT json_group_array(json_array(l.id, l.name, l.value)) FROM json_each(?) j JOIN labels l ON l.id = j.value',
      )
      .pluck() as Statement<[string], string>
    this.insert = writable ? db.prepare('INSERT INTO labels (name, value) VALUES (?, ?)') : null
    this.beganEmpty = writable && db.prepare('SELECT EXISTS (SELECT 1 FROM labels)').pluck().get() === 0
    this.newLabels = new NewLabels(db, writable)
  }

  /** The id of a label, or undefined when no event ever had it. */
  find(name: string, value: string): number | undefined {
    const known = this.atHand(name, value)
    if (known !== undefined) return known
    // A reader's copy of what is new ends where it last looked.
    const id = this.onDisk(name, value) ?? (this.insert ? undefined : this.followed(name, value))
    if (id !== undefined) this.ids.set(name, value, id)
    return id
  }

  /** Ids of a name's values that are at hand: no look at the disk. */
  known(name: string): ReadonlyMap<string, number> {
    return this.ids.known(name)
  }

  /** The id of a label, made when it is new. Call inside a transaction, then commit() or rollback(). */
  intern(name: string, value: string): number {
    if (!this.insert) throw new Error('this dictionary is read-only')
    const known = this.atHand(name, value)
    if (known !== undefined) return known
    const isNew = this.beganEmpty && !this.ids.hasForgotten
    let id = isNew ? undefined : this.onDisk(name, value)
    if (id === undefined) {
      id = Number(this.insert.run(name, value).lastInsertRowid)
      this.newLabels.add({ id, name, value })
    }
    this.ids.set(name, value, id)
    return id
  }

  /** The last of a transaction that may have made labels. */
  beforeCommit(): void {
    this.newLabels.beforeCommit()
  }

  commit(): void {
    this.newLabels.commit()
  }

  rollback(): void {
    for (const { id, name, value } of this.newLabels.rollback()) {
      this.ids.delete(name, value)
      // The next label that is new gets this id.
      this.labels.delete(id)
    }
  }

  /** The label of an id. @throws Error when the id is unknown: a fault of ours. */
  label(id: number): Label {
    const cached = this.labels.get(id)
    if (cached) return cached
    const row = this.selectLabel.get(id)
    if (!row) throw new Error(`no label has the id ${id}`)
    if (this.labels.size >= CACHE_MAX) this.labels.clear()
    this.labels.set(id, row)
    return row
  }

  /** Has the labels of these ids at hand, by one statement: one for each takes four times as long. */
  foresee(ids: ReadonlySet<number>): void {
    const missing = [...ids].filter((id) => !this.labels.has(id))
    if (missing.length === 0) return
    if (this.labels.size + missing.length > CACHE_MAX) this.labels.clear()
    const rows = JSON.parse(this.selectLabels.get(JSON.stringify(missing))!) as [number, string, string][]
    for (const [id, name, value] of rows) this.labels.set(id, { name, value })
  }

  private atHand(name: string, value: string): number | undefined {
    return this.ids.get(name, value) ?? this.newLabels.get(name, value)
  }

  private onDisk(name: string, value: string): number | undefined {
    return this.selectId.get(name, value)
  }

  private followed(name: string, value: string): number | undefined {
    return this.newLabels.follow() ? this.newLabels.get(name, value) : undefined
  }
}

/**
 * Postings: which of a segment's 65,536 offsets carry a label. Up to 4,096 offsets they are a
 * sorted u16 list, above that an 8 KiB bitmap, whichever is smaller (the array and bitmap
 * containers of Roaring bitmaps, Chambi et al. 2016). The byte length tells which: a bitmap is
 * exactly 8,192 bytes, and a list of 4,096 is never written as a list.
 */
export const SEGMENT_SIZE = 65_536
const BITMAP_BYTES = SEGMENT_SIZE / 8
const LIST_MAX = 4_095

/** Offsets of one label in one segment. */
export type Posting =
  | { list: Uint16Array; bits?: undefined }
  | { list?: undefined; bits: Uint8Array; n: number }

/** The segment an event id belongs to. */
export const segmentOf = (id: number): number => Math.floor(id / SEGMENT_SIZE)
/** Offset of an event id in its segment. */
export const offsetOf = (id: number): number => id % SEGMENT_SIZE

/** Number of offsets in a posting. */
export function sizeOf(posting: Posting): number {
  return posting.bits ? posting.n : posting.list.length
}

/** Bytes to store. @param offsets ascending, without repeats. */
export function encodePosting(offsets: Uint16Array): Uint8Array {
  // A view: the caller copies it into its block. Platforms of Node are little-endian.
  if (offsets.length <= LIST_MAX)
    return new Uint8Array(offsets.buffer, offsets.byteOffset, offsets.byteLength)
  const bits = new Uint8Array(BITMAP_BYTES)
  for (let i = 0; i < offsets.length; i++) {
    const offset = offsets[i]!
    bits[offset >> 3]! |= 1 << (offset & 7)
  }
  return bits
}

/** Reads what encodePosting wrote. @param n number of offsets, from the row. */
export function decodePosting(bytes: Uint8Array, n: number): Posting {
  if (bytes.length === BITMAP_BYTES) return { bits: bytes, n }
  // A copy, because a u16 view needs an even byte offset and the row's buffer promises none;
  // not by slice(), which on a Buffer gives a view.
  const copy = new Uint8Array(bytes)
  return { list: new Uint16Array(copy.buffer, 0, copy.length >> 1) }
}

/** True when the posting holds the offset. */
export function has(posting: Posting, offset: number): boolean {
  if (posting.bits) return (posting.bits[offset >> 3]! & (1 << (offset & 7))) !== 0
  const list = posting.list
  let low = 0
  let high = list.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const value = list[middle]!
    if (value === offset) return true
    if (value < offset) low = middle + 1
    else high = middle - 1
  }
  return false
}

/** All offsets, ascending. */
export function offsetsOf(posting: Posting): Uint16Array {
  if (!posting.bits) return posting.list
  const out = new Uint16Array(posting.n)
  let at = 0
  for (let byte = 0; byte < posting.bits.length; byte++) {
    const value = posting.bits[byte]!
    if (value === 0) continue
    for (let bit = 0; bit < 8; bit++) if (value & (1 << bit)) out[at++] = byte * 8 + bit
  }
  return out
}

/** Offsets in any of the postings, ascending. */
export function union(postings: readonly Posting[]): Posting {
  if (postings.length === 1) return postings[0]!
  const bits = new Uint8Array(BITMAP_BYTES)
  for (const posting of postings) {
    if (posting.bits) for (let i = 0; i < BITMAP_BYTES; i++) bits[i]! |= posting.bits[i]!
    else for (const offset of posting.list) bits[offset >> 3]! |= 1 << (offset & 7)
  }
  let n = 0
  for (let i = 0; i < BITMAP_BYTES; i++) n += POPCOUNT[bits[i]!]!
  return { bits, n }
}

const POPCOUNT = Uint8Array.from({ length: 256 }, (_, byte) => {
  let n = 0
  for (let bit = byte; bit; bit &= bit - 1) n++
  return n
})

/** A list of offsets that grows at its end. */
export class GrowingList {
  private items: Uint16Array = new Uint16Array(4)
  length = 0

  /** Appends an offset larger than all before it. */
  push(offset: number): void {
    if (this.length === this.items.length) {
      const larger = new Uint16Array(this.items.length * 2)
      larger.set(this.items)
      this.items = larger
    }
    this.items[this.length++] = offset
  }

  /** The offsets so far; valid until the next push or remove. */
  view(): Uint16Array {
    return this.items.subarray(0, this.length)
  }

  last(): number {
    return this.items[this.length - 1]!
  }

  /** Drops the offsets for which `gone` says so. */
  remove(gone: (offset: number) => boolean): void {
    let kept = 0
    for (let i = 0; i < this.length; i++) {
      const offset = this.items[i]!
      if (!gone(offset)) this.items[kept++] = offset
    }
    this.length = kept
  }
}

/*
 * Labels that have no key on disk yet (see migrations/0013): in memory by name and value. The writer
 * adds what it makes and writes the keys of many at once, in their order, so that each page of
 * label_keys changes once for all of them; a reader follows the rows.
 */

/** Keys written at once: at least that many, and more where there are more pages they fall into. */
const KEYS_LEAST = 8_192
const KEYS_MOST = 32_768
const KEYS_PART = 16
/** Followed labels past which a reader begins anew. */
const FOLLOWED_MAX = 100_000

interface NewLabel {
  id: number
  name: string
  value: string
}

class NewLabels {
  private ids = LabelIds.unbounded()
  /** In order of their ids. */
  private labels: NewLabel[] = []
  /** How many there were when the transaction began. */
  private committed = 0
  /** Whether the transaction has written the keys of all. */
  private areKeyed = false
  private lastId: number
  private readonly selectThrough: Statement<[], number>
  private readonly selectAfter: Statement<[number], NewLabel>
  private readonly insertKey: Statement<[string, string, number]> | null
  private readonly updateThrough: Statement<[number]> | null

  /** @param writable only on the writing connection, which adds labels itself. */
  constructor(db: Database, writable: boolean) {
    this.selectThrough = db.prepare('SELECT through FROM labels_keyed').pluck() as Statement<[], number>
    this.selectAfter = db.prepare('SELECT id, name, value FROM labels WHERE id > ? ORDER BY id')
    this.insertKey = writable ? db.prepare('INSERT INTO label_keys (name, value, id) VALUES (?, ?, ?)') : null
    this.updateThrough = writable ? db.prepare('UPDATE labels_keyed SET through = ?') : null
    this.lastId = this.selectThrough.get()!
    this.follow()
  }

  get(name: string, value: string): number | undefined {
    return this.ids.get(name, value)
  }

  /** Adds what was stored since the last call. @returns whether there was any. */
  follow(): boolean {
    if (this.labels.length > FOLLOWED_MAX) {
      this.forget()
      this.lastId = this.selectThrough.get()!
    }
    const found = this.selectAfter.all(this.lastId)
    for (const label of found) this.add(label)
    this.committed = this.labels.length
    return found.length > 0
  }

  /** The writer's: a label whose row it has written. */
  add(label: NewLabel): void {
    this.labels.push(label)
    this.ids.set(label.name, label.value, label.id)
    this.lastId = label.id
  }

  /** The writer's: writes the keys, if there are enough to be worth it. Inside the transaction, last. */
  beforeCommit(): void {
    const enough = Math.min(KEYS_MOST, Math.max(KEYS_LEAST, this.lastId / KEYS_PART))
    if (this.labels.length < enough) return
    const sorted = this.labels.toSorted((a, b) => compare(a.name, b.name) || compare(a.value, b.value))
    for (const { name, value, id } of sorted) this.insertKey!.run(name, value, id)
    this.updateThrough!.run(this.lastId)
    this.areKeyed = true
  }

  commit(): void {
    if (this.areKeyed) this.forget()
    this.areKeyed = false
    this.committed = this.labels.length
  }

  /** @returns labels that there are not. */
  rollback(): readonly NewLabel[] {
    const gone = this.labels.splice(this.committed)
    for (const { name, value } of gone) this.ids.delete(name, value)
    this.lastId = this.labels.at(-1)?.id ?? this.selectThrough.get()!
    this.areKeyed = false
    return gone
  }

  private forget(): void {
    this.labels = []
    this.ids = LabelIds.unbounded()
  }
}

/** As SQLite orders texts: by their bytes in UTF-8, which for most is the order of JavaScript. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/* Ids of labels that are at hand, by name and value: no joined key is built and hashed for a look-up. */

/** Values remembered, of all names. */
const REMEMBERED_MAX = 200_000

export class LabelIds {
  private readonly names = new Map<string, Map<string, number>>()
  private size = 0
  private forgot = false

  constructor(private readonly most = REMEMBERED_MAX) {}

  /** One that forgets nothing. */
  static unbounded(): LabelIds {
    return new LabelIds(Number.POSITIVE_INFINITY)
  }

  /** Whether values had to be forgotten. */
  get hasForgotten(): boolean {
    return this.forgot
  }

  get(name: string, value: string): number | undefined {
    return this.names.get(name)?.get(value)
  }

  set(name: string, value: string, id: number): void {
    // Clearing all at once costs one slow moment per 200,000 new values and no bookkeeping before.
    if (this.size >= this.most) {
      this.names.clear()
      this.size = 0
      this.forgot = true
    }
    this.valuesOf(name).set(value, id)
    this.size++
  }

  delete(name: string, value: string): void {
    if (this.names.get(name)?.delete(value)) this.size--
  }

  /** Ids of a name's values; may change at any time. */
  known(name: string): ReadonlyMap<string, number> {
    return this.names.get(name) ?? NONE
  }

  private valuesOf(name: string): Map<string, number> {
    let values = this.names.get(name)
    if (!values) {
      values = new Map()
      this.names.set(name, values)
    }
    return values
  }
}

const NONE: ReadonlyMap<string, number> = new Map()

/* How many events of sealed segments carry each label, and when the last one came. */

/** Labels that are counted in one row, by id. */
export const BLOCK = 512

export class LabelCounts {
  private readonly select: Statement<[number], Uint8Array>
  private readonly upsert: Statement<[number, Uint8Array]> | null

  /** @param writable only on the writing connection. */
  constructor(db: Database, writable: boolean) {
    this.select = db.prepare('SELECT counts FROM label_counts WHERE block = ?').pluck() as Statement<
      [number],
      Uint8Array
    >
    this.upsert = writable
      ? db.prepare(
          'INSERT INTO label_counts (block, counts) VALUES (?, ?) ON CONFLICT (block) DO UPDATE SET counts = excluded.counts',
        )
      : null
  }

  /** Counts of labels; `last` is epoch ms, 0 when none was sealed. @param ids in any order. */
  read(ids: readonly number[]): Map<number, { n: number; last: number }> {
    const found = new Map<number, { n: number; last: number }>()
    let block = -1
    let counts: Float64Array | null = null
    for (const id of [...ids].sort((a, b) => a - b)) {
      if (id >> 9 !== block) {
        block = id >> 9
        counts = this.load(block)
      }
      if (counts) found.set(id, { n: counts[id & (BLOCK - 1)]!, last: counts[BLOCK + (id & (BLOCK - 1))]! })
    }
    return found
  }

  /** How many events carry each label of a block, in the order of their ids. */
  block(block: number): Uint32Array {
    return Uint32Array.from(this.load(block)?.subarray(0, BLOCK) ?? new Uint32Array(BLOCK))
  }

  /**
   * Adds to counts; call inside the transaction.
   * @param changes label id → events (negative to take away) and time of the last ingest, epoch ms.
   */
  add(changes: ReadonlyMap<number, { n: number; last: number }>): void {
    const byBlock = new Map<number, [number, { n: number; last: number }][]>()
    for (const entry of changes) {
      const list = byBlock.get(entry[0] >> 9)
      if (list) list.push(entry)
      else byBlock.set(entry[0] >> 9, [entry])
    }
    for (const [block, entries] of byBlock) {
      const counts = this.load(block) ?? new Float64Array(2 * BLOCK)
      for (const [id, { n, last }] of entries) {
        const at = id & (BLOCK - 1)
        counts[at] = Math.max(0, counts[at]! + n)
        counts[BLOCK + at] = Math.max(counts[BLOCK + at]!, last)
      }
      this.upsert!.run(block, new Uint8Array(counts.buffer))
    }
  }

  private load(block: number): Float64Array | null {
    const bytes = this.select.get(block)
    return bytes ? new Float64Array(new Uint8Array(bytes).buffer) : null
  }
}

/* Labels of rows that are read. */

/** Labels of rows; those of rows with the same labels are mostly the same object. */
export interface LabelSet {
  ids: Uint32Array
  /** The page that had it last, by count. */
  page: number
  /** Of other labels with the same hash. */
  next: LabelSet | null
}

/** Few labels of a window differ, so that those of many rows are one object. */
export class LabelSets {
  private readonly known = new Map<number, LabelSet>()
  private pages = 0

  /** @param all ids of the labels of each row of a page, a 0 between rows. @returns of each row, and those that differ */
  of(all: Uint32Array): { each: LabelSet[]; distinct: LabelSet[] } {
    const each: LabelSet[] = []
    const distinct: LabelSet[] = []
    const page = ++this.pages
    for (let from = 0, to = 0; to <= all.length; to++) {
      if (to < all.length && all[to] !== 0) continue
      const set = this.setOf(all, from, to)
      if (set.page !== page) distinct.push(set)
      set.page = page
      each.push(set)
      from = to + 1
    }
    return { each, distinct }
  }

  private setOf(all: Uint32Array, from: number, to: number): LabelSet {
    let hash = -2_128_831_035
    for (let i = from; i < to; i++) hash = Math.imul(hash ^ all[i]!, 16_777_619)
    const first = this.known.get(hash) ?? null
    next: for (let one = first; one; one = one.next) {
      if (one.ids.length !== to - from) continue
      for (let i = from; i < to; i++) if (one.ids[i - from] !== all[i]) continue next
      return one
    }
    const set = { ids: all.slice(from, to), page: 0, next: first }
    if (this.known.size >= LABEL_SETS_MAX) this.known.clear()
    this.known.set(hash, set)
    return set
  }
}

/** Where each row has labels of its own, such as the id of a request, few are asked for again. */
const LABEL_SETS_MAX = 10_000
