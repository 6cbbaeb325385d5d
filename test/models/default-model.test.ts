/** Which model is used where none is named: PROVIDERB and a deployment's provider answer at once, by a rule. */
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ProviderConfig } from '../../engine/agents/models/adapter.ts'
import { toolsTaken } from '../../engine/agents/models/providers.ts'
import { startMcpServer } from '../mcp/server.ts'
import { instance } from './instance.ts'

const PROVIDERS = '/api/settings/providers'
type Tested = { ok: boolean; model: string | null; error?: string }

/** A call without a model. */
const tested = (svc: Awaited<ReturnType<typeof instance>>['svc'], id: string) =>
  svc.post<Tested>(`${PROVIDERS}/${id}/test`)

describe('a provider the environment sets up is usable at once', () => {
  it.each([
    ['platform', { SVC_PLATFORM_PROVIDER_URL: 'URL/v1' }],
    ['providerb', { PROVIDERB_API_KEY: 'k', PROVIDERB_BASE_URL: 'URL/v1' }],
  ])('%s lists its models at its first call, once, and takes one by the rule', async (id, env) => {
    const { svc, server, row } = await instance(env)
    server.listed({ models: ['text-embedding-9', 'm1', 'm2'] })
    expect(await row(id)).toMatchObject({ default: true, default_model: null, default_model_source: '' })
    const both = await Promise.all([tested(svc, id), tested(svc, id)])
    expect(both).toMatchObject([
      { ok: true, model: 'm1' },
      { ok: true, model: 'm1' },
    ])
    expect(server.requests.filter(({ path }) => path.endsWith('/models'))).toHaveLength(1)
    expect(await row(id)).toMatchObject({ default_model: 'm1', default_model_source: 'rule' })
  })

  it('provider B at its own address has its middle model before anything is listed', async () => {
    const { row } = await instance({ PROVIDERB_API_KEY: 'k' })
    expect(await row('providerb')).toMatchObject({
      default_model: expect.stringMatching(/./),
      default_model_source: 'rule',
    })
  })

  it('a listing that fails says so, and what to do', async () => {
    const { svc, server } = await instance({ SVC_PLATFORM_PROVIDER_URL: 'URL/v1' })
    server.listed({ status: 404, error: 'no such path' })
    expect((await tested(svc, 'platform')).error).toMatch(
      /no such path.*choose one under Settings, Model providers/,
    )
  })

  it('a listed model with a known price is taken before others', async () => {
    const { svc, server, row } = await instance({ SVC_PLATFORM_PROVIDER_URL: 'URL/v1' })
    server.listed({ models: ['other', 'house/gpt-4.1-mini', 'm1'] })
    await svc.post(`${PROVIDERS}/platform/models`)
    expect(await row('platform')).toMatchObject({ default_model: 'house/gpt-4.1-mini' })
  })

  it('guided setup may plan with a provider that has listed nothing yet', async () => {
    const { svc } = await instance({ SVC_PLATFORM_PROVIDER_URL: 'URL/v1' })
    expect((await svc.call('POST', '/api/setup/drafts', { goal: 'Watch the errors of pay' })).status).toBe(
      202,
    )
  })
})

describe('the default model is edited', () => {
  it('also of a provider that only the environment sets up, and goes back to the rule', async () => {
    const { svc, row } = await instance({ SVC_PLATFORM_PROVIDER_URL: 'URL/v1', SVC_AGENT_MODEL: 'm9' })
    expect(await row('platform')).toMatchObject({
      default_model: 'm9',
      default_model_source: 'env:SVC_AGENT_MODEL',
    })
    await svc.put(`${PROVIDERS}/platform`, { default_model: 'm1' })
    expect(await row('platform')).toMatchObject({ default_model: 'm1', default_model_source: 'console' })
    expect(await tested(svc, 'platform')).toMatchObject({ ok: true, model: 'm1' })
    await svc.put(`${PROVIDERS}/platform`, { default_model: '' })
    expect(await row('platform')).toMatchObject({ default_model: 'm9' })
    expect((await svc.refused('PUT', `${PROVIDERS}/platform`, { default_model: 'm1', name: 'x' }))[0]).toBe(
      409,
    )
    expect((await svc.refused('PUT', `${PROVIDERS}/gone`, { default_model: 'm1' }))[0]).toBe(404)
  })

  it('with a provider that is saved, and is forgotten with it', async () => {
    const { svc, server, row } = await instance()
    const body = { kind: 'compatible', name: 'g', base_url: `${server.url}/v1` }
    await svc.put(`${PROVIDERS}/new`, { ...body, default_model: 'm2' })
    expect(await row('g')).toMatchObject({ default_model: 'm2', default_model_source: 'console' })
    await svc.del(`${PROVIDERS}/g`)
    await svc.put(`${PROVIDERS}/new`, body)
    expect(await row('g')).toMatchObject({ default_model: 'm1', default_model_source: 'rule' })
  })
})

