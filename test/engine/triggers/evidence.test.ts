/** The evidence of a firing: pinned at the moment it fired, whatever came before and since. */
import { expect, it } from 'vitest'
import { evidenceOf } from '../../../engine/triggers/message.ts'
import { BY, MINUTE, openWorld } from './trigger-world.ts'

const requests = (n: number) => Array.from({ length: n }, () => ({ service: 'pay', type: 'request' }))

/** A deploy, more requests than are read, three errors that trip it at once, and what came later. */
async function firedWorld() {
  const world = await openWorld()
  await world.trigger({
    condition: { aggregate: 'count', predicate: '> 2', window: '5m' },
    filters: [{ field: 'event_type', op: 'eq', value: 'error' }],
  })
  const [deploy] = await world.post({ service: 'pay', type: 'deploy' })
  world.pass(MINUTE)
  await world.post(requests(250))
  world.pass(MINUTE)
  const errors: string[] = []
  for (let n = 0; n < 3; n += 1) {
    world.pass(1_000)
    errors.push(...(await world.post({ service: 'pay', type: 'error' })))
  }
  const [firing] = await world.firings()
  world.pass(MINUTE)
  await world.post(requests(30))
  await world.post({ service: 'cart', type: 'request' })
  return { world, id: firing!.dispatch_id, moment: firing!.fired_at, deploy: deploy!, errors }
}

it('holds what tripped it and the change before it, although so much else came between', async () => {
  const { world, id, moment, deploy, errors } = await firedWorld()
  const { events, ...rest } = await evidenceOf(world.engine, id, { before: 200, after: 20 })
  // The event that tripped it last came at the moment itself, and counts as of it.
  expect(rest).toEqual({ moment, tripped: errors, event_types: ['error'], later: 31 })
  const ids = events.map((event) => event.id)
  expect(ids[0]).toBe(deploy)
  expect(ids).toEqual(expect.arrayContaining(errors))
  expect(new Set(ids).size).toBe(ids.length)
  const times = events.map(({ event_time }) => event_time)
  expect(times).toEqual(times.toSorted())
  expect(times.filter((at) => at > moment!)).toHaveLength(19)
  expect(events.every((event) => !('raw' in event))).toBe(true)
})

it('reads by itself what tripped it from before that', async () => {
  const { world, id, errors } = await firedWorld()
  const { events, tripped } = await evidenceOf(world.engine, id, { before: 1, after: 1 })
  expect(tripped).toEqual(errors)
  expect(events.filter(({ event_type }) => event_type === 'request')).toHaveLength(0)
})

it('tells only what came since where nothing of before is asked for', async () => {
  const { world, id, errors } = await firedWorld()
  const { events, tripped, event_types, later } = await evidenceOf(world.engine, id, {
    before: 0,
    after: 500,
  })
  expect([tripped, event_types, later]).toEqual([[], [], 31])
  expect(events.map((event) => event.id)[0]).toBe(errors.at(-1))
  expect(events).toHaveLength(31)
})

it('says when a source of it took nothing in, as far as what it tells reaches', async () => {
  const world = await openWorld()
  await world.trigger({ condition: { aggregate: 'count', predicate: '> 2', window: '5m' } })
  /** For a minute, in the midst of two. */
  const pause = async (): Promise<string> => {
    world.pass(MINUTE / 2)
    await world.engine.moveSource('app', 'pause', BY)
    const from = new Date(world.clock.at).toISOString()
    world.pass(MINUTE)
    await world.engine.moveSource('app', 'resume', BY)
    world.pass(MINUTE / 2)
    return from
  }
  const gap = (from: string) => ({
    ...{ source: 'app', why: 'paused', from },
    to: new Date(Date.parse(from) + MINUTE).toISOString(),
  })
  const longAgo = await pause()
  world.pass(60 * MINUTE)
  const event = { service: 'pay', type: 'error' }
  await world.post(event)
  const before = await pause()
  await world.post([event, event, event])
  const after = await pause()
  const [firing] = await world.firings()
  const gapsOf = async (sides: { before: number; after: number }) =>
    (await evidenceOf(world.engine, firing!.dispatch_id, sides)).gaps
  expect(await gapsOf({ before: 200, after: 20 })).toEqual([gap(before), gap(after)])
  expect(await gapsOf({ before: 0, after: 20 })).toEqual([gap(after)])
  await world.post([event, event])
  expect(await gapsOf({ before: 0, after: 1 })).toBeUndefined()
  expect(longAgo < before).toBe(true)
})

it('of no entity is no timeline', async () => {
  const world = await openWorld()
  await world.trigger({ condition: { every: '5m' } })
  world.pass(6 * MINUTE)
  const [firing] = await world.firings()
  expect(firing).toMatchObject({ entity: null, events: 0 })
  expect(await evidenceOf(world.engine, firing!.dispatch_id, { before: 200, after: 20 })).toEqual({
    moment: firing!.fired_at,
    ...{ events: [], tripped: [], event_types: [], later: null },
  })
})
