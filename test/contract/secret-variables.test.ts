/**
 * `${NAME}` opens only variables that begin with SVC_SECRET_ or are listed in SVC_SECRETS, never svc's own:
 * whoever may declare a part could otherwise have the root token sent to a host of theirs.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { say, startReceiver } from '../engine/net/egress/receiver.ts'
import { type Fields, type Instance, startInstance } from './instance.ts'

const ENV = {
  SVC_AUTH_TOKEN: 'svc_root_0123456789abcdefghij',
  PROVIDERA_API_KEY: 'providera-key-0123456789',
  DEPLOY_TOKEN: 'listed-0123456789',
  HOME_GROWN: 'not-listed-0123456789',
  SVC_SECRET_API: 'allowed-0123456789',
  // Listed by mistake: they are refused all the same.
  SVC_SECRETS: 'DEPLOY_TOKEN, SVC_AUTH_TOKEN,PROVIDERA_API_KEY',
}
const reference = (name: string) => `\${${name}}`
const OWN = (name: string) =>
  `the variable ${name} is one of svc's own and is never sent on; keep the secret in a variable of its own, such as SVC_SECRET_TOKEN`
const NOT_LISTED =
  'the variable HOME_GROWN may not be opened: rename it to SVC_SECRET_HOME_GROWN, or list HOME_GROWN in SVC_SECRETS where svc is started'
const REFUSED: [string, string][] = [
  ['SVC_AUTH_TOKEN', OWN('SVC_AUTH_TOKEN')],
  ['PROVIDERA_API_KEY', OWN('PROVIDERA_API_KEY')],
  ['HOME_GROWN', NOT_LISTED],
]

let svc: Instance
afterEach(() => svc.stop())
const start = async (env: Record<string, string> = ENV, dataFile: string | null = null) => {
  svc = await startInstance({ env, dataFile })
}
const api = (url: string, credential: string): Fields => ({
  name: 'api',
  connector: 'http_poll',
  config: { url, credential },
})

describe('a variable that may not be opened', () => {
  it.each(REFUSED)('%s is refused by every door that takes a secret', async (name, why) => {
    await start()
    const at = await startReceiver(say(200, { 'content-type': 'application/json' }, '[]'))
    const url = at.url
    const used = reference(name)
    const refused = (path: string, body: Fields, method = 'POST') => svc.refused(method, path, body)
    expect(await refused('/api/sources', api(url, used))).toEqual([400, `config.credential: ${why}`])
    expect(await refused('/api/mcp-servers', { name: 'desk', url, auth_value: used })).toEqual([
      400,
      `auth_value: ${why}`,
    ])
    const agent = { name: 'triage', prompt: 'Look.', webhook_url: url, webhook_token: used }
    expect(await refused('/api/agents/builtin', agent)).toEqual([400, `webhook_token: ${why}`])
    const asked = { connector: 'http_poll', config: { url, credential: used } }
    expect(await refused('/api/sources/discover', asked)).toEqual([
      400,
      `credential refers to what is not there: ${why}`,
    ])
    expect(await svc.post('/api/sources/test', api(url, used))).toEqual({
      ok: false,
      error: `credential refers to what is not there: ${why}`,
    })
    expect(await svc.post('/api/mcp-servers/test', { url, auth_value: used })).toMatchObject({
      ok: false,
      error: why,
    })
    expect(at.received).toEqual([])
    expect(await svc.get('/api/sources')).toEqual([])
    await at.close()
  })

  it('is a problem of a catalog file, at its place', async () => {
    await start()
    const yaml = [
      'sources:',
      '  - name: api',
      '    connector: http_poll',
      '    config:',
      '      url: https://evil.example/',
      `      credential: ${reference('SVC_AUTH_TOKEN')}`,
    ].join('\n')
    const { problems } = await svc.post('/api/catalog/check', { yaml })
    expect(problems).toEqual([
      expect.objectContaining({
        line: 6,
        path: 'sources[0]',
        message: `config.credential: ${OWN('SVC_AUTH_TOKEN')}`,
      }),
    ])
    expect((await svc.refused('POST', '/api/catalog/import', { yaml }))[0]).toBe(400)
  })
})

describe('a variable that may be opened', () => {
  it.each(['SVC_SECRET_API', 'DEPLOY_TOKEN'] as const)('%s is sent', async (name) => {
    await start()
    const at = await startReceiver(say(200, { 'content-type': 'application/json' }, '[]'))
    await svc.post('/api/sources', api(at.url, reference(name)))
    expect(await svc.post('/api/sources/test', api(at.url, reference(name)))).toMatchObject({ ok: true })
    expect(at.received[0]!.headers.authorization).toBe(ENV[name])
    await at.close()
  })

  it('is in the plan with the host it goes to', async () => {
    await start()
    const yaml = [
      'sources:',
      '  - name: api',
      '    connector: http_poll',
      '    config:',
      '      url: https://api.example:8443/list',
      `      credential: ${reference('SVC_SECRET_API')}`,
      'mcp_servers:',
      '  - name: desk',
      '    url: https://desk.example/mcp',
      `    auth_value: ${reference('DEPLOY_TOKEN')}`,
    ].join('\n')
    const { plan } = await svc.post<{ plan: { changes: Fields[] } }>('/api/catalog/check', { yaml })
    expect(plan.changes.flatMap(({ variables }) => variables ?? [])).toEqual([
      { field: 'config.credential', variable: 'SVC_SECRET_API', host: 'api.example:8443' },
      { field: 'auth_value', variable: 'DEPLOY_TOKEN', host: 'desk.example' },
    ])
  })
})

describe('a source that refers to a variable that is no longer allowed', () => {
  it('says in its health what to do, is not polled, and can still be edited, but not be moved', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-variables-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const dataFile = join(folder, 'svc.db')
    await start({ ...ENV, SVC_SECRETS: 'HOME_GROWN' }, dataFile)
    await svc.post('/api/sources', api('https://api.example/', reference('HOME_GROWN')))
    await svc.stop()
    await start(ENV, dataFile)
    expect(await svc.get('/api/sources/api')).toMatchObject({
      health: {
        status: 'error',
        reason: `its credential refers to what is not there, so it is not polled: ${NOT_LISTED}`,
      },
    })
    // Neither is it passed over by a plan of the file, nor said twice where it is a problem.
    const yaml = (url: string) =>
      `sources:\n  - name: api\n    connector: http_poll\n    config: { url: "${url}", credential: "${reference('HOME_GROWN')}" }\n`
    expect(await svc.post('/api/catalog/check', { yaml: yaml('https://api.example/') })).toMatchObject({
      problems: [],
      warnings: [{ code: 'unset_variable', line: 4, message: NOT_LISTED }],
    })
    expect(await svc.post('/api/catalog/check', { yaml: yaml('https://evil.example/') })).toMatchObject({
      problems: [{ line: 4, message: `config.credential: ${NOT_LISTED}` }],
      warnings: [],
    })
    const edited = { ...api('https://api.example/', reference('HOME_GROWN')), poll: '5m' }
    expect(await svc.put('/api/sources/api', edited)).toMatchObject({ ok: true })
    const moved = api('https://evil.example/', reference('HOME_GROWN'))
    expect(await svc.refused('PUT', '/api/sources/api', moved)).toEqual([
      400,
      `config.credential: ${NOT_LISTED}`,
    ])
  })
})

describe('15 B1: a variable inside an address', () => {
  const inside = `${reference('SVC_SECRET_API')} is not read inside an address; write the address out, and give a secret in the field for it`
  const ADDRESSES = [
    `https://${reference('SVC_SECRET_API')}/v1`,
    `https://api.example/${reference('SVC_SECRET_API')}`,
    `https://api.example/v1?q=${reference('SVC_SECRET_API')}`,
    'https://api.example/$%7BSVC_SECRET_API%7D',
  ]

  it.each(ADDRESSES)('%s is refused by every door that takes an address', async (url) => {
    await start()
    const refused = (path: string, body: Fields, method = 'POST') => svc.refused(method, path, body)
    const why = inside
    const poll = { name: 'api', connector: 'http_poll', config: { url } }
    expect(await refused('/api/sources', poll)).toEqual([400, `config.url: ${why}`])
    expect(await refused('/api/sources/discover', { ...poll, name: undefined })).toEqual([
      400,
      `config.url: ${why}`,
    ])
    expect(await svc.post('/api/sources/test', poll)).toEqual({ ok: false, error: `config.url: ${why}` })
    expect(await refused('/api/mcp-servers', { name: 'desk', url })).toEqual([400, `url: ${why}`])
    expect(await svc.post('/api/mcp-servers/test', { url })).toMatchObject({
      ok: false,
      error: `url: ${why}`,
    })
    const agent = { name: 'triage', prompt: 'Look.' }
    expect(await refused('/api/agents/builtin', { ...agent, webhook_url: url })).toEqual([
      400,
      `webhook_url: ${why}`,
    ])
    expect(await refused('/api/agents/builtin', { ...agent, slack_webhook: url })).toEqual([
      400,
      expect.stringContaining('slack_webhook'),
    ])
    const operations = [{ op: 'put', kind: 'source', name: 'api', spec: { ...poll, name: undefined } }]
    expect(await refused('/api/change-sets', { operations, dry_run: true })).toEqual([
      400,
      expect.stringContaining(why),
    ])
    await svc.post('/api/sources', { name: 'app', connector: 'webhook' })
    await svc.post('/api/triggers', { name: 'any', sources: ['app'], condition: { event: 'any' } })
    expect(await refused('/subscribe', { trigger: 'any', url })).toEqual([400, `url: ${why}`])
    if (!url.includes('?')) {
      const credential = { name: 'hub', token: 'ghp_0123456789', api_url: url }
      expect(await refused('/api/integrations/github', credential)).toEqual([400, `api_url: ${why}`])
      expect(await refused('/api/settings/tracing', { endpoint: url }, 'PUT')).toEqual([
        400,
        `endpoint: ${why}`,
      ])
    }
    expect((await svc.get('/api/sources')) as unknown[]).toHaveLength(1)
  })

  it('is refused in a connection URL of postgres, which may be a variable as a whole', async () => {
    await start()
    const of = (dsn: string): Fields => ({
      name: 'orders',
      connector: 'postgres',
      config: { dsn, table: 'orders', cursor_column: 'id', time_column: 'at' },
    })
    const password = `postgres://reader:${reference('SVC_SECRET_API')}@db.example/shop`
    expect(await svc.refused('POST', '/api/sources', of(password))).toEqual([400, `config.dsn: ${inside}`])
  })
})
