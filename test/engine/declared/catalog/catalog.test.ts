import { describe, expect, it } from 'vitest'
import { createEngine } from '../../../../engine/local.ts'

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
