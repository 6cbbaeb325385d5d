/** A backtest says what live evaluation did over the same events, and how a change would alter that. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BacktestFiring, TriggerDefinition, TriggerWrite } from '../../../schemas/types.ts'
import { MINUTE, openWorld, T0, type World } from './trigger-world.ts'

const iso = (ms: number) => new Date(ms).toISOString()
const error = { service: 'checkout', type: 'error' }

const triggers: Record<string, Partial<TriggerWrite> & Pick<TriggerWrite, 'condition'>> = {
  counted: { condition: { aggregate: 'count', predicate: '> 2', window: '5m' }, cooldown: '3m' },
  averaged: {
    condition: { aggregate: 'avg', field: 'ms', predicate: '> 60', window: '10m', resolve: '< 40' },
    cooldown: '1m',
  },
  lasting: {
    condition: { aggregate: 'count', predicate: '> 2', window: '2m', resolve: true },
    cooldown: '1s',
  },
  changed: { condition: { change_of: 'state' }, cooldown: '1s' },
  severe: { condition: { event: 'any' }, severity_field: 'payload.grade', cooldown: '9m' },
  followed: {
    condition: {
      sequence: [
        { filters: [{ field: 'state', op: 'eq', value: 'up' }] },
        { filters: [{ field: 'state', op: 'eq', value: 'down' }] },
      ],
      within: '4m',
    },
  },
  silent: { condition: { absent_for: '7m' } },
  gathered: {
    condition: { event: 'any' },
    storm: { quiet: '90s', max_wait: '6m', min_count: 3, limits: [{ max: 3, per: '1h' }] },
    cooldown: '1m',
  },
}

/** Events out of order, late, ahead of the daemon's clock and in one body, with time passing in between. */
const history = fc.array(
  fc.record({
    gap: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 5 * MINUTE })),
    items: fc.array(
      fc.record({
        service: fc.constantFrom('a', 'b', 'c'),
        state: fc.constantFrom('up', 'down'),
        grade: fc.constantFrom('critical', 'warning', 'info', 'other'),
        ms: fc.integer({ min: 0, max: 100 }),
        lag: fc.oneof(fc.constantFrom(0, 1), fc.integer({ min: -8 * MINUTE, max: 8 * MINUTE })),
      }),
      { minLength: 1, maxLength: 4 },
    ),
  }),
  { minLength: 5, maxLength: 40 },
)

type Told = Pick<BacktestFiring, 'at' | 'key' | 'value' | 'events' | 'event_ids' | 'held_back' | 'resolved'>

async function firedLive(world: World, trigger: string): Promise<Told[]> {
  const firings = (await world.firings(trigger)).filter(({ state }) => state === 'fired')
  return firings.map(({ fired_at, key, value, events, event_ids, held_back, resolves }) => ({
    at: fired_at!,
    key,
    value,
    events,
    event_ids: event_ids.slice(0, 10),
    held_back,
    resolved: resolves !== null,
  }))
}

const inOrder = (told: readonly Told[]) =>
  [...told].sort((x, y) =>
    JSON.stringify([x.at, x.key, x.event_ids]) < JSON.stringify([y.at, y.key, y.event_ids]) ? -1 : 1,
  )

describe('a backtest', () => {
  it.each(Object.keys(triggers))('of %s is what live evaluation did', async (name) => {
    await fc.assert(
      fc.asyncProperty(history, async (steps) => {
        const world = await openWorld()
        await world.trigger({ name, ...triggers[name]! })
        world.pass(1)
        for (const { gap, items } of steps) {
          world.pass(gap)
          await world.post(
            items.map(({ lag, ...item }) => ({ ...item, at: iso(world.clock.at - lag), type: 'sample' })),
          )
        }
        world.pass(20 * MINUTE)
        const live = await firedLive(world, name)
        const { result } = await world.engine.backtest({ trigger: name, window: '1d' })
        expect(inOrder(result.list)).toEqual(inOrder(live))
        expect(result.firings).toBe(live.filter(({ resolved }) => !resolved).length)
        await world.engine.close()
      }),
      { numRuns: 12 },
    )
  })

  it('agrees where a late event trips a trigger that the next of its body finds over', async () => {
    const { engine, post, trigger, clock, pass, firings } = await openWorld()
    await trigger(triggers.averaged!)
    const at = (ms: number, lag: number) => ({ service: 'c', ms, at: iso(clock.at - lag), type: 'sample' })
    await post([at(0, 0), at(0, 0)])
    await post([at(61, 1), at(0, 0)])
    pass(MINUTE)
    const [tripped, over] = await firings('t')
    expect([tripped!.value, over!.value, over!.resolves]).toEqual([61, 61 / 4, tripped!.dispatch_id])
    const { result } = await engine.backtest({ trigger: 't', window: '1d' })
    expect(result.list.map(({ value, resolved }) => [value, resolved])).toEqual([
      [61 / 4, true],
      [61, false],
    ])
  })

  it('of a definition that is not saved stands beside the one that is', async () => {
    const { engine, post, trigger, pass } = await openWorld()
    await trigger({ condition: { aggregate: 'count', predicate: '> 2', window: '5m' }, cooldown: '1s' })
    for (let n = 0; n < 6; n++) {
      await post(error)
      pass(MINUTE / 2)
    }
    const definition: TriggerDefinition = {
      sources: ['app'],
      condition: { aggregate: 'count', predicate: '> 4', window: '5m' },
      cooldown: '1s',
    }
    const { result, compare, scanned, from, to, sentence } = await engine.backtest({
      trigger: 't',
      compare: definition,
      window: '1h',
    })
    expect([result.firings, compare!.firings, scanned]).toEqual([4, 2, 6])
    expect(result).toMatchObject({ matched: 6, matched_last_hour: 6, peak: 6, reasons: { below: 2 } })
    pass(60 * MINUTE)
    const later = await engine.backtest({ trigger: 't', window: '1d' })
    expect(later.result).toMatchObject({ matched: 6, matched_last_hour: 0 })
    expect(result.by_key).toEqual([{ key: 'checkout', firings: 4 }])
    expect(Date.parse(to) - Date.parse(from)).toBe(60 * MINUTE)
    expect(result.buckets.reduce((sum, { firings }) => sum + firings, 0)).toBe(4)
    expect(sentence).toContain('the number of events is above 2')
  })

  it('fills its windows with what came before its span, and counts from there', async () => {
    const { engine, post, trigger, pass, clock } = await openWorld()
    await trigger({ condition: { aggregate: 'count', predicate: '> 2', window: '1h' }, cooldown: '1s' })
    await post([error, error])
    pass(30 * MINUTE)
    await post(error)
    pass(MINUTE)
    const { result } = await engine.backtest({ trigger: 't', window: '5m' })
    expect(result.list).toMatchObject([{ value: 3, events: 3 }])
    expect(result.matched).toBe(1)
    expect(clock.at).toBeGreaterThan(T0)
  })

  it('refuses what it cannot run, naming the field', async () => {
    const { engine } = await openWorld()
    const asked: TriggerDefinition = { sources: ['none'], condition: { event: 'any' } }
    await expect(engine.backtest({})).rejects.toMatchObject({ code: 'invalid' })
    await expect(engine.backtest({ trigger: 'none' })).rejects.toMatchObject({ code: 'not_found' })
    await expect(engine.backtest({ definition: asked })).rejects.toThrow('no source is named none')
    await expect(engine.backtest({ definition: { ...asked, cooldown: '0s' } })).rejects.toThrow('cooldown')
  })
})
