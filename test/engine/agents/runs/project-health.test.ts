import { describe, expect, it, onTestFinished } from 'vitest'
import { conclude } from '../../../contract/served-runs.ts'
import { BY } from '../../triggers/trigger-world.ts'
import { openRunWorld } from './run-world.ts'

const REFUSED = { status: 400, error: 'it is refused.' }
const HOUR = 3_600_000

async function open() {
  const world = await openRunWorld()
  onTestFinished(() => world.close())
  await world.trigger({ condition: { event: 'any' }, cooldown: '1s' })
  await world.agent({ name: 'first-look', trigger: 't', model: 'm1' })
  let n = 0
  return {
    ...world,
    /** One event of an entity of its own, until its run has ended. */
    look: async () => {
      world.clock.at += 60_000
      await world.post({ service: `s${n++}`, msg: 'it broke' })
      await world.settled()
    },
    told: async () => (await world.engine.projectHealth(world.project)).issues.map(({ message }) => message),
    detail: async () => (await world.engine.status()).detail,
  }
}

it('a trigger names the agents it wakes, and counts the addresses it tells', async () => {
  const { engine } = await open()
  expect(await engine.getTrigger('t')).toMatchObject({ wakes: ['first-look'], subscriptions: 0 })
  const to = { url: 'https://example.com/hook', audience: 'operator' as const }
  await engine.subscribe({ trigger: 't' }, to, BY.caller)
  expect(await engine.getTrigger('t')).toMatchObject({
    wakes: ['first-look'],
    subscriptions: 1,
    subscribers: 2,
  })
})

describe('the health of a project whose runs fail', () => {
  it('says so while the last one failed, and how many did; a run that succeeds ends it', async () => {
    const { models, look, told } = await open()
    const failing = expect.stringContaining('of agent first-look failed: ')
    models.reply('m1', [conclude(), REFUSED, REFUSED, conclude()])
    await look()
    expect(await told()).not.toContainEqual(failing)
    await look()
    // What to do follows it: it ends as no sentence does.
    expect(await told()).toContainEqual(
      expect.stringMatching(/^The last run of agent first-look failed: .*[^.]$/),
    )
    await look()
    expect(await told()).toContainEqual(
      expect.stringMatching(/^The last 2 runs of agent first-look failed: /),
    )
    await look()
    expect(await told()).not.toContainEqual(failing)
  })

  it('warns of an MCP server that the last run was without, for as long as its agent uses it', async () => {
    const { engine, models, look, told, project } = await open()
    await engine.createMcpServer({ name: 'gone', url: 'http://127.0.0.1:9/mcp' }, BY)
    await engine.updateAgent('first-look', { name: 'first-look', mcp_servers: ['gone'] } as never, BY)
    models.reply('m1', [conclude()])
    await look()
    const warning =
      'The last run of agent first-look was without tools of MCP server gone: connection refused'
    expect((await engine.projectHealth(project)).issues).toContainEqual({
      ...{ severity: 'warning', message: warning, view: '/mcp-servers/gone' },
      fix: 'Test the server to see whether it answers by now',
    })
    await engine.updateAgent('first-look', { name: 'first-look', mcp_servers: [] } as never, BY)
    expect(await told()).not.toContain(warning)
  })

  it('is of the project alone, and no longer than seven days', async () => {
    const { models, look, told, engine, clock } = await open()
    models.reply('m1', [REFUSED])
    await look()
    const { id } = await engine.createProject({ template: 'custom', name: 'Other', objects: [] }, BY)
    expect((await engine.projectHealth(id)).issues).toEqual([])
    expect(await told()).toContainEqual(expect.stringContaining('failed'))
    clock.at += 8 * 24 * HOUR
    expect(await told()).not.toContainEqual(expect.stringContaining('failed'))
  })

  it('says that a budget holds an agent back', async () => {
    const { models, look, told, engine, project } = await open()
    await engine.updateAgent(
      'first-look',
      { name: 'first-look', prompt: 'Look.', budget_usd: 0.000001, project },
      BY,
    )
    models.reply('m1', [conclude(), conclude()])
    await look()
    await look()
    expect(await told()).toContainEqual(expect.stringMatching(/^Agent first-look was not run: .*budget/))
  })
})

describe('the health of a project in which something is switched off', () => {
  it('names a trigger that is paused and an agent that is off, and that handoffs alone wake it', async () => {
    const { engine, told, agent, project } = await open()
    await engine.moveTrigger('t', 'pause', BY)
    expect(await told()).toContain('Trigger t is paused')
    await engine.moveTrigger('t', 'resume', BY)
    expect(await engine.switchAgent('first-look', false, undefined, BY)).not.toHaveProperty('warnings')
    expect(await told()).toEqual(['Agent first-look is off: nothing wakes it'])
    await agent({ name: 'second-look', handoffs: [{ verdict: 'bad', agent: 'first-look' }] })
    expect(await told()).toContain('Agent first-look is off: only handoffs wake it')
    const { name } = await engine.getProject(project)
    expect((await engine.switchAgent('first-look', false, undefined, BY)).warnings).toEqual([
      `first-look still runs in ${name} when second-look hands over to it; delete the handoff to end that`,
    ])
    expect(await engine.switchAgent('first-look', true, undefined, BY)).not.toHaveProperty('warnings')
  })
})

describe('the health of the instance', () => {
  it('is degraded where agents are on and there is no provider, and where the last runs all failed', async () => {
    const { models, look, detail, engine, project } = await open()
    expect(await detail()).toContain('no model provider is set')
    await engine.moveProject(project, 'pause', false, BY)
    expect(await detail()).toBeNull()
    await engine.moveProject(project, 'resume', false, BY)
    models.reply('m1', [REFUSED, REFUSED, REFUSED, conclude()])
    await look()
    await look()
    expect(await detail()).not.toContain('runs of agents failed')
    await look()
    expect(await detail()).toContain('the last 3 runs of agents failed: ')
    await look()
    expect(await detail()).not.toContain('runs of agents failed')
  })
})
