import { describe, expect, it } from 'vitest'
import { type Fields, type Instance, startBeforeEach, startInstance } from './instance.ts'

interface Outline {
  sentence: string
  agents: { name: string; enabled: boolean }[]
}

let svc: Instance
startBeforeEach(async () => {
  svc = await startInstance()
  return svc
})

const watch = () =>
  svc.post<{ id: string }>('/api/projects', {
    template: 'webhook_watch',
    name: 'Checkout',
    params: { service: 'checkout' },
  })

describe('what a project shows', () => {
  const PAGES: [string, Fields][] = [
    [
      'summary',
      { name: 'Checkout', runs: [], runs_total: 0, last_fired: null, today: { looked_at: 0, found: 0 } },
    ],
    [
      'outline',
      { sentence: expect.any(String), watches: [expect.objectContaining({ source: 'checkout-events' })] },
    ],
    ['health', { state: expect.any(String), issues: expect.any(Array) }],
    ['results', { results: [], next_before: null }],
    ['results?show=findings', { results: [] }],
    ['results?show=agent:checkout-first-look', { results: [] }],
    ['findings', { findings: [] }],
    ['wiring', { wakes: [{ trigger: 'checkout-errors', agent: 'checkout-first-look', enabled: true }] }],
    ['deletion', { deletes: expect.any(Array), keys: 0, events: 0 }],
    ['keys', { keys: [], next_before: null, enforced: false, scopes: ['read', 'findings'] }],
  ]

  it.each(PAGES)('GET %s', async (page, shape) => {
    const { id } = await watch()
    expect(await svc.get(`/api/projects/${id}/${page}`)).toMatchObject(shape)
  })

  it.each(PAGES.map(([page]) => page))('GET %s of a project that is not there answers 404', async (page) => {
    expect(await svc.refused('GET', `/api/projects/uc_0000000000/${page}`)).toEqual([
      404,
      'no project has the id or name uc_0000000000',
    ])
  })

  it.each([['show=everything'], ['show=agent:'], ['limit=x'], ['colour=red']])(
    'results?%s answers 400',
    async (query) => {
      const { id } = await watch()
      expect((await svc.refused('GET', `/api/projects/${id}/results?${query}`))[0]).toBe(400)
    },
  )

  it('a finding is a result, of its agent too, and can be marked as handled', async () => {
    const { id } = await watch()
    await svc.post(`/api/projects/${id}/findings`, {
      entity: 'checkout',
      finding: 'The deploy broke it.',
      verdict: 'cause_found',
      headline: 'Bad deploy',
      next_step: 'Roll back',
      agent: 'maria',
    })
    const { results, today } = await svc.get<{ results: Fields[]; today: Fields }>(
      `/api/projects/${id}/results`,
    )
    expect(results).toEqual([
      expect.objectContaining({
        entity: 'checkout',
        headline: 'Bad deploy',
        next_step: 'Roll back',
        verdict: 'cause_found',
        chain: ['maria'],
        handled: null,
      }),
    ])
    expect(today).toMatchObject({ found: 1 })
    expect(await svc.get(`/api/projects/${id}/results?show=agent:maria`)).toMatchObject({ results })
    for (const asked of [`/api/projects/${id}/results?show=agent:nosuch`, '/api/runs?agent=nosuch'])
      expect(await svc.refused('GET', asked)).toEqual([404, 'no agent is named nosuch'])
    // What was mistyped is no trigger or project in which nothing happened.
    const near = 'no trigger is named checkout-eror (did you mean checkout-errors?)'
    for (const list of ['firings', 'deliveries', 'incidents'])
      expect(await svc.refused('GET', `/api/${list}?trigger=checkout-eror`)).toEqual([404, near])
    const name = 'Checkout'
    for (const list of ['firings', 'incidents', 'runs']) {
      const asked = `/api/${list}?project=${encodeURIComponent(name.slice(0, -1))}`
      expect(await svc.refused('GET', asked)).toEqual([
        404,
        `no project has the id or name ${name.slice(0, -1)} (did you mean ${name}?)`,
      ])
      for (const known of [id, name])
        expect((await svc.call('GET', `/api/${list}?project=${encodeURIComponent(known)}`)).status).toBe(200)
    }
    expect(await svc.refused('GET', '/api/runs?agent=checkout-first-lok')).toEqual([
      404,
      'no agent is named checkout-first-lok (did you mean checkout-first-look?)',
    ])
    // An agent without runs, and an outside one that has nothing else, are known.
    for (const agent of ['checkout-first-look', 'maria'])
      expect((await svc.call('GET', `/api/runs?agent=${agent}`)).status).toBe(200)
    const run = `/api/projects/${id}/results/${results[0]!.id}`
    await svc.post(`${run}/handled`, { handled: true })
    expect(await svc.get(run)).toMatchObject({
      note: 'The deploy broke it.',
      handled: { by: 'no auth configured' },
    })
    await svc.post(`${run}/handled`, { handled: false })
    expect(await svc.get(run)).toMatchObject({ handled: null })
    expect(
      (await svc.refused('POST', `/api/projects/${id}/results/gone/handled`, { handled: true }))[0],
    ).toBe(404)
  })

  it('what was found in it is read after it is deleted, with the word that it is, and is its own again once restored', async () => {
    const { id } = await watch()
    await svc.post(`/api/projects/${id}/findings`, { entity: 'checkout', finding: 'The deploy broke it.' })
    const found = async () => (await svc.get<{ findings: Fields[] }>('/api/findings')).findings
    const project = { id, name: 'Checkout' }
    const [before] = await found()
    expect(before).toMatchObject({ project })
    const run = String((before!.result as Fields).id)
    const { change_set: set } = await svc.del<{ change_set: number }>(`/api/projects/${id}`)
    const gone = { ...project, deleted: true }
    expect(await found()).toEqual([{ ...before, project: gone }])
    const asked = `/api/findings?project=${id}`
    expect((await svc.get<{ findings: Fields[] }>(asked)).findings).toEqual([{ ...before, project: gone }])
    expect(await svc.get(`/api/findings/${run}`)).toMatchObject({
      project: gone,
      result: { note: 'The deploy broke it.' },
    })
    // Another of its name is another.
    const { id: next } = await watch()
    expect((await svc.get<{ findings: Fields[] }>('/api/findings?project=Checkout')).findings).toEqual([])
    await svc.del(`/api/projects/${next}`)
    await svc.post(`/api/change-sets/${set}/undo`, {})
    expect(await found()).toEqual([before])
    await svc.del(`/api/projects/${id}?purge_events=true`)
    expect(await found()).toEqual([])
    expect((await svc.refused('GET', asked))[0]).toBe(404)
  })

  it('its outline tells only agents that something wakes', async () => {
    const { id } = await watch()
    const outline = () => svc.get<Outline>(`/api/projects/${id}/outline`)
    await svc.post('/api/agents/builtin', { name: 'idle', prompt: 'Look.', project: id })
    expect((await outline()).sentence).toMatch(
      /, wakes checkout-first-look, which hands over to checkout-investigator by verdict\.$/,
    )
    const enabled = async () =>
      Object.fromEntries((await outline()).agents.map((agent) => [agent.name, agent.enabled]))
    expect(await enabled()).toEqual({
      'checkout-first-look': true,
      'checkout-investigator': true,
      idle: false,
    })
    await svc.post(`/api/agents/builtin/checkout-first-look/disable?project=${id}`)
    expect((await outline()).sentence).toMatch(/, wakes no agent yet\.$/)
    expect(Object.values(await enabled())).toEqual([false, false, false])
    // Of many the first are named.
    for (const n of [1, 2, 3, 4, 5]) {
      const agent = { name: `a${n}`, prompt: 'Look.', project: id, trigger: 'checkout-errors' }
      await svc.post('/api/agents/builtin', agent)
      await svc.post(`/api/agents/builtin/a${n}/enable?project=${id}`)
    }
    expect((await outline()).sentence).toMatch(/, wakes a1, a2, a3 and 2 more\.$/)
    await svc.post(`/api/agents/builtin/checkout-first-look/enable?project=${id}`)
    await svc.post('/api/triggers/checkout-errors/pause')
    expect((await outline()).sentence).toMatch(/, wakes no agent yet\.$/)
  })

  it('its history says created, paused, resumed and repaired', async () => {
    const { id } = await watch()
    await svc.post(`/api/projects/${id}/pause`, { sources: true })
    await svc.post(`/api/projects/${id}/resume`)
    await svc.del('/api/triggers/checkout-errors')
    await svc.post(`/api/projects/${id}/repair`, { key: 'errors' })
    const { log } = await svc.get<{ log: { action: string; detail: string }[] }>(
      `/api/projects/${id}/summary`,
    )
    expect(log.map(({ action }) => action)).toEqual(['repaired', 'updated', 'resumed', 'paused', 'created'])
    expect(log.map(({ detail }) => detail)).toEqual([
      'project Checkout: trigger checkout-errors repaired (no auth configured)',
      expect.stringContaining('trigger checkout-errors deleted'),
      expect.stringContaining('project Checkout resumed'),
      expect.stringContaining('project Checkout paused'),
      'project Checkout created; 5 created (no auth configured)',
    ])
  })

  it('a firing names the project its trigger is in: its own, and Default', async () => {
    const { id } = await watch()
    const { ingest_key } = await svc.get('/api/sources/checkout-events')
    await svc.post('/api/triggers', {
      name: 'loose',
      sources: ['checkout-events'],
      condition: { event: 'any' },
    })
    await svc.post(
      `/ingest/${ingest_key}`,
      Array.from({ length: 20 }, () => ({ status: 500 })),
    )
    const { firings } = await svc.get<{ firings: Fields[] }>('/api/firings')
    const { projects } = await svc.get<{ projects: Fields[] }>('/api/projects')
    const home = projects.find(({ default: isDefault }) => isDefault)!.id
    expect(Object.fromEntries(firings.map(({ trigger, project }) => [trigger, project]))).toEqual({
      'checkout-errors': id,
      loose: home,
    })
  })

  it('its change history says what was done, by whom and why', async () => {
    const { id } = await watch()
    await svc.post(`/api/projects/${id}/pause`, undefined, { 'x-svc-why': 'maintenance' })
    await svc.post(`/api/projects/${id}/resume`)
    const { change_sets } = await svc.get<{ change_sets: Fields[] }>(`/api/change-sets?project=${id}`)
    expect(change_sets.map(({ why, actor }) => [why, actor])).toEqual([
      ['', 'no auth configured'],
      ['maintenance', 'no auth configured'],
      ['', 'no auth configured'],
    ])
    expect(change_sets.map(({ summary }) => summary)).toEqual([
      expect.stringContaining('resumed'),
      expect.stringContaining('paused'),
      expect.stringContaining('created'),
    ])
  })
})
