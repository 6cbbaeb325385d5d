/** Agents at work beside the store: what they ask of models and tools. */
import type { Clock, Timers } from '../clock.ts'
import type { Egress } from '../egress/index.ts'
import { mcpFetch } from '../mcp-tools/tests.ts'
import type { Models } from '../models/types.ts'
import type { NetworkCalls } from '../operations/network.ts'
import { connector } from '../runs/connecting.ts'
import { type Runner, startRunner } from '../runs/runner.ts'

/** @param parts `finished` is told of each run that has ended */
export function startAgents(parts: {
  engine: NetworkCalls
  models: Models
  egress: Egress
  clock: Clock
  timers: Timers
  onError(error: Error): void
  finished(run: string): void
}): Runner {
  const { engine, models, egress, clock, timers, onError, finished } = parts
  const connect = connector({ calls: engine, http: mcpFetch(egress), clock, timers })
  return startRunner({ port: engine, models, connect, clock, timers, onError, finished })
}
