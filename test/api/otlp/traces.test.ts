import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Trace, TracesResult } from '../../../schemas/types.ts'
import { openReceiver, type Receiver } from './receiver.ts'

/** A moment whose nanoseconds, read as a number, made times off by a microsecond: one moment of four is such. */
const NOW = Math.floor(Date.now() / 4) * 4 - 2
/** Nanoseconds of a time after the beginning of the test's trace. @param ms with what is below one */
const at = (ms: number): string =>
  String(BigInt(NOW - 60_000) * 1_000_000n + BigInt(Math.round(ms * 1_000_000)))

interface SpanIn {
  id: string
  parent?: string
  name: string
  from: number
  to: number
  code?: number
  attributes?: Record<string, string>
  /** Message of an exception that it recorded. */
  thrown?: string
  links?: { traceId: string; spanId: string }[]
  trace?: string
}

const TRACE = '5b8efff798038103d269b633813fc60c'
const OTHER = '5b8efff7aaaaaaaaaaaaaaaaaaaaaaaa'
/** Of spans that stand alone. */
const SINGLE = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(32))
const attributesOf = (all: Record<string, string>) =>
  Object.entries(all).map(([key, stringValue]) => ({ key, value: { stringValue } }))

/** An export of one service as its SDK sends it (OTLP/JSON). */
const exported = (service: string, spans: SpanIn[]) =>
  JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributesOf({ 'service.name': service }) },
        scopeSpans: [
          {
            spans: spans.map(
              ({ id, parent, name, from, to, code, thrown, attributes = {}, links = [], trace = TRACE }) => ({
                ...{ traceId: trace, spanId: id, name, links, kind: 3 },
                ...(parent ? { parentSpanId: parent } : {}),
                ...{ startTimeUnixNano: at(from), endTimeUnixNano: at(to) },
                attributes: attributesOf(attributes),
                events: thrown
                  ? [
                      {
                        name: 'exception',
                        timeUnixNano: at(to),
                        attributes: attributesOf({ 'exception.message': thrown }),
                      },
                    ]
                  : [],
                status: code ? { code, message: 'card declined' } : {},
              }),
            ),
          },
        ],
      },
    ],
  })

