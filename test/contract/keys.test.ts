import { describe, expect, it } from 'vitest'
import { type Fields, type Instance, ROOT, startBeforeEach, startInstance } from './instance.ts'

interface Key extends Fields {
  id: string
  name: string
  scopes: string[]
  secret: string
}

let svc: Instance
let shop: string
const ONLY = 'this key only reads project Shop and records findings in it'
const finding = { entity: 'checkout', finding: 'The deploy broke it.', verdict: 'cause_found' }

startBeforeEach(async () => {
  svc = await startInstance({ secured: true })
  shop = (
    await svc.post<{ id: string }>('/api/projects', {
      template: 'webhook_watch',
      name: 'Shop',
      params: { service: 'checkout' },
    })
  ).id
  return svc
})

const projectKey = (body: Fields = {}) =>
  svc.post<Key>(`/api/projects/${shop}/keys`, { name: 'scout', ...body })
const inbox = async () => (await svc.get<{ findings: Fields[] }>(`/api/projects/${shop}/findings`)).findings

describe('project keys', () => {
  it('are not named like an agent, nor an agent like one that records findings', async () => {
    const agent = (name: string) => ({ name, prompt: 'Look.' })
    await svc.post('/api/agents/builtin', agent('triage'))
    expect(await svc.refused('POST', `/api/projects/${shop}/keys`, { name: 'triage' })).toEqual([
      409,
      'name: triage is the name of an agent of this service, so the key could record no finding; give it another name',
    ])
    expect(
      (await svc.refused('POST', '/api/keys', { name: ' triage ', project: shop, scopes: ['findings'] }))[0],
    ).toBe(409)
    // One that only reads records nothing that could be taken for the agent's.
    const reader = await projectKey({ name: 'triage', scopes: ['read'] })
    const scout = await projectKey()
    expect(await svc.refused('POST', '/api/agents/builtin', agent('scout'))).toEqual([
      409,
      'name: a project key is named scout and records findings under it; give the agent another name, or revoke the key',
    ])
    const yaml = JSON.stringify({ agents: [agent('scout')] })
    expect(await svc.post('/api/catalog/check', { yaml })).toMatchObject({
      problems: [{ message: expect.stringContaining('a project key is named scout') }],
    })
    await svc.del(`/api/keys/${scout.id}`)
    await svc.post('/api/agents/builtin', agent('scout'))
    expect(reader.scopes).toEqual(['read'])
  })

  it('are made for a project, shown once, with the scopes read and findings', async () => {
    const made = await svc.call<Key>('POST', `/api/projects/${shop}/keys`, { name: 'scout' })
    expect([made.status, made.headers.get('cache-control')]).toEqual([201, 'no-store'])
    expect(made.body).toMatchObject({ name: 'scout', scopes: ['read', 'findings'], project: shop })
    const listed = await svc.call<{ keys: Fields[] }>('GET', `/api/projects/${shop}/keys`)
    expect(listed.body.keys).toMatchObject([
      { id: made.body.id, name: 'scout', project: shop, state: 'active' },
    ])
    expect(listed.text).not.toContain(made.body.secret)
    expect((await svc.call('GET', '/api/keys')).text).not.toContain(made.body.secret)
  })

  it.each([
    ['project', { project: '' }],
    ['project', { project: ' ' }],
    ['source', { source: '', scopes: ['ingest'] }],
  ])('are not made of the whole instance where %s is blank', async (field, body) => {
    const before = await svc.get('/api/keys')
    const [status, detail] = await svc.refused('POST', '/api/keys', { name: 'k', scopes: ['read'], ...body })
    expect([status, detail]).toEqual([400, expect.stringContaining(field)])
    expect(await svc.get('/api/keys')).toEqual(before)
  })

  it('a read that names no project by a blank is refused, and reads not everything', async () => {
    for (const [path, more] of [['/read'], ['/api/stats', { by: 'source' }]] as const)
      expect(await svc.refused('POST', path, { ...more, project: '' })).toEqual([
        400,
        'project must not be empty',
      ])
  })

  it.each<[string, () => Fields]>([
    ['the project’s id', () => ({ project: shop })],
    ['the project’s name', () => ({ project: 'Shop' })],
  ])('are made by POST /api/keys with %s', async (_case, of) => {
    const made = await svc.post<Key>('/api/keys', { name: 'scout', ...of() })
    expect(made).toMatchObject({ scopes: ['read', 'findings'], project: shop })
    expect(await svc.as(made.secret).get('/api/whoami')).toEqual({
      workspace: { id: 'local', name: 'This machine', url: null },
      id: `key:${made.id}`,
      name: 'scout',
      scopes: ['read', 'findings'],
      project: shop,
      project_name: 'Shop',
    })
    const { keys } = await svc.get<{ keys: Fields[] }>('/api/keys')
    expect(keys.find(({ id }) => id === made.id)).toMatchObject({ project: shop, project_name: 'Shop' })
  })

  it.each<[string, string, Fields, number, string]>([
    [
      'ingest for a project key',
      '/api/keys',
      { name: 'k', project: 'Shop', scopes: ['ingest'] },
      400,
      'scopes',
    ],
    [
      'admin for a project key',
      '/api/keys',
      { name: 'k', project: 'Shop', scopes: ['read', 'admin'] },
      400,
      'scopes',
    ],
    ['no scope', '/api/keys', { name: 'k', project: 'Shop', scopes: [] }, 400, 'scopes'],
    ['no name', '/api/keys', { project: 'Shop' }, 400, 'name'],
    ['a name of 65 characters', '/api/keys', { name: 'k'.repeat(65), project: 'Shop' }, 400, 'name'],
    [
      'a project that is not there',
      '/api/keys',
      { name: 'k', project: 'Nope' },
      400,
      'no project has the id or name Nope',
    ],
    [
      'findings without a project',
      '/api/keys',
      { name: 'k', scopes: ['findings'] },
      400,
      'findings is a scope of project keys only',
    ],
    ['a general key without scopes', '/api/keys', { name: 'k' }, 400, 'scopes'],
    ['admin at the project', '/api/projects/Shop/keys', { name: 'k', scopes: ['admin'] }, 400, 'scopes'],
    [
      'a project in the path that is not there',
      '/api/projects/Nope/keys',
      { name: 'k' },
      404,
      'no project has the id or name Nope',
    ],
  ])('refuse %s', async (_case, path, body, status, message) => {
    const before = await svc.get<{ keys: Fields[] }>('/api/keys')
    const [answered, detail] = await svc.refused('POST', path, body)
    expect([answered, detail]).toEqual([status, expect.stringContaining(message)])
    expect(await svc.get<{ keys: Fields[] }>('/api/keys')).toEqual(before)
  })

  it.each([
    ['GET', `/api/projects/SHOP`],
    ['GET', '/api/projects/SHOP/summary'],
    ['GET', '/api/projects/SHOP/outline'],
    ['GET', '/api/projects/SHOP/graph'],
    ['GET', '/api/projects/SHOP/health'],
    ['GET', '/api/projects/SHOP/results'],
    ['GET', '/api/projects/SHOP/findings'],
    ['GET', '/api/projects/SHOP/skills'],
    ['GET', '/api/projects/SHOP/skills/checkout-runbook'],
    ['GET', '/api/projects/SHOP/skills/checkout-runbook/download'],
    ['GET', '/api/projects'],
    ['GET', '/api/usecases/SHOP'],
    ['GET', '/api/whoami'],
  ])('read their project by %s %s', async (method, path) => {
    const scout = svc.as((await projectKey()).secret)
    const answer = await scout.call(method, path.replace('SHOP', shop))
    expect(answer.status).toBe(200)
    // A key of the project sees what it is, not how it is configured.
    expect(answer.text).not.toContain('"params"')
  })

  it.each([
    ['PUT', '/api/projects/SHOP', { goal: 'mine' }],
    ['DELETE', '/api/projects/SHOP', undefined],
    ['POST', '/api/projects/SHOP/pause', undefined],
    ['GET', '/api/projects/SHOP/wiring', undefined],
    ['GET', '/api/projects/SHOP/keys', undefined],
    ['POST', '/api/projects/SHOP/keys', { name: 'more' }],
    ['POST', '/api/projects/SHOP/skills', { name: 's', description: 'd', body: 'b' }],
    ['GET', '/api/projects/Other', undefined],
    ['POST', '/api/projects/Other/findings', finding],
    ['GET', '/api/projects/Nope', undefined],
    ['GET', '/api/sources', undefined],
    ['GET', '/api/resources', undefined],
    ['GET', '/api/change-sets', undefined],
    ['GET', '/api/catalog/export', undefined],
    ['GET', '/api/nope', undefined],
    ['POST', '/remember', { key: 'a', content: 'b' }],
    ['POST', '/read', { selector: { service: 'checkout' }, window: '1h', project: 'Other' }],
    ['POST', '/read', { selector: { service: 'checkout' }, window: '1h', sources: ['elsewhere'] }],
  ])('answer 403 with the project’s name to %s %s %j', async (method, path, body) => {
    await svc.post('/api/projects', { template: 'custom', name: 'Other' })
    await svc.post('/api/sources', { name: 'elsewhere', connector: 'webhook', project: 'Other' })
    const scout = svc.as((await projectKey()).secret)
    expect(await scout.refused(method, path.replace('SHOP', shop), body)).toEqual([403, ONLY])
  })

  it('name the project as it is called now', async () => {
    const scout = svc.as((await projectKey()).secret)
    await svc.put(`/api/projects/${shop}`, { name: 'Store' })
    expect(await scout.refused('GET', '/api/sources')).toEqual([403, ONLY.replace('Shop', 'Store')])
  })

  it('read only their project’s events', async () => {
    const scout = svc.as((await projectKey()).secret)
    await svc.post('/api/sources', {
      name: 'elsewhere',
      connector: 'webhook',
      config: { labels: [{ name: 'service', const: 'checkout', primary: true }] },
    })
    for (const name of ['checkout-events', 'elsewhere']) {
      const { ingest_key } = await svc.get(`/api/sources/${name}`)
      await svc.post(`/ingest/${ingest_key}`, { from: name })
    }
    const read = { selector: { service: 'checkout' }, window: '1h' }
    expect(await svc.post('/read', read)).toMatchObject({ count: 2 })
    expect(await scout.post('/read', read)).toMatchObject({ count: 1, sources: ['checkout-events'] })
    // A text that is looked for in all sources is looked for in those of the project.
    const search = { text: 'from', window: '1h' }
    expect(await svc.post('/read', search)).toMatchObject({ count: 2 })
    expect(await scout.post('/read', search)).toMatchObject({ count: 1, sources: ['checkout-events'] })
  })

  it('learn no name of a joined entity that only other projects have', async () => {
    const names = ['service=checkout', 'host=10.0.0.4', 'account=acct-77']
    await svc.post('/api/entities/joined', { name: 'checkout', is: names })
    const label = (name: string) => ({ name, field: name })
    const elsewhere = { labels: [{ ...label('account'), primary: true }] }
    await svc.post('/api/sources', { name: 'bank', connector: 'webhook', config: elsewhere })
    const { config } = await svc.get<{ config: { labels: Fields[] } }>('/api/sources/checkout-events')
    await svc.put('/api/sources/checkout-events', {
      name: 'checkout-events',
      connector: 'webhook',
      config: { ...config, labels: [...config.labels, label('host')] },
    })
    const send = async (source: string, body: Fields) =>
      svc.post(`/ingest/${(await svc.get<Fields>(`/api/sources/${source}`)).ingest_key}`, body)
    await send('checkout-events', { service: 'checkout' })
    await send('bank', { account: 'acct-77' })
    const scout = svc.as((await projectKey()).secret)
    const asked = [
      ['/read', { selector: { service: 'checkout' } }],
      ['/read', { selector: { service: 'checkout' }, max_tokens: 500 }],
      ['/api/stats', { by: 'service', where: { service: 'checkout' } }],
      ['/api/inspect', { tool: 'changed', selector: { service: 'checkout' } }],
    ] as const
    for (const [path, body] of asked) {
      const { status, text } = await scout.call('POST', path, body)
      expect([path, status, /acct-77|10\.0\.0\.4/.exec(text)]).toEqual([path, 200, null])
    }
    await send('checkout-events', { service: 'checkout', host: '10.0.0.4' })
    const joined = [{ label: 'service', value: 'checkout', entity: 'checkout', names: names.slice(0, 2) }]
    expect(await scout.post('/read', { selector: { service: 'checkout' } })).toMatchObject({
      joined,
      payload: expect.stringContaining('10.0.0.4'),
    })
    expect(await svc.post('/read', { selector: { service: 'checkout' } })).toMatchObject({
      joined: [{ names }],
    })
  })
})

