/**
 * The way out as a `fetch`, for clients that are written against one: addresses are checked, time and
 * size bounded, as for every other request.
 */
import { Readable } from 'node:stream'
import type { ReadableStream as NodeStream } from 'node:stream/web'
import {
  type Audience,
  addressesOf,
  mayReach,
  NOT_ALLOWED,
  parseTarget,
  type Resolve,
  systemResolve,
} from './address.ts'
import { type Egress, headersOf } from './egress.ts'
import { begin, createAgents, type EgressFault, faultOf, networkFault } from './exchange.ts'

export interface FetchBounds {
  /** Who named the URLs. */
  audience: Audience
  /** Milliseconds for all of a request, its body included. */
  timeoutMs: number
  /** Bytes of an answer's body at most; more is an error of the stream. */
  maxResponseBytes: number
}

/** What cannot be fetched, with the fault of the egress as its cause. */
export class EgressError extends TypeError {
  constructor(readonly fault: EgressFault) {
    super(fault.message, { cause: fault })
    this.name = 'EgressError'
  }
}

const NO_BODY = new Set([204, 205, 304])
const REDIRECTS = 3

/**
 * @returns a fetch whose answers stream. With `redirect: 'manual'` none is followed.
 * @throws EgressError; what the signal was aborted with.
 */
export function fetchOver(
  egress: Egress,
  { audience, timeoutMs, maxResponseBytes }: FetchBounds,
): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    const body = request.body === null ? null : Buffer.from(await request.arrayBuffer())
    const answer = await egress.open({
      url: request.url,
      method: request.method,
      headers: Object.fromEntries(request.headers),
      ...(body === null ? {} : { body }),
      audience,
      timeoutMs,
      maxResponseBytes,
      redirects: request.redirect === 'follow' ? REDIRECTS : 0,
      signal: request.signal,
    })
    request.signal.throwIfAborted()
    if (!answer.ok) throw new EgressError(answer)
    const { status, headers, stream } = answer
    const isEmpty = NO_BODY.has(status) || !stream
    if (isEmpty) stream?.resume()
    return new Response(isEmpty ? null : bounded(stream, maxResponseBytes), {
      status,
      headers: listed(headers),
    })
  }
}

function bounded(stream: Readable, limit: number): ReadableStream<Uint8Array> {
  let bytes = 0
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length
      if (bytes > limit) controller.error(new TypeError(`answer is over ${limit} bytes`))
      else controller.enqueue(chunk)
    },
  })
  return (Readable.toWeb(stream) as NodeStream<Uint8Array>).pipeThrough(count) as ReadableStream<Uint8Array>
}

function listed(headers: Readonly<Record<string, string | string[] | undefined>>): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value ?? '']).map((one): [string, string] => [name, one]),
  )
}

/*
 * The way out as a `fetch`, for clients that read an answer as it comes: those of model providers. The
 * same addresses are checked and connected to; bounds of time and size are the caller's, whose signal
 * cuts it off. Redirects are answers: a credential never follows one.
 */

/** Answers that are read as they come hold their connection for minutes. */
const MAX_SOCKETS_PER_TARGET = 32
/** Their answers have no body, which `Response` insists on. */
const WITHOUT_BODY = new Set([204, 205, 304])

interface EgressFetch {
  /** @throws EgressError, or the signal's reason */
  fetch: typeof fetch
  /** Closes the idle connections and cuts off the others. */
  close(): void
}

/** @param options `resolve`: the system's unless given. */
export function createEgressFetch(options: { audience: Audience; resolve?: Resolve }): EgressFetch {
  const { audience, resolve = systemResolve() } = options
  const agents = createAgents(MAX_SOCKETS_PER_TARGET)
  return {
    fetch: async (input, init) => {
      const signal = init?.signal ?? null
      signal?.throwIfAborted()
      const target = parseTarget(input instanceof Request ? input.url : String(input))
      if (typeof target === 'string') throw new EgressError(faultOf('invalid', target))
      const addresses = await addressesOf(target.host, resolve).catch((error: unknown) => {
        throw new EgressError(networkFault(error))
      })
      signal?.throwIfAborted()
      if (!mayReach(addresses, audience, false)) throw new EgressError(faultOf('not_allowed', NOT_ALLOWED))
      return open(
        {
          target,
          addresses,
          method: (init?.method ?? 'GET').toUpperCase(),
          headers: headersOf(Object.fromEntries(new Headers(init?.headers))),
          body: bodyOf(init?.body),
        },
        agents.of(target),
        signal,
      )
    },
    close: agents.close,
  }
}

function open(
  asked: Parameters<typeof begin>[0],
  agent: Parameters<typeof begin>[1],
  signal: AbortSignal | null,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    let request: ReturnType<typeof begin>
    try {
      request = begin(asked, agent)
    } catch (error) {
      return reject(new EgressError(networkFault(error)))
    }
    const cut = () => request.destroy(signal!.reason as Error)
    signal?.addEventListener('abort', cut, { once: true })
    request.on('close', () => signal?.removeEventListener('abort', cut))
    request.on('error', (error) =>
      reject(signal?.aborted ? signal.reason : new EgressError(networkFault(error))),
    )
    request.on('upgrade', (response, socket) => {
      socket.destroy()
      reject(
        new EgressError(faultOf('bad_answer', 'answer changes the protocol', response.statusCode ?? null)),
      )
    })
    request.on('response', (response) => {
      const status = response.statusCode ?? 0
      if (status < 200 || status > 599) {
        request.destroy()
        return reject(new EgressError(faultOf('bad_answer', 'answer has no status of HTTP', status)))
      }
      const headers = new Headers()
      for (const [name, value] of Object.entries(response.headers))
        for (const one of [value ?? []].flat()) headers.append(name, one)
      if (WITHOUT_BODY.has(status)) response.resume()
      const body = WITHOUT_BODY.has(status) ? null : (Readable.toWeb(response) as ReadableStream<Uint8Array>)
      resolve(new Response(body, { status, headers }))
    })
    request.end(asked.body ?? undefined)
  })
}

/** @throws EgressError for a body that is no text and no bytes */
function bodyOf(body: unknown): Buffer | null {
  if (body === undefined || body === null) return null
  if (typeof body === 'string') return Buffer.from(body)
  if (body instanceof Uint8Array) return Buffer.from(body)
  throw new EgressError(faultOf('invalid', 'body must be text or bytes'))
}

export type { Audience } from './address.ts'
/** The one way out over HTTP, for the rest of the engine. */
export { createEgress, type Egress, type EgressOptions, type EgressRequest, within } from './egress.ts'
export type { EgressAnswer } from './exchange.ts'
export { type EgressFault, type FaultCode, faultOf, networkFault } from './exchange.ts'
