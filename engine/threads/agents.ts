/** Agents at work beside the store: what they ask of models and tools, and the findings they post. */
import type { Clock, Timers } from '../clock.ts'
import type { Egress } from '../egress/index.ts'
import { mcpFetch } from '../mcp-tools/tests.ts'
import type { Models } from '../models/types.ts'
import type { NetworkCalls } from '../operations/network.ts'
import { connector } from '../runs/connecting.ts'
import { startRunner } from '../runs/runner.ts'
import { startWriteBacks } from '../runs/write-backs.ts'
import type { SlackApi } from '../slack/api.ts'
import { startSlackPoster } from '../slack/poster.ts'
import type { SlackPostPort } from '../slack/posts.ts'

export interface AgentsAtWork {
  /** Something may wait. */
  nudge(): void
  /** A person ended a run. */
  cut(run: string): void
  stop(): Promise<void>
}

/** @param parts `finished` is told of each run that has ended */
export function startAgents(parts: {
  engine: NetworkCalls
  models: Models
  egress: Egress
  clock: Clock
  timers: Timers
  onError(error: Error): void
  finished(run: string): void
  /** What waits for Slack, and how it is called. */
  slack: { port: SlackPostPort; api: SlackApi }
}): AgentsAtWork {
  const { engine, models, egress, clock, timers, onError, finished, slack } = parts
  const connect = connector({ calls: engine, http: mcpFetch(egress), clock, timers })
  const runner = startRunner({ port: engine, models, connect, clock, timers, onError, finished })
  const writeBacks = startWriteBacks({ port: engine, egress, clock, timers, onError })
  const poster = startSlackPoster({ ...slack, egress, clock, timers, onError })
  return {
    nudge: () => {
      runner.nudge()
      writeBacks.nudge()
      poster.nudge()
    },
    cut: runner.cut,
    stop: async () => {
      await runner.stop()
      await Promise.all([writeBacks.stop(), poster.stop()])
    },
  }
}
