/**
 * Calls of models, whoever answers them: what a caller asks and gets, in words of our own. What goes
 * over the wire is the adapters' (providera.ts, chat-completions.ts). SPEC.md, Model providers.
 */

export interface ToolSpec {
  name: string
  description: string
  /** JSON Schema of the arguments. */
  input: object
}

export interface ToolCall {
  id: string
  name: string
  /** What could not be read as a JSON object is `{arguments: <text>}`. */
  arguments: Record<string, unknown>
  /** The reply ended within it: it is not made, but asked for again. */
  cut?: true
}

export type ModelMessage =
  | { role: 'user'; text: string }
  /** `raw`: the provider's own blocks, replayed verbatim to the same kind of provider. */
  | { role: 'assistant'; text: string; calls: ToolCall[]; raw?: unknown }
  | { role: 'tool'; results: ToolAnswer[] }

/** An image in what a tool answered; adapter.ts bounds it. */
export interface ToolImage {
  type: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'
  /** Base64. */
  data: string
}

/** What a model is answered to one of its calls. */
export interface ToolAnswer {
  id: string
  content: string
  isError?: boolean
  images?: ToolImage[]
}

export interface ModelRequest {
  /** Id; empty or unknown: the default provider. */
  provider: string
  /** Empty: the default of the provider. */
  model: string
  system: string
  messages: ModelMessage[]
  tools: ToolSpec[]
  choice: 'auto' | 'none' | 'any' | { tool: string }
  /** Of the reply. */
  maxTokens: number
  /** Asked where the first is unavailable; absent: that of the settings, where there is one. */
  fallback?: ModelChoice | undefined
  /** Milliseconds for all of it: tries, waits and the reply. Absent: no bound but that of its tries. */
  timeoutMs?: number
  /** Milliseconds without a byte of the reply, after which a try is over; absent: IDLE_MS of models.ts. */
  idleMs?: number
  signal?: AbortSignal
  /** Told each piece of text as it comes. */
  onText?(delta: string): void
  /** What was told is void: the reply begins again. Absent: a call that told any text is not tried again. */
  onAgain?(): void
}

/** Empty: as of a request. */
export interface ModelChoice {
  provider?: string
  model?: string
}

/**
 * Tokens as the provider counts them. Of provider A the cached ones come on top of `input_tokens`; of
 * chat completions `cache_read_input_tokens` is a part of them.
 */
export interface Usage {
  input_tokens: number
  output_tokens: number
  cache_creation_input_tokens: number
  cache_read_input_tokens: number
}

/** Provider A's message format, provider B's own address, or any other chat-completions endpoint. */
export type OwnedKind = 'providera' | 'providerb' | 'compatible'
/** Also the scripted model of the demo, which nobody owns, sets or chooses. */
export type ProviderKind = OwnedKind | 'scripted'

export interface ModelReply {
  text: string
  calls: ToolCall[]
  /** For the message that replays this reply. */
  raw: unknown
  /** Id. */
  provider: string
  kind: ProviderKind
  /** Named in the reply: a gateway decides which model answers. */
  model: string
  /** console:gateway, console, or env:<VARIABLE>. */
  keySource: string
  /** `filter`: its provider ended it, by a filter of content. */
  stop: 'end' | 'tools' | 'length' | 'refusal' | 'filter'
  usage: Usage
  /** US dollars; null: uncosted. */
  costUsd: number | null
  costFrom: 'reply' | 'table' | null
  /**
   * What the same tokens would have cost without a cache, less what they cost by the price table, US
   * dollars: below 0 where only writing to the cache was paid. Null: unpriced. Absent of older tapes.
   */
  savedUsd?: number | null
  /** The provider and model that should have answered, and why they did not; absent: they did. */
  fallbackFor?: { provider: string; model: string; reason: string }
  /** From the call to its end, waits included. */
  ms: number
  /** From the call to the first piece of the reply. */
  firstTokenMs: number | null
  tries: number
}

export type ModelFaultCode =
  | 'no_provider'
  | 'no_model'
  /** A 4xx: it would be refused again. */
  | 'refused'
  /** What was said is longer than the model takes. */
  | 'overflow'
  | 'overloaded'
  | 'unreachable'
  | 'timeout'
  /** The reply breaks its format, or is over its size. */
  | 'malformed'
  | 'aborted'

