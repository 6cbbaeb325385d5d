import { describe, expect, it } from 'vitest'
import { type Answer, type Fields, type Instance, startBeforeEach, startInstance } from './instance.ts'

interface Conflicted {
  detail: string
  conflicts: { kind: string; name: string; path: string; base: unknown; mine: unknown; theirs: unknown }[]
}

let svc: Instance
const condition = { aggregate: 'count', predicate: '> 5', window: '5m' }

startBeforeEach(async () => {
  svc = await startInstance()
  await svc.post('/api/sources', { name: 'gw', connector: 'webhook' })
  return svc
})

const custom = () =>
  svc.post<{ id: string }>('/api/projects', { template: 'custom', name: 'Shop', goal: 'Sell' })
const watch = () =>
  svc.post<{ id: string }>('/api/projects', {
    template: 'webhook_watch',
    name: 'Watch',
    params: { service: 'shop', threshold: 5, window: '5m' },
  })
/** Two writers who both read it as it is now. */
async function writers(path: string) {
  const etag = (await svc.call('GET', path)).headers.get('etag')!
  const write = (body: unknown, to = path): Promise<Answer<Fields & Conflicted>> =>
    svc.call('PUT', to, body, { 'if-match': etag })
  return { first: write, second: write }
}
const conflictOf = ({ status, body }: Answer<Conflicted>) => [status, body.conflicts]
const newest = async () => (await svc.get<{ version: number }>('/api/change-sets?limit=1')).version
const undo = (id: number) => svc.post(`/api/change-sets/${id}/undo`, {})

