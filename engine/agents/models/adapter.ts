/**
 * What an adapter of a wire format is: one try of one request. Tries, time and cost are models.ts's.
 * `failureOf` says what went wrong with a try and whether another one may help: errors of both clients have one shape.
 */

import { countWords } from '../../../schemas/plain-words.ts'
import { readRetryAfter } from '../../../schemas/retry-after.ts'
import { isObject } from '../../model/merge.ts'
import { EgressError, type EgressFault, networkFault } from '../../net/fetch.ts'
import { storedFault } from '../../net/redact.ts'
import {
  type ModelChoice,
  ModelFault,
  type ModelFaultCode,
  type ModelReply,
  type ModelRequest,
  type ProviderKind,
  type ToolCall,
} from './types.ts'
import type { Price } from './usage.ts'

/** A request for one model, by name. */
export interface WireRequest
  extends Pick<ModelRequest, 'model' | 'system' | 'messages' | 'tools' | 'choice' | 'maxTokens'> {}

export interface WireReply extends Pick<ModelReply, 'text' | 'calls' | 'raw' | 'stop'> {
  /** As the reply names it; empty where it does not. */
  model: string
  /** As it came: numbers have to be checked. Undefined: there was none. */
  usage: WireUsage | undefined
  /** A router's own figure, as it came. */
  cost: unknown
}

export interface WireUsage {
  input: unknown
  output: unknown
  cacheWrite: unknown
  cacheRead: unknown
}

export interface Means {
  http: typeof fetch
  /** Cuts the try off. */
  signal: AbortSignal
  /** Something came, be it a byte that says nothing. */
  onBytes(): void
  /** A piece of the reply is there; `text` is empty where it is no text. */
  onPiece(text: string): void
  /** What there was of its text is none: it is told anew. */
  onVoid(): void
}

export interface Adapter {
  /** One try. Throws what went wrong, as it is; `failureOf` tells it. */
  send(provider: Provider, request: WireRequest, means: Means): Promise<WireReply>
  /** Ids of the provider's models, in its order. */
  list(provider: Provider, means: Means): Promise<string[]>
}

/** The reply is not what its format says, or is over a bound. */
export class BadReply extends Error {}

/** The reply ended before it was complete. */
export class CutReply extends Error {}

/** An error within a reply of status 200, in the shape both clients give the error of a stream. */
export class ReportedError extends Error {
  constructor(readonly error: object) {
    super('the reply is an error')
  }
}

/** The clients' own timers must not end what ours bound. */
export const CLIENT_MS = 2_000_000_000

const MAX_TEXT_BYTES = 1024 * 1024
const MAX_ARGUMENT_BYTES = 256 * 1024
export const MAX_CALLS = 128
const MAX_MODELS = 1_000

/** Adds up text within a bound. @throws BadReply */
export class Bounded {
  private bytes = 0
  text = ''
  constructor(
    private readonly what: string,
    private readonly most: number,
  ) {}
  add(piece: string): void {
    this.bytes += Buffer.byteLength(piece)
    if (this.bytes > this.most) throw new BadReply(`the reply's ${this.what} is over ${this.most / 1024} KB`)
    this.text += piece
  }
}

export const boundedText = () => new Bounded('text', MAX_TEXT_BYTES)
export const boundedArguments = () => new Bounded('tool call', MAX_ARGUMENT_BYTES)

/**
 * The calls of a reply that was cut off: the last one ended with it, unless its arguments are whole.
 * @param texts arguments as they came, in the order of the calls
 */
export function withCut(calls: ToolCall[], texts: readonly string[], isCut: boolean): ToolCall[] {
  const last = calls.at(-1)
  if (!isCut || !last || isWhole(texts.at(-1) ?? '')) return calls
  return [...calls.slice(0, -1), { ...last, cut: true }]
}

/** Whether a reply ended for want of room; Mistral and Z.AI have words of their own for a context that is full. */
export const isLength = (finish: unknown): boolean =>
  ['length', 'max_tokens', 'model_length', 'model_context_window_exceeded'].includes(String(finish))

