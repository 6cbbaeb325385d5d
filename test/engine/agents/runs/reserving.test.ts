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

type Kind = 'daily_budget_usd' | 'budget_usd' | 'run_budget_usd'
interface Room {
  /** Tokens its reply may have. */
  room: number
}

/** Twenty runs at once, under a budget. @returns how many calls were made, and how the runs ended */
async function twenty(budget: number, reply: (of: Room) => object, kind: Kind) {
  const daily = kind === 'daily_budget_usd'
  world = await openRunWorld()
  const { agent, models, post, settled, engine, trigger } = world
  await trigger({ condition: { event: 'any' }, cooldown: '1s' })
  await agent({
    name: 'first-look',
    trigger: 't',
    model: 'm1',
    context: 'plain',
    concurrency: RUNS,
    ...(daily ? {} : { [kind]: budget }),
  })
  await engine.saveAgentSettings({ concurrency: RUNS, ...(daily ? { daily_budget_usd: budget } : {}) })
  /** Of all runs together; of a budget for each, of the dearest. */
  const cost = async () => {
    const costs = (await engine.listRuns({ limit: 200, offset: 0 })).runs.map((run) => run.cost_usd ?? 0)
    return kind === 'run_budget_usd' ? Math.max(0, ...costs) : costs.reduce((sum, one) => sum + one, 0)
  }
  models.reply('m1', async ({ body }) => {
    expect(await cost()).toBeLessThanOrEqual(budget)
    return reply({ room: body.max_tokens as number })
  })
  await post(Array.from({ length: RUNS }, (_, n) => ({ ...error, service: `s${n}` })))
  const runs = await settled()
  expect(await cost()).toBeLessThanOrEqual(budget)
  return { runs, calls: models.requests.length, cost: await cost() }
}

/** As long as it may be. */
const whole = ({ room }: Room) => ({ usage: { input_tokens: 100, output_tokens: room } })

describe.each<[string, Kind]>([
  ['of the instance', 'daily_budget_usd'],
  ['of the agent', 'budget_usd'],
])('twenty runs at once under the budget %s', (_of, kind) => {
  it('that pays for nine calls make nine or more, and never pass it', async () => {
    // Nine calls at the most that one may cost: the message is part of it.
    const { calls, cost } = await twenty(9 * (CALL + 0.05), (of) => ({ ...look, ...whole(of) }), kind)
    expect(calls).toBeGreaterThanOrEqual(9)
    expect(cost).toBeGreaterThanOrEqual(9 * CALL - 1e-9)
  })

  it('wait for what others only hold, and none is capped while the money is there', async () => {
    const used = { usage: { input_tokens: 100, output_tokens: 50 } }
    const { runs, calls } = await twenty(2, () => ({ ...conclude(), ...used }), kind)
    expect(runs.map(({ status }) => status)).toEqual(Array.from({ length: RUNS }, () => 'succeeded'))
    expect(calls).toBe(RUNS)
  })
})

describe.each<[string, Kind]>([
  ['of the instance', 'daily_budget_usd'],
  ['of the agent', 'budget_usd'],
  ['of one run', 'run_budget_usd'],
])('a budget %s that is less than one call could cost', (_of, kind) => {
  const LITTLE = 0.3

  it('is not passed by the first call of a new agent, nor by twenty at once, and pays for a shorter reply', async () => {
    const { runs, calls, cost } = await twenty(LITTLE, (of) => ({ ...conclude(), ...whole(of) }), kind)
    expect(cost).toBeLessThanOrEqual(LITTLE)
    expect(calls).toBe(kind === 'run_budget_usd' ? RUNS : 1)
    expect(runs.filter(({ status }) => status === 'succeeded')).toHaveLength(calls)
    expect(runs.filter(({ status }) => status === 'capped')).toHaveLength(RUNS - calls)
    expect(world.models.requests[0]!.body.max_tokens).toBeLessThan(4_096)
  })

  it('is used up before anything is capped: what a call held and did not use is there for the next', async () => {
    const used = { usage: { input_tokens: 100, output_tokens: 50 } }
    const { runs } = await twenty(LITTLE, () => ({ ...conclude(), ...used }), kind)
    expect(runs.map(({ status }) => status)).toEqual(Array.from({ length: RUNS }, () => 'succeeded'))
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
