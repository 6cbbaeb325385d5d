import { createRequire } from 'node:module'
import { gzipSync } from 'node:zlib'
import Fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { fields, schemaController } from '../../../api/http/validate.ts'
import { openDoor, T0 } from './door.ts'

describe('limits and errors', () => {
  let door: Awaited<ReturnType<typeof openDoor>>
  let url = ''
  beforeAll(async () => {
    door = await openDoor()
    url = (await door.source('app', { labels: [{ name: 'service', field: 'service', primary: true }] })).url
    await door.source('paused')
    await door.call('POST', '/api/sources/paused/pause')
    await door.source('docs', { attachments: [{ name: 'a', content: 'b' }] }, 'reference')
  })
  afterAll(() => door.close())

  const deep = `${'['.repeat(101)}${']'.repeat(101)}`
  const cases: [
    string,
    () => Promise<{ status: number; json(): { detail: string } }>,
    number,
    string | RegExp,
  ][] = [
    ['an unknown ingest key', () => door.call('POST', '/ingest/app', '{}'), 404, 'unknown ingest key'],
    ['a body that is no JSON', () => door.call('POST', url, '{"a":'), 400, 'neither JSON nor NDJSON'],
    [
      'a body that is not UTF-8',
      () => door.call('POST', url, Buffer.from([0x22, 0xff, 0x22])),
      400,
      'not valid UTF-8',
    ],
    [
      'an item nested deeper than 100',
      () => door.call('POST', url, `[${deep}]`),
      400,
      /nests deeper than 100/,
    ],
    [
      'more than 100,000 items',
      () => door.call('POST', url, `[${'1,'.repeat(100_000)}1]`),
      413,
      'at most 100000',
    ],
    [
      'more than 16 MiB',
      () => door.call('POST', url, Buffer.alloc(16 * 1024 * 1024 + 1, 0x20)),
      413,
      '16 MiB',
    ],
    [
      'more than 16 MiB of a source that checks signatures, where NDJSON is no way',
      async () => {
        const signed = await door.source('signed', {
          signature_scheme: 'github',
          signature_secret: 's3cr3t-of-16b',
        })
        return door.call('POST', signed.url, Buffer.alloc(16 * 1024 * 1024 + 1, 0x20), {
          'content-type': 'application/x-ndjson',
        })
      },
      413,
      '(16 MiB of a source that checks signatures; send it in parts)',
    ],
    [
      'a gzip bomb',
      () =>
        door.call('POST', url, gzipSync(Buffer.alloc(70 * 1024 * 1024, 0x20)), {
          'content-encoding': 'gzip',
        }),
      413,
      'decompresses to more than',
    ],
    [
      'broken gzip',
      () => door.call('POST', url, Buffer.from('no gzip'), { 'content-encoding': 'gzip' }),
      400,
      'not valid gzip',
    ],
    [
      'another encoding',
      () => door.call('POST', url, '{}', { 'content-encoding': 'br' }),
      415,
      'must be gzip',
    ],
    [
      'two encodings',
      () => door.call('POST', url, '{}', { 'content-encoding': 'gzip, gzip' }),
      415,
      'must be gzip',
    ],
    [
      'a bad Idempotency-Key',
      () => door.call('POST', url, '{}', { 'idempotency-key': 'with space' }),
      400,
      'Idempotency-Key must be 1 to 255',
    ],
    [
      'JSON under another content type',
      () =>
        door.call('POST', '/api/sources', '{"name":"x","connector":"webhook"}', {
          'content-type': 'text/plain',
        }),
      415,
      'Content-Type must be application/json',
    ],
    [
      'JSON that is not UTF-8',
      () =>
        door.call('POST', '/remember', Buffer.from('{"key":"a","content":"caf\xe9"}', 'latin1'), {
          'content-type': 'application/json',
        }),
      400,
      'the body is not valid UTF-8',
    ],
    [
      'a skill that is not said to be Markdown',
      () =>
        door.call('POST', '/api/projects/Default/skills/upload', '---\nname: s\n---\n', {
          'content-type': 'application/x-www-form-urlencoded',
        }),
      415,
      'the Content-Type must be text/markdown or text/plain',
    ],
    [
      'an API body over 1 MiB',
      () =>
        door.call('POST', '/api/sources', {
          name: 'x',
          connector: 'webhook',
          config: { text_template: 'x'.repeat(1_100_000) },
        }),
      413,
      'larger than this route takes (1 MiB)',
    ],
    [
      'a message to the telemetry query server over its 256 KiB',
      () => door.call('POST', '/telemetry/mcp', { q: 'x'.repeat(300_000) }),
      413,
      'larger than this route takes (256 KiB)',
    ],
    [
      'such a message that is small while it is compressed',
      () =>
        door.call('POST', '/telemetry/mcp', gzipSync(JSON.stringify({ q: 'x'.repeat(300_000) })), {
          'content-type': 'application/json',
          'content-encoding': 'gzip',
        }),
      413,
      'decompresses to more than 256 KiB',
    ],
    [
      'broken JSON on the API',
      () => door.call('POST', '/api/sources', '{', { 'content-type': 'application/json' }),
      400,
      'the body is not valid JSON',
    ],
    [
      'an empty selector',
      () => door.call('POST', '/read', { selector: {} }),
      400,
      'selector must not be empty',
    ],
    [
      'a label name that cannot be',
      () => door.call('POST', '/read', { selector: { "a') OR 1=1--": 'x' } }),
      400,
      'selector has a name that is not allowed',
    ],
    [
      'a window that is none',
      () => door.call('POST', '/read', { selector: { a: 'b' }, window: 'all' }),
      400,
      'window must be a number and one of s, m, h, d',
    ],
    [
      'a field nobody knows',
      () => door.call('POST', '/read', { selector: { a: 'b' }, windw: '1h' }),
      400,
      'windw is not a known field',
    ],
    [
      'an as_of in the future',
      () => door.call('POST', '/read', { selector: { a: 'b' }, as_of: new Date(T0 + 1e6).toISOString() }),
      400,
      'as_of must not be in the future',
    ],
    [
      'a cursor of nobody',
      () => door.call('POST', '/read', { selector: { a: 'b' }, cursor: 'x.y' }),
      400,
      'cursor is not one this query gave',
    ],
    [
      'an unknown source in a read',
      () => door.call('POST', '/read', { selector: { a: 'b' }, sources: ['nope'] }),
      404,
      'no source is named nope',
    ],
    [
      'a project that is not there in a read',
      () => door.call('POST', '/read', { selector: { a: 'b' }, project: 'p' }),
      400,
      'no project has the id or name p',
    ],
    ['an event id that is none', () => door.call('GET', '/api/events/12'), 400, 'an event id is evt_'],
    [
      'an event that is not there',
      () => door.call('GET', '/api/events/evt_999'),
      404,
      'no event has the id evt_999',
    ],
    [
      'an unknown label',
      () => door.call('GET', '/api/entities?label=nope'),
      404,
      'no event has the label nope',
    ],
    [
      'a time without a zone',
      () => door.call('GET', '/api/runs?ended_since=2026-11-30T07:00'),
      400,
      'ended_since must be an ISO 8601 time with time zone',
    ],
    ['an unknown source', () => door.call('GET', '/api/sources/nope'), 404, 'no source is named nope'],
    [
      'a name that is taken',
      () => door.call('POST', '/api/sources', { name: 'app', connector: 'webhook' }),
      409,
      'a source named app exists',
    ],
    [
      'a name that cannot be',
      () => door.call('POST', '/api/sources', { name: '../x', connector: 'webhook' }),
      400,
      'name must be 1 to 64 letters',
    ],
    [
      'an unknown connector',
      () => door.call('POST', '/api/sources', { name: 'x', connector: 'carrier_pigeon' }),
      400,
      'connector carrier_pigeon is not known',
    ],
    [
      'an unknown config field',
      () => door.call('POST', '/api/sources', { name: 'x', connector: 'webhook', config: { colour: 'red' } }),
      400,
      'colour is not a known field',
    ],
    [
      'a label with const and field',
      () =>
        door.call('POST', '/api/sources', {
          name: 'x',
          connector: 'webhook',
          config: { labels: [{ name: 'a', const: 'b', field: 'c' }] },
        }),
      400,
      'labels[0]: give exactly one of const or field',
    ],
    [
      'two primary labels',
      () =>
        door.call('POST', '/api/sources', {
          name: 'x',
          connector: 'webhook',
          config: {
            labels: [
              { name: 'a', field: 'a', primary: true },
              { name: 'b', field: 'b', primary: true },
            ],
          },
        }),
      400,
      'at most one label is primary',
    ],
    [
      'a primary number',
      () =>
        door.call('POST', '/api/sources', {
          name: 'x',
          connector: 'webhook',
          config: { labels: [{ name: 'a', field: 'a', primary: true, type: 'number' }] },
        }),
      400,
      'the primary label must be a string',
    ],
    [
      'a pattern that could run for ever',
      () =>
        door.call('POST', '/api/sources', {
          name: 'x',
          connector: 'webhook',
          config: { labels: [{ name: 'a', field: 'a', pattern: '(?=x)' }] },
        }),
      400,
      'pattern is not supported',
    ],
    [
      'another name on PUT',
      () => door.call('PUT', '/api/sources/app', { name: 'other', connector: 'webhook' }),
      400,
      'name must equal the name in the path',
    ],
    [
      'another connector on PUT',
      () => door.call('PUT', '/api/sources/app', { name: 'app', connector: 'memory' }),
      400,
      'connector must stay webhook',
    ],
    [
      'a poll that is no duration',
      () => door.call('POST', '/api/sources', { name: 'x', connector: 'webhook', poll: 'often' }),
      400,
      'poll must be a number and one of',
    ],
    [
      'a project that is not there',
      () => door.call('POST', '/api/sources', { name: 'x', connector: 'webhook', project: 'p' }),
      400,
      'no project is named p',
    ],
    [
      'ingest into a paused source',
      async () => door.call('POST', `/ingest/${(await door.engine.getSource('paused')).ingest_key}`, '{}'),
      409,
      'source paused is paused; resume it to ingest',
    ],
    [
      'pausing what is paused',
      () => door.call('POST', '/api/sources/paused/pause'),
      409,
      'source paused is paused and does not accept pause; it accepts resume, delete',
    ],
    [
      'discovery where there is none',
      () => door.call('POST', '/api/sources/discover', { connector: 'otlp' }),
      400,
      'does not support discovery',
    ],
    [
      'discovery of a webhook that nothing is known of',
      () => door.call('POST', '/api/sources/discover', { connector: 'webhook' }),
      400,
      'sample',
    ],
    ['GET on discover', () => door.call('GET', '/api/sources/discover'), 405, 'discover is POST-only'],
    [
      'an empty memory',
      () => door.call('POST', '/remember', { key: 'a', content: '  ' }),
      400,
      'content must not be blank',
    ],
    [
      'a memory for a source that is none',
      () => door.call('POST', '/remember', { key: 'a', content: 'b', source: 'app' }),
      400,
      'app is not a memory source',
    ],
    [
      'dependents of another kind',
      () => door.call('GET', '/api/catalog/dependents?kind=view&name=app'),
      400,
      'kind must be one of source',
    ],
    [
      'a larger page of what is paged by offset',
      () => door.call('GET', '/api/runs?limit=201'),
      400,
      'limit must be at most 200',
    ],
    [
      'a query field nobody knows',
      () => door.call('GET', '/api/entities?colour=red'),
      400,
      'colour is not a known field',
    ],
    ...['whoami', 'capabilities', 'connect', 'connect/skill', 'mcp/tools'].map(
      (path): (typeof cases)[number] => [
        `a query of what takes none: ${path}`,
        () => door.call('GET', `/api/${path}?colour=red`),
        400,
        'colour is not a known field',
      ],
    ),
    [
      'a Last-Event-ID that is none',
      () => door.call('GET', '/api/tail', undefined, { 'last-event-id': 'x' }),
      400,
      'Last-Event-ID must be an event id',
    ],
  ]

  it.each(['traces?limit=101', 'telemetry/spans?limit=201', 'incidents?limit=99999'])(
    'a page larger than a list gives is its largest: %s',
    async (list) => expect((await door.call('GET', `/api/${list}`)).status).toBe(200),
  )

  it('who answers a list is asked for its most rows, where more are asked for', async () => {
    const app = Fastify({ schemaController: schemaController as never })
    const limit = { type: 'integer', minimum: 1, maximum: 200 }
    app.get('/rows', { schema: { querystring: fields({ limit }) } }, ({ query }) => query as object)
    expect((await app.inject('/rows?limit=201')).json()).toEqual({ limit: 200 })
    expect((await app.inject('/rows?limit=7')).json()).toEqual({ limit: 7 })
    await app.close()
  })

  it.each(cases)('%s', async (_name, ask, status, message) => {
    const answer = await ask()
    expect([answer.status, answer.json().detail]).toEqual([
      status,
      expect.stringMatching(
        message instanceof RegExp ? message : new RegExp(message.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')),
      ),
    ])
  })

  it('names every refused item of a batch and stores the others', async () => {
    const answer = await door.call('POST', url, `{"service":"a"}\n${deep}\nnope\n{"service":"b"}`)
    expect([answer.status, answer.json()]).toEqual([
      202,
      {
        ingested: 2,
        ids: expect.any(Array),
        rejected: [
          { index: 1, line: 2, error: 'nests deeper than 100' },
          { index: 2, line: 3, error: expect.stringContaining('not valid JSON') },
        ],
      },
    ])
  })

  it('explains an ingest URL to a browser, and takes an empty body as a test', async () => {
    expect((await door.call('GET', url)).json()).toMatchObject({
      ok: true,
      detail: expect.stringContaining('POST a JSON object'),
    })
    const ping = await door.call('POST', url, '', { 'x-vercel-verify': 'abc' })
    expect([ping.status, ping.json(), ping.headers['x-vercel-verify']]).toEqual([202, { ingested: 0 }, 'abc'])
  })

  it('keeps every digit of a payload, in and out, and gives names of prototypes no power', async () => {
    const raw =
      '{"service":"digits","n":9007199254740993,"x":1e400,"d":1.0,"k":1,"k":2,"z":"\\u0000","__proto__":{"admin":true},"constructor":{"prototype":{"x":1}}}'
    expect((await door.call('POST', url, raw)).status).toBe(202)
    const read = await door.call('POST', '/read', { selector: { service: 'digits' }, include_payload: true })
    expect(read.text).toContain(`"raw":${raw}`)
    const id = (read.json() as unknown as { rows: { id: string }[] }).rows[0]!.id
    expect((await door.call('GET', `/api/events/${id}`)).text).toContain(`"raw":${raw}}}`)
    expect(({} as Record<string, unknown>).admin).toBeUndefined()
  })

  it('refuses ingest with 507 at 95 % of the limit and says so on health', async () => {
    const small = await openDoor({ maxDbSize: 600_000 })
    const target = (await small.source('app')).url
    let answer = await small.call('POST', target, '{}')
    for (let i = 0; i < 30 && answer.status === 202; i++) {
      small.clock.at += 2_000
      answer = await small.call('POST', target, JSON.stringify(Array(100).fill({ text: 'x'.repeat(1_000) })))
    }
    expect([answer.status, answer.json().detail]).toEqual([507, expect.stringContaining('SVC_MAX_DB_SIZE')])
    expect((await small.call('GET', '/health')).json()).toMatchObject({
      status: 'degraded',
      ingest_paused: true,
    })
    expect((await small.call('GET', '/api/sources/app')).json()).toMatchObject({
      health: { status: 'refused' },
    })
    await small.close()
  })
})

it('a server is built without a timer, and no module that is loaded is searched for the name of a part', async () => {
  const timers = vi.spyOn(globalThis, 'setTimeout')
  const looks = vi.spyOn(Object, 'keys')
  onTestFinished(() => void vi.restoreAllMocks())
  const door = await openDoor()
  await door.app.ready()
  const [set, searched] = [timers.mock.calls.length, looks.mock.calls.map(([of]) => of)]
  await door.close()
  expect(set).toBe(0)
  expect(searched.includes(createRequire(import.meta.url).cache)).toBe(false)
})
