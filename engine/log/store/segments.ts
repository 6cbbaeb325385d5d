/**
 * The event index of one connection: sealed segments from disk and the tail from memory, as one
 * list. Works the same on the writing connection and on a reader's.
 */
import type { Statement } from 'better-sqlite3'
import type { Database, StoreHandle } from './handle.ts'
import { offsetsOf, type Posting, SEGMENT_SIZE, sizeOf } from './labels.ts'
import { BlockStore, type OpenSegment, type Tail } from './tail.ts'

/** Decoded times kept: 256 KiB each, so 24 MiB; a week of 10 million events a month is 36. */
const TIMES_CACHED = 96

/** A segment as queries see it. */
export interface Segment {
  seg: number
  n: number
  minTs: number
  maxTs: number
  maxIngestedAt: number
  /** The posting of a label, or undefined when no event of the segment carries it. */
  posting(labelId: number): Posting | undefined
  times(): Times
  /** The postings of the wanted labels, in no order: [label id, offsets]. */
  postings(wanted: ReadonlySet<number>): Iterable<[number, Posting]>
}

/** What is known of a sealed segment's events, by the label of their source. */
interface CountedSegment {
  /** Events of the segment when it was counted. */
  n: number
  totals: readonly [label: number, count: number][]
  /** By minute, of sources that somebody asked for: minute and count in turn. */
  minutes: Map<number, Int32Array>
  /** Of all of them, so many minutes. */
  kept: number
}

interface SegmentRow {
  seg: number
  n: number
  min_ts: number
  max_ts: number
  max_ingested_at: number
}

/** Tells every connection to read the list of segments again. Call inside the transaction. */
export function bumpSegmentsVersion(db: Database): void {
  db.prepare(
    "INSERT INTO meta VALUES ('segments_version', '1') ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1",
  ).run()
}

/** Tells readers that rows they may hold in their tail are gone. Call inside the transaction. */
export function bumpTailVersion(db: Database): void {
  db.prepare(
    "INSERT INTO meta VALUES ('tail_version', '1') ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1",
  ).run()
}

/** Of postings, that a reader keeps: those of the last days, where a read of one entity looks. */
const KEPT_BYTES = 4 * 1024 * 1024

export class SegmentIndex {
  private sealed: Segment[] = []
  private through = -1
  private version = ''
  private tailVersion = ''
  /** False where a reader found none, of any version: most stores have none, and each read would look. */
  hasDocuments = true
  private readonly times = new Map<number, Times>()
  private readonly counted = new Map<number, CountedSegment>()
  private readonly selectVersion: Statement<[string], string | undefined>
  private readonly selectSegments: Statement<[], SegmentRow>
  private readonly selectThrough: Statement<[], number>
  private readonly blocks: BlockStore
  private readonly selectTimes: Statement<[number], Uint8Array>

  /** @param isReader on a connection that writes nothing: what it reads of a segment is right until that is another. */
  constructor(
    db: Database,
    readonly tail: Tail,
    isReader: boolean,
  ) {
    this.selectVersion = db.prepare('SELECT value FROM meta WHERE key = ?').pluck() as Statement<
      [string],
      string | undefined
    >
    this.selectSegments = db.prepare(
      'SELECT seg, n, min_ts, max_ts, max_ingested_at FROM segs WHERE dropping = 0 ORDER BY seg',
    )
    // What is being removed was sealed, and before the first event there was what is gone by now.
    this.selectThrough = db
      .prepare(
        `SELECT max(coalesce((SELECT max(seg) FROM segs), -1),
           coalesce((SELECT min(id) FROM events), (SELECT value + 1 FROM meta WHERE key = 'high_id'), 0) / ${SEGMENT_SIZE} - 1)`,
      )
      .pluck() as Statement<[], number>
    this.blocks = new BlockStore(db, false, isReader ? KEPT_BYTES : 0)
    this.selectTimes = db.prepare('SELECT ts FROM segs WHERE seg = ?').pluck() as Statement<
      [number],
      Uint8Array
    >
  }

  /**
   * Brings the view up to what is committed. On a reader, call inside a read transaction.
   * @param catchUpTail false on the writing connection, whose tail is always current.
   */
  refresh(catchUpTail: boolean): void {
    const version = this.selectVersion.get('segments_version') ?? ''
    const tailVersion = this.selectVersion.get('tail_version') ?? ''
    if (version !== this.version) this.readSegments()
    if (catchUpTail) {
      // A reader that has not been asked for a while starts behind what is sealed by now, instead of
      // walking through every event since.
      const isFarBehind = this.tail.lastId < (this.lastSealed() + 1) * SEGMENT_SIZE - 1
      const isOld = tailVersion !== this.tailVersion || isFarBehind
      this.hasDocuments = isOld ? this.tail.rebuild(this.lastSealed()) : this.tail.catchUp()
      this.tail.dropThrough(this.lastSealed())
    }
    this.version = version
    this.tailVersion = tailVersion
  }

