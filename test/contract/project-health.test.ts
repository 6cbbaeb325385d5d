import { describe, expect, it, onTestFinished } from 'vitest'
import { loadModels } from '../../api/config-models.ts'
import { startReceiver } from '../engine/net/egress/receiver.ts'
import { type Fields, type Instance, startInstance } from './instance.ts'
import { startSending } from './sending.ts'

interface Health extends Fields {
  state: string
  message: string
  issues: { severity: string; message: string; fix: string; view: string }[]
}

const withModel = () =>
  loadModels({ PROVIDERA_BASE_URL: 'http://127.0.0.1:9', PROVIDERA_API_KEY: 'k', SVC_AGENT_MODEL: 'm1' })

async function open(options: Parameters<typeof startInstance>[0] = {}) {
  const svc = await startInstance(options)
  onTestFinished(() => svc.stop())
  return { svc, ...(await watchIn(svc)) }
}

async function watchIn(svc: Pick<Instance, 'post' | 'get'>) {
  const { id } = await svc.post<{ id: string }>('/api/projects', {
    template: 'webhook_watch',
    name: 'Checkout',
    params: { service: 'checkout' },
  })
  return { id, health: () => svc.get<Health>(`/api/projects/${id}/health`) }
}

describe('project health', () => {
  it('without a model provider says that its agents cannot run, and /health is degraded; with one it works', async () => {
    const { svc, health } = await open()
    expect(await health()).toMatchObject({
      state: 'attention',
      message: 'No model provider is set, so its agents cannot run',
      issues: [{ severity: 'error', view: '/settings?tab=providers' }],
    })
    expect(await svc.get('/health')).toMatchObject({
      status: 'degraded',
      detail: 'agents are switched on and no model provider is set, so none of them can run',
    })
    await svc.put('/api/settings/providera-key', { key: 'a-key-of-the-provider' })
    expect(await health()).toMatchObject({
      state: 'working',
      message: 'Everything it needs is in place',
      issues: [],
    })
    expect(await svc.get('/health')).toMatchObject({ status: 'ok' })
  })

  it('/health says which provider is asked where the one that the environment names is not there', async () => {
    const models = { ...withModel(), defaultProvider: 'provderb' }
    const { svc } = await open({ models })
    expect(await svc.get('/health')).toMatchObject({
      status: 'degraded',
      detail:
        'SVC_MODEL_PROVIDER names provderb, and no model provider that can be called has this id (did you mean providera?); providera is asked in its place',
    })
    await svc.put('/api/settings/providers/default', { id: 'providera' })
    expect(await svc.get('/health'), 'the choice of a person wins').toMatchObject({ status: 'ok' })
  })

  it('does not say of an empty project that it works', async () => {
    const { svc } = await open({ models: withModel() })
    const { id } = await svc.post<{ id: string }>('/api/projects', {
      template: 'custom',
      name: 'E',
      objects: [],
    })
    expect(await svc.get(`/api/projects/${id}/health`)).toEqual({
      state: 'setting_up',
      message: 'Add a source of events to begin',
      issues: [],
    })
  })

  it('names a variable that an MCP server refers to and that is not set', async () => {
    const env: Record<string, string> = {}
    const { svc, id, health } = await open({ models: withModel(), env })
    await svc.post('/api/mcp-servers', {
      name: 'tools',
      url: 'https://tools.example/mcp',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference as it is written.
      auth_value: '${SVC_SECRET_TOOLS}',
      project: id,
    })
    expect((await health()).issues).toMatchObject([
      {
        severity: 'error',
        message: 'MCP server tools refers to the variable SVC_SECRET_TOOLS, which is not set',
        view: '/mcp-servers/tools',
      },
    ])
    env.SVC_SECRET_TOOLS = 'a-token'
    expect((await health()).state).toBe('working')
    // As one that an older version stored, or that is not listed any more: to set it would help nothing.
    Object.assign(env, { SVC_SECRETS: 'HOME_GROWN', HOME_GROWN: 'another-token' })
    await svc.put('/api/mcp-servers/tools', {
      name: 'tools',
      url: 'https://tools.example/mcp',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference as it is written.
      auth_value: '${HOME_GROWN}',
    })
    expect((await health()).state).toBe('working')
    delete env.SVC_SECRETS
    expect((await health()).issues).toMatchObject([
      {
        message: 'MCP server tools refers to the variable HOME_GROWN, which may not be opened',
        fix: 'The variable HOME_GROWN may not be opened: rename it to SVC_SECRET_HOME_GROWN, or list HOME_GROWN in SVC_SECRETS where svc is started',
      },
    ])
  })

  it('says of a source that is refused for want of storage how to make room, not to correct it', async () => {
    const { svc, health } = await open({ models: withModel(), maxDbSize: 1 })
    svc.clock.at += 60_000
    expect((await health()).issues).toMatchObject([
      {
        severity: 'error',
        message: expect.stringMatching(/^Source checkout-events: .*storage/i),
        fix: expect.stringContaining('Make room'),
        view: '/help/storage',
      },
    ])
  })

  it('tells a source that refuses more than it takes', async () => {
    const { svc, health } = await open({ models: withModel() })
    const { ingest_key } = await svc.get('/api/sources/checkout-events')
    const post = (body: string) =>
      svc.call('POST', `/ingest/${ingest_key}`, body, { 'content-type': 'application/x-ndjson' })
    await post('{"status":200}\nnot json\nnot json either\n')
    expect((await health()).issues).toMatchObject([
      {
        severity: 'warning',
        message: 'Source checkout-events refused 2 of 3 items since the start',
        view: '/sources/checkout-events',
      },
    ])
    await post('{"status":200}\n{"status":201}\n{"status":202}\n')
    expect((await health()).state).toBe('working')
  })

  it('tells an address whose last delivery failed', async () => {
    let status = 404
    const receiver = await startReceiver((_received, response) => response.writeHead(status).end())
    const svc = await startSending({ allowPrivate: true })
    onTestFinished(async () => {
      await svc.stop()
      await receiver.close()
    })
    const { id, health } = await watchIn(svc)
    const failing = expect.objectContaining({
      severity: 'error',
      message: expect.stringMatching(/^The last delivery to .* failed: .*404/),
      view: '/deliveries',
    })
    await svc.post(`/api/projects/${id}/subscribe`, { url: receiver.url })
    const { ingest_key } = await svc.get('/api/sources/checkout-events')
    await svc.post(
      `/ingest/${ingest_key}`,
      Array.from({ length: 20 }, () => ({ status: 500 })),
    )
    await svc.settled(1)
    expect((await health()).issues).toContainEqual(failing)
    status = 200
    const { deliveries } = await svc.get<{ deliveries: Fields[] }>('/api/deliveries?status=failed')
    await svc.post(`/api/deliveries/${deliveries[0]!.delivery_id}/redeliver`)
    await svc.settled(2)
    expect((await health()).issues).not.toContainEqual(failing)
  })
})

