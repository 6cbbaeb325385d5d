import { describe, expect, it } from 'vitest'
import { type Fields, type Instance, startBeforeEach, startInstance } from './instance.ts'

interface WithKeys extends Fields {
  id: string
  ingest_keys?: { source: string; ingest_url: string; key: { secret: string; scopes: string[] } }[]
}

let svc: Instance
startBeforeEach(async () => {
  svc = await startInstance({ secured: true })
  return svc
})

const watch = (on: Pick<Instance, 'post'> = svc) =>
  on.post<WithKeys>('/api/projects', {
    template: 'webhook_watch',
    name: 'Checkout',
    params: { service: 'checkout' },
  })
const post = (secret: string, url: string) =>
  svc
    .as(secret)
    .call('POST', url, { status: 200 })
    .then(({ status }) => status)

describe('on a secured instance, the ingest key of a source that a project makes', () => {
  it('of a template is told once, in the answer that makes it, and opens that source alone', async () => {
    const { id, ingest_keys } = await watch()
    const { source, ingest_url, key } = ingest_keys![0]!
    expect([ingest_keys!.length, source, key.scopes]).toEqual([1, 'checkout-events', ['ingest']])
    expect(await post(key.secret, ingest_url)).toBe(202)
    expect((await svc.get<WithKeys>(`/api/projects/${id}`)).ingest_keys).toBeUndefined()
    const again = await svc.put<WithKeys>(`/api/projects/${id}`, { params: { service: 'checkout' } })
    expect(again.ingest_keys).toBeUndefined()
  })

  it('goes along where a new plan renames the source; that of a repair is another, and the source keeps its URL', async () => {
    const { id, ingest_keys } = await watch()
    const [first] = ingest_keys!
    const renamed = await svc.put<WithKeys>(`/api/projects/${id}`, { params: { service: 'payments' } })
    expect(renamed.ingest_keys).toBeUndefined()
    expect(await post(first!.key.secret, first!.ingest_url)).toBe(202)
    await svc.ok('DELETE', '/api/sources/payments-events?cascade=true')
    const repaired = await svc.post<WithKeys>(`/api/projects/${id}/repair`, { key: 'events' })
    const [second] = repaired.ingest_keys!
    expect(second).toMatchObject({ source: 'payments-events', ingest_url: first!.ingest_url })
    expect([
      await post(first!.key.secret, first!.ingest_url),
      await post(second!.key.secret, second!.ingest_url),
    ]).toEqual([401, 202])
  })

  it('of a catalog file is told by the import; a signed source gets none, and a dry run none', async () => {
    const yaml = `sources:
  - name: gw
    connector: webhook
  - name: signed
    connector: webhook
    config: { signature_scheme: github, signature_secret: a-secret-of-it }
projects:
  - template: webhook_watch
    name: Watch
    params: { service: shop }
`
    const dry = await svc.post<WithKeys>('/api/catalog/import', { yaml, dry_run: true })
    expect(dry.ingest_keys).toBeUndefined()
    const { ingest_keys } = await svc.post<WithKeys>('/api/catalog/import', { yaml })
    expect(ingest_keys!.map(({ source }) => source).sort()).toEqual(['gw', 'shop-events'])
    for (const { key, ingest_url } of ingest_keys!) expect(await post(key.secret, ingest_url)).toBe(202)
    expect((await svc.post<WithKeys>('/api/catalog/import', { yaml })).ingest_keys).toBeUndefined()
  })

  it('is not made on an open instance, where none is needed', async () => {
    const open = await startInstance()
    try {
      expect((await watch(open)).ingest_keys).toBeUndefined()
    } finally {
      await open.stop()
    }
  })
})

describe('the goal and the description of a project', () => {
  it('are given, changed, cleared, exported and imported again', async () => {
    const said = { goal: 'Know first.', description: 'Of the shop.\n\nAsk Ann.' }
    const { id } = await svc.post<WithKeys>('/api/projects', {
      template: 'webhook_watch',
      name: 'Checkout',
      params: { service: 'checkout' },
      ...said,
    })
    await svc.post('/api/projects', { template: 'custom', name: 'Mine', objects: [], ...said })
    expect(await svc.get(`/api/projects/${id}`)).toMatchObject(said)
    const yaml = (await svc.call('GET', '/api/catalog/export')).text
    expect(await svc.post('/api/catalog/import', { yaml })).toMatchObject({ change_set: null })
    const other = await startInstance()
    try {
      await other.post('/api/catalog/import', { yaml })
      const { projects } = await other.get<{ projects: Fields[] }>('/api/projects')
      for (const name of ['Checkout', 'Mine'])
        expect(projects.find((project) => project.name === name)).toMatchObject(said)
    } finally {
      await other.stop()
    }
    await svc.put(`/api/projects/${id}`, { description: 'Other.' })
    expect(await svc.get(`/api/projects/${id}`)).toMatchObject({ goal: said.goal, description: 'Other.' })
    await svc.put(`/api/projects/${id}`, { goal: '', description: '' })
    expect(await svc.get(`/api/projects/${id}`)).toMatchObject({ goal: '', description: '' })
    expect(await svc.refused('PUT', `/api/projects/${id}`, { description: 'x'.repeat(4_001) })).toEqual([
      400,
      expect.stringContaining('description'),
    ])
  })
})
