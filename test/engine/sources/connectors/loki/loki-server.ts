/**
 * A small server that speaks the wire format of Loki's query_range, with its rules for spans, order and
 * limits. It is no Loki: one cannot be started by the tests, and LogQL is taken as it is.
 */
import { type Said, type UpstreamServer, upstreamServer } from '../upstream-server.ts'

export interface Line {
  /** Nanoseconds since 1970. */
  at: bigint
  line: string
  stream?: Record<string, string>
  metadata?: Record<string, string>
}

export interface LokiServer extends UpstreamServer {
  lines: Line[]
  /** Answers this instead, until it is null again. */
  says: Said | null
  /** What was asked, oldest first. */
  asked(): Record<string, string>[]
}

/** Ends with its test. */
export async function lokiServer(): Promise<LokiServer> {
  const server = await upstreamServer(({ path }) => loki.says ?? answer(loki.lines, path))
  const loki: LokiServer = Object.assign(server, {
    lines: [],
    says: null,
    asked: () =>
      server.received.map(({ path }) => Object.fromEntries(new URL(path, server.url).searchParams)),
  })
  return loki
}

/** From start to before end, the oldest first, so many of all streams together. */
function answer(lines: readonly Line[], path: string): Said {
  const asked = new URL(path, 'http://loki').searchParams
  const [start, end] = [BigInt(asked.get('start')!), BigInt(asked.get('end')!)]
  const found = lines
    .filter(({ at }) => at >= start && at < end)
    .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
    .slice(0, Number(asked.get('limit')))
  const streams = new Map<string, { stream: object; values: unknown[] }>()
  for (const { at, line, stream = { app: 'shop' }, metadata } of found) {
    const key = JSON.stringify(stream)
    const one = streams.get(key) ?? { stream, values: [] }
    one.values.push([String(at), line, ...(metadata ? [metadata] : [])])
    streams.set(key, one)
  }
  return { body: { status: 'success', data: { resultType: 'streams', result: [...streams.values()] } } }
}
