/**
 * POST /read: one entity's events across all sources in time order (SPEC.md, Ingest and reads).
 * A first page fixes the instant all its pages speak for (a ceiling of ids), so a reader that pages
 * while writers write skips nothing and sees nothing twice.
 */
import type { ReadRequest } from '../../schemas/types.ts'
import type { ReadAnswer, Row } from '../engine.ts'
import { fail } from '../errors.ts'
import { firstPositions, type Position, type Query } from '../store/scan.ts'
import { classify } from './classify.ts'
import type { ReadContext } from './context.ts'
import type { Cursor } from './cursor.ts'
import { readDocuments } from './documents.ts'
import { fitRows, tokensOf } from './fit.ts'
import { lastSeenOf } from './last-seen.ts'
import {
  compilePlan,
  type Plan,
  parseInstant,
  queryOf,
  resolveWindow,
  type Scoped,
  unknownOf,
  type Window,
} from './plan.ts'
import { PointFold } from './points.ts'
import { iso, presentRow, renderHeading, renderTimeline } from './present.ts'
import { atOnce, type Steps } from './steps.ts'

const LIMIT_MAX = 2_000
const LIMIT_DEFAULT = 200
/** Rows a text, number or entity-value filter looks at before it says how far it came and gives a cursor. */
const SCAN_MAX = 100_000
const SCAN_BATCH = 2_000
/** Rows looked at for a page whose metric points are folded. */
const POINTS_MAX = 5_000
/** Rows folded together at a time under max_tokens. */
const FIT_CHUNK = 5_000

interface Reading {
  request: Scoped<ReadRequest>
  plan: Plan
  window: Window
  query: Query
  cursor: Cursor
  direction: 'asc' | 'desc'
  /** The request as cursors are bound to it. */
  identity: unknown
  scanMax: number
}

/**
 * Answers a read. @param now epoch ms.
 * @param scanMax rows that a filter looks at for one page.
 * @throws SvcError invalid, not_found
 */
export function answerRead(
  ctx: ReadContext,
  request: Scoped<ReadRequest>,
  now: number,
  scanMax = SCAN_MAX,
): ReadAnswer {
  return atOnce(readInSteps(ctx, request, now, scanMax))
}

/** The same, some rows at a time where each has to be looked at. */
export function* readInSteps(
  ctx: ReadContext,
  request: Scoped<ReadRequest>,
  now: number,
  scanMax = SCAN_MAX,
): Steps<ReadAnswer> {
  const reading = begin(ctx, request, now, scanMax)
  const references =
    request.cursor === undefined ? readDocuments(ctx.db, ctx.names, request, reading.cursor.now) : []
  return request.max_tokens === undefined
    ? yield* answerPage(ctx, reading, references)
    : yield* answerFitted(ctx, reading, references, request.max_tokens)
}

function begin(ctx: ReadContext, request: Scoped<ReadRequest>, now: number, scanMax: number): Reading {
  if (request.selector === undefined && !request.sources?.length)
    fail('invalid', 'give a selector, or sources to read all of what they brought', { field: 'selector' })
  const { cursor: text, client: _client, limit, ...rest } = request
  // Pages of a budget go on within a chunk, which is as long as the limit says.
  const identity = request.max_tokens === undefined || limit === undefined ? rest : { ...rest, limit }
  const asOf = request.as_of === undefined ? null : parseInstant(request.as_of, 'as_of')
  const cursor: Cursor =
    text === undefined
      ? {
          after: null,
          skip: 0,
          ceiling: asOf === null ? ctx.index.tail.lastId : ctx.ceilingAt(asOf),
          now: asOf ?? now,
        }
      : ctx.cursors.decode(text, identity)
  const window = resolveWindow(request, cursor.now)
  const plan = compilePlan(request, ctx.db, ctx.dictionary, ctx.names)
  return {
    request,
    plan,
    window,
    query: queryOf(plan, window, cursor.ceiling),
    cursor,
    direction: request.order === 'asc' ? 'asc' : 'desc',
    identity,
    scanMax,
  }
}

function* answerPage(ctx: ReadContext, reading: Reading, references: Row[]): Steps<ReadAnswer> {
  const limit = clamp(reading.request.limit ?? LIMIT_DEFAULT, 1, LIMIT_MAX)
  const withRaw = reading.request.include_payload === true
  const page = foldsPoints(reading)
    ? collectFolded(ctx, reading, limit, withRaw)
    : yield* collect(ctx, reading, limit, withRaw)
  const next = page.next && encodeNext(ctx, reading, { ...reading.cursor, after: page.next, skip: 0 })
  const rows = [...references, ...inOrder(reading, page.rows)]
  return answer(ctx, reading, rows, next, page)
}

