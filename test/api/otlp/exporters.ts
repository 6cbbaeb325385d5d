/** The exporters of the OpenTelemetry SDK for JavaScript: one of each signal in each encoding. */
import { Metadata } from '@grpc/grpc-js'
import { OTLPLogExporter as LogsGrpc } from '@opentelemetry/exporter-logs-otlp-grpc'
import { OTLPLogExporter as LogsHttp } from '@opentelemetry/exporter-logs-otlp-http'
import { OTLPLogExporter as LogsProto } from '@opentelemetry/exporter-logs-otlp-proto'
import { OTLPMetricExporter as MetricsGrpc } from '@opentelemetry/exporter-metrics-otlp-grpc'
import {
  AggregationTemporalityPreference,
  OTLPMetricExporter as MetricsHttp,
} from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPMetricExporter as MetricsProto } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter as TracesGrpc } from '@opentelemetry/exporter-trace-otlp-grpc'
import { OTLPTraceExporter as TracesHttp } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as TracesProto } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { LoggerProvider, SimpleLogRecordProcessor } from '@opentelemetry/sdk-logs'
import { AggregationType, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import type { Receiver } from './receiver.ts'

export const ENCODINGS = ['json', 'protobuf', 'grpc'] as const
export type Encoding = (typeof ENCODINGS)[number]

export interface To extends Pick<Receiver, 'url' | 'grpcPort'> {
  encoding: Encoding
  headers?: Record<string, string>
}

/** Far beyond their own ten seconds: how fast a machine is must not decide a test. */
const LONGEST_MS = 90_000

function settings(to: To, path: string) {
  const compression = 'gzip' as never
  if (to.encoding !== 'grpc')
    return { url: `${to.url}/v1/${path}`, headers: to.headers ?? {}, compression, timeoutMillis: LONGEST_MS }
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(to.headers ?? {})) metadata.set(name, value)
  return { url: `http://127.0.0.1:${to.grpcPort}`, metadata, compression, timeoutMillis: LONGEST_MS }
}

const choose = <T>(encoding: Encoding, json: T, protobuf: T, grpc: T): T =>
  encoding === 'json' ? json : encoding === 'protobuf' ? protobuf : grpc

const resource = (service: string) =>
  resourceFromAttributes({ 'service.name': service, 'deployment.environment.name': 'prod' })

export async function exportLog(to: To, service: string): Promise<void> {
  const Exporter = choose(to.encoding, LogsHttp, LogsProto, LogsGrpc as never)
  const provider = new LoggerProvider({
    resource: resource(service),
    processors: [
      new SimpleLogRecordProcessor({ exporter: new Exporter(settings(to, 'logs') as never) } as never),
    ],
  })
  provider.getLogger('shop', '1.2.3').emit({
    severityNumber: 17,
    severityText: 'ERROR',
    body: 'payment declined',
    attributes: { 'http.route': '/pay', 'user.id': 42, tags: ['a', 'b'], ratio: 0.25, done: false },
  })
  await provider.forceFlush()
  await provider.shutdown()
}

export async function exportSpan(to: To, service: string): Promise<{ traceId: string; spanId: string }> {
  const Exporter = choose(to.encoding, TracesHttp, TracesProto as never, TracesGrpc as never)
  const provider = new TracerProvider({
    resource: resource(service),
    spanProcessors: [new SimpleSpanProcessor({ exporter: new Exporter(settings(to, 'traces') as never) })],
  })
  const start = Date.now() - 1_000
  const span = provider.getTracer('shop').startSpan('charge card', { kind: 1, startTime: start })
  span.setAttribute('card.brand', 'visa')
  span.addEvent('retried', { attempt: 2 })
  span.setStatus({ code: 2, message: 'declined' })
  span.end(start + 12.5)
  await provider.forceFlush()
  await provider.shutdown()
  return span.spanContext()
}

/**
 * A counter, a gauge and two histograms, one of which is exponential.
 * @param isDelta exported as what was counted since the export before
 * @param later what `took` records after a first export, and before a second one
 */
export async function exportMetrics(
  to: To,
  service: string,
  isDelta = false,
  later: readonly number[] = [],
): Promise<void> {
  const Exporter = choose(to.encoding, MetricsHttp, MetricsProto as never, MetricsGrpc as never)
  const reader = new PeriodicExportingMetricReader({
    exporter: new Exporter({
      ...settings(to, 'metrics'),
      ...(isDelta ? { temporalityPreference: AggregationTemporalityPreference.DELTA } : {}),
    } as never),
    exportIntervalMillis: 3_600_000,
  })
  const provider = new MeterProvider({
    resource: resource(service),
    readers: [reader],
    views: [
      {
        instrumentName: 'size',
        aggregation: { type: AggregationType.EXPONENTIAL_HISTOGRAM, options: { maxSize: 20 } },
      },
    ],
  })
  const meter = provider.getMeter('shop')
  meter.createCounter('orders', { unit: '1', description: 'Orders placed' }).add(3, { region: 'eu' })
  meter.createGauge('temperature', { unit: 'Cel' }).record(21.5)
  const took = meter.createHistogram('took', { unit: 'ms' })
  took.record(10)
  took.record(2_000)
  const size = meter.createHistogram('size', { unit: 'By' })
  size.record(1)
  size.record(1_000_000)
  await provider.forceFlush()
  for (const value of later) took.record(value)
  await provider.shutdown()
}

/** What the exporter of spans was told of one export. */
export interface Told {
  /** 0: it was taken. */
  code: number
  error: { code: number; metadata: { get(name: string): Buffer[] } }
}

/** The exporter of spans over gRPC by itself, whose caller is told how each export ended. */
export function spanOverGrpc(to: Pick<Receiver, 'url' | 'grpcPort'>) {
  const exporter = new TracesGrpc(settings({ ...to, encoding: 'grpc' }, 'traces') as never)
  return {
    send: (service: string) =>
      new Promise<Told>((resolve) => {
        const spanProcessor = new SimpleSpanProcessor({
          exporter: {
            export: (spans: never) => exporter.export(spans, (told) => resolve(told as unknown as Told)),
            shutdown: () => Promise.resolve(),
          },
        } as never)
        const provider = new TracerProvider({ resource: resource(service), spanProcessors: [spanProcessor] })
        provider.getTracer('shop').startSpan('charge card').end()
      }),
    shutdown: () => exporter.shutdown(),
  }
}
