/** Model providers over HTTP: credentials in their order, defaults, changes, and that no secret comes out. */
import { describe, expect, it } from 'vitest'
import { instance, type Listing } from './instance.ts'
import { scripted } from './setup.ts'

const PROVIDERS = '/api/settings/providers'
const bearer = (value: string) => ({ authorization: `Bearer ${value}`, key: undefined })
const key = (value: string) => ({ authorization: undefined, key: value })

describe('the credential of provider A', () => {
  it.each([
    [{ PROVIDERA_API_KEY: 'env-key' }, {}, key('env-key'), 'env:PROVIDERA_API_KEY'],
    [
      { PROVIDERA_API_KEY: 'env-key', PROVIDERA_AUTH_TOKEN: 'env-token' },
      {},
      bearer('env-token'),
      'env:PROVIDERA_AUTH_TOKEN',
    ],
    [{ PROVIDERA_AUTH_TOKEN: 'env-token' }, { key: 'own-key' }, key('own-key'), 'console'],
    [
      { PROVIDERA_API_KEY: 'env-key', PROVIDERA_AUTH_TOKEN: 'env-token' },
      { key: 'own-key', gateway_token: 'own-token' },
      bearer('own-token'),
      'console:gateway',
    ],
    [{}, { key: 'own-key', gateway_token: 'own-token' }, bearer('own-token'), 'console:gateway'],
    [{}, { key: 'own-key' }, key('own-key'), 'console'],
  ])('with %j and stored %j is %j', async (env, stored, sent, source) => {
    const { svc, row, credential } = await instance({ PROVIDERA_BASE_URL: 'URL', ...env })
    if (Object.keys(stored).length) await svc.put(`${PROVIDERS}/providera`, stored)
    expect(await credential('providera')).toEqual(sent)
    expect(await row('providera')).toMatchObject({
      configured: true,
      source,
      base_source: 'env:PROVIDERA_BASE_URL',
      stored: Object.keys(stored).length > 0,
      gateway_token_stored: 'gateway_token' in stored,
    })
  })

  it('is the next one from the next call on, as they are taken away', async () => {
    const { svc, row, credential } = await instance({
      PROVIDERA_BASE_URL: 'URL',
      PROVIDERA_API_KEY: 'env-key',
    })
    await svc.put(`${PROVIDERS}/providera`, { key: 'own-key', gateway_token: 'own-token' })
    expect(await credential('providera')).toEqual(bearer('own-token'))
    await svc.put(`${PROVIDERS}/providera`, { gateway_token_clear: true })
    expect(await credential('providera')).toEqual(key('own-key'))
    await svc.put(`${PROVIDERS}/providera`, { key: '', name: 'Gate' })
    expect(await credential('providera')).toEqual(key('own-key'))
    expect((await row('providera')).name).toBe('Gate')
    await svc.del(`${PROVIDERS}/providera`)
    expect(await credential('providera')).toEqual(key('env-key'))
    expect(await row('providera')).toMatchObject({ stored: false, name: 'Provider A' })
  })

  it('is set and forgotten by routes of its own, and so is a gateway', async () => {
    const { svc, credential } = await instance({ PROVIDERA_API_KEY: 'env-key', PROVIDERA_BASE_URL: 'URL' })
    const [KEY, GATEWAY] = ['/api/settings/providera-key', '/api/settings/gateway']
    expect(await svc.get(KEY)).toEqual({
      configured: true,
      source: 'env:PROVIDERA_API_KEY',
      stored: false,
      env_overrides: false,
    })
    expect(await svc.put(KEY, { key: 'own-key' })).toMatchObject({ source: 'console', stored: true })
    expect(await credential('providera')).toEqual(key('own-key'))
    const gate = await svc.get<{ url: string }>(GATEWAY)
    expect(gate).toMatchObject({ configured: true, source: 'env:PROVIDERA_BASE_URL', token_stored: false })
    expect(await svc.put(GATEWAY, { token: 'own-token' })).toEqual({ ...gate, token_stored: true })
    expect(await credential('providera')).toEqual(bearer('own-token'))
    expect(JSON.stringify([await svc.get(KEY), await svc.get(GATEWAY)])).not.toMatch(/own-key|own-token/)
    expect(await svc.del(GATEWAY)).toEqual(gate)
    expect(await credential('providera')).toEqual(key('own-key'))
    expect(await svc.del(KEY)).toMatchObject({ source: 'env:PROVIDERA_API_KEY', stored: false })
    expect((await svc.refused('PUT', KEY, { key: '' }))[0]).toBe(400)
    expect(await svc.get('/api/capabilities')).toMatchObject({
      agent_key_configured: true,
      default_provider: { id: 'providera', kind: 'providera', name: 'Provider A' },
      url_configured: false,
    })
  })

  it('is forgotten alone, and so is a gateway: what a person chose of the provider stays', async () => {
    const { svc, row } = await instance({ PROVIDERA_BASE_URL: 'URL', PROVIDERB_API_KEY: 'b' })
    await svc.put(`${PROVIDERS}/providera`, { key: 'own-key', gateway_token: 'own-token' })
    await svc.put(`${PROVIDERS}/providera`, { default_model: 'm2' })
    const kept = { default: true, default_model: 'm2', default_model_source: 'console', models: ['m1', 'm2'] }
    expect(await row('providera')).toMatchObject(kept)
    await svc.del('/api/settings/gateway')
    expect(await row('providera')).toMatchObject({ ...kept, key_stored: true, gateway_token_stored: false })
    await svc.del('/api/settings/providera-key')
    expect(await row('providera')).toMatchObject({ configured: false, stored: false, models: kept.models })
    await svc.put('/api/settings/providera-key', { key: 'other-key' })
    expect(await row('providera')).toMatchObject(kept)
    await svc.put(`${PROVIDERS}/providera`, { key_clear: true })
    expect(await row('providera')).toMatchObject({ stored: false })
  })

  it('of the environment shows as such before anything is stored', async () => {
    const { row } = await instance({ PROVIDERB_API_KEY: 'kb', PROVIDERB_BASE_URL: 'URL/v1' })
    expect(await row('providerb')).toMatchObject({
      configured: true,
      source: 'env:PROVIDERB_API_KEY',
      stored: false,
    })
    expect(await row('providera')).toMatchObject({ configured: false, source: '', base_url: '' })
  })
})