describe('recording a finding', () => {
  it('carries the name of its key, is a result of the project and an event of its entity', async () => {
    const scout = svc.as((await projectKey()).secret)
    const made = await scout.call('POST', `/api/projects/${shop}/findings`, finding)
    expect([made.status, made.body]).toMatchObject([201, { ok: true, agent: 'scout', entity: 'checkout' }])
    expect(await inbox()).toMatchObject([{ agent: 'scout', finding: finding.finding, external: true }])
    expect(await scout.post('/read', { selector: { service: 'checkout' }, window: '1h' })).toMatchObject({
      count: 1,
    })
  })

  it.each(['', '  '])('says what its note says where headline and next step are blank: %j', async (blank) => {
    const scout = svc.as((await projectKey()).secret)
    const note = { finding: '## Disk full\n\nNo room is left.\n\nNext step: purge the logs' }
    const path = `/api/projects/${shop}/findings`
    const { run_id } = await scout.post(path, { ...finding, ...note, headline: blank, next_step: blank })
    expect(await svc.get(`/api/projects/${shop}/results/${run_id}`)).toMatchObject({
      headline: 'Disk full',
      next_step: 'purge the logs',
    })
    expect(await inbox()).toMatchObject([{ headline: null, next_step: null }])
    const { rows } = await svc.post<{ rows: Fields[] }>('/read', { selector: { service: 'checkout' } })
    expect(rows.map(({ text }) => text)).toEqual([expect.stringContaining('Disk full')])
  })

  it('is bounded: a loop that went wrong records 120 in a minute, and other keys as before', async () => {
    const [loop, scout] = [
      svc.as((await projectKey({ name: 'loop' })).secret),
      svc.as((await projectKey()).secret),
    ]
    const record = (by: typeof scout) => by.call('POST', `/api/projects/${shop}/findings`, finding)
    for (let i = 0; i < 120; i++) expect((await record(loop)).status).toBe(201)
    svc.clock.at += 10_000
    const refused = await record(loop)
    expect([refused.status, refused.headers.get('retry-after'), refused.body.detail]).toEqual([
      429,
      '50',
      'this credential recorded 120 findings within a minute; wait',
    ])
    expect((await record(scout)).status).toBe(201)
    svc.clock.at += 50_000
    expect((await record(loop)).status).toBe(201)
  })

  it('needs the scope findings: a key that only reads is refused', async () => {
    const reader = svc.as((await projectKey({ scopes: ['read'] })).secret)
    expect(await reader.refused('POST', `/api/projects/${shop}/findings`, finding)).toEqual([
      403,
      "this credential lacks the 'findings' scope",
    ])
    expect(await reader.get(`/api/projects/${shop}/findings`)).toEqual({ findings: [] })
    const general = await svc.post<Key>('/api/keys', { name: 'r', scopes: ['read'] })
    expect((await svc.as(general.secret).refused('POST', `/api/projects/${shop}/findings`, finding))[0]).toBe(
      403,
    )
    expect(await inbox()).toEqual([])
  })

  it.each<[string, Fields, string]>([
    ['no entity', { entity: undefined }, 'entity'],
    ['an entity of 513 characters', { entity: 'e'.repeat(513) }, 'entity'],
    ['no text', { finding: ' ' }, 'finding'],
    ['a text of 65,537 characters', { finding: 'f'.repeat(65_537) }, 'finding'],
    ['a verdict with a capital', { verdict: 'Cause' }, 'verdict'],
    ['a headline of 101 characters', { headline: 'h'.repeat(101) }, 'headline'],
    ['a next step of 301 characters', { next_step: 'n'.repeat(301) }, 'next_step'],
    ['a name of its own', { agent: 'somebody' }, 'agent: a finding carries the name of its key'],
    ['a label that is none', { label: 'a-b' }, 'label'],
  ])('refuses %s', async (_case, more, message) => {
    const scout = svc.as((await projectKey()).secret)
    const [status, detail] = await scout.refused('POST', `/api/projects/${shop}/findings`, {
      ...finding,
      ...more,
    })
    expect([status, detail]).toEqual([400, expect.stringContaining(message)])
    expect(await inbox()).toEqual([])
  })

  it('under the name of a service agent is refused with 409, when the key is made', async () => {
    const [status, detail] = await svc.refused('POST', `/api/projects/${shop}/keys`, {
      name: 'checkout-first-look',
    })
    expect([status, detail]).toEqual([409, expect.stringContaining('is the name of an agent')])
  })
})

