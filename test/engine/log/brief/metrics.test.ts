/** Metrics as the exporter of OpenTelemetry sends them: what is told is what was measured, and not how long it was counted. */
import { JsonMetricsSerializer, ProtobufMetricsSerializer } from '@opentelemetry/otlp-transformer'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  AggregationTemporality,
  DataPointType,
  InstrumentType,
  type MetricData,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics'
import { describe, expect, it } from 'vitest'
import { BY, MINUTE, openWorld, T0 } from '../../triggers/trigger-world.ts'

type Temporality = keyof typeof AggregationTemporality
const BOUNDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
const REQUESTS = 'http.server.request.duration'

/** What a process has counted since it began, or since the point before. */
class Process {
  private count = 0
  private sum = 0
  private buckets = BOUNDS.map(() => 0).concat(0)
  private jobs = 0

  constructor(
    private readonly id: string,
    private readonly temporality: Temporality,
    /** Requests before the first point. */
    before: number,
  ) {
    this.measure(before, 0.04)
    this.jobs = before * 3
  }

  measure(requests: number, seconds: number): void {
    this.count += requests
    this.sum += requests * seconds
    const at = BOUNDS.findIndex((bound) => seconds <= bound)
    this.buckets[at < 0 ? BOUNDS.length : at]! += requests
  }

  work(jobs: number): void {
    this.jobs += jobs
  }

  /** @param at epoch ms */
  exported(at: number, queued: number): ResourceMetrics {
    const [startTime, endTime] = [hrTime(T0 - 100 * MINUTE), hrTime(at)]
    const attributes = { 'http.route': '/pay' }
    const aggregationTemporality = AggregationTemporality[this.temporality]
    const described = (name: string, unit: string, type: InstrumentType) => ({
      descriptor: { name, unit, type, description: '', valueType: 1, advice: {} },
    })
    const { count, sum } = this
    const metrics = [
      {
        ...described(REQUESTS, 's', InstrumentType.HISTOGRAM),
        ...{ aggregationTemporality, dataPointType: DataPointType.HISTOGRAM },
        dataPoints: [
          {
            ...{ startTime, endTime, attributes },
            value: { count, sum, buckets: { boundaries: BOUNDS, counts: [...this.buckets] } },
          },
        ],
      },
      {
        ...described('jobs.done', '{job}', InstrumentType.COUNTER),
        ...{ aggregationTemporality, dataPointType: DataPointType.SUM, isMonotonic: true },
        dataPoints: [{ startTime, endTime, attributes: {}, value: this.jobs }],
      },
      {
        ...described('queue.length', '{job}', InstrumentType.UP_DOWN_COUNTER),
        aggregationTemporality: AggregationTemporality.CUMULATIVE,
        ...{ dataPointType: DataPointType.SUM, isMonotonic: false },
        dataPoints: [{ startTime, endTime, attributes: {}, value: queued }],
      },
    ] as MetricData[]
    if (this.temporality === 'DELTA') {
      this.count = 0
      this.sum = 0
      this.buckets.fill(0)
      this.jobs = 0
    }
    return {
      resource: resourceFromAttributes({ 'service.name': 'checkout', 'service.instance.id': this.id }),
      scopeMetrics: [{ scope: { name: 'shop' }, metrics }],
    }
  }
}

const hrTime = (ms: number): [number, number] => [Math.floor(ms / 1000), (ms % 1000) * 1e6]

interface Lately {
  /** How long a request takes, in the last five minutes. */
  seconds?: number
  /** Jobs done between two points. */
  jobs?: number
}

/** An hour and a half of two processes whose labels do not tell them apart, a point of each every half minute. */
async function openShop(
  { seconds = 0.04, jobs = 60 }: Lately,
  temporality: Temporality = 'CUMULATIVE',
  encoding: 'json' | 'protobuf' = 'protobuf',
) {
  const { engine } = await openWorld({})
  const { ingest_key } = await engine.createSource({ name: 'otel', connector: 'otlp', config: {} }, BY, false)
  const serializer = encoding === 'json' ? JsonMetricsSerializer : ProtobufMetricsSerializer
  const processes = [new Process('a', temporality, 50_000), new Process('b', temporality, 400)]
  for (let i = 0; i < 180; i++) {
    const at = T0 - 90 * MINUTE + i * 30_000
    const isLately = at >= T0 - 5 * MINUTE
    for (const [n, process] of processes.entries()) {
      process.measure(20 + (i % 5), isLately ? seconds : 0.035 + (i % 3) / 1000)
      process.work((isLately ? jobs : 60) + (i % 4))
      await engine.ingest({
        ...{ ingestKey: ingest_key!, bypassCooldown: false, caller: 'test' },
        body: Buffer.from(serializer.serializeRequest(process.exported(at + n * 7_000, 5 + (i % 3)))!),
        otlp: { signal: 'metrics', encoding },
      })
    }
  }
  const to = new Date(T0).toISOString()
  return {
    engine,
    changed: async () => {
      const { text } = await engine.inspect({ tool: 'changed', window: '15m', baseline: '75m', to })
      return text.split('\n').filter((line) => line.startsWith('evt_'))
    },
    series: async (label: string) =>
      (await engine.inspect({ tool: 'series', label, window: '90m', to })).text.split('\n'),
  }
}

describe.each(['CUMULATIVE', 'DELTA'] as const)('of %s points', (temporality) => {
  it('what goes on as it did is not told, however much is counted', async () => {
    const { engine, changed } = await openShop({}, temporality)
    expect(await changed()).toEqual([])
    await engine.close()
  })

  it('requests that take longer are told by their mean, in the unit of the metric', async () => {
    for (const encoding of ['json', 'protobuf'] as const) {
      const { engine, changed } = await openShop({ seconds: 2 }, temporality, encoding)
      const lines = await changed()
      expect(lines).toEqual([
        expect.stringMatching(/http\.server\.request\.duration\{http\.route=\/pay\} mean s\b.* → 2 /),
      ])
      expect(lines[0]).toContain('0.036')
      await engine.close()
    }
  })

  it('a counter is told by how fast it grows', async () => {
    const { engine, changed } = await openShop({ jobs: 6 }, temporality)
    const grown = temporality === 'CUMULATIVE' ? 'jobs\\.done a second' : 'jobs\\.done each point'
    expect(await changed()).toEqual([expect.stringMatching(new RegExp(grown))])
    await engine.close()
  })

  it('a series that is asked for by name has its rate, its mean and percentiles of what was measured', async () => {
    const { engine, series } = await openShop({ seconds: 2 }, temporality)
    const lines = await series(REQUESTS)
    const named = (part: string) =>
      lines.findIndex((line) => line.startsWith(`${REQUESTS}{http.route=/pay} ${part} `))
    for (const part of ['mean s', 'p50 s', 'p95 s', 'p99 s']) expect(named(part)).toBeGreaterThanOrEqual(0)
    // Of buckets up to 2.5, as if what is in one were spread evenly.
    expect(lines[named('p95 s')]).toMatch(/most 2\.4/)
    expect(lines[named('p95 s') + 1]).toMatch(/changed at 2026-\S+ 0\.04\d* → 2\.4/)
    await engine.close()
  })
})
