/** Metric series and the activity of agents over stored points, spans and runs. */
import { describe, expect, it } from 'vitest'
import { activityInSteps, spansInSteps } from '../../../../engine/agents/telemetry/activity.ts'
import { metricsInSteps } from '../../../../engine/agents/telemetry/metric-series.ts'
import { atOnce } from '../../../../engine/log/steps.ts'
import { addSource, event, openHarness, T0 } from '../../log/store/store-harness.ts'

const SECOND = 1_000
const NOW = T0 + 600 * SECOND

function world() {
  const harness = openHarness()
  const source = addSource(harness.store, 'otlp', [{ name: 'service', field: 'service', primary: true }])
  const put = (type: string, labels: Record<string, string>, at: number, raw: object) =>
    harness.append(
      [
        event({ service: 'shop', ...labels }, T0 + at * SECOND, {
          eventType: type,
          text: type,
          raw: Buffer.from(JSON.stringify(raw)),
        }),
      ],
      { sourceId: source },
    )
  return {
    ...harness,
    point: (at: number, more: object) =>
      put('orders', { signal: 'metrics' }, at, {
        ...{ signal: 'metrics', metricName: 'orders', metricType: 'sum', isMonotonic: true },
        ...{ aggregationTemporality: 2, startTimeUnixNano: '1', attributes: { region: 'eu' }, ...more },
      }),
    span: (at: number, id: string, more: object = {}) =>
      put('span', { signal: 'traces', trace_id: 'a'.repeat(32) }, at, {
        ...{ spanId: id, name: `span ${id}`, traceId: 'a'.repeat(32) },
        ...{
          startTimeUnixNano: `${T0 + at * SECOND}000000`,
          endTimeUnixNano: `${T0 + at * SECOND + 10}000000`,
        },
        ...more,
      }),
    series: () => atOnce(metricsInSteps(harness.ctx, { window: '1h' }, NOW)).series,
    activity: () => atOnce(activityInSteps(harness.ctx, { window: '1h' }, NOW)).agents,
    spans: (asked: Parameters<typeof spansInSteps>[1]) => atOnce(spansInSteps(harness.ctx, asked, NOW)),
  }
}

describe('a counter', () => {
  it('that began anew counts from 0, whether its start says so or its value fell', () => {
    const { point, series } = world()
    point(0, { asInt: 100 })
    point(10, { asInt: 130 })
    // The process was started again, twice: the second time the sender says no start.
    point(20, { asInt: 5, startTimeUnixNano: '2' })
    point(30, { asInt: 7, startTimeUnixNano: '2' })
    point(40, { asInt: 3, startTimeUnixNano: '2' })
    expect(series()).toEqual([
      expect.objectContaining({ type: 'counter', latest: 3, points: 5, increase: 30 + 5 + 2 + 3, rate: 1 }),
    ])
  })

  it('is drawn by what it counted a second in each part of the window, with gaps where there is no point', () => {
    const { point, series } = world()
    // An hour before NOW has parts of a minute; the clock of the test is ten minutes in.
    point(0, { asInt: 0 })
    point(90, { asInt: 120 })
    point(300, { asInt: 180 })
    const { line } = series()[0]!
    expect(line.length).toBe(60)
    const known = line.flatMap((value, at) => (value === null ? [] : [[at, value]]))
    expect(known.map(([, value]) => value)).toEqual([expect.closeTo(2, 1), expect.closeTo(1, 1)])
    expect(known[1]![0]! - known[0]![0]!).toBeGreaterThanOrEqual(3)
  })

  it('of one point says nothing of how fast it grows', () => {
    const { point, series } = world()
    point(0, { asInt: 100 })
    expect(series()).toEqual([expect.objectContaining({ latest: 100, increase: null, rate: null })])
  })

  it('of two regions, and of two processes, are series of their own', () => {
    const { point, series } = world()
    point(0, { asInt: 1 })
    point(1, { asInt: 2, attributes: { region: 'us' } })
    point(2, { asInt: 3, resourceAttributes: { 'service.instance.id': 'p2' } })
    expect(
      series()
        .map(({ labels, instance, latest }) => [labels[0]?.value, instance, latest])
        .sort(),
    ).toEqual(
      [
        ['eu', 'p2', 3],
        ['eu', null, 1],
        ['us', null, 2],
      ].sort(),
    )
  })

  it('that may fall is a gauge', () => {
    const { point, series } = world()
    for (const [at, asInt] of [
      [0, 4],
      [1, 2],
    ] as const)
      point(at, { asInt, isMonotonic: false })
    expect(series()).toEqual([expect.objectContaining({ type: 'gauge', latest: 2, min: 2, max: 4, avg: 3 })])
  })
})

