/** Claims of a run as they are checked against events: repaired once, mended, or kept as unverified. */
import { afterEach, describe, expect, it } from 'vitest'
import type { ScriptedReply } from '../../../models/scripted-server.ts'
import { BY } from '../../triggers/trigger-world.ts'
import { stepsOf } from './replies.ts'
import { openRunWorld, type RunWorld } from './run-world.ts'

let world: RunWorld
afterEach(async () => {
  await world?.close()
})

const error = { service: 'checkout', type: 'error', msg: 'cannot pay' }
const conclude = (more: Record<string, unknown> = {}): ScriptedReply => ({
  calls: [
    { name: 'conclude', arguments: { outcome: 'finding', summary: 'The card gateway is down.', ...more } },
  ],
})

async function open(options: Parameters<typeof openRunWorld>[0] = {}): Promise<RunWorld> {
  world = await openRunWorld(options)
  await world.trigger({ condition: { event: 'any' }, cooldown: '1s' })
  return world
}

describe('a conclusion about another entity', () => {
  it('of which no event says anything is asked for once more: a mistyped name has a timeline nobody reads', async () => {
    const { agent, models, post, settled, run } = await open()
    await agent({ name: 'first-look', trigger: 't', model: 'm1' })
    const of = (key: string) => conclude({ key, label: 'service' })
    models.reply('m1', [of('payments'), of('checkout-service'), of('payments'), of('card'), of('card')])
    await post([{ ...error, service: 'payments' }, error])
    const [first, second] = await settled()
    expect([first!.key, first!.rounds]).toEqual(['payments', 1])
    expect([second!.key, second!.rounds]).toEqual(['payments', 2])
    const [refused] = stepsOf(await run(second!.id), 'conclude')
    expect(refused!.fault).toMatch(
      /^no event that you may read has service=checkout-service\. .*service=checkout,/,
    )
    await post({ ...error, service: 'stock' })
    // Said once more it is meant: something that is known by the text of events alone.
    expect((await settled()).at(-1)).toMatchObject({ key: 'card', rounds: 2, status: 'succeeded' })
  })
})

it('remembers of another entity on its timeline, by the label of its own unless the model names one, and says where', async () => {
  const { agent, engine, models, post, run, settled } = await open()
  await agent({ name: 'first-look', trigger: 't', model: 'm1', remembers: true })
  const remember = (more: object) => ({
    calls: [{ name: 'remember', arguments: { content: 'It is slow on Mondays.', ...more } }],
  })
  models.reply('m1', [
    ...[remember({ key: 'payments' }), remember({ key: 'node-1', label: 'host' }), remember({})],
    {
      calls: [remember({ key: 'host=node-2' }), remember({ key: 'x', label: 'a b' })].flatMap(
        ({ calls }) => calls,
      ),
    },
    conclude({ key: 'service=checkout' }),
  ])
  await post(error)
  const runs = await settled()
  expect(runs).toMatchObject([{ status: 'succeeded', key: 'checkout', rounds: 5, tool_calls: 5 }])
  expect(stepsOf(await run(runs[0]!.id), 'tool').map(({ result }) => result)).toEqual([
    'remembered on the timeline of service=payments',
    'remembered on the timeline of host=node-1',
    'remembered on the timeline of service=checkout',
    'remembered on the timeline of host=node-2',
    expect.stringMatching(/^tool error: label must be/),
  ])
  const remembered: Record<string, string>[] = [
    { service: 'payments' },
    { host: 'node-1' },
    { service: 'checkout' },
    { host: 'node-2' },
  ]
  for (const selector of remembered)
    expect((await engine.read({ selector, event_types: ['observation'], window: '1h' })).rows).toMatchObject([
      { text: expect.stringContaining('It is slow on Mondays.') },
    ])
})

describe('claims', () => {
  const five = [
    { text: 'There is no such event.', events: ['evt_999'] },
    { text: 'It took 700 ms.', events: ['evt_1'], number: 700 },
    { text: 'It took 300 ms.', events: ['evt_1'], number: 300 },
    { text: 'It cannot pay.', events: ['evt_1'], quote: 'cannot  PAY' },
    { text: 'Two events came.', events: ['evt_1', 'evt_2'], count: 2 },
  ]

  it('that do not hold get one repair, and are kept as unverified', async () => {
    const { agent, models, post, settled, run } = await open()
    await agent({ name: 'first-look', trigger: 't', model: 'm1' })
    models.reply('m1', [conclude({ claims: five }), conclude({ claims: five })])
    await post([
      { ...error, ms: 300 },
      { ...error, msg: 'again' },
    ])
    const [done] = await settled()
    expect(done).toMatchObject({ status: 'succeeded', verified: { ok: 3, total: 5 }, rounds: 2 })
    const { claims, steps } = await run(done!.id)
    expect(claims.map(({ ok, why }) => [ok, why])).toEqual([
      [false, 'evt_999 is no event'],
      [false, 'none of its events has the number 700'],
      [true, null],
      [true, null],
      [true, null],
    ])
    expect(steps.filter(({ kind }) => kind === 'conclude')).toHaveLength(2)
  })

  it('hold by what a line told of their events: a level that no event has to the digit', async () => {
    const { agent, models, post, settled, run } = await open()
    await agent({ name: 'first-look', trigger: 't', model: 'm1' })
    const levels = { text: 'It became slow.', events: ['evt_40', 'evt_41'], was: 36.12, now: 2001 }
    const wrong = { ...levels, now: 2002 }
    models.reply('m1', [
      { calls: [{ name: 'series', arguments: { label: 'ms' } }] },
      ...[conclude({ claims: [levels, wrong] }), conclude({ claims: [levels, wrong] })],
    ])
    await post(
      Array.from({ length: 80 }, (_, i) => ({ ...error, n: `r${i}`, ms: i < 40 ? 36.123456 : 2000.98765 })),
    )
    const [done] = await settled()
    const { claims, steps } = await run(done!.id)
    expect(JSON.stringify(steps)).toContain('36.12 → 2001 (evt_40 → evt_41)')
    expect(claims.map(({ ok, why }) => [ok, why])).toEqual([
      [true, null],
      [false, 'none of its events has the number 2002'],
    ])
  })

  it('are mended by a better conclusion, and kept as they were when none comes', async () => {
    const { agent, models, post, settled } = await open()
    await agent({ name: 'first-look', trigger: 't', model: 'm1' })
    models.reply('m1', [conclude({ claims: [five[0]] }), conclude({ claims: [five[3]] })])
    await post(error)
    expect(await settled()).toMatchObject([{ verified: { ok: 1, total: 1 } }])
    models.reply('m1', [conclude({ claims: [five[0]] }), { status: 400, error: 'no more' }])
    world.pass(2_000)
    await post(error)
    expect((await settled())[1]).toMatchObject({ status: 'succeeded', verified: { ok: 0, total: 1 } })
  })

  it('rest only on what the run was shown', async () => {
    const { agent, models, post, settled } = await open()
    await agent({ name: 'first-look', trigger: 't', model: 'm1', context: 'plain' })
    const claim = { text: 'Elsewhere too.', events: ['evt_1'], quote: 'far away' }
    models.reply('m1', [conclude({ claims: [claim] }), conclude({ claims: [claim] })])
    // Of another entity, stored before.
    await world.engine.moveTrigger('t', 'pause', BY)
    await post({ service: 'cart', type: 'error', msg: 'far away' })
    await world.engine.moveTrigger('t', 'resume', BY)
    await post(error)
    expect(await settled()).toMatchObject([{ verified: { ok: 0, total: 1 } }])
  })
})
