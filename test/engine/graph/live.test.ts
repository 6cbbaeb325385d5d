/** The live state of a project's graph: real events, firings, deliveries, runs and handoffs. */
import { afterEach, describe, expect, it } from 'vitest'
import { check } from '../../../schemas/index.ts'
import type { ScriptedReply } from '../../models/scripted-server.ts'
import { openRunWorld, type RunWorld } from '../agents/runs/run-world.ts'
import { BY, MINUTE } from '../triggers/trigger-world.ts'
import { hubOf } from './replay-world.ts'

const DAY = 24 * 60 * MINUTE
const error = { service: 'checkout', type: 'error', msg: 'cannot pay' }
const conclude = (more: Record<string, unknown> = {}): ScriptedReply => ({
  calls: [{ name: 'conclude', arguments: { outcome: 'finding', summary: 'The gateway is down.', ...more } }],
})

let world: RunWorld
afterEach(() => world?.close())

async function open(): Promise<RunWorld> {
  world = await openRunWorld()
  await world.trigger({ condition: { event: 'any' }, cooldown: '1s', project: world.project })
  return world
}

async function graphOf(narrowed = false) {
  const graph = await world.engine.projectGraph(world.project, narrowed)
  expect(check('project-graph.json', graph)).toBeNull()
  return {
    ...graph,
    node: (id: string) => graph.nodes.find((one) => one.id === id),
    edge: (id: string) => graph.edges.find((one) => one.id === id),
  }
}

/** first-look, woken by t, hands over to digger. */
async function chain(): Promise<void> {
  await world.agent({ name: 'digger', model: 'm2' })
  await world.agent({
    name: 'first-look',
    trigger: 't',
    model: 'm1',
    handoffs: [{ verdict: 'escalate', agent: 'digger' }],
  })
  world.models.reply('m1', () => conclude({ verdict: 'escalate' }))
  world.models.reply('m2', () => conclude())
}

