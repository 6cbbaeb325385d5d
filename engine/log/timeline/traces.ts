/**
 * Traces: all events and spans of one trace id, and what spans say of themselves. A trace is what shares a trace id
 * (https://www.w3.org/TR/trace-context/#trace-id), whichever sources brought it.
 */

import { isDelta } from '../../../schemas/distributions.ts'
import type { TraceLink } from '../../../schemas/types.ts'
import { fail } from '../../errors.ts'
import { iso } from '../../model/units.ts'
import {
  type ContextRow,
  type Counts,
  mapAt,
  REQUESTS_BACK_MS,
  SPAN_ID_LABELS,
  SPAN_PARENT_LABELS,
  type SpanFacts,
  TRACE_ID_LABELS,
  traceIdIn,
} from '../brief/brief.ts'
import { LINKED_TRACE_LABELS } from '../ingest/label.ts'
import { pagesOf, type Steps } from '../steps.ts'
import {
  eachPositionInSteps,
  firstPositions,
  type PayloadHead,
  type Position,
  type Query,
  textRowOf,
} from '../store/scan.ts'
import type { KeptRow, ReadContext } from './context.ts'
import { type Around, askedQuery, inspectPlan, queryIn, windowOf } from './inspect-pages.ts'
import type { Plan } from './plan.ts'
import { contextRows, isFailed, SPAN } from './rows.ts'

const ID = /^[A-Za-z0-9_-]{8,128}$/
/** Labels that begin with a short id, and rows of one trace, at most. */
const IDS_MAX = 50
export const TRACE_ROWS_MAX = 5_000
/** Texts looked at for an id that is in no label. */
const TEXTS_MAX = 100_000
export const BATCH = 2_000
/** Lines without labels may come a little before the first span, and after the last. */
const AROUND_MS = 60_000

/** A span of a trace, or an event that names it. */
export interface TracePart {
  row: ContextRow
  trace: string
  /** Epoch ms, with what is below one; of a span its start. */
  begin: number
  /** Of a span, milliseconds; null: it is no span. */
  length: number | null
  /** Ids of the span it is, or belongs to, and of that one's parent; empty: not known. */
  span: string
  parent: string
  recorded: RecordedSpan
  /** Of a run of svc, which is no event. */
  own?: OwnPart
}

/** What a part of a run of svc says that no event does. */
export interface OwnPart {
  run: string
  /** Null: the run itself, or an agent it hands over to. */
  round: number | null
  step: number | null
  isFailed: boolean
  /** Null: it asked no model. */
  tokens: { input: number; output: number } | null
  /** US dollars; null: not priced. */
  costUsd: number | null
}

/** What OpenTelemetry says of a span or a log record, as it was received. */
export interface RecordedSpan {
  name?: unknown
  kind?: unknown
  status?: unknown
  attributes?: unknown
  resourceAttributes?: unknown
  links?: unknown
  spanId?: unknown
  parentSpanId?: unknown
  startTimeUnixNano?: unknown
  endTimeUnixNano?: unknown
}

export interface FoundTrace {
  /** The trace with the newest event of those whose id begins like it. */
  id: string
  /** In no order. */
  parts: TracePart[]
  /** Other trace ids that begin like it, newest first. */
  others: string[]
}

/**
 * All that belongs to a trace id, by label or by text.
 * @param id whole, or at least its first eight characters. @param inTexts off: by label alone
 * @returns null where no event that may be read has it. @throws SvcError invalid, naming id
 */
export function* findTraceInSteps(around: Around, id: string, inTexts = true): Steps<FoundTrace | null> {
  if (!ID.test(id))
    fail('invalid', 'id must be a trace id, or at least its first 8 characters', { field: 'id' })
  const labelled = yield* byLabel(around, id)
  const written = inTexts ? yield* byText(around, id, labelled) : []
  const all = [...new Map([...labelled, ...written].map((one) => [one.row.id, one])).values()]
  const [newest, ...others] = newestFirst(all)
  if (newest === undefined) return null
  return { id: newest, parts: all.filter((one) => one.trace === newest), others }
}

/** Events whose label is the id, whenever they were. */
function* byLabel(around: Around, id: string): Steps<TracePart[]> {
  // U+10FFFF sorts after every other character.
  const labels = around.ctx.db
    .prepare<[string, string, string, number], number>(
      `SELECT id FROM named_labels WHERE name IN (SELECT value FROM json_each(?)) AND value >= ? AND value < ? LIMIT ?`,
    )
    .pluck()
    .all(JSON.stringify(TRACE_ID_LABELS), id, `${id}\u{10ffff}`, IDS_MAX)
  return yield* partsOf(around, labels, id)
}

