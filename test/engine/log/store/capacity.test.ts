import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SvcError } from '../../../../engine/errors.ts'
import { createEngine } from '../../../../engine/local.ts'
import { Capacity, type Measure, type StorageTurn } from '../../../../engine/log/store/maintenance.ts'
import type { OpenStore } from '../../../../engine/log/store/open.ts'
import { answer } from '../../../../engine/threads/reader.ts'
import { addSource, event, openHarness, T0 } from './store-harness.ts'

const LIMIT = 12_000_000
const ME = { caller: { id: 'open', name: 'test' }, origin: 'api' as const }

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-capacity-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function open(maxDbSize: number | null = LIMIT, onStorage = (_turn: StorageTurn) => {}) {
  const clock = { at: T0, now: () => clock.at }
  // Copies nothing, as one that readers hold up: the log grows.
  const checkpointer = { ask: () => {}, onDone: () => {} }
  const engine = createEngine({ dataFile: join(folder, 'svc.db'), clock, maxDbSize, checkpointer, onStorage })
  const source = async (name: string) =>
    (
      await engine.createSource(
        { name, connector: 'webhook', config: { labels: [{ name: 'service', field: 's', primary: true }] } },
        ME,
        false,
      )
    ).ingest_key!
  const call = (ingestKey: string, text: string, n: number) => ({
    ingestKey,
    body: Buffer.from(JSON.stringify(Array.from({ length: n }, () => ({ s: 'a', text })))),
    bypassCooldown: false,
    caller: 'open',
  })
  return { engine, clock, source, call }
}

