/** A real engine, the poller and the real way out, in time that a test moves. */
import { onTestFinished } from 'vitest'
import { createEngine, type EngineOptions } from '../../../../engine/local.ts'
import { fetchOver } from '../../../../engine/net/fetch.ts'
import { createGithubTokens } from '../../../../engine/net/github-app.ts'
import { type PollMade, type PollPort, startPoller } from '../../../../engine/sources/poller.ts'

import { manualTime } from '../../net/egress/manual-time.ts'
import { client } from '../../net/egress/setup.ts'
import { until } from '../../outbox/setup.ts'

export const ME = { caller: { id: 'open', name: 'test' }, origin: 'api' as const }

/** @param options of the engine; `port` wraps what the poller works through. */
export function setup(options: Partial<EngineOptions> & { port?: (engine: PollPort) => PollPort } = {}) {
  const time = manualTime()
  const { time: wire, ...egress } = client()
  const nudged = { by: () => {} }
  const faults: string[] = []
  const engine = createEngine({
    dataFile: null,
    clock: time,
    onSourcesChanged: () => nudged.by(),
    onFault: (error) => faults.push(error.message),
    ...options,
  })
  const settled: PollMade[] = []
  const given = options.port?.(engine) ?? engine
  const port: PollPort = {
    duePolls: (limit, busy) => given.duePolls(limit, busy),
    settlePoll: async (made) => {
      await given.settlePoll(made)
      settled.push(made)
    },
  }
  const start = () =>
    startPoller({
      port,
      fetch: fetchOver(egress, {
        audience: 'operator',
        timeoutMs: 60_000,
        maxResponseBytes: 16 * 1024 * 1024,
      }),
      tokens: createGithubTokens({ egress, clock: time }),
      clock: time,
      timers: time,
      env: options.env,
      random: () => 0.5,
      onError: (error) => faults.push(error.message),
    })
  const poller = start()
  nudged.by = () => poller.nudge()
  onTestFinished(async () => {
    await Promise.race([poller.stop(), until(() => time.waits().length > 0).then(() => time.advance(2_000))])
    await engine.close()
  })
  return {
    engine,
    poller,
    time,
    wire,
    faults,
    /** Polls that were made and settled, oldest first. */
    settled,
    until: (count: number) => until(() => settled.length >= count),
    /** Resolves once it waits for a timer alone, with the wait. */
    async asleep(): Promise<number> {
      await until(() => time.waits().length === 1)
      return time.waits()[0]!
    },
    create: (name: string, config: Record<string, unknown>, poll?: string) =>
      engine.createSource({ name, connector: 'http_poll', config, ...(poll ? { poll } : {}) }, ME, false),
    update: (name: string, config: Record<string, unknown>, poll?: string) =>
      engine.updateSource(name, { name, connector: 'http_poll', config, ...(poll ? { poll } : {}) }, ME),
    health: async (name: string) => (await engine.getSource(name)).health,
    /** Texts of the events of a source, oldest first. */
    texts: async (name: string) => (await engine.sourceEvents(name, 1_000)).map(({ text }) => text).reverse(),
  }
}
