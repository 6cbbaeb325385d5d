/** The loki connector against a server that speaks Loki's wire format (loki-server.ts). */
import { describe, expect, it } from 'vitest'
import { validateConfig } from '../../../../../engine/sources/connectors/index.ts'
import { loki } from '../../../../../engine/sources/connectors/loki.ts'
import { NOW, prepared, reach } from '../reach.ts'
import { type Line, lokiServer } from './loki-server.ts'

const SECOND = 1_000_000_000n
const QUERY = '{app="shop"}'
const now = BigInt(NOW) * 1_000_000n

async function world() {
  const server = await lokiServer()
  const out = reach()
  const config = (more: Record<string, unknown> = {}) =>
    validateConfig('loki', { url: server.url, query: QUERY, ...more })
  let cursor: string | null = null
  /** Polls on from where it was. */
  const poll = async (more: Record<string, unknown> = {}) => {
    const polled = await loki.poll(config(more), cursor, out)
    cursor = polled.cursor
    return { ...polled, lines: polled.items.map((item) => JSON.parse(item).raw as string) }
  }
  /** Polls until nothing more waits. */
  const drain = async () => {
    const lines: string[] = []
    for (let polls = 1; polls < 20; polls++) {
      const polled = await poll()
      lines.push(...polled.lines)
      if (!polled.more) return { lines, polls, notice: polled.notice }
    }
    throw new Error('it never ends')
  }
  return { server, out, config, poll, drain }
}

const at = (time: bigint, count: number, prefix: string): Line[] =>
  Array.from({ length: count }, (_, i) => ({ at: time, line: `${prefix}${i}` }))

describe('reading lines of Loki', () => {
  it('begins half a minute ago, ends where lines have arrived, and goes on where it ended', async () => {
    const { server, out, poll } = await world()
    server.lines = [
      { at: now - 31n * SECOND, line: 'before' },
      { at: now - 6n * SECOND, line: 'second', stream: { app: 'b' } },
      { at: now - 20n * SECOND, line: 'first' },
      { at: now - 4n * SECOND, line: 'too new' },
    ]
    const first = await poll()
    expect(first.lines).toEqual(['first', 'second'])
    expect(first.more).toBeUndefined()
    expect(JSON.parse(first.items[1]!)).toEqual({
      raw: 'second',
      stream: { app: 'b' },
      time: '2026-11-20T11:59:54.000000000Z',
    })
    expect((await poll()).lines).toEqual([])
    out.now += 2_000
    expect((await poll()).lines).toEqual(['too new'])
    expect(server.asked()).toEqual([
      {
        query: QUERY,
        start: `${now - 30n * SECOND}`,
        end: `${now - 5n * SECOND}`,
        direction: 'forward',
        limit: '1000',
      },
      expect.objectContaining({ start: `${now - 5n * SECOND}`, end: `${now - 3n * SECOND}` }),
    ])
  })

  it('reads what arrives late, within the delay it is told', async () => {
    const { server, out, poll } = await world()
    server.lines = [{ at: now - 10n * SECOND, line: 'a' }]
    expect((await poll({ delay: 20 })).lines).toEqual([])
    server.lines.push({ at: now - 12n * SECOND, line: 'late' })
    out.now += 15_000
    expect((await poll({ delay: 20 })).lines).toEqual(['late', 'a'])
  })

  it('loses none of the lines of one nanosecond that a page cuts, and reads none twice', async () => {
    const { server, drain } = await world()
    const times = [
      at(now - 20n * SECOND, 990, 'a'),
      at(now - 20n * SECOND + 1n, 40, 'b'),
      at(now - 9n * SECOND, 5, 'c'),
    ]
    server.lines = times.flat()
    const { lines, polls } = await drain()
    expect(lines).toHaveLength(1_035)
    expect(new Set(lines)).toEqual(new Set(server.lines.map(({ line }) => line)))
    expect(polls).toBe(2)
  })

  it('tells apart lines that are the same in two streams', async () => {
    const { server, drain } = await world()
    const time = now - 10n * SECOND
    server.lines = [
      ...at(time - 1n, 999, 'x'),
      { at: time, line: 'same', stream: { pod: 'a' } },
      { at: time, line: 'same', stream: { pod: 'b' } },
    ]
    expect((await drain()).lines.filter((line) => line === 'same')).toHaveLength(2)
  })

  it('reads more lines of one nanosecond than a page holds, and says when there are too many', async () => {
    const { server, drain } = await world()
    server.lines = [...at(now - 20n * SECOND, 1_500, 'a'), { at: now - 10n * SECOND, line: 'last' }]
    expect((await drain()).lines).toHaveLength(1_501)

    const other = await world()
    other.server.lines = [...at(now - 30n * SECOND, 5_200, 'a'), { at: now - 10n * SECOND, line: 'last' }]
    const first = await other.poll()
    expect(first).toMatchObject({
      more: true,
      notice: expect.stringContaining('More than 5000 lines have one and the same time'),
    })
    expect(first.lines).toHaveLength(5_000)
    expect((await other.poll()).lines).toEqual(['last'])
  })

  it('goes a week back at most, and says so', async () => {
    const { server, out, poll } = await world()
    await poll()
    server.lines = [{ at: now, line: 'old' }]
    out.now += 8 * 86_400_000
    expect(await poll()).toMatchObject({ lines: [], notice: 'Lines older than seven days were left out.' })
  })

  it('keeps lines that match and leaves out others, without reading them again', async () => {
    const { server, poll } = await world()
    server.lines = ['GET /a 200', 'ERROR one', 'error healthz'].map((line) => ({
      at: now - 8n * SECOND,
      line,
    }))
    expect((await poll({ match: 'Error', drop: '/?HEALTHZ' })).lines).toEqual(['ERROR one'])
    expect((await poll()).lines).toEqual([])
  })
})

