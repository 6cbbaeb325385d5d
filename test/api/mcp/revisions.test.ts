/**
 * Both revisions of the protocol, by the official clients of both generations, over HTTP and stdio
 * (issue 16, C.1). Requests by hand are after the 2026-07-28 specification: Versioning, Streamable HTTP,
 * Discovery, Subscriptions.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  Client,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OlderStdio } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { tools } from '../../../api/mcp/tools/index.ts'
import { type Fields, type Instance, startInstance } from '../../contract/instance.ts'
import { type McpWorld, startMcp } from './mcp-world.ts'

const BIN = fileURLToPath(new URL('../../../bin/svc.mjs', import.meta.url))
const MODERN = '2026-07-28'
const OLDER = '2025-11-25'
const all = tools.map(({ name }) => name).sort()
const uri = 'svc://entity/service/checkout'

let home: string
let svc: Instance
let mcp: McpWorld
let ingest: string
let project: string

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'svc-mcp-'))
  svc = await startInstance()
  const labels = [{ name: 'service', field: 'service', primary: true }]
  const web = { name: 'web', connector: 'webhook', config: { labels } }
  ingest = `/ingest/${(await svc.post<{ ingest_key: string }>('/api/sources', web)).ingest_key}`
  project = (
    await svc.post<{ id: string }>('/api/projects', { template: 'custom', name: 'Shop', objects: [] })
  ).id
  const any = { name: 'any', sources: ['web'], condition: { event: 'any' }, cooldown: '1s', project: 'Shop' }
  await svc.post('/api/triggers', any)
  await svc.post(`/api/projects/${project}/subscribe`, { url: 'http://127.0.0.1:9/hook' })
  await svc.post(ingest, { service: 'checkout' })
  mcp = await startMcp(svc.url)
})
afterAll(async () => {
  await mcp?.stop()
  await svc?.stop()
  rmSync(home, { recursive: true, force: true })
})

const stdio = () => ({
  command: process.execPath,
  args: [BIN, 'mcp'],
  env: { PATH: process.env.PATH ?? '', SVC_HOME: home, SVCD_URL: svc.url },
  stderr: 'ignore' as const,
})

/** A client of the second generation. */
async function connect(
  over: 'http' | 'stdio',
  mode: VersionNegotiationMode,
  { url, token }: { url: string; token?: string } = mcp,
) {
  const client = new Client({ name: 'second', version: '2' }, { versionNegotiation: { mode } })
  onTestFinished(() => client.close())
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  await client.connect(
    over === 'stdio'
      ? new StdioClientTransport(stdio())
      : new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
  )
  return client
}

const textOf = (result: { content: unknown }) => (result.content as { text: string }[])[0]!.text

