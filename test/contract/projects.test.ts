import { describe, expect, it } from 'vitest'
import { type Fields, type Instance, startBeforeEach, startInstance } from './instance.ts'

interface Project extends Fields {
  id: string
  name: string
  version: number
  objects: { kind: string; name: string; key: string; state: string }[]
}

let svc: Instance
const condition = { aggregate: 'count', predicate: '> 5', window: '5m' }

startBeforeEach(async () => {
  svc = await startInstance()
  return svc
})

const watch = (more: Fields = {}) =>
  svc.post<Project>('/api/projects', {
    template: 'webhook_watch',
    name: 'Checkout',
    params: { service: 'checkout' },
    ...more,
  })
const labels = (project: { objects: { kind: string; name: string }[] }) =>
  project.objects.map(({ kind, name }) => `${kind}:${name}`).sort()
/** A source, a trigger over it and an agent it wakes, in the Default project. */
async function loose(): Promise<void> {
  await svc.post('/api/sources', { name: 'gw', connector: 'webhook' })
  await svc.post('/api/triggers', { name: 'errs', sources: ['gw'], condition })
  await svc.post('/api/agents/builtin', { name: 'first', prompt: 'p', trigger: 'errs' })
}

const PLANNED = [
  'agent:checkout-first-look',
  'agent:checkout-investigator',
  'skill:checkout-runbook',
  'source:checkout-events',
  'trigger:checkout-errors',
]

describe('templates', () => {
  it('are listed with parameters, tags, setup steps and actions, and answered one by one', async () => {
    const { templates } = await svc.get<{ templates: (Fields & { key: string })[] }>(
      '/api/projects/templates',
    )
    expect(templates.map(({ key }) => key)).toContain('webhook_watch')
    for (const template of templates) {
      expect(template).toMatchObject({
        params: { type: 'object' },
        tags: expect.arrayContaining([expect.any(String)]),
        setup: expect.any(Array),
        actions: expect.any(Array),
        recipe: template.key,
      })
      expect(await svc.get(`/api/projects/templates/${template.key}`)).toEqual(template)
    }
  })

  it.each([
    ['GET', '/api/projects/templates/gone'],
    ['POST', '/api/projects/templates/gone/detect'],
  ])('answer 404 to %s %s', async (method, path) => {
    expect(await svc.refused(method, path)).toEqual([404, 'no template has the key gone'])
  })

  it('detect what is there', async () => {
    const { missing } = await svc.post<{ missing: string[] }>('/api/projects/templates/webhook_watch/detect')
    expect(missing).toHaveLength(1)
    await svc.post('/api/sources', { name: 'gw', connector: 'webhook' })
    expect(await svc.post('/api/projects/templates/webhook_watch/detect')).toMatchObject({
      found: [expect.stringContaining('webhook')],
      missing: [],
    })
  })
})