describe('two writers on one project', () => {
  it('who change different fields are both kept', async () => {
    const { id } = await custom()
    const path = `/api/projects/${id}`
    const { first, second } = await writers(path)
    expect((await first({ name: 'Store' })).status).toBe(200)
    expect((await second({ goal: 'Sell more' })).status).toBe(200)
    expect(await svc.get(path)).toMatchObject({ name: 'Store', goal: 'Sell more' })
  })

  it('who change the same field: the second gets 409 with base, mine and theirs, and nothing of it is written', async () => {
    const { id } = await custom()
    const path = `/api/projects/${id}`
    const { first, second } = await writers(path)
    await first({ goal: 'theirs' })
    const before = await newest()
    const answer = await second({ goal: 'mine', name: 'Store' })
    expect(conflictOf(answer)).toEqual([
      409,
      [{ kind: 'project', name: 'Shop', path: '/goal', base: 'Sell', mine: 'mine', theirs: 'theirs' }],
    ])
    expect(answer.body.detail).toContain('project Shop was changed since: /goal')
    expect([await newest(), await svc.get(path)]).toEqual([
      before,
      expect.objectContaining({ name: 'Shop', goal: 'theirs' }),
    ])
  })

  it('who make the same change are both content', async () => {
    const { id } = await custom()
    const { first, second } = await writers(`/api/projects/${id}`)
    await first({ goal: 'same' })
    expect((await second({ goal: 'same' })).status).toBe(200)
  })

  it('who each add to a list of names are both kept, as who takes one out is, and undoing one keeps the other', async () => {
    for (const name of ['app', 'db']) await svc.post('/api/sources', { name, connector: 'webhook' })
    await svc.post('/api/triggers', { name: 't', sources: ['gw'], condition })
    const { first, second } = await writers('/api/triggers/t')
    expect((await first({ name: 't', sources: ['gw', 'app'], condition })).status).toBe(200)
    const one = await newest()
    expect((await second({ name: 't', sources: ['db', 'gw'], condition })).status).toBe(200)
    expect(await svc.get('/api/triggers/t')).toMatchObject({ sources: ['db', 'gw', 'app'] })
    await undo(one)
    expect(await svc.get('/api/triggers/t')).toMatchObject({ sources: ['db', 'gw'] })
    // Who orders it anew and who adds to it do not meet either.
    const again = await writers('/api/triggers/t')
    await again.first({ name: 't', sources: ['gw', 'db'], condition })
    expect((await again.second({ name: 't', sources: ['db'], condition })).status).toBe(200)
    expect(await svc.get('/api/triggers/t')).toMatchObject({ sources: ['db'] })
  })

  it('undoing the first keeps the second, and the other way round', async () => {
    const { id } = await custom()
    const path = `/api/projects/${id}`
    const both = async () => {
      const { first, second } = await writers(path)
      await first({ name: 'Store' })
      const one = await newest()
      await second({ goal: 'Sell more' })
      return [one, await newest()] as const
    }
    const [one] = await both()
    await undo(one)
    expect(await svc.get(path)).toMatchObject({ name: 'Shop', goal: 'Sell more' })
    await svc.put(path, { goal: 'Sell' })
    const [, two] = await both()
    await undo(two)
    expect(await svc.get(path)).toMatchObject({ name: 'Store', goal: 'Sell' })
  })

  it('undoing the first wire keeps the second, though nothing was wired before', async () => {
    await svc.post('/api/triggers', { name: 't', sources: ['gw'], condition })
    for (const name of ['a', 'b']) await svc.post('/api/agents/builtin', { name, prompt: 'p' })
    const { id } = await custom()
    const wake = (agent: string) => ({
      op: 'patch',
      kind: 'project',
      name: id,
      spec: { wakes: { t: { [agent]: { enabled: true } } } },
    })
    const { change_set } = await svc.post<{ change_set: number }>('/api/change-sets', {
      operations: [wake('a')],
    })
    await svc.post('/api/change-sets', { operations: [wake('b')] })
    await undo(change_set)
    expect(await svc.get(`/api/projects/${id}/wiring`)).toEqual({
      wakes: [{ trigger: 't', agent: 'b', enabled: true }],
      handoffs: [],
    })
  })

  it('undoing the first is refused when the second changed the same field, and says how', async () => {
    const { id } = await custom()
    await svc.put(`/api/projects/${id}`, { goal: 'first' })
    const one = await newest()
    await svc.put(`/api/projects/${id}`, { goal: 'second' })
    const answer = await svc.call<Conflicted>('POST', `/api/change-sets/${one}/undo`, {})
    expect(conflictOf(answer)).toEqual([
      409,
      [{ kind: 'project', name: 'Shop', path: '/goal', base: 'first', mine: 'Sell', theirs: 'second' }],
    ])
  })

  it('who change different parameters of a template project are both kept', async () => {
    const { id } = await watch()
    const path = `/api/projects/${id}`
    const { first, second } = await writers(path)
    await first({ params: { service: 'shop', threshold: 9, window: '5m' } })
    expect((await second({ params: { service: 'shop', threshold: 5, window: '10m' } })).status).toBe(200)
    expect((await svc.get<{ params: Fields }>(path)).params).toMatchObject({ threshold: 9, window: '10m' })
    expect(await svc.get('/api/triggers/shop-errors')).toMatchObject({
      condition: { predicate: '>= 9', window: '10m' },
    })
  })

  it('who change the same parameter: the second gets 409', async () => {
    const { id } = await watch()
    const { first, second } = await writers(`/api/projects/${id}`)
    await first({ params: { service: 'shop', threshold: 9 } })
    const answer = await second({ params: { service: 'shop', threshold: 7 } })
    expect(answer.status).toBe(409)
    expect(answer.body.conflicts).toContainEqual({
      kind: 'project',
      name: 'Watch',
      path: '/params/threshold',
      base: 5,
      mine: 7,
      theirs: 9,
    })
  })

  it('who add different objects to a custom project are both kept', async () => {
    for (const name of ['a', 'b']) await svc.post('/api/sources', { name, connector: 'webhook' })
    const { id } = await custom()
    await svc.put(`/api/projects/${id}`, { objects: [{ kind: 'source', name: 'gw' }] })
    const { first, second } = await writers(`/api/projects/${id}`)
    const objects = (...names: string[]) => ({ objects: names.map((name) => ({ kind: 'source', name })) })
    await first(objects('gw', 'a'))
    expect((await second(objects('b'))).status).toBe(200)
    const { objects: held } = await svc.get<{ objects: { name: string }[] }>(`/api/projects/${id}`)
    expect(held.map(({ name }) => name)).toEqual(['a', 'b'])
  })

  it('who wire different agents are both kept, and who wire the same one differently are not', async () => {
    await svc.post('/api/triggers', { name: 't', sources: ['gw'], condition })
    for (const name of ['a', 'b']) await svc.post('/api/agents/builtin', { name, prompt: 'p' })
    const { id } = await custom()
    const path = `/api/projects/${id}/wiring`
    const wires = (...agents: [string, boolean][]) => ({
      wakes: agents.map(([agent, enabled]) => ({ trigger: 't', agent, enabled })),
      handoffs: [],
    })
    await svc.put(path, wires(['a', false]))
    const { first, second } = await writers(path)
    await first(wires(['a', true]))
    expect((await second(wires(['a', false], ['b', true]))).status).toBe(200)
    expect(await svc.get(path)).toMatchObject(wires(['a', true], ['b', true]))
    const again = await writers(path)
    await again.first(wires(['a', false], ['b', true]))
    expect((await again.second({ wakes: [], handoffs: [] })).status).toBe(409)
  })
})

