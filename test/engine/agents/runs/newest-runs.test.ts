/** `stats`, `last_run` and `spent_usd` of agents. */
import { afterEach, expect, it } from 'vitest'
import type { ScriptedReply } from '../../../models/scripted-server.ts'
import { BY } from '../../triggers/trigger-world.ts'
import { openRunWorld, type RunWorld } from './run-world.ts'

let world: RunWorld
afterEach(async () => {
  await world?.close()
})

const FOUND: ScriptedReply = {
  calls: [{ name: 'conclude', arguments: { outcome: 'finding', summary: 'The gateway is down.' } }],
}

it('the list of agents counts the ten newest runs of each agent, however many runs other agents had since', async () => {
  world = await openRunWorld()
  const { agent, models, post, settled, engine } = world
  await world.trigger({ condition: { event: 'any' }, cooldown: '1s' })
  await agent({ name: 'quiet', trigger: 't', prompt: 'Look.', model: 'm1' })
  models.reply('m1', [FOUND])
  await post({ service: 'first', type: 'error', msg: 'm' })
  const [first] = await settled()
  await engine.switchAgent('quiet', false, undefined, BY)
  await agent({ name: 'busy', trigger: 't', prompt: 'Look.', model: 'm2' })
  // The two oldest fail, and one of the ten newest.
  models.reply('m2', (_request, n) => (n < 2 || n === 5 ? { status: 400, error: 'no' } : FOUND))
  for (let n = 0; n < 12; n++) {
    await post({ service: `s${n}`, type: 'error', msg: 'm' })
    await settled()
  }
  const { agents } = await engine.listAgents()
  const [busy, quiet] = ['busy', 'quiet'].map((name) => agents.find((one) => one.name === name)!)
  expect(busy!.stats).toMatchObject({ runs: 12, finished: 12, ok: 9, newest_finished: 10, newest_ok: 9 })
  expect(busy!.last_run).toMatchObject({ status: 'succeeded', outcome: 'finding' })
  expect(quiet!.stats).toMatchObject({ runs: 1, newest_finished: 1, newest_ok: 1 })
  expect(quiet!.last_run).toMatchObject({ id: first!.id })
  expect(quiet!.spent_usd).toBeCloseTo(first!.cost_usd!, 12)
  // GET of one agent answers what the list does.
  for (const one of [busy!, quiet!])
    expect(await engine.getAgent(one.name)).toMatchObject({ stats: one.stats, last_run: one.last_run })
})
