/**
 * Ordinary work, all at once and as fast as it goes: NDJSON and single posts, reads, lists of entities, triggers
 * that fire, live tails and backtests, on the built daemon under the Node that runs this.
 */
import { readFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { createGenerator, type Generator, makeBodies, SOURCE } from '../bench/data.ts'
import { post } from '../bench/http.ts'
import { type Daemon, startDaemon } from './daemon.ts'

const NDJSON_WRITERS = 2
const SINGLE_WRITERS = 8
const READERS = 4
const TAILS = 4
/** Bodies that are sent again and again: making them must not be what is measured. */
const BODIES = 100

export interface MixedReport {
  node: string
  /** How often each kind of call was answered. */
  answered: Record<string, number>
  /** Calls that failed, at most ten. */
  failed: string[]
  acknowledged: number
  stored: number
  firings: number
  /** Highest resident memory of the daemon, in MB of 10^6 bytes. */
  peakMb: number
  exitCode: number | null
}

const TRIGGERS = {
  yaml: [
    'triggers:',
    ...Array.from(
      { length: 20 },
      (_, n) =>
        `  - { name: errors-${n}, sources: [bench], filters: [{ field: event_type, op: eq, value: error }], key_field: env, condition: { aggregate: count, predicate: "> ${n}", window: 5m }, cooldown: 10s }`,
    ),
  ].join('\n'),
}

/** @param seconds how long the load lasts. @throws Error when the daemon does not start */
export async function runMixedLoad(folder: string, seconds: number): Promise<MixedReport> {
  // As it is installed: the command tells the process what memory it may keep.
  const daemon = await startDaemon(
    folder,
    [],
    { NODE_COMPILE_CACHE: fromRoot('dist/.compiled') },
    fromRoot('bin/svc.mjs'),
  )
  const load = new MixedLoad(daemon, Date.now() + seconds * 1_000)
  await load.run()
  const peakMb = (Number(/VmHWM:\s+(\d+)/.exec(statusOf(daemon))![1]) * 1_024) / 1e6
  const { firings } = (await load.ask('GET', '/api/firings?limit=200')) as { firings: unknown[] }
  const exitCode = await daemon.stop()
  return {
    node: process.versions.node,
    answered: Object.fromEntries(load.answered),
    failed: load.failed,
    acknowledged: load.acknowledged,
    stored: countEvents(join(folder, 'svc.db')),
    firings: firings.length,
    peakMb: Math.round(peakMb),
    exitCode,
  }
}

const fromRoot = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))

function countEvents(file: string): number {
  const db = new Database(file, { readonly: true })
  try {
    return db.prepare('SELECT count(*) FROM events').pluck().get() as number
  } finally {
    db.close()
  }
}

const statusOf = (daemon: Daemon) => readFileSync(`/proc/${daemon.process.pid}/status`, 'utf8')

class MixedLoad {
  readonly answered = new Map<string, number>()
  readonly failed: string[] = []
  acknowledged = 0
  private readonly agent = new Agent({ keepAlive: true })
  private readonly generator: Generator = createGenerator(11, Date.now())
  private url = ''

  constructor(
    private readonly daemon: Daemon,
    private readonly until: number,
  ) {}

  async run(): Promise<void> {
    const source = (await this.ask('POST', '/api/sources', SOURCE)) as { ingest_key: string }
    this.url = `${this.daemon.url}/ingest/${source.ingest_key}`
    await this.ask('POST', '/api/catalog/import', TRIGGERS)
    const bodies = makeBodies(this.generator, BODIES * 1_000, BODIES, BODIES * 2_000)
    // Before the rest, which lists what there is.
    await post(this.agent, this.url, bodies[0]!)
    this.acknowledged += 1_000
    const many = <T>(length: number, work: (n: number) => Promise<T>) =>
      Array.from({ length }, (_, n) => work(n))
    await Promise.all([
      ...many(NDJSON_WRITERS, (n) => this.write('ndjson', 1_000, (turn) => bodies[(turn * 2 + n) % BODIES]!)),
      ...many(SINGLE_WRITERS, () => this.write('single', 1, (turn) => this.singleOf(turn))),
      ...many(READERS, () => this.repeat('read', () => this.read())),
      this.repeat('entities', () => this.ask('GET', '/api/entities?label=entity&limit=100')),
      this.repeat('backtest', () => this.backtest()),
      ...many(TAILS, () => this.tail()),
    ])
    this.agent.destroy()
  }

  async ask(method: string, path: string, body?: object): Promise<unknown> {
    const answer = await fetch(this.daemon.url + path, {
      method,
      ...(body ? { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) } : {}),
    })
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
    return answer.json()
  }

  private async repeat(kind: string, work: (turn: number) => Promise<unknown>): Promise<void> {
    for (let turn = 0; Date.now() < this.until && this.failed.length < 10; turn++) {
      try {
        await work(turn)
        this.answered.set(kind, (this.answered.get(kind) ?? 0) + 1)
      } catch (error) {
        this.failed.push(`${kind}: ${(error as Error).message}`)
      }
    }
  }

  private write(kind: string, events: number, bodyOf: (turn: number) => Buffer): Promise<void> {
    return this.repeat(kind, async (turn) => {
      await post(this.agent, this.url, bodyOf(turn))
      this.acknowledged += events
    })
  }

  /** Of now, so that windows of triggers fill. */
  private singleOf(turn: number): Buffer {
    const event = JSON.parse(this.generator.line(turn, turn + 1))
    return Buffer.from(JSON.stringify({ ...event, at: new Date().toISOString() }))
  }

  private read(): Promise<unknown> {
    return this.ask('POST', '/read', {
      selector: { entity: this.generator.entity() },
      window: '30d',
      include_payload: true,
    })
  }

  private backtest(): Promise<unknown> {
    return this.ask('POST', '/api/triggers/backtest', { trigger: 'errors-0', window: '1h' })
  }

  /** One live tail after the other, each left after five seconds. */
  private tail(): Promise<void> {
    return this.repeat('tail', async () => {
      const leave = new AbortController()
      const answer = await fetch(`${this.daemon.url}/api/tail`, { signal: leave.signal })
      const stop = delay(5_000).then(() => leave.abort())
      try {
        for await (const part of answer.body!) if (part.length === 0) break
      } catch (error) {
        if (!leave.signal.aborted) throw error
      }
      await stop
    })
  }
}
