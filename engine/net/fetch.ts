/**
 * The one way out over HTTP: webhooks, and whatever else the service asks of others. Nothing leaves by
 * another client, so that what may be reached, how long it may take and how much may come back is
 * decided here alone.
 */
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { type Duplex, pipeline, type Readable } from 'node:stream'
import zlib from 'node:zlib'
import { ownField } from '../../schemas/fields-of.ts'
import type { Timers } from '../clock.ts'
import {
  type Audience,
  addressesOf,
  mayReach,
  NOT_ALLOWED,
  type OutboundProxy,
  parseTarget,
  type Resolve,
  systemResolve,
  type Target,
} from './address.ts'
import type { Pool } from './exchange.ts'
import {
  bounded,
  type EgressAnswer,
  EgressError,
  type EgressFault,
  faultOf,
  type HeldAnswer,
  networkFault,
  type OwnAddress,
} from './faults.ts'

export interface EgressRequest {
  url: string
  method: string
  /** Those that belong to the connection (host, content-length and the like) are ours and left out. */
  headers?: Record<string, string>
  body?: string | Buffer
  /** Milliseconds for all of it: name, connection, redirects and body; null: `signal` alone bounds it. */
  timeoutMs: number | null
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
   * @returns the rule it breaks, to be said behind the name of its field; null: nothing.
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
  /** What requests go out through; null, and unless given: nothing is between. */
  proxy?: OutboundProxy | null
  /** To one target at once, 8 unless given; more wait. */
  connections?: number
}

const MAX_REDIRECTS = 3
const CONNECTIONS = 8
const CHECK_MS = 5_000
/** For the look at what a name leads to that a proxy is told: it connects, also where nobody here knows the name. */
const LOOK_MS = 2_000
const USER_AGENT = 'svc'
const REDIRECTS = new Set([301, 302, 303, 307, 308])
/** Headers of the connection or of a proxy; a caller's own would contradict ours. */
const OURS =
  /^(host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|proxy-.*)$/
/** What another origin may see of the headers; the rest may carry credentials. */
const ANYWHERE = /^(accept|accept-encoding|content-type|user-agent)$/

/*
 * How many connections to one target there may be. All runs at work may ask one provider, or one MCP server, at once, and
 * each holds its connection for as long as its answer is read: a request that waited for one would count as unanswered.
 */

/** Runs at work at most (agents/runs/runner.ts), and who asks besides. */
const PER_TARGET_MAX = 320
/** Of the files that may be open: half of what is left for all that the daemon asks (api/http/connections.ts). */
const PER_TARGET_SHARE = 1 / 6

/** @param handles files the process may have open; null: not known */
export const connectionsPerTarget = (handles: number | null): number =>
  handles === null
    ? PER_TARGET_MAX
    : Math.min(PER_TARGET_MAX, Math.max(CONNECTIONS, Math.floor(handles * PER_TARGET_SHARE)))

/** How many files this process may have open, as Linux says it; null where it does not. */
export function handleLimit(): number | null {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return soft === undefined ? null : Number(soft)
  } catch {
    // No Linux: its own standard is 256 on macOS, which is what there is then at least.
    return process.platform === 'darwin' ? 256 : null
  }
}

/** Makes the client. @returns its methods; `close` when the process ends. */
export function createEgress(options: EgressOptions): Egress {
  const { allowPrivate, timers, resolve = systemResolve(), proxy = null, connections = CONNECTIONS } = options
  let pool: Promise<Pool> | null = null
  const opened = () => {
    pool ??= import('./exchange.ts').then(({ createPool }) => createPool(timers, connections))
    return pool
  }
  const means = { opened, resolve, allowPrivate, proxy, timers }
  return {
    async send(request) {
      const bound = boundOf(request, timers)
      try {
        return await follow(request, bound, means)
      } finally {
        bound.release()
      }
    },
    async open(request) {
      const bound = boundOf(request, timers)
      const answer = await follow(request, bound, means, true)
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
    close: () => void pool?.then((one) => one.close()),
  }
}

interface Means {
  opened(): Promise<Pool>
  resolve: Resolve
  allowPrivate: boolean
  proxy: OutboundProxy | null
  timers: Timers
}

interface Hop {
  url: string
  method: string
  headers: Record<string, string>
  body: Buffer | null
  /** Who named it: an operator names the first, and what answered from the internet the next. */
  audience: Audience | 'internet'
  /** Whether it is on the internet, where that was not looked at before it was asked: it matters once it names the next. */
  isOutside?: () => Promise<boolean>
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
    audience: request.audience,
  }
  const most = Math.min(request.redirects ?? 0, MAX_REDIRECTS)
  for (let followed = 0; ; followed++) {
    const target = parseTarget(hop.url)
    if (typeof target === 'string') return faultOf('invalid', `url ${target}`)
    const answer = await exchange(target, hop, request, bound, means, streamed)
    if (!answer.ok || most === 0 || !REDIRECTS.has(answer.status)) return answer
    const next = answer.headers.location
    if (next === undefined) return answer
    answer.stream?.destroy()
    if (followed === most) return faultOf('redirect', `more than ${most} redirects`, answer.status)
    if (await hop.isOutside?.()) hop.audience = 'internet'
    const redirected = redirect(hop, target, answer.status, next)
    if (typeof redirected === 'string') return faultOf('redirect', redirected, answer.status)
    hop = redirected
  }
}

