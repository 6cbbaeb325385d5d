/** What a replay tells of those who were told: addresses that are subscribed, and receivers of findings. */
import { afterEach, expect, it } from 'vitest'
import { openRunWorld, type RunWorld } from '../agents/runs/run-world.ts'
import { BY, T0 } from '../triggers/trigger-world.ts'
import { conclude, hubOf, whole } from './replay-world.ts'

let world: RunWorld
afterEach(async () => {
  await world?.close()
})

it('is each try with what came of it, and each end once', async () => {
  world = await openRunWorld()
  const { engine, clock, models, post, project } = world
  await world.trigger({ condition: { event: 'any' } })
  await world.agent({ name: 'a', trigger: 't', model: 'm1', webhook_url: 'https://1.1.1.1/back' })
  models.reply('m1', [conclude()])
  const to = { url: 'https://1.1.1.1/hook', audience: 'operator' as const }
  const { subscription_id: subscription } = await engine.subscribe({ trigger: 't' }, to, BY.caller)
  await post({ service: 'checkout', type: 'error' })
  const [run] = await world.settled()
  /** A try of each that is due. */
  const tried = async (event: 'retry' | 'acknowledge', status: number) => {
    for (const { deliveryId, of } of await engine.claimDeliveries(10, []))
      await engine.settleDelivery(deliveryId, {
        ...{ event, at: clock.at, ms: of === 'firing' ? 200 : 0, status },
        reason: event === 'retry' ? `HTTP ${status}` : null,
        dueAt: clock.at + 5_000,
      })
  }
  await tried('retry', 503)
  clock.at += 6_000
  await tried('acknowledge', 204)
  clock.at += 1_000
  const replay = await whole(world)
  const told = replay.moments.filter(({ kind }) => kind === 'delivery')
  expect(told.map(({ at, phase, title, edges }) => [Date.parse(at) - T0, phase, title, edges[0]])).toEqual([
    [0, 'running', 't tells agent a', 'wakes:t>a'],
    [0, 'pending', 't tells https://1.1.1.1/ho…', `tells:trigger:t>webhook:${subscription}`],
    [0, 'delivered', 'what was told to agent a is done', 'wakes:t>a'],
    [
      0,
      'retry',
      'the finding of a was not taken by its receiver: HTTP 503; it is tried again, try 1',
      'tells:agent:a>write_back:a',
    ],
    [
      200,
      'retry',
      'https://1.1.1.1/ho… did not take it: HTTP 503; it is tried again, try 1',
      `tells:trigger:t>webhook:${subscription}`,
    ],
    [6_000, 'delivered', 'the finding of a was taken by its receiver, try 2', 'tells:agent:a>write_back:a'],
    [
      6_200,
      'delivered',
      'https://1.1.1.1/ho… took it (HTTP 204), try 2',
      `tells:trigger:t>webhook:${subscription}`,
    ],
  ])
  const nodes = replay.versions.at(-1)!.graph.nodes.map(({ id }) => id)
  expect(nodes).toContain('destination:write_back:a')
  // A chain ends with the last of them.
  const chain = await whole(world, { result: run!.id, from: undefined, to: undefined })
  expect(Date.parse(chain.to) - T0).toBe(6_200)
  expect(project).toBe(chain.project.id)
})

it('shows a finding that is written on GitHub', async () => {
  world = await openRunWorld()
  const { engine, clock, models } = world
  await engine.storeCredential({ name: 'main', token: 'ghp_ofapersonfortests' })
  const hub = await hubOf(world)
  await world.agent({
    ...{ name: 'a', trigger: 'pulls', model: 'm1', github: 'main', github_writes: ['comment'] },
  })
  models.reply('m1', [conclude()])
  await hub({ repo: 'org/api', number: 7 })
  await world.settled()
  const [written] = await engine.claimDeliveries(10, [])
  await engine.settleDelivery(written!.deliveryId, {
    ...{ event: 'acknowledge', at: clock.at, ms: 0, status: 201, reason: null, dueAt: clock.at },
  })
  const replay = await whole(world)
  expect(
    replay.moments.filter(({ nodes }) => nodes.includes('destination:github:a')).map((one) => one.title),
  ).toEqual(['the finding of a was written on GitHub, try 1'])
  clock.at += 2_000
  const later = await whole(world, { from: new Date(clock.at - 1_000).toISOString() })
  expect(later.start.counts).toMatchObject({ 'tells:agent:a>github:a': 1, 'destination:github:a': 1 })
})
