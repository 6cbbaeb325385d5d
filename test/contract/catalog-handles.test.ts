/** GET /catalog is in the scope read (SPEC.md, Authentication, scopes): what there is, and what it is like. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CatalogDescription, CatalogListing } from '../../schemas/types.ts'
import { type Instance, startInstance } from './instance.ts'

let svc: Instance
let shop: string
const keys: Record<'read' | 'ingest' | 'project', string> = { read: '', ingest: '', project: '' }
const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
const asked = (path: string, key: keyof typeof keys) =>
  svc.call<Record<string, never>>('GET', path, undefined, bearer(keys[key]))
const webhook = (name: string) => ({
  name,
  connector: 'webhook',
  config: {
    event_type_field: 'type',
    signature_secret: 'whsec-canary',
    signature_scheme: 'hmac_sha256',
    labels: [
      { name: 'service', field: 'service', primary: true },
      { name: 'ms', field: 'ms', type: 'number' },
    ],
  },
})

beforeAll(async () => {
  svc = await startInstance({ secured: true })
  await svc.post('/api/sources', {
    name: 'web',
    connector: 'webhook',
    config: { ...webhook('web').config, signature_scheme: undefined, signature_secret: undefined },
  })
  await svc.post('/api/sources', webhook('signed'))
  const { ingest_key } = await svc.get<{ ingest_key: string }>('/api/sources/web')
  for (const [service, type, ms] of [
    ['pay', 'error', 12],
    ['pay', 'info', 3],
    ['cart', 'info', 5],
    ['pay', 'late', 7],
  ] as const)
    await svc.post(`/ingest/${ingest_key}`, { service, type, ms })
  svc.clock.at += 90_000
  await svc.post('/api/triggers', { name: 'any', sources: ['web'], condition: { event: 'any' } })
  await svc.post('/api/agents/builtin', { name: 'first', prompt: 'Look.' })
  shop = (
    await svc.post<{ id: string }>('/api/projects', {
      template: 'custom',
      name: 'Shop',
      objects: [
        { kind: 'source', name: 'web' },
        { kind: 'trigger', name: 'any' },
        { kind: 'agent', name: 'first' },
      ],
    })
  ).id
  await svc.put(`/api/projects/${shop}/wiring`, {
    wakes: [{ trigger: 'any', agent: 'first', enabled: true }],
    handoffs: [],
  })
  const make = async (body: object) => (await svc.post<{ secret: string }>('/api/keys', body)).secret
  keys.read = await make({ name: 'r', scopes: ['read'] })
  keys.ingest = await make({ name: 'i', scopes: ['ingest'] })
  keys.project = await make({ name: 'p', project: shop })
})
afterAll(() => svc?.stop())

describe('the catalog is in the scope read', () => {
  it('lists sources, triggers and projects by name, and refuses other scopes', async () => {
    const { status, body } = await asked('/catalog', 'read')
    expect(status).toBe(200)
    const { sources, triggers, projects } = body as unknown as CatalogListing
    expect(sources.map(({ name }) => name).sort()).toEqual(['signed', 'web'])
    expect(triggers).toMatchObject([{ name: 'any', sources: ['web'], key_field: null }])
    expect(projects.find(({ id }) => id === shop)).toEqual({ id: shop, name: 'Shop', template: 'custom' })
    expect((await asked('/catalog', 'ingest')).status).toBe(403)
    expect((await svc.call('GET', '/catalog', undefined, bearer('svc_x'))).status).toBe(401)
  })

  it('describes a source by its newest events, without secrets', async () => {
    const { body } = await asked('/catalog/source:web', 'read')
    const { schema, labels, freshness, sample, ...more } = body as unknown as CatalogDescription
    expect(more).toMatchObject({
      handle: 'source:web',
      kind: 'source',
      primary_label: 'service',
      lineage: [{ from: 'source:web', to: 'trigger:any', transform: 'condition' }],
    })
    expect(schema).toEqual({
      event_types: ['error', 'info', 'late'],
      fields: { service: 'string', ms: 'number' },
      sampled_events: 4,
    })
    expect(labels!.service).toMatchObject([
      { value: 'pay', events: 3 },
      { value: 'cart', events: 1 },
    ])
    expect(freshness).toMatchObject({ events_total: 4, lag_seconds: expect.any(Number) })
    expect(freshness!.lag_seconds).toBeGreaterThanOrEqual(90)
    expect(sample!.map(({ event_type }) => event_type)).toEqual(['late', 'info', 'info'])
    expect(JSON.stringify(await asked('/catalog/source:signed', 'read'))).not.toContain('whsec-canary')
  })

  it('describes a trigger with who is told', async () => {
    await svc.post('/subscribe', { trigger: 'any', url: 'http://127.0.0.1:9/hook' })
    const { body } = await asked('/catalog/trigger:any', 'read')
    expect(body).toMatchObject({
      entry: { name: 'any' },
      subscribers: 1,
      lineage: [
        { from: 'source:web', to: 'trigger:any', transform: 'condition' },
        { from: 'trigger:any', to: 'agent:first', transform: 'wakes' },
      ],
    })
  })

  it('says what a handle is, and what is not there', async () => {
    expect((await asked('/catalog/source:gone', 'read')).status).toBe(404)
    expect((await asked('/catalog/trigger:gone', 'read')).status).toBe(404)
    for (const handle of ['web', 'view:x', 'source:', 'agent:first'])
      expect((await asked(`/catalog/${handle}`, 'read')).status, handle).toBe(400)
  })

  it('shows a project key its own sources and triggers alone, and not where they are', async () => {
    const { body } = await asked('/catalog', 'project')
    expect(body).toMatchObject({ sources: [{ name: 'web', projects: [shop] }], projects: [{ id: shop }] })
    const own = await asked('/catalog/source:web', 'project')
    expect(own.status).toBe(200)
    expect(JSON.stringify(own.body)).not.toContain('ingest_key')
    for (const handle of ['source:signed', 'source:gone', 'trigger:gone'])
      expect(await asked(`/catalog/${handle}`, 'project'), handle).toMatchObject({
        status: 403,
        body: { detail: 'this key only reads project Shop and records findings in it' },
      })
  })
})