async function exchange(
  target: Target,
  hop: Hop,
  request: EgressRequest,
  { signal }: Bound,
  { opened, resolve, allowPrivate, proxy: proxies, timers }: Means,
  streamed: boolean,
): Promise<EgressAnswer | EgressFault> {
  const { method, headers, body } = hop
  try {
    const proxy = proxies?.of(target) ?? null
    const addresses = proxy ? null : await bounded(signal, addressesOf(target.host, resolve))
    const reach = { allowPrivate, look: () => knownHere(timers, signal, target.host, resolve) }
    if (!(await isAllowed(hop, addresses, target.host, reach))) return faultOf('not_allowed', NOT_ALLOWED)
    const pool = await bounded(signal, opened())
    return await pool.run({
      ...{ target, addresses: addresses ?? [], proxy, method, headers, body, streamed, signal },
      maxResponseBytes: request.maxResponseBytes,
      repeatable: request.repeatable === true || method === 'GET' || method === 'HEAD',
    })
  } catch (error) {
    return networkFault(error)
  }
}

interface Reach {
  allowPrivate: boolean
  /** @returns the addresses of the host; null: nobody here knows any, or not soon */
  look(): Promise<readonly string[] | null>
}

/**
 * Whether who named the hop may ask it. What a proxy is asked for that nobody here knows is for the proxy to find, and to
 * allow: it is outside of what this machine reaches itself. What an operator names is asked without a look here first.
 * @param addresses null: it goes through a proxy
 */
async function isAllowed(
  hop: Hop,
  addresses: readonly string[] | null,
  host: string,
  { allowPrivate, look }: Reach,
): Promise<boolean> {
  const isOut = (found: readonly string[] | null) => found === null || mayReach(found, 'caller', false)
  if (addresses === null && hop.audience === 'operator' && isIP(host) === 0) {
    hop.isOutside = async () => isOut(await look())
    return true
  }
  const found = addresses ?? (await look())
  // What is on the internet names no address of the private network, by whomever it was named itself.
  const { audience } = hop
  if (isOut(found)) hop.audience = 'internet'
  if (audience === 'internet') return isOut(found)
  return found === null || mayReach(found, audience, allowPrivate)
}

async function knownHere(
  timers: Timers,
  signal: AbortSignal,
  host: string,
  resolve: Resolve,
): Promise<readonly string[] | null> {
  const found = await within(timers, LOOK_MS, signal, addressesOf(host, resolve)).catch(() => null)
  return found === null || typeof found === 'string' ? null : found.value
}

/** The caller's, without those of the connection, and ours. */
function headersOf(given: Record<string, string>): Record<string, string> {
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
    audience: hop.audience,
  }
}

interface Bound {
  /** Its reason is an EgressError. */
  signal: AbortSignal
  release(): void
}

