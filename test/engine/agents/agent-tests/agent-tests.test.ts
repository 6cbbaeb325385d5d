/** Agents tested by examples: the real loop, answered by a scripted model. */
import { afterEach, describe, expect, it } from 'vitest'
import type { Step, StepData } from '../../../../engine/agents/runs/types.ts'
import type { RunDetail } from '../../../../schemas/types.ts'
import type { ScriptedReply } from '../../../models/scripted-server.ts'
import { BY, MINUTE } from '../../triggers/trigger-world.ts'
import { openRunWorld, type RunWorld } from '../runs/run-world.ts'

let world: RunWorld
afterEach(async () => {
  await world?.close()
})

const me = BY.caller
const error = { service: 'checkout', type: 'error', msg: 'cannot pay' }
const conclude = (more: Record<string, unknown> = {}): ScriptedReply => ({
  calls: [
    { name: 'conclude', arguments: { outcome: 'finding', summary: 'The certificate ended.', ...more } },
  ],
})
const promptOf = (run: RunDetail): StepData['prompt'] =>
  (run.steps as unknown as Step[]).find(({ kind }) => kind === 'prompt')!.data as StepData['prompt']

/** An agent that looked at two firings. */
async function open(): Promise<string[]> {
  world = await openRunWorld()
  await world.trigger({ condition: { event: 'any' }, cooldown: '1s' })
  await world.agent({
    name: 'first-look',
    trigger: 't',
    prompt: 'Careful.',
    model: 'm1',
    verdicts: [{ verdict: 'investigate' }, { verdict: 'rca' }],
  })
  // Careful investigates all; Bold knows the cause, and takes checkout for nothing.
  world.models.reply('m1', ({ body }) => {
    const said = JSON.stringify(body)
    if (!said.includes('Bold.')) return conclude({ verdict: 'investigate' })
    return said.includes('service=cart')
      ? conclude({ verdict: 'rca', summary: 'The disk is full.' })
      : { calls: [{ name: 'conclude', arguments: { outcome: 'no_op' } }] }
  })
  await world.post(error)
  await world.settled()
  world.pass(MINUTE)
  await world.post({ ...error, service: 'cart' })
  const runs = (await world.settled()).map(({ id }) => id)
  world.pass(MINUTE)
  return runs
}

const start = async (tried = {}) => {
  const { id } = await world.engine.startAgentTest('first-look', tried, me)
  await world.settled()
  return world.engine.getAgentTest('first-look', id)
}

