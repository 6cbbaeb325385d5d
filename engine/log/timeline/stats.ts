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
import { pagesOf, type Steps } from '../steps.ts'
import { BLOCK, SOURCE_LABEL, TYPE_LABEL } from '../store/labels.ts'
import { firstPositions, type Query } from '../store/scan.ts'
import { labelIdsOf } from '../store/tail.ts'
import type { ReadContext } from './context.ts'
import { eachLabelled, eachRow, idsOf, labelsNamed, matchingQuery, READ_AT_ONCE } from './fit.ts'
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

/** Values of a label that are looked for in the index however few events the window has. */
const INDEXED_MOST = 20_000
/** A row takes as long to look at as so many values to look for (measured 2026-11-30). */
const ROW_VALUES = 3

/** Source labels hold ids; two sources of one name (one deleted) count as one. */
function* countLabels(ctx: ReadContext, query: Query, by: string, counts: Counts): Steps<void> {
  const name = ownField(BUILT_IN, by) ?? by
  const known = ctx.db.prepare<[string], number>('SELECT count(*) FROM named_labels WHERE name = ?').pluck()
  const many = known.get(name)!
  if (many > INDEXED_MOST) {
    const ids = yield* idsOf(ctx, query)
    if (ids.length * ROW_VALUES < many) {
      yield* countLabelsOfRows(ctx, ids, name, counts)
      return
    }
  }
  const values = labelsNamed(ctx, name)
  const shown = (value: string) => (by === 'source' ? (ctx.names.get(Number(value))?.name ?? value) : value)
  yield* eachLabelled(ctx, query, new Set(values.keys()), (labelId, _id, ts) => {
    if (labelId !== 0) counts.add(shown(values.get(labelId) ?? ''), ts)
  })
}

