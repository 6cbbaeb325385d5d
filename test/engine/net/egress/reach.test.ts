import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { ask, client, receiver } from './setup.ts'

const EXCHANGE = '../../../../engine/net/exchange.ts'
const NOT_ALLOWED = { ok: false, fault: 'not_allowed', message: 'target address is not allowed' }

describe('a caller', () => {
  it.each([
    'http://127.0.0.1:PORT/',
    'http://127.1:PORT/',
    'http://2130706433:PORT/',
    'http://0x7f.0.0.1:PORT/',
    'http://0177.0.0.1:PORT/',
    'http://[::ffff:7f00:1]:PORT/',
    'http://[::ffff:127.0.0.1]:PORT/',
    'http://[64:ff9b::7f00:1]:PORT/',
    'http://[::1]:PORT/',
    'http://0.0.0.0:PORT/',
    'http://localhost:PORT/',
    'http://LOCALHOST.:PORT/',
    'http://some.localhost:PORT/',
    'http://inside.example:PORT/',
    'http://169.254.169.254/',
    'http://10.0.0.1/',
  ])('cannot reach %s', async (url) => {
    const canary = await receiver()
    const egress = client({ resolve: async () => ['127.0.0.1'] })
    const target = url.replace('PORT', String(canary.port))

    expect(await egress.checkTarget(target, 'caller')).toBe('target address is not allowed')
    expect(await egress.send(ask(target, { audience: 'caller' }))).toMatchObject(NOT_ALLOWED)
    expect(canary.connections).toBe(0)
  })

  it('reaches private addresses where the operator allows that, and metadata not even then', async () => {
    const local = await receiver()
    const egress = client({ allowPrivate: true })

    expect(await egress.checkTarget(local.url, 'caller')).toBeNull()
    expect(await egress.send(ask(local.url, { audience: 'caller' }))).toMatchObject({ status: 204 })
    expect(await egress.checkTarget('http://169.254.169.254/', 'caller')).not.toBeNull()
  })

  it('cannot borrow a connection that an operator left open', async () => {
    const canary = await receiver()
    const egress = client()
    await egress.send(ask(canary.url))

    expect(await egress.send(ask(canary.url, { audience: 'caller' }))).toMatchObject(NOT_ALLOWED)
    expect(canary.received).toHaveLength(1)
  })
})

describe('an operator', () => {
  it.each([
    'http://169.254.169.254/latest/meta-data/',
    'http://[fd00:ec2::254]/',
    'http://[::ffff:169.254.169.254]/',
    'http://100.100.100.200/',
    'http://0.0.0.0/',
    'http://metadata.example/',
  ])('cannot reach %s', async (url) => {
    const egress = client({ resolve: async () => ['169.254.169.254'] })
    expect(await egress.checkTarget(url, 'operator')).toBe('target address is not allowed')
    expect(await egress.send(ask(url))).toMatchObject(NOT_ALLOWED)
  })

  it('reaches loopback by number and by name', async () => {
    const local = await receiver()
    const egress = client()
    expect(await egress.send(ask(local.url))).toMatchObject({ ok: true, status: 204 })
    expect(await egress.send(ask(`http://localhost:${local.port}/`))).toMatchObject({ status: 204 })
  })
})

describe('an address', () => {
  it.each([
    ['file:///etc/passwd', /must begin with http/],
    ['slack://channel/1', /must begin with http/],
    ['http://user:secret@example.com/', /user name or a password/],
    ['http://example.com/#part', /fragment/],
    ['/relative', /absolute/],
    ['', /absolute/],
  ])('%s is refused with a sentence', async (url, sentence) => {
    const egress = client()
    expect(await egress.checkTarget(url, 'operator')).toMatch(sentence)
    expect(await egress.send(ask(url))).toMatchObject({
      ok: false,
      fault: 'invalid',
      message: expect.stringMatching(sentence),
    })
  })

  it('whose name does not resolve now can be saved, and is a fault when it is sent to', async () => {
    const egress = client({
      resolve: () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })),
    })
    expect(await egress.checkTarget('http://later.example/', 'caller')).toBeNull()
    expect(await egress.send(ask('http://later.example/'))).toMatchObject({ fault: 'unresolved' })
  })

  it('whose name server hangs can be saved after a while', async () => {
    const egress = client({ resolve: () => new Promise(() => {}) })
    const checked = egress.checkTarget('http://later.example/', 'caller')
    egress.time.advance(5_000)
    expect(await checked).toBeNull()
  })
})

