import { beforeEach, describe, expect, it } from 'vitest'
import { type Fields, type Instance, startBeforeEach, startInstance } from './instance.ts'

interface Project extends Fields {
  id: string
  state: string
  status: string
  accepts: string[]
  objects: { kind: string; key: string; name: string; state: string; missing: boolean }[]
}
interface Refusal {
  status: number
  body: { detail: string; state?: string; accepts?: string[] }
}

let svc: Instance
const condition = { aggregate: 'count', predicate: '> 5', window: '5m' }

startBeforeEach(async () => {
  svc = await startInstance()
  return svc
})

const watch = () =>
  svc.post<Project>('/api/projects', {
    template: 'webhook_watch',
    name: 'Checkout',
    params: { service: 'checkout' },
  })
const projectNow = (id: string) => svc.get<Project>(`/api/projects/${id}`)
const agentNow = (name: string) => svc.get(`/api/agents/builtin/${name}`)
const refusal = async (method: string, path: string, body?: unknown): Promise<Refusal> => {
  const { status, body: answered } = await svc.call<Refusal['body']>(method, path, body)
  return { status, body: answered }
}
const RUNNING = ['update', 'pause', 'hold', 'takeover', 'delete']
const PAUSED = ['update', 'resume', 'hold', 'takeover', 'delete']