/** Looking for each of a million values takes seconds, and a window of a thousand events has a thousand of them at most. */
function* countLabelsOfRows(
  ctx: ReadContext,
  ids: readonly number[],
  name: string,
  counts: Counts,
): Steps<void> {
  const { dictionary } = ctx
  for (const some of pagesOf(ids, READ_AT_ONCE)) {
    yield
    const rows = ctx.rows.read(some, false).map(({ labels, ts }) => ({ ids: [...labelIdsOf(labels)], ts }))
    dictionary.foresee(new Set(rows.flatMap((row) => row.ids)))
    for (const row of rows)
      for (const id of row.ids) {
        const label = dictionary.label(id)
        if (label.name === name) counts.add(label.value, row.ts)
      }
  }
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
  const rules = rulesFor(ctx, request, asOf)
  const plan = compilePlan(request, ctx.db, ctx.dictionary, ctx.names, rules)
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
  const gaps = gapsIn(ctx, request, shown, { asOf: asOf ?? now, ceiling, rules })
  return {
    from: iso(window.from),
    to: iso(window.shownTo),
    bucket_ms: bucketMs,
    total,
    buckets,
    ...(joined.length ? { joined } : {}),
    ...(notice === null ? {} : { notice }),
    ...(gaps.length ? { gaps } : {}),
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
 * that name entities, last those whose values hardly come again. So many values a step.
 */
export function* entitiesInSteps(ctx: ReadContext, limit: number): Steps<EntitiesResult> {
  ctx.names.refresh()
  const most = Math.min(LIMIT_MAX_ALL, Math.max(1, limit))
  const counts = new EventCounts(ctx)
  const facets: Counted[] = []
  for (const label of labelNames(ctx.db))
    if (!OF_REQUESTS.has(label)) facets.push(yield* facetInSteps(ctx, counts, label, most))
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
 * One label's values, most frequent first. So many values a step.
 * @param prefix only values that begin with it.
 * @throws SvcError not_found when no event has the label.
 */
export function* entityValuesInSteps(
  ctx: ReadContext,
  label: string,
  limit: number,
  prefix?: string,
): Steps<LabelFacet> {
  ctx.names.refresh()
  const most = Math.min(LIMIT_MAX, Math.max(1, limit))
  const { facet } = yield* facetInSteps(ctx, new EventCounts(ctx), label, most, prefix)
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

interface Counted {
  facet: LabelFacet
  /** Of all its values. */
  events: number
}

function* facetInSteps(
  ctx: ReadContext,
  counts: EventCounts,
  label: string,
  limit: number,
  prefix = '',
): Steps<Counted> {
  let events = 0
  let distinct = 0
  const pick = (ids: readonly number[], top: ValueCount[]): void => {
    for (const id of ids) {
      const n = counts.of(id)
      if (n === 0) continue
      events += n
      distinct++
      if (top.length < limit || n > top.at(-1)!.events) insert(top, { id, events: n }, limit)
    }
  }
  const labels = new LabelsOf(ctx, label, prefix)
  // Each in the order of its values, of which the first of those that come as often stay.
  const [unkeyed, keyed]: [ValueCount[], ValueCount[]] = [[], []]
  pick(labels.unkeyed, unkeyed)
  for (let page = labels.next(); page; page = labels.next()) {
    pick(page, keyed)
    yield
  }
  const values = [...unkeyed, ...keyed].map((one) => ({ ...one, value: ctx.dictionary.label(one.id).value }))
  values.sort((a, b) => b.events - a.events || (a.value < b.value ? -1 : 1))
  const declaring = [...ctx.names.all()].filter(
    (source) => !source.deleted && source.labels.some((l) => l.name === label),
  )
  const shown = values.slice(0, limit)
  const sealed = ctx.counts.read(shown.map(({ id }) => id))
  const facet = {
    label,
    primary: declaring.some((source) => source.labels.some((l) => l.name === label && l.primary)),
    sources: declaring.map((source) => source.name).sort(),
    distinct,
    high_cardinality: distinct > HIGH_CARDINALITY,
    values: shown.map((one) => presentValue(ctx, one, sealed.get(one.id)?.last ?? 0)),
  }
  return { facet, events }
}

interface ValueCount {
  id: number
  events: number
}

/** Keeps the most frequent, and of those that come as often the ones that came first. */
function insert(top: ValueCount[], one: ValueCount, limit: number): void {
  let [from, to] = [0, top.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (top[middle]!.events >= one.events) from = middle + 1
    else to = middle
  }
  top.splice(from, 0, one)
  if (top.length > limit) top.pop()
}

/** Values of a label that are counted in one step: a few milliseconds. */
const VALUES_PAGE = 20_000

/** Ids of a label's values: a million of them are not in memory at once, and their values not at all. */
class LabelsOf {
  /** Of labels that have no key yet (migrations/0013), by their values: few. */
  readonly unkeyed: number[]
  private after: string | null = null
  /** The last label that had a key when this began: keys that are written meanwhile are of those above. */
  private readonly through: number

  constructor(
    private readonly ctx: ReadContext,
    private readonly label: string,
    private readonly prefix: string,
  ) {
    const { db } = ctx
    this.through = db.prepare<[], number>('SELECT through FROM labels_keyed').pluck().get()!
    this.unkeyed = db
      .prepare<[number, string, string, string | Buffer], number>(
        'SELECT id FROM labels WHERE id > ? AND name = ? AND value >= ? AND value < ? ORDER BY value',
      )
      .pluck()
      .all(this.through, label, prefix, endOf(prefix))
  }

  /** A page of the others, in the order of their values; null: there are no more. */
  next(): number[] | null {
    // As one text, which takes a third of the time that as many rows do.
    const page = this.ctx.db
      .prepare<[number, string, string, string | Buffer, number], { ids: string; last: string | null }>(
        `SELECT json_group_array(id) FILTER (WHERE id <= ?) AS ids, max(value) AS last FROM (
          SELECT id, value FROM label_keys
          WHERE name = ? AND value ${this.after === null ? '>=' : '>'} ? AND value < ? ORDER BY value LIMIT ?)`,
      )
      .get(this.through, this.label, this.after ?? this.prefix, endOf(this.prefix), VALUES_PAGE)!
    if (page.last === null) return null
    this.after = page.last
    return JSON.parse(page.ids) as number[]
  }
}

/**
 * What sorts after all texts with a prefix: U+10FFFF comes after every other character, and in SQLite bytes come after
 * every text (https://sqlite.org/datatype3.html#comparison_expressions).
 */
const endOf = (prefix: string): string | Buffer => (prefix === '' ? Buffer.alloc(0) : `${prefix}\u{10ffff}`)

/** Events of labels by id, counted once for each block of ids: a label is looked up in a few nanoseconds. */
class EventCounts {
  private readonly blocks = new Map<number, Uint32Array>()

  constructor(private readonly ctx: ReadContext) {}

  of(id: number): number {
    const block = Math.floor(id / BLOCK)
    let counts = this.blocks.get(block)
    if (!counts) {
      // All of one step: what is sealed between two of them leaves the tail.
      const { counts: sealed, index } = this.ctx
      counts = sealed.block(block)
      for (let at = 0; at < BLOCK; at++) counts[at]! += index.tail.count(block * BLOCK + at)
      this.blocks.set(block, counts)
    }
    return counts[id % BLOCK]!
  }
}

function presentValue(
  ctx: ReadContext,
  { id, value, events }: ValueCount & { value: string },
  sealedLast: number,
): LabelValue {
  let last = sealedLast
  for (const segment of ctx.index.tail.segments) {
    const list = segment.list(id)
    if (list?.length) last = Math.max(last, segment.ingestedAt[list.last()]!)
  }
  return { value, events, last_ingest: last ? iso(last) : null }
}
