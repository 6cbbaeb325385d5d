import { describe, expect, it } from 'vitest'
import { type Fields, type Instance, startBeforeEach, startInstance } from './instance.ts'

interface Project extends Fields {
  id: string
  objects: { kind: string; key: string; name: string; state: string; missing: boolean }[]
}

let svc: Instance
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

describe('the ownership of what a template planned', () => {
  const objectNow = async (id: string, key: string) =>
    (await svc.get<Project>(`/api/projects/${id}`)).objects.find((object) => object.key === key)!
  const TRIGGER = '/api/triggers/checkout-errors'
  const edit = async () => {
    const { sources, filters, key_field, emit, condition: now } = await svc.get(TRIGGER)
    await svc.put(TRIGGER, {
      name: 'checkout-errors',
      sources,
      filters,
      key_field,
      emit,
      condition: now,
      cooldown: '2h',
    })
  }
  const HAND = { customized: edit, missing: () => svc.del(TRIGGER) }

  it.each(['customized', 'missing'] as const)(
    'planned → %s by hand → planned by repair, and the next plan keeps the hand’s',
    async (state) => {
      const { id } = await watch()
      const planned = await svc.get(TRIGGER)
      await HAND[state]()
      expect(await objectNow(id, 'errors')).toMatchObject({ state, missing: state === 'missing' })
      const { report } = await svc.put<{ report: Record<string, string[]> }>(`/api/projects/${id}`, {
        params: { service: 'checkout', model: 'other' },
      })
      expect(report.kept).toContain('trigger:checkout-errors')
      expect(await objectNow(id, 'errors')).toMatchObject({ state })
      const repaired = await svc.post<Project>(`/api/projects/${id}/repair`, { key: 'errors' })
      expect(repaired.objects.find(({ key }) => key === 'errors')).toMatchObject({ state: 'planned' })
      const { version: _v, updated_at: _u, created_at: _c, ...same } = planned
      expect(await svc.get(TRIGGER)).toMatchObject(same)
    },
  )

  it('customized → missing by hand → planned by repair, by its kind and key too', async () => {
    const { id } = await watch()
    await edit()
    await svc.del(TRIGGER)
    expect(await objectNow(id, 'errors')).toMatchObject({ state: 'missing' })
    await svc.post(`/api/projects/${id}/repair`, { key: 'trigger:errors' })
    expect(await objectNow(id, 'errors')).toMatchObject({ state: 'planned' })
    expect(await svc.get('/api/agents/builtin/checkout-first-look')).toMatchObject({
      trigger: 'checkout-errors',
      enabled: true,
    })
  })

  it.each(['source', 'skill', 'agent'])(
    'a %s is customized by a hand edit and reset by a repair',
    async (kind) => {
      const { id } = await watch()
      const edits: Record<string, [string, string, Fields]> = {
        source: [
          'events',
          '/api/sources/checkout-events',
          { name: 'checkout-events', connector: 'webhook', config: {} },
        ],
        skill: ['runbook', `/api/projects/${id}/skills/checkout-runbook`, { body: 'Mine.' }],
        agent: ['first_look', '/api/agents/builtin/checkout-first-look', { prompt: 'Mine.' }],
      }
      const [key, path, body] = edits[kind]!
      const { version: _v, updated_at: _u, health: _h, ...before } = await svc.get(path)
      await svc.put(path, body)
      expect(await objectNow(id, key)).toMatchObject({ state: 'customized' })
      await svc.post(`/api/projects/${id}/repair`, { key })
      expect(await objectNow(id, key)).toMatchObject({ state: 'planned' })
      expect(await svc.get(path)).toMatchObject(before)
    },
  )

  it('missing → planned by repair while its project is paused: it stands still until that is resumed', async () => {
    const { id } = await watch()
    await svc.post(`/api/projects/${id}/pause`)
    await svc.del(TRIGGER)
    await svc.post(`/api/projects/${id}/repair`, { key: 'errors' })
    expect(await svc.get(TRIGGER)).toMatchObject({ state: 'paused' })
    await svc.post(`/api/projects/${id}/resume`)
    expect(await svc.get(TRIGGER)).toMatchObject({ state: 'active' })
    expect(await svc.get('/api/agents/builtin/checkout-first-look')).toMatchObject({ enabled: true })
  })

  it('of what is as planned a repair answers 409 with the state and what it accepts', async () => {
    const { id } = await watch()
    const { status, body } = await svc.call<{ state: string; accepts: string[] }>(
      'POST',
      `/api/projects/${id}/repair`,
      {
        key: 'errors',
      },
    )
    expect([status, body.state]).toEqual([409, 'planned'])
    expect(body.accepts.toSorted()).toEqual(['delete', 'edit', 'match', 'plan'])
    expect((await svc.refused('POST', `/api/projects/${id}/repair`, { key: 'gone' }))[0]).toBe(404)
    expect((await svc.refused('POST', `/api/projects/${id}/repair`, {}))[0]).toBe(400)
  })

  it('missing stays missing while another of its name is made elsewhere, which no repair or plan takes', async () => {
    const { id } = await watch()
    const AGENT = '/api/agents/builtin/checkout-first-look'
    await svc.del(AGENT)
    await svc.post('/api/agents/builtin', { name: 'checkout-first-look', prompt: 'Not of this project.' })
    await svc.put(`/api/projects/${id}`, { params: { service: 'checkout', threshold: 9 } })
    expect(await objectNow(id, 'first_look')).toMatchObject({ state: 'missing', missing: true })
    expect(await svc.refused('POST', `/api/projects/${id}/repair`, { key: 'first_look' })).toEqual([
      409,
      'another agent is named checkout-first-look and is no part of project Checkout; rename or delete that one to have the planned one again',
    ])
    expect(await svc.get(AGENT)).toMatchObject({
      prompt: 'Not of this project.',
      trigger: '',
      enabled: false,
    })
    await svc.post(`${AGENT}/rename`, { to: 'other' })
    await svc.post(`/api/projects/${id}/repair`, { key: 'first_look' })
    expect(await svc.get(AGENT)).toMatchObject({ trigger: 'checkout-errors', enabled: true })
    expect(await svc.get('/api/agents/builtin/other')).toMatchObject({ prompt: 'Not of this project.' })
  })

  it('of a hand-assembled project nothing is repaired or customized', async () => {
    await svc.post('/api/sources', { name: 'gw', connector: 'webhook' })
    const objects = [{ kind: 'source', name: 'gw' }]
    const { id } = await svc.post<Project>('/api/projects', { template: 'custom', name: 'Mine', objects })
    await svc.put('/api/sources/gw', { name: 'gw', connector: 'webhook', config: { event_type: 'x' } })
    expect(await objectNow(id, 'gw')).toMatchObject({ state: 'used', customized: false })
    expect(await svc.refused('POST', `/api/projects/${id}/repair`, { key: 'gw' })).toEqual([
      400,
      'project Mine was made by hand, not from a template, so nothing in it is repaired',
    ])
  })

  it('an adopted object stays when the project is deleted', async () => {
    await svc.post('/api/sources', { name: 'checkout-events', connector: 'webhook' })
    const { id } = await watch()
    const { deleted, released } = await svc.del<{ deleted: string[]; released: string[] }>(
      `/api/projects/${id}`,
    )
    expect(released).toEqual(['source:checkout-events'])
    expect(deleted).not.toContain('source:checkout-events')
    expect(await svc.get('/api/sources/checkout-events')).toMatchObject({ owned_by: null })
  })
})

