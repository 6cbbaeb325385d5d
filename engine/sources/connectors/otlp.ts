/**
 * OpenTelemetry (SPEC.md, Ingest and reads: POST /v1/logs, /v1/traces, /v1/metrics): an event for each log
 * record, span and metric point. An item is a record as `ingest/otlp` takes exports apart.
 */
import { type Measured, pointMeasurer } from '../../../schemas/distributions.ts'
import { ownField } from '../../../schemas/fields-of.ts'
import type { OtlpConfig } from '../../../schemas/types.ts'
import { fail } from '../../errors.ts'
import { LINKED_TRACE_LABELS, oneLine } from '../../log/ingest/label.ts'
import { fieldsOf, listOf, REFUSED } from '../../log/ingest/otlp-protobuf.ts'
import { nanosToMs } from '../../log/ingest/time.ts'
import { levelNamed, levelOf } from '../../model/units.ts'
import { type Item, type MappedEvent, objectOf, type PushConnector, scalar } from './connector.ts'
import { jsonLine, messageOf, plainLine, textFields } from './upstream.ts'

const SPAN_TYPE = 'span'
/** How bad it is, as events of other sources have it: the type of a span says only that it is one. */
const LEVEL_LABEL = 'level'
const SERVICE_NAME = 'resourceAttributes.service.name'
const NO_TRACE = /^0*$/
/** What marks a metric point, so that reads can fold those of a series. */
const POINT_LABEL = ['signal', 'metrics'] as const

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
    {
      name: 'mean',
      help: 'Mean of what a histogram measured since the point before; a number.',
    },
    {
      name: 'p95',
      help: 'Its 95th percentile; p50 and p99 likewise.',
    },
    {
      name: 'rate',
      help: 'What a counter or a histogram counted a second since the point before; a number.',
    },
    { name: 'scope.name', help: 'Library that recorded it.' },
  ],
  compile: (config, source) => compileOtlp(config as OtlpConfig, source ?? 'otlp'),
  fields: (config) => [...FIELDS, ...(readsMeasured(config as OtlpConfig) ? BUCKETS : [])],
  note: () => 'Point an OTLP exporter at this daemon; the first record shows here.',
}

/** What events are made of; labels read more. */
const FIELDS = [
  ...['signal', 'resourceAttributes', 'resourceLogs', 'resourceSpans', 'resourceMetrics', REFUSED],
  ...['timeUnixNano', 'observedTimeUnixNano', 'severityText', 'severityNumber', 'body', 'eventName'],
  ...['attributes', 'events', 'traceId', 'name', 'kind', 'startTimeUnixNano', 'endTimeUnixNano', 'status'],
  ...['metricName', 'metricType', 'unit', 'asDouble', 'asInt', 'count', 'sum', 'flags', 'links'],
]

/** What a point measured is worked out of these, where a label reads it. */
const BUCKETS = [
  ...[
    'aggregationTemporality',
    'explicitBounds',
    'bucketCounts',
    'scale',
    'zeroCount',
    'positive',
    'negative',
  ],
  ...['min', 'max', 'isMonotonic', 'scope'],
]
const MEASURED: ReadonlySet<string> = new Set([
  ...(['mean', 'p50', 'p95', 'p99', 'rate'] satisfies (keyof Measured)[]),
])

const readsMeasured = ({ labels = [] }: OtlpConfig): boolean =>
  labels.some((label) => 'field' in label && MEASURED.has(label.field))

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
  // Large bodies are prepared on a thread of their own: the point before is the one that came by the same thread.
  const measure = readsMeasured(config) ? pointMeasurer() : null
  return (item: Item) => {
    const record = fieldsOf(item.value)
    checkRecord(record)
    const { labels, entity }: ResourceLabels = labelsOf(fieldsOf(record.resourceAttributes))
    const isPoint = record.metricName !== undefined
    const { level, ...event }: Told = isPoint
      ? pointOf(record)
      : isSpan(record)
        ? spanOf(record)
        : logOf(record)
    const stamped: NonNullable<MappedEvent['stamped']> = labels
    const trace = hasTrace ? scalar(record.traceId) : undefined
    if (trace !== undefined && !NO_TRACE.test(trace)) stamped.trace_id = trace
    if (isPoint) stamped[POINT_LABEL[0]] = POINT_LABEL[1]
    if (hasTrace) stampLinks(stamped, record)
    if (level !== undefined) stamped[LEVEL_LABEL] ??= level
    const measured = isPoint && measure !== null ? measure(record) : {}
    const context = { ...record, text: event.text, ...event.context, ...measured }
    return [{ ...event, context, stamped, entityLabel: entity }]
  }
}

