/** JSON over 1 kB is compressed on the way; what goes on, what is small and what is secret is not. */
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openDoor } from './door.ts'

let door: Awaited<ReturnType<typeof openDoor>>
beforeAll(async () => {
  door = await openDoor({ secured: false })
})
afterAll(() => door.close())

const asked = (url: string, headers: Record<string, string> = {}) =>
  door.app.inject({ method: 'GET', url, headers: { host: '127.0.0.1:8787', ...headers } })

it('compresses JSON over 1 kB where gzip is taken, and tells caches so', async () => {
  const plain = await asked('/api/connectors')
  expect([plain.headers['content-encoding'], plain.headers.vary]).toEqual([undefined, 'Accept-Encoding'])
  const packed = await asked('/api/connectors', { 'accept-encoding': 'gzip, deflate, br' })
  expect([packed.headers['content-encoding'], packed.headers.vary]).toEqual(['gzip', 'Accept-Encoding'])
  expect(gunzipSync(packed.rawPayload).toString()).toBe(plain.body)
  expect(packed.rawPayload.length).toBeLessThan(plain.rawPayload.length / 3)
  expect(packed.headers['content-length']).toBe(String(packed.rawPayload.length))
})

it('leaves what is small, what is refused to be packed, and what tells a secret as it is', async () => {
  const small = await asked('/health', { 'accept-encoding': 'gzip' })
  expect([small.headers['content-encoding'], small.headers.vary]).toEqual([undefined, undefined])
  const refused = await asked('/api/connectors', { 'accept-encoding': 'gzip;q=0' })
  expect(refused.headers['content-encoding']).toBeUndefined()
  const page = await asked('/docs/yaml', { 'accept-encoding': 'gzip' })
  expect(page.headers['content-encoding']).toBeUndefined()
  const key = await door.app.inject({
    method: 'POST',
    url: '/api/keys',
    headers: { host: '127.0.0.1:8787', 'accept-encoding': 'gzip', 'content-type': 'application/json' },
    payload: JSON.stringify({ name: 'k'.repeat(60), scopes: ['read'] }),
  })
  expect([key.statusCode, key.headers['content-encoding']]).toEqual([201, undefined])
})
