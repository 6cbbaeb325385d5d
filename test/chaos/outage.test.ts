/**
 * The daemon is killed while its provider is away (issue 17, "It is done when" 4): the real, built daemon, and
 * a scripted server in place of the provider.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import BetterSqlite3 from 'better-sqlite3'
import { expect, it } from 'vitest'
import { type ScriptedModels, type ScriptedReply, startScriptedModels } from '../models/scripted-server.ts'
import { type Daemon, startDaemon } from './daemon.ts'
import { ask, declare } from './outage.ts'

const RUNS = 8
const OUTAGE_MS = 10 * 60_000
const LOOK_MS = 50
/** Nobody waits for it within a call: the run is parked at once. */
const AWAY: ScriptedReply = {
  status: 529,
  error: 'Overloaded',
  errorType: 'overloaded_error',
  headers: { 'retry-after': '90' },
}
/** Away as well, and there again soon: the call itself waits. */
const SOON: ScriptedReply = { ...AWAY, headers: { 'retry-after': '1' } }

/** A provider: each run remembers something, then it is away, then each concludes. */
function provider(models: ScriptedModels) {
  const waiting: { count: number; resolve: () => void }[] = []
  let asked = 0
  const state = {
    /** What it answers behind the first reply of a run. */
    answers: (_n: number): ScriptedReply => AWAY,
    /** Resolves when so many calls were made behind the first replies, from now on. */
    calls: (count: number) =>
      new Promise<void>((resolve) => {
        asked = 0
        waiting.push({ count, resolve })
      }),
  }
  models.reply('m1', ({ body }) => {
    const said = (body.messages as { role: string }[]).filter(({ role }) => role === 'assistant').length
    if (said === 0) return { calls: [{ name: 'remember', arguments: { content: 'It was here.' } }] }
    const answer = state.answers(asked++)
    for (const one of waiting.filter(({ count }) => asked >= count)) one.resolve()
    return answer
  })
  return state
}

const total = async ({ url }: Daemon, status: string): Promise<number> =>
  ((await (await fetch(`${url}/api/runs?status=${status}&limit=1`)).json()) as { total: number }).total

async function until(daemon: Daemon, status: string, count: number): Promise<void> {
  while ((await total(daemon, status)) !== count) await pause(LOOK_MS)
}

/** While nothing runs, the time of the outage passes: what is stored of the waits lies so long ago. */
function passes(dataDir: string, ms: number): void {
  const db = new BetterSqlite3(join(dataDir, 'svc.db'))
  const { changes } = db
    .prepare(
      "UPDATE runs SET parked_since = parked_since - @ms, parked_until = parked_until - @ms WHERE state = 'parked'",
    )
    .run({ ms })
  db.close()
  expect(changes).toBe(RUNS)
}

it('killed in an outage of ten minutes, parked and asking, it loses no run and makes none twice', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-outage-'))
  const models = await startScriptedModels()
  const env = { PROVIDERA_BASE_URL: models.url, PROVIDERA_API_KEY: 'scripted' }
  const away = provider(models)
  let daemon = await startDaemon(folder, [], env)
  const path = await declare(daemon)
  await ask(
    daemon,
    path,
    Array.from({ length: RUNS }, (_, n) => ({ order: `o${n}` })),
  )
  await until(daemon, 'parked', RUNS)
  await daemon.kill()

  // Started again within the outage it waits, as long as the provider said.
  daemon = await startDaemon(folder, [], env)
  expect(await total(daemon, 'parked')).toBe(RUNS)
  const health = (await (await fetch(`${daemon.url}/health`)).json()) as { parked_runs?: object }
  expect(health.parked_runs).toMatchObject({ runs: RUNS })
  await daemon.kill()

  // After it the runs ask, and the daemon is killed while they do.
  passes(folder, OUTAGE_MS)
  const never = new Promise(() => {})
  away.answers = () => ({ delayUntil: never })
  const under = away.calls(RUNS)
  daemon = await startDaemon(folder, [], env)
  await under
  await daemon.kill()

  // The provider is away for one call more, then it is back.
  away.answers = (n) =>
    n === 0 ? SOON : { calls: [{ name: 'conclude', arguments: { outcome: 'finding', summary: 'Seen.' } }] }
  const again = away.calls(RUNS + 1)
  daemon = await startDaemon(folder, [], env)
  await again
  await until(daemon, 'succeeded', RUNS)
  expect(await total(daemon, 'open')).toBe(0)
  expect(await daemon.stop()).toBe(0)
  await models.close()

  const db = new BetterSqlite3(join(folder, 'svc.db'), { readonly: true })
  const orders = Array.from({ length: RUNS }, (_, n) => `o${n}`)
  const all = (sql: string): string[] => db.prepare(sql).pluck().all() as string[]
  const of = (connector: string) =>
    all(
      `SELECT json_extract(CAST(e.raw AS TEXT), '$.key') FROM events e JOIN sources s ON s.id = e.source_id
       WHERE s.connector = '${connector}' ORDER BY 1`,
    )
  expect(all('SELECT entity FROM runs ORDER BY entity')).toEqual(orders)
  expect(all('SELECT DISTINCT state FROM runs WHERE finished_at IS NOT NULL')).toEqual(['succeeded'])
  expect(of('finding')).toEqual(orders)
  expect(of('memory')).toEqual(orders)
  expect(all('SELECT key FROM firings ORDER BY key')).toEqual(orders)
  db.close()
  rmSync(folder, { recursive: true, force: true })
})