describe('chat completions', () => {
  it('take a key as a bearer token, of provider B and of endpoints, which may have none', async () => {
    const { svc, server, credential } = await instance({
      PROVIDERB_API_KEY: 'env-b',
      PROVIDERB_BASE_URL: 'URL/v1',
    })
    expect(await credential('providerb')).toEqual(bearer('env-b'))
    await svc.put(`${PROVIDERS}/providerb`, { key: 'own-b' })
    expect(await credential('providerb')).toEqual(bearer('own-b'))
    const made = await svc.put(`${PROVIDERS}/new`, {
      kind: 'compatible',
      name: 'Our Café',
      base_url: `${server.url}/v1/`,
    })
    expect(made).toMatchObject({ id: 'our-cafe', discovery: { models: ['m1', 'm2'], error: null } })
    expect(await credential('our-cafe')).toEqual({ authorization: undefined, key: undefined })
    await svc.put(`${PROVIDERS}/our-cafe`, { key: 'own-c' })
    expect(await credential('our-cafe')).toEqual(bearer('own-c'))
  })

  it('of a deployment are there, and cannot be changed', async () => {
    const { svc, row, credential } = await instance({
      SVC_PLATFORM_PROVIDER_URL: 'URL/v1',
      SVC_PLATFORM_PROVIDER_KEY: 'kp',
      SVC_PLATFORM_PROVIDER_NAME: 'The House',
    })
    expect(await row('the-house')).toMatchObject({
      name: 'The House',
      editable: false,
      default: true,
      source: 'env:SVC_PLATFORM_PROVIDER_KEY',
    })
    expect(await credential('the-house')).toEqual(bearer('kp'))
    expect(await svc.refused('PUT', `${PROVIDERS}/the-house`, { key: 'x' })).toEqual([
      409,
      'provider the-house is set by the environment, and cannot be changed here',
    ])
    expect((await svc.refused('DELETE', `${PROVIDERS}/the-house`))[0]).toBe(409)
  })
})

