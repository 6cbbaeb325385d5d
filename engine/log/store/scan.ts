/**
 * Finds events by label: the query half of the index. A query is an AND of groups, each group an
 * OR of labels (one label of a selector, several sources or types of a narrowing). Per segment the
 * rarest group drives and the others are probed, so the order in which labels are written costs
 * nothing. Events may arrive late: order and windows go by event time, and a segment is skipped
 * by its range of times.
 */

import type { Statement } from 'better-sqlite3'
import type { Database } from './handle.ts'
import {
  has,
  type LabelSet,
  LabelSets,
  offsetsOf,
  type Posting,
  SEGMENT_SIZE,
  sizeOf,
  union,
} from './labels.ts'
import type { Segment } from './segments.ts'
import { labelIdsOf } from './tail.ts'

export interface Query {
  /** AND of groups; each is an OR of label ids. An empty group matches nothing. */
  groups: readonly (readonly number[])[]
  /** Labels whose events are not to be seen (sources being purged). */
  masked: readonly number[]
  /** Event time, epoch ms, both inclusive. */
  from: number
  to: number
  /** Ids: larger than `afterId`, at most `ceiling`. */
  afterId: number
  ceiling: number
  /** Ids that passed what the index cannot say; absent: there is nothing of that kind. */
  only?: ReadonlySet<number>
}

/** Place in the order (ts, id). */
export interface Position {
  ts: number
  id: number
}

/** Compares places by time, then by order of arrival. */
export function comparePositions(a: Position, b: Position): number {
  return a.ts - b.ts || a.id - b.id
}

/**
 * The first `limit` events of the query in the given direction, past `after`.
 * @returns positions in that direction: newest first for desc, oldest first for asc.
 */
export function firstPositions(
  segments: readonly Segment[],
  query: Query,
  direction: 'asc' | 'desc',
  limit: number,
  after: Position | null,
): Position[] {
  const sign = direction === 'desc' ? 1 : -1
  const heap = new BoundedHeap(limit, sign)
  const relevant = segments.filter(
    (segment) => isRelevant(segment, query) && (!after || reaches(segment, after, direction)),
  )
  relevant.sort((a, b) => (direction === 'desc' ? b.maxTs - a.maxTs : a.minTs - b.minTs))
  for (const segment of relevant) {
    const best = direction === 'desc' ? segment.maxTs : segment.minTs
    if (heap.full && sign * (best - heap.worst.ts) < 0) break
    visit(segment, query, (id, ts) => {
      if (after && sign * (ts - after.ts || id - after.id) >= 0) return
      heap.offer(ts, id)
    })
  }
  return heap.sorted()
}

/** Calls `each` for every event of the query, in no particular order across segments. */
export function eachPosition(
  segments: readonly Segment[],
  query: Query,
  each: (id: number, ts: number, segment: Segment) => void,
): void {
  for (const segment of segments)
    if (isRelevant(segment, query)) visit(segment, query, (id, ts) => each(id, ts, segment))
}

/**
 * The same segment by segment. Each is looked up anew, for between two steps it may be sealed, or gone.
 * @param segments those of now.
 */
export function* eachPositionInSteps(
  segments: () => readonly Segment[],
  query: Query,
  each: (id: number, ts: number, segment: Segment) => void,
): Generator<void, void, void> {
  const numbers = segments()
    .filter((segment) => isRelevant(segment, query))
    .map(({ seg }) => seg)
  for (const [i, number] of numbers.entries()) {
    if (i > 0) yield
    const segment = segments().find(({ seg }) => seg === number)
    if (segment) visit(segment, query, (id, ts) => each(id, ts, segment))
  }
}

/** Whether a segment may hold events of the query, by its times and ids. */
export function isRelevant(segment: Segment, query: Query): boolean {
  const first = segment.seg * SEGMENT_SIZE
  return (
    segment.maxTs >= query.from &&
    segment.minTs <= query.to &&
    first <= query.ceiling &&
    first + SEGMENT_SIZE - 1 > query.afterId
  )
}

function reaches(segment: Segment, after: Position, direction: 'asc' | 'desc'): boolean {
  return direction === 'desc' ? segment.minTs <= after.ts : segment.maxTs >= after.ts
}