describe('the end of a project key', () => {
  it('revoked, it is not known any more', async () => {
    const { id, secret } = await projectKey()
    await svc.del(`/api/keys/${id}`)
    expect(await svc.as(secret).refused('GET', '/api/whoami')).toEqual([401, 'authentication required'])
  })

  it('it goes with its project, and does not come back when the delete is undone', async () => {
    const { secret } = await projectKey()
    const { change_set, revoked_keys } = await svc.del<{ change_set: number; revoked_keys: number }>(
      `/api/projects/${shop}`,
    )
    expect(revoked_keys).toBe(1)
    expect((await svc.as(secret).refused('GET', '/api/whoami'))[0]).toBe(401)
    await svc.post(`/api/change-sets/${change_set}/undo`, {})
    expect((await svc.as(secret).refused('GET', '/api/whoami'))[0]).toBe(401)
    expect(await svc.get(`/api/projects/${shop}/keys`)).toMatchObject({ keys: [{ state: 'revoked' }] })
  })

  it('what it recorded stays, when the key is revoked', async () => {
    const { id, secret } = await projectKey()
    await svc.as(secret).post(`/api/projects/${shop}/findings`, finding)
    await svc.del(`/api/keys/${id}`)
    expect(await inbox()).toMatchObject([{ agent: 'scout' }])
  })
})

