/** The built daemon while somebody asks for very much: short reads, events and a stop do not wait for it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../../chaos/daemon.ts'

let folder: string
let daemon: Daemon
let ingestKey = ''

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-load-'))
  daemon = await startDaemon(join(folder, 'data'))
  const made = await ask('/api/sources', {
    name: 'app',
    connector: 'webhook',
    config: { labels: [{ name: 'service', field: 'service', primary: true }] },
  })
  ingestKey = String(made.ingest_key)
  const items = Array.from({ length: 150 }, (_, n) => ({ service: `s${n % 3}`, text: 'ab '.repeat(14_000) }))
  for (let i = 0; i < 6; i++)
    expect(await ask(`/ingest/${ingestKey}`, items)).toMatchObject({ ingested: 150 })
})
afterAll(async () => {
  await daemon.kill()
  rmSync(folder, { recursive: true, force: true })
})

async function ask(path: string, body: unknown, signal?: AbortSignal): Promise<Record<string, unknown>> {
  const answer = await fetch(`${daemon.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  })
  return (await answer.json()) as Record<string, unknown>
}

/** Twenty-five patterns that each look at all of a long text: seconds of work over these events. */
const WIDE = {
  window: '1d',
  definition: {
    sources: ['app'],
    condition: { event: 'any' },
    filters: Array.from({ length: 25 }, (_, n) => ({
      field: 'payload.text',
      op: 'regex',
      value: `^(a|b|c${n}| |d|e|f)*(a|b| )`,
    })),
  },
}

it('answers short reads and takes events while a backtest with patterns runs, ends it with its client, and stops at once', async () => {
  const gone = new AbortController()
  let isOver = false
  const wide = ask('/api/triggers/backtest', WIDE, gone.signal).then(
    () => 'answered',
    () => 'gone',
  )
  void wide.then(() => {
    isOver = true
  })
  for (let i = 0; i < 20; i++)
    expect(await ask('/read', { selector: { service: 's1' }, limit: 5 })).toMatchObject({ count: 5 })
  expect(await ask(`/ingest/${ingestKey}`, { service: 'new' })).toMatchObject({ ingested: 1 })
  expect(isOver).toBe(false)
  gone.abort()
  expect(await wide).toBe('gone')
  const small = { ...WIDE, definition: { sources: ['app'], condition: { event: 'any' } } }
  expect(await ask('/api/triggers/backtest', small)).toMatchObject({ scanned: 901 })
  expect(await ask('/api/stats', { by: 'service' })).toMatchObject({ total: { now: 901 } })
  const left = [WIDE, WIDE].map((body) => ask('/api/triggers/backtest', body).catch(() => 'ended'))
  await ask('/read', { selector: { service: 's1' }, limit: 1 })
  // Requests under way get five seconds; the reads themselves hold up nothing.
  expect(await daemon.stop()).toBe(0)
  await Promise.all(left)
})
