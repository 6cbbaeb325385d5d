/** What went wrong with a try, and whether another may help. Errors of both clients have one shape. */

import { readRetryAfter } from '../egress/retry-after.ts'
import { storedFault } from '../stored-fault.ts'
import { BadReply, CutReply, isObject } from './adapter.ts'
import type { Provider } from './config.ts'
import { BrokenExchange } from './guarded-fetch.ts'
import { ModelFault, type ModelFaultCode } from './types.ts'

export interface Failure {
  fault: ModelFault
  /** The model cannot be made to call a tool; it may do so by itself. */
  unforced: boolean
  /** The model takes no images; the same may go well without. */
  blind: boolean
}

const MAX_MESSAGE = 300
/** What an event of a stream says, since the status was sent before. */
const FINAL_TYPES = /invalid_request|authentication|permission|not_found|billing|insufficient_quota/
/** How endpoints say that the conversation is longer than the model takes; there is no one word for it. */
const OVERFLOW =
  /context[_ ](length|window|size|limit)|maximum context|prompt is too long|(input|prompt|request) (is )?too (long|large)|exceed(s|ed)? (the )?(maximum|max|available) (number of |context |input )?(tokens|length|context)|input token count|request_too_large|too many (input )?tokens/i

/** How endpoints say that a model takes text alone, or not this image; there is no one word for it. */
const BLIND = /image|vision|multi-?modal|content must be a string|content.{0,40}(expected|valid) string/i

/** @param now epoch ms, for a date in Retry-After. */
export function failureOf(error: unknown, provider: Provider, now: number): Failure {
  const broken = [error, (error as { cause?: unknown } | null)?.cause].find(
    (one) => one instanceof BrokenExchange,
  )
  if (broken) {
    const final = broken.fault.fault === 'not_allowed' || broken.fault.fault === 'invalid'
    return fail('unreachable', broken.message, provider, { later: final ? null : { waitMs: null } })
  }
  if (error instanceof CutReply)
    return fail('unreachable', error.message, provider, { later: { waitMs: null } })
  const bad = [error, (error as { cause?: unknown } | null)?.cause].find((one) => one instanceof BadReply)
  if (bad) return fail('malformed', bad.message, provider)
  const { status, headers } = (error ?? {}) as { status?: unknown; headers?: unknown }
  const said = saidIn(error)
  if (typeof status === 'number') {
    if ((status === 400 || status === 413 || status === 422) && said.isOverflow)
      return fail('overflow', said.text, provider, { status })
    const again = (status === 429 && !said.isFinal) || status === 408 || status === 409 || status >= 500
    const code = status >= 500 || status === 408 || (status === 429 && again) ? 'overloaded' : 'refused'
    return fail(code, said.text, provider, {
      later: again ? { waitMs: headers instanceof Headers ? retryAfter(headers, now) : null } : null,
      status,
      unforced: status === 400 && /tool[_ ]choice|forc(e|ing)/i.test(said.text),
      blind: [400, 404, 415, 422].includes(status) && BLIND.test(said.text),
    })
  }
  // The stream's own error event: both clients throw it without a status.
  if (said.isReported) {
    if (said.isOverflow) return fail('overflow', said.text, provider)
    return said.isFinal
      ? fail('refused', said.text, provider)
      : fail('overloaded', said.text, provider, { later: { waitMs: null } })
  }
  return fail('malformed', 'the reply breaks its format', provider)
}

function fail(
  code: ModelFaultCode,
  text: string,
  provider: Provider,
  more: { unforced?: boolean; blind?: boolean; status?: number; later?: ModelFault['later'] } = {},
): Failure {
  const { status = null, later = null, unforced = false, blind = false } = more
  const message = `${provider.id}: ${cleaned(text, provider.credential?.value)}`
  return { fault: new ModelFault(code, message, provider.id, status, later), unforced, blind }
}

/** Without the credential, whatever of the request the other side repeats; then short. */
export function cleaned(text: string, secret: string | undefined): string {
  const line = storedFault(text, [secret]).replaceAll(/\s+/g, ' ').trim()
  return line.length > MAX_MESSAGE ? `${line.slice(0, MAX_MESSAGE - 1)}…` : line
}

/** What the other side wrote of its error. */
function saidIn(error: unknown): {
  text: string
  isFinal: boolean
  isReported: boolean
  isOverflow: boolean
} {
  const { error: body, message, status } = (error ?? {}) as Record<string, unknown>
  // Provider A's client keeps the whole body, the other one what is under `error` in it.
  const inner = isObject(body) && isObject(body.error) ? body.error : body
  const types = isObject(inner) ? `${inner.type ?? ''} ${inner.code ?? ''}` : ''
  const written = isObject(inner) && typeof inner.message === 'string' ? inner.message : null
  return {
    text: written ?? (typeof message === 'string' && message ? message : `status ${String(status)}`),
    isFinal: FINAL_TYPES.test(types),
    isReported: isObject(inner),
    isOverflow: OVERFLOW.test(`${types} ${written ?? (typeof message === 'string' ? message : '')}`),
  }
}

/** Milliseconds; null: the header is absent or says nothing. */
function retryAfter(headers: Headers, now: number): number | null {
  const milliseconds = Number.parseFloat(headers.get('retry-after-ms') ?? '')
  if (milliseconds >= 0) return milliseconds
  return readRetryAfter(headers.get('retry-after'), now)
}
