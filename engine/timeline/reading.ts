/** One read that is under way: what it asks, the rows at a position, and how it is answered. */
import type { ReadRequest } from '../../schemas/types.ts'
import type { ReadAnswer, Row } from '../calls.ts'
import { firstPositions, type Position, type Query } from '../store/scan.ts'
import type { ReadContext } from './context.ts'
import type { Cursor } from './cursor.ts'
import { lastSeenOf } from './last-seen.ts'
import { type Plan, type Scoped, unknownOf, type Window } from './plan.ts'
import { iso, presentRow, renderHeading, renderTimeline } from './present.ts'
import type { Steps } from './steps.ts'

export const LIMIT_MAX = 2_000
export const SCAN_BATCH = 2_000

export interface Reading {
  request: Scoped<ReadRequest>
  plan: Plan
  window: Window
  query: Query
  cursor: Cursor
  direction: 'asc' | 'desc'
  /** The request as cursors are bound to it. */
  identity: unknown
  scanMax: number
  /** A row as it is sent to whoever reads: what a budget is counted of. */
  lineOf(row: Row): string
}

export interface Page {
  /** In the direction of the read. */
  rows: Row[]
  /** Last position given or looked at, when there may be more. */
  next: Position | null
  /** Rows that a filter looked at. */
  scanned?: number
  /** The filter looked at as many rows as it may, and stopped at `next`. */
  isCut?: true
}

/** Rows of a page, in its direction; where a filter is, some rows at a time. */
export function* collect(ctx: ReadContext, reading: Reading, limit: number, withRaw: boolean): Steps<Page> {
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
export function foldsPoints({ request, plan }: Reading): boolean {
  if (request.points !== undefined) return request.points === 'folded' && !plan.filter
  return !plan.filter && !request.event_types?.length && request.selector?.signal === undefined
}

export function materialise(
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

export function withPayload(ctx: ReadContext, rows: Row[], wanted: boolean): Row[] {
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

export function encodeNext(ctx: ReadContext, reading: Reading, cursor: Cursor): string {
  return ctx.cursors.encode(cursor, reading.identity)
}

export function answer(
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
export function stoppedAt({ direction, scanMax }: Reading, { rows, next }: Page): string {
  const way = direction === 'desc' ? 'back' : 'on'
  return `the search looked at ${scanMax.toLocaleString('en')} events, ${way} to ${iso(next!.ts)}, found ${rows.length} and stopped there; next_cursor searches further ${way}`
}

export function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, Math.trunc(value)))
}
