/**
 * Calls of models: the provider is chosen anew on each call, so that what the console stores holds from
 * the next one on; tries, time and cost are decided here, the wire formats are the adapters'.
 */
import type { Clock, Timers } from '../../clock.ts'
import { isObject } from '../../model/merge.ts'
import { within } from '../../net/fetch.ts'
import {
  type Adapter,
  chosenOf,
  failureOf,
  type Means,
  type Provider,
  type ProviderConfig,
  type WireReply,
  type WireRequest,
  type WireUsage,
} from './adapter.ts'
import {
  IMAGE_TOKENS,
  imagesIn,
  type ModelChoice,
  ModelFault,
  type ModelMessage,
  type ModelReply,
  type ModelRequest,
  type Models,
  type ToolAnswer,
  type ToolSpec,
  type Usage,
  withoutImages,
} from './types.ts'
import { ceilingOf, costOf, likelyTokens, outputBoundOf, type Price, savedOf } from './usage.ts'

interface ModelsOptions {
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
/** A provider that asks for more is not waited for within a call. */
const LONGEST_ASKED_MS = 60_000
/** One that has a fallback is not waited for as long. */
const LONGEST_BEFORE_FALLBACK_MS = LONGEST_WAIT_MS
/** Milliseconds without a byte, after which a try is over; a gateway that does not stream sends none until it is done. */
const IDLE_MS = 120_000
/** Tries that nothing came of. */
const MAX_IDLE_TRIES = 2
const LIST_MS = 15_000

export function createModels(options: ModelsOptions): ModelsAndLists {
  const choose = chooser(options, (provider) => listOf(options, provider))
  // What a call was weighed for is what is called, so that another provider is not paid with what was reserved for one.
  const weighed = new WeakMap<Weighed['messages'], Omit<Weighed, 'messages'> & { chosen: Chosen }>()
  const chosenFor = async (request: Weighed): Promise<Chosen> => {
    const { messages, provider, model } = request
    const last = weighed.get(messages)
    weighed.delete(messages)
    const isSame = last?.provider === provider && last.model === model
    return isSame ? last.chosen : await choose(provider, model)
  }
  return {
    call: async (request) => callEither(options, await chosenFor(request), request),
    async ceilingUsd(request) {
      const chosen = await choose(request.provider, request.model)
      const { known, provider, model } = chosen
      const { messages, maxTokens } = request
      weighed.set(messages, { provider: request.provider, model: request.model, chosen })
      const tokens = tokensSaid(request) + imagesIn(messages) * IMAGE_TOKENS
      const ceiling = (of: Provider, name: string) =>
        of.kind === 'scripted' ? 0 : ceilingOf(of.kind, known.prices, name, tokens, maxTokens)
      const first = ceiling(provider, model)
      const second = fallbackOf(known, request.fallback, { provider, model })
      const other = second && ceiling(second.provider, second.model)
      return first === null || other === null ? first : Math.max(first, other)
    },
    async resolve(provider, model) {
      const chosen = await choose(provider, model)
      const { id, kind } = chosen.provider
      return { provider: id, kind, model: chosen.model, outputTokens: outputBoundOf(chosen.model) }
    },
    list: (provider) => listOf(options, provider),
  }
}

async function listOf(options: ModelsOptions, provider: Provider): Promise<string[]> {
  const bound = boundOf(timeOf(options), { timeoutMs: LIST_MS, idleMs: LIST_MS, signal: undefined })
  const trial = bound.trial()
  try {
    const adapter = await adapterOf(provider)
    const { http } = options
    const nothing = () => {}
    return await trial.race(
      adapter.list(provider, {
        http,
        signal: trial.signal,
        onBytes: nothing,
        onPiece: nothing,
        onVoid: nothing,
      }),
    )
  } catch (error) {
    throw bound.fault(provider) ?? failureOf(error, provider, options.clock.now()).fault
  } finally {
    trial.end()
    bound.release()
  }
}

/** Loaded when first used: the clients are large, and a start waits for neither. */
async function adapterOf({ kind }: Provider): Promise<Adapter> {
  if (kind === 'scripted') return (await import('./scripted.ts')).scripted
  if (kind === 'providera') return (await import('./providera.ts')).providerA
  return (await import('./chat-completions.ts')).chatCompletions
}

interface Call {
  request: ModelRequest
  provider: Provider
  model: string
  prices: readonly Price[]
  startedAt: number
  /** Longest that the provider is waited for, where it asks for a wait. */
  patienceMs: number
}

/** Asks the first; where that is unavailable its fallback, if there is one. */
async function callEither(
  options: ModelsOptions,
  { known, ...first }: Chosen,
  given: ModelRequest,
): Promise<ModelReply> {
  const startedAt = options.clock.now()
  const second = fallbackOf(known, given.fallback, first)
  const { timeoutMs, idleMs = IDLE_MS, signal } = given
  const bound = boundOf(timeOf(options), { timeoutMs, idleMs, signal })
  const told = tellingOf(given)
  const call = { request: { ...given, idleMs }, prices: known.prices, startedAt }
  try {
    const patienceMs = second ? LONGEST_BEFORE_FALLBACK_MS : LONGEST_ASKED_MS
    return await callUntil(options, bound, told, { ...call, ...first, patienceMs })
  } catch (error) {
    if (!second || !(error instanceof ModelFault) || !isUnavailable(error) || !told.again()) throw error
    const reply = await callUntil(options, bound, told, {
      ...call,
      ...second,
      patienceMs: LONGEST_ASKED_MS,
    }).catch((other: unknown) => {
      throw other instanceof ModelFault ? bothFailed(error, other) : other
    })
    return {
      ...reply,
      fallbackFor: { provider: first.provider.id, model: first.model, reason: error.message },
    }
  } finally {
    bound.release()
  }
}

/** What was told of a reply, and whether that may be taken back. */
interface Telling {
  text(piece: string): void
  /** @returns whether the call may begin again: nothing was told, or it was taken back */
  again(): boolean
}

function tellingOf({ onText, onAgain }: ModelRequest): Telling {
  let isTold = false
  return {
    text(piece) {
      if (!onText || piece === '') return
      isTold = true
      onText(piece)
    },
    again() {
      if (isTold && !onAgain) return false
      if (isTold) onAgain?.()
      isTold = false
      return true
    },
  }
}

const timeOf = ({ clock, timers }: ModelsOptions): Clock & Timers => ({
  now: () => clock.now(),
  after: (ms, fn) => timers.after(ms, fn),
})

/**
 * Tokens of all that is said. Nearly all of it is said again with each call, by the same objects, of which none is changed
 * once it was said: each is counted once, or a long conversation would cost more with each of its calls.
 */
function tokensSaid({
  system,
  messages,
  tools,
}: Pick<ModelRequest, 'system' | 'messages' | 'tools'>): number {
  const all: Said[] = [...tools]
  let around = likelyTokens(JSON.stringify(system)) + 2
  for (const message of messages)
    if (message.role === 'tool') {
      all.push(...message.results)
      around += AROUND_RESULTS
    } else all.push(message)
  // Between two of them stands a comma: a token at most.
  return all.reduce((sum, said) => sum + tokensOf(said) + 1, around)
}

const AROUND_RESULTS = likelyTokens(JSON.stringify({ role: 'tool', results: [] }))

type Said = ToolSpec | ToolAnswer | ModelMessage

const counted = new WeakMap<object, number>()

function tokensOf(said: Said): number {
  const known = counted.get(said)
  if (known !== undefined) return known
  // Without a provider's own blocks, which say the same but for what is beside them, and images, which are no text.
  const { raw = null, ...rest } = said as Partial<Said> & { raw?: unknown }
  const text = JSON.stringify({ ...rest, raw: isObject(raw) ? raw.beside : undefined, images: undefined })
  const tokens = likelyTokens(text)
  counted.set(said, tokens)
  return tokens
}

async function callUntil(
  options: ModelsOptions,
  bound: Bound,
  told: Telling,
  call: Call,
): Promise<ModelReply> {
  const { clock, timers, random } = options
  const { request, provider, model, startedAt, patienceMs } = call
  const until = request.timeoutMs === undefined ? Number.POSITIVE_INFINITY : startedAt + request.timeoutMs
  const adapter = await adapterOf(provider)
  let { choice, messages } = request
  let firstTokenMs: number | null = null
  let idleTries = 0
  for (let tries = 1; ; tries++) {
    const trial = bound.trial()
    const means: Means = {
      http: options.http,
      signal: trial.signal,
      onBytes: trial.heard,
      onPiece(text) {
        if (trial.signal.aborted) return
        firstTokenMs ??= clock.now() - startedAt
        told.text(text)
      },
      onVoid: () => void (trial.signal.aborted || told.again()),
    }
    // Another model may be allowed less than the one it stands in for.
    const maxTokens = Math.min(request.maxTokens, outputBoundOf(model))
    const asked: WireRequest = { ...request, messages, model, choice, maxTokens }
    try {
      const wire = await trial.race(adapter.send(provider, asked, means))
      return replyOf(call, wire, { ms: clock.now() - startedAt, firstTokenMs, tries })
    } catch (error) {
      // What is waited for next is no part of the try.
      trial.end()
      const ended = bound.fault(provider)
      if (ended) throw ended
      if (trial.isIdle) idleTries++
      const failure = trial.isIdle
        ? { fault: idleFault(provider, request.idleMs ?? IDLE_MS), unforced: false, blind: false }
        : failureOf(error, provider, clock.now())
      if (failure.unforced && isForced(choice)) {
        choice = 'auto'
        continue
      }
      if (failure.blind && imagesIn(messages) > 0) {
        messages = withoutImages(messages)
        continue
      }
      const { later } = failure.fault
      const wait = later?.waitMs ?? backoff(tries, random())
      const isLast = !later || tries === MAX_TRIES || idleTries === MAX_IDLE_TRIES || wait > patienceMs
      if (isLast || clock.now() + wait >= until || !told.again()) throw failure.fault
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
  const saved = isUsage(usage) ? savedOf(provider.kind, prices, model, usage) : null
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
    savedUsd: saved,
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

/* The bounds of a call: its time, its caller's signal, and for each try how long nothing may come. */

/** One try of a call. */
interface Trial {
  /** Cut off with the try, or with the call. */
  signal: AbortSignal
  /** Nothing came for as long as may be. */
  isIdle: boolean
  /** Something came. */
  heard(): void
  /** A promise, until the bound: what hangs is left behind. */
  race<T>(promise: Promise<T>): Promise<T>
  end(): void
}

interface Bound {
  signal: AbortSignal
  trial(): Trial
  /** What the bound was, once it was reached. */
  fault(provider: Provider): ModelFault | null
  release(): void
}

interface BoundOptions {
  /** Milliseconds for all of it; undefined: none. */
  timeoutMs: number | undefined
  /** Milliseconds of a try without a byte. */
  idleMs: number
  signal: AbortSignal | undefined
}

/** The deadline of a call and its caller's signal as one. */
function boundOf(time: Clock & Timers, { timeoutMs, idleMs, signal: caller }: BoundOptions): Bound {
  const controller = new AbortController()
  const { signal } = controller
  let reached: 'timeout' | 'aborted' | null = null
  const cut = (why: 'timeout' | 'aborted') => {
    reached ??= why
    controller.abort()
  }
  const cancel = timeoutMs === undefined ? () => {} : time.after(timeoutMs, () => cut('timeout'))
  const abort = () => cut('aborted')
  if (caller?.aborted) abort()
  else caller?.addEventListener('abort', abort, { once: true })
  return {
    signal,
    trial: () => trialOf(time, idleMs, signal),
    fault(provider) {
      if (reached === null) return null
      const text =
        reached === 'timeout' ? `no reply within ${secondsOf(timeoutMs ?? 0)} s` : 'the call was cut off'
      return new ModelFault(reached, `${provider.id}: ${text}`, provider.id)
    },
    release() {
      cancel()
      caller?.removeEventListener('abort', abort)
    },
  }
}

const secondsOf = (ms: number): number => Math.round(ms / 1_000)

/** What a try that nothing came of for so long comes to. */
const idleFault = (provider: Provider, idleMs: number): ModelFault =>
  new ModelFault('timeout', `${provider.id}: nothing came for ${secondsOf(idleMs)} s`, provider.id, null, {
    waitMs: null,
  })

const TRY_OVER = new Error('the try is over')
const CUT_OFF = new Error('cut off')

function trialOf(time: Clock & Timers, idleMs: number, call: AbortSignal): Trial {
  const controller = new AbortController()
  const { signal } = controller
  let heardAt = time.now()
  let callOff = () => {}
  const end = () => {
    callOff()
    // Without a reason, abort() creates a DOMException with its stack for every try.
    controller.abort(TRY_OVER)
  }
  const trial: Trial = {
    signal,
    isIdle: false,
    heard: () => {
      heardAt = time.now()
    },
    race: (promise) =>
      new Promise((resolve, reject) => {
        // Made once: most tries end well, and are over by then.
        const stop = () => reject(CUT_OFF)
        if (signal.aborted) stop()
        signal.addEventListener('abort', stop, { once: true })
        promise.finally(() => signal.removeEventListener('abort', stop)).then(resolve, reject)
      }),
    end() {
      call.removeEventListener('abort', end)
      // What is still open of the try is closed.
      end()
    },
  }
  // One timer for a try, not one for each of its thousands of pieces.
  const watch = (ms: number) => {
    callOff = time.after(ms, () => {
      const left = heardAt + idleMs - time.now()
      if (left > 0) return watch(left)
      trial.isIdle = true
      end()
    })
  }
  if (call.aborted) end()
  else {
    call.addEventListener('abort', end, { once: true })
    watch(idleMs)
  }
  return trial
}

/* The provider and the model of a call; a provider that never listed its models is asked for them first. */

interface Chosen {
  known: ProviderConfig
  provider: Provider
  model: string
}

/** A request as it is weighed, and then called: by the same list of messages. */
type Weighed = Pick<ModelRequest, 'messages' | 'provider' | 'model'>

/**
 * What a request goes to. A provider whose default model is taken from its list, and which has listed
 * nothing yet, is usable at once: it is asked for its list once, however many calls wait for it.
 * @param list asks a provider for its models. @throws ModelFault, of choosing or of the listing
 */
function chooser(
  parts: { config(): Promise<ProviderConfig>; keepModels(id: string, models: string[]): Promise<void> },
  list: (provider: Provider) => Promise<string[]>,
): (provider: string, model: string) => Promise<Chosen> {
  const underWay = new Map<string, Promise<void>>()
  const learn = async (provider: Provider): Promise<void> => {
    const models = await list(provider).catch((error: unknown) => {
      if (!(error instanceof ModelFault)) throw error
      throw new ModelFault(
        error.code,
        `${error.message} (its models were asked for, to take one by default; choose one under Settings, Model providers)`,
        provider.id,
        error.status,
      )
    })
    await parts.keepModels(provider.id, models)
  }
  return async (provider, model) => {
    const known = await parts.config()
    try {
      return { known, ...chosenOf(known, provider, model) }
    } catch (error) {
      const unlisted =
        error instanceof ModelFault && error.code === 'no_model'
          ? known.providers.find(({ id, models }) => id === error.provider && models.length === 0)
          : undefined
      if (!unlisted) throw error
      const asked = underWay.get(unlisted.id) ?? learn(unlisted)
      underWay.set(unlisted.id, asked)
      await asked.finally(() => underWay.delete(unlisted.id))
      const now = await parts.config()
      return { known: now, ...chosenOf(now, provider, model) }
    }
  }
}

/* The second provider or model of a call: which one it is, and when it is asked. */

interface FallbackChoice {
  provider: Provider
  model: string
}

/**
 * What a call falls back to: what it names, else what the settings name. One without a provider is another
 * model of the same; one without a model is the default of that provider.
 * @returns null: there is none, it is no other, or it is not known here (a fallback refuses no call)
 */
function fallbackOf(
  known: ProviderConfig,
  named: ModelChoice | undefined,
  first: FallbackChoice,
): FallbackChoice | null {
  const { provider = '', model = '' } = isNamed(named) ? named : (known.fallback ?? {})
  if (!provider && !model) return null
  if (provider && !known.providers.some(({ id }) => id === provider)) return null
  try {
    const chosen = chosenOf(known, provider || first.provider.id, model)
    return chosen.provider.id === first.provider.id && chosen.model === first.model ? null : chosen
  } catch (error) {
    if (error instanceof ModelFault) return null
    throw error
  }
}

const isNamed = (choice: ModelChoice | undefined): choice is ModelChoice =>
  Boolean(choice?.provider || choice?.model)

/** Statuses by which a provider says that this account or model of it is unavailable. */
const WITHOUT = [401, 402, 403, 404, 429]

/**
 * Whether another provider may do what this one did not: it is away, overloaded or breaks its format, or
 * its credential, quota or model is refused. What is wrong with the request is wrong with every provider.
 */
function isUnavailable({ code, status, later }: ModelFault): boolean {
  return (
    later !== null ||
    code === 'malformed' ||
    code === 'unreachable' ||
    ((code === 'refused' || code === 'overflow') && WITHOUT.includes(status ?? 0))
  )
}

/** Neither answered: what the first says stands, and it may go well later where it may with either. */
function bothFailed(first: ModelFault, second: ModelFault): ModelFault {
  if (second.code === 'aborted' || second.code === 'overflow') return second
  const waits = [first.later?.waitMs, second.later?.waitMs].filter((ms) => typeof ms === 'number')
  const later = first.later || second.later ? { waitMs: waits.length ? Math.min(...waits) : null } : null
  return new ModelFault(
    first.code,
    `${first.message}; fallback ${second.message}`,
    first.provider,
    first.status,
    later,
  )
}
