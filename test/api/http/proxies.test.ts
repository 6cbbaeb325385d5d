/** Callers behind a proxy that is trusted are told apart by what it says of them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDoor, ROOT } from './door.ts'

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const fields = (given: Record<string, string>) => new URLSearchParams(given).toString()
const code = fields({
  grant_type: 'authorization_code',
  ...{
    code: 'svc_oac_wrong',
    client_id: 'c',
    redirect_uri: 'https://a.example/cb',
    code_verifier: 'v'.repeat(43),
  },
})
const client = {
  redirect_uris: ['https://a.example/cb'],
  client_name: 'A',
  token_endpoint_auth_method: 'none',
}

/** How often each lets one address fail, and what it answers till then. */
const asks = [
  ['a wrong bearer token', 10, 401, 'GET', '/api/sources', undefined, { authorization: 'Bearer wrong' }],
  ['a wrong token of the console', 10, 401, 'POST', '/api/session', { token: 'wrong' }, {}],
  ['a wrong code of OAuth', 10, 400, 'POST', '/oauth/token', code, FORM],
  ['a registration', 10, 201, 'POST', '/oauth/register', client, {}],
] as const

describe.each([
  ['that is trusted, each caller', true],
  ['that is not, all together', false],
])('behind a proxy %s', (_said, isTrusted) => {
  let door: Awaited<ReturnType<typeof openDoor>>
  beforeAll(async () => {
    door = await openDoor({ secured: true, ...(isTrusted ? { isProxy: (one) => one === '127.0.0.1' } : {}) })
  })
  afterAll(() => door.close())

  it.each(asks)('is bounded in %s', async (_what, most, status, method, path, body, headers) => {
    door.clock.at += 61_000
    const ask = async (from: string) =>
      (await door.call(method, path, body, { ...headers, 'x-forwarded-for': `203.0.113.1, ${from}` })).status
    for (let i = 0; i < most; i++) expect(await ask('198.51.100.7')).toBe(status)
    expect(await ask('198.51.100.7')).toBe(429)
    expect(await ask('198.51.100.8')).toBe(isTrusted ? status : 429)
    expect((await door.call('GET', '/api/sources', undefined, door.as(ROOT))).status).toBe(200)
  })
})
