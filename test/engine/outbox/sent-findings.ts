/** The outbox of a world of runs at work: findings posted over real HTTP, a try at a time. */

import { onTestFinished } from 'vitest'
import { createEgress } from '../../../engine/net/fetch.ts'
import { createGithubTokens } from '../../../engine/net/github-app.ts'
import {
  type OutboxPort,
  outboxPort,
  startOutboxWorker,
  type TryResult,
} from '../../../engine/outbox/queue.ts'
import { createSlackApi } from '../../../engine/outbox/slack-api.ts'
import type { RunWorld } from '../agents/runs/run-world.ts'
import { manualTime } from '../net/egress/manual-time.ts'

export interface SentFindings {
  /** Nudges, and resolves with what the next try of a finding came to. */
  tried(): Promise<TryResult & { id: string }>
  /** Another worker over the same rows. @param port what it calls instead */
  start(port?: Partial<OutboxPort>): ReturnType<typeof startOutboxWorker>
  port: OutboxPort
  errors: Error[]
  stop(): Promise<void>
}

export function sendFindings(
  world: Pick<RunWorld, 'engine' | 'clock'>,
  { publicUrl = null }: { publicUrl?: string | null } = {},
): SentFindings {
  const { engine, clock } = world
  const timers = manualTime(clock.at)
  const egress = createEgress({ allowPrivate: false, timers })
  const waiting: ((tried: TryResult & { id: string }) => void)[] = []
  const errors: Error[] = []
  const stored = outboxPort(engine)
  const port: OutboxPort = {
    ...stored,
    settle: async (id, result) => {
      await stored.settle(id, result)
      for (const go of waiting.splice(0)) go({ id, ...result })
    },
  }
  const started: ReturnType<typeof startOutboxWorker>[] = []
  const start = (more: Partial<OutboxPort> = {}) => {
    const worker = startOutboxWorker({
      port: { ...port, ...more },
      ...{ egress, tokens: createGithubTokens({ egress, clock }) },
      slack: { api: createSlackApi({ egress, clock }), access: () => engine.slackAccess(), publicUrl },
      clock,
      timers,
      random: () => 0.5,
      onError: (error) => void errors.push(error),
    })
    started.push(worker)
    return worker
  }
  const worker = start()
  const stop = async () => {
    await Promise.all(started.map((one) => one.stop()))
    egress.close()
  }
  onTestFinished(stop)
  return {
    tried: () =>
      new Promise((go) => {
        waiting.push(go)
        worker.nudge()
      }),
    start,
    port,
    errors,
    stop,
  }
}
