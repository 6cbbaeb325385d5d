/**
 * One request and its answer over Node's own HTTP client, to addresses that were checked before. The
 * client is given a look-up that knows these addresses only; of a literal it asks none, so the literal
 * itself has been checked. Proxies of the environment are not asked: an agent of one's own ignores them.
 */
import type http from 'node:http'
import type https from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { Timers } from '../clock.ts'
import type { Target } from './address.ts'

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

interface Exchange {
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
const named = (name: string, { checked }: NameOptions): string => `${name}:${checked ?? ''}`

/**
 * Node's client, loaded with the first exchange: every thread has this module, and most make none.
 * Loading it with the module cost each a quarter of its start.
 */
const clientOf = {
  http: () => process.getBuiltinModule('node:http'),
  https: () => process.getBuiltinModule('node:https'),
}

function httpPool(bounds: http.AgentOptions): http.Agent {
  return new (class extends clientOf.http().Agent {
    override getName(options: http.ClientRequestArgs & NameOptions): string {
      return named(super.getName(options), options)
    }
  })(bounds)
}

function httpsPool(bounds: https.AgentOptions): https.Agent {
  return new (class extends clientOf.https().Agent {
    override getName(options: https.RequestOptions & NameOptions): string {
      return named(super.getName(options), options)
    }
  })(bounds)
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

interface Agents {
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
  let plain: http.Agent | null = null
  let secure: http.Agent | null = null
  return {
    of({ url }) {
      if (url.protocol === 'https:') {
        secure ??= httpsPool(bounds)
        return secure
      }
      plain ??= httpPool(bounds)
      return plain
    },
    close() {
      plain?.destroy()
      secure?.destroy()
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
  return (secure ? clientOf.https() : clientOf.http()).request(options)
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

/* What can keep a request from being answered, as a word for programs and a text for people. */

export type FaultCode =
  /** The address may not be reached by who named it. */
  | 'not_allowed'
  /** The URL, a header or the method is none. */
  | 'invalid'
  | 'unresolved'
  | 'refused'
  | 'unreachable'
  | 'closed'
  | 'tls'
  /** What came back is no HTTP, or its head is over its limit. */
  | 'bad_answer'
  | 'too_large'
  | 'redirect'
  | 'timeout'
  /** The caller's signal. */
  | 'aborted'

/** A request without a usable answer. `status` is there if one had come before it went wrong. */
export interface EgressFault {
  ok: false
  fault: FaultCode
  /** A short text without addresses, secrets or anything the other side wrote. */
  message: string
  status: number | null
}

/** Makes a fault. @param status HTTP status that had been answered. */
export function faultOf(fault: FaultCode, message: string, status: number | null = null): EgressFault {
  return { ok: false, fault, message, status }
}

const BY_CODE: Readonly<Record<string, readonly [FaultCode, string]>> = {
  ECONNREFUSED: ['refused', 'connection refused'],
  ECONNRESET: ['closed', 'connection closed without an answer'],
  EPIPE: ['closed', 'connection closed without an answer'],
  ECONNABORTED: ['closed', 'connection closed without an answer'],
  ENOTFOUND: ['unresolved', 'host name cannot be resolved'],
  EAI_AGAIN: ['unresolved', 'host name cannot be resolved'],
  EAI_NODATA: ['unresolved', 'host name cannot be resolved'],
  EAI_NONAME: ['unresolved', 'host name cannot be resolved'],
  EHOSTUNREACH: ['unreachable', 'host cannot be reached'],
  EHOSTDOWN: ['unreachable', 'host cannot be reached'],
  ENETUNREACH: ['unreachable', 'host cannot be reached'],
  EADDRNOTAVAIL: ['unreachable', 'host cannot be reached'],
  ETIMEDOUT: ['unreachable', 'host cannot be reached'],
  EPROTO: ['tls', 'TLS failed'],
  EMFILE: ['unreachable', 'no file descriptor is left'],
}

/** OpenSSL's names for a certificate that does not hold. */
const CERTIFICATE = /CERT|SELF_SIGNED|ISSUER|ALTNAME|HOSTNAME_MISMATCH/

/** Turns what Node throws into a fault; an error without a known code keeps only its code. */
export function networkFault(error: unknown): EgressFault {
  const code = codeOf(error)
  const known = BY_CODE[code]
  if (known) return faultOf(...known)
  if (CERTIFICATE.test(code)) return faultOf('tls', `certificate is not trusted (${code})`)
  if (/^ERR_(TLS|SSL|OSSL)/.test(code)) return faultOf('tls', `TLS failed (${code})`)
  if (code.startsWith('HPE_')) return faultOf('bad_answer', `answer is not HTTP (${code})`)
  if (/^ERR_(INVALID|HTTP_INVALID|UNESCAPED)/.test(code))
    return faultOf('invalid', 'a header or the path contains characters that HTTP does not allow')
  return faultOf('closed', `connection failed (${code || 'no code'})`)
}

/** Of several addresses that all failed, the first that says why. */
function codeOf(error: unknown): string {
  const { code, errors } = error as { code?: unknown; errors?: unknown[] }
  if (typeof code === 'string') return code
  return errors?.length ? codeOf(errors[0]) : ''
}

/* What the header Retry-After of any upstream asks for (RFC 9110, 10.2.3): one reading for all that honour it. */

/** The three forms of an HTTP date (RFC 9110, 5.6.7); Date.parse takes many texts that are none. */
const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .{10,32}$/
/** Whole seconds by the RFC; fractions are sent by some providers of models. */
const SECONDS = /^\d+(\.\d+)?$/

/**
 * @param header seconds or a date, as received. @param now epoch ms.
 * @returns ms to wait from now, 0 for a date that is over, without a bound: each caller has its own; null where the
 *   header is absent or neither of both
 * @example readRetryAfter('30', now) // 30000
 */
export function readRetryAfter(header: string | null | undefined, now: number): number | null {
  const text = header?.trim() ?? ''
  if (SECONDS.test(text)) return Number(text) * 1_000
  if (!HTTP_DATE.test(text)) return null
  // Of asctime's form, which names no zone, the time is UTC.
  const at = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}
