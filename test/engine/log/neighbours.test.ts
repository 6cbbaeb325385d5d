/** What is around an entity: by spans, by labels of the same event, by rules (docs/entities.md, Neighbours). */
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../../engine/local.ts'

const BY = { caller: { id: 'key:1', name: 'maria' }, origin: 'api' as const }
const NOW = Date.parse('2026-11-20T12:00:00Z')
const LABELS = ['service', 'host', 'node', 'team', 'trace_id', 'span_id', 'parent_id', 'signal']

async function open(entities: object[]) {
  let now = NOW
  const engine = createEngine({ dataFile: null, clock: { now: () => ++now } })
  const labels = LABELS.map((name) => ({
    name,
    field: name,
    ...(name === 'service' ? { primary: true } : {}),
  }))
  await engine.importCatalog(
    {
      yaml: JSON.stringify({
        sources: [{ name: 'app', connector: 'webhook', config: { labels } }],
        entities,
      }),
    },
    BY,
  )
  const { ingest_key: key } = await engine.getSource('app')
  await engine.ingest({
    ingestKey: key!,
    body: Buffer.from(
      JSON.stringify([
        span('shop', 'a'),
        span('api', 'b', 'a'),
        span('bank', 'c', 'b'),
        span('bank', 'd', 'b'),
        span('bank', 'e', 'c'),
        { service: 'api', node: 'web-1' },
        { host: '10.0.0.4', node: 'web-2' },
        { service: 'web', node: 'web-1' },
      ]),
    ),
    ...{ bypassCooldown: false, caller: 'open' },
  })
  return engine
}

const span = (service: string, id: string, parent = '') => ({
  ...{ service, trace_id: '0123456789abcdef', span_id: `span-000${id}`, signal: 'traces' },
  ...(parent ? { parent_id: `span-000${parent}` } : {}),
})

const API = {
  name: 'api',
  is: ['service=api', 'host=10.0.0.4'],
  owned_by: ['team=payments'],
  calls: ['service=mail'],
}

const told = async (engine: Awaited<ReturnType<typeof open>>, label: string, value: string) =>
  (await engine.entityNeighbours({ label, value })).neighbours.map(
    ({ edge, by, count, ...name }) => `${edge} ${name.label}=${name.value} ${by} ${count}`,
  )

describe('the neighbours of an entity', () => {
  it('are those of its spans and labels, where no rule names it', async () => {
    const engine = await open([])
    expect(await told(engine, 'service', 'api')).toEqual([
      'calls service=bank traces 2',
      'runs_on node=web-1 labels 1',
      'called_by service=shop traces 1',
    ])
    expect(await told(engine, 'node', 'web-1')).toEqual([
      'runs service=web labels 1',
      'runs service=api labels 1',
    ])
  })

  it('are those of all its names, and what rules say comes first, from both ends', async () => {
    const engine = await open([API])
    const both = [
      'owned_by team=payments rules 0',
      'calls service=mail rules 0',
      'calls service=bank traces 2',
      'called_by service=shop traces 1',
      'runs_on node=web-1 labels 1',
      'runs_on node=web-2 labels 1',
    ]
    expect((await told(engine, 'host', '10.0.0.4')).sort()).toEqual([...both].sort())
    expect((await told(engine, 'service', 'api')).slice(0, 2).sort()).toEqual(both.slice(0, 2).sort())
    expect(await told(engine, 'team', 'payments')).toEqual(['owns service=api rules 0'])
    expect(await told(engine, 'service', 'bank')).toContain('called_by service=api traces 2')
  })

  it('have the events that show them, and when they were last seen', async () => {
    const engine = await open([API])
    const { neighbours, names, is_cut } = await engine.entityNeighbours({ label: 'service', value: 'api' })
    expect([names, is_cut]).toEqual([API.is, false])
    const bank = neighbours.find(({ value }) => value === 'bank')!
    expect(bank).toMatchObject({ evidence: ['evt_3', 'evt_4'], open_incidents: 0 })
    expect(Date.parse(bank.last_seen!)).toBeGreaterThan(NOW)
    expect(neighbours.find(({ value }) => value === 'mail')!.last_seen).toBeNull()
  })
})
