import { describe, expect, it } from 'vitest'
import { createEngine, environmentElsewhere } from '../../../../engine/local.ts'

const BY = { caller: { id: 'key:1', name: 'maria' }, origin: 'catalog' as const }
const open = (env: Record<string, string> = {}) =>
  createEngine({ dataFile: null, clock: { now: () => 1_800_000_000_000 }, env })

/** Every section, in the canonical form. */
const canonical = `sources:
  - name: docs
    connector: reference
    config:
      attachments:
        - name: runbook
          format: md
          content: Look twice.
  - name: gateway
    connector: webhook
    config:
      event_type: request
      signature_scheme: github
      signature_secret: \${SVC_SECRET_GATEWAY}
      labels:
        - { name: service, field: service, primary: true }
        - { name: status, field: status, type: number }
triggers:
  - name: gateway-errors
    project: Storefront
    sources: [ gateway ]
    filters:
      - { field: status, op: gte, value: 500 }
    key_field: service
    condition: { aggregate: count, predicate: "> 5", window: 5m }
    emit: { kind: error_burst, context_window: 30m }
    cooldown: 10m
    description: the gateway answers with server errors
  - name: nightly
    sources: [ docs ]
    condition: { every: 24h }
    paused: true
agents:
  - name: digger
    project: Storefront
    prompt: Find the cause.
  - name: first-look
    project: Storefront
    trigger: gateway-errors
    prompt: |-
      Say what broke.
      Then conclude.
    mcp_servers: [ github ]
    concludes: true
    verdicts:
      - { verdict: investigate, when: a deploy looks guilty }
    handoffs:
      - { verdict: investigate, agent: digger }
    enabled: true
mcp_servers:
  - name: github
    url: https://mcp.example/
    auth_value: credential:github/main
projects:
  - template: default
    goal: What is not elsewhere
  - template: custom
    name: Reports
    objects:
      - { kind: agent, name: digger, shared: true }
    paused: true
  - template: custom
    name: Storefront
    goal: Catch bad deploys
    objects:
      - { kind: source, name: gateway }
  - template: webhook_watch
    name: Watch checkout
    params:
      service: checkout
skills:
  - project: Storefront
    name: roll-back
    description: How to roll back a deploy.
    body: |-
      # Roll back

      Look twice.
    used_by: [ Reports ]
wiring:
  - { project: Reports, wake: gateway-errors, agent: first-look }
`

