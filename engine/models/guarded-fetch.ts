/**
 * The `fetch` a provider's client gets: only the headers its format needs leave, whatever else the
 * client or its own environment variables would send; the credential is ours; and no more comes back
 * than a reply can be.
 */
import type { EgressFault } from '../egress/index.ts'
import { EgressError, networkFault } from '../egress/index.ts'
import { BadReply, type Means } from './adapter.ts'
import type { Credential } from './config.ts'

/** Events carry a piece of text each, many times as large as it. */
const MAX_BODY_BYTES = 32 * 1024 * 1024
const NEEDED = /^(accept|content-type|[a-z]+-version)$/

/** The connection failed, before or within the answer. */
export class BrokenExchange extends Error {
  constructor(readonly fault: Pick<EgressFault, 'fault' | 'message'>) {
    super(fault.message)
  }
}

/** @param keyHeader where a key goes; null: it is a bearer token too. */
export function guardedFetch(
  { http, onBytes }: Pick<Means, 'http' | 'onBytes'>,
  credential: Credential | null,
  keyHeader: string | null,
): typeof fetch {
  return async (input, init) => {
    const headers = new Headers()
    for (const [name, value] of new Headers(init?.headers)) if (NEEDED.test(name)) headers.set(name, value)
    if (credential?.as === 'key' && keyHeader !== null) headers.set(keyHeader, credential.value)
    else if (credential) headers.set('authorization', `Bearer ${credential.value}`)
    let response: Response
    try {
      // A redirect would take the credential along.
      response = await http(input, { ...init, headers, redirect: 'manual' })
    } catch (error) {
      throw brokenOf(error, init?.signal)
    }
    onBytes()
    const { status, statusText } = response
    const body = response.body && bounded(response.body, onBytes, init?.signal)
    return new Response(body, { status, statusText, headers: response.headers })
  }
}

function bounded(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
  signal: AbortSignal | null | undefined,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let bytes = 0
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      let next: Awaited<ReturnType<typeof reader.read>>
      try {
        next = await reader.read()
      } catch (error) {
        return controller.error(brokenOf(error, signal))
      }
      if (next.done) return controller.close()
      onBytes()
      bytes += next.value.byteLength
      if (bytes <= MAX_BODY_BYTES) return controller.enqueue(next.value)
      controller.error(new BadReply(`the reply is over ${MAX_BODY_BYTES / 1024 / 1024} MB`))
      await reader.cancel()
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

/** What was cut off on purpose stays what it is; the rest says why in a word of egress. */
function brokenOf(error: unknown, signal: AbortSignal | null | undefined): unknown {
  if (signal?.aborted || error instanceof BadReply) return error
  if (error instanceof EgressError) return new BrokenExchange(error.fault)
  const cause = (error as { cause?: unknown }).cause
  return new BrokenExchange(networkFault(cause ?? error))
}
