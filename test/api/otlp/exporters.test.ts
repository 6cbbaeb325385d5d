import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { ENCODINGS, exportLog, exportMetrics, exportSpan } from './exporters.ts'
import { openReceiver, type Receiver, type StoredRow } from './receiver.ts'

let receiver: Receiver
beforeAll(async () => {
  receiver = await openReceiver()
})
afterAll(() => receiver.close())

const byType = (rows: readonly StoredRow[], type: string): StoredRow => {
  const row = rows.find((one) => one.event_type === type)
  if (!row) throw new Error(`no event ${type} among ${rows.map((one) => one.event_type).join(', ')}`)
  return row
}

describe.each(ENCODINGS)('exporters of the OpenTelemetry SDK, %s', (encoding) => {
  it('bring a log record, a span and metric points to the timeline of their service', async () => {
    const service = `checkout-${encoding}`
    const to = { ...receiver, encoding }
    await exportLog(to, service)
    const span = await exportSpan(to, service)
    await exportMetrics(to, service)
    const rows = await receiver.read({ service })
    expect(rows.every((row) => row.source === 'otlp' && row.labels.service === service)).toBe(true)

    expect(byType(rows, 'ERROR')).toMatchObject({
      text: 'payment declined [/pay]',
      raw: {
        signal: 'logs',
        severityNumber: 17,
        severityText: 'ERROR',
        body: 'payment declined',
        attributes: { 'http.route': '/pay', 'user.id': 42, tags: ['a', 'b'], ratio: 0.25, done: false },
        resourceAttributes: { 'service.name': service, 'deployment.environment.name': 'prod' },
        scope: { name: 'shop', version: '1.2.3' },
      },
    })
    expect(byType(rows, 'span')).toMatchObject({
      text: 'charge card (12.5ms) ERROR: declined',
      raw: {
        signal: 'traces',
        traceId: span.traceId,
        spanId: span.spanId,
        name: 'charge card',
        attributes: { 'card.brand': 'visa' },
        events: [expect.objectContaining({ name: 'retried', attributes: { attempt: 2 } })],
        status: { code: 2, message: 'declined' },
      },
    })
    expect(byType(rows, 'orders')).toMatchObject({
      text: 'orders{region=eu}=3',
      raw: {
        signal: 'metrics',
        metricType: 'sum',
        metricName: 'orders',
        unit: '1',
        isMonotonic: true,
        attributes: { region: 'eu' },
      },
    })
    expect(byType(rows, 'temperature')).toMatchObject({ text: 'temperature=21.5 Cel' })
    expect(byType(rows, 'took')).toMatchObject({
      text: 'took=2 (sum 2010 ms)',
      raw: { metricType: 'histogram', count: 2, sum: 2010, min: 10, max: 2000 },
    })
    const { bucketCounts, explicitBounds } = byType(rows, 'took').raw as Record<string, number[]>
    expect(bucketCounts).toHaveLength(explicitBounds!.length + 1)
    expect(byType(rows, 'size')).toMatchObject({
      raw: { metricType: 'exponentialHistogram', count: 2, sum: 1_000_001, zeroCount: 0 },
    })
  })
  it('bring what a histogram measured to a trigger, since the export before or as deltas', async () => {
    const own = await openReceiver()
    onTestFinished(() => own.close())
    const labels = [
      { name: 'service', field: 'resourceAttributes.service.name', primary: true },
      ...['mean', 'p95', 'rate'].map((name) => ({ name, field: name, type: 'number' })),
    ]
    await own.source('otlp', 'otlp', { labels })
    const filters = [
      { field: 'event_type', op: 'eq', value: 'took' },
      { field: 'p95', op: 'gt', value: 1500 },
    ]
    const trigger = { name: 'slow', sources: ['otlp'], filters, condition: { event: 'any' } }
    expect(await own.call('POST', '/api/triggers', trigger)).toMatchObject({ name: 'slow' })
    const tookBy = async (service: string) => {
      const query = { selector: { service }, window: '1d', points: 'all', order: 'asc' }
      const { rows } = await own.call<{ rows: StoredRow[] }>('POST', '/read', query)
      return rows.filter(({ event_type }) => event_type === 'took').map((row) => row.labels)
    }
    await exportMetrics({ ...own, encoding }, 'cumulative', false, [3000, 4000])
    await exportMetrics({ ...own, encoding }, 'delta', true)
    // Percentiles go by the bounds of the SDK's buckets; what was measured most is known of a delta alone.
    const [first, second] = await tookBy('cumulative')
    expect(first).not.toHaveProperty('mean')
    expect([second!.mean, second!.p95]).toEqual([3500, 4875])
    expect(Number(second!.rate)).toBeGreaterThan(0)
    expect((await tookBy('delta')).map(({ mean, p95 }) => [mean, p95])).toEqual([[1005, 2000]])
    const { firings } = await own.call<{ firings: { entity: { value: string } }[] }>(
      'GET',
      '/api/firings?trigger=slow',
    )
    expect(firings.map(({ entity }) => entity.value)).toEqual(['delta', 'cumulative'])
  })
})
