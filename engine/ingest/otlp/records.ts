/**
 * An export request taken apart: each log record, span and metric point by itself, as JSON text with its
 * resource's attributes and its scope. This is the payload of an event.
 */
import { fail } from '../../errors.ts'
import { type Fields, fieldsOf, listOf, type OtlpSignal } from './form.ts'
import { attributesText, doubleText, valueText, wholeText } from './values.ts'

const GROUPS: Record<OtlpSignal, [group: string, scopes: string, records: string]> = {
  logs: ['resourceLogs', 'scopeLogs', 'logRecords'],
  traces: ['resourceSpans', 'scopeSpans', 'spans'],
  metrics: ['resourceMetrics', 'scopeMetrics', 'metrics'],
}
const METRIC_TYPES = ['gauge', 'sum', 'histogram', 'exponentialHistogram', 'summary']

const ATTRIBUTES = new Set(['attributes', 'filteredAttributes', 'metadata'])
const DOUBLES = new Set([
  'asDouble',
  'sum',
  'min',
  'max',
  'explicitBounds',
  'zeroThreshold',
  'quantile',
  'value',
])
/** 64-bit integers, which are numbers as far as they can be. */
const COUNTS = new Set(['asInt', 'count', 'bucketCounts', 'zeroCount'])
const IDS: Record<string, number> = { traceId: 16, spanId: 8, parentSpanId: 8 }
/** Text in JSON however long it is. */
const TIMES = /UnixNano$/

/**
 * Calls `visit` with each record, in order. @param request as OTLP/JSON has it, parsed exactly.
 * @throws SvcError invalid: no request of that signal, or a value nested too deep
 */
export function eachRecord(signal: OtlpSignal, request: unknown, visit: (text: string) => void): void {
  const [group, scopes, records] = GROUPS[signal]
  if (request === null || typeof request !== 'object' || Array.isArray(request))
    fail('invalid', 'the body is not an object')
  const groups = fieldsOf(request)[group]
  if (groups !== undefined && !Array.isArray(groups)) fail('invalid', `${group} is not a list`)
  for (const given of listOf(groups).map(fieldsOf))
    for (const scoped of listOf(given[scopes]).map(fieldsOf)) {
      const about = aboutText(given, scoped)
      for (const record of listOf(scoped[records]).map(fieldsOf))
        if (signal === 'metrics') eachPoint(record, about, visit)
        else visit(`{"signal":"${signal}"${membersText(record, signal === 'logs')}${about}}`)
    }
}

/** What the records of a scope share, as members after others. */
function aboutText(given: Fields, scoped: Fields): string {
  const { attributes, ...resource } = fieldsOf(given.resource)
  const scope = fieldsOf(scoped.scope)
  return [
    `,"resourceAttributes":${attributesText(attributes)}`,
    membersText(resource, false) ? `,"resource":${objectText(resource)}` : '',
    `,"scope":${objectText(scope)}`,
    schemaText('resourceSchemaUrl', given.schemaUrl),
    schemaText('scopeSchemaUrl', scoped.schemaUrl),
  ].join('')
}

const schemaText = (name: string, url: unknown): string =>
  typeof url === 'string' && url !== '' ? `,"${name}":${JSON.stringify(url)}` : ''

function eachPoint(metric: Fields, about: string, visit: (text: string) => void): void {
  const type = METRIC_TYPES.find((name) => metric[name] !== undefined)
  if (type === undefined) return
  const { name, unit, description, metadata } = metric
  const { dataPoints, ...shared } = fieldsOf(metric[type])
  const facts = { metricName: name ?? '', unit, description, metadata, ...shared }
  const head = `{"signal":"metrics","metricType":"${type}"${membersText(facts, false)}`
  for (const point of listOf(dataPoints)) visit(`${head}${membersText(fieldsOf(point), false)}${about}}`)
}

/** Members of an object, each after a comma. */
function membersText(fields: Fields, hasBody: boolean): string {
  let text = ''
  for (const [name, value] of Object.entries(fields))
    if (value !== undefined && value !== null && !isNone(name, value))
      text += `,${JSON.stringify(name)}:${hasBody && name === 'body' ? valueText(value) : fieldText(name, value)}`
  return text
}

/** Some senders write down that nothing was dropped, others leave it out. */
const isNone = (name: string, value: unknown): boolean => value === 0 && name.startsWith('dropped')

const objectText = (fields: Fields): string => `{${membersText(fields, false).slice(1)}}`

function fieldText(name: string, value: unknown): string {
  if (ATTRIBUTES.has(name)) return attributesText(value)
  if (Array.isArray(value)) return `[${value.map((inner) => fieldText(name, inner)).join(',')}]`
  if (value !== null && typeof value === 'object') return objectText(value as Fields)
  if (DOUBLES.has(name)) return doubleText(value)
  if (TIMES.test(name)) return JSON.stringify(String(value))
  const idBytes = IDS[name]
  if (idBytes !== undefined) return JSON.stringify(idText(String(value), idBytes))
  return COUNTS.has(name) ? wholeText(value) : JSON.stringify(value)
}

/** Hex in small letters; what was written as base64, which JSON of protobuf does elsewhere, too. */
function idText(text: string, bytes: number): string {
  if (text.length === 2 * bytes) return text.toLowerCase()
  const decoded = Buffer.from(text, 'base64')
  return decoded.length === bytes && decoded.toString('base64') === text ? decoded.toString('hex') : text
}
