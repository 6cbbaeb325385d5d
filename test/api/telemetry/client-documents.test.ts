/**
 * Clients known by an address (Client ID Metadata Documents): walked by both generations of the official client, and
 * what is refused. Documents are served over HTTP on loopback; that alone stands in for their https addresses.
 */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  Client as ModernClient,
  type OAuthClientProvider as ModernProvider,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { OauthRequest, OauthSession } from '../../../schemas/types.ts'
import { decide, handMade, Provider, REDIRECT } from './sign-in.ts'
import { asked, openTelemetryWorld, ROOT, type TelemetryWorld } from './telemetry-world.ts'

const ID = 'https://client.example/oauth/client.json'
const DOCUMENT = {
  ...{ client_id: ID, client_name: 'Desk agent', redirect_uris: [REDIRECT, 'https://client.example/back'] },
  ...{ grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] },
  token_endpoint_auth_method: 'none',
}

interface Served {
  status?: number
  headers?: Record<string, string>
  body?: unknown
}

let svc: TelemetryWorld
let served: Served
let fetched: { path: string; headers: IncomingHttpHeaders }[]
const server = createServer((request, response) => {
  fetched.push({ path: request.url!, headers: request.headers })
  const { status = 200, headers = { 'content-type': 'application/json' }, body = DOCUMENT } = served
  response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
})

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const here = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  svc = await openTelemetryWorld({ served: (url) => url.replace('https://client.example', here) })
})
afterAll(async () => {
  await svc.close()
  server.close()
})
beforeEach(() => {
  served = {}
  fetched = []
})
// What was fetched is forgotten, and the limits of a minute are over.
afterEach(() => {
  svc.clock.ahead += 3_600_001
})

/** What a person who is logged in is shown. */
async function shown(more: Record<string, string | null> = {}): Promise<OauthRequest> {
  const { query } = await handMade(svc, { client_id: ID, ...more })
  const opened = await svc.call('POST', '/api/session', { token: ROOT }, {})
  const cookie = opened.headers.get('set-cookie')!.split(';')[0]!
  const headers = { cookie, origin: svc.url }
  return (await svc.call<OauthRequest>('POST', '/api/oauth/requests', { query }, headers)).json
}
const problemOf = async (...given: Parameters<typeof shown>) =>
  (await shown(...given)).problem?.detail ?? null

describe('a client with a document', () => {
  it('is signed in by the official client without a registration, and goes on with refresh tokens', async () => {
    const provider = new Provider('read', ID)
    const registrations = () => svc.lines.filter((line) => line.includes('an OAuth client registered')).length
    const before = registrations()
    const transport = () => new StreamableHTTPClientTransport(new URL(svc.mcpUrl), { authProvider: provider })
    const first = transport()
    await expect(new Client({ name: 'official', version: '1' }).connect(first as Transport)).rejects.toThrow()
    expect(provider.opened!.searchParams.get('client_id')).toBe(ID)
    const back = await decide(svc, provider.opened!.search.slice(1))
    await first.finishAuth(back.searchParams.get('code')!)
    const client = new Client({ name: 'official', version: '1' })
    await client.connect(transport() as Transport)
    expect((await asked(client, 'get_me')).text).toContain('Signed in through: Desk agent')
    const kept = provider.kept!
    svc.clock.ahead += 3_600_001
    expect((await asked(client, 'get_me')).isError).toBe(false)
    expect(provider.kept!.access_token).not.toBe(kept.access_token)
    await client.close()
    expect(registrations()).toBe(before)
    const { sessions } = (await svc.call<{ sessions: OauthSession[] }>('GET', '/api/oauth/sessions')).json
    expect(sessions.map(({ client: name, client_id }) => [name, client_id])).toEqual([['Desk agent', ID]])
  })

  it('is signed in by the client of now, too', async () => {
    const provider = new Provider('read', ID)
    const transport = () =>
      new ModernTransport(new URL(svc.mcpUrl), { authProvider: provider as ModernProvider })
    const first = transport()
    await expect(new ModernClient({ name: 'now', version: '1' }).connect(first)).rejects.toThrow()
    expect(provider.opened!.searchParams.get('client_id')).toBe(ID)
    await first.finishAuth((await decide(svc, provider.opened!.search.slice(1))).searchParams)
    const client = new ModernClient({ name: 'now', version: '1' })
    await client.connect(transport())
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('traces')
    await client.close()
  })

  it('is shown with its host, which no client chooses; what registers by itself has none', async () => {
    expect((await shown()).client).toEqual({ id: ID, name: 'Desk agent', host: 'client.example' })
    const { clientId } = await handMade(svc)
    expect((await shown({ client_id: clientId })).client).toEqual({
      ...{ id: clientId, name: 'By hand', host: null },
    })
  })

  it('gets answers at the addresses of its document alone; on the computer of the person the port is free', async () => {
    expect(await problemOf({ redirect_uri: 'https://client.example/back' })).toBeNull()
    expect(await problemOf({ redirect_uri: 'http://127.0.0.1:4444/callback' })).toBeNull()
    for (const other of [
      ...['https://client.example/back/', 'https://client.example/back?x=1', 'https://other.example/back'],
      'http://127.0.0.1:3334/other',
    ])
      expect(await problemOf({ redirect_uri: other })).toMatch(/redirect_uri is not one/)
  })

  it('is what its document says when its person decides', async () => {
    served.headers = { 'content-type': 'application/json', 'cache-control': 'no-store' }
    const { query } = await handMade(svc, { client_id: ID })
    expect((await decide(svc, query)).searchParams.get('code')).not.toBeNull()
    served.body = { ...DOCUMENT, redirect_uris: ['https://client.example/back'] }
    svc.clock.ahead += 60_001
    await expect(decide(svc, query)).rejects.toThrow(/redirect_uri is not one/)
  })
})

