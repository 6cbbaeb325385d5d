/**
 * An export request taken apart: each log record, span and metric point by itself, as JSON text with its
 * resource's attributes and its scope. This is the payload of an event.
 */
import { fail } from '../../errors.ts'
import { type Fields, fieldsOf, listOf, type OtlpSignal, REFUSED, RecordFault } from './form.ts'
import { attributesText, doubleText, valueText, wholeDigits, wholeText } from './values.ts'

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
/** 64-bit integers, which are numbers as far as they can be; all but the first from 0. */
const SIGNED = 'asInt'
const COUNTS = new Set([SIGNED, 'count', 'bucketCounts', 'zeroCount'])
/** Numbers of 32 bits; JSON of some senders has the names of protobuf in place of the first four. */
const NAMED = new Set(['severityNumber', 'kind', 'code', 'aggregationTemporality'])
const NUMBERS = new Set([...NAMED, 'scale', 'offset', 'flags'])
const IDS: Record<string, number> = { traceId: 16, spanId: 8, parentSpanId: 8 }
/** Text in JSON however long it is. */
const TIMES = /UnixNano$/

/**
 * Calls `visit` with each record, in order; one that cannot be taken is an object that says why (REFUSED).
 * @param request as OTLP/JSON has it, parsed exactly.
 * @throws SvcError invalid: no request of that signal
 */
export function eachRecord(signal: OtlpSignal, request: unknown, visit: (text: string) => void): void {
  const [group, scopes, records] = GROUPS[signal]
  if (request === null || typeof request !== 'object' || Array.isArray(request))
    fail('invalid', 'the body is not an object')
  for (const given of wholeList(fieldsOf(request)[group], group).map(fieldsOf))
    for (const scoped of wholeList(given[scopes], scopes).map(fieldsOf)) {
      const about = attempt(() => aboutText(given, scoped))
      for (const record of wholeList(scoped[records], records))
        if (signal === 'metrics') eachPoint(record, about, visit)
        else
          visit(
            recordText(
              record,
              about,
              (fields) => `"signal":"${signal}"${membersText(fields, signal === 'logs')}`,
            ),
          )
    }
}

/** Without it nothing says how many records there are. @throws SvcError invalid */
function wholeList(value: unknown, name: string): unknown[] {
  if (value !== undefined && value !== null && !Array.isArray(value)) fail('invalid', `${name} is not a list`)
  return listOf(value)
}

/** The text, or what is wrong. */
function attempt(write: () => string): string | RecordFault {
  try {
    return write()
  } catch (error) {
    if (error instanceof RecordFault) return error
    throw error
  }
}

/** @param write the record's own members. */
function recordText(given: unknown, about: string | RecordFault, write: (fields: Fields) => string): string {
  const fields = fieldsOf(given)
  const own = attempt(() => {
    if (fields !== given) throw new RecordFault('it is not an object')
    if (typeof fields[REFUSED] === 'string') throw new RecordFault(fields[REFUSED])
    return write(fields)
  })
  for (const part of [own, about])
    if (part instanceof RecordFault) return `{"${REFUSED}":${JSON.stringify(part.message)}}`
  return `{${own}${about}}`
}

/** What the records of a scope share, as members after others. @throws RecordFault */
function aboutText(given: Fields, scoped: Fields): string {
  const { attributes, ...resource } = fieldsOf(given.resource)
  const scope = fieldsOf(scoped.scope)
  return [
    `,"resourceAttributes":${attributesText(attributes, 'resource.attributes')}`,
    membersText(resource, false) ? `,"resource":${objectText(resource)}` : '',
    `,"scope":${objectText(scope)}`,
    schemaText('resourceSchemaUrl', given.schemaUrl),
    schemaText('scopeSchemaUrl', scoped.schemaUrl),
  ].join('')
}

const schemaText = (name: string, url: unknown): string =>
  typeof url === 'string' && url !== '' ? `,"${name}":${JSON.stringify(url)}` : ''

function eachPoint(given: unknown, about: string | RecordFault, visit: (text: string) => void): void {
  const metric = fieldsOf(given)
  const type = METRIC_TYPES.find((name) => metric[name] !== undefined)
  if (type === undefined && metric === given && metric[REFUSED] === undefined) return
  const { dataPoints = [], ...shared } = fieldsOf(metric[type ?? ''])
  const { name, unit, description, metadata } = metric
  const head = attempt(
    () =>
      `"signal":"metrics","metricType":"${type}"${membersText({ metricName: name ?? '', unit, description, metadata, ...shared }, false)}`,
  )
  if (type === undefined || !Array.isArray(dataPoints)) {
    const what = metric === given ? metric : { [REFUSED]: 'it is not an object' }
    visit(recordText(type === undefined ? what : { [REFUSED]: 'dataPoints is not a list' }, about, () => ''))
    return
  }
  for (const point of dataPoints)
    visit(
      recordText(point, about, (fields) => {
        if (head instanceof RecordFault) throw head
        return `${head}${membersText(fields, false)}`
      }),
    )
}

/** Members of an object, each after a comma. */
function membersText(fields: Fields, hasBody: boolean): string {
  let text = ''
  for (const [name, value] of Object.entries(fields))
    if (value !== undefined && value !== null && !isNone(name, value))
      text += `,${JSON.stringify(name)}:${hasBody && name === 'body' ? bodyText(value) : fieldText(name, value)}`
  return text
}

function bodyText(value: unknown): string {
  try {
    return valueText(value)
  } catch (error) {
    throw error instanceof RecordFault ? error.in('body') : error
  }
}

/** Some senders write down that nothing was dropped, others leave it out. */
const isNone = (name: string, value: unknown): boolean => value === 0 && name.startsWith('dropped')

const objectText = (fields: Fields): string => `{${membersText(fields, false).slice(1)}}`

function fieldText(name: string, value: unknown): string {
  if (ATTRIBUTES.has(name)) return attributesText(value, name)
  if (Array.isArray(value)) return `[${value.map((inner) => fieldText(name, inner)).join(',')}]`
  if (value !== null && typeof value === 'object') return objectText(value as Fields)
  if (DOUBLES.has(name)) return doubleText(value, name)
  if (TIMES.test(name)) return `"${wholeDigits(value, name, false)}"`
  const idBytes = IDS[name]
  if (idBytes !== undefined) return JSON.stringify(idText(String(value), idBytes))
  if (COUNTS.has(name)) return wholeText(value, name, name === SIGNED)
  if (NUMBERS.has(name) && !(NAMED.has(name) && /^[A-Z][A-Z0-9_]+$/.test(String(value))))
    return wholeText(value, name)
  return JSON.stringify(value)
}

/** Hex in small letters; what was written as base64, which JSON of protobuf does elsewhere, too. */
function idText(text: string, bytes: number): string {
  if (text.length === 2 * bytes) return text.toLowerCase()
  const decoded = Buffer.from(text, 'base64')
  return decoded.length === bytes && decoded.toString('base64') === text ? decoded.toString('hex') : text
}
