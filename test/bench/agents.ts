/**
 * Agents in the benchmark: what 200 runs at work, each waiting for its model, cost ingest over none, in
 * alternating rounds of one run on one daemon; and what 200 that wake at once take. The model is a scripted server.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { type Daemon, startDaemon } from '../chaos/daemon.ts'
import { startScriptedModels } from '../models/scripted-server.ts'
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
  const model = await startModel()
  const daemon = await startDaemon(folder, [], {
    PROVIDERA_BASE_URL: model.url,
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
    const stop = round % 2 === 1 ? await keepAtWork(daemon, model, wake, round) : null
    const bodies = makeBodies(generator, round * ROUND_EVENTS, ROUND_EVENTS / 1_000, ROUNDS * ROUND_EVENTS)
    const before = await model.calls()
    const seconds = await sendAll(url, bodies, 4)
    rates[round % 2]!.push(ROUND_EVENTS / seconds)
    if (!stop) continue
    asked.calls += (await model.calls()) - before
    asked.seconds += seconds
    atWork = Math.min(atWork, await stop())
  }
  await daemon.stop()
  await model.close()
  const [idle, busy] = rates.map((all) => Math.max(...all))
  return { ratio: busy! / idle!, atWork, calls: asked.calls / asked.seconds }
}

interface Model {
  url: string
  /** Told when it was asked as often as there are runs since it last began. */
  begin(): Promise<void>
  /** What asks from now on is told to conclude. */
  end(): void
  calls(): Promise<number>
  close(): Promise<void>
}

/** A model on a thread of its own: in use it is another's machine, and no body may wait for its answers to be written. */
async function startModel(): Promise<Model> {
  const thread = new Worker(new URL('./model.ts', import.meta.url), {
    workerData: { thinksMs: THINKS_MS, runs: RUNS },
  })
  const told = async <M>(of: (message: M) => boolean): Promise<M> => {
    for (;;) {
      const [message] = (await once(thread, 'message')) as [M]
      if (of(message)) return message
    }
  }
  const { url } = await told<{ url: string }>(() => true)
  return {
    url,
    begin: async () => {
      thread.postMessage('begin')
      await told((message) => message === 'begun')
    },
    end: () => thread.postMessage('over'),
    calls: async () => {
      thread.postMessage('count')
      return (await told<{ calls?: number }>(({ calls }) => calls !== undefined)).calls!
    },
    close: async () => {
      thread.postMessage('close')
      await once(thread, 'exit')
    },
  }
}

export interface Storm {
  /** Events that each of the runs looks at first. */
  events: number
  /** Most memory of the daemon while they wake over what it had before, MB. */
  grown: number
  /** When the first run asks its model and when the last does, ms after they were woken. */
  first: number
  last: number
}

/** As many runs at once as the bound allows, each of which looks at all events of its project first. */
export async function measureStorm(folder: string, events = 20_000): Promise<Storm> {
  const models = await startScriptedModels()
  const daemon = await startDaemon(folder, [], {
    PROVIDERA_BASE_URL: models.url,
    PROVIDERA_API_KEY: 'scripted',
  })
  const url = await prepareAgents(daemon, async (work) => {
    const line = (n: number) => ({ job: `job-${n % 300}`, message: `answered in ${(n * 7) % 9_973} ms` })
    for (let at = 0; at < events; at += 2_000)
      await postItems(
        work,
        Array.from({ length: 2_000 }, (_, i) => line(at + i)),
      )
  })
  let asked = 0
  let [first, last] = [0, 0]
  let all = () => {}
  const over = new Promise<void>((resolve) => {
    all = resolve
  })
  const before = memoryMb(daemon, 'VmRSS')
  const began = performance.now()
  models.reply('m1', () => {
    last = performance.now() - began
    if (asked++ === 0) first = last
    if (asked === RUNS) all()
    return { calls: [{ name: 'conclude', arguments: { outcome: 'no_op' } }] }
  })
  await postItems(
    url,
    Array.from({ length: RUNS }, (_, n) => ({ job: `r-${n}`, message: 'pod crashed' })),
  )
  await over
  const grown = memoryMb(daemon, 'VmHWM') - before
  await daemon.stop()
  await models.close()
  return { events, grown, first, last }
}

/** @param which `VmRSS`: as it is; `VmHWM`: the most it ever was (proc(5)) */
export function memoryMb(daemon: Daemon, which: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${daemon.process.pid}/status`, 'utf8')
  return Number(new RegExp(`${which}:\\s+(\\d+)`).exec(status)![1]) / 1024
}

async function postItems(url: string, items: readonly object[]): Promise<void> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(items),
  })
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`)
}

/** @param before what is posted while nothing wakes the agent. @returns where what wakes it is posted */
async function prepareAgents(
  daemon: Daemon,
  before: (url: string) => Promise<void> = async () => {},
): Promise<string> {
  const { ingest_key } = await ask<{ ingest_key: string }>(daemon, '/api/sources', {
    name: 'work',
    connector: 'webhook',
    config: { labels: [{ name: 'job', field: 'job', primary: true }] },
  })
  const url = `${daemon.url}/ingest/${ingest_key}`
  await before(url)
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
  return url
}

/** Wakes the runs, and waits until all are at work. @returns ends them; how many were at work then */
async function keepAtWork(
  daemon: Daemon,
  model: Model,
  url: string,
  round: number,
): Promise<() => Promise<number>> {
  const begun = model.begin()
  await postItems(
    url,
    Array.from({ length: RUNS }, (_, n) => ({ job: `r${round}-${n}` })),
  )
  await begun
  const count = async (status: string): Promise<number> => {
    const answer = await fetch(`${daemon.url}/api/runs?status=${status}&limit=1`)
    return ((await answer.json()) as { total: number }).total
  }
  return async () => {
    const atWork = await count('running')
    model.end()
    while ((await count('open')) > 0) await new Promise((resolve) => setTimeout(resolve, 100))
    return atWork
  }
}
