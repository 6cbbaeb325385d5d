import { beforeEach, describe, expect, it } from 'vitest'
import { type Fields, type Instance, startBeforeEach, startInstance } from './instance.ts'

let svc: Instance
let first: string
let second: string
const condition = { aggregate: 'count', predicate: '> 5', window: '5m' }

/** Two projects that share a source, a trigger, the agent it wakes, and a skill; all belong to the first. */
startBeforeEach(async () => {
  svc = await startInstance()
  const make = async (name: string) =>
    (await svc.post<{ id: string }>('/api/projects', { template: 'custom', name })).id
  first = await make('First')
  second = await make('Second')
  await svc.post('/api/sources', { name: 'gw', connector: 'webhook', project: 'First' })
  await svc.post('/api/triggers', { name: 'errs', sources: ['gw'], condition, project: 'First' })
  await svc.post('/api/agents/builtin', { name: 'look', prompt: 'p', trigger: 'errs', project: 'First' })
  await svc.post(`/api/projects/${first}/skills`, { name: 'know', description: 'd', body: 'b' })
  await svc.post(`/api/projects/${second}/skills/know/use`)
  await wire(second, true)
  await svc.post('/api/agents/builtin/look/enable?project=First')
  return svc
})

const wire = (project: string, enabled: boolean) =>
  svc.put(`/api/projects/${project}/wiring`, {
    wakes: [{ trigger: 'errs', agent: 'look', enabled }],
    handoffs: [],
  })
const pause = (project: string, sources = false) => svc.post(`/api/projects/${project}/pause`, { sources })
const resume = (project: string) => svc.post(`/api/projects/${project}/resume`)
const undo = async () => {
  const { version } = await svc.get<{ version: number }>('/api/change-sets?limit=1')
  await svc.post(`/api/change-sets/${version}/undo`, {})
}
const remove = async (project: string, query = '') => svc.del(`/api/projects/${project}${query}`)

/** Who is at work: the trigger, the source, and the agent in each project that is there. */
async function working(): Promise<Fields> {
  const trigger = await svc.call('GET', '/api/triggers/errs')
  const source = await svc.call('GET', '/api/sources/gw')
  const on = async (project: string) => {
    const { status } = await svc.call('GET', `/api/projects/${project}`)
    if (status === 404) return 'gone'
    return (await svc.get(`/api/agents/builtin/look?project=${project}`)).enabled
  }
  return {
    trigger: trigger.body.state ?? trigger.status,
    source: source.body.state ?? source.status,
    first: await on(first),
    second: await on(second),
  }
}
const ALL = { trigger: 'active', source: 'active', first: true, second: true }

describe('two projects that share a trigger, an agent and a skill', () => {
  it('both use them, and they belong to one', async () => {
    for (const path of ['/api/triggers/errs', '/api/agents/builtin/look', '/api/sources/gw']) {
      const { owned_by, projects } = await svc.get<{ owned_by: string; projects: string[] }>(path)
      expect([owned_by, projects.toSorted()]).toEqual([first, [first, second].toSorted()])
    }
    expect(await working()).toEqual(ALL)
  })

  it('an edit in one is seen in the other', async () => {
    await svc.put('/api/triggers/errs', { name: 'errs', sources: ['gw'], condition, cooldown: '1h' })
    await svc.put('/api/agents/builtin/look', { prompt: 'New.', project: 'Second' })
    await svc.put(`/api/projects/${second}/skills/know`, { body: 'new' })
    const { version } = await svc.get<{ version: number }>('/api/change-sets?limit=1')
    for (const project of [first, second]) {
      expect(await svc.get(`/api/agents/builtin/look?project=${project}`)).toMatchObject({ prompt: 'New.' })
      expect(await svc.get(`/api/projects/${project}/skills/know`)).toMatchObject({ body: 'new' })
      const { change_sets } = await svc.get<{ change_sets: { id: number }[] }>(
        `/api/change-sets?project=${project}&limit=3`,
      )
      expect(change_sets.map(({ id }) => id)).toEqual([version, version - 1, version - 2])
    }
  })

  it('wiring is each project’s own: switching an agent off in one leaves it on in the other', async () => {
    await svc.post('/api/agents/builtin/look/disable?project=Second')
    expect(await working()).toEqual({ ...ALL, second: false })
    await wire(second, true)
    await svc.post('/api/agents/builtin/look/disable')
    expect(await working()).toEqual({ ...ALL, first: false, second: false })
  })

  it('a handoff of one project is not the other’s', async () => {
    await svc.post('/api/agents/builtin', { name: 'dig', prompt: 'p', project: 'Second' })
    await svc.put('/api/agents/builtin/look', {
      project: 'Second',
      handoffs: [{ verdict: 'deep', agent: 'dig' }],
    })
    expect(await svc.get('/api/agents/builtin/look?project=Second')).toMatchObject({
      handoffs: [{ verdict: 'deep', agent: 'dig' }],
    })
    expect(await svc.get('/api/agents/builtin/look?project=First')).toMatchObject({ handoffs: [] })
  })
})

