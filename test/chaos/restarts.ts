/**
 * Restarts the daemon, killed or stopped, while its file grows past every size at which the store changes its ways:
 * labels that get keys, segments that are sealed, values that are forgotten. After each start, and before each end, what
 * reads, lists and counts say is compared with a model; where retention removes events meanwhile, with what is in the file.
 * Run by `npm run chaos -- restarts` and `-- removal`.
 */
import { setTimeout as pause } from 'node:timers/promises'
import BetterSqlite3 from 'better-sqlite3'
import { labelIdsOf } from '../../engine/log/store/tail.ts'
import { random } from '../engine/log/store/store-harness.ts'
import { type Daemon, startDaemon } from './daemon.ts'

export interface RestartReport {
  restarts: number
  events: number
  /** Different values of the label with the most. */
  orders: number
  /** What was not as counted: must be empty. */
  wrong: string[]
}

/** Of the first daemon: fewer labels than get keys, so that those of before a start meet the first keys. */
const FIRST_EVENTS = 3_000
const MOST_EVENTS = 60_000
const MOST_AT_ONCE = 1_500
const WINDOW = '2d'
const SVC_RETENTION_SIZE = '40M'
/** Between two looks at whether removal is at rest. */
const REST_MS = 700
/** Looks at a file that removal changes meanwhile. */
const TRIES_MAX = 5
/** More than are wrong by one cause. */
const WRONG_MAX = 20

const LABELS = [
  { name: 'service', field: 'service', primary: true },
  { name: 'order', field: 'order' },
  { name: 'host', field: 'host' },
]

/** Events by value of each label. */
type Counts = Record<'service' | 'order' | 'host', Map<string, number>>

/** Each has one service. */
const eventsOf = ({ service }: Counts): number => [...service.values()].reduce((sum, n) => sum + n, 0)

const nothingCounted = (): Counts => ({ service: new Map(), order: new Map(), host: new Map() })

/** What was acknowledged. */
class Model {
  events = 0
  orders = 0
  readonly counts = nothingCounted()

  constructor(private readonly next: () => number) {}

  below(n: number): number {
    return Math.floor(this.next() * n)
  }

  /** @param fresh share of events of a new order */
  make(fresh: number): { service: string; order: string; host: string } {
    const isNew = this.orders === 0 || this.next() < fresh
    const order = `order-${isNew ? this.orders++ : this.below(this.orders)}`
    return { service: `service-${Math.floor(this.next() ** 2 * 20)}`, order, host: `host-${this.below(300)}` }
  }

  count(event: Readonly<Record<keyof Counts, string>>): void {
    this.events++
    for (const [label, counts] of Object.entries(this.counts)) add(counts, event[label as keyof Counts])
  }

  /** Some values, of which there may be events. */
  some(label: keyof Counts, n: number): string[] {
    const all = [...this.counts[label].keys()]
    return Array.from({ length: n }, () => all[this.below(all.length)]!)
  }
}

const add = (counts: Map<string, number>, value: string) => counts.set(value, (counts.get(value) ?? 0) + 1)

/** As many restarts. @param seed of the events and of how each daemon ends */
export const runRestarts = (dataDir: string, restarts: number, seed: number): Promise<RestartReport> =>
  restart(dataDir, restarts, seed, {})

/** The same while retention removes events. */
export const runRemoval = (dataDir: string, restarts: number, seed: number): Promise<RestartReport> =>
  restart(dataDir, restarts, seed, { SVC_RETENTION_SIZE })

async function restart(
  dataDir: string,
  restarts: number,
  seed: number,
  env: Record<string, string>,
): Promise<RestartReport> {
  const next = random(seed)
  const model = new Model(next)
  const wrong: string[] = []
  const look = async (when: string) => {
    const file = env.SVC_RETENTION_SIZE ? `${dataDir}/svc.db` : null
    for (let tries = 1; ; tries++) {
      const counts = file ? await countFile(file) : model.counts
      const found = await compare(daemon, model, counts)
      // Removal goes on where sealing made the file grow: then what was counted is not what was read.
      const hasMoved =
        found.length > 0 && file !== null && eventsOf(await countFile(file)) !== eventsOf(counts)
      if (hasMoved && tries < TRIES_MAX) continue
      wrong.push(...found.map((what) => `${when}: ${what}`))
      return
    }
  }
  let daemon = await startDaemon(dataDir, [], env)
  const source = { name: 'load', connector: 'webhook', config: { labels: LABELS, event_type_field: 'host' } }
  const { ingest_key } = await ask<{ ingest_key: string }>(daemon, '/api/sources', source)
  for (let n = 1; n <= restarts && wrong.length < WRONG_MAX; n++) {
    await send(daemon, ingest_key, model, n === 1 ? FIRST_EVENTS : 1_000 + model.below(MOST_EVENTS))
    await look(`before restart ${n}`)
    if (next() < 0.5) await daemon.kill()
    else await daemon.stop()
    daemon = await startDaemon(dataDir, [], env)
    await look(`after restart ${n}`)
  }
  await daemon.stop()
  return { restarts, events: model.events, orders: model.orders, wrong }
}