describe('storage in use', () => {
  it('counts what data needs: a log many times as long changes nothing, and needs no restart', async () => {
    const { engine, clock, source, call } = open()
    const key = await source('app')
    // One small event a commit writes whole pages to the log, the same ones each time.
    for (let i = 0; i < 600; i++) await engine.ingest(call(key, `${i}`, 1))
    clock.at += 2_000
    const usage = await engine.usage()
    expect(usage.wal_bytes).toBe(statSync(join(folder, 'svc.db-wal')).size)
    expect(usage.wal_bytes).toBeGreaterThan(LIMIT)
    expect(usage.pct_used).toBeLessThan(20)
    expect(usage.ingest_paused).toBe(false)
    await engine.close()
  })

  it.each([
    ['bodies that come one by one', 1],
    ['bodies that are committed together', 12],
  ])(
    'is refused from 95 %% and never goes past the limit, with %s and a clock that stands',
    async (_, together) => {
      const { engine, source, call } = open()
      const key = await source('app')
      let refused: SvcError | undefined
      for (let i = 0; i < 400 && !refused; i++) {
        const group = Array.from({ length: together }, () => call(key, 'x'.repeat(900), 60))
        refused = engine.ingestMany(group).find((result) => result instanceof Error) as SvcError | undefined
      }
      expect(refused).toMatchObject({ code: 'storage_full', status: 507 })
      const { pct_used, ingest_paused } = await engine.usage()
      expect(pct_used).toBeGreaterThan(90)
      expect(pct_used).toBeLessThanOrEqual(100)
      expect(ingest_paused).toBe(true)
      expect((await engine.getSource('app')).health.status).toBe('refused')
      expect((await engine.status()).detail).toContain('SVC_MAX_DB_SIZE')
      await engine.close()
    },
  )

  it('is taken again within seconds after a purge', async () => {
    const { engine, clock, source, call } = open()
    const key = await source('app')
    const other = await source('other')
    while (!(await engine.usage()).ingest_paused) engine.ingestMany([call(key, 'x'.repeat(900), 300)])
    await engine.deleteSource('app', { cascade: false, purgeEvents: true }, ME)
    while (engine.maintain());
    clock.at += 1_000
    expect(await engine.ingest(call(other, 'small', 1))).toMatchObject({ ingested: 1 })
    expect(await engine.status()).toMatchObject({ ingestPaused: false })
    await engine.close()
  })

  it('is told by reads: since when storage refused what a source sent, once, also over a restart, and until when', async () => {
    const { engine, clock, source, call } = open()
    const key = await source('app')
    await source('quiet')
    await engine.ingest(call(key, 'kept', 1))
    const gapsOf = async (of: typeof engine) => (await of.read({ sources: ['app', 'quiet'] })).gaps
    while (!(await engine.usage()).ingest_paused) engine.ingestMany([call(key, 'x'.repeat(900), 300)])
    expect(await gapsOf(engine)).toBeUndefined()
    clock.at += 2_000
    const from = new Date(clock.at).toISOString()
    for (let i = 0; i < 3; i++) {
      expect(engine.ingestMany([call(key, 'lost', 1)])[0]).toMatchObject({ code: 'storage_full' })
      clock.at += 1_000
    }
    const why = 'storage_full'
    expect(await gapsOf(engine)).toEqual([{ source: 'app', why, from, to: null }])
    expect((await engine.read({ sources: ['app'] })).payload).toContain(
      `app took nothing in since ${from} (storage was full)`,
    )
    await engine.close()
    const raised = open(LIMIT * 4)
    raised.clock.at = clock.at + 5_000
    raised.engine.maintain()
    const to = new Date(raised.clock.at).toISOString()
    expect(await gapsOf(raised.engine)).toEqual([{ source: 'app', why, from, to }])
    await raised.engine.close()
  })

  it('is told to the operator once where it ends, with figures and what to do, and once where it begins again', async () => {
    const turns: StorageTurn[] = []
    const { engine, clock, source, call } = open(LIMIT, (turn) => turns.push(turn))
    const key = await source('app')
    while (!(await engine.usage()).ingest_paused) engine.ingestMany([call(key, 'x'.repeat(900), 300)])
    const why = new Set<string | null>()
    for (let i = 0; i < 5; i++) {
      // What is declared is stored all the same, so that the figures change.
      for (let j = 0; j < 20; j++) await source(`s${i}-${j}`)
      clock.at += 2_000
      why.add((await engine.status()).detail)
      expect(engine.ingestMany([call(key, 'more', 1)])[0]).toMatchObject({ code: 'storage_full' })
    }
    expect(why.size).toBeGreaterThan(1)
    expect(turns).toEqual([
      {
        isRefused: true,
        why: expect.stringMatching(/^storage is at 9[\d.]+ % of .* raise SVC_MAX_DB_SIZE$/),
      },
    ])
    await engine.deleteSource('app', { cascade: false, purgeEvents: true }, ME)
    // Without a request, too: maintenance looks.
    while (engine.maintain());
    clock.at += 1_000
    engine.maintain()
    engine.maintain()
    expect(turns.slice(1)).toEqual([
      { isRefused: false, why: expect.stringMatching(/^storage is at \d[\d.]* % of .* free$/) },
    ])
    await engine.close()
  })

  it('one that has no room for a usual body says so, not that it is as full as where all are refused', async () => {
    const { engine, source, call } = open(3_020_000)
    const key = await source('app')
    let refused: unknown
    while (!(refused instanceof Error)) refused = engine.ingestMany([call(key, 'x'.repeat(900), 150)])[0]
    const { pct_used } = await engine.usage()
    expect(pct_used).toBeLessThan(95)
    expect((engine.ingestMany([call(key, 'small', 1)])[0] as SvcError).message).toMatch(
      /% of 3\.0 MB \(SVC_MAX_DB_SIZE\), and a request that needs about 0\.\d MB did not fit; ingest is taken again below 93 % with room for that: purge/,
    )
    await engine.close()
  })

  it('a body that is far too large is refused by itself; others are taken', async () => {
    const { engine, source, call } = open()
    const key = await source('app')
    await engine.ingest(call(key, 'x', 1))
    await expect(engine.ingest(call(key, 'x'.repeat(900_000), 8))).rejects.toMatchObject({
      code: 'storage_full',
      message: expect.stringContaining('would take it past the limit'),
    })
    expect(await engine.ingest(call(key, 'x', 1))).toMatchObject({ ingested: 1 })
    await engine.close()
  })
})