/** Oldest first unless asked for desc: the newest rows of the window, shown as a timeline. */
function inOrder(reading: Reading, rows: Row[]): Row[] {
  return reading.request.order === undefined ? rows.reverse() : rows
}

interface Page {
  /** In the direction of the read. */
  rows: Row[]
  /** Last position given or looked at, when there may be more. */
  next: Position | null
  /** Rows that a filter looked at. */
  scanned?: number
  /** The filter looked at as many rows as it may, and stopped at `next`. */
  isCut?: true
}

function* collect(ctx: ReadContext, reading: Reading, limit: number, withRaw: boolean): Steps<Page> {
  const { plan, query, direction } = reading
  if (!plan.filter) {
    const positions = firstPositions(ctx.index.all(), query, direction, limit + 1, reading.cursor.after)
    const page = positions.slice(0, limit)
    return {
      rows: materialise(ctx, reading, page, withRaw),
      next: positions.length > limit ? page.at(-1)! : null,
    }
  }
  const rows: Row[] = []
  const done = (next: Position | null, isCut = false): Page => ({
    rows: withPayload(ctx, rows, withRaw),
    next,
    scanned,
    ...(isCut ? { isCut: true as const } : {}),
  })
  let after = reading.cursor.after
  let scanned = 0
  for (;;) {
    const most = Math.min(SCAN_BATCH, reading.scanMax - scanned)
    const positions = firstPositions(ctx.index.all(), query, direction, most, after)
    // The payload is read only for rows that pass: a scan reads many more than it gives.
    for (const [i, row] of materialise(ctx, reading, positions, false).entries()) {
      scanned++
      if (!plan.filter(row)) continue
      rows.push(row)
      if (rows.length === limit) return done(positions[i] ?? null)
    }
    after = positions.at(-1) ?? after
    if (positions.length < most) return done(null)
    if (scanned < reading.scanMax) {
      yield
      continue
    }
    const isMore = firstPositions(ctx.index.all(), query, direction, 1, after).length > 0
    return isMore ? done(after, true) : done(null)
  }
}

/** Where metric points are what is asked for, each is told by itself. */
function foldsPoints({ request, plan }: Reading): boolean {
  if (request.points !== undefined) return request.points === 'folded' && !plan.filter
  return !plan.filter && !request.event_types?.length && request.selector?.signal === undefined
}

/** A page whose metric points are folded: it reaches further back than its rows, within a bound. */
function collectFolded(ctx: ReadContext, reading: Reading, limit: number, withRaw: boolean): Page {
  const { query, direction } = reading
  const fold = new PointFold(limit)
  const page = (next: Position | null): Page => {
    const rows = fold.finish(direction)
    const isWhole = rows.every((row) => row.raw !== undefined)
    return { rows: withPayload(ctx, rows, withRaw && !isWhole), next, scanned: undefined }
  }
  let after = reading.cursor.after
  for (let scanned = 0; ; ) {
    const wanted = scanned === 0 ? limit + 1 : SCAN_BATCH
    const positions = firstPositions(ctx.index.all(), query, direction, wanted, after)
    for (const [i, row] of materialise(ctx, reading, positions, withRaw && scanned === 0).entries()) {
      if (!fold.add(row)) return page(after)
      after = positions[i]!
    }
    scanned += positions.length
    if (positions.length < wanted) return page(null)
    if (scanned >= POINTS_MAX) return page(after)
  }
}

function materialise(
  ctx: ReadContext,
  reading: Reading,
  positions: readonly Position[],
  withRaw: boolean,
): Row[] {
  const stored = ctx.rows.read(
    positions.map((position) => position.id),
    withRaw,
  )
  return stored.map((row) => presentRow(row, ctx.dictionary, ctx.names, reading.cursor.now))
}

function withPayload(ctx: ReadContext, rows: Row[], wanted: boolean): Row[] {
  if (!wanted) return rows
  const raw = new Map(
    ctx.rows
      .read(
        rows.map((row) => Number(row.id.slice(4))),
        true,
      )
      .map((row) => [row.id, row.raw!]),
  )
  return rows.map((row) => ({
    ...row,
    raw: Buffer.from(raw.get(Number(row.id.slice(4))) ?? 'null').toString(),
  }))
}

