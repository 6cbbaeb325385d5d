import { describe, expect, it } from 'vitest'
import { say } from './receiver.ts'
import { ask, client, raw, receiver, turn } from './setup.ts'

describe('a request', () => {
  it('goes as it was given, without headers that belong to the connection', async () => {
    const target = await receiver(say(200, { 'x-kind': 'test' }, 'fine'))
    const answer = await client().send(
      ask(`${target.url}in?q=1`, {
        method: 'post',
        body: 'größe',
        headers: {
          'Content-Type': 'text/plain',
          'X-Own': 'yes',
          Host: 'other.example',
          'Content-Length': '1',
          'Transfer-Encoding': 'chunked',
          Connection: 'close',
          'Proxy-Authorization': 'Basic x',
        },
      }),
    )
    expect(answer).toMatchObject({ ok: true, status: 200, headers: { 'x-kind': 'test' } })
    expect(answer.ok && answer.body.toString()).toBe('fine')
    const [got] = target.received
    expect(got).toMatchObject({ method: 'POST', path: '/in?q=1', body: 'größe' })
    expect(got!.headers).toMatchObject({
      host: `127.0.0.1:${target.port}`,
      'content-type': 'text/plain',
      'x-own': 'yes',
      'content-length': '7',
    })
    expect(got!.headers).not.toHaveProperty('proxy-authorization')
    expect(got!.headers).not.toHaveProperty('transfer-encoding')
  })

  it('with a header that HTTP does not allow is a fault, and nothing is sent', async () => {
    const target = await receiver()
    const egress = client()
    const smuggled = ask(target.url, { headers: { 'x-own': 'a\r\nx-other: b' } })
    expect(await egress.send(smuggled)).toMatchObject({ fault: 'invalid' })
    expect(await egress.send(ask(target.url, { method: 'NO SUCH' }))).toMatchObject({ fault: 'invalid' })
    expect(target.received).toHaveLength(0)
  })

  it('ignores proxies of the environment', async () => {
    const proxy = await receiver()
    const target = await receiver()
    const before = process.env.http_proxy
    process.env.http_proxy = proxy.url
    try {
      expect(await client().send(ask(target.url))).toMatchObject({ status: 204 })
    } finally {
      if (before === undefined) delete process.env.http_proxy
      else process.env.http_proxy = before
    }
    expect(proxy.connections).toBe(0)
  })
})

