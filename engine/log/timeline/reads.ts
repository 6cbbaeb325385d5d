/**
 * The read half of the engine on one connection: the writing one in process, a reader thread's
 * own in the daemon. Each call sees one snapshot of the store.
 */

import { inspectInSteps } from '../../agents/inspect.ts'
import { activityInSteps, spansInSteps } from '../../agents/telemetry/activity.ts'
import { metricsInSteps } from '../../agents/telemetry/metric-series.ts'
import { traceInSteps, tracesInSteps } from '../../agents/telemetry/traces.ts'
import type { EngineCore, Row, TailFilter } from '../../calls.ts'
import type { Clock } from '../../clock.ts'
import { fail } from '../../errors.ts'
import { coverageInSteps, neighboursInSteps } from '../entity-views.ts'
import { atOnce, inTurns, type Steps, snapshotsOf } from '../steps.ts'
import { eachPosition, firstPositions } from '../store/scan.ts'
import type { ReadContext } from './context.ts'
import { readDocument } from './documents.ts'
import { compilePlan, queryOf, unknownOf } from './plan.ts'
import { parseEventId, presentRow } from './present.ts'
import { answerRead, readInSteps } from './read.ts'
import { entitiesInSteps, entityValuesInSteps, histogramInSteps, statsInSteps } from './stats.ts'

/** Rows a resumed tail is given at most before it is told of a gap. */
const BACKLOG_MAX = 1_000

/** What a tail begins with. */
export interface Backlog {
  rows: Row[]
  /** Stored after its event too, and older than these rows. */
  missed: number
  /** A label of the filter that no event has; null: each was on some event. */
  notice: string | null
}

export type Reads = Pick<
  EngineCore,
  | 'read'
  | 'stats'
  | 'histogram'
  | 'trace'
  | 'traces'
  | 'telemetrySpans'
  | 'metricSeries'
  | 'agentActivity'
  | 'inspect'
  | 'entities'
  | 'entityValues'
  | 'event'
  | 'entityCoverage'
  | 'entityNeighbours'
> & {
  /**
   * Rows stored after an event id that fit a tail's filter, oldest first, how many older ones are left out, and
   * what should be known of the filter. @throws SvcError not_found for a source that is not there
   */
  backlog(filter: TailFilter): Promise<Backlog>
}

/**
 * @param isReader true on a connection of its own, which must catch up before each call.
 * @param counted told of each read.
 */
export function createReads(
  ctx: ReadContext,
  clock: Clock,
  isReader: boolean,
  counted: () => void = () => {},
): Reads {
  const view = snapshotsOf(ctx, isReader)
  const snapshot = <T>(answer: () => T): Promise<T> => {
    counted()
    return view(answer)
  }
  // In process nothing else reads meanwhile, and one snapshot is the caller's own.
  const wide = <T>(steps: Steps<T>): Promise<T> => {
    if (!isReader) return snapshot(() => atOnce(steps))
    counted()
    return inTurns(steps, view)
  }
  return {
    read: (request) =>
      request.text === undefined && request.max_tokens === undefined
        ? snapshot(() => answerRead(ctx, request, clock.now()))
        : wide(readInSteps(ctx, request, clock.now())),
    stats: (request) => wide(statsInSteps(ctx, request, clock.now())),
    histogram: (request) => wide(histogramInSteps(ctx, request, clock.now())),
    trace: (asked) => wide(traceInSteps(ctx, asked, clock.now())),
    traces: (asked) => wide(tracesInSteps(ctx, asked, clock.now())),
    telemetrySpans: (asked) => wide(spansInSteps(ctx, asked, clock.now())),
    metricSeries: (asked) => wide(metricsInSteps(ctx, asked, clock.now())),
    agentActivity: (asked) => wide(activityInSteps(ctx, asked, clock.now())),
    inspect: ({ project, ...question }) =>
      wide(
        inspectInSteps(ctx, question, {
          ...{ projects: project === undefined ? [] : [project], now: clock.now(), isRedacted: false },
        }),
      ),
    entityCoverage: (body) => wide(coverageInSteps(ctx, body)),
    entityNeighbours: (asked) => wide(neighboursInSteps(ctx, asked, clock.now())),
    entities: (limit) => wide(entitiesInSteps(ctx, limit)),
    entityValues: (label, limit, prefix) => wide(entityValuesInSteps(ctx, label, limit, prefix)),
    event: (id) => snapshot(() => readEvent(ctx, id, clock.now())),
    backlog: (filter) => snapshot(() => readBacklog(ctx, filter, clock.now())),
  }
}

function readEvent(ctx: ReadContext, id: string, now: number): Row {
  const number = parseEventId(id) ?? fail('invalid', 'an event id is evt_ and a number', { field: 'id' })
  const stored = ctx.rows.read([number], true)[0]
  if (stored && !ctx.names.masked().includes(stored.source_id))
    return presentRow(stored, ctx.dictionary, ctx.names, now)
  return (
    readDocument(ctx.db, ctx.names, number, now) ??
    fail('not_found', `no event has the id ${id}; it may have been purged`)
  )
}

function readBacklog(ctx: ReadContext, filter: TailFilter, now: number): Backlog {
  const plan = compilePlan(
    { selector: filter.selector, sources: filter.sources },
    ctx.db,
    ctx.dictionary,
    ctx.names,
    ctx.entities.rules(),
  )
  const notice = unknownOf(ctx, filter, plan.joined)
  const after = filter.afterId === undefined ? null : parseEventId(filter.afterId)
  if (after === null) return { rows: [], missed: 0, notice }
  const query = queryOf(
    plan,
    { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER },
    ctx.index.tail.lastId,
    after,
  )
  const positions = firstPositions(ctx.index.all(), query, 'desc', BACKLOG_MAX + 1, null)
  const ids = positions
    .slice(0, BACKLOG_MAX)
    .map((position) => position.id)
    .sort((a, b) => a - b)
  const rows = ctx.rows.read(ids, false).map((row) => presentRow(row, ctx.dictionary, ctx.names, now))
  let stored = 0
  if (positions.length > BACKLOG_MAX) eachPosition(ctx.index.all(), query, () => stored++)
  // With a filter that the index cannot answer, some of these might not fit it.
  const missed = Math.max(0, stored - BACKLOG_MAX)
  return { rows: plan.filter ? rows.filter(plan.filter) : rows, missed, notice }
}