describe('POST /api/projects from a template', () => {
  it('makes everything it plans, running', async () => {
    const made = await svc.call<Project>('POST', '/api/projects', {
      template: 'webhook_watch',
      params: { service: 'checkout' },
    })
    expect(made.status).toBe(201)
    expect(made.headers.get('etag')).toBe(`"${made.body.version}"`)
    expect(made.body).toMatchObject({
      name: 'Watch a system by webhook',
      template: 'webhook_watch',
      recipe: 'webhook_watch',
      status: 'active',
      state: 'running',
      counts: { source: 1, trigger: 1, agent: 2, mcp_server: 0, skill: 1 },
      params: { service: 'checkout', threshold: 5 },
    })
    expect(labels(made.body)).toEqual(PLANNED)
    expect(made.body.objects.every(({ state }) => state === 'planned')).toBe(true)
  })

  it.each<[string, Fields, string]>([
    ['no template', { template: undefined }, 'template is required'],
    ['an unknown template', { template: 'gone' }, 'template: no template has the key gone'],
    ['the template of Default', { template: 'default' }, 'template: no template has the key default'],
    ['a missing parameter', { params: {} }, 'service'],
    ['an unknown parameter', { params: { service: 's', colour: 'red' } }, 'colour'],
    ['a parameter out of range', { params: { service: 's', threshold: 0 } }, 'threshold'],
    ['a parameter of another type', { params: { service: 5 } }, 'service'],
    ['objects', { objects: [{ kind: 'source', name: 'gw' }] }, 'objects are for a custom project'],
    ['a name of 81 characters', { name: 'n'.repeat(81) }, 'name'],
    ['a goal of two lines', { goal: 'a\nb' }, 'goal'],
    ['a field that is unknown', { colour: 'red' }, 'colour'],
  ])('refuses %s, and nothing is made', async (_case, more, message) => {
    const [status, detail] = await svc.refused('POST', '/api/projects', {
      template: 'webhook_watch',
      params: { service: 'checkout' },
      ...more,
    })
    expect([status, detail]).toEqual([400, expect.stringContaining(message)])
    expect(await svc.get('/api/projects')).toEqual({ projects: [] })
    expect(await svc.get('/api/sources')).toEqual([])
  })

  it('is all or nothing: an object of another project in the way refuses the whole', async () => {
    await watch()
    const [status, detail] = await svc.refused('POST', '/api/projects', {
      template: 'webhook_watch',
      name: 'Again',
      params: { service: 'checkout' },
    })
    expect(status).toBe(409)
    expect(detail).toContain('belongs to project Checkout')
    expect((await svc.get<{ projects: Fields[] }>('/api/projects')).projects).toHaveLength(1)
  })

  it('takes no name that is or could be the id of another, nor one that a path of the API hides', async () => {
    const { id } = await watch()
    const custom = (name: string) => svc.refused('POST', '/api/projects', { template: 'custom', name })
    const isId = [400, expect.stringContaining('name must not have the form of the id of a project')]
    expect(await custom(id)).toEqual(isId)
    expect(await custom('templates')).toEqual([400, expect.stringContaining('name must not be templates')])
    expect(await custom('Default')).toEqual([400, expect.stringContaining('name must not be Default')])
    const template = { template: 'webhook_watch', name: id, params: { service: 'cart' } }
    expect(await svc.refused('POST', '/api/projects', template)).toEqual(isId)
    const other = await svc.post<Project>('/api/projects', { template: 'custom', name: 'Other' })
    expect(await svc.refused('PUT', `/api/projects/${other.id}`, { name: id })).toEqual(isId)
    const yaml = `projects:\n  - { name: ${id}, template: custom }\n`
    expect((await svc.refused('POST', '/api/catalog/import', { yaml }))[0]).toBe(400)
    expect(await svc.refused('POST', '/api/sources', { name: 'discover', connector: 'webhook' })).toEqual([
      400,
      expect.stringContaining('name must not be discover'),
    ])
  })

  it('of the Default one a delete is not offered', async () => {
    await loose()
    const { projects } = await svc.get<{ projects: (Fields & { default: boolean; accepts: string[] })[] }>(
      '/api/projects',
    )
    const [home] = projects
    expect([home!.default, home!.accepts.includes('delete')]).toEqual([true, false])
  })

  it('that is hand-made says before and after its delete which wiring goes', async () => {
    await loose()
    const objects = [
      { kind: 'trigger', name: 'errs' },
      { kind: 'agent', name: 'first' },
    ]
    const { id } = await svc.post<Project>('/api/projects', { template: 'custom', name: 'Mine', objects })
    const unwired = { wakes: [{ trigger: 'errs', agent: 'first', enabled: false }], handoffs: [] }
    expect(await svc.get(`/api/projects/${id}/deletion`)).toMatchObject({ unwired })
    expect(await svc.get(`/api/projects/${id}/deletion?delete=agent:first`)).toMatchObject({
      unwired: { wakes: [], handoffs: [] },
    })
    expect(await svc.del(`/api/projects/${id}`)).toMatchObject({ unwired })
  })

  it('answers 409 to a name that is taken', async () => {
    await watch()
    const other = { template: 'webhook_watch', name: 'Checkout', params: { service: 'other' } }
    expect(await svc.refused('POST', '/api/projects', other)).toEqual([
      409,
      expect.stringContaining('Checkout'),
    ])
  })

  it('adopts a same-name object that belongs to no project', async () => {
    await svc.post('/api/sources', {
      name: 'checkout-events',
      connector: 'webhook',
      config: { event_type: 'mine' },
    })
    const project = await watch()
    expect(project.objects.find(({ name }) => name === 'checkout-events')).toMatchObject({ state: 'adopted' })
    expect(await svc.get('/api/sources/checkout-events')).toMatchObject({
      config: { event_type: 'mine' },
      owned_by: project.id,
      projects: [project.id],
    })
  })
})

