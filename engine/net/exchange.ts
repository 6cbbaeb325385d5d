/**
 * One request and its answer over undici, to addresses that were checked before. Its connections are given a look-up
 * that knows these addresses only; of a literal they ask none, so the literal itself has been checked. What goes through
 * the proxy of the environment is told its name, and the proxy connects. Loaded with the first request: every thread has
 * the way out, and most ask nobody.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { isIP, type LookupFunction } from 'node:net'
import type { Readable } from 'node:stream'
import { Agent, buildConnector, type Dispatcher, Pool as OriginPool, ProxyAgent } from 'undici'
import type { Timers } from '../clock.ts'
import type { ProxyAddress, Target } from './address.ts'
import {
  bounded,
  type EgressAnswer,
  EgressError,
  faultOf,
  type HeldAnswer,
  networkFault,
  type OwnAddress,
  proxyFault,
} from './faults.ts'

interface Exchange {
  target: Target
  /** All of them checked; none where a proxy connects. */
  addresses: readonly string[]
  /** It connects in our place; null: there is none between. */
  proxy: ProxyAddress | null
  method: string
  headers: Record<string, string>
  body: Buffer | null
  /** 0: the body is not wanted, and the answer is there with its head. */
  maxResponseBytes: number
  /** It may be sent twice, where a kept connection turns out to be closed. */
  repeatable: boolean
  /** The answer is there with its head, and its body comes after; its size is the reader's to bound. */
  streamed: boolean
  /** Cuts the exchange off; its reason is thrown. */
  signal: AbortSignal
}

/** Bytes of an unwanted body that are read to keep the connection; beyond, closing it is cheaper. */
const DRAIN_BYTES = 16 * 1024
const DRAIN_MS = 1_000
const MAX_HEADER_BYTES = 16 * 1024
/** An address that does not answer holds its connection so long, whatever its requests are given. */
const CONNECT_MS = 10_000
const IDLE_MS = 4_000
/** Sets of addresses whose connections are kept; those used longest ago go first. */
const MAX_KEPT = 32

export interface Pool {
  /** @throws EgressError; what undici and Node throw; the reason of the signal */
  run(exchange: Exchange): Promise<EgressAnswer>
  close(): void
}

interface Kept {
  agent: Agent | ProxyAgent
  /** Something was answered over it, so that it may hold a connection that the other side closes. */
  isUsed: boolean
}

/**
 * The connections kept open, by the addresses they were checked for, so that none is lent to another audience.
 * @param perTarget connections to one target at once.
 */
export function createPool(timers: Timers, perTarget: number): Pool {
  const kept = new Map<string, Kept>()
  const agents = new Set<Kept['agent']>()
  const giveUp = (key: string) => {
    const { agent } = kept.get(key)!
    kept.delete(key)
    // What is under way over it is finished; one that is destroyed meanwhile has nothing to close.
    const gone = () => void agents.delete(agent)
    agent.close().then(gone, gone)
  }
  const keptTo = (key: string, { proxy, addresses }: Exchange): Kept => {
    const known = kept.get(key) ?? {
      agent: proxy ? agentThrough(proxy, perTarget) : agentTo(addresses, perTarget),
      isUsed: false,
    }
    agents.add(known.agent)
    kept.delete(key)
    kept.set(key, known)
    if (kept.size > MAX_KEPT) giveUp(kept.keys().next().value!)
    return known
  }
  return {
    async run(exchange) {
      const { proxy } = exchange
      const key = proxy
        ? `through ${proxy.origin} as ${proxy.authorization}`
        : [...exchange.addresses].sort().join()
      const first = keptTo(key, exchange)
      const { isUsed } = first
      try {
        return await ask(first, exchange, timers)
      } catch (error) {
        const { fault, status } = networkFault(error)
        if (!isUsed || !exchange.repeatable || fault !== 'closed' || status !== null) throw error
        // The other side closed an idle connection just as it was used again: it saw nothing of this. The others
        // to it will be closed too.
        if (kept.get(key) === first) giveUp(key)
        return ask(keptTo(key, exchange), exchange, timers)
      }
    },
    close() {
      for (const agent of agents) void agent.destroy()
      agents.clear()
      kept.clear()
    },
  }
}

const BOUNDS = {
  maxHeaderSize: MAX_HEADER_BYTES,
  keepAliveTimeout: IDLE_MS,
  keepAliveMaxTimeout: IDLE_MS,
  // There is one deadline, of the whole request.
  headersTimeout: 0,
  bodyTimeout: 0,
} as const

function agentTo(addresses: readonly string[], connections: number): Agent {
  const connect = buildConnector({ lookup: pinned(addresses), timeout: CONNECT_MS })
  return new Agent({
    ...BOUNDS,
    connections,
    connect: (options, done) => {
      // The name for the certificate and SNI has no dot at its end (RFC 6066, 3).
      const { servername, ...rest } = options
      connect(servername ? { ...rest, servername: servername.replace(/\.$/, '') } : options, done)
    },
  })
}

