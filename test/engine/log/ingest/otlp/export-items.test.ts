import { JsonLogsSerializer, ProtobufLogsSerializer } from '@opentelemetry/otlp-transformer'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SvcError } from '../../../../../engine/errors.ts'
import { exportItems } from '../../../../../engine/log/ingest/otlp.ts'
import type { OtlpForm, OtlpSignal } from '../../../../../engine/log/ingest/otlp-protobuf.ts'

type Item = Record<string, unknown>

const itemsOf = (body: Uint8Array | string, form: OtlpForm): Item[] =>
  JSON.parse(exportItems(Buffer.from(body as string), form).toString()) as Item[]
const ofJson = (signal: OtlpSignal, request: unknown): Item[] =>
  itemsOf(typeof request === 'string' ? request : JSON.stringify(request), { signal, encoding: 'json' })

/** Fields of protobuf: a number and bytes, or a number and a varint. */
const bytesOf = (field: number, ...parts: Uint8Array[]): Buffer => {
  const inner = Buffer.concat(parts)
  return Buffer.concat([varint((BigInt(field) << 3n) | 2n), varint(BigInt(inner.length)), inner])
}
const fixedOf = (field: number, value: bigint): Buffer => {
  const eight = Buffer.alloc(8)
  eight.writeBigUInt64LE(BigInt.asUintN(64, value))
  return Buffer.concat([varint((BigInt(field) << 3n) | 1n), eight])
}
const doubleOf = (field: number, value: number): Buffer => {
  const eight = Buffer.alloc(8)
  eight.writeDoubleLE(value)
  return Buffer.concat([varint((BigInt(field) << 3n) | 1n), eight])
}
const varintOf = (field: number, value: bigint): Buffer =>
  Buffer.concat([varint(BigInt(field) << 3n), varint(BigInt.asUintN(64, value))])
function varint(value: bigint): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  return Buffer.from([...bytes, Number(rest)])
}
const text = (value: string): Buffer => Buffer.from(value)
/** A request of one record of one scope; of metrics, of one metric. */
const requestOf = (...record: Buffer[]): Buffer => bytesOf(1, bytesOf(2, bytesOf(2, ...record)))
const attribute = (field: number, key: string, value: Buffer): Buffer =>
  bytesOf(field, bytesOf(1, text(key)), bytesOf(2, value))