describe('what a project adopts leaves the Default project', () => {
  const condition = { aggregate: 'count', predicate: '> 5', window: '5m' }
  const wakes = [{ trigger: 'checkout-errors', agent: 'first', enabled: true }]
  const handoffs = [
    { agent: 'first', verdict: 'dig', to: 'second', cooldown: '30m' },
    { agent: 'second', verdict: 'dig', to: 'third', cooldown: '30m' },
  ]
  const wiring = async (id: string) => (await svc.get(`/api/projects/${id}`)).wiring
  let standing: string

  /** A trigger that wakes an agent, and two that take over, in the Default project. */
  async function loose(): Promise<void> {
    await svc.post('/api/sources', { name: 'gw', connector: 'webhook' })
    await svc.post('/api/triggers', { name: 'checkout-errors', sources: ['gw'], condition })
    for (const name of ['first', 'second', 'third'])
      standing = (await svc.post<{ project: string }>('/api/agents/builtin', { name, prompt: 'p' })).project
    await svc.put(`/api/projects/${standing}/wiring`, { wakes, handoffs })
  }

  it('but for what is wired there with what stays: it goes on to work, and follows when that is adopted, too', async () => {
    await loose()
    const objects = (...agents: string[]) => [
      { kind: 'trigger', name: 'checkout-errors' },
      ...agents.map((name) => ({ kind: 'agent', name })),
    ]
    const custom = { template: 'custom', name: 'Mine', objects: objects('second', 'third') }
    const { id } = await svc.post<Project>('/api/projects', custom)
    await svc.post(`/api/projects/${id}/skills`, { name: 'know', description: 'd', body: 'b' })
    await svc.post(`/api/projects/${standing}/skills/know/use`)
    expect(await wiring(standing)).toEqual({ wakes, handoffs })
    expect(await wiring(id)).toEqual({ wakes: [], handoffs: handoffs.slice(1) })
    const trigger = { owned_by: id, wakes: ['first'] }
    expect(await svc.get('/api/triggers/checkout-errors')).toMatchObject(trigger)
    await svc.put(`/api/projects/${id}`, { objects: objects('first', 'second', 'third') })
    expect(await wiring(standing)).toEqual({ wakes: [], handoffs: [] })
    expect(await wiring(id)).toEqual({ wakes, handoffs })
    expect(await svc.get('/api/triggers/checkout-errors')).toMatchObject({ ...trigger, projects: [id] })
    expect(await svc.get(`/api/projects/${standing}/skills`)).toMatchObject([{ name: 'know' }])
  })

  it('but for a planned trigger that wakes an agent which stays', async () => {
    await loose()
    const { id } = await watch()
    expect(await svc.get('/api/triggers/checkout-errors')).toMatchObject({
      owned_by: id,
      wakes: expect.arrayContaining(['checkout-first-look', 'first']),
    })
    expect(await wiring(standing)).toEqual({ wakes, handoffs })
  })

  it('and what a part of it needs stays, also where its objects leave that out, and is not told as released', async () => {
    await loose()
    const [source, trigger] = [
      { kind: 'source', name: 'gw' },
      { kind: 'trigger', name: 'checkout-errors' },
    ]
    const custom = { template: 'custom', name: 'Mine', objects: [source, trigger] }
    const { id } = await svc.post<Project>('/api/projects', custom)
    const { report, objects } = await svc.put<Project & { report: Fields }>(`/api/projects/${id}`, {
      objects: [trigger],
    })
    expect(objects.map(({ name }) => name).toSorted()).toEqual(['checkout-errors', 'gw'])
    expect(report).toMatchObject({ released: [], kept: ['source:gw', 'trigger:checkout-errors'] })
    expect(await svc.get('/api/sources/gw')).toMatchObject({ owned_by: id })
  })

  it('by a catalog as by its objects: wires go along where both ends do, and stay where one does', async () => {
    await loose()
    const take = (...agents: string[]) => {
      const parts = ['trigger checkout-errors', ...agents.map((name) => `agent ${name}`)]
      const objects = parts.map((part) => part.replace(/^(\w+) (.*)$/, '{kind: $1, name: $2}'))
      const yaml = `projects: [{name: Mine, template: custom, objects: [${objects.join(', ')}]}]`
      return svc.post('/api/catalog/import', { yaml })
    }
    await take('second', 'third')
    expect(await wiring(standing)).toEqual({ wakes, handoffs })
    expect(await wiring('Mine')).toEqual({ wakes: [], handoffs: handoffs.slice(1) })
    await take('first', 'second', 'third')
    expect(await wiring(standing)).toEqual({ wakes: [], handoffs: [] })
    expect(await wiring('Mine')).toEqual({ wakes, handoffs })
  })

  it('where the agents of a catalog name their project, what they say of their wiring wins', async () => {
    await loose()
    const yaml = `
projects: [{name: Mine, template: custom}]
triggers: [{name: checkout-errors, project: Mine, sources: [gw], condition: {aggregate: count, predicate: '> 5', window: 5m}}]
agents: [{name: first, project: Mine, prompt: p, trigger: checkout-errors, enabled: false}]`
    await svc.post('/api/catalog/import', { yaml })
    expect(await wiring(standing)).toEqual({ wakes: [], handoffs: handoffs.slice(1) })
    expect(await wiring('Mine')).toEqual({
      wakes: [{ ...wakes[0], enabled: false }],
      handoffs: handoffs.slice(0, 1),
    })
  })
  it('where a catalog moves an agent alone, what its entry says wakes it in its project, and no longer in both', async () => {
    await loose()
    const agents = (first: string) => `
agents:
  - {name: first, ${first}prompt: p, trigger: checkout-errors, handoffs: [{verdict: dig, agent: second}], enabled: true}
projects: [{name: Mine, template: custom}]`
    const take = (yaml: string, merge = false) => svc.post('/api/catalog/import', { yaml, merge })
    await take(agents(''))
    expect(await wiring(standing)).toEqual({ wakes, handoffs })
    await take(agents('project: Mine, '))
    expect(await wiring('Mine')).toEqual({ wakes, handoffs: handoffs.slice(0, 1) })
    expect(await wiring(standing)).toEqual({ wakes: [], handoffs: handoffs.slice(1) })
    // What is wired there by a row of its own is meant, and so is what a person wires there afterwards.
    await svc.put(`/api/projects/${standing}/wiring`, { wakes, handoffs: handoffs.slice(1) })
    await take(agents('project: Mine, '))
    expect(await wiring(standing)).toMatchObject({ wakes })
  })

  it('and also where what people changed stays', async () => {
    await loose()
    const yaml = (project: string) =>
      `agents: [{name: first, ${project}prompt: p, trigger: checkout-errors, enabled: true}]
projects: [{name: Mine, template: custom}]`
    await svc.post('/api/catalog/import', { yaml: yaml('') })
    await svc.post('/api/catalog/import', { yaml: yaml('project: Mine, '), merge: true })
    expect(await wiring('Mine')).toMatchObject({ wakes })
    expect(await wiring(standing)).toMatchObject({ wakes: [] })
  })

  it('but for a row of wiring that says so', async () => {
    await loose()
    const yaml = `
agents: [{name: first, project: Mine, prompt: p, trigger: checkout-errors, enabled: true}]
projects: [{name: Mine, template: custom}]
wiring: [{project: Default, wake: checkout-errors, agent: first}]`
    await svc.post('/api/catalog/import', { yaml })
    expect(await wiring('Mine')).toMatchObject({ wakes })
    expect(await wiring(standing)).toMatchObject({ wakes })
  })
})