describe('two writers on one part', () => {
  it('a skill: one its description, the other its body', async () => {
    const { id } = await custom()
    await svc.post(`/api/projects/${id}/skills`, { name: 's', description: 'd', body: 'b' })
    const path = `/api/projects/${id}/skills/s`
    const { first, second } = await writers(path)
    await first({ description: 'new' })
    expect((await second({ body: 'new' })).status).toBe(200)
    expect(await svc.get(path)).toMatchObject({ description: 'new', body: 'new' })
    expect((await first({ body: 'other' })).status).toBe(409)
  })

  it('an agent: one its prompt, the other its budget', async () => {
    await svc.post('/api/agents/builtin', { name: 'a', prompt: 'p' })
    const { first, second } = await writers('/api/agents/builtin/a')
    await first({ prompt: 'new' })
    expect((await second({ budget_usd: 2 })).status).toBe(200)
    expect(await svc.get('/api/agents/builtin/a')).toMatchObject({ prompt: 'new', budget_usd: 2 })
    expect((await second({ prompt: 'other' })).body.conflicts).toEqual([
      { kind: 'agent', name: 'a', path: '/prompt', base: 'p', mine: 'other', theirs: 'new' },
    ])
  })

  it('a trigger: one its cooldown, the other its condition, field by field', async () => {
    const body = { name: 't', sources: ['gw'], condition, cooldown: '5m' }
    await svc.post('/api/triggers', body)
    const { first, second } = await writers('/api/triggers/t')
    await first({ ...body, cooldown: '1h', condition: { ...condition, window: '9m' } })
    const mine = { ...body, condition: { ...condition, predicate: '> 7' } }
    expect((await second(mine)).status).toBe(200)
    expect(await svc.get('/api/triggers/t')).toMatchObject({
      cooldown: '1h',
      condition: { ...condition, window: '9m', predicate: '> 7' },
    })
  })

  it('a source: one its event type, the other its text', async () => {
    const put = (config: Fields) => ({ name: 'gw', connector: 'webhook', config })
    await svc.put('/api/sources/gw', put({ event_type: 'a', text_template: '{a}' }))
    const { first, second } = await writers('/api/sources/gw')
    await first(put({ event_type: 'b', text_template: '{a}' }))
    expect((await second(put({ event_type: 'a', text_template: '{b}' }))).status).toBe(200)
    expect(await svc.get('/api/sources/gw')).toMatchObject({
      config: { event_type: 'b', text_template: '{b}' },
    })
    const { body } = await second(put({ event_type: 'c', text_template: '{a}' }))
    expect(body.conflicts).toEqual([
      { kind: 'source', name: 'gw', path: '/config/event_type', base: 'a', mine: 'c', theirs: 'b' },
    ])
  })

  it('an MCP server: one a header of its own, the other its address', async () => {
    const body = { name: 'm', url: 'https://m.example/', headers: { 'x-a': '1' } }
    await svc.post('/api/mcp-servers', body)
    const { first, second } = await writers('/api/mcp-servers/m')
    await first({ ...body, headers: { 'x-a': '1', 'x-b': '2' } })
    expect((await second({ ...body, url: 'https://n.example/' })).status).toBe(200)
    expect(await svc.get('/api/mcp-servers/m')).toMatchObject({
      url: 'https://n.example/',
      headers: { 'x-a': '1', 'x-b': '2' },
    })
  })

  it('an MCP server: a secret of one is not shown to the other', async () => {
    const canary = 'CANARY-9910'
    const body = { name: 'm', url: 'https://m.example/', auth_value: `${canary}-0` }
    await svc.post('/api/mcp-servers', body)
    const { first, second } = await writers('/api/mcp-servers/m')
    await first({ ...body, auth_value: `${canary}-1` })
    const answer = await second({ ...body, auth_value: `${canary}-2` })
    expect(answer.status).toBe(409)
    expect(answer.body.conflicts).toMatchObject([{ path: '/auth_value' }])
    expect(answer.text).not.toContain(canary)
  })

  it('a base that is no version is refused, and none at all lets the last write win', async () => {
    await svc.post('/api/agents/builtin', { name: 'a', prompt: 'p' })
    expect(
      await svc.refused('PUT', '/api/agents/builtin/a', { prompt: 'x' }, { 'if-match': 'yesterday' }),
    ).toEqual([400, 'If-Match must be the ETag of the resource, such as "12"'])
    await svc.put('/api/agents/builtin/a', { prompt: 'one' })
    await svc.put('/api/agents/builtin/a', { prompt: 'two' })
    expect(await svc.get('/api/agents/builtin/a')).toMatchObject({ prompt: 'two' })
  })
})

