/** Triggers that go by joined entities, and those that do not (docs/entities.md). */
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../../engine/local.ts'

const BY = { caller: { id: 'key:1', name: 'maria' }, origin: 'api' as const }
const label = (name: string) => ({ name, field: name })
const CATALOG = {
  sources: [
    {
      name: 'logs',
      connector: 'webhook',
      config: { labels: [{ ...label('service'), primary: true }, label('region')] },
    },
    {
      name: 'alerts',
      connector: 'webhook',
      config: { labels: [{ ...label('host'), primary: true }, label('region')] },
    },
  ],
  triggers: [
    {
      name: 'trouble',
      sources: ['logs', 'alerts'],
      joined: true,
      cooldown: '0.001s',
      key_field: 'service',
      condition: { aggregate: 'count', predicate: '>= 2', window: '10m' },
    },
    {
      name: 'plain',
      sources: ['logs', 'alerts'],
      cooldown: '0.001s',
      key_field: 'service',
      condition: { aggregate: 'count', predicate: '>= 2', window: '10m' },
    },
  ],
}
const API = { is: ['service=api', 'host=10.0.0.4'] }

/** A trigger that goes by joined entities in groups. */
const put = (name: string, group_by: string[]) =>
  ({
    op: 'put',
    kind: 'trigger',
    name,
    spec: {
      ...{ sources: ['logs', 'alerts'], joined: true, cooldown: '0.001s' },
      condition: { aggregate: 'count', predicate: '>= 2', window: '10m', group_by },
    },
  }) as const

async function open(entities: object[] = [{ name: 'api', ...API }]) {
  const clock = { at: Date.parse('2026-11-20T12:00:00Z'), now: () => ++clock.at }
  const engine = createEngine({ dataFile: null, clock })
  await engine.importCatalog({ yaml: JSON.stringify({ ...CATALOG, entities }) }, BY)
  const keys = new Map<string, string>()
  for (const name of ['logs', 'alerts']) keys.set(name, (await engine.getSource(name)).ingest_key!)
  const send = async (source: string, item: object) =>
    engine.ingest({
      ingestKey: keys.get(source)!,
      body: Buffer.from(JSON.stringify(item)),
      ...{ bypassCooldown: false, caller: 'open' },
    })
  const firings = async (trigger: string) =>
    (await engine.listFirings({ trigger, limit: 50 } as never)).firings.map(({ key }) => key)
  return { engine, send, firings, clock }
}

describe('a trigger with joined', () => {
  it('has one key for an alert on a host and an error of its service, and one incident', async () => {
    const { engine, send, firings } = await open()
    await send('alerts', { host: '10.0.0.4', text: 'disk full' })
    await send('logs', { service: 'api', text: 'write failed' })
    expect(await firings('trouble')).toEqual(['api'])
    expect(await firings('plain')).toEqual([])
    await send('alerts', { host: '10.0.0.4', text: 'disk full' })
    expect(await firings('trouble')).toEqual(['api', 'api'])
    const { incidents } = await engine.listIncidents({ limit: 10 } as never, null)
    expect(incidents.map(({ trigger, key }) => [trigger, key])).toEqual([['trouble', 'api']])
  })

  it('that groups by several labels has the thing for each of them, and each group counts by itself', async () => {
    const { engine, send, firings } = await open()
    await engine.applyChangeSet({ operations: [put('regions', ['service', 'region'])] }, BY)
    await send('alerts', { host: '10.0.0.4', region: 'eu' })
    await send('alerts', { host: '10.0.0.4', region: 'us' })
    await send('alerts', { host: '10.0.0.5', region: 'us' })
    expect(await firings('regions')).toEqual([])
    await send('logs', { service: 'api', region: 'eu' })
    expect(await firings('regions')).toEqual(['service=api, region=eu'])
    await send('logs', { service: 'api', region: 'us' })
    expect(await firings('regions')).toEqual(['service=api, region=us', 'service=api, region=eu'])
    // What lacks a label is of no group, as without entities.
    await send('logs', { service: 'api' })
    const tried = await engine.backtest({ trigger: 'regions', window: '1h' } as never)
    expect(tried.result.list.map(({ key }) => key).sort()).toEqual([
      'service=api, region=eu',
      'service=api, region=us',
    ])
  })

  it('keeps windows of several labels over a start, and tells sources apart where it groups by them', async () => {
    const { engine, send, firings } = await open()
    await engine.applyChangeSet({ operations: [put('sources', ['source', 'service'])] }, BY)
    for (const source of ['alerts', 'logs'])
      await send(source, source === 'logs' ? { service: 'api' } : { host: '10.0.0.4' })
    expect(await firings('sources')).toEqual([])
    // Made anew of what is stored.
    await engine.createJoinedEntity({ name: 'web', is: ['service=web', 'host=web-1'] }, BY)
    await send('alerts', { host: '10.0.0.4' })
    expect(await firings('sources')).toEqual(['source=alerts, service=api'])
  })

  it('leaves events of no joined entity with the keys that they have', async () => {
    const { send, firings } = await open()
    for (const _ of [1, 2]) await send('logs', { service: 'web', text: 'x' })
    for (const _ of [1, 2]) await send('alerts', { host: '10.0.0.5', text: 'x' })
    expect(await firings('trouble')).toEqual(['web'])
    expect(await firings('plain')).toEqual(['web'])
  })

  it('finds in a backtest what it would have fired, by the entities of now, and says since when these hold', async () => {
    const { engine, send, clock } = await open([])
    await send('alerts', { host: '10.0.0.4', text: 'x' })
    await send('logs', { service: 'api', text: 'x' })
    const tried = () => engine.backtest({ trigger: 'trouble', window: '1h' } as never)
    expect(await tried()).toMatchObject({ result: { list: [] }, entities_changed_at: null })
    const before = clock.at
    await engine.createJoinedEntity({ name: 'api', ...API }, BY)
    const { result, entities_changed_at: at } = await tried()
    expect(result.list.map(({ key }) => key)).toEqual(['api'])
    // It says that no live trigger saw them so.
    expect(Date.parse(at!)).toBeGreaterThan(before)
    expect(Date.parse(at!)).toBeLessThan(clock.at)
    const plain = await engine.backtest({ trigger: 'plain', window: '1h' } as never)
    expect(plain.entities_changed_at).toBeNull()
    clock.at += 2 * 3_600_000
    expect((await tried()).entities_changed_at).toBeNull()
  })

  it('reads the events of before by all names, once an entity is made', async () => {
    const { engine, send, firings } = await open([])
    await send('alerts', { host: '10.0.0.4', text: 'x' })
    await engine.createJoinedEntity({ name: 'api', ...API }, BY)
    await send('logs', { service: 'api', text: 'x' })
    expect(await firings('trouble')).toEqual(['api'])
  })

  it('is refused where there is no key of one thing', async () => {
    const { engine } = await open()
    const make = (condition: object) =>
      engine.applyChangeSet(
        {
          operations: [
            { op: 'put', kind: 'trigger', name: 'x', spec: { sources: ['logs'], joined: true, condition } },
          ],
        },
        BY,
      )
    await expect(make({ every: '1h' })).rejects.toThrow(/joined must be absent: a schedule/)
  })
})
