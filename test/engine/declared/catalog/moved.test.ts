/** `moved` of a catalog: the part that is there gets the new name, once. */
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../../../engine/local.ts'

const BY = { caller: { id: 'key:1', name: 'maria' }, origin: 'catalog' as const }

const yaml = ({ trigger = 'failed', source = 'orders', moved = '' } = {}) => `# Of the shop.
sources:
  - name: ${source}
    connector: webhook
triggers:
  - name: ${trigger} # pages
    sources: [${source}]
    condition: { aggregate: count, predicate: "> 5", window: 5m }
agents:
  - name: first-look
    prompt: Look.
    trigger: ${trigger}
    enabled: true
${moved}`
const MOVED = 'moved:\n  - { trigger: failed, to: order-failed }\n  - { source: orders, to: shop-orders }\n'
const RENAMED = yaml({ trigger: 'order-failed', source: 'shop-orders', moved: MOVED })

async function open(text = yaml()) {
  let now = 1_800_000_000_000
  const engine = createEngine({ dataFile: null, clock: { now: () => ++now }, env: {} })
  await engine.importCatalog({ yaml: text, name: 'shop' }, BY)
  return engine
}
type World = Awaited<ReturnType<typeof open>>
const ingestKey = async (engine: World, source: string) => {
  const { ingest_url: url } = (await engine.getSource(source)) as { ingest_url?: string }
  return url
}

