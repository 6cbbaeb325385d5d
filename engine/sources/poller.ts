/**
 * Asks the upstreams of sources that are polled. It keeps nothing that is not in a row too: what is due
 * is read, asked for and settled, and a process that dies in between leaves a poll that is due again,
 * with the cursor it began with.
 *
 * Some are under way at a time, of each source one. A poll that never answers holds its own place until
 * its time is over.
 */

import type { DiscoverRequest, SourceProposal, SourceTestResult, SourceWrite } from '../../schemas/types.ts'
import type { Clock, Timers } from '../clock.ts'
import { fail } from '../errors.ts'
import { parseDigits, parseForWriting } from '../log/ingest/json.ts'
import type { PreparedEvent } from '../log/ingest/packed.ts'
import { compileSource } from '../log/ingest/prepare.ts'
import { maskAddresses } from '../net/address-secrets.ts'
import { EgressError, withDeadline, within } from '../net/fetch.ts'
import { GithubAppFault, type GithubTokens } from '../net/github-app.ts'
import { storedFault } from '../net/redact.ts'
import { withAppToken } from './config-secrets.ts'
import { type PollConnector, type Polled, type Reach, UpstreamError } from './connectors/connector.ts'
import { connectorOf, secretsIn } from './connectors/index.ts'
import type { ToAsk } from './sources.ts'

interface Poller {
  /** Something may be due, or no longer wanted. */
  nudge(): void
  /** Cuts off what is under way; nothing of that is stored, and the next start asks again. Never rejects. */
  stop(): Promise<void>
}

interface PollerOptions {
  port: PollPort
  /** The way out over HTTP. */
  fetch: typeof fetch
  /** Tokens of apps, where a config names one. */
  tokens: GithubTokens
  /** Variables by which an upstream's own tools find it. */
  env?: Reach['env']
  clock: Clock
  timers: Timers
  /** From 0 to below 1. */
  random(): number
  /** Told of faults of ours: what the port throws, and connectors that break. */
  onError(error: Error): void
}

/** Polls under way at once. */
const AT_ONCE = 8
/** How long a poll may take. */
const POLL_MS = 20_000
/** What is under way at a stop may end within this. */
const STOP_MS = 2_000
/** No wait is longer, for the wall clock may be set meanwhile. */
const LONGEST_WAIT_MS = 30_000
const LOOK_AGAIN_MS = 1_000
const SHORTEST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000

interface UnderWay {
  version: number
  cut: AbortController
}

/** Starts polling; the first `nudge` looks for what is due. */
export function startPoller(options: PollerOptions): Poller {
  const { port, clock, timers, onError } = options
  /** By source. */
  const underWay = new Map<number, UnderWay>()
  const work = new Set<Promise<void>>()
  const stopping = new AbortController()
  let looking = false
  let nudged = false
  /** The port failed: until the pause is over, nudges wait. */
  let paused = false
  let failures = 0
  let callOff = () => {}

  const tell = (error: unknown) => onError(error instanceof Error ? error : new Error(String(error)))
  const track = (done: Promise<void>) => {
    work.add(done)
    void done.finally(() => work.delete(done))
  }

  /** Starts what is due, cuts off what is stale, then sleeps until the next is due. */
  async function look(): Promise<void> {
    looking = true
    callOff()
    let wait: number | null = null
    try {
      do {
        nudged = false
        wait = await startDue()
      } while (nudged && !stopping.signal.aborted)
      failures = 0
    } catch (error) {
      wait = pause(error)
    }
    looking = false
    if (wait === null || stopping.signal.aborted) return
    callOff = timers.after(wait, () => {
      paused = false
      nudge()
    })
  }

  /** @returns ms to wait; null: until a nudge. */
  async function startDue(): Promise<number | null> {
    const busy = [...underWay].map(([sourceId, { version }]) => ({ sourceId, version }))
    const free = AT_ONCE - underWay.size
    const { due, stale, next } = await port.duePolls(free, busy)
    for (const sourceId of stale) underWay.get(sourceId)?.cut.abort()
    if (stopping.signal.aborted) return null
    for (const one of due) start(one)
    // Without a free place the poll that ends looks again.
    if (next === null || underWay.size >= AT_ONCE) return null
    const left = next - clock.now()
    return left > 0 ? Math.min(left, LONGEST_WAIT_MS) : LOOK_AGAIN_MS
  }

  function start(one: DuePoll): void {
    const cut = new AbortController()
    underWay.set(one.sourceId, { version: one.version, cut })
    track(run(one, cut))
  }

  async function run(one: DuePoll, cut: AbortController): Promise<void> {
    const made = await pollOnce(one, cut.signal, options)
    try {
      if (made) await port.settlePoll(made)
    } catch (error) {
      // It is due still, and is asked for again after the pause.
      const wait = pause(error)
      callOff()
      callOff = timers.after(wait, () => {
        paused = false
        nudge()
      })
    }
    underWay.delete(one.sourceId)
    nudge()
  }

  function pause(error: unknown): number {
    tell(error)
    paused = true
    failures++
    return Math.min(SHORTEST_PAUSE_MS * 2 ** Math.min(failures - 1, 10), LONGEST_PAUSE_MS)
  }

  function nudge(): void {
    if (stopping.signal.aborted || paused) return
    nudged = true
    if (!looking) track(look())
  }

  async function idle(): Promise<void> {
    while (work.size) await Promise.all(work)
  }

  return {
    nudge,
    async stop() {
      stopping.abort()
      callOff()
      for (const { cut } of underWay.values()) cut.abort()
      await within(timers, STOP_MS, undefined, idle())
    },
  }
}

