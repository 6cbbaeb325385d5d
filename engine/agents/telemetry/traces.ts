/**
 * The traces of a window: those of received spans and runs of svc, merged by time, each once. A page reads the traces
 * it shows, and at most so many more as it looks at for those that fit.
 */

import { escapeLine } from '../../../schemas/plain-text.ts'
import { countWords, listSome } from '../../../schemas/plain-words.ts'
import type { Trace, TraceLink, TraceRow, TraceSummary, TracesResult } from '../../../schemas/types.ts'
import type { TraceAsked, TracesAsked } from '../../calls.ts'
import { fail } from '../../errors.ts'
import {
  type ContextRow,
  cautiousTokens,
  SPAN_ID_LABELS,
  SPAN_PARENT_LABELS,
  shortened,
  shortNumber,
  TRACE_ID_LABELS,
} from '../../log/brief/brief.ts'
import { LINKED_TRACE_LABELS } from '../../log/ingest/label.ts'
import type { Steps } from '../../log/steps.ts'
import { firstPositions, type Position } from '../../log/store/scan.ts'
import type { ReadContext } from '../../log/timeline/context.ts'
import {
  type Around,
  askedQuery,
  inspectPlan,
  type Looked,
  linesOf,
  placeOf,
  windowOf,
} from '../../log/timeline/inspect-pages.ts'
import { parseInstant } from '../../log/timeline/plan.ts'
import {
  aroundOf,
  BATCH,
  extentOf,
  type FoundTrace,
  fieldsIn,
  findTraceInSteps,
  inOrder,
  kindOf,
  linksInSteps,
  partsOf,
  rowsAt,
  SPAN_TYPE,
  serviceOf,
  servicesOf,
  spanName,
  statusOf,
  TRACE_ROWS_MAX,
  type TracePart,
  toMicros,
  traceLabelIds,
} from '../../log/timeline/traces.ts'
import { iso, levelNamed } from '../../model/units.ts'
import { redact } from '../../net/redact.ts'
import { isOpen, type RunRow } from '../runs/queries.ts'
import { OWN_SERVICE, partsOfRun, runLinks, runsOf, traceIdOf, UNANSWERED_SERVICE } from './run-parts.ts'

const LIMIT_DEFAULT = 20
const LIMIT_MAX = 100
/** Spans and runs looked at for their trace ids, and traces looked into, for one answer. */
const SPANS_MAX = 50_000
const RUNS_MAX = 5_000
const LOOKED_MAX = 300
const WINDOW_DEFAULT = '1h'

/** @throws SvcError invalid, naming the field; not_found for a project that is not there */
export function* tracesInSteps(ctx: ReadContext, asked: TracesAsked, now: number): Steps<TracesResult> {
  ctx.names.refresh()
  const fits = filterOf(asked)
  const limit = Math.min(LIMIT_MAX, Math.max(1, asked.limit ?? LIMIT_DEFAULT))
  const end = asked.to === undefined ? now : Math.min(now, parseInstant(asked.to, 'to'))
  const around = aroundOf(ctx, asked, end, {
    window: asked.window ?? WINDOW_DEFAULT,
    event_types: [SPAN_TYPE],
  })
  const candidates = yield* candidatesOf(around, asked, now)
  const everything = { ...around, question: { tool: 'trace' as const } }
  // Once: it asks of every source which label its events have, which took a sixth of looking into 300 traces.
  const plan = inspectPlan(everything)
  const traces: TraceSummary[] = []
  let lookedAt = 0
  let oldest = Number.POSITIVE_INFINITY
  for (const { id, at } of candidates.traces) {
    // Those of one instant are on one page: the next begins before it.
    if (lookedAt === LOOKED_MAX || (traces.length >= limit && at < oldest)) break
    lookedAt++
    oldest = at
    const received = (yield* partsOf(everything, traceLabelIds(ctx, id), id, plan)).filter(
      ({ trace, length }) => trace === id && length !== null,
    )
    const run = runOf(around, id)
    // On the page before this one, where its newest span is; a run that has not ended on the first.
    const isNewer =
      asked.to !== undefined &&
      (received.some(({ row }) => row.at > end) || (run !== null && (run.finished_at ?? now + 1) > end))
    const own = run ? partsOfRun(ctx.db, run, now, true).filter(({ length }) => length !== null) : []
    if (received.length + own.length > 0 && !isNewer && fits([...own, ...received]))
      traces.push(summaryOf(id, own, received, run))
    yield
  }
  if (lookedAt < candidates.traces.length) return { traces, looked_at: lookedAt, next_to: iso(oldest - 1) }
  const { rest } = candidates
  return { traces, looked_at: lookedAt, next_to: rest === null ? null : iso(rest) }
}

