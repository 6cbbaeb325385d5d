/**
 * Asking an upstream without storing anything: one poll of a config that is tried, and discovery. What to
 * ask with comes from the store by a port, for secrets are in it; the network is where the poller's is.
 */
import type { DiscoverRequest, SourceTestResult, SourceWrite } from '../../schemas/types.ts'
import { maskAddresses } from '../address-secrets.ts'
import type { Clock, Timers } from '../clock.ts'
import { secretsIn } from '../connectors/config.ts'
import type { PollConnector, Reach } from '../connectors/connector.ts'
import { connectorOf } from '../connectors/index.ts'
import { within } from '../egress/index.ts'
import { fail } from '../errors.ts'
import { parseDigits, parseForWriting } from '../ingest/json-digits.ts'
import { compileSource } from '../ingest/prepare.ts'
import type { PreparedEvent } from '../ingest/prepared.ts'
import type { ToAsk } from '../sources/trial.ts'
import { storedFault } from '../stored-fault.ts'
import { bounded, sentenceOf, tooSlow } from './poller.ts'

/** What the network calls need of the store; not for doors: credentials are in it. */
export interface TrialPort {
  /** @throws SvcError invalid for a fault in the config */
  configToTest(body: SourceWrite): Promise<{ result: SourceTestResult } | { ask: ToAsk }>
  /** @throws SvcError not_found for an unknown connector or source; invalid for one that does not discover */
  configToDiscover(body: DiscoverRequest): Promise<ToAsk>
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

export interface TrialParts {
  port: TrialPort
  /** The way out over HTTP. */
  fetch: typeof fetch
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
      return discover(await parts.port.configToDiscover(body), parts)
    },
  }
}

/** One poll, as the first of a source is: without a cursor. */
async function pollToTest(ask: ToAsk, parts: TrialParts): Promise<SourceTestResult> {
  try {
    const found = await bounded({ ...ask, cursor: null }, TEST_MS, parts)
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
  { connector, config, isStored }: ToAsk,
  { fetch, env, clock, timers }: TrialParts,
): Promise<Record<string, unknown>> {
  const over = new AbortController()
  try {
    const asked = connectorOf(connector).discover!(config, { fetch, env, clock, signal: over.signal })
    const found = await within(timers, DISCOVER_MS, undefined, asked)
    if (typeof found === 'string') return fail('invalid', tooSlow(DISCOVER_MS))
    // What the caller gave is given back as it is; of what is stored, the secret in its address is not.
    return isStored ? maskAddresses(found.value) : found.value
  } catch (error) {
    const sentence = sentenceOf(error)
    if (sentence === null) throw error
    return fail('invalid', storedFault(sentence, secretsIn(connector, config)))
  } finally {
    // Whatever still runs of it has nobody to answer.
    over.abort()
  }
}
