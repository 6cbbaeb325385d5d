import { describe, expect, it, onTestFinished } from 'vitest'
import { conclude } from '../../../contract/served-runs.ts'
import { BY } from '../../triggers/trigger-world.ts'
import { look as reading } from './replies.ts'
import { openRunWorld } from './run-world.ts'

const DAY = 86_400_000

async function open(agent: object = {}) {
  const world = await openRunWorld()
  onTestFinished(() => world.close())
  await world.trigger({ condition: { event: 'any' }, cooldown: '1s' })
  await world.agent({ name: 'first-look', trigger: 't', model: 'm1', ...agent })
  let n = 0
  return {
    ...world,
    /** One event of an entity of its own. @returns the run it woke */
    look: async () => {
      world.clock.at += 60_000
      await world.post({ service: `s${n++}`, msg: 'it broke' })
      return (await world.settled()).at(-1)!
    },
  }
}

describe('skills that runs load', () => {
  it('are on the run, in order and once each, and say who loaded them in the last 7 days', async () => {
    const { engine, models, look, project, clock } = await open()
    for (const name of ['roll-back', 'read-logs', 'unused'])
      await engine.createSkill(project, { name, description: `${name}.`, body: 'Do.' }, BY)
    const skill = (name: string) => ({ name: 'skill', arguments: { name } })
    models.reply('m1', [
      { calls: [skill('read-logs'), skill('gone'), skill('roll-back')] },
      { calls: [skill('read-logs')] },
      conclude(),
    ])
    const run = await look()
    expect(run.skills).toEqual(['read-logs', 'roll-back'])
    const loaded = async () =>
      Object.fromEntries((await engine.listProjectSkills(project)).map((one) => [one.name, one.loaded_by]))
    const who = { 'read-logs': ['first-look'], 'roll-back': ['first-look'], unused: [] }
    expect(await loaded()).toEqual(who)
    const { skills } = await engine.projectOutline(project)
    expect(Object.fromEntries(skills.map((one) => [one.name, one.loaded_by]))).toEqual(who)
    clock.at += 7 * DAY + 1
    expect(await loaded()).toEqual({ 'read-logs': [], 'roll-back': [], unused: [] })
  })
})

describe('the conclusion switch', () => {
  const text = { text: 'It is the database.' }

  it('ends with the conclude tool, or the run does not succeed: plain text is kept as a note', async () => {
    const { models, look } = await open({ concludes: true })
    models.reply('m1', [text, text, text])
    expect(await look()).toMatchObject({
      status: 'empty',
      outcome: null,
      finding: 'It is the database.',
      error:
        'it did not end with the conclude tool, though it was told to 2 times; it called no tool: check that the model supports tool calling',
    })
  })

  it('where the rounds end first, the run is exhausted', async () => {
    const { models, look } = await open({ concludes: true, max_rounds: 1 })
    models.reply('m1', [text, text])
    expect(await look()).toMatchObject({ status: 'exhausted', finding: 'It is the database.' })
  })

  it('switched off, plain text is the finding', async () => {
    const { models, look } = await open()
    models.reply('m1', [text])
    expect(await look()).toMatchObject({ status: 'succeeded', outcome: 'finding' })
  })
})

/** US dollars that pay for a prompt and a reply of some hundred tokens. */
const SMALL = 0.2
/** A reply that uses all of its room. */
const all = (output_tokens: number) => ({ ...conclude(), usage: { input_tokens: 100, output_tokens } })

