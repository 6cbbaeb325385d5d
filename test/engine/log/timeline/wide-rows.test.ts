/** Rows of a window with more events than are looked at: the newest of each source, counted without looking at each. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { atOnce } from '../../../../engine/log/steps.ts'
import { SEGMENT_SIZE, SOURCE_LABEL } from '../../../../engine/log/store/labels.ts'
import { removeEvents } from '../../../../engine/log/store/maintenance.ts'
import type { Query } from '../../../../engine/log/store/scan.ts'
import { createReadContext } from '../../../../engine/log/timeline/context.ts'
import { wideRows } from '../../../../engine/log/timeline/rows.ts'
import { addSource, event, openHarness, random, type StoreHarness, T0 } from '../store/store-harness.ts'

/** Two full segments and a part of a third: 5 events a second, some of them late. */
const EVENTS = 2 * SEGMENT_SIZE + 9_000
const BATCH = 1_000
const MOST = 8_000

interface Known {
  id: number
  ts: number
  source: number
  project: string
}

describe('a window of more events than are looked at', () => {
  let harness: StoreHarness
  let known: Known[] = []
  let sources: number[] = []

  beforeAll(() => {
    harness = openHarness()
    sources = ['busy', 'quiet', 'steady', 'findings'].map((name) => addSource(harness.store, name))
    const next = random(17)
    for (let from = 0, batch = 0; from < EVENTS; from += BATCH, batch++) {
      // Most is of one source; of the second only one batch.
      const source = sources[batch === 7 ? 1 : batch % 5 === 0 ? 2 : batch % 9 === 4 ? 3 : 0]!
      const made = Array.from({ length: Math.min(BATCH, EVENTS - from) }, (_, i) => {
        const late = next() < 0.05 ? Math.floor(next() * 600_000) : 0
        return { ts: T0 + (from + i) * 200 - late, project: next() < 0.5 ? 'p1' : 'p2' }
      })
      const ids = harness.append(
        made.map(({ ts, project }) => event({ project }, ts)),
        { sourceId: source, at: T0 + from },
      )
      for (const [i, one] of made.entries()) known.push({ ...one, source, id: ids[i]! })
    }
    seal(harness)
  })
  afterAll(() => harness.store.close())

  const labels = (ids: readonly number[]) =>
    ids.map((id) => harness.ctx.dictionary.find(SOURCE_LABEL, String(id))!)
  const query = (more: Partial<Query> = {}): Query => ({
    groups: [labels(sources)],
    ...{ masked: [], from: T0 - 3_600_000, to: T0 + EVENTS * 200, afterId: -1 },
    ceiling: Number.MAX_SAFE_INTEGER,
    ...more,
  })
  const look = (asked: Query, most = MOST) => atOnce(wideRows(harness.ctx, asked, most, (ids) => [...ids]))
  /** As it is told where every event of the index is looked at. */
  const lookAtEach = (asked: Query, most = MOST) => {
    const totals = vi.spyOn(harness.ctx.index, 'totalsOf').mockReturnValue(null)
    try {
      return look(asked, most)
    } finally {
      totals.mockRestore()
    }
  }
  /** By the events themselves. @param seen those that the query is of */
  const expectNewest = (asked: Query, seen: (event: Known) => boolean, most = MOST) => {
    const { rows, cuts } = look(asked, most)
    const wanted = known
      .filter(({ ts }) => ts >= asked.from && ts <= asked.to)
      .filter(({ id }) => id <= asked.ceiling)
      .filter(seen)
      .filter(({ source, ts }) => {
        const cut = cuts.find(({ sourceId }) => sourceId === source)
        return !cut || ts >= cut.since
      })
      .sort((a, b) => a.ts - b.ts || a.id - b.id)
    expect(rows).toEqual(wanted.map(({ id }) => id))
    expect(rows.length).toBeLessThanOrEqual(most)
    expect(cuts.length).toBeGreaterThan(0)
  }

  it('has the newest of each source, all of one that is small, and the same whether it was counted before', () => {
    const first = look(query())
    expect(harness.ctx.index.sealedCount).toBe(2)
    expect([look(query()), lookAtEach(query())]).toEqual([first, first])
    expectNewest(query(), () => true)
    expect(first.cuts.map(({ sourceId }) => sourceId)).not.toContain(sources[1])
  })

  it.each([
    ['a part of its segments', () => query({ from: T0 + 3_000_000, to: T0 + 20_000_000 }), () => true],
    ['an instant before the newest', () => query({ ceiling: 90_000 }), () => true],
    [
      'a project: of findings only its own',
      () =>
        query({
          groups: [
            labels(sources),
            [...labels(sources.slice(0, 3)), harness.ctx.dictionary.find('project', 'p1')!],
          ],
        }),
      ({ source, project }: Known) => source !== sources[3] || project === 'p1',
    ],
    [
      'sources without one that is purged',
      () => query({ masked: labels([sources[2]!]) }),
      ({ source }: Known) => source !== sources[2],
    ],
  ])('is right of %s', (_, asked, seen) => {
    look(query())
    expectNewest(asked(), seen)
    expect(look(asked())).toEqual(lookAtEach(asked()))
  })

  it('is looked at no further back than it is shown, by the first look of a process, too', () => {
    const busy = query({ groups: [labels(sources.slice(0, 1))] })
    const ctx = createReadContext(harness.store.db, true, 'secret')
    const oldest = vi.spyOn(ctx.index.all()[0]!, 'times')
    const { cuts } = atOnce(wideRows(ctx, busy, MOST, (ids) => [...ids]))
    expect(cuts[0]!.since).toBeGreaterThan(ctx.index.all()[0]!.maxTs)
    expect(oldest).not.toHaveBeenCalled()
    oldest.mockRestore()
  })

  it('is counted anew where events of a full segment are taken out', () => {
    look(query())
    const gone = known.filter(({ id, source }) => id < SEGMENT_SIZE && source === sources[1]).slice(0, 900)
    removeEvents(
      harness.store,
      harness.ctx.index.tail,
      gone.map(({ id }) => id),
    )
    harness.ctx.index.refresh(false)
    const ids = new Set(gone.map(({ id }) => id))
    known = known.filter(({ id }) => !ids.has(id))
    expectNewest(query(), () => true)
    expect(look(query(), 6_000)).toEqual(lookAtEach(query(), 6_000))
  })
})

