import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import {
  connectionsPerTarget,
  EgressError,
  type FetchBounds,
  faultOf,
  fetchOver,
} from '../../../../engine/net/fetch.ts'
import { say } from './receiver.ts'
import { client, receiver } from './setup.ts'

const over = (bounds: Partial<FetchBounds> = {}) => {
  const egress = client()
  const http = fetchOver(egress, {
    audience: 'operator',
    timeoutMs: 10_000,
    maxResponseBytes: 1_000,
    ...bounds,
  })
  return { http, time: egress.time }
}

describe('the way out as a fetch', () => {
  it('sends what it is given, and answers status, headers and body', async () => {
    const target = await receiver(say(201, { 'x-kind': 'test', 'set-cookie': 'a=1' }, 'fine'))
    const answer = await over().http(`${target.url}in`, {
      method: 'POST',
      headers: { authorization: 'Bearer x' },
      body: 'größe',
    })
    expect([answer.status, answer.headers.get('x-kind'), await answer.text()]).toEqual([201, 'test', 'fine'])
    expect(target.received).toMatchObject([
      { method: 'POST', path: '/in', body: 'größe', headers: { authorization: 'Bearer x' } },
    ])
  })

  it('answers without a body where there is none', async () => {
    const target = await receiver(say(204))
    const answer = await over().http(target.url)
    expect([answer.status, await answer.text()]).toEqual([204, ''])
  })

  it('gives the body as it comes', async () => {
    let more = () => {}
    const target = await receiver((_received, response) => {
      response.writeHead(200).write('one ')
      more = () => response.end('two')
    })
    const answer = await over().http(target.url)
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
    expect(await reader.read()).toEqual({ done: false, value: 'one ' })
    more()
    expect(await reader.read()).toEqual({ done: false, value: 'two' })
    expect(await reader.read()).toEqual({ done: true, value: undefined })
  })

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ])('unpacks what is sent as %s though it was not asked for, within the bounds', async (encoding, pack) => {
    const answers: Record<string, Buffer> = {
      '/': pack('packed'),
      '/large': pack('x'.repeat(2_000)),
      '/broken': Buffer.from('not packed at all'),
    }
    const target = await receiver((received, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end(answers[received.path])
    })
    const { http } = over()
    expect(await (await http(target.url)).text()).toBe('packed')
    expect(target.received[0]!.headers['accept-encoding']).toBe('identity')
    await expect((await http(`${target.url}large`)).text()).rejects.toThrow('answer is over 1000 bytes')
    await expect((await http(`${target.url}broken`)).text()).rejects.toThrow(
      new EgressError(faultOf('bad_answer', 'answer cannot be unpacked as its Content-Encoding says')),
    )
  })

  it('ends a body that is too large, or that takes too long, or whose reader stops', async () => {
    const large = await receiver(say(200, {}, 'x'.repeat(2_000)))
    await expect((await over().http(large.url)).text()).rejects.toThrow('answer is over 1000 bytes')
    const closed: Promise<void>[] = []
    const slow = await receiver((_received, response) => {
      closed.push(new Promise((done) => response.on('close', done)))
      response.writeHead(200).write('begun')
    })
    const { http, time } = over()
    const late = await http(slow.url)
    const text = late.text()
    time.advance(10_000)
    await expect(text).rejects.toThrow()
    await (await http(slow.url)).body!.cancel()
    const stop = new AbortController()
    const stopped = (await http(slow.url, { signal: stop.signal })).text()
    stop.abort()
    await expect(stopped).rejects.toThrow()
    await Promise.all(closed)
    expect(closed).toHaveLength(3)
  })

  it('refuses what may not be reached, and says why', async () => {
    const refused = over().http('http://169.254.169.254/latest')
    await expect(refused).rejects.toThrow(EgressError)
    await expect(refused).rejects.toThrow('target address is not allowed')
    await expect(over().http('file:///etc/passwd')).rejects.toThrow(EgressError)
    await expect(over({ audience: 'caller' }).http('http://127.0.0.1:1/')).rejects.toThrow('not allowed')
  })

  it('follows redirects unless it is told not to', async () => {
    const target = await receiver((received, response) =>
      received.path === '/'
        ? void response.writeHead(307, { location: '/there' }).end('x')
        : void response.writeHead(200).end('there'),
    )
    const { http } = over()
    expect(await (await http(target.url)).text()).toBe('there')
    const manual = await http(target.url, { redirect: 'manual' })
    expect([manual.status, manual.headers.get('location')]).toEqual([307, '/there'])
    await manual.body!.cancel()
  })
})

it.each([
  [64, 10],
  [256, 42],
  [1_024, 170],
  [1_048_576, 320],
  [null, 320],
])('of %s files that may be open, those to one target are %i at most', (handles, most) => {
  expect(connectionsPerTarget(handles)).toBe(most)
})
