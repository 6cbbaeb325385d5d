import { describe, expect, it } from 'vitest'
import { articleOf } from '../../schemas/kinds.ts'
import { type Fields, type Instance, startBeforeEach, startInstance } from './instance.ts'

let svc: Instance
let shop: string
const condition = { aggregate: 'count', predicate: '> 5', window: '5m' }
const BASES = { trigger: '/api/triggers', agent: '/api/agents/builtin', mcp_server: '/api/mcp-servers' }
type Kind = keyof typeof BASES
const KINDS = Object.keys(BASES) as Kind[]
const WORDS = { trigger: 'trigger', agent: 'agent', mcp_server: 'MCP server' }
const LISTED = { agent: 'agents', mcp_server: 'servers' } as const

/** A body that is right, and one that differs in a field. */
const BODIES: Record<Kind, { body: Fields; edited: Fields; shown: Fields }> = {
  trigger: {
    body: { name: 'x', sources: ['gw'], condition },
    edited: { name: 'x', sources: ['gw'], condition, cooldown: '1h' },
    shown: { cooldown: '1h' },
  },
  agent: { body: { name: 'x', prompt: 'Look.' }, edited: { prompt: 'Twice.' }, shown: { prompt: 'Twice.' } },
  mcp_server: {
    body: { name: 'x', url: 'https://mcp.example/' },
    edited: { name: 'x', url: 'https://other.example/' },
    shown: { url: 'https://other.example/' },
  },
}

startBeforeEach(async () => {
  svc = await startInstance()
  shop = (await svc.post<{ id: string }>('/api/projects', { template: 'custom', name: 'Shop' })).id
  await svc.post('/api/sources', { name: 'gw', connector: 'webhook' })
  return svc
})

const listOf = async (kind: Kind): Promise<Fields[]> => {
  const listed = await svc.get<Fields[] & Record<string, Fields[]>>(BASES[kind])
  return kind === 'trigger' ? listed : listed[LISTED[kind]]!
}

describe('lists of what is declared', () => {
  it.each([
    '/api/sources',
    ...['/api/triggers', '/api/agents/builtin', '/api/mcp-servers', '/api/skills', '/api/projects'],
    ...['/api/resources', '/api/connectors'],
  ])('of %s are not sent again to who has them', async (path) => {
    const first = await svc.call('GET', path)
    const etag = first.headers.get('etag')!
    expect([first.status, etag]).toEqual([200, expect.stringMatching(/^"[\w-]{22}"$/)])
    const again = await svc.call('GET', path, undefined, { 'if-none-match': etag })
    expect([again.status, again.text]).toEqual([304, ''])
    if (path === '/api/connectors') return
    await svc.post('/api/sources', { name: 'more', connector: 'webhook' })
    await svc.post('/api/triggers', { name: 't', sources: ['gw'], condition: { event: 'any' } })
    await svc.post('/api/agents/builtin', { name: 'a', prompt: 'p' })
    await svc.post('/api/mcp-servers', { name: 'm', url: 'https://m.example/mcp' })
    await svc.post('/api/projects/Shop/skills', { name: 's', description: 'How.', body: 'So.' })
    const changed = await svc.call('GET', path, undefined, { 'if-none-match': etag })
    expect([changed.status, changed.headers.get('etag') === etag]).toEqual([200, false])
  })
})

