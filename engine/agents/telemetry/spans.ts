/** Spans by themselves: those of a window that are as it is asked for, newest first, or those of one trace, in order. */

import type { TelemetrySpan, TelemetrySpansResult } from '../../../schemas/types.ts'
import type { SpansAsked } from '../../calls.ts'
import { fail } from '../../errors.ts'
import { TRACE_ID_LABELS } from '../../log/brief/brief.ts'
import type { Steps } from '../../log/steps.ts'
import { firstPositions, type Position } from '../../log/store/scan.ts'
import type { ReadContext } from '../../log/timeline/context.ts'
import { inspectPlan, queryIn, windowOf } from '../../log/timeline/inspect-pages.ts'
import { parseInstant } from '../../log/timeline/plan.ts'
import {
  aroundOf,
  BATCH,
  fieldsIn,
  findTraceInSteps,
  kindOf,
  placed,
  rowsAt,
  SPAN_TYPE,
  serviceOf,
  spanName,
  statusOf,
  type TracePart,
  toMicros,
} from '../../log/timeline/traces.ts'
import { iso } from '../../model/units.ts'
import { filterOf } from './traces.ts'

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 200
/** With those that share the instant of the last. */
const PAGE_MAX = 1_000
/** Spans looked at for one answer. */
const LOOKED_MAX = 50_000
const WINDOW_DEFAULT = '1h'
/** Attributes of a span that are told, and characters of a value. */
const ATTRIBUTES_MAX = 30
const VALUE_MAX = 200

/** @throws SvcError invalid, naming the field; not_found for a trace or a project that is not there */
export function* spansInSteps(ctx: ReadContext, asked: SpansAsked, now: number): Steps<TelemetrySpansResult> {
  ctx.names.refresh()
  const fits = filterOf(asked)
  const limit = Math.min(LIMIT_MAX, Math.max(1, asked.limit ?? LIMIT_DEFAULT))
  if (asked.trace_id !== undefined) return yield* spansOfTrace(ctx, asked, { fits, limit, now })
  const end = asked.to === undefined ? now : Math.min(now, parseInstant(asked.to, 'to'))
  const around = aroundOf(ctx, asked, end, {
    window: asked.window ?? WINDOW_DEFAULT,
    event_types: [SPAN_TYPE],
  })
  const { from, to, until } = windowOf(around)
  const query = queryIn(inspectPlan(around), from, asked.to === undefined ? until : to, around)
  const spans: TelemetrySpan[] = []
  let lookedAt = 0
  let oldest = end
  let after: Position | null = null
  while (lookedAt < LOOKED_MAX) {
    const positions: Position[] = firstPositions(ctx.index.all(), query, 'desc', BATCH, after)
    for (const part of partsAt(around, positions)) {
      // Those of one instant are on one page: the next begins before it.
      if (spans.length >= limit && part.row.at < oldest)
        return { spans, looked_at: lookedAt, next_to: iso(oldest - 1) }
      lookedAt++
      oldest = part.row.at
      if (spans.length < PAGE_MAX && fits([part])) spans.push(spanOf(part))
    }
    if (positions.length < BATCH) return { spans, looked_at: lookedAt, next_to: null }
    after = positions.at(-1)!
    yield
  }
  return { spans, looked_at: lookedAt, next_to: iso(oldest - 1) }
}

function* spansOfTrace(
  ctx: ReadContext,
  asked: SpansAsked,
  { fits, limit, now }: { fits: ReturnType<typeof filterOf>; limit: number; now: number },
): Steps<TelemetrySpansResult> {
  const id = asked.trace_id!
  const found = yield* findTraceInSteps(aroundOf(ctx, asked, now), id)
  if (found === null)
    return fail('not_found', `no event that may be read here has the trace id ${id}`, { field: 'trace_id' })
  const all = found.parts.filter(({ length }) => length !== null)
  const spans = all.filter((part) => fits([part])).sort((a, b) => a.begin - b.begin)
  return { spans: spans.slice(0, limit).map(spanOf), looked_at: all.length, next_to: null }
}

/** Spans at places of the index, newest first, as the places are. */
export function partsAt(around: ReturnType<typeof aroundOf>, positions: readonly Position[]): TracePart[] {
  const byId = new Map(
    rowsAt(around, positions, true).map(({ row, raw }) => [
      Number(row.id.slice(4)),
      { row, trace: traceOf(row.labels), ...placed(row, raw) },
    ]),
  )
  return positions.flatMap(({ id }) => byId.get(id) ?? []).filter(({ length }) => length !== null)
}

function traceOf(labels: Readonly<Record<string, unknown>>): string {
  const name = TRACE_ID_LABELS.find((label) => labels[label] !== undefined)
  return name === undefined ? '' : String(labels[name])
}

function spanOf(part: TracePart): TelemetrySpan {
  const { row, trace, begin, length, span, parent, recorded } = part
  return {
    event_id: row.id,
    trace_id: trace || null,
    span_id: span || null,
    parent_id: parent || null,
    name: spanName(part),
    service: serviceOf(part),
    kind: kindOf(recorded),
    status: statusOf(recorded),
    began_at: iso(begin),
    duration_ms: toMicros(length ?? 0),
    text: row.text,
    attributes: attributesOf(fieldsIn(recorded.attributes)),
  }
}

function attributesOf(given: Record<string, unknown>): TelemetrySpan['attributes'] {
  return Object.entries(given)
    .slice(0, ATTRIBUTES_MAX)
    .map(([name, value]) => ({
      name,
      value: (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, VALUE_MAX),
    }))
}
