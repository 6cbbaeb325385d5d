/** The servers of their own: `svc telemetry`, and the same sign-in for `svc mcp`, each with the address that is its own. */
import type { AddressInfo } from 'node:net'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { Access } from '../../../api/mcp/access.ts'
import { Daemon } from '../../../api/mcp/daemon.ts'
import { createExchange } from '../../../api/mcp/exchange.ts'
import { SignIn } from '../../../api/mcp/http/sign-in.ts'
import { buildTelemetryHttp, TELEMETRY_PATH } from '../../../api/mcp/telemetry/http.ts'
import { TelemetryServer } from '../../../api/mcp/telemetry/server.ts'
import { workspaceAt } from '../../../api/mcp/telemetry/start.ts'
import { version } from '../../../api/version.ts'
import { startMcp } from '../mcp/mcp-world.ts'
import { decide, form, Provider, signedIn } from './sign-in.ts'
import { asked, INITIALIZE, openTelemetryWorld, type TelemetryWorld } from './telemetry-world.ts'

let svc: TelemetryWorld
let apart: Awaited<ReturnType<typeof startApart>>
let mcp: Awaited<ReturnType<typeof startMcp>>
const time = { at: 0 }
const HOUR_MS = 3_600_000

async function startApart(svcd: string) {
  const daemon = new Daemon(svcd, createExchange(), 'test')
  const now = () => time.at
  const server = buildTelemetryHttp({
    rules: { host: '127.0.0.1', publicUrl: null, allowedHosts: [] },
    ...{ daemon, access: new Access(daemon, now) },
    signIn: new SignIn({
      ...{ daemon, now, ownUrl: null, path: TELEMETRY_PATH, name: 'svc telemetry', scopes: ['read', 'keys'] },
    }),
    telemetry: new TelemetryServer({
      ...{ version: '1.0.0', log: pino({ level: 'silent' }) },
      workspace: ({ workspace }) => workspaceAt(svcd, workspace),
    }),
    onFault: (error) => {
      throw error
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    ...{ origin, url: origin + TELEMETRY_PATH },
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}

beforeAll(async () => {
  svc = await openTelemetryWorld()
  apart = await startApart(svc.url)
  mcp = await startMcp(svc.url)
})
afterAll(async () => {
  await mcp.stop()
  await apart.close()
  await svc.close()
})

/** As a client does whose person is there to consent. */
async function connect(url: string, scopes?: string[]): Promise<{ client: Client; provider: Provider }> {
  const provider = new Provider()
  const open = () => new StreamableHTTPClientTransport(new URL(url), { authProvider: provider })
  const first = open()
  await new Client({ name: 'c', version: '1' }).connect(first as Transport).catch(() => {})
  const back = await decide(svc, provider.opened!.search.slice(1), scopes ? { scopes } : {})
  await first.finishAuth(back.searchParams.get('code')!)
  const client = new Client({ name: 'c', version: '1' })
  await client.connect(open() as Transport)
  return { client, provider }
}

describe('svc telemetry', () => {
  it('answers keys as the daemon does, with the same refusals', async () => {
    const { secret } = await svc.key(['read'])
    const client = await svc.connect(secret, apart.url)
    const own = '| `local` | This machine |'
    expect((await asked(await svc.connect(secret), 'list_workspaces')).text).toContain(own)
    expect((await asked(client, 'list_workspaces')).text).toContain(own)
    expect((await asked(client, 'traces', { workspace: 'local' })).isError).toBe(false)
    for (const name of ['traces', 'spans', 'metrics', 'agents'])
      expect((await asked(client, name)).isError).toBe(false)
    expect(
      (
        await svc.rpc(
          'tools/call',
          { name: 'create_api_key', arguments: { scopes: ['read'] } },
          secret,
          apart.url,
        )
      ).status,
    ).toBe(403)
    const ingest = await svc.rpc('initialize', INITIALIZE, (await svc.key(['ingest'])).secret, apart.url)
    expect([ingest.status, await ingest.text()]).toEqual([403, 'API key lacks the required scope'])
    expect((await svc.rpc('initialize', INITIALIZE, `${secret}x`, apart.url)).status).toBe(401)
  })

  it('tells probes that it is well, and when the daemon is away, without a credential', async () => {
    const healthOf = async (url: string) => {
      const answer = await fetch(new URL('/health', url))
      return { status: answer.status, body: await answer.json() }
    }
    expect(await healthOf(apart.url)).toEqual({ status: 200, body: { status: 'ok', version } })
    const alone = await startApart('http://127.0.0.1:1')
    onTestFinished(async () => void (await alone.close()))
    expect(await healthOf(alone.url)).toEqual({
      status: 200,
      body: { status: 'degraded', version, detail: expect.stringContaining('not reachable') },
    })
  })

  it('knows a revoked key a minute later at the latest', async () => {
    const { id, secret } = await svc.key(['read'])
    expect((await svc.rpc('initialize', INITIALIZE, secret, apart.url)).status).toBe(200)
    await svc.call('DELETE', `/api/keys/${id}`)
    time.at += 60_000
    expect((await svc.rpc('initialize', INITIALIZE, secret, apart.url)).status).toBe(401)
  })

  it('signs the official client in with its own address, and makes keys where a person lets it', async () => {
    const { client, provider } = await connect(apart.url, ['read', 'keys'])
    expect(provider.opened!.searchParams.get('resource')).toBe(apart.url)
    expect((await asked(client, 'get_me')).text).toContain('May create API keys: yes')
    expect((await asked(client, 'traces')).isError).toBe(false)
    expect((await asked(client, 'create_api_key', { scopes: ['read'] })).text).toMatch(/`svc_\w+/)
    // A token for this server is not one for the daemon's own, nor for the API but for what this server asks there.
    const token = provider.kept!.access_token
    expect((await svc.rpc('initialize', INITIALIZE, token)).status).toBe(401)
    for (const path of ['/api/sources', '/api/keys', '/api/events/evt_1'])
      expect((await svc.call('GET', path, undefined, svc.as(token))).status).toBe(401)
    expect(
      (await svc.call('POST', '/api/keys', { name: 'k', scopes: ['admin'] }, svc.as(token))).status,
    ).toBe(401)
    expect(
      (await svc.call('POST', '/api/telemetry/keys', { name: 'k', scopes: ['admin'] }, svc.as(token))).status,
    ).toBe(400)
  })

  it('without that consent the API makes no key in its name either', async () => {
    const { access } = await signedIn(svc, { resource: apart.url })
    expect(
      (await svc.call('POST', '/api/telemetry/keys', { name: 'k', scopes: ['read'] }, svc.as(access))).status,
    ).toBe(403)
    const { secret } = await svc.key(['admin'])
    expect(
      (await svc.call('POST', '/api/telemetry/keys', { name: 'k', scopes: ['read'] }, svc.as(secret))).status,
    ).toBe(403)
  })
})

describe('svc mcp', () => {
  it.each(['/mcp', '/sse'])('at %s under the name of the daemon is found by its metadata', async (path) => {
    const at = `${svc.url}/.well-known/oauth-protected-resource${path}`
    expect(await (await fetch(at)).json()).toMatchObject({
      resource: svc.url + path,
      authorization_servers: [svc.url],
      scopes_supported: ['read', 'ingest', 'respond', 'admin'],
    })
    expect((await signedIn(svc, { resource: svc.url + path })).access).toMatch(/^svc_/)
  })

  it('says where to sign in, and serves the official client that did with what was consented to', async () => {
    const refused = await svc.rpc('initialize', INITIALIZE, null, mcp.url)
    expect(refused.status).toBe(401)
    expect(refused.headers.get('www-authenticate')).toBe(
      `Bearer scope="read", resource_metadata="${mcp.base}/.well-known/oauth-protected-resource/mcp"`,
    )
    const { client, provider } = await connect(mcp.url)
    expect(provider.opened!.searchParams.get('resource')).toBe(mcp.url)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain('read')
    expect((await asked(client, 'list_sources')).isError).toBe(false)
    expect((await asked(client, 'acknowledge_incident', { incident: 'inc_1' })).isError).toBe(true)
    await client.close()
  })

  it('goes on with the session of a client that refreshes its token, in a call, a subscription and a stream', async () => {
    const at = await startMcp(svc.url)
    onTestFinished(() => at.stop())
    const { client, provider } = await connect(at.url)
    const told: string[] = []
    const isTold = new Promise<void>((resolve) => {
      client.fallbackNotificationHandler = async ({ method }) => {
        told.push(method)
        resolve()
      }
    })
    const { ingest_key } = (
      await svc.call<{ ingest_key: string }>('POST', '/api/sources', {
        ...{ name: 'web', connector: 'webhook' },
        config: { labels: [{ name: 'service', field: 'service', primary: true }] },
      })
    ).json
    const trigger = { name: 'any', sources: ['web'], condition: { event: 'any' } }
    expect((await svc.call('POST', '/api/triggers', trigger)).status).toBe(201)
    await asked(client, 'wait_for_firing', { trigger: 'any', timeout_seconds: 0 })
    await client.subscribeResource({ uri: 'svc://entity/service/pay' })
    const before = provider.kept!.access_token
    // The token expires while nothing is asked: the daemon is not asked with it again and again.
    svc.clock.ahead += HOUR_MS + 1
    at.pass(1_000)
    await expect
      .poll(() => at.sessions.all().map(({ session }) => session.credential.isLapsed))
      .toEqual([true])
    for (let i = 0; i < 30; i++) at.pass(2_000)
    expect((await asked(client, 'list_sources')).isError).toBe(false)
    expect(provider.kept!.access_token).not.toBe(before)
    expect(at.sessions.size).toBe(1)
    const waiting = asked(client, 'wait_for_firing', { trigger: 'any', timeout_seconds: 50 })
    expect((await svc.call('POST', `/ingest/${ingest_key}`, { service: 'pay' })).status).toBe(202)
    // A wait of the session is one again, and not ended by the lapse before.
    expect((await waiting).text).toContain('any fired for')
    at.pass(2_000)
    await isTold
    expect(told).toEqual(['notifications/resources/updated'])
    // Before it expires, which ends the token that it had; and another sign-in is another credential.
    const stale = provider.kept!
    const { json } = await form(`${svc.url}/oauth/token`, {
      ...{
        grant_type: 'refresh_token',
        refresh_token: stale.refresh_token!,
        client_id: provider.client!.client_id,
      },
    })
    provider.kept = json as never
    at.pass(1_000)
    expect((await asked(client, 'list_sources')).isError).toBe(false)
    const other = await connect(at.url)
    const headers = { 'mcp-session-id': at.sessions.all()[0]!.id }
    const theirs = await fetch(at.url, {
      method: 'POST',
      headers: {
        ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        ...svc.as(other.provider.kept!.access_token),
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    })
    expect(theirs.status).toBe(404)
    await other.client.close()
    await client.close()
  })

  it('takes no token of another server, and the telemetry servers none of its own', async () => {
    const own = await signedIn(svc, { resource: mcp.url })
    for (const resource of [svc.mcpUrl, apart.url, 'http://127.0.0.1:1/mcp']) {
      const { access } = await signedIn(svc, { resource })
      const answer = await svc.rpc('initialize', INITIALIZE, access, mcp.url)
      expect(answer.status).toBe(401)
      expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"')
    }
    for (const url of [svc.mcpUrl, apart.url])
      expect((await svc.rpc('initialize', INITIALIZE, own.access, url)).status).toBe(401)
  })

  it('is known at an address of its own where the daemon names it, and only there', async () => {
    const url = 'https://mcp.example.com/mcp'
    const world = await openTelemetryWorld({ publicUrl: 'https://svc.example.com', others: [url] })
    const at = await startMcp(world.url, { env: { SVC_MCP_URL: url } })
    const metadata = await fetch(`${at.base}/.well-known/oauth-protected-resource/mcp`)
    expect(await metadata.json()).toMatchObject({
      resource: url,
      authorization_servers: ['https://svc.example.com'],
    })
    const person = { ...world, url: world.url }
    const token = async (resource: string) => {
      const { handMade, form, REDIRECT } = await import('./sign-in.ts')
      const client = await handMade(world, { resource })
      const answer = await world.call<{ redirect: string }>('POST', '/api/oauth/decisions', {
        query: client.query,
        allow: true,
      })
      const back = new URL(answer.json.redirect).searchParams
      if (back.has('error')) return back.get('error')!
      const { json } = await form(`${person.url}/oauth/token`, {
        ...{ grant_type: 'authorization_code', code: back.get('code')!, client_id: client.clientId },
        ...{ redirect_uri: REDIRECT, code_verifier: client.verifier },
      })
      return json.access_token!
    }
    expect((await world.rpc('initialize', INITIALIZE, await token(url), at.url)).status).toBe(200)
    expect(await token('https://other.example.com/mcp')).toBe('invalid_target')
    // A daemon that people reach from elsewhere signs nobody in to what listens on their own machines.
    expect(await token('http://127.0.0.1:8788/mcp')).toBe('invalid_target')
    await at.stop()
    await world.close()
  })
})