describe('pausing and resuming', () => {
  it('one stops its own wiring; the shared trigger runs on for the other', async () => {
    await pause(first)
    expect(await working()).toEqual({ ...ALL, first: false })
    await resume(first)
    expect(await working()).toEqual(ALL)
  })

  it('the last of them to pause stops the trigger', async () => {
    await pause(first)
    await pause(second)
    expect(await working()).toEqual({ trigger: 'paused', source: 'active', first: false, second: false })
  })

  it.each([
    ['first', 'second'],
    ['second', 'first'],
  ] as const)(
    'whichever resumes first (%s) starts the trigger again, the other its own',
    async (one, other) => {
      const ids = { first, second }
      await pause(first)
      await pause(second)
      await resume(ids[one])
      expect(await working()).toEqual({ ...ALL, [other]: false })
      await resume(ids[other])
      expect(await working()).toEqual(ALL)
    },
  )

  it('with sources, a source the other still needs keeps ingesting', async () => {
    await pause(first, true)
    expect(await working()).toEqual({ ...ALL, first: false })
    await pause(second, true)
    expect(await working()).toEqual({ trigger: 'paused', source: 'paused', first: false, second: false })
    await resume(first)
    expect(await working()).toEqual({ ...ALL, second: false })
  })

  it('where one that paused it is deleted, the other starts it again, and the change says so', async () => {
    await pause(first)
    await pause(second)
    await svc.del(`/api/projects/${second}`)
    const { change_sets } = await svc.get<{ change_sets: { summary: string }[] }>('/api/change-sets?limit=1')
    expect(change_sets[0]!.summary).toMatch(/: what resuming it starts/)
    expect(change_sets[0]!.summary).not.toMatch(/: *(;|$)/)
  })

  it('a trigger paused by hand stays paused through both', async () => {
    await svc.post('/api/triggers/errs/pause')
    await pause(first)
    await pause(second)
    await resume(second)
    await resume(first)
    expect(await working()).toEqual({ ...ALL, trigger: 'paused' })
  })

  it.each([
    ['is deleted', () => remove(second)],
    ['no longer uses it', () => svc.put(`/api/projects/${second}`, { objects: [] })],
  ])(
    'a shared trigger comes back with the project that is left when the one that stopped it %s',
    async (_case, leave) => {
      await pause(first)
      await pause(second)
      await leave()
      await resume(first)
      expect(await working()).toMatchObject({ trigger: 'active', first: true })
    },
  )

  it('undoing a pause starts what it stopped, undoing a resume stops it again', async () => {
    await pause(first)
    await pause(second, true)
    const both = await working()
    await undo()
    expect(await working()).toEqual({ ...ALL, first: false })
    await pause(second, true)
    await resume(second)
    await undo()
    expect(await working()).toEqual(both)
    await resume(second)
    await resume(first)
    expect(await working()).toEqual(ALL)
  })
})