describe.each(['http', 'stdio'] as const)('over %s', (over) => {
  it.each<[string, VersionNegotiationMode, string]>([
    ['legacy', 'legacy', OLDER],
    ['auto', 'auto', MODERN],
    ['pinned', { pin: MODERN }, MODERN],
  ])('a client of the second generation, %s, works', async (_mode, mode, revision) => {
    const client = await connect(over, mode)
    expect(client.getNegotiatedProtocolVersion()).toBe(revision)
    expect(client.getInstructions()).toContain('list_entities')
    expect(client.getServerVersion()).toMatchObject({ name: 'svc' })
    expect((await client.listTools()).tools.map(({ name }) => name).sort()).toEqual(all)
    const read = await client.callTool({
      name: 'read',
      arguments: { selector: [{ label: 'service', value: 'checkout' }] },
    })
    expect(textOf(read)).toContain('service=checkout')
    expect(read.structuredContent).toMatchObject({ count: expect.any(Number) })
    const refused = await client.callTool({ name: 'read', arguments: {} })
    expect([refused.isError, textOf(refused)]).toEqual([true, expect.stringContaining('selector')])
    const { contents } = await client.readResource({ uri })
    expect(contents[0]).toMatchObject({ uri, text: expect.stringContaining('service=checkout') })
    const schemas = await client.readResource({ uri: 'svc://tool/read' })
    expect(JSON.parse((schemas.contents[0] as { text: string }).text)).toMatchObject({
      input: { properties: { window: { pattern: expect.any(String) } } },
      output: { properties: { timeline: { type: 'string' } } },
    })
    await expect(client.readResource({ uri: 'svc://tool/none' })).rejects.toThrow('no tool is named none')
    const prompt = await client.getPrompt({ name: 'review_project_day', arguments: { project: 'Shop' } })
    expect(prompt.messages).toHaveLength(2)
    const { completion } = await client.complete({
      ref: { type: 'ref/resource', uri: 'svc://entity/{label}/{value}' },
      argument: { name: 'value', value: 'che' },
      context: { arguments: { label: 'service' } },
    })
    expect(completion.values).toEqual(['checkout'])
  })

  it('a client of the first generation works', async () => {
    const client = over === 'http' ? await mcp.connect() : new OlderClient({ name: 'first', version: '1' })
    if (over === 'stdio') await client.connect(new OlderStdio(stdio()))
    onTestFinished(() => client.close())
    expect((await client.listTools()).tools).toHaveLength(all.length)
    const read = await client.callTool({ name: 'read', arguments: { selector: { service: 'checkout' } } })
    expect(textOf(read as { content: unknown })).toContain('service=checkout')
  })

  it('a client hears by subscriptions/listen of what it asked for, and of nothing else', async () => {
    const client = await connect(over, { pin: MODERN })
    const before = mcp.sessions.size
    const told: Fields[] = []
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => void told.push(params))
    const firings = `svc://project/${project}/firings`
    const heard = await client.listen({ resourceSubscriptions: [uri, firings], toolsListChanged: true })
    expect(heard.honoredFilter).toEqual({ resourceSubscriptions: [uri, firings], toolsListChanged: true })
    const pass = () => {
      svc.clock.at += 60_000
      mcp.pass(2_000)
    }
    pass()
    await svc.post(ingest, { service: 'checkout' })
    pass()
    await expect.poll(() => told.map((one) => one.uri)).toContain(uri)
    await expect.poll(() => told.map((one) => one.uri)).toContain(firings)
    expect(told.find((one) => one.uri === firings)).toMatchObject({
      _meta: { 'svc/firings': [{ trigger: 'any', key: 'checkout' }] },
    })
    await heard.close()
    await expect.poll(() => mcp.sessions.size).toBe(before)
    await expect(client.listen({ resourceSubscriptions: ['svc://skill/x'] })).rejects.toThrow(
      'only incidents, the timeline of an entity,',
    )
    // The connection goes on.
    expect((await client.listTools()).tools).toHaveLength(all.length)
  })
})

const META = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** A request by hand, with the headers that repeat what it says. */
async function post(
  method: string,
  params: Fields = {},
  {
    meta = META as Fields | null,
    headers = {},
    url = mcp.url,
  }: { meta?: Fields | null; headers?: Fields; url?: string } = {},
) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...(meta ? { 'mcp-protocol-version': String(meta['io.modelcontextprotocol/protocolVersion']) } : {}),
      'mcp-method': method,
      ...(params.name ? { 'mcp-name': String(params.name) } : {}),
      ...(headers as Record<string, string>),
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 7,
      method,
      params: { ...params, ...(meta ? { _meta: meta } : {}) },
    }),
  })
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Fields }
}

