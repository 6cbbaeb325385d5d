/** A log record, a span and a metric point as events: type, time, and what each says in a line. */
import { fieldsOf, listOf } from '../../ingest/otlp/form.ts'
import { oneLine } from '../../ingest/template.ts'
import { levelOf } from '../../levels.ts'
import type { MappedEvent } from '../connector.ts'
import { scalar } from '../scalar.ts'
import { exceptionText, requestText } from './told.ts'

const EVENT_TYPE_MAX = 200
const TEXT_MAX = 1_000
/** Where a level in the body is looked for. */
const HEAD = 64
const SPAN_KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer']
const STATUS_CODES = ['UNSET', 'OK', 'ERROR']
/** Set on a point that has no value. */
const NO_VALUE = 1
/** Attributes of a point in its text at most, and characters of a value. */
const POINT_ATTRIBUTES = 12
const POINT_VALUE = 80

export type OtlpRecord = MappedEvent['context']

/** A log record: its level, its body, the exception and the request it is about. */
export function logOf(record: OtlpRecord): MappedEvent {
  const { severityText, severityNumber, body, eventName } = record
  const attributes = fieldsOf(record.attributes)
  const level = levelOf(severityNumber, scalar(severityText))
  const said =
    typeof body === 'string' ? body : body === undefined || body === null ? '' : JSON.stringify(body)
  const exception = exceptionText(attributes, said)
  const own = said || scalar(eventName) || (exception ? '' : 'log record without a body')
  const request = requestText(attributes, own)
  const text = withException(own, exception)
  return {
    eventType: oneLine(level ?? 'log', EVENT_TYPE_MAX),
    text: oneLine(`${levelBefore(level, own)}${text}${request && ` ${request}`}`, TEXT_MAX),
    ...timeOf(record.timeUnixNano, record.observedTimeUnixNano),
    context: level === undefined ? {} : { severity: level },
  }
}

/** @param exception empty, or what it is, or its place alone. */
function withException(said: string, exception: string): string {
  if (said === '' || exception === '') return said + exception
  return `${said}${exception.startsWith('at ') ? ' ' : ': '}${exception}`
}

/** Nothing where the line begins with its level by itself. */
function levelBefore(level: string | undefined, said: string): string {
  if (level === undefined) return ''
  const words = said
    .slice(0, HEAD)
    .toUpperCase()
    .split(/[^A-Z]+/)
  return words.includes(level) ? '' : `${level} `
}

/** A span: its name, how long it took, how it ended and why it failed. */
export function spanOf(record: OtlpRecord): MappedEvent {
  const { name, kind, startTimeUnixNano: start, endTimeUnixNano: end, status } = record
  const { code, message } = fieldsOf(status)
  const statusCode = nameOf(STATUS_CODES, code, 'STATUS_CODE_')
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
    eventType: 'span',
    text: oneLine(parts.filter((part) => part !== '').join(' '), TEXT_MAX),
    ...timeOf(start, end),
    context: {
      statusCode,
      spanKind: nameOf(SPAN_KINDS, kind, 'SPAN_KIND_').toLowerCase(),
      ...(durationMs === null ? {} : { durationMs }),
    },
  }
}

/** A metric point: its series, as name and attributes, and its value. */
export function pointOf(record: OtlpRecord): MappedEvent {
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
  return { eventTime: { ms: Math.trunc(Number(time) / 1e6), given: String(time) } }
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
