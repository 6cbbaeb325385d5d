/**
 * Reads under max_tokens: the whole window is looked at, some rows at a time, and what is there is fitted into the
 * budget; and folds that are unfolded again.
 */
import type { ReadAnswer, Row } from '../calls.ts'
import { fail } from '../errors.ts'
import { firstPositions, type Position } from '../store/scan.ts'
import { classify } from './classify.ts'
import type { ReadContext } from './context.ts'
import type { Cursor } from './cursor.ts'
import { readDocuments } from './documents.ts'
import { type Fitted, Fitting, tokensOf } from './fit.ts'
import { shapeOf } from './fold.ts'
import { parseEventId, renderHeading, renderTimeline } from './present.ts'
import {
  answer,
  clamp,
  encodeNext,
  foldsPoints,
  LIMIT_MAX,
  materialise,
  type Page,
  type Reading,
  SCAN_BATCH,
  stoppedAt,
  withPayload,
} from './reading.ts'
import { pagesOf, type Steps } from './steps.ts'

/** Events of a window that are fitted together; the cursor leads to those beyond. */
const FIT_ROWS = 200_000
/** Kinds of events held at a time. */
const KINDS_MAX = 20_000
const POSITIONS = 20_000

/** @param references documents, before all events. @throws SvcError */
export function* answerFitted(
  ctx: ReadContext,
  reading: Reading,
  references: readonly Row[],
  maxTokens: number,
): Steps<ReadAnswer> {
  const { request, window, cursor, plan } = reading
  const heading = renderHeading(request.selector, request.sources, window.name)
  const above = tokensOf(renderTimeline(heading, []))
  // What is said of a search that stopped early, which is known only then.
  const reserved = plan.filter
    ? tokensOf(stoppedAt(reading, { rows: [], next: { ts: window.from, id: 0 } }))
    : 0
  const withRaw = request.include_payload === true
  const fitting = new Fitting(
    Math.max(1, maxTokens - above - reserved - 1),
    {
      lineOf: reading.lineOf,
      ...(withRaw ? { rawOf: (row: Row) => (row.reference ? row : withPayload(ctx, [row], true)[0]!) } : {}),
    },
    foldsPoints(reading),
  )
  // Later pages of the first chunk count its documents again, or their places would shift.
  const isLater = request.cursor !== undefined && cursor.after === null
  const documents = isLater ? readDocuments(ctx.db, ctx.names, request, cursor.now) : references
  for (const row of documents) fitting.add(row)
  const most = request.limit === undefined ? FIT_ROWS : clamp(request.limit, 1, LIMIT_MAX)
  const page = yield* eachRow(ctx, reading, most, (row) => {
    fitting.add(row)
    return fitting.size < KINDS_MAX
  })
  const fitted = fitting.fitted(cursor.skip)
  const next: Cursor | null = fitted.more
    ? { ...cursor, skip: fitted.taken }
    : page.next
      ? { ...cursor, after: page.next, skip: 0 }
      : null
  const rows = sortRows(fitted.rows, request.order === 'desc')
  const answered = answer(ctx, reading, rows, next && encodeNext(ctx, reading, next), page)
  return {
    ...answered,
    tokens:
      rows.length === 0
        ? tokensOf(answered.payload)
        : fitted.tokens + above + tokensOf(answered.notice ?? ''),
    omitted: countOmitted(ctx, reading, fitted.left, page.next),
  }
}

/**
 * Hands over rows in the direction of the read. @param each says whether it takes more.
 * @returns where it stopped, without the rows
 */
function* eachRow(
  ctx: ReadContext,
  reading: Reading,
  most: number,
  each: (row: Row) => boolean,
): Steps<Page> {
  const { plan, query, direction, scanMax } = reading
  let after = reading.cursor.after
  let taken = 0
  let scanned = 0
  const stop = (isCut = false): Page => {
    const isMore = after !== null && firstPositions(ctx.index.all(), query, direction, 1, after).length > 0
    return {
      rows: [],
      next: isMore ? after : null,
      ...(plan.filter ? { scanned, ...(isCut && isMore ? { isCut: true as const } : {}) } : {}),
    }
  }
  for (;;) {
    const wanted = Math.min(POSITIONS, plan.filter ? scanMax - scanned : most - taken)
    const positions = firstPositions(ctx.index.all(), query, direction, wanted, after)
    for (const some of pagesOf(positions, SCAN_BATCH)) {
      for (const [i, row] of materialise(ctx, reading, some, false).entries()) {
        after = some[i]!
        scanned++
        if (plan.filter && !plan.filter(row)) continue
        taken++
        if (!each(row) || taken === most) return stop()
      }
      yield
    }
    if (positions.length < wanted) return stop()
    if (plan.filter && scanned >= scanMax) return stop(true)
  }
}