describe('the graph of a project', () => {
  it('waits until something comes', async () => {
    await open()
    await chain()
    const { node, edge, project, source_of_truth } = await graphOf()
    expect(project).toMatchObject({ id: world.project, name: 'Shop', status: 'active' })
    expect(source_of_truth).toBe('instance')
    for (const id of ['source:app', 'trigger:t', 'agent:first-look', 'agent:digger'])
      expect(node(id)).toMatchObject({ health: 'waiting', state: 'active', last_at: null, today: 0 })
    expect(node('agent:digger')!.spend_today_usd).toBeNull()
    expect(edge('wakes:t>first-look')).toMatchObject({ today: 0, last_at: null })
    expect(edge('feeds:app>t')).toMatchObject({ today: null, last_at: null })
  })

  it('counts what passed today, along nodes and edges', async () => {
    const { post, pass, settled, clock } = await open()
    await chain()
    await post([error, { ...error, service: 'cart' }])
    await settled()
    pass(2_000)
    await post(error)
    await settled()
    const at = new Date(clock.at).toISOString()
    const { node, edge } = await graphOf()
    // The third is handed over in vain: the cooldown of the handoff is on.
    expect(node('source:app')).toMatchObject({ today: 3, last_at: at, health: 'ok' })
    expect(node('trigger:t')).toMatchObject({ today: 3, last_at: at, health: 'ok' })
    expect(node('agent:first-look')).toMatchObject({ today: 3, last_at: at, running: 0, queued: 0 })
    expect(node('agent:digger')).toMatchObject({ today: 2, health: 'ok' })
    expect(node('agent:first-look')!.spend_today_usd).toBeCloseTo((3 * (10 * 10 + 5 * 100)) / 1e6, 9)
    expect(edge('feeds:app>t')).toMatchObject({ today: null, last_at: at })
    expect(edge('wakes:t>first-look')).toMatchObject({ today: 3, last_at: at })
    expect(edge('hands_off:first-look/escalate>digger')).toMatchObject({ today: 2 })
  })

  it('begins a new day at midnight UTC, and keeps when something passed last', async () => {
    const { post, settled, pass, clock } = await open()
    await chain()
    await post(error)
    await settled()
    const at = new Date(clock.at).toISOString()
    await graphOf()
    pass(DAY)
    const { node, edge } = await graphOf()
    for (const id of ['source:app', 'trigger:t', 'agent:first-look', 'agent:digger'])
      expect(node(id)).toMatchObject({ today: 0, last_at: at, health: 'ok' })
    expect(node('agent:first-look')!.spend_today_usd).toBeNull()
    for (const id of ['wakes:t>first-look', 'hands_off:first-look/escalate>digger'])
      expect(edge(id)).toMatchObject({ today: 0, last_at: at })
    await post(error)
    expect((await graphOf()).node('source:app')!.today).toBe(1)
  })

  it('counts events of sealed segments once, and those of yesterday in them not', async () => {
    const { post, engine, clock } = await open()
    const many = (n: number) => Array.from({ length: n }, () => ({ type: 'ok' }))
    await engine.moveTrigger('t', 'pause', BY)
    await post(many(30_000))
    clock.at += DAY
    await post(many(40_000))
    expect((await graphOf()).node('source:app')!.today).toBe(40_000)
    while (engine.maintain());
    await post(many(5))
    for (let n = 0; n < 2; n++) expect((await graphOf()).node('source:app')!.today).toBe(40_005)
  })

  it('shows runs at work and in the queue, and leaves practice out', async () => {
    const { post, settled, models, agent, engine } = await open()
    await agent({ name: 'first-look', trigger: 't', model: 'm1', concurrency: 1 })
    let go = () => {}
    const held = new Promise<void>((resolve) => {
      go = resolve
    })
    const asked = new Promise<void>((resolve) => {
      models.reply('m1', (_request, n) => {
        resolve()
        return { ...conclude(), ...(n === 0 ? { delayUntil: held } : {}) }
      })
    })
    await post([error, { ...error, service: 'cart' }])
    world.runner.nudge()
    await asked
    expect((await graphOf()).node('agent:first-look')).toMatchObject({ running: 1, queued: 1, today: 2 })
    go()
    const [first] = await settled()
    await engine.rerun(first!.id, { asOf: 'same', practice: true })
    await settled()
    expect((await graphOf()).node('agent:first-look')).toMatchObject({ running: 0, queued: 0, today: 2 })
  })

  it('says what wants looking at', async () => {
    const { post, settled, models, agent, engine } = await open()
    await agent({ name: 'first-look', trigger: 't', model: 'm1' })
    models.reply('m1', [{ status: 400, error: 'the prompt is too long' }])
    await post(error)
    await settled()
    expect((await graphOf()).node('agent:first-look')).toMatchObject({
      health: 'attention',
      reason: expect.stringContaining('its last run failed: '),
    })
    await engine.deleteAgent('first-look', BY)
    await engine.updateSource(
      'app',
      {
        name: 'app',
        connector: 'webhook',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference to the environment.
        config: { labels: [], signature_scheme: 'github', signature_secret: '${SVC_SECRET_NOT_THERE}' },
      } as never,
      BY,
    )
    expect((await graphOf()).node('source:app')).toMatchObject({
      health: 'attention',
      reason: expect.stringContaining('SVC_SECRET_NOT_THERE'),
    })
  })

  it('counts for a project what its own wire carries', async () => {
    const { post, settled, engine, agent } = await open()
    await agent({ name: 'first-look', trigger: 't', model: 'm1' })
    world.models.reply('m1', () => conclude())
    const { id: other } = await engine.createProject({ template: 'custom', name: 'Other', objects: [] }, BY)
    await engine.wireProject(
      other,
      { wakes: [{ trigger: 't', agent: 'first-look', enabled: false }], handoffs: [] },
      BY,
    )
    await post(error)
    await settled()
    const graph = await engine.projectGraph(other)
    expect(graph.edges.find(({ id }) => id === 'wakes:t>first-look')).toMatchObject({
      today: 0,
      last_at: null,
    })
    expect(graph.nodes.find(({ id }) => id === 'agent:first-look')).toMatchObject({
      state: 'off',
      today: 1,
      shared_with: [{ name: 'Shop' }],
    })
  })

  it('counts what subscribed addresses and receivers of findings were told', async () => {
    const { post, settled, engine, agent, clock } = await open()
    const { subscription_id: id } = await engine.subscribe(
      { trigger: 't' },
      { url: 'http://127.0.0.1:9/in/secret', audience: 'operator' },
      BY.caller,
    )
    await agent({ name: 'first-look', trigger: 't', model: 'm1', webhook_url: 'https://back.test/in/secret' })
    world.models.reply('m1', () => conclude())
    await post(error)
    await settled()
    const back = (await engine.claimDeliveries(10, [])).find(({ of }) => of === 'finding')!
    await engine.settleDelivery(back.deliveryId, {
      ...{ event: 'refuse', at: clock.at, ms: 0, status: 410, reason: 'HTTP 410: gone' },
    })
    const at = new Date(clock.at).toISOString()
    const { node, edge } = await graphOf()
    expect(node(`destination:webhook:${id}`)).toMatchObject({ today: 1, last_at: at, health: 'ok' })
    expect(edge(`tells:trigger:t>webhook:${id}`)).toMatchObject({ today: 1, last_at: at })
    expect(node('destination:write_back:first-look')).toMatchObject({
      name: 'https://back.test/in/se…',
      today: 1,
      health: 'attention',
      reason: 'the last delivery failed: HTTP 410: gone',
    })
    expect(edge('tells:agent:first-look>write_back:first-look')).toMatchObject({ today: 1, last_at: at })
    const narrow = await graphOf(true)
    expect(narrow.nodes.some(({ kind }) => kind === 'destination')).toBe(false)
    expect(narrow.edges.some(({ kind }) => kind === 'tells')).toBe(false)
  })
})

