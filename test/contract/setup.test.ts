/** Guided setup over HTTP: each route, what it refuses, and who may call it. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadModels } from '../../api/config-models.ts'
import type { DraftStarted, Setup, SetupApplied, SetupChecked } from '../../schemas/types.ts'
import { proposal } from '../engine/declared/setup/setup-world.ts'
import { type Instance, startInstance } from './instance.ts'

const GOAL = 'Tell me when the gateway fails'

async function open(options: Parameters<typeof startInstance>[0] = {}): Promise<Instance> {
  const svc = await startInstance(options)
  onTestFinished(() => svc.stop())
  return svc
}

/** Nothing answers there: a draft waits to be planned. */
const withModel = () =>
  loadModels({ PROVIDERA_BASE_URL: 'http://127.0.0.1:9', PROVIDERA_API_KEY: 'k', SVC_AGENT_MODEL: 'm1' })

const of = (id: string, more = '') => `/api/projects/${id}/setup${more}`

async function drafted(svc: Instance, body: object = {}): Promise<string> {
  const { project } = await svc.post<DraftStarted>('/api/setup/drafts', { goal: GOAL, ...body })
  return project.id
}

const applied = async (svc: Instance, plan: object = proposal()): Promise<SetupApplied> =>
  svc.post<SetupApplied>('/api/setup/apply', { plan: { goal: GOAL, ...plan } })

