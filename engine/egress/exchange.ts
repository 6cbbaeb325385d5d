/**
 * One request and its answer over Node's own HTTP client, to addresses that were checked before. The
 * client is given a look-up that knows these addresses only; of a literal it asks none, so the literal
 * itself has been checked. Proxies of the environment are not asked: an agent of one's own ignores them.
 */
import http from 'node:http'
import https from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { Timers } from '../clock.ts'
import { type EgressFault, faultOf, networkFault } from './faults.ts'
import type { Target } from './target.ts'

export interface EgressAnswer {
  ok: true
  status: number
  /** Names in lower case; values of a repeated header joined as RFC 9110 says. */
  headers: http.IncomingHttpHeaders
  /** Empty where none was wanted, or where it comes as a stream. */
  body: Buffer
  /** The body as it comes, where that was asked for: to be read to its end, or destroyed. */
  stream?: http.IncomingMessage
}

export interface Exchange {
  target: Target
  /** All of them checked. */
  addresses: readonly string[]
  method: string
  headers: Record<string, string>
  body: Buffer | null
  /** 0: the body is not wanted, and the answer is there with its head. */
  maxResponseBytes: number
  /** The answer is there with its head, and its body comes after; its size is the reader's to bound. */
  streamed?: boolean
  /** Cuts the exchange off; its reason is the fault to answer with. */
  signal: AbortSignal
}

/** Bytes of an unwanted body that are read to keep the connection; beyond, closing it is cheaper. */
const DRAIN_BYTES = 16 * 1024
const DRAIN_MS = 1_000
const MAX_HEADER_BYTES = 16 * 1024
const MAX_SOCKETS_PER_TARGET = 8
const MAX_SOCKETS = 64
const MAX_IDLE_PER_TARGET = 2
const IDLE_MS = 4_000

interface NameOptions {
  checked?: string
}

/** Connections are kept by the addresses they were checked for, so none is lent to another audience. */
class HttpPool extends http.Agent {
  override getName(options: http.ClientRequestArgs & NameOptions): string {
    return `${super.getName(options)}:${options.checked ?? ''}`
  }
}
class HttpsPool extends https.Agent {
  override getName(options: https.RequestOptions & NameOptions): string {
    return `${super.getName(options)}:${options.checked ?? ''}`
  }
}

type Outcome = (EgressAnswer | EgressFault) & { stale?: boolean }

export interface Pool {
  /** @param fresh over a new connection. @returns `stale`: a kept connection was closed before use. */
  run(exchange: Exchange, fresh?: boolean): Promise<Outcome>
  close(): void
}

/** The connections kept open: bounded in number, per target and in all, and in idle time. */
export function createPool(timers: Timers): Pool {
  const agents = createAgents(MAX_SOCKETS_PER_TARGET)
  return {
    run: (exchange, fresh = false) => run(exchange, fresh ? false : agents.of(exchange.target), timers),
    close: agents.close,
  }
}

export interface Agents {
  of(target: Target): http.Agent
  close(): void
}

/** @param perTarget connections to one target at once. */
export function createAgents(perTarget: number): Agents {
  const bounds = {
    keepAlive: true,
    maxSockets: perTarget,
    maxTotalSockets: MAX_SOCKETS,
    maxFreeSockets: MAX_IDLE_PER_TARGET,
    timeout: IDLE_MS,
  }
  const plain = new HttpPool(bounds)
  const secure = new HttpsPool(bounds)
  return {
    of: ({ url }) => (url.protocol === 'https:' ? secure : plain),
    close() {
      plain.destroy()
      secure.destroy()
    },
  }
}

function run(exchange: Exchange, agent: http.Agent | false, timers: Timers): Promise<Outcome> {
  const { signal } = exchange
  if (signal.aborted) return Promise.resolve(signal.reason as EgressFault)
  return new Promise((resolve) => {
    let request: http.ClientRequest
    try {
      request = begin(exchange, agent)
    } catch (error) {
      return resolve(networkFault(error))
    }
    const cut = () => {
      end(signal.reason as EgressFault)
      request.destroy()
    }
    const end = (outcome: Outcome) => {
      signal.removeEventListener('abort', cut)
      resolve(outcome)
    }
    signal.addEventListener('abort', cut, { once: true })
    request.on('error', (error) => {
      const fault = networkFault(error)
      // The other side closed an idle connection just as it was used again: it saw nothing of this.
      end(request.reusedSocket && fault.fault === 'closed' ? { ...fault, stale: true } : fault)
    })
    // Without this Node closes the connection and says nothing.
    request.on('upgrade', (response, socket) => {
      socket.destroy()
      end(faultOf('bad_answer', 'answer changes the protocol', response.statusCode ?? null))
    })
    request.on('response', (response) => {
      if (exchange.streamed) {
        resolve({ ...answerOf(response, []), stream: response })
        // What cuts the exchange off cuts the body off too; its reader is told by the stream.
        response.on('error', () => {})
        response.on('close', () => signal.removeEventListener('abort', cut))
      } else if (exchange.maxResponseBytes === 0) {
        end(answerOf(response, []))
        drain(request, response, timers)
      } else void collect(exchange.maxResponseBytes, request, response).then(end)
    })
    request.end(exchange.body ?? undefined)
  })
}

/** Opens the request; its events tell the rest. @throws what Node throws for a header or path that is none. */
export function begin(
  {
    target,
    addresses,
    method,
    headers,
    body,
  }: Pick<Exchange, 'target' | 'addresses' | 'method' | 'headers' | 'body'>,
  agent: http.Agent | false,
): http.ClientRequest {
  const { url, host } = target
  const secure = url.protocol === 'https:'
  const options: https.RequestOptions & NameOptions = {
    host,
    port: url.port || (secure ? 443 : 80),
    path: `${url.pathname}${url.search}`,
    method,
    headers: { ...headers, host: url.host, ...(body ? { 'content-length': String(body.length) } : {}) },
    agent,
    lookup: pinned(addresses),
    checked: [...addresses].sort().join(),
    maxHeaderSize: MAX_HEADER_BYTES,
    // A name for the certificate and SNI, which has no form for addresses (RFC 6066, 3).
    ...(secure ? { servername: isIP(host) ? '' : host.replace(/\.$/, '') } : {}),
  }
  return secure ? https.request(options) : http.request(options)
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

function answerOf(response: http.IncomingMessage, body: Buffer[]): EgressAnswer {
  return {
    ok: true,
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: Buffer.concat(body),
  }
}

/** Reads a short rest, so that the connection can be used again; closes it over a long or slow one. */
function drain(request: http.ClientRequest, response: http.IncomingMessage, timers: Timers): void {
  let bytes = 0
  response.on(
    'close',
    timers.after(DRAIN_MS, () => request.destroy()),
  )
  response.on('error', () => {})
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > DRAIN_BYTES) request.destroy()
  })
}

function collect(
  limit: number,
  request: http.ClientRequest,
  response: http.IncomingMessage,
): Promise<EgressAnswer | EgressFault> {
  const status = response.statusCode ?? null
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let bytes = 0
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      chunks.push(chunk)
      if (bytes <= limit) return
      resolve(faultOf('too_large', `answer is over ${limit} bytes`, status))
      request.destroy()
    })
    response.on('end', () => resolve(answerOf(response, chunks)))
    response.on('error', (error) => resolve({ ...networkFault(error), status }))
    response.on('close', () => resolve(faultOf('closed', 'connection closed within the answer', status)))
  })
}