/** The deadline and the caller's signal as one. */
function boundOf({ timeoutMs, signal }: EgressRequest, timers: Timers): Bound {
  const controller = new AbortController()
  const cut = (...fault: Parameters<typeof faultOf>) => controller.abort(new EgressError(faultOf(...fault)))
  const seconds = Math.round((timeoutMs ?? 0) / 100) / 10
  const cancel =
    timeoutMs === null
      ? () => {}
      : timers.after(timeoutMs, () => cut('timeout', `no answer within ${seconds} s`))
  const abort = () => cut('aborted', 'cut off')
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

/** A GET over a connection of its own. @throws what undici and Node throw; the reason of the signal */
export const getOver = async (address: OwnAddress, path: string, signal: AbortSignal): Promise<HeldAnswer> =>
  (await import('./exchange.ts')).getOver(address, path, signal)

/* Bounded waiting. */

const OVER = new Error('it is over')

/**
 * What is asked of others, bounded in time and by a signal, and cut off at either.
 * @param ms milliseconds. @param ask gets the signal that cuts it off.
 * @returns its value, or which bound came first. @throws what `ask` throws, within the bounds.
 */
export async function withDeadline<T>(
  timers: Timers,
  ms: number,
  signal: AbortSignal | undefined,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<{ value: T } | 'timeout' | 'aborted'> {
  const over = new AbortController()
  try {
    return await within(timers, ms, signal, ask(over.signal))
  } finally {
    // Nobody waits any more for what still runs. Without a reason, abort() creates a DOMException with its stack each time.
    over.abort(OVER)
  }
}

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

/*
 * The way out as a `fetch`, for clients that are written against one: addresses are checked, time and
 * size bounded, as for every other request.
 */

export interface FetchBounds {
  /** Who named the URLs. */
  audience: Audience
  /** Milliseconds for all of a request, its body included; null: the signal of each alone bounds it. */
  timeoutMs: number | null
  /** Bytes of an answer's body at most; more is an error of the stream. */
  maxResponseBytes: number
}

const NO_BODY = new Set([204, 205, 304])

/** The body is taken directly where it is a text and the headers say its type; a Request would copy it several times. */
async function readRequest(
  input: Parameters<typeof fetch>[0],
  init: RequestInit = {},
): Promise<{ request: Request; body: Buffer | null }> {
  const { body: text, ...rest } = init
  if (typeof text === 'string' && new Headers(init.headers).has('content-type'))
    return { request: new Request(input, rest), body: Buffer.from(text) }
  const request = new Request(input, init)
  return { request, body: request.body === null ? null : Buffer.from(await request.arrayBuffer()) }
}

/**
 * @returns a fetch whose answers stream. With `redirect: 'manual'` none is followed.
 * @throws EgressError; what the signal was aborted with.
 */
export function fetchOver(
  egress: Egress,
  { audience, timeoutMs, maxResponseBytes }: FetchBounds,
): typeof fetch {
  return async (input, init) => {
    const { request, body } = await readRequest(input, init)
    const answer = await egress.open({
      url: request.url,
      method: request.method,
      headers: Object.fromEntries(request.headers),
      ...(body === null ? {} : { body }),
      audience,
      timeoutMs,
      maxResponseBytes,
      redirects: request.redirect === 'follow' ? MAX_REDIRECTS : 0,
      signal: request.signal,
    })
    request.signal.throwIfAborted()
    if (!answer.ok) throw new EgressError(answer)
    const { status, headers, stream } = answer
    if (status > 599) {
      stream?.destroy()
      throw new EgressError(faultOf('bad_answer', 'answer has no status of HTTP', status))
    }
    const isEmpty = NO_BODY.has(status) || !stream
    if (isEmpty) stream?.resume()
    return new Response(
      isEmpty ? null : bodyOf(unpacked(stream, headers['content-encoding']), maxResponseBytes),
      {
        status,
        headers: listed(headers),
      },
    )
  }
}

/** By Content-Encoding: some servers compress whatever is asked for. */
const DECODERS: Readonly<Record<string, () => Duplex>> = {
  gzip: zlib.createGunzip,
  'x-gzip': zlib.createGunzip,
  deflate: zlib.createInflate,
  br: zlib.createBrotliDecompress,
  zstd: zlib.createZstdDecompress,
}

/** What was compressed, as `fetch` gives it; bounded by who reads it. */
function unpacked(stream: Readable, encoding: string | string[] | undefined): Readable {
  const decoder = ownField(DECODERS, String(encoding).trim().toLowerCase())
  // Of an error its reader is told.
  return decoder === undefined ? stream : pipeline(stream, decoder(), () => {})
}

/** Read as it is asked for. Not `Readable.toWeb`, which throws where undici's streams bring more after an end. */
function bodyOf(stream: Readable, limit: number): ReadableStream<Uint8Array> {
  const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let bytes = 0
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await chunks.next().catch(streamFault)
        if (next.done) return controller.close()
        bytes += next.value.length
        if (bytes <= limit) return controller.enqueue(next.value)
        stream.destroy()
        throw new EgressError(faultOf('too_large', `answer is over ${limit} bytes`))
      },
      cancel: () => void stream.destroy(),
    },
    { highWaterMark: 0 },
  )
}

/** @throws the error, in words where what was to be unpacked is not what it says */
function streamFault(error: unknown): never {
  const { code } = error as { code?: unknown }
  const isPacked = typeof code === 'string' && /^(Z_|ERR__?ERROR|ERR_BROTLI|ZSTD_|ERR_ZSTD)/.test(code)
  if (!isPacked) throw error
  throw new EgressError(faultOf('bad_answer', 'answer cannot be unpacked as its Content-Encoding says'))
}

function listed(headers: Readonly<Record<string, string | string[] | undefined>>): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value ?? '']).map((one): [string, string] => [name, one]),
  )
}

/**
 * For the client of an MCP server: answers in its place that it has no stream of notifications (Streamable HTTP: Listening
 * for Messages from the Server). A request that resumes an answer passes.
 */
export function withoutNotifications(http: typeof fetch): typeof fetch {
  return async (input, init) =>
    init?.method === 'GET' && !new Headers(init.headers).has('last-event-id')
      ? new Response(null, { status: 405 })
      : http(input, init)
}

export {
  type EgressAnswer,
  EgressError,
  type EgressFault,
  type FaultCode,
  faultOf,
  type HeldAnswer,
  networkFault,
} from './faults.ts'
export type { Audience }
