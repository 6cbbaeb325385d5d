import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { BY, MINUTE, openWorld, type World } from './trigger-world.ts'

const FIRING = [{ field: 'state', op: 'eq', value: 'firing' }] as const
const RESOLVED = [{ field: 'state', op: 'eq', value: 'resolved' }] as const
const OF_ALERTS = {
  filters: [...FIRING],
  condition: { event: 'any', resolve: { filters: [...RESOLVED], equal: ['event_type', 'region'] } },
} as const
const ALERTS = OF_ALERTS as unknown as Parameters<World['trigger']>[0]

const on = (type: string, more: object = {}) => ({
  service: 'pay',
  type,
  state: 'firing',
  msg: type,
  ...more,
})
const over = (type: string, more: object = {}) => on(type, { state: 'resolved', ...more })

/** How each firing stands: its events, and for those that are over which they resolve. */
async function told(world: World) {
  const firings = await world.firings()
  return firings.map(({ event_ids, resolves }) => ({
    events: event_ids,
    resolves: firings.findIndex(({ dispatch_id }) => dispatch_id === resolves),
  }))
}
const states = async ({ engine }: World) =>
  (await engine.listIncidents({ state: 'all', limit: 50 }, null)).incidents.map(({ state, handled }) => [
    state,
    handled?.how ?? null,
  ])

