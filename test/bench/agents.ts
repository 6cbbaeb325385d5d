/**
 * Agents in the benchmark: what 200 runs at work, each waiting for its model, cost ingest over none, in
 * alternating rounds of one run on one daemon. The model is a scripted server.
 */

import { type Daemon, startDaemon } from '../chaos/daemon.ts'
import { type ScriptedModels, startScriptedModels } from '../models/scripted-server.ts'
import { createGenerator, makeBodies, SOURCE } from './data.ts'
import { sendAll } from './http.ts'

const RUNS = 200
const ROUNDS = 6
const ROUND_EVENTS = 200_000
/** A reply of a fast model takes from 1 to 3 s. */
const THINKS_MS = 2_000

async function ask<T>(daemon: Daemon, path: string, body: object, method = 'POST'): Promise<T> {
  const answer = await fetch(daemon.url + path, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as T
}

export interface RunCost {
  /** Rate of ingest with runs at work over that with none. */
  ratio: number
  /** Runs that were at work at least. */
  atWork: number
  /** Calls of the model a second meanwhile. */
  calls: number
}

export async function measureRunCost(folder: string): Promise<RunCost> {
  const models = await startScriptedModels()
  const daemon = await startDaemon(folder, [], {
    PROVIDERA_BASE_URL: models.url,
    PROVIDERA_API_KEY: 'scripted',
  })
  const { ingest_key } = await ask<{ ingest_key: string }>(daemon, '/api/sources', SOURCE)
  const wake = await prepareAgents(daemon)
  const url = `${daemon.url}/ingest/${ingest_key}`
  const generator = createGenerator(11, Date.now())
  const rates: number[][] = [[], []]
  let atWork = RUNS
  const asked = { calls: 0, seconds: 0 }
  for (let round = 0; round < ROUNDS; round++) {
    const stop = round % 2 === 1 ? await keepAtWork(daemon, models, wake, round) : null
    const bodies = makeBodies(generator, round * ROUND_EVENTS, ROUND_EVENTS / 1_000, ROUNDS * ROUND_EVENTS)
    const before = models.requests.length
    const seconds = await sendAll(url, bodies, 4)
    rates[round % 2]!.push(ROUND_EVENTS / seconds)
    if (!stop) continue
    asked.calls += models.requests.length - before
    asked.seconds += seconds
    atWork = Math.min(atWork, await stop())
  }
  await daemon.stop()
  await models.close()
  const [idle, busy] = rates.map((all) => Math.max(...all))
  return { ratio: busy! / idle!, atWork, calls: asked.calls / asked.seconds }
}

async function prepareAgents(daemon: Daemon): Promise<string> {
  const { ingest_key } = await ask<{ ingest_key: string }>(daemon, '/api/sources', {
    name: 'work',
    connector: 'webhook',
    config: { labels: [{ name: 'job', field: 'job', primary: true }] },
  })
  await ask(daemon, '/api/settings/agents', { concurrency: RUNS }, 'PUT')
  await ask(daemon, '/api/triggers', { name: 'jobs', sources: ['work'], condition: { event: 'any' } })
  await ask(daemon, '/api/agents/builtin', {
    name: 'busy',
    prompt: 'Look.',
    model: 'm1',
    trigger: 'jobs',
    concurrency: RUNS,
    daily_cap: 10_000,
    max_rounds: 24,
  })
  await ask(daemon, '/api/agents/builtin/busy/enable', {})
  return `${daemon.url}/ingest/${ingest_key}`
}

/** Wakes the runs, and waits until all are at work. @returns ends them; how many were at work then */
async function keepAtWork(
  daemon: Daemon,
  models: ScriptedModels,
  url: string,
  round: number,
): Promise<() => Promise<number>> {
  let isOver = false
  let asked = 0
  let all = () => {}
  const begun = new Promise<void>((resolve) => {
    all = resolve
  })
  models.reply('m1', () => {
    if (++asked === RUNS) all()
    if (isOver) return { calls: [{ name: 'conclude', arguments: { outcome: 'no_op' } }] }
    return {
      calls: [{ name: 'read', arguments: { selector: { job: 'none' } } }],
      delayUntil: new Promise((resolve) => setTimeout(resolve, THINKS_MS * (0.5 + Math.random()))),
    }
  })
  const items = Array.from({ length: RUNS }, (_, n) => ({ job: `r${round}-${n}` }))
  await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(items),
  })
  await begun
  const count = async (status: string): Promise<number> => {
    const answer = await fetch(`${daemon.url}/api/runs?status=${status}&limit=1`)
    return ((await answer.json()) as { total: number }).total
  }
  return async () => {
    const atWork = await count('running')
    isOver = true
    while ((await count('open')) > 0) await new Promise((resolve) => setTimeout(resolve, 100))
    return atWork
  }
}
