/**
 * Kills the daemon at random instants while it polls an upstream that grows, and checks in the stopped
 * file that the cursor says exactly which entries are stored. Run short by test/chaos/polls.test.ts.
 */
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import BetterSqlite3 from 'better-sqlite3'
import { random } from '../engine/log/store/store-harness.ts'
import { type Daemon, startDaemon } from './daemon.ts'
import { Tally } from './tally.ts'

export interface PollReport {
  entries: number
  /** Entries of the upstream that were never stored: must be empty. */
  missing: string[]
  /** Entries stored more than once: must be empty. */
  doubled: string[]
  /** Kills after which cursor and events said different things: must be empty. */
  disagreed: number[]
}

/** As many as an answer may have, so that every entry is in each of them. */
const ENTRIES_MAX = 900

/** So that each daemon polled, however slow the machine is; each poll adds an entry or more. */
export const POLLS_BEFORE_KILL = 4

/** @param kills how many. @param seed of the upstream; the timing of the machine is not replayed. */
export async function runPollKills(dataDir: string, kills: number, seed: number): Promise<PollReport> {
  const next = random(seed)
  const upstream = await startUpstream(() => 1 + Math.floor(next() * 5))
  const disagreed: number[] = []
  let daemon = await startDaemon(dataDir)
  await declare(daemon, upstream.url)
  for (let n = 1; n <= kills; n++) {
    const edits = editAgainAndAgain(daemon, upstream.url)
    await upstream.asked(POLLS_BEFORE_KILL)
    // The instant within a poll is the point of the test; nothing is asserted about time.
    await pause(next() * 60)
    await daemon.kill()
    await edits
    if (!inspect(dataDir).agrees) disagreed.push(n)
    daemon = await startDaemon(dataDir)
  }
  upstream.stopGrowing()
  await declare(daemon, upstream.url)
  const ids = upstream.ids()
  while (inspect(dataDir).stored.length < ids.length) await pause(20)
  await daemon.stop()
  upstream.close()
  const { stored, agrees } = inspect(dataDir)
  if (!agrees) disagreed.push(kills + 1)
  return {
    entries: ids.length,
    missing: ids.filter((id) => !stored.includes(id)),
    doubled: stored.filter((id, i) => stored.indexOf(id) !== i),
    disagreed,
  }
}

async function startUpstream(growth: () => number) {
  const ids: string[] = []
  let growing = true
  const requests = new Tally()
  const server = createServer((_request, response) => {
    requests.add()
    for (let n = growing ? growth() : 0; n > 0 && ids.length < ENTRIES_MAX; n--) ids.push(`e${ids.length}`)
    response.end(JSON.stringify(ids.map((id) => ({ id }))))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    ids: () => [...ids],
    /** Resolves once it has been asked so many times more. */
    asked: (times: number) => requests.more(times),
    stopGrowing: () => {
      growing = false
    },
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

const CONFIG = { id_field: 'id', text_template: '{id}', labels: [{ name: 'id', field: 'id', primary: true }] }

/** Makes the source, or edits it: either way it is polled at once. */
async function declare(daemon: Daemon, url: string, eventType = 'reading'): Promise<void> {
  const write = (path: string, method: string) =>
    fetch(daemon.url + path, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        name: 'api',
        connector: 'http_poll',
        config: { ...CONFIG, url, event_type: eventType },
      }),
    })
  const made = await write('/api/sources', 'POST')
  const answer = made.status === 409 ? await write('/api/sources/api', 'PUT') : made
  if (!answer.ok) throw new Error(`the source answered ${answer.status}: ${await answer.text()}`)
  await answer.arrayBuffer()
}

/** Until the daemon is gone. */
async function editAgainAndAgain(daemon: Daemon, url: string): Promise<void> {
  try {
    for (let n = 0; ; n++) {
      await declare(daemon, url, `reading_${n}`)
      await pause(5)
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
  }
}

/** What the file says: the entries stored, and whether the cursor names these and no others. */
function inspect(dataDir: string): { stored: string[]; agrees: boolean } {
  const db = new BetterSqlite3(`${dataDir}/svc.db`, { readonly: true })
  const raws = db.prepare('SELECT raw FROM events ORDER BY id').pluck().all() as Buffer[]
  const cursor = db.prepare('SELECT cursor FROM polls').pluck().get() as string | null
  db.close()
  const stored = raws.map((raw) => (JSON.parse(raw.toString()) as { id: string }).id)
  const known = cursor === null ? [] : (JSON.parse(cursor) as { ids: string[] }).ids
  const hashes = stored.map((id) => createHash('sha256').update(id).digest('hex').slice(0, 16))
  return { stored, agrees: JSON.stringify([...hashes].sort()) === JSON.stringify([...known].sort()) }
}
