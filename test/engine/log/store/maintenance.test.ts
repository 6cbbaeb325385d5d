import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { Idempotency } from '../../../../engine/log/store/append.ts'
import { SEGMENT_SIZE } from '../../../../engine/log/store/labels.ts'
import { Capacity, Maintenance, type Retention } from '../../../../engine/log/store/maintenance.ts'
import { openReading } from '../../../../engine/log/store/open.ts'
import { overSize } from '../../../../engine/log/store/segments.ts'
import { createReadContext } from '../../../../engine/log/timeline/context.ts'
import { answerRead } from '../../../../engine/log/timeline/read.ts'
import { addSource, event, openHarness, type StoreHarness, T0 } from './store-harness.ts'

const MINUTE = 60_000

/** Two sealed segments, one a day old and one an hour, and an open one that spans both. */
function setUp(retention: Retention, maxDbSize: number | null = null) {
  const harness = openHarness()
  const { store, ctx, appender } = harness
  addSource(store, 'app')
  const fill = (count: number, ts: number) => {
    for (let left = count; left > 0; left -= 5_000)
      harness.append(
        Array.from({ length: Math.min(5_000, left) }, () => event({ service: 'a', day: String(ts) }, ts)),
      )
  }
  fill(SEGMENT_SIZE - 1, T0 - 24 * 60 * MINUTE)
  fill(SEGMENT_SIZE, T0 - 60 * MINUTE)
  fill(500, T0 - 24 * 60 * MINUTE)
  fill(500, T0)
  const maintenance = new Maintenance({
    store,
    index: ctx.index,
    appender,
    dictionary: ctx.dictionary,
    capacity: new Capacity(store, maxDbSize),
    retention,
  })
  const settle = (now: number) => {
    let steps = 0
    while (maintenance.step(now)) steps++
    return steps
  }
  const count = () => ctx.index.all().reduce((sum, segment) => sum + segment.n, 0)
  const rows = () => store.db.prepare('SELECT count(*) FROM events').pluck().get()
  const counted = () => store.db.prepare('SELECT events FROM sources').pluck().get()
  return { ...harness, settle, count, rows, counted }
}