describe.each(KINDS)('the endpoints of a %s', (kind) => {
  const base = BASES[kind]
  const { body, edited, shown } = BODIES[kind]

  it('make it, read it, list it, change it and delete it', async () => {
    const made = await svc.call('POST', base, { ...body, project: 'Shop' })
    expect([made.status, made.body]).toMatchObject([201, { ok: true, name: 'x', project: shop }])
    const read = await svc.call('GET', `${base}/x`)
    expect(read.body).toMatchObject({ name: 'x', owned_by: shop, customized: false, projects: [shop] })
    expect(read.headers.get('etag')).toBe(`"${read.body.version}"`)
    // Lists do not say whether its labels come.
    const { warnings: _warnings, ...listed } = read.body
    expect(await listOf(kind)).toEqual([listed])
    expect(await svc.put(`${base}/x`, edited)).toMatchObject({ ok: true, version: expect.any(Number) })
    expect(await svc.get(`${base}/x`)).toMatchObject(shown)
    expect(await svc.del(`${base}/x`)).toMatchObject({ ok: true, deleted: [`${kind}:x`] })
    expect(await listOf(kind)).toEqual([])
  })

  it('answer 409 when the name is taken', async () => {
    await svc.post(base, body)
    expect(await svc.refused('POST', base, body)).toEqual([
      409,
      `${articleOf(WORDS[kind])} ${WORDS[kind]} named x exists`,
    ])
  })

  it.each([
    ['GET', ''],
    ['PUT', ''],
    ['DELETE', ''],
    ...{
      trigger: ['pause', 'resume'],
      agent: ['enable', 'disable'],
      mcp_server: [],
    }[kind].map((event): [string, string] => ['POST', `/${event}`]),
  ])('answer 404 to %s /gone%s', async (method, rest) => {
    const sent = method === 'PUT' ? { ...edited, ...(edited.name ? { name: 'gone' } : {}) } : undefined
    expect(await svc.refused(method, `${base}/gone${rest}`, sent)).toEqual([
      404,
      `no ${WORDS[kind]} is named gone`,
    ])
  })

  it('refuse a name that breaks the rule, another name in a body, a field that is unknown', async () => {
    expect((await svc.refused('POST', base, { ...body, name: 'a b' }))[0]).toBe(400)
    expect((await svc.refused('POST', base, { ...body, name: '' }))[0]).toBe(400)
    expect((await svc.refused('POST', base, { ...body, colour: 'red' }))[1]).toContain('colour')
    await svc.post(base, body)
    const [status, detail] = await svc.refused('PUT', `${base}/x`, { ...body, name: 'y' })
    expect([status, detail]).toEqual([
      400,
      expect.stringMatching(
        /^name must equal the name in the path; to rename it, POST to that path followed by \/rename, or svc [a-z-]+s rename$/,
      ),
    ])
    await svc.post(`${base}/x/rename`, { to: 'y' })
    expect((await svc.call('GET', `${base}/y`)).status).toBe(200)
    expect((await svc.refused('POST', base, { ...body, name: 'z', project: 'Nope' }))[1]).toBe(
      'project: no project is named Nope',
    )
  })

  it('make the Default project with the first that is made outside one', async () => {
    const { project } = await svc.post<{ project: string }>(base, body)
    const { projects } = await svc.get<{ projects: Fields[] }>('/api/projects')
    expect(projects[0]).toMatchObject({ id: project, name: 'Default', default: true })
    expect(await svc.get(`${base}/x`)).toMatchObject({ owned_by: null, projects: [project] })
  })

  it('come back by undoing the delete, as they were', async () => {
    await svc.post(base, { ...body, project: 'Shop' })
    const { version: _version, updated_at: _at, ...before } = await svc.get(`${base}/x`)
    const { change_set } = await svc.del<{ change_set: number }>(`${base}/x`)
    await svc.post(`/api/change-sets/${change_set}/undo`, {})
    expect(await svc.get(`${base}/x`)).toMatchObject(before)
  })
})