interface Candidate {
  id: string
  /** Of its newest span in the window, epoch ms. */
  at: number
}

/** Of one kind. */
interface Listed {
  traces: Candidate[]
  /** Epoch ms, of which and before which there may be others; null: these are all. */
  horizon: number | null
}

interface Candidates {
  /** Newest first. */
  traces: Candidate[]
  /** Epoch ms, up to which others are; null: these are all. */
  rest: number | null
}

/** Traces with a span in the window, and runs that were at work in it. */
function* candidatesOf(around: Around, asked: TracesAsked, now: number): Steps<Candidates> {
  const received = yield* receivedTraces(around, asked.to !== undefined)
  const own = ownRuns(around, asked, now)
  yield
  const horizons = [received.horizon, own.horizon].filter((one) => one !== null)
  const horizon = horizons.length ? Math.max(...horizons) : null
  const found = new Map(received.traces.map((one) => [one.id, one]))
  for (const run of own.traces) {
    const known = found.get(run.id)
    if (known) known.at = Math.max(known.at, run.at)
    else found.set(run.id, run)
  }
  const all = [...found.values()].sort((a, b) => b.at - a.at || (a.id < b.id ? -1 : 1))
  if (horizon === null) return { traces: all, rest: null }
  // What shares the instant of the cut is of the next page, unless there is nothing but it.
  const newer = all.filter(({ at }) => at > horizon)
  return newer.length > 0
    ? { traces: newer, rest: horizon }
    : { traces: all.filter(({ at }) => at === horizon), rest: horizon - 1 }
}

function* receivedTraces(around: Around, isClosed: boolean): Steps<Listed> {
  const { ctx } = around
  const { from, to, until } = windowOf(around)
  const query = yield* askedQuery(around, from, isClosed ? to : until)
  const found = new Map<string, Candidate>()
  let after: Position | null = null
  for (let looked = 0; looked < SPANS_MAX && found.size <= LOOKED_MAX; looked += BATCH) {
    const positions: Position[] = firstPositions(ctx.index.all(), query, 'desc', BATCH, after)
    for (const { row } of rowsAt(around, positions, false)) {
      const name = TRACE_ID_LABELS.find((label) => row.labels[label] !== undefined)
      if (name === undefined) continue
      const id = String(row.labels[name])
      const known = found.get(id)
      if (known) known.at = Math.max(known.at, row.at)
      else found.set(id, { id, at: row.at })
    }
    if (positions.length < BATCH) return { traces: [...found.values()], horizon: null }
    after = positions.at(-1)!
    yield
  }
  return { traces: [...found.values()], horizon: after?.ts ?? null }
}

/**
 * Runs that ended in the window by their ends, and those at work: they have not ended, so they stand on the first page
 * alone. Findings that outside agents wrote were at work elsewhere. What a service narrows is left out here, so that runs are not looked into for traces of others.
 */
