import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openReceiver, type Receiver } from './receiver.ts'

const PROTOBUF = { 'content-type': 'application/x-protobuf' }

/** An export of log records of one service. */
const logs = (service: string, records: unknown[]): string =>
  JSON.stringify({
    resourceLogs: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: service } }] },
        scopeLogs: [{ logRecords: records }],
      },
    ],
  })

const said = (body: string) => ({ body: { stringValue: body } })

/** A field of protobuf that has a length. */
const field = (number: number, bytes: Buffer): Buffer => {
  const length: number[] = []
  for (let rest = bytes.length; ; rest = Math.floor(rest / 128)) {
    length.push(rest < 128 ? rest : (rest % 128) | 128)
    if (rest < 128) break
  }
  return Buffer.concat([Buffer.from([number * 8 + 2, ...length]), bytes])
}

/** What protobuf says of a refusal or a partial success: its texts are in it as they are. */
const textOf = async (answer: Response): Promise<string> =>
  Buffer.from(await answer.arrayBuffer()).toString('latin1')

describe('OTLP/HTTP', () => {
  let receiver: Receiver
  beforeAll(async () => {
    receiver = await openReceiver()
  })
  afterAll(() => receiver.close())

  it('makes no source for what is refused or holds nothing, and one for the first record', async () => {
    expect((await receiver.post('logs', '{"resourceLogs":[')).status).toBe(400)
    const empty = await receiver.post('logs', '{}')
    expect([empty.status, await empty.json()]).toEqual([200, {}])
    expect(await receiver.sources()).toEqual([])
    expect((await receiver.post('logs', logs('first', [said('hello')]))).status).toBe(200)
    const [source] = await receiver.sources()
    expect(source).toMatchObject({
      name: 'otlp',
      connector: 'otlp',
      config: { labels: [{ name: 'service', field: 'resourceAttributes.service.name', primary: true }] },
    })
  })

  it('stands beside the events of another source on the timeline of one entity', async () => {
    const labels = [{ name: 'service', field: 'service', primary: true }]
    const { ingest_key } = await receiver.source('deploys', 'webhook', { labels })
    await receiver.call('POST', `/ingest/${ingest_key}`, { service: 'billing', message: 'deployed' })
    await receiver.post('logs', logs('billing', [said('started')]))
    const rows = await receiver.read({ service: 'billing' })
    expect(rows.map((row) => row.source).sort()).toEqual(['deploys', 'otlp'])
  })

  it('keeps all digits of 64-bit numbers in JSON, as text and as numbers, in payload and labels', async () => {
    const config = { labels: [{ name: 'order', field: 'attributes.order', primary: true }] }
    await receiver.call('PUT', '/api/sources/otlp', { name: 'otlp', connector: 'otlp', config })
    const time = `${Date.now()}000001`
    const body = logs('digits', [
      { timeUnixNano: time, attributes: [{ key: 'order', value: { intValue: '-9223372036854775808' } }] },
      { attributes: [{ key: 'order', value: { intValue: 'bare' } }] },
    ])
    await receiver.post('logs', body.replace('"bare"', '9007199254740993'))
    for (const order of ['-9223372036854775808', '9007199254740993']) {
      const [row] = await receiver.read({ order })
      expect(row!.raw.attributes).toEqual({ order })
      expect(row!.labels).toEqual({ order, service: 'digits' })
    }
    const [exact] = await receiver.read({ order: '-9223372036854775808' })
    expect(exact!.raw.timeUnixNano).toBe(time)
    expect(Date.parse(exact!.event_time)).toBe(Number(time.slice(0, -6)))
  })

  it('answers in the encoding of the request with what it left out', async () => {
    const wide = { body: { stringValue: 'x'.repeat(1_100_000) } }
    const answer = await receiver.post('logs', logs('partial', [said('kept'), wide]))
    expect(answer.headers.get('content-type')).toContain('application/json')
    expect([answer.status, await answer.json()]).toEqual([
      200,
      { partialSuccess: { rejectedLogRecords: '1', errorMessage: 'record 1: is larger than 1 MiB' } },
    ])
    // ExportLogsServiceRequest { resource_logs { scope_logs { log_records { body {string_value} } } } }
    const record = (text: string): Buffer => field(2, field(5, field(1, Buffer.from(text))))
    const body = field(1, field(2, Buffer.concat([record('kept'), record('x'.repeat(1_100_000))])))
    const protobuf = await receiver.post('logs', new Uint8Array(body), PROTOBUF)
    expect([protobuf.status, protobuf.headers.get('content-type')]).toEqual([200, 'application/x-protobuf'])
    expect(await textOf(protobuf)).toBe('\n\x22\x08\x01\x12\x1erecord 1: is larger than 1 MiB')
  })

  it.each([
    ['logs', '{', 400, 'not valid JSON'],
    ['logs', '[]', 400, 'not an object'],
    ['traces', '{"resourceSpans":{}}', 400, 'resourceSpans is not a list'],
    ['metrics', '', 400, 'the body is empty'],
    ['logs', `${'{"a":'.repeat(2_500)}1${'}'.repeat(2_500)}`, 400, 'nests too deep'],
  ])('refuses %s that are not an export', async (signal, body, status, sentence) => {
    const answer = await receiver.post(signal, body)
    const told = (await answer.json()) as { detail: string; code: number; message: string }
    expect([answer.status, told.detail, told.code]).toEqual([status, expect.stringContaining(sentence), 3])
    expect(told.message).toBe(told.detail)
  })

  it.each([
    ['cut short', Buffer.from([0x0a, 0x7f, 0x00])],
    ['JSON', Buffer.from('{"resourceLogs":[]}')],
    [
      'nested without an end',
      Array.from({ length: 200 }).reduce<Buffer>(
        (inner) => field(5, field(1, inner)),
        field(1, Buffer.from('x')),
      ),
    ],
  ])('refuses protobuf that is %s with a Status in protobuf', async (what, bytes) => {
    const nested = what.startsWith('nested')
    const body = nested ? field(1, field(2, field(2, field(5, bytes)))) : bytes
    const answer = await receiver.post('logs', new Uint8Array(body), PROTOBUF)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'application/x-protobuf'])
    const told = await textOf(answer)
    expect(told.slice(0, 3)).toBe('\x08\x03\x12')
    expect(told).toMatch(nested ? /item 0: body\.a value nests deeper than|nests deeper/ : /the body /)
  })

  it('takes gzip, and refuses what unpacks to far more, another encoding and another type', async () => {
    const packed = gzipSync(logs('packed', [said('small')]))
    expect((await receiver.post('logs', new Uint8Array(packed), { 'content-encoding': 'gzip' })).status).toBe(
      200,
    )
    const bomb = new Uint8Array(gzipSync(Buffer.alloc(65 * 1024 * 1024)))
    const bombed = await receiver.post('logs', bomb, { ...PROTOBUF, 'content-encoding': 'gzip' })
    expect([bombed.status, await textOf(bombed)]).toEqual([
      413,
      expect.stringContaining('decompresses to more than 64 MiB'),
    ])
    const broken = await receiver.post('logs', new Uint8Array(8), { 'content-encoding': 'gzip' })
    expect(broken.status).toBe(400)
    expect((await receiver.post('logs', '{}', { 'content-encoding': 'br' })).status).toBe(415)
    expect((await receiver.post('logs', '{}', { 'content-type': 'text/plain' })).status).toBe(415)
  })

  it('refuses a body over 16 MiB, and one that would be huge when taken apart', async () => {
    expect((await receiver.post('logs', 'x'.repeat(16 * 1024 * 1024 + 1))).status).toBe(413)
    const point = { asInt: '1' }
    const metrics = {
      resourceMetrics: [
        {
          resource: { attributes: [{ key: 'a', value: { stringValue: 'x'.repeat(1_000_000) } }] },
          scopeMetrics: [{ metrics: [{ name: 'm', gauge: { dataPoints: Array(200).fill(point) } }] }],
        },
      ],
    }
    const answer = await receiver.post('metrics', JSON.stringify(metrics))
    expect([answer.status, await answer.json()]).toMatchObject([
      413,
      { detail: expect.stringContaining('128 MiB') },
    ])
  })

  it('asks which of several sources takes it, and knows them by name', async () => {
    await receiver.source('edge', 'otlp')
    const body = logs('named', [said('hi')])
    const unsaid = await receiver.post('logs', body)
    expect([unsaid.status, await unsaid.json()]).toMatchObject([
      400,
      { detail: 'there are several otlp sources; name one in the header X-SVC-Source: otlp, edge' },
    ])
    expect((await receiver.post('logs', body, { 'x-svc-source': 'edge' })).status).toBe(200)
    expect((await receiver.post('logs', body, { 'x-svc-source': 'deploys' })).status).toBe(404)
    const [row] = await receiver.read({ service: 'named' })
    expect(row!.source).toBe('edge')
    await receiver.call('POST', '/api/sources/edge/pause')
    expect((await receiver.post('logs', body, { 'x-svc-source': 'edge' })).status).toBe(409)
  })

  it('says on an ingest URL where an export belongs, and takes single records there', async () => {
    const { ingest_key } = await receiver.source('by_hand', 'otlp')
    const whole = await receiver.call<{ detail: string }>(
      'POST',
      `/ingest/${ingest_key}`,
      JSON.parse(logs('x', [said('y')])),
    )
    expect(whole.detail).toContain('posted to /v1/logs')
    const record = { signal: 'logs', body: 'single', resourceAttributes: { 'service.name': 'hand' } }
    expect(await receiver.call('POST', `/ingest/${ingest_key}`, record)).toMatchObject({ ingested: 1 })
    expect(await receiver.read({ service: 'hand' })).toMatchObject([{ source: 'by_hand', text: 'single' }])
  })

  it('absorbs a repeat with its key', async () => {
    const headers = { 'idempotency-key': 'k1', 'x-svc-source': 'otlp' }
    const body = logs('again', [said('once')])
    for (let i = 0; i < 2; i++) expect((await receiver.post('logs', body, headers)).status).toBe(200)
    expect(await receiver.read({ service: 'again' })).toHaveLength(1)
  })
})

describe('OTLP on a full store', () => {
  it('A9: is refused with 503 and Retry-After in the encoding of the request', async () => {
    const receiver = await openReceiver({ maxDbSize: 1 })
    await receiver.source('otlp', 'otlp')
    const answer = await receiver.post('logs', logs('full', [said('no')]))
    expect([answer.status, await answer.json()]).toMatchObject([503, { code: 8 }])
    expect(answer.headers.get('retry-after')).toBe('5')
    const protobuf = await receiver.post('logs', new Uint8Array(), PROTOBUF)
    expect([protobuf.status, protobuf.headers.get('content-type')]).toEqual([503, 'application/x-protobuf'])
    expect(await textOf(protobuf)).toContain('type.googleapis.com/google.rpc.RetryInfo')
    await receiver.close()
  })
})
