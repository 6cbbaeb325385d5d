import { describe, expect, it } from 'vitest'
import { aroundRequest, asTimeline, othersOf } from '../../console/lib/evidence.ts'
import { reachOf, readState } from '../../console/lib/explore-state.ts'
import {
  deliveredWords,
  explorePath,
  firingMark,
  isUnderWay,
  statusWord,
  valueWords,
} from '../../console/lib/firings.ts'
import { tells } from '../../console/lib/subscriptions.ts'
import { durationMs } from '../../console/lib/time.ts'
import {
  instantOf,
  isSince,
  readDeliveryFilter,
  readFiringFilter,
  readSince,
  timesFor,
  withWord,
} from '../../console/lib/work-filters.ts'
import type { Event as ApiEvent, Firing } from '../../schemas/types.ts'

const AT = '2026-11-20T12:00:00.000Z'

const firing = (over: Partial<Firing> = {}): Firing => ({
  dispatch_id: '019aa0b1c2d37e4f8a9b0c1d2e3f4a5b',
  trigger: 'errs',
  kind: 'errs',
  project: null,
  projects: [],
  state: 'fired',
  key: 'pay',
  entity: { label: 'service', value: 'pay' },
  fired_at: AT,
  opened_at: AT,
  due_at: null,
  reason: '6 events in 5m, above 5',
  value: 6,
  predicate: '> 5',
  window: '5m',
  events: 6,
  event_ids: ['evt_1', 'evt_2'],
  first_event: 'evt_2',
  key_count: 1,
  keys: [],
  held_back: 0,
  late_by: null,
  resolves: null,
  practice: false,
  parent_run_id: null,
  incident: null,
  severity: null,
  suppressed_by: null,
  subscribers: 0,
  delivered: 0,
  pending: 0,
  failed: 0,
  ...over,
})

const event = (id: string, event_time: string): ApiEvent => ({
  id,
  offset: 'T-0s',
  source: 'app',
  source_type: 'event_stream',
  event_type: 'event',
  event_time,
  ingested_at: event_time,
  entity: null,
  labels: {},
  text: id,
})

describe('a firing in words', () => {
  it('names its state, and colours what went wrong', () => {
    expect(firingMark(firing())).toEqual({ tone: 'good', word: 'fired' })
    expect(firingMark(firing({ failed: 1 }))).toEqual({ tone: 'bad', word: 'fired' })
    expect(firingMark(firing({ pending: 1, failed: 1 })).tone).toBe('busy')
    for (const state of ['gathering', 'held'] as const) {
      expect(firingMark(firing({ state, fired_at: null }))).toEqual({ tone: 'busy', word: state })
      expect(isUnderWay(firing({ state }))).toBe(true)
    }
    expect(firingMark(firing({ state: 'dropped' }))).toEqual({ tone: 'quiet', word: 'dropped' })
    expect(isUnderWay(firing({ state: 'dropped' }))).toBe(false)
  })

  it('says the value against its threshold, and how many were told', () => {
    expect(valueWords(firing())).toBe('6, above 5 within 5 min')
    expect(valueWords(firing({ value: 1.2345, predicate: null, window: null }))).toBe('1.23')
    expect(valueWords(firing({ value: null }))).toBeNull()
    expect(deliveredWords(firing())).toBe('no subscribers')
    expect(deliveredWords(firing({ subscribers: 4, delivered: 2, pending: 1, failed: 1 }))).toBe(
      '2 delivered, 1 sending, 1 failed',
    )
    expect(statusWord({ status: 'running' })).toBe('sending')
    expect(statusWord({ status: 'failed' })).toBe('failed')
  })

  it('leads to Explore at its entity and time', () => {
    const path = explorePath({ label: 'service', value: 'a & b' }, AT)
    const state = readState(new URLSearchParams(path.slice(path.indexOf('?'))))
    expect(state.selector).toEqual({ service: 'a & b' })
    expect(Date.parse(state.from!)).toBeLessThan(Date.parse(AT))
    expect(Date.parse(state.to!)).toBeGreaterThan(Date.parse(AT))
  })
})

it('ends a window where the newest of a page still reach back to its start', () => {
  const counted = (...counts: number[]) => ({
    ...{ from: AT, to: new Date(Date.parse(AT) + 40_000).toISOString(), bucket_ms: 10_000, total: 0 },
    buckets: counts.map((count, i) => ({
      ...{ at: new Date(Date.parse(AT) + i * 10_000).toISOString(), count, by_source: {} },
    })),
  })
  const reach = (...counts: number[]) => (reachOf(counted(...counts), 100) - Date.parse(AT)) / 1_000
  expect([reach(), reach(10, 10, 10, 10), reach(60, 40, 1), reach(60, 41), reach(5_000, 1)]).toEqual([
    ...[40, 40, 20, 10, 10],
  ])
})

