/** What models were used for: recorded as it is known, added up when asked; what they cost, and how much they may write. */
import type { ModelSpend, ModelUsageResult } from '../../../schemas/types.ts'
import { cautiousTokens } from '../../log/brief/words.ts'
import type { Tallies } from '../../log/figures.ts'
import type { Database, StoreHandle } from '../../log/store/handle.ts'
import { DAY_MS, dollars, dollarsSql } from '../../model/units.ts'
import shipped from './prices.json'
import type { ModelRequest, Models, ProviderKind, Usage } from './types.ts'

/** One run, one turn of Ask, or one call of guided setup; runs on several models have an entry for each. */
export interface UsageEntry {
  /** Recorded once: an entry with an id that is there is left out. */
  id: string
  /** Epoch ms. */
  at: number
  surface: 'agent' | 'ask' | 'setup'
  agent: string | null
  runId: string | null
  practice: boolean
  /** Named in the reply. */
  model: string
  provider: string
  keySource: string
  calls: number
  usage: Usage
  /** US dollars; null: uncosted. */
  costUsd: number | null
}

const SUMS = `sum(calls) AS calls, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
  sum(cache_creation_input_tokens) AS cache_creation_input_tokens,
  sum(cache_read_input_tokens) AS cache_read_input_tokens, ${dollarsSql('sum(cost_usd)')} AS cost_usd,
  sum(CASE WHEN cost_usd IS NULL THEN calls ELSE 0 END) AS uncosted_calls`
const NOTHING: ModelSpend = {
  calls: 0,
  input_tokens: 0,
  output_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cost_usd: 0,
  uncosted_calls: 0,
}

/** @returns how to record an entry, on the writing connection. */
export function usageRecorder(store: StoreHandle, tallies: Tallies): (entry: UsageEntry) => void {
  const insert = store.db.prepare(`INSERT OR IGNORE INTO model_usage
    (id, at, surface, agent, run_id, practice, model, provider, key_source, calls, input_tokens,
     output_tokens, cache_creation_input_tokens, cache_read_input_tokens, cost_usd)
    VALUES (@id, @at, @surface, @agent, @runId, @practice, @model, @provider, @keySource, @calls,
     @input_tokens, @output_tokens, @cache_creation_input_tokens, @cache_read_input_tokens, @costUsd)`)
  return ({ usage, practice, ...entry }) => {
    const { changes } = insert.run({ ...entry, ...usage, practice: practice ? 1 : 0 })
    if (changes > 0) store.afterCommit(() => countUsage(tallies, { usage, practice, ...entry }))
  }
}

function countUsage(tallies: Tallies, { provider, surface, calls, usage, costUsd }: UsageEntry): void {
  tallies.add('model_calls', { provider, surface }, calls)
  for (const [direction, tokens] of [
    ['input', usage.input_tokens],
    ['output', usage.output_tokens],
    ['cache_creation', usage.cache_creation_input_tokens],
    ['cache_read', usage.cache_read_input_tokens],
  ] as const)
    tallies.add('model_tokens', { provider, surface, direction }, tokens)
  if (costUsd === null) tallies.add('model_unpriced_calls', { provider }, calls)
  else tallies.add('model_spend_usd', { provider }, costUsd)
}

/**
 * Totals of all time, and the days of a window that ends today (UTC). Practice counts too: it is paid.
 * @param days 1 to 366. @param now epoch ms
 */
export function modelUsageOf(db: Database, days: number, now: number): ModelUsageResult {
  const by = (column: 'surface' | 'key_source' | 'provider'): Record<string, ModelSpend> =>
    Object.fromEntries(
      db
        .prepare<[], ModelSpend & { name: string }>(
          `SELECT ${column} AS name, ${SUMS} FROM model_usage GROUP BY ${column} ORDER BY ${column}`,
        )
        .all()
        .map(({ name, ...spend }) => [name, spend]),
    )
  const { calls, ...total } = db
    .prepare<[], ModelSpend | { calls: null }>(`SELECT ${SUMS} FROM model_usage`)
    .get() as ModelSpend
  const bySurface = by('surface')
  const from = Math.floor(now / DAY_MS - days + 1) * DAY_MS
  return {
    total: calls === null ? NOTHING : { calls, ...total },
    by_surface: {
      agent: bySurface.agent ?? NOTHING,
      ask: bySurface.ask ?? NOTHING,
      setup: bySurface.setup ?? NOTHING,
    },
    by_key_source: by('key_source'),
    by_provider: by('provider'),
    days: db
      .prepare<[number, number], ModelSpend & { day: string }>(
        `SELECT date(at / 1000, 'unixepoch') AS day, ${SUMS} FROM model_usage WHERE at >= ? AND at < ? GROUP BY day ORDER BY day`,
      )
      .all(from, from + days * DAY_MS),
    window_days: days,
  }
}

/*
 * What tokens cost: prices.json, and what an operator put over it. A price is found by the model named
 * in the reply, since a gateway decides which model answers (SPEC.md, Model providers 5).
 */

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

/*
 * What a call may cost, reserved of every budget that it counts for before it is made: never more than is
 * left. Where a budget pays for a shorter reply only, the call is made with that much room, so that a budget
 * is reached before anything is refused for it (SPEC.md, Limits: agent budget); where calls under way hold
 * the money, it waits for them.
 */

/** US dollars as a refusal names them. */
export const usd = (value: number): string => `$${Number(value.toPrecision(4))}`

