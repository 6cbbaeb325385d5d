/** What went wrong with a try, and whether another may help. Errors of both clients have one shape. */
import { countWords } from '../../../schemas/plain-words.ts'
import { readRetryAfter } from '../../../schemas/retry-after.ts'
import { isObject } from '../../model/merge.ts'
import { EgressError, type EgressFault, networkFault } from '../../net/fetch.ts'
import { storedFault } from '../../net/redact.ts'
import { BadReply, type Credential, CutReply, type Means, type Provider } from './adapter.ts'
import { ModelFault, type ModelFaultCode } from './types.ts'

interface Failure {
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
function cleaned(text: string, secret: string | undefined): string {
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

/*
 * How long a model that is not to be had is waited for, by a run, an answer of Ask and the planning of setup alike: as
 * long as its provider says, else by backoff, and an hour at most. Written for users in docs/agents.md, section "A
 * model that is not to be had".
 */

/** Milliseconds from the first fault to the last try; a reply in between begins them anew. */
const PARKED_MAX_MS = 60 * 60_000
/** Twice as long after each try, unless the provider asks for more. */
const FIRST_WAIT_MS = 15_000
const LONGEST_WAIT_MS = 5 * 60_000

/** What is known of a wait. */
export interface Waited {
  /** Epoch ms of the first fault since a reply; null: this is the first. */
  since: number | null
  /** Waits since that. */
  tries: number
}

/** Until when it waits, epoch ms; or why it must not. */
type NextTry = { since: number; until: number } | { refusal: string }

/**
 * @param asked milliseconds from now, as the provider says; null: it did not
 * @param waiter who waits, for the sentence: `a run`
 */
export function nextTry(
  { since: before, tries }: Waited,
  now: number,
  asked: number | null,
  waiter: string,
): NextTry {
  const since = before ?? now
  const end = since + PARKED_MAX_MS
  if (now >= end) return { refusal: 'it was tried for an hour' }
  if (asked !== null && now + asked > end)
    return {
      refusal: `it asks to be tried again in ${minutes(asked)}, and ${waiter} waits no longer than an hour`,
    }
  const backoff = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** tries)
  return { since, until: Math.min(now + Math.max(backoff, asked ?? 0), end) }
}

/**
 * For who reads: until when it is waited, and why.
 * @param until epoch ms. @param asked whether the provider said how long
 */
export function waitWords({
  until,
  asked,
  reason,
}: {
  until: number
  asked: boolean
  reason: string
}): string {
  const at = `${new Date(until).toISOString().slice(11, 19)} UTC`
  return asked
    ? `the provider asks to wait until ${at} (${reason})`
    : `the provider is not to be had; it is asked again at ${at} (${reason})`
}

const minutes = (ms: number): string => countWords(Math.ceil(ms / 60_000), 'minute')

/*
 * The `fetch` a provider's client gets: only the headers its format needs leave, whatever else the
 * client or its own environment variables would send; the credential is ours; and no more comes back
 * than a reply can be.
 */

/** Events carry a piece of text each, many times as large as it. */
export const REPLY_BYTES = 32 * 1024 * 1024
const NEEDED = /^(accept|content-type|[a-z]+-version)$/

/** The connection failed, before or within the answer. */
class BrokenExchange extends Error {
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
    const body = response.body && heard(response.body, onBytes, init?.signal)
    return new Response(body, { status, statusText, headers: response.headers })
  }
}

/** The body, with each piece of it told. */
function heard(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
  signal: AbortSignal | null | undefined,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const next = await reader.read()
        if (next.done) return controller.close()
        onBytes()
        controller.enqueue(next.value)
      } catch (error) {
        controller.error(brokenOf(error, signal))
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

/** What was cut off on purpose stays what it is; the rest says why in a word of egress. */
function brokenOf(error: unknown, signal: AbortSignal | null | undefined): unknown {
  if (signal?.aborted) return error
  const fault = networkFault(error instanceof EgressError ? error : ((error as Error).cause ?? error))
  if (fault.fault === 'too_large') return new BadReply(`the reply is over ${REPLY_BYTES / 1024 / 1024} MB`)
  return new BrokenExchange(fault)
}
