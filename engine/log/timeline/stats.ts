/** Counts of a label's values in a window against the window before it, biggest change first. */
import { gapsSaid } from '../../../schemas/event-line.ts'
import { ownField } from '../../../schemas/fields-of.ts'
import { didYouMean } from '../../../schemas/near-names.ts'
import { escapeLine } from '../../../schemas/plain-text.ts'
import { countWords, listSome } from '../../../schemas/plain-words.ts'
import type {
  EntitiesResult,
  HistogramRequest,
  HistogramResult,
  LabelFacet,
  LabelValue,
  SourceGap,
  StatsRequest,
  StatsResult,
  StatsRow,
} from '../../../schemas/types.ts'
import { fail } from '../../errors.ts'
import { iso, parseDuration } from '../../model/units.ts'
import { type EntityRules, NO_ENTITIES } from '../entity-rules.ts'
import type { Steps } from '../steps.ts'
import { SOURCE_LABEL, TYPE_LABEL } from '../store/labels.ts'
import { firstPositions, type Query } from '../store/scan.ts'
import type { ReadContext } from './context.ts'
import { eachLabelled, eachRow, labelsNamed, matchingQuery } from './fit.ts'
import {
  compilePlan,
  EVER,
  gapsIn,
  labelNames,
  lastSeenOf,
  type Plan,
  parseInstant,
  queryOf,
  resolveWindow,
  type Scoped,
  silenceSaid,
  tellJoined,
  unknownLabels,
  unknownOf,
} from './plan.ts'

const TOP_MAX = 50
/** Labels of ours that may be counted under their plain names. */
const BUILT_IN: Record<string, string> = { source: SOURCE_LABEL, event_type: TYPE_LABEL }

/**
 * Segment by segment.
 * @param now end of the window, epoch ms.
 * @param asOf counts only what had been ingested by then, epoch ms; absent: everything.
 * @throws SvcError invalid, not_found
 */
export function* statsInSteps(
  ctx: ReadContext,
  request: Scoped<StatsRequest>,
  now: number,
  asOf?: number,
): Steps<StatsResult> {
  const window = request.window ?? '30m'
  const length = parseDuration(window, 'window')
  const rules = rulesFor(ctx, request, asOf)
  const plan = compilePlan(
    {
      selector: request.where,
      sources: request.sources,
      ...(request.project?.length ? { project: request.project } : {}),
    },
    ctx.db,
    ctx.dictionary,
    ctx.names,
    rules,
  )
  const ceiling = asOf === undefined ? ctx.index.tail.lastId : ctx.ceilingAt(asOf)
  const both = { from: now - 2 * length, to: now }
  const query = yield* matchingQuery(ctx, plan, queryOf(plan, both, ceiling))
  const counts = new Counts(now - length)
  if (ctx.names.numberLabels().has(request.by)) yield* countNumbers(ctx, query, request.by, counts)
  yield* countLabels(ctx, query, request.by, counts)
  const joined = tellJoined(plan, ctx, ceiling)
  const table = { ...tabulate(request, window, counts.of), ...(joined.length ? { joined } : {}) }
  const gaps = gapsIn(ctx, { ...request, selector: request.where }, both, {
    asOf: asOf ?? now,
    ceiling,
    rules,
  })
  if (table.values > 0) {
    const begun = beginningSaid(ctx, request, plan, { ...both, ceiling, rules })
    const whole = begun === null ? table : { ...table, stats: `${table.stats}\n${begun}`, notice: begun }
    return withGaps(whole, gaps)
  }
  const asked = [request.by, ...Object.keys(request.where ?? {})]
  const wanted = asked.filter((name) => name !== 'key_value' && !Object.hasOwn(BUILT_IN, name))
  const isHinted = !request.project?.length
  const told = [
    silenceWhere(ctx, request, { ceiling, rules, ...both }),
    unknownOf(ctx, { ...request, selector: request.where }, plan.joined),
  ].filter((one) => one !== null)
  const notice =
    unknownLabels(ctx.db, ctx.names, [...new Set(wanted)], isHinted) ?? (told.length ? told.join('; ') : null)
  return withGaps(notice === null ? table : { ...table, stats: `${table.stats}\n${notice}`, notice }, gaps)
}

