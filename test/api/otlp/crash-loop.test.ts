/** Issue 16, A1: what compresses well is no bomb. Bytes are those the official serializers write. */
import { deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { JsonLogsSerializer, ProtobufLogsSerializer } from '@opentelemetry/otlp-transformer'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ReadResult } from '../../../schemas/types.ts'
import { gzipOfZeros } from '../zeros.ts'
import { callGrpc, framed } from './grpc-call.ts'
import { openReceiver, type Receiver } from './receiver.ts'

const COMPRESSIONS = [
  ['gzip', gzipSync],
  ['zstd', zstdCompressSync],
  ['deflate', deflateSync],
] as const
const RECORDS = 3_000
const STACK = `panic: boom\n${'\tgoroutine 1 [running]: main.pay(0x1, 0x2)\n'.repeat(56)}`.slice(0, 2_500)

/** As a batch of the Collector: equal records of one service. */
const records = (service: string) =>
  Array.from({ length: RECORDS }, () => ({
    hrTime: [Math.floor(Date.now() / 1_000), 0],
    hrTimeObserved: [Math.floor(Date.now() / 1_000), 0],
    severityNumber: 17,
    severityText: 'ERROR',
    body: STACK,
    attributes: {},
    resource: { attributes: { 'service.name': service } },
    instrumentationScope: { name: 'app' },
    droppedAttributesCount: 0,
  })) as never

describe('A1: a crash loop, 3,000 equal logs with a stack trace of 2,500 bytes', () => {
  let receiver: Receiver
  beforeAll(async () => {
    receiver = await openReceiver()
  })
  afterAll(() => receiver.close())

  const storedOf = async (service: string) => {
    const { rows } = await receiver.call<ReadResult>('POST', '/read', {
      selector: { service },
      window: '1h',
      max_tokens: 100_000,
    })
    return rows.reduce((sum, row) => sum + (row.fold?.count ?? 1), 0)
  }

  it.each(COMPRESSIONS)(
    'is stored whole with %s, in both encodings and over gRPC',
    async (name, compress) => {
      const forms = [
        ['json', JsonLogsSerializer, 'application/json'],
        ['protobuf', ProtobufLogsSerializer, 'application/x-protobuf'],
      ] as const
      for (const [form, serializer, type] of forms) {
        const service = `${name}-${form}`
        const plain = Buffer.from(serializer.serializeRequest(records(service))!)
        const body = compress(plain)
        expect(plain.length / body.length).toBeGreaterThan(100)
        const headers = { 'content-type': type, 'content-encoding': name }
        const answer = await receiver.post('logs', new Uint8Array(body), headers)
        expect(answer.status).toBe(200)
        expect(await storedOf(service)).toBe(RECORDS)
      }
      const body = compress(Buffer.from(ProtobufLogsSerializer.serializeRequest(records(`${name}-grpc`))!))
      expect(await callGrpc(receiver.grpcPort, { 'grpc-encoding': name }, framed(body, true))).toMatchObject({
        status: 0,
      })
      expect(await storedOf(`${name}-grpc`)).toBe(RECORDS)
    },
  )

  it.each(COMPRESSIONS)('is stored as NDJSON and as JSON on /ingest with %s', async (name, compress) => {
    const { ingest_key } = await receiver.source(`app_${name}`, 'webhook')
    const lines = Array.from({ length: RECORDS }, () => JSON.stringify({ message: STACK }))
    for (const [type, text] of [
      ['application/x-ndjson', lines.join('\n')],
      ['application/json', `[${lines.join(',')}]`],
    ] as const) {
      const answer = await fetch(`${receiver.url}/ingest/${ingest_key}`, {
        method: 'POST',
        headers: { 'content-type': type, 'content-encoding': name },
        body: new Uint8Array(compress(text)),
      })
      expect([answer.status, await answer.json()]).toMatchObject([202, { ingested: RECORDS }])
    }
  })

  it('is taken to 64 MiB inflated, which decide alone, and a bomb of a gigabyte is not', async () => {
    const pad = 'x'.repeat(1024 * 1024 - 100)
    const wide = Array.from({ length: 63 }, () => ({ body: { stringValue: pad } }))
    const post = (body: Buffer) => receiver.post('logs', new Uint8Array(body), { 'content-encoding': 'gzip' })
    const export63 = { resourceLogs: [{ scopeLogs: [{ logRecords: wide }] }] }
    expect((await post(gzipSync(JSON.stringify(export63)))).status).toBe(200)
    // Without a gigabyte of the test's own, which would be in what is measured.
    const packed = gzipOfZeros(1024)
    const before = process.memoryUsage().arrayBuffers
    const bomb = await post(packed)
    expect([bomb.status, ((await bomb.json()) as { detail: string }).detail]).toEqual([
      413,
      'the body decompresses to more than 64 MiB; send less at once',
    ])
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(200 * 1024 * 1024)
  })
})
