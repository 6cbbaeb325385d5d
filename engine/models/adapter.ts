/** What an adapter of a wire format is: one try of one request. Tries, time and cost are models.ts's. */
import type { Provider } from './config.ts'
import type { ModelReply, ModelRequest, ToolCall } from './types.ts'

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

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

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