describe('a window of many segments', () => {
  /** Ids are skipped, as where documents have them: segments are small. */
  const SEGMENTS = 37
  const A_SEGMENT = 240

  /** @param lateMs how much later than it happened an event may come */
  function openSegments(lateMs: number, isSealed = true): StoreHarness & { groups: number[][]; to: number } {
    const harness = openHarness()
    const next = random(lateMs + 3)
    const sources = ['busy', 'steady', 'seldom', 'once'].map((name) => addSource(harness.store, name))
    for (let seg = 0; seg < SEGMENTS; seg++) {
      while (harness.appender.reserveId() < seg * SEGMENT_SIZE);
      for (const [i, share] of [0.7, 0.25, 0.05].entries()) {
        const count = Math.ceil(A_SEGMENT * share)
        const made = Array.from({ length: count }, (_, k) =>
          event({}, T0 + (seg + k / count) * 400_000 - Math.floor(next() * lateMs)),
        )
        harness.append(made, { sourceId: sources[i]!, at: T0 + seg * 400_000 })
      }
      if (seg === 5) harness.append([event({}, T0)], { sourceId: sources[3]!, at: T0 + seg * 400_000 })
    }
    if (isSealed) seal(harness)
    const groups = [sources.map((id) => harness.ctx.dictionary.find(SOURCE_LABEL, String(id))!)]
    return { ...harness, groups, to: T0 + SEGMENTS * 400_000 }
  }

  it.each([[0], [300_000], [9_000_000]])('is the same as if each were counted, %d ms late', (lateMs) => {
    const { ctx, store, groups, to } = openSegments(lateMs)
    const asked = { groups, masked: [], from: T0 - 9_000_000, to, afterId: -1, ceiling: 1e12 }
    const look = (most: number) => atOnce(wideRows(ctx, asked, most, (ids) => [...ids]))
    expect(ctx.index.sealedCount).toBeGreaterThan(SEGMENTS - 3)
    for (const most of [40, 200, 900, 2_000, 5_000, 8_000, 8_700]) {
      const totals = vi.spyOn(ctx.index, 'totalsOf').mockReturnValue(null)
      const each = look(most)
      totals.mockRestore()
      expect([look(most), look(most)]).toEqual([each, each])
      expect(each.cuts.length > 0).toBe(most < SEGMENTS * A_SEGMENT)
    }
    store.close()
  })

  it('is the same after a seal that failed, and in a process that begins in the midst of sealing', () => {
    const { ctx, store, appender, groups, to } = openSegments(300_000, false)
    const asked = { groups, masked: [], from: T0 - 9_000_000, to, afterId: -1, ceiling: 1e12 }
    const look = (by = ctx) => atOnce(wideRows(by, asked, 2_000, (ids) => [...ids]))
    const first = look()
    const undone = () => {
      appender.sealer.step(1)
      throw new Error('the disk is full')
    }
    for (let sealed = 0; appender.sealer.busy; sealed++) {
      if (sealed % 6 === 2) {
        expect(() => store.tx(undone)).toThrow('the disk is full')
        appender.sealer.rollback()
        expect(look()).toEqual(first)
      }
      store.tx(() => appender.sealer.step(1))
      appender.sealer.commit()
      ctx.index.refresh(false)
      if (sealed % 6 === 3)
        expect([look(), look(createReadContext(store.db, true, 's'))]).toEqual([first, first])
    }
    expect(look()).toEqual(first)
    store.close()
  })

  it('counts the minutes of the newest segments alone, and of nearly all where a cut lies near the beginning', () => {
    const { ctx, store, groups, to } = openSegments(0)
    const asked = { groups, masked: [], from: T0 - 1, to, afterId: -1, ceiling: 1e12 }
    const minutes = vi.spyOn(ctx.index, 'minutesOf')
    const countedOf = (most: number) => {
      minutes.mockClear()
      atOnce(wideRows(ctx, asked, most, (ids) => [...ids]))
      return new Set(minutes.mock.calls.map(([{ seg }]) => seg)).size
    }
    // The earliest cut lies twelve segments back.
    expect(countedOf(1_900)).toBeLessThan(20)
    expect(countedOf(8_000)).toBeGreaterThan(SEGMENTS - 8)
    store.close()
  })
})

