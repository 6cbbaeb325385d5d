/**
 * The way out as a `fetch`, for clients that are written against one: addresses are checked, time and
 * size bounded, as for every other request.
 */
import { Readable } from 'node:stream'
import type { ReadableStream as NodeStream } from 'node:stream/web'
import type { Egress } from './egress.ts'
import type { EgressFault } from './faults.ts'
import type { Audience } from './target.ts'

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