/** Whether no event of a segment is outside of the query by its time or id. */
export function isWithin({ seg, minTs, maxTs }: Segment, { from, to, afterId, ceiling }: Query): boolean {
  const first = seg * SEGMENT_SIZE
  return minTs >= from && maxTs <= to && first > afterId && first + SEGMENT_SIZE - 1 <= ceiling
}

/** The offsets of a segment that fit the groups and the mask, whatever their time. */
export function matchingOffsets(
  segment: Segment,
  query: Pick<Query, 'groups' | 'masked'>,
): { driver: Uint16Array; probes: Posting[]; masks: Posting[] } | null {
  const postings: Posting[] = []
  for (const group of query.groups) {
    const found: Posting[] = []
    for (const labelId of group) {
      const posting = segment.posting(labelId)
      if (posting) found.push(posting)
    }
    if (found.length === 0) return null
    postings.push(union(found))
  }
  if (postings.length === 0) return null
  postings.sort((a, b) => sizeOf(a) - sizeOf(b))
  const masks = query.masked
    .map((labelId) => segment.posting(labelId))
    .filter((posting) => posting !== undefined)
  return { driver: offsetsOf(postings[0]!), probes: postings.slice(1), masks }
}

function visit(segment: Segment, query: Query, each: (id: number, ts: number) => void): void {
  const found = matchingOffsets(segment, query)
  if (!found) return
  const { driver, probes, masks } = found
  const times = segment.times()
  const first = segment.seg * SEGMENT_SIZE
  // Newest arrivals first: a bounded heap of the newest then fills at once and refuses the rest.
  next: for (let i = driver.length - 1; i >= 0; i--) {
    const offset = driver[i]!
    const id = first + offset
    if (id > query.ceiling || id <= query.afterId) continue
    const ts = times.at(offset)
    if (!(ts >= query.from && ts <= query.to)) continue
    for (const probe of probes) if (!has(probe, offset)) continue next
    for (const mask of masks) if (has(mask, offset)) continue next
    if (query.only && !query.only.has(id)) continue
    each(id, ts)
  }
}

/** Keeps the `capacity` best positions; the root is the worst of them. sign 1: larger is better. */
class BoundedHeap {
  private readonly ts: number[] = []
  private readonly ids: number[] = []

  constructor(
    private readonly capacity: number,
    private readonly sign: 1 | -1,
  ) {}

  get full(): boolean {
    return this.ts.length >= this.capacity
  }

  get worst(): Position {
    return { ts: this.ts[0]!, id: this.ids[0]! }
  }

  offer(ts: number, id: number): void {
    if (!this.full) {
      this.ts.push(ts)
      this.ids.push(id)
      this.up(this.ts.length - 1)
    } else if (this.sign * (ts - this.ts[0]! || id - this.ids[0]!) > 0) {
      this.ts[0] = ts
      this.ids[0] = id
      this.down(0)
    }
  }

  /** Best first. */
  sorted(): Position[] {
    const all = this.ts.map((ts, i) => ({ ts, id: this.ids[i]! }))
    return all.sort((a, b) => -this.sign * comparePositions(a, b))
  }

  private worse(a: number, b: number): boolean {
    return this.sign * (this.ts[a]! - this.ts[b]! || this.ids[a]! - this.ids[b]!) < 0
  }

  private swap(a: number, b: number): void {
    const ts = this.ts[a]!
    const id = this.ids[a]!
    this.ts[a] = this.ts[b]!
    this.ids[a] = this.ids[b]!
    this.ts[b] = ts
    this.ids[b] = id
  }

  private up(at: number): void {
    let child = at
    while (child > 0) {
      const parent = (child - 1) >> 1
      if (!this.worse(child, parent)) return
      this.swap(child, parent)
      child = parent
    }
  }

  private down(at: number): void {
    let parent = at
    for (;;) {
      let worst = parent
      for (const child of [2 * parent + 1, 2 * parent + 2])
        if (child < this.ts.length && this.worse(child, worst)) worst = child
      if (worst === parent) return
      this.swap(parent, worst)
      parent = worst
    }
  }
}

/** Places of many events, in two columns: an object of each would be most of what a look leaves behind. */
export class Places {
  length = 0
  private ids: Float64Array<ArrayBuffer>
  private times: Float64Array<ArrayBuffer>

  /** @param room for so many at first */
  constructor(room: number) {
    this.ids = new Float64Array(room)
    this.times = new Float64Array(room)
  }