describe('percentiles of a distribution', () => {
  const exponential = { metricType: 'exponentialHistogram', scale: 0, zeroCount: 0, isMonotonic: undefined }
  const explicit = { metricType: 'histogram', explicitBounds: [10, 100], isMonotonic: undefined }
  const delta = { aggregationTemporality: 1 }

  it.each([
    ['exponential', { ...exponential, positive: { offset: 6, bucketCounts: [100] } }, { min: 70, max: 90 }],
    ['explicit', { ...explicit, bucketCounts: [0, 100, 0] }, { min: 70, max: 90 }],
    ['explicit, of the last bucket', { ...explicit, bucketCounts: [0, 0, 100] }, { min: 200, max: 300 }],
  ])('of %s buckets are not below its least nor above its greatest value', (_kind, buckets, extremes) => {
    const { point, series } = world()
    point(0, { count: 100, ...delta, ...buckets, ...extremes })
    const [{ p50, p99, ...shown }] = series() as [ReturnType<typeof series>[number]]
    expect(shown).toMatchObject(extremes)
    for (const value of [p50, p99]) {
      expect(value).toBeGreaterThanOrEqual(extremes.min)
      expect(value).toBeLessThanOrEqual(extremes.max)
    }
  })

  it('are as the buckets have them where a point that counted something says none', () => {
    const { point, series } = world()
    const buckets = { ...exponential, positive: { offset: 6, bucketCounts: [100] } }
    point(0, { count: 100, ...delta, ...buckets, min: 70, max: 90 })
    point(1, { count: 100, ...delta, ...buckets })
    expect(series()[0]!.p99).toBeGreaterThan(120)
  })

  it('are bounded although a point that counted nothing has no values', () => {
    const { point, series } = world()
    const of = (n: number) => ({
      count: n,
      ...delta,
      ...exponential,
      positive: { offset: 6, bucketCounts: [n] },
    })
    point(0, { ...of(100), min: 70, max: 90 })
    point(1, of(0))
    expect(series()[0]!.p99).toBe(90)
  })
})

describe('spans', () => {
  it('of one instant are on one page, and the next page begins before them', () => {
    const { span, spans } = world()
    for (let i = 0; i < 6; i++) span(Math.floor(i / 3), `${i}`)
    const first = spans({ limit: 2, window: '1h' })
    expect(first.spans.map(({ span_id }) => span_id).sort()).toEqual(['3', '4', '5'])
    const second = spans({ limit: 5, window: '1h', to: first.next_to! })
    expect(second.spans.map(({ span_id }) => span_id).sort()).toEqual(['0', '1', '2'])
    expect(second.next_to).toBeNull()
  })
})

describe('agents', () => {
  const genai = (operation: string, more: object = {}) => ({
    attributes: { 'gen_ai.operation.name': operation, ...more },
  })

  it('a call of a tool and of a model is of the agent above it, and an agent within another is its own', () => {
    const { span, activity } = world()
    span(0, 'a', genai('invoke_agent', { 'gen_ai.agent.name': 'lead' }))
    span(1, 'b', { parentSpanId: 'a', ...genai('invoke_agent', { 'gen_ai.agent.name': 'helper' }) })
    span(2, 'c', { parentSpanId: 'b', ...genai('execute_tool', { 'gen_ai.tool.name': 'grep' }) })
    span(3, 'd', { parentSpanId: 'a', ...genai('chat', { 'gen_ai.usage.input_tokens': 7 }) })
    expect(
      activity().map(({ name, runs, model_calls, input_tokens, tools }) => [
        name,
        runs,
        model_calls,
        input_tokens,
        tools,
      ]),
    ).toEqual([
      ['helper', 1, 0, 0, [{ name: 'grep', calls: 1 }]],
      ['lead', 1, 1, 7, []],
    ])
  })

  it('that call a model and name no agent are the service, a run a trace', () => {
    const { span, activity } = world()
    span(0, 'a', genai('chat'))
    span(1, 'b', genai('chat'))
    span(2, 'c')
    expect(activity()).toEqual([
      expect.objectContaining({ name: 'shop', from: 'spans', runs: 1, model_calls: 2 }),
    ])
  })

  it('of svc are known by their runs, practice runs and what others recorded not counted', () => {
    const { store, activity } = world()
    const run = (id: string, practice: number, more: Record<string, unknown> = {}) => {
      const row = {
        ...{
          id,
          seq: Number(id),
          agent: 'first-look',
          definition: '{}',
          definition_hash: 'h',
          woken_by: 'firing',
        },
        ...{ label: 'service', entity: 'shop', root_run_id: id, depth: 0, practice, made_at: T0 },
        ...{ input_tokens: 10, output_tokens: 2, cost_usd: 0.5, model: 'm1' },
        ...{ snapshot: JSON.stringify({ value: 'succeeded' }), ...more },
      }
      const names = Object.keys(row)
      store.db.prepare(`INSERT INTO runs (${names}) VALUES (${names.map((name) => `@${name}`)})`).run(row)
    }
    run('1', 0)
    run('2', 0, { error: 'no model', snapshot: JSON.stringify({ value: 'failed' }) })
    run('3', 1)
    run('4', 0, { agent: 'scout', woken_by: 'external' })
    store.db
      .prepare("INSERT INTO run_steps (run_id, n, kind, round, at, data) VALUES ('1', 1, 'tool', 1, ?, ?)")
      .run(T0, JSON.stringify({ call: { id: 'c', name: 'recent_events' } }))
    expect(activity()).toEqual([
      {
        ...{ name: 'first-look', from: 'svc', service: null, runs: 2, failed: 1, model_calls: null },
        ...{ input_tokens: 20, output_tokens: 4, cost_usd: 1, models: ['m1'], error: 'no model' },
        tools: [{ name: 'recent_events', calls: 1 }],
        last_at: new Date(T0).toISOString(),
      },
    ])
  })
})
