/** Another name for a part: what is kept of it, and what refers to it, goes along (docs/decisions/0017). */
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../../engine/local.ts'

const BY = { caller: { id: 'key:1', name: 'maria' }, origin: 'api' as const }
const CATALOG = JSON.stringify({
  sources: [
    {
      name: 'orders',
      connector: 'webhook',
      config: { labels: [{ name: 'service', field: 'service', primary: true }] },
    },
  ],
  mcp_servers: [{ name: 'github', url: 'https://mcp.example/sse', auth_value: 'hunter2' }],
  skills: [{ name: 'roll-back', description: 'How to roll back.', body: 'Do it.' }],
  triggers: [
    {
      name: 'failed',
      sources: ['orders'],
      condition: { aggregate: 'count', predicate: '> 0', window: '5m' },
    },
  ],
  agents: [
    {
      name: 'first-look',
      prompt: 'Look.',
      trigger: 'failed',
      enabled: true,
      mcp_servers: ['github'],
      tools: [{ server: 'github', tool: 'get_issue' }],
      handoffs: [{ verdict: 'broken', agent: 'second-look' }],
    },
    { name: 'second-look', prompt: 'Look again.' },
  ],
  projects: [
    {
      template: 'custom',
      name: 'Shop',
      objects: [
        { kind: 'trigger', name: 'failed' },
        { kind: 'agent', name: 'first-look' },
        { kind: 'skill', name: 'roll-back' },
      ],
    },
  ],
})

async function open() {
  let now = 1_800_000_000_000
  const engine = createEngine({ dataFile: null, clock: { now: () => ++now } })
  await engine.importCatalog({ yaml: CATALOG }, BY)
  return engine
}
type World = Awaited<ReturnType<typeof open>>

