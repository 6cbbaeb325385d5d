/** Requests through the proxy that the environment names. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { outboundProxy, parseTarget, type Target } from '../../../../engine/net/address.ts'
import type { EgressOptions } from '../../../../engine/net/fetch.ts'
import { startProxy } from './proxy-server.ts'
import { type Answer, say } from './receiver.ts'
import { ask, client, receiver } from './setup.ts'

/** What nobody here can look up, as where a proxy alone knows names of the internet. */
const unknown = () => Promise.reject(Object.assign(new Error('unknown'), { code: 'ENOTFOUND' }))

/** A server, a proxy that leads to it alone, and a client whose environment names that. */
async function behind(
  answer?: Answer,
  {
    refuse,
    proxyOf = (url: string) => ({ HTTP_PROXY: url, HTTPS_PROXY: url }),
    ...options
  }: Partial<EgressOptions> & { refuse?: number; proxyOf?: (url: string) => Record<string, string> } = {},
) {
  const target = await receiver(answer)
  const proxy = await startProxy(target.port, refuse)
  onTestFinished(() => proxy.close())
  const egress = client({ resolve: unknown, proxy: outboundProxy(proxyOf(proxy.url)), ...options })
  return { target, proxy, egress }
}

describe('a request through a proxy', () => {
  it('is told its name, which nobody here need know, and keeps its connection', async () => {
    const { target, proxy, egress } = await behind(say(200, {}, 'fine'), {
      proxyOf: (url) => ({ HTTP_PROXY: url.replace('//', '//maria:s%3Ac@') }),
    })
    for (const path of ['/a?b=1', '/c'])
      expect(await egress.send(ask(`http://api.example.com${path}`))).toMatchObject({ ok: true, status: 200 })
    expect(proxy.asked).toEqual(['GET http://api.example.com/a?b=1', 'GET http://api.example.com/c'])
    expect(proxy.logins).toEqual(Array(2).fill(`Basic ${Buffer.from('maria:s:c').toString('base64')}`))
    expect(target.received[0]).toMatchObject({ path: '/a?b=1', headers: { host: 'api.example.com' } })
  })

  it('goes through a tunnel by https, in which TLS is spoken with the other side', async () => {
    const { proxy, egress } = await behind()
    // The server speaks no TLS, which only who talks to itself can tell.
    expect(await egress.send(ask('https://models.example.com/v1'))).toMatchObject({ fault: 'tls' })
    expect(proxy.asked).toEqual(['CONNECT models.example.com:443'])
  })

  it('has the login of its own variable, also where both name one proxy', async () => {
    const { proxy, egress } = await behind(say(204), {
      proxyOf: (url) => ({ HTTP_PROXY: url, HTTPS_PROXY: url.replace('//', '//maria:geheim@') }),
    })
    for (const url of ['http://a.example.com/', 'https://a.example.com/']) await egress.send(ask(url))
    expect(proxy.logins).toEqual([null, `Basic ${Buffer.from('maria:geheim').toString('base64')}`])
  })

  it('is none to this machine, and to what NO_PROXY names', async () => {
    const { target, proxy, egress } = await behind()
    expect(await egress.send(ask(target.url))).toMatchObject({ status: 204 })
    expect(await egress.send(ask(target.url.replace('127.0.0.1', 'localhost')))).toMatchObject({
      status: 204,
    })
    expect(proxy.asked).toEqual([])
  })

  it.each([
    [407, 'refused', 'the proxy asks for a user name and password that it does not get (407)'],
    [403, 'refused', 'the proxy refuses to connect to this host (403)'],
    [502, 'unreachable', 'the proxy cannot connect to this host (502)'],
  ])('that it refuses with %i is told as its doing', async (refuse, fault, message) => {
    const { egress } = await behind(say(204), { refuse })
    expect(await egress.send(ask('https://api.example.com/'))).toMatchObject({ fault, message })
    const plain = await egress.send(ask('http://api.example.com/'))
    // By http what a proxy answers in place of the host is an answer like others.
    expect(plain).toMatchObject(refuse === 407 ? { fault, message } : { status: refuse })
  })

  it('says so where the proxy cannot be reached', async () => {
    const { proxy, egress } = await behind()
    await proxy.close()
    for (const url of ['https://api.example.com/', 'http://api.example.com/'])
      expect(await egress.send(ask(url))).toMatchObject({
        fault: 'refused',
        message: 'the proxy cannot be reached (connection refused)',
      })
  })
})