describe('while a project is paused', () => {
  const alone = () => remove(second)

  it('a trigger made in it stands still until it is resumed, with the agents it is to wake', async () => {
    await alone()
    await pause(first)
    const body = { name: 'new', sources: ['gw'], condition, project: 'First', notify: { agents: ['look'] } }
    await svc.post('/api/triggers', body)
    const operations = [
      { op: 'put', kind: 'trigger', name: 'other', spec: { sources: ['gw'], condition }, project: 'First' },
    ]
    await svc.post('/api/change-sets', { operations })
    const wakes = async () =>
      (await svc.get<{ wakes: Fields[] }>(`/api/projects/${first}/wiring`)).wakes.map((row) => [
        row.trigger,
        row.enabled,
      ])
    for (const name of ['new', 'other'])
      expect(await svc.get(`/api/triggers/${name}`)).toMatchObject({ state: 'paused' })
    expect(await wakes()).toEqual([
      ['errs', false],
      ['new', false],
    ])
    await resume(first)
    for (const name of ['new', 'other', 'errs'])
      expect(await svc.get(`/api/triggers/${name}`)).toMatchObject({ state: 'active' })
    expect(await wakes()).toEqual([
      ['errs', true],
      ['new', true],
    ])
  })

  it('a trigger of it is not resumed alone, and one that a running project lets go stops', async () => {
    await pause(first)
    await svc.put(`/api/projects/${second}`, { objects: [] })
    expect(await working()).toMatchObject({ trigger: 'paused' })
    expect(await svc.refused('POST', '/api/triggers/errs/resume')).toEqual([
      409,
      'project First is paused; resume it to resume trigger errs',
    ])
    await resume(first)
    expect(await working()).toMatchObject({ trigger: 'active', first: true })
  })

  it('a source joins it paused where it was paused with its sources; one that is resumed by hand is its own', async () => {
    await alone()
    await pause(first, true)
    await svc.post('/api/sources', { name: 'late', connector: 'webhook', project: 'First' })
    expect(await svc.get('/api/sources/late')).toMatchObject({ state: 'paused' })
    await svc.post('/api/sources/gw/resume')
    await svc.post('/api/catalog/import', { yaml: 'skills: [{ name: x, description: d, body: b }]\n' })
    expect(await svc.get('/api/sources/gw')).toMatchObject({ state: 'active' })
    await svc.post('/api/sources/gw/pause')
    await resume(first)
    expect(await svc.get('/api/sources/late')).toMatchObject({ state: 'active' })
    expect(await svc.get('/api/sources/gw')).toMatchObject({ state: 'paused' })
  })

  it.each<[string, () => Promise<unknown>]>([
    ['off, in all projects', () => svc.post('/api/agents/builtin/look/disable')],
    ['off, in this one', () => svc.post('/api/agents/builtin/look/disable?project=First')],
    ['off, in its wiring', () => wire(first, false)],
    [
      'off, by a patch',
      () => {
        const spec = { wakes: { errs: { look: { enabled: false } } } }
        const operations = [{ op: 'patch', kind: 'project', name: first, spec }]
        return svc.post('/api/change-sets', { operations })
      },
    ],
  ])('an agent that is switched %s stays off when it is resumed', async (_case, off) => {
    await pause(first)
    await off()
    await resume(first)
    expect(await working()).toMatchObject({ first: false, trigger: 'active' })
  })

  it.each<[string, Fields, boolean]>([
    ['on is on once it is resumed', { enabled: true }, true],
    ['nothing of it is as it was', {}, true],
  ])('a wire of which its wiring says %s', async (_case, says, isOn) => {
    await pause(first)
    const wakes = [{ trigger: 'errs', agent: 'look', ...says }]
    expect(await svc.put(`/api/projects/${first}/wiring`, { wakes, handoffs: [] })).toMatchObject({
      wiring: { wakes: [{ enabled: false }] },
    })
    await resume(first)
    expect(await working()).toMatchObject({ first: isOn })
  })

  it('its wiring, written back as it was read, changes nothing; said to be stopped no more, a wire stays off', async () => {
    await pause(first)
    const told = await svc.get<{ wakes: Fields[]; handoffs: Fields[] }>(`/api/projects/${first}/wiring`)
    expect(told.wakes).toEqual([{ trigger: 'errs', agent: 'look', enabled: false, stopped: true }])
    const version = async () => (await svc.get<{ version: number }>(`/api/projects/${first}`)).version
    const before = await version()
    await svc.put(`/api/projects/${first}/wiring`, told)
    const patch = { op: 'patch', kind: 'project', name: first, spec: told }
    await svc.post('/api/change-sets', { operations: [patch] })
    expect(await version()).toBe(before)
    await resume(first)
    expect(await working()).toEqual(ALL)
    // Written back late, it says what ran then.
    await svc.put(`/api/projects/${first}/wiring`, told)
    expect(await working()).toEqual(ALL)

    await pause(first)
    const wakes = told.wakes.map((wake) => ({ ...wake, stopped: false }))
    await svc.put(`/api/projects/${first}/wiring`, { ...told, wakes })
    await resume(first)
    expect(await working()).toMatchObject({ first: false, second: true })
  })

  it('its parts, put as they were read, are as they were', async () => {
    await alone()
    await svc.post('/api/triggers', { name: 'still', sources: ['gw'], condition, project: 'First' })
    await svc.post('/api/triggers/still/pause')
    await pause(first, true)
    const operations = []
    for (const [kind, name] of [
      ['trigger', 'errs'],
      ['trigger', 'still'],
      ['source', 'gw'],
    ] as const) {
      const told = await svc.get<Fields>(`/api/${kind}s/${name}`)
      const fields = kind === 'trigger' ? ['sources', 'condition', 'emit', 'paused'] : ['connector', 'paused']
      const spec = Object.fromEntries(fields.map((field) => [field, told[field]]))
      operations.push({ op: 'put', kind, name, spec })
    }
    await svc.post('/api/change-sets', { operations })
    await resume(first)
    expect(await working()).toMatchObject({ trigger: 'active', source: 'active', first: true })
    expect(await svc.get('/api/triggers/still')).toMatchObject({ state: 'paused' })
  })

  it('what it leaves paused when it is deleted, or lets go, is said', async () => {
    await alone()
    await pause(first, true)
    const left = ['source:gw', 'trigger:errs']
    expect(await svc.get(`/api/projects/${first}/deletion`)).toMatchObject({ left_paused: left })
    expect(await svc.get(`/api/projects/${first}/deletion?delete=trigger:errs`)).toMatchObject({
      deletes: [{ kind: 'trigger', name: 'errs' }],
      left_paused: ['source:gw'],
    })
    expect((await svc.refused('GET', `/api/projects/${first}/deletion?delete=source:gw`))[0]).toBe(409)
    const objects = [{ kind: 'agent', name: 'look' }]
    expect(await svc.put(`/api/projects/${first}`, { objects })).toMatchObject({
      report: { left_paused: left },
    })
    await undo()
    expect(await remove(first)).toMatchObject({ left_paused: left })
    expect(await working()).toMatchObject({ trigger: 'paused', source: 'paused' })
  })

  it('nothing is said of what another paused project resumes', async () => {
    await pause(first, true)
    await pause(second, true)
    expect(await remove(second)).toMatchObject({ left_paused: [] })
    await resume(first)
    expect(await working()).toMatchObject({ trigger: 'active', source: 'active' })
  })
})

