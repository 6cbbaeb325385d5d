/**
 * The read half of the engine on one connection: the writing one in process, a reader thread's
 * own in the daemon. Each call sees one snapshot of the store.
 */
import type { Clock } from './clock.ts'
import type { EngineCore, Row, TailFilter } from './engine.ts'
import { fail } from './errors.ts'
import { snapshotsOf } from './snapshot.ts'
import { firstPositions } from './store/scan.ts'
import type { ReadContext } from './timeline/context.ts'
import { readDocument } from './timeline/documents.ts'
import { answerEntities, answerEntityValues } from './timeline/entities.ts'
import { histogramInSteps } from './timeline/histogram.ts'
import { compilePlan, queryOf } from './timeline/plan.ts'
import { parseEventId, presentRow } from './timeline/present.ts'
import { answerRead, readInSteps } from './timeline/read.ts'
import { statsInSteps } from './timeline/stats.ts'
import { atOnce, inTurns, type Steps } from './timeline/steps.ts'

/** Rows a resumed tail is given at most before it is told of a gap. */
const BACKLOG_MAX = 1_000

export type Reads = Pick<
  EngineCore,
  'read' | 'stats' | 'histogram' | 'entities' | 'entityValues' | 'event'
> & {
  /** Rows stored after an event id that fit a tail's filter, oldest first. */
  backlog(filter: TailFilter): Promise<{ rows: Row[]; more: boolean }>
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
      request.text === undefined
        ? snapshot(() => answerRead(ctx, request, clock.now()))
        : wide(readInSteps(ctx, request, clock.now())),
    stats: (request) => wide(statsInSteps(ctx, request, clock.now())),
    histogram: (request) => wide(histogramInSteps(ctx, request, clock.now())),
    entities: (limit) => snapshot(() => answerEntities(ctx, limit)),
    entityValues: (label, limit, prefix) => snapshot(() => answerEntityValues(ctx, label, limit, prefix)),
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

function readBacklog(ctx: ReadContext, filter: TailFilter, now: number): { rows: Row[]; more: boolean } {
  const after = filter.afterId === undefined ? null : parseEventId(filter.afterId)
  if (after === null) return { rows: [], more: false }
  const plan = compilePlan(
    { selector: filter.selector, sources: filter.sources },
    ctx.db,
    ctx.dictionary,
    ctx.names,
  )
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
  return { rows: plan.filter ? rows.filter(plan.filter) : rows, more: positions.length > BACKLOG_MAX }
}
