/**
 * Kills the daemon at random instants under concurrent load and checks that every acknowledged
 * event is stored exactly once. The seed is printed and replays the choices (not the timing of
 * the machine). Run long by `npm run chaos`, short by test/chaos/kill.test.ts.
 */
import { Agent, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import BetterSqlite3 from 'better-sqlite3'
import { random } from '../engine/log/store/store-harness.ts'
import { type Daemon, startDaemon } from './daemon.ts'
import { Tally } from './tally.ts'

export interface KillReport {
  kills: number
  acknowledged: number
  /** Acknowledged but not stored: must be empty. */
  lost: string[]
  /** Stored more than once: must be empty. */
  doubled: string[]
  /** Stored but never sent: must be empty. */
  foreign: string[]
  integrity: string
  /** events of the source by its own counter minus rows: must be 0. */
  countDrift: number
  exitCode: number | null
}

const WRITERS = 16

/** So that each daemon took something before it is killed, however slow the machine is. */
export const ANSWERS_BEFORE_KILL = 4

/** @param kills how many. @param seed of the load. @param onKill called after each, for progress. */
export async function runKills(
  dataDir: string,
  kills: number,
  seed: number,
  onKill: (n: number, acknowledged: number) => void = () => {},
): Promise<KillReport> {
  const next = random(seed)
  const acknowledged = new Set<string>()
  const sent = new Set<string>()
  const answers = new Tally()
  const pending: { key: string; ids: string[]; body: string }[] = []
  let daemon = await startDaemon(dataDir)
  const ingestKey = await createSource(daemon)
  let counter = 0
  for (let n = 1; n <= kills; n++) {
    const load = startLoad(
      daemon,
      ingestKey,
      () => {
        // A batch whose answer was lost in a kill is sent again under its key.
        const retry = pending.shift()
        if (retry) return retry
        const size = [1, 1, 3, 40][Math.floor(next() * 4)]!
        const ids = Array.from({ length: size }, () => `n${counter++}`)
        const items = ids.map((id) =>
          JSON.stringify({
            id,
            entity: `e${Math.floor(next() * 50)}`,
            pad: 'x'.repeat(Math.floor(next() * 300)),
          }),
        )
        for (const id of ids) sent.add(id)
        return {
          key: `k${counter}`,
          ids,
          body: size === 1 ? items[0]! : next() < 0.5 ? `[${items.join(',')}]` : items.join('\n'),
        }
      },
      acknowledged,
      pending,
      answers,
    )
    await answers.more(ANSWERS_BEFORE_KILL + Math.floor(next() * 60))
    // The instant between two answers is the point of the test; nothing is asserted about time.
    await pause(next() * 20)
    await daemon.kill()
    await load
    onKill(n, acknowledged.size)
    daemon = await startDaemon(dataDir)
  }
  const load = startLoad(daemon, ingestKey, () => pending.shift() ?? null, acknowledged, pending, answers)
  await load
  const exitCode = await daemon.stop()
  return { kills, acknowledged: acknowledged.size, exitCode, ...inspect(dataDir, acknowledged, sent) }
}

interface Batch {
  key: string
  ids: string[]
  body: string
}

/** Sixteen writers until the daemon is gone, or until there is nothing more to send. */
async function startLoad(
  daemon: Daemon,
  ingestKey: string,
  make: () => Batch | null,
  acknowledged: Set<string>,
  pending: Batch[],
  answers: Tally,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: WRITERS })
  const write = async (): Promise<void> => {
    for (let batch = make(); batch; batch = make()) {
      try {
        const status = await post(agent, `${daemon.url}/ingest/${ingestKey}`, batch)
        if (status !== 202) throw new Error(`ingest answered ${status}`)
        for (const id of batch.ids) acknowledged.add(id)
        answers.add()
      } catch (error) {
        pending.push(batch)
        if ((error as Error).message.startsWith('ingest answered')) throw error
        return
      }
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, write))
  agent.destroy()
}

function post(agent: Agent, url: string, batch: Batch): Promise<number> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      {
        method: 'POST',
        agent,
        headers: { 'content-type': 'application/json', 'idempotency-key': batch.key },
      },
      (answer) => {
        answer.resume()
        answer.on('end', () => resolve(answer.statusCode ?? 0))
        answer.on('error', reject)
      },
    )
    outgoing.on('error', reject)
    outgoing.end(batch.body)
  })
}

async function createSource(daemon: Daemon): Promise<string> {
  const answer = await fetch(`${daemon.url}/api/sources`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      name: 'load',
      connector: 'webhook',
      config: { labels: [{ name: 'entity', field: 'entity', primary: true }] },
    }),
  })
  if (answer.status !== 201)
    throw new Error(`creating the source answered ${answer.status}: ${await answer.text()}`)
  return ((await answer.json()) as { ingest_key: string }).ingest_key
}

/** Looks at the stopped file with nothing of ours between. */
function inspect(
  dataDir: string,
  acknowledged: Set<string>,
  sent: Set<string>,
): Pick<KillReport, 'lost' | 'doubled' | 'foreign' | 'integrity' | 'countDrift'> {
  const db = new BetterSqlite3(`${dataDir}/svc.db`, { readonly: true })
  const counts = new Map<string, number>()
  for (const raw of db.prepare('SELECT raw FROM events').pluck().iterate() as Iterable<Buffer>) {
    const { id } = JSON.parse(raw.toString()) as { id: string }
    counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  const integrity = String(db.pragma('integrity_check', { simple: true }))
  const rows = db.prepare('SELECT count(*) FROM events').pluck().get() as number
  const counted = db.prepare("SELECT events FROM sources WHERE name = 'load'").pluck().get() as number
  db.close()
  return {
    lost: [...acknowledged].filter((id) => !counts.has(id)),
    doubled: [...counts].filter(([, n]) => n > 1).map(([id]) => id),
    foreign: [...counts.keys()].filter((id) => !sent.has(id)),
    integrity,
    countDrift: counted - rows,
  }
}