function* answerFitted(
  ctx: ReadContext,
  reading: Reading,
  references: Row[],
  maxTokens: number,
): Steps<ReadAnswer> {
  const { limit } = reading.request
  const most = limit === undefined ? FIT_CHUNK : clamp(limit, 1, LIMIT_MAX)
  const page = yield* collect(ctx, reading, most, reading.request.include_payload === true)
  const chunk = [...references, ...(reading.direction === 'desc' ? page.rows.reverse() : page.rows)]
  // Later pages of the first chunk count its documents again, or their groups would shift.
  const first = reading.request.cursor !== undefined && reading.cursor.after === null
  const all = first
    ? [...readDocuments(ctx.db, ctx.names, reading.request, reading.cursor.now), ...chunk]
    : chunk
  const heading = renderHeading(reading.request.selector, reading.request.sources, reading.window.name)
  const said = page.isCut ? tokensOf(stoppedAt(reading, page)) : 0
  const fitted = fitRows(
    all,
    Math.max(1, maxTokens - tokensOf(renderTimeline(heading, [])) - said - 1),
    reading.cursor.skip,
  )
  const nextCursor: Cursor | null = fitted.more
    ? { ...reading.cursor, skip: fitted.taken }
    : page.next
      ? { ...reading.cursor, after: page.next, skip: 0 }
      : null
  const rows = sortRows(fitted.rows, reading.request.order === 'desc')
  const omitted = countOmitted(ctx, reading, fitted.left, page.next)
  const answered = answer(ctx, reading, rows, nextCursor && encodeNext(ctx, reading, nextCursor), page)
  return {
    ...answered,
    tokens:
      rows.length === 0
        ? tokensOf(answered.payload)
        : fitted.tokens + tokensOf(renderTimeline(heading, [])) + tokensOf(answered.notice ?? ''),
    omitted,
  }
}

function sortRows(rows: Row[], newestFirst: boolean): Row[] {
  const sign = newestFirst ? -1 : 1
  const number = (row: Row) => Number(row.id.slice(4))
  return rows.sort(
    (a, b) =>
      Number(!!b.reference) - Number(!!a.reference) ||
      sign * (Date.parse(a.event_time) - Date.parse(b.event_time) || number(a) - number(b)),
  )
}

/** What this page leaves out: the rest of its chunk, and everything past the chunk. */
function countOmitted(
  ctx: ReadContext,
  reading: Reading,
  left: readonly Row[],
  past: Position | null,
): NonNullable<ReadAnswer['omitted']> {
  const counts = new Map<string, { source: string; event_type: string; count: number }>()
  const add = (source: string, eventType: string, n: number) => {
    const key = `${source}\0${eventType}`
    const entry = counts.get(key)
    if (entry) entry.count += n
    else counts.set(key, { source, event_type: eventType, count: n })
  }
  for (const row of left) add(row.source, row.event_type, 1)
  // A filter's matches past the chunk are not known without looking at each; the cursor says there is more.
  if (past && !reading.plan.filter)
    for (const entry of classify(ctx, reading.query, past, reading.direction))
      add(entry.source, entry.eventType, entry.count)
  return [...counts.values()].sort((a, b) => b.count - a.count)
}

function encodeNext(ctx: ReadContext, reading: Reading, cursor: Cursor): string {
  return ctx.cursors.encode(cursor, reading.identity)
}

function answer(
  ctx: ReadContext,
  reading: Reading,
  rows: Row[],
  next: string | null,
  page: Page,
): ReadAnswer {
  const { request, window, cursor } = reading
  const notice = page.isCut
    ? stoppedAt(reading, page)
    : rows.every((row) => row.reference)
      ? unknownOf(ctx, request.selector)
      : null
  const isEmpty = rows.every((row) => row.reference) && request.cursor === undefined && next === null
  const seen = isEmpty ? lastSeenOf(ctx, request, cursor.ceiling) : undefined
  const heading = renderHeading(request.selector, request.sources, window.name)
  const timeline = renderTimeline(heading, rows, page.isCut ? 'no such events so far' : nothingSaid(seen))
  return {
    payload: notice === null ? timeline : `${timeline.trimEnd()}\n${notice}\n`,
    count: rows.length,
    sources: [...new Set(rows.map((row) => row.source))].sort(),
    rows,
    next_cursor: next,
    truncated: next !== null,
    as_of: iso(cursor.now),
    from: iso(window.from),
    to: iso(window.shownTo),
    ...(page.scanned === undefined ? {} : { scanned: page.scanned }),
    ...(page.isCut ? { searched_to: iso(page.next!.ts) } : {}),
    ...(seen === undefined ? {} : { last_seen: seen === null ? null : iso(seen) }),
    ...(notice === null ? {} : { notice }),
  }
}

/** @param seen when the newest event was, epoch ms; null: never; undefined: not known */
function nothingSaid(seen: number | null | undefined): string | undefined {
  if (seen === undefined) return undefined
  return `no events in this window${seen === null ? ', nor at any other time' : `; last seen ${iso(seen)}`}`
}

/** Silence after the newest events of a search would look like there being no others. */
function stoppedAt({ direction, scanMax }: Reading, { rows, next }: Page): string {
  const way = direction === 'desc' ? 'back' : 'on'
  return `the search looked at ${scanMax.toLocaleString('en')} events, ${way} to ${iso(next!.ts)}, found ${rows.length} and stopped there; next_cursor searches further ${way}`
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, Math.trunc(value)))
}
