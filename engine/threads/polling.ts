/** Polling beside the store: upstreams are asked on the main thread, what they say is stored by the writer. */
import type { Clock, Timers } from '../clock.ts'
import type { Reach } from '../connectors/connector.ts'
import { type Egress, fetchOver } from '../egress/index.ts'
import { type Poller, startPoller } from '../polling/poller.ts'
import type { PollPort } from '../polling/types.ts'

/** Longer than anything may take: a poll, a test and a discovery have their own ends. */
const REQUEST_MS = 60_000
/** Of one answer, whatever the connector asks for. */
const ANSWER_BYTES = 16 * 1024 * 1024

/** The way out to upstreams; an operator named them, so they may be inside the network. */
export const upstreamFetch = (egress: Egress): typeof fetch =>
  fetchOver(egress, { audience: 'operator', timeoutMs: REQUEST_MS, maxResponseBytes: ANSWER_BYTES })

/** Starts it; a nudge begins. */
export function startPolling(parts: {
  port: PollPort
  egress: Egress
  env: Reach['env']
  clock: Clock
  timers: Timers
  onError(error: Error): void
}): Poller {
  const { port, egress, env, clock, timers, onError } = parts
  return startPoller({ port, fetch: upstreamFetch(egress), env, clock, timers, random: Math.random, onError })
}
