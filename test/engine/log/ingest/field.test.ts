import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileField, lookup } from '../../../../engine/log/ingest/json-project.ts'

const payload = {
  a: 1,
  'a.b': 'flat',
  nothing: null,
  deep: { er: { est: { x: 'down' } }, 'er.est': { y: 'half' } },
  resourceAttributes: { 'service.name': 'checkout', service: { version: '1.2' } },
  list: [{ id: 'first' }, { id: 'second' }],
  'with.': { x: 'dot at the end' },
}

describe('a field', () => {
  it.each([
    ['a', 1],
    ['a.b', 'flat'],
    ['nothing', null],
    ['deep.er.est.x', 'down'],
    ['deep.er.est.y', 'half'],
    ['resourceAttributes.service.name', 'checkout'],
    ['resourceAttributes.service.version', '1.2'],
    ['list.1.id', 'second'],
    ['with..x', 'dot at the end'],
    ['missing', undefined],
    ['a.b.c', undefined],
    ['nothing.x', undefined],
    ['deep.er.est.x.length', undefined],
    ['list.2.id', undefined],
    ['list.length', undefined],
    ['list.-1', undefined],
    ['', undefined],
    ['.', undefined],
    ['.a', undefined],
    ['a.', undefined],
  ])('%j is found where it is', (path, value) => {
    expect(lookup(payload, path)).toEqual(value)
    expect(compileField(path)(payload)).toEqual(value)
  })

  it('with the exact name wins over a nested one, and the longest name over a shorter', () => {
    expect(lookup({ 'x.y': 'exact', x: { y: 'nested' } }, 'x.y')).toBe('exact')
    expect(lookup({ 'x.y': { z: 'long' }, x: { 'y.z': 'short' } }, 'x.y.z')).toBe('long')
    expect(lookup({ 'x.y': { other: 1 }, x: { 'y.z': 'short' } }, 'x.y.z')).toBe('short')
  })

  it('A7: inside a string that is JSON is found like any other, within bounds', () => {
    const text = (value: unknown) => JSON.stringify(value)
    const at = (context: unknown, path: string) => lookup(context, path)
    expect(at({ m: text({ a: { b: 1 } }) }, 'm.a.b')).toBe(1)
    expect(at({ m: ` \n${text([{ id: 'x' }])}` }, 'm.0.id')).toBe('x')
    expect(at({ m: '{"n":12345678901234567890}' }, 'm.n')).toBe('12345678901234567890')
    expect(at({ m: text({ a: 1 }) }, 'm')).toBe('{"a":1}')
    expect(at({ 'm.a': 'flat', m: text({ a: 1 }) }, 'm.a')).toBe('flat')
    // Strings in strings: three, no more.
    const wrapped = (levels: number): unknown => (levels === 0 ? { n: 1 } : { m: text(wrapped(levels - 1)) })
    expect(at(wrapped(3), 'm.m.m.n')).toBe(1)
    expect(at(wrapped(4), 'm.m.m.m.n')).toBeUndefined()
    const deep = (levels: number) => `{"a":${'['.repeat(levels)}${']'.repeat(levels)},"n":1}`
    expect(at({ m: deep(99) }, 'm.n')).toBe(1)
    expect(at({ m: `${deep(100)}${' '.repeat(200)}` }, 'm.n')).toBeUndefined()
    expect(at({ m: `{"n":1,"x":"${'é'.repeat(600_000)}"}` }, 'm.n')).toBeUndefined()
    for (const broken of ['{"n":1', 'plain', '"n"', '7', '', '{n:1}'])
      expect(at({ m: broken }, 'm.n')).toBeUndefined()
    // In base64, as messages lie in those of Google Pub/Sub, in both alphabets, with and without its padding.
    const coded = (value: string, kind: 'base64' | 'base64url' = 'base64') =>
      Buffer.from(value).toString(kind)
    expect(at({ m: coded('{"n":{"a":"?>~ü"}}') }, 'm.n.a')).toBe('?>~ü')
    expect(at({ m: coded('{"n":{"a":"?>~ü"}}', 'base64url') }, 'm.n.a')).toBe('?>~ü')
    expect(at({ m: coded('[{"n":1}]') }, 'm.0.n')).toBe(1)
    for (const none of [
      coded('{"n":1'),
      `${coded('{"n":1}')}!`,
      coded('plain text'),
      'e30',
      'eyJuIjox\u00fc',
    ])
      expect(at({ m: none }, 'm.n')).toBeUndefined()
    expect(at({ m: '{"a":1}' }, 'm.constructor.name')).toBeUndefined()
    expect(at({ m: 'text' }, 'm.length')).toBeUndefined()
  })

  it.each([
    'constructor',
    'constructor.name',
    'toString',
    '__proto__',
    '__proto__.x',
    'hasOwnProperty.name',
    'deep.constructor.name',
    'list.map.name',
    'a.toFixed',
  ])('%j is never read from a prototype', (path) => {
    expect(lookup(payload, path)).toBeUndefined()
    expect(compileField(path)(payload)).toBeUndefined()
  })

  it('named like a prototype is found where the payload itself has it', () => {
    const own: unknown = JSON.parse('{"__proto__":{"x":1},"constructor":{"name":"mine"}}')
    expect(lookup(own, '__proto__.x')).toBe(1)
    expect(lookup(own, 'constructor.name')).toBe('mine')
  })

  it('of anything is looked up without an error, compiled or not', () => {
    const path = fc.oneof(
      fc.string(),
      fc.array(fc.string({ maxLength: 3 })).map((names) => names.join('.')),
    )
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.anything()), path, (context, name) => {
        expect(compileField(name)(context)).toEqual(lookup(context, name))
      }),
    )
  })

  it('is found by the path of its names, nested or joined', () => {
    const names = fc.array(fc.stringMatching(/^[a-z]{1,3}$/), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(names, fc.integer({ min: 0, max: 6 }), (path, cut) => {
        const nested = path.slice(cut).reduceRight<unknown>((inner, name) => ({ [name]: inner }), 'here')
        const head = path.slice(0, cut).join('.')
        expect(lookup(head === '' ? nested : { [head]: nested }, path.join('.'))).toBe('here')
      }),
    )
  })
})
