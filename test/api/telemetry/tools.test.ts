/** What the official OpenTelemetry SDK sends over three services, as the tools answer it. */

import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { context, type Span, SpanStatusCode, trace } from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  AggregationTemporality,
  AggregationType,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { shippedPrices } from '../../../engine/agents/models/usage.ts'
import { asked, openTelemetryWorld, type TelemetryWorld } from './telemetry-world.ts'

let svc: TelemetryWorld
let client: Client
let headers: Record<string, string>
let traceId: string
/** One that has a price. */
const MODEL = shippedPrices.prices[0]!.prefix
const BEGAN = Date.now() - 60_000

beforeAll(async () => {
  svc = await openTelemetryWorld()
  headers = svc.as((await svc.key(['ingest'])).secret)
  client = await svc.connect((await svc.key(['read'])).secret)
  traceId = await sendTrace()
  await sendMetrics(AggregationTemporality.CUMULATIVE, 'checkout')
  await sendMetrics(AggregationTemporality.DELTA, 'billing')
  await sendAgent()
})
afterAll(() => svc.close())

const tracing = (service: string) =>
  new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': service }),
    spanProcessors: [
      new SimpleSpanProcessor({ exporter: new OTLPTraceExporter({ url: `${svc.url}/v1/traces`, headers }) }),
    ],
  })

/** shop calls payments, which calls a bank that declines. */
async function sendTrace(): Promise<string> {
  const [shop, payments, bank] = ['shop', 'payments', 'bank'].map(tracing) as [
    TracerProvider,
    TracerProvider,
    TracerProvider,
  ]
  const below = (span: Span) => trace.setSpan(context.active(), span)
  const root = shop.getTracer('t').startSpan('GET /checkout', { kind: 1, startTime: BEGAN })
  const pay = payments.getTracer('t').startSpan('pay', { kind: 1, startTime: BEGAN + 20 }, below(root))
  const charge = bank
    .getTracer('t')
    .startSpan(
      'POST /charge',
      { kind: 1, startTime: BEGAN + 30, attributes: { 'http.route': '/charge' } },
      below(pay),
    )
  charge.setStatus({ code: SpanStatusCode.ERROR, message: 'card | declined <b>' })
  charge.end(BEGAN + 90)
  pay.end(BEGAN + 100)
  root.end(BEGAN + 150)
  for (const provider of [shop, payments, bank]) await provider.shutdown()
  return root.spanContext().traceId
}

async function sendMetrics(temporality: AggregationTemporality, service: string): Promise<void> {
  const exporter = new OTLPMetricExporter({
    ...{ url: `${svc.url}/v1/metrics`, headers },
    temporalityPreference: temporality as number,
  })
  const provider = new MeterProvider({
    resource: resourceFromAttributes({ 'service.name': service }),
    readers: [new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })],
    views: [
      {
        instrumentName: 'sizes',
        aggregation: { type: AggregationType.EXPONENTIAL_HISTOGRAM, options: { maxSize: 160 } },
      },
    ],
  })
  const meter = provider.getMeter('m')
  const orders = meter.createCounter('orders')
  const queue = meter.createGauge('queue')
  const [took, sizes] = ['took', 'sizes'].map((name) => meter.createHistogram(name, { unit: 'ms' }))
  const step = async (count: number, length: number, values: number[]) => {
    orders.add(count, { region: 'eu' })
    queue.record(length)
    for (const value of values) for (const histogram of [took!, sizes!]) histogram.record(value)
    await provider.forceFlush()
  }
  await step(5, 10, [1])
  await step(10, 2, [100, 100, 100, 100, 100, 100, 100, 100, 100])
  await step(20, 6, [4_000])
  await provider.shutdown()
}

