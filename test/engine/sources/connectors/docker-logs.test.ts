import { afterEach, describe, expect, it } from 'vitest'
import { systemTimers } from '../../../../engine/clock.ts'
import { parseItem } from '../../../../engine/log/ingest/split.ts'
import { UpstreamError } from '../../../../engine/sources/connectors/connector.ts'
import { validateConfig } from '../../../../engine/sources/connectors/index.ts'
import { stampOf } from '../../../../engine/sources/upstreams/docker.ts'
import { dockerLogs } from '../../../../engine/sources/upstreams/docker-logs.ts'
import {
  composed,
  type EngineServer,
  idOf,
  type LoggedLine,
  type ServedContainer,
  serveEngine,
} from '../docker/engine-server.ts'

const NOW = Date.parse('2026-11-20T12:00:00Z')
const at = (seconds: number, nanos = 0) =>
  `${stampOf(NOW + seconds * 1000).slice(0, 19)}.${String(nanos).padStart(9, '0')}Z`
const line = (seconds: number, text: string, more: Partial<LoggedLine> = {}): LoggedLine => ({
  at: at(seconds),
  text,
  ...more,
})

let server: EngineServer
afterEach(() => server?.close())

const reach = (env: Record<string, string> = server.env) => ({
  fetch,
  clock: { now: () => NOW },
  timers: systemTimers,
  signal: new AbortController().signal,
  env,
})
const poll = (config: Record<string, unknown>, cursor: string | null = null) =>
  dockerLogs.poll(validateConfig('docker_logs', config), cursor, reach())
const raws = (items: readonly string[]) => items.map((item) => (JSON.parse(item) as { raw: string }).raw)
const api = (log: LoggedLine[], more: Partial<ServedContainer> = {}): ServedContainer => ({
  id: idOf(1),
  name: 'shop-api-1',
  labels: composed('shop', 'api'),
  log,
  ...more,
})

