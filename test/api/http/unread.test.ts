/** Issue 16, B4: 431 and every other error has the one error form, those of Node's own HTTP parser too. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { refuseUnread } from '../../../api/http/unread.ts'
import { openDoor } from './door.ts'

let door: Awaited<ReturnType<typeof openDoor>>
let port = 0

beforeAll(async () => {
  door = await openDoor()
  port = Number(new URL(await door.app.listen({ host: '127.0.0.1', port: 0 })).port)
})
afterAll(() => door.close())

/** Sends bytes to a port and reads until the connection ends. */
async function raw(bytes: string, to = port) {
  const socket = connect(to, '127.0.0.1')
  const parts: Buffer[] = []
  socket.on('data', (part: Buffer) => parts.push(part)).on('error', () => {})
  socket.write(bytes, 'latin1')
  await once(socket, 'close')
  const text = Buffer.concat(parts).toString()
  const [head = '', body = ''] = text.split('\r\n\r\n')
  const [line = '', ...fields] = head.split('\r\n')
  const headers = Object.fromEntries(
    fields.map((field) => {
      const at = field.indexOf(':')
      return [field.slice(0, at).toLowerCase(), field.slice(at + 1).trim()]
    }),
  )
  return { status: Number(line.split(' ')[1]), headers, body }
}

/** A request by hand. The connection ends with its answer. */
const ask = (line: string, fields: string[] = [], body = '') =>
  `${line} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n${fields.map((field) => `${field}\r\n`).join('')}\r\n${body}`

const JSON_TYPE = 'Content-Type: application/json'
const CHUNKED = 'Transfer-Encoding: chunked'
const BIG = 'x'.repeat(17_000)