describe('the lifecycle of a project', () => {
  it('none → running, by a template and by objects', async () => {
    expect(await watch()).toMatchObject({ state: 'running', status: 'active' })
    const custom = await svc.post<Project>('/api/projects', { template: 'custom', name: 'Mine' })
    expect(custom).toMatchObject({ state: 'running', status: 'active' })
    expect(custom.accepts.toSorted()).toEqual(RUNNING.toSorted())
  })

  it('running → paused: triggers and agents off, sources keep ingesting', async () => {
    const { id } = await watch()
    const paused = await svc.post<Project>(`/api/projects/${id}/pause`)
    expect(paused).toMatchObject({ state: 'paused', status: 'paused' })
    expect(paused.accepts.toSorted()).toEqual(PAUSED.toSorted())
    expect(await svc.get('/api/triggers/checkout-errors')).toMatchObject({ state: 'paused' })
    expect(await agentNow('checkout-first-look')).toMatchObject({ enabled: false })
    const source = await svc.get('/api/sources/checkout-events')
    expect(source).toMatchObject({ paused: false })
    expect((await svc.call('POST', `/ingest/${source.ingest_key}`, { status: 200 })).status).toBe(202)
  })

  it('running → paused with sources: they pause too, and refuse what is posted', async () => {
    const { id } = await watch()
    await svc.post(`/api/projects/${id}/pause`, { sources: true })
    const source = await svc.get('/api/sources/checkout-events')
    expect(source).toMatchObject({ paused: true })
    expect((await svc.refused('POST', `/ingest/${source.ingest_key}`, { status: 200 }))[0]).toBe(409)
    await svc.post(`/api/projects/${id}/resume`)
    expect((await svc.call('POST', `/ingest/${source.ingest_key}`, { status: 200 })).status).toBe(202)
  })

  it('paused → running: exactly what the pause stopped, and nothing that was off before', async () => {
    const { id } = await watch()
    await svc.post('/api/triggers', {
      name: 'quiet',
      sources: ['checkout-events'],
      condition,
      project: 'Checkout',
    })
    await svc.post('/api/triggers/quiet/pause')
    await svc.post('/api/agents/builtin', {
      name: 'asleep',
      prompt: 'p',
      trigger: 'checkout-errors',
      project: 'Checkout',
    })
    await svc.post(`/api/projects/${id}/pause`)
    expect(await svc.post(`/api/projects/${id}/resume`)).toMatchObject({ state: 'running' })
    expect(await svc.get('/api/triggers/quiet')).toMatchObject({ paused: true })
    expect(await svc.get('/api/triggers/checkout-errors')).toMatchObject({ paused: false })
    expect(await agentNow('asleep')).toMatchObject({ enabled: false })
    expect(await agentNow('checkout-first-look')).toMatchObject({ enabled: true })
  })

  it('running → running: an update re-plans, and a paused one stays paused', async () => {
    const { id } = await watch()
    expect(
      await svc.put(`/api/projects/${id}`, { params: { service: 'checkout', threshold: 7 } }),
    ).toMatchObject({
      state: 'running',
    })
    await svc.post(`/api/projects/${id}/pause`)
    expect(
      await svc.put(`/api/projects/${id}`, { params: { service: 'checkout', threshold: 8 } }),
    ).toMatchObject({
      state: 'paused',
    })
    expect(await svc.get('/api/triggers/checkout-errors')).toMatchObject({
      paused: true,
      condition: { predicate: '>= 8' },
    })
    await svc.post(`/api/projects/${id}/resume`)
    expect(await svc.get('/api/triggers/checkout-errors')).toMatchObject({ paused: false })
  })

  it('any → deleted, of a template: its objects go, stored events stay', async () => {
    const { id } = await watch()
    const { ingest_key } = await svc.get('/api/sources/checkout-events')
    await svc.post(`/ingest/${ingest_key}`, [{ status: 500 }, { status: 200 }])
    await svc.post(`/api/projects/${id}/pause`)
    const deleted = await svc.del<{ deleted: string[]; purged_events: number }>(`/api/projects/${id}`)
    expect(deleted.deleted.toSorted()).toEqual([
      'agent:checkout-first-look',
      'agent:checkout-investigator',
      'skill:checkout-runbook',
      'source:checkout-events',
      'trigger:checkout-errors',
    ])
    expect(deleted.purged_events).toBe(0)
    expect(await svc.refused('GET', `/api/projects/${id}`)).toEqual([
      404,
      `no project has the id or name ${id}`,
    ])
    const { count } = await svc.post('/read', { selector: { service: 'checkout' }, window: '1h' })
    expect(count).toBe(2)
  })

  it('any → deleted with purge_events: its events go too', async () => {
    const { id } = await watch()
    const { ingest_key } = await svc.get('/api/sources/checkout-events')
    await svc.post(`/ingest/${ingest_key}`, [{ status: 500 }, { status: 200 }])
    expect(await svc.del(`/api/projects/${id}?purge_events=true`)).toMatchObject({ purged_events: 2 })
    const { count } = await svc.post('/read', { selector: { service: 'checkout' }, window: '1h' })
    expect(count).toBe(0)
  })

  it('any → deleted with a list: objects that are not picked stay, and belong to Default', async () => {
    const { id } = await watch()
    const query = 'delete=trigger:checkout-errors,agent:checkout-first-look'
    const { deleted, released } = await svc.del<{ deleted: string[]; released: string[] }>(
      `/api/projects/${id}?${query}`,
    )
    expect(deleted.toSorted()).toEqual(['agent:checkout-first-look', 'trigger:checkout-errors'])
    expect(released).toContain('source:checkout-events')
    expect(await svc.get('/api/sources/checkout-events')).toMatchObject({ owned_by: null })
    expect(await agentNow('checkout-investigator')).toMatchObject({ owned_by: null })
  })

  it.each([
    ['delete=trigger:gone', 'delete: trigger:gone is not an object of project Checkout'],
    ['delete=checkout-errors', 'delete must be a list such as trigger:name,agent:name'],
    [
      'delete=source:checkout-events',
      'source checkout-events is read by trigger checkout-errors; add trigger:checkout-errors to delete, which deletes them too, or change them first',
    ],
    ['purge_events=maybe', 'purge_events'],
  ])('DELETE ?%s is refused, and nothing goes', async (query, message) => {
    const { id } = await watch()
    const [status, detail] = await svc.refused('DELETE', `/api/projects/${id}?${query}`)
    expect([[400, 409].includes(status), detail]).toEqual([true, expect.stringContaining(message)])
    expect((await projectNow(id)).objects).toHaveLength(5)
  })

  it('any → deleted with delete=…: a skill that is not picked goes to Default, as the answer says', async () => {
    const { id } = await watch()
    const { released } = await svc.del<{ released: string[] }>(
      `/api/projects/${id}?delete=agent:checkout-first-look`,
    )
    expect(released).toContain('skill:checkout-runbook')
    expect(await svc.get('/api/skills')).toMatchObject([
      { name: 'checkout-runbook', used_by: [{ name: 'Default' }] },
    ])
    expect(await svc.get('/api/sources/checkout-events')).toMatchObject({ owned_by: null })
  })

  it('any → deleted, of objects: released, all left in place', async () => {
    await svc.post('/api/sources', { name: 'gw', connector: 'webhook' })
    await svc.post('/api/triggers', { name: 'errs', sources: ['gw'], condition })
    const objects = [{ kind: 'trigger', name: 'errs' }]
    const { id } = await svc.post<Project>('/api/projects', { template: 'custom', name: 'Mine', objects })
    expect(await svc.del(`/api/projects/${id}`)).toMatchObject({
      deleted: [],
      released: ['trigger:errs'],
      kept: ['gw'],
    })
    expect(await svc.get('/api/triggers/errs')).toMatchObject({ owned_by: null, state: 'active' })
  })

  it('deleted → as it was: undoing the delete brings back a paused project, paused, with its events', async () => {
    const { id } = await watch()
    const { ingest_key } = await svc.get('/api/sources/checkout-events')
    await svc.post(`/ingest/${ingest_key}`, { status: 500 })
    await svc.post(`/api/projects/${id}/pause`)
    const before = await projectNow(id)
    const { change_set } = await svc.del<{ change_set: number }>(`/api/projects/${id}`)
    await svc.post(`/api/change-sets/${change_set}/undo`, {})
    const { version: _v, updated_at: _u, ...same } = before
    expect(await projectNow(id)).toMatchObject({
      ...same,
      objects: before.objects.map(({ name }) => expect.objectContaining({ name })),
    })
    await svc.post(`/api/projects/${id}/resume`)
    expect(await svc.get('/api/triggers/checkout-errors')).toMatchObject({ paused: false })
    expect(await svc.get('/api/sources/checkout-events')).toMatchObject({ ingest_key })
    expect((await svc.call('POST', `/ingest/${ingest_key}`, { status: 200 })).status).toBe(202)
  })

  it.each([
    ['running', 'resume', RUNNING],
    ['paused', 'pause', PAUSED],
    ['running', 'release', RUNNING],
  ])('in %s an event %s answers 409 with the state and what is allowed', async (state, event, accepts) => {
    const { id } = await watch()
    if (state === 'paused') await svc.post(`/api/projects/${id}/pause`)
    const { status, body } = await refusal('POST', `/api/projects/${id}/${event}`)
    expect([status, body.state, body.accepts?.toSorted()]).toEqual([409, state, accepts.toSorted()])
    expect(body.detail).toContain(state)
    for (const allowed of accepts) expect(body.detail).toContain(allowed)
  })

  it('is held by a crew until a person takes it over; released, it is told of until it is taken or ten minutes are over', async () => {
    const { id } = await watch()
    const listed = () => svc.get('/api/crew/projects')
    expect(await svc.post(`/api/projects/${id}/hold`)).toMatchObject({ held_by: 'crew' })
    const since = new Date(svc.clock.at).toISOString()
    expect(await listed()).toEqual({
      projects: [
        {
          id,
          name: 'Checkout',
          status: 'active',
          state: 'held',
          held_by: 'crew',
          since,
          by: 'no auth configured',
        },
      ],
    })
    const held = (who: string) => ({
      status: 409,
      body: {
        state: 'running',
        accepts: expect.not.arrayContaining(['hold']),
        detail: expect.stringContaining(
          `project Checkout (running) is held by a ${who} (no auth configured) since ${since}; it accepts `,
        ),
      },
    })
    expect(await refusal('POST', `/api/projects/${id}/hold`)).toMatchObject(held('crew'))
    expect(await svc.post(`/api/projects/${id}/takeover`)).toMatchObject({ held_by: 'person' })
    expect(await refusal('POST', `/api/projects/${id}/hold`)).toMatchObject(held('person'))
    await svc.put(`/api/projects/${id}`, { name: 'Till' })
    expect(await listed()).toMatchObject({
      projects: [{ id, name: 'Till', since, by: 'no auth configured' }],
    })
    await svc.post(`/api/projects/${id}/release`)
    // What is told of the one is not told of another that takes its old name, nor of one that had its new name before.
    svc.clock.at += 1
    await svc.post('/api/projects', { template: 'custom', name: 'Checkout' })
    expect(await listed()).toMatchObject({ projects: [{ id, state: 'releasing', held_by: null }] })
    expect((await refusal('POST', `/api/projects/${id}/release`)).body.detail).toContain(
      'project Till (running) is held by nobody; it accepts ',
    )
    await svc.post(`/api/projects/${id}/hold`)
    expect(await listed()).toMatchObject({ projects: [{ id, state: 'held', held_by: 'crew' }] })
    await svc.post(`/api/projects/${id}/release`)
    svc.clock.at += 10 * 60_000
    expect(await listed()).toEqual({ projects: [] })
  })

  it('is held by a person who takes it over, in running and in paused, and released', async () => {
    const { id } = await watch()
    for (const state of ['running', 'paused']) {
      if (state === 'paused') await svc.post(`/api/projects/${id}/pause`)
      expect(await svc.post(`/api/projects/${id}/takeover`)).toMatchObject({ state, held_by: 'person' })
      expect(await svc.get('/api/crew/projects')).toMatchObject({
        projects: [expect.objectContaining({ id, held_by: 'person' })],
      })
      expect((await refusal('POST', `/api/projects/${id}/takeover`)).status).toBe(409)
      expect(await svc.post(`/api/projects/${id}/release`)).toMatchObject({ state, held_by: null })
    }
  })
})

