/** What becomes of a condition that was met: cooldowns, bursts, limits, what lasts. */
import { describe, expect, it } from 'vitest'
import type { Decision } from '../../../../engine/triggers/types.ts'
import type { TriggerSpec } from '../../../../schemas/types.ts'
import { CoreWorld, definitionOf, does, T0 } from './core-world.ts'

const MINUTE = 60_000
const a = { service: 'a' }
const worldOf = (spec: Partial<TriggerSpec>) =>
  new CoreWorld(definitionOf({ condition: { event: 'any' }, cooldown: '5m', ...spec }))

describe('a cooldown', () => {
  it('is of one key, ends at its instant, and goes by the time of storing', () => {
    const world = worldOf({})
    expect(does(world.post({ ts: -MINUTE, at: 0, labels: a }))).toEqual(['fire'])
    expect(does(world.post({ ts: 1, labels: { service: 'b' } }))).toEqual(['fire'])
    const [held] = world.post({ ts: 5 * MINUTE - 1, labels: a })
    expect(held).toMatchObject({ verdict: { reason: 'cooldown', until: T0 + 5 * MINUTE } })
    expect(does(world.post({ ts: 5 * MINUTE, labels: a }))).toEqual(['fire'])
  })

  it('is passed by a post that asks to, and begins anew with it', () => {
    const world = worldOf({})
    world.post({ ts: 0, labels: a })
    expect(does(world.post({ ts: MINUTE, labels: a, bypass: true }))).toEqual(['fire'])
    expect(does(world.post({ ts: 5 * MINUTE, labels: a }))).toEqual(['cooldown'])
  })
})

describe('a transaction that was undone', () => {
  it('leaves nothing of labels whose ids are given to others', () => {
    const world = worldOf({ key_field: 'region' })
    world.post({ ts: 0, labels: { service: 'a', region: 'north' } })
    // The newest of all, so that it is what is undone.
    const undone = world.labels.id('region', 'us')
    world.post({ ts: 1, labels: { service: 'a', region: 'us' } })
    world.labels.takeBack()
    world.evaluator.reset()
    expect(world.labels.id('host', 'h1')).toBe(undone)
    const [fired] = world.post({ ts: 2, labels: { service: 'a', host: 'h1', region: 'eu' } })
    expect(fired).toMatchObject({ do: 'fire', crossing: { key: 'eu' } })
  })
})