/** What fell because its source took nothing in looks like what stopped by itself. */
const withGaps = (table: StatsResult, gaps: SourceGap[]): StatsResult =>
  gaps.length ? { ...table, stats: `${table.stats}\n${gapsSaid(gaps)}`, gaps } : table

/** Sources that are named as begun within the windows. */
const BEGUN_SAID = 5

/**
 * What is new to us looks like what rose: a source that was made within the two windows, or events that are stored from
 * then on alone, as of a new instance and after retention. @returns null: the window before is whole
 */
function beginningSaid(
  ctx: ReadContext,
  { sources, project }: Scoped<StatsRequest>,
  plan: Plan,
  { from, to, ceiling, rules }: { from: number; to: number; ceiling: number; rules: EntityRules },
): string | null {
  const { db, dictionary, names } = ctx
  const firstOf = (groups: number[][], window: { from: number; to: number }) =>
    firstPositions(ctx.index.all(), queryOf({ ...scope, groups }, window, ceiling), 'asc', 1, null)[0]?.ts
  const of = { sources, ...(project?.length ? { project } : {}) }
  const scope = compilePlan(of, db, dictionary, names, rules)
  const oldest = firstOf(scope.groups, EVER)
  if (oldest !== undefined && oldest > from)
    return `nothing is stored from before ${iso(oldest)}, so the window before is not whole`
  const made = db
    .prepare<[number], { id: number; name: string }>(
      "SELECT id, name FROM sources WHERE created_at > ? AND state <> 'deleted' ORDER BY id",
    )
    .all(from)
  const begun = made.flatMap(({ id, name }) => {
    const label = dictionary.find(SOURCE_LABEL, String(id))
    if (label === undefined || firstOf([...plan.groups, [label]], { from, to }) === undefined) return []
    const first = firstOf([[label]], EVER)!
    return first > from ? [`${name} from before ${iso(first)}`] : []
  })
  return begun.length === 0
    ? null
    : `nothing is stored of ${listSome(begun, BEGUN_SAID)}, so what came of it before is not whole`
}

/** Where no event of the two windows has the labels: when one had them last. @returns null: some have, or none were asked for */
function silenceWhere(
  ctx: ReadContext,
  { where, project }: Scoped<StatsRequest>,
  { ceiling, rules, ...window }: { ceiling: number; rules: EntityRules; from: number; to: number },
): string | null {
  if (!where || Object.keys(where).length === 0) return null
  const asked = { selector: where, ...(project?.length ? { project } : {}) }
  const seen = lastSeenOf(ctx, asked, ceiling, rules)
  if (seen === undefined || (seen !== null && seen >= window.from && seen <= window.to)) return null
  return silenceSaid(window, seen)
}

/** Which names are of one thing, for what is counted. @param asOf epoch ms; absent: now */
const rulesFor = (ctx: ReadContext, { joined }: { joined?: boolean }, asOf?: number) =>
  joined === false
    ? NO_ENTITIES
    : asOf === undefined
      ? ctx.entities.rules()
      : ctx.entities.of(ctx.entities.versionAsOf(asOf))

/** Events of each value, in the window and in the one before it. */
class Counts {
  readonly of = new Map<string, { now: number; before: number }>()

  /** @param since where the newer window begins, epoch ms, inclusive: the boundary belongs to it */
  constructor(private readonly since: number) {}

  add(value: string, ts: number): void {
    const entry = this.of.get(value) ?? { now: 0, before: 0 }
    this.of.set(value, entry)
    if (ts >= this.since) entry.now++
    else entry.before++
  }
}

/** Source labels hold ids; two sources of one name (one deleted) count as one. */
function* countLabels(ctx: ReadContext, query: Query, by: string, counts: Counts): Steps<void> {
  const values = labelsNamed(ctx, ownField(BUILT_IN, by) ?? by)
  const shown = (value: string) => (by === 'source' ? (ctx.names.get(Number(value))?.name ?? value) : value)
  yield* eachLabelled(ctx, query, new Set(values.keys()), (labelId, _id, ts) => {
    if (labelId !== 0) counts.add(shown(values.get(labelId) ?? ''), ts)
  })
}