describe('a trigger whose events say when it is over', () => {
  it('is over with the last of its alerts', async () => {
    const world = await openWorld()
    await world.trigger(ALERTS)
    const [disk] = await world.post(on('DiskFull'))
    await world.post(on('DiskFull', { region: 'eu' }))
    world.pass(MINUTE)
    await world.post(over('DiskFull'))
    expect(await states(world)).toEqual([['open', null]])
    const { alerts, also } = await world.engine.getIncident('inc_1', null)
    expect(alerts).toMatchObject([
      { event_type: 'DiskFull', text: 'DiskFull', over_at: null, told: false },
      { id: disk, over_at: new Date(world.clock.at).toISOString(), told: true },
    ])
    expect(also).toEqual([])
    await world.post(over('Other'))
    const [last] = await world.post(over('DiskFull', { region: 'eu' }))
    expect(await told(world)).toEqual([
      { events: [disk], resolves: -1 },
      { events: [last], resolves: 0 },
    ])
    expect(await states(world)).toEqual([['handled', 'resolved']])
  })

  it('tells at the end of its cooldown what came within it and is on still, once', async () => {
    const world = await openWorld()
    await world.trigger(ALERTS)
    const [disk] = await world.post(on('DiskFull'))
    world.pass(MINUTE)
    const [slow] = await world.post(on('Slow'))
    const [down] = await world.post(on('Down'))
    await world.post(on('Gone'))
    await world.post(over('Gone'))
    // What is told already is told no second time.
    await world.post(on('DiskFull'))
    world.pass(3 * MINUTE + 59_999)
    expect(await told(world)).toHaveLength(1)
    world.pass(1)
    const both = { events: [slow, down], resolves: -1 }
    expect(await told(world)).toEqual([{ events: [disk], resolves: -1 }, both])
    world.pass(60 * MINUTE)
    expect(await told(world)).toHaveLength(2)
    const firings = await world.firings()
    expect(firings[1]).toMatchObject({
      entity: { label: 'service', value: 'pay' },
      reason: '2 alerts that came within the cooldown are not over; 3 alerts of it are on',
    })
    await world.post([over('DiskFull'), over('Slow')])
    const [last] = await world.post(over('Down'))
    expect((await told(world))[2]).toEqual({ events: [last], resolves: 1 })
  })

  it('fires again for an alert that repeats after the cooldown', async () => {
    const world = await openWorld()
    await world.trigger(ALERTS)
    await world.post(on('DiskFull'))
    world.pass(6 * MINUTE)
    await world.post(on('DiskFull'))
    expect(await told(world)).toHaveLength(2)
  })

  it('does not wait for the end of what was on when somebody handled its incident', async () => {
    const world = await openWorld()
    await world.trigger(ALERTS)
    await world.post(on('Lost'))
    const [incident] = (await world.engine.listIncidents({ limit: 1 }, null)).incidents
    await world.engine.actOnIncident(incident!.id, { action: 'handle' }, { by: 'ann', via: 'api' } as never)
    world.pass(10 * MINUTE)
    await world.post(on('DiskFull'))
    await world.post(over('DiskFull'))
    expect(await states(world)).toEqual([
      ['handled', 'resolved'],
      ['handled', 'person'],
    ])
  })

  it('takes an end that is older than its alert for that of an earlier one', async () => {
    const world = await openWorld()
    await world.trigger(ALERTS)
    const at = (ms: number) => ({ at: new Date(world.clock.at + ms).toISOString() })
    await world.post(on('DiskFull', at(-MINUTE)))
    await world.post(over('DiskFull', at(-2 * MINUTE)))
    expect(await states(world)).toEqual([['open', null]])
    await world.post(over('DiskFull', at(0)))
    expect(await states(world)).toEqual([['handled', 'resolved']])
  })

  it('hears while it is paused that it is over', async () => {
    const world = await openWorld()
    await world.trigger(ALERTS)
    await world.post(on('DiskFull'))
    await world.engine.moveTrigger('t', 'pause', BY)
    await world.post(over('DiskFull'))
    expect(await states(world)).toEqual([['handled', 'resolved']])
  })

  it('waits for its alerts over a start, and for no 24 quiet hours', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-alerts-'))
    try {
      const dataFile = join(folder, 'svc.db')
      const before = await openWorld({ dataFile })
      await before.trigger(ALERTS)
      await before.post(on('DiskFull'))
      before.pass(MINUTE)
      const [slow] = await before.post(on('Slow'))
      await before.engine.close()
      const world = await openWorld({ dataFile, clock: before.clock })
      world.pass(5 * MINUTE)
      expect((await told(world))[1]).toEqual({ events: [slow], resolves: -1 })
      world.pass(50 * 60 * MINUTE)
      expect(await states(world)).toEqual([['open', null]])
      await world.post([over('Slow'), over('DiskFull')])
      expect(await states(world)).toEqual([['handled', 'resolved']])
      await world.engine.close()
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('says what an event that is over did, and fires the same in a backtest', async () => {
    const world = await openWorld()
    await world.trigger(ALERTS)
    await world.post([on('DiskFull'), on('Slow')])
    const [first] = await world.post(over('DiskFull'))
    world.pass(5 * MINUTE)
    const [last] = await world.post(over('Slow'))
    const why = async (id: string) => (await world.engine.why(id)).records[0]
    expect(await why(first!)).toMatchObject({ reason: 'resolved' })
    expect(await why(last!)).toMatchObject({
      reason: 'resolved',
      text: 'over: no alert of it is on any more',
    })
    world.pass(1)
    const { result } = await world.engine.backtest({ trigger: 't', window: '1h' })
    expect(result.list.map(({ resolved, event_ids }) => ({ resolved, event_ids })).reverse()).toEqual(
      (await world.firings()).map(({ resolves, event_ids }) => ({ resolved: resolves !== null, event_ids })),
    )
  })

  it('is over by the name and as severe as the worst of its alerts was', async () => {
    const world = await openWorld()
    await world.trigger({ ...ALERTS, severity_field: 'region' })
    await world.engine.subscribe({ trigger: 't' }, { url: null, audience: 'operator' }, BY.caller)
    await world.post(on('DiskFull', { region: 'critical' }))
    await world.post(on('Slow', { region: 'warning' }))
    world.pass(5 * MINUTE)
    await world.post([over('DiskFull', { region: 'critical' }), over('Slow', { region: 'warning' })])
    expect((await world.firings()).map(({ severity }) => severity)).toEqual([
      'critical',
      'warning',
      'critical',
    ])
    const [last] = (await world.engine.listDeliveries({ limit: 1 })).deliveries
    const { title, resolves } = await world.engine.deliveryMessage(last!.delivery_id)
    expect([title, typeof resolves]).toEqual(['DiskFull', 'string'])
  })

  it('says the newest event of an alert that repeats, and counts no end among the events that matched', async () => {
    const world = await openWorld()
    await world.trigger(ALERTS)
    await world.post(on('DiskFull'))
    const [again] = await world.post(on('DiskFull'))
    const { alerts } = await world.engine.getIncident('inc_1', null)
    expect(alerts).toMatchObject([{ id: again }])
    await world.post([over('Other'), over('DiskFull')])
    world.pass(1)
    const { result } = await world.engine.backtest({ trigger: 't', window: '1h' })
    expect(result.matched).toBe(2)
  })

  it('forgets what was over first of an entity that is never without an alert', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-alerts-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const dataFile = join(folder, 'svc.db')
    const world = await openWorld({ dataFile })
    await world.trigger(ALERTS)
    await world.post(on('Stays'))
    for (let n = 0; n < 10; n++) {
      world.pass(1)
      const types = Array.from({ length: 50 }, (_, k) => `t${n}.${k}`)
      await world.post(types.flatMap((type) => [on(type), over(type)]))
    }
    const { alerts } = await world.engine.getIncident('inc_1', null)
    expect(alerts.slice(0, 2)).toMatchObject([
      { event_type: 'Stays', over_at: null },
      { event_type: 't9.49' },
    ])
    await world.engine.close()
    const db = new Database(dataFile, { readonly: true })
    expect(db.prepare('SELECT count(*) FROM active_alerts').pluck().get()).toBeLessThan(300)
    db.close()
  })

  it.each([
    [{ filters: [] }, 'condition.resolve.filters'],
    [
      { filters: [{ field: 'state', op: 'in', value: 'x' }] },
      'condition.resolve.filters[0].value must be a list',
    ],
    [{ filters: [...RESOLVED], equal: [] }, 'condition.resolve.equal'],
    [{ filters: [...FIRING] }, 'condition.resolve.filters must not be among filters'],
  ])('is refused with %j', async (resolve, rule) => {
    const world = await openWorld()
    await expect(
      world.trigger({ filters: [...FIRING], condition: { event: 'any', resolve } } as never),
    ).rejects.toThrow(rule)
  })
})
