/**
 * POST /read: one entity's events across all sources in time order (SPEC.md, Ingest and reads).
 * A first page fixes the instant all its pages speak for (a ceiling of ids), so a reader that pages
 * while writers write skips nothing and sees nothing twice.
 */

import { gapsSaid } from '../../../schemas/event-line.ts'
import { SCANNED_MAX } from '../../../schemas/read-bounds.ts'
import type { JoinedName, ReadRequest, SourceGap } from '../../../schemas/types.ts'
import type { ReadAnswer, Row } from '../../calls.ts'
import { fail } from '../../errors.ts'
import { iso } from '../../model/units.ts'
import { type EntityRules, NO_ENTITIES } from '../entity-rules.ts'
import { atOnce, pagesOf, type Steps } from '../steps.ts'
import { firstPositions, type Position, type Query } from '../store/scan.ts'
import { type Cursor, projectNames, type ReadContext } from './context.ts'
import { type DocumentQuery, readDocuments } from './documents.ts'
import { classify, type Fitted, Fitting, shapeOf, tokensOf, toLookAt } from './fit.ts'
import {
  compilePlan,
  gapsIn,
  joinedBy,
  lastSeenOf,
  levelsBeside,
  type Narrowing,
  type Plan,
  PointFold,
  parseInstant,
  queryOf,
  resolveWindow,
  type Scoped,
  silenceSaid,
  tellJoined,
  unknownOf,
  type Window,
} from './plan.ts'
import { eventId, parseEventId, presentRow, renderHeading, renderRow, renderTimeline } from './present.ts'

const LIMIT_DEFAULT = 200
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
  scanMax = SCANNED_MAX,
  lineOf: Reading['lineOf'] = renderRow,
): ReadAnswer {
  return atOnce(readInSteps(ctx, request, now, scanMax, lineOf))
}

/** The same, some rows at a time where each has to be looked at. */
export function* readInSteps(
  ctx: ReadContext,
  request: Scoped<ReadRequest>,
  now: number,
  scanMax = SCANNED_MAX,
  lineOf: Reading['lineOf'] = renderRow,
): Steps<ReadAnswer> {
  const reading = { ...begin(ctx, request, now, scanMax), lineOf }
  if (isFold(request.cursor))
    return yield* answerFold(ctx, reading, clamp(request.limit ?? LIMIT_DEFAULT, 1, LIMIT_MAX))
  const references =
    request.cursor === undefined && !isOfAll(request) && ctx.index.hasDocuments
      ? readDocuments(ctx.db, ctx.names, documentsOf(reading), reading.cursor.now)
      : []
  return request.max_tokens === undefined
    ? yield* answerPage(ctx, reading, references)
    : yield* answerFitted(ctx, reading, references, request.max_tokens)
}

/** It names neither an entity nor sources: then a text says what is looked for. */
const isOfAll = ({ selector, sources }: Pick<Narrowing, 'selector' | 'sources'>): boolean =>
  selector === undefined && !sources?.length

function begin(
  ctx: ReadContext,
  request: Scoped<ReadRequest>,
  now: number,
  scanMax: number,
): Omit<Reading, 'lineOf'> {
  if (isOfAll(request) && !request.text?.trim())
    fail('invalid', 'give a selector, sources to read all of what they brought, or a text to look for', {
      field: 'selector',
    })
  const { cursor: text, client: _client, limit, ...all } = request
  const rest = all.project?.length ? { ...all, project: projectNames(ctx.db, all.project) } : all
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
          ...rulesOf(ctx, request, asOf),
        }
      : ctx.cursors.decode(text, identity)
  const window = resolveWindow(request, cursor.now)
  const rules = cursor.rules === undefined ? NO_ENTITIES : ctx.entities.of(cursor.rules)
  const plan = compilePlan(request, ctx.db, ctx.dictionary, ctx.names, rules)
  const { from, shownTo: to } = window
  const at = { asOf: cursor.now, ceiling: cursor.ceiling, rules }
  return {
    request,
    rules,
    // Of the window as a whole: the first page tells them.
    gaps: text === undefined ? gapsIn(ctx, request, { from, to }, at) : [],
    plan,
    joined: tellJoined(plan, ctx, cursor.ceiling),
    window,
    query: queryOf(plan, window, cursor.ceiling),
    cursor,
    direction: request.order === 'asc' ? 'asc' : 'desc',
    identity,
    scanMax,
  }
}