const REFUSED: [what: string, bytes: string, status: number, detail: RegExp][] = [
  ['headers of 17 KB', ask('GET /health', [`X-Big: ${BIG}`]), 431, /^the headers are larger than 16 KiB$/],
  ['a path of 17 KB', ask(`GET /${BIG}`), 431, /larger than 16 KiB/],
  ['no request line', 'HELLO\r\n\r\n', 400, /./],
  ['a greeting of TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400, /./],
  ['a request of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, /./],
  ['a method that is none', ask('FETCH /health'), 400, /method/],
  ['no Host', 'GET /health HTTP/1.1\r\nConnection: close\r\n\r\n', 400, /^the Host header is missing$/],
  ['a header without a name', ask('GET /health', [': x']), 400, /not valid HTTP/],
  [
    'a length and chunks',
    ask('POST /read', [JSON_TYPE, CHUNKED, 'Content-Length: 2'], '{}'),
    400,
    /not valid HTTP/,
  ],
  [
    'a length that is none',
    ask('POST /read', [JSON_TYPE, 'Content-Length: two'], '{}'),
    400,
    /not valid HTTP/,
  ],
  [
    'a chunk without a size',
    ask('POST /read', [JSON_TYPE, CHUNKED], 'zz\r\n{}\r\n'),
    400,
    /not valid HTTP|cut/,
  ],
  [
    'a chunk with a long extension',
    ask('POST /read', [JSON_TYPE, CHUNKED], `2;${BIG}\r\n{}\r\n0\r\n\r\n`),
    413,
    /extensions of a chunk/,
  ],
  ['CONNECT', 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n', 405, /^CONNECT is not/],
  ['TRACE', ask('TRACE /health'), 405, /^TRACE is not supported$/],
  ['an expectation', ask('GET /health', ['Expect: miracles']), 417, /^Expect must be 100-continue$/],
  ['a path that is no URL', ask('GET /api/sources/%zz'), 400, /path is not a valid URL/],
  ['a name of 600 characters', ask(`GET /api/sources/${'x'.repeat(600)}`), 400, /longer than 500/],
  ['a path that there is none of', ask('GET /api/nope'), 404, /^unknown API path \/api\/nope$/],
  [
    'a method that is not taken',
    ask('PATCH /api/sources/app'),
    405,
    /takes GET, HEAD, PUT, DELETE, not PATCH/,
  ],
  ['a method of WebDAV', ask('PROPFIND /read'), 405, /takes POST, not PROPFIND/],
  [
    'a media type that is not taken',
    ask('POST /read', ['Content-Type: text/html', 'Content-Length: 2'], '{}'),
    415,
    /Content-Type must be application\/json/,
  ],
  [
    'a body of 2 MB',
    ask('POST /read', [JSON_TYPE, 'Content-Length: 2000000'], ' '.repeat(2_000_000)),
    413,
    /larger than this route takes/,
  ],
]

function expectForm({ status, headers, body }: Awaited<ReturnType<typeof raw>>): string {
  const said = `${status} ${JSON.stringify(headers)} ${body}`
  expect(headers['content-type'], said).toBe('application/json; charset=utf-8')
  const problem = JSON.parse(body) as { detail: string }
  expect(Object.keys(problem), said).toEqual(['detail'])
  return problem.detail
}

describe('B4: every refusal is {"detail"} in JSON', () => {
  it.each(REFUSED)('%s', async (_what, bytes, status, detail) => {
    const answer = await raw(bytes)
    expect([answer.status, answer.body]).toEqual([status, expect.stringMatching(/^\{"detail":"/)])
    expect(expectForm(answer)).toMatch(detail)
  })

  it('405 says in Allow what the path takes', async () => {
    expect((await raw(ask('DELETE /read'))).headers.allow).toBe('POST')
    expect((await raw(ask('POST /api/sources/app'))).headers.allow).toBe('GET, HEAD, PUT, DELETE')
    // A page of the console at the same path is one still.
    expect((await raw(ask('GET /subscribe', ['Accept: text/html']))).status).toBe(200)
  })

  it('headers that do not come', async () => {
    const slow = createServer({ headersTimeout: 20, requestTimeout: 40, connectionsCheckingInterval: 10 })
    slow.on('clientError', refuseUnread)
    slow.listen(0, '127.0.0.1')
    await once(slow, 'listening')
    const answer = await raw('GET /health HTTP/1.1\r\nHost: ', (slow.address() as AddressInfo).port)
    slow.close()
    expect([answer.status, expectForm(answer)]).toEqual([408, 'the headers did not come within 10 s'])
  })

  it('is never written into an answer that is on its way', async () => {
    const half = createServer((_request, response) => {
      response.writeHead(200, { 'content-length': '10' })
      response.write('half')
    })
    half.on('clientError', refuseUnread)
    half.listen(0, '127.0.0.1')
    await once(half, 'listening')
    const bytes = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
    const socket = connect((half.address() as AddressInfo).port, '127.0.0.1')
    let text = ''
    socket.setEncoding('latin1').on('error', () => {})
    socket.on('data', (part: string) => {
      text += part
      // The answer has begun: now the body turns out to be none.
      if (text.endsWith('half')) socket.write('zz\r\n')
    })
    socket.write(bytes)
    await once(socket, 'close')
    half.close()
    expect(text.endsWith('half')).toBe(true)
    expect(text.match(/HTTP\/1\.1/g)).toHaveLength(1)
  })

  it('while the daemon ends, on a connection that was open', async () => {
    const other = await openDoor()
    const at = Number(new URL(await other.app.listen({ host: '127.0.0.1', port: 0 })).port)
    other.app.svc.beginStop()
    const answer = await raw(ask('GET /api/sources'), at)
    expect([answer.status, expectForm(answer)]).toEqual([503, 'the daemon is stopping'])
    expect(answer.headers['retry-after']).toBe('5')
    await other.close()
  })

  it('while Fastify closes, which answers in its own form otherwise', async () => {
    const other = await openDoor()
    let answer: Awaited<ReturnType<typeof raw>> | undefined
    other.app.addHook('preClose', async () => {
      answer = await raw(ask('GET /api/sources'), at)
    })
    const at = Number(new URL(await other.app.listen({ host: '127.0.0.1', port: 0 })).port)
    await other.close()
    expect([answer!.status, expectForm(answer!)]).toEqual([503, 'the daemon is stopping'])
  })
})