describe('what moved', () => {
  it('is planned and applied as another name, with its ingest key, and nothing is made or deleted', async () => {
    const engine = await open()
    const url = await ingestKey(engine, 'orders')
    const checked = await engine.checkCatalog({ yaml: RENAMED, name: 'shop', prune: true })
    expect(checked.problems).toEqual([])
    expect(checked.plan).toMatchObject({ creates: 0, deletes: 0 })
    const named = checked.plan!.changes.filter((change) => change.renamed_from !== undefined)
    expect(named.map(({ kind, name, renamed_from: from }) => [kind, from, name])).toEqual([
      ['source', 'orders', 'shop-orders'],
      ['trigger', 'failed', 'order-failed'],
    ])
    const done = await engine.importCatalog(
      { yaml: RENAMED, name: 'shop', prune: true, fingerprint: checked.fingerprint! },
      BY,
    )
    expect(done.plan).toEqual(checked.plan)
    expect(await ingestKey(engine, 'shop-orders')).toBe(url)
    expect((await engine.listTriggers()).map(({ name, sources }) => [name, sources])).toEqual([
      ['order-failed', ['shop-orders']],
    ])
    expect(await engine.getAgent('first-look')).toMatchObject({ trigger: 'order-failed', enabled: true })
  })

  it('that is a project is not told as given up by the catalog that owns it', async () => {
    const text = (name: string, moved = '') =>
      `catalog: shop\nprojects:\n  - { name: ${name}, template: custom, goal: Sell }\n${moved}`
    const engine = await open(text('Shop'))
    const renamed = text('Store', 'moved:\n  - { project: Shop, to: Store }\n')
    const { problems, plan } = await engine.checkCatalog({ yaml: renamed, name: 'shop' })
    expect([problems, plan?.updates, plan?.ownership]).toEqual([[], 1, undefined])
  })

  it('may have other labels, too', async () => {
    const engine = await open()
    const labelled = RENAMED.replace(
      'connector: webhook',
      'connector: webhook\n    config: { labels: [{ name: order, field: id, primary: true }] }',
    )
    await engine.importCatalog({ yaml: labelled, name: 'shop' }, BY)
    expect((await engine.getSource('shop-orders')).config.labels).toHaveLength(1)
  })

  it('says nothing where it was done before, and where the old part never was', async () => {
    const engine = await open()
    await engine.importCatalog({ yaml: RENAMED, name: 'shop' }, BY)
    expect(await engine.importCatalog({ yaml: RENAMED, name: 'shop' }, BY)).toMatchObject({
      change_set: null,
    })
    expect((await engine.catalogDrift()).drifted).toBe(false)
    const fresh = await open(RENAMED)
    expect((await fresh.listTriggers()).map(({ name }) => name)).toEqual(['order-failed'])
  })

  it('gets its name back where the commit that gave another is reverted, over several names, too', async () => {
    const engine = await open()
    const url = await ingestKey(engine, 'orders')
    await engine.importCatalog({ yaml: RENAMED, name: 'shop' }, BY)
    const again = RENAMED.replaceAll('order-failed', 'no-order').replace(
      'trigger: failed',
      'trigger: order-failed',
    )
    await engine.importCatalog({ yaml: again, name: 'shop' }, BY)
    const checked = await engine.checkCatalog({ yaml: yaml(), name: 'shop' })
    expect(checked.plan).toMatchObject({ creates: 0, deletes: 0 })
    const done = await engine.importCatalog(
      { yaml: yaml(), name: 'shop', fingerprint: checked.fingerprint! },
      BY,
    )
    expect(done.plan).toEqual(checked.plan)
    expect((await engine.listTriggers()).map(({ name, sources }) => [name, sources])).toEqual([
      ['failed', ['orders']],
    ])
    expect(await ingestKey(engine, 'orders')).toBe(url)
    expect((await engine.catalogDrift()).drifted).toBe(false)
  })

  it('gets its name back where it was given before the catalog came here, of a project, too', async () => {
    const projects = (name: string) => `projects:\n  - { template: custom, name: ${name} }\n`
    const engine = await open(`${RENAMED}  - { project: Shop, to: Store }\n${projects('Store')}`)
    const { plan } = await engine.checkCatalog({
      yaml: yaml() + projects('Shop'),
      name: 'shop',
      prune: true,
    })
    expect(plan).toMatchObject({ creates: 0, deletes: 0 })
    expect(plan!.changes.flatMap(({ renamed_from: from, name }) => (from ? [[from, name]] : []))).toEqual([
      ['shop-orders', 'orders'],
      ['order-failed', 'failed'],
    ])
  })

  it('is another part where the catalog still has the one with the new name, or never had it', async () => {
    const engine = await open()
    await engine.importCatalog({ yaml: RENAMED, name: 'shop' }, BY)
    const other = `triggers: [{ name: failed, sources: [shop-orders], condition: { event: any } }]\n`
    await engine.importCatalog({ yaml: other, name: 'other' }, BY)
    expect((await engine.listTriggers()).map(({ name }) => name)).toEqual(['failed', 'order-failed'])
  })

  it('keeps what was changed by hand in a merge', async () => {
    const engine = await open()
    const body = {
      name: 'failed',
      sources: ['orders'],
      condition: { aggregate: 'count' as const, predicate: '> 5', window: '5m' },
    }
    await engine.updateTrigger('failed', { ...body, cooldown: '1h' }, BY)
    const done = await engine.importCatalog({ yaml: RENAMED, name: 'shop', merge: true, prune: true }, BY)
    expect(done.kept).toMatchObject([{ name: 'order-failed', path: '/cooldown', theirs: '1h' }])
    expect(await engine.getTrigger('order-failed')).toMatchObject({
      cooldown: '1h',
      sources: ['shop-orders'],
    })
  })

  it('is left alone in the text by an export and by what is pulled', async () => {
    const engine = await open()
    await engine.importCatalog({ yaml: RENAMED, name: 'shop' }, BY)
    await engine.moveTrigger('order-failed', 'pause', BY)
    const paused = await engine.updateCatalogFile({ yaml: RENAMED, name: 'shop', merge: true })
    expect(paused).toContain(MOVED)
    expect(paused).toContain('paused: true')
    expect(await engine.exportCatalog()).toContain(MOVED)
  })

  it('takes a project, too, which stays the one it is', async () => {
    const project = (name: string) =>
      `${yaml()}projects:\n  - { template: custom, name: ${name}, objects: [{ kind: trigger, name: failed }] }\n`
    const engine = await open(project('Shop'))
    const { id } = (await engine.listProjects()).find(({ name }) => name === 'Shop')!
    await engine.importCatalog(
      { yaml: `${project('Store')}moved: [{ project: Shop, to: Store }]\n`, name: 'shop', prune: true },
      BY,
    )
    expect((await engine.getProject(id)).name).toBe('Store')
  })

  it.each([
    [
      'both are there',
      yaml({ trigger: 'new', moved: 'moved: [{ trigger: failed, to: new }]\n' }),
      'trigger failed cannot become new: both are there',
    ],
    [
      'the old one is still declared',
      yaml({ moved: 'moved: [{ trigger: failed, to: failed-2 }]\n' }),
      'trigger failed is still declared',
    ],
    [
      'the new one is not declared',
      yaml({ moved: 'moved: [{ trigger: older, to: nobody }]\n' }),
      'no trigger nobody is declared in the catalog',
    ],
    [
      'it goes on to another name',
      yaml({ moved: 'moved: [{ trigger: a, to: b }, { trigger: b, to: failed }]\n' }),
      'b is moved on to failed: say { trigger: a, to: failed } in one step',
    ],
    [
      'the kind is not known',
      yaml({ moved: 'moved: [{ view: a, to: failed }]\n' }),
      'view is not a known field',
    ],
    [
      'no kind is named',
      yaml({ moved: 'moved: [{ to: failed }]\n' }),
      'must have exactly one of source, mcp_server, skill, trigger, agent, entity, project',
    ],
    ['it is no list', yaml({ moved: 'moved: { trigger: a }\n' }), 'must be a list of entries'],
  ])('is a problem with its place where %s', async (_why, text, message) => {
    const engine = await open()
    if (text.includes('to: new'))
      await engine.createTrigger(
        {
          name: 'new',
          sources: ['orders'],
          condition: { aggregate: 'count', predicate: '> 1', window: '5m' },
        },
        BY,
      )
    const { problems, plan } = await engine.checkCatalog({ yaml: text, name: 'shop' })
    expect(plan).toBeNull()
    expect(problems).toMatchObject([{ line: 14, message: expect.stringContaining(message) }])
    await expect(engine.importCatalog({ yaml: text, name: 'shop' }, BY)).rejects.toMatchObject({
      code: 'invalid',
    })
  })
})