/** Number labels are in rows alone. */
function* countNumbers(ctx: ReadContext, query: Query, by: string, counts: Counts): Steps<void> {
  yield* eachRow(ctx, query, ({ numbers, ts }) => {
    const value = numbers === null ? undefined : ownField(JSON.parse(numbers) as Record<string, number>, by)
    if (value !== undefined) counts.add(String(value), ts)
  })
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
    stats: renderTable(request.by, window, { rows, left: counts.size - rows.length }, total),
    by: request.by,
    window,
    rows,
    total,
    values: counts.size,
  }
}

/** +n (xR), +n, new, gone or none. */
function describeChange(now: number, before: number): string {
  if (now === before) return 'none'
  if (before === 0) return 'new'
  if (now === 0) return 'gone'
  const ratio = Math.round((now / before) * 10) / 10
  // "x1" would say that nothing changed, and "x0" that it is gone.
  const times = ratio === 1 || ratio === 0 ? '' : ` (x${ratio})`
  return `${now > before ? '+' : ''}${now - before}${times}`
}

function renderTable(
  by: string,
  window: string,
  { rows, left }: { rows: StatsRow[]; left: number },
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
  const more = left ? [`${countWords(left, 'more value')} that changed less: top takes up to ${TOP_MAX}`] : []
  return [`events by ${by}, last ${window} against the ${window} before`, ...lines, ...more].join('\n')
}

/* Counts over time for the density strip. */

const BUCKETS_MAX = 200

/**
 * Segment by segment.
 * @param now end of a relative window, epoch ms; of a request as of an instant, that.
 * @throws SvcError invalid, not_found
 */
export function* histogramInSteps(
  ctx: ReadContext,
  request: HistogramRequest,
  now: number,
): Steps<HistogramResult> {
  const asOf = request.as_of === undefined ? undefined : parseInstant(request.as_of, 'as_of')
  const plan = compilePlan(request, ctx.db, ctx.dictionary, ctx.names, rulesFor(ctx, request, asOf))
  const window = resolveWindow(request, asOf ?? now)
  const wanted = Math.min(BUCKETS_MAX, Math.max(1, Math.trunc(request.buckets ?? 60)))
  const span = Math.max(1, window.shownTo - window.from)
  const bucketMs = Math.ceil(span / wanted)
  const n = Math.ceil(span / bucketMs)
  const sourceLabels = labelsNamed(ctx, SOURCE_LABEL)
  const sourceIds = new Set(sourceLabels.keys())
  const bySource = new Map<string, Uint32Array>()
  const totals = new Uint32Array(n)
  // The strip ends where it says: events of clocks ahead are in the list, not past its edge.
  const shown = { from: window.from, to: window.shownTo }
  const ceiling = asOf === undefined ? ctx.index.tail.lastId : ctx.ceilingAt(asOf)
  const query = yield* matchingQuery(ctx, plan, queryOf(plan, shown, ceiling))
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
  const notice = total === 0 ? unknownOf(ctx, request, plan.joined) : null
  const joined = tellJoined(plan, ctx, ceiling)
  return {
    from: iso(window.from),
    to: iso(window.shownTo),
    bucket_ms: bucketMs,
    total,
    buckets,
    ...(joined.length ? { joined } : {}),
    ...(notice === null ? {} : { notice }),
  }
}

/* Labels and their values with counts, for pickers (GET /api/entities). */

/** Past this many values a label is flagged; it is still counted exactly. */
const HIGH_CARDINALITY = 10_000
const LIMIT_MAX = 500
const LIMIT_MAX_ALL = 50

/** Labels that name a request, or a step of one, and no entity. */
const OF_REQUESTS = new Set(['trace_id', 'span_id', 'parent_span_id'])
/** A label of more values, each on fewer events, tells events from one another, such as the id of a request. */
const FEW_VALUES = 100
const FEW_EVENTS = 10