/** An agent of somebody else, by the conventions of GenAI. */
async function sendAgent(): Promise<void> {
  const provider = tracing('helpdesk')
  const tracer = provider.getTracer('a')
  const attributes = (operation: string, more: Record<string, string | number> = {}) => ({
    'gen_ai.operation.name': operation,
    ...more,
  })
  // Times of their own: spans of one millisecond stand in the order they were received.
  const now = Date.now() - 1_000
  for (const [isFailed, began] of [
    [false, now],
    [true, now + 100],
  ] as const) {
    const run = tracer.startSpan('invoke_agent triage', {
      startTime: began,
      attributes: attributes('invoke_agent', { 'gen_ai.agent.name': 'triage' }),
    })
    const within = trace.setSpan(context.active(), run)
    const usage = { 'gen_ai.usage.input_tokens': 1_000, 'gen_ai.usage.output_tokens': 200 }
    const parts = [
      ['chat', attributes('chat', { 'gen_ai.request.model': MODEL, ...usage })],
      ['execute_tool search', attributes('execute_tool', { 'gen_ai.tool.name': 'search' })],
    ] as const
    for (const [i, [name, given]] of parts.entries())
      tracer.startSpan(name, { startTime: began + 10 * (i + 1), attributes: given }, within).end(began + 35)
    if (isFailed) run.setStatus({ code: SpanStatusCode.ERROR, message: 'out of rounds' })
    run.end(began + 40)
  }
  await provider.shutdown()
}

/** Rows of the table of an answer, by the names of its columns. */
function rowsOf(text: string): Record<string, string>[] {
  const lines = text.split('\n').filter((line) => line.startsWith('|'))
  const cells = (line: string) =>
    line
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((one) => one.trim())
  const columns = cells(lines[0]!)
  return lines.slice(2).map((line) => {
    const values = cells(line)
    expect(values).toHaveLength(columns.length)
    return Object.fromEntries(columns.map((name, i) => [name, values[i]!]))
  })
}

describe('traces', () => {
  it('lists what failed over three services, with the id to go on with', async () => {
    const { text } = await asked(client, 'traces', { status: 'error', service: 'bank' })
    expect(rowsOf(text)).toEqual([
      expect.objectContaining({
        trace_id: `\`${traceId}\``,
        'root span': 'GET /checkout',
        duration: '150 ms',
        spans: '3',
        failed: '1',
        services: 'shop, payments, bank',
      }),
    ])
    expect(text).toContain('Open one: spans with trace_id')
  })

  it.each([
    [{ service: 'shop' }, 1],
    [{ service: 'nobody' }, 0],
    [{ name: 'charge' }, 1],
    [{ min_duration: '140ms', service: 'shop' }, 1],
    [{ min_duration: '1s', service: 'shop' }, 0],
    [{ window: '5s', service: 'shop' }, 0],
  ])('%j finds %i', async (args, count) => {
    const { text } = await asked(client, 'traces', args)
    expect(count === 0 ? text : rowsOf(text).length).toEqual(
      count === 0 ? expect.stringMatching(/^No trace/) : count,
    )
  })

  it('says how to get the rest, and that gives it', async () => {
    const first = (await asked(client, 'traces', { limit: 1 })).text
    const next = /give to (\S+)\./.exec(first)![1]!
    const second = (await asked(client, 'traces', { limit: 5, to: next })).text
    const ids = [first, second].flatMap((text) => rowsOf(text).map(({ trace_id: id }) => id))
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toContain(`\`${traceId}\``)
  })
})

describe('spans', () => {
  it('of one trace are the tree, with what took the time and why it failed', async () => {
    const { text } = await asked(client, 'spans', { trace_id: traceId.slice(0, 8) })
    const rows = rowsOf(text)
    expect(rows.map(({ span, service, duration, status }) => [span, service, duration, status])).toEqual([
      ['GET /checkout', 'shop', '150 ms', 'unset'],
      ['· pay', 'payments', '80 ms', 'unset'],
      ['· · POST /charge', 'bank', '60 ms', '**error**'],
    ])
    expect(rows[0]!['own time']).toBe('70 ms')
    // What a service sends is data: it ends no cell and is no markup.
    expect(rows[2]!.says).toContain('card \\| declined \\<b\\>')
  })

  it('are found by service, name, status and duration, newest first', async () => {
    const { text } = await asked(client, 'spans', { status: 'error', min_duration: '50ms' })
    expect(rowsOf(text)).toEqual([
      expect.objectContaining({ service: 'bank', span: 'POST /charge', trace_id: `\`${traceId}\`` }),
    ])
    const all = rowsOf((await asked(client, 'spans', { service: 'helpdesk' })).text)
    const run = ['execute\\_tool search', 'chat', 'invoke\\_agent triage']
    expect(all.map(({ span }) => span)).toEqual([...run, ...run])
    const began = all.map((row) => row.began)
    expect(began).toEqual([...began].sort().reverse())
  })
})

