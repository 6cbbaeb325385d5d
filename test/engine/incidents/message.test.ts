/** 19, step 2: what is posted of a firing names its incident, its severity and where to read more. */
import { describe, expect, it } from 'vitest'
import { emptySlackEnvironment } from '../../../engine/outbox/slack-api.ts'
import { BY, MINUTE, openWorld, T0 } from '../triggers/trigger-world.ts'

it.each([
  ['https://svc.example.com', { url: 'https://svc.example.com/incidents/1' }],
  [null, {}],
])('with SVC_PUBLIC_URL %s', async (publicUrl, link) => {
  const { engine, trigger, post } = await openWorld({ slack: { ...emptySlackEnvironment, publicUrl } })
  await trigger({ condition: { event: 'any' }, severity: 'critical' })
  await engine.subscribe({ trigger: 't' }, { url: null, audience: 'operator' }, BY.caller)
  await post({ service: 'checkout' })
  const [delivery] = (await engine.listDeliveries({ limit: 1 })).deliveries
  const { incident, severity, url } = await engine.deliveryMessage(delivery!.delivery_id)
  expect({ incident, severity, ...(url === undefined ? {} : { url }) }).toEqual({
    ...{ incident: 'inc_1', severity: 'critical' },
    ...link,
  })
})

it('that it is over is routed as what began: its severity and labels, and it says so once', async () => {
  const { engine, trigger, post, pass } = await openWorld()
  const condition = { aggregate: 'count', predicate: '> 1', window: '1m', resolve: true } as const
  await trigger({ condition, severity_field: 'state' })
  await engine.subscribe({ trigger: 't' }, { url: null, audience: 'operator' }, BY.caller)
  const [first] = await post(
    [1, 2].map((n) => ({ service: 'checkout', state: 'critical', region: `eu-${n}` })),
  )
  pass(2 * MINUTE)
  const deliveries = (await engine.listDeliveries({ limit: 5 })).deliveries
  const [over, began] = await Promise.all(deliveries.map((one) => engine.deliveryMessage(one.delivery_id)))
  expect(over!.resolves).toBe(began!.dispatch_id)
  const routed = { severity: 'critical', incident: 'inc_1', labels: { service: 'checkout', region: 'eu-2' } }
  expect(began).toMatchObject(routed)
  expect(over).toMatchObject({ ...routed, reason: 'over: 0 events in 1m' })
  expect(over!.keys[0]!.first_event).toBe(began!.keys[0]!.first_event)
  expect(began!.event_ids[0]).toBe(first)
  expect(over!.payload.split('\n')[1]).toBe('over: 0 events in 1m')
})

describe('a snooze', () => {
  const MARA = { by: 'mara', via: 'console' } as const
  const snooze = { action: 'snooze', until: new Date(T0 + 10 * MINUTE).toISOString() } as const

  /** Two triggers whose project is subscribed; a firing of the first was tried once, and is to be tried again. */
  async function failing() {
    const world = await openWorld()
    const { engine, trigger, post } = world
    await trigger({ condition: { event: 'any' }, cooldown: '1s' })
    const filters = [{ field: 'state', op: 'exists' } as const]
    await trigger({ name: 'other', condition: { event: 'any' }, cooldown: '1s', filters })
    const [project] = (await engine.getTrigger('t')).projects
    await engine.subscribe(
      { project: project! },
      { url: 'http://127.0.0.1:9/', audience: 'operator' },
      BY.caller,
    )
    await post({ service: 'checkout' })
    const claim = () => engine.claimDeliveries(16, [])
    const [one] = await claim()
    const due = { dueAt: T0 + MINUTE, status: 503, reason: 'HTTP 503' }
    await engine.settleDelivery(one!.deliveryId, { event: 'retry', at: T0, ms: 1, ...due })
    return { world, claim, id: one!.deliveryId }
  }

  it('holds back what waits to be tried again until its time is over, and nothing of other triggers', async () => {
    const { world, claim, id } = await failing()
    await world.engine.actOnIncident('inc_1', snooze, MARA)
    world.pass(9 * MINUTE)
    expect([await claim(), await world.engine.nextDelivery()]).toEqual([[], null])
    await world.post({ service: 'checkout', state: 'down' })
    const [other, ...more] = await claim()
    expect([other!.deliveryId === id, other!.tries, more]).toEqual([false, 1, []])
    await world.engine.settleDelivery(other!.deliveryId, {
      ...{ event: 'acknowledge', at: T0, ms: 1, status: 200, reason: null },
    })
    world.pass(MINUTE)
    expect(await claim()).toMatchObject([{ deliveryId: id, tries: 2 }])
  })

  it('that a person ends lets it be sent at once', async () => {
    const { world, claim, id } = await failing()
    await world.engine.actOnIncident('inc_1', snooze, MARA)
    world.pass(2 * MINUTE)
    const { pending } = world
    await world.engine.actOnIncident('inc_1', { action: 'unsnooze' }, MARA)
    expect(world.pending).toBeGreaterThan(pending)
    expect(await claim()).toMatchObject([{ deliveryId: id, tries: 2 }])
  })

  it('aside, it is told when the next is due, and at once while what is looked at is refused', async () => {
    const { world, claim, id } = await failing()
    const { engine, clock } = world
    expect([await claim(), await engine.nextDelivery()]).toEqual([[], T0 + MINUTE])
    for (const wait of [MINUTE, 2_000]) {
      world.pass(wait)
      await world.post({ service: 'checkout' })
    }
    // It came due since the last look.
    expect(await engine.nextDelivery()).toBe(T0 + MINUTE)
    expect(await claim()).toMatchObject([{ deliveryId: id }])
    const gone = { status: 410, reason: 'HTTP 410', at: clock.at, ms: 1 }
    await engine.settleDelivery(id, { event: 'gone', ...gone })
    for (let waiting = 2; waiting > 0; waiting--)
      expect([await claim(), await engine.nextDelivery()]).toEqual([[], clock.at])
    expect([await claim(), await engine.nextDelivery()]).toEqual([[], null])
    const { deliveries } = await engine.listDeliveries({ limit: 5 })
    expect(deliveries.map(({ status }) => status)).toEqual(['failed', 'failed', 'failed'])
  })
})