function seal({ appender, store, ctx }: StoreHarness): void {
  while (appender.sealer.busy) {
    store.tx(() => appender.sealer.step(500))
    appender.sealer.commit()
  }
  ctx.index.refresh(false)
}

describe('a window of which all is looked at', () => {
  const { ctx, store, append } = openHarness()
  addSource(store, 'app')
  afterAll(() => store.close())

  /** Epoch ms of 3,000 events, in the order in which they came. */
  const orders: [string, (i: number, next: () => number) => number][] = [
    ['in time', (i) => i * 10],
    ['some late by a moment', (i, next) => i * 10 - (next() < 0.2 ? 35 : 0)],
    ['many at one instant', (i) => Math.floor(i / 500)],
    ['in no order at all', (_, next) => Math.floor(next() * 30_000_000)],
    ['of times that are no whole milliseconds', (_, next) => next() * 30_000_000],
    ['of years', (_, next) => Math.floor(next() * 9e14)],
  ]
  it.each(orders)('is by time, then by order of arrival: %s', (_, timeOf) => {
    const next = random(7)
    const made = Array.from({ length: 3_000 }, (_, i) => T0 + timeOf(i, next))
    const ids = append(made.map((ts) => event({ service: 's' }, ts)))
    const asked = {
      groups: [[ctx.dictionary.find(SOURCE_LABEL, '1')!]],
      ...{ masked: [], from: T0, to: T0 + 1e15, afterId: ids[0]! - 1, ceiling: ids.at(-1)! },
    }
    const at = new Map(ids.map((id, i) => [id, made[i]!]))
    const times: number[] = []
    const { rows } = atOnce(
      wideRows(ctx, asked, 10_000, (some, of) => {
        times.push(...of)
        return some
      }),
    )
    const wanted = ids.filter((id) => at.get(id)! >= T0).sort((a, b) => at.get(a)! - at.get(b)! || a - b)
    expect(rows).toEqual(wanted)
    expect(times).toEqual(wanted.map((id) => at.get(id)))
  })
})
