/** The prometheus_alerts connector against a real Prometheus, whose rules the test rewrites. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { validateConfig } from '../../../../../engine/sources/connectors/index.ts'
import { prometheusAlerts } from '../../../../../engine/sources/upstreams/prometheus-alerts.ts'
import { NOW, prepared, reach } from '../reach.ts'
import { hasPrometheus, type RealPrometheus, startPrometheus, within } from './real.ts'

const rules = (latency: string) => `
      - alert: HighLatency
        expr: ${latency}
        labels: { severity: critical, service: checkout }
        annotations: { summary: "answers take {{ $value }} s" }
      - { alert: QueueGrows, expr: vector(1), for: 1h, labels: { severity: warning, service: pay } }
`
const LABELS = [
  { name: 'service', field: 'service', primary: true },
  { name: 'severity', field: 'labels.severity' },
  { name: 'state', field: 'state' },
  { name: 'value', field: 'value', type: 'number' as const },
]

describe.skipIf(!hasPrometheus)('alerts of a real Prometheus', () => {
  let real: RealPrometheus
  const config = (more = {}) =>
    validateConfig('prometheus_alerts', { url: real.url, labels: LABELS, ...more })
  const poll = (cursor: string | null, more = {}) => prometheusAlerts.poll(config(more), cursor, reach())
  beforeAll(async () => {
    real = await startPrometheus(rules('vector(2.5) > 1'))
    await real.has('ALERTS{alertstate="firing"} and on() ALERTS{alertstate="pending"}')
  })
  afterAll(() => real?.stop())

  it('are found with their rules, and the proposed config works', async () => {
    const found = await prometheusAlerts.discover!({ url: real.url }, reach())
    expect(found).toMatchObject({
      summary: '2 rules; 1 alert firing, 1 pending. The entity is service, which is on 2 of 2 alerts.',
      rules: [
        { name: 'HighLatency', severity: 'critical', group: 'test', state: 'firing' },
        { name: 'QueueGrows', severity: 'warning', group: 'test', state: 'pending' },
      ],
      severities: ['critical', 'warning'],
    })
    const read = validateConfig('prometheus_alerts', found.proposed_config as Record<string, unknown>)
    const [event] = prepared(prometheusAlerts, read, await prometheusAlerts.poll(read, null, reach()))
    expect(event!.strings).toEqual([
      ['service', 'checkout'],
      ['alertname', 'HighLatency'],
      ['severity', 'critical'],
      ['state', 'firing'],
      ['level', 'error'],
    ])
  })

  it('are an event when they fire, none while nothing changes, and one when they resolve', async () => {
    const first = await poll(null)
    expect(prepared(prometheusAlerts, config(), first)).toMatchObject([
      {
        eventType: 'HighLatency',
        text: 'FIRING: HighLatency · answers take 2.5 s',
        strings: [
          ['service', 'checkout'],
          ['severity', 'critical'],
          ['state', 'firing'],
          ['level', 'error'],
        ],
        numbers: { value: 2.5 },
        dedupeKey: expect.stringMatching(/^[0-9a-f]{16}:firing:20/),
      },
    ])
    expect((await poll(first.cursor)).items).toEqual([])
    const pending = await poll(null, { include_pending: true, severities: 'warning' })
    expect(pending.items.map((item) => JSON.parse(item))).toMatchObject([{ state: 'pending' }])

    await real.reload(rules('vector(2.5) > 3'))
    let over = first
    await within(async () => {
      over = await poll(first.cursor)
      return over.items.length > 0
    }, 'the alert was not resolved')
    expect(prepared(prometheusAlerts, config(), over)).toMatchObject([
      { text: 'RESOLVED: HighLatency · answers take 2.5 s', ts: NOW, dedupeKey: null },
    ])
    expect((await poll(over.cursor)).items).toEqual([])
  })
})
