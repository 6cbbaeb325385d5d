/** How a run comes to its end: concluded, used up, failed, capped or cancelled. */
import { afterEach, describe, expect, it } from 'vitest'
import type { Step, StepData } from '../../../../engine/agents/runs/types.ts'
import type { Filter, RunDetail } from '../../../../schemas/types.ts'
import type { ScriptedReply } from '../../../models/scripted-server.ts'
import { BY } from '../../triggers/trigger-world.ts'
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

const WARNING: Filter[] = [{ field: 'event_type', op: 'eq', value: 'warning' }]

/** Which triggers wake the agent, and whether that is on. */
const wire = (w: RunWorld, on: Record<string, boolean>) =>
  w.engine.wireProject(
    w.project,
    {
      wakes: Object.entries(on).map(([trigger, enabled]) => ({ trigger, agent: 'first-look', enabled })),
      handoffs: [],
    },
    BY,
  )

const stepsOf = <K extends keyof StepData>(run: RunDetail, kind: K): StepData[K][] =>
  (run.steps as unknown as Step[]).filter((step) => step.kind === kind).map(({ data }) => data as StepData[K])

it.each<[string, (room: number) => { status: number; error: string }]>([
  [
    'context',
    (room) => ({
      status: 400,
      error: `This model's maximum context length is 8192 tokens. However, you requested 9216 tokens (5120 in the messages, ${room} in the completion).`,
    }),
  ],
  [
    'minute',
    (room) => ({
      status: 429,
      error: `Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 8000, Requested ${5_120 + room}. The input or output tokens must be reduced in order to run successfully.`,
    }),
  ],
])('a model whose %s has no room for the longest reply is asked for a shorter one', async (_what, full) => {
  const { agent, models, post, settled, run } = await open({ wire: 'compatible' })
  await agent({ name: 'first-look', trigger: 't', model: 'm1' })
  models.reply('m1', ({ body }) =>
    (body.max_tokens as number) > 2_000 ? full(body.max_tokens as number) : conclude(),
  )
  await post(error)
  const [done] = await settled()
  expect(done).toMatchObject({ status: 'succeeded', rounds: 1 })
  expect(models.requests.map(({ body }) => body.max_tokens)).toEqual([4_096, 1_024])
  expect(stepsOf(await run(done!.id), 'note')).toMatchObject([
    {
      text: 'there was no room for a reply of 4096 tokens; replies of 1024 are asked for from here on',
    },
  ])
  // Where it is the prompt alone that is too long, nothing is gained by it.
  models.reply('m1', () => ({ status: 400, error: 'maximum context length is 2048 tokens' }))
  await post({ ...error, service: 'other' })
  expect((await settled()).map(({ status }) => status)).toEqual(['succeeded', 'failed'])
  expect(models.requests).toHaveLength(3)
})

describe('a run whose 15 minutes are over', () => {
  const never = { delayUntil: new Promise(() => {}) }
  const lookFor = { name: 'read', arguments: { selector: { service: 'checkout' } } }
  const unheld = conclude({ claims: [{ text: 'It is.', events: ['evt_1'], quote: 'nowhere' }] })

  it.each([
    ['keeps the conclusion that was sent back', unheld, { status: 'succeeded', error: null }],
    [
      'keeps what it said last as its note',
      { text: 'The card gateway is down.', calls: [lookFor] },
      { status: 'failed', error: 'it took longer than 15 minutes' },
    ],
  ])('%s', async (_what, first, end) => {
    const { agent, models, post, settled, timers } = await open()
    await agent({ name: 'first-look', trigger: 't', model: 'm1' })
    models.reply('m1', [first, never])
    await post(error)
    const ended = settled()
    await expect.poll(() => models.requests.length).toBe(2)
    timers.advance(900_000)
    expect(await ended).toMatchObject([{ ...end, finding: 'The card gateway is down.' }])
  })
})