it('a wire that is there twice is refused', async () => {
  const [wakes, handoffs] = [
    [true, false].map((enabled) => ({ trigger: 'errs', agent: 'look', enabled })),
    ['deep', 'deep'].map((verdict) => ({ agent: 'look', verdict, to: 'look2' })),
  ]
  const put = (body: Fields) => svc.refused('PUT', `/api/projects/${first}/wiring`, body)
  expect(await put({ wakes, handoffs: [] })).toEqual([400, 'wakes[1] says twice that errs wakes look'])
  expect(await put({ wakes: [], handoffs })).toEqual([
    400,
    'handoffs[1] says twice that look hands over to look2 on deep',
  ])
  expect(await working()).toEqual(ALL)
})

describe('deleting', () => {
  it('the project they belong to leaves them in place, and they belong to the other', async () => {
    expect(await remove(first)).toMatchObject({
      deleted: [],
      kept: ['gw'],
      kept_shared: expect.arrayContaining([
        { kind: 'trigger', name: 'errs', project: second },
        { kind: 'agent', name: 'look', project: second },
        { kind: 'skill', name: 'know', project: second },
      ]),
    })
    expect(await working()).toEqual({ ...ALL, first: 'gone' })
    expect(await svc.get('/api/triggers/errs')).toMatchObject({ owned_by: second, projects: [second] })
  })

  it('a shared part that is picked stays with the other project', async () => {
    expect(await remove(first, '?delete=trigger:errs,agent:look')).toMatchObject({ deleted: [] })
    expect(await working()).toEqual({ ...ALL, first: 'gone' })
  })

  it('both: the skill goes with the last, what was made by hand is left in place', async () => {
    await remove(first)
    expect(await remove(second)).toMatchObject({ deleted: ['skill:know'] })
    expect(await svc.get('/api/skills')).toEqual([])
    const { projects } = await svc.get<{ projects: Fields[] }>('/api/projects')
    expect(projects.map(({ name }) => name)).toEqual(['Default'])
    expect(await svc.get('/api/triggers/errs')).toMatchObject({ owned_by: null, projects: [projects[0]!.id] })
    expect(await svc.get('/api/agents/builtin/look')).toMatchObject({ enabled: false, trigger: '' })
  })

  it('the trigger takes the wiring of both along, and undoing brings back the wiring of both', async () => {
    await svc.del('/api/triggers/errs')
    expect(await svc.get('/api/agents/builtin/look')).toMatchObject({ trigger: '', enabled: false })
    await undo()
    expect(await working()).toEqual(ALL)
  })

  it('the agent takes the wiring of both along, and undoing brings it back', async () => {
    await svc.del('/api/agents/builtin/look')
    for (const project of [first, second])
      expect(await svc.get(`/api/projects/${project}/wiring`)).toEqual({ wakes: [], handoffs: [] })
    await undo()
    expect(await working()).toEqual(ALL)
  })

  it('a project, undone, has its parts, its wiring and its ownership again', async () => {
    const before = await svc.call('GET', '/api/catalog/export')
    await remove(first)
    await undo()
    expect((await svc.call('GET', '/api/catalog/export')).text).toBe(before.text)
    expect(await working()).toEqual(ALL)
    expect(await svc.get('/api/triggers/errs')).toMatchObject({ owned_by: first })
  })

  it('a project, undone, takes along what its parts have come to need', async () => {
    await remove(second)
    await svc.post('/api/sources', { name: 'more', connector: 'webhook', project: 'First' })
    await svc.put('/api/triggers/errs', { name: 'errs', sources: ['gw', 'more'], condition })
    const { change_sets } = await svc.get<{ change_sets: { id: number }[] }>('/api/change-sets?limit=3')
    await svc.post(`/api/change-sets/${change_sets[2]!.id}/undo`, {})
    const { objects } = await svc.get<{ objects: Fields[] }>(`/api/projects/${second}`)
    expect(objects.map(({ name }) => name)).toEqual(['gw', 'more', 'know', 'errs', 'look'])
    expect(await working()).toEqual(ALL)
  })

  it('a project while both are paused, undone, resumes as if nothing was', async () => {
    await pause(first)
    await pause(second, true)
    await remove(second)
    await undo()
    await resume(first)
    await resume(second)
    expect(await working()).toEqual(ALL)
  })
})