describe('what people moved in the instance', () => {
  const plan = async (engine: World, more: object = {}) => {
    const checked = await engine.checkCatalog({ yaml: yaml(), name: 'shop', ...more })
    return checked
      .plan!.changes.filter(({ action, kind }) => action !== 'none' && kind !== 'project')
      .map(({ action, name, renamed_from: from }) => [action, from ?? null, name])
  }

  it('gets the name of the file back, over several names, also with pruning; a merge leaves it', async () => {
    const engine = await open()
    await engine.renamePart('trigger', 'failed', 'lost', BY)
    await engine.renamePart('trigger', 'lost', 'gone', BY)
    const back = [['update', 'gone', 'failed']]
    expect(await plan(engine)).toEqual(back)
    expect(await plan(engine, { prune: true })).toEqual(back)
    expect(await plan(engine, { merge: true, prune: true })).toEqual([])
    expect((await engine.catalogDrift()).unmanaged).toEqual([])
  })

  it.each([{}, { merge: true }, { prune: true }, { merge: true, prune: true }])(
    'gets the name that the file gives it meanwhile, and stays the one it is: %o',
    async (how) => {
      const engine = await open()
      const url = await ingestKey(engine, 'orders')
      await engine.renamePart('source', 'orders', 'wares', BY)
      await engine.renamePart('trigger', 'failed', 'gone', BY)
      expect(await plan(engine, { ...how, yaml: RENAMED })).toEqual([
        ['update', 'wares', 'shop-orders'],
        ['update', 'gone', 'order-failed'],
      ])
      expect(await engine.updateCatalogFile({ yaml: RENAMED, name: 'shop', merge: true })).toBe(RENAMED)
      const done = await engine.importCatalog({ ...how, yaml: RENAMED, name: 'shop' }, BY)
      expect(done.kept ?? []).toEqual([])
      expect((await engine.listTriggers()).map(({ name, sources }) => [name, sources])).toEqual([
        ['order-failed', ['shop-orders']],
      ])
      expect(await ingestKey(engine, 'shop-orders')).toBe(url)
      expect(await engine.getAgent('first-look')).toMatchObject({ trigger: 'order-failed', enabled: true })
      expect((await engine.catalogDrift()).drifted).toBe(false)
    },
  )

  it('is another part where it was deleted since, where the file has both names, and where nothing was applied', async () => {
    const engine = await open()
    await engine.renamePart('trigger', 'failed', 'gone', BY)
    expect(await plan(engine, { name: 'other' })).toContainEqual(['create', null, 'failed'])
    const both = `${yaml()}`.replace(
      'agents:',
      '  - { name: gone, sources: [orders], condition: { event: any } }\nagents:',
    )
    expect(await plan(engine, { yaml: both })).toContainEqual(['create', null, 'failed'])
    await engine.deleteTrigger('gone', BY)
    expect(await plan(engine)).toContainEqual(['create', null, 'failed'])
  })
})