describe('a first poll', () => {
  it('takes the lines of the last 30 seconds, each with where it came from', async () => {
    server = await serveEngine([
      api([line(-31, 'too old'), line(-30, 'first'), line(-1, 'oops', { stream: 'stderr' })]),
    ])
    const { items, more } = await poll({ container: 'shop-api-1' })
    expect(items.map((item) => JSON.parse(item))).toEqual([
      {
        raw: 'first',
        time: at(-30),
        container: 'shop-api-1',
        service: 'api',
        project: 'shop',
        stream: 'stdout',
        id: idOf(1).slice(0, 12),
      },
      expect.objectContaining({ raw: 'oops', stream: 'stderr' }),
    ])
    expect(more).toBe(false)
  })

  it('speaks the version the engine has, whether its ping names it or not', async () => {
    server = await serveEngine([api([line(-1, 'a')])])
    await poll({ container: 'shop-api-1' })
    expect(server.asked.at(-1)).toMatch(/^\/v1\.47\//)
    await server.close()
    server = await serveEngine([api([line(-1, 'a')])], { pingVersion: null })
    await poll({ container: 'shop-api-1' })
    expect(server.asked.at(-1)).toMatch(/^\/v1\.43\//)
  })

  it('reads the lines of a container with a terminal', async () => {
    server = await serveEngine([api([line(-2, 'prompt $ ls'), line(-1, 'ünïcode')], { tty: true })])
    expect(raws((await poll({ container: 'shop-api-1' })).items)).toEqual(['prompt $ ls', 'ünïcode'])
  })

  it('joins the parts of a long line, and leaves one that is still being written', async () => {
    const part = (text: string) => line(-2, text, { partial: true })
    const log = [part('a'.repeat(16_384)), line(-2, 'z'), part('begun')]
    server = await serveEngine([api(log)])
    const first = await poll({ container: 'shop-api-1' })
    expect(raws(first.items)).toEqual([`${'a'.repeat(16_384)}z`])
    log.push(line(-2, ' and ended'))
    expect(raws((await poll({ container: 'shop-api-1' }, first.cursor)).items)).toEqual(['begun and ended'])
  })

  it('takes the last words of a container that has stopped, though their line has no end', async () => {
    server = await serveEngine([api([line(-2, 'panic', { partial: true })], { running: false })])
    expect(raws((await poll({ container: 'shop-api-1' })).items)).toEqual(['panic'])
  })
})

describe('the next poll', () => {
  it('takes each line once where many have the same time, in either stream', async () => {
    const same = (text: string, stream: 'stdout' | 'stderr') => ({ at: at(-1, 5), text, stream })
    const log = [same('o1', 'stdout'), same('e1', 'stderr')]
    server = await serveEngine([api(log)])
    const first = await poll({ container: 'shop-api-1' })
    log.push(same('o2', 'stdout'), same('e2', 'stderr'), same('o3', 'stdout'))
    const second = await poll({ container: 'shop-api-1' }, first.cursor)
    expect(raws(second.items)).toEqual(['o2', 'e2', 'o3'])
    expect((await poll({ container: 'shop-api-1' }, second.cursor)).items).toEqual([])
  })

  it('takes a line of one stream that was written after a later one of the other', async () => {
    const log = [line(-1, 'out')]
    server = await serveEngine([api(log)])
    const first = await poll({ container: 'shop-api-1' })
    log.push({ at: at(-2, 999_000_000), text: 'err, stamped before', stream: 'stderr' })
    expect(raws((await poll({ container: 'shop-api-1' }, first.cursor)).items)).toEqual([
      'err, stamped before',
    ])
  })

  it('compares times, not their texts: fractions and zones of any form', async () => {
    const log = [
      { at: '2026-11-20T11:59:58Z', text: 'whole second' },
      { at: '2026-11-20T11:59:58.5Z', text: 'half' },
    ]
    server = await serveEngine([api(log)])
    const first = await poll({ container: 'shop-api-1' })
    log.push({ at: '2026-11-20T12:59:58.500000001+01:00', text: 'another zone' })
    expect(raws((await poll({ container: 'shop-api-1' }, first.cursor)).items)).toEqual(['another zone'])
  })

  it('takes 5,000 lines at most, and says that there are more', async () => {
    const log = Array.from({ length: 5_001 }, (_, i) => ({ at: at(-1, i + (i % 2)), text: `line ${i}` }))
    server = await serveEngine([api(log)])
    const first = await poll({ container: 'shop-api-1' })
    expect([first.items.length, first.more]).toEqual([5_000, true])
    const second = await poll({ container: 'shop-api-1' }, first.cursor)
    expect([raws(second.items), second.more]).toEqual([['line 5000'], false])
  })

  it('goes on with a container that was made anew, from its first line', async () => {
    server = await serveEngine([api([line(-5, 'old')])])
    const first = await poll({ container: 'shop-api-1' })
    server.containers.splice(0, 1, api([line(-900, 'new, first')], { id: idOf(2) }))
    const second = await poll({ container: 'shop-api-1' }, first.cursor)
    expect(raws(second.items)).toEqual(['new, first'])
    expect(Object.keys(JSON.parse(second.cursor!).containers)).toEqual([idOf(2)])
  })

  it('says that its container has gone, and keeps its place', async () => {
    server = await serveEngine([api([line(-5, 'a')])])
    const first = await poll({ container: 'shop-api-1' })
    server.containers.length = 0
    expect(await poll({ container: 'shop-api-1' }, first.cursor)).toEqual({
      items: [],
      cursor: first.cursor,
      notice:
        'Docker has no container and no compose service named shop-api-1: start it, or correct the name',
    })
  })
})

describe('a compose service', () => {
  const replica = (n: number, log: LoggedLine[], more: Partial<ServedContainer> = {}) =>
    api(log, { id: idOf(n), name: `shop-api-${n}`, ...more })

  it('is read with all of its replicas, oldest line first, each from its own place', async () => {
    const second = [line(-4, 'b1')]
    server = await serveEngine([replica(1, [line(-5, 'a1'), line(-3, 'a2')]), replica(2, second)])
    const first = await poll({ container: 'api' })
    expect(raws(first.items)).toEqual(['a1', 'b1', 'a2'])
    second.push(line(-3, 'b2, before the last of the other'))
    const next = await poll({ container: 'api' }, first.cursor)
    expect(raws(next.items)).toEqual(['b2, before the last of the other'])
  })

  it('shares the lines of a poll among its replicas, so that a loud one hides no other', async () => {
    const loud = Array.from({ length: 6_000 }, (_, i) => ({ at: at(-20, i), text: 'loud' }))
    server = await serveEngine([replica(1, loud), replica(2, [line(-1, 'quiet')])])
    const { items, more } = await poll({ container: 'api' })
    expect([items.length, more, raws(items).at(-1)]).toEqual([2_501, true, 'quiet'])
  })

  it('is that of one project where a compose file says which', async () => {
    server = await serveEngine([
      replica(1, [line(-1, 'shop')]),
      replica(2, [line(-1, 'blog')], { labels: composed('blog', 'api') }),
    ])
    const of = async (compose_file: string) => raws((await poll({ container: 'api', compose_file })).items)
    expect(await of('/srv/blog/compose.yaml')).toEqual(['blog'])
    expect(await of('./shop/compose.yaml')).toEqual(['shop'])
    await expect(of('hop/compose.yaml')).rejects.toThrow('no compose service named api of hop/compose.yaml')
  })

  it('leaves out containers of single commands', async () => {
    const oneoff = { ...composed('shop', 'api'), 'com.docker.compose.oneoff': 'True' }
    server = await serveEngine([replica(1, [line(-1, 'a')]), replica(2, [line(-1, 'b')], { labels: oneoff })])
    expect(raws((await poll({ container: 'api' })).items)).toEqual(['a'])
  })

  it('is read although the log of one replica cannot be, which the notice names', async () => {
    const refuses: [number, string] = [501, 'configured logging driver does not support reading']
    server = await serveEngine([replica(1, [line(-1, 'a')]), replica(2, [], { refuses })])
    const { items, notice } = await poll({ container: 'api' })
    expect([raws(items), notice]).toEqual([
      ['a'],
      'shop-api-2: Docker refuses (HTTP 501): configured logging driver does not support reading',
    ])
  })

  it('is an error where the log of none can be read', async () => {
    server = await serveEngine([replica(1, [], { refuses: [501, 'no reading'] })])
    await expect(poll({ container: 'api' })).rejects.toThrow(
      'shop-api-1: Docker refuses (HTTP 501): no reading',
    )
  })
})

describe('match and drop', () => {
  it('keep and leave out lines in any case of letters, and what is left out is not read again', async () => {
    server = await serveEngine([api([line(-3, 'GET /health'), line(-2, 'get /cart'), line(-1, 'other')])])
    const first = await poll({ container: 'shop-api-1', match: 'get', drop: 'HEALTH' })
    expect(raws(first.items)).toEqual(['get /cart'])
    const all = await poll({ container: 'shop-api-1' }, first.cursor)
    expect(all.items).toEqual([])
  })

  it('are refused where they are no pattern', () => {
    expect(() => validateConfig('docker_logs', { container: 'a', match: '(' })).toThrow(
      'match: pattern is not',
    )
    expect(() => validateConfig('docker_logs', { container: 'a', label_pattern: 'x' })).toThrow('named group')
  })
})

describe('an engine that cannot be asked', () => {
  const failing = (env: Record<string, string>) =>
    dockerLogs.poll({ container: 'a' }, null, { ...reach({}), env }).then(
      () => null,
      (error: unknown) => error,
    )

  it('says what to do', async () => {
    expect(await failing({ DOCKER_HOST: 'unix:///nowhere/docker.sock' })).toMatchObject({
      message:
        'there is no Docker socket at /nowhere/docker.sock: start Docker, mount its socket into the container svc runs in, or set DOCKER_HOST',
    })
    expect(await failing({ DOCKER_HOST: 'tcp://127.0.0.1:1' })).toMatchObject({
      message: 'nothing answers at 127.0.0.1:1: start Docker, or correct DOCKER_HOST',
    })
    expect(await failing({ DOCKER_HOST: 'ssh://host' })).toBeInstanceOf(UpstreamError)
    expect(
      await failing({
        DOCKER_HOST: 'tcp://127.0.0.1:1',
        DOCKER_TLS_VERIFY: '1',
        DOCKER_CERT_PATH: '/nowhere',
      }),
    ).toMatchObject({
      message: expect.stringContaining('DOCKER_CERT_PATH must name a folder'),
    })
  })

  it('is asked again soon, for that costs nothing', async () => {
    expect(await failing({ DOCKER_HOST: 'unix:///nowhere/docker.sock' })).toMatchObject({
      retryAfterMs: 30_000,
    })
  })
})

describe('an event', () => {
  const map = (config: Record<string, unknown>, payload: Record<string, unknown>) =>
    dockerLogs.compile({ container: 'api', ...config })(
      parseItemOf({ container: 'shop-api-1', stream: 'stdout', time: at(-1), id: 'a1b2', ...payload }),
      undefined,
      0,
    )[0]!
  const parseItemOf = (value: unknown) => ({
    raw: Buffer.from(JSON.stringify(value)),
    value: parseItem(Buffer.from(JSON.stringify(value))),
    whole: () => value,
  })

  it('has the level and the request of a line of text, without its colours', () => {
    const event = map({}, { raw: '\u001b[33mWARNING\u001b[0m "GET /cart HTTP/1.1" 502 12' })
    expect(event).toMatchObject({
      eventType: 'log',
      text: 'WARNING "GET /cart HTTP/1.1" 502 12',
      eventTime: at(-1),
    })
    expect(event.context).toMatchObject({ level: 'WARN', http_method: 'GET', http_status: 502 })
  })

  it('has the fields of a JSON line, and its message as its text', () => {
    const raw = '{"level":"error","msg":"no stock","order":{"id":7},"service":"inner"}'
    const { text, context } = map({}, { raw, service: 'api' })
    expect(text).toBe('no stock')
    expect(context).toMatchObject({
      level: 'error',
      order: { id: 7 },
      service: 'api',
      line: { service: 'inner' },
    })
  })

  it('has what the groups of a pattern find', () => {
    const { context } = map({ label_pattern: '(?P<order>ORD-[0-9]+)' }, { raw: 'paid ORD-17' })
    expect(context.order).toBe('ORD-17')
  })

  it('is about its service, else its container, unless a key is set', () => {
    expect(map({}, { raw: 'a', service: 'api' }).stamped).toEqual({ service: 'api' })
    expect(map({}, { raw: 'a' }).stamped).toEqual({ service: 'shop-api-1' })
    expect(map({ key: 'fixed' }, { raw: 'a', service: 'api' }).stamped).toEqual({ service: 'fixed' })
  })

  it('is told from others of its time by its place', () => {
    const keys = [{}, { seq: 1 }, { stream: 'stderr' }].map(
      (more) => map({}, { raw: 'a', ...more }).dedupeKey,
    )
    expect(new Set(keys).size).toBe(3)
  })
})

describe('discovery', () => {
  it('lists the containers where none is named', async () => {
    server = await serveEngine([api([])])
    expect(await dockerLogs.discover!({}, reach())).toMatchObject({
      containers: [{ name: 'shop-api-1', service: 'api', project: 'shop' }],
      proposed_config: {},
    })
  })

  it('proposes labels from the last lines, which the config then holds', async () => {
    const log = Array.from({ length: 10 }, (_, i) =>
      line(-i, JSON.stringify({ level: i % 2 ? 'info' : 'error', msg: `m${i}`, region: 'eu', took_ms: i })),
    )
    server = await serveEngine([api(log)])
    const { proposed_config: proposed } = (await dockerLogs.discover!({ container: 'api' }, reach())) as {
      proposed_config: Record<string, unknown>
    }
    expect(validateConfig('docker_logs', proposed)).toEqual({
      container: 'api',
      labels: [
        { name: 'service', field: 'service', primary: true },
        { name: 'level', field: 'level' },
        { name: 'region', field: 'region' },
        { name: 'took_ms', field: 'took_ms', type: 'number' },
      ],
    })
  })
})