/**
 * @param labels ids, any of which a part has. @param id what its trace id begins with
 * @param plan of `around`, where it is made once for many traces
 */
export function* partsOf(
  around: Around,
  labels: readonly number[],
  id: string,
  plan: Plan = inspectPlan(around),
): Steps<TracePart[]> {
  if (labels.length === 0) return []
  const { ctx } = around
  const query = queryIn(
    { ...plan, groups: [[...labels], ...plan.groups] },
    Number.MIN_SAFE_INTEGER,
    Number.MAX_SAFE_INTEGER,
    around,
  )
  const positions: Position[] = []
  yield* eachPositionInSteps(
    () => ctx.index.all(),
    query,
    (at, ts) => {
      if (positions.length < TRACE_ROWS_MAX) positions.push({ id: at, ts })
    },
  )
  return rowsAt(around, positions, true).flatMap(({ row, raw }) => {
    const trace = traceLabelOf(row, id)
    return trace === null ? [] : [{ row, trace, ...placed(row, raw) }]
  })
}

/** Events whose text has the id: around those that have the label, or in the window. */
function* byText(around: Around, id: string, labelled: readonly TracePart[]): Steps<TracePart[]> {
  const { ctx } = around
  const times = labelled.map(({ row }) => row.at)
  const { from, until } = times.length
    ? { from: Math.min(...times) - AROUND_MS, until: Math.max(...times) + AROUND_MS }
    : windowOf(around)
  const query: Query = yield* askedQuery(around, from, until)
  const found: TracePart[] = []
  let after: Position | null = null
  for (let looked = 0; looked < TEXTS_MAX && found.length < TRACE_ROWS_MAX; looked += BATCH) {
    const positions: Position[] = firstPositions(ctx.index.all(), query, 'desc', BATCH, after)
    for (const { row } of rowsAt(around, positions, false)) {
      const trace = row.text.includes(id) ? traceIdIn(row.text) : undefined
      if (trace?.startsWith(id)) found.push({ row, trace, ...placed(row, undefined) })
    }
    if (positions.length < BATCH) break
    after = positions.at(-1)!
    yield
  }
  return found
}

/** Stored rows, oldest id first. @param withRaw with what was received */
export function rowsAt(
  { ctx }: Around,
  positions: readonly Position[],
  withRaw: boolean,
): { row: ContextRow; raw: Uint8Array | undefined }[] {
  const ids = positions.map(({ id }) => id).sort((a, b) => a - b)
  const { toRow } = contextRows(ctx.dictionary, ctx.names, '')
  return ctx.rows
    .read(ids, withRaw)
    .map((stored) => ({ row: toRow(textRowOf(stored)), raw: stored.raw ?? undefined }))
}

/** Whole microseconds: of nanoseconds since 1970 a number has but every 256th. NaN where there is no time. */
const microsIn = (nanos: unknown): number =>
  typeof nanos === 'string' && /^\d+$/.test(nanos) ? Number(BigInt(nanos) / 1_000n) : Number(nanos) / 1e3

/** When it began, and where it stands among the spans. */
export function placed(row: ContextRow, raw: Uint8Array | undefined): Omit<TracePart, 'row' | 'trace'> {
  const recorded = objectIn(raw)
  const span = labelOf(row, SPAN_ID_LABELS) || word(recorded.spanId)
  const parent = labelOf(row, SPAN_PARENT_LABELS) || word(recorded.parentSpanId)
  const [start, end] = [microsIn(recorded.startTimeUnixNano), microsIn(recorded.endTimeUnixNano)]
  if (start > 0 && end >= start)
    return { begin: start / 1e3, length: (end - start) / 1e3, span, parent, recorded }
  // Spans of others are stored at their ends.
  if (row.labels.signal !== 'traces') return { begin: row.at, length: null, span, parent, recorded }
  const length = row.values.value ?? 0
  return { begin: row.at - length, length, span, parent, recorded }
}

/** A payload; nothing where it is no object: it need not be JSON, and then it is nothing of OpenTelemetry. */
export function objectIn(raw: Uint8Array | undefined): Record<string, unknown> {
  try {
    return fieldsIn(raw ? JSON.parse(decoder.decode(raw)) : {})
  } catch {
    return {}
  }
}

const decoder = new TextDecoder()
const word = (value: unknown): string => (typeof value === 'string' ? value : '')
export const fieldsIn = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