  add(id: number, ts: number): void {
    if (this.length === this.ids.length) {
      this.ids = grown(this.ids)
      this.times = grown(this.times)
    }
    this.ids[this.length] = id
    this.times[this.length++] = ts
  }

  /** By time, then by id. They came the newest first, but for what was late, and each source by itself where some are cut. */
  sort(): void {
    const ids = this.ids.subarray(0, this.length).reverse()
    const times = this.times.subarray(0, this.length).reverse()
    if (areNearlySorted(ids, times)) return
    const [firstId, lastId] = reachOf(ids)
    const [firstTime, lastTime] = reachOf(times)
    const span = 1 + lastId - firstId
    if ((1 + lastTime - firstTime) * span <= Number.MAX_SAFE_INTEGER && times.every(Number.isInteger)) {
      // Both are one number, as those of 36 hours and 67 million ids are: numbers are sorted without a function.
      const keys = times.map((ts, i) => (ts - firstTime) * span + ids[i]! - firstId).sort()
      for (let i = 0; i < keys.length; i++) {
        const past = Math.floor(keys[i]! / span)
        times[i] = firstTime + past
        ids[i] = firstId + keys[i]! - past * span
      }
      return
    }
    const order = Array.from(ids, (id, i): Position => ({ id, ts: times[i]! })).sort(comparePositions)
    for (const [i, { id, ts }] of order.entries()) {
      ids[i] = id
      times[i] = ts
    }
  }

  slice(from: number, to: number): { ids: number[]; times: number[] } {
    const end = Math.min(to, this.length)
    const ids = new Array<number>(end - from)
    const times = new Array<number>(end - from)
    for (let i = from; i < end; i++) {
      ids[i - from] = this.ids[i]!
      times[i - from] = this.times[i]!
    }
    return { ids, times }
  }
}

/** Each is moved by so many places on average: more is no longer sorted by moving. */
const MOVES = 16

/** Sorts by moving each to its place, which are few moves where what came late was not very late. @returns whether they were few */
function areNearlySorted(ids: Float64Array, times: Float64Array): boolean {
  let moves = MOVES * ids.length
  for (let i = 1; i < ids.length; i++) {
    const ts = times[i]!
    const id = ids[i]!
    let to = i
    for (; to > 0 && (times[to - 1]! > ts || (times[to - 1] === ts && ids[to - 1]! > id)); to--) {
      times[to] = times[to - 1]!
      ids[to] = ids[to - 1]!
    }
    times[to] = ts
    ids[to] = id
    moves -= i - to
    if (moves < 0) return false
  }
  return true
}

function reachOf(values: Float64Array): [least: number, most: number] {
  let least = values[0] ?? 0
  let most = least
  for (const value of values) {
    if (value < least) least = value
    if (value > most) most = value
  }
  return [least, most]
}

function grown(column: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(2 * column.length)
  larger.set(column)
  return larger
}

/* Reads stored events back as rows, in the order asked for, with one statement per page. */

export interface StoredRow {
  id: number
  source_id: number
  ts: number
  ingested_at: number
  labels: Uint8Array
  entity: number | null
  numbers: string | null
  claimed_time: string | null
  text: string
  raw?: Uint8Array
}

/** What a row says, without what only an answer needs: when it came, and its payload. */
export class TextRow implements Pick<StoredRow, 'id' | 'ts' | 'entity' | 'text'> {
  /** Which of its page it is. */
  nth = 0
  entity: number | null = null
  /** Its number labels. */
  numbers: Record<string, number> | null = null

  /** @param page where it lies. @param labels of which one says its source */
  constructor(
    readonly page: TextPage,
    public labels: LabelSet,
  ) {}

  get id(): number {
    return this.page.ids[this.nth]!
  }

  get ts(): number {
    return this.page.times[this.nth]!
  }

  get text(): string {
    return textIn(this.page, this.nth)
  }
}

/** What rows that were read at once have as numbers and texts, in columns, which are not collected with each row. */
export interface TextPage {
  ids: Float64Array
  /** Epoch ms. */
  times: Float64Array
  /** Texts one after the other, UTF-8, and where each begins; the last ends where one more would begin. */
  bytes: Buffer
  starts: Uint32Array
}

export const textIn = ({ bytes, starts }: TextPage, nth: number): string =>
  bytes.toString('utf8', starts[nth], starts[nth + 1])