describe('drafts', () => {
  it('are planned in the background: 202, and another plan is refused meanwhile', async () => {
    const svc = await open({ models: withModel() })
    const { status, body } = await svc.call<DraftStarted>('POST', '/api/setup/drafts', {
      goal: GOAL,
      name: 'Gateway',
      description: 'The one in front of the shop.',
    })
    expect(status).toBe(202)
    expect(body.project).toMatchObject({ name: 'Gateway', goal: GOAL, status: 'draft', objects: [] })
    const { id } = body.project
    expect(await svc.get<Setup>(of(id))).toMatchObject({
      step: 'plan',
      draft: true,
      description: 'The one in front of the shop.',
      plan: null,
      planning: { state: 'running', steps: [], no_provider: false },
      checks: null,
      connect: null,
      practice_run: null,
    })
    const busy = [409, expect.stringContaining('is being planned')]
    expect(await svc.refused('POST', of(id, '/plan'), { goal: 'Other' })).toEqual(busy)
    expect(await svc.refused('PUT', of(id), { plan: proposal() })).toEqual(busy)
    expect((await svc.refused('POST', '/api/setup/apply', { plan: proposal(), project: id }))[0]).toBe(409)
    await svc.del(of(id, '/plan'))
    expect((await svc.refused('DELETE', of(id, '/plan')))[0]).toBe(409)
    expect((await svc.call('POST', of(id, '/plan'), { goal: 'Other', who: 'own' })).status).toBe(202)
    expect(await svc.get(of(id))).toMatchObject({ goal: 'Other', who: 'own', planning: { state: 'running' } })
    expect((await svc.refused('POST', '/api/setup/drafts', { goal: GOAL, name: 'Gateway' }))[0]).toBe(409)
    await svc.del(`/api/projects/${id}`)
    expect((await svc.refused('GET', of(id)))[0]).toBe(404)
  })

  it('are refused without a model, and with a body that breaks a rule', async () => {
    const svc = await open()
    expect(await svc.refused('POST', '/api/setup/drafts', { goal: GOAL })).toEqual([
      409,
      expect.stringMatching(/no model provider is set.*write the plan by hand/),
    ])
    for (const body of [
      {},
      { goal: ' ' },
      { goal: 'two\nlines' },
      { goal: 'x'.repeat(201) },
      { goal: GOAL, who: 'me' },
    ])
      expect((await svc.refused('POST', '/api/setup/drafts', body))[0], JSON.stringify(body)).toBe(400)
    const id = await drafted(svc, { plan: {} })
    expect((await svc.refused('POST', of(id, '/plan'), {}))[0]).toBe(400)
    expect((await svc.refused('POST', of(id, '/plan'), { instruction: 'x'.repeat(2_001) }))[0]).toBe(400)
    expect((await svc.refused('PUT', of(id), {}))[0]).toBe(400)
    expect((await svc.refused('PUT', of(id), { step: 'try' }))[0]).toBe(409)
    expect((await svc.refused('POST', of(id, '/practice')))[0]).toBe(409)
    expect((await svc.refused('POST', of(id, '/test-event'), { source: 'gateway' }))[0]).toBe(409)
    expect((await svc.refused('GET', of('uc_unknown')))[0]).toBe(404)
    await svc.post('/api/projects', { template: 'custom', name: 'By hand' })
    expect(await svc.refused('GET', of('By hand'))).toEqual([
      404,
      'project By hand was not made by guided setup',
    ])
  })

  it('are edited, checked and applied; then they are none', async () => {
    const svc = await open()
    const id = await drafted(svc, { plan: {} })
    expect(await svc.put<Setup>(of(id), { plan: proposal() })).toMatchObject({ problems: [], draft: true })
    const checked = await svc.post<SetupChecked>('/api/setup/check', {
      plan: proposal({ wakes: [] }),
      project: id,
    })
    expect(checked).toMatchObject({ changes: null, problems: [{ where: 'wakes' }, { where: 'agents.a1' }] })
    expect(await svc.refused('POST', '/api/setup/apply', { plan: {}, project: id })).toEqual([
      422,
      expect.stringMatching(/^the plan cannot be applied: .*watches: nothing is watched/),
    ])
    const { plan } = await svc.get<Setup>(of(id))
    const answer = await svc.call<SetupApplied>('POST', '/api/setup/apply', { plan, project: id })
    expect([answer.status, answer.body.project.state]).toEqual([201, 'connect'])
    expect((await svc.refused('PUT', of(id), { plan }))[0]).toBe(409)
    expect((await svc.refused('POST', of(id, '/plan'), { goal: GOAL }))[0]).toBe(409)
    expect(await svc.put<Setup>(of(id), { step: 'try' })).toMatchObject({ step: 'try', planning: null })
  })

  it('are not overwritten by who saw an older plan: 409, and nothing is written', async () => {
    const svc = await open({ models: withModel() })
    const id = await drafted(svc, { plan: {} })
    const seen = await svc.call<Setup>('GET', of(id))
    const etag = seen.headers.get('etag')!
    expect(etag).toBe(`"${seen.body.version}"`)
    const plan = (name: string) => proposal({ name })
    const first = await svc.call<Setup>('PUT', of(id), { plan: plan('One') }, { 'if-match': etag })
    expect([first.status, first.body.plan!.name]).toEqual([200, 'One'])
    expect(first.body.version).toBeGreaterThan(seen.body.version)
    expect(first.headers.get('etag')).toBe(`"${first.body.version}"`)
    const stale = [409, expect.stringContaining(`it is version ${first.body.version} and not`)]
    const match = { 'if-match': etag }
    expect(await svc.refused('PUT', of(id), { plan: plan('Two') }, match)).toEqual(stale)
    expect(await svc.refused('PUT', of(id), { step: 'try' }, match)).toEqual(stale)
    const instruction = { instruction: 'only at night', plan: plan('Two') }
    expect(await svc.refused('POST', of(id, '/plan'), instruction, match)).toEqual(stale)
    const body = { plan: plan('Two'), project: id }
    expect(await svc.refused('POST', '/api/setup/apply', body, match)).toEqual(stale)
    expect(await svc.get<Setup>(of(id))).toMatchObject({ ...first.body, draft: true })
    // Who says nothing of a version overwrites, as ever.
    const last = await svc.call<Setup>('PUT', of(id), { plan: plan('Three') })
    expect(last.status).toBe(200)
    const now = { 'if-match': last.headers.get('etag')! }
    expect((await svc.call('POST', '/api/setup/apply', body, now)).status).toBe(201)
  })
})

