/** Polling beside the store: upstreams are asked on the main thread, what they say is stored by the writer. */
import type { Clock, Timers } from '../clock.ts'
import type { Reach } from '../connectors/connector.ts'
import type { Egress } from '../egress/index.ts'
import { upstreamFetch } from '../polling/open.ts'
import { type Poller, startPoller } from '../polling/poller.ts'
import { createTrials, type TrialPort, type Trials } from '../polling/trials.ts'
import type { PollPort } from '../polling/types.ts'

/** The poller begins with its first nudge; tests and discoveries are calls of the engine. */
export function startPolling(parts: {
  port: PollPort & TrialPort
  egress: Egress
  env: Reach['env']
  clock: Clock
  timers: Timers
  onError(error: Error): void
}): { poller: Poller; calls: Trials } {
  const { port, egress, env, clock, timers, onError } = parts
  const asks = { fetch: upstreamFetch(egress), env, clock, timers }
  return {
    poller: startPoller({ port, ...asks, random: Math.random, onError }),
    calls: createTrials({ port, ...asks }),
  }
}