describe('change-sets of many operations', () => {
  it('merge by their base as well, all or nothing', async () => {
    await svc.post('/api/agents/builtin', { name: 'a', prompt: 'p' })
    await svc.post('/api/agents/builtin', { name: 'b', prompt: 'p' })
    const base = await newest()
    await svc.put('/api/agents/builtin/a', { prompt: 'theirs' })
    const patch = (name: string, spec: Fields) => ({ op: 'patch', kind: 'agent', name, spec })
    const answer = await svc.call<Conflicted>('POST', '/api/change-sets', {
      base,
      operations: [patch('b', { prompt: 'mine' }), patch('a', { prompt: 'mine' })],
    })
    expect(answer.status).toBe(409)
    expect(await svc.get('/api/agents/builtin/b')).toMatchObject({ prompt: 'p' })
    await svc.post('/api/change-sets', {
      base,
      operations: [patch('b', { prompt: 'mine' }), patch('a', { budget_usd: 1 })],
    })
    expect(await svc.get('/api/agents/builtin/a')).toMatchObject({ prompt: 'theirs', budget_usd: 1 })
  })

  it('plan with dry_run what they would do, and record who, when, why and what', async () => {
    await svc.post('/api/agents/builtin', { name: 'a', prompt: 'p' })
    const before = await newest()
    const body = {
      why: 'review',
      operations: [{ op: 'patch', kind: 'agent', name: 'a', spec: { prompt: 'q' } }],
    }
    const { plan } = await svc.post<{ plan: Fields }>('/api/change-sets', { ...body, dry_run: true })
    expect([await newest(), plan.updates]).toEqual([before, 1])
    const { change_set } = await svc.post<{ change_set: number }>('/api/change-sets', body)
    expect(await svc.get(`/api/change-sets/${change_set}`)).toMatchObject({
      actor: 'no auth configured',
      at: '2026-11-20T12:00:00.000Z',
      why: 'review',
      origin: 'api',
      changes: [
        { action: 'update', kind: 'agent', name: 'a', fields: [{ path: '/prompt', from: 'p', to: 'q' }] },
      ],
    })
  })

  it.each<[string, Fields, number, string]>([
    ['a kind that is none', { op: 'delete', kind: 'view', name: 'a' }, 400, 'kind'],
    ['an operation that is none', { op: 'rename', kind: 'agent', name: 'a' }, 400, 'op'],
    [
      'an object that is not there',
      { op: 'delete', kind: 'agent', name: 'gone' },
      404,
      'operations[0]: no agent is named gone',
    ],
    ['a patch of nothing', { op: 'patch', kind: 'agent', name: 'a' }, 400, 'operations[0].spec is required'],
    [
      'a project made by it',
      { op: 'put', kind: 'project', name: 'New', spec: { name: 'New' } },
      404,
      'projects are made by POST /api/projects, or svc projects create',
    ],
    [
      'an event that is none',
      { op: 'move', kind: 'source', name: 'gw', event: 'explode' },
      400,
      'operations[0].event must be pause or resume',
    ],
    [
      'a pause of an agent',
      { op: 'move', kind: 'agent', name: 'a', event: 'pause' },
      400,
      'operations[0]: an agent is not paused; switch its wiring off',
    ],
    [
      'a field that is unknown',
      { op: 'patch', kind: 'agent', name: 'a', spec: { colour: 'red' } },
      400,
      'colour',
    ],
  ])('refuse %s', async (_case, operation, status, message) => {
    await svc.post('/api/agents/builtin', { name: 'a', prompt: 'p' })
    const [answered, detail] = await svc.refused('POST', '/api/change-sets', { operations: [operation] })
    expect([answered, detail]).toEqual([status, expect.stringContaining(message)])
  })

  it.each([
    ['undo', 404, 'no change-set has the id 999'],
    ['rollback', 404, 'no change-set has the id 999'],
  ])('%s of one that is not there answers %i', async (what, status, message) => {
    expect(await svc.refused('POST', `/api/change-sets/999/${what}`, {})).toEqual([status, message])
    expect((await svc.refused('POST', `/api/change-sets/x/${what}`))[0]).toBe(400)
  })

  it('are undone once; undoing the undo does it again', async () => {
    await svc.post('/api/agents/builtin', { name: 'a', prompt: 'p' })
    const made = await newest()
    const { change_set } = await svc.post<{ change_set: number }>(`/api/change-sets/${made}/undo`, {})
    expect(await svc.get(`/api/change-sets/${made}`)).toMatchObject({ undone_by: change_set })
    expect(await svc.refused('POST', `/api/change-sets/${made}/undo`, {})).toEqual([
      409,
      `change-set ${made} was undone by change-set ${change_set}`,
    ])
    await undo(change_set)
    expect(await svc.get('/api/agents/builtin/a')).toMatchObject({ prompt: 'p' })
  })
})

