import { describe, expect, it } from 'vitest'
import { connectorOf } from '../../../../engine/sources/connectors/index.ts'
import { coverFields } from '../../../../engine/sources/sample.ts'
import type { FieldCoverage } from '../../../../schemas/types.ts'
import { openSources, recentEvent } from '../sources-harness.ts'

const webhook = connectorOf('webhook')
const payloadFields = (fields: FieldCoverage[]) => fields.filter(({ name }) => !name.startsWith('header.'))

/** The names a webhook source's payloads show, with their coverage. */
const namesOf = (...payloads: unknown[]) =>
  payloadFields(
    coverFields(
      webhook,
      {},
      payloads.map((payload) => recentEvent(payload)),
    ).fields,
  ).map(({ name, coverage }) => [name, coverage])

describe('the fields of a source', () => {
  it('are what its events really carry: the key, then what labels read, then the rest by coverage', () => {
    const labels = [
      { name: 'service', field: 'svc', primary: true },
      { name: 'level', field: 'log.level' },
    ]
    const events = [
      recentEvent({ svc: 'cart', log: { level: 'error' }, host: 'a' }, { service: 'cart', level: 'error' }),
      recentEvent({ svc: 'cart', host: 'b', note: 'x' }, { service: 'cart' }),
      recentEvent({ svc: 'pay', host: 'b' }, { service: 'pay' }),
      recentEvent({ host: 'b' }),
    ]
    const { sampled, fields, labels: carried } = coverFields(webhook, { labels }, events)
    expect(sampled).toBe(4)
    expect(payloadFields(fields)).toEqual([
      expect.objectContaining({
        name: 'svc',
        coverage: 0.75,
        distinct: 2,
        is_label: true,
        is_key: true,
        values: [
          { value: 'cart', events: 2 },
          { value: 'pay', events: 1 },
        ],
      }),
      expect.objectContaining({ name: 'log.level', coverage: 0.25, is_label: true, is_key: false }),
      expect.objectContaining({ name: 'host', coverage: 1, distinct: 2, is_label: false }),
      expect.objectContaining({ name: 'note', coverage: 0.25 }),
    ])
    expect(carried).toEqual([
      expect.objectContaining({ name: 'service', is_key: true, coverage: 0.75, distinct: 2 }),
      expect.objectContaining({ name: 'level', is_key: false, coverage: 0.25, distinct: 1 }),
    ])
  })

  it('include those the connector provides, with their help, even where no event has them', () => {
    const { fields } = coverFields(connectorOf('memory'), {}, [])
    expect(
      fields.map(({ name, help, primary_default, coverage }) => [
        name,
        help !== '',
        primary_default,
        coverage,
      ]),
    ).toEqual([
      ['content', true, false, 0],
      ['key', true, true, 0],
      ['label', true, false, 0],
      ['memory_type', true, false, 0],
    ])
  })

  it('are dotted to a depth of four, lists kept whole, nulls and empty objects absent', () => {
    expect(namesOf({ a: { b: { c: { d: 1, e: { f: 2 } } } }, l: [{ x: 1 }], n: null, o: {} })).toEqual([
      ['a.b.c.d', 1],
      ['l', 1],
    ])
  })

  it('are called value where an event is no object', () => {
    expect(namesOf('up', 5, [1], null)).toEqual([['value', 0.75]])
  })

  it('count an event once, whether it spells a name flat, nested or both', () => {
    expect(namesOf({ 'a.b': 1, a: { b: 2 } }, { a: { b: 3 } })).toEqual([['a.b', 1]])
  })

  it('show the value a label takes: the exact name before the nested one', () => {
    const event = recentEvent({ 'a.b': 'flat', a: { b: 'nested' } })
    expect(coverFields(webhook, { labels: [{ name: 'x', field: 'a.b' }] }, [event]).fields[0]).toMatchObject({
      name: 'a.b',
      values: [{ value: 'flat', events: 1 }],
    })
  })

  it('show what a label reads through the connector, at any depth', () => {
    const labels = [
      { name: 'ticket', field: 'ticket' },
      { name: 'deep', field: 'fields.a.b.c.d' },
    ]
    const payload = { key: 'k', content: 'c', fields: { ticket: 'T-1', a: { b: { c: { d: 'found' } } } } }
    const { fields } = coverFields(connectorOf('memory'), { labels }, [recentEvent(payload)])
    expect(fields.slice(0, 2)).toEqual([
      expect.objectContaining({
        name: 'fields.a.b.c.d',
        coverage: 1,
        values: [{ value: 'found', events: 1 }],
      }),
      expect.objectContaining({ name: 'ticket', coverage: 1, values: [{ value: 'T-1', events: 1 }] }),
    ])
  })

  it('show a header, which is not stored, by the label that reads it', () => {
    const labels = [{ name: 'event', field: 'header.x-github-event' }]
    const { fields } = coverFields(webhook, { labels }, [recentEvent({}, { event: 'push' }), recentEvent({})])
    expect(fields[0]).toMatchObject({
      name: 'header.x-github-event',
      coverage: 0.5,
      values: [{ value: 'push', events: 1 }],
    })
  })

  it('tell one event of 2,000 from none and from all', () => {
    const events = Array.from({ length: 2_000 }, (_, i) => recentEvent(i === 0 ? { rare: 1 } : { common: 1 }))
    expect(payloadFields(coverFields(webhook, {}, events).fields).map(({ coverage }) => coverage)).toEqual([
      0.9995, 0.0005,
    ])
  })

  it('show eight values, cut to 120 characters, and count the others', () => {
    const events = Array.from({ length: 20 }, (_, i) => recentEvent({ a: `${i}${'x'.repeat(200)}` }))
    const [a] = payloadFields(coverFields(webhook, {}, events).fields)
    expect(a).toMatchObject({ distinct: 20, values: { length: 8 } })
    expect(a!.values[0]!.value).toBe(`0${'x'.repeat(119)}`)
  })

  it('are at most 300, however many names payloads make up', () => {
    const payload = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i]))
    expect(coverFields(webhook, {}, [recentEvent(payload)]).fields).toHaveLength(300)
  })

  it('give names of prototypes no power', () => {
    expect(namesOf(JSON.parse('{"__proto__":{"admin":1},"constructor":"x"}'))).toEqual([
      ['__proto__.admin', 1],
      ['constructor', 1],
    ])
    expect(({} as Record<string, unknown>).admin).toBeUndefined()
  })

  it('name the entity of each event as a key among the labels', () => {
    const event = recentEvent({ key: 'cart' }, { service: 'cart' }, { label: 'service', value: 'cart' })
    expect(coverFields(connectorOf('memory'), {}, [event]).labels).toMatchObject([
      { name: 'service', is_key: true },
    ])
  })
})

describe("a source's sample", () => {
  it('is clamped to between 1 and 2,000 events', () => {
    const { create, sources, world } = openSources()
    create('app')
    world.recent = Array.from({ length: 2_500 }, () => recentEvent({ a: 1 }))
    const sampled = (limit: number) => sources.fields('app', limit).sampled
    expect([sampled(0), sampled(10.9), sampled(99_999)]).toEqual([1, 10, 2_000])
    expect(() => sources.fields('ghost', 10)).toThrow(expect.objectContaining({ code: 'not_found' }))
  })
})
