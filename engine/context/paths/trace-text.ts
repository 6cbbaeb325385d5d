/** What a text names of a request: the ids of its trace and its span, and a place in code. */
import type { ContextRow, TextFacts } from '../types.ts'

export const TRACE_ID_LABELS = ['trace_id', 'traceId', 'traceID', 'trace', 'trace.id']
const TRACE_IN_TEXT = /\btrace[_\s-]?id["']?\s*[:=]\s*["']?([0-9a-f]{16,32})\b/i
const SPAN_IN_TEXT = /\bspan[_\s-]?id["']?\s*[:=]\s*["']?([0-9a-f]{8,16})\b/i
const PLACE =
  /(?:^|\s)(\S*[A-Za-z_\]]#\d{1,5}|[\w./-]+\.(?:go|py|js|ts|java|rb|cs|cpp|c|rs|php|kt|scala):\d{1,5})\b/

export type TraceText = Pick<TextFacts, 'trace' | 'span'>

/** The ids that a text names; a span's where it names its trace. */
export function traceIn(text: string): TraceText {
  const trace = TRACE_IN_TEXT.exec(text)?.[1]
  return { trace, span: trace === undefined ? undefined : SPAN_IN_TEXT.exec(text)?.[1] }
}

/** The place in code that a line names; null: none. */
export const placeIn = (text: string): string | null => PLACE.exec(text)?.[1] ?? null

/** The place in code that the text of a row names; null: none. */
export function placeOf(row: ContextRow): string | null {
  const place = row.known?.place
  return place === undefined ? placeIn(row.text) : place
}