/**
 * Every label with its most frequent values, but those of requests, which are listed when asked for by name: first those
 * that name entities, last those whose values hardly come again.
 */
export function answerEntities(ctx: ReadContext, limit: number): EntitiesResult {
  ctx.names.refresh()
  const listed = labelNames(ctx.db).filter((label) => !OF_REQUESTS.has(label))
  const facets = listed.map((label) => facetOf(ctx, label, Math.min(LIMIT_MAX_ALL, Math.max(1, limit))))
  const rankOf = ({ facet: { primary, distinct }, events }: Counted): number =>
    primary ? 0 : distinct > FEW_VALUES && events < distinct * FEW_EVENTS ? 2 : 1
  return {
    labels: facets
      .filter(({ events }) => events > 0)
      .sort((a, b) => rankOf(a) - rankOf(b) || (a.facet.label < b.facet.label ? -1 : 1))
      .map(({ facet }) => facet),
  }
}

/**
 * One label's values, most frequent first.
 * @param prefix only values that begin with it.
 * @throws SvcError not_found when no event has the label.
 */
export function answerEntityValues(
  ctx: ReadContext,
  label: string,
  limit: number,
  prefix?: string,
): LabelFacet {
  ctx.names.refresh()
  const { facet } = facetOf(ctx, label, Math.min(LIMIT_MAX, Math.max(1, limit)), prefix)
  if (facet.distinct > 0) return facet
  const known = labelNames(ctx.db)
  if (!known.includes(label) && ctx.names.numberLabels().has(label))
    fail('invalid', `${label} is a label of numbers, which names no entities; stats counts its values`, {
      field: 'label',
    })
  if (!known.includes(label))
    fail('not_found', `no event has the label ${label}${didYouMean(label, known)}`, { field: 'label' })
  return facet
}

interface LabelRow {
  id: number
  value: string
}

interface Counted {
  facet: LabelFacet
  /** Of all its values. */
  events: number
}

function facetOf(ctx: ReadContext, label: string, limit: number, prefix?: string): Counted {
  const found = selectLabels(ctx, label, prefix)
  const counts = ctx.counts.read(found.map((row) => row.id))
  let distinct = 0
  const values: { row: LabelRow; events: number; last: number }[] = []
  for (const row of found) {
    const sealed = counts.get(row.id)
    const events = (sealed?.n ?? 0) + ctx.index.tail.count(row.id)
    if (events === 0) continue
    distinct++
    values.push({ row, events, last: sealed?.last ?? 0 })
  }
  values.sort((a, b) => b.events - a.events || (a.row.value < b.row.value ? -1 : 1))
  const declaring = [...ctx.names.all()].filter(
    (source) => !source.deleted && source.labels.some((l) => l.name === label),
  )
  const facet = {
    label,
    primary: declaring.some((source) => source.labels.some((l) => l.name === label && l.primary)),
    sources: declaring.map((source) => source.name).sort(),
    distinct,
    high_cardinality: distinct > HIGH_CARDINALITY,
    values: values.slice(0, limit).map(({ row, events, last }) => presentValue(ctx, row, events, last)),
  }
  return { facet, events: values.reduce((sum, { events }) => sum + events, 0) }
}

function selectLabels(ctx: ReadContext, label: string, prefix: string | undefined): LabelRow[] {
  const columns = 'SELECT id, value FROM named_labels WHERE name = ?'
  if (prefix === undefined || prefix === '') return ctx.db.prepare(columns).all(label) as LabelRow[]
  // A range of the keys by name and value; U+10FFFF sorts after every other character.
  return ctx.db
    .prepare(`${columns} AND value >= ? AND value < ?`)
    .all(label, prefix, `${prefix}\u{10ffff}`) as LabelRow[]
}

function presentValue(ctx: ReadContext, row: LabelRow, events: number, sealedLast: number): LabelValue {
  let last = sealedLast
  for (const segment of ctx.index.tail.segments) {
    const list = segment.list(row.id)
    if (list?.length) last = Math.max(last, segment.ingestedAt[list.last()]!)
  }
  return { value: row.value, events, last_ingest: last ? iso(last) : null }
}