describe('POST /api/projects of objects', () => {
  it('adopts the listed objects and creates nothing', async () => {
    await loose()
    const before = await svc.get<Fields[]>('/api/triggers')
    const made = await svc.post<Project>('/api/projects', {
      template: 'custom',
      name: 'Mine',
      objects: [
        { kind: 'trigger', name: 'errs' },
        { kind: 'agent', name: 'first' },
      ],
    })
    expect(made).toMatchObject({
      state: 'running',
      template: 'custom',
      wiring: { wakes: [{ trigger: 'errs', agent: 'first', enabled: false }] },
    })
    expect(labels(made)).toEqual(['agent:first', 'source:gw', 'trigger:errs'])
    expect((await svc.get<Fields[]>('/api/triggers')).length).toBe(before.length)
    expect(await svc.get('/api/triggers/errs')).toMatchObject({ owned_by: made.id, customized: false })
  })

  it('takes an MCP server by the name the specification gives its kind', async () => {
    await svc.post('/api/mcp-servers', { name: 'm', url: 'https://m.example/' })
    const objects = [{ kind: 'mcp server', name: 'm' }]
    expect(labels(await svc.post('/api/projects', { template: 'custom', name: 'Mine', objects }))).toEqual([
      'mcp_server:m',
    ])
  })

  it.each<[string, Fields, number, string]>([
    ['no name', { name: '' }, 400, 'name is required for a custom project'],
    [
      'an object that is not there',
      { objects: [{ kind: 'agent', name: 'gone' }] },
      400,
      'objects[0]: no agent is named gone',
    ],
    [
      'a view',
      { objects: [{ kind: 'view', name: 'v' }] },
      400,
      'objects[0].kind view is gone: a trigger takes sources and filters',
    ],
    ['a kind that is none', { objects: [{ kind: 'pipe', name: 'v' }] }, 400, 'objects[0].kind'],
    [
      'an object twice',
      {
        objects: [
          { kind: 'agent', name: 'first' },
          { kind: 'agent', name: 'first' },
        ],
      },
      400,
      'objects[1] lists agent first twice',
    ],
    [
      'an object of another project',
      { objects: [{ kind: 'trigger', name: 'taken' }] },
      400,
      'objects: trigger taken belongs to project Other; make this project without it, and share it then by PUT /api/projects/{id} with it among the objects',
    ],
    [
      'a skill of another project',
      { objects: [{ kind: 'skill', name: 'know' }] },
      400,
      'share it then by POST /api/projects/{id}/skills/know/use, or svc skills use',
    ],
    ['parameters', { params: { a: 1 } }, 400, 'params: a custom project has no parameters'],
    ['a name that is taken', { name: 'Other' }, 409, 'a project named Other exists'],
  ])('refuses %s', async (_case, more, status, message) => {
    await loose()
    await svc.post('/api/projects', { template: 'custom', name: 'Other' })
    await svc.post('/api/triggers', { name: 'taken', sources: ['gw'], condition, project: 'Other' })
    await svc.post('/api/projects/Other/skills', { name: 'know', description: 'd', body: 'b' })
    const [answered, detail] = await svc.refused('POST', '/api/projects', {
      template: 'custom',
      name: 'Mine',
      ...more,
    })
    expect([answered, detail]).toEqual([status, expect.stringContaining(message)])
  })
})