describe('a record of protobuf', () => {
  it('keeps every digit of 64-bit numbers, and the types of values', () => {
    const [item] = itemsOf(
      requestOf(
        fixedOf(1, 18_446_744_073_709_551_615n),
        attribute(6, 'least', varintOf(3, -(2n ** 63n))),
        attribute(6, 'most', varintOf(3, 2n ** 63n - 1n)),
        attribute(6, 'safe', varintOf(3, 2n ** 53n - 1n)),
        attribute(6, 'small', varintOf(3, -1n)),
        attribute(6, 'double', doubleOf(4, 2)),
        attribute(6, 'no number', doubleOf(4, Number.NaN)),
        attribute(6, 'no', varintOf(2, 0n)),
        attribute(6, 'empty', bytesOf(1)),
        attribute(6, 'bytes', bytesOf(7, Buffer.from([0, 255]))),
        attribute(6, 'list', bytesOf(5, bytesOf(1, varintOf(3, 1n)), bytesOf(1))),
        attribute(6, 'map', bytesOf(6, attribute(1, 'a.b', bytesOf(1, text('ü'))))),
        bytesOf(9, Buffer.from('5b8efff798038103d269b633813fc60c', 'hex')),
      ),
      { signal: 'logs', encoding: 'protobuf' },
    )
    expect(item).toEqual({
      signal: 'logs',
      timeUnixNano: '18446744073709551615',
      attributes: {
        least: '-9223372036854775808',
        most: '9223372036854775807',
        safe: 9_007_199_254_740_991,
        small: -1,
        double: 2,
        'no number': 'NaN',
        no: false,
        empty: '',
        bytes: { bytesValue: 'AP8=' },
        list: [1, null],
        map: { 'a.b': 'ü' },
      },
      traceId: '5b8efff798038103d269b633813fc60c',
      resourceAttributes: {},
      scope: {},
    })
  })

  it('is read with lists packed and not packed, and past fields that are not known', () => {
    const counts = Buffer.concat([varint(0n), varint(2n ** 63n)])
    const point = bytesOf(
      1,
      varintOf(6, 3n),
      bytesOf(8, varintOf(1, 3n), bytesOf(2, counts), varintOf(2, 7n)),
      bytesOf(900, text('from a later version')),
      fixedOf(4, 2n ** 60n),
    )
    const [item] = itemsOf(requestOf(bytesOf(1, text('size')), bytesOf(10, point, varintOf(2, 2n))), {
      signal: 'metrics',
      encoding: 'protobuf',
    })
    expect(item).toMatchObject({
      metricName: 'size',
      metricType: 'exponentialHistogram',
      aggregationTemporality: 2,
      scale: -2,
      positive: { offset: -2, bucketCounts: [0, '9223372036854775808', 7] },
      count: '1152921504606846976',
    })
  })

  it('never ends in a fault of ours, whatever the bytes', () => {
    const valid = requestOf(fixedOf(1, 5n), attribute(6, 'a', bytesOf(1, text('b'))))
    const damaged = fc
      .tuple(fc.nat(valid.length - 1), fc.nat(255))
      .map(([at, byte]) => Uint8Array.from(valid, (was, i) => (i === at ? byte : was)))
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), damaged), (bytes) => {
        for (const signal of ['logs', 'traces', 'metrics'] as const)
          try {
            exportItems(bytes, { signal, encoding: 'protobuf' })
          } catch (error) {
            if (!(error instanceof SvcError) || error.code !== 'invalid') throw error
          }
      }),
      { numRuns: 500 },
    )
  })

  it('is refused where it would take many times its size', () => {
    const many = bytesOf(1, bytesOf(2, Buffer.alloc(8_200_000, Buffer.from([0x12, 0x00]))))
    expect(() => exportItems(many, { signal: 'logs', encoding: 'protobuf' })).toThrow(
      expect.objectContaining({ code: 'too_large' }),
    )
  })
})

describe('a record of JSON', () => {
  it('is the same as that of protobuf, as the SDK writes both', () => {
    const record = {
      hrTime: [1_795_176_000, 5],
      hrTimeObserved: [1_795_176_000, 6],
      severityNumber: 9,
      severityText: 'INFO',
      body: { nested: ['x', 1, 2.5, true, null] },
      attributes: { a: 'b', n: 3, list: [1.5, 'two'] },
      resource: { attributes: { 'service.name': 'checkout' } },
      instrumentationScope: { name: 'shop', version: '1' },
      droppedAttributesCount: 0,
    }
    const both = [JsonLogsSerializer, ProtobufLogsSerializer].map((serializer, i) =>
      itemsOf(serializer.serializeRequest([record] as never)!, {
        signal: 'logs',
        encoding: i === 0 ? 'json' : 'protobuf',
      }),
    )
    expect(both[0]).toHaveLength(1)
    expect(both[0]![0]).toMatchObject({ body: { nested: ['x', 1, 2.5, true, null] } })
    expect(both[1]).toEqual(both[0])
  })

  it('takes ids as base64, names in place of numbers, and keeps what it does not know', () => {
    const scopeSpans = [
      {
        scope: { name: 'lib', attributes: [{ key: 'k', value: { intValue: '1' } }] },
        schemaUrl: 'https://x/1',
        spans: [{ traceId: 'W47/95gDgQPSabYzgT/GDA==', spanId: 'EEE19B7EC3C1B174', later: { a: [1] } }],
      },
    ]
    const [item] = ofJson('traces', {
      resourceSpans: [{ resource: { attributes: [], droppedAttributesCount: 2 }, scopeSpans }],
    })
    expect(item).toEqual({
      signal: 'traces',
      traceId: '5b8efff798038103d269b633813fc60c',
      spanId: 'eee19b7ec3c1b174',
      later: { a: [1] },
      resourceAttributes: {},
      resource: { droppedAttributesCount: 2 },
      scope: { name: 'lib', attributes: { k: 1 } },
      scopeSchemaUrl: 'https://x/1',
    })
  })

  it('keeps digits of doubles and of bare integers, and none of its texts', () => {
    const body =
      '{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"m: 12345678901234567890","gauge":{"dataPoints":[{"asDouble":0.12345678901234567,"timeUnixNano":1763800000000000001},{"asInt":12345678901234567}]}}]}]}]}'
    const items = exportItems(Buffer.from(body), { signal: 'metrics', encoding: 'json' }).toString()
    expect(items).toContain('"metricName":"m: 12345678901234567890"')
    expect(items).toContain('"asDouble":0.12345678901234567')
    expect(items).toContain('"timeUnixNano":"1763800000000000001"')
    expect(items).toContain('"asInt":"12345678901234567"')
  })

  it('has no prototype to reach', () => {
    const [item] = ofJson(
      'logs',
      '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"__proto__":{"a":1},"attributes":[{"key":"__proto__","value":{"stringValue":"x"}}]}]}]}]}',
    )
    expect(Object.keys(item!)).toContain('__proto__')
    expect(Object.keys(item!.attributes as object)).toEqual(['__proto__'])
  })
})

