/** Polling put together: what is with the store, and what asks upstreams where there is one thread for both. */

import type { Timers } from '../clock.ts'
import type { Reach } from '../connectors/connector.ts'
import { demoWorld } from '../demo/state.ts'
import { type Egress, fetchOver } from '../egress/index.ts'
import { openSettings } from '../settings/settings.ts'
import type { Sources } from '../sources/sources.ts'
import { openPolls, type PollsParts } from './polls.ts'
import { createTrials, type TrialPort, type Trials } from './trials.ts'
import type { PollPort } from './types.ts'

/** Longer than anything may take: a poll, a test and a discovery have their own ends. */
const REQUEST_MS = 60_000
/** Of one answer, whatever the connector asks for. */
const ANSWER_BYTES = 16 * 1024 * 1024

/** The way out to upstreams; an operator named them, so they may be inside the network. */
export const upstreamFetch = (egress: Egress): typeof fetch =>
  fetchOver(egress, { audience: 'operator', timeoutMs: REQUEST_MS, maxResponseBytes: ANSWER_BYTES })

/** @param parts as of the polls; `egress` is what tests and discoveries go through. */
export function openPolling(
  parts: Omit<PollsParts, 'sources' | 'demo'> & {
    sources: Sources
    egress: Egress
    env: Reach['env']
    timers: Timers
  },
): PollPort & TrialPort & Trials {
  const { sources, egress, env, clock, timers } = parts
  const port: TrialPort = {
    configToTest: async (body) => sources.test(body),
    configToDiscover: async (body) => sources.discover(body),
  }
  const settings = openSettings(sources.store.store, clock)
  return {
    ...openPolls({ ...parts, sources: sources.store, demo: (now) => demoWorld(settings, now) }),
    ...port,
    ...createTrials({ port, fetch: upstreamFetch(egress), env, clock, timers }),
  }
}
