/**
 * The way out as a `fetch`, for clients that read an answer as it comes: those of model providers. The
 * same addresses are checked and connected to; bounds of time and size are the caller's, whose signal
 * cuts it off. Redirects are answers: a credential never follows one.
 */
import { Readable } from 'node:stream'
import { headersOf } from './egress.ts'
import { begin, createAgents } from './exchange.ts'
import { faultOf, networkFault } from './faults.ts'
import { EgressError } from './fetch.ts'
import { systemResolve } from './resolve.ts'
import { type Audience, addressesOf, mayReach, NOT_ALLOWED, parseTarget, type Resolve } from './target.ts'

/** Answers that are read as they come hold their connection for minutes. */
const MAX_SOCKETS_PER_TARGET = 32
/** Their answers have no body, which `Response` insists on. */
const WITHOUT_BODY = new Set([204, 205, 304])

export interface EgressFetch {
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
