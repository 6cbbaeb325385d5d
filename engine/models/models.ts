/**
 * Calls of models: the provider is chosen anew on each call, so that what the console stores holds from
 * the next one on; tries, time and cost are decided here, the wire formats are the adapters'.
 */
import type { Clock, Timers } from '../clock.ts'
import { within } from '../egress/index.ts'
import type { Adapter, Means, WireReply, WireRequest, WireUsage } from './adapter.ts'
import { chooser } from './chooser.ts'
import type { Provider, ProviderConfig } from './config.ts'
import { failureOf } from './faults.ts'
import { ceilingOf, costOf, type Price } from './prices.ts'
import { ModelFault, type ModelReply, type ModelRequest, type Models, type Usage } from './types.ts'

export interface ModelsOptions {
  /** Asked on every call. */
  config(): Promise<ProviderConfig>
  /** Keeps what a provider listed, so that `config` has it from then on. */
  keepModels(id: string, models: string[]): Promise<void>
  http: typeof fetch
  clock: Clock
  timers: Timers
  /** From 0 to below 1. */
  random(): number
}

/** What the settings need besides: they ask providers before any model is called. */
export interface ModelsAndLists extends Models {
  /** Ids of a provider's models. @throws ModelFault */
  list(provider: Provider): Promise<string[]>
}

const MAX_TRIES = 4
const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 8_000
/** A provider that asks for more is not waited for. */
const LONGEST_ASKED_MS = 60_000
const LIST_MS = 15_000

export function createModels(options: ModelsOptions): ModelsAndLists {
  const { clock } = options
  const choose = chooser(options, (provider) => listOf(options, provider))
  return {
    async call(request) {
      const startedAt = clock.now()
      const { known, provider, model } = await choose(request.provider, request.model)
      const bound = boundOf(options, request.timeoutMs, request.signal)
      try {
        return await callUntil(options, bound, { request, provider, model, prices: known.prices, startedAt })
      } finally {
        bound.release()
      }
    },
    async ceilingUsd(request) {
      const { known, provider, model } = await choose(request.provider, request.model)
      const { system, messages, tools, maxTokens } = request
      const bytes = Buffer.byteLength(JSON.stringify([system, messages, tools]))
      return ceilingOf(provider.kind, known.prices, model, bytes, maxTokens)
    },
    async resolve(provider, model) {
      const chosen = await choose(provider, model)
      return { provider: chosen.provider.id, kind: chosen.provider.kind, model: chosen.model }
    },
    list: (provider) => listOf(options, provider),
  }
}

async function listOf(options: ModelsOptions, provider: Provider): Promise<string[]> {
  const bound = boundOf(options, LIST_MS, undefined)
  try {
    const adapter = await adapterOf(provider)
    return await bound.race(
      adapter.list(provider, LIST_MS, { http: options.http, signal: bound.signal, onPiece: () => {} }),
    )
  } catch (error) {
    throw bound.fault(provider) ?? failureOf(error, provider, options.clock.now()).fault
  } finally {
    bound.release()
  }
}

/** Loaded when first used: the clients are large, and a start waits for neither. */
async function adapterOf({ kind }: Provider): Promise<Adapter> {
  if (kind === 'providera') return (await import('./providera.ts')).providerA
  return (await import('./chat-completions.ts')).chatCompletions
}

interface Call {
  request: ModelRequest
  provider: Provider
  model: string
  prices: readonly Price[]
  startedAt: number
}

async function callUntil(options: ModelsOptions, bound: Bound, call: Call): Promise<ModelReply> {
  const { clock, timers, random } = options
  const { request, provider, model, startedAt } = call
  const adapter = await adapterOf(provider)
  let { choice } = request
  let firstTokenMs: number | null = null
  let isTold = false
  for (let tries = 1; ; tries++) {
    const trial = bound.trial()
    const means: Means = {
      http: options.http,
      signal: trial.signal,
      onPiece(text) {
        if (trial.signal.aborted) return
        firstTokenMs ??= clock.now() - startedAt
        if (text === '' || !request.onText) return
        isTold = true
        request.onText(text)
      },
    }
    const asked: WireRequest = { ...request, model, choice }
    try {
      const wire = await bound.race(adapter.send(provider, asked, means))
      return replyOf(call, wire, { ms: clock.now() - startedAt, firstTokenMs, tries })
    } catch (error) {
      const ended = bound.fault(provider)
      if (ended) throw ended
      const failure = failureOf(error, provider, clock.now())
      if (failure.unforced && isForced(choice)) {
        choice = 'auto'
        continue
      }
      const wait = failure.waitMs ?? backoff(tries, random())
      const isLast = !failure.again || isTold || tries === MAX_TRIES || wait > LONGEST_ASKED_MS
      if (isLast || clock.now() + wait >= startedAt + request.timeoutMs) throw failure.fault
      await within(timers, wait, bound.signal, new Promise<never>(() => {}))
      const cut = bound.fault(provider)
      if (cut) throw cut
    } finally {
      trial.end()
    }
  }
}

