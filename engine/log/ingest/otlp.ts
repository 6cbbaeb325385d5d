/**
 * From the bytes of an export request to the body the way in splits: a JSON array with an item for each
 * record. It is done where bodies are prepared, beside the writer or by it, and never on the main thread.
 */

import { isUtf8 } from 'node:buffer'
import { fail } from '../../errors.ts'
import { faultAt, isDeeper } from './json.ts'
import {
  type Fields,
  fieldsOf,
  listOf,
  lokiPush,
  type OtlpForm,
  type OtlpSignal,
  REFUSED,
  RecordFault,
  readMessage,
  requests,
  unpackSnappy,
} from './otlp-protobuf.ts'

/** Every record repeats what its resource says, so that a small request could become a huge one. */
const ITEMS_MIB_MAX = 128
const ITEMS_BYTES_MAX = ITEMS_MIB_MAX * 1024 * 1024
const ITEMS_MAX = 100_000
const BYTES_FIRST = 64 * 1024
/** Filled so far a buffer is handed on as it is; what is emptier is copied. */
const MOSTLY = 3 / 4

/** The body of a call as items: as it came, or an export or a push taken apart. @throws SvcError */
export function itemsOf({
  body,
  otlp,
  isLokiPush,
}: {
  body: Uint8Array
  otlp?: OtlpForm
  isLokiPush?: boolean
}): Uint8Array {
  if (isLokiPush) return pushItems(body)
  return otlp ? exportItems(body, otlp) : body
}

/**
 * @returns the items, in a buffer of their own.
 * @throws SvcError invalid: no export of that signal; too_large: too many records, or too much in all
 */
export function exportItems(body: Uint8Array, { signal, encoding }: OtlpForm): Buffer {
  const request = encoding === 'json' ? parseExact(body) : readMessage(body, requests[signal])
  const items = new Items(body.length)
  let count = 0
  eachRecord(signal, request, (text) => {
    if (count >= ITEMS_MAX)
      fail('too_large', `the export has more than ${ITEMS_MAX} records; send fewer at once`)
    items.add(`${count === 0 ? '[' : ','}${text}`)
    count++
  })
  items.add(count === 0 ? '[]' : ']')
  return items.finish()
}

/** Of an item, so that it is less than an item may be where its lines are short. */
const PUSH_ITEM_CHARS = 256 * 1024

/** A push of Loki as what its clients send that send JSON, some lines of a stream to an item. @throws SvcError invalid, too_large */
function pushItems(body: Uint8Array): Buffer {
  const items = new Items(body.length)
  for (const stream of listOf(readMessage(unpackSnappy(body), lokiPush).streams)) {
    const { labels, entries } = fieldsOf(stream)
    const head = `{"streams":[{"stream":${JSON.stringify(streamLabels(String(labels ?? '')))},"values":[`
    let rows: string[] = []
    let chars = 0
    const end = (): void => {
      if (rows.length > 0) items.add(`${head}${rows.join()}]}]}\n`)
      rows = []
      chars = 0
    }
    for (const entry of listOf(entries)) {
      const row = rowOf(fieldsOf(entry))
      if (chars + row.length > PUSH_ITEM_CHARS) end()
      rows.push(row)
      chars += row.length
    }
    end()
  }
  return items.finish()
}

function rowOf({ timestamp, line = '', structuredMetadata }: Fields): string {
  const { seconds = '0', nanos = 0 } = fieldsOf(timestamp)
  const time = BigInt(String(seconds)) * 1_000_000_000n + BigInt(Number(nanos))
  const pairs = listOf(structuredMetadata).map((one) =>
    Object.values({ name: '', value: '', ...fieldsOf(one) }),
  )
  return JSON.stringify([String(time), line, ...(pairs.length > 0 ? [Object.fromEntries(pairs)] : [])])
}

/** A pair of a selector such as `{app="shop", env="a\\"b"}`, as Prometheus writes them: the names may be quoted, too. */
const LABEL =
  /\s*([\w.:-]+|"(?:[^"\\]|\\.)*")\s*=\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`)\s*(?:,|$)/sy
const ESCAPED = /\\(x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|[0-7]{3}|.)/gis
const CONTROLS: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

/** What a stream is named by; where it cannot be read to its end, all of it under `labels`, too. */
function streamLabels(selector: string): Record<string, string> {
  const [, inside] = /^\s*\{(.*)\}\s*$/s.exec(selector) ?? []
  const found: [string, string][] = []
  LABEL.lastIndex = 0
  for (let at = 0; inside !== undefined && at < inside.trimEnd().length; at = LABEL.lastIndex) {
    LABEL.lastIndex = at
    const pair = LABEL.exec(inside)
    if (!pair) return { ...Object.fromEntries(found), labels: selector }
    found.push([unquoted(pair[1]!), unquoted(pair[2]!)])
  }
  return inside === undefined ? { labels: selector } : Object.fromEntries(found)
}