describe('the lifecycle of parts', () => {
  beforeEach(async () => {
    await svc.post('/api/sources', { name: 'gw', connector: 'webhook' })
    await svc.post('/api/triggers', { name: 'errs', sources: ['gw'], condition })
  })

  it.each([
    ['source', '/api/sources/gw'],
    ['trigger', '/api/triggers/errs'],
  ])('a %s: active → paused → active, and 409 for what its state does not accept', async (kind, path) => {
    const now = async () => {
      const { state, accepts, paused } = await svc.get<{ state: string; accepts: string[]; paused: boolean }>(
        path,
      )
      return { state, accepts, paused }
    }
    const active = await now()
    expect(active).toMatchObject({ state: 'active', paused: false })
    expect(active.accepts).toContain('pause')
    const resumed = await refusal('POST', `${path}/resume`)
    expect(resumed).toMatchObject({ status: 409, body: { state: 'active', accepts: active.accepts } })
    expect(await svc.post(`${path}/pause`)).toMatchObject({ ok: true, state: 'paused' })
    const paused = await now()
    expect(paused).toMatchObject({ state: 'paused', paused: true })
    const again = await refusal('POST', `${path}/pause`)
    expect(again).toMatchObject({ status: 409, body: { state: 'paused', accepts: paused.accepts } })
    expect(again.body.detail).toContain(kind)
    expect(await svc.post(`${path}/resume`)).toMatchObject({ ok: true, state: 'active' })
    expect(await now()).toEqual(active)
  })

  it.each([
    ['source', 'gw', 'resume', 'active'],
    ['trigger', 'errs', 'resume', 'active'],
    ['source', 'gw', 'pause', 'paused'],
    ['trigger', 'errs', 'pause', 'paused'],
  ])('a %s %s moved by a change-set answers 409 to %s in %s as well', async (kind, name, event, state) => {
    if (state === 'paused') await svc.post(`/api/${kind}s/${name}/pause`)
    const { status, body } = await refusal('POST', '/api/change-sets', {
      operations: [{ op: 'move', kind, name, event }],
    })
    expect([status, body.state]).toEqual([409, state])
  })

  it('an edit keeps a paused trigger and a paused source paused', async () => {
    await svc.post('/api/triggers/errs/pause')
    await svc.post('/api/sources/gw/pause')
    await svc.put('/api/triggers/errs', { name: 'errs', sources: ['gw'], condition, cooldown: '1h' })
    await svc.put('/api/sources/gw', { name: 'gw', connector: 'webhook', config: { event_type: 'x' } })
    expect(await svc.get('/api/triggers/errs')).toMatchObject({ paused: true, cooldown: '1h' })
    expect(await svc.get('/api/sources/gw')).toMatchObject({ paused: true, config: { event_type: 'x' } })
  })

  it('an agent: off → on → off, and 409 while nothing wakes it or its project is paused', async () => {
    await svc.post('/api/agents/builtin', { name: 'a', prompt: 'p' })
    const on = '/api/agents/builtin/a/enable'
    expect(await svc.refused('POST', on)).toEqual([409, 'no trigger wakes agent a; give it one first'])
    await svc.put('/api/agents/builtin/a', { trigger: 'errs' })
    expect(await svc.post(on)).toMatchObject({ ok: true, enabled: true })
    expect(await svc.get('/api/triggers/errs')).toMatchObject({ subscribers: 1 })
    expect(await svc.post('/api/agents/builtin/a/disable')).toMatchObject({ enabled: false })
    const { projects } = await svc.get<{ projects: Project[] }>('/api/projects')
    await svc.post(`/api/projects/${projects[0]!.id}/pause`)
    const { status, body } = await refusal('POST', on)
    expect([status, body.state, body.accepts?.toSorted()]).toEqual([409, 'paused', PAUSED.toSorted()])
  })

  it('a key: active → revoked, once', async () => {
    const { id } = await svc.post<{ id: string }>('/api/keys', { name: 'k', scopes: ['read'] })
    expect(await svc.del(`/api/keys/${id}`)).toMatchObject({ ok: true })
    expect((await svc.refused('DELETE', `/api/keys/${id}`))[0]).toBe(404)
  })
})
