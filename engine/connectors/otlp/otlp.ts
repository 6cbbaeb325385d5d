/**
 * OpenTelemetry (SPEC.md, Ingest and reads: POST /v1/logs, /v1/traces, /v1/metrics): an event for each log
 * record, span and metric point. An item is a record as `ingest/otlp` takes exports apart.
 */
import type { OtlpConfig } from '../../../schemas/types.ts'
import { fail } from '../../errors.ts'
import { fieldsOf, REFUSED } from '../../ingest/otlp/form.ts'
import type { Item, MappedEvent, PushConnector } from '../connector.ts'
import { scalar } from '../scalar.ts'
import { logOf, type OtlpRecord, pointOf, spanOf } from './records.ts'
import { compileResource, type ResourceLabels } from './resource.ts'

const SERVICE_NAME = 'resourceAttributes.service.name'
const NO_TRACE = /^0*$/
/** What marks a metric point, so that reads can fold those of a series. */
export const POINT_LABEL = ['signal', 'metrics'] as const

export const otlp: PushConnector = {
  kind: 'otlp',
  label: 'OpenTelemetry',
  mode: 'push',
  description:
    'Logs, traces and metrics of OpenTelemetry SDKs and Collectors, over OTLP/HTTP (JSON and protobuf) and OTLP/gRPC: an event for each log record, span and metric point. Attributes of the resource are labels, and so is the trace. The entity is the service, else the workload of Kubernetes, the container, the host or the source.',
  sourceType: 'application_log',
  configSchema: 'connector-otlp.json',
  makesItself: true,
  labels: [{ name: 'service', field: SERVICE_NAME, primary: true }],
  provides: [
    {
      name: SERVICE_NAME,
      help: 'Name of the service; any attribute of the resource is read this way.',
      primary: true,
    },
    { name: 'resourceAttributes.deployment.environment.name', help: 'Environment, where the SDK sets it.' },
    { name: 'attributes', help: 'Attributes of the record: attributes.http.route, attributes.user.id.' },
    { name: 'text', help: 'What the event says in a line.' },
    { name: 'signal', help: 'logs, traces or metrics.' },
    { name: 'severity', help: 'TRACE, DEBUG, INFO, WARN, ERROR or FATAL, of a log record.' },
    { name: 'traceId', help: 'Trace of a log record or a span, as hex.' },
    { name: 'spanId', help: 'Span of a log record, or the span itself, as hex.' },
    { name: 'name', help: 'Name of a span.' },
    { name: 'spanKind', help: 'server, client, internal, producer or consumer, of a span.' },
    { name: 'statusCode', help: 'UNSET, OK or ERROR, of a span.' },
    { name: 'durationMs', help: 'How long a span took, in milliseconds; a number.' },
    { name: 'metricName', help: 'Name of a metric.' },
    { name: 'value', help: 'Value of a metric point, of a histogram or summary its count; a number.' },
    { name: 'scope.name', help: 'Library that recorded it.' },
  ],
  compile: (config, source) => compileOtlp(config as OtlpConfig, source ?? 'otlp'),
  fields: () => FIELDS,
  note: () => 'Point an OTLP exporter at this daemon; the first record shows here.',
}

/** What events are made of; labels read more. */
const FIELDS = [
  ...['signal', 'resourceAttributes', 'resourceLogs', 'resourceSpans', 'resourceMetrics', REFUSED],
  ...['timeUnixNano', 'observedTimeUnixNano', 'severityText', 'severityNumber', 'body', 'eventName'],
  ...['attributes', 'events', 'traceId', 'name', 'kind', 'startTimeUnixNano', 'endTimeUnixNano', 'status'],
  ...['metricName', 'metricType', 'unit', 'asDouble', 'asInt', 'count', 'sum', 'flags'],
]

const WHOLE_EXPORTS = {
  resourceLogs: '/v1/logs',
  resourceSpans: '/v1/traces',
  resourceMetrics: '/v1/metrics',
} as const

/** @param source its name, the entity of what names nothing else. */
function compileOtlp(config: OtlpConfig, source: string): ReturnType<PushConnector['compile']> {
  const labelsOf = compileResource(
    config.resource_labels?.length ? config.resource_labels : undefined,
    source,
  )
  const hasTrace = config.trace_id !== false
  return (item: Item) => {
    const record = fieldsOf(item.value)
    checkRecord(record)
    const { labels, entity }: ResourceLabels = labelsOf(fieldsOf(record.resourceAttributes))
    const isPoint = record.metricName !== undefined
    const event = isPoint ? pointOf(record) : isSpan(record) ? spanOf(record) : logOf(record)
    const stamped: NonNullable<MappedEvent['stamped']> = labels
    const trace = hasTrace ? scalar(record.traceId) : undefined
    if (trace !== undefined && !NO_TRACE.test(trace)) stamped.trace_id = trace
    if (isPoint) stamped[POINT_LABEL[0]] = POINT_LABEL[1]
    const context = { ...record, text: event.text, ...event.context }
    return [{ ...event, context, stamped, entityLabel: entity }]
  }
}

const isSpan = ({ signal, endTimeUnixNano }: OtlpRecord): boolean =>
  signal === 'traces' || endTimeUnixNano !== undefined

/** @throws SvcError invalid: it cannot be taken */
function checkRecord(record: OtlpRecord): void {
  if (typeof record[REFUSED] === 'string') fail('invalid', record[REFUSED])
  for (const [group, path] of Object.entries(WHOLE_EXPORTS))
    if (record[group] !== undefined)
      fail('invalid', `is a whole OTLP export, which is posted to ${path}, not to an ingest URL`)
}