function unquoted(text: string): string {
  if (text[0] === '`') return text.slice(1, -1)
  if (text[0] !== '"' && text[0] !== "'") return text
  return text.slice(1, -1).replace(ESCAPED, (_, code: string) => {
    if (code.length === 1) return CONTROLS[code] ?? code
    const number = Number.parseInt(/^[xu]/i.test(code) ? code.slice(1) : code, /^[xu]/i.test(code) ? 16 : 8)
    return number <= 0x10ffff ? String.fromCodePoint(number) : code
  })
}

/** Texts written one after another, so that no more than their bytes are held. */
class Items {
  private bytes: Buffer
  private size = 0

  /** @param expected bytes there may be. */
  constructor(expected: number) {
    this.bytes = Buffer.allocUnsafeSlow(Math.max(BYTES_FIRST, Math.min(expected * 2, ITEMS_BYTES_MAX)))
  }

  /** @throws SvcError too_large */
  add(text: string): void {
    const wanted = this.size + Buffer.byteLength(text)
    if (wanted > ITEMS_BYTES_MAX)
      fail('too_large', `the export is larger than ${ITEMS_MIB_MAX} MiB when taken apart; send less at once`)
    if (wanted > this.bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.min(ITEMS_BYTES_MAX, 2 * wanted))
      this.bytes.copy(grown, 0, 0, this.size)
      this.bytes = grown
    }
    this.size += this.bytes.write(text, this.size)
  }

  finish(): Buffer {
    if (this.size > this.bytes.length * MOSTLY) return this.bytes.subarray(0, this.size)
    const whole = Buffer.allocUnsafeSlow(this.size)
    this.bytes.copy(whole, 0, 0, this.size)
    return whole
  }
}

