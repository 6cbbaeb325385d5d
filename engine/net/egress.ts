/**
 * The one way out over HTTP: webhooks, and whatever else the service asks of others. Nothing leaves by
 * another client, so that what may be reached, how long it may take and how much may come back is
 * decided here alone.
 */
import type { Timers } from '../clock.ts'
import {
  type Audience,
  addressesOf,
  mayReach,
  NOT_ALLOWED,
  parseTarget,
  type Resolve,
  systemResolve,
  type Target,
} from './address.ts'
import {
  createPool,
  type EgressAnswer,
  type EgressFault,
  faultOf,
  networkFault,
  type Pool,
} from './exchange.ts'

export interface EgressRequest {
  url: string
  method: string
  /** Those that belong to the connection (host, content-length and the like) are ours and left out. */
  headers?: Record<string, string>
  body?: string | Buffer
  /** Milliseconds for all of it: name, connection, redirects and body. */
  timeoutMs: number
  /** Who named the URL. */
  audience: Audience
  /** Bytes of body at most; 0: it is not wanted, only status and headers are. */
  maxResponseBytes: number
  /** Redirects to follow, each of them checked anew; none unless said, and 3 at most. */
  redirects?: number
  /** It may be sent twice where a kept connection turns out to be closed. GET and HEAD always may. */
  repeatable?: boolean
  signal?: AbortSignal
}

export interface Egress {
  /** Sends one request. Never throws: what went wrong is a fault. */
  send(request: EgressRequest): Promise<EgressAnswer | EgressFault>
  /**
   * As `send`, but the answer is there with its head: its `stream` is to be read to the end or destroyed,
   * and `maxResponseBytes` is the reader's to hold. The deadline and the signal cut the body off too.
   */
  open(request: EgressRequest): Promise<EgressAnswer | EgressFault>
  /**
   * What is wrong with an address that somebody wants to save; its name is resolved too. A name that
   * cannot be resolved now is let pass: each sending checks again, and a name server that is down must
   * not stop people from saving.
   * @returns a sentence; null: nothing.
   */
  checkTarget(url: string, audience: Audience): Promise<string | null>
  /** Closes the idle connections and cuts off the others. */
  close(): void
}

export interface EgressOptions {
  /** Callers' addresses may be private too, as operators' are (SVC_WEBHOOK_ALLOW_PRIVATE). */
  allowPrivate: boolean
  timers: Timers
  /** The system's resolver unless given. */
  resolve?: Resolve
}

const MAX_REDIRECTS = 3
const CHECK_MS = 5_000
const USER_AGENT = 'svc'
const REDIRECTS = new Set([301, 302, 303, 307, 308])
/** Headers of the connection or of a proxy; a caller's own would contradict ours. */
const OURS =
  /^(host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|proxy-.*)$/
/** What another origin may see of the headers; the rest may carry credentials. */
const ANYWHERE = /^(accept|accept-encoding|content-type|user-agent)$/

/** Makes the client. @returns its methods; `close` when the process ends. */
export function createEgress(options: EgressOptions): Egress {
  const { allowPrivate, timers, resolve = systemResolve() } = options
  const pool = createPool(timers)
  return {
    async send(request) {
      const bound = boundOf(request, timers)
      try {
        return await follow(request, bound, { pool, resolve, allowPrivate, timers })
      } finally {
        bound.release()
      }
    },
    async open(request) {
      const bound = boundOf(request, timers)
      const answer = await follow(request, bound, { pool, resolve, allowPrivate, timers }, true)
      if (answer.ok && answer.stream && !answer.stream.destroyed) answer.stream.on('close', bound.release)
      else bound.release()
      return answer
    },
    async checkTarget(url, audience) {
      const target = parseTarget(url)
      if (typeof target === 'string') return target
      const found = await within(timers, CHECK_MS, undefined, addressesOf(target.host, resolve)).catch(
        () => null,
      )
      if (found === null || typeof found === 'string') return null
      return mayReach(found.value, audience, allowPrivate) ? null : NOT_ALLOWED
    },
    close: () => pool.close(),
  }
}

interface Means {
  pool: Pool
  resolve: Resolve
  allowPrivate: boolean
  timers: Timers
}

interface Hop {
  url: string
  method: string
  headers: Record<string, string>
  body: Buffer | null
}

async function follow(
  request: EgressRequest,
  bound: Bound,
  means: Means,
  streamed = false,
): Promise<EgressAnswer | EgressFault> {
  let hop: Hop = {
    url: request.url,
    method: request.method.toUpperCase(),
    headers: headersOf(request.headers ?? {}),
    body: request.body === undefined ? null : Buffer.from(request.body),
  }
  const most = Math.min(request.redirects ?? 0, MAX_REDIRECTS)
  for (let followed = 0; ; followed++) {
    const target = parseTarget(hop.url)
    if (typeof target === 'string') return faultOf('invalid', target)
    const answer = await exchange(target, hop, request, bound, means, streamed)
    if (!answer.ok || most === 0 || !REDIRECTS.has(answer.status)) return answer
    const next = answer.headers.location
    if (next === undefined) return answer
    answer.stream?.destroy()
    if (followed === most) return faultOf('redirect', `more than ${most} redirects`, answer.status)
    const redirected = redirect(hop, target, answer.status, next)
    if (typeof redirected === 'string') return faultOf('redirect', redirected, answer.status)
    hop = redirected
  }
}

