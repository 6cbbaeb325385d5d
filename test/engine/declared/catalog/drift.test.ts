import { describe, expect, it } from 'vitest'
import { createEngine } from '../../../../engine/local.ts'

const BY = { caller: { id: 'key:1', name: 'maria' }, origin: 'catalog' as const }
const open = () => createEngine({ dataFile: null, clock: { now: () => 1_800_000_000_000 }, env: {} })
const file = (name: string, source: string) =>
  `catalog: ${name} # carried\nsources:\n  - { name: ${source}, connector: webhook }\n`

describe('drift', () => {
  it('is told of each file by itself: importing another, or planning, says nothing of it', async () => {
    const engine = open()
    await engine.importCatalog({ yaml: file('shop', 'orders') }, BY)
    await engine.importCatalog(
      { yaml: 'sources:\n  - { name: logs, connector: webhook }\n', name: 'ops' },
      BY,
    )
    await engine.moveSource('orders', 'pause', BY)
    const dry = 'sources:\n  - { name: logs, connector: webhook, paused: true }\n'
    await engine.importCatalog({ yaml: dry, name: 'ops', dry_run: true }, BY)
    const { files, drifted } = await engine.catalogDrift()
    expect(drifted).toBe(true)
    expect(files.map(({ name, plan }) => [name, plan!.changes.map(({ fields }) => fields)])).toEqual([
      ['ops', []],
      ['shop', [[{ path: '/paused', from: true }]]],
    ])
  })

  it('lists what is in no file: parts and projects made by hand, not what a template plans', async () => {
    const engine = open()
    expect(await engine.catalogDrift()).toMatchObject({ drifted: false, files: [], unmanaged: [] })
    const watch = 'projects:\n  - { template: webhook_watch, name: Watch, params: { service: checkout } }\n'
    await engine.importCatalog({ yaml: `${file('shop', 'orders')}${watch}` }, BY)
    expect(await engine.catalogDrift()).toMatchObject({ drifted: false, unmanaged: [] })
    await engine.createSource({ name: 'by-hand', connector: 'webhook' }, BY, false)
    await engine.createProject({ template: 'custom', name: 'Own' }, BY)
    await engine.createAgent({ name: 'helper', prompt: 'Help.', project: 'Own' }, BY)
    expect(await engine.catalogDrift()).toMatchObject({
      drifted: true,
      unmanaged: [
        { kind: 'source', name: 'by-hand' },
        { kind: 'agent', name: 'helper' },
        { kind: 'project', name: 'Own' },
      ],
    })
  })

  it('holds no secret, and does not take one that stays for a change', async () => {
    const engine = open()
    const yaml = 'mcp_servers:\n  - { name: m, url: "https://m.example/", auth_value: CANARY-7781 }\n'
    await engine.importCatalog({ yaml }, BY)
    const drift = await engine.catalogDrift()
    expect(drift).toMatchObject({ drifted: false, files: [{ plan: { changes: [] } }] })
    expect(JSON.stringify(drift)).not.toContain('CANARY')
    expect(await engine.exportCatalog()).not.toContain('CANARY')
  })

  it('ends when a file is forgotten, which leaves what it declared', async () => {
    const engine = open()
    await engine.importCatalog({ yaml: file('shop', 'orders') }, BY)
    await engine.forgetCatalogFile('shop')
    expect(await engine.catalogDrift()).toMatchObject({ drifted: false, files: [] })
    expect((await engine.listSources()).length).toBe(1)
    await expect(engine.forgetCatalogFile('shop')).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('the name of a file', () => {
  it.each([
    ['the one it carries', { yaml: file('shop', 'a'), file: 'x.yaml' }, 'shop'],
    ['the one it is given', { yaml: 'sources: []\n', name: 'ops', file: 'x.yaml' }, 'ops'],
    ['that of the file', { yaml: 'sources: []\n', file: '/etc/svc/my shop.yaml' }, 'my-shop'],
    ['catalog, where nothing names it', { yaml: 'sources: []\n' }, 'catalog'],
  ])('is %s', async (_case, body, name) => {
    expect((await open().importCatalog(body, BY)).name).toBe(name)
  })

  it('is refused where the file carries another, or one that is none', async () => {
    const engine = open()
    await expect(engine.importCatalog({ yaml: file('shop', 'a'), name: 'ops' }, BY)).rejects.toThrow(
      'name must be shop, which the file carries',
    )
    const { problems } = await engine.checkCatalog({ yaml: 'catalog: [a]\nsources: []\n' })
    expect(problems).toMatchObject([{ line: 1, path: 'catalog' }])
  })

  it('stays in the file through an update of it', async () => {
    const engine = open()
    await engine.importCatalog({ yaml: file('shop', 'orders') }, BY)
    await engine.moveSource('orders', 'pause', BY)
    expect(await engine.updateCatalogFile(file('shop', 'orders'))).toBe(
      file('shop', 'orders').replace('webhook }', 'webhook, paused: true }'),
    )
    await engine.deleteSource('orders', { cascade: false, purgeEvents: false }, BY)
    expect(await engine.updateCatalogFile(file('shop', 'orders'))).toContain('catalog: shop # carried')
  })
})

describe('what an import leaves alone', () => {
  it('a dry run does not replace the file that is remembered', async () => {
    const engine = open()
    const kept = '# ours\nsources:\n  - { name: a, connector: webhook }\n'
    await engine.importCatalog({ yaml: kept }, BY)
    await engine.importCatalog(
      { yaml: '# theirs\nsources:\n  - { name: b, connector: webhook }\n', dry_run: true },
      BY,
    )
    expect(await engine.exportCatalog()).toBe(kept)
  })

  it('pruning does not delete drafts of guided setup', async () => {
    const engine = open()
    await engine.importCatalog({ yaml: file('shop', 'orders') }, BY)
    const { project } = await engine.startDraft({ goal: 'Watch the shop', name: 'Draft', plan: {} }, BY)
    const { plan } = await engine.importCatalog(
      { yaml: 'sources:\n  - { name: other, connector: webhook }\n', prune: true },
      BY,
    )
    expect(plan.changes.filter(({ action }) => action === 'delete').map(({ name }) => name)).toEqual([
      'orders',
    ])
    expect((await engine.getProject(project.id)).status).toBe('draft')
  })

  it('is not that a part is of the project that its file gave it, though another still has it', async () => {
    const engine = createEngine({ dataFile: null, clock: { now: () => 1_800_000_000_000 }, env: {} })
    const of = (project: string, other: string) => `catalog: shop
projects:
  - { name: Old, template: custom, goal: Sell }
  - { name: New, template: custom, goal: Sell }
sources:
  - { name: orders, connector: webhook }
triggers:
  - { name: failed, project: ${project}, sources: [orders], condition: { event: any } }
agents:
  - { name: look, project: ${project}, trigger: failed, prompt: Look., enabled: true }
mcp_servers:
  - { name: desk, project: ${project}, url: "https://desk.example/mcp" }
skills:
  - { name: roll-back, project: ${project}, used_by: [${other}], description: How., body: Press. }
`
    await engine.importCatalog({ yaml: of('Old', 'New'), name: 'shop' }, BY)
    const yaml = of('New', 'Old')
    await engine.importCatalog({ yaml, name: 'shop' }, BY)
    const updated = await engine.updateCatalogFile({ yaml, name: 'shop' })
    // All that was said stays; what the other project still has is said beside it.
    expect(updated).toContain(yaml.slice(yaml.indexOf('sources:')))
    expect(updated.replace(yaml.slice(yaml.indexOf('sources:')), '')).toBe(`catalog: shop
projects:
  - { name: Old, template: custom, objects: [{ kind: mcp_server, name: desk, shared: true }], goal: Sell }
  - { name: New, template: custom, goal: Sell }
wiring:
  - { project: Old, wake: failed, agent: look }
`)
    await engine.importCatalog({ yaml, name: 'shop', prune: true }, BY)
    expect(await engine.updateCatalogFile({ yaml, name: 'shop' })).toBe(yaml)
  })
})
