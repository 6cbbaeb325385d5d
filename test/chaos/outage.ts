/** A daemon with one agent that is woken by each order, for tests that kill it. */
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import type { Daemon } from './daemon.ts'

/** @throws Error with what was answered */
export async function ask<T>(daemon: Daemon, path: string, body: object): Promise<T> {
  const answer = await fetch(daemon.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as T
}

/** @returns the path that takes orders */
export async function declare(daemon: Daemon): Promise<string> {
  const { ingest_key } = await ask<{ ingest_key: string }>(daemon, '/api/sources', {
    name: 'orders',
    connector: 'webhook',
    config: { labels: [{ name: 'order', field: 'order', primary: true }] },
  })
  await ask(daemon, '/api/triggers', { name: 'each', sources: ['orders'], condition: { event: 'any' } })
  await ask(daemon, '/api/agents/builtin', {
    name: 'first',
    prompt: 'Look.',
    model: 'm1',
    trigger: 'each',
    remembers: true,
    concurrency: 50,
    daily_cap: 10_000,
  })
  await ask(daemon, '/api/agents/builtin/first/enable', {})
  return `/ingest/${ingest_key}`
}

/** While nothing runs, the time of a question's wait passes: what is stored of it lies so long ago. */
export function questionWaited(dataDir: string, ms: number): void {
  const db = new BetterSqlite3(join(dataDir, 'svc.db'))
  const { changes } = db
    .prepare(
      `UPDATE ask_steps SET data = json_set(data, '$.parked.until', json_extract(data, '$.parked.until') - ?)
       WHERE json_extract(data, '$.parked') IS NOT NULL`,
    )
    .run(ms)
  db.close()
  if (changes !== 1) throw new Error(`${changes} questions wait, and not one`)
}
