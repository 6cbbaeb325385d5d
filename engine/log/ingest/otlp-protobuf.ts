/**
 * Reads protobuf by a table of its fields into what OTLP/JSON says of the same message, so that one
 * mapping serves both. Wire format: https://protobuf.dev/programming-guides/encoding. Fields that are not
 * in the table are passed over, as the format wants; nothing is read past the end of the bytes.
 */
import { fail } from '../../errors.ts'

export type OtlpSignal = 'logs' | 'traces' | 'metrics'

/** Of a body that is an export request and no list of items. */
export interface OtlpForm {
  signal: OtlpSignal
  encoding: 'json' | 'protobuf'
}

/** JSON as OTLP has it, parsed; 64-bit integers are text. */
export type Fields = Record<string, unknown>

/** Any value as an object; anything else has no fields. */
export const fieldsOf = (value: unknown): Fields =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Fields) : {}

export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

/** The one field of what stands for a record that cannot be taken: why, in words after "record 3". */
export const REFUSED = 'svc.refused'

/** What is wrong with one record, so that its neighbours are kept. The message goes on after its place. */
export class RecordFault extends Error {
  /** The same in a member of that name. */
  in(name: string): RecordFault {
    return new RecordFault(`${name}.${this.message}`)
  }
}

/* Bytes that arrived in parts. */

/** How many there are. */
export function sizeOf(bytes: Uint8Array | readonly Uint8Array[]): number {
  return bytes instanceof Uint8Array ? bytes.length : bytes.reduce((sum, part) => sum + part.length, 0)
}