const isForced = (choice: ModelRequest['choice']) => choice === 'any' || typeof choice === 'object'

/** Twice as long after each try, and by chance up to half less, so that many do not come back at once. */
function backoff(tries: number, chance: number): number {
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1)) * (1 - chance / 2)
}

function replyOf(
  { provider, model: asked, prices }: Call,
  wire: WireReply,
  times: Pick<ModelReply, 'ms' | 'firstTokenMs' | 'tries'>,
): ModelReply {
  const { text, calls, raw, stop } = wire
  const model = wire.model || asked
  const usage = checked(wire.usage)
  const isReported = wire.cost !== undefined
  // A figure that is none, of tokens or dollars, is not put right by a guess: the call is uncosted.
  const reported = isReported && usage !== 'bad' && isAmount(wire.cost) ? wire.cost : null
  const priced = !isReported && isUsage(usage) ? costOf(provider.kind, prices, model, usage) : null
  return {
    text,
    calls,
    raw,
    provider: provider.id,
    kind: provider.kind,
    model,
    keySource: provider.keySource,
    stop,
    usage: isUsage(usage) ? usage : NONE,
    costUsd: reported ?? priced,
    costFrom: reported !== null ? 'reply' : priced !== null ? 'table' : null,
    ...times,
  }
}

const NONE: Usage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
}

const isAmount = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER
const isUsage = (usage: Usage | 'none' | 'bad'): usage is Usage => typeof usage === 'object'

/** The tokens where all of them are amounts; what a format need not say counts as 0. */
function checked(usage: WireUsage | undefined): Usage | 'none' | 'bad' {
  if (!usage) return 'none'
  const { input, output, cacheWrite = 0, cacheRead = 0 } = usage
  const given = [input, output, cacheWrite ?? 0, cacheRead ?? 0]
  if (!given.every(isAmount)) return 'bad'
  const [a, b, c, d] = given.map(Math.ceil)
  return {
    input_tokens: a!,
    output_tokens: b!,
    cache_creation_input_tokens: c!,
    cache_read_input_tokens: d!,
  }
}

interface Bound {
  signal: AbortSignal
  /** A signal of one try, which ends with it or with the bound. */
  trial(): { signal: AbortSignal; end(): void }
  /** A promise, until the bound: what hangs is left behind. */
  race<T>(promise: Promise<T>): Promise<T>
  /** What the bound was, once it was reached. */
  fault(provider: Provider): ModelFault | null
  release(): void
}

/** The deadline of a call and its caller's signal as one. */
function boundOf({ timers }: ModelsOptions, timeoutMs: number, caller: AbortSignal | undefined): Bound {
  const controller = new AbortController()
  const { signal } = controller
  let reached: 'timeout' | 'aborted' | null = null
  const cut = (why: 'timeout' | 'aborted') => {
    reached ??= why
    controller.abort()
  }
  const cancel = timers.after(timeoutMs, () => cut('timeout'))
  const abort = () => cut('aborted')
  if (caller?.aborted) abort()
  else caller?.addEventListener('abort', abort, { once: true })
  return {
    signal,
    trial() {
      const trial = new AbortController()
      const end = () => trial.abort()
      if (signal.aborted) end()
      signal.addEventListener('abort', end, { once: true })
      return {
        signal: trial.signal,
        end() {
          signal.removeEventListener('abort', end)
          // What is still open of the try is closed.
          end()
        },
      }
    },
    race: (promise) =>
      new Promise((resolve, reject) => {
        const stop = () => reject(new Error('cut off'))
        if (signal.aborted) stop()
        signal.addEventListener('abort', stop, { once: true })
        promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
      }),
    fault(provider) {
      if (reached === null) return null
      const text =
        reached === 'timeout' ? `no reply within ${Math.round(timeoutMs / 1000)} s` : 'the call was cut off'
      return new ModelFault(reached, `${provider.id}: ${text}`, provider.id)
    },
    release() {
      cancel()
      caller?.removeEventListener('abort', abort)
    },
  }
}
