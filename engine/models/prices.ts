/**
 * What tokens cost: prices.json, and what an operator put over it. A price is found by the model named
 * in the reply, since a gateway decides which model answers (SPEC.md, Model providers 5).
 */
import { cautiousTokens } from '../context/tokens.ts'
import { dollars } from './dollars.ts'
import shipped from './prices.json' with { type: 'json' }
import type { ProviderKind, Usage } from './types.ts'

export interface Price {
  /** Of the model's name, after its last slash. */
  prefix: string
  /** US dollars per million tokens, as is `output`. */
  input: number
  output: number
  /** What a token read from the cache costs, as a part of `input`; absent: that of the format. */
  cached?: number
}

/** The day the prices were last looked at, ISO 8601, and the prices. */
export const shippedPrices: { updated: string; prices: readonly Price[] } = shipped

const MILLION = 1_000_000
/** Provider A's format: writing to the cache costs a quarter more, reading from it a tenth. */
const CACHE_WRITE = 1.25
const CACHE_READ = { providera: 0.1, chat: 1 }

/** The prices with `own` over them: of two with one prefix, the own one holds. */
export function withOwnPrices(own: readonly Price[]): Price[] {
  const taken = new Set(own.map(({ prefix }) => prefix))
  return [...own, ...shippedPrices.prices.filter(({ prefix }) => !taken.has(prefix))]
}

/** The price with the longest prefix of the model's name, or none. */
export function priceOf(prices: readonly Price[], model: string): Price | null {
  const name = model.slice(model.lastIndexOf('/') + 1)
  let best: Price | null = null
  for (const price of prices)
    if (name.startsWith(price.prefix) && price.prefix.length > (best?.prefix.length ?? -1)) best = price
  return best
}

/**
 * What a call costs. Provider A counts cached tokens beside `input_tokens`; of chat completions they are
 * a discounted part of them.
 * @returns US dollars; null: the model has no price.
 */
export function costOf(
  kind: ProviderKind,
  prices: readonly Price[],
  model: string,
  usage: Usage,
): number | null {
  const price = priceOf(prices, model)
  if (!price) return null
  const cached = price.cached ?? (kind === 'providera' ? CACHE_READ.providera : CACHE_READ.chat)
  const { input_tokens, output_tokens, cache_creation_input_tokens, cache_read_input_tokens } = usage
  const read =
    kind === 'providera' ? cache_read_input_tokens : Math.min(cache_read_input_tokens, input_tokens)
  const fresh = kind === 'providera' ? input_tokens : input_tokens - read
  const written = kind === 'providera' ? cache_creation_input_tokens * CACHE_WRITE : 0
  return dollars(((fresh + written + read * cached) * price.input + output_tokens * price.output) / MILLION)
}

/**
 * What the cache saved: what the same tokens would have cost without one, less what they cost.
 * @returns US dollars, below 0 where only writing was paid; null: the model has no price
 */
export function savedOf(
  kind: ProviderKind,
  prices: readonly Price[],
  model: string,
  usage: Usage,
): number | null {
  const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens, ...rest } = usage
  const all =
    kind === 'providera' ? input_tokens + cache_creation_input_tokens + cache_read_input_tokens : input_tokens
  const uncached = { ...rest, input_tokens: all, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }
  const without = costOf(kind, prices, model, uncached)
  const paid = costOf(kind, prices, model, usage)
  return without === null || paid === null ? null : dollars(without - paid)
}

/** Tokenisers differ: the same text is up to so many times as many tokens of one as of that counted by. */
const TOKENISERS = 1.5

/**
 * How many tokens a text is at most likely to be, by any provider's tokeniser: the cautious count with what
 * tokenisers differ by, and never more than its bytes.
 */
export const likelyTokens = (text: string): number =>
  Math.min(Buffer.byteLength(text), Math.ceil(cautiousTokens(text) * TOKENISERS))

/**
 * The most a call is likely to cost: all of its tokens written to the cache where that costs more, and a
 * reply as long as it may be.
 * @param tokens as `likelyTokens` counts them. @returns US dollars; null: the model has no price.
 */
export function ceilingOf(
  kind: ProviderKind,
  prices: readonly Price[],
  model: string,
  tokens: number,
  maxTokens: number,
): number | null {
  const price = priceOf(prices, model)
  if (!price) return null
  const input = price.input * (kind === 'providera' ? CACHE_WRITE : 1)
  return (tokens * input + maxTokens * price.output) / MILLION
}