describe('references between parts', () => {
  it.each<[string, string, Fields, string]>([
    [
      'a trigger over a source that is not there',
      '/api/triggers',
      { name: 't', sources: ['gone'], condition },
      'trigger t: no source is named gone',
    ],
    [
      'an agent of a trigger that is not there',
      '/api/agents/builtin',
      { name: 'a', prompt: 'p', trigger: 'gone' },
      'trigger: no trigger is named gone',
    ],
    [
      'an agent with tools that are not there',
      '/api/agents/builtin',
      { name: 'a', prompt: 'p', mcp_servers: ['gone'] },
      'agent a: no MCP server is named gone',
    ],
    [
      'a handoff to nobody',
      '/api/agents/builtin',
      { name: 'a', prompt: 'p', handoffs: [{ verdict: 'dig', agent: 'gone' }] },
      'handoffs: no agent is named gone',
    ],
    ['a trigger with a view', '/api/triggers', { name: 't', view: 'v', sources: ['gw'], condition }, 'view'],
  ])('are refused: %s', async (_case, path, body, message) => {
    const [status, detail] = await svc.refused('POST', path, body)
    expect([status, detail]).toEqual([400, expect.stringContaining(message)])
  })

  it('an agent hands over to no one twice, and not to itself', async () => {
    await svc.post('/api/agents/builtin', { name: 'a', prompt: 'p' })
    const put = (handoffs: Fields[]) => svc.refused('PUT', '/api/agents/builtin/a', { handoffs })
    expect((await put([{ verdict: 'dig', agent: 'a' }]))[0]).toBe(400)
    await svc.post('/api/agents/builtin', { name: 'b', prompt: 'p' })
    const twice = { verdict: 'dig', agent: 'b' }
    expect((await put([twice, twice]))[0]).toBe(400)
  })

  it('a source that triggers read is refused its delete; cascade takes them, and agents stay', async () => {
    await svc.post('/api/sources', { name: 'other', connector: 'webhook' })
    await svc.post('/api/triggers', { name: 't', sources: ['gw', 'other'], condition })
    await svc.post('/api/agents/builtin', { name: 'a', prompt: 'p', trigger: 't' })
    const dependents = {
      dependents: [
        { kind: 'trigger', name: 't', stays: false, also_reads: ['other'] },
        { kind: 'agent', name: 'a', stays: true },
      ],
    }
    expect(await svc.get('/api/catalog/dependents?kind=source&name=gw')).toEqual(dependents)
    const [status, detail] = await svc.refused('DELETE', '/api/sources/gw')
    expect([status, detail]).toEqual([
      409,
      'source gw is read by trigger t (which reads other too); cascade=true (--cascade) deletes them too, or change them first',
    ])
    expect(await svc.del('/api/sources/gw?cascade=true')).toMatchObject({
      deleted: ['trigger:t'],
      agents_without_trigger: ['a'],
    })
    expect(await svc.get('/api/agents/builtin/a')).toMatchObject({ trigger: '', triggers: [] })
  })

  it('deleting a trigger leaves its agents, without a trigger', async () => {
    await svc.post('/api/triggers', { name: 't', sources: ['gw'], condition })
    await svc.post('/api/agents/builtin', { name: 'a', prompt: 'p', trigger: 't' })
    // An agent that another hands over to is started still.
    await svc.post('/api/agents/builtin', { name: 'b', prompt: 'p', trigger: 't' })
    await svc.put('/api/agents/builtin/a', { handoffs: [{ verdict: 'dig', agent: 'b' }] })
    expect(await svc.get('/api/catalog/dependents?kind=trigger&name=t')).toEqual({
      dependents: [{ kind: 'agent', name: 'a', stays: true }],
    })
    expect(await svc.del('/api/triggers/t')).toMatchObject({ agents_without_trigger: ['a'] })
    expect(await svc.get('/api/agents/builtin/a')).toMatchObject({
      trigger: '',
      triggers: [],
      enabled: false,
    })
  })

  it('deleting an agent takes it out of handoffs, deleting an MCP server out of the agents', async () => {
    await svc.post('/api/mcp-servers', { name: 'm', url: 'https://m.example/' })
    await svc.post('/api/agents/builtin', { name: 'b', prompt: 'p', mcp_servers: ['m'] })
    await svc.post('/api/agents/builtin', {
      name: 'a',
      prompt: 'p',
      handoffs: [{ verdict: 'dig', agent: 'b' }],
    })
    expect(await svc.get('/api/catalog/dependents?kind=agent&name=b')).toEqual({
      dependents: [{ kind: 'agent', name: 'a', stays: true }],
    })
    expect(await svc.get('/api/catalog/dependents?kind=mcp_server&name=m')).toEqual({
      dependents: [{ kind: 'agent', name: 'b', stays: true }],
    })
    await svc.del('/api/mcp-servers/m')
    expect(await svc.get('/api/agents/builtin/b')).toMatchObject({ mcp_servers: [], effective_max_rounds: 6 })
    expect(await svc.del('/api/agents/builtin/b')).toMatchObject({ handoffs_removed_from: ['a'] })
    expect(await svc.get('/api/agents/builtin/a')).toMatchObject({ handoffs: [] })
  })

  it.each([
    ['kind=source&name=gone', 404, 'no source is named gone'],
    ['kind=view&name=gw', 400, 'kind must be one of source, mcp_server, skill, trigger, agent'],
    ['kind=source', 400, 'name'],
  ])('dependents of %s are refused with %i', async (query, status, message) => {
    const [answered, detail] = await svc.refused('GET', `/api/catalog/dependents?${query}`)
    expect([answered, detail]).toEqual([status, expect.stringContaining(message)])
  })
})