describe('a name', () => {
  it('that was public when it was saved and is private when it is sent to gains nothing', async () => {
    const canary = await receiver()
    const answers = [['93.184.216.34'], ['127.0.0.1']]
    const egress = client({ resolve: async () => answers.shift()! })
    const url = `http://rebind.example:${canary.port}/`

    expect(await egress.checkTarget(url, 'caller')).toBeNull()
    expect(await egress.send(ask(url, { audience: 'caller' }))).toMatchObject(NOT_ALLOWED)
    expect(canary.connections).toBe(0)
  })

  it('is resolved once: the connection goes to what was checked, whatever it says after', async () => {
    const checked = await receiver()
    let asked = 0
    const egress = client({ resolve: async () => (asked++ === 0 ? ['127.0.0.1'] : ['169.254.169.254']) })

    const answer = await egress.send(ask(`http://rebind.example:${checked.port}/path?q=1`))

    expect(answer).toMatchObject({ ok: true, status: 204 })
    expect(asked).toBe(1)
    expect(checked.received[0]).toMatchObject({
      path: '/path?q=1',
      headers: { host: `rebind.example:${checked.port}` },
    })
  })

  it('is judged anew over a kept connection', async () => {
    const canary = await receiver()
    const answers = [['127.0.0.1'], ['169.254.169.254']]
    const egress = client({ resolve: async () => answers.shift()! })
    const url = `http://rebind.example:${canary.port}/`
    await egress.send(ask(url))

    expect(await egress.send(ask(url))).toMatchObject(NOT_ALLOWED)
    expect(canary.received).toHaveLength(1)
  })

  it('with one private address among public ones is not reached', async () => {
    const canary = await receiver()
    const egress = client({ resolve: async () => ['93.184.216.34', '127.0.0.1'] })
    const url = `http://mixed.example:${canary.port}/`
    expect(await egress.send(ask(url, { audience: 'caller' }))).toMatchObject(NOT_ALLOWED)
    expect(canary.connections).toBe(0)
  })

  it('without an address is not reached', async () => {
    const egress = client({ resolve: async () => [] })
    expect(await egress.send(ask('http://empty.example/'))).toMatchObject(NOT_ALLOWED)
  })
})

describe('a redirect', () => {
  const to = (location: string, status = 302) =>
    receiver((_r, response) => {
      response.writeHead(status, { location }).end()
    })

  it('is answered as it is unless asked to be followed', async () => {
    const target = await receiver()
    const from = await to(target.url)
    expect(await client().send(ask(from.url))).toMatchObject({ ok: true, status: 302 })
    expect(target.connections).toBe(0)
  })

  it('to an address that may not be reached is not followed', async () => {
    const from = await to('http://169.254.169.254/latest/')
    expect(await client().send(ask(from.url, { redirects: 3 }))).toMatchObject(NOT_ALLOWED)
  })

  it('to a name that leads to such an address is not followed', async () => {
    const from = await to('http://inside.example/')
    const egress = client({ resolve: async () => ['169.254.169.254'] })
    expect(await egress.send(ask(from.url, { redirects: 3 }))).toMatchObject(NOT_ALLOWED)
  })

  it('from the internet into the private network is not followed, even for an operator', async () => {
    const canary = await receiver()
    // Nothing of a test leaves the machine: what is outside is answered for.
    const outside = { status: 302, headers: { location: canary.url }, body: Buffer.alloc(0) }
    vi.doMock(EXCHANGE, () => ({
      createPool: () => ({ run: async () => ({ ok: true, ...outside }), close() {} }),
    }))
    onTestFinished(() => vi.doUnmock(EXCHANGE))
    const egress = client({ resolve: async () => ['8.8.8.8'] })
    expect(await egress.send(ask('http://feed.example/', { redirects: 3 }))).toMatchObject(NOT_ALLOWED)
    expect(canary.connections).toBe(0)
  })

  it.each(['file:///etc/passwd', 'http://u:p@127.0.0.1/'])('to %s is not followed', async (location) => {
    const from = await to(location)
    expect(await client().send(ask(from.url, { redirects: 3 }))).toMatchObject({ fault: 'invalid' })
  })

  it('to another origin loses credentials', async () => {
    const target = await receiver()
    const from = await to(target.url, 307)
    const headers = { authorization: 'Bearer x', cookie: 'a=b', 'content-type': 'text/plain' }

    const answer = await client().send(
      ask(from.url, { method: 'POST', body: 'hello', headers, redirects: 1 }),
    )

    expect(answer).toMatchObject({ ok: true, status: 204 })
    const [got] = target.received
    expect(got).toMatchObject({ method: 'POST', body: 'hello', headers: { 'content-type': 'text/plain' } })
    expect(got!.headers).not.toHaveProperty('authorization')
    expect(got!.headers).not.toHaveProperty('cookie')
  })

  it('after a POST that says "see other" is a GET without a body', async () => {
    const target = await receiver()
    const from = await to(target.url, 303)
    await client().send(ask(from.url, { method: 'POST', body: 'hello', redirects: 1 }))
    expect(target.received[0]).toMatchObject({ method: 'GET', body: '' })
  })

  it('in a circle ends', async () => {
    const circle = await to('/again')
    expect(await client().send(ask(circle.url, { redirects: 50 }))).toMatchObject({
      fault: 'redirect',
      status: 302,
    })
    expect(circle.received).toHaveLength(4)
  })
})
