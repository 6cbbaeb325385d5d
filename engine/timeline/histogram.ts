/** Counts over time for the density strip. */
import type { HistogramRequest, HistogramResult } from '../../schemas/types.ts'
import { SOURCE_LABEL } from '../store/dictionary.ts'
import { eachLabelled, labelsNamed } from './classify.ts'
import type { ReadContext } from './context.ts'
import { compilePlan, queryOf, resolveWindow, unknownOf } from './plan.ts'
import { iso } from './present.ts'
import type { Steps } from './steps.ts'

const BUCKETS_MAX = 200

/**
 * Segment by segment.
 * @param now end of a relative window, epoch ms.
 * @throws SvcError invalid, not_found
 */
export function* histogramInSteps(
  ctx: ReadContext,
  request: HistogramRequest,
  now: number,
): Steps<HistogramResult> {
  const plan = compilePlan(request, ctx.db, ctx.dictionary, ctx.names)
  const window = resolveWindow(request, now)
  const wanted = Math.min(BUCKETS_MAX, Math.max(1, Math.trunc(request.buckets ?? 60)))
  const span = Math.max(1, window.shownTo - window.from)
  const bucketMs = Math.ceil(span / wanted)
  const n = Math.ceil(span / bucketMs)
  const sourceLabels = labelsNamed(ctx, SOURCE_LABEL)
  const sourceIds = new Set(sourceLabels.keys())
  const bySource = new Map<string, Uint32Array>()
  const totals = new Uint32Array(n)
  // The strip ends where it says: events of clocks ahead are in the list, not past its edge.
  const query = queryOf(plan, { from: window.from, to: window.shownTo }, ctx.index.tail.lastId)
  yield* eachLabelled(ctx, query, sourceIds, (labelId, _id, ts) => {
    const bucket = Math.min(n - 1, Math.floor((ts - window.from) / bucketMs))
    totals[bucket]!++
    const name = ctx.names.get(Number(sourceLabels.get(labelId)))?.name ?? ''
    let counts = bySource.get(name)
    if (!counts) {
      counts = new Uint32Array(n)
      bySource.set(name, counts)
    }
    counts[bucket]!++
  })
  const buckets = Array.from(totals, (count, i) => ({
    at: iso(window.from + i * bucketMs),
    count,
    by_source: Object.fromEntries(
      [...bySource].filter(([, counts]) => counts[i]! > 0).map(([name, counts]) => [name, counts[i]!]),
    ),
  }))
  const total = totals.reduce((sum, count) => sum + count, 0)
  const notice = total === 0 ? unknownOf(ctx, request.selector) : null
  return {
    from: iso(window.from),
    to: iso(window.shownTo),
    bucket_ms: bucketMs,
    total,
    buckets,
    ...(notice === null ? {} : { notice }),
  }
}