/** How many rows, and columns of them: JSON lists; texts one after the other with their lengths in bytes; ids of labels, a 0 between rows. */
type TextColumns = [
  count: number,
  entity: string,
  numbers: string,
  lengths: string,
  texts: Buffer,
  labels: Buffer,
]

/** How a payload begins. */
export interface PayloadHead {
  id: number
  head: string
  /** Whether all of it has the text that was looked for. */
  has: boolean
}

export class RowReader {
  private readonly heads: Statement<[string], string>
  private readonly full: Statement<[string], StoredRow>
  private readonly columns: Statement<[string], TextColumns>
  private readonly columnsOfRuns: Statement<[string], TextColumns>
  private readonly labelSets = new LabelSets()
  private readonly payloads: Statement<[number, string, string], [string, string, string]>

  constructor(db: Database) {
    const columns =
      'e.id, e.source_id, e.ts, e.ingested_at, e.labels, e.entity, e.numbers, e.claimed_time, e.text'
    // A page as one value: each value handed over costs more than reading it (half the time, measured 2026-11-23).
    this.heads = db
      .prepare(
        `SELECT json_group_array(json_array(${columns.replace('e.labels', 'hex(e.labels)')})) FROM json_each(?) j JOIN events e ON e.id = j.value`,
      )
      .pluck() as Statement<[string], string>
    // One json_each statement is 2.5 times faster than 200 single gets (measured 2026-11).
    this.full = db.prepare(`SELECT ${columns}, e.raw FROM json_each(?) j JOIN events e ON e.id = j.value`)
    // Number labels are JSON as they are stored, and are parsed with the list that they are of.
    const lists = `count(*), json_group_array(e.entity), '[' || group_concat(coalesce(e.numbers, 'null')) || ']',
      json_group_array(octet_length(e.text)), CAST(group_concat(e.text, '') AS BLOB),
      CAST(group_concat(e.labels, x'00000000') AS BLOB)`
    const columnsOf = (join: string) =>
      db.prepare(`SELECT ${lists} FROM json_each(?) j CROSS JOIN events e ON ${join}`).raw() as Statement<
        [string],
        TextColumns
      >
    this.columns = columnsOf('e.id = j.value')
    this.columnsOfRuns = columnsOf('e.id BETWEEN j.value ->> 0 AND j.value ->> 1')
    this.payloads = db
      .prepare(
        `SELECT json_group_array(e.id), json_group_array(CAST(substr(e.raw, 1, ?) AS TEXT)), json_group_array(instr(e.raw, CAST(? AS BLOB)) > 0) FROM json_each(?) j JOIN events e ON e.id = j.value`,
      )
      .raw() as Statement<[number, string, string], [string, string, string]>
  }

  /**
   * Many rows at once, as long windows need them: in columns, since a value of a row costs more to hand over than
   * to read; a third of the time of `read` (measured 2026-11-23, 100,000 rows). Texts stay the bytes that they are,
   * since most are never shown, and what the index tells of a row is not read again.
   * @param times of the rows, epoch ms
   * @param make what is kept of a row; the object it is given is the next row's, too
   * @param foresee told of the labels of all rows before any is made
   * @returns in the order of the ids; those whose row is gone are left out
   */
  texts<T>(
    ids: readonly number[],
    times: readonly number[],
    make: (row: Readonly<TextRow>) => T,
    foresee?: (labels: readonly LabelSet[]) => void,
  ): T[] {
    if (ids.length === 0) return []
    const order = isAscending(ids) ? null : ascendingOrder(ids)
    const sorted = order ? Array.from(order, (i) => ids[i]!) : ids
    const runs = runsOf(sorted)
    // The rows of a run lie side by side; a run of one takes more time than an id.
    const found =
      runs.length * RUN_MIN <= ids.length
        ? this.columnsOfRuns.get(JSON.stringify(runs))!
        : this.columns.get(JSON.stringify(sorted))!
    if (found[0] !== ids.length) {
      const present = new Set(this.read(ids, false).map(({ id }) => id))
      const isHere = (_: number, i: number): boolean => present.has(ids[i]!)
      return this.texts(ids.filter(isHere), times.filter(isHere), make, foresee)
    }
    const entity = JSON.parse(found[1]) as (number | null)[]
    const numbers = JSON.parse(found[2]) as (Record<string, number> | null)[]
    const lengths = JSON.parse(found[3]) as number[]
    // No label has the id 0.
    const { each, distinct } = this.labelSets.of(labelIdsOf(found[5]))
    foresee?.(distinct)
    const starts = new Uint32Array(lengths.length + 1)
    for (let i = 0; i < lengths.length; i++) starts[i + 1] = starts[i]! + lengths[i]!
    const page: TextPage = {
      ids: new Float64Array(sorted),
      times: order ? Float64Array.from(order, (i) => times[i]!) : new Float64Array(times),
      bytes: found[4],
      starts,
    }
    const row = new TextRow(page, each[0]!)
    const rows: T[] = []
    for (let i = 0; i < sorted.length; i++) {
      row.nth = i
      row.labels = each[i]!
      row.entity = entity[i]!
      row.numbers = numbers[i]!
      rows.push(make(row))
    }
    if (!order) return rows
    const inOrder = [...rows]
    for (let i = 0; i < rows.length; i++) inOrder[order[i]!] = rows[i]!
    return inOrder
  }