describe('GitHub as a destination', () => {
  it('says what was written there today, and what was not', async () => {
    const { agent, engine, settled, clock } = await open()
    await engine.storeCredential({ name: 'main', token: 'ghp_ofapersonfortests' })
    const hub = await hubOf(world)
    await agent({
      ...{ name: 'review', trigger: 'pulls', model: 'm1' },
      ...{ github: 'main', github_writes: ['comment'] },
    })
    expect((await graphOf()).node('destination:github:review')).toMatchObject({
      ...{ name: 'GitHub, as main', detail: 'findings, as comments', today: 0, health: 'waiting' },
    })
    world.models.reply('m1', () => conclude())
    await hub({ repo: 'org/api', number: 7 })
    await settled()
    const [written] = await engine.claimDeliveries(10, [])
    await engine.settleDelivery(written!.deliveryId, {
      ...{ event: 'refuse', at: clock.at, ms: 0, status: 404, reason: 'GitHub answered 404' },
    })
    const { node, edge } = await graphOf()
    expect(node('destination:github:review')).toMatchObject({
      ...{ today: 1, health: 'attention', reason: 'the last delivery failed: GitHub answered 404' },
    })
    expect(edge('tells:agent:review>github:review')).toMatchObject({ today: 1 })
  })
})

describe('a channel of Slack as a destination', () => {
  it('counts the findings of all agents that go there, and each wire its own', async () => {
    const { agent, engine, settled, post, clock, pass } = await open()
    const to = { trigger: 't', slack_channel: 'C0ALERTS' }
    await agent({ ...to, name: 'first-look', model: 'm1' })
    await agent({ ...to, name: 'second-look', model: 'm2' })
    expect((await graphOf()).node('destination:slack:C0ALERTS')).toMatchObject({
      ...{ today: 0, last_at: null, health: 'waiting' },
    })
    const nothing = () => conclude({ outcome: 'nothing' })
    const found = async (first: typeof conclude, second: typeof conclude) => {
      pass(2_000)
      world.models.reply('m1', () => first())
      world.models.reply('m2', () => second())
      await post(error)
      await settled()
    }
    await found(conclude, nothing)
    await found(conclude, conclude)
    const { node, edge } = await graphOf()
    expect(node('destination:slack:C0ALERTS')).toMatchObject({ today: 3, health: 'ok' })
    expect(edge('tells:agent:first-look>slack:C0ALERTS')).toMatchObject({ today: 2 })
    expect(edge('tells:agent:second-look>slack:C0ALERTS')).toMatchObject({ today: 1 })
    // What was told last says how it goes, whoever told it.
    await found(nothing, conclude)
    const how = { at: clock.at, ms: 0, status: 200 }
    for (let n = 0; n < 2; n++)
      for (const { deliveryId } of await engine.claimDeliveries(10, []))
        await engine.settleDelivery(deliveryId, { ...how, event: 'refuse', reason: 'channel_not_found' })
    expect((await graphOf()).node('destination:slack:C0ALERTS')).toMatchObject({
      ...{ health: 'attention', reason: 'the last delivery failed: channel_not_found' },
    })
    await found(conclude, nothing)
    expect((await graphOf()).node('destination:slack:C0ALERTS')).toMatchObject({ today: 5, health: 'ok' })
  })
})