describe('an address that changes', () => {
  it('needs the stored secret again', async () => {
    const { svc, server, credential } = await instance()
    await svc.put(`${PROVIDERS}/providera`, {
      key: 'own-key',
      gateway_token: 'own-token',
      base_url: server.url,
    })
    const moved = { base_url: 'http://127.0.0.1:9/elsewhere' }
    for (const given of [{}, { key: 'k2' }])
      expect(await svc.refused('PUT', `${PROVIDERS}/providera`, { ...moved, ...given })).toEqual([
        400,
        'gateway_token: enter it again: the address changed',
      ])
    expect((await svc.refused('PUT', `${PROVIDERS}/providera`, { base_url: '' }))[0]).toBe(400)
    // The same address, written in another way, is no change.
    await svc.put(`${PROVIDERS}/providera`, { base_url: `${server.url}/` })
    expect(await credential('providera')).toEqual(bearer('own-token'))
    await svc.put(`${PROVIDERS}/providera`, { ...moved, key: 'k2', gateway_token_clear: true })
    expect(server.requests.every(({ headers }) => headers['x-api-key'] !== 'k2')).toBe(true)
  })

  it('of a gateway is set and forgotten beside a stored key, which is sent to its own address alone', async () => {
    const { svc, server, row, credential } = await instance({ PROVIDERA_BASE_URL: 'URL' })
    const gateway = await scripted()
    gateway.reply('m1', () => ({ text: 'ok' }))
    await svc.put('/api/settings/providera-key', { key: 'own-key' })
    await svc.put('/api/settings/gateway', { url: gateway.url, token: 'own-token' })
    expect(await row('providera')).toMatchObject({ source: 'console:gateway', key_stored: true })
    await svc.post(`${PROVIDERS}/providera/test`, { model: 'm1' })
    await svc.put(`${PROVIDERS}/providera`, { gateway_token_clear: true })
    expect(await row('providera')).toMatchObject({ configured: false, source: '', key_stored: true })
    await svc.put('/api/settings/gateway', { token: 'own-token' })
    expect(await svc.del('/api/settings/gateway')).toMatchObject({ url: server.url, token_stored: false })
    expect(await credential('providera')).toEqual(key('own-key'))
    expect(gateway.requests.length).toBeGreaterThan(0)
    for (const { headers } of gateway.requests)
      expect(headers).toMatchObject({ authorization: 'Bearer own-token' })
    expect(JSON.stringify(gateway.requests)).not.toContain('own-key')
  })

  it('is forgotten with the gateway also where the key was entered there: it waits for that address', async () => {
    const { svc, server, row, credential } = await instance()
    const there = { base_url: server.url, key: 'own-key' }
    await svc.put(`${PROVIDERS}/providera`, { ...there, gateway_token: 'own-token' })
    expect(await svc.del('/api/settings/gateway')).toMatchObject({ url: '', token_stored: false })
    expect(await row('providera')).toMatchObject({ configured: false, key_stored: true })
    await svc.put('/api/settings/gateway', { url: server.url })
    expect(await credential('providera')).toEqual(key('own-key'))
  })

  it("is not told the environment's credential", async () => {
    const { svc, server, row } = await instance({ PROVIDERA_API_KEY: 'env-key' })
    const [status, detail] = await svc.refused('PUT', `${PROVIDERS}/providera`, { base_url: server.url })
    expect([status, detail]).toEqual([400, expect.stringContaining('the credential of the environment')])
    expect(await row('providera')).toMatchObject({ stored: false, source: 'env:PROVIDERA_API_KEY' })
    await svc.put(`${PROVIDERS}/providera`, { base_url: server.url, key: 'own-key' })
    expect(server.requests.map(({ headers }) => headers['x-api-key'])).toEqual(['own-key'])
  })

  it('forgets the models of the one before', async () => {
    const { svc, server, row } = await instance()
    await svc.put(`${PROVIDERS}/new`, { kind: 'compatible', name: 'g', base_url: `${server.url}/v1` })
    expect((await row('g')).models).toEqual(['m1', 'm2'])
    await svc.put(`${PROVIDERS}/g`, { base_url: 'http://127.0.0.1:9/v1' })
    expect((await row('g')).models).toEqual([])
  })

  it.each([
    ['file:///etc/passwd', 'base_url: must begin with http:// or https://'],
    ['http://u:p@127.0.0.1/', 'base_url: must not contain a user name or a password'],
    ['http://169.254.169.254/', 'base_url: target address is not allowed'],
    ['http://127.0.0.1/?a=1', 'base_url must have no user, query or fragment'],
    ['nowhere', 'base_url: must be an absolute http or https address'],
  ])('to %s is refused', async (base_url, detail) => {
    const { svc } = await instance()
    expect(await svc.refused('PUT', `${PROVIDERS}/new`, { kind: 'compatible', name: 'g', base_url })).toEqual(
      [400, detail],
    )
  })
})

