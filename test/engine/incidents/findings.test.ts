/** 19, step 2: what agents find of an incident, a verdict that closes, and results that are handled with it. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { conclude, error } from '../agents/runs/replies.ts'
import { openRunWorld, type RunWorld } from '../agents/runs/run-world.ts'
import { BY } from '../triggers/trigger-world.ts'

const MARA = { by: 'mara', via: 'console' } as const
const TRIGGER = { condition: { event: 'any' }, cooldown: '1m' } as const
/** Whether it holds is compared with the events: the quote is theirs, or not. */
const claim = (quote: string) => [{ text: 'It cannot be paid', events: ['evt_1'], quote }]
const HOLDS = claim('cannot pay')
const FAILS = claim('the pool is exhausted')
const look = { calls: [{ name: 'read', arguments: { selector: { service: 'checkout' } } }] }

async function open(more: object = {}): Promise<RunWorld> {
  const world = await openRunWorld()
  onTestFinished(() => world.close())
  await world.trigger(TRIGGER)
  await world.agent({
    name: 'first-look',
    trigger: 't',
    model: 'm1',
    verdicts: [{ verdict: 'false_alarm', closes: true }, { verdict: 'deploy' }],
    ...more,
  })
  return world
}

const incident = (world: RunWorld, id = 'inc_1') => world.engine.getIncident(id, null)

describe('what was found', () => {
  it('is the headline of its incident, with verdict, claims and next step', async () => {
    const world = await open()
    world.models.reply('m1', [
      look,
      conclude({ headline: 'Checkout fails', verdict: 'deploy', next_step: 'Roll back', claims: HOLDS }),
    ])
    await world.post(error)
    expect(await incident(world)).toMatchObject({ headline: 'cannot pay', result: null })
    const [run] = await world.settled()
    const found = await incident(world)
    expect(found).toMatchObject({
      headline: 'Checkout fails',
      state: 'open',
      claims: { held: 1, total: 1 },
      run: { run_id: run!.id, agent: 'first-look', status: 'succeeded' },
      result: {
        run_id: run!.id,
        agent: 'first-look',
        chain: ['first-look'],
        kind: 'action',
        verdict: 'deploy',
        next_step: 'Roll back',
        handled: null,
      },
      finding: { note: 'Found.', event_id: run!.event_id, mark: null },
    })
    expect(found.finding!.claims).toMatchObject([{ ok: true, events: ['evt_1'] }])
    const { incidents } = await world.engine.listIncidents({ q: 'checkout fails', limit: 5 }, null)
    expect(incidents.map(({ id }) => id)).toEqual(['inc_1'])
  })

  it('grows while the incident goes on: one finding with its history, which nothing new does not hide', async () => {
    const world = await open()
    const nothing = conclude({ outcome: 'no_op', summary: 'nothing new since the last finding' })
    world.models.reply('m1', [
      look,
      conclude({ headline: 'Checkout fails', verdict: 'deploy', claims: HOLDS }),
      look,
      conclude({ headline: 'The pool is small', verdict: 'false_alarm' }),
      nothing,
    ])
    await world.post(error)
    await world.settled()
    // Longer than its trigger calls quiet: another chain of the same incident, until somebody handles it.
    for (const minutes of [60, 2]) {
      world.clock.at += minutes * 60_000
      await world.post(error)
      await world.settled()
    }
    const [first, second, third] = await world.settled()
    const found = await incident(world)
    expect(found).toMatchObject({
      headline: 'The pool is small',
      firings_total: 3,
      result: { run_id: second!.id, kind: 'action' },
      history: {
        id: 'inc_1',
        first_seen: first!.finished_at,
        updated: second!.finished_at,
        looked_at: third!.finished_at,
        runs: 3,
        findings: 2,
        verdicts: ['deploy', 'false_alarm'],
      },
    })
    expect(found.history!.notes.map(({ headline }) => headline)).toEqual([
      'The pool is small',
      'Checkout fails',
    ])
  })

  it('is handled with its incident, in the same transaction, and open again with it', async () => {
    const world = await open()
    const { engine, project } = world
    world.models.reply('m1', [look, conclude({ verdict: 'deploy', claims: HOLDS })])
    await world.post(error)
    const [run] = await world.settled()
    await engine.actOnIncident('inc_1', { action: 'handle' }, MARA)
    expect((await engine.projectResult(project, run!.id)).handled).toMatchObject({ by: 'mara' })
    await engine.actOnIncident('inc_1', { action: 'reopen' }, MARA)
    expect((await engine.projectResult(project, run!.id)).handled).toBeNull()
  })
})