describe('the structure that is kept between two polls', () => {
  it('follows each change, draft and subscription', async () => {
    const { engine, project, agent } = await open()
    await agent({ name: 'first-look', trigger: 't', model: 'm1' })
    const ids = async () => (await graphOf()).nodes.map(({ id }) => id)
    const before = await ids()
    const operations = [
      {
        op: 'put' as const,
        kind: 'skill' as const,
        name: 'a',
        project,
        spec: { description: 'd', body: 'b' },
      },
    ]
    const draft = await engine.previewDraft(project, { operations }, BY)
    expect(draft.graph!.nodes.map(({ id }) => id)).toContain('skill:a')
    expect(await ids()).toEqual(before)
    // The change-set has the number that the draft had meanwhile.
    await engine.switchAgent('first-look', false, project, BY)
    expect(await ids()).toEqual(before)
    expect((await graphOf()).node('agent:first-look')!.state).toBe('off')
    const to = { url: 'http://127.0.0.1:9/in/secret', audience: 'operator' as const }
    const { subscription_id: id } = await engine.subscribe({ trigger: 't' }, to, BY.caller)
    expect(await ids()).toContain(`destination:webhook:${id}`)
    await engine.unsubscribe(id, BY.caller, { own: false, strict: true })
    expect(await ids()).toEqual(before)
  })
})

describe('where people put nodes', () => {
  it('is kept with the project, without nodes that are gone, and is no change-set', async () => {
    const { engine, project } = await open()
    const { version } = await graphOf()
    const put = (positions: { node: string; x: number; y: number }[]) =>
      engine.placeNodes(project, { positions })
    const two = [
      { node: 'trigger:t', x: 10, y: -4.5 },
      { node: 'source:app', x: 0, y: 0 },
      { node: 'agent:gone', x: 1, y: 1 },
    ]
    expect(await put(two)).toEqual({ positions: [two[1], two[0]] })
    expect((await graphOf()).positions).toEqual([two[1], two[0]])
    expect((await graphOf()).version).toBe(version)
    await engine.deleteTrigger('t', BY)
    expect((await graphOf()).positions).toEqual([two[1]])
    expect(await put([])).toEqual({ positions: [] })
  })

  it('holds what two people move at once, and follows a part to its new name and back', async () => {
    const { engine, project } = await open()
    await world.agent({ name: 'first-look', trigger: 't', webhook_url: 'https://hooks.test/in' })
    const at = (node: string, x: number) => ({ node, x, y: 0 })
    await engine.placeNodes(project, { positions: [at('agent:first-look', 1), at('source:app', 2)] })
    await Promise.all([
      engine.moveNodes(project, { put: [at('trigger:t', 3), at('destination:write_back:first-look', 4)] }),
      engine.moveNodes(project, { forget: ['source:app'] }),
    ])
    const places = async () => (await graphOf()).positions.map(({ node, x }) => `${node} ${x}`)
    const before = ['agent:first-look 1', 'destination:write_back:first-look 4', 'trigger:t 3']
    expect(await places()).toEqual(before)
    const { change_set: id } = await engine.renamePart('agent', 'first-look', 'a-guard', BY)
    expect(await places()).toEqual(['agent:a-guard 1', 'destination:write_back:a-guard 4', 'trigger:t 3'])
    await engine.undoChangeSet(id!, false, BY)
    expect(await places()).toEqual(before)
    // Of 2,000 at most those of nodes that are gone give way.
    const many = Array.from({ length: 1_999 }, (_, i) => at(`agent:gone-${i}`, i))
    await engine.placeNodes(project, { positions: [at('trigger:t', 3), ...many] })
    expect((await engine.moveNodes(project, { put: [at('source:app', 5)] })).positions).toHaveLength(2)
  })

  it('goes with the project', async () => {
    const { engine, project } = await open()
    await engine.placeNodes(project, { positions: [{ node: 'source:app', x: 1, y: 2 }] })
    await engine.deleteProject(project, { purgeEvents: false, picked: undefined }, BY)
    await expect(engine.projectGraph(project)).rejects.toMatchObject({ code: 'not_found' })
    const [deletion] = (await engine.listChangeSets({ limit: 1 })).change_sets
    await engine.undoChangeSet(deletion!.id, false, BY)
    expect((await graphOf()).positions).toEqual([])
  })
})
