/** All events and spans of one trace id, of all sources, in order of their beginnings. */

import { escapeLine } from '../../schemas/plain-text.ts'
import { fail } from '../errors.ts'
import {
  type ContextRow,
  cautiousTokens,
  SPAN_ID_LABELS,
  SPAN_PARENT_LABELS,
  shortened,
  shortNumber,
  TRACE_ID_LABELS,
  traceIdIn,
} from '../log/brief/brief.ts'
import type { Steps } from '../log/steps.ts'
import {
  eachPositionInSteps,
  firstPositions,
  type Position,
  type Query,
  textRowOf,
} from '../log/store/scan.ts'
import {
  type Around,
  type Looked,
  linesOf,
  placeOf,
  planOf,
  queryIn,
  windowOf,
} from '../log/timeline/inspect-pages.ts'
import { iso } from '../log/timeline/present.ts'
import { contextRows } from '../log/timeline/rows.ts'
import { redact } from '../net/redact.ts'

const ID = /^[A-Za-z0-9_-]{8,128}$/
/** Labels that begin with a short id, and rows of one trace, at most. */
const IDS_MAX = 50
const ROWS_MAX = 5_000
/** Texts looked at for an id that is in no label. */
const TEXTS_MAX = 100_000
const BATCH = 2_000
/** Lines without labels may come a little before the first span, and after the last. */
const AROUND_MS = 60_000
const TEXT_MAX = 340
const LABELS_MAX = 300
const DEPTH_MAX = 12

interface Found {
  row: ContextRow
  trace: string
  /** Epoch ms; of a span its start. */
  begin: number
  /** Of a span, milliseconds; null: it is no span. */
  length: number | null
  /** Ids of the span it is, or belongs to, and of that one's parent; empty: not known. */
  span: string
  parent: string
}

/** @throws SvcError invalid, not_found */
export function* traceInSteps(around: Around): Steps<Looked> {
  const { question, budget } = around
  const { id = '' } = question
  if (!ID.test(id))
    fail('invalid', 'id must be a trace id, or at least its first 8 characters', { field: 'id' })
  const labelled = yield* byLabel(around, id)
  const written = yield* byText(around, id, labelled)
  const all = [...new Map([...labelled, ...written].map((one) => [one.row.id, one])).values()]
  const traces = newestFirst(all)
  const [trace] = traces
  if (trace === undefined)
    return {
      heading: `No event that may be read here has the trace id ${id}`,
      text: 'no events',
      shown: [],
    }
  const rows = all.filter((one) => one.trace === trace)
  const lines = linesOfTrace(rows)
  const begin = Math.min(...rows.map((one) => one.begin))
  const others =
    traces.length > 1
      ? `; ${traces.length - 1} other trace ids begin like it: ${traces.slice(1, 4).join(', ')}`
      : ''
  const most = rows.length >= ROWS_MAX ? `, the first ${ROWS_MAX} looked at` : ''
  const heading = `Trace ${trace}: ${rows.length} events and spans of ${new Set(rows.map(({ row }) => row.source)).size} sources${most}, begun ${iso(begin)}; ms after that, how long, whose${others}`
  const at = placeOf(question)
  const page = linesOf(
    lines.map(({ text }) => text),
    at,
    budget - cautiousTokens(`${heading}\n`),
  )
  return {
    heading,
    text: page.lines.join('\n'),
    shown: lines.slice(at, at + page.lines.length).map(({ row }): [string, number] => [row.id, 1]),
    next: page.next,
  }
}

/** Events whose label is the id, whenever they were. */
function* byLabel(around: Around, id: string): Steps<Found[]> {
  const { ctx } = around
  // U+10FFFF sorts after every other character.
  const labels = ctx.db
    .prepare<[string, string, string, number], number>(
      `SELECT id FROM named_labels WHERE name IN (SELECT value FROM json_each(?)) AND value >= ? AND value < ? LIMIT ?`,
    )
    .pluck()
    .all(JSON.stringify(TRACE_ID_LABELS), id, `${id}\u{10ffff}`, IDS_MAX)
  if (labels.length === 0) return []
  const plan = planOf(around)
  const query = queryIn(
    { ...plan, groups: [labels, ...plan.groups] },
    Number.MIN_SAFE_INTEGER,
    Number.MAX_SAFE_INTEGER,
    around,
  )
  const positions: Position[] = []
  yield* eachPositionInSteps(
    () => ctx.index.all(),
    query,
    (at, ts) => {
      if (positions.length < ROWS_MAX) positions.push({ id: at, ts })
    },
  )
  return rowsAt(around, positions, true).flatMap(({ row, raw }) => {
    const trace = traceLabelOf(row, id)
    return trace === null ? [] : [{ row, trace, ...placed(row, raw) }]
  })
}