describe('a document', () => {
  it.each([
    ['that says another client_id', { body: { ...DOCUMENT, client_id: `${ID}?x=1` } }, /is not the address/],
    ['without redirect_uris', { body: { client_id: ID } }, /redirect_uris must be a list/],
    [
      'with an address over http',
      { body: { ...DOCUMENT, redirect_uris: ['http://a.example/b'] } },
      /must be https/,
    ],
    ['with a secret', { body: { ...DOCUMENT, client_secret: 'x' } }, /client_secret must not be in it/],
    [
      'of a client with a key of its own',
      { body: { ...DOCUMENT, token_endpoint_auth_method: 'private_key_jwt' } },
      /token_endpoint_auth_method must be none/,
    ],
    ['that is no JSON', { body: '<html>' }, /not valid JSON/],
    ['that is a page', { headers: { 'content-type': 'text/html' } }, /is not application\/json/],
    ['that is elsewhere', { status: 302, headers: { location: `${ID}2` } }, /redirects are not followed/],
    ['that is not there', { status: 404 }, /answers 404/],
    ['that is large', { body: { ...DOCUMENT, logo: 'x'.repeat(11_000) } }, /cannot be had/],
  ] as [string, Served, RegExp][])('%s is refused, and asked for anew', async (_what, answer, why) => {
    served = answer
    const { client, problem } = await shown()
    expect([client, problem?.error]).toEqual([null, 'invalid_client'])
    expect(problem?.detail).toMatch(why)
    served = {}
    expect(await problemOf()).toBeNull()
    expect(fetched.map(({ path }) => path)).toEqual(['/oauth/client.json', '/oauth/client.json'])
  })

  it('is asked for once an hour at most, and once a minute whatever its server says; without a credential', async () => {
    const times = async (control: string, ahead: number) => {
      served.headers = { 'content-type': 'application/json', 'cache-control': control }
      fetched = []
      await shown()
      svc.clock.ahead += ahead
      await shown()
      svc.clock.ahead += 3_600_001
      return fetched.length
    }
    expect(await times('no-store', 59_000)).toBe(1)
    expect(await times('no-store', 60_001)).toBe(2)
    expect(await times('max-age=600', 599_000)).toBe(1)
    expect(await times('max-age=999999', 3_599_000)).toBe(1)
    expect(await times('max-age=999999', 3_600_001)).toBe(2)
    for (const { headers } of fetched)
      expect([headers.cookie, headers.authorization]).toEqual([undefined, undefined])
  })
})

it.each([
  ['http://client.example/client.json', /no client is registered/],
  ['https://client.example/', /must have a path/],
  ['https://client.example', /must have a path/],
  ['https://client.example/a/../client.json', /must be written as it is asked/],
  ['https://user@client.example/client.json', /user, password or fragment/],
  ['https://client.example/client.json#a', /user, password or fragment/],
  [`https://client.example/${'a'.repeat(500)}`, /more than 500 characters/],
])('%s is no id, and is not asked for', async (id, why) => {
  expect(await problemOf({ client_id: id })).toMatch(why)
  expect(fetched).toEqual([])
})

it('no address of a private network is asked', async () => {
  const guarded = await openTelemetryWorld()
  const { query } = await handMade(guarded)
  const opened = await guarded.call('POST', '/api/session', { token: ROOT }, {})
  const cookie = opened.headers.get('set-cookie')!.split(';')[0]!
  for (const host of ['127.0.0.1', 'localhost', '10.0.0.1', '[::1]', '169.254.169.254']) {
    const asking = new URLSearchParams(query)
    asking.set('client_id', `https://${host}/client.json`)
    const { json } = await guarded.call<OauthRequest>(
      ...(['POST', '/api/oauth/requests', { query: asking.toString() }] as const),
      { cookie, origin: guarded.url },
    )
    expect(json.problem?.detail).toMatch(/cannot be had: .*(allowed|private)/)
  }
  await guarded.close()
})

it('the metadata says that it is taken, and registration stays', async () => {
  const { json } = await svc.call('GET', '/.well-known/oauth-authorization-server')
  expect(json).toMatchObject({
    client_id_metadata_document_supported: true,
    registration_endpoint: `${svc.url}/oauth/register`,
  })
})