function ownRuns(around: Around, { service, to: asked }: TracesAsked, now: number): Listed {
  const { ctx, projects } = around
  const { from, to } = windowOf(around)
  const within = `woken_by <> 'external' AND (@projects IS NULL OR id IN (SELECT r.run_id FROM run_projects r JOIN projects p ON p.id = r.project
      WHERE p.id IN (SELECT value FROM json_each(@projects)) OR p.name IN (SELECT value FROM json_each(@projects))))
    AND (@service IS NULL OR @service IN (@own, @unanswered) OR provider = @service
      OR substr(@service, -length(agent) - 1) = '/' || agent OR @service IN (SELECT value FROM json_each(servers)))`
  const given = {
    ...{ from, to, service: service ?? null, own: OWN_SERVICE, unanswered: UNANSWERED_SERVICE },
    projects: projects.length ? JSON.stringify(projects) : null,
  }
  interface Found {
    id: string
    at: number
    fits: number
  }
  // Where all of them fit, no more are looked into than these.
  const most = service === undefined && projects.length === 0 ? LOOKED_MAX + 1 : RUNS_MAX
  const ended = ctx.db
    .prepare<typeof given, Found>(
      `SELECT id, finished_at AS at, ${within} AS fits FROM runs WHERE finished_at BETWEEN @from AND @to
       ORDER BY finished_at DESC LIMIT ${most}`,
    )
    .all(given)
  // The states as the index runs_open has them, so that it is used.
  const open =
    asked === undefined
      ? ctx.db
          .prepare<typeof given & { now: number }, Found>(
            `SELECT id, @now AS at, ${within} AS fits FROM runs
             WHERE state IN ('queued', 'running', 'parked') AND state <> 'queued' AND @from <= @to
             ORDER BY seq DESC LIMIT ${LOOKED_MAX}`,
          )
          .all({ ...given, now })
      : []
  const traces = [...open, ...ended]
    .filter(({ fits }) => fits)
    .map(({ id, at }) => ({ id: traceIdOf(id), at }))
  return { traces, horizon: ended.length === most ? ended.at(-1)!.at : null }
}

/** The run whose trace it is, as far as it may be read. */
const runOf = ({ ctx, projects }: Around, id: string): RunRow | null =>
  (/^[0-9a-f]{32}$/.test(id) ? runsOf(ctx.db, id, projects)[0] : undefined) ?? null

/** @param own spans of a run, which stand once where it is exported to this instance */
function summaryOf(
  id: string,
  own: readonly TracePart[],
  received: readonly TracePart[],
  run: RunRow | null,
): TraceSummary {
  const known = new Set(own.map(({ span }) => span))
  const spans = [...own, ...received.filter(({ span }) => !known.has(span))].sort(inOrder)
  const root = own[0] ?? spans[0]!
  return {
    ...{ id, ...extentOf(spans) },
    name: spanName(root),
    service: serviceOf(root),
    services: servicesOf(spans),
    spans: spans.length,
    failed: spans.filter(isFailed).length,
    run: run && { id: run.id, agent: run.agent, status: run.state, is_open: isOpen(run.state) },
  }
}

const isFailed = ({ recorded }: TracePart): boolean => statusOf(recorded) === 'error'

/** @returns whether one of some spans is as it is asked for. @throws SvcError invalid, naming the field */
export function filterOf({
  service,
  name,
  status,
  min_duration,
  attribute,
}: Omit<TracesAsked, 'window' | 'to' | 'limit' | 'project'>): (spans: readonly TracePart[]) => boolean {
  if (status !== undefined && status !== 'error' && status !== 'ok')
    fail('invalid', 'status must be error or ok', { field: 'status' })
  const least = min_duration === undefined ? 0 : millisecondsOf(min_duration)
  const wanted = attribute === undefined ? null : attributeOf(attribute)
  const called = name?.toLowerCase()
  const isWanted = (span: TracePart): boolean =>
    (service === undefined || serviceOf(span) === service) &&
    (called === undefined || spanName(span).toLowerCase().includes(called)) &&
    (status !== 'error' || isFailed(span)) &&
    (span.length ?? 0) >= least &&
    (wanted === null || has(span, wanted))
  return (spans) => (status !== 'ok' || !spans.some(isFailed)) && spans.some(isWanted)
}

const UNITS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

function millisecondsOf(text: string): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(us|ms|s|m|h)$/.exec(text) ?? []
  if (number === undefined)
    fail('invalid', 'min_duration must be a number and one of us, ms, s, m, h, such as 250ms', {
      field: 'min_duration',
    })
  return Number(number) * UNITS[unit!]!
}

interface Attribute {
  name: string
  value: string
}

function attributeOf(text: string): Attribute {
  const at = text.indexOf('=')
  if (at < 1) fail('invalid', 'attribute must be name=value, such as http.route=/pay', { field: 'attribute' })
  return { name: text.slice(0, at), value: text.slice(at + 1) }
}

