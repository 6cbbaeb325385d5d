/** Counts of a label's values in a window against the window before it, biggest change first. */
import { escapeLine } from '../../schemas/plain-text.ts'
import type { StatsRequest, StatsResult, StatsRow } from '../../schemas/types.ts'
import { SOURCE_LABEL, TYPE_LABEL } from '../store/dictionary.ts'
import { eachLabelled, labelsNamed } from './classify.ts'
import type { ReadContext } from './context.ts'
import { parseDuration } from './duration.ts'
import { compilePlan, queryOf, type Scoped, unknownLabels } from './plan.ts'
import { atOnce, type Steps } from './steps.ts'

const TOP_MAX = 50
/** Labels of ours that may be counted under their plain names. */
const BUILT_IN: Record<string, string> = { source: SOURCE_LABEL, event_type: TYPE_LABEL }

/**
 * @param now end of the window, epoch ms.
 * @param asOf counts only what had been ingested by then, epoch ms; absent: everything.
 * @throws SvcError invalid, not_found
 */
export function answerStats(
  ctx: ReadContext,
  request: Scoped<StatsRequest>,
  now: number,
  asOf?: number,
): StatsResult {
  return atOnce(statsInSteps(ctx, request, now, asOf))
}

/** The same segment by segment. */
export function* statsInSteps(
  ctx: ReadContext,
  request: Scoped<StatsRequest>,
  now: number,
  asOf?: number,
): Steps<StatsResult> {
  const window = request.window ?? '30m'
  const length = parseDuration(window, 'window')
  const plan = compilePlan(
    {
      selector: request.where,
      sources: request.sources,
      ...(request.project?.length ? { project: request.project } : {}),
    },
    ctx.db,
    ctx.dictionary,
    ctx.names,
  )
  const ceiling = asOf === undefined ? ctx.index.tail.lastId : ctx.ceilingAt(asOf)
  const query = queryOf(plan, { from: now - 2 * length, to: now }, ceiling)
  const values = labelsNamed(ctx, BUILT_IN[request.by] ?? request.by)
  const counted = new Set(values.keys())
  const counts = new Map<number, { now: number; before: number }>()
  yield* eachLabelled(ctx, query, counted, (labelId, _id, ts) => {
    if (labelId === 0) return
    const entry = counts.get(labelId) ?? { now: 0, before: 0 }
    counts.set(labelId, entry)
    // The boundary belongs to the newer window, whose start is inclusive.
    if (ts >= now - length) entry.now++
    else entry.before++
  })
  const table = tabulate(request, window, mergeByValue(ctx, request.by, values, counts))
  if (table.values > 0) return table
  const asked = [request.by, ...Object.keys(request.where ?? {})]
  const wanted = asked.filter((name) => name !== 'key_value' && !Object.hasOwn(BUILT_IN, name))
  const notice = unknownLabels(ctx.db, ctx.names, [...new Set(wanted)])
  return notice === null ? table : { ...table, stats: `${table.stats}\n${notice}`, notice }
}

/** Source labels hold ids; two sources of one name (one deleted) count as one. */
function mergeByValue(
  ctx: ReadContext,
  by: string,
  values: Map<number, string>,
  counts: Map<number, { now: number; before: number }>,
): Map<string, { now: number; before: number }> {
  const merged = new Map<string, { now: number; before: number }>()
  for (const [labelId, count] of counts) {
    const value = values.get(labelId) ?? ''
    const shown = by === 'source' ? (ctx.names.get(Number(value))?.name ?? value) : value
    const entry = merged.get(shown)
    if (entry) {
      entry.now += count.now
      entry.before += count.before
    } else merged.set(shown, { ...count })
  }
  return merged
}

function tabulate(
  request: Scoped<StatsRequest>,
  window: string,
  counts: Map<string, { now: number; before: number }>,
): StatsResult {
  const top = Math.min(TOP_MAX, Math.max(1, Math.trunc(request.top ?? 20)))
  const total = { now: 0, before: 0 }
  for (const count of counts.values()) {
    total.now += count.now
    total.before += count.before
  }
  const rows: StatsRow[] = [...counts]
    .map(([value, count]) => ({
      value,
      now: count.now,
      before: count.before,
      change: describeChange(count.now, count.before),
    }))
    .sort(
      (a, b) =>
        Math.abs(b.now - b.before) - Math.abs(a.now - a.before) ||
        b.now - a.now ||
        (a.value < b.value ? -1 : 1),
    )
    .slice(0, top)
  return {
    stats: renderTable(request.by, window, rows, total),
    by: request.by,
    window,
    rows,
    total,
    values: counts.size,
  }
}

/** +n (xR), new, gone or none. */
export function describeChange(now: number, before: number): string {
  if (now === before) return 'none'
  if (before === 0) return 'new'
  if (now === 0) return 'gone'
  const ratio = Math.round((now / before) * 10) / 10
  return `${now > before ? '+' : ''}${now - before} (x${ratio})`
}

function renderTable(
  by: string,
  window: string,
  rows: StatsRow[],
  total: { now: number; before: number },
): string {
  const cells = [
    [by, 'now', 'before', 'change'],
    ...rows.map((row) => [escapeLine(row.value), String(row.now), String(row.before), row.change]),
    ['total', String(total.now), String(total.before), describeChange(total.now, total.before)],
  ]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...cells.map((row) => row[column]!.length)))
  const lines = cells.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)))
      .join(' | ')
      .trimEnd(),
  )
  return [`events by ${by}, last ${window} against the ${window} before`, ...lines].join('\n')
}
