/** Figures of Home speak for all there is, though its lists are cut. */
import { expect, it, onTestFinished } from 'vitest'
import { conclude, error } from '../agents/runs/replies.ts'
import { openRunWorld } from '../agents/runs/run-world.ts'
import { BY, MINUTE, openWorld } from '../triggers/trigger-world.ts'

it('counts runs at work, sources and the age of incidents beyond what it lists', async () => {
  const world = await openRunWorld()
  onTestFinished(() => world.close())
  let answer = () => {}
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  onTestFinished(answer)
  await world.trigger({ condition: { event: 'any' }, cooldown: '1s' })
  await world.agent({ name: 'first-look', trigger: 't', model: 'm1', concurrency: 1 })
  world.models.reply('m1', () => ({
    calls: [{ name: 'conclude', arguments: { outcome: 'no_op' } }],
    delayUntil: answered,
  }))
  const first = new Date(world.clock.at).toISOString()
  await world.post({ service: 'first', type: 'error' })
  world.clock.at += 60_000
  await world.post(Array.from({ length: 69 }, (_, n) => ({ service: `s${n}`, type: 'error' })))
  const [source] = await world.engine.listSources()
  const quiet = { ...source!, health: { ...source!.health, last_ingest: null } }
  const home = await world.engine.home([
    ...Array.from({ length: 70 }, (_, n) => ({ ...source!, name: `ok-${n}` })),
    ...Array.from({ length: 60 }, (_, n) => ({ ...quiet, name: `quiet-${n}` })),
    { ...source!, name: 'paused', paused: true },
  ])
  expect(home.incidents).toHaveLength(50)
  expect(home.incidents.map(({ opened_at }) => opened_at)).not.toContain(first)
  expect(home.agents).toHaveLength(20)
  expect(home.sources).toHaveLength(50)
  expect(home).toMatchObject({
    oldest_opened_at: first,
    agents_total: 70,
    sources_total: 131,
    source_counts: { failing: 0, quiet: 60, paused: 1, ok: 70 },
  })
  const { incidents } = await world.engine.listIncidents({ limit: 200 }, null)
  const ids = incidents.map(({ id }) => id)
  await world.engine.actOnIncidents({ action: 'acknowledge', ids }, { by: 'mara', via: 'console' })
  expect((await world.engine.home([])).oldest_opened_at).toBeNull()
})

it('draws firings in the hour and on the day of each, not in the newest alone', async () => {
  const world = await openWorld()
  await world.trigger({ condition: { event: 'any' }, cooldown: '1m' })
  const fire = (after: number) => {
    world.clock.at += after
    return world.post({ service: 'checkout', type: 'error' })
  }
  await fire(7 * MINUTE)
  await fire(90 * MINUTE)
  await fire(5 * MINUTE)
  const hours = async () => (await world.engine.listIncidents({ limit: 1 }, null)).incidents[0]!.spark
  expect(await hours()).toEqual([...new Array(22).fill(0), 1, 2])
  await fire(2 * 24 * 60 * MINUTE)
  expect(await hours()).toEqual([...new Array(23).fill(0), 1])
  expect((await world.engine.home([])).triggers).toMatchObject([
    { name: 't', firings: 4, spark: [0, 0, 0, 0, 3, 0, 1] },
  ])
})

it('counts of the day what the lists that it leads to have, and what usage has as spent', async () => {
  const world = await openRunWorld()
  onTestFinished(() => world.close())
  const { engine, clock, models, post, settled } = world
  await world.trigger({ condition: { event: 'any' }, cooldown: '1s' })
  await world.agent({ name: 'first-look', trigger: 't', model: 'm1' })
  models.reply('m1', (_request, n) => ({
    ...conclude({ outcome: n === 1 ? 'finding' : 'no_op' }),
    usage: { input_tokens: 1_000, output_tokens: 10 },
  }))
  await post(error)
  await settled()
  clock.at += 24 * 60 * MINUTE
  await post([
    { ...error, service: 'pay' },
    { ...error, service: 'search' },
  ])
  const last = (await settled()).at(-1)!
  await engine.rerun(last.id, { asOf: 'same', practice: true })
  await settled()
  const [open] = (await engine.listIncidents({ limit: 1 }, null)).incidents
  await engine.actOnIncident(open!.id, { action: 'handle' }, { by: 'mara', via: 'console' })

  const { today } = await engine.home([])
  const asked = { practice: false, ended_since: today.since, limit: 1, offset: 0 }
  const opened = await engine.listIncidents({ state: 'all', opened_since: today.since, limit: 50 }, null)
  expect(today).toMatchObject({ runs: 2, findings: 1, incidents: 2 })
  expect((await engine.listRuns(asked)).total).toBe(today.runs)
  expect((await engine.listRuns({ ...asked, outcome: 'finding' })).total).toBe(today.findings)
  expect(opened.incidents).toHaveLength(today.incidents)
  await expect(engine.listRuns({ ...asked, ended_since: 'lately' })).rejects.toThrow('ended_since')
  const { days } = await engine.modelUsage(1)
  expect(days).toHaveLength(1)
  expect(days[0]).toMatchObject({ calls: 3, cost_usd: today.spent_usd, uncosted_calls: 0 })
})

it('says how many calls of models have no price, so that the day is not taken for free', async () => {
  const world = await openRunWorld({ prices: false })
  onTestFinished(() => world.close())
  await world.trigger({ condition: { event: 'any' } })
  await world.agent({ name: 'first-look', trigger: 't', model: 'm1' })
  world.models.reply('m1', () => conclude({ outcome: 'no_op' }))
  await world.post(error)
  await world.settled()
  const { today } = await world.engine.home([])
  expect(today).toMatchObject({ spent_usd: 0, uncosted_calls: 1 })
})

it('counts an alert that is over for no error, though its severity stays', async () => {
  const world = await openWorld()
  const { ingest_key } = await world.engine.createSource({ name: 'am', connector: 'alertmanager' }, BY, false)
  const startsAt = new Date(world.clock.at).toISOString()
  const alert = { labels: { alertname: 'Slow', service: 'pay', severity: 'critical' }, startsAt }
  const send = (status: string, endsAt: string) =>
    world.engine.ingest({
      ...{ ingestKey: ingest_key!, caller: 'open', bypassCooldown: false },
      body: Buffer.from(JSON.stringify({ alerts: [{ ...alert, status, endsAt }] })),
    })
  const counted = async () =>
    (await world.engine.home([])).strip.buckets.reduce(
      (sum, { error, info }) => ({ error: sum.error + error, info: sum.info + info }),
      { error: 0, info: 0 },
    )
  await send('firing', '0001-01-01T00:00:00Z')
  expect(await counted()).toMatchObject({ error: 1 })
  await send('resolved', startsAt)
  expect(await counted()).toMatchObject({ error: 1, info: 1 })
})
