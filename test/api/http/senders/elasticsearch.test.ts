/** Clients of Elasticsearch behind an ingest URL: what they send, what they ask before, and what they are answered. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { keyOfSender } from '../../../../api/http/routes/sender-answers.ts'
import { readBulk } from '../../../../api/http/senders/elasticsearch.ts'
import { SvcError } from '../../../../engine/index.ts'
import { openDoor, ROOT } from '../door.ts'

let door: Awaited<ReturnType<typeof openDoor>>
let url: string
let secret: string
beforeAll(async () => {
  door = await openDoor({ secured: true, maxDbSize: 256 * 1024 * 1024 })
  const source = await door.source('es', { preset: 'elasticsearch_bulk' })
  url = source.url
  secret = source.key!.secret
})
afterAll(() => door.close())

const TYPE = { 'content-type': 'application/vnd.elasticsearch+x-ndjson; compatible-with=8' }
const basic = (password: string) => ({
  authorization: `Basic ${Buffer.from(`elastic:${password}`).toString('base64')}`,
})
const send = (body: string | Buffer, path = '/_bulk', more: Record<string, string> = {}) =>
  door.call('POST', `${url}${path}`, body, { ...TYPE, authorization: `ApiKey ${secret}`, ...more })
const rows = async () => {
  const asked = {
    sources: ['es'],
    from: '2026-11-20T00:00:00Z',
    to: '2026-11-21T00:00:00Z',
    include_payload: true,
  }
  return (await door.call('POST', '/read', asked, door.as(ROOT))).json().rows as unknown as {
    text: string
    event_time: string
    entity: object
    labels: object
    raw: object
  }[]
}
const statuses = (answer: { json(): object }) =>
  (answer.json() as { items: Record<string, { status: number }>[] }).items.map((item) =>
    Object.entries(item).map(([op, { status }]) => `${op} ${status}`),
  )

describe('a client of Elasticsearch', () => {
  it('has its documents stored, as pino-elasticsearch 9.0, winston-elasticsearch 0.19 and rsyslog 8.2302 sent them', async () => {
    const pino =
      '{"index":{"_index":"shop"}}\n{"level":50,"time":"2026-11-20T11:38:39.702Z","pid":2666,"hostname":"vm","err":{"type":"Error","message":"boom"},"msg":"boom"}\n'
    const answer = await send(pino)
    expect([answer.status, answer.headers['x-elastic-product']]).toEqual([200, 'Elasticsearch'])
    expect(answer.json()).toMatchObject({
      errors: false,
      items: [{ index: { _index: 'shop', status: 201, result: 'created' } }],
      svc: { ingested: 1 },
    })
    // Each line of an action may say more, and rsyslog ends documents with an empty line.
    const winston =
      '{"index":{"_index":"w","pipeline":null},"attempts":0}\n{"@timestamp":"2026-11-20T11:38:40.496Z","message":"winston hello","severity":"info","fields":{"service":"cart","order":7}}\n'
    const rsyslog =
      '{"index":{"_index": "rsyslog"}}\n{"@timestamp":"2026-11-20T11:38:46.132856+00:00", "host":"vm", "severity":"err", "facility":"user", "syslogtag":"pay:", "appname":"pay", "message":" card declined 4711"}\n\n'
    await send(winston, '/_bulk?wait_for_active_shards=1&timeout=500ms')
    await send(gzipSync(rsyslog), '/_bulk', { 'content-encoding': 'gzip' })
    expect(await rows()).toMatchObject([
      {
        text: 'boom',
        event_time: '2026-11-20T11:38:39.702Z',
        labels: { host: 'vm', level: 'error', index: 'shop' },
      },
      {
        text: 'winston hello',
        entity: { label: 'service', value: 'cart' },
        raw: { _index: 'w', severity: 'info' },
      },
      { text: 'card declined 4711', entity: { label: 'service', value: 'pay' }, labels: { level: 'error' } },
    ])
  })

  it('is told of each action by itself, whichever of more than a hundred are refused', async () => {
    const answer = await send(
      '{"index":{}}\n{"a":1\n{"create":{"_id":1}}\n{"message":"ok"}\n{"create":{}}\n[1]\n{"delete":{"_id":"z"}}\n{"update":{"_id":"a"}}\n{"doc":{"n":2}}\n{"index":{}}\n{"broken":\n',
      '/app/_bulk',
    )
    expect(statuses(answer)).toEqual(
      ['index 400', 'create 201', 'create 400', 'delete 400', 'update 400', 'index 400'].map((one) => [one]),
    )
    expect(answer.json()).toMatchObject({ errors: true, svc: { ingested: 1 } })
    expect(answer.text).toContain('neither updated nor deleted')
    const many = Array.from({ length: 300 }, (_, n) => `{"create":{}}\n{"n":${n === 299 ? n : ''}}\n`)
    const refused = statuses(await send(`{"create":{}}\n{"n":0}\n${many.join('')}`))
    expect([refused[0], refused.filter(([one]) => one === 'create 400').length, refused[300]]).toEqual([
      ['create 201'],
      299,
      ['create 201'],
    ])
    const none = await send('{"create":{}}\n{"n":1,"deep":'.concat('['.repeat(101), ']'.repeat(101), '}\n'))
    expect([none.status, statuses(none)]).toEqual([200, [['create 400']]])
  })

  it('may send a document again: by its id it is stored once, and what else is put under it is an event', async () => {
    const put = (state: string) =>
      send(`{"index":{"_index":"orders","_id":"4711"}}\n{"message":"${state}"}\n`)
    const stored = async (state: string) => (await put(state)).json() as unknown as { svc: object }
    expect((await stored('paid')).svc).toMatchObject({ ingested: 1 })
    expect((await stored('paid')).svc).toMatchObject({ ingested: 0, duplicates: 1 })
    expect((await stored('sent')).svc).toMatchObject({ ingested: 1 })
  })

  it('sends documents alone', async () => {
    const answer = await send('{\n  "message": "single"\n}', '/app/_doc/7')
    expect([answer.status, answer.json()]).toEqual([
      201,
      expect.objectContaining({ _index: 'app', _id: '7', result: 'created' }),
    ])
    expect((await send('{"message"', '/app/_doc')).status).toBe(400)
  })

  it('puts documents under an id, as index and create of its client for Node 9.5 do, and is answered all that the one for Java wants', async () => {
    const put = (path: string, body = '{"message":"put","@timestamp":"2026-11-20T12:00:00Z"}') =>
      door.call('PUT', `${url}${path}`, body, { ...TYPE, authorization: `ApiKey ${secret}` })
    const answer = await put('/put/_doc/a%201?refresh=true')
    expect([answer.status, answer.json()]).toEqual([
      201,
      {
        ...{ _index: 'put', _id: 'a 1', _version: 1, result: 'created', _seq_no: 0, _primary_term: 1 },
        _shards: { total: 1, successful: 1, failed: 0 },
      },
    ])
    // The same, told another way, is the same document.
    expect(
      (
        await send(
          '{"index":{"_index":"put","_id":"a 1"}}\n{"message":"put","@timestamp":"2026-11-20T12:00:00Z"}\n',
        )
      ).json(),
    ).toMatchObject({ svc: { ingested: 0, duplicates: 1 } })
    expect((await put('/put/_create/2')).status).toBe(201)
    expect(statuses(await put('/_bulk', '{"create":{"_index":"put"}}\n{"message":"put"}\n'))).toEqual([
      ['create 201'],
    ])
    const alone = await send('{"message":"put"}', '/put/_doc')
    expect(alone.json()).toMatchObject({ _id: expect.stringMatching(/^evt_\d+$/), _shards: { failed: 0 } })
    expect((await rows()).filter((row) => row.text === 'put')).toHaveLength(4)
    expect((await put('/put/_doc/%zz')).json()).toMatchObject({ status: 400 })
  })

  it('makes indices and templates, which are no events, and no event is taken for one', async () => {
    const call = (method: 'PUT' | 'HEAD' | 'GET', path: string, body?: string) =>
      door.call(method, `${url}${path}`, body, { ...TYPE, ...basic(secret) })
    for (const [path, body] of [
      ['/made', undefined],
      ['/made', '{"settings":{"number_of_shards":1},"mappings":{}}'],
      ['/_index_template/made', '{"index_patterns":["made*"]}'],
      ['/_ilm/policy/made', '{"policy":{}}'],
      ['/_ingest/pipeline/made', '{"processors":[]}'],
    ] as const) {
      const answer = await call('PUT', path, body)
      expect([path, answer.status, answer.json()]).toEqual([
        path,
        200,
        expect.objectContaining({ acknowledged: true }),
      ])
    }
    expect((await call('HEAD', '/made')).status).toBe(200)
    expect((await call('GET', '/made')).status).toBe(404)
    const event = await call('PUT', '/made', '{"message":"lost"}')
    expect([event.status, event.json().detail]).toEqual([400, expect.stringContaining('/made/_doc/<id>')])
    expect((await door.call('PUT', url, '{"message":"lost"}', basic(secret))).status).toBe(405)
    const unknown = await door.call('PUT', '/ingest/nobody/_index_template/x', '{}', door.as(ROOT))
    expect(unknown.status).toBe(404)
  })

  it('may have a slash too many, behind which a post is stored like any other', async () => {
    const post = (path: string) =>
      door.call('POST', `${url}${path}`, '{"message":"slashed"}', { authorization: `Bearer ${secret}` })
    expect((await post('/')).json()).toMatchObject({ ingested: 1 })
    expect((await post('/?from=hook')).json()).toMatchObject({ ingested: 1 })
    expect((await post('//app/_doc')).status).toBe(201)
    expect((await post('//services/collector/event')).json()).toMatchObject({ ingested: 1, code: 0 })
    expect((await post('//loki/api/v1/push')).json()).toMatchObject({ ingested: 1 })
    expect((await post('//api/v2/logs')).json()).toMatchObject({ ingested: 1 })
  })

  it('sends again what there was no room for: clients know 503 of it, and none of them 507', async () => {
    const full = new SvcError('storage_full', 'the store is full', { retryAfter: 5 })
    const ingest = vi.spyOn(door.engine, 'ingest').mockRejectedValue(full)
    const answer = await send('{"create":{}}\n{"n":1}\n')
    ingest.mockRestore()
    expect([answer.status, answer.headers['retry-after'], answer.text]).toEqual([
      503,
      '5',
      'the store is full',
    ])
    // rsyslog drops what it is answered in JSON.
    expect(answer.headers['content-type']).toContain('text/plain')
  })

  it('lets others in while a long request is taken apart', async () => {
    let [turns, isRead] = [0, false]
    const read = readBulk('/ingest/x/_bulk', Buffer.from('{"create":{}}\n{"n":1}\n'.repeat(10_000))).then(
      (bulk) => {
        isRead = true
        return bulk
      },
    )
    for (; !isRead; turns++) await nextTurn()
    expect((await read).actions).toHaveLength(10_000)
    expect(turns).toBeGreaterThanOrEqual(4)
  })

  it('is answered what it asks before it sends, so that it sets up nothing', async () => {
    for (const [path, told] of [
      ['/', '"number":"8.19.0"'],
      ['/_license?human=false', '"status":"active"'],
      ['/_cluster/health?timeout=30s', 'green'],
      ['/_index_template/filebeat', '{}'],
      ['/_ilm/policy/filebeat', '{}'],
      ['/shop/_refresh', '_shards'],
    ] as const) {
      const answer = await door.call('GET', `${url}${path}`, undefined, basic(secret))
      expect([path, answer.status, answer.headers['x-elastic-product']]).toEqual([path, 200, 'Elasticsearch'])
      expect(answer.text).toContain(told)
    }
    expect((await door.call('HEAD', `${url}/_index_template/x`, undefined, basic(secret))).status).toBe(200)
    expect((await door.call('GET', `${url}/_search`, undefined, basic(secret))).status).toBe(404)
    expect((await door.call('GET', url, undefined, basic(secret))).json().detail).toContain('ingest URL')
  })

  it('gives its key as an API key, with an id before it or not, or as a password: one that may send alone', async () => {
    const line = '{"create":{}}\n{"n":1}\n'
    const both = Buffer.from(`id:${secret}`).toString('base64')
    for (const authorization of [
      `ApiKey ${secret}`,
      `ApiKey ${both}`,
      basic(secret).authorization,
      `Bearer ${secret}`,
    ])
      expect((await send(line, '/_bulk', { authorization })).status).toBe(200)
    // Read as base64 this one has colons, as an id in front would have one.
    const key = 'svc_k1_aOjo6Ojo6Ojo6Ojo6Ojo6Ojo6'
    expect(keyOfSender({ url: '/', headers: { authorization: `ApiKey ${key}` } })).toBe(key)
    const refused = await send(line, '/_bulk', basic(ROOT))
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('scope ingest alone')])
    expect((await send(line, '/_bulk', basic('svc_none'))).status).toBe(401)
    expect((await door.call('GET', '/api/sources', undefined, basic(ROOT))).status).toBe(401)
  })

  it('is refused as a whole what is no bulk request, which its source tells, and asked to come again in text alone', async () => {
    for (const [body, said] of [
      ['', 'the body is empty'],
      ['{"inex":{}}\n{}\n', 'line 1 must be an action'],
      ['{"index":{}}\n', 'no document follows it'],
      [`{"index":{"_index":"${'x'.repeat(256)}"}}\n{}\n`, 'longer than 255 bytes'],
    ] as const) {
      const answer = await send(body)
      expect([answer.status, answer.json()]).toEqual([
        400,
        expect.objectContaining({ status: 400, detail: expect.stringContaining(said) }),
      ])
    }
    const sources = await door.call('GET', '/api/sources', undefined, door.as(ROOT))
    expect(sources.text).toMatch(/bodies were refused, whole or in part/)
    // rsyslog drops what is refused in JSON, and sends again what is not.
    const answer = await door.call('POST', `${url}/_bulk`, '{"create":{}}\n{"n":1}\n', TYPE)
    expect([answer.status, answer.text]).toEqual([401, 'authentication required'])
    expect(answer.headers['content-type']).toContain('text/plain')
  })
})
