/** Exports compressed as the Collector of OpenTelemetry can be set to. */
import { deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callGrpc, framed } from './grpc-call.ts'
import { openReceiver, type Receiver } from './receiver.ts'

/** By the names of the Collector's setting `compression`. */
const COMPRESSIONS = [
  ['gzip', gzipSync],
  ['zstd', zstdCompressSync],
  ['deflate', deflateSync],
  ['zlib', deflateSync],
] as const

/** A field of protobuf with a length of one byte. */
const field = (number: number, content: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from([number * 8 + 2, Buffer.byteLength(content)]), Buffer.from(content)])

const attribute = (key: string, value: string) => Buffer.concat([field(1, key), field(2, field(1, value))])

/** ExportLogsServiceRequest with one record of one service. */
const exportOf = (service: string): Buffer =>
  field(
    1,
    Buffer.concat([
      field(1, field(1, attribute('service.name', service))),
      field(2, field(2, field(5, field(1, 'card declined')))),
    ]),
  )

describe('an export that is compressed', () => {
  let receiver: Receiver
  beforeAll(async () => {
    receiver = await openReceiver()
  })
  afterAll(() => receiver.close())

  const textsOf = async (service: string) => (await receiver.read({ service })).map(({ text }) => text)

  it.each(COMPRESSIONS)('over HTTP with %s is stored', async (name, compress) => {
    const body = new Uint8Array(compress(exportOf(`http-${name}`)))
    const headers = { 'content-type': 'application/x-protobuf', 'content-encoding': name }
    expect((await receiver.post('logs', body, headers)).status).toBe(200)
    expect(await textsOf(`http-${name}`)).toEqual(['card declined'])
  })

  it.each(COMPRESSIONS)('over gRPC with %s is stored', async (name, compress) => {
    const body = framed(compress(exportOf(`grpc-${name}`)), true)
    expect(await callGrpc(receiver.grpcPort, { 'grpc-encoding': name }, body)).toMatchObject({ status: 0 })
    expect(await textsOf(`grpc-${name}`)).toEqual(['card declined'])
  })

  it.each(COMPRESSIONS)(
    'with %s is refused when it unpacks to far more, or is cut short',
    async (name, compress) => {
      const bomb = compress(Buffer.alloc(65 * 1024 * 1024))
      const headers = { 'content-type': 'application/x-protobuf', 'content-encoding': name }
      expect((await receiver.post('logs', new Uint8Array(bomb), headers)).status).toBe(413)
      expect(await callGrpc(receiver.grpcPort, { 'grpc-encoding': name }, framed(bomb, true))).toMatchObject({
        status: 8,
      })
      const whole = compress(exportOf(`cut-${name}`))
      const cut = whole.subarray(0, whole.length - 5)
      expect((await receiver.post('logs', new Uint8Array(cut), headers)).status).toBe(400)
      expect(await callGrpc(receiver.grpcPort, { 'grpc-encoding': name }, framed(cut, true))).toMatchObject({
        status: 3,
      })
      expect(await textsOf(`cut-${name}`)).toEqual([])
    },
  )
})
