/** A worker over an outbox in memory and the real way out, in time that a test moves. */

import { onTestFinished } from 'vitest'
import { type OutboxWorker, startOutboxWorker } from '../../../engine/outbox/queue.ts'
import { type ManualTime, manualTime } from '../net/egress/manual-time.ts'
import { client, turn } from '../net/egress/setup.ts'
import { noApps } from '../net/no-apps.ts'
import { type FakePort, fakePort } from './fake-port.ts'

export interface Setup {
  port: FakePort
  worker: OutboxWorker
  /** Of the worker: its clock and its timers. */
  time: ManualTime
  /** Of the way out: deadlines of requests. */
  wire: ManualTime
  errors: string[]
  /** Adds deliveries and says so. */
  send(...rows: Parameters<FakePort['add']>[0][]): void
  /** Resolves once so many were settled in all. */
  settled(count: number): Promise<void>
  /** Resolves once it waits for a timer and nothing else, with the wait. */
  asleep(): Promise<number>
}

/** Nothing here is sent to Slack. */
const NO_SLACK = {
  api: () => Promise.reject(new Error('there is no Slack here')),
  access: () => Promise.reject(new Error('there is no Slack here')),
  publicUrl: null,
}

export function setup(): Setup {
  const time = manualTime()
  const { time: wire, ...egress } = client()
  const port = fakePort(time)
  const errors: string[] = []
  const worker = startOutboxWorker({
    port,
    ...{ egress, tokens: noApps },
    slack: NO_SLACK,
    clock: time,
    timers: time,
    random: () => 0.5,
    onError: (error) => errors.push(error.message),
  })
  onTestFinished(() => void worker.stop())
  return {
    port,
    worker,
    time,
    wire,
    errors,
    send(...rows) {
      for (const row of rows) port.add(row)
      worker.nudge()
    },
    settled: (count) => until(() => port.results.length >= count),
    async asleep() {
      await until(() => time.waits().length > 0)
      return time.waits()[0]!
    },
  }
}

/** Lets the event loop turn until something holds; the test's own timeout is the bound. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await turn()
}

/** Turns enough for whatever would happen to have happened. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 50; i++) await turn()
}

/** A promise, and how to resolve it. */
export function gate(): { opened: Promise<void>; open(): void } {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}