describe('the budget of a new agent', () => {
  const write = { name: 'first-look', prompt: 'Look.', model: 'm1' }

  it('is not reached before its first call: that has as much room as it pays for; after it, it is', async () => {
    const { models, look } = await open({ budget_usd: SMALL })
    models.reply('m1', ({ body }) => all(body.max_tokens as number))
    const first = await look()
    expect(first).toMatchObject({ status: 'succeeded' })
    expect(models.requests[0]!.body.max_tokens).toBeLessThan(4_096)
    expect(first!.cost_usd).toBeLessThanOrEqual(SMALL)
    expect(await look()).toMatchObject({ status: 'capped', error: expect.stringContaining('budget') })
  })

  it('that does not pay for its prompt is told so, and not passed', async () => {
    const { models, look } = await open({ budget_usd: 0.0001 })
    models.reply('m1', [conclude()])
    expect(await look()).toMatchObject({
      status: 'capped',
      error: expect.stringMatching(
        /^the next call could cost \$0\.\d+ with a reply of 256 tokens alone, and \$0\.0001 is left: \$0 is spent of the budget of \$0\.0001; raise budget_usd$/,
      ),
    })
    expect(models.requests).toHaveLength(0)
  })

  it('that is spent says what was spent, what is left, and what the call that was refused could cost', async () => {
    const { models, look } = await open({ run_budget_usd: 0.5 })
    models.reply('m1', [{ ...reading, usage: { input_tokens: 46_000, output_tokens: 300 } }, conclude()])
    const { error, cost_usd } = (await look())!
    expect(cost_usd).toBe(0.49)
    const [, least] =
      /^the next call could cost \$(0\.\d+) with a reply of 256 tokens alone, and \$0\.01 is left: \$0\.49 is spent of the \$0\.5 of one run; raise run_budget_usd$/.exec(
        error!,
      )!
    expect(Number(least)).toBeGreaterThan(0.01)
    expect(models.requests).toHaveLength(1)
  })

  it('is its own: what a deleted agent of its name spent does not count, and does again with that agent', async () => {
    const { engine, models, look, project, clock } = await open({ budget_usd: SMALL })
    models.reply('m1', ({ body }) => all(body.max_tokens as number))
    await look()
    clock.at += 1_000
    const { change_set } = await engine.deleteAgent('first-look', BY)
    clock.at += 1_000
    const made = await engine.createAgent({ ...write, budget_usd: SMALL, trigger: 't', project }, BY)
    await engine.switchAgent('first-look', true, project, BY)
    expect(await look()).toMatchObject({ status: 'succeeded' })
    await engine.deleteAgent('first-look', BY)
    expect([change_set > 0, made.ok]).toEqual([true, true])
    await engine.undoChangeSet(change_set, false, BY)
    expect(await look()).toMatchObject({ status: 'capped' })
  })
})

describe('actions of a project that run an agent', () => {
  it('summarize runs it on the session now, in the project; a paused project refuses', async () => {
    const { engine, models, settled } = await open()
    const { id } = await engine.createProject(
      { template: 'challenger_workflow', name: 'Sessions', params: {} },
      BY,
    )
    const agents = (await engine.getProject(id)).objects.filter(({ kind }) => kind === 'agent')
    models.reply('', [conclude()])
    const done = await engine.runProjectAction(id, 'summarize', { session: 'sess-1' }, BY)
    expect(done).toMatchObject({ ok: true, action: 'summarize', run_id: expect.stringMatching(/^run_/) })
    const run = (await settled()).find((one) => one.id === done.run_id)!
    expect(run).toMatchObject({
      agent: agents[0]!.name,
      woken_by: 'manual',
      key: 'sess-1',
      projects: [id],
      practice: false,
    })
    const log = await engine.listChangeSets({ project: id, limit: 1 })
    expect(log.change_sets).toMatchObject([
      { summary: `action summarize (session: sess-1): ${agents[0]!.name} looks at sess-1`, objects: 0 },
    ])
    await expect(engine.runProjectAction(id, 'summarize', {}, BY)).rejects.toThrow('session')
    await engine.moveProject(id, 'pause', false, BY)
    await expect(engine.runProjectAction(id, 'summarize', { session: 'sess-1' }, BY)).rejects.toThrow(
      'paused',
    )
  })
})
