/**
 * A stored secret stays with the address it was entered for: a new address with a blank, absent or masked
 * secret is refused by every door, so that whoever may change an address never has the secret sent there.
 */
import { describe, expect, it } from 'vitest'
import { type Fields, type Instance, startBeforeEach, startInstance } from './instance.ts'

const MASK = '•'.repeat(8)
const HERE = 'http://127.0.0.1:9/'
const THERE = 'http://127.0.0.2:9/'

let svc: Instance
startBeforeEach(async () => {
  svc = await startInstance()
  return svc
})

/** Each connector with an address and a secret. */
const SOURCES: [string, string, (url: string) => Fields][] = [
  ['http_poll', 'credential', (url) => ({ url })],
  ['loki', 'password', (url) => ({ url, query: '{app="a"}', username: 'u' })],
  ['loki', 'bearer_token', (url) => ({ url, query: '{app="a"}' })],
  ['prometheus', 'password', (url) => ({ url, queries: [{ promql: 'up' }], username: 'u' })],
  ['prometheus', 'bearer_token', (url) => ({ url, queries: [{ promql: 'up' }] })],
  ['prometheus_alerts', 'bearer_token', (url) => ({ url })],
  ['github', 'token', (url) => ({ repo: 'o/r', api_url: url.slice(0, -1) })],
]

describe('a source with a stored secret and a new address', () => {
  it.each(SOURCES)(
    '%s: %s is entered again by PUT, test, discover, change-set and catalog',
    async (connector, field, configOf) => {
      const body = (url: string, secret: Fields = {}) => ({
        name: 'up',
        connector,
        config: { ...configOf(url), ...secret },
      })
      await svc.post('/api/sources', body(HERE, { [field]: 'hunter2-hunter2' }))
      const expected = [400, `config.${field}: enter it again: the address changed`]
      for (const secret of [{}, { [field]: MASK }]) {
        const moved = body(THERE, secret)
        expect(await svc.refused('PUT', '/api/sources/up', moved)).toEqual(expected)
        expect(await svc.refused('POST', '/api/sources/test', moved)).toEqual(expected)
        if (connector !== 'loki')
          expect(await svc.refused('POST', '/api/sources/discover', moved)).toEqual(expected)
        const operation = { op: 'put', kind: 'source', name: 'up', spec: { connector, config: moved.config } }
        const [status, sentence] = await svc.refused('POST', '/api/change-sets', { operations: [operation] })
        expect([status, sentence]).toEqual(expected)
      }
      const yaml = JSON.stringify({ sources: [body(THERE)] })
      const { problems } = await svc.post('/api/catalog/check', { yaml })
      expect(problems).toEqual([expect.objectContaining({ message: expected[1] })])
      // The same address keeps it, and another one takes it anew.
      await svc.put('/api/sources/up', body(HERE))
      await svc.put('/api/sources/up', body(THERE, { [field]: 'hunter3-hunter3' }))
    },
  )

  it('github: its own address is one too', async () => {
    const config = { repo: 'o/r', token: 'hunter2-hunter2' }
    await svc.post('/api/sources', { name: 'up', connector: 'github', config })
    const moved = {
      name: 'up',
      connector: 'github',
      config: { repo: 'o/r', api_url: 'https://ghe.example/api/v3' },
    }
    expect(await svc.refused('PUT', '/api/sources/up', moved)).toEqual([
      400,
      'config.token: enter it again: the address changed',
    ])
  })
})

describe('other stored secrets and a new address', () => {
  it("the token of an agent's receiver is entered again", async () => {
    const agent = { name: 'triage', prompt: 'Look.', webhook_url: HERE }
    await svc.post('/api/agents/builtin', { ...agent, webhook_token: 'hunter2-hunter2' })
    for (const webhook_token of [undefined, '', MASK])
      expect(
        await svc.refused('PUT', '/api/agents/builtin/triage', {
          ...agent,
          webhook_url: THERE,
          webhook_token,
        }),
      ).toEqual([400, 'webhook_token: enter it again: the address changed'])
    await svc.put('/api/agents/builtin/triage', { ...agent, webhook_url: THERE, webhook_token: 'hunter3' })
  })

  it('the credential of an MCP server is, by PUT and by test', async () => {
    await svc.post('/api/mcp-servers', { name: 'desk', url: HERE, auth_value: 'hunter2-hunter2' })
    const expected = [400, 'auth_value: enter it again: the address changed']
    for (const auth_value of [undefined, '', MASK]) {
      const moved = { name: 'desk', url: THERE, auth_value }
      expect(await svc.refused('PUT', '/api/mcp-servers/desk', moved)).toEqual(expected)
      expect(await svc.refused('POST', '/api/mcp-servers/test', moved)).toEqual(expected)
    }
  })

  it('the key of a model provider, of tracing and a GitHub credential are', async () => {
    const again = (field: string) => [400, `${field}: enter it again: the address changed`]
    const provider = { kind: 'compatible', name: 'Local', base_url: `${HERE}v1` }
    await svc.put('/api/settings/providers/new', { ...provider, key: 'hunter2-hunter2' })
    expect(await svc.refused('PUT', '/api/settings/providers/local', { base_url: `${THERE}v1` })).toEqual(
      again('key'),
    )
    await svc.put('/api/settings/tracing', { endpoint: HERE, api_key: 'hunter2-hunter2' })
    expect(await svc.refused('PUT', '/api/settings/tracing', { endpoint: THERE })).toEqual(again('api_key'))
    await svc.post('/api/integrations/github', { name: 'main', token: 'hunter2-hunter2', api_url: HERE })
    expect(await svc.refused('PUT', '/api/integrations/github/main', { api_url: THERE })).toEqual(
      again('token'),
    )
  })
})
