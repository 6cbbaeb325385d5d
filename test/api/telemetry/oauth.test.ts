/**
 * OAuth 2.1 as the MCP authorization specification asks, walked by the official client end to end: discovery,
 * registration, login, consent, code, token, tools, refresh, revocation; and what it refuses.
 */

import {
  Client as ModernClient,
  type OAuthClientProvider as ModernProvider,
  StreamableHTTPClientTransport as ModernTransport,
  UnauthorizedError as ModernUnauthorized,
} from '@modelcontextprotocol/client'
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { decide, form, handMade, Provider, REDIRECT, signedIn } from './sign-in.ts'
import { asked, INITIALIZE, openTelemetryWorld, ROOT, type TelemetryWorld } from './telemetry-world.ts'

const HOUR_MS = 3_600_000

let svc: TelemetryWorld
beforeAll(async () => {
  svc = await openTelemetryWorld()
})
afterAll(() => svc.close())
// Of a minute there are ten registrations, and ten wrong codes and tokens.
beforeEach(() => {
  svc.clock.ahead += 60_001
})

/** Connects as a client does whose person is there to decide. */
async function connect(world: TelemetryWorld, provider: Provider): Promise<Client> {
  const open = async () => {
    const transport = new StreamableHTTPClientTransport(new URL(world.mcpUrl), { authProvider: provider })
    const client = new Client({ name: 'official', version: '1' })
    return { transport, client }
  }
  const first = await open()
  await expect(first.client.connect(first.transport as Transport)).rejects.toBeInstanceOf(UnauthorizedError)
  const back = await decide(world, provider.opened!.search.slice(1))
  expect(back.searchParams.get('state')).toBe('state-of-the-client')
  expect(back.searchParams.get('iss')).toBe(world.url)
  await first.transport.finishAuth(back.searchParams.get('code')!)
  const { client, transport } = await open()
  await client.connect(transport as Transport)
  return client
}