/** The rules of joined entities that all pages follow: those of the instant that is asked about. */
function rulesOf(
  ctx: ReadContext,
  { joined }: Pick<ReadRequest, 'joined'>,
  asOf: number | null,
): Pick<Cursor, 'rules'> {
  if (joined === false) return {}
  const rules = asOf === null ? ctx.entities.version() : ctx.entities.versionAsOf(asOf)
  return rules === 0 ? {} : { rules }
}

/** Which documents belong to a read. */
const documentsOf = ({ request, plan }: Pick<Reading, 'request' | 'plan'>): DocumentQuery => ({
  ...request,
  joinedConstraints: plan.joined,
})

/** Other names that were read for a label of the selector. */
const alsoOf =
  ({ joined }: Pick<Reading, 'joined'>) =>
  (label: string): string[] =>
    joined.filter((one) => one.label === label).flatMap(({ names }) => names.slice(1))

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

/* One read that is under way: what it asks, the rows at a position, and how it is answered. */

const LIMIT_MAX = 2_000
const SCAN_BATCH = 2_000

interface Reading {
  request: Scoped<ReadRequest>
  plan: Plan
  /** Names that are read together, as the answer tells them. */
  joined: JoinedName[]
  /** Which names are of one thing; none where it is read by the given labels alone. */
  rules: EntityRules
  /** When sources of it took nothing in. */
  gaps: readonly SourceGap[]
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

/** Rows of a page, in its direction; where a filter is, some rows at a time. */
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
  // What is common is on the first page, and what is rare far away: each time twice as many are looked for.
  let batch = SCAN_BATCH
  for (;;) {
    const most = Math.min(batch, reading.scanMax - scanned)
    batch = Math.min(POSITIONS, batch * 2)
    const positions = firstPositions(ctx.index.all(), query, direction, most, after)
    for (const some of pagesOf(positions, SCAN_BATCH)) {
      // The payload is read only for rows that pass: a scan reads many more than it gives.
      for (const row of materialise(ctx, reading, toLookAt(ctx, plan, some), false)) {
        if (!plan.filter(row)) continue
        rows.push(row)
        if (rows.length < limit) continue
        const at = placeOf(row, some)
        scanned += at + 1
        return done(some[at]!)
      }
      scanned += some.length
      yield
    }
    after = positions.at(-1) ?? after
    if (positions.length < most) return done(null)
    if (scanned < reading.scanMax) continue
    const isMore = firstPositions(ctx.index.all(), query, direction, 1, after).length > 0
    return isMore ? done(after, true) : done(null)
  }
}

/** Not by count: rows that were deleted since the step before are not read. */
const placeOf = (row: Row, positions: readonly Position[]): number =>
  positions.findIndex(({ id }) => eventId(id) === row.id)

/** Where metric points are what is asked for, each is told by itself. */
function foldsPoints({ request, plan }: Reading): boolean {
  if (request.points !== undefined) return request.points === 'folded' && !plan.filter
  return !plan.filter && !request.event_types?.length && request.selector?.signal === undefined
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
  const rows = stored.map((row) => presentRow(row, ctx.dictionary, ctx.names, reading.cursor.now))
  const { joined } = reading.plan
  return joined.length ? rows.map((row) => withJoined(row, joined)) : rows
}

/** A row with the name by which it is of the thing, where that is another than the one asked for. */
function withJoined(row: Row, joined: Plan['joined']): Row {
  const by = joinedBy(joined, row.labels)
  return by === undefined ? row : { ...row, joined_by: by }
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
    : (silence(ctx, reading, rows) ??
      (request.cursor === undefined
        ? levelsBeside(ctx, request, { ceiling: cursor.ceiling, rules: reading.rules })
        : null))
  const isEmpty =
    rows.every((row) => row.reference) && request.cursor === undefined && next === null && !isOfAll(request)
  const seen = isEmpty ? lastSeenOf(ctx, request, cursor.ceiling, reading.rules) : undefined
  const heading = renderHeading(request.selector, request.sources, window.name, alsoOf(reading))
  const timeline = renderTimeline(
    heading,
    rows,
    page.isCut ? 'no such events so far' : nothingSaid(reading, seen),
  )
  return {
    payload: [timeline.trimEnd(), notice, gapsSaid(reading.gaps)].filter(Boolean).join('\n').concat('\n'),
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
    ...(reading.joined.length ? { joined: reading.joined } : {}),
    ...(seen === undefined ? {} : { last_seen: seen === null ? null : iso(seen) }),
    ...(notice === null ? {} : { notice }),
    ...(reading.gaps.length ? { gaps: [...reading.gaps] } : {}),
  }
}