  /**
   * How the payloads of many rows begin, without the rest of them in memory.
   * @param bytes of each. @param part a text that is looked for in all of it
   */
  payloadHeads(ids: readonly number[], bytes: number, part: string): PayloadHead[] {
    const [id, head, has] = this.payloads
      .get(bytes, part, JSON.stringify(ids))!
      .map((list) => JSON.parse(list) as unknown[]) as [number[], string[], number[]]
    return id.map((one, i) => ({ id: one, head: head[i]!, has: has[i] === 1 }))
  }

  /** Rows of these ids in this order; ids whose row is gone are left out. */
  read(ids: readonly number[], withRaw: boolean): StoredRow[] {
    if (ids.length === 0) return []
    const wanted = JSON.stringify(ids)
    const rows = withRaw ? this.full.all(wanted) : headsOf(this.heads.get(wanted)!)
    return inOrder(
      rows,
      rows.map(({ id }) => id),
      ids,
    )
  }
}

/** The columns of rows without their payload, as the statement lists them. */
type Head = [
  id: number,
  sourceId: number,
  ts: number,
  ingestedAt: number,
  labels: string,
  entity: number | null,
  numbers: string | null,
  claimedTime: string | null,
  text: string,
]

const headsOf = (page: string): StoredRow[] =>
  (JSON.parse(page) as Head[]).map(
    ([id, source_id, ts, ingested_at, labels, entity, numbers, claimed_time, text]) => ({
      id,
      source_id,
      ts,
      ingested_at,
      labels: Buffer.from(labels, 'hex'),
      entity,
      numbers,
      claimed_time,
      text,
    }),
  )

/** @param found ids of the rows. @param wanted in the order that they are to have. */
function inOrder<T>(rows: T[], found: readonly number[], wanted: readonly number[]): T[] {
  if (found.length === wanted.length && found.every((id, i) => id === wanted[i])) return rows
  const byId = new Map(found.map((id, i) => [id, rows[i]!]))
  return wanted.filter((id) => byId.has(id)).map((id) => byId.get(id)!)
}

/** Ids side by side are read as one run from this many on. */
const RUN_MIN = 4

const isAscending = (ids: readonly number[]): boolean => {
  for (let i = 1; i < ids.length; i++) if (ids[i]! < ids[i - 1]!) return false
  return true
}

/** @returns where the least of these is, then the next */
const ascendingOrder = (ids: readonly number[]): Uint32Array =>
  Uint32Array.from(ids.keys()).sort((a, b) => ids[a]! - ids[b]!)

/** @param ids ascending. @returns the first and the last of ids that follow one another */
export function runsOf(ids: readonly number[]): [number, number][] {
  const runs: [number, number][] = []
  for (let from = 0, to = 1; to <= ids.length; to++) {
    if (to < ids.length && ids[to] === ids[to - 1]! + 1) continue
    runs.push([ids[from]!, ids[to - 1]!])
    from = to
  }
  return runs
}

/** A row of an answer as what it says. */
export function textRowOf({ id, ts, labels, entity, numbers, text }: StoredRow): TextRow {
  const bytes = Buffer.from(text)
  const page = {
    ...{ ids: Float64Array.of(id), times: Float64Array.of(ts), bytes },
    starts: Uint32Array.of(0, bytes.length),
  }
  const row = new TextRow(page, { ids: labelIdsOf(labels), page: 0, next: null })
  row.entity = entity
  row.numbers = numbers === null ? null : (JSON.parse(numbers) as Record<string, number>)
  return row
}