/** All of them, in a buffer of their own where they are not whole already. */
export function joined(
  bytes: Uint8Array | readonly Uint8Array[],
  bufferOf = (size: number): Buffer => Buffer.allocUnsafeSlow(size),
): Buffer {
  if (bytes instanceof Uint8Array) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const whole = bufferOf(sizeOf(bytes))
  let at = 0
  for (const part of bytes) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** Of messages in each other: values, which take two for each list, are bounded where they are written. */
const DEPTH_MAX = 250
/** Values of two bytes take fifty in memory: past it a body would take many times its size. */
const VALUES_MAX = 4_000_000

const VARINT = 0
const FIXED64 = 1
const BYTES = 2
const FIXED32 = 5

/**
 * @param bytes one message, whole.
 * @throws SvcError invalid: it is cut short, nests too deep or has another form; too_large: too many values
 */
export function readMessage(bytes: Uint8Array, message: Message): Fields {
  const reader = new Reader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  try {
    return reader.message(message, bytes.byteLength, 0)
  } catch (error) {
    if (error instanceof TooDeep) fail('invalid', `the body ${error.message}`)
    throw error
  }
}

/** It ends the record it is in, or the whole where it is in none. */
class TooDeep extends Error {}

class Reader {
  private at = 0
  private values = 0

  constructor(private readonly bytes: Buffer) {}

  message(message: Message, end: number, depth: number): Fields {
    if (depth > DEPTH_MAX) throw new TooDeep(`nests deeper than ${DEPTH_MAX}`)
    const found: Fields = {}
    while (this.at < end) {
      const tag = this.varint(end)
      const wire = tag % 8
      const field = message[Math.floor(tag / 8)]
      if (tag < 8) this.refuse('has a field without a number')
      if (field) this.field(field, wire, end, depth, found)
      else this.skip(wire, end)
    }
    return found
  }

  private record(type: Message, stop: number, depth: number): Fields {
    try {
      return this.message(type, stop, depth)
    } catch (error) {
      if (!(error instanceof TooDeep)) throw error
      this.at = stop
      return { [REFUSED]: error.message }
    }
  }

  private field(field: Field, wire: number, end: number, depth: number, found: Fields): void {
    const { name, type, isList, isRecord } = field
    this.count(1)
    if (wire === BYTES && typeof type === 'object') {
      const stop = this.lengthTo(end)
      const value = isRecord ? this.record(type, stop, depth + 1) : this.message(type, stop, depth + 1)
      // A message given twice is one, merged; the last of a list is its own.
      if (isList) listAt(found, name).push(value)
      else found[name] = found[name] === undefined ? value : { ...(found[name] as Fields), ...value }
    } else if (typeof type === 'object') this.skip(wire, end)
    else if (wire === BYTES && wireOf(type) !== BYTES) {
      if (isList) this.packed(type, end, listAt(found, name))
      else this.skip(wire, end)
    } else if (wire !== wireOf(type)) this.skip(wire, end)
    else if (isList) listAt(found, name).push(this.scalar(type, end))
    else found[name] = this.scalar(type, end)
  }

  private packed(type: Scalar, end: number, into: unknown[]): void {
    const stop = this.lengthTo(end)
    this.count(stop - this.at)
    while (this.at < stop) into.push(this.scalar(type, stop))
  }

  private count(values: number): void {
    this.values += values
    if (this.values > VALUES_MAX) fail('too_large', 'the body has too many values')
  }

  private scalar(type: Scalar, end: number): unknown {
    switch (type) {
      case 'string':
        return this.text('utf8', end)
      case 'bytes':
        return this.text('base64', end)
      case 'id':
        return this.text('hex', end)
      case 'double':
        return finite(this.bytes.readDoubleLE(this.take(8, end)))
      case 'fixed32':
        return this.bytes.readUInt32LE(this.take(4, end))
      case 'fixed64':
        return this.bytes.readBigUInt64LE(this.take(8, end)).toString()
      case 'sfixed64':
        return this.bytes.readBigInt64LE(this.take(8, end)).toString()
      default:
        return this.whole(type, end)
    }
  }

  /** Integers of variable length. */
  private whole(type: Scalar, end: number): unknown {
    const start = this.at
    const value = this.varint(end)
    switch (type) {
      case 'bool':
        return value !== 0
      case 'uint32':
        return value % 2 ** 32
      case 'sint32': {
        const low = value % 2 ** 32
        return low % 2 === 0 ? low / 2 : -(low + 1) / 2
      }
      default: {
        if (value <= Number.MAX_SAFE_INTEGER) return type === 'int32' ? value | 0 : String(value)
        const exact = this.exact(start)
        if (type === 'uint64') return BigInt.asUintN(64, exact).toString()
        if (type === 'int32') return Number(BigInt.asIntN(32, exact))
        return BigInt.asIntN(64, exact).toString()
      }
    }
  }

  /** As a number, rounded past 2^53. */
  private varint(end: number): number {
    let value = 0
    let scale = 1
    for (let i = 0; i < 10; i++) {
      const byte = this.bytes[this.take(1, end)]!
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
      scale *= 0x80
    }
    return this.refuse('has a number longer than ten bytes')
  }

  /** The number that begins there and ends here, of all its digits. */
  private exact(start: number): bigint {
    let value = 0n
    for (let i = this.at - 1; i >= start; i--) value = (value << 7n) | BigInt(this.bytes[i]! & 0x7f)
    return value
  }

  private text(encoding: 'utf8' | 'base64' | 'hex', end: number): string {
    const stop = this.lengthTo(end)
    const start = this.at
    this.at = stop
    return this.bytes.toString(encoding, start, stop)
  }

  private skip(wire: number, end: number): void {
    if (wire === VARINT) this.varint(end)
    else if (wire === FIXED64) this.take(8, end)
    else if (wire === BYTES) this.at = this.lengthTo(end)
    else if (wire === FIXED32) this.take(4, end)
    else this.refuse(`has a field of the unknown form ${wire}`)
  }

  /** Reads a length. @returns where what has it ends. */
  private lengthTo(end: number): number {
    const length = this.varint(end)
    if (length > end - this.at) this.refuse('is cut short')
    return this.at + length
  }

  /** Passes over so many bytes. @returns where they begin. */
  private take(size: number, end: number): number {
    const start = this.at
    if (size > end - start) this.refuse('is cut short')
    this.at = start + size
    return start
  }

  private refuse(why: string): never {
    return fail('invalid', `the body is no protobuf message of this signal: it ${why} at byte ${this.at}`)
  }
}

function wireOf(type: Scalar): number {
  if (type === 'string' || type === 'bytes' || type === 'id') return BYTES
  if (type === 'double' || type === 'fixed64' || type === 'sfixed64') return FIXED64
  return type === 'fixed32' ? FIXED32 : VARINT
}

function listAt(found: Fields, name: string): unknown[] {
  found[name] ??= []
  return found[name] as unknown[]
}

/** JSON has no such numbers; its protobuf form names them. */
const finite = (value: number): number | string => (Number.isFinite(value) ? value : String(value))

/*
 * The messages of OTLP as tables: field numbers of opentelemetry-proto 1.x with the names OTLP/JSON has
 * for them. https://github.com/open-telemetry/opentelemetry-proto
 */

/** `id` is bytes written as hex, `bytes` as base64; 64-bit integers become text, as in OTLP/JSON. */
type Scalar =
  | 'string'
  | 'bytes'
  | 'id'
  | 'bool'
  | 'int64'
  | 'uint64'
  | 'int32'
  | 'uint32'
  | 'sint32'
  | 'fixed32'
  | 'fixed64'
  | 'sfixed64'
  | 'double'

interface Field {
  name: string
  type: Scalar | Message
  isList: boolean
  /** A record by itself: what is wrong inside costs it alone. */
  isRecord: boolean
}

/** Fields by their number. */
type Message = (Field | undefined)[]

type Spelt = Record<number, [name: string, type: Scalar | Message, list?: 'list' | 'records']>

function message(fields: Spelt, into: Message = []): Message {
  for (const [number, [name, type, list]] of Object.entries(fields))
    into[Number(number)] = { name, type, isList: list !== undefined, isRecord: list === 'records' }
  return into
}

// A value holds lists of values: the table must exist before it can be named.
const anyValue: Message = []
const keyValue = message({ 1: ['key', 'string'], 2: ['value', anyValue] })
message(
  {
    1: ['stringValue', 'string'],
    2: ['boolValue', 'bool'],
    3: ['intValue', 'int64'],
    4: ['doubleValue', 'double'],
    5: ['arrayValue', message({ 1: ['values', anyValue, 'list'] })],
    6: ['kvlistValue', message({ 1: ['values', keyValue, 'list'] })],
    7: ['bytesValue', 'bytes'],
  },
  anyValue,
)

const resource = message({
  1: ['attributes', keyValue, 'list'],
  2: ['droppedAttributesCount', 'uint32'],
  3: [
    'entityRefs',
    message({
      1: ['schemaUrl', 'string'],
      2: ['type', 'string'],
      3: ['idKeys', 'string', 'list'],
      4: ['descriptionKeys', 'string', 'list'],
    }),
    'list',
  ],
})
const scope = message({
  1: ['name', 'string'],
  2: ['version', 'string'],
  3: ['attributes', keyValue, 'list'],
  4: ['droppedAttributesCount', 'uint32'],
})

const logRecord = message({
  1: ['timeUnixNano', 'fixed64'],
  2: ['severityNumber', 'int32'],
  3: ['severityText', 'string'],
  5: ['body', anyValue],
  6: ['attributes', keyValue, 'list'],
  7: ['droppedAttributesCount', 'uint32'],
  8: ['flags', 'fixed32'],
  9: ['traceId', 'id'],
  10: ['spanId', 'id'],
  11: ['observedTimeUnixNano', 'fixed64'],
  12: ['eventName', 'string'],
})

const spanEvent = message({
  1: ['timeUnixNano', 'fixed64'],
  2: ['name', 'string'],
  3: ['attributes', keyValue, 'list'],
  4: ['droppedAttributesCount', 'uint32'],
})
const spanLink = message({
  1: ['traceId', 'id'],
  2: ['spanId', 'id'],
  3: ['traceState', 'string'],
  4: ['attributes', keyValue, 'list'],
  5: ['droppedAttributesCount', 'uint32'],
  6: ['flags', 'fixed32'],
})
const span = message({
  1: ['traceId', 'id'],
  2: ['spanId', 'id'],
  3: ['traceState', 'string'],
  4: ['parentSpanId', 'id'],
  5: ['name', 'string'],
  6: ['kind', 'int32'],
  7: ['startTimeUnixNano', 'fixed64'],
  8: ['endTimeUnixNano', 'fixed64'],
  9: ['attributes', keyValue, 'list'],
  10: ['droppedAttributesCount', 'uint32'],
  11: ['events', spanEvent, 'list'],
  12: ['droppedEventsCount', 'uint32'],
  13: ['links', spanLink, 'list'],
  14: ['droppedLinksCount', 'uint32'],
  15: ['status', message({ 2: ['message', 'string'], 3: ['code', 'int32'] })],
  16: ['flags', 'fixed32'],
})

const exemplar = message({
  2: ['timeUnixNano', 'fixed64'],
  3: ['asDouble', 'double'],
  4: ['spanId', 'id'],
  5: ['traceId', 'id'],
  6: ['asInt', 'sfixed64'],
  7: ['filteredAttributes', keyValue, 'list'],
})
const numberPoint = message({
  2: ['startTimeUnixNano', 'fixed64'],
  3: ['timeUnixNano', 'fixed64'],
  4: ['asDouble', 'double'],
  5: ['exemplars', exemplar, 'list'],
  6: ['asInt', 'sfixed64'],
  7: ['attributes', keyValue, 'list'],
  8: ['flags', 'uint32'],
})
const histogramPoint = message({
  2: ['startTimeUnixNano', 'fixed64'],
  3: ['timeUnixNano', 'fixed64'],
  4: ['count', 'fixed64'],
  5: ['sum', 'double'],
  6: ['bucketCounts', 'fixed64', 'list'],
  7: ['explicitBounds', 'double', 'list'],
  8: ['exemplars', exemplar, 'list'],
  9: ['attributes', keyValue, 'list'],
  10: ['flags', 'uint32'],
  11: ['min', 'double'],
  12: ['max', 'double'],
})
const buckets = message({ 1: ['offset', 'sint32'], 2: ['bucketCounts', 'uint64', 'list'] })
const exponentialPoint = message({
  1: ['attributes', keyValue, 'list'],
  2: ['startTimeUnixNano', 'fixed64'],
  3: ['timeUnixNano', 'fixed64'],
  4: ['count', 'fixed64'],
  5: ['sum', 'double'],
  6: ['scale', 'sint32'],
  7: ['zeroCount', 'fixed64'],
  8: ['positive', buckets],
  9: ['negative', buckets],
  10: ['flags', 'uint32'],
  11: ['exemplars', exemplar, 'list'],
  12: ['min', 'double'],
  13: ['max', 'double'],
  14: ['zeroThreshold', 'double'],
})
const summaryPoint = message({
  2: ['startTimeUnixNano', 'fixed64'],
  3: ['timeUnixNano', 'fixed64'],
  4: ['count', 'fixed64'],
  5: ['sum', 'double'],
  6: ['quantileValues', message({ 1: ['quantile', 'double'], 2: ['value', 'double'] }), 'list'],
  7: ['attributes', keyValue, 'list'],
  8: ['flags', 'uint32'],
})

const points = (point: Message, more: Spelt = {}): Message =>
  message({ 1: ['dataPoints', point, 'records'], ...more })
const metric = message({
  1: ['name', 'string'],
  2: ['description', 'string'],
  3: ['unit', 'string'],
  5: ['gauge', points(numberPoint)],
  7: ['sum', points(numberPoint, { 2: ['aggregationTemporality', 'int32'], 3: ['isMonotonic', 'bool'] })],
  9: ['histogram', points(histogramPoint, { 2: ['aggregationTemporality', 'int32'] })],
  10: ['exponentialHistogram', points(exponentialPoint, { 2: ['aggregationTemporality', 'int32'] })],
  11: ['summary', points(summaryPoint)],
  12: ['metadata', keyValue, 'list'],
})

const request = (group: string, scopes: string, records: string, record: Message): Message =>
  message({
    1: [
      group,
      message({
        1: ['resource', resource],
        2: [
          scopes,
          message({ 1: ['scope', scope], 2: [records, record, 'records'], 3: ['schemaUrl', 'string'] }),
          'list',
        ],
        3: ['schemaUrl', 'string'],
      }),
      'list',
    ],
  })

/** The export request of each signal. */
export const requests: Record<OtlpSignal, Message> = {
  logs: request('resourceLogs', 'scopeLogs', 'logRecords', logRecord),
  traces: request('resourceSpans', 'scopeSpans', 'spans', span),
  metrics: request('resourceMetrics', 'scopeMetrics', 'metrics', metric),
}

/* A push of Loki: https://github.com/grafana/loki/blob/main/pkg/push/push.proto */

const pair = message({ 1: ['name', 'string'], 2: ['value', 'string'] })
const entry = message({
  1: ['timestamp', message({ 1: ['seconds', 'int64'], 2: ['nanos', 'int32'] })],
  2: ['line', 'string'],
  3: ['structuredMetadata', pair, 'list'],
})

/** What Promtail, Alloy and others push. */
export const lokiPush = message({
  1: ['streams', message({ 1: ['labels', 'string'], 2: ['entries', entry, 'list'] }), 'list'],
})

/* Snappy without frames: https://github.com/google/snappy/blob/main/format_description.txt */

const UNPACKED_MIB_MAX = 64
/** Three bytes stand for sixty-four at most. */
const SNAPPY_RATIO_MAX = 22

/** @throws SvcError invalid: it is none, or cut short; too_large: more than 64 MiB, which it says before anything is unpacked */
export function unpackSnappy(packed: Uint8Array): Buffer {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength)
  const { size, at } = snappySize(bytes)
  if (size > UNPACKED_MIB_MAX * 1024 * 1024)
    fail('too_large', `the body unpacks to more than ${UNPACKED_MIB_MAX} MiB; send less at once`)
  if (size > bytes.length * SNAPPY_RATIO_MAX) notSnappy()
  const out = Buffer.allocUnsafeSlow(size)
  let from = at
  let to = 0
  while (from < bytes.length) {
    const tag = bytes[from]!
    const extra = (tag & 3) === 0 ? Math.max(0, (tag >> 2) - 59) : (tag & 3) === 3 ? 4 : tag & 3
    if (from + extra >= bytes.length) notSnappy()
    const given = extra === 0 ? 0 : bytes.readUIntLE(from + 1, extra)
    from += 1 + extra
    const length =
      (tag & 3) === 0
        ? (extra === 0 ? tag >> 2 : given) + 1
        : (tag & 3) === 1
          ? ((tag >> 2) & 7) + 4
          : (tag >> 2) + 1
    if (length > size - to) notSnappy()
    if ((tag & 3) === 0) {
      if (length > bytes.length - from) notSnappy()
      bytes.copy(out, to, from, from + length)
      from += length
    } else repeat(out, to, (tag & 3) === 1 ? ((tag >> 5) << 8) | given : given, length)
    to += length
  }
  return to === size ? out : notSnappy()
}

/** Writes again what stands so far back; what is written may be part of it. */
function repeat(out: Buffer, to: number, back: number, length: number): void {
  if (back === 0 || back > to) notSnappy()
  if (back >= length) out.copy(out, to, to - back, to - back + length)
  else for (let i = to; i < to + length; i++) out[i] = out[i - back]!
}

/** Bytes that it says it unpacks to, and where they begin. @throws SvcError invalid */
function snappySize(bytes: Uint8Array): { size: number; at: number } {
  let size = 0
  for (let at = 0; at < 5 && at < bytes.length; at++) {
    size += (bytes[at]! & 0x7f) * 2 ** (7 * at)
    if (bytes[at]! < 0x80) return { size, at: at + 1 }
  }
  return notSnappy()
}

const notSnappy = (): never =>
  fail('invalid', 'the body is no push of Loki: it is not packed by snappy, or cut short')