/** Why a call has no reply. The message is for people: at most 300 characters of the provider's, no credential. */
export class ModelFault extends Error {
  readonly code: ModelFaultCode
  /** Id; empty where there is none. */
  readonly provider: string
  /** HTTP status, where there was one. */
  readonly status: number | null
  /**
   * The same call may go well later: `waitMs` from now where the provider said when. Null: it would fail
   * again, such as for a credential that is refused.
   */
  readonly later: { waitMs: number | null } | null
  constructor(
    code: ModelFaultCode,
    message: string,
    provider = '',
    status: number | null = null,
    later: { waitMs: number | null } | null = null,
  ) {
    super(message)
    this.name = 'ModelFault'
    this.code = code
    this.provider = provider
    this.status = status
    this.later = later
  }
}

/**
 * Tools that one request may name in chat completions: OpenAI, Azure and Groq refuse the whole request over it
 * (looked at 2026-11). What is behind them is left out.
 */
export const CHAT_TOOLS_MAX = 128
/** Tools that a request to a provider of this kind may name. */
export const toolsMaxOf = (kind: string): number =>
  kind === 'providerb' || kind === 'compatible' ? CHAT_TOOLS_MAX : Number.POSITIVE_INFINITY

export interface Models {
  /** @throws ModelFault */
  call(request: ModelRequest): Promise<ModelReply>
  /**
   * What a call could cost at most, from its counted tokens and maxTokens by the price table; the dearer
   * one where a fallback may answer it.
   * @returns US dollars; null: the model is unpriced. @throws ModelFault no_provider, no_model
   */
  ceilingUsd(
    request: Pick<
      ModelRequest,
      'provider' | 'model' | 'fallback' | 'system' | 'messages' | 'tools' | 'maxTokens'
    >,
  ): Promise<number | null>
  /**
   * The provider and model a request would use, and how many tokens a reply of it may have.
   * @throws ModelFault no_provider, no_model
   */
  resolve(
    provider: string,
    model: string,
  ): Promise<{ provider: string; kind: string; model: string; outputTokens: number }>
}

/*
 * Images in what a tool answered, as the wire formats take them: in a tool's result (provider A), or in a
 * message behind it (chat completions, whose tool messages are text). A model that takes none is asked
 * again without them.
 */

/** Bytes of one: both formats take 5 MB, but an image is sent again with each round. */
export const IMAGE_BYTES = 1024 * 1024
/** Of one result. */
export const IMAGES_MAX = 4
/**
 * Tokens of one at most, as providers count them: some 1,600 of provider A, up to 3,000 of chat completions,
 * a little more of the newest models (2026-11).
 */
export const IMAGE_TOKENS = 5_000

/** How each type begins, in hexadecimal; of a type that is another, a provider refuses the whole request. */
const MAGIC: Record<ToolImage['type'], RegExp> = {
  'image/png': /^89504e470d0a1a0a/,
  'image/jpeg': /^ffd8ff/,
  'image/gif': /^47494638(37|39)61/,
  'image/webp': /^52494646.{8}57454250/,
}
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** @returns the image, or why it cannot be shown */
export function imageOf(type: string, data: string): ToolImage | string {
  const magic = MAGIC[type as ToolImage['type']]
  if (!magic) return 'models take PNG, JPEG, GIF and WebP'
  const bytes = bytesOf(data)
  if (bytes > IMAGE_BYTES) return `it is over ${IMAGE_BYTES / 1024 / 1024} MB`
  if (data.length % 4 !== 0 || !BASE64.test(data)) return 'it is no base64'
  if (!magic.test(Buffer.from(data.slice(0, 24), 'base64').toString('hex'))) return `it is no ${type}`
  return { type: type as ToolImage['type'], data }
}

/** Bytes of what is written as base64. */
export const bytesOf = (data: string): number =>
  Math.floor((data.length * 3) / 4) - (data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0)

/** How many there are in what was said. */
export const imagesIn = (messages: readonly ModelMessage[]): number =>
  messages.reduce(
    (sum, message) =>
      sum +
      (message.role === 'tool' ? message.results.reduce((n, one) => n + (one.images?.length ?? 0), 0) : 0),
    0,
  )

/** The same without them, which each result says. */
export function withoutImages(messages: readonly ModelMessage[]): ModelMessage[] {
  return messages.map((message) =>
    message.role === 'tool'
      ? {
          ...message,
          results: message.results.map(({ images, ...result }) =>
            images?.length
              ? { ...result, content: `${result.content}\n[images left out: this model takes none]` }
              : result,
          ),
        }
      : message,
  )
}