describe('the official MCP client', () => {
  it('discovers, registers, is consented to, calls tools, refreshes by itself and is revoked', async () => {
    const provider = new Provider()
    const client = await connect(svc, provider)
    // The authorization request is what the specification asks: PKCE S256 and the resource.
    const { searchParams } = provider.opened!
    expect(provider.opened!.origin + provider.opened!.pathname).toBe(`${svc.url}/oauth/authorize`)
    expect(searchParams.get('code_challenge_method')).toBe('S256')
    expect(searchParams.get('resource')).toBe(svc.mcpUrl)
    // No more is asked for than is needed to begin with.
    expect(searchParams.get('scope')).toBe('read')
    expect(provider.client?.token_endpoint_auth_method).toBe('none')
    const { text } = await asked(client, 'get_me')
    expect(text).toContain('User: auth token (env)')
    expect(text).toContain('Official client')
    expect((await asked(client, 'traces')).isError).toBe(false)

    const before = provider.kept!
    svc.clock.ahead += HOUR_MS + 1
    expect((await asked(client, 'get_me')).isError).toBe(false)
    expect(provider.kept!.access_token).not.toBe(before.access_token)
    expect(provider.kept!.refresh_token).not.toBe(before.refresh_token)

    const { sessions } = (
      await svc.call<{ sessions: { id: string; client: string }[] }>('GET', '/api/oauth/sessions')
    ).json
    const own = sessions.find(({ client: name }) => name === 'Official client')!
    expect((await svc.call('DELETE', `/api/oauth/sessions/${own.id}`)).status).toBe(200)
    await expect(asked(client, 'get_me')).rejects.toThrow()
    expect((await svc.rpc('initialize', INITIALIZE, provider.kept!.access_token)).status).toBe(401)
  })

  it('of now asks its person for more when create_api_key needs it, and makes a key that works', async () => {
    const provider = new Provider()
    await connect(svc, provider)
    const transport = () =>
      new ModernTransport(new URL(svc.mcpUrl), { authProvider: provider as ModernProvider })
    const client = new ModernClient({ name: 'now', version: '1' })
    await client.connect(transport())
    const makeKey = (by: ModernClient) =>
      by.callTool({ name: 'create_api_key', arguments: { scopes: ['read'], name: 'by a tool' } })
    // 403 insufficient_scope with what is missing: the client sends its person to consent to that.
    await expect(makeKey(client)).rejects.toThrow(ModernUnauthorized)
    expect(provider.opened!.searchParams.get('scope')).toBe('read keys')
    const back = await decide(svc, provider.opened!.search.slice(1))
    const next = transport()
    await next.finishAuth(back.searchParams)
    const again = new ModernClient({ name: 'now', version: '1' })
    await again.connect(next)
    const made = (await makeKey(again)).content as { text: string }[]
    const secret = /`(svc_[0-9a-f]{8}_[\w-]+)`/.exec(made[0]!.text)![1]!
    expect((await svc.rpc('initialize', INITIALIZE, secret)).status).toBe(200)
    // Never more than to read and to ingest.
    const more = await again.callTool({ name: 'create_api_key', arguments: { scopes: ['admin'] } })
    expect(more.isError).toBe(true)
  })

  it('may be let make keys at once by its person, whatever it asked for', async () => {
    const session = await signedIn(svc, {}, { scopes: ['read', 'keys'] })
    expect(session.json.scope).toBe('read keys')
    const client = await svc.connect(session.access)
    expect((await asked(client, 'create_api_key', { scopes: ['read'] })).text).toMatch(/`svc_\w+/)
    const other = { resource: 'http://127.0.0.1:8788/mcp' }
    await expect(signedIn(svc, other, { scopes: ['read', 'admin'] })).rejects.toThrow(/did not ask/)
  })
})

describe('a token', () => {
  it('opens the server it is for and no other: neither the API nor another server takes it', async () => {
    const { access } = await signedIn(svc)
    expect((await svc.rpc('initialize', INITIALIZE, access)).status).toBe(200)
    for (const [method, path] of [
      ['GET', '/api/sources'],
      ['GET', '/api/keys'],
      ['GET', '/api/tail'],
      ['POST', '/read'],
    ] as const) {
      const answer = await svc.call(method, path, method === 'POST' ? {} : undefined, svc.as(access))
      expect(answer.status).toBe(401)
    }
    const other = await signedIn(svc, { resource: 'http://127.0.0.1:8788/mcp' })
    expect((await svc.rpc('initialize', INITIALIZE, other.access)).status).toBe(401)
    expect((await svc.call('GET', '/api/sources', undefined, svc.as(other.access))).status).toBe(200)
    expect((await svc.call('POST', '/api/sources', {}, svc.as(other.access))).status).toBe(403)
  })

  it('opens no session of the console, and consents to no client', async () => {
    const { access } = await signedIn(svc, { resource: 'http://127.0.0.1:8788/mcp', scope: 'read admin' })
    expect((await svc.call('POST', '/api/session', { token: access }, {})).status).toBe(401)
    const { query } = await handMade(svc)
    expect(
      (await svc.call('POST', '/api/oauth/decisions', { query, allow: true }, svc.as(access))).status,
    ).toBe(403)
  })

  it('ends after an hour, with its session, and with the credential of who consented', async () => {
    const approver = await svc.key(['admin'])
    // A key of an approved login is a person's.
    const login = await svc.call<{ code: string }>('POST', '/api/logins', {
      ...{
        challenge: 'a'.repeat(43),
        state: 'b'.repeat(43),
        port: null,
        machine: 'laptop',
        scopes: ['admin'],
      },
    })
    expect(login.status, login.text).toBe(201)
    await expect(signedIn(svc, {}, { token: approver.secret })).rejects.toThrow(/403/)
    const { access } = await signedIn(svc)
    svc.clock.ahead += HOUR_MS + 1
    expect((await svc.rpc('initialize', INITIALIZE, access)).status).toBe(401)
  })

  it('is nowhere in the log, nor is a code, and is stored by its hash alone', async () => {
    const { access, refresh, exchange } = await signedIn(svc)
    await form(`${svc.url}/oauth/token`, { ...exchange, code: 'svc_oac_wrong' })
    const log = svc.lines.join('')
    expect(log).toContain('a client was signed in')
    for (const secret of [access, refresh, exchange.code, exchange.code_verifier])
      expect(log).not.toContain(secret)
  })
})

describe('a refresh token', () => {
  it('is good once: one that comes again ends the session of who has the newer one', async () => {
    const { access, refresh, clientId } = await signedIn(svc)
    const ask = (token: string, more = {}) =>
      form(`${svc.url}/oauth/token`, {
        grant_type: 'refresh_token',
        refresh_token: token,
        client_id: clientId,
        ...more,
      })
    const second = await ask(refresh)
    expect(second.status).toBe(200)
    expect(second.headers.get('cache-control')).toBe('no-store')
    expect((await svc.rpc('initialize', INITIALIZE, access)).status).toBe(401)
    expect((await svc.rpc('initialize', INITIALIZE, second.json.access_token!)).status).toBe(200)
    const stolen = await ask(refresh)
    expect([stolen.status, stolen.json.error]).toEqual([400, 'invalid_grant'])
    expect((await svc.rpc('initialize', INITIALIZE, second.json.access_token!)).status).toBe(401)
    expect((await ask(second.json.refresh_token!)).json.error).toBe('invalid_grant')
  })

  it('is of its client, its resource and its scopes', async () => {
    const { refresh, clientId } = await signedIn(svc)
    const other = await handMade(svc)
    const ask = (more: Record<string, string>) =>
      form(`${svc.url}/oauth/token`, {
        ...{ grant_type: 'refresh_token', refresh_token: refresh, client_id: clientId },
        ...more,
      })
    expect((await ask({ client_id: other.clientId })).json.error).toBe('invalid_grant')
    expect((await ask({ resource: 'http://127.0.0.1:8788/mcp' })).json.error).toBe('invalid_target')
    expect((await ask({ scope: 'read keys' })).json.error).toBe('invalid_scope')
    expect((await ask({ scope: 'read', resource: svc.mcpUrl })).status).toBe(200)
  })

  it('that is not used for 30 days is forgotten', async () => {
    const { refresh, clientId } = await signedIn(svc)
    svc.clock.ahead += 31 * 24 * HOUR_MS
    const answer = await form(`${svc.url}/oauth/token`, {
      ...{ grant_type: 'refresh_token', refresh_token: refresh, client_id: clientId },
    })
    expect(answer.json.error).toBe('invalid_grant')
  })
})

describe('revocation (RFC 7009)', () => {
  it('of either token ends both; an unknown one is as good as ended; one of another client is refused', async () => {
    for (const which of ['access', 'refresh'] as const) {
      const session = await signedIn(svc)
      const other = await handMade(svc)
      const revoke = (token: string, client_id: string) =>
        form(`${svc.url}/oauth/revoke`, { token, client_id })
      expect((await revoke(session[which], other.clientId)).json.error).toBe('invalid_client')
      expect((await svc.rpc('initialize', INITIALIZE, session.access)).status).toBe(200)
      expect((await revoke(session[which], session.clientId)).status).toBe(200)
      expect((await svc.rpc('initialize', INITIALIZE, session.access)).status).toBe(401)
      expect((await revoke('svc_oat_unknown', session.clientId)).status).toBe(200)
    }
  })
})

describe('an authorization code', () => {
  it('is good once, for the client, address and verifier it was made for, within a minute', async () => {
    const wrong: Record<string, string>[] = [
      { code_verifier: 'x'.repeat(43) },
      { redirect_uri: 'http://127.0.0.1:3334/other' },
      { client_id: 'svc_client_other' },
    ]
    for (const fields of wrong) {
      const client = await handMade(svc)
      const back = await decide(svc, client.query)
      const right = {
        ...{ grant_type: 'authorization_code', code: back.searchParams.get('code')! },
        ...{ client_id: client.clientId, redirect_uri: REDIRECT, code_verifier: client.verifier },
      }
      expect((await form(`${svc.url}/oauth/token`, { ...right, ...fields })).json.error).toBe('invalid_grant')
      // Somebody has seen it: it is spent.
      expect((await form(`${svc.url}/oauth/token`, right)).json.error).toBe('invalid_grant')
    }
    const late = await handMade(svc)
    const code = (await decide(svc, late.query)).searchParams.get('code')!
    svc.clock.ahead += 61_000
    const answer = await form(`${svc.url}/oauth/token`, {
      ...{ grant_type: 'authorization_code', code, client_id: late.clientId },
      ...{ redirect_uri: REDIRECT, code_verifier: late.verifier },
    })
    expect(answer.json.error).toBe('invalid_grant')
  })

  it('that comes twice ends what was made of it', async () => {
    const session = await signedIn(svc)
    const again = await form(`${svc.url}/oauth/token`, session.exchange)
    expect(again.json.error).toBe('invalid_grant')
    expect((await svc.rpc('initialize', INITIALIZE, session.access)).status).toBe(401)
  })

  it('is not given for another resource than was consented to', async () => {
    const client = await handMade(svc)
    const code = (await decide(svc, client.query)).searchParams.get('code')!
    const answer = await form(`${svc.url}/oauth/token`, {
      ...{ grant_type: 'authorization_code', code, client_id: client.clientId },
      ...{ redirect_uri: REDIRECT, code_verifier: client.verifier, resource: 'http://127.0.0.1:8788/mcp' },
    })
    expect(answer.json.error).toBe('invalid_target')
  })
})

describe('what a client asks a person to consent to', () => {
  const shown = async (query: string) =>
    (
      await svc.call<{
        problem: { error: string } | null
        redirect_host: string | null
        client: { name: string } | null
      }>('POST', '/api/oauth/requests', { query })
    ).json

  it.each([
    ['a plain challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['no challenge', { code_challenge: null, code_challenge_method: null }, 'invalid_request'],
    ['an implicit answer', { response_type: 'token' }, 'unsupported_response_type'],
    ['an answer as a fragment', { response_mode: 'fragment' }, 'invalid_request'],
    ['no resource', { resource: null }, 'invalid_target'],
    ['the server of somebody else', { resource: 'https://evil.example/mcp' }, 'invalid_target'],
    ['a resource with a query', { resource: 'http://127.0.0.1:8788/mcp?x=1' }, 'invalid_target'],
    ['a scope of another server', { scope: 'read admin' }, 'invalid_scope'],
  ])(
    '%s is refused, and the refusal goes to the client only by the person’s hand',
    async (_what, more, error) => {
      const { query } = await handMade(svc, more as Record<string, string | null>)
      const asked = await shown(query)
      expect(asked.problem?.error).toBe(error)
      const back = await decide(svc, query)
      expect(back.searchParams.get('error')).toBe(error)
      expect(back.searchParams.get('code')).toBeNull()
    },
  )

  it('an address that the client did not register gets nothing, whoever decides', async () => {
    for (const redirect of [
      'https://evil.example/callback',
      'http://127.0.0.1:3334/callback/../other',
      'http://127.0.0.1:3334/callback?x=1',
      'http://localhost:3334/callback',
      'http://127.0.0.1.evil.example:3334/callback',
      'http://user@127.0.0.1:3334/callback',
    ]) {
      const { query } = await handMade(svc, { redirect_uri: redirect })
      expect(await shown(query)).toMatchObject({ redirect_host: null, problem: { error: 'invalid_request' } })
      for (const allow of [true, false]) await expect(decide(svc, query, { allow })).rejects.toThrow('400')
    }
    // A program on the person's own computer chooses its port when it starts (RFC 8252, section 7.3).
    const { query } = await handMade(svc, { redirect_uri: 'http://127.0.0.1:40123/callback' })
    expect((await shown(query)).problem).toBeNull()
  })

  it('a parameter that comes twice is refused', async () => {
    const { query } = await handMade(svc)
    expect((await shown(`${query}&redirect_uri=${encodeURIComponent(REDIRECT)}`)).problem?.error).toBe(
      'invalid_request',
    )
    expect((await shown(`${query}&resource=${encodeURIComponent(svc.mcpUrl)}`)).problem?.error).toBe(
      'invalid_target',
    )
  })

  it('declined, the client hears access_denied; less may be granted than was asked for', async () => {
    const { query } = await handMade(svc, { scope: 'read keys' })
    expect((await decide(svc, query, { allow: false })).searchParams.get('error')).toBe('access_denied')
    const less = await signedIn(svc, { scope: 'read keys' }, { scopes: ['read'] })
    expect(less.json.scope).toBe('read')
  })

  it('is decided by a person alone: not by a key, and not from a page of another site', async () => {
    const { query } = await handMade(svc)
    const { secret } = await svc.key(['admin'])
    expect(
      (await svc.call('POST', '/api/oauth/decisions', { query, allow: true }, svc.as(secret))).status,
    ).toBe(403)
    const opened = await svc.call('POST', '/api/session', { token: ROOT }, {})
    const cookie = opened.headers.get('set-cookie')!
    expect(cookie).toMatch(/HttpOnly.*SameSite=Strict|SameSite=Strict.*HttpOnly/i)
    const foreign: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
    ]
    for (const headers of foreign) {
      const answer = await svc.call(
        'POST',
        '/api/oauth/decisions',
        { query, allow: true },
        {
          cookie: cookie.split(';')[0]!,
          ...headers,
        },
      )
      expect(answer.status).toBe(403)
    }
    expect((await svc.call('POST', '/api/oauth/decisions', { query, allow: true }, {})).status).toBe(401)
  })

  it('no page of the service may be put in a frame, the consent page least of all', async () => {
    const page = await fetch(`${svc.url}/oauth/authorize?client_id=x`, { headers: { accept: 'text/html' } })
    expect(page.headers.get('x-frame-options')).toBe('DENY')
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(page.headers.get('referrer-policy')).toBe('no-referrer')
    // Nothing is answered by a redirect: a client that registered itself would make a way to any site of it.
    expect([page.redirected, page.status]).toEqual([false, 200])
  })
})

describe('registration (RFC 7591)', () => {
  const register = (body: object, world = svc) =>
    world.call<Record<string, unknown>>('POST', '/oauth/register', body, {})

  it('takes https and loopback addresses alone, without fragment or user', async () => {
    svc.clock.ahead += 60_000
    for (const uri of [
      'http://evil.example/callback',
      'javascript:alert(1)',
      'data:text/html,x',
      'https://a.example/#x',
      'https://user@a.example/',
      'custom-scheme://callback',
      'http://127.0.0.1.evil.example/',
      'not an address',
      42,
    ])
      expect([uri, (await register({ redirect_uris: [uri] })).json.error]).toEqual([
        uri,
        'invalid_redirect_uri',
      ])
    svc.clock.ahead += 60_000
    for (const uri of ['https://a.example/cb?x=1', 'http://[::1]:1/cb', 'http://localhost/cb'])
      expect((await register({ redirect_uris: [uri] })).status).toBe(201)
    expect((await register({ redirect_uris: [] })).json.error).toBe('invalid_redirect_uri')
    expect(
      (await register({ redirect_uris: ['https://a.example/'], grant_types: ['password'] })).json.error,
    ).toBe('invalid_client_metadata')
  })

  it('keeps of a name what can be read as one', async () => {
    svc.clock.ahead += 60_000
    const name = 'Evil\u202eexe.txt <b>bold</b>\u0000\n  two'
    const { json } = await register({ redirect_uris: ['https://a.example/'], client_name: name })
    expect(json.client_name).toBe('Evilexe.txt <b>bold</b> two')
    expect(JSON.stringify(json)).not.toContain('client_secret')
    const torn = await register({ redirect_uris: ['https://a.example/'], client_name: 'Caf\ufffd' })
    expect([torn.status, torn.json.error]).toEqual([400, 'invalid_client_metadata'])
  })

  it('is bounded: ten a minute of one address, and 500 in all, of which those nobody signed in make room', async () => {
    const world = await openTelemetryWorld()
    const uris = { redirect_uris: ['https://a.example/'] }
    const statuses: number[] = []
    for (let i = 0; i < 11; i++) statuses.push((await register(uris, world)).status)
    expect(statuses).toEqual([...Array(10).fill(201), 429])
    const kept = await (async () => {
      world.clock.ahead += 60_000
      return signedIn(world)
    })()
    for (let i = 0; i < 500; i++)
      await world.engine
        .registerOauthClient({ name: `c${i}`, redirectUris: ['https://a.example/'] })
        .catch(() => {})
    await expect(
      world.engine.registerOauthClient({ name: 'more', redirectUris: ['https://a.example/'] }),
    ).rejects.toThrow(/500 clients are registered/)
    world.clock.ahead += 600_001
    await world.engine.registerOauthClient({ name: 'more', redirectUris: ['https://a.example/'] })
    expect((await world.rpc('initialize', INITIALIZE, kept.access)).status).toBe(200)
    await world.close()
  })
})

it('who guesses at codes and tokens is told to wait after ten in a minute, and a good one is not looked for either', async () => {
  const world = await openTelemetryWorld()
  const { refresh, clientId } = await signedIn(world)
  const guess = () =>
    form(`${world.url}/oauth/token`, {
      ...{ grant_type: 'refresh_token', refresh_token: 'svc_ort_guess', client_id: clientId },
    })
  const statuses: number[] = []
  for (let i = 0; i < 11; i++) statuses.push((await guess()).status)
  expect(statuses).toEqual([...Array(10).fill(400), 429])
  expect(
    (await form(`${world.url}/oauth/revoke`, { token: 'svc_oat_guess', client_id: clientId })).status,
  ).toBe(429)
  world.clock.ahead += 60_001
  const answer = await form(`${world.url}/oauth/token`, {
    ...{ grant_type: 'refresh_token', refresh_token: refresh, client_id: clientId },
  })
  expect(answer.status).toBe(200)
  await world.close()
})

it('a rotated root token ends the sessions that were consented to with the one before', async () => {
  const { mkdtempSync, rmSync } = await import('node:fs')
  const { tmpdir } = await import('node:os')
  const { join } = await import('node:path')
  const folder = mkdtempSync(join(tmpdir(), 'svc-oauth-'))
  const dataFile = join(folder, 'svc.db')
  const world = await openTelemetryWorld({ dataFile, publicUrl: 'http://127.0.0.1:9' })
  const mcpUrl = 'http://127.0.0.1:9/telemetry/mcp'
  const { access } = await signedIn(world, { resource: mcpUrl })
  expect((await world.rpc('initialize', INITIALIZE, access)).status).toBe(200)
  await world.close()
  // Over a restart it holds; with another root token it does not.
  const same = await openTelemetryWorld({ dataFile, publicUrl: 'http://127.0.0.1:9' })
  expect((await same.rpc('initialize', INITIALIZE, access)).status).toBe(200)
  await same.close()
  const rotated = await openTelemetryWorld({
    dataFile,
    publicUrl: 'http://127.0.0.1:9',
    root: `${ROOT}-other`,
  })
  expect((await rotated.rpc('initialize', INITIALIZE, access)).status).toBe(401)
  await rotated.close()
  rmSync(folder, { recursive: true })
})