describe('limits of agents', () => {
  it('what a save warns of is read for as long as it holds', async () => {
    await svc.post('/api/agents/builtin', { name: 'b', prompt: 'p' })
    const verdicts = [{ verdict: 'dig', when: 'odd' }]
    const handoffs = [{ verdict: 'rca', agent: 'b' }]
    const warning = 'it never hands over to b, for rca is none of its verdicts: dig'
    expect(
      await svc.post('/api/agents/builtin', { name: 'a', prompt: 'p', verdicts, handoffs }),
    ).toMatchObject({ warnings: [`agent a: ${warning}`] })
    expect(await svc.get('/api/agents/builtin/a')).toMatchObject({ warnings: [warning] })
    // Whoever makes another agent is not told of it again.
    expect(await svc.post('/api/agents/builtin', { name: 'c', prompt: 'p' })).not.toHaveProperty('warnings')
    await svc.put('/api/agents/builtin/a', { handoffs: [] })
    expect(await svc.get('/api/agents/builtin/a')).toMatchObject({ warnings: [] })
    const again = await svc.refused('POST', '/api/agents/builtin', { name: 'a', prompt: 'p' })
    expect(again).toEqual([409, 'an agent named a exists'])
  })

  it('six rounds, twelve with MCP servers, or those it is given', async () => {
    await svc.post('/api/mcp-servers', { name: 'm', url: 'https://m.example/' })
    const rounds = async (body: Fields) => {
      await svc.post('/api/agents/builtin', { name: `a${JSON.stringify(body).length}`, prompt: 'p', ...body })
      const { effective_max_rounds } = await svc.get(`/api/agents/builtin/a${JSON.stringify(body).length}`)
      return effective_max_rounds
    }
    expect([
      await rounds({}),
      await rounds({ mcp_servers: ['m'] }),
      await rounds({ mcp_servers: ['m'], max_rounds: 3 }),
    ]).toEqual([6, 12, 3])
    expect(await svc.get('/api/agents/builtin')).toMatchObject({
      default_max_rounds: 6,
      default_max_rounds_with_mcp: 12,
    })
  })

  it.each([
    ['max_rounds', 0],
    ['max_rounds', 25],
    ['budget_usd', 0],
    ['budget_usd', -1],
    ['daily_cap', 0],
    ['prompt', ' '],
    ['prompt', 'p'.repeat(8_001)],
    ['verdicts', ['no_op']],
    ['provider', 'Not An Id'],
    ['slack_channel', 'general'],
    ['webhook_url', 'file:///etc/passwd'],
  ])('refuses %s %j by name', async (field, value) => {
    const [status, detail] = await svc.refused('POST', '/api/agents/builtin', {
      name: 'a',
      prompt: 'p',
      [field]: value,
    })
    expect([status, detail]).toEqual([400, expect.stringContaining(field)])
  })
})

describe('secrets of parts', () => {
  it('are said to be there, never shown, and a blank one keeps what is stored', async () => {
    const canary = 'CANARY-2288'
    await svc.post('/api/mcp-servers', { name: 'm', url: 'https://m.example/', auth_value: canary })
    await svc.post('/api/agents/builtin', {
      name: 'a',
      prompt: 'p',
      webhook_url: 'https://w.example/',
      webhook_token: canary,
      slack_webhook: `https://hooks.example/${canary}`,
    })
    await svc.put('/api/mcp-servers/m', { name: 'm', url: 'https://m.example/mcp', auth_value: '' })
    await svc.put('/api/agents/builtin/a', { prompt: 'q', webhook_token: '' })
    expect(await svc.get('/api/mcp-servers/m')).toMatchObject({ auth_value_configured: true })
    expect(await svc.get('/api/agents/builtin/a')).toMatchObject({
      webhook_token_configured: true,
      slack_configured: true,
    })
    for (const path of [
      '/api/mcp-servers',
      '/api/agents/builtin',
      '/api/change-sets',
      '/api/catalog/export',
      '/api/resources',
    ])
      expect((await svc.call('GET', path)).text, path).not.toContain(canary)
  })

  it('of a change keeps what is absent, and null takes a bound away, but nothing else', async () => {
    const bounds = { max_rounds: 3, budget_usd: 2, daily_cap: 9, run_budget_usd: 1, concurrency: 2 }
    const verdicts = [{ verdict: 'dig', when: 'it is odd' }]
    await svc.post('/api/agents/builtin', { name: 'a', prompt: 'p', concludes: true, verdicts, ...bounds })
    await svc.put('/api/agents/builtin/a', { prompt: 'q' })
    expect(await svc.get('/api/agents/builtin/a')).toMatchObject(bounds)
    const none = Object.fromEntries(Object.keys(bounds).map((bound) => [bound, null]))
    await svc.put('/api/agents/builtin/a', { ...none, concludes: null, verdicts: null, handoffs: null })
    expect(await svc.get('/api/agents/builtin/a')).toMatchObject({ ...none, concludes: true, verdicts })
  })

  it('clearing the address of the write-back drops its token', async () => {
    await svc.post('/api/agents/builtin', {
      name: 'a',
      prompt: 'p',
      webhook_url: 'https://w.example/',
      webhook_token: 't',
    })
    await svc.put('/api/agents/builtin/a', { webhook_url: '' })
    expect(await svc.get('/api/agents/builtin/a')).toMatchObject({ webhook_token_configured: false })
  })
})