function traceLabelOf({ labels }: ContextRow, id: string): string | null {
  for (const name of TRACE_ID_LABELS) {
    const value = labels[name]
    if (value !== undefined && String(value).startsWith(id)) return String(value)
  }
  return null
}

/** Trace ids by the newest event of each. */
function newestFirst(all: readonly TracePart[]): string[] {
  const newest = new Map<string, number>()
  for (const { row, trace } of all) newest.set(trace, Math.max(row.at, newest.get(trace) ?? 0))
  return [...newest].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([trace]) => trace)
}

const labelOf = ({ labels }: ContextRow, names: readonly string[]): string => {
  for (const name of names) if (labels[name]) return String(labels[name])
  return ''
}

/** Ids of the labels that have a trace id. */
export const traceLabelIds = (ctx: ReadContext, id: string): number[] =>
  TRACE_ID_LABELS.flatMap((name) => ctx.dictionary.find(name, id) ?? [])

/** All spans and events of traces. @param labels ids of trace ids */
export const spansOfTraces = (
  ctx: ReadContext,
  labels: readonly number[],
  { now, ceiling, projects }: Pick<Around, 'now' | 'ceiling' | 'projects'>,
): Steps<TracePart[]> => partsOf({ ...aroundOf(ctx, {}, now), ceiling, projects }, labels, '')

/* What spans say of themselves. */

const KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer']
const STATUSES = ['unset', 'ok', 'error'] as const
export const SPAN_TYPE = 'span'

/** What a read of traces looks at. @param now where its window ends, epoch ms */
export function aroundOf(
  ctx: ReadContext,
  { project }: { project?: string | undefined },
  now: number,
  question: Omit<Around['question'], 'tool'> = {},
): Around {
  return {
    ...{ ctx, now, ceiling: ctx.index.tail.lastId, asOf: now, budget: 0, isRedacted: false },
    projects: project === undefined ? [] : [project],
    question: { tool: 'trace', ...question },
  }
}

export function extentOf(parts: readonly TracePart[]): { began_at: string; duration_ms: number } {
  let first = Number.POSITIVE_INFINITY
  let last = Number.NEGATIVE_INFINITY
  for (const { begin, length } of parts) {
    if (begin < first) first = begin
    if (begin + (length ?? 0) > last) last = begin + (length ?? 0)
  }
  return { began_at: iso(first), duration_ms: toMicros(last - first) }
}

/** Milliseconds to the microsecond: what is below is noise of a double that counts from 1970. */
export const toMicros = (ms: number): number => Math.round(ms * 1_000) / 1_000

/** Service of a span, else its entity; null: neither is known. */
export const serviceOf = ({ row }: TracePart): string | null =>
  String(row.labels.service ?? row.entity) || null

export function servicesOf(parts: readonly TracePart[]): string[] {
  const spans = parts.filter(({ length }) => length !== null).sort(inOrder)
  return [...new Set(spans.map(serviceOf))].filter((service) => service !== null)
}

/** By their starts; what began together with the longest first, as what began the others. */
export const inOrder = (a: TracePart, b: TracePart): number =>
  a.begin - b.begin || (b.length ?? 0) - (a.length ?? 0) || numberOf(a.row) - numberOf(b.row)
const numberOf = ({ id }: ContextRow): number => Number(id.slice(4))

/** As recorded; of others what their text says before how long it took. */
export const spanName = ({ row, recorded }: TracePart): string =>
  word(recorded.name) || row.text.replace(/ \(\d+(?:\.\d+)?ms\).*$/s, '')

/** How a span ended. */
export const statusOf = (recorded: RecordedSpan): (typeof STATUSES)[number] =>
  nameOf(STATUSES, fieldsIn(recorded.status).code, 'STATUS_CODE_')

/** server, client, internal, producer or consumer; null: it does not say. */
export function kindOf(recorded: RecordedSpan): string | null {
  const kind = nameOf(KINDS, recorded.kind, 'SPAN_KIND_')
  return kind === KINDS[0] ? null : kind
}

/** JSON of some senders has the names of protobuf in place of the numbers. */
function nameOf<T extends string>(names: readonly T[], given: unknown, prefix: string): T {
  const said = typeof given === 'string' ? given.replace(prefix, '').toLowerCase() : ''
  return names.find((name) => name === said) ?? names[Number(given ?? 0)] ?? names[0]!
}

/* Links: spans of other traces that those of one name (https://opentelemetry.io/docs/specs/otel/overview/#links-between-spans). */

