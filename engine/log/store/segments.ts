/**
 * The event index of one connection: sealed segments from disk and the tail from memory, as one
 * list. Works the same on the writing connection and on a reader's.
 */
import type { Statement } from 'better-sqlite3'
import type { Database } from './handle.ts'
import { offsetsOf, type Posting, SEGMENT_SIZE } from './labels.ts'
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

export class SegmentIndex {
  private sealed: Segment[] = []
  private version = ''
  private tailVersion = ''
  /** False where a reader found none, of any version: most stores have none, and each read would look. */
  hasDocuments = true
  private readonly times = new Map<number, Times>()
  private readonly minutes = new Map<number, CountedSegment>()
  private readonly selectVersion: Statement<[string], string | undefined>
  private readonly selectSegments: Statement<[], SegmentRow>
  private readonly blocks: BlockStore
  private readonly selectTimes: Statement<[number], Uint8Array>

  constructor(
    db: Database,
    readonly tail: Tail,
  ) {
    this.selectVersion = db.prepare('SELECT value FROM meta WHERE key = ?').pluck() as Statement<
      [string],
      string | undefined
    >
    this.selectSegments = db.prepare(
      'SELECT seg, n, min_ts, max_ts, max_ingested_at FROM segs WHERE dropping = 0 ORDER BY seg',
    )
    this.blocks = new BlockStore(db, false)
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

  /** Number of the newest sealed segment, -1 when there is none. */
  lastSealed(): number {
    return this.sealed.at(-1)?.seg ?? -1
  }

  private readSegments(): void {
    this.sealed = this.selectSegments.all().map((row) => this.sealedSegment(row))
    const known = new Set(this.sealed.map((segment) => segment.seg))
    for (const seg of this.times.keys()) if (!known.has(seg)) this.times.delete(seg)
    for (const seg of this.minutes.keys()) if (!known.has(seg)) this.minutes.delete(seg)
  }

  /**
   * Events of a sealed segment by source and minute, counted once: it changes by what is taken out of it alone, and then
   * has fewer events.
   * @param sourceLabels of all sources
   * @returns null where it is open, or its events are spread over so many minutes that counting them is as quick
   */
  minutesOf(segment: Segment, sourceLabels: ReadonlySet<number>): Iterable<MinuteCount> | null {
    const { seg, n } = segment
    if (seg > this.lastSealed()) return null
    let known = this.minutes.get(seg)
    if (known?.n !== n) {
      known = { n, counts: countMinutes(segment, sourceLabels) }
      this.minutes.set(seg, known)
    }
    return known.counts && minuteCounts(known.counts)
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

/* Counts by source and minute of a sealed segment: three numbers each. */

export const MINUTE_MS = 60_000
/** More are not kept: 48 KiB a segment. */
const MINUTES_MAX = 4_096

/** Label of the source, minutes since 1970, events. */
type MinuteCount = [label: number, minute: number, count: number]

interface CountedSegment {
  n: number
  counts: Int32Array | null
}

function countMinutes(segment: Segment, labels: ReadonlySet<number>): Int32Array | null {
  const counts: number[] = []
  const times = segment.times()
  for (const [label, posting] of segment.postings(labels)) {
    const byMinute = new Map<number, number>()
    for (const offset of offsetsOf(posting)) {
      const minute = Math.floor(times.at(offset) / MINUTE_MS)
      byMinute.set(minute, (byMinute.get(minute) ?? 0) + 1)
    }
    for (const [minute, count] of byMinute) counts.push(label, minute, count)
    if (counts.length > 3 * MINUTES_MAX) return null
  }
  return Int32Array.from(counts)
}

function* minuteCounts(counts: Int32Array): Generator<MinuteCount, void, void> {
  for (let i = 0; i < counts.length; i += 3) yield [counts[i]!, counts[i + 1]!, counts[i + 2]!]
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