describe('lines of Loki as events', () => {
  const LABELS = [
    { name: 'app', field: 'app', primary: true },
    { name: 'level', field: 'level' },
    { name: 'trace', field: 'trace_id' },
    { name: 'status', field: 'http_status', type: 'number' },
    { name: 'inner', field: 'line.app' },
  ]
  const eventsOf = async (line: Omit<Line, 'at'>, more: Record<string, unknown> = {}) => {
    const { server, config, poll } = await world()
    server.lines = [{ at: now - 9n * SECOND + 123_456_789n, ...line }]
    return prepared(loki, config({ labels: LABELS, ...more }), await poll())
  }

  it('have the fields of a JSON line, labels of the stream before them, and structured metadata', async () => {
    const line = JSON.stringify({ level: 'warn', msg: 'slow\nquery', app: 'inner' })
    expect(await eventsOf({ line, metadata: { trace_id: 't1' } })).toMatchObject([
      {
        eventType: 'log',
        text: 'slow query',
        ts: NOW - 9_000 + 123,
        strings: [
          ['app', 'shop'],
          ['level', 'warn'],
          ['trace', 't1'],
          ['inner', 'inner'],
        ],
        hasEntity: true,
        dedupeKey: expect.stringMatching(/^[0-9a-f]{24}$/),
      },
    ])
  })

  it('have the level and the request of a line of text', async () => {
    expect(await eventsOf({ line: '\u001b[31mERROR\u001b[0m "GET /pay HTTP/1.1" 502' })).toMatchObject([
      {
        text: 'ERROR "GET /pay HTTP/1.1" 502',
        strings: [
          ['app', 'shop'],
          ['level', 'ERROR'],
        ],
        numbers: { status: 502 },
      },
    ])
  })

  it('belong to the fixed entity only where the primary label is missing', async () => {
    expect((await eventsOf({ line: 'x', stream: { pod: 'p' } }, { key: 'other' }))[0]).toMatchObject({
      strings: [['app', 'other']],
      hasEntity: true,
    })
    expect((await eventsOf({ line: 'x' }, { key: 'other' }))[0]!.strings).toEqual([['app', 'shop']])
    expect((await eventsOf({ line: 'x', stream: { pod: 'p' } }))[0]!.hasEntity).toBe(false)
  })
})

describe('a Loki that cannot be asked', () => {
  const text = (status: number, body: string, type = 'text/plain; charset=utf-8') => ({
    status,
    headers: { 'content-type': type },
    body,
  })
  it.each([
    [
      'wants a tenant',
      text(401, 'no org id\n'),
      'Loki asks for credentials (401): no org id. Set bearer_token, username and password, or tenant_id.',
    ],
    [
      'does not take the query',
      text(400, 'parse error at line 1, col 2: syntax error'),
      'Loki refuses the request (400): parse error at line 1, col 2: syntax error.',
    ],
    [
      'is somewhere else',
      text(404, '<html>', 'text/html'),
      'Loki has no API at this address (404). url is the base address, with the prefix of a proxy and without /loki/api/v1.',
    ],
    ['is overloaded', text(500, 'x'.repeat(900)), `Loki answered 500: ${'x'.repeat(300)}.`],
    ['is a page', text(200, '<html>', 'text/html'), 'What answers at this address is not Loki. Check url.'],
    [
      'gives numbers',
      { body: { status: 'success', data: { resultType: 'matrix', result: [] } } },
      'The query gives numbers, not lines. Ask for lines, such as {app="checkout"}.',
    ],
    [
      'lists something else',
      { body: { status: 'success', data: { resultType: 'streams', result: [{ values: [[1, 'x']] }] } } },
      'What answers at this address does not list lines as Loki does. Check url.',
    ],
  ])('is told what to do, and the lines wait: it %s', async (_what, said, sentence) => {
    const { server, poll } = await world()
    server.lines = [{ at: now - 20n * SECOND, line: 'waits' }]
    server.says = said
    await expect(poll()).rejects.toMatchObject({ name: 'UpstreamError', message: sentence })
    server.says = null
    expect((await poll()).lines).toEqual(['waits'])
  })

  it('is sent the credentials and the tenant', async () => {
    const { server, poll } = await world()
    await poll({ username: 'me', password: 'pass', tenant_id: 'team-a' })
    expect(server.received[0]!.headers).toMatchObject({
      authorization: `Basic ${Buffer.from('me:pass').toString('base64')}`,
      'x-scope-orgid': 'team-a',
    })
  })
})

describe('a config of loki', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['a pattern that is none', { match: '(' }, 'match: pattern is not supported'],
    ['a token beside a name', { bearer_token: 't', username: 'u' }, 'exclude each other'],
    ['no query', { query: '' }, 'query'],
    ['a tenant with a line break', { tenant_id: 'a\nb' }, 'tenant_id'],
  ])('is refused with %s', (_what, more, message) => {
    expect(() => validateConfig('loki', { url: 'http://loki', query: QUERY, ...more })).toThrow(message)
  })
})