describe('the evidence of a firing', () => {
  const detail = { ...firing(), context_window: '15m' }

  it('is looked for on the timeline of its entity, as far back as it carries or counts', () => {
    expect(aroundRequest(detail)).toMatchObject({
      selector: { service: 'pay' },
      from: '2026-11-20T11:45:00.000Z',
      to: '2026-11-20T12:01:00.000Z',
      order: 'desc',
    })
    expect(aroundRequest({ ...detail, window: '1h' })!.from).toBe('2026-11-20T11:00:00.000Z')
    expect(aroundRequest({ ...detail, fired_at: null })).not.toHaveProperty('to')
    expect(aroundRequest({ ...detail, entity: null })).toBeNull()
  })

  it('of other entities is put among the rest, newest first and each once', () => {
    const shown = [event('evt_9', AT), event('evt_2', '2026-11-20T11:59:00.000Z')]
    expect(othersOf(['evt_2', 'evt_3'], shown)).toEqual(['evt_3'])
    expect(
      othersOf(
        Array.from({ length: 50 }, (_, i) => `evt_${100 + i}`),
        shown,
      ),
    ).toHaveLength(20)
    const others = [event('evt_3', '2026-11-20T11:59:30.000Z'), event('evt_10', AT), shown[1]!]
    expect(asTimeline(shown, others).map(({ id }) => id)).toEqual(['evt_10', 'evt_9', 'evt_3', 'evt_2'])
  })
})

describe('filters of firings and deliveries', () => {
  it('are the address, and what it says wrongly is left out', () => {
    const address = new URLSearchParams(
      'trigger=errs&state=held&key=service%3Dpay,+region%3Deu&since=24h&x=1',
    )
    expect(readFiringFilter(address)).toEqual({
      query: { trigger: 'errs', state: 'held', key: 'service=pay, region=eu' },
      since: '24h',
    })
    expect(readFiringFilter(new URLSearchParams('state=open&since=2h&key=++'))).toEqual({
      query: {},
      since: '',
    })
    expect(readDeliveryFilter(new URLSearchParams('status=failed&recipient=sub_1'))).toEqual({
      status: 'failed',
      recipient: 'sub_1',
    })
    expect(readDeliveryFilter(new URLSearchParams('status=pending'))).toEqual({})
  })

  it('are set and taken away one by one', () => {
    const set = withWord(new URLSearchParams('tab=why'), 'reason', 'below')
    expect(set.toString()).toBe('tab=why&reason=below')
    expect(withWord(set, 'reason', '').toString()).toBe('tab=why')
    expect(withWord(set, 'reason', null).toString()).toBe('tab=why')
  })

  it('by time keep what began since', () => {
    const now = Date.parse(AT) + 2 * 3_600_000
    expect(isSince(firing().opened_at, '', now)).toBe(true)
    expect(isSince(firing().opened_at, '24h', now)).toBe(true)
    expect(isSince(firing().opened_at, '1h', now)).toBe(false)
    // An instant, as Home's figures of a day lead to.
    expect(readSince(new URLSearchParams(`since=${AT}`))).toBe(AT)
    expect(readSince(new URLSearchParams('since=2026-11-20Tsoon'))).toBe('')
    expect([instantOf('', now), instantOf(AT, now)]).toEqual(['', AT])
    expect(instantOf('1h', now)).toBe(new Date(now - 3_600_000).toISOString())
    expect(isSince('2026-11-20T11:59:59.999Z', '2026-11-20T12:00:00.000Z', now)).toBe(false)
    expect(isSince('2026-11-20T12:00:00.000Z', '2026-11-20T12:00:00.000Z', now)).toBe(true)
    expect(timesFor('24h', now).map(({ value }) => value)).toEqual(['', '1h', '24h', '7d', '30d'])
    expect(timesFor(AT, now).at(-1)).toMatchObject({ value: AT, label: expect.stringMatching(/^since /) })
    expect(['90s', '1.5h', '2d', 'soon', ''].map(durationMs)).toEqual([90_000, 5_400_000, 172_800_000, 0, 0])
  })
})

describe('subscriptions of a trigger', () => {
  it('are those that name it, and those of a project that uses it', () => {
    const trigger = { name: 'errs', projects: ['p1'] }
    expect(tells({ trigger: 'errs', project: null }, trigger)).toBe(true)
    expect(tells({ trigger: null, project: 'p1' }, trigger)).toBe(true)
    expect(tells({ trigger: null, project: 'p2' }, trigger)).toBe(false)
    expect(tells({ trigger: 'other', project: 'p1' }, trigger)).toBe(false)
  })
})