describe('a volume that runs out', () => {
  it('has the log folded into the data file before ingest is refused', () => {
    let folded = 0
    const store = { foldLog: () => folded++ } as unknown as OpenStore
    const capacity = new Capacity(store, null)
    const full = { room: 1_000, pctUsed: 40, usedBytes: 1, maxBytes: 100 } as Measure
    const room = { ...full, room: 1e9 }
    Object.assign(capacity, { read: () => (folded ? room : full) })
    expect(capacity.refusal(T0)).toBeNull()
    expect(folded).toBe(1)
    Object.assign(capacity, { read: () => full })
    expect(capacity.refusal(T0 + 2_000)).toContain('free some space')
    // Not at each look.
    expect(folded).toBe(1)
    expect(capacity.refusal(T0 + 12_000)).toContain('free some space')
    expect(folded).toBe(2)
  })

  it('has as much room as is left once the file has grown by what only the log has', () => {
    const harness = openHarness(join(folder, 'room.db'))
    addSource(harness.store, 'app')
    for (let i = 0; i < 200; i++)
      harness.append([event({ service: 'a' }, T0, { raw: Buffer.alloc(20_000, 'x') })])
    const capacity = new Capacity(harness.store, null)
    const { room, diskFree, dbBytes } = capacity.measureAnew(T0)
    const inFile = statSync(join(folder, 'room.db')).size
    expect(inFile).toBeLessThan(dbBytes)
    expect(diskFree - room).toBe(dbBytes - inFile)
    harness.store.foldLog()
    const after = capacity.measureAnew(T0)
    expect(after.room).toBe(after.diskFree)
    harness.store.close()
  })

  it('folding empties the log', () => {
    const harness = openHarness(join(folder, 'svc.db'))
    addSource(harness.store, 'app')
    for (let i = 0; i < 20; i++) harness.append([event({ service: 'a' }, T0)])
    const log = join(folder, 'svc.db-wal')
    expect(statSync(log).size).toBeGreaterThan(100_000)
    harness.store.foldLog()
    expect(statSync(log).size).toBe(0)
    harness.append([event({ service: 'a' }, T0)])
    harness.store.close()
  })
})

describe('a full volume answers writes with 507', () => {
  const writes: [string, unknown[]][] = [
    ['createSource', [{ name: 'b', connector: 'webhook', config: {} }, ME, false]],
    ['deleteSource', ['app', { cascade: false, purgeEvents: false }, ME]],
    ['createKey', [{ name: 'k', scopes: ['read'] }, ME.caller]],
    ['saveSessions', [[{ idHash: 'a', createdAt: T0, seenAt: T0 }]]],
    ['ingest', []],
  ]

  it.each(writes)('%s', async (method, args) => {
    const { engine, source, call } = open(null)
    const key = await source('app')
    const full = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
    const { default: BetterSqlite3 } = await import('better-sqlite3')
    const statement = Object.getPrototypeOf(new BetterSqlite3(':memory:').prepare('SELECT 1'))
    const run = statement.run
    statement.run = function (...values: unknown[]) {
      if (!this.readonly) throw full
      return run.apply(this, values)
    }
    try {
      const settled = await new Promise((resolve) =>
        answer(
          engine as unknown as Record<string, unknown>,
          { t: 'call', id: 1, method, args: method === 'ingest' ? [call(key, 'x', 1)] : args },
          { postMessage: resolve } as unknown as Parameters<typeof answer>[2],
        ),
      )
      expect(settled).toMatchObject({ t: 'settled', results: [{ id: 1, error: { code: 'storage_full' } }] })
    } finally {
      statement.run = run
    }
    await engine.close()
  })
})