/** What may have been mistyped where nothing was found; null where something was. */
const silence = (ctx: ReadContext, { request, plan }: Reading, rows: readonly Row[]): string | null =>
  rows.every((row) => row.reference)
    ? unknownOf(ctx, { ...request, selector: notFoundIn(rows, request.selector) }, plan.joined)
    : null

/** A selector without the labels of the documents that were found: those are not unknown. */
const notFoundIn = (rows: readonly Row[], selector: Readonly<Record<string, unknown>> = {}) =>
  Object.fromEntries(Object.entries(selector).filter(([name]) => !rows.some(({ labels }) => name in labels)))

/** @param seen when the newest event was, epoch ms; null: never; undefined: not known */
function nothingSaid({ request, window }: Reading, seen: number | null | undefined): string | undefined {
  if (seen === undefined) return isOfAll(request) ? 'no such events in this window' : undefined
  return silenceSaid({ from: window.from, to: window.to }, seen)
}

/** Silence after the newest events of a search would look like there being no others. */
function stoppedAt({ direction, scanMax }: Reading, { rows, next }: Page): string {
  const way = direction === 'desc' ? 'back' : 'on'
  return `the search looked at ${scanMax.toLocaleString('en')} events, ${way} to ${iso(next!.ts)}, found ${rows.length} and stopped there; next_cursor searches further ${way}`
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, Math.trunc(value)))
}

/*
 * Reads under max_tokens: the whole window is looked at, some rows at a time, and what is there is fitted into the
 * budget; and folds that are unfolded again.
 */

/** Events of a window that are fitted together; the cursor leads to those beyond. */
const FIT_ROWS = 200_000
/** Kinds of events held at a time. */
const KINDS_MAX = 20_000
const POSITIONS = 20_000

/** @param references documents, before all events. @throws SvcError */
function* answerFitted(
  ctx: ReadContext,
  reading: Reading,
  references: readonly Row[],
  maxTokens: number,
): Steps<ReadAnswer> {
  const { request, window, cursor, plan } = reading
  const heading = renderHeading(request.selector, request.sources, window.name, alsoOf(reading))
  const above = tokensOf(renderTimeline(heading, []))
  // What is said of a search that stopped early, which is known only then.
  const gaps = tokensOf(gapsSaid(reading.gaps))
  const reserved =
    gaps + (plan.filter ? tokensOf(stoppedAt(reading, { rows: [], next: { ts: window.from, id: 0 } })) : 0)
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
  const documents = isLater ? readDocuments(ctx.db, ctx.names, documentsOf(reading), cursor.now) : references
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
        : fitted.tokens + above + gaps + tokensOf(answered.notice ?? ''),
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
      for (const row of materialise(ctx, reading, toLookAt(ctx, plan, some), false)) {
        if (plan.filter && !plan.filter(row)) continue
        taken++
        if (each(row) && taken < most) continue
        const at = placeOf(row, some)
        after = some[at]!
        scanned += at + 1
        return stop()
      }
      after = some.at(-1)!
      scanned += some.length
      yield
    }
    if (positions.length < wanted) return stop()
    if (plan.filter && scanned >= scanMax) return stop(true)
  }
}

const FOLD = /^(evt_\d{1,15})\.\.(evt_\d{1,15})$/

/** Whether a cursor is that of a fold: the ids of its first and last event. */
const isFold = (cursor: string | undefined): boolean => cursor !== undefined && FOLD.test(cursor)

/**
 * The events of a fold, oldest first, within what the request reads. What is left has the cursor of the rest.
 * @throws SvcError not_found where its last event is none that the request reads
 */
function* answerFold(ctx: ReadContext, reading: Reading, limit: number): Steps<ReadAnswer> {
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
  const heading = renderHeading(request.selector, request.sources, reading.window.name, alsoOf(reading))
  let tokens = tokensOf(renderTimeline(heading, []))
  const rows: Row[] = []
  let next: string | null = null
  let after: Position | null = { ts: from!.ts, id: from!.id - 1 }
  let looked = 0
  while (next === null) {
    const positions: Position[] = firstPositions(ctx.index.all(), query, 'asc', SCAN_BATCH, after)
    for (const row of materialise(ctx, reading, toLookAt(ctx, reading.plan, positions), false)) {
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
