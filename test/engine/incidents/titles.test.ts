/** What incidents are called before anything was found, and what came meanwhile that fired nothing. */

import { describe, expect, it } from 'vitest'
import type { Incident } from '../../../schemas/types.ts'
import { titleOf } from '../../../schemas/words.ts'
import { BY, MINUTE, openWorld, type World } from '../triggers/trigger-world.ts'

const any = { event: 'any' } as const
const error = { service: 'checkout', type: 'error', msg: 'POST /orders 503' }

const all = async ({ engine }: World): Promise<Incident[]> =>
  (await engine.listIncidents({ limit: 200 }, null)).incidents
const one = async (world: World, number = 1) => world.engine.getIncident(`inc_${number}`, null)

/** A world in which each event fires, after a cooldown of a minute. */
async function opened(more: object = {}): Promise<World> {
  const world = await openWorld()
  await world.trigger({ condition: any, cooldown: '1m', ...more })
  return world
}

/** Fires again, two minutes later. */
async function again(world: World, more: object = {}): Promise<void> {
  world.clock.at += 2 * MINUTE
  await world.post({ ...error, ...more })
}

describe('incidents', () => {
  it('are titled by what tripped the first of the most severe, which is found by its words', async () => {
    const world = await opened({ severity_field: 'state' })
    await world.post({ ...error, msg: 'FIRING: HighLatency · p99 is 3.2 s', state: 'warning' })
    await again(world, { msg: 'FIRING: DiskFull', state: 'warning' })
    const titles = async () => (await all(world)).map(({ headline }) => headline)
    expect(await titles()).toEqual(['HighLatency · p99 is 3.2 s'])
    await again(world, { msg: 'FIRING: Down · no instance of 3 answers', state: 'critical' })
    await again(world, { msg: 'FIRING: DiskFull', state: 'warning' })
    expect(await titles()).toEqual(['Down · no instance of 3 answers'])
    const found = async (q: string) =>
      (await world.engine.listIncidents({ q, limit: 9 }, null)).incidents.length
    expect([await found('no instance'), await found('p99')]).toEqual([1, 0])
  })

  it('are titled by the trigger where many events tripped it, or what did is gone', async () => {
    const world = await opened({
      description: 'orders fail',
      condition: { aggregate: 'count', predicate: '>= 2', window: '5m' },
    })
    await world.post([error, error])
    expect((await one(world)).headline).toBe('When orders fail')
    await world.trigger({ name: 'each', condition: any, description: 'an order fails' })
    await world.post({ ...error, service: 'pay' })
    expect((await one(world, 2)).headline).toBe('POST /orders 503')
    await world.engine.deleteSource('app', { cascade: true, purgeEvents: true }, BY)
    while (world.engine.maintain());
    expect((await one(world, 2)).headline).toBe('When an order fails')
  })

  it.each(['{"service":"checkout"}', '[{"id":1}]', '{ "a": 1 }'])(
    'are titled by the trigger where the text is the payload: %s',
    (text) => {
      const trigger = { sources: ['app'], condition: { event: 'any' } as const }
      expect(titleOf(trigger, { reason: '', events: 1, text })).toBe('When an event arrives on app')
      expect(titleOf(trigger, { reason: '', events: 1, text: '[ERROR] {no} stock' })).toBe(
        '[ERROR] {no} stock',
      )
    },
  )

  it('say what came meanwhile and fired nothing, as their trigger waited', async () => {
    const world = await opened({
      cooldown: '5m',
      filters: [{ field: 'state', op: 'neq', value: 'resolved' }],
    })
    const alert = (type: string, msg: string, state = 'firing', service = 'checkout') =>
      world.post({ service, type, msg, state })
    await alert('HighLatency', 'p99 is 3.2 s')
    expect((await one(world)).also).toEqual([])
    await alert('DiskFull', 'node6 is 95% full')
    world.clock.at += MINUTE
    await alert('DiskFull', 'node7 is\n97% full')
    await alert('HighLatency', 'p99 is 1 s', 'resolved')
    await alert('DiskFull', 'node8', 'firing', 'search')
    await alert('Down', 'no answer')
    const { also, firings_total } = await one(world)
    expect(also.map(({ event_type, events, text }) => [event_type, events, text])).toEqual([
      ['Down', 1, 'no answer'],
      ['DiskFull', 2, 'node7 is 97% full'],
    ])
    expect(firings_total).toBe(1)
    // What fires is none of these, nor what comes once it is over.
    await again(world, { type: 'Paged', state: 'firing' })
    world.clock.at += 5 * MINUTE
    await alert('Late', 'fires')
    await world.engine.actOnIncident('inc_1', { action: 'handle' }, { by: 'mara', via: 'console' })
    world.clock.at += MINUTE
    await alert('After', 'is of no incident')
    expect((await one(world)).also.map(({ event_type }) => event_type)).toEqual(['Paged', 'Down', 'DiskFull'])
  })

  it('of a key of entity and type are one for each alert, and of that entity', async () => {
    const world = await opened({ condition: { event: 'any', group_by: ['key_value', 'event_type'] } })
    await world.post({ ...error, type: 'HighLatency' })
    await world.post({ ...error, type: 'DiskFull' })
    const entity = { label: 'service', value: 'checkout' }
    expect((await all(world)).map(({ key, entity }) => [key, entity])).toEqual([
      ['key_value=checkout, event_type=DiskFull', entity],
      ['key_value=checkout, event_type=HighLatency', entity],
    ])
    expect((await one(world)).also).toEqual([])
    await world.post({ ...error, type: 'HighLatency', msg: 'again' })
    expect((await one(world)).also).toMatchObject([{ event_type: 'HighLatency', events: 1, text: 'again' }])
  })
})