  /** Reads the list of sealed segments and rebuilds the tail behind them: at boot. */
  load(): void {
    this.readSegments()
    this.tail.rebuild(this.lastSealed())
    this.version = this.selectVersion.get('segments_version') ?? ''
    this.tailVersion = this.selectVersion.get('tail_version') ?? ''
  }

  /** All segments with events, oldest arrival first. */
  all(): Segment[] {
    const open = this.tail.segments.filter((segment) => segment.n > 0).map(asSegment)
    return open.length ? [...this.sealed, ...open] : this.sealed
  }

  get sealedCount(): number {
    return this.sealed.length
  }

  /** Number of the newest segment that was sealed, -1 when none was; retention may have removed it. */
  lastSealed(): number {
    return this.through
  }

  private readSegments(): void {
    const before = this.sealed
    this.sealed = this.selectSegments.all().map((row) => this.sealedSegment(row))
    this.through = this.selectThrough.get()!
    const sizes = new Map(this.sealed.map(({ seg, n }) => [seg, n]))
    for (const { seg, n } of before) if (sizes.get(seg) !== n) this.blocks.forget(seg)
    for (const seg of this.times.keys()) if (!sizes.has(seg)) this.times.delete(seg)
    for (const seg of this.counted.keys()) if (!sizes.has(seg)) this.counted.delete(seg)
  }

  /**
   * Events of a sealed segment by source, which its postings say without a look at any event.
   * @param sourceLabels of all sources
   * @returns null where it is open: it grows
   */
  totalsOf(segment: Segment, sourceLabels: ReadonlySet<number>): CountedSegment['totals'] | null {
    return this.countedOf(segment, sourceLabels)?.totals ?? null
  }

  /**
   * Events of one source by minute since 1970. Kept where they are of few minutes.
   * @param sourceLabels of all sources. @returns minute and count in turn; null where the segment is open
   */
  minutesOf(segment: Segment, label: number, sourceLabels: ReadonlySet<number>): Int32Array | null {
    const counted = this.countedOf(segment, sourceLabels)
    if (!counted) return null
    const known = counted.minutes.get(label)
    if (known) return known
    const made = countMinutes(segment, label)
    if (counted.kept + made.length / 2 <= MINUTES_MAX) {
      counted.minutes.set(label, made)
      counted.kept += made.length / 2
    }
    return made
  }

  /** A segment that is sealed changes by what is taken out of it alone, and then has fewer events. */
  private countedOf(segment: Segment, sourceLabels: ReadonlySet<number>): CountedSegment | null {
    const { seg, n } = segment
    if (seg > this.lastSealed()) return null
    const known = this.counted.get(seg)
    if (known?.n === n) return known
    const totals = [...segment.postings(sourceLabels)].map(([label, posting]): [number, number] => [
      label,
      sizeOf(posting),
    ])
    const made = { n, totals, minutes: new Map(), kept: 0 }
    this.counted.set(seg, made)
    return made
  }

  private sealedSegment(row: SegmentRow): Segment {
    const { seg } = row
    return {
      seg,
      n: row.n,
      minTs: row.min_ts,
      maxTs: row.max_ts,
      maxIngestedAt: row.max_ingested_at,
      posting: (labelId) => this.blocks.posting(seg, labelId),
      times: () => this.timesOf(seg),
      postings: (wanted) => this.blocks.postings(seg, wanted),
    }
  }

  private timesOf(seg: number): Times {
    let times = this.times.get(seg)
    if (times) this.times.delete(seg)
    else {
      const stored = this.selectTimes.get(seg)
      if (!stored) throw new Error(`segment ${seg} has no times`)
      times = decodeTimes(stored)
      if (this.times.size >= TIMES_CACHED) this.times.delete(this.times.keys().next().value!)
    }
    // Re-inserted last: the map's order is the order of use.
    this.times.set(seg, times)
    return times
  }
}

/* Counts of a source by minute. */

export const MINUTE_MS = 60_000
/** Of a segment more are not kept: 32 KiB. */
const MINUTES_MAX = 4_096

