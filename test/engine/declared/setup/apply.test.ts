/** Applying a plan, undoing it, connecting what it made, and trying it. */
import { expect, it, onTestFinished } from 'vitest'
import type { Plan, SetupApplied } from '../../../../schemas/types.ts'
import { BY, openSetupWorld, proposal, type SetupWorld } from './setup-world.ts'

const GOAL = 'Tell me when the gateway fails'

async function open(options: Parameters<typeof openSetupWorld>[0] = {}): Promise<SetupWorld> {
  const world = await openSetupWorld(options)
  onTestFinished(() => world.close())
  return world
}

/** A draft whose plan was written by hand. */
const drafted = async ({ engine }: SetupWorld, plan: object = proposal(), more: object = {}) =>
  (await engine.startDraft({ goal: GOAL, plan: plan as Record<string, unknown>, ...more }, BY)).project.id

const apply = async (world: SetupWorld, plan: object = proposal(), project?: string): Promise<SetupApplied> =>
  world.engine.applySetup({ plan: { goal: GOAL, ...plan }, ...(project ? { project } : {}) }, BY, false)

const names = async ({ engine }: SetupWorld) => ({
  sources: (await engine.listSources()).map(({ name }) => name).filter((name) => name !== 'app'),
  triggers: (await engine.listTriggers()).map(({ name }) => name),
  agents: (await engine.listAgents()).agents.map(({ name }) => name),
  skills: (await engine.listSkills()).map(({ name }) => name),
})
const NOTHING = { sources: [], triggers: [], agents: [], skills: [] }

it('makes a trigger with all that its form has: severity, kind, joined entities, bursts', async () => {
  const world = await open()
  const beside = { severity: 'critical', severity_field: 'level', joined: true, max_late: '2h' }
  const [wake] = proposal().wakes
  const storm = { quiet: '30s' }
  const wakes = [{ ...wake, ...beside, storm, kind: 'gateway down', window: '1h' }]
  const { plan } = await world.engine.checkSetup({ plan: { goal: GOAL, ...proposal({ wakes }) } })
  expect(plan.wakes).toMatchObject([{ ...beside, storm, kind: 'gateway down' }])
  await apply(world, plan)
  expect(await world.engine.getTrigger('gateway-errors')).toMatchObject({
    ...{ ...beside, storm },
    emit: { kind: 'gateway down', context_window: '1h' },
  })
  // A word that is no severity says none.
  const odd = proposal({ wakes: [{ ...wake, severity: 'dreadful', storm: 'none' }] })
  const read = (await world.engine.checkSetup({ plan: { goal: GOAL, ...odd } })).plan.wakes[0]!
  expect([Object.hasOwn(read, 'severity'), Object.hasOwn(read, 'storm')]).toEqual([false, false])
})