describe('maintenance', () => {
  it('keeps everything without a retention, and ends', () => {
    const { settle, count, rows, ctx } = setUp({ maxAgeMs: null, maxBytes: null })
    settle(T0)
    expect(ctx.index.sealedCount).toBe(2)
    expect([count(), rows()]).toEqual([2 * SEGMENT_SIZE + 999, 2 * SEGMENT_SIZE + 999])
  })

  it('by age drops whole old segments and the old events of the open one, in small steps, and counts stay true', () => {
    const { settle, count, rows, counted, ctx, append } = setUp({
      maxAgeMs: 12 * 60 * MINUTE,
      maxBytes: null,
    })
    const steps = settle(T0)
    expect(steps).toBeGreaterThan(30)
    const kept = SEGMENT_SIZE + 500
    expect([count(), rows(), counted()]).toEqual([kept, kept, kept])
    const id = ctx.dictionary.find('service', 'a')!
    expect(ctx.counts.read([id]).get(id)!.n + ctx.index.tail.count(id)).toBe(kept)
    const old = answerRead(ctx, { selector: { day: String(T0 - 24 * 60 * MINUTE) }, window: '30d' }, T0)
    expect(old.rows).toEqual([])
    expect(append([event({ service: 'a' }, T0)])).toEqual([2 * SEGMENT_SIZE + 1_000])
  })

  it('by size drops the oldest arrivals until the store fits, freed pages counting as free', () => {
    const { settle, count, rows, store } = setUp({ maxAgeMs: null, maxBytes: 4_000_000 })
    const before = count()
    settle(T0)
    const pages =
      (store.db.pragma('page_count', { simple: true }) as number) -
      (store.db.pragma('freelist_count', { simple: true }) as number)
    expect(pages * 8_192).toBeLessThanOrEqual(4_000_000)
    expect(count()).toBeLessThan(before)
    expect(rows()).toBe(count())
  })

  it('by size forgets the oldest keys of items over their quarter, and removes no event for what is left or for records', () => {
    const maxBytes = 6_000_000
    const harness = openHarness()
    const { store, ctx, appender } = harness
    addSource(store, 'app')
    const maintenance = new Maintenance({
      ...{ store, appender, index: ctx.index, dictionary: ctx.dictionary },
      capacity: new Capacity(store, null),
      retention: { maxAgeMs: null, maxBytes },
    })
    const settle = (now: number) => {
      while (maintenance.step(now)) maintenance.step(now)
      return ctx.index.all().reduce((sum, segment) => sum + segment.n, 0)
    }
    const claim = new Idempotency(store.db)
    const send = (from: number, count: number, at: number) =>
      harness.append(
        Array.from({ length: count }, (_, i) =>
          event({ service: 'a' }, at, { dedupeKey: `item ${from + i}` }),
        ),
        { at, claim: (key, id) => claim.claimItem(1, key, id, at) },
      )
    const keys = () => store.db.prepare('SELECT count(*) FROM dedupe').pluck().get() as number
    for (let i = 0; i < 40; i++) send(i * 1_000, 1_000, T0 + i)
    // What is no event, as labels and runs are.
    store.db.prepare("INSERT INTO meta VALUES ('others', ?)").run('x'.repeat(200_000))
    expect(keys()).toBe(40_000)
    const events = settle(T0 + MINUTE)
    expect(events).toBeGreaterThan(20_000)
    expect(keys() * 180).toBeLessThanOrEqual(maxBytes / 4)
    expect(keys() * 180).toBeGreaterThan(maxBytes / 5)
    expect(overSize(store.db)).toBeNull()
    // The newest of them are still known, the oldest are not.
    expect(send(39_999, 1, T0 + MINUTE)).toEqual([])
    expect(send(0, 1, T0 + MINUTE)).toHaveLength(1)

    store.db.prepare("INSERT INTO meta VALUES ('more', ?)").run('x'.repeat(2 * maxBytes))
    const left = settle(T0 + 2 * MINUTE)
    expect(left).toBeGreaterThan(10_000)
    expect(overSize(store.db)).toMatch(
      /^the data file has .* in use, over SVC_RETENTION_SIZE \(6\.0 MB\); the /,
    )
    // Those that come take the place of the oldest.
    send(50_000, 5_000, T0 + 4 * MINUTE)
    const after = settle(T0 + 5 * MINUTE)
    expect(Math.abs(after - left)).toBeLessThan(2_000)
    store.db.prepare("DELETE FROM meta WHERE key = 'more'").run()
    settle(T0 + 6 * MINUTE)
    expect(overSize(store.db)).toBeNull()
  })

  describe('removes the newest segment that is sealed, and', () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-maintenance-'))
    const file = join(folder, 'svc.db')
    const maintenanceOf = ({ store, ctx, appender }: StoreHarness) =>
      new Maintenance({
        ...{ store, appender, index: ctx.index, dictionary: ctx.dictionary },
        capacity: new Capacity(store, null),
        retention: { maxAgeMs: 12 * 60 * MINUTE, maxBytes: null },
      })
    const append = (harness: StoreHarness, count: number, ts: number) => {
      for (let left = count; left > 0; left -= 5_000)
        harness.append(
          Array.from({ length: Math.min(5_000, left) }, () => event({ service: 'a' }, ts)),
          { at: ts },
        )
    }
    afterAll(() => rmSync(folder, { recursive: true, force: true }))

    it('a reader that saw it grow does not count it, nor does a start in between', () => {
      let harness = openHarness(file)
      addSource(harness.store, 'app')
      append(harness, SEGMENT_SIZE - 1, T0 - 24 * 60 * MINUTE)
      const db = openReading(file)
      const reader = createReadContext(db, false, 'secret')
      const seen = () => {
        reader.index.refresh(true)
        return reader.index.all().reduce((sum, segment) => sum + segment.n, 0)
      }
      expect(seen()).toBe(SEGMENT_SIZE - 1)
      append(harness, 100, T0)
      let maintenance = maintenanceOf(harness)
      // Until it is on the way out: reads do not see it any more.
      while (harness.store.db.prepare('SELECT count(*) FROM segs WHERE dropping = 1').pluck().get() === 0)
        expect(maintenance.step(T0)).toBe(true)
      harness.store.close()

      harness = openHarness(file)
      maintenance = maintenanceOf(harness)
      expect(harness.ctx.index.all().map(({ n }) => n)).toEqual([100])
      while (maintenance.step(T0));
      expect(seen()).toBe(100)
      expect(harness.store.db.prepare('SELECT count(*) FROM events').pluck().get()).toBe(100)
      append(harness, 5, T0)
      expect(seen()).toBe(105)
      db.close()
      harness.store.close()
    })
  })
})