describe('A10: a record that is wrong', () => {
  const nested = (levels: number): unknown => {
    let value: unknown = { stringValue: 'x' }
    for (let i = 0; i < levels; i++) value = { arrayValue: { values: [value] } }
    return value
  }
  const good = { body: { stringValue: 'kept' } }
  const logs = (...logRecords: unknown[]) =>
    ofJson('logs', { resourceLogs: [{ scopeLogs: [{ logRecords }] }] })

  it.each([
    ['x', 'it is not an object'],
    [{ attributes: { a: 1 } }, 'attributes is not a list of {key, value}'],
    [{ attributes: ['a'] }, 'attributes[0] is not {key, value}'],
    [{ attributes: [{ key: 'n', value: 'bare' }] }, 'attributes.n.a value is not one of stringValue'],
    [{ attributes: [{ key: 'n', value: { string_value: 'a' } }] }, 'attributes.n.a value is not one of'],
    [
      { attributes: [{ key: 'n', value: { intValue: 'many' } }] },
      'attributes.n.intValue is not a whole number',
    ],
    [{ attributes: [{ key: 'n', value: { intValue: 1.5 } }] }, 'attributes.n.intValue is not a whole number'],
    [{ attributes: [{ key: 'n', value: { intValue: '9223372036854775808' } }] }, 'of 64 bits'],
    [{ attributes: [{ key: 'n', value: { doubleValue: 'x' } }] }, 'attributes.n.doubleValue is not a number'],
    [
      { attributes: [{ key: 'n', value: { boolValue: 'true' } }] },
      'attributes.n.boolValue is not true or false',
    ],
    [{ attributes: [{ key: 'n', value: { stringValue: 5 } }] }, 'attributes.n.stringValue is not text'],
    [{ body: 'bare text' }, 'body.a value is not one of stringValue'],
    [{ body: nested(95) }, 'body.a value nests deeper than 90'],
    [{ timeUnixNano: '2026-11-22T10:59:00Z' }, 'timeUnixNano is not a whole number of 64 bits from 0'],
    [{ timeUnixNano: -5 }, 'timeUnixNano is not a whole number of 64 bits from 0'],
    [{ severityNumber: 'high' }, 'severityNumber is not a whole number'],
  ])('%j is told by itself, and its neighbours are kept', (wrong, why) => {
    const items = logs(good, wrong, good)
    expect(items).toHaveLength(3)
    expect(items[1]).toEqual({ 'svc.refused': expect.stringContaining(why) })
    expect([items[0]!.body, items[2]!.body]).toEqual(['kept', 'kept'])
  })

  it('takes numbers as JSON of protobuf may write them', () => {
    const [item] = logs({
      timeUnixNano: 1.7951724e18,
      severityNumber: 'SEVERITY_NUMBER_ERROR',
      attributes: [
        { key: 'a', value: { intValue: '1e3' } },
        { key: 'b', value: { doubleValue: '-Infinity' } },
        { key: 'c', value: null },
        { key: 'd' },
      ],
    })
    expect(item).toMatchObject({
      timeUnixNano: '1795172400000000000',
      severityNumber: 'SEVERITY_NUMBER_ERROR',
      attributes: { a: 1000, b: '-Infinity', c: null, d: null },
    })
  })

  it('takes what JSON.stringify makes of values that JSON does not have, as the exporter of JavaScript sends it', () => {
    const values = { nan: Number.NaN, huge: 1e21, most: Number.MAX_VALUE }
    const [item] = logs({
      body: { doubleValue: Number.POSITIVE_INFINITY },
      attributes: [
        { key: 'nan', value: { doubleValue: values.nan } },
        ...['huge', 'most'].map((key) => ({ key, value: { intValue: values[key as 'huge' | 'most'] } })),
        { key: 'bytes', value: { bytesValue: new Uint8Array([1, 2, 255]) } },
        { key: 'none', value: { bytesValue: new Uint8Array() } },
        { key: 'buffer', value: { bytesValue: Buffer.from([1, 2, 255]) } },
        { key: 'list', value: { arrayValue: { values: [{ doubleValue: values.nan }, { intValue: 2 }] } } },
      ],
    })
    expect(item).toMatchObject({
      body: null,
      attributes: {
        nan: null,
        huge: 1e21,
        most: Number.MAX_VALUE,
        bytes: { bytesValue: 'AQL/' },
        none: { bytesValue: '' },
        buffer: { bytesValue: 'AQL/' },
        list: [null, 2],
      },
    })
  })

  it('of a metric is a point, or all points of its metric', () => {
    const items = ofJson('metrics', {
      resourceMetrics: [
        {
          scopeMetrics: [
            {
              metrics: [
                { name: 'm', gauge: { dataPoints: [{ asInt: '1' }, { asInt: 'x' }, { count: '-1' }] } },
                { name: 'n', gauge: { dataPoints: {} } },
                { name: 'nothing yet' },
                7,
              ],
            },
          ],
        },
      ],
    })
    expect(items.map((item) => item['svc.refused'] ?? item.asInt)).toEqual([
      1,
      'asInt is not a whole number of 64 bits',
      'count is not a whole number of 64 bits from 0',
      'dataPoints is not a list',
      'it is not an object',
    ])
  })

  it('of a resource that is wrong is each of its records', () => {
    const items = ofJson('logs', {
      resourceLogs: [
        { resource: { attributes: { a: 1 } }, scopeLogs: [{ logRecords: [good, good] }] },
        { scopeLogs: [{ logRecords: [good] }] },
      ],
    })
    expect(items.map((item) => item['svc.refused'] ?? item.body)).toEqual([
      'resource.attributes is not a list of {key, value}',
      'resource.attributes is not a list of {key, value}',
      'kept',
    ])
  })

  it('nested 49 arrays deep is kept, and one nested without an end is told by itself, in protobuf too', () => {
    const value = (levels: number): Buffer =>
      Array.from({ length: levels }).reduce<Buffer>(
        (inner) => bytesOf(5, bytesOf(1, inner)),
        bytesOf(1, text('x')),
      )
    const record = (levels: number) => bytesOf(2, bytesOf(5, value(levels)))
    const items = itemsOf(bytesOf(1, bytesOf(2, record(0), record(49), record(200), record(0))), {
      signal: 'logs',
      encoding: 'protobuf',
    })
    expect(items.map((item) => item['svc.refused'] ?? 'kept')).toEqual([
      'kept',
      'kept',
      expect.stringContaining('nests deeper than'),
      'kept',
    ])
  })

  it.each([
    [{ resourceLogs: {} }, 'resourceLogs is not a list'],
    [{ resourceLogs: [{ scopeLogs: {} }] }, 'scopeLogs is not a list'],
    [{ resourceLogs: [{ scopeLogs: [{ logRecords: {} }] }] }, 'logRecords is not a list'],
  ])('cannot be told apart in %j, which is refused whole', (request, why) => {
    expect(() => ofJson('logs', request)).toThrow(why)
  })
})
