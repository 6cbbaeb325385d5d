/** Issue 16, A9: what a real exporter makes of a full store: it waits as it is told, and sends again. */
import { describe, expect, it } from 'vitest'
import { exportLog, exportSpan, spanOverGrpc } from './exporters.ts'
import { openReceiver } from './receiver.ts'

const BULK = JSON.stringify(Array.from({ length: 100 }, () => ({ service: 'bulk', text: 'x'.repeat(2_000) })))
const RESOURCE_EXHAUSTED = 8

/** A receiver whose store takes no more, until room is made. */
async function openFull() {
  const clock = { at: Date.now(), now: () => clock.at }
  const receiver = await openReceiver({ maxDbSize: 4_000_000, clock })
  await receiver.source('otlp', 'otlp')
  const { ingest_key } = await receiver.source('bulk', 'webhook', {
    labels: [{ name: 'service', field: 'service', primary: true }],
  })
  let status = 202
  while (status === 202) {
    clock.at += 2_000
    status = (await fetch(`${receiver.url}/ingest/${ingest_key}`, { method: 'POST', body: BULK })).status
  }
  expect(status).toBe(507)
  const makeRoom = async (): Promise<void> => {
    const gone = await receiver.call('DELETE', '/api/sources/bulk?cascade=true&purge_events=true')
    expect(gone).not.toHaveProperty('detail')
    while (receiver.engine.maintain());
    clock.at += 2_000
  }
  return { receiver, makeRoom }
}

/** What the SDK takes for an export, tries and all, unless it is told otherwise. */
const EXPORT_SECONDS = 10

describe('A9: the OpenTelemetry SDK for Node', () => {
  it.concurrent.each([
    ['logs', 'json'],
    ['logs', 'protobuf'],
    ['traces', 'protobuf'],
  ] as const)(
    'sends %s in %s again once a purge has made room, and nothing is lost',
    async (signal, encoding) => {
      const { receiver, makeRoom } = await openFull()
      const answered: number[] = []
      const waits: number[] = []
      const refused = new Promise<void>((resolve) => {
        receiver.app.server.on('request', ({ url = '' }, response) => {
          if (!url.startsWith('/v1/')) return
          response.once('finish', () => {
            answered.push(response.statusCode)
            if (response.statusCode === 503) waits.push(Number(response.getHeader('retry-after')))
            resolve()
          })
        })
      })
      // It waits as Retry-After says, by its own clock.
      const send = signal === 'logs' ? exportLog : exportSpan
      const sent = send({ ...receiver, encoding }, 'checkout')
      await refused
      await makeRoom()
      await sent
      // Where making room takes longer than it waits, it is refused more than once.
      expect(answered).toEqual([...waits.map(() => 503), 200])
      for (const seconds of waits) {
        expect(seconds).toBeGreaterThan(0)
        expect(2 * seconds).toBeLessThanOrEqual(EXPORT_SECONDS)
      }
      const rows = await receiver.read({ service: 'checkout' })
      expect(rows.map(({ text }) => text)).toEqual([
        expect.stringContaining(signal === 'logs' ? 'payment declined' : 'charge card'),
      ])
      await receiver.close()
    },
  )
})

describe('A9: the trace exporter of the OpenTelemetry SDK for Node, over gRPC', () => {
  // It takes every refusal of gRPC as the end of that export, which it tells: trying again is its caller's.
  it('is told RESOURCE_EXHAUSTED and when to come again, and is taken once there is room', async () => {
    const { receiver, makeRoom } = await openFull()
    const exporter = spanOverGrpc(receiver)
    const refused = await exporter.send('checkout')
    expect(refused).toMatchObject({ code: 1, error: { code: RESOURCE_EXHAUSTED } })
    const [details] = refused.error.metadata.get('grpc-status-details-bin')
    // google.rpc.RetryInfo { retry_delay { seconds: 5 } }
    expect(details!.toString('latin1')).toContain(
      'type.googleapis.com/google.rpc.RetryInfo\x12\x04\n\x02\x08\x05',
    )
    await makeRoom()
    expect(await exporter.send('checkout')).toEqual({ code: 0 })
    expect(await receiver.read({ service: 'checkout' })).toHaveLength(1)
    await exporter.shutdown()
    await receiver.close()
  })
})
