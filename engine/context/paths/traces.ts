/**
 * Requests: log lines and spans of one trace id, in order. An id in a label goes before one in the text;
 * a line is a step by its place in code, else by its wording.
 */
import { valueAt } from '../measures.ts'
import type { ContextRow, TextFacts, Timed } from '../types.ts'
import { ERROR_LEVEL } from '../words.ts'
import { placeOf, TRACE_ID_LABELS, type TraceText, traceIn } from './trace-text.ts'

/** Requests are looked for so far back, seconds. */
const BACK = 8_100
export const REQUESTS_BACK_MS = BACK * 1000
export const SPAN_ID_LABELS = ['span_id', 'spanId', 'spanID', 'span']
export const SPAN_PARENT_LABELS = ['parent_id', 'parent_span_id', 'parentId', 'parentSpanId']

/** A line of a request. */
export interface Step {
  t: number
  entity: string
  place: string
  /** Entity and place: what makes steps of several requests the same. */
  key: string
  span: string
  isError: boolean
  line: Timed
}

export interface Span {
  id: string
  parent: string
  entity: string
  operation: string
  /** Milliseconds of all of it, and without its children. */
  whole: number
  own: number
  /** Seconds before now. */
  start: number
  end: number
  line: Timed
  children: Span[]
  /** The other entity that it calls; empty: none. */
  calls: string
  failed: boolean
}

export interface Trace {
  steps: Step[]
  spans: Span[]
  begin: number
  end: number
  /** Requests that begin the same way are compared with one another. */
  kind: string
}

/** With the lines it has, so that none counts twice. */
type Building = Trace & { seen: Map<string, Timed[]> }

/** The first eight letters of the trace id of a row, as it is shown. */
export function traceIdOf({ row }: Timed): string | null {
  const id = row.span?.trace ?? labelOf(row.labels, TRACE_ID_LABELS) ?? saidIn(row).trace
  return id === undefined ? null : id.slice(0, 8)
}

/** The trace id that a text names; undefined: none. */
export const traceIdIn = (text: string): string | undefined => traceIn(text).trace

const saidIn = (row: ContextRow): TraceText => row.known ?? traceIn(row.text)

function labelOf(labels: Timed['row']['labels'], names: readonly string[]): string | undefined {
  for (const name of names) if (labels[name]) return String(labels[name])
  return undefined
}

/**
 * @param lines in order of time.
 * @param wordingOf names the template of a line that names no place; null: it has none
 * @returns those of two steps and more, by when they began
 */
export function tracesOf(lines: readonly Timed[], wordingOf: (line: Timed) => string | null): Trace[] {
  const traces = new Map<string, Building>()
  for (const line of lines) {
    if (line.t < -BACK) continue
    const ids = idsOf(line)
    if (!ids) continue
    const trace = valueAt(
      traces,
      ids.trace,
      (): Building => ({ steps: [], spans: [], begin: 0, end: 0, kind: '', seen: new Map() }),
    )
    if (line.row.span || line.row.isSample) {
      if (ids.span) trace.spans.push(spanOf(line, ids.span))
    } else addStep(trace, line, ids.span ?? '', wordingOf)
  }
  return [...traces.values()]
    .filter(({ steps, spans }) => steps.length + spans.length > 1)
    .map(bounded)
    .sort((a, b) => a.begin - b.begin)
}

function idsOf({ row, cls }: Timed): { trace: string; span?: string } | null {
  const { labels, isSample } = row
  if (row.span) return { trace: row.span.trace, span: row.span.id }
  const trace = labelOf(labels, TRACE_ID_LABELS)
  const span = labelOf(labels, SPAN_ID_LABELS)
  if (trace !== undefined) return { trace, ...(span === undefined ? {} : { span }) }
  if (isSample || cls?.mayTrace === false) return null
  const said = saidIn(row)
  if (said.trace === undefined) return null
  return { trace: said.trace, ...(said.span === undefined ? {} : { span: said.span }) }
}

/** A span that does not say when it began is an event of its end. */
function spanOf(line: Timed, id: string): Span {
  const { row, t } = line
  const { labels, entity, type, series, values, span, at } = row
  const whole = span ? span.end - span.begin : (values.value ?? 0)
  const end = span ? t + (span.end - at) / 1000 : t
  return {
    ...{ id, entity, whole, end, line },
    parent: span?.parent ?? labelOf(labels, SPAN_PARENT_LABELS) ?? '',
    operation: series ?? type,
    own: whole,
    start: end - whole / 1000,
    children: [],
    calls: '',
    failed: span?.failed ?? false,
  }
}

function addStep(
  trace: Building,
  line: Timed,
  span: string,
  wordingOf: (line: Timed) => string | null,
): void {
  const { entity, type, known } = line.row
  const place = placeOf(line.row) ?? wordingOf(line)
  if (place === null || isRepeated(trace, line, known)) return
  trace.steps.push({
    ...{ entity, place, span, line },
    t: line.t,
    key: `${entity}\0${place}`,
    isError: ERROR_LEVEL.test(type),
  })
}

/** The same line may come by two ways. Texts are looked at only where words do not tell two lines apart. */
function isRepeated(trace: Building, line: Timed, known: TextFacts | undefined): boolean {
  const { row, t } = line
  const at = `${row.entity}${t.toFixed(3)}${known ? known.words : row.text}`
  const others = trace.seen.get(at)
  if (!others) trace.seen.set(at, [line])
  else if (!known || others.some((other) => other.row.text === row.text)) return true
  else others.push(line)
  return false
}

function bounded({ steps, spans }: Trace): Trace {
  let begin = steps[0]?.t ?? 0
  let end = steps.at(-1)?.t ?? Number.NEGATIVE_INFINITY
  let root = spans[0]
  for (const span of spans) {
    begin = Math.min(begin, span.start)
    end = Math.max(end, span.end)
    if (span.start < root!.start) root = span
  }
  const kind = steps.length ? steps[0]!.key : `${root!.entity}\0${root!.operation}`
  return { steps, spans, begin, end, kind }
}