it('makes everything in one change-set, which is undone and done again as one', async () => {
  const world = await open()
  const { engine } = world
  const skills = [{ key: 's1', name: 'runbook', description: 'When pay fails.', body: '# Restart it' }]
  const id = await drafted(world, proposal({ skills }))
  const { project, change_set, connect } = await apply(world, proposal({ skills }), id)
  expect(project).toMatchObject({ id, name: 'Gateway watch', goal: GOAL, state: 'connect', status: 'active' })
  expect(await names(world)).toEqual({
    sources: ['gateway'],
    triggers: ['gateway-errors'],
    agents: ['digger', 'triage'],
    skills: ['runbook'],
  })
  expect(project.wiring).toEqual({
    wakes: [{ trigger: 'gateway-errors', agent: 'triage', enabled: true }],
    handoffs: [{ agent: 'triage', verdict: 'investigate', to: 'digger', cooldown: '30m' }],
  })
  expect(connect.sources).toMatchObject([
    {
      name: 'gateway',
      needs: 'send',
      ingest_url: expect.stringMatching(/^\/ingest\//),
      sample: { service: 'pay' },
    },
  ])
  expect(await engine.getChangeSet(change_set)).toMatchObject({ why: `guided setup: ${GOAL}` })

  const undone = await engine.undoChangeSet(change_set, false, BY)
  expect(await names(world)).toEqual(NOTHING)
  expect(await world.setup(id)).toMatchObject({
    step: 'plan',
    draft: true,
    problems: [],
    planning: { state: 'done' },
  })
  await engine.undoChangeSet(undone.change_set!, false, BY)
  expect((await names(world)).agents).toEqual(['digger', 'triage'])
  expect(await world.setup(id)).toMatchObject({ step: 'connect', draft: false })

  await engine.deleteProject(id, { purgeEvents: false, picked: undefined }, BY)
  expect(await names(world)).toEqual(NOTHING)
})

it('refuses a faulty plan with all its problems, and makes nothing', async () => {
  const world = await open()
  const id = await drafted(world)
  const faulty = proposal({
    agents: [],
    wakes: [{ ...proposal().wakes[0], condition: { aggregate: 'sum' } }],
  })
  await expect(apply(world, faulty, id)).rejects.toMatchObject({
    code: 'faulty_plan',
    message: expect.stringMatching(/wakes\.k1: .*; agents: no agent looks first: add one/),
  })
  expect(await names(world)).toEqual(NOTHING)
  expect(await world.setup(id)).toMatchObject({ draft: true, planning: { state: 'done' } })
  await apply(world, proposal(), id)
  await expect(apply(world, proposal(), id)).rejects.toMatchObject({ code: 'wrong_state' })
})

it('keeps what is said of a trigger, whose sentence in the plan goes on to tell its condition', async () => {
  const world = await open()
  const said = { ...proposal().wakes[0], description: 'the gateway  fails\nfor customers' }
  const description = 'the gateway fails for customers'
  const { plan } = await apply(world, proposal({ wakes: [said] }))
  const sentence = expect.stringContaining('at least 5 within 10 min on gateway')
  expect(plan.wakes).toMatchObject([{ description, sentence }])
  const triggers = await world.engine.listTriggers()
  expect(triggers.map((trigger) => trigger.description)).toContain(description)
  await expect(
    apply(world, proposal({ wakes: [{ ...said, description: 'no '.repeat(55) }] })),
  ).rejects.toMatchObject({ code: 'faulty_plan', message: expect.stringContaining('160 characters') })
})

it('gives what is new names of its own, and uses what is there', async () => {
  const world = await open()
  await apply(world)
  const again = proposal({
    watches: [
      { key: 'w1', existing: true, name: 'gateway' },
      { key: 'w2', name: 'gateway', connector: 'webhook', config: {} },
    ],
    wakes: [{ ...proposal().wakes[0], sources: ['w1', 'w2'] }],
  })
  const { project, plan } = await apply(world, again)
  expect(plan).toMatchObject({
    name: 'Gateway watch 2',
    watches: [{ name: 'gateway' }, { name: 'gateway-2' }],
    wakes: [{ name: 'gateway-errors-2', sources: ['gateway', 'gateway-2'] }],
    agents: [
      { name: 'triage-2', trigger: 'gateway-errors-2', handoffs: [{ agent: 'digger-2' }] },
      { name: 'digger-2' },
    ],
  })
  expect(project.objects.find(({ name }) => name === 'gateway')).toMatchObject({
    shared_with: [expect.any(String)],
  })
  // Another project uses it: it stays.
  await world.engine.deleteProject(project.id, { purgeEvents: false, picked: undefined }, BY)
  expect((await names(world)).sources).toEqual(['gateway'])
})

it('makes only the tools that are on, and asks for the secret that a source cannot be made without', async () => {
  const world = await open()
  const postgres = (config: object) =>
    proposal({
      watches: [
        {
          key: 'w1',
          name: 'orders',
          connector: 'postgres',
          config: { table: 'orders', cursor_column: 'id', ...config },
        },
      ],
      tools: [
        {
          key: 't1',
          name: 'tickets',
          why: 'files tickets',
          url: 'https://mcp.example.com/mcp',
          enabled: true,
        },
        { key: 't2', name: 'pager', why: 'pages people', url: 'https://your-pager/mcp' },
      ],
    })
  const id = await drafted(world, postgres({}))
  expect(await world.setup(id)).toMatchObject({ problems: [], changes: { creates: 5 } })
  await expect(apply(world, postgres({}), id)).rejects.toMatchObject({
    message: expect.stringContaining('dsn'),
  })
  const dsn = 'postgres://reader:canary@127.0.0.1/shop'
  const { connect, plan } = await apply(world, postgres({ dsn }), id)
  expect(connect.tools).toEqual([{ name: 'tickets', url: 'https://mcp.example.com/mcp', needs_token: true }])
  expect(plan.tools[1]).toMatchObject({ url: '', enabled: false })
  expect(JSON.stringify([await world.setup(id), await world.engine.getSource('orders')])).not.toContain(
    'canary',
  )
})

it('tries it: the test event wakes nobody, and practice is one run that counts for nothing', async () => {
  const world = await open()
  const one = proposal({
    wakes: [{ ...proposal().wakes[0], condition: { event: 'any' }, cooldown: '1h' }],
    agents: [proposal().agents[0]!, proposal().agents[1]!],
  })
  const { project } = await apply(world, one)
  await expect(world.engine.startPractice(project.id)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('send a test event first'),
  })
  expect(await world.engine.sendTestEvent(project.id, 'gateway', BY.caller)).toMatchObject({
    ok: true,
    ingested: 1,
  })
  expect(await world.firings()).toEqual([])
  const [event] = await world.engine.sourceEvents('gateway', 1)
  expect(event?.labels).toEqual({ service: 'pay', practice: 'true' })

  world.models.reply('m1', [
    {
      calls: [
        {
          name: 'conclude',
          arguments: { outcome: 'finding', verdict: 'investigate', summary: 'pay fails.' },
        },
      ],
    },
    { calls: [{ name: 'conclude', arguments: { outcome: 'finding', summary: 'The deploy did it.' } }] },
  ])
  const started = await world.engine.startPractice(project.id)
  const runs = await world.settled()
  expect(runs).toMatchObject([
    {
      id: started.run_id,
      agent: 'triage',
      woken_by: 'practice',
      practice: true,
      key: 'pay',
      status: 'succeeded',
    },
    { agent: 'digger', practice: true, status: 'succeeded' },
  ])
  expect(JSON.stringify(world.models.requests[0]!.body.messages)).toContain('pay answered 503')
  expect(await world.setup(project.id)).toMatchObject({ practice_run: { run_id: started.run_id } })
  expect((await world.engine.projectToday(project.id)).found).toBe(0)
  // No cooldown began: a real event wakes the agent at once.
  const { ingest_key } = (await world.engine.getSource('gateway'))!
  await world.engine.ingest({
    ingestKey: ingest_key!,
    body: Buffer.from(JSON.stringify({ service: 'pay', status: 500 })),
    bypassCooldown: false,
    caller: 'open',
  })
  expect((await world.firings()).map(({ practice }) => practice)).toEqual([true, false])
})