/** Links of a trace that are told, and spans of another trace looked at for what a link names. */
const LINKS_MAX = 100
const NAMED_MAX = 20
const LINKED_ROWS_MAX = 200

/** @returns as a span names them, in its order */
function linksOf({ links }: RecordedSpan): Pick<TraceLink, 'trace_id' | 'span_id'>[] {
  if (!Array.isArray(links)) return []
  return links.flatMap((link) => {
    const { traceId, spanId } = fieldsIn(link)
    return word(traceId) ? [{ trace_id: word(traceId), span_id: word(spanId) }] : []
  })
}

/**
 * Links of a trace in both directions, by the id of the span here; `''` for those to a span that is not stored. What
 * names it is known by the label of its link, so of spans with many links by the first four.
 */
export function* linksInSteps(
  around: Around,
  { id, parts }: Pick<FoundTrace, 'id' | 'parts'>,
): Steps<Map<string, TraceLink[]>> {
  const links = new Map<string, TraceLink[]>()
  const here = new Set(parts.flatMap(({ span, length }) => (length === null ? [] : [span])))
  let count = 0
  const add = (span: string, link: TraceLink): void => {
    if (count++ < LINKS_MAX) links.set(span, [...(links.get(span) ?? []), link])
  }
  const targets = new Map<string, TracePart[]>()
  for (const { span, recorded } of parts)
    for (const { trace_id, span_id } of linksOf(recorded)) {
      if (count < LINKS_MAX && !targets.has(trace_id) && targets.size < NAMED_MAX) {
        targets.set(trace_id, spansWith(around, traceLabelIds(around.ctx, trace_id), 'asc'))
        yield
      }
      const found = targets.get(trace_id) ?? []
      const named = found.find((one) => one.span === span_id)
      add(span, { trace_id, span_id, direction: 'to', ...wordsOf(named) })
    }
  const labels = LINKED_TRACE_LABELS.flatMap((name) => around.ctx.dictionary.find(name, id) ?? [])
  for (const naming of spansWith(around, labels, 'desc'))
    for (const link of linksOf(naming.recorded))
      if (link.trace_id === id && naming.trace !== '')
        add(here.has(link.span_id) ? link.span_id : '', {
          ...{ trace_id: naming.trace, span_id: naming.span, direction: 'from' },
          ...wordsOf(naming),
        })
  return links
}

const wordsOf = (span: TracePart | undefined): Pick<TraceLink, 'name' | 'service'> =>
  span ? { name: spanName(span), service: serviceOf(span) } : { name: null, service: null }

/** @param labels ids, any of which a span has */
function spansWith(around: Around, labels: readonly number[], direction: 'asc' | 'desc'): TracePart[] {
  if (labels.length === 0) return []
  const plan = inspectPlan(around)
  const query = queryIn(
    { ...plan, groups: [[...labels], ...plan.groups] },
    Number.MIN_SAFE_INTEGER,
    Number.MAX_SAFE_INTEGER,
    around,
  )
  const positions = firstPositions(around.ctx.index.all(), query, direction, LINKED_ROWS_MAX, null)
  return rowsAt(around, positions, true)
    .map(({ row, raw }) => ({ row, trace: labelOf(row, TRACE_ID_LABELS), ...placed(row, raw) }))
    .filter(({ length }) => length !== null)
}

/*
 * What OpenTelemetry says of spans, read from their payloads: ids of the trace, of the span and of its parent, start
 * and duration. Events have the start as their time and the trace as their label; the rest is in no label, so
 * that it costs ingest nothing, and is there for spans that were stored long ago, too.
 */

/** Bytes of a payload that are looked at first: ids, name and times come before attributes. */
const HEAD = 600
const SPAN_BATCH = 2_000
const NANOS_PER_MS = 1e6

/** Members of an object up to the first that is a list or an object: name, then text or number. */
const MEMBER = /[{,]"(\w+)":(?:"((?:[^"\\]|\\.)*)"|(-?\d+(?:\.\d+)?))(?=[,}])/y

/** A parent may stand after a list; whether there is one is looked for in all of the payload. */
const PARENT = '"parentSpanId":"'

type Facts = Omit<SpanFacts, 'failed'>

/** Tells rows of OpenTelemetry what their payloads say. @param to end of the window, epoch ms */
export function* setFacts(ctx: ReadContext, rows: readonly KeptRow[], to: number): Steps<void> {
  yield* setSpans(ctx, rows, to)
  yield* setCounts(ctx, rows)
}

