import { describe, expect, it, onTestFinished } from 'vitest'
import { conclude } from '../../../contract/served-runs.ts'
import { BY } from '../../triggers/trigger-world.ts'
import { openRunWorld } from './run-world.ts'

const LIST = { limit: 10 }

/** Two projects whose wiring wakes the same agent; only the first goes on with another. */
async function open() {
  const world = await openRunWorld()
  onTestFinished(() => world.close())
  await world.trigger({ condition: { event: 'any' }, cooldown: '1s' })
  await world.agent({ name: 'digger', model: 'm2' })
  await world.agent({
    name: 'first-look',
    trigger: 't',
    model: 'm1',
    verdicts: [{ verdict: 'investigate' }],
    handoffs: [{ verdict: 'investigate', agent: 'digger' }],
  })
  const { engine } = world
  const { id: other } = await engine.createProject({ template: 'custom', name: 'Other', objects: [] }, BY)
  await engine.wireProject(
    other,
    { wakes: [{ trigger: 't', agent: 'first-look', enabled: true }], handoffs: [] },
    BY,
  )
  return { ...world, other }
}

describe('a chain of two projects that share its first agent', () => {
  it('is one result of each: in each of its runs there, and counted as it is listed', async () => {
    const { engine, models, post, settled, project, other } = await open()
    models.reply('m1', [conclude({ verdict: 'investigate', headline: 'Odd' })])
    models.reply('m2', [conclude({ verdict: 'rca', headline: 'Certificate' })])
    await post({ service: 'shop', msg: 'it broke' })
    const [first, second, ...more] = await settled()
    expect([more, first!.projects, second!.projects]).toEqual([[], [other, project].sort(), [project]])
    const mine = await engine.projectResults(project, LIST)
    const theirs = await engine.projectResults(other, LIST)
    expect(mine.results).toMatchObject([
      { id: second!.id, headline: 'Certificate', chain: ['first-look', 'digger'] },
    ])
    expect(theirs.results).toMatchObject([{ id: first!.id, headline: 'Odd', chain: ['first-look'] }])
    const all: Awaited<ReturnType<typeof engine.allFindings>>[] = []
    for (let before: string | undefined; ; ) {
      const page = await engine.allFindings({ limit: 1, before })
      all.push(page)
      if (page.next_before === null) break
      before = page.next_before
    }
    expect(all.map(({ findings }) => findings.length)).toEqual([1, 1])
    // The clock stands still: which of them is first depends on their ids.
    const found = all.flatMap(({ findings }) => findings)
    expect(found.sort((a, b) => (a.project.name < b.project.name ? -1 : 1))).toMatchObject([
      { project: { id: other, name: 'Other' }, result: { id: first!.id } },
      { project: { id: project, name: 'Shop' }, result: { id: second!.id } },
    ])
    // Of an agent that handed over what it found is its own; a run of two projects is told once.
    const firsts = await engine.allFindings({ agent: 'first-look', by: 'run', limit: 10 })
    expect(firsts.findings.map(({ result }) => result.id)).toEqual([first!.id])
    expect([mine.today, theirs.today]).toMatchObject([
      { looked_at: 1, found: 1 },
      { looked_at: 1, found: 1 },
    ])
    expect(mine.today.spent_usd).toBeCloseTo(first!.cost_usd! + second!.cost_usd!, 12)
    expect(theirs.today.spent_usd).toBeCloseTo(first!.cost_usd!, 12)
  })

  it('"looked at" and "found" count chains: a chain that ends without a finding is looked at alone', async () => {
    const { engine, models, post, settled, project, clock } = await open()
    models.reply('m1', [
      conclude({ verdict: 'investigate' }),
      conclude({ outcome: 'no_op' }),
      conclude({ verdict: 'investigate' }),
    ])
    models.reply('m2', [conclude(), conclude({ outcome: 'no_op' })])
    for (const service of ['a', 'b', 'c']) {
      clock.at += 60_000
      await post({ service, msg: 'it broke' })
      await settled()
    }
    const { results, today } = await engine.projectResults(project, LIST)
    expect([results.length, results.filter(({ kind }) => kind === 'action').length]).toEqual([3, 1])
    expect(today).toMatchObject({ runs: 5, looked_at: 3, found: 1 })
  })
})