/** @param finish why a reply ended, as its format, or who serves it, has it; `sensitive` is Z.AI's filter */
export function stopOf(finish: unknown, calls: readonly ToolCall[]): ModelReply['stop'] {
  if (finish === 'refusal') return 'refusal'
  if (finish === 'content_filter' || finish === 'sensitive') return 'filter'
  if (isLength(finish)) return 'length'
  return calls.length ? 'tools' : 'end'
}

/** Whether a text is a JSON object. */
export function isWhole(text: string): boolean {
  try {
    return isObject(JSON.parse(text))
  } catch {
    return false
  }
}

/** Arguments of a tool call; what is no JSON object is wrapped, so that the model can be told. */
export function argumentsOf(text: string): Record<string, unknown> {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
  } catch {
    // Wrapped below, as it came.
  }
  return { arguments: text }
}

/** @throws BadReply */
export function textIn(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new BadReply(`the reply's ${what} is no text`)
  return value
}

/** A body that came whole. @throws BadReply */
export async function jsonOf(response: Response): Promise<Record<string, unknown>> {
  const text = await response.text()
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
  } catch {
    // Told below.
  }
  throw new BadReply('the reply is no JSON object')
}

/** Some endpoints answer a request for a stream with a whole body. */
export const isStream = (response: Response): boolean =>
  !(response.headers.get('content-type') ?? '').includes('application/json')

/** A router's own figure of the cost, from the reply's usage or a header. */
export function reportedCost(usage: unknown, headers: Headers): unknown {
  if (isObject(usage) && usage.cost !== undefined && usage.cost !== null) return usage.cost
  for (const [name, value] of headers)
    if (/(^|-)response-cost$/.test(name)) return value === '' ? undefined : Number(value)
  return undefined
}

/** Model ids of a list. @throws BadReply */
export function modelIds(data: unknown): string[] {
  if (!Array.isArray(data)) throw new BadReply('the list of models is no list')
  const ids = data.flatMap((entry: unknown) => {
    const id = isObject(entry) ? entry.id : undefined
    return typeof id === 'string' && id !== '' && id.length <= 200 ? [id] : []
  })
  return [...new Set(ids)].slice(0, MAX_MODELS)
}

/* The providers of one moment, and which of them a request goes to. */

export interface Credential {
  /** A key goes where the provider's format has keys, a gateway's token is a bearer token. */
  as: 'key' | 'bearer'
  value: string
}

/** A provider that can be called. */
export interface Provider {
  id: string
  kind: ProviderKind
  name: string
  /** Null: the provider's own public address. Without a trailing slash. */
  baseUrl: string | null
  /** Null: the endpoint asks for none. */
  credential: Credential | null
  /** console:gateway, console, or env:<VARIABLE>. */
  keySource: string
  /** As last listed by it; may be empty. */
  models: string[]
  /** Null: none is known. */
  defaultModel: string | null
}

export interface ProviderConfig {
  providers: Provider[]
  /** Id; null: there is no provider. */
  defaultProvider: string | null
  /** Asked where another is unavailable and the request names none; null: there is none. */
  fallback?: ModelChoice | null
  prices: Price[]
}

const NO_PROVIDER =
  'no model provider is set: add one under Settings, Model providers, or set PROVIDERA_API_KEY and start again'

/**
 * The provider of a request (SPEC.md, Model providers 1): one that the instance lacks is the default one.
 * @throws ModelFault no_provider
 */
export function providerOf(config: ProviderConfig, provider: string): Provider {
  const byId = (id: string | null) => config.providers.find((one) => one.id === id)
  const found = (provider === '' ? undefined : byId(provider)) ?? byId(config.defaultProvider)
  if (!found) throw new ModelFault('no_provider', NO_PROVIDER)
  return found
}

/**
 * The provider and the model of a request. The model named for a provider that is lacking is used only
 * where the default one lists it: a model of one provider is never sent to another.
 * @throws ModelFault no_provider; no_model where none is known until the provider lists its models
 */