describe('a catalog file', () => {
  it('imports with every section, and imports again as no change', async () => {
    const engine = open()
    const { plan, change_set, names } = await engine.importCatalog({ yaml: canonical }, BY)
    expect(plan.creates).toBeGreaterThan(15)
    expect(names.projects).toEqual(['', 'Reports', 'Storefront', 'Watch checkout'])
    const again = await engine.importCatalog({ yaml: canonical }, BY)
    expect(again.plan.changes.filter(({ action }) => action !== 'none')).toEqual([])
    expect([change_set, again.change_set]).toEqual([1, null])
  })

  it('exports what it says: into another instance it gives the same export, and no change', async () => {
    const [first, second] = [open(), open()]
    await first.importCatalog({ yaml: canonical }, BY)
    const exported = await first.exportCatalog()
    expect(exported).toBe(canonical)
    await second.importCatalog({ yaml: exported }, BY)
    expect(await second.exportCatalog()).toBe(exported)
    expect(await second.exportCatalog(['gateway'])).toBe(await first.exportCatalog(['gateway']))
  })

  it('puts a skill of no project into Default, beside those that use it, and the export comes back so', async () => {
    const [first, second] = [open(), open()]
    const projects = 'projects:\n  - { template: custom, name: Shop }\n'
    const skill = 'skills:\n  - name: look\n    description: d\n    body: b\n    used_by: [Shop]\n'
    const users = async (engine: typeof first) =>
      (await engine.listSkills())[0]!.used_by.map(({ name }) => name)
    await first.importCatalog({ yaml: projects + skill }, BY)
    expect((await users(first)).toSorted()).toEqual(['Default', 'Shop'])
    await second.importCatalog({ yaml: await first.exportCatalog() }, BY)
    expect((await users(second)).toSorted()).toEqual(['Default', 'Shop'])
    // Where it is used already it stays as it is.
    await first.removeSkill('Default', 'look', BY)
    expect((await first.importCatalog({ yaml: projects + skill }, BY)).change_set).toBeNull()
    expect(await users(first)).toEqual(['Shop'])
  })

  it('keeps comments through an edit made elsewhere, which changes one line', async () => {
    const engine = open()
    const commented = canonical.replace('    cooldown: 10m\n', '    cooldown: 10m   # long enough\n')
    await engine.importCatalog({ yaml: `# ours\n${commented}` }, BY)
    await engine.applyChangeSet(
      { operations: [{ op: 'patch', kind: 'trigger', name: 'gateway-errors', spec: { cooldown: '1h' } }] },
      BY,
    )
    expect(await engine.exportCatalog()).toBe(`# ours\n${commented}`.replace('cooldown: 10m', 'cooldown: 1h'))
    const drift = await engine.catalogDrift()
    expect(drift.plan?.changes.map(({ name, fields }) => [name, fields])).toEqual([
      ['gateway-errors', [{ path: '/cooldown', from: '1h', to: '10m' }]],
    ])
  })

  it('tells every problem at its place, and writes nothing', async () => {
    const engine = open()
    const yaml = `sources:
  - name: a
    connector: pigeon
triggers:
  - name: t
    sources: [nowhere]
    condition: { aggregate: sum, predicate: "> 5", window: 5m }
agents:
  - name: x
    prompt: p
    trigger: gone
wiring:
  - { project: Nope, wake: t, agent: x }
`
    const { problems, plan } = await engine.checkCatalog({ yaml })
    expect(problems.map((p) => `${p.line} ${p.path}: ${p.message}`)).toEqual([
      expect.stringContaining('3 sources[0]: connector pigeon is not known; there are webhook, '),
      '6 triggers[0]: no source is named nowhere',
      '7 triggers[0]: condition.field is required: sum aggregates a field',
      '11 agents[0].trigger: no trigger is named gone',
      '13 wiring[0]: no project is named Nope, here or in the file',
    ])
    expect(plan).toBeNull()
    await expect(engine.importCatalog({ yaml }, BY)).rejects.toMatchObject({
      code: 'invalid',
      extra: { problems: expect.arrayContaining([expect.objectContaining({ line: 3 })]) },
    })
    expect((await engine.listChangeSets({ limit: 1 })).version).toBe(0)
  })

  it('tells what else is wrong beside entries that break a rule, and calls none of these absent', async () => {
    const engine = open()
    const yaml = `sources:
  - { name: a, connector: webhook, bad: 1 }
  - { name: b, connector: webhook, config: { labels: [{ name: l, field: x, const: y }] } }
  - { name: c, connector: webhook, projects: [Shop, Nope] }
triggers:
  - { name: t, sources: [a], condition: { aggregate: count, predicate: "> 5", window: 5q } }
  - { name: u, sources: [b, c, gone], condition: { every: 5m } }
agents:
  - { name: x, prompt: p, trigger: t, mcp_servers: [one, two] }
  - { name: y, prompt: p, trigger: gone, handoffs: [{ verdict: bad, agent: x }, { verdict: bad, agent: nobody }] }
projects:
  - { name: Shop, template: custom, params: 5, objects: [] }
  - name: Post
    template: custom
    objects:
      - { kind: trigger, name: t }
      - { kind: agent, name: one }
      - { kind: agent, name: two }
wiring:
  - { project: Shop, wake: t, agent: x }
  - { project: Post, agent: tt, verdict: bad, to: stranger }
`
    const told = async (yaml: string, strict = false) =>
      (await engine.checkCatalog({ yaml, strict })).problems.map((p) => `${p.line} ${p.path}: ${p.message}`)
    expect(await told(yaml)).toEqual([
      expect.stringContaining('2 sources[0].bad: bad is not a known field'),
      '3 sources[1].config.labels[0]: labels[0]: const and field exclude each other; give one of the two',
      '4 sources[2].projects[1]: no project is named Nope, here or in the file',
      expect.stringContaining('6 triggers[0].condition.window: window must be a number and one of'),
      '7 triggers[1]: no source is named gone',
      '9 agents[0]: no MCP server is named one',
      '9 agents[0]: no MCP server is named two',
      '10 agents[1].trigger: no trigger is named gone',
      '10 agents[1].handoffs: no agent is named nobody',
      expect.stringContaining('12 projects[0].params: params must be an object'),
      '17 projects[1]: no agent is named one',
      '18 projects[1]: no agent is named two',
      '21 wiring[1]: no agent is named tt',
      '21 wiring[1]: no agent is named stranger',
    ])
    const secret = yaml.replace(
      'name: c, connector: webhook,',
      'name: c, connector: webhook, config: { signature_secret: x, signature_scheme: github },',
    )
    expect(await told(secret)).toHaveLength(14)
    expect(await told(secret, true)).toContainEqual(
      expect.stringContaining(
        '4 sources[2].config.signature_secret: signature_secret is a secret in plain text',
      ),
    )
    // A name that a list of sections does not have hides what is in it: what is missing then is a guess.
    expect(await told(yaml.replace('sources:', 'souces:'))).not.toContainEqual(
      expect.stringContaining('no source is named'),
    )
  })

  it('tells all that is wrong with an entry whose name is the name of another, or is none', async () => {
    const yaml = `sources:
  - { name: a, connector: webhook }
  - { name: a, connector: webhok }
  - { name: 7, connector: webhook, config: { kind: x } }
triggers:
  - { name: t, sources: [a], condition: { event: any } }
  - { name: t, sources: [b], condition: { event: any } }
  - { name: t, sources: [a], condition: { event: any } }
agents:
  - { name: first, prompt: p, trigger: t }
  - { name: first, prompt: p, trigger: u, handoffs: [{ verdict: dig, agent: first }] }
entities:
  - { name: shop, is: [service=shop, host=h] }
  - { name: shop, is: [service=shop, host=h] }
`
    const { problems } = await open().checkCatalog({ yaml })
    expect(problems.map((p) => `${p.line} ${p.path}: ${p.message}`)).toEqual([
      '3 sources[1].name: a is already defined at line 2',
      expect.stringMatching(/^3 sources\[1\]: connector webhok is not known/),
      '4 sources[2].name: name must be text; put it in quotes',
      expect.stringMatching(/^4 sources\[2\]\.config\.kind: kind is not a known field/),
      '7 triggers[1].name: t is already defined at line 6',
      '7 triggers[1]: no source is named b (did you mean a?)',
      '8 triggers[2].name: t is already defined at line 6',
      '11 agents[1].name: first is already defined at line 10',
      '11 agents[1].trigger: no trigger is named u (did you mean t?)',
      '14 entities[1].name: shop is already defined at line 13',
    ])
  })

  it('says of a mistyped name which one is close, at the field it is in', async () => {
    const yaml = `sources:
  - name: gateway
    connector: webhok
  - name: edge
    connector: webhook
    config:
      event_type_feild: level
      labels: [{ name: service, feild: service }, 5]
      signature_scheme: githb
  - name: known
    connector: webhook
    config: { preset: grafanna }
triggers:
  - name: errors
    sources: [gatway]
    condition: { event: any }
agents:
  - { name: digger, prompt: p, trigger: erors, mcp_servers: [] }
  - name: first
    prompt: p
    handoffs: [{ verdict: deep, agent: digger }, { verdict: other, agent: diger }]
projects:
  - { name: Shop, template: custom, objects: [{ kind: source, name: edgee }] }
skills:
  - { name: s, description: d, body: b, project: Shp }
`
    const { problems } = await open().checkCatalog({ yaml })
    expect(problems.map((p) => `${p.line}:${p.column} ${p.path}: ${p.message}`)).toEqual([
      expect.stringMatching(
        /^3:16 sources\[0\]: connector webhok is not known \(did you mean webhook\?\); there are /,
      ),
      '8:16 sources[1].config.labels[0]: field is required',
      '8:40 sources[1].config.labels[0].feild: feild is not a known field (did you mean field?)',
      '8:51 sources[1].config.labels[1]: labels[1] must be an object',
      '7:25 sources[1].config.event_type_feild: event_type_feild is not a known field (did you mean event_type_field?)',
      expect.stringMatching(/^9:25 sources\[1\]\.config\.signature_scheme: .* \(did you mean github\?\)$/),
      expect.stringMatching(
        /^12:13 sources\[2\]: preset grafanna is not known \(did you mean grafana\?\); there are /,
      ),
      '15:15 triggers[0]: no source is named gatway (did you mean gateway?)',
      '23:69 projects[0]: no source is named edgee (did you mean edge?)',
      '25:50 skills[0].project: no project is named Shp, here or in the file (did you mean Shop?)',
      '18:41 agents[0].trigger: no trigger is named erors (did you mean errors?)',
      '21:75 agents[1].handoffs: no agent is named diger (did you mean digger?)',
    ])
  })

  it('deletes what it lacks only when asked, and the plan shows it', async () => {
    const engine = open()
    await engine.importCatalog({ yaml: canonical }, BY)
    const smaller =
      'sources:\n  - name: docs\n    connector: memory2\n'.replace('memory2', 'reference') +
      '    config:\n      attachments:\n        - { name: runbook, format: md, content: Look twice. }\n'
    const kept = await engine.importCatalog({ yaml: smaller, dry_run: true }, BY)
    expect([kept.plan.deletes, kept.plan.updates]).toEqual([0, 0])
    const pruned = await engine.importCatalog(
      { yaml: smaller, prune: true, max_deletions: 99, dry_run: true },
      BY,
    )
    expect(pruned.plan.changes.filter(({ action }) => action === 'delete').map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'gateway',
        'gateway-errors',
        'first-look',
        'github',
        'Storefront',
        'roll-back',
      ]),
    )
    await engine.importCatalog({ yaml: smaller, prune: true, max_deletions: 99 }, BY)
    expect((await engine.listTriggers()).length + (await engine.listAgents()).agents.length).toBe(0)
    expect((await engine.listSources()).map(({ name }) => name)).toEqual(['docs'])
  })

  it('holds no secret, and a blank or absent one keeps what is stored', async () => {
    const engine = open()
    const secret = 'CANARY-5417'
    const file = (value: string) =>
      `mcp_servers:\n  - name: m\n    url: https://x.example/\n    auth_value: ${value}\nsources:\n  - name: s\n    connector: webhook\n    config:\n      signature_scheme: github\n      signature_secret: ${value}\n`
    await engine.importCatalog({ yaml: file(secret) }, BY)
    expect(await engine.exportCatalog()).not.toContain(secret)
    expect(JSON.stringify(await engine.listChangeSets({ limit: 9 }))).not.toContain(secret)
    const blank = await engine.importCatalog({ yaml: file('""') }, BY)
    expect(blank.change_set).toBeNull()
    expect((await engine.getMcpServer('m')).auth_value_configured).toBe(true)
  })

  it('speaks of a paused project as it runs, and leaves it paused', async () => {
    const engine = open()
    await engine.importCatalog({ yaml: canonical }, BY)
    await engine.moveProject('Storefront', 'pause', true, BY)
    const exported = await engine.exportCatalog()
    expect(exported).toContain('    enabled: true')
    const again = await engine.importCatalog({ yaml: exported }, BY)
    expect(again.plan.changes.filter(({ action }) => action !== 'none')).toEqual([])
    await engine.moveProject('Storefront', 'resume', false, BY)
    expect(await engine.exportCatalog()).toBe(canonical)
  })

  it('resolves a reference to the environment, and says which is missing', async () => {
    const missing = open()
    await missing.importCatalog({ yaml: canonical }, BY)
    expect((await missing.getSource('gateway')).health).toMatchObject({
      status: 'error',
      reason: expect.stringContaining('SVC_SECRET_GATEWAY'),
    })
    const set = open({ SVC_SECRET_GATEWAY: 's3cret' })
    await set.importCatalog({ yaml: canonical }, BY)
    expect((await set.getSource('gateway')).health.status).toBe('push')
  })
})