it('knows its parts by the names they have now: the example that is sent, and who practises', async () => {
  const world = await open()
  const one = proposal({
    agents: [...proposal().agents, { ...proposal().agents[1]!, key: 'a3', name: 'also', trigger: 'k1' }],
  })
  const { project } = await apply(world, one)
  const draft = await drafted(world, {
    ...proposal(),
    watches: [{ key: 'w1', existing: true, name: 'gateway', connector: 'webhook' }],
  })
  await world.engine.renamePart('source', 'gateway', 'front-door', BY)
  await world.engine.renamePart('trigger', 'gateway-errors', 'door-errors', BY)
  await world.engine.renamePart('agent', 'triage', 'zz-first', BY)
  const { connect, plan } = await world.setup(project.id)
  expect(connect!.sources).toMatchObject([{ name: 'front-door', sample: { msg: 'pay answered 503' } }])
  expect(plan!.wakes).toMatchObject([{ name: 'door-errors', sources: ['front-door'] }])
  expect((await world.setup(draft)).problems).toEqual([])
  await world.engine.sendTestEvent(project.id, 'front-door', BY.caller)
  const [event] = await world.engine.sourceEvents('front-door', 1)
  expect(event?.text).toBe('pay answered 503')
  world.models.reply('m1', [{ text: 'pay fails.' }])
  await world.engine.startPractice(project.id)
  expect((await world.settled()).map(({ agent }) => agent)).toEqual(['zz-first'])
  // Another project's parts of these names are others.
  const other = await apply(world)
  await world.engine.renamePart('agent', 'triage', 'their-own', BY)
  expect((await world.setup(project.id)).plan!.agents[0]!.name).toBe('zz-first')
  expect((await world.setup(other.project.id)).plan!.agents[0]!.name).toBe('their-own')
})