describe('scopes of general keys', () => {
  const keyOf = async (...scopes: string[]) =>
    svc.as((await svc.post<Key>('/api/keys', { name: 'k', scopes })).secret)

  it.each([
    ['a project', '/api/projects', { template: 'custom', name: 'Mine' }],
    ['an MCP server', '/api/mcp-servers', { name: 'm', url: 'https://m.example/' }],
    ['a trigger', '/api/triggers', { name: 't', sources: ['checkout-events'], condition: { every: '1h' } }],
    ['an agent', '/api/agents/builtin', { name: 'a', prompt: 'p' }],
    ['a source', '/api/sources', { name: 's', connector: 'webhook' }],
    ['a catalog', '/api/catalog/import', { yaml: 'sources: []\n' }],
  ])('a key that reads cannot write %s, one for admin can', async (_case, path, body) => {
    for (const scopes of [['read'], ['ingest'], ['read', 'ingest']])
      expect(await (await keyOf(...scopes)).refused('POST', path, body)).toEqual([
        403,
        "this credential lacks the 'admin' scope",
      ])
    expect((await (await keyOf('admin')).call('POST', path, body)).status).toBeLessThan(300)
  })

  it('the history names the key that wrote', async () => {
    const key = await svc.post<Key>('/api/keys', { name: 'maria', scopes: ['admin'] })
    await svc.as(key.secret).put(`/api/projects/${shop}`, { goal: 'Watch' }, { 'x-svc-why': 'asked for' })
    const { change_sets } = await svc.get<{ change_sets: Fields[] }>('/api/change-sets?limit=1')
    expect(change_sets[0]).toMatchObject({ actor: 'maria', actor_id: `key:${key.id}`, why: 'asked for' })
  })

  it('no credential, and a wrong one, are refused before anything else', async () => {
    for (const token of ['', 'wrong', `${ROOT}x`])
      expect(await svc.as(token).refused('POST', '/api/projects', { template: 'nothing' })).toEqual([
        401,
        'authentication required',
      ])
  })
})