/** Of spans: `span`, what each is called and its duration. */
function* setSpans(ctx: ReadContext, rows: readonly KeptRow[], to: number): Steps<void> {
  const spans = rows.filter(
    ({ type, at, span }) => type === SPAN_TYPE && at >= to - REQUESTS_BACK_MS && span === undefined,
  )
  for (const some of pagesOf(spans, SPAN_BATCH)) {
    yield
    const ids = some.map(({ number }) => number)
    const heads = new Map(ctx.rows.payloadHeads(ids, HEAD, PARENT).map((head) => [head.id, head]))
    for (const [i, row] of some.entries()) {
      const id = ids[i]!
      const facts = factsIn(heads.get(id)) ?? factsOf(wholeOf(ctx, id))
      if (facts) setSpan(row, facts)
    }
  }
}

/** Metrics of which a payload is read for one look, at most: the points of others are told as they are. */
const METRICS_MAX = 2_000

/**
 * Tells rows that are metric points how they count, which no text or label says: read from the payload of one point of
 * each metric of each entity.
 */
export function* setCounts(ctx: ReadContext, rows: readonly KeptRow[]): Steps<void> {
  const metrics = new Map<string, Map<string, Map<string, KeptRow[]>>>()
  let count = 0
  let last: KeptRow[] = []
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!
    if (!row.isSample || row.counts !== undefined || row.type === SPAN_TYPE) continue
    const { source, type, entity } = row
    // Neighbours are mostly of one metric.
    if (last[0]?.type !== type || last[0].entity !== entity || last[0].source !== source) {
      const ofSource = mapAt(mapAt(metrics, source), type)
      last = ofSource.get(entity) ?? []
      if (last.length === 0) {
        if (count === METRICS_MAX) continue
        count++
        ofSource.set(entity, last)
      }
    }
    last.push(row)
  }
  const found = [...metrics.values()].flatMap((types) =>
    [...types.values()].flatMap((entities) => [...entities.values()]),
  )
  for (const some of pagesOf(found, SPAN_BATCH)) {
    yield
    const payloads = ctx.rows.read(
      some.map((points) => points[0]!.number),
      true,
    )
    const byId = new Map(payloads.map(({ id, raw }) => [id, objectIn(raw)]))
    for (const points of some) {
      const counts = countsIn(byId.get(points[0]!.number) ?? {})
      for (const point of points) point.tellCounts(counts)
    }
  }
}

/** OpenTelemetry, Metrics Data Model: Sums, Histograms, Summary, which counts since a start. */
function countsIn(point: Record<string, unknown>): Counts {
  const { metricType, isMonotonic } = point
  if (metricType === 'summary') return 'total'
  const isCounted = metricType === 'sum' ? isMonotonic === true : /histogram$/i.test(String(metricType))
  if (!isCounted) return 'level'
  return isDelta(point) ? 'step' : 'total'
}

function setSpan(row: KeptRow, facts: Facts): void {
  const [, name = row.type] = SPAN.exec(row.text) ?? []
  row.tell({
    span: { ...facts, failed: isFailed(row.words ?? row.labels) },
    series: name,
    values: { ...row.values, value: facts.end - facts.begin },
  })
}

/** @returns null where the head does not hold all that the payload says */
function factsIn(given: PayloadHead | undefined): Facts | null {
  if (given === undefined) return null
  const members: Record<string, string> = {}
  MEMBER.lastIndex = 0
  for (let found = MEMBER.exec(given.head); found; found = MEMBER.exec(given.head))
    members[found[1]!] = found[2] ?? found[3]!
  return given.has && members.parentSpanId === undefined ? null : factsOf(members)
}

/** @returns null where an id or a time is missing: it is no span of OpenTelemetry */
function factsOf(members: Readonly<Record<string, unknown>>): Facts | null {
  const { traceId, spanId, parentSpanId, startTimeUnixNano, endTimeUnixNano } = members
  const begin = Number(startTimeUnixNano) / NANOS_PER_MS
  const end = Number(endTimeUnixNano) / NANOS_PER_MS
  if (typeof traceId !== 'string' || typeof spanId !== 'string' || !(begin > 0 && end >= begin)) return null
  const parent = typeof parentSpanId === 'string' ? parentSpanId : ''
  return { trace: traceId, id: spanId, parent, begin, end }
}

const wholeOf = (ctx: ReadContext, id: number): Record<string, unknown> =>
  objectIn(ctx.rows.read([id], true)[0]?.raw)
