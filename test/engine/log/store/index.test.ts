import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SEGMENT_SIZE } from '../../../../engine/log/store/labels.ts'
import { removeEvents } from '../../../../engine/log/store/maintenance.ts'
import { openReading } from '../../../../engine/log/store/open.ts'
import {
  comparePositions,
  eachPosition,
  firstPositions,
  type Position,
  type Query,
} from '../../../../engine/log/store/scan.ts'
import { BlockStore } from '../../../../engine/log/store/tail.ts'
import { createReadContext } from '../../../../engine/log/timeline/context.ts'
import { addSource, event, openHarness, random, type StoreHarness, T0 } from './store-harness.ts'

interface Known extends Position {
  labels: Record<string, string>
}

/** Two full segments and a part of a third, with late, early and equal times. */
const EVENTS = 2 * SEGMENT_SIZE + 9_000

describe('the event index', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-index-'))
  const file = join(folder, 'svc.db')
  const known: Known[] = []
  let harness: StoreHarness

  beforeAll(() => {
    harness = openHarness(file)
    addSource(harness.store, 'app')
    const next = random(7)
    let batch: { labels: Record<string, string>; ts: number }[] = []
    for (let i = 0; i < EVENTS; i++) {
      const lateness = next() < 0.1 ? Math.floor(next() * 600_000) : 0
      const labels = {
        entity: `e${Math.floor(next() ** 3 * 3_000)}`,
        env: next() < 0.7 ? 'prod' : 'dev',
        host: `h${Math.floor(next() * 40)}`,
      }
      batch.push({ labels, ts: T0 + Math.floor(i / 7) * 50 - lateness })
      if (batch.length < 1_000 && i < EVENTS - 1) continue
      const ids = harness.append(
        batch.map((e) => event(e.labels, e.ts)),
        { at: T0 + i },
      )
      for (const [j, e] of batch.entries()) known.push({ id: ids[j]!, ts: e.ts, labels: e.labels })
      batch = []
    }
  })

  afterAll(() => {
    harness.store.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const query = (labels: Record<string, string>, more: Partial<Query> = {}): Query => ({
    groups: Object.entries(labels).map(([name, value]) =>
      [harness.ctx.dictionary.find(name, value)].filter((id) => id !== undefined),
    ),
    masked: [],
    from: Number.MIN_SAFE_INTEGER,
    to: Number.MAX_SAFE_INTEGER,
    afterId: -1,
    ceiling: Number.MAX_SAFE_INTEGER,
    ...more,
  })
  const expected = (labels: Record<string, string>, q: Query) =>
    known
      .filter(
        (e) =>
          Object.entries(labels).every(([n, v]) => e.labels[n] === v) &&
          e.ts >= q.from &&
          e.ts <= q.to &&
          e.id <= q.ceiling &&
          e.id > q.afterId,
      )
      .sort(comparePositions)
      .map(({ id, ts }) => ({ id, ts }))

  const cases: [string, Record<string, string>, Partial<Query>][] = [
    ['a hot entity', { entity: 'e0' }, {}],
    ['a rare entity', { entity: 'e2999' }, {}],
    ['a rare AND a common label', { entity: 'e5', env: 'prod' }, {}],
    ['a common AND a rare label', { env: 'prod', entity: 'e5' }, {}],
    ['two common labels', { env: 'dev', host: 'h3' }, {}],
    ['a window', { env: 'prod' }, { from: T0 + 200_000, to: T0 + 230_000 }],
    ['a ceiling', { host: 'h1' }, { ceiling: 70_000 }],
    ['a floor', { host: 'h1' }, { afterId: 100_000 }],
    ['an unknown value', { entity: 'nobody' }, {}],
  ]

  it('has sealed two segments and keeps the third open', () => {
    for (let i = 0; i < 2_000 && harness.appender.sealer.busy; i++) {
      harness.store.tx(() => harness.appender.sealer.step(500))
      harness.appender.sealer.commit()
    }
    harness.ctx.index.refresh(false)
    expect(harness.ctx.index.sealedCount).toBe(2)
    expect(harness.ctx.index.tail.segments.map((segment) => segment.n)).toEqual([
      EVENTS + 1 - 2 * SEGMENT_SIZE,
    ])
  })

  it.each(cases)(
    'finds the newest and the oldest of %s as a scan of all events does',
    (_name, labels, more) => {
      const q = query(labels, more)
      const all = expected(labels, q)
      expect(firstPositions(harness.ctx.index.all(), q, 'asc', 150, null)).toEqual(all.slice(0, 150))
      expect(firstPositions(harness.ctx.index.all(), q, 'desc', 150, null)).toEqual(all.slice(-150).reverse())
      let n = 0
      eachPosition(harness.ctx.index.all(), q, () => n++)
      expect(n).toBe(all.length)
    },
  )

  it.each(['asc', 'desc'] as const)('pages through everything once in %s order', (direction) => {
    const q = query({ host: 'h7' })
    const pages: Position[] = []
    let after: Position | null = null
    for (;;) {
      const page: Position[] = firstPositions(harness.ctx.index.all(), q, direction, 97, after)
      if (page.length === 0) break
      pages.push(...page)
      after = page.at(-1)!
    }
    const all = expected({ host: 'h7' }, q)
    expect(pages).toEqual(direction === 'asc' ? all : all.reverse())
  })

  it('gives a second connection and a restart the same view', () => {
    const reader = openReading(file)
    const ctx = createReadContext(reader, false, 'secret')
    reader.transaction(() => ctx.index.refresh(true)).deferred()
    const q = query({ entity: 'e1', env: 'prod' })
    const view = firstPositions(ctx.index.all(), q, 'desc', 500, null)
    expect(view).toEqual(firstPositions(harness.ctx.index.all(), q, 'desc', 500, null))
    harness.append([event({ entity: 'e1', env: 'prod' }, T0 + 1e8)], { at: T0 + EVENTS + 1 })
    reader.transaction(() => ctx.index.refresh(true)).deferred()
    expect(firstPositions(ctx.index.all(), q, 'desc', 1, null)[0]!.ts).toBe(T0 + 1e8)
    known.push({
      id: harness.ctx.index.tail.lastId,
      ts: T0 + 1e8,
      labels: { entity: 'e1', env: 'prod', host: '' },
    })
    reader.close()
    harness.store.close()
    harness = openHarness(file)
    expect(firstPositions(harness.ctx.index.all(), q, 'desc', 501, null).slice(1)).toEqual(view)
  })

  it('brings a reader that was not asked for long up to date from the newest segment on', () => {
    const reader = openReading(file)
    const ctx = createReadContext(reader, false, 'secret')
    // As if it had last been asked when the store was empty.
    ctx.index.tail.segments = []
    ctx.index.tail.lastId = 0
    const rebuilt: number[] = []
    const rebuild = ctx.index.tail.rebuild.bind(ctx.index.tail)
    ctx.index.tail.rebuild = (lastSealed) => {
      rebuilt.push(lastSealed)
      return rebuild(lastSealed)
    }
    reader.transaction(() => ctx.index.refresh(true)).deferred()
    expect(rebuilt).toEqual([1])
    const q = query({ entity: 'e1' })
    expect(firstPositions(ctx.index.all(), q, 'desc', 900, null)).toEqual(
      firstPositions(harness.ctx.index.all(), q, 'desc', 900, null),
    )
    reader.close()
  })

  it('counts labels exactly, sealed and open together', () => {
    const id = harness.ctx.dictionary.find('env', 'prod')!
    expect(harness.ctx.counts.read([id]).get(id)!.n + harness.ctx.index.tail.count(id)).toBe(
      known.filter((e) => e.labels.env === 'prod').length,
    )
  })

  it('finds the same postings with blocks kept, however few, as by reading each anew', () => {
    const { db } = harness.store
    const labels = db.prepare('SELECT id FROM labels').pluck().all() as number[]
    const blocks = db.prepare('SELECT count(*) AS n, max(length(data)) AS bytes FROM post').get() as {
      n: number
      bytes: number
    }
    expect(blocks.n).toBeGreaterThan(4)
    const plain = new BlockStore(db, false)
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3 * blocks.bytes }),
        fc.array(
          fc.record({
            seg: fc.constantFrom(0, 1, 7),
            label: fc.oneof(fc.constantFrom(...labels), fc.nat(2 * labels.length)),
          }),
          { maxLength: 60 },
        ),
        (bytes, asked) => {
          const keeping = new BlockStore(db, false, bytes)
          for (const { seg, label } of asked)
            expect(keeping.posting(seg, label)).toEqual(plain.posting(seg, label))
        },
      ),
      { numRuns: 100 },
    )
  })

  it('forgets removed events in sealed segments and in the open one, and never gives their ids again', () => {
    const gone = known.filter((e) => e.labels.host === 'h9').slice(0, 1_000)
    const last = known.at(-1)!
    // A reader that has looked there before.
    const reader = openReading(file)
    const view = createReadContext(reader, false, 'secret')
    const seen = () => {
      reader.transaction(() => view.index.refresh(true)).deferred()
      return firstPositions(view.index.all(), query({ host: 'h9' }), 'asc', 10_000, null)
    }
    expect(seen()).toHaveLength(known.filter((e) => e.labels.host === 'h9').length)
    removeEvents(harness.store, harness.ctx.index.tail, [...gone.slice(0, 999).map((e) => e.id), last.id])
    harness.ctx.index.refresh(false)
    const removed = new Set([...gone.slice(0, 999).map((e) => e.id), last.id])
    const q = query({ host: 'h9' })
    expect(firstPositions(harness.ctx.index.all(), q, 'asc', 10_000, null)).toEqual(
      expected({ host: 'h9' }, q).filter((p) => !removed.has(p.id)),
    )
    expect(seen()).toEqual(firstPositions(harness.ctx.index.all(), q, 'asc', 10_000, null))
    reader.close()
    const id = harness.ctx.dictionary.find('host', 'h9')!
    expect(harness.ctx.counts.read([id]).get(id)!.n + harness.ctx.index.tail.count(id)).toBe(
      known.filter((e) => e.labels.host === 'h9' && !removed.has(e.id)).length,
    )
    harness.store.close()
    harness = openHarness(file)
    const [next] = harness.append([event({ entity: 'new' }, T0)], { at: T0 + EVENTS + 2 })
    expect(next).toBeGreaterThan(last.id)
  })
})
