/** Deliveries of an instance under a test's eye: real requests, time moved by hand. */

import { createEgress } from '../../engine/net/fetch.ts'
import { outboxPort, startOutboxWorker, type TryResult } from '../../engine/outbox/queue.ts'
import { createSlackApi, type SlackEnvironment } from '../../engine/outbox/slack-api.ts'
import { manualTime } from '../engine/net/egress/manual-time.ts'
import { noApps } from '../engine/net/no-apps.ts'
import { startHere, T0 } from './instance.ts'

export interface Sending extends Awaited<ReturnType<typeof startHere>> {
  /** Moves the clock of the engine and of the worker, doing what is due on the way. */
  pass(ms: number): Promise<void>
  /** Resolves once so many tries came to something in all. */
  settled(count: number): Promise<TryResult[]>
}

/** @param allowPrivate as SVC_WEBHOOK_ALLOW_PRIVATE */
export async function startSending({
  secured = false,
  allowPrivate = false,
  slack,
}: {
  secured?: boolean
  allowPrivate?: boolean
  slack?: SlackEnvironment
} = {}): Promise<Sending> {
  const time = manualTime(T0)
  const results: TryResult[] = []
  const waiting: { count: number; go(): void }[] = []
  const instance = await startHere({
    secured,
    webhookAllowPrivate: allowPrivate,
    ...(slack ? { slack } : {}),
    onPending: () => worker.nudge(),
  })
  const { engine, clock } = instance
  const egress = createEgress({ allowPrivate, timers: time })
  const port = outboxPort(engine)
  const worker = startOutboxWorker({
    port: {
      ...port,
      settle: async (id, result) => {
        await port.settle(id, result)
        results.push(result)
        for (const { count, go } of waiting) if (results.length >= count) go()
      },
    },
    ...{ egress, tokens: noApps },
    slack: {
      api: createSlackApi({ egress, clock }),
      access: () => engine.slackAccess(),
      publicUrl: slack?.publicUrl ?? null,
    },
    clock,
    timers: time,
    random: () => 0.5,
    onError: (error) => {
      throw error
    },
  })
  return {
    ...instance,
    pass: async (ms) => {
      clock.at += ms
      engine.tick()
      time.advance(ms)
    },
    settled: async (count) => {
      await new Promise<void>((go) => (results.length >= count ? go() : waiting.push({ count, go })))
      return results
    },
    stop: async () => {
      await worker.stop()
      egress.close()
      await instance.stop()
    },
  }
}
