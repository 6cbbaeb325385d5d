/** Who may talk to the HTTP transports, and sessions: their limits, their end, a daemon that restarts. */
import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { Client as ModernClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { CALLS_MAX } from '../../../api/mcp/session.ts'
import { type Instance, ROOT, startInstance } from '../../contract/instance.ts'
import { call, called, type McpOptions, type McpWorld, startMcp, toolsOf } from './mcp-world.ts'

const INIT = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
}
const LIST = { jsonrpc: '2.0', id: 2, method: 'tools/list' }
const ACCEPT = 'application/json, text/event-stream'

let svc: Instance | undefined
afterEach(async () => {
  await svc?.stop()
  svc = undefined
})

async function open({ secured = false, ...options }: McpOptions & { secured?: boolean } = {}) {
  svc = await startInstance({ secured })
  const mcp = await startMcp(svc.url, options)
  onTestFinished(() => mcp.stop())
  return { mcp, svc }
}

interface Raw {
  status: number
  headers: Record<string, unknown>
  text: string
}

/** A request with headers that fetch would not send. */
function raw(url: string, headers: Record<string, string>, body?: string, method = 'POST'): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method, headers: { accept: ACCEPT, 'content-type': 'application/json', ...headers } },
      (answer) => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (part: string) => {
          text += part
        })
        answer.on('end', () => resolve({ status: answer.statusCode!, headers: answer.headers, text }))
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

/** A client that needs no session. */
async function openModern(url: string): Promise<ModernClient> {
  const client = new ModernClient(
    { name: 'modern', version: '1' },
    { versionNegotiation: { mode: 'auto' }, capabilities: {} },
  )
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  onTestFinished(() => client.close())
  return client
}

const post = (url: string, message: object, headers: Record<string, string> = {}) =>
  raw(url, headers, JSON.stringify(message))

/** From now on the daemon answers nothing. @returns what lets it answer what it was asked, by an empty list */
function holdAnswers({ shared: { daemon } }: McpWorld): () => void {
  const asked = daemon.as(null)
  let go = () => {}
  const held = new Promise<void>((resolve) => {
    go = resolve
  })
  daemon.as = () => Object.assign(Object.create(asked), { ask: async () => held.then(() => []) })
  return go
}

