/** The demo in process: the real engine, poller and runner, in time that a test moves; no model but the scripted one. */

import Database from 'better-sqlite3'
import { onTestFinished } from 'vitest'
import { createModels } from '../../../../engine/agents/models/models.ts'
import { connector, startRunner } from '../../../../engine/agents/runs/runner.ts'
import { createEngine, type EngineOptions } from '../../../../engine/local.ts'
import { createEgress } from '../../../../engine/net/fetch.ts'
import { startPoller } from '../../../../engine/sources/poller.ts'
import { manualTime } from '../../net/egress/manual-time.ts'
import { noApps } from '../../net/no-apps.ts'
import { until } from '../../outbox/setup.ts'

export const T0 = Date.parse('2026-11-20T12:00:00Z')
export const ME = { caller: { id: 'open', name: 'test' }, origin: 'api' as const }

/** Whoever asks for a way out of the process fails the test. */
const noNetwork: typeof fetch = async () => {
  throw new Error('the demo asked the network')
}

/**
 * Tables that only grow, or that count: names of labels are kept in the dictionary, ids are never given twice, and
 * facts about the file are none of the demo.
 */
const GROWING = ['labels', 'label_keys', 'labels_keyed', 'label_counts', 'meta', 'sqlite_sequence', 'commits']

/** Every row of every other table of a data file. */
export function tablesOf(file: string): Record<string, unknown[]> {
  const db = new Database(file, { readonly: true })
  const names = db
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    .pluck()
    .all() as string[]
  const rows = names
    .filter((name) => !GROWING.includes(name))
    .map((name) => [name, db.prepare(`SELECT * FROM ${name}`).all()] as const)
  db.close()
  return Object.fromEntries(rows)
}

export function demoWorld(options: Partial<EngineOptions> & { at?: number } = {}) {
  const { at = T0, ...more } = options
  const time = manualTime(at)
  const faults: string[] = []
  const nudged = { sources: () => {}, runs: () => {} }
  const engine = createEngine({
    dataFile: null,
    clock: time,
    onSourcesChanged: () => nudged.sources(),
    onPending: () => nudged.runs(),
    onFault: (error) => faults.push(error.stack ?? error.message),
    ...more,
  })
  const onError = (error: Error) => faults.push(error.stack ?? error.message)
  const poller = startPoller({
    ...{ port: engine, fetch: noNetwork, tokens: noApps, clock: time, timers: time },
    ...{ random: () => 0.5, onError },
  })
  const egress = createEgress({ allowPrivate: false, timers: time })
  const runner = startRunner({
    port: engine,
    models: createModels({
      ...{ config: () => engine.modelConfig(), keepModels: async () => {} },
      ...{ http: noNetwork, clock: time, timers: time, random: () => 0.5 },
    }),
    connect: connector({ calls: engine, http: noNetwork, tokens: noApps, clock: time, timers: time }),
    ...{ clock: time, timers: time, onError },
  })
  nudged.sources = () => poller.nudge()
  nudged.runs = () => runner.nudge()
  let isClosed = false
  const close = async () => {
    if (isClosed) return
    isClosed = true
    const stopped = Promise.all([poller.stop(), runner.stop()])
    let isStopped = false
    void stopped.then(() => {
      isStopped = true
    })
    await until(() => {
      if (!isStopped) time.advance(2_000)
      return isStopped
    })
    egress.close()
    await engine.close()
  }
  onTestFinished(close)
  /** All that is under way comes to rest. */
  const rest = async () => {
    for (let quiet = 0; quiet < 5; ) {
      await new Promise((go) => setImmediate(go))
      const { runs } = await engine.listRuns({ status: 'open', limit: 1, offset: 0 })
      quiet = runs.length === 0 ? quiet + 1 : 0
    }
  }
  return {
    engine,
    time,
    faults,
    rest,
    close,
    /** Told after each commit that changed sources. */
    onSources(told: () => void) {
      nudged.sources = () => {
        told()
        poller.nudge()
      }
    },
    /** Lets time go by as a daemon does: polls, what triggers have due, runs. */
    async pass(ms: number, step = 1_000) {
      for (let left = ms; left > 0; left -= step) {
        time.advance(Math.min(step, left))
        engine.tick()
        poller.nudge()
        await rest()
      }
    },
    incidents: async (state?: 'handled') =>
      (await engine.listIncidents({ ...(state ? { state } : {}), limit: 50 }, null)).incidents,
  }
}