describe('what a project’s summary says', () => {
  it('has every run with its status, and when its triggers last fired', async () => {
    const { engine, models, post, settled, project, clock } = await open()
    models.reply('m1', [conclude({ outcome: 'no_op' }), { status: 400, error: 'it is refused' }])
    await post({ service: 'a', msg: 'it broke' })
    await settled()
    clock.at += 60_000
    const fired = new Date(clock.at).toISOString()
    await post({ service: 'b', msg: 'it broke' })
    await settled()
    expect(await engine.projectSummary(project)).toMatchObject({
      last_fired: fired,
      triggers: [{ name: 't', last_fired: fired }],
      runs: [
        { status: 'failed', agent: 'first-look', key: 'b' },
        { status: 'succeeded', agent: 'first-look', key: 'a' },
      ],
      runs_total: 2,
    })
  })

  it('deleting the project with its events removes its firings and runs, and says how many', async () => {
    const { engine, models, post, settled, project, other, clock } = await open()
    models.reply('m1', [conclude({ verdict: 'investigate' }), conclude({ outcome: 'no_op' })])
    models.reply('m2', [conclude()])
    // Its own; `t` is of the Default project too, and stays with its firings.
    const own = { name: 'mine', sources: ['app'], condition: { event: 'any' as const }, cooldown: '1s' }
    await engine.createTrigger({ ...own, project }, BY)
    for (const service of ['a', 'b']) {
      clock.at += 60_000
      await post({ service, msg: 'it broke' })
      await settled()
    }
    const kept = await engine.deleteProject(other, { purgeEvents: true, picked: undefined }, BY)
    expect(kept).toMatchObject({ purged_firings: 0, purged_runs: 0 })
    const gone = await engine.deleteProject(project, { purgeEvents: true, picked: 'trigger:mine' }, BY)
    expect(gone).toMatchObject({ purged_firings: 2, purged_runs: 3 })
    const { firings } = await engine.listFirings({ limit: 10 })
    expect(firings.map(({ trigger }) => trigger)).toEqual(['t', 't'])
    expect((await engine.listRuns({ limit: 10, offset: 0 })).total).toBe(0)
  })

  it('leaves a run that is at work, with the firing it is about, and what it finds is read afterwards', async () => {
    const { engine, models, post, settled, firings, other } = await open()
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    models.reply('m1', () => conclude({ outcome: 'no_op' }))
    const asked = new Promise<void>((resolve) => {
      models.reply('m2', () => {
        resolve()
        return { ...conclude({ summary: 'The disk is full.' }), delayUntil: held }
      })
    })
    const theirs = { name: 'theirs', sources: ['app'], condition: { event: 'any' as const }, cooldown: '1s' }
    await engine.createTrigger({ ...theirs, project: other }, BY)
    const wakes = [{ trigger: 'theirs', agent: 'digger', enabled: true }]
    await engine.wireProject(other, { wakes, handoffs: [] }, BY)
    await post({ service: 'a', msg: 'it broke' })
    await asked
    const how = { purgeEvents: true, picked: 'trigger:theirs' }
    expect(await engine.deleteProject(other, how, BY)).toMatchObject({ purged_firings: 0, purged_runs: 0 })
    release()
    const run = (await settled()).find(({ agent }) => agent === 'digger')!
    expect(run).toMatchObject({ status: 'succeeded', outcome: 'finding' })
    expect(await firings()).toContainEqual(
      expect.objectContaining({ trigger: 'theirs', dispatch_id: run.dispatch_id }),
    )
    expect((await engine.allFindings({ limit: 10 })).findings).toMatchObject([
      { project: { id: other, deleted: true }, result: { id: run.id } },
    ])
  })

  it('leaves the examples of an agent that stays, with the firing its tests are told of', async () => {
    const { engine, models, post, settled, firings, other } = await open()
    models.reply('m1', () => conclude({ outcome: 'no_op' }))
    models.reply('m2', () => conclude({ summary: 'The disk is full.' }))
    const theirs = { name: 'theirs', sources: ['app'], condition: { event: 'any' as const }, cooldown: '1s' }
    await engine.createTrigger({ ...theirs, project: other }, BY)
    const wakes = [{ trigger: 'theirs', agent: 'digger', enabled: true }]
    await engine.wireProject(other, { wakes, handoffs: [] }, BY)
    await post({ service: 'a', msg: 'it broke' })
    const run = (await settled()).find(({ agent }) => agent === 'digger')!
    const example = { name: 'disk', run_id: run.id, mentions: ['disk'] }
    await engine.addAgentExample('digger', example, BY.caller)
    const gone = await engine.deleteProject(other, { purgeEvents: true, picked: 'trigger:theirs' }, BY)
    expect(gone).toMatchObject({ purged_firings: 0, purged_runs: 0 })
    expect((await firings()).map(({ dispatch_id: id }) => id)).toContain(run.dispatch_id)
    const { id } = await engine.startAgentTest('digger', {}, BY.caller)
    await settled()
    expect(await engine.getAgentTest('digger', id)).toMatchObject({ examples: [{ result: 'pass' }] })
  })
})
