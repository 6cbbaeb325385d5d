import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileSource } from '../../../../engine/log/ingest/prepare.ts'
import { memory } from '../../../../engine/sources/connectors/written.ts'
import type { Label } from '../../../../schemas/types.ts'

const prepare = (value: unknown, labels: Label[] = []) =>
  compileSource(memory, { labels })(
    { value, raw: Buffer.from(JSON.stringify(value)), whole: () => value },
    undefined,
    0,
    0,
  )[0]!

describe('a memory', () => {
  it.each([
    ['observation', 'observation'],
    ['aggregation', 'aggregation'],
    ['decision', 'decision'],
    ['hunch', 'custom:hunch'],
    ['constructor', 'custom:constructor'],
    ['two\nlines', 'custom:two lines'],
    ['', 'observation'],
    [undefined, 'observation'],
    [7, 'observation'],
  ])('of type %j is an event of type %s', (memory_type, expected) => {
    expect(prepare({ key: 'k', content: 'c', memory_type }).eventType).toBe(expected)
  })

  it('has its content on one line, and whole in the payload kept', () => {
    const content = `first\nsecond ${'x'.repeat(5_000)}`
    const event = prepare({ key: 'k', content })
    expect(event.text).toBe(content.replace('\n', ' ').slice(0, 4_096))
    expect(event.raw).toBeNull()
  })

  it('belongs to the entity it names', () => {
    expect(prepare({ key: 'order-1', content: 'c' })).toMatchObject({
      strings: [['key', 'order-1']],
      hasEntity: true,
    })
    expect(prepare({ key: 'cart', label: 'service', content: 'c' }).strings).toEqual([['service', 'cart']])
    expect(prepare({ key: 7, content: 'c' }).strings).toEqual([['key', '7']])
    expect(prepare({ key: 'cart', label: 'no name', content: 'c' }).strings).toEqual([['key', 'cart']])
    expect(prepare({ key: 'cart', label: 'key_value', content: 'c' }).strings).toEqual([['key', 'cart']])
    expect(prepare({ key: 'cart', label: '__proto__', content: 'c' }).strings).toEqual([['key', 'cart']])
    expect(prepare({ content: 'c' })).toMatchObject({ strings: [], hasEntity: false })
    expect(prepare({ key: '', content: 'c' })).toMatchObject({ strings: [], hasEntity: false })
  })

  it('belongs to the declared primary label where that has a value', () => {
    const labels: Label[] = [{ name: 'team', field: 'team', primary: true }]
    expect(prepare({ key: 'k', content: 'c', fields: { team: 'pay' } }, labels).strings).toEqual([
      ['team', 'pay'],
      ['key', 'k'],
    ])
    expect(prepare({ key: 'k', content: 'c' }, labels)).toMatchObject({
      strings: [['key', 'k']],
      hasEntity: true,
    })
    expect(prepare({ key: 'pay', label: 'team', content: 'c' }, labels)).toMatchObject({
      strings: [['team', 'pay']],
      hasEntity: true,
    })
  })

  it('offers its fields to labels, with and without the name fields before', () => {
    const labels: Label[] = [
      { name: 'a', field: 'fields.sev' },
      { name: 'b', field: 'sev' },
      { name: 'c', field: 'fields.deep.x' },
      { name: 'd', field: 'memory_type' },
      { name: 'e', field: 'content' },
    ]
    const fields = { sev: 'high', deep: { x: 1 }, content: 'not the content' }
    expect(prepare({ content: 'c', memory_type: 'decision', fields }, labels).strings).toEqual([
      ['a', 'high'],
      ['b', 'high'],
      ['c', '1'],
      ['d', 'decision'],
      ['e', 'c'],
    ])
  })

  it('of any shape is mapped without an error', () => {
    const names = fc.constantFrom('key', 'label', 'content', 'memory_type', 'fields')
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.dictionary(names, fc.jsonValue())), (value) => {
        expect(prepare(value).strings.length).toBeLessThanOrEqual(1)
      }),
    )
  })
})
