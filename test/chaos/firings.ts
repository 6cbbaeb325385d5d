/**
 * Kills the daemon at random instants while events trip triggers and webhooks go out, and checks
 * against a model that every crossing fired exactly once and every firing reached its receiver, under
 * one delivery id. Run long by `npm run chaos -- firings`, short by test/chaos/firings.test.ts.
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import BetterSqlite3 from 'better-sqlite3'
import { random } from '../engine/log/store/store-harness.ts'
import { type Daemon, startDaemon } from './daemon.ts'
import { Tally } from './tally.ts'

export interface FiringReport {
  kills: number
  events: number
  firings: number
  /** Crossings of the model without a firing: must be empty. */
  missing: string[]
  /** Firings the model has no crossing for, or has once: must be empty. */
  extra: string[]
  /** Firings no receiver was told of: must be empty. */
  untold: string[]
  /** Firings told under more than one delivery id: must be empty. */
  renamed: string[]
  /** Keys whose firings are not of one incident, or not counted by it: must be empty. */
  adrift: string[]
  /** How often a receiver was told again; allowed, at least once is the promise. */
  again: number
}

const WRITERS = 8
const TEAMS = 40

/** So that each daemon took something before it is killed, however slow the machine is. */
export const ANSWERS_BEFORE_KILL = 15
/** Events of a team that trip `three`; its cooldown is longer than the test. */
const THRESHOLD = 3

/** @param kills how many. @param seed of the load; the timing of the machine is not replayed. */
export async function runFiringKills(
  dataDir: string,
  kills: number,
  seed: number,
  onKill: (n: number) => void = () => {},
): Promise<FiringReport> {
  const next = random(seed)
  const receiver = await startReceiver()
  let daemon = await startDaemon(dataDir)
  const ingestUrl = await declare(daemon, receiver.url)
  const answers = new Tally()
  let counter = 0
  const make = () => ({ id: `n${counter++}`, team: `team-${Math.floor(next() * TEAMS)}` })
  const pending: { key: string; body: string }[] = []
  for (let n = 1; n <= kills; n++) {
    const batch = () => {
      const size = [1, 1, 4, 20][Math.floor(next() * 4)]!
      return { key: `k${counter}`, body: JSON.stringify(Array.from({ length: size }, make)) }
    }
    const load = startLoad(daemon.url + ingestUrl, pending, batch, answers)
    await answers.more(ANSWERS_BEFORE_KILL + Math.floor(next() * 16))
    // The instant between two answers is the point of the test; nothing is asserted about time.
    await pause(next() * 30)
    await daemon.kill()
    await load
    onKill(n)
    daemon = await startDaemon(dataDir)
  }
  await startLoad(daemon.url + ingestUrl, pending, () => null, answers)
  await drained(daemon)
  await daemon.stop()
  receiver.server.close()
  return { kills, ...inspect(dataDir, receiver.told) }
}

/** What came, by firing: delivery id of each telling. */
interface Receiver {
  server: Server
  url: string
  told: Map<string, string[]>
}

async function startReceiver(): Promise<Receiver> {
  const told = new Map<string, string[]>()
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => {
      text += chunk
    })
    request.on('end', () => {
      const { dispatch_id } = JSON.parse(text) as { dispatch_id: string }
      told.set(dispatch_id, [...(told.get(dispatch_id) ?? []), String(request.headers['webhook-id'])])
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, told }
}

