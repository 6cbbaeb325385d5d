/** What an adapter of a wire format is: one try of one request. Tries, time and cost are models.ts's. */
import { isObject } from '../../model/merge.ts'
import {
  type ModelChoice,
  ModelFault,
  type ModelMessage,
  type ModelReply,
  type ModelRequest,
  type ProviderKind,
  type ToolCall,
  type ToolImage,
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
}

export interface Adapter {
  /** One try. Throws what went wrong, as it is; faults.ts tells it. */
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

function isWhole(text: string): boolean {
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

/* How long a reply of a model may be: what it is refused for when it is asked for more. */

interface OutputBound {
  /** Of the model's name, after its last slash. */
  prefix: string
  /** Tokens of one reply, thinking included. */
  tokens: number
}

/** Of a model that the table does not know: most that serve agents write as much. */
const UNKNOWN = 8_192

/** As the providers state them (looked at 2026-11-23). */
const BOUNDS: readonly OutputBound[] = [
  { prefix: 'claude-opus-4', tokens: 32_000 },
  { prefix: 'claude-sonnet-4', tokens: 64_000 },
  { prefix: 'claude-haiku-4', tokens: 64_000 },
  { prefix: 'claude-opus-5', tokens: 64_000 },
  { prefix: 'claude-sonnet-5', tokens: 64_000 },
  { prefix: 'claude-haiku-5', tokens: 64_000 },
  { prefix: 'claude-fable-5', tokens: 64_000 },
  { prefix: 'claude-3-5', tokens: 8_192 },
  { prefix: 'claude-3', tokens: 4_096 },
  { prefix: 'gpt-6', tokens: 128_000 },
  { prefix: 'gpt-5', tokens: 128_000 },
  { prefix: 'gpt-4.1', tokens: 32_768 },
  { prefix: 'gpt-4o', tokens: 16_384 },
  { prefix: 'gpt-4', tokens: 4_096 },
  { prefix: 'gpt-3.5', tokens: 4_096 },
]

/** Tokens that a reply of the model may have; the longest prefix of its name holds. */
export function outputBoundOf(model: string): number {
  const name = model.slice(model.lastIndexOf('/') + 1)
  let best: OutputBound | null = null
  for (const bound of BOUNDS)
    if (name.startsWith(bound.prefix) && bound.prefix.length > (best?.prefix.length ?? 0)) best = bound
  return best?.tokens ?? UNKNOWN
}

/** Room grows so much each time a reply was cut off. */
const GROWTH = 4

/**
 * Tokens to ask for after replies that were cut off. @param first asked for at first. @param cuts replies
 * cut off so far. @param most as `outputBoundOf` gives it; a first room over it is kept as it is
 */
export const roomAfter = (first: number, cuts: number, most: number): number =>
  Math.max(first, Math.min(most, first * GROWTH ** cuts))

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