describe('a template project and another that uses its parts', () => {
  const watch = () =>
    svc.post<{ id: string }>('/api/projects', {
      template: 'webhook_watch',
      name: 'Checkout',
      params: { service: 'checkout' },
    })

  it('deleting it takes only what nobody else uses', async () => {
    const { id } = await watch()
    await svc.put(`/api/projects/${second}/wiring`, {
      wakes: [{ trigger: 'checkout-errors', agent: 'look', enabled: true }],
      handoffs: [],
    })
    const deleted = await svc.del<{ deleted: string[]; kept: string[] }>(`/api/projects/${id}`)
    expect(deleted.deleted.toSorted()).toEqual([
      'agent:checkout-first-look',
      'agent:checkout-investigator',
      'skill:checkout-runbook',
    ])
    expect(deleted.kept).toEqual(['checkout-events'])
    expect(await svc.get('/api/triggers/checkout-errors')).toMatchObject({
      owned_by: second,
      customized: false,
    })
    expect(await svc.get('/api/triggers/checkout-errors')).toMatchObject({ subscribers: 1 })
  })

  it('a new plan that no longer names a shared part leaves it with the other', async () => {
    const { id } = await watch()
    await svc.put(`/api/projects/${second}/wiring`, {
      wakes: [{ trigger: 'checkout-errors', agent: 'look', enabled: true }],
      handoffs: [],
    })
    await svc.put(`/api/projects/${id}`, { params: { service: 'payments' } })
    expect(await svc.get('/api/triggers/checkout-errors')).toMatchObject({ projects: [second] })
    expect((await svc.call('GET', '/api/agents/builtin/checkout-investigator')).status).toBe(404)
    expect(await svc.get('/api/triggers/payments-errors')).toMatchObject({ owned_by: id })
  })
})

describe('what the Default project has for want of a trigger of its own', () => {
  const projects = async () => (await svc.get<{ projects: string[] }>('/api/sources/gw')).projects
  beforeEach(() => svc.post('/api/triggers', { name: 'alone', sources: ['gw'], condition }))

  it('goes back to the project it belongs to, when the trigger goes; undoing that brings it again', async () => {
    expect(await projects()).toHaveLength(3)
    await svc.del('/api/triggers/alone')
    expect((await projects()).toSorted()).toEqual([first, second].toSorted())
    await undo()
    expect(await projects()).toHaveLength(3)
  })

  it('stays while another trigger there reads it', async () => {
    await svc.post('/api/triggers', { name: 'also', sources: ['gw'], condition })
    await svc.del('/api/triggers/alone')
    expect(await projects()).toHaveLength(3)
  })
})