/** A session without a client. @returns its id */
async function begin(url: string, headers: Record<string, string> = {}): Promise<string> {
  const answer = await post(url, INIT, headers)
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`)
  return String(answer.headers['mcp-session-id'])
}

describe('a request', () => {
  it.each<[string, Record<string, string>, number, string]>([
    [
      'of a foreign origin',
      { origin: 'https://evil.example' },
      403,
      'origin https://evil.example may not call',
    ],
    ['of a page of another site', { 'sec-fetch-site': 'cross-site' }, 403, 'a page of another site'],
    ['under a foreign host', { host: 'evil.example' }, 403, 'host evil.example is not one'],
    ['under a name that only looks local', { host: '127.0.0.1.nip.io' }, 403, 'is not one this MCP server'],
    ['with a host that ends in a dot', { host: 'localhost.' }, 403, 'is not one this MCP server'],
  ])('%s is refused', async (_case, headers, status, sentence) => {
    const { mcp } = await open()
    const answer = await post(mcp.url, INIT, headers)
    expect([answer.status, JSON.parse(answer.text).error.message]).toEqual([
      status,
      expect.stringContaining(sentence),
    ])
    expect(mcp.sessions.size).toBe(0)
  })

  it('under a name an operator allows, or of our own origin, is served', async () => {
    const { mcp } = await open({
      env: { SVC_PUBLIC_URL: 'https://svc.example.com', SVC_ALLOWED_HOSTS: 'svc.internal' },
    })
    await begin(mcp.url, { host: 'svc.internal' })
    await begin(mcp.url, { host: 'svc.example.com', origin: 'https://svc.example.com' })
  })

  it('with two Host headers is refused', async () => {
    const { mcp } = await open()
    const socket = connect(Number(new URL(mcp.base).port), '127.0.0.1')
    socket.end('POST /mcp HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nContent-Length: 0\r\n\r\n')
    const [answer] = (await once(socket, 'data')) as [Buffer]
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 400 [\s\S]*the host header is given twice/)
  })

  it.each([
    ['over 1 MiB', JSON.stringify({ ...LIST, params: { cursor: 'x'.repeat(1024 * 1024) } }), 413, -32600],
    ['that is no JSON', '{"jsonrpc":', 400, -32700],
    ['that is a batch', JSON.stringify([INIT]), 400, -32600],
    ['without a session', JSON.stringify(LIST), 400, -32600],
  ])('%s is refused', async (_case, body, status, code) => {
    const { mcp } = await open()
    const answer = await raw(mcp.url, {}, body)
    expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([status, code])
    // In pieces, so that no length is announced.
    expect((await raw(mcp.url, { 'transfer-encoding': 'chunked' }, body)).status).toBe(status)
  })

  it('for another path or method is told where to go', async () => {
    const { mcp } = await open()
    const wrong = await raw(`${mcp.base}/sse`, {}, undefined, 'GET')
    expect([wrong.status, wrong.text]).toEqual([404, expect.stringContaining('--transport sse')])
    expect((await raw(mcp.url, {}, undefined, 'PUT')).status).toBe(405)
    const version = await post(mcp.url, LIST, {
      'mcp-session-id': await begin(mcp.url),
      'mcp-protocol-version': '1999-01-01',
    })
    expect(version.status).toBe(400)
  })
})

describe('a session', () => {
  it('opens to the credential it was made with alone', async () => {
    const { mcp, svc } = await open({ secured: true })
    const { secret } = await svc.post<{ secret: string }>('/api/keys', { name: 'other', scopes: ['read'] })
    const id = await begin(mcp.url, { authorization: `Bearer ${ROOT}` })
    const as = (token: string) =>
      post(mcp.url, LIST, { 'mcp-session-id': id, authorization: `Bearer ${token}` })
    expect((await as(secret)).status).toBe(404)
    expect((await as(ROOT)).status).toBe(200)
    expect((await post(mcp.url, LIST, { 'mcp-session-id': id })).status).toBe(401)
    expect(id).toMatch(/^[0-9a-f]{32}$/)
  })

  it('ends when its client says so', async () => {
    const { mcp } = await open()
    const id = await begin(mcp.url)
    expect((await raw(mcp.url, { 'mcp-session-id': id }, undefined, 'DELETE')).status).toBe(200)
    expect((await post(mcp.url, LIST, { 'mcp-session-id': id })).status).toBe(404)
    expect(mcp.sessions.size).toBe(0)
  })

  it('that is idle is one of many, and ends after 30 minutes; one with a stream does not', async () => {
    const { mcp } = await open()
    const client = await mcp.connect()
    await Promise.all(Array.from({ length: 200 }, () => begin(mcp.url)))
    await expect.poll(() => mcp.sessions.all().filter(({ streams }) => streams > 0).length).toBe(1)
    expect(mcp.sessions.size).toBe(201)
    const health = await (await fetch(`${mcp.base}/health`)).json()
    expect(health).toMatchObject({ status: 'ok', sessions: 201, transport: 'streamable-http' })
    mcp.pass(29 * 60_000)
    expect(mcp.sessions.size).toBe(201)
    mcp.pass(2 * 60_000)
    expect(mcp.sessions.size).toBe(1)
    await called(client, 'list_sources')
  })

  it('that was used longest ago makes room, of the credential that has the most', async () => {
    const { mcp, svc } = await open({ secured: true, sessionsMax: 4 })
    const { secret } = await svc.post<{ secret: string }>('/api/keys', { name: 'few', scopes: ['read'] })
    const few = await begin(mcp.url, { authorization: `Bearer ${secret}` })
    const many: string[] = []
    for (let i = 0; i < 5; i++) {
      mcp.pass(10)
      many.push(await begin(mcp.url, { authorization: `Bearer ${ROOT}` }))
    }
    expect(mcp.sessions.all().map(({ id }) => id)).toEqual([few, ...many.slice(2)])
  })

  it('is one of at most 100 of a credential, however many clients begin at once', async () => {
    const { mcp, svc } = await open({ secured: true })
    const { secret } = await svc.post<{ secret: string }>('/api/keys', { name: 'few', scopes: ['read'] })
    const few = await begin(mcp.url, { authorization: `Bearer ${secret}` })
    for (let i = 0; i < 11; i++)
      await Promise.all(Array.from({ length: 10 }, () => begin(mcp.url, { authorization: `Bearer ${ROOT}` })))
    mcp.pass(10)
    await begin(mcp.url, { authorization: `Bearer ${ROOT}` })
    expect(mcp.sessions.size).toBeLessThanOrEqual(101)
    expect(mcp.sessions.all().map(({ id }) => id)).toContain(few)
  })

  it('is not made for a revoked key, though the same key was known a moment before', async () => {
    const { mcp, svc } = await open({ secured: true })
    const key = await svc.post<{ id: string; secret: string }>('/api/keys', { name: 'a', scopes: ['read'] })
    await begin(mcp.url, { authorization: `Bearer ${key.secret}` })
    await svc.del(`/api/keys/${key.id}`)
    // No time has passed: what was answered before would still be good.
    expect((await post(mcp.url, INIT, { authorization: `Bearer ${key.secret}` })).status).toBe(401)
    expect(mcp.sessions.size).toBe(0)
  })

  it('is refused when all are in use', async () => {
    const { mcp } = await open({ sessionsMax: 1 })
    await mcp.connect()
    await expect.poll(() => mcp.sessions.all().map(({ streams }) => streams)).toEqual([1])
    const answer = await post(mcp.url, INIT)
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '5'])
  })

  it.each(['streamable-http', 'sse'] as const)(
    'over %s ends within a second when its key is revoked',
    async (transport) => {
      const { mcp, svc } = await open({ secured: true, transport })
      const { id, secret } = await svc.post<{ id: string; secret: string }>('/api/keys', {
        name: 'gone',
        scopes: ['read'],
      })
      const client = await mcp.connect(secret)
      await expect.poll(() => mcp.sessions.all().map(({ streams }) => streams)).toEqual([1])
      await svc.del(`/api/keys/${id}`)
      mcp.pass(1_000)
      await expect.poll(() => mcp.sessions.size).toBe(0)
      await expect(client.listTools()).rejects.toThrow()
    },
  )

  it('has at most 32 calls under way', async () => {
    const { mcp } = await open()
    const client = await mcp.connect()
    await called(client, 'list_sources')
    const go = holdAnswers(mcp)
    const calls = Array.from({ length: CALLS_MAX }, () => call(client, 'list_sources'))
    await expect.poll(() => mcp.sessions.all()[0]!.session.busy).toBe(CALLS_MAX)
    const refused = await call(client, 'list_sources')
    expect(refused.text).toBe('this session has 32 requests in progress. Call again in 2 seconds')
    go()
    for (const one of await Promise.all(calls)) expect(one.isError).toBe(false)
  })

  it('is told when the tools it may call are others than it was told', async () => {
    const { mcp } = await open()
    const client = await mcp.connect()
    await expect.poll(() => mcp.sessions.all().map(({ streams }) => streams)).toEqual([1])
    const told = new Promise<void>((resolve) => {
      client.fallbackNotificationHandler = async ({ method }) => {
        if (method === 'notifications/tools/list_changed') resolve()
      }
    })
    await toolsOf(client)
    mcp.shared.access.identify = async () => ({ id: 'key:1', name: 'less', scopes: ['read'] })
    mcp.pass(1_000)
    await told
    expect(await toolsOf(client)).not.toContain('test_source')
  })
})

it('a message that is not UTF-8 is refused, before its bytes are stored as other characters', async () => {
  const { mcp } = await open()
  const answer = await fetch(mcp.url, {
    method: 'POST',
    headers: { accept: ACCEPT, 'content-type': 'application/json' },
    body: Buffer.from('{"jsonrpc":"2.0","id":1,"method":"caf\xe9"}', 'latin1'),
  })
  expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('not valid UTF-8')])
})

describe('a client that keeps to the protocol in part', () => {
  const begun = async (url: string) => {
    const { headers } = await post(url, INIT)
    return { 'mcp-session-id': String(headers['mcp-session-id']) }
  }

  it.each<[string, object]>([
    ['names no capabilities', { capabilities: undefined }],
    ['has null for them', { capabilities: null }],
    ['does not say who it is', { clientInfo: undefined }],
    ['says its name alone', { clientInfo: { name: 'raw' } }],
  ])('begins a session, where it %s', async (_what, change) => {
    const { mcp } = await open()
    const answer = await post(mcp.url, { ...INIT, params: { ...INIT.params, ...change } })
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('"protocolVersion"')])
  })

  it.each<[string, unknown]>([
    ['null', null],
    ['JSON text', '{"cursor":null}'],
  ])('calls a tool with arguments that are %s', async (_what, given) => {
    const { mcp } = await open()
    const params = { name: 'list_sources', arguments: given }
    const asked = { jsonrpc: '2.0', id: 3, method: 'tools/call', params }
    const { text } = await raw(mcp.url, await begun(mcp.url), JSON.stringify(asked))
    expect(text).toContain('"structuredContent"')
  })

  it('is answered where it takes anything', async () => {
    const { mcp } = await open()
    for (const accept of ['*/*', 'application/json, */*;q=0.5'])
      expect((await raw(mcp.url, { accept }, JSON.stringify(INIT))).status).toBe(200)
    expect((await raw(mcp.url, { accept: 'text/html' }, JSON.stringify(INIT))).status).toBe(406)
  })
})

describe('a daemon that restarts', () => {
  it('is told as a failure that may be tried again, and then works again', async () => {
    const { mcp, svc: first } = await open()
    const client = await mcp.connect()
    const modern = await openModern(mcp.url)
    await called(client, 'list_sources')
    const { port } = new URL(first.url)
    await first.stop()
    mcp.pass(2_000)
    const away = await call(client, 'list_sources')
    expect(away.isError).toBe(true)
    expect(away.text).toMatch(
      /^the daemon is not reachable .*it may be restarting\. Call again in 2 seconds$/,
    )
    expect(away.error).toEqual({ retryable: true, retry_after_seconds: 2 })
    const refused = await post(mcp.url, INIT)
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '2'])
    // One that needs no session hears of it by its calls, too, and one that begins meanwhile.
    for (const one of [modern, await openModern(mcp.url)])
      expect(await one.callTool({ name: 'list_sources' })).toMatchObject({
        isError: true,
        _meta: { 'svc/error': { retryable: true, retry_after_seconds: 2 } },
      })
    expect(await (await fetch(`${mcp.base}/health`)).json()).toMatchObject({ status: 'degraded' })
    svc = await startInstance({ port: Number(port) })
    mcp.pass(2_000)
    await called(client, 'list_sources')
    expect((await modern.callTool({ name: 'list_sources' })).isError).toBeUndefined()
  })

  it('may stop svc mcp first: what was asked is answered, what comes is refused', async () => {
    const { mcp } = await open()
    const client = await mcp.connect()
    const go = holdAnswers(mcp)
    const under = called(client, 'list_sources')
    await expect.poll(() => mcp.sessions.all()[0]!.session.busy).toBe(1)
    const stopped = mcp.beginStop()
    go()
    await under
    await stopped
    expect(mcp.sessions.size).toBe(0)
    expect((await post(mcp.url, INIT)).status).toBe(503)
    expect((await fetch(`${mcp.base}/health`)).status).toBe(503)
  })
})
