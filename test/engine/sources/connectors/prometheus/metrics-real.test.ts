/** The prometheus connector against a real Prometheus. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { validateConfig } from '../../../../../engine/sources/connectors/index.ts'
import { prometheus } from '../../../../../engine/sources/upstreams/prometheus.ts'
import { NOW, prepared, reach } from '../reach.ts'
import { hasPrometheus, type RealPrometheus, startPrometheus } from './real.ts'

const RULES = `
      - { record: queue_depth, expr: vector(7.25), labels: { service: checkout, zone: a } }
      - { record: queue_depth, expr: vector(3), labels: { service: pay, zone: a } }
      - { record: jobs_total, expr: vector(12), labels: { service: checkout } }
      - { record: "zone:queue_depth:sum", expr: vector(10), labels: { zone: a } }
      - { record: begun_anew_total, expr: time() % 0.5 * 10, labels: { service: pay } }
      - { record: endless, expr: vector(1) / 0, labels: { service: pay } }
`
const LABELS = [
  { name: 'service', field: 'metric.service', primary: true },
  { name: 'value', field: 'value', type: 'number' as const },
]

describe.skipIf(!hasPrometheus)('a real Prometheus', () => {
  let real: RealPrometheus
  beforeAll(async () => {
    real = await startPrometheus(RULES)
    await real.has('queue_depth and on() jobs_total and on() endless')
  })
  afterAll(() => real?.stop())

  const config = (queries: unknown[], more = {}) =>
    validateConfig('prometheus', { url: `${real.url}/`, queries, labels: LABELS, ...more })

  it('gives an event for each series, with its value as a number label at the time of the poll', async () => {
    const read = config([{ promql: 'queue_depth', by_name: true, key_label: 'service' }])
    const polled = await prometheus.poll(read, null, reach())
    expect(polled).toMatchObject({ cursor: null })
    expect(polled.notice).toBeUndefined()
    expect(polled.items.map((item) => JSON.parse(item))).toContainEqual({
      metric: { __name__: 'queue_depth', service: 'checkout', zone: 'a' },
      value: 7.25,
      promql: 'queue_depth',
      time: '2026-11-20T12:00:00.000Z',
    })
    expect(prepared(prometheus, read, polled)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          eventType: 'queue_depth',
          text: 'checkout queue_depth=7.25',
          ts: NOW,
          strings: [['service', 'checkout']],
          hasEntity: true,
          numbers: { value: 7.25 },
        }),
      ]),
    )
    expect(polled.items).toHaveLength(2)
  })

  it('gives a counter as its rate, and one that begins anew is no fall', async () => {
    // Ten a second, from 0 every half second: what is between first and last is 5 at most. Prometheus extrapolates to the
    // ends of the window, and by less when a scrape was just taken: what is asked later may be a little less than 20.
    await real.has('increase(begun_anew_total[1m]) > 20')
    const read = config([{ promql: 'begun_anew_total{service="pay"}', rate_over: '1m', by_name: true }])
    const polled = await prometheus.poll(read, null, reach())
    const [item] = polled.items.map((one) => JSON.parse(one) as { value: number })
    expect(item).toMatchObject({
      metric: { __name__: 'begun_anew_total', service: 'pay' },
      promql: 'rate(begun_anew_total{service="pay"}[1m])',
    })
    expect(item!.value * 60).toBeGreaterThan(10)
    expect(item!.value).toBeLessThan(15)
    expect(prepared(prometheus, read, polled)).toMatchObject([
      { eventType: 'begun_anew_total', text: expect.stringMatching(/ per_second=\d/) },
    ])
  })

  it('answers scalars too, and values without end are left out', async () => {
    const polled = await prometheus.poll(
      config([
        { promql: 'scalar(sum(queue_depth))' },
        { promql: 'endless' },
        { promql: 'endless - endless' },
      ]),
      null,
      reach(),
    )
    expect(polled.items.map((item) => JSON.parse(item))).toMatchObject([{ metric: {}, value: 10.25 }])
  })

  it('stores what works beside a query that does not, and tells the one with its own words', async () => {
    const polled = await prometheus.poll(
      config([{ promql: 'jobs_total' }, { promql: 'sum(' }, { promql: 'jobs_total[5m]' }]),
      null,
      reach(),
    )
    expect(polled.items).toHaveLength(1)
    expect(polled.notice).toMatch(
      /^Query 2 \(sum\(\): Prometheus refuses the request \(400\): .*parse error.*\./,
    )
    expect(polled.notice).toContain('Query 3 (jobs_total[5m]): The query gives a range of values')
  })

  it('fails where every query does', async () => {
    await expect(prometheus.poll(config([{ promql: 'sum(' }]), null, reach())).rejects.toThrow(/parse error/)
  })

  it('is read into a config from its catalog, a label, or chosen metrics, and each config works', async () => {
    const discover = (more = {}) => prometheus.discover!({ url: real.url, ...more }, reach())
    const catalog = await discover()
    expect(catalog).toMatchObject({
      connector: 'prometheus',
      catalog: {
        metrics: expect.arrayContaining(['queue_depth', 'jobs_total']),
        labels: ['service', 'zone'],
      },
      truncated: false,
    })
    expect((catalog.catalog as { metrics: string[] }).metrics).not.toContain('zone:queue_depth:sum')
    const forLabel = await discover({ for_label: 'zone' })
    expect(forLabel).toMatchObject({
      summary: expect.stringMatching(/^1 metric with the label zone; the entity is zone, which is on \d+ of/),
      metrics_for_label: ['queue_depth'],
    })
    const selected = await discover({ selected: ['queue_depth', 'jobs_total'] })
    expect(selected).toMatchObject({
      summary: expect.stringMatching(/^2 metrics; the entity is service, which is on \d+ of the \d+ series/),
      selected_count: 2,
      suggested_key: {
        name: 'service',
        cardinality: 2,
        values_preview: ['checkout', 'pay'],
        alternatives: [],
      },
      proposed_labels: [
        { name: 'service', field: 'metric.service', primary: true },
        { name: 'zone', field: 'metric.zone' },
        { name: 'value', field: 'value', type: 'number' },
      ],
      preview: [
        { name: 'queue_depth', type: 'gauge' },
        { name: 'jobs_total', type: 'counter', rate_over: '5m', sample: 12, labels: { service: 'checkout' } },
      ],
    })
    for (const { proposed_config } of [catalog, forLabel, selected]) {
      const read = validateConfig('prometheus', proposed_config as Record<string, unknown>)
      const events = prepared(prometheus, read, await prometheus.poll(read, null, reach()))
      expect(events.length).toBeGreaterThan(0)
      for (const event of events)
        expect(event).toMatchObject({ hasEntity: true, numbers: { value: expect.any(Number) } })
    }
    const read = selected.proposed_config as Record<string, unknown>
    const texts = prepared(prometheus, read, await prometheus.poll(read, null, reach())).map(
      ({ text }) => text,
    )
    expect(texts.sort()).toEqual([
      'checkout jobs_total=0/s',
      'checkout queue_depth=7.25',
      'pay queue_depth=3',
    ])
  })
})