describe('the default provider', () => {
  it('is the first saved, then the one chosen, and another when that is gone', async () => {
    const { svc, server } = await instance()
    const now = async () => (await svc.get<Listing>(PROVIDERS)).default
    expect(await now()).toBe(null)
    const endpoint = { kind: 'compatible', base_url: `${server.url}/v1` }
    await svc.put(`${PROVIDERS}/new`, { ...endpoint, name: 'one' })
    await svc.put(`${PROVIDERS}/new`, { ...endpoint, name: 'a-two' })
    await svc.put(`${PROVIDERS}/new`, { kind: 'providera', key: 'k', base_url: server.url })
    expect(await now()).toBe('one')
    await svc.put(`${PROVIDERS}/default`, { id: 'a-two' })
    expect(await now()).toBe('a-two')
    await svc.del(`${PROVIDERS}/a-two`)
    expect(await now()).toBe('providera')
    expect(await svc.refused('PUT', `${PROVIDERS}/default`, { id: 'gone' })).toEqual([
      404,
      'no model provider has the id gone',
    ])
    expect(await svc.refused('PUT', `${PROVIDERS}/default`, { id: 'providerb' })).toEqual([
      400,
      'id: provider providerb has no credential; enter one first',
    ])
  })

  it.each([
    [{ SVC_MODEL_PROVIDER: 'providerb' }, 'providerb'],
    [{}, 'providera'],
    [{ SVC_PLATFORM_PROVIDER_URL: 'URL/v1' }, 'platform'],
    [{ SVC_PLATFORM_PROVIDER_URL: 'URL/v1', SVC_MODEL_PROVIDER: 'providera' }, 'providera'],
    [{ SVC_MODEL_PROVIDER: 'gone' }, 'providera'],
  ])('with %j is %s', async (env, expected) => {
    const { svc } = await instance({ PROVIDERA_API_KEY: 'a', PROVIDERB_API_KEY: 'b', ...env })
    const listing = await svc.get<Listing>(PROVIDERS)
    expect(listing.default).toBe(expected)
    expect(listing.providers.filter((one) => one.default).map(({ id }) => id)).toEqual([expected])
  })
})

describe('the choice of the default provider', () => {
  it.each([
    [{ SVC_MODEL_PROVIDER: 'providera' }, 'providera', 'env:SVC_MODEL_PROVIDER'],
    [{ SVC_PLATFORM_PROVIDER_URL: 'URL/v1' }, 'platform', 'env:SVC_PLATFORM_PROVIDER_URL'],
    [{}, 'providera', 'rule'],
  ])('is taken back by an empty id: with %j to %s', async (env, expected, source) => {
    const { svc } = await instance({ PROVIDERA_API_KEY: 'a', PROVIDERB_API_KEY: 'b', ...env })
    const choose = (id: string) => svc.put<Listing>(`${PROVIDERS}/default`, { id })
    expect(await choose('providerb')).toMatchObject({ default: 'providerb', default_source: 'console' })
    expect(await choose('')).toMatchObject({ default: expected, default_source: source })
  })
})

describe('a write that is wrong', () => {
  it.each([
    [{}, 'kind is required'],
    [{ kind: 'compatible' }, 'name is required'],
    [
      { kind: 'compatible', name: 'x' },
      'base_url is required: an http or https address with the version in it',
    ],
    [{ kind: 'compatible', name: 'Default', base_url: 'http://127.0.0.1:9' }, /makes no id of its own/],
    [{ kind: 'compatible', name: '!!', base_url: 'http://127.0.0.1:9' }, /makes no id of its own/],
    [
      { kind: 'compatible', name: 'x', base_url: 'http://127.0.0.1:9', gateway_token: 't' },
      /only provider A has one/,
    ],
    [{ kind: 'other' }, /kind/],
    [{ kind: 'providera', key: 'two words' }, /key/],
  ])('%j is refused', async (body, detail) => {
    const { svc } = await instance()
    const [status, said] = await svc.refused('PUT', `${PROVIDERS}/new`, body)
    expect(status).toBe(400)
    expect(said).toMatch(detail)
  })

  it('names what it conflicts with', async () => {
    const { svc } = await instance()
    const body = { kind: 'compatible', name: 'x', base_url: 'http://127.0.0.1:9' }
    await svc.put(`${PROVIDERS}/new`, body)
    expect((await svc.refused('PUT', `${PROVIDERS}/new`, body))[0]).toBe(409)
    expect((await svc.refused('PUT', `${PROVIDERS}/x`, { kind: 'providera' }))[0]).toBe(400)
    expect((await svc.refused('PUT', `${PROVIDERS}/y`, body))[0]).toBe(404)
    expect((await svc.refused('DELETE', `${PROVIDERS}/providera`))[0]).toBe(409)
  })
})

