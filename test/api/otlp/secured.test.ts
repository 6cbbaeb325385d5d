import { once } from 'node:events'
import { connect } from 'node:http2'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ENCODINGS, exportLog } from './exporters.ts'
import { callGrpc, framed } from './grpc-call.ts'
import { openReceiver, type Receiver } from './receiver.ts'

describe('OTLP on a secured instance', () => {
  let receiver: Receiver
  beforeAll(async () => {
    receiver = await openReceiver({ secured: true })
  })
  afterAll(() => receiver.close())

  it('wants a key with the scope ingest, over HTTP and over gRPC', async () => {
    const read = { authorization: `Bearer ${await receiver.key(['read'])}` }
    const ingest = { authorization: `Bearer ${await receiver.key(['ingest'])}` }
    expect((await receiver.post('logs', '{}')).status).toBe(401)
    expect((await receiver.post('logs', '{}', read)).status).toBe(403)
    expect((await receiver.post('logs', '{}', ingest)).status).toBe(200)
    expect(await callGrpc(receiver.grpcPort)).toMatchObject({
      status: 16,
      message: 'authentication required',
    })
    expect(await callGrpc(receiver.grpcPort, read)).toMatchObject({ status: 7 })
    expect(await callGrpc(receiver.grpcPort, ingest)).toMatchObject({ status: 0 })
  })

  it('takes the key of a source for that source, wherever there are several', async () => {
    const { key } = await receiver.source('edge', 'otlp')
    await receiver.source('core', 'otlp')
    const headers = { authorization: `Bearer ${key!.secret}` }
    for (const encoding of ENCODINGS) await exportLog({ ...receiver, encoding, headers }, 'bound')
    const rows = await receiver.read({ service: 'bound' })
    expect(rows.map((row) => row.source)).toEqual(['edge', 'edge', 'edge'])
    expect((await receiver.post('logs', '{}', { ...headers, 'x-svc-source': 'core' })).status).toBe(403)
    expect(await callGrpc(receiver.grpcPort, { ...headers, 'x-svc-source': 'core' })).toMatchObject({
      status: 7,
    })
  })

  it('says over gRPC what is wrong with a call', async () => {
    const { key } = await receiver.source('calls', 'otlp')
    const headers = { authorization: `Bearer ${key!.secret}` }
    const port = receiver.grpcPort
    expect(await callGrpc(port, { ...headers, ':path': '/other.Service/Export' })).toMatchObject({
      status: 12,
    })
    expect(await callGrpc(port, headers, new Uint8Array(2))).toMatchObject({
      status: 3,
      message: 'the call holds no message',
    })
    expect(await callGrpc(port, headers, new Uint8Array([0, 0, 0, 0, 3, 0x0a, 0x7f, 0]))).toMatchObject({
      status: 3,
      message: expect.stringContaining('no protobuf message'),
    })
    const bomb = gzipSync(Buffer.alloc(65 * 1024 * 1024))
    expect(await callGrpc(port, { ...headers, 'grpc-encoding': 'gzip' }, framed(bomb, true))).toMatchObject({
      status: 8,
      message: expect.stringContaining('decompresses to more than 64 MiB'),
    })
    expect(await callGrpc(port, headers, framed(Buffer.alloc(17 * 1024 * 1024)))).toMatchObject({
      status: 8,
      message: 'the message is larger than 16 MiB',
    })
    const packed = new Uint8Array([1, 0, 0, 0, 1, 0])
    expect(await callGrpc(port, { ...headers, 'grpc-encoding': 'br' }, packed)).toMatchObject({ status: 12 })
  })
})

describe('OTLP/gRPC on a full store', () => {
  it('A9: is refused with RetryInfo, which says when to come again', async () => {
    const receiver = await openReceiver({ maxDbSize: 1 })
    await receiver.source('otlp', 'otlp')
    const { status, details } = await callGrpc(receiver.grpcPort)
    expect(status).toBe(8)
    // google.rpc.RetryInfo { retry_delay { seconds: 5 } }
    expect(details).toContain('type.googleapis.com/google.rpc.RetryInfo\x12\x04\n\x02\x08\x05')
    await receiver.close()
  })
})

describe('OTLP/gRPC at the end of the daemon', () => {
  it('lets go of a client that stays', async () => {
    const receiver = await openReceiver()
    const session = connect(`http://127.0.0.1:${receiver.grpcPort}`)
    await once(session, 'connect')
    const closed = once(session, 'close')
    await receiver.close()
    await closed
  })
})

describe('OTLP/gRPC on a port in use', () => {
  it('is off and says why, and the daemon goes on', async () => {
    const first = await openReceiver()
    const second = await openReceiver()
    expect(await second.app.svc.startOtlpGrpc(first.grpcPort)).toEqual({
      port: null,
      problem: `port ${first.grpcPort} on 127.0.0.1 is in use; set SVC_OTLP_GRPC_PORT to a free port, or to off`,
    })
    expect((await second.post('logs', '{}')).status).toBe(200)
    await Promise.all([first.close(), second.close()])
  })
})