/*
 * An export request taken apart: each log record, span and metric point by itself, as JSON text with its
 * resource's attributes and its scope. This is the payload of an event.
 */

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
function eachRecord(signal: OtlpSignal, request: unknown, visit: (text: string) => void): void {
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

/*
 * Values of OTLP as plain JSON: `{stringValue: "a"}` is "a", a list of attributes is an object. Nothing is
 * lost by it: integers past 2^53 are text, as OTLP/JSON has them, doubles keep a point, bytes keep their
 * name. Written as JSON text, because that is what is stored. What is no value of its kind is told, never
 * stored as something else.
 */

const DEPTH_MAX = 90
const WHOLE = /^-?\d{1,40}$/
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
/** Digits that are below 2^63 whatever they are. */
const SURE_LENGTH = 18
const KINDS =
  'one of stringValue, intValue, doubleValue, boolValue, arrayValue, kvlistValue and bytesValue, as in {"stringValue": "a"}'

/** A value of any type as JSON text; null for one of no type. @throws RecordFault */
function valueText(value: unknown, depth = 0): string {
  if (depth > DEPTH_MAX) throw new RecordFault(`a value nests deeper than ${DEPTH_MAX}`)
  if (value === undefined || value === null) return 'null'
  const given = fieldsOf(value)
  if (given !== value) throw new RecordFault(`a value is not ${KINDS}`)
  const { stringValue, intValue, boolValue, doubleValue } = given
  if (isSet(stringValue)) return textOf(stringValue, 'stringValue')
  if (isSet(intValue))
    return isHuge(intValue) ? doubleText(intValue, 'intValue') : wholeText(intValue, 'intValue')
  if (isSet(boolValue)) {
    if (typeof boolValue !== 'boolean') throw new RecordFault('boolValue is not true or false')
    return String(boolValue)
  }
  if (isSet(doubleValue)) return doubleText(doubleValue, 'doubleValue')
  return nestedText(given, depth)
}

/** In JSON of protobuf null is a field that is not set: NaN and the infinities, as the exporter of JavaScript has them. */
const isSet = (value: unknown): boolean => value !== undefined && value !== null

/** Past 64 bits and with an exponent: a double that is whole, such as 1e21, which the exporter of JavaScript takes for an integer. */
const isHuge = (value: unknown): boolean =>
  typeof value === 'number'
    ? Math.abs(value) >= 2 ** 63
    : String(value).length > SURE_LENGTH &&
      /^-?\d[\d.]*e/i.test(String(value)) &&
      Math.abs(Number(value)) >= 2 ** 63

function nestedText(given: Fields, depth: number): string {
  const { arrayValue, kvlistValue, bytesValue } = given
  if (isSet(arrayValue)) {
    const values = listIn(arrayValue, 'arrayValue')
    return `[${values.map((inner) => valueText(inner, depth + 1)).join(',')}]`
  }
  if (isSet(kvlistValue)) return attributesText(listIn(kvlistValue, 'kvlistValue'), 'values', depth + 1)
  if (isSet(bytesValue)) return `{"bytesValue":${textOf(inBase64(bytesValue), 'bytesValue')}}`
  if (Object.values(given).some(isSet)) throw new RecordFault(`a value is not ${KINDS}`)
  return 'null'
}

/** Bytes that JSON.stringify wrote as an object of their places, or as a Buffer: exporters of JavaScript before 2026. */
function inBase64(bytes: unknown): unknown {
  const { type, data, ...places } = fieldsOf(bytes)
  const list = type === 'Buffer' && Array.isArray(data) ? data : bytes === null ? [] : Object.values(places)
  const isBytes =
    typeof bytes === 'object' &&
    list.every((byte) => Number.isInteger(byte) && (byte as number) >= 0 && (byte as number) < 256)
  return isBytes ? Buffer.from(list as number[]).toString('base64') : bytes
}

function listIn(value: unknown, name: string): unknown[] {
  const { values } = fieldsOf(value)
  if (fieldsOf(value) !== value || (values !== undefined && values !== null && !Array.isArray(values)))
    throw new RecordFault(`${name} is not {"values": [...]}`)
  return listOf(values)
}

function textOf(value: unknown, name: string): string {
  if (typeof value !== 'string') throw new RecordFault(`${name} is not text`)
  return JSON.stringify(value)
}

/**
 * Attributes, a list of {key, value}, as the text of an object.
 * @param name what they are called. @throws RecordFault
 */
function attributesText(attributes: unknown, name: string, depth = 0): string {
  if (attributes === undefined || attributes === null) return '{}'
  if (!Array.isArray(attributes)) throw new RecordFault(`${name} is not a list of {key, value}`)
  const entries = attributes.map((attribute, i) => {
    const { key = '', value } = fieldsOf(attribute)
    if (fieldsOf(attribute) !== attribute || typeof key !== 'string')
      throw new RecordFault(`${name}[${i}] is not {key, value}`)
    try {
      return `${JSON.stringify(key)}:${valueText(value, depth)}`
    } catch (error) {
      throw error instanceof RecordFault && depth === 0 ? error.in(`${name}.${key.slice(0, 64)}`) : error
    }
  })
  return `{${entries.join(',')}}`
}

/**
 * An integer: a number as far as all programs read the same from it, text beyond.
 * @param name of its field. @param isSigned whether it may be below 0. @throws RecordFault
 */
function wholeText(value: unknown, name: string, isSigned = true): string {
  const text = wholeDigits(value, name, isSigned)
  return Number.isSafeInteger(Number(text)) ? String(Number(text)) : `"${text}"`
}

/** The digits of a 64-bit integer, which JSON of protobuf writes as number or text. @throws RecordFault */
function wholeDigits(value: unknown, name: string, isSigned: boolean): string {
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : ''
  const isWhole = WHOLE.test(text)
  if (isWhole && text.length <= SURE_LENGTH && (isSigned || text[0] !== '-')) return text
  // Of the numbers of JSON those with an exponent may be whole, too.
  const number = isWhole
    ? BigInt(text)
    : NUMBER.test(text) && Number.isInteger(Number(text))
      ? BigInt(Number(text))
      : null
  if (number === null || number !== (isSigned ? BigInt.asIntN(64, number) : BigInt.asUintN(64, number)))
    throw new RecordFault(`${name} is not a whole number of 64 bits${isSigned ? '' : ' from 0'}`)
  return String(number)
}

/** A double, with a point where it is whole; NaN and the infinities by name. @throws RecordFault */
function doubleText(value: unknown, name: string): string {
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : ''
  if (NUMBER.test(text)) return /^-?\d+$/.test(text) ? `${text}.0` : text
  if (typeof value === 'string' && /^(?:NaN|-?Infinity)$/.test(text)) return JSON.stringify(text)
  throw new RecordFault(`${name} is not a number`)
}

/* JSON parsed so that no number loses a digit: those a double may not hold come back as their text. */

/** So deep that a record which nests too deep is told by itself: a list in a list takes three levels. */
const JSON_DEPTH_MAX = 2_000

/** Past it, parsing would take many times the memory of the body. */
const OPENINGS_MAX = 4_000_000

/** A number of 16 digits and more that is no part of a text, or may be: a cheap look at the whole. */
const MAYBE_LONG = /[:[,]\s*-?\d[\d.]{15}/
/** Texts, so that they are passed over, and numbers of 16 characters and more. */
const TEXT_OR_LONG = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]{15,}/g

/** @throws SvcError invalid: not UTF-8, no JSON, or nested too deep; too_large: too many values in it */
function parseExact(body: Uint8Array): unknown {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  if (!isUtf8(bytes)) fail('invalid', 'the body is not valid UTF-8')
  if (isDeeper(bytes, [0, bytes.length], JSON_DEPTH_MAX)) fail('invalid', 'the body nests too deep')
  if (openings(bytes) > OPENINGS_MAX) fail('too_large', 'the body has too many objects and lists')
  const text = bytes.toString()
  try {
    const value: unknown = JSON.parse(text)
    if (!MAYBE_LONG.test(text)) return value
    return JSON.parse(text.replace(TEXT_OR_LONG, (found) => (found[0] === '"' ? found : `"${found}"`)))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return fail('invalid', `the body is not valid JSON at byte ${faultAt(bytes.toString('latin1'))}`)
  }
}

/** Brackets that open, those in texts as well. */
function openings(bytes: Buffer): number {
  let count = 0
  for (let i = 0; i < bytes.length; i++) if (bytes[i] === 0x7b || bytes[i] === 0x5b) count++
  return count
}