/** Traces that a span names besides its own. */
function stampLinks(stamped: NonNullable<MappedEvent['stamped']>, record: OtlpRecord): void {
  const own = scalar(record.traceId)
  const linked = new Set(listOf(record.links).map((link) => scalar(fieldsOf(link).traceId)))
  const others = [...linked].filter((id) => id !== undefined && id !== own && !NO_TRACE.test(id))
  for (const [i, name] of LINKED_TRACE_LABELS.entries())
    if (others[i] !== undefined && others[i].length <= VALUE_MAX) stamped[name] = others[i]
}

const spanStatus = ({ status }: OtlpRecord): string =>
  nameOf(STATUS_CODES, fieldsOf(status).code, 'STATUS_CODE_')

const isSpan = ({ signal, endTimeUnixNano }: OtlpRecord): boolean =>
  signal === 'traces' || endTimeUnixNano !== undefined

/** @throws SvcError invalid: it cannot be taken */
function checkRecord(record: OtlpRecord): void {
  if (typeof record[REFUSED] === 'string') fail('invalid', record[REFUSED])
  for (const [group, path] of Object.entries(WHOLE_EXPORTS))
    if (record[group] !== undefined)
      fail('invalid', `is a whole OTLP export, which is posted to ${path}, not to an ingest URL`)
}

/* A log record, a span and a metric point as events: type, time, and what each says in a line. */

const EVENT_TYPE_MAX = 200
const TEXT_MAX = 1_000
const SPAN_KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer']
const STATUS_CODES = ['UNSET', 'OK', 'ERROR']
/** Set on a point that has no value. */
const NO_VALUE = 1
/** Attributes of a point in its text at most, and characters of a value. */
const POINT_ATTRIBUTES = 12
const POINT_VALUE = 80

type OtlpRecord = MappedEvent['context']

/** An event, and how bad it is. */
type Told = MappedEvent & { level?: string | undefined }

/** A log record: its body, the exception and the request it is about. Its level is the type, which stands before the text wherever that is shown. */
function logOf(record: OtlpRecord): Told {
  const { severityText, severityNumber, eventName } = record
  const attributes = fieldsOf(record.attributes)
  const level = levelOf(severityNumber, scalar(severityText))
  const body = bodyOf(record.body, scalar(eventName), level === undefined)
  const exception = exceptionText(attributes, body.text)
  const own = body.text || scalar(eventName) || (exception ? '' : 'log record without a body')
  const request = requestText(attributes, own)
  const text = withException(own, exception)
  return {
    eventType: oneLine(level ?? 'log', EVENT_TYPE_MAX),
    text: oneLine(`${text}${request && ` ${request}`}`, TEXT_MAX),
    ...timeOf(record.timeUnixNano, record.observedTimeUnixNano),
    context: level === undefined ? {} : { severity: level },
    level: level === undefined ? body.level : levelNamed(level),
  }
}

/** Fields by which bodies that are maps say something, besides those of every JSON line: of journald, Fluent Bit, structlog. */
const BODY_TEXTS = ['MESSAGE', 'Message', 'log', 'event']
const BODY_LEVELS = ['level', 'severity', 'levelname', 'log_level', 'lvl']

/**
 * What a body says in words: of a map, and of text that is JSON, its message, as of a JSON line of any other log.
 * @param called name of the event: it stands before a map that says nothing so.
 * @param asksLevel whether the record has no level, so that the body is asked: receivers of files say none.
 */
function bodyOf(
  body: unknown,
  called: string | undefined,
  asksLevel: boolean,
): { text: string; level?: string | undefined } {
  if (body === undefined || body === null) return { text: '' }
  const isText = typeof body === 'string'
  const line = isText ? plainLine(body) : ''
  const fields = isText
    ? jsonLine(line)
    : Array.isArray(body) || typeof body !== 'object'
      ? null
      : objectOf(body)
  const said = messageOf(fields) ?? messageIn(fields)
  const whole = isText ? body : JSON.stringify(body)
  const text = said ?? (fields && called !== undefined ? `${called} ${whole}` : whole)
  return asksLevel ? { text, level: levelIn(fields, line) } : { text }
}

const messageIn = (fields: OtlpRecord | null): string | undefined =>
  BODY_TEXTS.map((name) => fields?.[name]).find(
    (one): one is string => typeof one === 'string' && one.trim() !== '',
  )

/** One of the six levels, as a body names it. @param line of text; empty: it is none. */
function levelIn(fields: OtlpRecord | null, line: string): string | undefined {
  if (fields === null) return levelNamed(textFields(line).level ?? '')
  return BODY_LEVELS.map((name) => levelNamed(scalar(fields[name]) ?? '')).find((one) => one !== undefined)
}

/** @param exception empty, or what it is, or its place alone. */
function withException(said: string, exception: string): string {
  if (said === '' || exception === '') return said + exception
  return `${said}${exception.startsWith('at ') ? ' ' : ': '}${exception}`
}

