import { mkdtempSync, rmSync } from 'node:fs'
import { request as call } from 'node:http'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { connectionBounds } from '../../../api/http/connections.ts'
import { type Daemon, startDaemon } from '../../chaos/daemon.ts'

let folder = ''
let daemon: Daemon | null = null
const sockets: Socket[] = []

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await daemon?.kill()
  daemon = null
  if (folder) rmSync(folder, { recursive: true, force: true })
})

async function start(handles: number, env: Record<string, string> = {}): Promise<URL> {
  folder = mkdtempSync(join(tmpdir(), 'svc-handles-'))
  daemon = await startDaemon(join(folder, 'data'), [], env, undefined, { handles })
  return new URL(daemon.url)
}

/** Opens a connection and sends these bytes. @returns once it is there, and answered if it asked; or was refused */
const open = ({ hostname, port }: URL, text = ''): Promise<Socket> =>
  new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      if (text) socket.write(text)
      else resolve(socket)
    })
    socket.on('error', () => resolve(socket)).on('data', () => resolve(socket))
    sockets.push(socket)
  })

/** On a connection of its own. */
const ask = (
  url: URL,
  path: string,
  body?: string,
  token?: string,
): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const request = call(
      new URL(path, url),
      {
        agent: false,
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          'content-type': 'application/json',
          connection: 'close',
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
      },
      (response) => {
        let text = ''
        response
          .on('data', (part) => (text += String(part)))
          .on('end', () => resolve({ status: response.statusCode!, text }))
      },
    )
    request.on('error', reject).end(body)
  })

/**
 * Posts bodies that are never whole: those of strangers come a character a second.
 * @param answer is counted; that of one which is refused for want of room unless said
 * @param length they say they have, in bytes
 * @returns how many were answered so
 */
function slowly(
  url: URL,
  path: string,
  count: number,
  token?: string,
  answer = ' 429 ',
  length = 1_000,
): () => number {
  const half = [
    ...[`POST ${path} HTTP/1.1`, `Host: ${url.host}`],
    ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
    ...['Content-Type: application/json', `Content-Length: ${length}`, '', '{'],
  ].join('\r\n')
  let refused = 0
  for (let i = 0; i < count; i++) {
    const socket = connect(Number(url.port), url.hostname, () => socket.write(half))
    const drip = setInterval(() => token === undefined && socket.writable && socket.write(' '), 1_000)
    socket
      .on('error', () => {})
      .on('close', () => clearInterval(drip))
      .on('data', (data) => (refused += String(data).includes(answer) ? 1 : 0))
    sockets.push(socket)
  }
  return () => refused
}

describe('the bounds of connections', () => {
  it.each([
    [64, { connections: 3, streams: 1 }],
    [256, { connections: 130, streams: 65 }],
    [1_024, { connections: 642, streams: 256 }],
    [1_048_576, { connections: 1_024, streams: 256 }],
    [null, { connections: 1_024, streams: 256 }],
  ])('of %s handles leave the daemon its own', (handles, bounds) => {
    expect(connectionBounds(handles)).toEqual(bounds)
  })
})

