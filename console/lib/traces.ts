/** Traces: how their list is asked for by its address, and where the bars of a waterfall stand. */
import type { TraceRow } from '../../schemas/types.ts'
import { took } from './time.ts'

export const tracePath = (id: string): string => `/traces/${encodeURIComponent(id)}`

/** As the API asks for them. */
export interface TraceQuery {
  service?: string
  name?: string
  status?: string
  min_duration?: string
  attribute?: string
  window?: string
}

const WORDS = ['service', 'name', 'status', 'min_duration', 'attribute', 'window'] as const
export const TRACE_WINDOWS = ['15m', '1h', '6h', '24h', '7d']
export const TRACE_STATUSES = [
  { value: 'error', label: 'With a failed span' },
  { value: 'ok', label: 'Without' },
]

/** What the address asks for. */
export function readTraceQuery(address: URLSearchParams): TraceQuery {
  return Object.fromEntries(
    WORDS.map((name) => [name, address.get(name)?.trim() ?? '']).filter(([, value]) => value),
  ) as TraceQuery
}

/** The id of the trace an event belongs to; null: none is on its labels. */
export function traceIdOf(labels: Readonly<Record<string, unknown>>): string | null {
  const id = labels.trace_id
  return typeof id === 'string' && /^[A-Za-z0-9_-]{8,128}$/.test(id) ? id : null
}

/** As `took`, with more digits below a tenth of a second: what spans differ by. */
export const tookExactly = (ms: number): string => (ms < 100 ? `${Number(ms.toPrecision(3))} ms` : took(ms))

/** Where a bar begins and how wide it is, in hundredths of the trace; a point for what took no time. */
export function barOf(
  { offset_ms, duration_ms }: Pick<TraceRow, 'offset_ms' | 'duration_ms'>,
  whole: number,
): { left: number; width: number } {
  if (whole <= 0) return { left: 0, width: duration_ms === null ? 0 : 100 }
  return { left: (100 * offset_ms) / whole, width: (100 * (duration_ms ?? 0)) / whole }
}

/** Rows that are shown while those of `closed` have what is below them folded. @param closed event ids */
export function shownRows(rows: readonly TraceRow[], closed: ReadonlySet<string>): TraceRow[] {
  const shown: TraceRow[] = []
  let below = Number.POSITIVE_INFINITY
  for (const row of rows) {
    if (row.depth > below) continue
    shown.push(row)
    below = closed.has(row.event_id) ? row.depth : Number.POSITIVE_INFINITY
  }
  return shown
}

/** Ids of the rows that have others below them. */
export function parentsOf(rows: readonly TraceRow[]): ReadonlySet<string> {
  return new Set(rows.flatMap((row, i) => ((rows[i + 1]?.depth ?? 0) > row.depth ? [row.event_id] : [])))
}