describe('PUT /api/projects/{id}', () => {
  it('re-plans with new parameters and applies only the difference', async () => {
    const { id } = await watch()
    const updated = await svc.put<Project & { report: Record<string, string[]> }>(`/api/projects/${id}`, {
      params: { service: 'checkout', threshold: 9 },
    })
    expect(updated.params).toMatchObject({ threshold: 9 })
    expect(updated.report.updated).toEqual(['trigger:checkout-errors'])
    expect(updated.report).toMatchObject({ created: [], deleted: [] })
    const { change_sets } = await svc.get<{ change_sets: { changes: Fields[] }[] }>(
      '/api/change-sets?limit=1',
    )
    expect(change_sets[0]!.changes.map(({ kind }) => kind).sort()).toEqual(['project', 'trigger'])
  })

  it('changes the objects of a custom project: adopts some, releases others', async () => {
    await loose()
    const { id } = await svc.post<Project>('/api/projects', {
      template: 'custom',
      name: 'Mine',
      objects: [{ kind: 'agent', name: 'first' }],
    })
    const updated = await svc.put<Project>(`/api/projects/${id}`, {
      objects: [{ kind: 'source', name: 'gw' }],
    })
    expect(labels(updated)).toEqual(['source:gw'])
    expect(updated.report).toMatchObject({ added: ['source:gw'], released: ['agent:first'] })
    expect(await svc.get('/api/agents/builtin/first')).toMatchObject({ owned_by: null })
  })

  it('takes the parameters of a custom project as they are read: there are none', async () => {
    const made = await svc.post<Project>('/api/projects', { template: 'custom', name: 'Mine', params: {} })
    const { id, params } = made
    expect(await svc.put(`/api/projects/${id}`, { name: 'Ours', params })).toMatchObject({
      name: 'Ours',
      params: {},
    })
    expect((await svc.refused('PUT', `/api/projects/${id}`, { params: { a: 1 } }))[0]).toBe(400)
  })

  it('says which wiring goes with what a custom project lets go of', async () => {
    await loose()
    await svc.post('/api/agents/builtin', { name: 'second', prompt: 'Look.' })
    const objects = [
      { kind: 'trigger', name: 'errs' },
      { kind: 'agent', name: 'first' },
      { kind: 'agent', name: 'second' },
    ]
    const { id } = await svc.post<Project>('/api/projects', { template: 'custom', name: 'Mine', objects })
    const wake = { trigger: 'errs', agent: 'first', enabled: true }
    const handoff = { agent: 'first', verdict: 'deep', to: 'second', cooldown: '5m' }
    await svc.put(`/api/projects/${id}/wiring`, { wakes: [wake], handoffs: [handoff] })
    const put = async (kept: Fields[]) =>
      (await svc.put<{ report: Fields }>(`/api/projects/${id}`, { objects: kept })).report
    expect((await put(objects.slice(0, 2))).unwired).toEqual({ wakes: [], handoffs: [handoff] })
    expect((await put(objects.slice(1, 2))).unwired).toEqual({ wakes: [wake], handoffs: [] })
    expect(await put([])).not.toHaveProperty('unwired')
  })

  it('leaves skills alone where the objects name none; where they do, one that goes is told as deleted', async () => {
    await loose()
    const make = async (name: string) =>
      (await svc.post<Project>('/api/projects', { template: 'custom', name })).id
    const [id, other] = [await make('Mine'), await make('Other')]
    for (const name of ['one', 'two', 'three'])
      await svc.post(`/api/projects/${id}/skills`, { name, description: 'd', body: 'b' })
    await svc.post(`/api/projects/${other}/skills/three/use`)
    const put = (objects: Fields[]) => svc.put<Project>(`/api/projects/${id}`, { objects })
    const updated = await put([{ kind: 'source', name: 'gw' }])
    expect(labels(updated)).toEqual(['skill:one', 'skill:three', 'skill:two', 'source:gw'])
    expect(updated.report).toEqual({ added: ['source:gw'], released: [], kept: expect.any(Array) })
    expect((await put([{ kind: 'skill', name: 'one' }])).report).toMatchObject({
      deleted: ['skill:two'],
      released: ['source:gw', 'skill:three'],
    })
    const left = await svc.get<Fields[]>('/api/skills')
    expect(left.map(({ name }) => name)).toEqual(['one', 'three'])
  })

  it.each<[string, 'watch' | 'custom', Fields, number, string]>([
    [
      'parameters of a custom project',
      'custom',
      { params: { a: 1 } },
      400,
      'params: a custom project has no parameters',
    ],
    [
      'objects of a template project',
      'watch',
      { objects: [] },
      400,
      'objects: a template project has the objects its template plans',
    ],
    ['an empty name', 'custom', { name: '' }, 400, 'name'],
    [
      'a parameter out of range',
      'watch',
      { params: { service: 'checkout', threshold: 0 } },
      400,
      'threshold',
    ],
    ['a name that is taken', 'custom', { name: 'Taken' }, 409, 'a project named Taken exists'],
    ['a field that is unknown', 'custom', { state: 'paused' }, 400, 'state'],
  ])('refuses %s', async (_case, kind, body, status, message) => {
    await svc.post('/api/projects', { template: 'custom', name: 'Taken' })
    const { id } =
      kind === 'watch'
        ? await watch()
        : await svc.post<Project>('/api/projects', { template: 'custom', name: 'Mine' })
    const [answered, detail] = await svc.refused('PUT', `/api/projects/${id}`, body)
    expect([answered, detail]).toEqual([status, expect.stringContaining(message)])
  })

  it('of the Default project only takes the goal', async () => {
    await loose()
    const { projects } = await svc.get<{ projects: Project[] }>('/api/projects')
    const path = `/api/projects/${projects[0]!.id}`
    expect((await svc.refused('PUT', path, { name: 'Mine' }))[0]).toBe(400)
    expect((await svc.refused('DELETE', path))[0]).toBe(400)
    expect(await svc.put(path, { goal: 'The rest' })).toMatchObject({ goal: 'The rest', name: 'Default' })
  })
})