function has({ row, recorded }: TracePart, { name, value }: Attribute): boolean {
  const given = [recorded.attributes, recorded.resourceAttributes, row.labels].map(
    (all) => fieldsIn(all)[name],
  )
  return given.some((one) => one !== undefined && one !== null && String(one) === value)
}

/* One trace: all spans and events of its id as a tree, of svc's own runs the run with its steps; and the same as lines, for models. */

const FAILED_LEVELS = new Set(['ERROR', 'FATAL'])

/** @throws SvcError invalid; not_found where neither an event that may be read nor a run has the id */
export function* traceInSteps(ctx: ReadContext, asked: TraceAsked, now: number): Steps<Trace> {
  ctx.names.refresh()
  const around = aroundOf(ctx, asked, now)
  const { run, ...whole } =
    (yield* wholeInSteps(around, asked.id)) ??
    fail('not_found', `no event that may be read here has the trace id ${asked.id}, and no run`, {
      field: 'id',
    })
  const { id, parts, others } = whole
  const links = yield* allLinksInSteps(around, { run, ...whole })
  const rows = rowsOfTree(parts, links)
  const spans = rows.filter(({ duration_ms }) => duration_ms !== null)
  return {
    ...{ id, ...extentOf(parts) },
    run: run && { id: run.id, agent: run.agent, status: run.state, is_open: isOpen(run.state) },
    services: servicesOf(parts),
    spans: spans.length,
    events: rows.length - spans.length,
    failed: rows.filter(({ is_failed }) => is_failed).length,
    rows,
    is_cut: parts.length >= TRACE_ROWS_MAX,
    others,
  }
}

/** Spans below the one that began them, events below their span; without recursion, for a chain may be long. */
function rowsOfTree(parts: readonly TracePart[], links: ReadonlyMap<string, TraceLink[]>): TraceRow[] {
  const first = Math.min(...parts.map(({ begin }) => begin))
  const spans = new Map(parts.flatMap((part) => (part.length === null ? [] : [[part.span, part]])))
  const below = new Map<TracePart | null, TracePart[]>()
  for (const part of [...parts].sort(inOrder)) {
    const above = spans.get(part.length === null ? part.span : part.parent) ?? null
    const parent = above === part ? null : above
    below.set(parent, [...(below.get(parent) ?? []), part])
  }
  const rows: TraceRow[] = []
  const seen = new Set<TracePart>()
  const walk = (roots: readonly TracePart[]): void => {
    const open = roots.map((part) => ({ part, depth: 0 })).reverse()
    for (let next = open.pop(); next; next = open.pop()) {
      const { part, depth } = next
      if (seen.has(part)) continue
      seen.add(part)
      const children = below.get(part) ?? []
      const isOrphan = part.parent !== '' && !spans.has(part.parent)
      const own = (part.length === null ? null : links.get(part.span)) ?? []
      // What names a span that is not stored stands on the first.
      const toNone = rows.length === 0 ? (links.get('') ?? []) : []
      const key = part.row.id || `step-${rows.length}`
      rows.push(rowOf(part, { first, depth, children, isOrphan, key, links: [...own, ...toNone] }))
      for (const child of children.toReversed()) open.push({ part: child, depth: depth + 1 })
    }
  }
  walk(below.get(null) ?? [])
  // Spans that name each other as their parents are below nothing.
  for (const part of parts) if (!seen.has(part)) walk([part])
  return rows
}

interface Place {
  /** Start of the trace, epoch ms. */
  first: number
  depth: number
  children: readonly TracePart[]
  isOrphan: boolean
  key: string
  links: TraceLink[]
}

