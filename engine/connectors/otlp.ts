/**
 * OpenTelemetry (SPEC.md, Ingest and reads: POST /v1/logs, /v1/traces, /v1/metrics): an event for each log
 * record, span and metric point. An item is a record as `ingest/otlp` takes exports apart.
 */
import { fail } from '../errors.ts'
import { fieldsOf } from '../ingest/otlp/form.ts'
import { oneLine } from '../ingest/template.ts'
import type { Item, MappedEvent, PushConnector } from './connector.ts'
import { scalar } from './scalar.ts'

const EVENT_TYPE_MAX = 200
const TEXT_MAX = 1_000
/** Names of the ranges of severity numbers, four numbers each. */
const SEVERITIES = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL']
const SPAN_KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer']
const STATUS_CODES = ['UNSET', 'OK', 'ERROR']
/** Set on a point that has no value. */
const NO_VALUE = 1
const ENTITY = 'service'
const SERVICE_NAME = 'resourceAttributes.service.name'

type Record = MappedEvent['context']

export const otlp: PushConnector = {
  kind: 'otlp',
  label: 'OpenTelemetry',
  mode: 'push',
  description:
    'Logs, traces and metrics of OpenTelemetry SDKs and Collectors, over OTLP/HTTP (JSON and protobuf) and OTLP/gRPC: an event for each log record, span and metric point. The entity is the service, where no label below is.',
  sourceType: 'application_log',
  configSchema: 'connector-otlp.json',
  makesItself: true,
  labels: [{ name: ENTITY, field: SERVICE_NAME, primary: true }],
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
    { name: 'severity', help: 'TRACE to FATAL, of a log record.' },
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
  compile: () => (item) => [eventOf(item)],
  fields: () => FIELDS,
  note: () => 'Point an OTLP exporter at this daemon; the first record shows here.',
}

/** What events are made of; labels read more. */
const FIELDS = [
  ...['signal', 'resourceAttributes', 'resourceLogs', 'resourceSpans', 'resourceMetrics'],
  ...['timeUnixNano', 'observedTimeUnixNano', 'severityText', 'severityNumber', 'body', 'eventName'],
  ...['name', 'kind', 'startTimeUnixNano', 'endTimeUnixNano', 'status'],
  ...['metricName', 'metricType', 'unit', 'asDouble', 'asInt', 'count', 'sum', 'flags'],
]

function eventOf({ value }: Item): MappedEvent {
  const record = fieldsOf(value)
  for (const [group, path] of Object.entries(WHOLE_EXPORTS))
    if (record[group] !== undefined)
      fail('invalid', `is a whole OTLP export, which is posted to ${path}, not to an ingest URL`)
  const service = scalar(fieldsOf(record.resourceAttributes)['service.name'])
  const event =
    record.signal === 'traces' || record.endTimeUnixNano !== undefined
      ? spanOf(record)
      : record.metricName === undefined
        ? logOf(record)
        : pointOf(record)
  return {
    ...event,
    context: { ...record, text: event.text, ...event.context },
    ...(service === undefined ? {} : { stamped: { [ENTITY]: service }, entityLabel: ENTITY }),
  }
}

const WHOLE_EXPORTS = {
  resourceLogs: '/v1/logs',
  resourceSpans: '/v1/traces',
  resourceMetrics: '/v1/metrics',
} as const

function logOf(record: Record): MappedEvent {
  const { severityText, severityNumber, body, eventName } = record
  const number = Number(severityNumber ?? 0)
  const severity = scalar(severityText)?.toUpperCase() ?? SEVERITIES[Math.ceil(number / 4) - 1]
  const said =
    typeof body === 'string' ? body : body === undefined || body === null ? '' : JSON.stringify(body)
  return {
    eventType: oneLine(scalar(severityText) ?? 'log', EVENT_TYPE_MAX),
    text: oneLine(said || scalar(eventName) || 'log record without a body', TEXT_MAX),
    ...timeOf(record.timeUnixNano, record.observedTimeUnixNano),
    context: severity === undefined ? {} : { severity },
  }
}

function spanOf(record: Record): MappedEvent {
  const { name, kind, startTimeUnixNano: start, endTimeUnixNano: end, status } = record
  const { code } = fieldsOf(status)
  const statusCode = nameOf(STATUS_CODES, code, 'STATUS_CODE_')
  const durationMs = elapsedMs(start, end)
  return {
    eventType: 'span',
    text: oneLine(
      `${scalar(name) ?? 'span'}${durationMs === null ? '' : ` (${durationMs.toFixed(1)}ms)`}${statusCode === 'ERROR' ? ' ERROR' : ''}`,
      TEXT_MAX,
    ),
    ...timeOf(start, end),
    context: {
      statusCode,
      spanKind: nameOf(SPAN_KINDS, kind, 'SPAN_KIND_').toLowerCase(),
      ...(durationMs === null ? {} : { durationMs }),
    },
  }
}

function pointOf(record: Record): MappedEvent {
  const { metricName, unit, asInt, asDouble, count, sum, flags } = record
  const name = scalar(metricName) ?? 'metric'
  const value = Number(flags ?? 0) & NO_VALUE ? undefined : scalar(asInt ?? asDouble ?? count)
  const isDistribution = asInt === undefined && asDouble === undefined
  const unitText = scalar(unit) ? ` ${scalar(unit)}` : ''
  const total = isDistribution && scalar(sum) !== undefined ? ` (sum ${scalar(sum)}${unitText})` : ''
  return {
    eventType: oneLine(name, EVENT_TYPE_MAX),
    text: oneLine(
      value === undefined ? `${name} has no value` : `${name}=${value}${isDistribution ? total : unitText}`,
      TEXT_MAX,
    ),
    ...timeOf(record.timeUnixNano, undefined),
    context: value === undefined ? {} : { value },
  }
}

/** The first that is a time; nanoseconds since 1970, 0 stands for none. */
function timeOf(...given: unknown[]): { eventTime?: number } {
  const time = given.find((nanos) => /^0*[1-9]\d*$/.test(String(nanos)))
  return time === undefined ? {} : { eventTime: Math.trunc(Number(time) / 1e6) }
}

/** Milliseconds, to the nanosecond; null where there is no start or no end. */
function elapsedMs(start: unknown, end: unknown): number | null {
  if (!/^\d{1,20}$/.test(String(start)) || !/^\d{1,20}$/.test(String(end))) return null
  return Number(BigInt(String(end)) - BigInt(String(start))) / 1e6
}

/** JSON of some senders has the names of protobuf in place of the numbers. */
function nameOf(names: readonly string[], given: unknown, prefix: string): string {
  if (typeof given === 'string' && given.startsWith(prefix)) return given.slice(prefix.length)
  return names[Number(given ?? 0)] ?? names[0]!
}