/** What is asked with https goes through a tunnel, which the proxy cannot read; with http the proxy asks in our place. */
function agentThrough({ origin, authorization }: ProxyAddress, connections: number): ProxyAgent {
  const bounds = { ...BOUNDS, connections }
  return new ProxyAgent({
    uri: origin,
    ...(authorization === null ? {} : { token: authorization }),
    proxyTunnel: false,
    proxyTls: { timeout: CONNECT_MS },
    // undici gives what it makes itself no bounds: with those of its own an answer that is silent for 5 minutes is cut off.
    factory: (to, options) => new OriginPool(to, { ...options, ...bounds }),
    clientFactory: (to, options) => new OriginPool(to, { ...options, ...BOUNDS, headersTimeout: CONNECT_MS }),
  })
}

/**
 * A GET over a connection of its own, which its body closes.
 * @throws what undici and Node throw; the reason of the signal
 */
export async function getOver(
  { origin, socketPath, tls, headers: sent }: OwnAddress,
  path: string,
  signal: AbortSignal,
): Promise<HeldAnswer> {
  const agent = new Agent({
    ...BOUNDS,
    connect: { ...(socketPath === undefined ? {} : { socketPath }), ...tls, timeout: CONNECT_MS },
  })
  const gone = () => void agent.destroy()
  try {
    const {
      statusCode: status,
      headers,
      body: stream,
    } = await bounded(
      signal,
      agent.request({ origin, path, method: 'GET', signal, ...(sent && { headers: sent }) }),
    )
    stream.on('error', () => {}).on('close', gone)
    return { status, headers: joined(headers), stream }
  } catch (error) {
    gone()
    throw error
  }
}

/** A look-up that knows the checked addresses and nothing else. */
function pinned(addresses: readonly string[]): LookupFunction {
  const known = addresses.map((address) => ({ address, family: isIP(address.replace(/%.*$/, '')) }))
  return (_host, { all, family }, done) => {
    const fit = family === 4 || family === 6 ? known.filter((one) => one.family === family) : known
    const first = fit[0] ?? known[0]!
    if (all) done(null, fit)
    else done(null, first.address, first.family)
  }
}

async function ask(kept: Kept, exchange: Exchange, timers: Timers): Promise<EgressAnswer> {
  const { target, method, headers, body, signal, maxResponseBytes } = exchange
  const { origin, pathname, search } = target.url
  signal.throwIfAborted()
  const asked = kept.agent.request({
    ...{ origin, path: `${pathname}${search}`, headers, body, signal },
    method: method as Dispatcher.HttpMethod,
  })
  // undici hears of the signal once it has a connection; who waits for one must not wait longer.
  const answer = await bounded(signal, asked).catch((error: unknown) => {
    throw exchange.proxy ? new EgressError(proxyFault(error)) : error
  })
  kept.isUsed = true
  const stream: Readable = answer.body
  // What cuts the exchange off cuts the body off too; its reader is told by reading.
  stream.on('error', () => {})
  const head = { ok: true, status: answer.statusCode, headers: joined(answer.headers) } as const
  if (exchange.streamed) return { ...head, body: Buffer.alloc(0), stream }
  if (maxResponseBytes > 0)
    return { ...head, body: await collect(stream, maxResponseBytes, answer.statusCode) }
  drain(stream, timers)
  return { ...head, body: Buffer.alloc(0) }
}

/** Headers of which there is one: of several the first counts, as with Node's own client. */
const SINGLE =
  /^(age|authorization|content-length|content-type|etag|expires|last-modified|location|retry-after|server)$/

/** Values of a repeated header as RFC 9110 (5.3) joins them. */
function joined(given: Readonly<Record<string, string | string[] | undefined>>): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = {}
  for (const [name, value] of Object.entries(given))
    headers[name] =
      !Array.isArray(value) || name === 'set-cookie' ? value : SINGLE.test(name) ? value[0] : value.join(', ')
  return headers
}

/** Reads a short rest, so that the connection can be used again; closes it over a long or slow one. */
function drain(stream: Readable, timers: Timers): void {
  let bytes = 0
  stream.on(
    'close',
    timers.after(DRAIN_MS, () => stream.destroy()),
  )
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > DRAIN_BYTES) stream.destroy()
  })
}

/** @throws EgressError with the status, the reason of the signal */
async function collect(stream: Readable, limit: number, status: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > limit) throw new EgressError(faultOf('too_large', `answer is over ${limit} bytes`, status))
      chunks.push(chunk)
    }
  } catch (error) {
    throw error instanceof EgressError ? error : new EgressError({ ...networkFault(error), status })
  }
  return Buffer.concat(chunks)
}