/** Events whose text has the id: around those that have the label, or in the window. */
function* byText(around: Around, id: string, labelled: readonly Found[]): Steps<Found[]> {
  const { ctx } = around
  const times = labelled.map(({ row }) => row.at)
  const { from, until } = times.length
    ? { from: Math.min(...times) - AROUND_MS, until: Math.max(...times) + AROUND_MS }
    : windowOf(around)
  const query: Query = queryIn(planOf(around), from, until, around)
  const found: Found[] = []
  let after: Position | null = null
  for (let looked = 0; looked < TEXTS_MAX && found.length < ROWS_MAX; looked += BATCH) {
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

function rowsAt(
  { ctx }: Around,
  positions: readonly Position[],
  withRaw: boolean,
): { row: ContextRow; raw: Uint8Array | undefined }[] {
  const ids = positions.map(({ id }) => id).sort((a, b) => a - b)
  const toRow = contextRows(ctx.dictionary, ctx.names, '')
  return ctx.rows
    .read(ids, withRaw)
    .map((stored) => ({ row: toRow(textRowOf(stored)), raw: stored.raw ?? undefined }))
}

/** What OpenTelemetry says of a span or a log record, as it was received. */
interface Recorded {
  spanId?: unknown
  parentSpanId?: unknown
  startTimeUnixNano?: unknown
  endTimeUnixNano?: unknown
}

/** When it began, and where it stands among the spans. */
function placed(
  row: ContextRow,
  raw: Uint8Array | undefined,
): Pick<Found, 'begin' | 'length' | 'span' | 'parent'> {
  const { spanId, parentSpanId, startTimeUnixNano, endTimeUnixNano } = recordedIn(raw)
  const span = labelOf(row, SPAN_ID_LABELS) || word(spanId)
  const parent = labelOf(row, SPAN_PARENT_LABELS) || word(parentSpanId)
  const [start, end] = [Number(startTimeUnixNano), Number(endTimeUnixNano)]
  if (start > 0 && end >= start) return { begin: start / 1e6, length: (end - start) / 1e6, span, parent }
  // Spans of others are stored at their ends.
  if (row.labels.signal !== 'traces') return { begin: row.at, length: null, span, parent }
  const length = row.values.value ?? 0
  return { begin: row.at - length, length, span, parent }
}

function recordedIn(raw: Uint8Array | undefined): Recorded {
  try {
    const item: unknown = raw ? JSON.parse(decoder.decode(raw)) : {}
    return typeof item === 'object' && item !== null ? item : {}
  } catch {
    // A payload need not be JSON: then its text says what there is.
    return {}
  }
}

const decoder = new TextDecoder()
const word = (value: unknown): string => (typeof value === 'string' ? value : '')

function traceLabelOf({ labels }: ContextRow, id: string): string | null {
  for (const name of TRACE_ID_LABELS) {
    const value = labels[name]
    if (value !== undefined && String(value).startsWith(id)) return String(value)
  }
  return null
}

/** Trace ids by the newest event of each. */
function newestFirst(all: readonly Found[]): string[] {
  const newest = new Map<string, number>()
  for (const { row, trace } of all) newest.set(trace, Math.max(row.at, newest.get(trace) ?? 0))
  return [...newest].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([trace]) => trace)
}

const labelOf = ({ labels }: ContextRow, names: readonly string[]): string => {
  for (const name of names) if (labels[name]) return String(labels[name])
  return ''
}

function linesOfTrace(all: readonly Found[]): { row: ContextRow; text: string }[] {
  const first = Math.min(...all.map(({ begin }) => begin))
  const parents = new Map(
    all.flatMap(({ span, parent, length }) => (length === null ? [] : [[span, parent]])),
  )
  const depthOf = ({ span, length }: Found): number => {
    let depth = length === null && parents.has(span) ? 1 : 0
    for (let at = parents.get(span); at && parents.has(at) && depth < DEPTH_MAX; at = parents.get(at)) depth++
    return depth
  }
  return [...all]
    .sort(
      (a, b) => a.begin - b.begin || (b.length ?? 0) - (a.length ?? 0) || numberOf(a.row) - numberOf(b.row),
    )
    .map((one) => {
      const { id, source, type, entity, text, labels } = one.row
      const length = one.length === null ? '' : ` ${shortNumber(one.length)}ms`
      const named = Object.entries(labels)
        .filter(([name, value]) => !HIDDEN.has(name) && String(value) !== entity)
        .map(([name, value]) => `${name}=${value}`)
        .join(' ')
      const rest = named ? ` {${escapeLine(redact(named)).slice(0, LABELS_MAX)}}` : ''
      const whose = entity ? ` ${escapeLine(entity)}` : ''
      return {
        row: one.row,
        text: `${'  '.repeat(depthOf(one))}${id} +${Math.round(one.begin - first)}ms${length}${whose} ${source} ${type}: ${shortened(text, TEXT_MAX)}${rest}`,
      }
    })
}

const HIDDEN = new Set([...TRACE_ID_LABELS, ...SPAN_ID_LABELS, ...SPAN_PARENT_LABELS, 'signal'])
const numberOf = ({ id }: ContextRow): number => Number(id.slice(4))