describe('an answer', () => {
  it('may be as long as its limit and no longer', async () => {
    const target = await receiver(say(200, {}, 'x'.repeat(100)))
    const egress = client()
    expect(await egress.send(ask(target.url, { maxResponseBytes: 100 }))).toMatchObject({ ok: true })
    expect(await egress.send(ask(target.url, { maxResponseBytes: 99 }))).toMatchObject({
      ok: false,
      fault: 'too_large',
      status: 200,
    })
  })

  it('without an end is cut at its limit', async () => {
    const target = await receiver((_received, response) => {
      response.writeHead(200)
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(1_000)));
        if (!response.destroyed) response.once('drain', more)
      }
      more()
    })
    expect(await client().send(ask(target.url))).toMatchObject({ fault: 'too_large', status: 200 })
  })

  it('whose body is not wanted is there with its head', async () => {
    const target = await receiver((_received, response) => {
      response.writeHead(202).write('the rest never comes')
    })
    const answer = await client().send(ask(target.url, { maxResponseBytes: 0 }))
    expect(answer).toMatchObject({ ok: true, status: 202 })
    expect(answer.ok && answer.body).toHaveLength(0)
  })

  it.each([
    ['is no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n\r\n', 'bad_answer'],
    ['has a head without end', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(20_000)}`, 'bad_answer'],
    ['goes on with what was not begun', 'HTTP/1.1 100 Continue\r\n\r\n', 'bad_answer'],
    ['has two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx', 'bad_answer'],
  ])('that %s is a fault', async (_what, text, fault) => {
    const server = await raw((socket) => socket.write(text))
    expect(await client().send(ask(server.url))).toMatchObject({ ok: false, fault })
  })

  it('that changes the protocol is a fault', async () => {
    const server = await raw((socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n'),
    )
    expect(await client().send(ask(server.url))).toMatchObject({ fault: 'bad_answer', status: 101 })
  })

  it('that ends in the middle is a fault with its status', async () => {
    const server = await raw((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf'))
    expect(await client().send(ask(server.url))).toMatchObject({ fault: 'closed', status: 200 })
  })

  it('that does not come because the connection closes is a fault', async () => {
    const server = await raw((socket) => socket.destroy())
    expect(await client().send(ask(server.url))).toMatchObject({ fault: 'closed', status: null })
  })

  it('cannot come where nobody listens', async () => {
    const gone = await receiver()
    await gone.close()
    expect(await client().send(ask(gone.url))).toMatchObject({ fault: 'refused', status: null })
  })

  it('cannot come over TLS from a server that has none', async () => {
    const plain = await receiver()
    const answer = await client().send(ask(plain.url.replace('http:', 'https:')))
    expect(answer).toMatchObject({ fault: 'tls' })
  })
})

describe('the deadline', () => {
  it('ends a request that is never answered', async () => {
    const silent = await receiver(() => {})
    const egress = client()
    const sent = egress.send(ask(silent.url, { timeoutMs: 10_000 }))
    await silent.arrived(1)
    egress.time.advance(10_000)
    expect(await sent).toMatchObject({ fault: 'timeout', message: 'no answer within 10 s' })
  })

  it('counts from the beginning, however steadily the answer drips', async () => {
    let drip = () => {}
    const slow = await receiver((_received, response) => {
      response.writeHead(200)
      drip = () => void response.write('.')
      drip()
    })
    const egress = client()
    const sent = egress.send(ask(slow.url, { timeoutMs: 3_000 }))
    await slow.arrived(1)
    for (let second = 0; second < 3; second++) {
      drip()
      egress.time.advance(1_000)
    }
    expect(await sent).toMatchObject({ fault: 'timeout' })
  })

  it('holds while a connection is being made', async () => {
    const mute = await raw(() => {})
    const egress = client()
    const sent = egress.send(ask(mute.url.replace('http:', 'https:'), { timeoutMs: 1_000 }))
    await mute.connected
    egress.time.advance(1_000)
    expect(await sent).toMatchObject({ fault: 'timeout', status: null })
  })

  it('holds for a name server too', async () => {
    const egress = client({ resolve: () => new Promise(() => {}) })
    const sent = egress.send(ask('http://slow.example/', { timeoutMs: 1_000 }))
    egress.time.advance(1_000)
    expect(await sent).toMatchObject({ fault: 'timeout' })
  })

  it('leaves no timer behind once there is an answer', async () => {
    const target = await receiver()
    const egress = client()
    await egress.send(ask(target.url))
    expect(egress.time.waits()).toEqual([])
  })

  it("yields to the caller's signal", async () => {
    const silent = await receiver(() => {})
    const egress = client()
    const caller = new AbortController()
    const sent = egress.send(ask(silent.url, { signal: caller.signal }))
    await silent.arrived(1)
    caller.abort()
    expect(await sent).toMatchObject({ fault: 'aborted' })
    expect(await egress.send(ask(silent.url, { signal: caller.signal }))).toMatchObject({ fault: 'aborted' })
    expect(silent.received).toHaveLength(1)
  })
})

describe('a connection', () => {
  it('is used again, whether the body was wanted or not', async () => {
    const target = await receiver(say(200, {}, 'short'))
    const egress = client()
    for (const maxResponseBytes of [100, 0, 100, 0]) {
      expect(await egress.send(ask(target.url, { maxResponseBytes }))).toMatchObject({ status: 200 })
      for (let i = 0; i < 5; i++) await turn()
    }
    expect(target.received).toHaveLength(4)
    expect(target.connections).toBe(1)
  })

  it('is never to other addresses than those that were checked, and only the last 32 are kept', async () => {
    const target = await receiver()
    const answers = [...Array(33).keys()].map((n) => [`127.0.0.${n + 1}`])
    const everywhere = await receiver(say(204), '0.0.0.0')
    const egress = client({ resolve: async () => answers.shift() ?? ['127.0.0.1'] })
    const url = `http://many.example:${everywhere.port}/`
    for (let n = 0; n < 33; n++) expect(await egress.send(ask(url))).toMatchObject({ status: 204 })
    expect([everywhere.connections, target.connections]).toEqual([33, 0])
    expect(await egress.send(ask(url))).toMatchObject({ status: 204 })
    expect(everywhere.connections).toBe(34)
    for (let i = 0; i < 5; i++) await turn()
    expect(await egress.send(ask(url))).toMatchObject({ status: 204 })
    expect(everywhere.connections).toBe(34)
  })

  it('with a long unwanted rest is closed', async () => {
    let closed = () => {}
    const wasClosed = new Promise<void>((resolve) => {
      closed = resolve
    })
    const target = await receiver((_received, response) => {
      response.on('close', closed)
      response.writeHead(200)
      response.write('x'.repeat(100_000))
    })
    await client().send(ask(target.url, { maxResponseBytes: 0 }))
    await wasClosed
  })

  it('with an unwanted rest that does not come is closed after a second', async () => {
    let closed = () => {}
    const wasClosed = new Promise<void>((resolve) => {
      closed = resolve
    })
    const target = await receiver((_received, response) => {
      response.on('close', closed)
      response.writeHead(200).write('x')
    })
    const egress = client()
    await egress.send(ask(target.url, { maxResponseBytes: 0 }))
    egress.time.advance(1_000)
    await wasClosed
  })

  /** Answers the first request of each connection, and closes it when a second comes. */
  const closing = () =>
    raw((socket, times) => {
      if (times === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
      else socket.destroy()
    })

  it('that the other side closed meanwhile is replaced for what may be repeated', async () => {
    const server = await closing()
    const egress = client()
    const request = ask(server.url, { method: 'POST', body: 'x', repeatable: true })
    await egress.send(request)
    await turn()
    expect(await egress.send(request)).toMatchObject({ ok: true, status: 200 })
    expect(server.connections).toBe(2)
  })

  it('that the other side closed meanwhile is a fault for what may not', async () => {
    const server = await closing()
    const egress = client()
    const request = ask(server.url, { method: 'POST', body: 'x' })
    await egress.send(request)
    await turn()
    const second = await egress.send(request)
    expect(second).toMatchObject({ ok: false, fault: 'closed' })
    expect(second).not.toHaveProperty('stale')
    expect(server.connections).toBe(1)
  })
})