/** A span: its name, how long it took, how it ended and why it failed. */
function spanOf(record: OtlpRecord): Told {
  const { name, kind, startTimeUnixNano: start, endTimeUnixNano: end, status } = record
  const { message } = fieldsOf(status)
  const statusCode = spanStatus(record)
  const durationMs = elapsedMs(start, end)
  const called = scalar(name) ?? 'span'
  const failure = [statusCode === 'ERROR' ? 'ERROR' : '', scalar(message) ?? '']
  const why = failure.filter((part) => part !== '').join(': ')
  const thrown = listOf(record.events)
    .map((event) => fieldsOf(fieldsOf(event).attributes))
    .findLast((attributes) => attributes['exception.type'] ?? attributes['exception.message'])
  const parts = [
    `${called}${durationMs === null ? '' : ` (${durationMs.toFixed(1)}ms)`}`,
    requestText(fieldsOf(record.attributes), called),
    withException(why, exceptionText(thrown ?? {}, why)),
  ]
  return {
    eventType: SPAN_TYPE,
    text: oneLine(parts.filter((part) => part !== '').join(' '), TEXT_MAX),
    ...timeOf(start, end),
    context: {
      statusCode,
      spanKind: nameOf(SPAN_KINDS, kind, 'SPAN_KIND_').toLowerCase(),
      ...(durationMs === null ? {} : { durationMs }),
    },
    level: statusCode === 'ERROR' ? 'ERROR' : undefined,
  }
}

/** A metric point: its series, as name and attributes, and its value. */
function pointOf(record: OtlpRecord): MappedEvent {
  const { metricName, asInt, asDouble, count, sum, flags } = record
  const name = scalar(metricName) ?? 'metric'
  const series = `${name}${attributesText(fieldsOf(record.attributes))}`
  const value = Number(flags ?? 0) & NO_VALUE ? undefined : scalar(asInt ?? asDouble ?? count)
  const isDistribution = asInt === undefined && asDouble === undefined
  const unit = unitText(scalar(record.unit))
  const total = isDistribution && scalar(sum) !== undefined ? ` (sum ${scalar(sum)}${unit})` : ''
  return {
    eventType: oneLine(name, EVENT_TYPE_MAX),
    text: oneLine(
      value === undefined ? `${series} has no value` : `${series}=${value}${isDistribution ? total : unit}`,
      TEXT_MAX,
    ),
    ...timeOf(record.timeUnixNano, undefined),
    context: value === undefined ? {} : { value },
  }
}

/** In the order of their names, so that a series is one text. */
function attributesText(attributes: OtlpRecord): string {
  const told = Object.keys(attributes)
    .sort()
    .slice(0, POINT_ATTRIBUTES)
    .map((key) => {
      const value = attributes[key]
      const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
      return `${key}=${text.slice(0, POINT_VALUE)}`
    })
  return told.length === 0 ? '' : `{${told.join(', ')}}`
}

/** UCUM: 1 stands for no unit, what is in braces is a note. */
function unitText(unit: string | undefined): string {
  if (unit === undefined || unit === '1') return ''
  return ` ${/^\{([^{}]+)\}$/.exec(unit)?.[1] ?? unit}`
}

