/**
 * Requests: log lines and spans of one trace id, in order. An id in a label goes before one in the text;
 * a line is a step by its place in code, else by its wording.
 */
import { valueAt } from '../measures.ts'
import type { Timed } from '../types.ts'
import { ERROR_LEVEL } from '../words.ts'

/** Requests are looked for so far back, seconds. */
const BACK = 8_100
export const REQUESTS_BACK_MS = BACK * 1000
export const TRACE_ID_LABELS = ['trace_id', 'traceId', 'traceID', 'trace', 'trace.id']
export const SPAN_ID_LABELS = ['span_id', 'spanId', 'spanID', 'span']
export const SPAN_PARENT_LABELS = ['parent_id', 'parent_span_id', 'parentId', 'parentSpanId']
const TRACE_IN_TEXT = /\btrace[_\s-]?id["']?\s*[:=]\s*["']?([0-9a-f]{16,32})\b/i
const SPAN_IN_TEXT = /\bspan[_\s-]?id["']?\s*[:=]\s*["']?([0-9a-f]{8,16})\b/i
const PLACE =
  /(?:^|\s)(\S*[A-Za-z_\]]#\d{1,5}|[\w./-]+\.(?:go|py|js|ts|java|rb|cs|cpp|c|rs|php|kt|scala):\d{1,5})\b/

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
type Building = Trace & { seen: Set<string> }

/** The place in code that a line names; null: none. */
export const placeIn = (text: string): string | null => PLACE.exec(text)?.[1] ?? null

/** The first eight letters of the trace id of a row, as it is shown. */
export function traceIdOf({ row: { labels, text, span } }: Timed): string | null {
  const id = span?.trace ?? labelOf(labels, TRACE_ID_LABELS) ?? TRACE_IN_TEXT.exec(text)?.[1]
  return id === undefined ? null : id.slice(0, 8)
}

/** The trace id that a text names; undefined: none. */
export const traceIdIn = (text: string): string | undefined => TRACE_IN_TEXT.exec(text)?.[1]

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
      (): Building => ({ steps: [], spans: [], begin: 0, end: 0, kind: '', seen: new Set() }),
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
  const { labels, text, isSample } = row
  if (row.span) return { trace: row.span.trace, span: row.span.id }
  const trace = labelOf(labels, TRACE_ID_LABELS)
  const span = labelOf(labels, SPAN_ID_LABELS)
  if (trace !== undefined) return { trace, ...(span === undefined ? {} : { span }) }
  const found = isSample || cls?.mayTrace === false ? null : TRACE_IN_TEXT.exec(text)
  if (!found) return null
  const inText = SPAN_IN_TEXT.exec(text)?.[1]
  return { trace: found[1]!, ...(inText === undefined ? {} : { span: inText }) }
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
  const { entity, type, text } = line.row
  const place = placeIn(text) ?? wordingOf(line)
  if (place === null) return
  // The same line may come by two ways.
  const same = `${entity}${line.t.toFixed(3)}${text}`
  if (trace.seen.has(same)) return
  trace.seen.add(same)
  trace.steps.push({
    ...{ entity, place, span, line },
    t: line.t,
    key: `${entity}\0${place}`,
    isError: ERROR_LEVEL.test(type),
  })
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
