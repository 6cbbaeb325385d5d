import { describe, expect, it } from 'vitest'
import { otlp } from '../../../../../engine/sources/connectors/otlp.ts'
import { prepared } from '../reach.ts'

const FIELDS = otlp.provides.map(({ name }) => name)
const labels = FIELDS.map((field) => ({ name: field.replaceAll('.', '_'), field }))

const eventOf = (record: Record<string, unknown>) =>
  prepared(otlp, { labels }, { items: [JSON.stringify(record)], cursor: null })[0]!
const labelsOf = (record: Record<string, unknown>) => Object.fromEntries(eventOf(record).strings)

const RESOURCE = { resourceAttributes: { 'service.name': 'checkout' } }
const labelled = (record: Record<string, unknown>, config = {}): Record<string, string> =>
  Object.fromEntries(
    prepared(otlp, config, { items: [JSON.stringify({ ...RESOURCE, ...record })], cursor: null })[0]!.strings,
  )
const MS = Date.parse('2026-11-20T11:59:00.123Z')

describe('a log record', () => {
  it.each([
    [{ severityNumber: 17 }, 'ERROR'],
    [{ severityNumber: 'SEVERITY_NUMBER_ERROR2' }, 'ERROR'],
    [{ severityText: 'Info' }, 'INFO'],
    [{ severityText: 'INFO' }, 'INFO'],
    [{ severityText: 'info' }, 'INFO'],
    [{ severityText: 'Information', severityNumber: 9 }, 'INFO'],
    [{ severityText: 'WARNING', severityNumber: 13 }, 'WARN'],
    [{ severityText: 'warning' }, 'WARN'],
    [{ severityText: 'CRITICAL', severityNumber: 21 }, 'FATAL'],
    [{ severityText: 'audit' }, 'AUDIT'],
    [{ severityNumber: 0 }, 'log'],
    [{}, 'log'],
  ])('A5: has one spelling of its level as its type: %j', (severity, type) => {
    const record = { signal: 'logs', body: 'x', ...severity }
    expect(eventOf(record).eventType).toBe(type)
    expect(labelsOf(record).severity).toBe(type === 'log' ? undefined : type)
  })

  it('says its body in a line, else its event, else that it has none', () => {
    expect(eventOf({ signal: 'logs', body: 'a\nb' }).text).toBe('a b')
    expect(eventOf({ signal: 'logs', body: { a: [1] } }).text).toBe('{"a":[1]}')
    expect(eventOf({ signal: 'logs', eventName: 'order.placed' }).text).toBe('order.placed')
    expect(eventOf({ signal: 'logs' }).text).toBe('log record without a body')
    expect(eventOf({ signal: 'logs', body: 'x'.repeat(2_000) }).text).toHaveLength(1_000)
  })

  it.each([
    [{ msg: 'card declined', order: 4711 }, 'card declined'],
    [{ message: 'card declined', level: 'error' }, 'card declined', 'ERROR'],
    [{ MESSAGE: 'Started nginx', PRIORITY: '6' }, 'Started nginx'],
    [{ log: 'GET /pay', severity: 'Warning' }, 'GET /pay', 'WARN'],
    ['{"level":"fatal","msg":"card declined"}', 'card declined', 'FATAL'],
    ['2026-11-30 10:00:00 ERROR card declined', '2026-11-30 10:00:00 ERROR card declined', 'ERROR'],
    [{ order: 4711 }, '{"order":4711}'],
    [['a', 'b'], '["a","b"]'],
    [17, '17'],
  ])(
    'says the message of a body with fields, and its level where the record has none: %j',
    (body, text, level?) => {
      const event = eventOf({ signal: 'logs', body })
      expect([event.eventType, event.text]).toEqual(['log', text])
      expect(labelled({ signal: 'logs', body }).level).toBe(level)
      expect(labelled({ signal: 'logs', body, severityNumber: 9 }).level).toBe('INFO')
    },
  )

  it('says the name of an event before fields that say nothing in words', () => {
    const record = { signal: 'logs', eventName: 'order.placed', body: { order: 4711 } }
    expect(eventOf(record).text).toBe('order.placed {"order":4711}')
    expect(eventOf({ ...record, body: { message: 'an order' } }).text).toBe('an order')
  })

  it('has its level as a label, as events of other sources have, unless it says one of its own', () => {
    const record = { signal: 'logs', body: 'x', severityText: 'warning' }
    expect(labelled(record)).toEqual({ service: 'checkout', level: 'WARN' })
    expect(labelled({ ...record, severityText: 'audit' })).toEqual({ service: 'checkout' })
    const own = { ...RESOURCE.resourceAttributes, level: 'gold' }
    expect(labelled({ ...record, resourceAttributes: own }, { resource_labels: ['*'] }).level).toBe('gold')
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

  it('stands at the millisecond in which it began', () => {
    for (let ms = MS; ms < MS + 100; ms++)
      for (const rest of ['000000', '999999'])
        expect(eventOf({ ...span, startTimeUnixNano: `${ms}${rest}` }).ts).toBe(ms)
  })
})

describe('a metric point', () => {
  const point = { signal: 'metrics', metricName: 'orders', unit: '1', timeUnixNano: `${MS}000000` }
  it.each([
    [{ asInt: 0 }, 'orders=0', '0'],
    [{ asInt: '9007199254740993' }, 'orders=9007199254740993', '9007199254740993'],
    [{ asDouble: 2.5 }, 'orders=2.5', '2.5'],
    [{ count: 3 }, 'orders=3', '3'],
    [{ count: 3, sum: 4.5 }, 'orders=3 (sum 4.5)', '3'],
    [{ asInt: 7, flags: 1 }, 'orders has no value', undefined],
    [{}, 'orders has no value', undefined],
  ])('%j says its value', (value, text, label) => {
    expect(eventOf({ ...point, ...value })).toMatchObject({ eventType: 'orders', text, ts: MS })
    expect(labelsOf({ ...point, ...value }).value).toBe(label)
  })
})

describe('A3: what an exception is', () => {
  const EXCEPTION = {
    'exception.type': 'CardError',
    'exception.message': 'card declined',
    'exception.stacktrace':
      'Traceback (most recent call last):\n  File "/app/app.py", line 8, in <module>\n    run()\n  File "/app/pay.py", line 41, in charge\n    raise CardError("card declined")\nCardError: card declined',
  }
  const log = (more: Record<string, unknown>) => eventOf({ signal: 'logs', severityNumber: 17, ...more }).text

  it('is in the text of a log record: type, message and place, and its level is its type alone', () => {
    expect(log({ body: 'payment failed', attributes: EXCEPTION })).toBe(
      'payment failed: CardError: card declined at charge (/app/pay.py:41)',
    )
    expect(log({ body: 'card declined', attributes: EXCEPTION })).toBe(
      'card declined: CardError at charge (/app/pay.py:41)',
    )
    expect(log({ attributes: { 'exception.message': 'gone' } })).toBe('gone')
  })

  it.each([
    ['Error: no\n    at pay (/app/pay.js:3:9)\n    at main (/app/m.js:1:1)', 'at pay (/app/pay.js:3:9)'],
    ['java.lang.E: no\n\tat com.shop.Pay.run(Pay.java:7)\n\tat b', 'at com.shop.Pay.run(Pay.java:7)'],
    ["app.rb:12:in `pay': no (E)\n\tfrom b.rb:1", "at app.rb:12:in `pay': no (E)"],
    ['no place in it', ''],
  ])('says the first place of a stack: %s', (stack, place) => {
    const text = log({ body: 'x', attributes: { 'exception.stacktrace': stack } })
    expect(text).toBe(`x${place && ` ${place}`}`)
  })

  it('is in the text of a span, with its status, its route and why it failed', () => {
    const span = {
      signal: 'traces',
      name: 'GET',
      startTimeUnixNano: `${MS}000000`,
      endTimeUnixNano: `${MS}000000`,
      attributes: {
        'http.request.method': 'GET',
        'http.route': '/pay/<int:cid>',
        'http.response.status_code': 500,
      },
      events: [{ name: 'exception', attributes: EXCEPTION }],
    }
    const status = { code: 2, message: 'CardError: card declined' }
    expect(eventOf({ ...span, status }).text).toBe(
      'GET (0.0ms) [GET /pay/<int:cid> 500] ERROR: CardError: card declined at charge (/app/pay.py:41)',
    )
    expect(eventOf({ ...span, events: [], status: { code: 2, message: 'timeout' } }).text).toBe(
      'GET (0.0ms) [GET /pay/<int:cid> 500] ERROR: timeout',
    )
  })

  it('leaves the level out where the line begins with it', () => {
    expect(log({ body: '2026-11-20 12:00:00 ERROR no' })).toBe('2026-11-20 12:00:00 ERROR no')
  })

  it('has the trace as its label, unless the source says no', () => {
    const record = { signal: 'logs', traceId: '5b8efff798038103d269b633813fc60c' }
    const of = (config: Record<string, unknown>, more = {}) =>
      prepared(otlp, config, { items: [JSON.stringify({ ...record, ...more })], cursor: null })[0]!.strings
    expect(of({})).toContainEqual(['trace_id', record.traceId])
    expect(of({ trace_id: false })).not.toContainEqual(['trace_id', record.traceId])
    expect(of({}, { traceId: '0'.repeat(32) }).map(([name]) => name)).not.toContain('trace_id')
  })
})

describe('A4: a metric point', () => {
  it('says its attributes in the order of their names, and no unit that is 1', () => {
    const point = { signal: 'metrics', metricName: 'http.server.requests', unit: '1', asInt: 812 }
    expect(eventOf({ ...point, attributes: { status: 500, route: '/pay' } })).toMatchObject({
      text: 'http.server.requests{route=/pay, status=500}=812',
      strings: expect.arrayContaining([['signal', 'metrics']]),
    })
    expect(eventOf({ ...point, unit: '{request}' }).text).toBe('http.server.requests=812 request')
    expect(eventOf({ ...point, unit: 'ms' }).text).toBe('http.server.requests=812 ms')
  })
})
