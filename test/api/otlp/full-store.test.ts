/** Issue 16, A9: what a real exporter makes of a full store: it waits as it is told, and sends again. */
import { describe, expect, it } from 'vitest'
import { exportLog, exportSpan } from './exporters.ts'
import { openReceiver } from './receiver.ts'

const BULK = JSON.stringify(Array.from({ length: 100 }, () => ({ service: 'bulk', text: 'x'.repeat(2_000) })))

describe('A9: the OpenTelemetry SDK for Node, at its own timeout of 10 s', () => {
  it.concurrent.each([
    ['logs', 'json'],
    ['logs', 'protobuf'],
    ['traces', 'protobuf'],
  ] as const)(
    'sends %s in %s again once a purge has made room, and nothing is lost',
    async (signal, encoding) => {
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

      const answered: number[] = []
      const refused = new Promise<void>((resolve) => {
        receiver.app.server.on('request', ({ url = '' }, response) => {
          if (!url.startsWith('/v1/')) return
          response.once('finish', () => {
            answered.push(response.statusCode)
            resolve()
          })
        })
      })
      // It waits as Retry-After says, by its own clock.
      const send = signal === 'logs' ? exportLog : exportSpan
      const sent = send({ ...receiver, encoding }, 'checkout')
      await refused
      const gone = await receiver.call('DELETE', '/api/sources/bulk?cascade=true&purge_events=true')
      expect(gone).not.toHaveProperty('detail')
      while (receiver.engine.maintain());
      clock.at += 2_000
      await sent
      expect(answered).toEqual([503, 200])
      const rows = await receiver.read({ service: 'checkout' })
      expect(rows.map(({ text }) => text)).toEqual([
        expect.stringContaining(signal === 'logs' ? 'payment declined' : 'charge card'),
      ])
      await receiver.close()
    },
  )
})