const exported = async (engine: World) => JSON.parse(await engine.exportCatalog(undefined, 'json'))
const version = async (engine: World) => (await engine.listChangeSets({ limit: 1 })).version
describe('a part that gets another name', () => {
  it('is found by it where others refer to it', async () => {
    const engine = await open()
    await engine.renamePart('source', 'orders', 'shop-orders', BY)
    await engine.renamePart('trigger', 'failed', 'order-failed', BY)
    await engine.renamePart('agent', 'first-look', 'scout', BY)
    await engine.renamePart('agent', 'second-look', 'scout-2', BY)
    await engine.renamePart('mcp_server', 'github', 'forge', BY)
    await engine.renamePart('skill', 'roll-back', 'roll-forward', BY)
    const text = JSON.stringify(await exported(engine))
    for (const old of ['"orders"', '"failed"', '"first-look"', '"second-look"', '"github"', '"roll-back"'])
      expect(text).not.toContain(old)
    const { agents, triggers, wiring } = await exported(engine)
    expect(triggers[0]).toMatchObject({ name: 'order-failed', sources: ['shop-orders'] })
    expect(agents[0]).toMatchObject({ name: 'scout', mcp_servers: ['forge'], tools: [{ server: 'forge' }] })
    expect(JSON.stringify([agents, wiring])).toContain('order-failed')
    expect(JSON.stringify([agents, wiring])).toContain('scout-2')
  })

  it('is one change that says what it was called, and is undone by its number', async () => {
    const engine = await open()
    const before = await exported(engine)
    const { change_set: id } = await engine.renamePart('trigger', 'failed', 'order-failed', {
      ...BY,
      why: 'clearer',
    })
    const set = await engine.getChangeSet(id!)
    expect(set).toMatchObject({ why: 'clearer', summary: expect.stringContaining('renamed from failed') })
    expect(set.changes.find(({ kind }) => kind === 'trigger')).toMatchObject({
      action: 'update',
      name: 'order-failed',
      renamed_from: 'failed',
      fields: [],
    })
    const { plan } = await engine.undoChangeSet(id!, false, BY)
    expect(plan.changes.find(({ kind }) => kind === 'trigger')).toMatchObject({
      name: 'failed',
      renamed_from: 'order-failed',
    })
    expect(await exported(engine)).toEqual(before)
  })

  it('keeps its secrets, which are sealed for the name', async () => {
    const engine = await open()
    await engine.renamePart('mcp_server', 'github', 'forge', BY)
    expect(await engine.getMcpServer('forge')).toMatchObject({ auth_value_configured: true })
    const checked = await engine.checkCatalog({
      yaml: JSON.stringify({
        mcp_servers: [{ name: 'forge', url: 'https://mcp.example/sse', auth_value: 'hunter2' }],
      }),
    })
    expect(checked.plan!.changes.filter(({ action }) => action !== 'none')).toEqual([])
  })

  it('has its history of changes under the new name, whoever made another of the old one', async () => {
    const engine = await open()
    await engine.moveTrigger('failed', 'pause', BY)
    await engine.renamePart('trigger', 'failed', 'order-failed', BY)
    await engine.moveTrigger('order-failed', 'resume', BY)
    await engine.createTrigger(
      {
        name: 'failed',
        sources: ['orders'],
        condition: { aggregate: 'count', predicate: '> 9', window: '5m' },
      },
      BY,
    )
    const of = async (key: string) =>
      (await engine.listChangeSets({ limit: 50, kind: 'trigger', name: key })).change_sets.map(({ id }) => id)
    expect(await of('order-failed')).toEqual([4, 3, 2, 1])
    expect(await of('failed')).toEqual([5])
  })

  it('can be edited by who read it before, and what both changed is a conflict still', async () => {
    const engine = await open()
    const body = {
      sources: ['orders'],
      condition: { aggregate: 'count' as const, predicate: '> 0', window: '5m' },
    }
    const base = await version(engine)
    await engine.renamePart('trigger', 'failed', 'order-failed', BY)
    await engine.renamePart('source', 'orders', 'shop-orders', BY)
    await engine.updateTrigger(
      'order-failed',
      { ...body, sources: ['shop-orders'], name: 'order-failed', cooldown: '1h' },
      { ...BY, base },
    )
    expect(await engine.getTrigger('order-failed')).toMatchObject({
      cooldown: '1h',
      sources: ['shop-orders'],
    })
  })

  it('goes back by a rollback with its old name, and what was changed meanwhile', async () => {
    const engine = await open()
    const before = await exported(engine)
    const id = await version(engine)
    await engine.renamePart('trigger', 'failed', 'order-failed', BY)
    await engine.moveTrigger('order-failed', 'pause', BY)
    await engine.renamePart('trigger', 'order-failed', 'orders-failed', BY)
    await engine.renamePart('source', 'orders', 'shop-orders', BY)
    const { change_set: back } = await engine.rollBack(id, { dryRun: false }, BY)
    expect(await exported(engine)).toEqual(before)
    await engine.undoChangeSet(back!, false, BY)
    const { triggers } = await exported(engine)
    expect(triggers).toMatchObject([{ name: 'orders-failed', sources: ['shop-orders'], paused: true }])
  })

  it('comes back from a deletion by the name it had last', async () => {
    const engine = await open()
    await engine.renamePart('trigger', 'failed', 'order-failed', BY)
    const { change_set: id } = await engine.deleteTrigger('order-failed', BY)
    await engine.undoChangeSet(id, false, BY)
    expect((await engine.listTriggers()).map(({ name }) => name)).toEqual(['order-failed'])
  })

  it('is not undone while it has another name again', async () => {
    const engine = await open()
    const { change_set: id } = await engine.renamePart('trigger', 'failed', 'a', BY)
    await engine.renamePart('trigger', 'a', 'b', BY)
    await expect(engine.undoChangeSet(id!, false, BY)).rejects.toThrow(
      `trigger a was renamed to b since change-set ${id}; undo that first`,
    )
  })

  it('is undone once a later rename was, with all that names it', async () => {
    const engine = await open()
    const before = await exported(engine)
    const { change_set: first } = await engine.renamePart('trigger', 'failed', 'a', BY)
    const named = await exported(engine)
    const { change_set: back } = await engine.renamePart('trigger', 'a', 'failed', BY)
    await engine.undoChangeSet(back!, false, BY)
    expect(await exported(engine)).toEqual(named)
    await engine.undoChangeSet(first!, false, BY)
    expect(await exported(engine)).toEqual(before)
    const { change_set: source } = await engine.renamePart('source', 'orders', 'shop', BY)
    const { change_set: other } = await engine.renamePart('source', 'shop', 'carts', BY)
    await engine.undoChangeSet(other!, false, BY)
    await engine.undoChangeSet(source!, false, BY)
    expect(await exported(engine)).toEqual(before)
  })

  it('keeps its events, ingest key, firings, incidents, runs, subscriptions and what it wakes', async () => {
    const engine = await open()
    const to = { url: 'https://example.com/hook', audience: 'operator' as const }
    const { subscription_id: subscription } = await engine.subscribe({ trigger: 'failed' }, to, BY.caller)
    const { ingest_key: key } = (await engine.getSource('orders')) as { ingest_key?: string }
    const send = () =>
      engine.ingest({
        ingestKey: key!,
        body: Buffer.from(JSON.stringify({ service: 'cart' })),
        bypassCooldown: false,
        caller: 'open',
      })
    await send()
    await engine.renamePart('source', 'orders', 'shop-orders', BY)
    await engine.renamePart('trigger', 'failed', 'order-failed', BY)
    await engine.renamePart('agent', 'first-look', 'scout', BY)
    const { firings } = await engine.listFirings({ limit: 5 })
    expect(firings.map(({ trigger }) => trigger)).toEqual(['order-failed'])
    const { incidents } = await engine.listIncidents({ limit: 5, state: 'active' } as never, null)
    expect(incidents.map(({ trigger }) => trigger)).toEqual(['order-failed'])
    const { runs } = await engine.listRuns({ limit: 5, offset: 0 })
    expect(runs.map(({ agent, trigger }) => [agent, trigger])).toEqual([['scout', 'order-failed']])
    const { subscription_id: again } = await engine.subscribe({ trigger: 'order-failed' }, to, BY.caller)
    expect(again).toBe(subscription)
    expect(await engine.sourceEvents('shop-orders', 5)).toHaveLength(1)
    expect(await send()).toMatchObject({ ingested: 1 })
    expect(await engine.sourceEvents('shop-orders', 5)).toHaveLength(2)
  })

  it.each([
    ['trigger', 'nobody', 'x', 'no trigger is named nobody'],
    [
      'agent',
      'first-look',
      'second-look',
      'agent first-look cannot be called second-look: that name is taken',
    ],
    ['source', 'orders', 'no name', 'name of a source must be 1 to 64 letters'],
    ['skill', 'roll-back', 'Upper', 'name must be 1 to 64 characters of lowercase letters'],
  ] as const)('is refused: %s %s to %s', async (kind, from, to, message) => {
    const engine = await open()
    const before = await exported(engine)
    await expect(engine.renamePart(kind, from, to, BY)).rejects.toThrow(message)
    expect(await exported(engine)).toEqual(before)
  })
})