function rowOf(part: TracePart, { first, depth, children, isOrphan, key, links }: Place): TraceRow {
  const { row, begin, length, span, parent, recorded, own } = part
  const isSpan = length !== null
  const status = isSpan ? statusOf(recorded) : null
  return {
    key,
    event_id: row.id || null,
    span_id: span || null,
    parent_id: (isSpan && parent) || null,
    is_orphan: isSpan && isOrphan,
    depth,
    offset_ms: toMicros(begin - first),
    duration_ms: isSpan ? toMicros(length) : null,
    self_ms: isSpan ? toMicros(selfOf(part, children)) : null,
    name: isSpan ? spanName(part) : row.text,
    service: serviceOf(part),
    source: own ? null : row.source,
    event_type: own ? null : row.type,
    kind: isSpan ? kindOf(recorded) : null,
    status,
    is_failed: own?.isFailed ?? (isSpan ? status === 'error' : FAILED_LEVELS.has(levelNamed(row.type) ?? '')),
    text: row.text,
    ...usedBy(part),
    run: own ? { id: own.run, round: own.round, step: own.step } : null,
    links,
  }
}

/** Tokens and cost, as svc knows them of its runs, and as others say by gen_ai.usage.*. */
function usedBy({ own, recorded }: TracePart): Pick<TraceRow, 'input_tokens' | 'output_tokens' | 'cost_usd'> {
  if (own)
    return {
      input_tokens: own.tokens?.input ?? null,
      output_tokens: own.tokens?.output ?? null,
      cost_usd: own.costUsd,
    }
  const given = fieldsIn(recorded.attributes)
  const count = (...names: string[]): number | null => {
    const value = Number(names.map((name) => given[name]).find((one) => one !== undefined) ?? Number.NaN)
    return Number.isSafeInteger(value) && value >= 0 ? value : null
  }
  return {
    // The names of before v1.27 of the conventions are still sent.
    input_tokens: count('gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens'),
    output_tokens: count('gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens'),
    cost_usd: null,
  }
}

/** How long a span was at work while none below it was: its length less what theirs cover of it. */
function selfOf({ begin, length }: TracePart, children: readonly TracePart[]): number {
  // From its own begin on: a time since 1970 in milliseconds has steps of a quarter of a microsecond, which add up.
  const end = length ?? 0
  let covered = 0
  let until = 0
  for (const child of children) {
    if (child.length === null) continue
    const offset = toMicros(child.begin - begin)
    const from = Math.max(offset, until)
    const to = Math.min(offset + child.length, end)
    if (to <= from) continue
    covered += to - from
    until = to
  }
  return (length ?? 0) - covered
}

/* The same as lines, for models. */

const TEXT_MAX = 340
const LABELS_MAX = 300
const DEPTH_MAX = 12

/** @throws SvcError invalid, not_found */
export function* traceLinesInSteps(around: Around): Steps<Looked> {
  const { question, budget } = around
  const { id = '' } = question
  const found = yield* wholeInSteps(around, id)
  if (found === null)
    return {
      heading: `No event that may be read here has the trace id ${id}`,
      text: 'no events',
      shown: [],
    }
  const { id: trace, parts: rows, run } = found
  const lines = linesOfTrace(rows, yield* allLinksInSteps(around, found))
  const begin = Math.min(...rows.map((one) => one.begin))
  const others =
    found.others.length > 0
      ? `; ${found.others.length === 1 ? 'another trace id begins' : `${found.others.length} other trace ids begin`} like it: ${listSome(found.others, 3)}`
      : ''
  const most = rows.length >= TRACE_ROWS_MAX ? `, the first ${TRACE_ROWS_MAX} looked at` : ''
  const sources = new Set(rows.flatMap(({ row }) => row.source || [])).size
  const what = run
    ? `the run ${run.id} of the agent ${run.agent}, which ${run.state}, ${rows.length} steps and events`
    : `${countWords(rows.length, 'event or span', 'events and spans')} of ${countWords(sources, 'source')}`
  const heading = `Trace ${trace}: ${what}${most}, begun ${iso(begin)}; ms after that, how long, whose${others}`
  const at = placeOf(question)
  const page = linesOf(
    lines.map(({ text }) => text),
    at,
    budget - cautiousTokens(`${heading}\n`),
  )
  return {
    heading,
    text: page.lines.join('\n'),
    shown: lines
      .slice(at, at + page.lines.length)
      .flatMap(({ row }): [string, number][] => (row.id ? [[row.id, 1]] : [])),
    next: page.next,
  }
}