/** The first that is a time; nanoseconds since 1970, 0 stands for none. */
function timeOf(...given: unknown[]): { eventTime?: MappedEvent['eventTime'] } {
  const time = given.find((nanos) => /^0*[1-9]\d*$/.test(String(nanos)))
  if (time === undefined) return {}
  const digits = String(time)
  return { eventTime: { ms: nanosToMs(digits), given: digits } }
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

/*
 * Which attributes of a resource become labels, and which of them is the entity (SPEC.md, Ingest and reads:
 * resource attributes become labels). Names are those of the semantic conventions of OpenTelemetry.
 */

/** Labels of one event at most, and characters of a value: what is longer names nothing, and stays in the payload. */
const LABELS_MAX = 32
const VALUE_MAX = 256
/** In the setting: every attribute. */
const ALL = '*'

/** Where the setting does not say: who says it, where it runs, and which version. */
const USUAL_ATTRIBUTES: readonly string[] = [
  'service.name',
  'service.namespace',
  'service.version',
  'deployment.environment.name',
  'deployment.environment',
  'host.name',
  'k8s.cluster.name',
  'k8s.namespace.name',
  'k8s.deployment.name',
  'k8s.statefulset.name',
  'k8s.daemonset.name',
  'k8s.cronjob.name',
  'k8s.pod.name',
  'container.name',
  'cloud.region',
]

/** What an event is about, the first that it has. */
const ENTITIES: readonly string[] = [
  'service.name',
  'k8s.deployment.name',
  'k8s.statefulset.name',
  'k8s.daemonset.name',
  'k8s.cronjob.name',
  'k8s.pod.name',
  'container.name',
  'host.name',
]
/** The entity of what names nothing: the source it came by. */
const SOURCE = 'source'

const NAMES: Readonly<Record<string, string>> = {
  'service.name': 'service',
  'deployment.environment.name': 'environment',
  'deployment.environment': 'environment',
}

/** The label of an attribute: its name with _ for what no label can have. */
const labelOfAttribute = (attribute: string): string =>
  ownField(NAMES, attribute) ?? attribute.replace(/[^A-Za-z0-9_]/g, '_').slice(0, 64)

interface ResourceLabels {
  labels: Record<string, string>
  /** Which of them is the entity. */
  entity: string
}

/**
 * Compiles the setting into a function of a resource's attributes.
 * @param wanted attributes by name, `*` for all; undefined: the usual ones.
 * @param source name of the source.
 */
function compileResource(
  wanted: readonly string[] = USUAL_ATTRIBUTES,
  source: string,
): (attributes: Record<string, unknown>) => ResourceLabels {
  const named = wanted.filter((name) => name !== ALL).map((name) => [name, labelOfAttribute(name)] as const)
  const isAll = wanted.includes(ALL)
  return (attributes) => {
    const labels: Record<string, string> = {}
    let count = 0
    const add = (attribute: string, label: string): void => {
      const value = Object.hasOwn(attributes, attribute) ? scalar(attributes[attribute]) : undefined
      if (value === undefined || value.length > VALUE_MAX || Object.hasOwn(labels, label)) return
      if (count++ < LABELS_MAX) labels[label] = value
    }
    const about = ENTITIES.find((name) => scalar(attributes[name]) !== undefined)
    // First of all, so that the bound never takes it.
    if (about !== undefined) add(about, labelOfAttribute(about))
    for (const [attribute, label] of named) add(attribute, label)
    if (isAll) for (const attribute of Object.keys(attributes)) add(attribute, labelOfAttribute(attribute))
    const entity = about === undefined ? SOURCE : labelOfAttribute(about)
    if (labels[entity] === undefined) labels[SOURCE] = source
    return { labels, entity: labels[entity] === undefined ? SOURCE : entity }
  }
}

/* What attributes tell of an exception and of a request, in words for the text of an event. */

type Attributes = Record<string, unknown>

const FRAME_MAX = 200

/**
 * Type, message and first frame of an exception (semantic conventions, Exceptions).
 * @param said what the text says already: it is not said twice.
 * @returns empty where there is none.
 */
function exceptionText(attributes: Attributes, said: string): string {
  const type = scalar(attributes['exception.type'])
  const message = scalar(attributes['exception.message'])
  const stack = scalar(attributes['exception.stacktrace'])
  if (type === undefined && message === undefined && stack === undefined) return ''
  const names = [type, message].filter((part) => part !== undefined && !said.includes(part))
  const frame = stack === undefined ? undefined : frameOf(stack)
  return [names.join(': '), frame === undefined || said.includes(frame) ? '' : frame]
    .filter((part) => part !== '')
    .join(' ')
}

/** Where it was thrown, as the stack of its language says it; undefined: it says no place. */
function frameOf(stack: string): string | undefined {
  const lines = stack
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
  // JavaScript, Java and .NET begin with the place, Python ends with it.
  const at = lines.find((line) => /^at\s/.test(line))
  if (at !== undefined) return at.slice(0, FRAME_MAX)
  const python = lines.flatMap((line) => /^File "([^"]+)", line (\d+)(?:, in (.+))?$/.exec(line) ?? [], 1)
  if (python.length >= 4) {
    const [, file, line, inside] = python.slice(-4)
    return `at ${inside ?? '<module>'} (${file}:${line})`.slice(0, FRAME_MAX)
  }
  // Ruby, PHP and Go name a file and a line.
  const place = lines.find((line) => /\.\w+:\d+\b/.test(line))
  return place === undefined ? undefined : `at ${place}`.slice(0, FRAME_MAX)
}

/**
 * Method, route and status of a request (semantic conventions, HTTP; the names before 1.20 too).
 * @param said what the text says already.
 */
function requestText(attributes: Attributes, said: string): string {
  const first = (...names: string[]): string | undefined => {
    for (const name of names) {
      const value = scalar(attributes[name])
      if (value !== undefined) return value
    }
    return undefined
  }
  const route = first('http.route', 'url.path', 'http.target')
  const method = first('http.request.method', 'http.method')
  const status = first('http.response.status_code', 'http.status_code')
  const words = [
    route !== undefined && !said.includes(route) ? [method, route] : [],
    status !== undefined && !new RegExp(`\\b${status.replace(/\W/g, '')}\\b`).test(said) ? [status] : [],
  ]
    .flat()
    .filter((word) => word !== undefined)
  return words.length === 0 ? '' : `[${words.join(' ')}]`
}
