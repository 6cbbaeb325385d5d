/**
 * The traces of a window: those of received spans and runs of svc, merged by time, each once. A page reads the traces
 * it shows, and at most so many more as it looks at for those that fit.
 */
import type { TraceSummary, TracesResult } from '../../../schemas/types.ts'
import type { TracesAsked } from '../../calls.ts'
import { fail } from '../../errors.ts'
import { TRACE_ID_LABELS } from '../../log/brief/brief.ts'
import type { Steps } from '../../log/steps.ts'
import { firstPositions, type Position } from '../../log/store/scan.ts'
import type { ReadContext } from '../../log/timeline/context.ts'
import { type Around, planOf, queryIn, windowOf } from '../../log/timeline/inspect-pages.ts'
import { parseInstant } from '../../log/timeline/plan.ts'
import { iso } from '../../log/timeline/present.ts'
import {
  aroundOf,
  BATCH,
  extentOf,
  fieldsIn,
  inOrder,
  labelIdsOf,
  partsOf,
  rowsAt,
  SPAN_TYPE,
  serviceOf,
  servicesOf,
  spanName,
  statusOf,
  type TracePart,
} from '../../log/timeline/traces.ts'
import { isOpen, type RunRow } from '../runs/queries.ts'
import { OWN_SERVICE, partsOfRun, runsOf, traceIdOf, UNANSWERED_SERVICE } from './run-parts.ts'

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
  const plan = planOf(everything)
  const traces: TraceSummary[] = []
  let lookedAt = 0
  let oldest = Number.POSITIVE_INFINITY
  for (const { id, at } of candidates.traces) {
    // Those of one instant are on one page: the next begins before it.
    if (lookedAt === LOOKED_MAX || (traces.length >= limit && at < oldest)) break
    lookedAt++
    oldest = at
    const received = (yield* partsOf(everything, labelIdsOf(ctx, id), id, plan)).filter(
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
  const query = queryIn(planOf(around), from, isClosed ? to : until, around)
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