describe('a test of a provider', () => {
  it.each([
    ['address', { status: 404, body: '<html>', headers: { 'content-type': 'text/html' } }],
    ['address', { status: 302, body: '', headers: { location: '/' } }],
    ['credential', { status: 401, error: 'invalid x-api-key' }],
    ['credential', { status: 403, error: 'no' }],
    ['model', { status: 404, error: 'The model m1 does not exist' }],
    ['model', { status: 400, error: 'unknown model' }],
    ['format', { status: 400, error: 'max_tokens is not a field' }],
    ['format', { body: '<html>hello</html>' }],
    ['provider', { status: 429, errorType: 'insufficient_quota', error: 'no credit is left' }],
    [
      'provider',
      {
        status: 400,
        error: 'Your credit balance is too low to access the API. Please go to Plans & Billing.',
      },
    ],
    ['address', { body: '<html>', headers: { 'content-type': 'text/html' } }],
  ] as const)('says to look at the %s after %j', async (failed, reply) => {
    const { svc, server } = await instance({ PROVIDERA_API_KEY: 'k', PROVIDERA_BASE_URL: 'URL' })
    server.reply('m1', () => reply)
    const tested = await svc.post(`${PROVIDERS}/providera/test`, { model: 'm1' })
    expect(tested).toMatchObject({ ok: false, failed, model: 'm1', error: expect.any(String) })
  })

  it('says what answered', async () => {
    const { svc } = await instance({
      PROVIDERA_API_KEY: 'k',
      PROVIDERA_BASE_URL: 'URL',
      SVC_AGENT_MODEL: 'm1',
    })
    expect(await svc.post(`${PROVIDERS}/providera/test`)).toMatchObject({ ok: true, model: 'm1' })
    expect((await svc.refused('POST', `${PROVIDERS}/providerb/test`))[0]).toBe(400)
    expect((await svc.refused('POST', `${PROVIDERS}/gone/test`))[0]).toBe(404)
  })

  it('and its list of models tell why they failed', async () => {
    const { svc, server } = await instance({ PROVIDERA_API_KEY: 'sk-own', PROVIDERA_BASE_URL: 'URL' })
    server.listed({ status: 401, error: 'invalid key sk-own' })
    const asked = await svc.post<{ discovery: object }>(`${PROVIDERS}/providera/models`)
    expect(asked.discovery).toEqual({ models: [], error: 'providera: invalid key ***' })
    server.listed({ models: ['m3'] })
    expect(await svc.post(`${PROVIDERS}/providera/models`)).toMatchObject({
      discovery: { models: ['m3'], error: null },
    })
  })
})

describe('secrets', () => {
  it('come out nowhere, also where a provider repeats them', async () => {
    const secret = 'canary-secret-1'
    const { svc, server } = await instance({
      PROVIDERA_API_KEY: 'canary-env-2',
      PROVIDERB_API_KEY: 'canary-env-3',
    })
    server.listed({ status: 401, error: `bad key ${secret}` })
    server.reply('m1', ({ headers }) => ({ status: 401, error: `bad key in ${JSON.stringify(headers)}` }))
    const texts: string[] = []
    const ask = async (method: string, path: string, body?: unknown) => {
      texts.push((await svc.call(method, path, body)).text)
    }
    await ask('PUT', `${PROVIDERS}/providera`, { key: secret, gateway_token: secret, base_url: server.url })
    await ask('PUT', `${PROVIDERS}/providera`, { base_url: 'http://127.0.0.1:9' })
    await ask('PUT', `${PROVIDERS}/new`, {
      kind: 'compatible',
      name: 'g',
      key: secret,
      base_url: `${server.url}/v1`,
    })
    for (const id of ['providera', 'g']) {
      await ask('POST', `${PROVIDERS}/${id}/models`)
      await ask('POST', `${PROVIDERS}/${id}/test`, { model: 'm1' })
    }
    for (const path of [
      PROVIDERS,
      '/api/settings/prices',
      '/api/settings/agents',
      '/api/agents/builtin',
      '/api/usage/model',
      '/api/capabilities',
      '/api/catalog/export',
      '/api/change-sets',
      '/metrics',
      '/health',
    ])
      await ask('GET', path)
    expect(texts.filter((text) => text.includes('bad key'))).toHaveLength(6)
    expect(texts.join('\n')).not.toContain('canary')
    // They were sent, to the endpoint they are for; nothing of the environment or of ours was.
    expect(JSON.stringify(server.requests)).toContain(secret)
    expect(JSON.stringify(server.requests)).not.toMatch(/canary-env|svc_/)
  })
})

describe('settings', () => {
  it('are for scope admin', async () => {
    const { svc } = await instance({}, true)
    const { secret } = await svc.post<{ secret: string }>('/api/keys', { name: 'r', scopes: ['read'] })
    const reader = svc.as(secret)
    for (const path of [PROVIDERS, '/api/settings/prices', '/api/settings/agents'])
      expect((await reader.refused('GET', path))[0]).toBe(403)
    expect((await reader.call('GET', '/api/usage/model')).status).toBe(200)
  })
})