describe('an agent with examples', () => {
  it('shows what a prompt changes before it is saved: one example fails, one passes', async () => {
    const [checkout, cart] = await open()
    const { engine, models } = world
    await engine.addAgentExample(
      'first-look',
      { name: 'checkout', run_id: checkout!, verdict: 'investigate', mentions: ['certificate'] },
      me,
    )
    await engine.addAgentExample(
      'first-look',
      { name: 'cart', run_id: cart!, verdict: 'rca', mentions: ['/disk|volume/'] },
      me,
    )
    const begun = await engine.startAgentTest('first-look', {}, me)
    expect(begun).toMatchObject({
      status: 'running',
      finished_at: null,
      change: null,
      tried: null,
      totals: { running: 2 },
    })
    await world.settled()
    const saved = await engine.getAgentTest('first-look', begun.id)
    expect(saved).toMatchObject({
      status: 'failed',
      made_by: 'test',
      change: null,
      examples: [
        {
          name: 'cart',
          result: 'fail',
          why: 'verdict was investigate, expected rca; does not mention /disk|volume/',
          tokens: 15,
        },
        { name: 'checkout', result: 'pass', why: null, tokens: 15 },
      ],
      totals: { examples: 2, passed: 1, failed: 1, running: 0, tokens: 30 },
    })
    expect(saved.totals.cost_usd).toBeCloseTo((2 * (10 * 10 + 5 * 100)) / 1e6, 12)

    const tried = await start({ prompt: 'Bold.' })
    expect(tried).toMatchObject({
      status: 'failed',
      tried: { prompt: true, provider: null, model: null },
      examples: [
        { name: 'cart', result: 'pass' },
        { name: 'checkout', result: 'fail', why: 'verdict was no_op, expected investigate' },
      ],
      change: {
        test_id: saved.id,
        definition_hash: saved.definition_hash,
        newly_passing: ['cart'],
        newly_failing: ['checkout'],
        cost_ratio: 1,
      },
    })
    expect(await engine.getAgent('first-look')).toMatchObject({ prompt: 'Careful.' })
    // Once it is saved it is the same definition, which is compared with the other one again.
    await engine.updateAgent('first-look', { name: 'first-look', prompt: 'Bold.' }, BY)
    expect(await start()).toMatchObject({
      definition_hash: tried.definition_hash,
      tried: null,
      change: { test_id: saved.id },
    })
    expect(await start({ model: '', prompt: 'Careful.', provider: '' })).toMatchObject({
      change: { newly_failing: ['cart'] },
    })
    const { tests, total } = await engine.listAgentTests('first-look', { limit: 2, offset: 1 })
    expect([total, tests[1]]).toEqual([4, tried])
    expect(models.requests).toHaveLength(2 + 4 * 2)
  })

  it('is told what it was told then, and nobody is told what it finds', async () => {
    const [checkout] = await open()
    const { engine, run, post, project } = world
    await engine.addAgentExample('first-look', { name: 'a', run_id: checkout!, verdict: null }, me)
    await engine.moveTrigger('t', 'pause', BY)
    await post({ ...error, msg: 'later' })
    const { today } = await engine.projectResults(project, { limit: 10 })
    const [example] = (await start()).examples
    const [then, now] = [await run(checkout!), await run(example!.run_id)]
    expect(promptOf(now)).toEqual(promptOf(then))
    expect(now).toMatchObject({ practice: true, woken_by: 'test', as_of: then.as_of, event_id: null })
    expect((await engine.projectResults(project, { limit: 10 })).today).toEqual(today)
  })

  it('is judged by what is expected of it when the test is made', async () => {
    const [checkout] = await open()
    const { engine } = world
    const { id } = await engine.addAgentExample(
      'first-look',
      { name: 'a', run_id: checkout!, verdict: 'rca' },
      me,
    )
    const test = await start()
    await engine.removeAgentExample('first-look', id)
    expect(await engine.listAgentExamples('first-look')).toEqual({ examples: [] })
    expect(await engine.getAgentTest('first-look', test.id)).toEqual(test)
    await expect(start()).rejects.toMatchObject({ code: 'conflict' })
  })

  it('says why a run did not end well', async () => {
    const [checkout] = await open()
    await world.engine.addAgentExample('first-look', { name: 'a', run_id: checkout!, verdict: 'rca' }, me)
    expect((await start({ model: 'none' })).examples[0]).toMatchObject({
      result: 'fail',
      why: expect.stringMatching(/^run failed: .*none/) as unknown as string,
      cost_usd: 0,
      tokens: 0,
    })
  })

  it('forgets them when it is deleted', async () => {
    const [checkout] = await open()
    const { engine } = world
    await engine.addAgentExample('first-look', { name: 'a', run_id: checkout!, verdict: 'rca' }, me)
    await start()
    await engine.deleteAgent('first-look', BY)
    await expect(engine.listAgentExamples('first-look')).rejects.toMatchObject({ code: 'not_found' })
    await world.agent({ name: 'first-look' })
    expect(await engine.listAgentExamples('first-look')).toEqual({ examples: [] })
    expect(await engine.listAgentTests('first-look', { limit: 9, offset: 0 })).toEqual({
      tests: [],
      total: 0,
    })
  })
})

describe('an example of an agent in a chain', () => {
  it('is told of the chain, of the entity handed over, and hands over to nobody', async () => {
    world = await openRunWorld()
    const { agent, models, post, settled, engine, run, trigger } = world
    await trigger({ condition: { event: 'any' }, cooldown: '1s' })
    await agent({ name: 'last', model: 'm3' })
    await agent({
      name: 'digger',
      model: 'm2',
      verdicts: [{ verdict: 'rca' }],
      handoffs: [{ verdict: 'rca', agent: 'last' }],
    })
    await agent({
      name: 'first-look',
      trigger: 't',
      model: 'm1',
      verdicts: [{ verdict: 'investigate' }],
      handoffs: [{ verdict: 'investigate', agent: 'digger' }],
    })
    models.reply('m1', () => conclude({ verdict: 'investigate', key: 'cart', label: 'service' }))
    models.reply('m2', () => conclude({ verdict: 'rca', key: 'db-1', label: 'host' }))
    models.reply('m3', () => conclude())
    await post(error)
    const [first, dug] = await settled()
    const looked = await engine.addAgentExample(
      'first-look',
      { name: 'a', run_id: first!.id, verdict: 'investigate' },
      me,
    )
    const example = await engine.addAgentExample('digger', { name: 'a', run_id: dug!.id, verdict: 'rca' }, me)
    // Where each was sent, and not what it came to.
    expect([first!.key, looked.key, dug!.key, example.key, example.label]).toEqual([
      'cart',
      'checkout',
      'db-1',
      'cart',
      'service',
    ])
    const asked = models.requests.length
    await start()
    const { id } = await engine.startAgentTest('digger', {}, me)
    await settled()
    const test = await engine.getAgentTest('digger', id)
    expect(test.status).toBe('passed')
    const again = await run(test.examples[0]!.run_id)
    expect(promptOf(again)).toEqual(promptOf(await run(dug!.id)))
    expect(promptOf(again).message).toContain('Agent first-look looked before you')
    expect(again).toMatchObject({ verdict: 'rca', handoffs: [], root_run_id: again.id })
    // Each twice: an entity of which no event says anything is asked for once more.
    expect(models.requests).toHaveLength(asked + 4)
  })
})