/** What is in a file, once retention has removed what it is to. */
async function countFile(file: string): Promise<Counts> {
  const db = new BetterSqlite3(file, { readonly: true })
  const number = (sql: string) => db.prepare(sql).pluck().get() as number
  const state = () =>
    [number('SELECT count(*) FROM events'), number('SELECT count(*) FROM segs WHERE dropping = 1')].join()
  for (let before = ''; before !== state() || !before.endsWith(',0'); before = state()) await pause(REST_MS)
  const names = new Map(
    db
      .prepare<[], { id: number; name: string; value: string }>('SELECT id, name, value FROM labels')
      .all()
      .map((label) => [label.id, label]),
  )
  const counts = nothingCounted()
  for (const blob of db.prepare<[], Buffer>('SELECT labels FROM events').pluck().iterate())
    for (const id of labelIdsOf(blob)) {
      const { name, value } = names.get(id)!
      if (Object.hasOwn(counts, name)) add(counts[name as keyof Counts], value)
    }
  db.close()
  return counts
}

async function ask<T>(daemon: Daemon, path: string, body?: object): Promise<T> {
  const answer = await fetch(daemon.url + path, {
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
    headers: { 'content-type': 'application/json' },
  })
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as T
}

async function send(daemon: Daemon, key: string, model: Model, events: number): Promise<void> {
  const fresh = model.below(3) === 0 ? 0.02 : 0.6
  for (let sent = 0; sent < events; ) {
    const size = Math.min(events - sent, 1 + model.below(MOST_AT_ONCE))
    const batch = Array.from({ length: size }, () => model.make(fresh))
    const answer = await fetch(`${daemon.url}/ingest/${key}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body: batch.map((one) => JSON.stringify(one)).join('\n'),
    })
    if (answer.status !== 202) throw new Error(`ingest answered ${answer.status}: ${await answer.text()}`)
    for (const one of batch) model.count(one)
    sent += size
    // A reader that looks now and then follows what is new in parts.
    if (model.below(20) === 0) await countRead(daemon, { selector: { order: model.some('order', 1)[0] } })
  }
}

/** @returns what is not as counted, a sentence each */
async function compare(daemon: Daemon, model: Model, counts: Counts): Promise<string[]> {
  const wrong: string[] = []
  const hold = (what: string, found: number | undefined, expected: number | undefined) => {
    if ((found ?? 0) !== (expected ?? 0)) wrong.push(`${what} has ${found} events, not ${expected}`)
  }
  for (const order of ['order-0', 'order-1', ...model.some('order', 25)])
    hold(`a read of ${order}`, await countRead(daemon, { selector: { order } }), counts.order.get(order))
  for (const host of model.some('host', 3)) {
    const n = counts.host.get(host)
    hold(`a read of ${host}`, await countRead(daemon, { selector: { host } }), n)
    hold(`a read of the type ${host}`, await countRead(daemon, { sources: ['load'], event_types: [host] }), n)
  }
  const { rows } = await ask<{ rows: { value: string; now: number }[] }>(daemon, '/api/stats', {
    by: 'service',
    window: WINDOW,
  })
  for (const [service, n] of counts.service)
    hold(`${service} in stats`, rows.find(({ value }) => value === service)?.now, n)
  const { labels } = await ask<{ labels: { label: string; values: { value: string; events: number }[] }[] }>(
    daemon,
    '/api/entities?limit=50',
  )
  const listed = labels.find(({ label }) => label === 'service')?.values ?? []
  for (const [service, n] of counts.service)
    hold(`${service} in the list of entities`, listed.find(({ value }) => value === service)?.events, n)
  return wrong
}

/** How many events a read gives over all of its pages. */
async function countRead(daemon: Daemon, request: object): Promise<number> {
  let n = 0
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: { rows: unknown[]; next_cursor?: string | null } = await ask(daemon, '/read', {
      ...{ ...request, window: WINDOW, limit: 1_000 },
      ...(cursor && { cursor }),
    })
    n += page.rows.length
    cursor = page.next_cursor ?? null
  }
  return n
}