export function chosenOf(
  config: ProviderConfig,
  provider: string,
  model: string,
): { provider: Provider; model: string } {
  const found = providerOf(config, provider)
  const isMeant = provider === '' || found.id === provider || found.models.includes(model)
  const chosen = (isMeant ? model : '') || found.defaultModel
  if (!chosen)
    throw new ModelFault(
      'no_model',
      `provider ${found.id} has no default model: choose one under Settings, Model providers, or name one in the agent`,
      found.id,
    )
  return { provider: found, model: chosen }
}

/** HTTP: Payment Required. */
const NO_CREDIT = 402
/** HTTP: Content Too Large; of a model it is the conversation, whatever is said with it. */
const TOO_LARGE = 413

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
/**
 * How those that serve models say that a conversation is longer than the model takes: there is no one word for it. What each
 * writes is in test/models/overflow.test.ts.
 */
const OVERFLOW = new RegExp(
  [
    'context[_ ]?(length|window|size|limit)',
    'maximum (context|((prompt|input|model|allowed) )+length)',
    '(input|prompt|request|body) (is )?too (long|large)',
    'exceed(s|ed)? (the )?(maximum|max|available) ((number of|context|input|allowed) )*(tokens|length|context)',
    '(input|prompt) token(s( \\(\\d+\\))? exceed| count)',
    'too many (input )?tokens',
    'more than max tokens allowed',
    'exceeded model token limit',
    'tokens_limit_reached',
    'request_too_large',
    'range of input length',
    'inputs`? (tokens \\+|must have less than)',
    'reduce the length of (the|your) (messages|prompt)',
    'tokens too long|max_tokens must be at least 1, got -',
  ].join('|'),
  'i',
)
/** What is said of a limit that is another in a minute. */
const OF_A_TIME = /rate[_ ]?limit|throttl|please wait|\bper (min|hour|day)/i
/** Such a limit, and what one request would take of it. */
const LIMIT_AND_REQUESTED = /\blimit:? ([\d,]+)\b.*?\brequested:? ([\d,]+)/is

/** How endpoints say that a model takes text alone, or not this image; there is no one word for it. */
const BLIND = /image|vision|multi-?modal|content must be a string|content.{0,40}(expected|valid) string/i

/**
 * How providers say that an account has no money or quota left. Their statuses differ: provider A says it with 400, Kimi with
 * 429, as if a wait of minutes would give some back.
 */
const SPENT =
  /credit balance is too low|insufficient[_ ](balance|credit|fund|quota)|exceeded_current_quota|reached your specified API usage limits|billing_(hard_limit|not_active)/i

/** @param now epoch ms, for a date in Retry-After. */
export function failureOf(error: unknown, provider: Provider, now: number): Failure {
  if (error instanceof ModelFault) return { fault: error, unforced: false, blind: false }
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
    const isLong = said.isOverflow && (status === 400 || status === 422 || status >= 500)
    // Of a limit of tokens in a minute another provider may have more: it is asked as after a 429.
    if (isLong || said.isBeyond || status === TOO_LARGE)
      return fail('overflow', said.text, provider, { status: said.isBeyond ? 429 : status })
    if (said.isSpent && status < 500)
      return fail('refused', said.text, provider, { status: status === 400 ? NO_CREDIT : status })
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
    if (said.isOverflow || said.isBeyond) return fail('overflow', said.text, provider)
    if (said.isSpent) return fail('refused', said.text, provider, { status: NO_CREDIT })
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
  /** One request is over a limit of a minute or a day by itself: no wait makes room for it. */
  isBeyond: boolean
  isSpent: boolean
} {
  const { error: body, message, status } = (error ?? {}) as Record<string, unknown>
  // Provider A's client keeps the whole body, the other one what is under `error` in it.
  const inner = isObject(body) && isObject(body.error) ? body.error : body
  const types = isObject(inner) ? `${inner.type ?? ''} ${inner.code ?? ''}` : ''
  const written = writtenIn(inner)
  const all = `${types} ${written ?? (typeof message === 'string' ? message : '')}`
  const isOfTime = OF_A_TIME.test(all)
  const [limit, requested] = (LIMIT_AND_REQUESTED.exec(all) ?? [])
    .slice(1)
    .map((one) => Number(one.replaceAll(',', '')))
  return {
    text: written ?? (typeof message === 'string' && message ? message : `status ${String(status)}`),
    isFinal: FINAL_TYPES.test(types),
    isReported: isObject(inner) || written !== null,
    isOverflow: OVERFLOW.test(all) && !isOfTime,
    isBeyond: isOfTime && (requested ?? 0) > (limit ?? 0),
    isSpent: SPENT.test(all),
  }
}