function countMinutes(segment: Segment, label: number): Int32Array {
  const posting = segment.posting(label)
  if (!posting) return new Int32Array()
  const times = segment.times()
  const counts = new Map<number, number>()
  // Neighbours are mostly of one minute: looked up once for all of them.
  let from = Number.POSITIVE_INFINITY
  let to = Number.NEGATIVE_INFINITY
  let minute = 0
  let run = 0
  const add = () => {
    if (run > 0) counts.set(minute, (counts.get(minute) ?? 0) + run)
  }
  for (const offset of offsetsOf(posting)) {
    const ts = times.at(offset)
    if (!(ts >= from && ts < to)) {
      add()
      minute = Math.floor(ts / MINUTE_MS)
      from = minute * MINUTE_MS
      to = from + MINUTE_MS
      run = 0
    }
    run++
  }
  add()
  return Int32Array.from([...counts].flat())
}

function asSegment(open: OpenSegment): Segment {
  return {
    seg: open.seg,
    n: open.n,
    minTs: open.minTs,
    maxTs: open.maxTs,
    maxIngestedAt: open.maxIngestedAt,
    posting: (labelId) => open.posting(labelId),
    times: () => ({ at: (offset) => open.ts[offset]! }),
    postings: function* (wanted) {
      for (const labelId of wanted) {
        const posting = open.posting(labelId)
        if (posting) yield [labelId, posting]
      }
    },
  }
}

/*
 * Event times of a sealed segment as bytes: an 8-byte base and 65,536 u32 milliseconds above it.
 * Offsets without an event hold the largest u32. Times further than 49 days above the base (a
 * segment that mixes live events with a back-fill) do not fit; then all are stored as f64.
 */

const NONE = 0xffff_ffff
const NARROW_BYTES = 8 + SEGMENT_SIZE * 4

/** Times by offset. `at` gives NaN where there is no event. */
interface Times {
  at(offset: number): number
}

/** @param ts epoch ms by offset, NaN where there is no event. */
export function encodeTimes(ts: Float64Array): Uint8Array {
  let base = Number.POSITIVE_INFINITY
  let top = Number.NEGATIVE_INFINITY
  for (const t of ts) {
    if (t < base) base = t
    if (t > top) top = t
  }
  if (top - base >= NONE) return new Uint8Array(ts.slice().buffer)
  const bytes = new Uint8Array(NARROW_BYTES)
  new DataView(bytes.buffer).setFloat64(0, base, true)
  const above = new Uint32Array(bytes.buffer, 8)
  for (let i = 0; i < SEGMENT_SIZE; i++) above[i] = Number.isNaN(ts[i]!) ? NONE : ts[i]! - base
  return bytes
}

/** Reads what encodeTimes wrote. */
export function decodeTimes(stored: Uint8Array): Times {
  const bytes = new Uint8Array(stored)
  if (bytes.length !== NARROW_BYTES) {
    const wide = new Float64Array(bytes.buffer)
    return { at: (offset) => wide[offset]! }
  }
  const base = new DataView(bytes.buffer).getFloat64(0, true)
  const above = new Uint32Array(bytes.buffer, 8)
  return {
    at: (offset) => {
      const value = above[offset]!
      return value === NONE ? Number.NaN : base + value
    },
  }
}

/* Retention by size: what the events and the keys of items take in the file, and what to say where others take more. */

/** Of the limit: what keys of items may take, and what events keep, whatever else is in the file (labels, firings, runs). */
export const PARTS = { keys: 0.25, events: 0.5 }
/** Events whose size is looked at to know that of all, and for how long that holds. */
const SAMPLE = 256
const SAMPLE_MS = 60_000
/** What an event takes beside its row: its time and its place in the index, bytes. */
const INDEX_BYTES = 60
const OVER_SIZE = 'over_size'
/** What a key of an item takes in its table and in the index of its time, bytes: it is a hash, always of 64 digits. */
const KEY_BYTES = 180
/** Keys removed in a transaction. */
const FORGET_CHUNK = 1_000

/**
 * How many keys of items there are, and their removal. The number is a fact of the file, counted once and then kept with
 * each change, for counting millions takes seconds. Each call is a part of the caller's transaction.
 */
export class ItemKeys {
  private readonly known: Statement<[], string>
  private readonly count: Statement<[number]>
  private readonly old: Statement<[number]>
  private readonly ofSource: Statement<[number]>