describe('a secret that is required', () => {
  const CANARY = 'CANARY-9931'
  const rows = (name: string, more: object = {}) => ({
    name,
    connector: 'postgres',
    config: { table: 'orders', cursor_column: 'updated_at', ...more },
  })
  const app = { name: 'code', connector: 'github_app' }
  const desk = {
    template: 'rca_partner',
    name: 'Desk',
    params: { mcp_url: 'https://tools.example/mcp', callback_url: 'https://desk.example/found' },
  }
  const declaring = async () => {
    const engine = open()
    const first = {
      sources: [
        rows('orders', { dsn: `postgresql://reader:${CANARY}@db/shop` }),
        { ...app, config: { signature_secret: CANARY } },
      ],
      projects: [{ ...desk, params: { ...desk.params, mcp_token: CANARY, callback_token: CANARY } }],
    }
    await engine.importCatalog({ yaml: JSON.stringify(first), name: 'shop' }, BY)
    return engine
  }
  type Asked = Parameters<ReturnType<typeof open>['checkCatalog']>[0]
  const changesBy = async (engine: ReturnType<typeof open>, body: Asked) => {
    const { problems, plan } = await engine.checkCatalog(body)
    expect(problems).toEqual([])
    return plan!.changes.filter(({ action }) => action !== 'none').map(({ action, name }) => [action, name])
  }

  it('may be left out where it is stored: an export is no change where it comes from', async () => {
    const engine = await declaring()
    const yaml = await engine.exportCatalog()
    expect(yaml).not.toContain(CANARY)
    expect(yaml).not.toContain('dsn')
    for (const how of [
      {},
      { prune: true },
      { merge: true, name: 'shop' },
      { merge: true, ours: 'file' as const },
    ])
      expect(await changesBy(engine, { yaml, ...how })).toEqual([])
    expect((await engine.importCatalog({ yaml, name: 'shop' }, BY)).change_set).toBeNull()
    expect((await engine.catalogDrift()).drifted).toBe(false)
    for (const blank of ['', null]) {
      const sources = [rows('orders', { dsn: blank }), { ...app, config: { signature_secret: blank } }]
      expect(await changesBy(engine, { yaml: JSON.stringify({ sources }) })).toEqual([])
    }
    const others = [{ name: 'b', yaml: JSON.stringify({ sources: [app], projects: [desk] }) }]
    const two = { yaml: JSON.stringify({ sources: [rows('orders')] }), name: 'a', others }
    expect(await changesBy(await declaring(), two)).toEqual([])
  })

  it('goes along with a source that gets another name', async () => {
    const engine = await declaring()
    const renamed = { sources: [rows('sales'), app], moved: [{ source: 'orders', to: 'sales' }] }
    const yaml = JSON.stringify(renamed)
    expect((await changesBy(engine, { yaml, name: 'shop' }))[0]).toEqual(['update', 'sales'])
    await engine.importCatalog({ yaml, name: 'shop' }, BY)
    expect((await engine.getSource('sales')).config).toMatchObject({ dsn: '\u2022'.repeat(8) })
  })

  it('is asked for, at its source, where nothing of that name has it', async () => {
    const yaml = `sources:\n  - name: orders\n    connector: postgres\n    config: { table: orders, cursor_column: id }\n`
    for (const engine of [open(), await declaring()])
      expect(await engine.checkCatalog({ yaml: yaml.replace('name: orders', 'name: fresh') })).toMatchObject({
        problems: [{ line: 4, path: 'sources[0].config', message: 'dsn is required' }],
      })
    const other = yaml.replace('name: orders', 'name: code')
    expect((await (await declaring()).checkCatalog({ yaml: other })).problems).toMatchObject([{ line: 4 }])
    const project = { projects: [{ ...desk, name: 'Other' }] }
    const { problems } = await (await declaring()).checkCatalog({ yaml: JSON.stringify(project) })
    expect(problems).toMatchObject([{ message: 'params.mcp_token is required' }])
  })

  it('is not asked for where no instance says what is stored, and what stands for it is kept nowhere', async () => {
    const elsewhere = () => open(environmentElsewhere({}) as Record<string, string>)
    const yaml = JSON.stringify({ sources: [rows('orders'), app], projects: [desk] })
    const engine = elsewhere()
    const checked = await engine.checkCatalog({ yaml, strict: true })
    expect(checked).toMatchObject({ problems: [], warnings: [] })
    expect(JSON.stringify(checked.plan)).not.toMatch(/dsn|signature_secret|SVC_SECRET/)
    await engine.importCatalog({ yaml }, BY)
    expect((await engine.getSource('orders')).config).not.toHaveProperty('dsn')
    expect(await changesBy(engine, { yaml })).toEqual([])
    expect(await changesBy(engine, { yaml: yaml.replace('updated_at', 'id') })).toEqual([
      ['update', 'orders'],
    ])
    const faulty = JSON.stringify({ sources: [rows('orders', { table: '' })] })
    expect((await elsewhere().checkCatalog({ yaml: faulty })).problems).toMatchObject([
      { message: 'table is required' },
    ])
  })
})