describe('whoever saw an older version', () => {
  const parts: [string, string, string | null, Fields, Fields][] = [
    [
      'source',
      '/api/sources/gw',
      null,
      {},
      { name: 'gw', connector: 'webhook', config: { event_type: 'e' } },
    ],
    [
      ...([
        'trigger',
        '/api/triggers/t',
        '/api/triggers',
        { name: 't', sources: ['gw'], condition },
      ] as const),
      { name: 't', sources: ['gw'], condition, cooldown: '9m' },
    ],
    [
      ...(['agent', '/api/agents/builtin/a', '/api/agents/builtin', { name: 'a', prompt: 'p' }] as const),
      { prompt: 'q' },
    ],
    [
      ...(['MCP server', '/api/mcp-servers/m', '/api/mcp-servers'] as const),
      { name: 'm', url: 'https://one.example/mcp' },
      { name: 'm', url: 'https://two.example/mcp' },
    ],
    [
      ...(['entity', '/api/entities/joined/pay', '/api/entities/joined'] as const),
      { name: 'pay', is: ['service=pay', 'app=pay'] },
      { name: 'pay', is: ['service=pay', 'app=payments'] },
    ],
    [
      ...(['project', '/api/projects/Shop', '/api/projects'] as const),
      { template: 'custom', name: 'Shop', goal: 'Sell' },
      { goal: 'Sell more' },
    ],
  ]
  it.each(parts)(
    'does not delete what another made of the %s',
    async (_kind, path, create, made, changed) => {
      if (create) await svc.post(create, made)
      const etagOf = async () => (await svc.call('GET', path)).headers.get('etag')!
      const remove = (etag: string) => svc.call('DELETE', path, undefined, { 'if-match': etag })
      const seen = await etagOf()
      await svc.put(path, changed)
      const refused = await remove(seen)
      expect([refused.status, refused.body.detail]).toEqual([
        409,
        expect.stringMatching(/ was changed since version \d+; read it again$/),
      ])
      expect((await remove('"999999"')).status).toBe(409)
      expect((await remove(await etagOf())).status).toBe(200)
    },
  )

  it.each(parts)(
    'or one that never was, overwrites nothing of the %s',
    async (_kind, path, create, made, changed) => {
      if (create) await svc.post(create, made)
      const before = (await svc.call('GET', path)).text
      const answer = await svc.call('PUT', path, changed, { 'if-match': '"999999"' })
      expect([answer.status, answer.body.detail]).toEqual([
        409,
        expect.stringMatching(/ never had version 999999 here; read it again$/),
      ])
      expect((await svc.call('GET', path)).text).toBe(before)
    },
  )

  it('does not delete within a change-set what others changed since, and tells each field of it', async () => {
    await svc.post('/api/agents/builtin', { name: 'a', prompt: 'p' })
    const base = await newest()
    await svc.put('/api/agents/builtin/a', { prompt: 'theirs' })
    const remove = (seen: number) =>
      svc.call<Conflicted>('POST', '/api/change-sets', {
        base: seen,
        operations: [{ op: 'delete', kind: 'agent', name: 'a' }],
      })
    expect(conflictOf(await remove(base))).toEqual([
      409,
      [{ kind: 'agent', name: 'a', path: '/prompt', base: 'p', mine: null, theirs: 'theirs' }],
    ])
    expect(await svc.get('/api/agents/builtin/a')).toMatchObject({ prompt: 'theirs' })
    // Of a version at which it was not there, nothing was seen.
    expect((await remove(1)).body.detail).toBe('agent a was changed since version 1; read it again')
    expect((await remove(await newest())).status).toBe(200)
  })

  it('does not delete a skill that others changed since', async () => {
    const { id } = await custom()
    const path = `/api/projects/${id}/skills/restart`
    await svc.post(`/api/projects/${id}/skills`, { name: 'restart', description: 'How.', body: 'One.' })
    const etagOf = async () => (await svc.call('GET', path)).headers.get('etag')!
    const seen = await etagOf()
    await svc.put(path, { body: 'Two.' })
    const refused = await svc.call('DELETE', path, undefined, { 'if-match': seen })
    expect([refused.status, refused.body.detail]).toEqual([
      409,
      expect.stringMatching(/^skill restart was changed since version \d+; read it again$/),
    ])
    expect(await svc.get(path)).toMatchObject({ body: 'Two.' })
    const removed = await svc.call('DELETE', path, undefined, { 'if-match': await etagOf() })
    expect(removed.body).toMatchObject({ deleted: 'restart' })
  })
})