/** @returns null when it was cut off. */
async function pollOnce(
  due: DuePoll,
  cut: AbortSignal,
  { random, onError, ...way }: PollerOptions,
): Promise<PollMade | null> {
  const { sourceId, version, cursor } = due
  const { clock } = way
  const began = clock.now()
  let secrets: string[] = []
  const failed = (error: string, retryAfterMs: number | null = null): PollMade => ({
    ...{ sourceId, version, cursor, began, ended: clock.now() },
    ...{ error: storedFault(error, secrets), retryAfterMs, random: random() },
  })
  try {
    const ready = await askable(due, way)
    secrets = secretsIn(due.connector, ready.config)
    const found = await bounded(
      { ...due, config: ready.config },
      POLL_MS,
      { ...way, fetch: ready.fetch },
      cut,
    )
    if (found === 'aborted') return null
    if (found === 'timeout') return failed(tooSlow(POLL_MS))
    const { items, cursor: newCursor, more = false, notice: told = null } = found.value
    const notice = told === null ? null : storedFault(told, secrets)
    return { sourceId, version, cursor, began, ended: clock.now(), items, newCursor, more, notice }
  } catch (error) {
    if (cut.aborted) return null
    const sentence = sentenceOf(error)
    if (sentence !== null) return failed(sentence, error instanceof UpstreamError ? error.retryAfterMs : null)
    onError(error as Error)
    return failed('its connector failed, which is a fault of ours; the log has more')
  }
}

type Way = Pick<PollerOptions, 'fetch' | 'tokens' | 'env' | 'clock' | 'timers'>

/**
 * A config as it is asked with: of an app with a token of now. One that is refused is not kept, so that the next
 * asks for another. @throws UpstreamError
 */
async function askable(
  { connector, config }: Pick<DuePoll, 'connector' | 'config'>,
  { fetch: ask, tokens }: Pick<Way, 'fetch' | 'tokens'>,
): Promise<{ config: Record<string, unknown>; fetch: Way['fetch'] }> {
  let made: string | null = null
  try {
    const ready = await withAppToken(connector, config, async (credential, repo) => {
      const used = await tokens.use(credential, repo)
      made = used.token
      return used
    })
    if (made === null) return { config: ready, fetch: ask }
    const token: string = made
    return {
      config: ready,
      fetch: async (...request) => {
        const answer = await ask(...request)
        if (answer.status === 401) tokens.drop(token)
        return answer
      },
    }
  } catch (error) {
    if (error instanceof GithubAppFault) throw new UpstreamError(error.message, error.retryAfterMs)
    throw error
  }
}

/** What is told when an upstream takes longer than it has. */
const tooSlow = (ms: number): string => `the upstream gave no answer within ${ms / 1_000} s`

/** What an error says to people; null for a fault of ours. */
function sentenceOf(error: unknown): string | null {
  if (error instanceof UpstreamError) return error.message
  return error instanceof EgressError ? `the upstream cannot be read: ${error.message}` : null
}

/** One poll within its time. @throws what the connector throws */
function bounded(
  { connector, config, cursor }: Pick<DuePoll, 'connector' | 'config' | 'cursor'>,
  ms: number,
  { fetch, env, clock, timers }: Pick<Way, 'fetch' | 'env' | 'clock' | 'timers'>,
  signal?: AbortSignal,
): Promise<{ value: Polled } | 'timeout' | 'aborted'> {
  const polled = connectorOf(connector) as PollConnector
  return withDeadline(timers, ms, signal, (cut) =>
    polled.poll(config, cursor, { fetch, env, clock, timers, signal: cut }),
  )
}

/* What passes between the poller, which asks upstreams, and the store, which keeps what came. */

/** What a poll began with; it is stored only while both still hold. */
export interface Begun {
  sourceId: number
  /** Of the source's row: changes with each edit and each change of its state. */
  version: number
  cursor: string | null
}

/** A poll that is due, with secrets in the clear: not for doors. */
export interface DuePoll extends Begun {
  connector: string
  config: Record<string, unknown>
}

export interface PollsDue {
  due: DuePoll[]
  /** Of those under way: sources that were edited, paused or deleted meanwhile. */
  stale: number[]
  /** When the next of the others is due, epoch ms; null: none waits. */
  next: number | null
}

