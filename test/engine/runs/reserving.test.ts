/** Budgets as calls at the same time share them (issue 17, part 3.5 and "It is done when" 5). */
import { afterEach, describe, expect, it } from 'vitest'
import { conclude, error, look, stepsOf } from './replies.ts'
import { openRunWorld, PRICE, type RunWorld } from './run-world.ts'

let world: RunWorld
afterEach(async () => {
  await world?.close()
})

const RUNS = 20
/** What a reply that uses all of its room costs, US dollars. */
const CALL = (4_096 * PRICE.output + 100 * PRICE.input) / 1_000_000

/** Twenty runs at once, under a budget. @returns how many calls were made, and how the runs ended */
async function twenty(budget: number, reply: (n: number) => object, daily: boolean) {
  world = await openRunWorld()
  const { agent, models, post, settled, engine, trigger } = world
  await trigger({ condition: { event: 'any' }, cooldown: '1s' })
  await agent({
    name: 'first-look',
    trigger: 't',
    model: 'm1',
    context: 'plain',
    concurrency: RUNS,
    ...(daily ? {} : { budget_usd: budget }),
  })
  await engine.saveAgentSettings({ concurrency: RUNS, ...(daily ? { daily_budget_usd: budget } : {}) })
  const cost = async () =>
    (await engine.listRuns({ limit: 200, offset: 0 })).runs.reduce((sum, run) => sum + (run.cost_usd ?? 0), 0)
  models.reply('m1', async (_request, n) => {
    expect(await cost()).toBeLessThanOrEqual(budget)
    return reply(n)
  })
  await post(Array.from({ length: RUNS }, (_, n) => ({ ...error, service: `s${n}` })))
  const runs = await settled()
  expect(await cost()).toBeLessThanOrEqual(budget)
  return { runs, calls: models.requests.length, cost: await cost() }
}

describe.each([
  ['of the instance', true],
  ['of the agent', false],
])('twenty runs at once under the budget %s', (_of, daily) => {
  it('that pays for nine calls make nine or more, and never pass it', async () => {
    const used = { usage: { input_tokens: 100, output_tokens: 4_096 } }
    // Nine calls at the most that one may cost: the message is part of it.
    const { calls, cost } = await twenty(9 * (CALL + 0.05), () => ({ ...look, ...used }), daily)
    expect(calls).toBeGreaterThanOrEqual(9)
    expect(cost).toBeGreaterThanOrEqual(9 * CALL - 1e-9)
  })

  it('wait for what others only hold, and none is capped while the money is there', async () => {
    const used = { usage: { input_tokens: 100, output_tokens: 50 } }
    const { runs, calls } = await twenty(2, () => ({ ...conclude(), ...used }), daily)
    expect(runs.map(({ status }) => status)).toEqual(Array.from({ length: RUNS }, () => 'succeeded'))
    expect(calls).toBe(RUNS)
  })
})

it('reserves what a call is counted at, not a token for a byte', async () => {
  world = await openRunWorld()
  const { agent, models, post, settled, run, trigger } = world
  await trigger({ condition: { event: 'any' }, cooldown: '1s' })
  await agent({ name: 'first-look', trigger: 't', model: 'm1', context: 'plain' })
  models.reply('m1', [conclude()])
  await post(error)
  const [done] = await settled()
  const detail = await run(done!.id)
  const [prompt] = stepsOf(detail, 'prompt')
  const bytes = Buffer.byteLength(JSON.stringify([prompt!.system, prompt!.message, prompt!.tools]))
  const [model] = stepsOf(detail, 'model')
  const input = model!.asked.ceiling_usd! - (4_096 * PRICE.output) / 1_000_000
  expect(input).toBeLessThan((0.75 * bytes * PRICE.input * 1.25) / 1_000_000)
  expect(input).toBeGreaterThan((0.2 * bytes * PRICE.input * 1.25) / 1_000_000)
})
