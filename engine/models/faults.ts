/** What went wrong with a try, and whether another may help. Errors of both clients have one shape. */

import { storedFault } from '../stored-fault.ts'
import { BadReply, CutReply, isObject } from './adapter.ts'
import type { Provider } from './config.ts'
import { BrokenExchange } from './guarded-fetch.ts'
import { ModelFault, type ModelFaultCode } from './types.ts'

export interface Failure {
  fault: ModelFault
  /** Another try may go well. */
  again: boolean
  /** Milliseconds the provider asked to wait; null: it did not say. */
  waitMs: number | null
  /** The model cannot be made to call a tool; it may do so by itself. */
  unforced: boolean
}

const MAX_MESSAGE = 300
/** What an event of a stream says, since the status was sent before. */
const FINAL_TYPES = /invalid_request|authentication|permission|not_found|billing|insufficient_quota/

/** @param now epoch ms, for a date in Retry-After. */
export function failureOf(error: unknown, provider: Provider, now: number): Failure {
  const broken = [error, (error as { cause?: unknown } | null)?.cause].find(
    (one) => one instanceof BrokenExchange,
  )
  if (broken) {
    const final = broken.fault.fault === 'not_allowed' || broken.fault.fault === 'invalid'
    return fail('unreachable', broken.message, provider, { again: !final })
  }
  if (error instanceof CutReply) return fail('unreachable', error.message, provider, { again: true })
  const bad = [error, (error as { cause?: unknown } | null)?.cause].find((one) => one instanceof BadReply)
  if (bad) return fail('malformed', bad.message, provider)
  const { status, headers } = (error ?? {}) as { status?: unknown; headers?: unknown }
  const said = saidIn(error)
  if (typeof status === 'number') {
    const again = (status === 429 && !said.isFinal) || status === 408 || status === 409 || status >= 500
    const code = status >= 500 || status === 408 || (status === 429 && again) ? 'overloaded' : 'refused'
    return fail(code, said.text, provider, {
      again,
      status,
      waitMs: headers instanceof Headers ? retryAfter(headers, now) : null,
      unforced: status === 400 && /tool[_ ]choice|forc(e|ing)/i.test(said.text),
    })
  }
  // The stream's own error event: both clients throw it without a status.
  if (said.isReported)
    return fail(said.isFinal ? 'refused' : 'overloaded', said.text, provider, { again: !said.isFinal })
  return fail('malformed', 'the reply breaks its format', provider)
}

function fail(
  code: ModelFaultCode,
  text: string,
  provider: Provider,
  more: Partial<Omit<Failure, 'fault'>> & { status?: number } = {},
): Failure {
  const { status = null, ...rest } = more
  const message = `${provider.id}: ${cleaned(text, provider.credential?.value)}`
  return {
    fault: new ModelFault(code, message, provider.id, status),
    again: false,
    waitMs: null,
    unforced: false,
    ...rest,
  }
}

/** Without the credential, whatever of the request the other side repeats; then short. */
export function cleaned(text: string, secret: string | undefined): string {
  const line = storedFault(text, [secret]).replaceAll(/\s+/g, ' ').trim()
  return line.length > MAX_MESSAGE ? `${line.slice(0, MAX_MESSAGE - 1)}…` : line
}

/** What the other side wrote of its error. */
function saidIn(error: unknown): { text: string; isFinal: boolean; isReported: boolean } {
  const { error: body, message, status } = (error ?? {}) as Record<string, unknown>
  // Provider A's client keeps the whole body, the other one what is under `error` in it.
  const inner = isObject(body) && isObject(body.error) ? body.error : body
  const types = isObject(inner) ? `${inner.type ?? ''} ${inner.code ?? ''}` : ''
  const written = isObject(inner) && typeof inner.message === 'string' ? inner.message : null
  return {
    text: written ?? (typeof message === 'string' && message ? message : `status ${String(status)}`),
    isFinal: FINAL_TYPES.test(types),
    isReported: isObject(inner),
  }
}

/** Milliseconds; null: the header is absent or says nothing. */
function retryAfter(headers: Headers, now: number): number | null {
  const milliseconds = Number.parseFloat(headers.get('retry-after-ms') ?? '')
  if (milliseconds >= 0) return milliseconds
  const value = headers.get('retry-after')
  if (value === null) return null
  const seconds = Number(value)
  if (seconds >= 0) return seconds * 1_000
  const date = Date.parse(value)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}
