/** The three transports, open and secured, by scope, by the official client. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { whoAmI } from '../../../api/client/calls.ts'
import { explain } from '../../../api/mcp/call-tool.ts'
import { Daemon } from '../../../api/mcp/daemon.ts'
import { createExchange } from '../../../api/mcp/exchange.ts'
import { tools } from '../../../api/mcp/tools/index.ts'
import { type Instance, ROOT, startInstance } from '../../contract/instance.ts'
import { call, called, type McpWorld, startMcp, toolsOf } from './mcp-world.ts'

const BIN = fileURLToPath(new URL('../../../bin/svc.mjs', import.meta.url))
const all = tools.map(({ name }) => name).sort()
const ofScope = (...scopes: string[]) =>
  tools
    .filter(({ scope, proposes }) => scopes.includes(scope) || proposes)
    .map(({ name }) => name)
    .sort()
const OF_PROJECT = tools
  .filter(({ ofProject }) => ofProject)
  .map(({ name }) => name)
  .sort()

const TRANSPORTS = ['stdio', 'streamable-http', 'sse'] as const

let home: string
let open: Instance
let secured: Instance
const servers = new Map<string, McpWorld>()
const keys: Record<string, string> = { root: ROOT }
const clients: Client[] = []

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'svc-mcp-'))
  ;[open, secured] = await Promise.all([startInstance(), startInstance({ secured: true })])
  for (const [name, svc] of Object.entries({ open, secured }))
    for (const transport of ['streamable-http', 'sse'] as const)
      servers.set(`${name} ${transport}`, await startMcp(svc.url, { transport }))
  const { id } = await secured.post<{ id: string }>('/api/projects', {
    template: 'custom',
    name: 'Shop',
    objects: [],
  })
  const make = async (name: string, path: string, body: object) => {
    keys[name] = (await secured.post<{ secret: string }>(path, { name, ...body })).secret
  }
  await make('read', '/api/keys', { scopes: ['read'] })
  await make('both', '/api/keys', { scopes: ['read', 'ingest'] })
  await make('project', `/api/projects/${id}/keys`, {})
  await make('watcher', `/api/projects/${id}/keys`, { scopes: ['read'] })
})
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()))
  await Promise.all([...servers.values()].map((server) => server.stop()))
  await Promise.all([open?.stop(), secured?.stop()])
  rmSync(home, { recursive: true, force: true })
})

async function connect(
  which: 'open' | 'secured',
  transport: (typeof TRANSPORTS)[number],
  token: string | null,
) {
  if (transport !== 'stdio') return servers.get(`${which} ${transport}`)!.connect(token)
  const client = new Client({ name: 'test-client', version: '1' })
  clients.push(client)
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [BIN, 'mcp'],
      env: {
        PATH: process.env.PATH ?? '',
        SVC_HOME: home,
        SVCD_URL: (which === 'open' ? open : secured).url,
        ...(token === null ? {} : { SVC_AUTH_TOKEN: token }),
      },
      stderr: 'ignore',
    }),
  )
  return client
}

describe.each(TRANSPORTS)('over %s', (transport) => {
  it('an open instance shows every tool, and calls work', async () => {
    const client = await connect('open', transport, null)
    expect(await toolsOf(client)).toEqual(all)
    const { content } = await called(client, 'remember', { key: transport, content: 'seen' })
    expect(content).toMatchObject({ stored: true })
    expect((await call(client, 'read', {})).text).toContain(
      'give a selector, sources to read all of what they brought, or a text to look for',
    )
  })

  it('a read key shows what reads, and is refused the rest with the scope it lacks', async () => {
    const client = await connect('secured', transport, keys.read!)
    expect(await toolsOf(client)).toEqual(ofScope('read'))
    await called(client, 'list_sources')
    const refused = await call(client, 'create_source', { name: 'x', connector: 'webhook' })
    expect(refused.isError).toBe(true)
    expect(refused.text).toContain(
      'Call it again with dry_run: true: that proposes it, and a person approves',
    )
    expect((await call(client, 'test_source', { name: 'x', connector: 'webhook' })).text).toBe(
      "test_source needs a credential with the 'admin' scope; this one (read) has read. Ask an operator for another key",
    )
  })

  it('a project key shows the tools of its project', async () => {
    const client = await connect('secured', transport, keys.project!)
    expect(await toolsOf(client)).toEqual(OF_PROJECT)
    const made = await called(client, 'record_finding', { entity: transport, finding: 'It broke.' })
    expect(made.content).toMatchObject({ agent: 'project' })
    expect((await called(client, 'list_findings', { entity: transport })).text).toContain('It broke.')
    expect((await call(client, 'list_sources')).text).toContain('this key only reads project Shop')
    expect((await call(client, 'read', { selector: { a: 'b' }, project: 'Default' })).text).toContain(
      'this key only reads project Shop',
    )
  })
})

it('names the scope that a project key lacks for a tool that project keys may call', async () => {
  const client = await connect('secured', 'streamable-http', keys.watcher!)
  expect((await call(client, 'record_finding', { entity: 'a', finding: 'b' })).text).toBe(
    "record_finding needs a credential with the 'findings' scope; this one (watcher) has read. Ask an operator for another key",
  )
})

describe('what is listed', () => {
  it.each([
    ['root', all],
    ['both', ofScope('read', 'ingest')],
    ['watcher', OF_PROJECT.filter((name) => name !== 'record_finding')],
  ])('to the key %s is what its scopes allow', async (key, expected) => {
    const client = await connect('secured', 'streamable-http', keys[key]!)
    expect(await toolsOf(client)).toEqual(expected)
    const prompts = (await client.listPrompts()).prompts.map(({ name }) => name)
    expect(prompts.includes('set_up_source')).toBe(key === 'root')
  })
})

describe('without a credential that is known, a secured instance', () => {
  it.each(['streamable-http', 'sse'] as const)('refuses the connection over %s', async (transport) => {
    await expect(connect('secured', transport, null)).rejects.toThrow(/401|credential/)
    const server = servers.get(`secured ${transport}`)!
    const answer = await fetch(server.url, {
      headers: { authorization: 'Bearer svc_wrong', accept: 'text/event-stream' },
    })
    expect(answer.status).toBe(401)
    const path = transport === 'sse' ? '/sse' : '/mcp'
    expect(answer.headers.get('www-authenticate')).toBe(
      `Bearer error="invalid_token", scope="read", resource_metadata="${new URL(server.url).origin}/.well-known/oauth-protected-resource${path}"`,
    )
    expect(await answer.json()).toMatchObject({
      error: { message: 'the credential is not known: send Authorization: Bearer <API key>' },
    })
  })

  it('says over stdio what to do', async () => {
    const client = await connect('secured', 'stdio', 'svc_wrong')
    await expect(client.listTools()).rejects.toThrow('an operator must put a valid API key')
    expect((await call(client, 'list_projects')).text).toContain('does not know this credential')
  })

  it('says over stdio that none was sent, where there is none', async () => {
    const client = await connect('secured', 'stdio', null)
    const why = 'the daemon is secured, and no credential was sent (authentication required)'
    await expect(client.listTools()).rejects.toThrow(why)
    const { text } = await call(client, 'list_projects')
    expect(text).toContain(`${why}; an operator must set SVC_AUTH_TOKEN`)
    const told = (token: string | null) =>
      new Daemon(secured.url, createExchange(), 'test').as(token).ask(whoAmI).catch(explain)
    expect(await told(null)).toContain(why)
    expect(await told('svc_wrong')).toContain('does not know this credential')
  })

  it('is asked for one where svc mcp has a token and the daemon is open', async () => {
    const server = await startMcp(open.url, { env: { SVC_AUTH_TOKEN: 'token-of-the-proxy' } })
    try {
      await expect(server.connect()).rejects.toThrow(
        'svc mcp was started with SVC_AUTH_TOKEN, and the request has no credential',
      )
      await expect(server.connect('another')).rejects.toThrow(
        'the credential is not the one svc mcp was started with',
      )
      expect(await toolsOf(await server.connect('token-of-the-proxy'))).toEqual(all)
    } finally {
      await server.stop()
    }
  })
})
