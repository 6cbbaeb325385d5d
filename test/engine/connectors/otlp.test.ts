import { describe, expect, it } from 'vitest'
import { otlp } from '../../../engine/connectors/otlp.ts'
import { prepared } from './reach.ts'

const FIELDS = otlp.provides.map(({ name }) => name)
const labels = FIELDS.map((field) => ({ name: field.replaceAll('.', '_'), field }))

const eventOf = (record: Record<string, unknown>) =>
  prepared(otlp, { labels }, { items: [JSON.stringify(record)], cursor: null })[0]!
const labelsOf = (record: Record<string, unknown>) => Object.fromEntries(eventOf(record).strings)

const RESOURCE = { resourceAttributes: { 'service.name': 'checkout' } }
const MS = Date.parse('2026-11-20T11:59:00.123Z')

describe('a log record', () => {
  it('has the severity of its text, else of its number', () => {
    expect(eventOf({ signal: 'logs', severityText: 'warn', body: 'x' }).eventType).toBe('warn')
    expect(labelsOf({ signal: 'logs', severityText: 'warn', severityNumber: 21 }).severity).toBe('WARN')
    expect(eventOf({ signal: 'logs', severityNumber: 17 }).eventType).toBe('log')
    expect(labelsOf({ signal: 'logs', severityNumber: 17 }).severity).toBe('ERROR')
    expect(labelsOf({ signal: 'logs', severityNumber: 0 }).severity).toBeUndefined()
  })

  it('says its body in a line, else its event, else that it has none', () => {
    expect(eventOf({ signal: 'logs', body: 'a\nb' }).text).toBe('a b')
    expect(eventOf({ signal: 'logs', body: { a: [1] } }).text).toBe('{"a":[1]}')
    expect(eventOf({ signal: 'logs', eventName: 'order.placed' }).text).toBe('order.placed')
    expect(eventOf({ signal: 'logs' }).text).toBe('log record without a body')
    expect(eventOf({ signal: 'logs', body: 'x'.repeat(2_000) }).text).toHaveLength(1_000)
  })

  it('is at its own time, else when it was observed, else now', () => {
    const nanos = `${MS}456789`
    expect(eventOf({ signal: 'logs', timeUnixNano: nanos, observedTimeUnixNano: '1' }).ts).toBe(MS)
    expect(eventOf({ signal: 'logs', timeUnixNano: '0', observedTimeUnixNano: nanos }).ts).toBe(MS)
    expect(eventOf({ signal: 'logs' }).ts).toBeNull()
  })

  it('is on its service without any label', () => {
    const [event] = prepared(
      otlp,
      {},
      { items: [JSON.stringify({ signal: 'logs', ...RESOURCE })], cursor: null },
    )
    expect([event!.strings, event!.hasEntity]).toEqual([[['service', 'checkout']], true])
  })
})

describe('a span', () => {
  const span = {
    signal: 'traces',
    name: 'GET /pay',
    kind: 2,
    startTimeUnixNano: `${MS}000000`,
    endTimeUnixNano: `${MS}000500`,
    ...RESOURCE,
  }
  it('says how long it took, and whether it failed', () => {
    expect(eventOf(span)).toMatchObject({ eventType: 'span', text: 'GET /pay (0.0ms)', ts: MS })
    expect(eventOf({ ...span, status: { code: 2 } }).text).toBe('GET /pay (0.0ms) ERROR')
    expect(eventOf({ ...span, status: { code: 'STATUS_CODE_ERROR' } }).text).toBe('GET /pay (0.0ms) ERROR')
    expect(eventOf({ ...span, endTimeUnixNano: undefined }).text).toBe('GET /pay')
    expect(labelsOf(span)).toMatchObject({ spanKind: 'server', statusCode: 'UNSET', durationMs: '0.0005' })
  })
})

describe('a metric point', () => {
  const point = { signal: 'metrics', metricName: 'orders', unit: '1', timeUnixNano: `${MS}000000` }
  it.each([
    [{ asInt: 0 }, 'orders=0 1', '0'],
    [{ asInt: '9007199254740993' }, 'orders=9007199254740993 1', '9007199254740993'],
    [{ asDouble: 2.5 }, 'orders=2.5 1', '2.5'],
    [{ count: 3 }, 'orders=3', '3'],
    [{ count: 3, sum: 4.5 }, 'orders=3 (sum 4.5 1)', '3'],
    [{ asInt: 7, flags: 1 }, 'orders has no value', undefined],
    [{}, 'orders has no value', undefined],
  ])('%j says its value', (value, text, label) => {
    expect(eventOf({ ...point, ...value })).toMatchObject({ eventType: 'orders', text, ts: MS })
    expect(labelsOf({ ...point, ...value }).value).toBe(label)
  })
})
