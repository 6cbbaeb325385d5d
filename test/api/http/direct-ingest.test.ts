import { once } from 'node:events'
import { request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { openDoor, ROOT } from './door.ts'

type Door = Awaited<ReturnType<typeof openDoor>>

let open: Door
let secured: Door

beforeEach(async () => {
  open = await openDoor()
  secured = await openDoor({ secured: true })
  for (const { app } of [open, secured]) await app.listen({ port: 0, host: '127.0.0.1' })
})

afterEach(async () => {
  await open.close()
  await secured.close()
})

const portOf = ({ app }: Door): number => (app.server.address() as AddressInfo).port

interface Post {
  door: Door
  url: string
  body: string | Buffer
  headers?: Record<string, string>
}

interface Answer {
  status: number
  text: string
  headers: Record<string, unknown>
}

/** Over a connection, where a post of events has a way of its own. */
async function direct({ door, url, body, headers = {} }: Post): Promise<Answer> {
  const asked = request({
    ...{ port: portOf(door), host: '127.0.0.1', path: url, method: 'POST' },
    headers: { 'content-length': Buffer.byteLength(body), ...headers },
  })
  asked.end(body)
  const [answer] = await once(asked, 'response')
  const parts: Buffer[] = []
  for await (const part of answer) parts.push(part)
  return told(answer.statusCode, Buffer.concat(parts), answer.headers)
}

/** By the framework alone. */
async function framed({ door, url, body, headers = {} }: Post): Promise<Answer> {
  const answer = await door.app.inject({
    ...{ method: 'POST', url, payload: body },
    headers: { host: `127.0.0.1:${portOf(door)}`, ...headers },
  })
  return told(answer.statusCode, answer.rawPayload, answer.headers)
}

/** Without what follows from the connection, which the framework alone does not see, and which ids the events have. */
function told(status: number, body: Buffer, given: object): Answer {
  const {
    connection: _kept,
    date,
    'keep-alive': _,
    'content-length': length,
    ...headers
  } = given as Record<string, unknown>
  const text = (headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString()
  return {
    status,
    text: text.replaceAll(/evt_\d+/g, 'evt'),
    headers: {
      ...headers,
      isDated: Boolean(date),
      isLong: Boolean(length),
    },
  }
}

describe('a post of events over a connection', () => {
  const post = async (door: Door, more: Omit<Post, 'door' | 'url'> & { url?: string }) => {
    const { url } = await door.source('shop')
    return [await direct({ door, url, ...more }), await framed({ door, url, ...more })] as const
  }

  it.each<[string, Omit<Post, 'door' | 'url'> & { url?: string }, number]>([
    ['one event', { body: '{"a":1}', headers: { 'content-type': 'application/json' } }, 202],
    ['lines', { body: '{"a":1}\n{"a":2}\n', headers: { 'content-type': 'application/x-ndjson' } }, 202],
    ['nothing', { body: '' }, 202],
    ['no JSON', { body: '{' }, 400],
    ['an address that is not known', { body: '{}', url: '/ingest/unknown' }, 404],
    ['a query', { body: '{}', url: '/ingest/unknown?a=1' }, 404],
    ['an Idempotency-Key that is none', { body: '{}', headers: { 'idempotency-key': 'a b' } }, 400],
    ['a page of another site', { body: '{}', headers: { origin: 'https://elsewhere.example' } }, 403],
    ['a Host that is not ours', { body: '{}', headers: { host: 'elsewhere.example' } }, 403],
    ['gzip', { body: gzipSync('{"a":1}'), headers: { 'content-encoding': 'gzip' } }, 202],
    ['a coding that is not known', { body: '{}', headers: { 'content-encoding': 'xy' } }, 415],
    ['a form', { body: 'payload=', headers: { 'content-type': 'application/x-www-form-urlencoded' } }, 400],
    [
      'many lines of which one is refused, by who takes gzip',
      { body: `{"a":1}\n${'no\n'.repeat(60)}`, headers: { 'accept-encoding': 'gzip' } },
      202,
    ],
    ['a value of Vercel', { body: '{}', headers: { 'x-vercel-verify': 'abc' } }, 202],
  ])('of %s is answered as by the framework', async (_, more, status) => {
    const [one, other] = await post(open, more)
    expect(one).toEqual(other)
    expect(one.status).toBe(status)
  })

  it('says of a key that came with another body what the framework says', async () => {
    const { url } = await open.source('shop')
    const headers = { 'idempotency-key': 'k1' }
    const first = await direct({ door: open, url, body: '{"a":1}', headers })
    expect([await framed({ door: open, url, body: '{"a":1}', headers }), first.status]).toEqual([first, 202])
    const refused = await direct({ door: open, url, body: '{"a":2}', headers })
    expect(await framed({ door: open, url, body: '{"a":2}', headers })).toEqual(refused)
    expect(refused.status).toBe(422)
  })

  it('needs the credential of its scope and source, and a wrong one counts once', async () => {
    const { url, key } = await secured.source('shop')
    const other = await secured.source('other')
    const reading = await secured.key(['read'])
    const by = (token: string | null) => ({
      ...{ door: secured, url, body: '{"a":1}' },
      headers: (token === null ? {} : { authorization: `Bearer ${token}` }) as Record<string, string>,
    })
    const tokens: (string | null)[] = [null, ROOT, key!.secret, other.key!.secret, reading.secret]
    const statuses: number[] = []
    for (const token of tokens) {
      const answer = await direct(by(token))
      expect(await framed(by(token))).toEqual(answer)
      statuses.push(answer.status)
    }
    expect(statuses).toEqual([401, 202, 202, 403, 403])
    const wrong: number[] = []
    for (let n = 0; n < 11; n++) wrong.push((await direct(by('wrong'))).status)
    expect(wrong).toEqual([...Array.from({ length: 10 }, () => 401), 429])
  })

  it('is refused without being read where it is too long, and leaves nothing held where it is cut short', async () => {
    const { url } = await open.source('shop')
    const head = (length: number) =>
      `POST ${url} HTTP/1.1\r\nHost: 127.0.0.1:${portOf(open)}\r\nContent-Length: ${length}\r\n\r\n`
    // Together more than all bodies may take: were they kept, the next would wait for its turn.
    for (let n = 0; n < 9; n++) {
      const socket = connect(portOf(open), '127.0.0.1')
      await once(socket, 'connect')
      socket.write(`${head(16 * 1024 * 1024)}{"a":`)
      await eventually(async () => {
        const { text } = await open.call('GET', '/metrics')
        expect(text).toContain('svc_http_requests_total')
      })
      socket.destroy()
      await once(socket, 'close')
    }
    expect((await direct({ door: open, url, body: '{"a":1}' })).status).toBe(202)
    const socket = connect(portOf(open), '127.0.0.1')
    socket.write(head(16 * 1024 * 1024 + 1))
    const [answer] = await once(socket, 'data')
    expect(String(answer)).toMatch(/^HTTP\/1.1 413 /)
    socket.destroy()
  })

  it('is counted as one that was answered', async () => {
    const { url } = await open.source('shop')
    await direct({ door: open, url, body: '{"a":1}' })
    const { text } = await open.call('GET', '/metrics')
    expect(text).toContain('svc_http_requests_total{route="/ingest/:key",method="POST",status="202"} 1')
  })
})