describe('SVC_AGENT_MODEL of one provider is never sent to another', () => {
  const A = { PROVIDERA_API_KEY: 'k', PROVIDERA_BASE_URL: 'URL' }
  const B = { PROVIDERB_API_KEY: 'k', PROVIDERB_BASE_URL: 'URL/v1' }
  const PLATFORM = { SVC_PLATFORM_PROVIDER_URL: 'URL/v1' }
  it.each([
    ['providera', { ...A, ...B }],
    ['providerb', { ...A, ...B, SVC_MODEL_PROVIDER: 'providerb' }],
    ['providerb', B],
    ['platform', { ...A, ...B, ...PLATFORM }],
    ['providera', { ...A, ...B, ...PLATFORM, SVC_MODEL_PROVIDER: 'providera' }],
  ])('it is of %s, whichever is the default', async (owner, env) => {
    const { svc, server } = await instance({ ...env, SVC_AGENT_MODEL: 'mine' })
    for (const id of ['providera', 'providerb', 'platform', 'g'])
      server.reply(id === owner ? 'mine' : 'm1', () => ({ text: 'ok' }))
    await svc.put(`${PROVIDERS}/new`, { kind: 'compatible', name: 'g', base_url: `${server.url}/v1` })
    const { providers } = await svc.get<{ providers: { id: string; configured: boolean }[] }>(PROVIDERS)
    const usable = providers.filter(({ configured }) => configured).map(({ id }) => id)
    for (const chosen of usable) {
      await svc.put(`${PROVIDERS}/default`, { id: chosen })
      for (const id of usable) {
        const { model } = await tested(svc, id)
        expect(model === 'mine', `${id}, default ${chosen}`).toBe(id === owner)
      }
    }
  })

  it('it is of the default one where the environment sets up none', async () => {
    const { svc, server, row } = await instance({ SVC_AGENT_MODEL: 'mine' })
    await svc.put(`${PROVIDERS}/new`, { kind: 'compatible', name: 'g', base_url: `${server.url}/v1` })
    expect(await row('g')).toMatchObject({ default: true, default_model: 'mine' })
  })
})

describe('the fallback of an agent', () => {
  const A = { PROVIDERA_API_KEY: 'k', PROVIDERA_BASE_URL: 'URL', SVC_AGENT_MODEL: 'm1' }
  const B = { PROVIDERB_API_KEY: 'k', PROVIDERB_BASE_URL: 'URL/v1' }

  it.each([
    [
      'is of no provider that is set up',
      { fallback_provider: 'gone' },
      'fallback_provider gone is no model provider',
    ],
    [
      'is not in the list of its provider',
      { fallback_provider: 'providerb', fallback_model: 'm9' },
      'fallback_model m9 is not in the list of models of providerb',
    ],
    [
      'is what it asks first',
      { fallback_model: 'm1' },
      'its fallback is what it asks first, m1 of providera',
    ],
    ['is another model of its own provider', { model: 'm1', fallback_model: 'm2' }, null],
    ['is another provider', { fallback_provider: 'providerb', fallback_model: 'm2' }, null],
    ['is none', {}, null],
  ])('that %s is warned of where it is saved and planned', async (_what, fields, warning) => {
    const { svc } = await instance({ ...A, ...B })
    for (const id of ['providera', 'providerb']) await svc.post(`${PROVIDERS}/${id}/models`)
    const told = warning === null ? undefined : [expect.stringContaining(`agent look: ${warning}`)]
    const agent = { name: 'look', prompt: 'Say what broke.', ...fields }
    const { warnings } = await svc.post<{ warnings?: string[] }>('/api/agents/builtin', agent)
    expect(warnings).toEqual(told)
    const yaml = JSON.stringify({ agents: [{ ...agent, prompt: 'Say why.' }] })
    const { plan } = await svc.post<{ plan: { warnings?: string[] } }>('/api/catalog/check', { yaml })
    expect(plan.warnings).toEqual(told)
  })
})

it('an agent with more tools than a request to its provider may name is warned of where it is saved', async () => {
  const B = { PROVIDERB_API_KEY: 'k', PROVIDERB_BASE_URL: 'URL/v1', SVC_AGENT_MODEL: 'm1' }
  const { svc } = await instance(B)
  const tools = Array.from({ length: 120 }, (_, i) => ({
    name: `t${i}`,
    annotations: { readOnlyHint: true },
  }))
  const desk = await startMcpServer(tools)
  onTestFinished(() => desk.close())
  await svc.post('/api/mcp-servers', { name: 'desk', url: desk.url })
  await svc.post('/api/mcp-servers/desk/test')
  const agent = { name: 'look', prompt: 'Say what broke.', mcp_servers: ['desk'] }
  const { warnings } = await svc.post<{ warnings?: string[] }>('/api/agents/builtin', agent)
  expect(warnings).toEqual([
    expect.stringMatching(
      /^agent look: its MCP servers offer it 120 tools, and beside 12 of svc a request to providerb names 116 at most/,
    ),
  ])
  const fewer = { tools: [{ server: 'desk', tool: 't7' }] }
  expect(await svc.put('/api/agents/builtin/look', fewer)).not.toHaveProperty('warnings')
})

it('nothing bounds the tools of an agent where the scripted model of the demo is the only one', () => {
  const scripted = { id: 'demo', kind: 'scripted', name: 'demo', models: [], defaultModel: null } as never
  const config = { providers: [scripted], defaultProvider: null } as unknown as ProviderConfig
  expect(toolsTaken(config, {})).toBeNull()
  expect(toolsTaken(config, { provider: 'demo' })).toMatchObject({ provider: 'demo' })
})