describe('traces', () => {
  let receiver: Receiver
  beforeAll(async () => {
    receiver = await openReceiver()
    // As it happens: each service exports by itself, and those below before those above.
    await receiver.post(
      'traces',
      exported('bank', [
        {
          id: 'cccccccccccccccc',
          parent: 'bbbbbbbbbbbbbbbb',
          name: 'POST /charge',
          from: 30,
          to: 90.5,
          code: 2,
          attributes: { 'http.route': '/charge' },
        },
      ]),
    )
    await receiver.post(
      'traces',
      exported('payments', [
        {
          id: 'bbbbbbbbbbbbbbbb',
          parent: 'aaaaaaaaaaaaaaaa',
          name: 'pay',
          from: 20,
          to: 100,
          links: [{ traceId: OTHER, spanId: 'dddddddddddddddd' }],
        },
        { id: 'eeeeeeeeeeeeeeee', parent: 'ffffffffffffffff', name: 'retry', from: 110, to: 115 },
      ]),
    )
    await receiver.post(
      'traces',
      exported('shop', [
        { id: 'aaaaaaaaaaaaaaaa', name: 'GET /checkout', from: 0, to: 150 },
        { id: '9999999999999999', parent: 'aaaaaaaaaaaaaaaa', name: 'render', from: 80, to: 120 },
        { id: 'dddddddddddddddd', trace: OTHER, name: 'GET /cart', from: 1_000, to: 1_004 },
      ]),
    )
    await receiver.post(
      'logs',
      JSON.stringify({
        resourceLogs: [
          {
            resource: { attributes: attributesOf({ 'service.name': 'bank' }) },
            scopeLogs: [
              {
                logRecords: [
                  {
                    timeUnixNano: at(85),
                    severityNumber: 17,
                    traceId: TRACE,
                    spanId: 'cccccccccccccccc',
                    body: { stringValue: 'limit of the card is reached' },
                  },
                ],
              },
            ],
          },
        ],
      }),
    )
  })
  afterAll(() => receiver.close())

  const ask = (path: string) => fetch(receiver.url + path)
  const trace = async (id: string) => (await (await ask(`/api/traces/${id}`)).json()) as Trace
  const list = async (query: string) => {
    const answer = await ask(`/api/traces?${query}`)
    return (await answer.json()) as TracesResult
  }

  it('shows each span below the one that began it, an event below its span, and what is missing', async () => {
    const found = await trace(TRACE)
    expect(found).toMatchObject({
      ...{ id: TRACE, duration_ms: 150, spans: 5, events: 1, failed: 2, is_cut: false, others: [] },
      services: ['shop', 'payments', 'bank'],
      began_at: new Date(NOW - 60_000).toISOString(),
    })
    expect(
      found.rows.map(({ depth, name, service, offset_ms, duration_ms, self_ms }) => [
        depth,
        name,
        service,
        offset_ms,
        duration_ms,
        self_ms,
      ]),
    ).toEqual([
      // Of 150 ms its children cover 20 to 120.
      [0, 'GET /checkout', 'shop', 0, 150, 50],
      [1, 'pay', 'payments', 20, 80, 19.5],
      [2, 'POST /charge', 'bank', 30, 60.5, 60.5],
      [3, 'limit of the card is reached', 'bank', 85, null, null],
      [1, 'render', 'shop', 80, 40, 40],
      [0, 'retry', 'payments', 110, 5, 5],
    ])
    expect(found.rows.filter(({ is_orphan }) => is_orphan).map(({ name }) => name)).toEqual(['retry'])
    const [, pay, charge, log] = found.rows
    expect(pay).toMatchObject({
      status: 'unset',
      is_failed: false,
      kind: 'client',
      links: [
        { trace_id: OTHER, span_id: 'dddddddddddddddd', direction: 'to', name: 'GET /cart', service: 'shop' },
      ],
    })
    expect((await trace(OTHER)).rows[0]!.links).toEqual([
      { trace_id: TRACE, span_id: 'bbbbbbbbbbbbbbbb', direction: 'from', name: 'pay', service: 'payments' },
    ])
    expect(charge).toMatchObject({ status: 'error', is_failed: true, parent_id: 'bbbbbbbbbbbbbbbb' })
    expect(log).toMatchObject({
      status: null,
      is_failed: true,
      span_id: 'cccccccccccccccc',
      event_type: 'ERROR',
    })
  })

  it('finds a trace by its first characters, and names the others that begin alike', async () => {
    expect(await trace('5b8efff7')).toMatchObject({ id: OTHER, others: [TRACE] })
    expect((await ask('/api/traces/0123456789abcdef')).status).toBe(404)
    const refused = await ask('/api/traces/5b8')
    expect([refused.status, await refused.json()]).toEqual([
      400,
      { detail: 'id must be a trace id, or at least its first 8 characters' },
    ])
  })

  it('lists traces by what one of their spans is: all of what is asked for together', async () => {
    const ids = async (query: string) => (await list(query)).traces.map(({ id }) => id)
    expect((await list('')).traces).toMatchObject([
      { id: OTHER, name: 'GET /cart', service: 'shop', spans: 1, failed: 0, duration_ms: 4 },
      {
        id: TRACE,
        name: 'GET /checkout',
        service: 'shop',
        services: ['shop', 'payments', 'bank'],
        spans: 5,
        failed: 1,
        duration_ms: 150,
      },
    ])
    expect(await ids('status=error')).toEqual([TRACE])
    expect(await ids('status=ok')).toEqual([OTHER])
    expect(await ids('service=bank')).toEqual([TRACE])
    expect(await ids('service=bank&name=charge')).toEqual([TRACE])
    expect(await ids('service=shop&name=charge')).toEqual([])
    expect(await ids('min_duration=100ms')).toEqual([TRACE])
    expect(await ids('service=bank&min_duration=61ms')).toEqual([])
    expect(await ids('attribute=http.route=/charge')).toEqual([TRACE])
    expect(await ids('attribute=service.name=nobody')).toEqual([])
  })

  it('goes on with older ones, and shows none twice', async () => {
    const first = await list('limit=1')
    expect(first.traces.map(({ id }) => id)).toEqual([OTHER])
    const second = await list(`limit=1&to=${first.next_to}`)
    expect([second.traces.map(({ id }) => id), second.next_to]).toEqual([[TRACE], null])
  })

  it.each([
    ['min_duration=fast', 'min_duration'],
    ['attribute=route', 'attribute'],
    ['window=soon', 'window'],
    ['limit=0', 'limit'],
    ['status=bad', 'status'],
  ])('refuses %s by its field', async (query, field) => {
    const answer = await ask(`/api/traces?${query}`)
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { detail: expect.stringMatching(`^${field} must be `) },
    ])
  })
})

describe('a span with status error', () => {
  it('is on the timeline of its service as an event of level error, with why; one that only recorded an exception is not', async () => {
    const receiver = await openReceiver()
    await receiver.post(
      'traces',
      exported('mailer', [
        {
          id: '1111111111111111',
          name: 'send',
          from: 2_000,
          to: 2_010,
          trace: SINGLE[0]!,
          thrown: 'mailbox full',
        },
        {
          id: '2222222222222222',
          name: 'retry',
          from: 2_020,
          to: 2_030,
          trace: SINGLE[1]!,
          thrown: 'busy',
          code: 1,
        },
        { id: '3333333333333333', name: 'relay', from: 2_040, to: 2_050, trace: SINGLE[2]!, code: 2 },
        { id: '4444444444444444', name: 'quit', from: 2_060, to: 2_070, trace: SINGLE[3]! },
      ]),
    )
    const answer = await fetch(`${receiver.url}/read`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ selector: { service: 'mailer', level: 'ERROR' } }),
    })
    const { rows } = (await answer.json()) as { rows: { text: string; event_type: string }[] }
    expect(rows.map(({ text, event_type }) => [event_type, text])).toEqual([
      ['span', expect.stringContaining('ERROR: card declined')],
    ])
    await receiver.close()
  })
})