async function exchange(
  target: Target,
  { method, headers, body }: Hop,
  request: EgressRequest,
  { signal }: Bound,
  { pool, resolve, allowPrivate }: Means,
  streamed: boolean,
): Promise<EgressAnswer | EgressFault> {
  let addresses: readonly string[]
  try {
    const found = await bounded(signal, addressesOf(target.host, resolve))
    if (!Array.isArray(found)) return found as EgressFault
    addresses = found
  } catch (error) {
    return networkFault(error)
  }
  if (!mayReach(addresses, request.audience, allowPrivate)) return faultOf('not_allowed', NOT_ALLOWED)
  const { maxResponseBytes } = request
  const asked = { target, addresses, method, headers, body, maxResponseBytes, streamed, signal }
  const { stale, ...answer } = await pool.run(asked)
  const again = stale && (request.repeatable || method === 'GET' || method === 'HEAD')
  if (!again) return answer
  const { stale: _fresh, ...second } = await pool.run(asked, true)
  return second
}

/** The caller's, without those of the connection, and ours. */
export function headersOf(given: Record<string, string>): Record<string, string> {
  const kept = Object.entries(given)
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => !OURS.test(name))
  return { 'user-agent': USER_AGENT, 'accept-encoding': 'identity', ...Object.fromEntries(kept) }
}

/** The next request (RFC 9110, 15.4), or why it is not made. */
function redirect(hop: Hop, from: Target, status: number, location: string): Hop | string {
  if (!URL.canParse(location, from.url.href)) return 'redirect to no address'
  const to = new URL(location, from.url)
  to.hash = ''
  if (from.url.protocol === 'https:' && to.protocol === 'http:') return 'redirect from https to http'
  const asGet = status === 303 ? hop.method !== 'HEAD' : status < 303 && hop.method === 'POST'
  const headers = Object.entries(hop.headers).filter(
    ([name]) => (to.origin === from.url.origin || ANYWHERE.test(name)) && !(asGet && name === 'content-type'),
  )
  return {
    url: to.href,
    method: asGet ? 'GET' : hop.method,
    headers: Object.fromEntries(headers),
    body: asGet ? null : hop.body,
  }
}

interface Bound {
  /** Its reason is the fault. */
  signal: AbortSignal
  release(): void
}

/** The deadline and the caller's signal as one, whose reason is the fault to answer with. */
function boundOf({ timeoutMs, signal }: EgressRequest, timers: Timers): Bound {
  const controller = new AbortController()
  const seconds = Math.round(timeoutMs / 100) / 10
  const cancel = timers.after(timeoutMs, () =>
    controller.abort(faultOf('timeout', `no answer within ${seconds} s`)),
  )
  const abort = () => controller.abort(faultOf('aborted', 'cut off'))
  if (signal?.aborted) abort()
  else signal?.addEventListener('abort', abort, { once: true })
  return {
    signal: controller.signal,
    release() {
      cancel()
      signal?.removeEventListener('abort', abort)
    },
  }
}

/** A promise, or the fault of the signal if that comes first. */
function bounded<T>(signal: AbortSignal, promise: Promise<T>): Promise<T | EgressFault> {
  return new Promise((resolve, reject) => {
    const cut = () => resolve(signal.reason as EgressFault)
    if (signal.aborted) cut()
    signal.addEventListener('abort', cut, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', cut))
  })
}

/* Bounded waiting. */

/**
 * A promise bounded in time and by a signal. The promise itself runs on: what it holds has to end by
 * another way.
 * @param ms milliseconds.
 * @returns its value, or which bound came first. @throws what the promise throws, within the bounds.
 */
export function within<T>(
  timers: Timers,
  ms: number,
  signal: AbortSignal | undefined,
  promise: Promise<T>,
): Promise<{ value: T } | 'timeout' | 'aborted'> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      promise.catch(() => {})
      return resolve('aborted')
    }
    const abort = () => end(() => resolve('aborted'))
    const cancel = timers.after(ms, () => end(() => resolve('timeout')))
    const end = (settle: () => void) => {
      cancel()
      signal?.removeEventListener('abort', abort)
      settle()
    }
    signal?.addEventListener('abort', abort, { once: true })
    promise.then(
      (value) => end(() => resolve({ value })),
      (error) => end(() => reject(error)),
    )
  })
}
