/**
 * The messages of OTLP as tables: field numbers of opentelemetry-proto 1.x with the names OTLP/JSON has
 * for them. https://github.com/open-telemetry/opentelemetry-proto
 */
import type { OtlpSignal } from './form.ts'

/** `id` is bytes written as hex, `bytes` as base64; 64-bit integers become text, as in OTLP/JSON. */
export type Scalar =
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

export interface Field {
  name: string
  type: Scalar | Message
  isList: boolean
  /** A record by itself: what is wrong inside costs it alone. */
  isRecord: boolean
}

/** Fields by their number. */
export type Message = (Field | undefined)[]

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
