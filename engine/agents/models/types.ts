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
