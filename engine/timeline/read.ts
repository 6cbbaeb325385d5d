/**
 * POST /read: one entity's events across all sources in time order (SPEC.md, Ingest and reads).
 * A first page fixes the instant all its pages speak for (a ceiling of ids), so a reader that pages
 * while writers write skips nothing and sees nothing twice.
 */
import type { ReadRequest } from '../../schemas/types.ts'
import type { ReadAnswer, Row } from '../calls.ts'
import { fail } from '../errors.ts'
import { firstPositions, type Position } from '../store/scan.ts'
import type { ReadContext } from './context.ts'
import type { Cursor } from './cursor.ts'
import { readDocuments } from './documents.ts'
import { answerFitted, answerFold, isFold } from './fitted.ts'
import { compilePlan, parseInstant, queryOf, resolveWindow, type Scoped } from './plan.ts'
import { PointFold } from './points.ts'
import { renderRow } from './present.ts'
import {
  answer,
  clamp,
  collect,
  encodeNext,
  foldsPoints,
  LIMIT_MAX,
  materialise,
  type Page,
  type Reading,
  SCAN_BATCH,
  withPayload,
} from './reading.ts'
import { atOnce, type Steps } from './steps.ts'

const LIMIT_DEFAULT = 200
/** Rows a text, number or entity-value filter looks at before it says how far it came and gives a cursor. */
const SCAN_MAX = 100_000
/** Rows looked at for a page whose metric points are folded. */
const POINTS_MAX = 5_000

/**
 * Answers a read. @param now epoch ms.
 * @param scanMax rows that a filter looks at for one page.
 * @param lineOf a row as it will be sent: what max_tokens is counted of.
 * @throws SvcError invalid, not_found
 */
export function answerRead(
  ctx: ReadContext,
  request: Scoped<ReadRequest>,
  now: number,
  scanMax = SCAN_MAX,
  lineOf: Reading['lineOf'] = renderRow,
): ReadAnswer {
  return atOnce(readInSteps(ctx, request, now, scanMax, lineOf))
}

/** The same, some rows at a time where each has to be looked at. */
export function* readInSteps(
  ctx: ReadContext,
  request: Scoped<ReadRequest>,
  now: number,
  scanMax = SCAN_MAX,
  lineOf: Reading['lineOf'] = renderRow,
): Steps<ReadAnswer> {
  const reading = { ...begin(ctx, request, now, scanMax), lineOf }
  if (isFold(request.cursor))
    return yield* answerFold(ctx, reading, clamp(request.limit ?? LIMIT_DEFAULT, 1, LIMIT_MAX))
  const references =
    request.cursor === undefined ? readDocuments(ctx.db, ctx.names, request, reading.cursor.now) : []
  return request.max_tokens === undefined
    ? yield* answerPage(ctx, reading, references)
    : yield* answerFitted(ctx, reading, references, request.max_tokens)
}

function begin(
  ctx: ReadContext,
  request: Scoped<ReadRequest>,
  now: number,
  scanMax: number,
): Omit<Reading, 'lineOf'> {
  if (request.selector === undefined && !request.sources?.length)
    fail('invalid', 'give a selector, or sources to read all of what they brought', { field: 'selector' })
  const { cursor: text, client: _client, limit, ...rest } = request
  // Pages of a budget go on within a chunk, which is as long as the limit says.
  const identity = request.max_tokens === undefined || limit === undefined ? rest : { ...rest, limit }
  const asOf = request.as_of === undefined ? null : parseInstant(request.as_of, 'as_of')
  const cursor: Cursor =
    text === undefined || isFold(text)
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
