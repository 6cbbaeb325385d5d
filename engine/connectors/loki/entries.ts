/** Asking Loki for lines, and its answer read with care. */
import { createHash } from 'node:crypto'
import type { LokiConfig } from '../../../schemas/types.ts'
import { type Reach, UpstreamError } from '../connector.ts'
import { ask, refusal } from '../upstream.ts'

/** A line of a stream. */
export interface Entry {
  /** Nanoseconds since 1970, which no number holds. */
  at: bigint
  line: string
  stream: Record<string, string>
  /** Structured metadata of the line; most have none. */
  metadata: Record<string, string> | null
}

export interface Page {
  /** Oldest first. */
  entries: Entry[]
  /** There were as many as were asked for: more may wait. */
  isFull: boolean
}

const LOKI = {
  name: 'Loki',
  api: '/loki/api/v1',
  credentials: 'bearer_token, username and password, or tenant_id',
}

/**
 * Asks for the oldest lines of a span.
 * @param start inclusive, ns. @param end exclusive, ns. @param limit lines at most.
 * @throws UpstreamError
 */
export async function askLines(
  config: LokiConfig,
  { start, end, limit }: { start: bigint; end: bigint; limit: number },
  reach: Reach,
): Promise<Page> {
  const { tenant_id: tenant } = config
  const upstream = { ...config, ...LOKI, ...(tenant ? { headers: { 'x-scope-orgid': tenant } } : {}) }
  const asked = new URLSearchParams({
    query: config.query,
    start: String(start),
    end: String(end),
    direction: 'forward',
    limit: String(limit),
  })
  const answer = await ask(upstream, `/loki/api/v1/query_range?${asked}`, reach)
  const { status, data, message } = objectOf(answer.body)
  const { resultType, result } = objectOf(data)
  if (answer.status !== 200 || status !== 'success' || !Array.isArray(result)) {
    // Loki says it in plain text; what stands before it may wrap that in JSON.
    throw refusal(upstream, answer, answer.plain ?? (typeof message === 'string' ? message : undefined))
  }
  if (resultType !== 'streams')
    throw new UpstreamError('The query gives numbers, not lines. Ask for lines, such as {app="checkout"}.')
  const entries = result.flatMap(entriesOf).sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
  return { entries, isFull: entries.length >= limit }
}

/** Tells lines of one time apart: 96 bits. @param at the time, in any one form. */
export function lineId(stream: Record<string, string>, at: string, line: string): string {
  const labels = Object.entries(stream).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([labels, at, line]))
    .digest('hex')
    .slice(0, 24)
}

function entriesOf(one: unknown): Entry[] {
  const { stream, values } = objectOf(one)
  const labels = textsOf(stream)
  return (Array.isArray(values) ? values : []).map((value) => {
    const [at, line, more] = Array.isArray(value) ? (value as unknown[]) : []
    if (typeof at !== 'string' || !/^\d{1,19}$/.test(at) || typeof line !== 'string')
      throw new UpstreamError('What answers at this address does not list lines as Loki does. Check url.')
    const metadata = textsOf(objectOf(more).structuredMetadata ?? more)
    return {
      at: BigInt(at),
      line,
      stream: labels,
      metadata: Object.keys(metadata).length ? metadata : null,
    }
  })
}

function objectOf(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {}
}

function textsOf(value: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(objectOf(value)).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  )
}