describe('a draft', () => {
  const condition = { aggregate: 'count', predicate: '> 5', window: '5m' }

  it('takes no parts and wakes nobody, by whichever door', async () => {
    const svc = await open()
    const id = await drafted(svc, { plan: proposal() })
    await svc.post('/api/sources', { name: 'gw', connector: 'webhook' })
    await svc.post('/api/triggers', { name: 'errs', sources: ['gw'], condition })
    await svc.post('/api/agents/builtin', { name: 'look', prompt: 'p', trigger: 'errs' })
    await svc.post('/api/mcp-servers', { name: 'tools', url: 'https://m.example/' })
    await svc.post('/api/projects', { template: 'custom', name: 'Mine' })
    await svc.post('/api/projects/Mine/skills', { name: 'know', description: 'd', body: 'b' })
    const trigger = { name: 't', sources: ['gw'], condition }
    const put = (more: object) => ({ operations: [{ op: 'put', kind: 'trigger', name: 't', ...more }] })
    const skill = '---\nname: fresh\ndescription: d\n---\nb\n'
    const doors: [string, string, unknown][] = [
      ['POST', '/api/sources', { name: 's', connector: 'webhook', project: id }],
      ['POST', '/api/triggers', { ...trigger, project: id }],
      ['POST', '/api/triggers', { ...trigger, notify: { agents: ['look'] }, project: id }],
      ['POST', '/api/agents/builtin', { name: 'a', prompt: 'p', project: id }],
      ['POST', '/api/mcp-servers', { name: 'm', url: 'https://m.example/', project: id }],
      ['PUT', '/api/agents/builtin/look', { prompt: 'p', trigger: 'errs', project: id }],
      ['POST', `/api/projects/${id}/skills`, { name: 'new', description: 'd', body: 'b' }],
      ['POST', `/api/projects/${id}/skills/know/use`, undefined],
      ['POST', '/api/change-sets', put({ spec: { sources: ['gw'], condition }, project: id })],
      [
        'POST',
        '/api/change-sets',
        {
          operations: [{ op: 'patch', kind: 'project', name: id, spec: { uses: { trigger: { errs: {} } } } }],
        },
      ],
      [
        'POST',
        '/api/change-sets',
        {
          operations: [
            {
              op: 'patch',
              kind: 'project',
              name: id,
              spec: { wakes: { errs: { look: { enabled: true } } } },
            },
          ],
        },
      ],
      ['POST', '/api/proposals', put({ spec: { sources: ['gw'], condition }, project: id })],
      ['PUT', `/api/projects/${id}`, { objects: [{ kind: 'trigger', name: 'errs' }] }],
      [
        'PUT',
        `/api/projects/${id}/wiring`,
        { wakes: [{ trigger: 'errs', agent: 'look', enabled: true }], handoffs: [] },
      ],
    ]
    for (const [method, path, body] of doors)
      expect([path, await svc.refused(method, path, body)]).toEqual([
        path,
        [409, expect.stringContaining('draft')],
      ])
    expect(
      await svc.refused('POST', `/api/projects/${id}/skills/upload`, skill, {
        'content-type': 'text/markdown',
      }),
    ).toEqual([409, expect.stringContaining('apply its plan first, or choose another project')])
    const draft = await svc.get<{ name: string; objects: object[] }>(`/api/projects/${id}`)
    const yaml = JSON.stringify({
      triggers: [{ ...trigger, project: draft.name }],
      wiring: [{ project: draft.name, wake: 'errs', agent: 'look' }],
    })
    expect(await svc.refused('POST', '/api/catalog/import', { yaml })).toEqual([
      400,
      expect.stringMatching(/triggers\[0\]\.project: project .* is a draft.*and 1 more/),
    ])
    expect(draft.objects).toEqual([])
    await svc.post<SetupApplied>('/api/setup/apply', { plan: { goal: GOAL, ...proposal() }, project: id })
    expect(await svc.post('/api/triggers', { ...trigger, project: id })).toMatchObject({ project: id })
  })

  it('is none again while the project has what was made in it since', async () => {
    const svc = await open()
    const project = await drafted(svc, { plan: proposal() })
    const plan = { goal: GOAL, ...proposal() }
    const { change_set } = await svc.post<SetupApplied>('/api/setup/apply', { plan, project })
    const undo = `/api/change-sets/${change_set}/undo`
    await svc.post('/api/agents/builtin', { name: 'mine', prompt: 'p', project })
    expect(await svc.refused('POST', undo, {})).toEqual([
      409,
      expect.stringContaining('would be a draft again, and a draft has no parts: agent mine came since'),
    ])
    await svc.del('/api/agents/builtin/mine')
    await svc.post(undo, {})
    expect(await svc.get(`/api/projects/${project}`)).toMatchObject({ state: 'draft', objects: [] })
  })
})