it('sets up for the person’s own agent: a key that is told once, a practice firing, its first finding', async () => {
  const world = await open({ env: { SVC_PORT: '9000' } })
  const { engine } = world
  const own = proposal({ who: 'own', own_agent: { name: 'my-agent' }, agents: [] })
  const { project, connect, change_set } = await apply(world, own, await drafted(world, own, { who: 'own' }))
  expect(connect.own_agent).toMatchObject({ name: 'my-agent', key: expect.stringMatching(/^svc_/) })
  // Without a public address, too: it would ask whatever it was logged in to.
  expect(connect.own_agent!.command).toMatch(
    /^SVC_AUTH_TOKEN=svc_\S+ SVCD_URL=http:\/\/127\.0\.0\.1:9000 svc mcp$/,
  )
  const [key] = await engine.listKeys()
  expect(key).toMatchObject({ name: 'my-agent', scopes: ['read', 'findings'], project: project.id })
  expect(await world.setup(project.id)).toMatchObject({
    connect: { own_agent: { key: null } },
    checks: { own_agent: { state: 'waiting' } },
  })
  await engine.sendTestEvent(project.id, 'gateway', BY.caller)
  await expect(engine.startPractice(project.id)).rejects.toMatchObject({
    message: expect.stringContaining('has not subscribed'),
  })
  const caller = { id: `key:${key!.id}`, name: 'my-agent' }
  await engine.subscribe({ project: project.id }, { url: null, audience: 'caller' }, caller)
  await engine.touchKeys([key!.id])
  const { dispatch_id, delivered } = await engine.startPractice(project.id)
  expect(delivered).toBe(1)
  expect(await world.firings()).toMatchObject([{ dispatch_id, practice: true, key: 'pay' }])
  const finding = { entity: 'pay', finding: 'It fails.' }
  const fetcher = { by: caller, own: true }
  const { run_id } = await engine.recordFinding(project.id, finding, 'my-agent', fetcher)
  await engine.recordFinding(project.id, finding, 'my-agent', fetcher)
  expect(await world.setup(project.id)).toMatchObject({
    practice_run: { dispatch_id, found: run_id },
    checks: { own_agent: { state: 'joined' } },
  })
  expect(
    (await engine.projectResults(project.id, { limit: 10 })).results.map(({ practice }) => practice),
  ).toEqual(expect.arrayContaining([true, false]))
  await engine.undoChangeSet(change_set, false, BY)
  expect((await engine.listKeys())[0]?.state).toBe('revoked')
})

it('takes another key of its name for the person’s own agent, once the first was revoked', async () => {
  const world = await open()
  const { engine } = world
  const own = proposal({ who: 'own', own_agent: { name: 'my-agent' }, agents: [] })
  const { project } = await apply(world, own, await drafted(world, own, { who: 'own' }))
  const state = async () => (await world.setup(project.id)).checks?.own_agent
  const [first] = await engine.listKeys()
  await engine.revokeKey(first!.id, BY.caller)
  expect(await state()).toEqual({
    state: 'waiting',
    detail: 'its key was revoked; make another named my-agent under Settings of the project',
  })
  const second = await engine.createProjectKey(project.id, { name: 'my-agent' }, BY)
  expect(await state()).toEqual({ state: 'waiting', detail: null })
  await engine.touchKeys([second.id])
  expect(await state()).toMatchObject({ state: 'joined' })
})

it('stores no test event when storage is full', async () => {
  const world = await openSetupWorld({ maxDbSize: 4_096 })
  onTestFinished(() => world.close())
  const { project } = await apply(world)
  await expect(world.engine.sendTestEvent(project.id, 'gateway', BY.caller)).rejects.toMatchObject({
    code: 'storage_full',
  })
})

it('goes through its steps, and says what is connected', async () => {
  const world = await open()
  const { project } = await apply(world)
  const { engine } = world
  expect((await world.setup(project.id)).checks?.sources).toMatchObject([
    { name: 'gateway', state: 'waiting' },
  ])
  await engine.sendTestEvent(project.id, 'gateway', BY.caller)
  const [source] = (await world.setup(project.id)).checks!.sources
  expect(source).toMatchObject({
    state: 'receiving',
    fields_seen: ['service', 'msg', 'status'],
  })
  for (const step of ['try', 'done'] as const)
    expect(await engine.saveSetup(project.id, { step }, BY)).toMatchObject({ step })
  await expect(engine.saveSetup(project.id, { plan: proposal() }, BY)).rejects.toMatchObject({
    code: 'wrong_state',
  })
  await engine.moveProject(project.id, 'pause', false, BY)
  expect(await world.setup(project.id)).toMatchObject({ step: 'done' })
})

it('a plan is checked of a draft alone: a project that is set up refuses it, as applying does', async () => {
  const world = await open()
  const { project } = await apply(world, { goal: GOAL, ...proposal() })
  await expect(
    world.engine.checkSetup({ plan: { goal: GOAL, ...proposal() }, project: project.id }),
  ).rejects.toMatchObject({ code: 'wrong_state', message: expect.stringContaining('is set up already') })
})

it('a plan that is applied is the plan that was checked', async () => {
  const world = await open()
  const { plan, changes } = await world.engine.checkSetup({ plan: { goal: GOAL, ...proposal() } })
  expect(changes?.changes.map(({ kind, name }) => `${kind} ${name}`)).toEqual(
    expect.arrayContaining([
      'source gateway',
      'trigger gateway-errors',
      'agent triage',
      'project Gateway watch',
    ]),
  )
  const applied: Plan = (await apply(world, plan)).plan
  expect(applied).toEqual(plan)
})