async function declare(daemon: Daemon, hook: string): Promise<string> {
  const ask = async <T>(path: string, body: object): Promise<T> => {
    const answer = await fetch(daemon.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
    return (await answer.json()) as T
  }
  const labels = [
    { name: 'id', field: 'id', primary: true },
    { name: 'team', field: 'team' },
  ]
  const { ingest_key } = await ask<{ ingest_key: string }>('/api/sources', {
    name: 'load',
    connector: 'webhook',
    config: { labels },
  })
  const sources = ['load']
  await ask('/api/triggers', { name: 'each', sources, condition: { event: 'any' } })
  await ask('/api/triggers', {
    name: 'three',
    sources,
    condition: { aggregate: 'count', predicate: `>= ${THRESHOLD}`, window: '1d', group_by: ['team'] },
    cooldown: '1d',
  })
  for (const trigger of ['each', 'three']) await ask('/subscribe', { trigger, url: hook })
  return `/ingest/${ingest_key}`
}

/** Writers until the daemon is gone, or until there is nothing more to send. */
async function startLoad(
  url: string,
  pending: { key: string; body: string }[],
  make: () => { key: string; body: string } | null,
  answers: Tally,
): Promise<void> {
  const write = async (): Promise<void> => {
    for (let batch = pending.shift() ?? make(); batch; batch = pending.shift() ?? make()) {
      let status: number
      try {
        const answer = await fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'idempotency-key': batch.key },
          body: batch.body,
        })
        await answer.arrayBuffer()
        status = answer.status
      } catch {
        // The daemon was killed: the batch is sent again under its key.
        pending.push(batch)
        return
      }
      if (status !== 202) throw new Error(`ingest answered ${status}`)
      answers.add()
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, write))
}

/** Waits until nothing is left to deliver. */
async function drained(daemon: Daemon): Promise<void> {
  for (;;) {
    const answer = await fetch(`${daemon.url}/api/deliveries?status=running&limit=1`)
    const { deliveries } = (await answer.json()) as { deliveries: unknown[] }
    if (deliveries.length === 0) return
    await pause(50)
  }
}

/** Compares the stopped file with the model: what the stored events should have tripped. */
function inspect(dataDir: string, told: Map<string, string[]>): Omit<FiringReport, 'kills'> {
  const db = new BetterSqlite3(`${dataDir}/svc.db`, { readonly: true })
  const expected = new Map<string, number>()
  const perTeam = new Map<string, number>()
  let events = 0
  for (const raw of db.prepare('SELECT raw FROM events ORDER BY id').pluck().iterate() as Iterable<Buffer>) {
    const { id, team } = JSON.parse(raw.toString()) as { id: string; team: string }
    events++
    expected.set(`each ${id}`, 1)
    perTeam.set(team, (perTeam.get(team) ?? 0) + 1)
    if (perTeam.get(team) === THRESHOLD) expected.set(`three team=${team}`, 1)
  }
  const fired = new Map<string, number>()
  const firings = db.prepare('SELECT dispatch_id, trigger_name, key FROM firings').all() as {
    dispatch_id: string
    trigger_name: string
    key: string
  }[]
  const adrift = adriftIn(db)
  db.close()
  for (const { trigger_name, key } of firings)
    fired.set(`${trigger_name} ${key}`, (fired.get(`${trigger_name} ${key}`) ?? 0) + 1)
  return {
    events,
    firings: firings.length,
    missing: [...expected.keys()].filter((crossing) => !fired.has(crossing)),
    extra: [...fired]
      .filter(([crossing, n]) => n > 1 || !expected.has(crossing))
      .map(([crossing]) => crossing),
    untold: firings.map(({ dispatch_id }) => dispatch_id).filter((id) => !told.has(id)),
    renamed: [...told].filter(([, ids]) => new Set(ids).size > 1).map(([id]) => id),
    adrift,
    again: [...told.values()].reduce((sum, ids) => sum + ids.length - 1, 0),
  }
}

/** Nobody handles anything there: all firings of a trigger and key are of one incident, which counts them. */
function adriftIn(db: BetterSqlite3.Database): string[] {
  return db
    .prepare(
      `SELECT f.trigger_name || ' ' || f.key FROM firings f LEFT JOIN incidents i ON i.id = f.incident_id
       GROUP BY f.trigger_id, f.key
       HAVING count(DISTINCT f.incident_id) <> 1 OR sum(f.incident_id IS NULL) > 0 OR count(*) <> max(i.firings)
         OR (SELECT count(*) FROM incidents o WHERE o.trigger_id = f.trigger_id AND o.key = f.key) <> 1
         OR (SELECT count(*) FROM incident_activity a WHERE a.incident_id = max(f.incident_id) AND a.action = 'opened') <> 1`,
    )
    .pluck()
    .all() as string[]
}
