/** Traces: how their list is asked for by its address, and where the bars of a waterfall stand. */
import type { TraceRow } from '../../schemas/types.ts'
import { count, digits, grouped, money, took } from './time.ts'

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

/** As the API asks for metrics. */
export type MetricQuery = Pick<TraceQuery, 'service' | 'name' | 'window'>

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

/** Where the metric of a point is; null: it is none of OpenTelemetry. */
export function metricPath({
  event_type,
  labels,
}: {
  event_type: string
  labels: Readonly<Record<string, unknown>>
}): string | null {
  if (labels.signal !== 'metrics') return null
  const query = new URLSearchParams({ tab: 'metrics', name: event_type })
  if (labels.service !== undefined) query.set('service', String(labels.service))
  return `/traces?${query}`
}

/** The traces of an agent that sends its spans. @param window as the list of agents is looked at */
export function agentTracesPath(
  { name, service }: { name: string; service: string | null },
  window: string,
): string {
  const query = new URLSearchParams({ window })
  if (service !== null) query.set('service', service)
  // One that does not say its name is called like its service.
  if (name !== service) query.set('attribute', `gen_ai.agent.name=${name}`)
  return `/traces?${query}`
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

/** Rows that are shown while those of `closed` have what is below them folded. @param closed keys of rows */
export function shownRows(rows: readonly TraceRow[], closed: ReadonlySet<string>): TraceRow[] {
  const shown: TraceRow[] = []
  let below = Number.POSITIVE_INFINITY
  for (const row of rows) {
    if (row.depth > below) continue
    shown.push(row)
    below = closed.has(row.key) ? row.depth : Number.POSITIVE_INFINITY
  }
  return shown
}

/** Keys of the rows that have others below them. */
export function parentsOf(rows: readonly TraceRow[]): ReadonlySet<string> {
  return new Set(rows.flatMap((row, i) => ((rows[i + 1]?.depth ?? 0) > row.depth ? [row.key] : [])))
}

/** Tokens and cost of a call, or of a whole run. */
export const usedWords = ({
  input_tokens,
  output_tokens,
  cost_usd,
}: Pick<TraceRow, 'input_tokens' | 'output_tokens' | 'cost_usd'>): string =>
  `${count(input_tokens ?? 0)} tokens in, ${count(output_tokens ?? 0)} out${cost_usd === null ? '' : `, ${money(cost_usd)}`}`

/** A measured number, to four digits; a dash where there is none. */
export const figure = (value: number | null): string =>
  value === null ? '—' : Math.abs(value) >= 10_000 ? grouped(Math.round(value)) : digits(value, 4)

/** The line of a series as paths in a box: one for each stretch without a gap. @param height of the box */
export function linePaths(
  line: readonly (number | null)[],
  { width, height }: { width: number; height: number },
): { paths: string[]; points: { x: number; y: number }[] } {
  const known = line.filter((one) => one !== null)
  const low = Math.min(0, ...known)
  const high = Math.max(low + Number.MIN_VALUE, ...known)
  const step = width / Math.max(1, line.length - 1)
  const at = (i: number, value: number) => ({
    x: Math.round(10 * i * step) / 10,
    y: Math.round(10 * (height - ((value - low) / (high - low)) * height)) / 10,
  })
  const paths: string[] = []
  const points: { x: number; y: number }[] = []
  for (let i = 0; i < line.length; i++) {
    const value = line[i]
    if (value === null || value === undefined) continue
    const { x, y } = at(i, value)
    const isNew = line[i - 1] === null || i === 0
    if (isNew && (line[i + 1] ?? null) === null) points.push({ x, y })
    else if (isNew) paths.push(`M${x} ${y}`)
    else paths[paths.length - 1] += `L${x} ${y}`
  }
  return { paths, points }
}