const FOLD = /^(evt_\d{1,15})\.\.(evt_\d{1,15})$/

/** Whether a cursor is that of a fold: the ids of its first and last event. */
export const isFold = (cursor: string | undefined): boolean => cursor !== undefined && FOLD.test(cursor)

/**
 * The events of a fold, oldest first, within what the request reads. What is left has the cursor of the rest.
 * @throws SvcError not_found where its last event is none that the request reads
 */
export function* answerFold(ctx: ReadContext, reading: Reading, limit: number): Steps<ReadAnswer> {
  const { request, cursor } = reading
  const [, first = '', last = ''] = FOLD.exec(request.cursor!)!
  const ends = ctx.rows.read(
    [...new Set([first, last].map((id) => parseEventId(id)!))].sort((a, b) => a - b),
    false,
  )
  const [from, to] = [
    ends.find(({ id }) => id === parseEventId(first)),
    ends.find(({ id }) => id === parseEventId(last)),
  ]
  const none = () => fail('not_found', `${last} is no event that this request reads`, { field: 'cursor' })
  if (!from || !to || to.id > cursor.ceiling) none()
  const query = { ...reading.query, from: Math.min(from!.ts, to!.ts), to: to!.ts }
  const inQuery = firstPositions(ctx.index.all(), { ...query, from: to!.ts }, 'desc', SCAN_BATCH, null)
  if (!inQuery.some(({ id }) => id === to!.id)) none()
  const withRaw = request.include_payload === true
  const like = shapeOf(materialise(ctx, reading, [{ ts: to!.ts, id: to!.id }], false)[0]!).key
  const budget = request.max_tokens ?? Number.POSITIVE_INFINITY
  const heading = renderHeading(request.selector, request.sources, reading.window.name)
  let tokens = tokensOf(renderTimeline(heading, []))
  const rows: Row[] = []
  let next: string | null = null
  let after: Position | null = { ts: from!.ts, id: from!.id - 1 }
  let looked = 0
  while (next === null) {
    const positions: Position[] = firstPositions(ctx.index.all(), query, 'asc', SCAN_BATCH, after)
    for (const row of materialise(ctx, reading, positions, false)) {
      if (shapeOf(row).key !== like || (reading.plan.filter && !reading.plan.filter(row))) continue
      const whole = withPayload(ctx, [row], withRaw)[0]!
      tokens += tokensOf(`${reading.lineOf(whole)}\n`) + tokensOf(whole.raw ?? '')
      if (rows.length && (rows.length === limit || tokens > budget)) {
        next = `${row.id}..${last}`
        break
      }
      rows.push(whole)
    }
    looked += positions.length
    if (next !== null || positions.length < SCAN_BATCH) break
    after = positions.at(-1)!
    if (looked >= FIT_ROWS && rows.length) next = `evt_${after.id}..${last}`
    yield
  }
  const answered = answer(ctx, reading, sortRows(rows, request.order === 'desc'), next, { rows, next: null })
  return request.max_tokens === undefined
    ? answered
    : { ...answered, tokens: tokensOf(answered.payload), omitted: [] }
}

function sortRows(rows: Row[], newestFirst: boolean): Row[] {
  const sign = newestFirst ? -1 : 1
  const number = (row: Row) => Number(row.id.slice(4))
  return [...rows].sort(
    (a, b) =>
      Number(!!b.reference) - Number(!!a.reference) ||
      sign * (Date.parse(a.event_time) - Date.parse(b.event_time) || number(a) - number(b)),
  )
}

/** What this page leaves out: the rest of its chunk, and everything past the chunk. */
function countOmitted(
  ctx: ReadContext,
  reading: Reading,
  left: Fitted['left'],
  past: Position | null,
): NonNullable<ReadAnswer['omitted']> {
  const counts = new Map<string, { source: string; event_type: string; count: number }>()
  const add = (source: string, eventType: string, n: number) => {
    const key = `${source}\0${eventType}`
    const entry = counts.get(key)
    if (entry) entry.count += n
    else counts.set(key, { source, event_type: eventType, count: n })
  }
  for (const { source, eventType, count } of left) add(source, eventType, count)
  // A filter's matches past the chunk are not known without looking at each; the cursor says there is more.
  if (past && !reading.plan.filter)
    for (const entry of classify(ctx, reading.query, past, reading.direction))
      add(entry.source, entry.eventType, entry.count)
  return [...counts.values()].sort((a, b) => b.count - a.count)
}