describe('a request of 2026-07-28', () => {
  it('server/discover says what is spoken, offered and who it is', async () => {
    const { status, body } = await post('server/discover')
    expect(status).toBe(200)
    expect(body.result).toMatchObject({
      resultType: 'complete',
      supportedVersions: [MODERN],
      capabilities: { tools: { listChanged: true }, resources: { subscribe: true }, prompts: {} },
      instructions: expect.any(String),
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'svc' } },
    })
    expect((body.result as Fields).capabilities).not.toHaveProperty('logging')
  })

  it('is answered by itself: no initialize before it, and no session', async () => {
    const before = mcp.sessions.size
    const { status, headers, body } = await post('tools/call', { name: 'list_sources', arguments: {} })
    expect([status, headers.get('mcp-session-id')]).toEqual([200, null])
    expect(body).toMatchObject({ id: 7, result: { resultType: 'complete' } })
    expect(mcp.sessions.size).toBe(before)
    expect(body.result).not.toHaveProperty('isError')
  })

  it.each([
    ['of a revision that is to come', '2031-01-01', 'revision 2031-01-01 of the protocol is not spoken'],
    ['of one that begins with initialize', OLDER, `${OLDER} begins with initialize`],
  ])('%s is told which are spoken', async (_case, requested, sentence) => {
    const meta = { ...META, 'io.modelcontextprotocol/protocolVersion': requested }
    const { status, body } = await post('tools/list', {}, { meta })
    expect([status, body.id]).toEqual([400, 7])
    expect(body.error).toMatchObject({
      code: -32022,
      message: expect.stringContaining(`${sentence}`),
      data: { requested, supported: [MODERN, OLDER, '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'] },
    })
  })

  it('a client pinned to a revision that is not spoken hears which are', async () => {
    const client = new Client(
      { name: 'pinned', version: '1' },
      { versionNegotiation: { mode: { pin: '2031-01-01' } }, supportedProtocolVersions: ['2031-01-01'] },
    )
    await expect(client.connect(new StreamableHTTPClientTransport(new URL(mcp.url)))).rejects.toThrow()
    const { body } = await post(
      'server/discover',
      {},
      { meta: { ...META, 'io.modelcontextprotocol/protocolVersion': '2031-01-01' } },
    )
    expect((body.error as Fields).message).toContain(`this server speaks ${MODERN}, ${OLDER}`)
  })

  it.each<[string, Parameters<typeof post>, number, number]>([
    [
      'without _meta',
      ['tools/list', {}, { meta: null, headers: { 'mcp-protocol-version': MODERN } }],
      400,
      -32602,
    ],
    ['with a header of another method', ['tools/list', {}, { headers: { 'mcp-method': 'x' } }], 400, -32020],
    ['of an unknown method', ['no/such'], 404, -32601],
    ['of one that is no more', ['resources/subscribe', { uri }], 404, -32601],
    ['that listens for nothing it names', ['subscriptions/listen'], 200, -32602],
  ])('%s is refused', async (_case, asked, status, code) => {
    const answer = await post(...asked)
    expect([answer.status, (answer.body.error as Fields).code]).toEqual([status, code])
  })

  it('over its bound of one credential is refused with 429', async () => {
    const secured = await startInstance({ secured: true })
    const world = await startMcp(secured.url)
    onTestFinished(async () => {
      await world.stop()
      await secured.stop()
    })
    const { secret } = await secured.post<{ secret: string }>('/api/keys', { name: 'busy', scopes: ['read'] })
    const headers = { authorization: `Bearer ${secret}` }
    const { daemon } = world.shared
    const asked = daemon.as(secret)
    let go = () => {}
    const held = new Promise<void>((resolve) => {
      go = resolve
    })
    daemon.as = () => Object.assign(Object.create(asked), { ask: async () => held.then(() => []) })
    world.shared.access.identify = async () => ({ id: 'key:1', name: 'busy', scopes: ['read'] })
    const list = () =>
      post('tools/call', { name: 'list_sources', arguments: {} }, { headers, url: world.url })
    const under = Array.from({ length: 101 }, list)
    const first = await Promise.race(under)
    expect([first.status, first.headers.get('retry-after')]).toEqual([429, '1'])
    expect((first.body.error as Fields).message).toContain('100 requests of this credential are in progress')
    go()
    const all = await Promise.all(under)
    expect(all.filter(({ status }) => status === 200)).toHaveLength(100)
  })
})

describe('a stream of subscriptions/listen', () => {
  it('ends when its key is revoked, and when svc mcp stops', async () => {
    const secured = await startInstance({ secured: true })
    const world = await startMcp(secured.url)
    onTestFinished(async () => {
      await world.stop()
      await secured.stop()
    })
    const key = await secured.post<{ id: string; secret: string }>('/api/keys', {
      name: 'a',
      scopes: ['read'],
    })
    const other = await secured.post<{ secret: string }>('/api/keys', { name: 'b', scopes: ['read'] })
    const [gone, stays] = await Promise.all(
      [key.secret, other.secret].map((token) => connect('http', { pin: MODERN }, { url: world.url, token })),
    )
    const ended = await gone!.listen({ toolsListChanged: true })
    const closed = await stays!.listen({ toolsListChanged: true })
    expect(world.sessions.size).toBe(2)
    await secured.del(`/api/keys/${key.id}`)
    world.pass(1_000)
    await expect.poll(() => world.sessions.size).toBe(1)
    await ended.closed
    await world.beginStop()
    await closed.closed
    expect(world.sessions.size).toBe(0)
  })

  it('tells of other tools', async () => {
    const world = await startMcp(svc.url)
    onTestFinished(() => world.stop())
    const client = await connect('http', { pin: MODERN }, world)
    const told = new Promise<void>((resolve) => {
      client.setNotificationHandler('notifications/tools/list_changed', () => resolve())
    })
    await client.listen({ toolsListChanged: true })
    world.shared.access.identify = async () => ({ id: 'key:1', name: 'less', scopes: ['read'] })
    world.pass(1_000)
    await told
  })
})