describe('a daemon with few file handles', () => {
  it.each([
    [64, 80],
    [256, 400],
  ])('of %d takes events and says that it is well while %d connections are idle', async (handles, count) => {
    const url = await start(handles)
    const made = await ask(
      url,
      '/api/sources',
      JSON.stringify({ name: 'app', connector: 'webhook', config: { labels: [] } }),
    )
    const { ingest_key } = JSON.parse(made.text) as { ingest_key: string }
    for (let i = 0; i < count; i++) await open(url)
    expect((await ask(url, '/health')).status).toBe(200)
    expect((await ask(url, `/ingest/${ingest_key}`, '{"n":1}')).status).toBe(202)
    const stats = await ask(url, '/api/stats', '{"by":"source"}')
    expect(JSON.parse(stats.text)).toMatchObject({ total: { now: 1 } })
    expect(daemon!.process.exitCode).toBe(null)
    expect(await daemon!.stop()).toBe(0)
  })

  it('bounds live tails in total, and keeps room for events and probes', async () => {
    const url = await start(256)
    const tail = `GET /api/tail HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`
    for (let i = 0; i < 100; i++) await open(url, tail)
    const refused = await ask(url, '/api/tail')
    expect(refused).toMatchObject({
      status: 429,
      text: expect.stringContaining('all 65 live streams are taken'),
    })
    expect((await ask(url, '/health')).status).toBe(200)
    expect((await ask(url, '/api/sources')).status).toBe(200)
  })

  it('leaves the others room, however much one credential asks at once', async () => {
    const root = 'a-token-of-the-operator'
    const url = await start(256, { SVC_AUTH_TOKEN: root })
    const keyOf = async (name: string): Promise<string> => {
      const { text } = await ask(url, '/api/keys', JSON.stringify({ name, scopes: ['read'] }), root)
      return (JSON.parse(text) as { secret: string }).secret
    }
    const [greedy, other] = [await keyOf('greedy'), await keyOf('other')]
    const refused = slowly(url, '/read', 110, greedy)
    await expect.poll(refused).toBe(110 - 32)
    expect(await ask(url, '/api/sources', undefined, greedy)).toMatchObject({
      status: 429,
      text: expect.stringMatching(
        /this credential has 32 requests at work, .* give each program a key of its own/,
      ),
    })
    expect((await ask(url, '/api/sources', undefined, other)).status).toBe(200)
    expect((await ask(url, '/api/sources', undefined, root)).status).toBe(200)
    for (const socket of sockets.splice(0)) socket.destroy()
    await expect.poll(async () => (await ask(url, '/api/sources', undefined, greedy)).status).toBe(200)
    // Producers that share a key may be more: half of all.
    const made = await ask(url, '/api/sources', JSON.stringify({ name: 'app', connector: 'webhook' }), root)
    const { ingest_key, key } = JSON.parse(made.text) as { ingest_key: string; key: { secret: string } }
    await expect.poll(slowly(url, `/ingest/${ingest_key}`, 110, key.secret)).toBe(110 - 65)
    expect((await ask(url, '/api/sources', undefined, other)).status).toBe(200)
  })

  it('bounds nobody on an open instance, where a key says a name alone', async () => {
    const url = await start(256)
    const project = { template: 'custom', name: 'Shop', objects: [] }
    const { id } = JSON.parse((await ask(url, '/api/projects', JSON.stringify(project))).text) as {
      id: string
    }
    const made = await ask(url, `/api/projects/${id}/keys`, JSON.stringify({ name: 'my-agent' }))
    const { secret } = JSON.parse(made.text) as { secret: string }
    const refused = slowly(url, '/read', 60, secret)
    for (let i = 0; i < 20; i++) expect((await ask(url, '/api/sources', undefined, secret)).status).toBe(200)
    expect(refused()).toBe(0)
    for (const socket of sockets.splice(0)) socket.destroy()
    // As many as there may be connections, and more: those whose bodies come too slowly make room for the others.
    const ended = slowly(
      url,
      '/v1/logs',
      200,
      undefined,
      'the body came too slowly while connections were short',
    )
    for (const path of ['/health', '/api/sources'])
      await expect.poll(async () => (await ask(url, path, undefined, secret)).status).toBe(200)
    expect(ended()).toBeGreaterThan(0)
    for (const socket of sockets.splice(0)) socket.destroy()
    // More than may be at work, and fewer than there may be connections: nothing else makes room for the one that asks.
    const endedAtWork = slowly(url, '/read', 110, undefined, 'while connections were short')
    await expect
      .poll(async () => ({ ...(await ask(url, '/api/sources')), hasEnded: endedAtWork() > 0 }))
      .toMatchObject({ status: 200, hasEnded: true })
  })

  it('does not keep memory for large bodies that do not come from those that do', async () => {
    const url = await start(256)
    const made = await ask(url, '/api/sources', JSON.stringify({ name: 'app', connector: 'webhook' }))
    const { ingest_key } = JSON.parse(made.text) as { ingest_key: string }
    // All that bodies may take together, said and not sent.
    const ended = slowly(url, '/v1/logs', 8, undefined, 'while memory was short', 16 * 1024 * 1024)
    await expect
      .poll(async () => {
        const { status } = await ask(url, `/ingest/${ingest_key}`, '{"n":1}')
        return { status, hasEnded: ended() > 0 }
      })
      .toEqual({ status: 202, hasEnded: true })
  })

  it.each(['/read', '/api/session', '/oauth/token'])(
    'leaves them room, however slowly bodies of strangers come to %s',
    async (path) => {
      const root = 'a-token-of-the-operator'
      const url = await start(256, { SVC_AUTH_TOKEN: root })
      slowly(url, path, 110)
      // They have all come where one more is refused, or asked in vain.
      for (let i = 0; i < 20; i++) expect((await ask(url, '/api/sources', undefined, root)).status).toBe(200)
    },
  )
})