describe('a run ends', () => {
  const cases: {
    as: string
    agent?: Partial<Parameters<RunWorld['agent']>[0]>
    script: ScriptedReply[] | (() => ScriptedReply)
    run: Record<string, unknown>
    delivery?: string
  }[] = [
    {
      as: 'succeeded with nothing to report',
      script: [{ calls: [{ name: 'conclude', arguments: { outcome: 'no_op' } }] }],
      run: { status: 'succeeded', outcome: 'no_op', event_id: null },
      delivery: 'delivered',
    },
    {
      as: 'succeeded with plain text',
      script: [{ text: 'It is the gateway.' }],
      run: { status: 'succeeded', outcome: 'finding', finding: 'It is the gateway.', verdict: null },
      delivery: 'delivered',
    },
    {
      as: 'exhausted, with its last text as a partial note',
      agent: { max_rounds: 2 },
      script: () => ({
        text: 'I look further.',
        calls: [{ name: 'read', arguments: { selector: { service: 'checkout' } } }],
      }),
      run: { status: 'exhausted', outcome: null, finding: 'I look further.', rounds: 3 },
    },
    {
      as: 'A13: exhausted where its rounds are used up and its last reply is empty, its half thought a note',
      agent: { max_rounds: 1 },
      script: [
        {
          text: 'I look further.',
          calls: [{ name: 'read', arguments: { selector: { service: 'checkout' } } }],
        },
        { text: ' ' },
      ],
      run: {
        status: 'exhausted',
        outcome: null,
        finding: 'I look further.',
        error: expect.stringContaining('its rounds are used up'),
        rounds: 2,
      },
    },
    {
      as: 'A13: empty where its last reply is empty though it had rounds left, its half thought a note',
      script: [
        {
          text: 'I look further.',
          calls: [{ name: 'read', arguments: { selector: { service: 'checkout' } } }],
        },
        { text: '' },
        { text: '' },
      ],
      run: { status: 'empty', outcome: null, finding: 'I look further.', rounds: 3 },
    },
    {
      as: 'succeeded where one reply was empty, and the next is not',
      script: [
        { calls: [{ name: 'read', arguments: { selector: { service: 'checkout' } } }] },
        { text: ' \n', thinking: 'hm' },
        { text: 'It is the gateway.' },
      ],
      run: { status: 'succeeded', outcome: 'finding', finding: 'It is the gateway.', rounds: 3 },
      delivery: 'delivered',
    },
    {
      as: 'empty, and hints at tool calling',
      script: [{ text: '' }, { text: '' }],
      run: { status: 'empty', error: expect.stringContaining('check that the model supports tool calling') },
    },
    {
      as: 'empty, and hints at tool calling, where it must conclude and only ever said a text, which is its note',
      agent: { concludes: true },
      script: [{ text: 'a' }, { text: 'b' }, { text: 'It is the gateway.' }],
      run: {
        status: 'empty',
        outcome: null,
        finding: 'It is the gateway.',
        error:
          'it did not end with the conclude tool, though it was told to 2 times; it called no tool: check that the model supports tool calling',
      },
    },
    {
      as: 'exhausted, and hints at tool calling, where it must conclude and its rounds are used up',
      agent: { concludes: true, max_rounds: 1 },
      script: [{ text: 'a' }, { text: 'It is the gateway.' }],
      run: {
        status: 'exhausted',
        finding: 'It is the gateway.',
        error: expect.stringContaining('check that the model supports tool calling'),
      },
    },
    {
      as: 'empty, without that hint, where it called a tool before',
      agent: { concludes: true },
      script: [
        { calls: [{ name: 'read', arguments: { selector: { service: 'checkout' } } }] },
        { text: 'a' },
        { text: 'b' },
        { text: 'c' },
      ],
      run: { status: 'empty', finding: 'c', error: expect.not.stringContaining('tool calling') },
    },
    {
      as: 'empty, with the note of its conclusion kept, where that was refused for a verdict that is not listed',
      agent: { verdicts: [{ verdict: 'investigate', when: 'it is not plain' }] },
      script: () => ({ ...conclude({ verdict: 'known' }), text: 'I conclude.' }),
      run: {
        status: 'empty',
        outcome: null,
        verdict: null,
        finding: 'The card gateway is down.',
        error: 'its conclusion was refused: verdict must be one of investigate',
        rounds: 3,
      },
    },
    {
      as: 'failed, with what the provider said',
      script: [{ status: 400, error: 'the prompt is too long' }],
      run: { status: 'failed', error: expect.stringContaining('the prompt is too long') },
    },
    {
      as: 'capped before a call that passes the budget of one run',
      agent: { run_budget_usd: 0.000001 },
      script: [],
      run: { status: 'capped', rounds: 0, error: expect.stringContaining('run_budget_usd') },
    },
  ]

  it.each(cases)('$as', async ({ agent: more, script, run: expected, delivery = 'failed' }) => {
    const { agent, models, post, settled, engine } = await open()
    await agent({ name: 'first-look', trigger: 't', model: 'm1', ...more })
    models.reply('m1', script as never)
    await post(error)
    expect(await settled()).toMatchObject([expected])
    expect((await engine.listDeliveries({ limit: 1 })).deliveries).toMatchObject([{ status: delivery }])
    expect(models.requests.length).toBe((expected.rounds as number | undefined) ?? models.requests.length)
  })

  it('concluded, where the source it remembers in is paused: it is told, and nobody ended it', async () => {
    const { agent, models, post, settled, engine } = await open()
    await engine.createSource({ name: 'memory', connector: 'memory', config: {} }, BY, false)
    await engine.moveSource('memory', 'pause', BY)
    await agent({ name: 'first-look', trigger: 't', model: 'm1', remembers: true })
    models.reply('m1', [
      { calls: [{ name: 'remember', arguments: { content: 'It came again.' } }] },
      conclude(),
    ])
    await post(error)
    expect(await settled()).toMatchObject([{ status: 'succeeded' }])
    expect(JSON.stringify(models.requests.at(-1)!.body)).toContain('source memory is paused')
  })

  it('with one call without tools when its rounds are used up', async () => {
    const { agent, models, post, settled } = await open()
    await agent({ name: 'first-look', trigger: 't', model: 'm1', max_rounds: 2 })
    const look = { calls: [{ name: 'read', arguments: { selector: { service: 'checkout' } } }] }
    models.reply('m1', [look, look, { text: 'It is the gateway.' }])
    await post(error)
    expect(await settled()).toMatchObject([{ status: 'succeeded', rounds: 3, finding: 'It is the gateway.' }])
    expect(
      models.requests.map(({ body }) => (body.tool_choice as { type?: string } | undefined)?.type),
    ).toEqual([expect.toBeOneOf([undefined, 'auto']), expect.toBeOneOf([undefined, 'auto']), 'none'])
  })

  it('concluded, where it must conclude, though it has to be told', async () => {
    const { agent, models, post, settled } = await open()
    await agent({ name: 'first-look', trigger: 't', model: 'm1', concludes: true })
    models.reply('m1', [{ text: 'It is the gateway.' }, conclude()])
    await post(error)
    expect(await settled()).toMatchObject([{ status: 'succeeded', finding: 'The card gateway is down.' }])
  })

  it('failed, with `asked` of the failed call as it was asked: forced, with its ceiling', async () => {
    const { agent, models, post, settled, run } = await open()
    await agent({ name: 'first-look', trigger: 't', model: 'm1', concludes: true })
    models.reply('m1', [{ text: 'It is the gateway.' }, { status: 400, error: 'the prompt is too long' }])
    await post(error)
    const [failed] = await settled()
    const calls = stepsOf(await run(failed!.id), 'model')
    expect(calls).toHaveLength(2)
    expect(calls[1]).toMatchObject({
      asked: { choice: { tool: 'conclude' } },
      error: { message: expect.stringContaining('too long') as unknown as string },
    })
    expect(calls[1]!.asked.ceiling_usd).toBeGreaterThan(0)
  })

  it('failed, without a model provider, saying what to set', async () => {
    const { agent, post, settled } = await open({ provider: false })
    await agent({ name: 'first-look', trigger: 't', model: 'm1' })
    await post(error)
    expect(await settled()).toMatchObject([
      { status: 'failed', error: expect.stringContaining('PROVIDERA_API_KEY') as unknown as string },
    ])
  })

  it('capped, by the runs of a day', async () => {
    const { agent, models, post, settled, pass } = await open()
    await agent({ name: 'first-look', trigger: 't', model: 'm1', daily_cap: 1 })
    models.reply('m1', () => conclude())
    await post(error)
    await settled()
    pass(2_000)
    await post(error)
    expect(await settled()).toMatchObject([
      { status: 'succeeded' },
      { status: 'capped', error: expect.stringContaining('24 hours') as unknown as string },
    ])
  })

  it('cancelled, when a person cancels it, and says by whom', async () => {
    const { agent, models, post, settled, engine, runner } = await open()
    await agent({ name: 'first-look', trigger: 't', model: 'm1' })
    const asked = new Promise<void>((resolve) => {
      models.reply('m1', () => {
        resolve()
        return { delayUntil: new Promise(() => {}) }
      })
    })
    await post(error)
    await asked
    const { runs } = await engine.listRuns({ limit: 1, offset: 0 })
    await engine.cancelRun(runs[0]!.id, BY.caller)
    runner.cut(runs[0]!.id)
    expect(await settled()).toMatchObject([
      { status: 'cancelled', cancelled_by: 'test', error: 'cancelled by test', accepts: [] },
    ])
    await expect(engine.cancelRun(runs[0]!.id, BY.caller)).rejects.toMatchObject({ code: 'wrong_state' })
  })

  it.each([
    [
      'its agent is switched off',
      'agent first-look was switched off for t',
      (w: RunWorld) => w.engine.switchAgent('first-look', false, w.project, BY),
    ],
    [
      'its trigger is deleted',
      'trigger t was deleted or taken from agent first-look',
      (w: RunWorld) => w.engine.deleteTrigger('t', BY),
    ],
    [
      'its agent is deleted',
      'agent first-look was deleted',
      (w: RunWorld) => w.engine.deleteAgent('first-look', BY),
    ],
    [
      'its project is paused',
      'its project was paused or deleted',
      (w: RunWorld) => w.engine.moveProject(w.project, 'pause', false, BY),
    ],
  ])('cancelled without a call, where it waits and %s; one at work goes on', async (_what, why, takeAway) => {
    const { agent, models, post, settled, pass, engine } = await open()
    await agent({ name: 'first-look', trigger: 't', model: 'm1', concurrency: 1 })
    let letGo = () => {}
    const held = new Promise<void>((resolve) => {
      letGo = resolve
    })
    const asked = new Promise<void>((resolve) => {
      models.reply('m1', () => {
        resolve()
        return { ...conclude(), delayUntil: held }
      })
    })
    await post(error)
    await asked
    pass(2_000)
    await post({ ...error, service: 'cart' })
    await takeAway(world)
    letGo()
    expect(await settled()).toMatchObject([
      { key: 'checkout', status: 'succeeded' },
      {
        ...{ key: 'cart', status: 'cancelled', rounds: 0, cancelled_by: null },
        error: `${why} before the turn of this run came`,
      },
    ])
    expect(models.requests).toHaveLength(1)
    // Why its firing was not looked at is told where firings are.
    const { deliveries } = await engine.listDeliveries({ limit: 10 })
    expect(deliveries.map(({ status }) => status).sort()).toEqual(['delivered', 'failed'])
  })

  it.each([
    ['deleted, for the other', (w: RunWorld) => w.engine.deleteTrigger('u', BY), 'succeeded'],
    ['switched off, for the other', (w: RunWorld) => wire(w, { t: true, u: false }), 'succeeded'],
    ['switched off, and so is the other', (w: RunWorld) => wire(w, { t: false, u: false }), 'cancelled'],
  ])(
    'as it should, where two triggers woke it as it waited and the last is %s',
    async (_what, takeAway, status) => {
      const { agent, models, post, settled, trigger } = await open()
      await trigger({ name: 'u', condition: { event: 'any' }, cooldown: '1s', filters: WARNING })
      await agent({ name: 'first-look', trigger: 't', model: 'm1', concurrency: 1 })
      await wire(world, { t: true, u: true })
      let letGo = () => {}
      const held = new Promise<void>((resolve) => {
        letGo = resolve
      })
      const asked = new Promise<void>((resolve) => {
        models.reply('m1', () => {
          resolve()
          return { ...conclude(), delayUntil: held }
        })
      })
      await post(error)
      await asked
      await post({ ...error, service: 'cart' })
      // In the cooldown of the one trigger, so that the other alone fires.
      await post({ ...error, service: 'cart', type: 'warning' })
      await takeAway(world)
      letGo()
      expect(await settled()).toMatchObject([
        { key: 'checkout' },
        { key: 'cart', wakes: 2, trigger: 'u', status },
      ])
    },
  )

  it('cancelled by somebody, where nobody has to sign in: that is said by the door, whatever the name', async () => {
    const { agent, models, post, engine, runner } = await open()
    await agent({ name: 'first-look', trigger: 't', model: 'm1' })
    const asked = new Promise<void>((resolve) => {
      models.reply('m1', () => {
        resolve()
        return { delayUntil: new Promise(() => {}) }
      })
    })
    await post(error)
    await asked
    const { runs } = await engine.listRuns({ limit: 1, offset: 0 })
    await engine.cancelRun(runs[0]!.id, { id: 'open', name: 'whoever', isAnybody: true })
    runner.cut(runs[0]!.id)
    expect((await engine.getRun(runs[0]!.id)).cancelled_by).toBe('somebody, without signing in')
  })

  it('cancelled before its first look: it looks no more, gives up its place, and holds up nobody', async () => {
    const looked: string[] = []
    let look = () => {}
    const held = new Promise<void>((resolve) => {
      look = resolve
    })
    const { agent, models, post, settled, engine, runner } = await open({
      beforeLook: async ({ entity }) => {
        looked.push(entity)
        if (looked.length === 1) await held
      },
    })
    await agent({ name: 'first-look', trigger: 't', model: 'm1', concurrency: 4 })
    models.reply('m1', () => conclude())
    const cancel = async (entity: string) => {
      const { runs } = await engine.listRuns({ status: 'running', limit: 10, offset: 0 })
      const { id } = runs.find(({ key }) => key === entity)!
      await engine.cancelRun(id, BY.caller)
      runner.cut(id)
    }
    const running = async () => (await engine.listRuns({ status: 'running', limit: 1, offset: 0 })).total
    for (const service of ['one', 'two', 'three']) {
      await post({ ...error, service })
      // Each begins before the next, so that they look in this order.
      await expect.poll(running).toBe(['one', 'two', 'three'].indexOf(service) + 1)
    }
    await expect.poll(() => looked).toEqual(['one'])
    await cancel('two')
    await cancel('one')
    look()
    expect((await settled()).map(({ key, status }) => [key, status])).toEqual([
      ['one', 'cancelled'],
      ['two', 'cancelled'],
      ['three', 'succeeded'],
    ])
    expect(looked).toEqual(['one', 'three'])
  })
})