describe('GET /api/resources', () => {
  it('has every part with the projects that use it, and the keys that are not revoked', async () => {
    await svc.post('/api/mcp-servers', { name: 'm', url: 'https://m.example/' })
    await svc.post('/api/triggers', { name: 't', sources: ['gw'], condition, project: 'Shop' })
    await svc.post('/api/agents/builtin', {
      name: 'a',
      prompt: 'Look.\nTwice.',
      trigger: 't',
      mcp_servers: ['m'],
      project: 'Shop',
    })
    await svc.post(`/api/projects/${shop}/skills`, { name: 's', description: 'd', body: 'b' })
    await svc.post(`/api/projects/${shop}/keys`, { name: 'reader' })
    const gone = await svc.post<{ id: string }>('/api/keys', { name: 'gone', scopes: ['read'] })
    await svc.del(`/api/keys/${gone.id}`)
    const resources = await svc.get<Record<string, Fields[]>>('/api/resources')
    const used = { used_by: [{ id: shop, name: 'Shop' }] }
    expect(Object.keys(resources)).toEqual(['sources', 'triggers', 'agents', 'tools', 'skills', 'keys'])
    expect(resources.triggers).toEqual([
      expect.objectContaining({ name: 't', state: 'active', owned_by: shop, ...used }),
    ])
    expect(resources.agents).toEqual([
      expect.objectContaining({ name: 'a', what: 'Look.', state: 'off', ...used }),
    ])
    expect(resources.skills).toEqual([expect.objectContaining({ name: 's', what: 'd', ...used })])
    expect(resources.keys).toEqual([expect.objectContaining({ name: 'reader', ...used })])
    const [tool] = resources.tools!
    expect((tool!.used_by as Fields[]).map(({ name }) => name).sort()).toEqual(['Default', 'Shop'])
    expect(resources.sources!.map(({ name, state }) => [name, state])).toEqual([['gw', 'push']])
  })
})

describe('a name of which every object inherits a field', () => {
  const RESERVED = 'name must not be constructor: it is reserved'

  it.each<readonly [string, string, Fields]>([
    ['source', '/api/sources', { connector: 'webhook' }],
    ...KINDS.map((kind) => [kind, BASES[kind], BODIES[kind].body] as const),
  ])('is refused of a %s that is made or renamed', async (_kind, base, body) => {
    expect(await svc.refused('POST', base, { ...body, name: 'constructor' })).toEqual([400, RESERVED])
    await svc.post(base, { ...body, name: 'x' })
    expect(await svc.refused('POST', `${base}/x/rename`, { to: 'constructor' })).toEqual([400, RESERVED])
  })

  it('is refused of a skill and of a joined entity', async () => {
    const skill = { name: 'constructor', description: 'How to', body: 'Look.' }
    expect(await svc.refused('POST', `/api/projects/${shop}/skills`, skill)).toEqual([400, RESERVED])
    const entity = { name: 'constructor', is: ['service=a', 'host=b'] }
    expect(await svc.refused('POST', '/api/entities/joined', entity)).toEqual([400, RESERVED])
  })

  it.each([
    'sources: [{ name: constructor, connector: webhook }]',
    'triggers: [{ name: constructor, sources: [gw], condition: { event: any } }]',
    'agents: [{ name: constructor, prompt: Look. }]',
    'mcp_servers: [{ name: constructor, url: https://mcp.example/ }]',
    'entities: [{ name: constructor, is: [service=a, host=b] }]',
  ])('is refused in a catalog: %s', async (yaml) => {
    const { problems } = await svc.post<{ problems: { message: string }[] }>('/api/catalog/check', { yaml })
    expect(problems.map(({ message }) => message)).toEqual([RESERVED])
  })
})

it('a description of a trigger is read after the word When, which it may begin with', async () => {
  await svc.post('/api/triggers', { name: 't', sources: ['gw'], condition, description: 'When orders fail.' })
  expect(await svc.get('/api/triggers/t')).toMatchObject({
    description: 'orders fail',
    sentence: 'When orders fail',
  })
})