/** A poll that was made. Times in epoch ms. */
export type PollMade = Begun & { began: number; ended: number } & (
    | { items: readonly string[]; newCursor: string | null; more: boolean; notice: string | null }
    | {
        /** A sentence for people, without secrets. */
        error: string
        retryAfterMs: number | null
        /** From 0 to below 1, for the spread of waits. */
        random: number
      }
  )

/** What the poller needs of the store; not for doors: secrets are in it. */
export interface PollPort {
  /** @param busy polls under way. */
  duePolls(limit: number, busy: { sourceId: number; version: number }[]): Promise<PollsDue>
  /**
   * Stores items, cursor and health together, or nothing where the poll is no longer what was asked for.
   * @throws SvcError unavailable, unknown_outcome: the poll will be done again
   */
  settlePoll(made: PollMade): Promise<void>
}

export const pollPortNames = ['duePolls', 'settlePoll'] as const satisfies readonly (keyof PollPort)[]

/*
 * Asking an upstream without storing anything: one poll of a config that is tried, and discovery. What to
 * ask with comes from the store by a port, for secrets are in it; the network is where the poller's is.
 */

/** What the network calls need of the store; not for doors: credentials are in it. */
export interface TrialPort {
  /** @throws SvcError invalid for a fault in the config */
  configToTest(body: SourceWrite): Promise<{ result: SourceTestResult } | { ask: ToAsk }>
  /** @throws SvcError not_found for an unknown connector or source; invalid for one that does not discover */
  configToDiscover(body: DiscoverRequest): Promise<ToAsk | { found: SourceProposal }>
}

export const trialPortNames = [
  'configToTest',
  'configToDiscover',
] as const satisfies readonly (keyof TrialPort)[]

export interface Trials {
  /** Tries a config before it is saved. @throws SvcError invalid for a fault in the config */
  testSource(body: SourceWrite): Promise<SourceTestResult>
  /** Asks an upstream for a config. @throws SvcError not_found; invalid, in the upstream's case with why */
  discoverSource(body: DiscoverRequest): Promise<Record<string, unknown>>
}

interface TrialParts {
  port: TrialPort
  /** The way out over HTTP. */
  fetch: typeof fetch
  tokens: GithubTokens
  env?: Reach['env']
  clock: Clock
  timers: Timers
}

const TEST_MS = 15_000
const DISCOVER_MS = 30_000
const TEXTS_SHOWN = 3

export function createTrials(parts: TrialParts): Trials {
  return {
    async testSource(body) {
      const asked = await parts.port.configToTest(body)
      return 'result' in asked ? asked.result : pollToTest(asked.ask, parts)
    },
    async discoverSource(body) {
      const asked = await parts.port.configToDiscover(body)
      return 'found' in asked ? { ...asked.found } : discover(asked, parts)
    },
  }
}

/** One poll, as the first of a source is: without a cursor. */
async function pollToTest(asked: ToAsk, parts: TrialParts): Promise<SourceTestResult> {
  let ask = asked
  try {
    const ready = await askable(asked, parts)
    ask = { ...asked, config: ready.config }
    const found = await bounded({ ...ask, cursor: null }, TEST_MS, { ...parts, fetch: ready.fetch })
    if (typeof found === 'string') return { ok: false, error: tooSlow(TEST_MS) }
    const { items, notice } = found.value
    const events = eventsOf(ask, items, parts.clock.now())
    return {
      ok: true,
      events: events.length,
      sample: events.slice(0, TEXTS_SHOWN).map(({ text }) => text),
      ...(notice === undefined ? {} : { note: notice }),
    }
  } catch (error) {
    const sentence = sentenceOf(error)
    if (sentence === null) throw error
    return { ok: false, error: storedFault(sentence, secretsIn(ask.connector, ask.config)) }
  }
}

function eventsOf({ connector, config }: ToAsk, items: readonly string[], now: number): PreparedEvent[] {
  const prepare = compileSource(connectorOf(connector) as PollConnector, config)
  return items.flatMap((item, index) => {
    const [value, whole] = [parseDigits(item), () => parseForWriting(item)]
    return prepare({ raw: Buffer.from(item), value, whole }, undefined, index, now)
  })
}

async function discover(
  { connector, config: asked, isStored }: ToAsk,
  parts: TrialParts,
): Promise<Record<string, unknown>> {
  const { env, clock, timers } = parts
  let config = asked
  try {
    const ready = await askable({ connector, config }, parts)
    config = ready.config
    const found = await withDeadline(timers, DISCOVER_MS, undefined, (signal) =>
      connectorOf(connector).discover!(config, { fetch: ready.fetch, env, clock, timers, signal }),
    )
    if (typeof found === 'string') return fail('invalid', tooSlow(DISCOVER_MS))
    // What the caller gave is given back as it is; of what is stored, the secret in its address is not.
    return isStored ? maskAddresses(found.value) : found.value
  } catch (error) {
    const sentence = sentenceOf(error)
    if (sentence === null) throw error
    return fail('invalid', storedFault(sentence, secretsIn(connector, config)))
  }
}