describe('a burst', () => {
  const storm = { quiet: '30s', max_wait: '2m' }

  it('ends when it has been quiet, or has waited its longest', () => {
    const quiet = worldOf({ storm })
    quiet.post({ ts: 0, labels: a })
    quiet.post({ ts: 20_000, labels: { service: 'b' } })
    expect(quiet.pass(10 * MINUTE)).toMatchObject([{ do: 'release', at: T0 + 50_000 }])
    const long = worldOf({ storm })
    const done = Array.from({ length: 13 }, (_, n) => n * 10_000).flatMap((ts) => [
      ...long.pass(ts),
      ...long.post({ ts, labels: a }),
    ])
    expect(done).toContainEqual({ do: 'release', triggerId: 1, at: T0 + 120_000 })
  })

  it('hands over each event once', () => {
    const world = worldOf({
      condition: { aggregate: 'count', predicate: '> 1', window: '5m' },
      storm,
    })
    const handed = Array.from({ length: 6 }, (_, n) => world.post({ ts: n * 1_000, labels: a })).flatMap(
      (decisions) =>
        decisions.flatMap((one) => (one.do === 'open' || one.do === 'fold' ? one.crossing.eventIds : [])),
    )
    expect(handed).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('hands over what stands behind an event that came late, too', () => {
    const condition = { aggregate: 'avg', field: 'ms', predicate: '> 5', window: '5m' } as const
    const world = worldOf({ condition, storm })
    world.post({ ts: 60_000, labels: a, numbers: { ms: 1 } })
    // Its own window meets the condition, without the event before.
    const opened = world.post({ ts: 0, at: 60_000, labels: a, numbers: { ms: 9 } })
    expect(opened).toMatchObject([{ do: 'open', crossing: { eventIds: [2] } }])
    const [fold] = world.post({ ts: 61_000, labels: a, numbers: { ms: 20 } })
    expect(fold).toMatchObject({ do: 'fold', crossing: { eventIds: [1, 2, 3] } })
  })

  it('that gathers does not hold up a post that asks to wake now; one that a limit holds back does', () => {
    const world = worldOf({ storm: { ...storm, limits: [{ max: 2, per: '1h' }] } })
    const posted = (ts: number, bypass = false) => does(world.post({ ts, labels: a, bypass }))
    expect([posted(0), posted(1, true), posted(2)]).toEqual([['open'], ['fire'], ['fold']])
    expect(world.pass(MINUTE)).toMatchObject([{ do: 'release', at: T0 + 30_002 }])
    expect([posted(10 * MINUTE, true), posted(11 * MINUTE, true)]).toEqual([['open'], ['fold']])
    // A burst that gathers while no more may fire goes on gathering: there is no second one beside it.
    const limited = worldOf({ storm: { ...storm, limits: [{ max: 1, per: '1h' }] } })
    for (const [ts, bypass, is] of [
      [0, false, 'open'],
      [1, true, 'fire'],
      [2, true, 'fold'],
    ] as const)
      expect(does(limited.post({ ts, labels: a, bypass }))).toEqual([is])
  })

  it('begins the cooldown of every key it took in', () => {
    const world = worldOf({ storm })
    world.post({ ts: 0, labels: a })
    world.post({ ts: 1, labels: { service: 'b' } })
    world.pass(MINUTE)
    for (const service of ['a', 'b'])
      expect(does(world.post({ ts: 2 * MINUTE, labels: { service } }))).toEqual(['cooldown'])
    expect(does(world.post({ ts: 2 * MINUTE, labels: { service: 'c' } }))).toEqual(['open'])
  })

  it('of fewer events than it needs is dropped, counted without those told twice, also by a restart', () => {
    const condition = { aggregate: 'count', predicate: '> 1', window: '5m' } as const
    const world = worldOf({ condition, storm: { ...storm, min_count: 4 } })
    for (const ts of [0, 1, 2]) world.post({ ts, labels: a })
    world.restart()
    expect(does(world.pass(MINUTE))).toEqual(['drop'])
    const more = worldOf({ condition, storm: { ...storm, min_count: 4 } })
    for (const ts of [0, 1, 2]) more.post({ ts, labels: a })
    more.restart()
    more.post({ ts: 3, labels: a })
    expect(does(more.pass(MINUTE))).toEqual(['release'])
  })
})

describe('a limit', () => {
  it('holds back what is more, until one more is allowed', () => {
    const world = worldOf({
      cooldown: '1s',
      storm: {
        limits: [
          { max: 2, per: '1h' },
          { max: 3, per: '1d' },
        ],
      },
    })
    const post = (minute: number) =>
      does([...world.pass(minute * MINUTE), ...world.post({ ts: minute * MINUTE, labels: a })])
    expect([post(0), post(10), post(20), post(30)]).toEqual([['fire'], ['fire'], ['open'], ['fold']])
    expect(world.pass(60 * MINUTE)).toMatchObject([{ do: 'release', at: T0 + 60 * MINUTE }])
    expect(post(120)).toEqual(['open'])
    // The day's three are used up.
    expect(world.pass(23 * 60 * MINUTE)).toEqual([])
    expect(does(world.pass(24 * 60 * MINUTE))).toEqual(['release'])
  })
})

describe('what lasts', () => {
  const condition = {
    aggregate: 'avg',
    field: 'ms',
    predicate: '> 100',
    window: '10m',
    resolve: '< 50',
  } as const
  const post = (world: CoreWorld, ts: number, ms: number) => world.post({ ts, labels: a, numbers: { ms } })

  it('fires once until it is over, and again after', () => {
    const world = worldOf({ condition, cooldown: '1s' })
    expect(does(post(world, 0, 200))).toEqual(['fire'])
    expect(does(post(world, MINUTE, 220))).toEqual(['active'])
    expect(does(post(world, 2 * MINUTE, -300))).toEqual(['resolve', 'below'])
    expect(does(post(world, 3 * MINUTE, 2_000))).toEqual(['fire'])
  })

  it('does not end in the gap between its two thresholds', () => {
    const world = worldOf({ condition, cooldown: '1s' })
    post(world, 0, 200)
    expect(does(post(world, MINUTE, -60))).toEqual(['below'])
    expect(does(post(world, 2 * MINUTE, 900))).toEqual(['active'])
  })

  it('ends as events leave the window, after a restart too', () => {
    const world = worldOf({ condition, cooldown: '1s' })
    post(world, 0, 20)
    post(world, MINUTE, 300)
    world.restart()
    expect(does(world.pass(11 * MINUTE - 1))).toEqual([])
    expect(world.pass(11 * MINUTE)).toMatchObject([
      { do: 'resolve', key: 'a', at: T0 + 11 * MINUTE, value: null },
    ])
  })
})

describe('what lasts, of a sender whose clock is another', () => {
  const condition = { aggregate: 'count', predicate: '> 3', window: '1m', resolve: true } as const
  const done = (decisions: readonly Decision[]) => does(decisions).filter((one) => /fire|resolve/.test(one))
  /** Twelve events a second and a half apart. @param ahead of our clock, ms */
  const burst = (world: CoreWorld, ahead: number, from = 0) =>
    Array.from({ length: 12 }, (_, n) => from + n * 1_500).flatMap((at) => [
      ...done(world.pass(at)),
      ...done(world.post({ ts: at + ahead, at, labels: a })),
    ])
  const LAST = 11 * 1_500

  /** When the last but three leaves the window that moves with the sender's clock. */
  const END = LAST - 3 * 1_500 + MINUTE

  it.each([
    ['ahead by more than the window', 90_000, END],
    // Then those that are left are in the window that ends now.
    ['ahead by less than that', 20_000, END + 20_000],
    ['ahead by an hour', 3_600_000, END],
    ['behind by more than the window', -5 * MINUTE, END],
  ])('%s, is over when its events leave the window, after a restart too', (_, ahead, end) => {
    const world = worldOf({ condition, cooldown: '1s' })
    expect(burst(world, ahead)).toEqual(['fire'])
    world.restart()
    expect(done(world.pass(end - 1))).toEqual([])
    expect(done(world.pass(end))).toEqual(['resolve'])
  })

  it('goes on where the clock is put right while it lasts, and ends by the clock of now', () => {
    const world = worldOf({ condition, cooldown: '1s' })
    expect(burst(world, 90_000)).toEqual(['fire'])
    expect(burst(world, 0, 20_000)).toEqual([])
    expect(done(world.pass(60 * MINUTE))).toEqual(['resolve'])
  })

  it('is not held by one event of the far future', () => {
    const world = worldOf({ condition: { ...condition, predicate: '> 0' }, cooldown: '1s' })
    expect(done(world.post({ ts: 10_000 * MINUTE, at: 0, labels: a }))).toEqual(['fire'])
    expect(done(world.pass(MINUTE))).toEqual(['resolve'])
  })
})

describe('a definition that cannot be judged', () => {
  it('says so of every event, and the others go on', () => {
    const broken = definitionOf({
      condition: { event: 'any' },
      filters: [{ field: 'x', op: 'regex', value: '(' }],
    })
    const world = new CoreWorld(broken)
    world.evaluator.define([broken, { ...definitionOf({ condition: { event: 'any' } }), id: 2 }])
    const decisions = world.evaluator.judgeSeen(world.seen({ ts: 0, labels: a }), () => true)
    expect(
      decisions.map((one) => ('verdict' in one ? [one.verdict.triggerId, one.verdict.reason] : [])),
    ).toEqual([
      [1, 'error'],
      [2, 'fired'],
    ])
  })
})