/** Why a call of a model is not made as it was asked for. */
export interface CallRefusal {
  /** What is spent of which budget, as a refusal goes on with it. */
  reason: string
  /** Only calls under way hold the money: it is free again once they have ended, but for what they cost. */
  waits: boolean
  /** US dollars that may be reserved now. */
  left: number
  /** The same if calls under way cost nothing. */
  free: number
}

/** A budget that a call counts for. US dollars. */
export interface Budget {
  /** As a refusal names it, such as `the $2 of one run; raise run_budget_usd`. */
  name: string
  budget: number
  /** What is held by calls under way is in it. */
  spent: number
  held: number
}

/** What is left below it pays for nothing, US dollars. */
const LEAST_USD = 1e-9

/**
 * @param price what the call could cost; null: nobody knows, as its model has no price. Its provider may tell what it cost
 *   all the same, so that it may not be made once a budget is used up.
 * @returns why it must not be made; null: it may
 */
export function refusalOf(all: readonly Budget[], price: number | null): CallRefusal | null {
  const budgets = price === null ? all.filter(({ spent }) => spent > 0) : all
  const ceiling = price ?? LEAST_USD
  const leftOf = ({ budget, spent }: Budget) => budget - spent
  const passed = budgets.filter(({ budget, spent }) => spent + ceiling > budget)
  const over = passed.sort((a, b) => leftOf(a) - leftOf(b))[0]
  if (!over) return null
  const held = over.held > 0 ? `, and ${usd(over.held)} is held by calls under way,` : ''
  return {
    reason: `${usd(Math.max(0, leftOf(over)))} is left: ${usd(over.spent - over.held)} is spent${held} of ${over.name}`,
    waits: budgets.every(({ budget, spent, held }) => spent - held + ceiling <= budget),
    left: Math.min(...budgets.map(leftOf)),
    free: Math.min(...budgets.map(({ budget, spent, held }) => budget - spent + held)),
  }
}

/** Tokens of a reply; one with less room says nothing. */
const LEAST_ROOM = 256

type Asked = Pick<
  ModelRequest,
  'provider' | 'model' | 'fallback' | 'system' | 'messages' | 'tools' | 'maxTokens'
>

export interface Reserved {
  maxTokens: number
  /** US dollars; null: the model is unpriced. */
  ceilingUsd: number | null
}

/**
 * @param begin reserves it, and writes that the call is made; or says why not.
 * @param moneyFreed resolves when a call that held money has ended. @throws an abort
 * @returns with how much room the call is made; or why it must not be
 */
export async function reserveCall(
  models: Pick<Models, 'ceilingUsd'>,
  request: Asked,
  begin: (reserved: Reserved) => Promise<CallRefusal | null>,
  moneyFreed: () => Promise<void>,
): Promise<Reserved | string> {
  const weigh = async () => ({
    maxTokens: request.maxTokens,
    ceilingUsd: await models.ceilingUsd(request),
  })
  let asked: Reserved = await weigh()
  for (;;) {
    const refusal = await begin(asked)
    if (refusal === null) return asked
    if (!refusal.waits) {
      const less = await roomFor(models, { ...request, maxTokens: asked.maxTokens - 1 }, refusal.left)
      if (less) {
        asked = less
        continue
      }
      const isHeld = refusal.free > refusal.left && (await roomFor(models, request, refusal.free))
      if (!isHeld) return await refusedWords(models, request, refusal)
    }
    await moneyFreed()
    // Its provider may be another by now.
    asked = await weigh()
  }
}

/** The least that the call could have cost, and what there was for it. */
async function refusedWords(
  models: Pick<Models, 'ceilingUsd'>,
  request: Asked,
  { reason }: CallRefusal,
): Promise<string> {
  const maxTokens = Math.min(LEAST_ROOM, request.maxTokens)
  const least = await models.ceilingUsd({ ...request, maxTokens })
  return least === null
    ? `what the next call costs is known after it alone, and ${reason}`
    : `the next call could cost ${usd(least)} with a reply of ${maxTokens} tokens alone, and ${reason}`
}

/** The longest reply that so many dollars pay for, its prompt too; null: none that says anything. */
async function roomFor(
  models: Pick<Models, 'ceilingUsd'>,
  request: Asked,
  dollars: number,
): Promise<Reserved | null> {
  const none = await models.ceilingUsd({ ...request, maxTokens: 0 })
  const all = await models.ceilingUsd(request)
  if (none === null || all === null || none >= dollars) return null
  // With a fallback it is the dearer of two, which lies below the line between these two points.
  const part = all > none ? Math.min(1, (dollars - none) / (all - none)) : 1
  const maxTokens = Math.floor(part * request.maxTokens)
  if (maxTokens < LEAST_ROOM) return null
  return { maxTokens, ceilingUsd: await models.ceilingUsd({ ...request, maxTokens }) }
}

/* What agents and Ask may spend together in 24 hours. */

/** What is known of spending, US dollars. */
interface SpendQueries {
  /** Between two instants, epoch ms; what calls under way hold is in it. */
  spentSince: { get(of: { since: number; until: number }): number | undefined }
  /** What calls under way hold. */
  held: { get(): number | undefined }
}

/** @param now epoch ms. @param budget US dollars; null: there is none, and the list is empty */
export function dailyBudgets(queries: SpendQueries, now: number, budget: number | null): Budget[] {
  if (budget === null) return []
  // What a clock dated further ahead, which was set back since, would count until that day has passed.
  const spent = queries.spentSince.get({ since: now - DAY_MS, until: now + DAY_MS }) ?? 0
  const name = `the ${usd(budget)} of 24 hours; raise the daily budget under Settings, Agents`
  return [{ name, budget, spent, held: queries.held.get() ?? 0 }]
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