/** An error may be its text alone; of a router the words of the provider behind it stand beside its own. */
function writtenIn(error: unknown): string | null {
  if (typeof error === 'string') return error || null
  if (!isObject(error) || typeof error.message !== 'string') return null
  const { raw } = isObject(error.metadata) ? error.metadata : {}
  return typeof raw === 'string' && raw !== '' ? `${error.message}: ${messageIn(raw)}` : error.message
}

function messageIn(raw: string): string {
  try {
    const value: unknown = JSON.parse(raw)
    return writtenIn(isObject(value) ? (value.error ?? value) : value) ?? raw
  } catch {
    // Told as it is.
    return raw
  }
}

/** Milliseconds; null: the header is absent or says nothing. */
function retryAfter(headers: Headers, now: number): number | null {
  const milliseconds = Number.parseFloat(headers.get('retry-after-ms') ?? '')
  if (milliseconds >= 0) return milliseconds
  return readRetryAfter(headers.get('retry-after'), now)
}

/*
 * How long a model that is unavailable is waited for, by a run, an answer of Ask and the planning of setup alike: as
 * long as its provider says, else by backoff, and an hour at most. Written for users in docs/agents.md, section "A
 * model that is unavailable".
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
  // A clock that was set back would give it a day more.
  const since = Math.min(before ?? now, now)
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
    : `the provider is unavailable; it is asked again at ${at} (${reason})`
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

/** A proxy, a login or a console answers where a provider should. */
const PAGE =
  'a web page came for an answer: check the address of the provider (base_url), and what stands between'
const PAGE_OF_PROXY =
  'the request is larger than what stands before the provider lets through: a web page came with 413'

/** The connection failed, before or within the answer. */
class BrokenExchange extends Error {
  constructor(readonly fault: Pick<EgressFault, 'fault' | 'message'>) {
    super(fault.message)
  }
}

/** @param keyHeader where a key goes; null: it is a bearer token too. */
export function guardedFetch(
  { http, onBytes, signal }: Pick<Means, 'http' | 'onBytes' | 'signal'>,
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
      // A redirect would take the credential along. By our own signal: a client that is given it makes an exception
      // with its stack of the end of each try.
      response = await http(input, { ...init, headers, redirect: 'manual', signal })
    } catch (error) {
      throw brokenOf(error, signal)
    }
    onBytes()
    const { status, statusText } = response
    if ((response.headers.get('content-type') ?? '').includes('text/html')) {
      await response.body?.cancel()
      const message = status === TOO_LARGE ? PAGE_OF_PROXY : PAGE
      if (!response.ok) return Response.json({ error: { message } }, { status, headers: response.headers })
      throw new BrokenExchange({ fault: 'invalid', message: PAGE })
    }
    const body = response.body && heard(response.body, onBytes, signal)
    return new Response(body, { status, statusText, headers: response.headers })
  }
}

/** The body, with each piece of it told. */
function heard(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
  signal: AbortSignal,
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
        const broken = brokenOf(error, signal)
        const isClosed = broken instanceof BrokenExchange && broken.fault.fault === 'closed'
        controller.error(isClosed ? new CutReply('the connection broke off within the reply') : broken)
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