describe('secret parameters', () => {
  it('are blank in every answer, kept when blank, and in no export', async () => {
    const canary = 'CANARY-7031'
    const { id } = await svc.post<Project>('/api/projects', {
      template: 'deploy_watch',
      name: 'Deploys',
      params: { service: 'checkout', github_secret: canary },
    })
    const before = await svc.get<Fields[]>('/api/sources')
    const updated = await svc.put<Project>(`/api/projects/${id}`, {
      params: { service: 'checkout', github_secret: '' },
      goal: 'Find it',
    })
    expect(updated.params).toMatchObject({ github_secret: '' })
    expect(await svc.get('/api/sources')).toEqual(before)
    for (const path of [
      `/api/projects/${id}`,
      '/api/projects',
      '/api/catalog/export',
      '/api/change-sets',
      `/api/projects/${id}/summary`,
    ])
      expect((await svc.call('GET', path)).text, path).not.toContain(canary)
  })
})

describe('the old words', () => {
  it('/api/usecases answers as /api/projects does, in the old shape', async () => {
    const recipe = { recipe: 'webhook_watch', name: 'Checkout', params: { service: 'checkout' } }
    const made = await svc.call<Project>('POST', '/api/usecases', recipe)
    expect([made.status, made.body]).toMatchObject([
      201,
      { recipe: 'webhook_watch', recipe_title: 'Watch a system by webhook' },
    ])
    const { id } = made.body
    expect(await svc.get('/api/usecases')).toEqual({ usecases: [made.body] })
    expect(await svc.get(`/api/usecases/${id}`)).toEqual(await svc.get(`/api/projects/${id}`))
    const { recipes } = await svc.get<{ recipes: Fields[] }>('/api/usecases/recipes')
    expect({ templates: recipes }).toEqual(await svc.get('/api/projects/templates'))
    expect(await svc.get('/api/usecases/recipes/webhook_watch')).toMatchObject({ key: 'webhook_watch' })
    expect(await svc.post('/api/usecases/recipes/webhook_watch/detect')).toMatchObject({ missing: [] })
    expect(await svc.put(`/api/usecases/${id}`, { goal: 'Watch' })).toMatchObject({ goal: 'Watch' })
    expect(await svc.post(`/api/usecases/${id}/pause`)).toMatchObject({ status: 'paused' })
    expect(await svc.post(`/api/usecases/${id}/resume`)).toMatchObject({ status: 'active' })
    await svc.del('/api/triggers/checkout-errors')
    expect(await svc.post(`/api/usecases/${id}/repair`, { key: 'errors' })).toMatchObject({ id })
    expect(await svc.get(`/api/usecases/${id}/summary`)).toMatchObject({ id, runs: [] })
    expect((await svc.refused('POST', `/api/usecases/${id}/actions/gone`))[0]).toBe(404)
    expect(await svc.del(`/api/usecases/${id}`)).toMatchObject({ ok: true })
    expect(await svc.get('/api/usecases')).toEqual({ usecases: [] })
  })

  it.each([
    ['GET', '/api/views'],
    ['POST', '/query'],
    ['POST', '/derive'],
  ])('%s %s was removed', async (method, path) => {
    expect(await svc.refused(method, path)).toEqual([
      404,
      'views were removed: a trigger takes sources and filters',
    ])
  })
})
