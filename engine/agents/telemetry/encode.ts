/**
 * Spans as OTLP protobuf bytes, by the OpenTelemetry SDK. This file is loaded when the first trace is
 * written. What the SDK would read of OTEL_* variables is given here, so that none of them has a say.
 */
import { type HrTime, ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api'
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { AlwaysOnSampler, type ReadableSpan, TracerProvider } from '@opentelemetry/sdk-trace'
import { spanIdOf, traceIdOf } from './run-parts.ts'
import type { TraceSpan } from './spans.ts'

export interface TraceOf {
  /** The ids are made of it: a trace that is sent twice is the same trace. */
  id: string
  agent: string
  instance: string
  version: string
  root: TraceSpan
  /** A run that handed over to this one. */
  parent?: string | null
}

export interface EncodedTrace {
  /** An ExportTraceServiceRequest; those of several traces one after the other are one, too. */
  bytes: Uint8Array
  spans: number
}

const SCOPE = 'svc'
const LIMITS = {
  attributeValueLengthLimit: Number.POSITIVE_INFINITY,
  attributeCountLimit: 256,
  eventCountLimit: 128,
  linkCountLimit: 8,
  attributePerEventCountLimit: 16,
  attributePerLinkCountLimit: 0,
}

export function encodeTrace({ id, agent, instance, version, root, parent }: TraceOf): EncodedTrace {
  const ended: ReadableSpan[] = []
  let spans = 0
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': `${instance}/${agent}`,
      'service.instance.id': instance,
      'service.version': version,
      'svc.instance': instance,
      'svc.agent': agent,
      'svc.version': version,
    }),
    sampler: new AlwaysOnSampler(),
    spanLimits: LIMITS,
    idGenerator: {
      generateTraceId: () => traceIdOf(id),
      generateSpanId: () => spanIdOf(id, spans++),
    },
    spanProcessors: [
      {
        onStart: () => {},
        onEnd: (span) => void ended.push(span),
        forceFlush: async () => {},
        shutdown: async () => {},
      },
    ],
  })
  const tracer = provider.getTracer(SCOPE, version)
  const links = parent
    ? [
        {
          context: {
            traceId: traceIdOf(parent),
            spanId: spanIdOf(parent, 0),
            traceFlags: TraceFlags.SAMPLED,
          },
        },
      ]
    : []
  const write = (span: TraceSpan, context: typeof ROOT_CONTEXT): void => {
    const made = tracer.startSpan(
      span.name,
      {
        kind: span.kind === 'client' ? SpanKind.CLIENT : SpanKind.INTERNAL,
        startTime: time(span.start),
        attributes: span.attributes,
        ...(span === root ? { links } : {}),
      },
      context,
    )
    for (const { name, at, attributes } of span.events) made.addEvent(name, attributes, time(at))
    if (span.error !== null)
      made.setStatus({ code: SpanStatusCode.ERROR, ...(span.error ? { message: span.error } : {}) })
    for (const child of span.children) write(child, trace.setSpan(context, made))
    made.end(time(span.end))
  }
  write(root, ROOT_CONTEXT)
  return { bytes: ProtobufTraceSerializer.serializeRequest(ended)!, spans: ended.length }
}

/** What a receiver that took a request says it left out. Bytes that say nothing of it are none. */
export function rejectedIn(answer: Uint8Array): { spans: number; message: string } {
  try {
    const { rejectedSpans = 0, errorMessage = '' } =
      ProtobufTraceSerializer.deserializeResponse(answer).partialSuccess ?? {}
    return { spans: Number(rejectedSpans) || 0, message: errorMessage }
  } catch {
    return { spans: 0, message: '' }
  }
}

/** Seconds and nanoseconds: a number may be taken for the time since the process started. */
const time = (ms: number): HrTime => [Math.floor(ms / 1_000), Math.round((ms % 1_000) * 1e6)]