  constructor(private readonly db: Database) {
    this.known = db.prepare<[], string>("SELECT value FROM meta WHERE key = 'item_keys'").pluck()
    this.count = db.prepare(
      "UPDATE meta SET value = CAST(max(0, CAST(value AS INTEGER) + ?) AS TEXT) WHERE key = 'item_keys'",
    )
    this.old = db.prepare(
      `DELETE FROM dedupe WHERE (source_id, key) IN
         (SELECT source_id, key FROM dedupe WHERE created_at < ? ORDER BY created_at LIMIT ${FORGET_CHUNK})`,
    )
    this.ofSource = db.prepare(
      `DELETE FROM dedupe WHERE (source_id, key) IN (SELECT source_id, key FROM dedupe WHERE source_id = ? LIMIT ${FORGET_CHUNK})`,
    )
  }

  /** What all take in the file. */
  bytes(): number {
    const known = this.known.get()
    if (known !== undefined) return Number(known) * KEY_BYTES
    this.db.prepare("INSERT INTO meta SELECT 'item_keys', count(*) FROM dedupe").run()
    return this.bytes()
  }

  /** Counts keys that were claimed. */
  add(n: number): void {
    this.count.run(n)
  }

  /** Removes the oldest. @param before epoch ms @returns how many; 0: there is none */
  forget(before: number): number {
    return this.less(this.old.run(before).changes)
  }

  /** Removes some of a source. @returns how many; 0: there is none */
  forgetOf(sourceId: number): number {
    return this.less(this.ofSource.run(sourceId).changes)
  }

  private less(n: number): number {
    if (n > 0) this.add(-n)
    return n
  }
}

/** What events take of the file, and why the file stays larger than it should. */
export class Sizes {
  private sample = { at: Number.NEGATIVE_INFINITY, bytes: 0 }
  private last: { at: number; said: string | null } | null = null

  constructor(
    private readonly store: StoreHandle,
    private readonly index: SegmentIndex,
  ) {}

  /** How many there are. */
  events(): number {
    return this.index.all().reduce((sum, { n }) => sum + n, 0)
  }

  /** Bytes of an event in the file with its index, on average, by a sample of all. */
  perEvent(now: number): number {
    if (Math.abs(now - this.sample.at) < SAMPLE_MS) return this.sample.bytes
    const { store, index } = this
    const size = store.db
      .prepare(
        `SELECT length(labels) + octet_length(text) + length(raw) + coalesce(octet_length(numbers), 0) + coalesce(octet_length(claimed_time), 0)
         FROM events WHERE id >= ? ORDER BY id LIMIT 1`,
      )
      .pluck()
    const sizes: number[] = []
    const step = Math.max(1, this.events() / SAMPLE)
    let before = 0
    for (const { seg, n } of index.all()) {
      for (let at = Math.ceil(before / step) * step; at < before + n; at += step)
        sizes.push((size.get(seg * SEGMENT_SIZE + Math.floor(at - before)) as number | undefined) ?? 0)
      before += n
    }
    const sum = sizes.reduce((all, bytes) => all + bytes + INDEX_BYTES, 0)
    this.sample = { at: now, bytes: sizes.length ? sum / sizes.length : 0 }
    return this.sample.bytes
  }

  /** Leaves in the file, for `overSize`, what removal cannot change, null: nothing. @returns false: no step was done */
  say(now: number, sizes: { used: number; maxBytes: number; events: number } | null): false {
    const { db } = this.store
    const last = this.last ?? { at: now, said: overSize(db) }
    const isSaid = (sizes === null) === (last.said === null)
    this.last = last
    if (isSaid && (sizes === null || now - last.at < SAMPLE_MS)) return false
    const said = sizes && overSizeOf(sizes)
    if (said === null) db.prepare('DELETE FROM meta WHERE key = ?').run(OVER_SIZE)
    else db.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)').run(OVER_SIZE, said)
    this.last = { at: now, said }
    return false
  }
}

const overSizeOf = ({ used, maxBytes, events }: { used: number; maxBytes: number; events: number }): string =>
  `the data file has ${megabytes(used)} in use, over SVC_RETENTION_SIZE (${megabytes(maxBytes)}); the ${megabytes(events)} of events in it are kept, for the rest cannot be removed in their place: raise the limit, or set SVC_RETENTION_AGE, which removes old firings and runs too`

/** Why the file stays larger than retention by size asks for, in a sentence; null: it does not. */
export function overSize(db: Database): string | null {
  const said = db.prepare<[string], string>('SELECT value FROM meta WHERE key = ?').pluck().get(OVER_SIZE)
  return said ?? null
}

/** Bytes as texts for people name them. */
export function megabytes(bytes: number): string {
  return bytes >= 10e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${(bytes / 1e6).toFixed(1)} MB`
}