describe('trying', () => {
  it('refuses a source that is asked, one that is not there, and practice on nothing', async () => {
    const svc = await open()
    const asked = {
      key: 'w2',
      name: 'status',
      connector: 'http_poll',
      poll: '1h',
      config: { url: 'https://a.example/' },
    }
    const { project } = await applied(svc, proposal({ watches: [proposal().watches[0], asked] }))
    expect((await svc.refused('POST', of(project.id, '/test-event'), { source: 'status' }))[0]).toBe(400)
    expect((await svc.refused('POST', of(project.id, '/test-event'), { source: 'none' }))[0]).toBe(404)
    expect((await svc.refused('POST', of(project.id, '/practice')))[0]).toBe(409)
    expect(await svc.post(of(project.id, '/test-event'), { source: 'gateway' })).toMatchObject({
      ok: true,
      ingested: 1,
    })
    const { run_id } = await svc.post<{ run_id: string }>(of(project.id, '/practice'))
    expect(await svc.get(`/api/runs/${run_id}`)).toMatchObject({ practice: true, woken_by: 'practice' })
  })

  it('says of events without an entity what they lack, not that none came', async () => {
    const svc = await open()
    const { project } = await applied(svc, proposal({ watches: [{ ...proposal().watches[0]!, config: {} }] }))
    const refusal = async () => (await svc.refused('POST', of(project.id, '/practice')))[1]
    expect(await refusal()).toContain('no event of gateway has come yet; send a test event first')
    await svc.post(of(project.id, '/test-event'), { source: 'gateway' })
    expect(await refusal()).toContain('no label of gateway is marked as entity key')
  })

  it('practises on the entity that events of a connector have themselves, as an alert has', async () => {
    const svc = await open()
    const alerts = { ...proposal().watches[0]!, connector: 'alertmanager', config: {}, sample: null }
    const { project } = await applied(svc, proposal({ watches: [alerts] }))
    await svc.post(of(project.id, '/test-event'), { source: 'gateway' })
    const { run_id } = await svc.post<{ run_id: string }>(of(project.id, '/practice'))
    expect(await svc.get(`/api/runs/${run_id}`)).toMatchObject({ practice: true, key: 'checkout' })
  })
})

describe('on a secured instance', () => {
  it('is the work of admins; who reads sees what was set up, and no draft', async () => {
    const svc = await open({ secured: true })
    const key = async (scopes: string[], project?: string) =>
      svc.as(
        (
          await svc.post<{ secret: string }>(project ? `/api/projects/${project}/keys` : '/api/keys', {
            name: scopes.join(),
            ...(project ? {} : { scopes }),
          })
        ).secret,
      )
    const reader = await key(['read'])
    const draft = await drafted(svc, { plan: {} })
    const { project, connect } = await applied(svc)
    expect(connect.sources[0]?.key).toMatch(/^svc_/)
    expect((await svc.get<Setup>(of(project.id))).connect?.sources[0]?.key).toBe(null)
    const lacks = [403, "this credential lacks the 'admin' scope"]
    expect(await reader.refused('GET', of(draft))).toEqual(lacks)
    expect(await reader.get<Setup>(of(project.id))).toMatchObject({ step: 'connect' })
    for (const [method, path, body] of [
      ['POST', '/api/setup/drafts', { goal: GOAL }],
      ['POST', '/api/setup/check', { plan: {} }],
      ['POST', '/api/setup/apply', { plan: {} }],
      ['PUT', of(project.id), { step: 'try' }],
      ['POST', of(draft, '/plan'), { goal: GOAL }],
      ['DELETE', of(draft, '/plan'), undefined],
      ['POST', of(project.id, '/test-event'), { source: 'gateway' }],
      ['POST', of(project.id, '/practice'), undefined],
    ] as const)
      expect(await reader.refused(method, path, body), path).toEqual(lacks)
    const ofProject = await key(['read', 'findings'], project.id)
    expect((await ofProject.refused('GET', of(project.id)))[0]).toBe(403)
    // The key of the source is the one its events need.
    const { ingest_url, key: secret } = connect.sources[0]!
    expect(await svc.as(secret!).post(ingest_url!, { service: 'pay', status: 200 })).toMatchObject({
      ingested: 1,
    })
  })
})