describe('GET /health', () => {
  it('is degraded where none of the sources takes events, and not where one of them does', async () => {
    const env: Record<string, string> = {}
    const svc = await startInstance({ env, models: withModel() })
    onTestFinished(() => svc.stop())
    for (const name of ['one', 'two'])
      await svc.post('/api/sources', {
        name,
        connector: 'webhook',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference as it is written.
        config: { signature_scheme: 'github', signature_secret: '${SVC_SECRET_HOOK}' },
      })
    expect(await svc.get('/health')).toMatchObject({
      status: 'degraded',
      detail: 'none of the 2 sources takes events',
    })
    await svc.post('/api/sources', { name: 'three', connector: 'webhook' })
    expect(await svc.get('/health')).toMatchObject({ status: 'ok' })
  })
})

describe('what is woken, or told, outside the project', () => {
  const condition = { aggregate: 'count', predicate: '> 5', window: '5m' }

  it('is not said to lack an agent: a trigger that somebody subscribed to, and parts that another project wires', async () => {
    const svc = await startInstance({ models: withModel() })
    onTestFinished(() => svc.stop())
    const labels = [{ name: 'service', field: 'service', primary: true }]
    await svc.post('/api/sources', { name: 'gw', connector: 'webhook', config: { labels } })
    const made = async (name: string, ...objects: Fields[]) => {
      const { id } = await svc.post<{ id: string }>('/api/projects', { template: 'custom', name, objects })
      const messages = async () =>
        (await svc.get<Health>(`/api/projects/${id}/health`)).issues.map(({ message }) => message)
      const sentence = async () => (await svc.get<Fields>(`/api/projects/${id}/outline`)).sentence
      return { id, messages, sentence }
    }
    const own = await made('Own')
    await svc.post('/api/triggers', { name: 'mine', sources: ['gw'], condition, project: own.id })
    expect([await own.messages(), await own.sentence()]).toEqual([
      ['Trigger mine wakes no agent'],
      expect.stringMatching(/, wakes no agent yet\.$/),
    ])
    await svc.post(`/api/projects/${own.id}/subscribe`, { url: 'https://hooks.example/firings' })
    expect([await own.messages(), await own.sentence()]).toEqual([
      [],
      expect.stringMatching(/, tells whoever is subscribed\.$/),
    ])

    await svc.post('/api/triggers', { name: 'errs', sources: ['gw'], condition })
    await svc.post('/api/agents/builtin', { name: 'first', prompt: 'p', trigger: 'errs' })
    const wired = await made('Wired', { kind: 'trigger', name: 'errs' }, { kind: 'agent', name: 'first' })
    await svc.post(`/api/agents/builtin/first/enable?project=${wired.id}`)
    const shared = await made('Shared')
    const objects = [
      { kind: 'trigger', name: 'errs' },
      { kind: 'agent', name: 'first' },
    ]
    await svc.put(`/api/projects/${shared.id}`, { objects })
    expect([await wired.messages(), await shared.messages()]).toEqual([[], []])
    await svc.put(`/api/projects/${wired.id}/wiring`, { wakes: [], handoffs: [] })
    expect(await shared.messages()).toEqual(['Nothing wakes agent first', 'Trigger errs wakes no agent'])
  })
})