describe('a verdict that is declared to close', () => {
  it('handles the incident where every claim holds', async () => {
    const world = await open()
    world.models.reply('m1', [look, conclude({ verdict: 'false_alarm', claims: HOLDS })])
    await world.post(error)
    const [run] = await world.settled()
    expect(await incident(world)).toMatchObject({
      state: 'handled',
      handled: { by: 'first-look', how: 'verdict' },
      result: { run_id: run!.id, handled: { by: 'first-look' } },
    })
  })

  it.each([
    ['a claim does not hold', { verdict: 'false_alarm', claims: FAILS }],
    ['it claims nothing', { verdict: 'false_alarm' }],
    ['it is not declared to close', { verdict: 'deploy', claims: HOLDS }],
  ])('does not where %s', async (_why, said) => {
    const world = await open()
    // A claim that does not hold is sent back once, and then kept.
    world.models.reply('m1', [look, conclude(said), conclude(said), conclude(said)])
    await world.post(error)
    await world.settled()
    expect(await incident(world)).toMatchObject({ state: 'open', result: { verdict: said.verdict } })
  })
})

it('a snoozed incident wakes no agent', async () => {
  const world = await open()
  world.models.reply('m1', [look, conclude({ verdict: 'deploy', claims: HOLDS })])
  await world.post(error)
  await world.settled()
  await world.engine.actOnIncident('inc_1', { action: 'snooze' }, MARA)
  world.clock.at += 120_000
  await world.post(error)
  expect(await world.settled()).toHaveLength(1)
  expect((await world.engine.listFirings({ limit: 5 })).firings.map((one) => one.suppressed_by)).toEqual([
    'snooze',
    null,
  ])
})

describe('what an outside agent found', () => {
  const finding = {
    entity: 'checkout',
    label: 'service',
    finding: 'The pool is too small.',
    headline: 'Pool',
  }
  const OPERATOR = { by: { id: 'open', name: 'op' }, own: false }

  it('wakes an agent by a trigger over findings, which is how one takes over on a verdict from outside', async () => {
    const world = await openRunWorld()
    onTestFinished(() => world.close())
    const record = (verdict: string) =>
      world.engine.recordFinding(world.project, { ...finding, verdict }, 'outsider', OPERATOR)
    // The first finding makes their source.
    await record('known')
    await world.agent({ name: 'digger', model: 'm1' })
    const byAgent = { field: 'agent', op: 'eq', value: 'outsider' } as const
    const capacity = { field: 'verdict', op: 'eq', value: 'capacity' } as const
    await world.trigger({
      ...{ name: 'outside-capacity', sources: ['findings'], filters: [byAgent, capacity] },
      ...{ condition: { event: 'any' }, cooldown: '30m' },
    })
    const wakes = [{ trigger: 'outside-capacity', agent: 'digger', enabled: true }]
    await world.engine.wireProject(world.project, { wakes, handoffs: [] }, BY)
    world.models.reply('m1', () => conclude({ summary: 'The pool.' }))
    const dug = async () => (await world.settled()).filter(({ agent }) => agent === 'digger')
    await record('known')
    expect(await dug()).toEqual([])
    await record('capacity')
    const [run] = await dug()
    expect(run).toMatchObject({ agent: 'digger', key: 'checkout', label: 'service', status: 'succeeded' })
    // It is told all that the outside agent found, and its own finding wakes nobody.
    const [prompt] = (await world.run(run!.id)).steps
    expect(prompt!.data).toMatchObject({
      message: expect.stringMatching(
        /^You take over .*Agent outsider looked before you .*The pool is too small\./s,
      ),
    })
    expect(await dug()).toHaveLength(1)
  })

  it('is on the open incidents of its entity, as headline and result, and on no other', async () => {
    const world = await openRunWorld()
    onTestFinished(() => world.close())
    await world.trigger(TRIGGER)
    await world.post(error)
    await world.post({ ...error, service: 'cart' })
    const { incidents, run_id } = await world.engine.recordFinding(
      world.project,
      { ...finding, verdict: 'capacity' },
      'outsider',
      OPERATOR,
    )
    expect(incidents).toEqual(['inc_1'])
    expect(await incident(world)).toMatchObject({
      headline: 'Pool',
      result: { run_id, agent: 'outsider', verdict: 'capacity' },
      finding: { note: 'The pool is too small.' },
    })
    expect((await incident(world, 'inc_2')).result).toBeNull()
    // Handled, it takes no more: what is found then is of nothing open.
    await world.engine.actOnIncident('inc_1', { action: 'handle' }, MARA)
    const later = await world.engine.recordFinding(world.project, finding, 'outsider', OPERATOR)
    expect(later.incidents).toEqual([])
    expect((await incident(world)).result!.run_id).toBe(run_id)
  })

  it('recorded by a key of a project is on incidents of the triggers of that project alone', async () => {
    const world = await openRunWorld()
    onTestFinished(() => world.close())
    await world.trigger({ ...TRIGGER, project: world.project })
    await world.post(error)
    const other = await world.engine.createProject({ template: 'custom', name: 'Other' }, BY)
    const key = { by: { id: 'key:k', name: 'outsider' }, own: true }
    expect((await world.engine.recordFinding(other.id, finding, 'outsider', key)).incidents).toEqual([])
    expect((await incident(world)).result).toBeNull()
    expect((await world.engine.recordFinding(world.project, finding, 'outsider', key)).incidents).toEqual([
      'inc_1',
    ])
  })
})
