/** What is recorded about events goes with their age; what it cost stays. */
import { afterEach, describe, expect, it } from 'vitest'
import { openRunWorld, type RunWorld } from '../agents/runs/run-world.ts'
import { BY, MINUTE } from '../triggers/trigger-world.ts'

let world: RunWorld
afterEach(async () => {
  await world?.close()
})

const DAY = 24 * 60 * MINUTE
const error = { service: 'checkout', type: 'error' }
const maintain = () => {
  while (world.engine.maintain());
}

describe('retention by age', () => {
  it('takes firings, deliveries, reasons and runs, and forgets no spend', async () => {
    world = await openRunWorld({ retention: { maxAgeMs: 7 * DAY, maxBytes: null } })
    const { engine, models, trigger, agent, post, settled, firings, clock } = world
    await trigger({ condition: { event: 'any' }, cooldown: '1s' })
    await agent({ name: 'first-look', trigger: 't', model: 'm1' })
    models.reply('m1', () => ({ calls: [{ name: 'conclude', arguments: { outcome: 'no_op' } }] }))
    await post(error)
    await settled()
    const spent = (await engine.agentForecast('first-look')).spent_usd
    expect(spent).toBeGreaterThan(0)
    clock.at += 6 * DAY
    await post(error)
    await settled()
    clock.at += 2 * DAY
    maintain()
    expect(await firings()).toHaveLength(1)
    expect((await engine.listRuns({ limit: 10, offset: 0 })).total).toBe(1)
    expect((await engine.listDeliveries({ limit: 10 })).deliveries).toHaveLength(1)
    expect((await engine.evaluations('t', { limit: 10 })).evaluations).toHaveLength(1)
    expect((await engine.agentForecast('first-look')).spent_usd).toBeCloseTo(2 * spent, 12)
  })

  it.each([
    ['a cooldown', { cooldown: '10d' }],
    ['a limit', { cooldown: '1s', storm: { limits: [{ max: 1, per: '10d' }] } }],
  ])('leaves the firings that %s goes by, though it is longer than events are kept', async (_of, by) => {
    world = await openRunWorld({ retention: { maxAgeMs: 7 * DAY, maxBytes: null } })
    const { trigger, post, settled, firings, clock } = world
    const fired = async () =>
      (await firings()).filter(({ state }) => state === 'fired').map(({ dispatch_id: id }) => id)
    await trigger({ condition: { event: 'any' }, ...by })
    await post(error)
    await settled()
    const first = await fired()
    clock.at += 8 * DAY
    maintain()
    await post(error)
    await settled()
    expect(await fired()).toEqual(first)
    clock.at += 3 * DAY
    maintain()
    expect(await fired()).not.toContain(first[0])
  })

  it('leaves the handoffs that a cooldown goes by, though it is longer than runs are kept', async () => {
    world = await openRunWorld({ retention: { maxAgeMs: 7 * DAY, maxBytes: null } })
    const { models, trigger, agent, post, settled, run, clock } = world
    await trigger({ condition: { event: 'any' }, cooldown: '1s' })
    await agent({ name: 'digger', model: 'm2' })
    await agent({
      ...{ name: 'first-look', trigger: 't', model: 'm1', verdicts: [{ verdict: 'dig' }] },
      handoffs: [{ verdict: 'dig', agent: 'digger', cooldown: '10d' }],
    })
    const found = { outcome: 'finding', summary: 'The disk is full.', verdict: 'dig' }
    models.reply('m1', () => ({ calls: [{ name: 'conclude', arguments: found }] }))
    models.reply('m2', () => ({ calls: [{ name: 'conclude', arguments: { outcome: 'no_op' } }] }))
    const handedOver = async () => {
      await post(error)
      const looked = (await settled()).filter(({ agent: name }) => name === 'first-look').at(-1)!
      return (await run(looked.id)).handoffs.map(({ state }) => state)
    }
    expect(await handedOver()).toEqual(['done'])
    clock.at += 8 * DAY
    maintain()
    expect(await handedOver()).toEqual(['refused_cooldown'])
    clock.at += 3 * DAY
    maintain()
    expect(await handedOver()).toEqual(['done'])
  })

  it('E3: leaves the examples of an agent and what its tests need: they outlive their events', async () => {
    world = await openRunWorld({ retention: { maxAgeMs: 7 * DAY, maxBytes: null } })
    const { engine, models, trigger, agent, post, settled, firings, clock } = world
    await trigger({ condition: { event: 'any' }, cooldown: '1s' })
    await agent({ name: 'first-look', trigger: 't', model: 'm1' })
    models.reply('m1', () => ({
      calls: [{ name: 'conclude', arguments: { outcome: 'finding', summary: 'The disk is full.' } }],
    }))
    await post([error, { ...error, service: 'cart' }])
    const [run] = await settled()
    await engine.addAgentExample(
      'first-look',
      { name: 'disk', run_id: run!.id, mentions: ['disk'] },
      BY.caller,
    )
    const toldOf = async (id: string) =>
      (await engine.getRun(id)).steps.find(({ kind }) => kind === 'prompt')!.data
    const told = await toldOf(run!.id)
    expect(String(told.message)).toContain('evt_1 12:00:00 app error')
    clock.at += 30 * DAY
    maintain()
    // The firing of the example stays with it; the other one, and the events of both, are gone.
    expect((await firings()).map(({ dispatch_id: id }) => id)).toEqual([run!.dispatch_id])
    expect((await engine.read({ selector: {}, window: '90d' })).rows).toEqual([])
    expect((await engine.listRuns({ limit: 10, offset: 0 })).runs).toMatchObject([{ id: run!.id }])
    expect(await engine.listAgentExamples('first-look')).toMatchObject({ examples: [{ name: 'disk' }] })
    const { id } = await engine.startAgentTest('first-look', {}, BY.caller)
    const tested = (await settled()).at(-1)
    // Told to the byte what that run was told: why it fired, and the timeline of then.
    expect(await toldOf(tested!.id)).toEqual(told)
    expect(await engine.getAgentTest('first-look', id)).toMatchObject({ examples: [{ result: 'pass' }] })
  })

  it('18.3: takes deliveries of findings with their runs, but for those that a recipient still waits for', async () => {
    world = await openRunWorld({ retention: { maxAgeMs: 7 * DAY, maxBytes: null } })
    const { engine, models, trigger, agent, post, settled, clock } = world
    await trigger({ condition: { event: 'any' }, cooldown: '1s' })
    const webhook_url = 'http://127.0.0.1:9/back'
    await agent({ name: 'first-look', trigger: 't', model: 'm1', webhook_url, slack_channel: 'C0ALERTS' })
    models.reply('m1', () => ({
      calls: [{ name: 'conclude', arguments: { outcome: 'finding', summary: 'The disk is full.' } }],
    }))
    await post(error)
    await settled()
    const refused = { event: 'refuse', status: 400, reason: 'HTTP 400', at: clock.at, ms: 5 } as const
    const told = () => engine.listDeliveries({ limit: 10 })
    const kinds = async () => (await told()).deliveries.map(({ recipient }) => recipient.kind).sort()
    const [first, second] = await engine.claimDeliveries(10, [])
    await engine.settleDelivery(first!.deliveryId, refused)
    clock.at += 8 * DAY
    maintain()
    expect(await kinds()).toEqual(['slack', 'write_back'])
    expect((await engine.listRuns({ limit: 10, offset: 0 })).total).toBe(1)
    await engine.settleDelivery(second!.deliveryId, refused)
    clock.at += MINUTE
    maintain()
    expect(await kinds()).toEqual([])
    expect((await engine.listRuns({ limit: 10, offset: 0 })).total).toBe(0)
    await expect(engine.getDelivery(first!.deliveryId)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('leaves the firing of what lasts until it is over, which is told with its entity', async () => {
    world = await openRunWorld({ retention: { maxAgeMs: 7 * DAY, maxBytes: null } })
    const { trigger, post, firings, clock, pass } = world
    await trigger({
      condition: { aggregate: 'count', predicate: '> 0', window: '9d', resolve: true },
      severity: 'critical',
    })
    await post(error)
    clock.at += 8 * DAY
    maintain()
    pass(DAY + MINUTE)
    const [began, over] = await firings()
    expect(over).toMatchObject({ resolves: began?.dispatch_id, entity: began?.entity, severity: 'critical' })
    maintain()
    expect(await firings()).toMatchObject([{ dispatch_id: over?.dispatch_id }])
  })

  it('keeps everything where none is set', async () => {
    world = await openRunWorld()
    await world.trigger({ condition: { event: 'any' } })
    await world.post(error)
    world.clock.at += 1_000 * DAY
    maintain()
    expect(await world.firings()).toHaveLength(1)
  })
})