function linesOfTrace(
  all: readonly TracePart[],
  links: ReadonlyMap<string, TraceLink[]>,
): { row: ContextRow; text: string }[] {
  const first = Math.min(...all.map(({ begin }) => begin))
  const parents = new Map(
    all.flatMap(({ span, parent, length }) => (length === null ? [] : [[span, parent]])),
  )
  const depthOf = ({ span, length }: TracePart): number => {
    let depth = length === null && parents.has(span) ? 1 : 0
    for (let at = parents.get(span); at && parents.has(at) && depth < DEPTH_MAX; at = parents.get(at)) depth++
    return depth
  }
  return [...all].sort(inOrder).map((one, n) => {
    const { id, source, type, entity, text, labels } = one.row
    const length = one.length === null ? '' : ` ${shortNumber(one.length)}ms`
    const named = Object.entries(labels)
      .filter(([name, value]) => !HIDDEN.has(name) && String(value) !== entity)
      .map(([name, value]) => `${name}=${value}`)
      .join(' ')
    const rest = named && !one.own ? ` {${escapeLine(redact(named)).slice(0, LABELS_MAX)}}` : ''
    const whose = one.own ? serviceOf(one) : entity
    const what = one.own ? ownWords(one) : `${source} ${type}`
    const linked = [
      ...((one.length === null ? undefined : links.get(one.span)) ?? []),
      ...(n === 0 ? (links.get('') ?? []) : []),
    ]
    return {
      row: one.row,
      text: `${'  '.repeat(depthOf(one))}${id ? `${id} ` : ''}+${Math.round(one.begin - first)}ms${length}${whose ? ` ${escapeLine(whose)}` : ''} ${what}: ${shortened(text, TEXT_MAX)}${rest}${linked.map(linkWords).join('')}`,
    }
  })
}

/** Which step of its run it is, and what it used. */
function ownWords({ own, length }: TracePart): string {
  const round = own?.round ? `round ${own.round}` : 'run'
  const tokens = own?.tokens ? `, ${own.tokens.input} tokens in, ${own.tokens.output} out` : ''
  return `${length === null ? `${round}, note` : round}${tokens}`
}

const LINKED_MAX = 4

function linkWords({ trace_id, span_id, direction, name, service }: TraceLink, n: number): string {
  if (n >= LINKED_MAX) return n === LINKED_MAX ? ' [more links]' : ''
  const what = name === null ? '' : ` (${escapeLine(redact(`${name}${service ? ` of ${service}` : ''}`))})`
  return ` [${direction === 'to' ? 'links to' : 'linked from'} trace ${escapeLine(trace_id)}${span_id ? ` span ${escapeLine(span_id)}` : ''}${what}]`
}

const HIDDEN = new Set<string>([
  ...[...TRACE_ID_LABELS, ...SPAN_ID_LABELS, ...SPAN_PARENT_LABELS, ...LINKED_TRACE_LABELS, 'signal'],
])

interface Whole extends FoundTrace {
  run: RunRow | null
}

/** What was received under the id, and the run that has it. @param now runs that had not ended then are at work */
function* wholeInSteps(around: Around, asked: string): Steps<Whole | null> {
  const { db } = around.ctx
  const [run, ...alike] = runsOf(db, asked, around.projects)
  if (!run) {
    const found = yield* findTraceInSteps(around, asked)
    return found && { run: null, ...found }
  }
  const id = traceIdOf(run.id)
  const own = partsOfRun(db, run, around.now)
  const known = new Set(own.flatMap(({ span, length }) => (length === null ? [] : [span])))
  // Its own spans come back where runs are exported to this instance.
  const received = ((yield* findTraceInSteps(around, id, false))?.parts ?? []).filter(
    ({ span, length }) => length === null || !known.has(span),
  )
  return { run, id, parts: [...own, ...received], others: alike.map((one) => traceIdOf(one.id)) }
}

/** Links of what was received, and of the run. */
function* allLinksInSteps(around: Around, whole: Whole): Steps<Map<string, TraceLink[]>> {
  const links = yield* linksInSteps(around, whole)
  if (whole.run)
    for (const [span, all] of runLinks(around.ctx.db, whole.run))
      links.set(span, [...(links.get(span) ?? []), ...all])
  return links
}