describe('what a proxy may be asked for', () => {
  const inside = (host: string) =>
    host === 'intranet.example.com' ? Promise.resolve(['10.1.2.3']) : unknown()

  it('is no address of the own network that a caller names, by name or number', async () => {
    const { proxy, egress } = await behind(say(204), { resolve: inside })
    const sent = (url: string) => egress.send(ask(url, { audience: 'caller' }))
    for (const host of ['intranet.example.com', '192.168.1.1', '169.254.169.254'])
      expect(await sent(`http://${host}/`)).toMatchObject({ fault: 'not_allowed' })
    expect(await egress.send(ask('http://169.254.169.254/'))).toMatchObject({ fault: 'not_allowed' })
    expect(proxy.asked).toEqual([])
    expect(await sent('http://hooks.example.com/')).toMatchObject({ status: 204 })
  })

  it('is none that something on the internet leads to, but another page of a host of the own network', async () => {
    const answer: Answer = ({ path }, response) => {
      if (path === '/end') response.writeHead(204).end()
      else response.writeHead(302, { location: path === '/out' ? 'http://192.168.1.1/' : '/end' }).end()
    }
    const { egress } = await behind(answer, { resolve: inside })
    const sent = (url: string) => egress.send(ask(url, { redirects: 2 }))
    expect(await sent('http://api.example.com/out')).toMatchObject({ fault: 'not_allowed' })
    expect(await sent('http://api.example.com/in')).toMatchObject({ status: 204 })
    expect(await sent('http://intranet.example.com/in')).toMatchObject({ status: 204 })
  })
})

describe('the proxy of an environment', () => {
  const through = (url: string, env: Record<string, string>) =>
    outboundProxy(env)?.of(parseTarget(url) as Target)?.origin ?? null

  it('is that of the protocol, in small letters first', () => {
    expect(outboundProxy({ HTTPS_PROXY: ' ' })).toBeNull()
    const env = { HTTP_PROXY: 'http://a:1', http_proxy: 'http://b:2', HTTPS_PROXY: 'c:3' }
    expect(through('http://example.com/', env)).toBe('http://b:2')
    expect(through('https://example.com/', env)).toBe('http://c:3')
    expect(through('https://example.com/', { HTTP_PROXY: 'http://a:1' })).toBeNull()
    expect(through('http://example.com/', { HTTP_PROXY: 'http://a:1', http_proxy: '' })).toBe('http://a:1')
  })

  it.each([
    ['example.com', 'https://api.example.com/', true],
    ['.example.com', 'https://example.com/', true],
    ['*.example.com', 'https://a.example.com./', true],
    ['example.com', 'https://badexample.com/', false],
    ['example.com:8443', 'https://example.com/', false],
    ['example.com:8443', 'https://example.com:8443/', true],
    ['a.test, 10.0.0.0/8', 'https://10.9.8.7/', true],
    ['10.0.0.0/8', 'https://11.9.8.7/', false],
    ['10.0.0.0/8', 'https://[fd00::1]/', false],
    ['fd00::/8', 'https://[fd00::1]/', true],
    ['::2', 'https://[::2]/', true],
    ['[::2]:8080', 'https://[::2]/', false],
    ['10.1.2.3', 'https://10.1.2.3/', true],
    ['*', 'https://example.com/', true],
    ['', 'https://127.9.9.9/', true],
    ['', 'https://[::1]/', true],
    ['', 'https://svc.localhost/', true],
  ])('with NO_PROXY %o: is %s asked directly? %s', (NO_PROXY, url, isDirect) => {
    expect(through(url, { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY }) === null).toBe(isDirect)
  })

  it.each(['socks5://proxy:1080', 'http://', 'ftp://proxy'])(
    'is refused as %s, without its value',
    (value) => {
      expect(() => outboundProxy({ HTTPS_PROXY: value })).toThrow(
        'HTTPS_PROXY must be the address of an http or https proxy, such as http://proxy.example.com:3128',
      )
    },
  )
})
