/** The graph of a project, where its nodes are put, and the preview of a draft, over HTTP. */
import { afterEach, describe, expect, it } from 'vitest'
import type { DraftPreview, ProjectGraph } from '../../schemas/types.ts'
import { type Fields, type Instance, startInstance } from './instance.ts'

let svc: Instance
afterEach(() => svc.stop())

async function watch(how: Parameters<typeof startInstance>[0] = {}) {
  svc = await startInstance(how)
  const { id } = await svc.post<{ id: string }>('/api/projects', {
    template: 'webhook_watch',
    name: 'Checkout',
    params: { service: 'checkout' },
  })
  return { id, graph: () => svc.get<ProjectGraph>(`/api/projects/${id}/graph`) }
}

describe('the graph of a project', () => {
  it('shows what leads to what, by id and by name', async () => {
    const { graph } = await watch()
    const { nodes, edges, project } = await graph()
    expect(nodes.map(({ id, state }) => `${id} ${state}`)).toEqual(
      expect.arrayContaining(['source:checkout-events active', 'trigger:checkout-errors active']),
    )
    expect(edges.map(({ id }) => id)).toEqual(
      expect.arrayContaining([
        'feeds:checkout-events>checkout-errors',
        'wakes:checkout-errors>checkout-first-look',
      ]),
    )
    expect(await svc.get('/api/projects/Checkout/graph')).toMatchObject({ project })
    expect(await svc.refused('GET', '/api/projects/Nope/graph')).toEqual([
      404,
      'no project has the id or name Nope',
    ])
  })

  it('follows the wiring, pauses and what is deleted', async () => {
    const { id, graph } = await watch()
    await svc.post(`/api/projects/${id}/pause`)
    const paused = await graph()
    expect(paused.project.status).toBe('paused')
    expect(paused.nodes.find(({ kind }) => kind === 'agent')!.state).toBe('off')
    await svc.post(`/api/projects/${id}/resume`)
    await svc.del('/api/agents/builtin/checkout-first-look')
    expect((await graph()).nodes.find(({ kind }) => kind === 'agent')).toMatchObject({
      state: 'missing',
      reason: expect.stringContaining('Repair'),
    })
  })

  it('is read by a key of the project, without addresses and other projects', async () => {
    const { id } = await watch({ secured: true })
    await svc.post(`/api/projects/${id}/subscribe`, { url: 'http://127.0.0.1:9/hook/secret-part' })
    const { id: other } = await svc.post<{ id: string }>('/api/projects', {
      template: 'custom',
      name: 'Another one',
      objects: [],
    })
    const share = { op: 'patch', kind: 'source', name: 'checkout-events', spec: {}, project: other }
    await svc.post('/api/change-sets', { operations: [share] })
    const { secret } = await svc.post<{ secret: string }>(`/api/projects/${id}/keys`, { name: 'scout' })
    const whole = await svc.call('GET', `/api/projects/${id}/graph`)
    expect(whole.text).toContain('destination:webhook:')
    expect(whole.text).toContain('Another one')
    const scout = svc.as(secret)
    const seen = await scout.call<ProjectGraph>('GET', `/api/projects/${id}/graph`)
    expect(seen.status).toBe(200)
    expect(seen.body.nodes.some(({ kind }) => kind === 'agent')).toBe(true)
    for (const text of ['destination', '127.0.0.1', 'Another one']) expect(seen.text).not.toContain(text)
    for (const [method, path, body] of [
      ['GET', '/api/projects/Another one/graph', undefined],
      ['PUT', `/api/projects/${id}/graph/positions`, { positions: [] }],
      ['POST', `/api/projects/${id}/draft/preview`, { operations: [] }],
    ] as const)
      expect((await scout.refused(method, path, body))[0]).toBe(403)
  })

  it('keeps where people put its nodes', async () => {
    const { id, graph } = await watch()
    const positions = [{ node: 'trigger:checkout-errors', x: 12.5, y: -3 }]
    const path = `/api/projects/${id}/graph/positions`
    expect(await svc.put(path, { positions })).toEqual({ positions })
    expect((await graph()).positions).toEqual(positions)
    expect((await svc.call('GET', '/api/catalog/export')).text).not.toContain('12.5')
    expect((await svc.refused('PUT', path, { positions: [{ node: 'trigger:t', x: '1', y: 0 }] }))[0]).toBe(
      400,
    )
    expect((await svc.refused('PUT', path, {}))[0]).toBe(400)
    const put = [{ node: 'agent:checkout-first-look', x: 1, y: 2 }]
    expect(await svc.post(path, { put })).toEqual({ positions: [...put, ...positions] })
    expect(await svc.post(path, { forget: ['trigger:checkout-errors'] })).toEqual({ positions: put })
    expect((await svc.refused('POST', path, { forget: 'all' }))[0]).toBe(400)
  })
})

describe('the preview of a draft', () => {
  const path = (id: string) => `/api/projects/${id}/draft/preview`

  it('tells what applying would do, and writes nothing', async () => {
    const { id, graph } = await watch()
    const before = await graph()
    const operations = [
      { op: 'patch', kind: 'trigger', name: 'checkout-errors', spec: { cooldown: '2h' } },
      { op: 'put', kind: 'agent', name: 'digger', project: id, spec: { prompt: 'Dig.' } },
    ]
    const preview = await svc.post<DraftPreview>(path(id), { operations, yaml: true })
    expect(preview.plan).toMatchObject({ creates: 1, deletes: 0 })
    expect(preview.graph!.nodes.find(({ id: node }) => node === 'trigger:checkout-errors')).toMatchObject({
      customized: true,
    })
    expect(preview.graph!.nodes.find(({ id: node }) => node === 'agent:digger')).toMatchObject({
      state: 'off',
    })
    expect(preview.yaml!.patch).toContain('+++ b/catalog.yaml')
    expect(await graph()).toEqual(before)
    expect(await svc.get('/api/change-sets')).toMatchObject({ version: before.version })
    const applied = await svc.post<{ plan: Fields }>('/api/change-sets', { operations })
    expect(applied.plan).toEqual(preview.plan)
  })

  it('answers 200 with the problems of a draft, and 400 for what is none', async () => {
    const { id } = await watch()
    const operations = [{ op: 'delete', kind: 'trigger', name: 'nobody' }]
    expect(await svc.post(path(id), { operations })).toMatchObject({
      plan: null,
      graph: null,
      problems: [{ operation: 0, message: 'no trigger is named nobody' }],
    })
    expect((await svc.refused('POST', path(id), { operations: [{ op: 'paint' }] }))[0]).toBe(400)
    expect((await svc.refused('POST', path('Nope'), { operations: [] }))[0]).toBe(404)
  })
})
