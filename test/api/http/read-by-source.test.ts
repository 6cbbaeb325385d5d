/** Issue 16, A2 and A4: reads by source, and metric points in reads. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { EntitiesResult, ReadResult } from '../../../schemas/types.ts'
import { openDoor, T0 } from './door.ts'

let door: Awaited<ReturnType<typeof openDoor>>
beforeEach(async () => {
  door = await openDoor()
  await door.source('otlp', {}, 'otlp')
})
afterEach(() => door.close())

const read = async (asked: Record<string, unknown>) => {
  const answer = await door.call('POST', '/read', { window: '1d', ...asked })
  expect(answer.status).toBe(200)
  return answer.json() as unknown as ReadResult
}
const attributes = (given: Record<string, unknown>) =>
  Object.entries(given).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: value } : { stringValue: value },
  }))
const at = (seconds: number) => `${T0 - seconds * 1_000}000000`
const post = async (signal: string, body: unknown) =>
  expect((await door.call('POST', `/v1/${signal}`, body)).status).toBe(200)
const logs = (resource: Record<string, unknown>, ...logRecords: unknown[]) =>
  post('logs', {
    resourceLogs: [{ resource: { attributes: attributes(resource) }, scopeLogs: [{ logRecords }] }],
  })

describe('A2: events without a service', () => {
  it('are on the timeline of their host, or of their source, and are read by source', async () => {
    await logs({ 'host.name': 'web1' }, { body: { stringValue: 'disk full' }, timeUnixNano: at(2) })
    await logs({ 'os.type': 'linux' }, { body: { stringValue: 'oom' }, timeUnixNano: at(1) })
    const all = await read({ sources: ['otlp'] })
    expect(all.rows.map(({ text, entity }) => [text, entity])).toEqual([
      ['disk full', { label: 'host_name', value: 'web1' }],
      ['oom', { label: 'source', value: 'otlp' }],
    ])
    expect(all.payload).toContain('=== read · source otlp · window=1d')
    expect((await read({ selector: { source: 'otlp' } })).rows.map(({ text }) => text)).toEqual(['oom'])
  })

  it('are searched by text in all sources, without an entity', async () => {
    await logs({ 'host.name': 'web1' }, { body: { stringValue: 'disk full' }, timeUnixNano: at(2) })
    await logs({ 'os.type': 'linux' }, { body: { stringValue: 'disk gone' }, timeUnixNano: at(1) })
    await logs({ 'os.type': 'linux' }, { body: { stringValue: 'oom' }, timeUnixNano: at(1) })
    const { rows, payload } = await read({ text: 'disk' })
    expect(rows.map(({ text }) => text)).toEqual(['disk full', 'disk gone'])
    expect(payload).toContain('=== read · all sources · window=1d')
  })

  it('are not all events by mistake: without selector and sources it is refused', async () => {
    const answer = await door.call('POST', '/read', { window: '1d' })
    expect([answer.status, answer.json().detail]).toEqual([
      400,
      'give a selector, sources to read all of what they brought, or a text to look for',
    ])
  })
})

describe('A3: what people search for', () => {
  it('finds an exception by its message, and a trace by its id, which is in no list of entities', async () => {
    const trace = '5b8efff798038103d269b633813fc60c'
    await logs(
      { 'service.name': 'checkout' },
      {
        body: { stringValue: 'payment failed' },
        severityNumber: 17,
        traceId: trace,
        timeUnixNano: at(1),
        attributes: attributes({ 'exception.type': 'CardError', 'exception.message': 'card declined' }),
      },
    )
    const { rows } = await read({ selector: { service: 'checkout' }, text: 'CARD DECLINED' })
    expect(rows[0]).toMatchObject({
      event_type: 'ERROR',
      text: 'payment failed: CardError: card declined',
      labels: { service: 'checkout', trace_id: trace },
    })
    expect((await read({ selector: { trace_id: trace } })).count).toBe(1)
    const entities = (await door.call('GET', '/api/entities')).json() as unknown as EntitiesResult
    expect(entities.labels.map(({ label }) => label)).toEqual(['level', 'service'])
    expect((await door.call('GET', '/api/entities?label=trace_id')).json()).toMatchObject({ distinct: 1 })
  })
})

describe('A5: a level', () => {
  it('is one type however it is spelled, and is read by any spelling', async () => {
    await logs(
      { 'service.name': 'a' },
      ...['Info', 'INFO', 'info'].map((severityText, n) => ({
        severityText,
        body: { stringValue: `n${n}` },
        timeUnixNano: at(3 - n),
      })),
    )
    for (const type of ['Info', 'INFO', 'information'])
      expect((await read({ selector: { service: 'a' }, event_types: [type] })).count).toBe(3)
  })
})

describe('A4: metric points in a read', () => {
  const points = (name: string, route: string, from: number, count: number) =>
    post('metrics', {
      resourceMetrics: [
        {
          resource: { attributes: attributes({ 'service.name': 'shop' }) },
          scopeMetrics: [
            {
              metrics: [
                {
                  name,
                  unit: '1',
                  sum: {
                    dataPoints: Array.from({ length: count }, (_, n) => ({
                      asInt: String(from + n),
                      timeUnixNano: at(600 - n),
                      attributes: attributes({ route }),
                    })),
                  },
                },
              ],
            },
          ],
        },
      ],
    })

  beforeEach(async () => {
    await logs({ 'service.name': 'shop' }, { body: { stringValue: 'deployed' }, timeUnixNano: at(700) })
    await points('requests', '/pay', 3, 60)
    await points('requests', '/cart', 100, 60)
  })

  it('are one row of a series, with its newest value, count and range; what happened stays in sight', async () => {
    const { rows, payload, next_cursor } = await read({ selector: { service: 'shop' }, limit: 60 })
    expect(rows.map(({ text, fold }) => [text, fold?.count, fold?.least, fold?.most])).toEqual([
      ['deployed', undefined, undefined, undefined],
      ['requests{route=/pay}=62', 60, 3, 62],
      ['requests{route=/cart}=159', 60, 100, 159],
    ])
    expect(payload).toMatch(/requests\{route=\/pay\}=62 \(×60 evt_\d+\.\.evt_\d+ since \S+, 3 to 62\)/)
    expect(next_cursor).toBeNull()
    const asc = await read({ selector: { service: 'shop' }, order: 'asc', limit: 60 })
    expect(asc.rows.map(({ text }) => text)).toEqual(rows.map(({ text }) => text))
  })

  it('are each told where they are asked for', async () => {
    const count = async (more: Record<string, unknown>) =>
      (await read({ selector: { service: 'shop' }, limit: 500, ...more })).count
    expect(await count({ event_types: ['requests'] })).toBe(120)
    expect(await count({ points: 'all' })).toBe(121)
    expect(await count({ selector: { service: 'shop', signal: 'metrics' } })).toBe(120)
    expect(await count({ text: 'route=/pay' })).toBe(60)
  })

  it('are on all pages together once, and none between is lost', async () => {
    const seen: number[] = []
    const texts = new Set<string>()
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await read({
        selector: { service: 'shop' },
        limit: 1,
        order: 'desc',
        ...(cursor ? { cursor } : {}),
      })
      for (const { fold, text } of page.rows) {
        seen.push(fold?.count ?? 1)
        texts.add(text.split('=')[0]!)
      }
      cursor = page.next_cursor
    }
    expect(seen.reduce((sum, n) => sum + n, 0)).toBe(121)
    expect([...texts].sort()).toEqual(['deployed', 'requests{route'])
  })

  it('are all seen by a trigger', async () => {
    const name = 'many'
    const made = await door.call('POST', '/api/triggers', {
      name,
      sources: ['otlp'],
      condition: { aggregate: 'count', predicate: '>= 5', window: '1h' },
      filters: [{ field: 'event_type', op: 'eq', value: 'requests' }],
      cooldown: '1s',
    })
    expect([made.status, made.text]).toEqual([201, expect.any(String)])
    await points('requests', '/new', 1, 5)
    const { firings } = (await door.call('GET', `/api/firings?trigger=${name}`)).json() as unknown as {
      firings: unknown[]
    }
    expect(firings).toHaveLength(1)
  })
})
