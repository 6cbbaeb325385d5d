/**
 * SPEC.md, Telemetry query server: the rows of Endpoints, of Authentication and of Errors, asked as they are written
 * and by the official client.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { asked, INITIALIZE, openTelemetryWorld, type TelemetryWorld } from './telemetry-world.ts'

let svc: TelemetryWorld
let read: { id: string; secret: string }
beforeAll(async () => {
  svc = await openTelemetryWorld()
  read = await svc.key(['read'])
})
afterAll(() => svc.close())

const callTool = (name: string, args: object, token: string | null) =>
  svc.rpc('tools/call', { name, arguments: args }, token)

describe('Endpoints: the telemetry query server', () => {
  it.each(['2025-06-18', '2025-11-25'])(
    'initialize with %s is answered with 200',
    async (protocolVersion) => {
      const answer = await svc.rpc('initialize', { ...INITIALIZE, protocolVersion }, read.secret)
      expect(answer.status).toBe(200)
      expect(await answer.text()).toContain(`"protocolVersion":"${protocolVersion}"`)
    },
  )

  it('offers the seven tools, all but one read-only, whose every argument is described', async () => {
    const { tools } = await (await svc.connect(read.secret)).listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      ...['get_me', 'list_workspaces', 'traces', 'spans', 'metrics', 'agents', 'create_api_key'],
    ])
    expect(tools.filter(({ annotations }) => annotations?.readOnlyHint).map(({ name }) => name)).toEqual(
      tools.map(({ name }) => name).filter((name) => name !== 'create_api_key'),
    )
    const argumentsOf = (name: string) =>
      Object.keys(tools.find((tool) => tool.name === name)!.inputSchema.properties!)
    for (const { name } of tools) expect(argumentsOf(name)).toContain('workspace')
    const finding = ['service', 'name', 'status', 'min_duration', 'window', 'limit']
    expect(argumentsOf('traces')).toEqual(expect.arrayContaining(finding))
    expect(argumentsOf('spans')).toEqual(expect.arrayContaining([...finding, 'trace_id']))
    expect(argumentsOf('metrics')).toEqual(expect.arrayContaining(['name', 'service', 'window']))
    expect(argumentsOf('create_api_key')).toContain('scopes')
    for (const { inputSchema } of tools)
      for (const property of Object.values(inputSchema.properties ?? {}))
        expect(property).toHaveProperty('description')
  })

  it('answers a wrong argument and an unknown tool with the rule, not with a fault', async () => {
    const client = await svc.connect(read.secret)
    expect(await asked(client, 'traces', { status: 'bad' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('status'),
    })
    expect(await asked(client, 'traces', { min_duration: 'long' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('min_duration'),
    })
    expect(await asked(client, 'nothing')).toMatchObject({ isError: true })
  })

  it('holds no stream open: nothing can be listened to', async () => {
    const answer = await svc.rpc('subscriptions/listen', {}, read.secret)
    expect(await answer.json()).toMatchObject({ id: 1, error: { code: -32_601 } })
  })

  it('takes one message a request, so that none is hidden in a batch', async () => {
    const answer = await svc.call(
      'POST',
      '/telemetry/mcp',
      [
        {
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'create_api_key', arguments: { scopes: ['read'] } },
        },
      ],
      { ...svc.as(read.secret), accept: 'application/json, text/event-stream' },
    )
    expect(answer.status).toBe(400)
  })
})

describe('Authentication: a read-scoped API key', () => {
  it('is bound to the workspace it was made in: another is reported as not found', async () => {
    const client = await svc.connect(read.secret)
    const { text } = await asked(client, 'list_workspaces')
    expect(text).toContain('| `local` | This machine |')
    expect(await asked(client, 'traces', { workspace: 'local' })).toMatchObject({ isError: false })
    for (const name of ['get_me', 'traces', 'spans', 'metrics', 'agents'])
      expect(await asked(client, name, { workspace: 'other' })).toMatchObject({
        isError: true,
        text: expect.stringContaining('workspace "other" not found'),
      })
  })

  it('get_me reports its workspaces without the identity of a user', async () => {
    const { text } = await asked(await svc.connect(read.secret), 'get_me')
    expect(text).toContain('User: none')
    expect(text).toContain(`key:${read.id}`)
    expect(text).toContain('`local`')
  })

  it('create_api_key is refused with 403, whatever scopes the key has, and makes none', async () => {
    const admin = await svc.key(['admin'])
    const before = (await svc.call('GET', '/api/keys')).text
    for (const { secret } of [read, admin]) {
      const answer = await callTool('create_api_key', { scopes: ['read'] }, secret)
      expect(answer.status).toBe(403)
    }
    const after = (await svc.call('GET', '/api/keys')).text
    const count = (text: string) => text.split('"prefix"').length
    expect(count(after)).toBe(count(before))
  })

  it('opens the server beside OAuth, and a session cookie does not', async () => {
    const opened = await svc.call('POST', '/api/session', { token: read.secret }, {})
    const cookie = opened.headers.get('set-cookie')!.split(';')[0]!
    const answer = await svc.call(
      'POST',
      '/telemetry/mcp',
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      { cookie },
    )
    expect(answer.status).toBe(401)
  })
})

describe('Errors', () => {
  it('a key that only ingests is refused with 403 and exactly that text', async () => {
    const ingest = await svc.key(['ingest'])
    for (const answer of [
      await svc.rpc('initialize', INITIALIZE, ingest.secret),
      await callTool('traces', {}, ingest.secret),
    ]) {
      expect(answer.status).toBe(403)
      expect(await answer.text()).toBe('API key lacks the required scope')
    }
  })

  it('no credential, a mistyped one and a revoked one are refused with 401 that says where to sign in', async () => {
    const gone = await svc.key(['read'])
    expect((await svc.rpc('initialize', INITIALIZE, gone.secret)).status).toBe(200)
    await svc.call('DELETE', `/api/keys/${gone.id}`)
    const metadata = `resource_metadata="${svc.url}/.well-known/oauth-protected-resource/telemetry/mcp"`
    for (const [token, challenge] of [
      [null, `Bearer scope="read", ${metadata}`],
      [`${read.secret}x`, `Bearer error="invalid_token", scope="read", ${metadata}`],
      [gone.secret, `Bearer error="invalid_token", scope="read", ${metadata}`],
    ] as const) {
      const answer = await svc.rpc('initialize', INITIALIZE, token)
      expect(answer.status).toBe(401)
      expect(answer.headers.get('www-authenticate')).toBe(challenge)
    }
  })

  it('a revoked key is refused at the next request of a connection that is open', async () => {
    const gone = await svc.key(['read'])
    const client = await svc.connect(gone.secret)
    expect((await asked(client, 'get_me')).isError).toBe(false)
    await svc.call('DELETE', `/api/keys/${gone.id}`)
    await expect(asked(client, 'get_me')).rejects.toThrow()
  })

  it('a page of another site is refused, with a key or without', async () => {
    const answer = await svc.call(
      'POST',
      '/telemetry/mcp',
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      {
        ...svc.as(read.secret),
        origin: 'https://evil.example',
      },
    )
    expect(answer.status).toBe(403)
  })
})

describe('a project key', () => {
  it('reads its own project alone, and makes no key', async () => {
    const made = await svc.call<{ id: string }>('POST', '/api/projects', {
      template: 'custom',
      name: 'Shop',
      objects: [],
    })
    const key = await svc.call<{ secret: string }>('POST', `/api/projects/${made.json.id}/keys`, {
      name: 'shop-agent',
    })
    const { secret } = key.json
    await svc.call('POST', '/v1/traces', {
      resourceSpans: [
        {
          resource: { attributes: [{ key: 'service.name', value: { stringValue: 'elsewhere' } }] },
          scopeSpans: [
            {
              spans: [
                {
                  ...{ traceId: 'ab'.repeat(16), spanId: 'cd'.repeat(8), name: 'GET /secret' },
                  ...{
                    startTimeUnixNano: `${Date.now() - 50}000000`,
                    endTimeUnixNano: `${Date.now()}000000`,
                  },
                },
              ],
            },
          ],
        },
      ],
    })
    const [own, all] = [await svc.connect(secret), await svc.connect(read.secret)]
    for (const [name, args] of [
      ['traces', {}],
      ['spans', {}],
      ['spans', { trace_id: 'ab'.repeat(16) }],
    ] as const) {
      expect((await asked(all, name, args)).text).toContain('GET /secret')
      expect((await asked(own, name, args)).text).not.toContain('GET /secret')
    }
    expect((await asked(own, 'get_me')).text).toContain('Reads only the project Shop')
    expect((await callTool('create_api_key', { scopes: ['read'] }, secret)).status).toBe(403)
  })
})

describe('an open instance', () => {
  it('needs no credential for anything, and says that nobody signs in there', async () => {
    const open = await openTelemetryWorld({ secured: false })
    const client = await open.connect(null)
    expect((await asked(client, 'get_me')).text).toContain('no auth configured')
    expect((await asked(client, 'create_api_key', { scopes: ['read'] })).text).toMatch(/`svc_\w+/)
    for (const path of ['oauth-authorization-server', 'oauth-protected-resource/telemetry/mcp'])
      expect((await open.call('GET', `/.well-known/${path}`)).status).toBe(404)
    await open.close()
  })
})