describe('metrics', () => {
  const series = async (service: string, name: string) =>
    rowsOf((await asked(client, 'metrics', { service, name })).text)[0]!

  it.each(['checkout', 'billing'])(
    'of %s say what the counter grew by, whichever way it counts',
    async (service) => {
      const row = await series(service, 'orders')
      // Of points that go on the first says nothing of how much was counted since it.
      expect(row).toMatchObject({
        type: 'counter',
        labels: 'region=eu',
        // What goes on is told once more when the SDK stops.
        points: service === 'billing' ? '3' : '4',
        increase: service === 'billing' ? '35' : '30',
      })
      expect(Number(row['rate/s'])).toBeGreaterThan(0)
    },
  )

  it('of a gauge are latest, lowest, highest and mean', async () => {
    expect(await series('checkout', 'queue')).toMatchObject({
      type: 'gauge',
      latest: '6',
      min: '2',
      max: '10',
      avg: '6',
    })
  })

  it.each(['took', 'sizes'])('of the histogram %s have percentiles', async (name) => {
    const row = await series('billing', name)
    expect(row).toMatchObject({ type: 'histogram', unit: 'ms', increase: '11' })
    expect(Number(row.p50)).toBeGreaterThan(70)
    expect(Number(row.p50)).toBeLessThanOrEqual(105)
    expect(Number(row.p99)).toBeGreaterThan(2_400)
    expect(Number(row.p99)).toBeLessThanOrEqual(5_000)
  })
})

describe('agents', () => {
  it('of others are known from their spans: runs, tokens, cost, tools, errors', async () => {
    const { text } = await asked(client, 'agents')
    expect(rowsOf(text)).toEqual([
      expect.objectContaining({
        agent: 'triage',
        from: 'spans of helpdesk',
        runs: '2',
        failed: '1',
        'tokens in': '2000',
        'tokens out': '400',
        models: MODEL,
        tools: 'search ×2',
        error: 'out of rounds',
      }),
    ])
    expect(Number(rowsOf(text)[0]!['cost (USD)'])).toBeGreaterThan(0)
  })
})

it('answers stay within the size that is said, and say what was left out', async () => {
  const provider = tracing('busy')
  const tracer = provider.getTracer('t')
  for (let i = 0; i < 200; i++) {
    tracer.startSpan(`${'long name of a span '.repeat(10)}${i}`).end()
    // The SDK drops what is exported while 30 exports are on their way.
    if (i % 20 === 0) await provider.forceFlush()
  }
  await provider.shutdown()
  const { text } = await asked(client, 'spans', { service: 'busy', limit: 200 })
  expect(text.length).toBeLessThanOrEqual(16_000)
  expect(text).toMatch(/\d+ of 200 rows are left out for length\. Give limit \d+/)
  // One way to the rest, which leads through all of it.
  expect(text).not.toContain('There may be more')
  const limit = Number(/Give limit (\d+)/.exec(text)![1])
  const seen = new Set<string>()
  let to: string | undefined
  do {
    const page = await asked(client, 'spans', { service: 'busy', limit, ...(to ? { to } : {}) })
    for (const row of rowsOf(page.text)) seen.add(row.span_id!)
    to = /There may be more: give to (\S+)\.$/m.exec(page.text)?.[1]
  } while (to)
  expect(seen.size).toBe(200)
})
