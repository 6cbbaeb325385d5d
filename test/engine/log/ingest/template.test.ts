import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileTemplate, oneLine, summarise } from '../../../../engine/log/ingest/label.ts'

const payload = {
  a: 'text',
  n: 1.5,
  yes: false,
  nothing: null,
  list: [1, { b: 2 }],
  object: { x: 'in', y: [] },
  'dotted.name': 'flat',
}

describe('a template', () => {
  it.each([
    ['no field', 'no field'],
    ['{a}', 'text'],
    ['{ a }', 'text'],
    ['{a}{n}-{yes}', 'text1.5-false'],
    ['{object.x} {list.1.b} {dotted.name}', 'in 2 flat'],
    ['[{missing}{nothing}]', '[]'],
    ['{object} {list}', '{"x":"in","y":[]} [1,{"b":2}]'],
    ['{{a}}', '{a}'],
    ['{{{a}}}', '{text}'],
    ['{}', ''],
    ['{a', '{a'],
    ['a}', 'a}'],
    ['{x{a}', '{xtext'],
    ['{constructor}{constructor.constructor}{__proto__}{toString}', ''],
    ['{a:>10}{a!r}{a|upper}', ''],
    ['$1 \\n %s', '$1 \\n %s'],
    ['$& {a}', '$& text'],
  ])('%j becomes %j', (template, expected) => {
    expect(compileTemplate(template)(payload)).toBe(expected)
  })

  it('makes one line that can be stored', () => {
    const text = compileTemplate('{a}|{b}')({ a: 'x\r\ny\nz\u2028w', b: 'n\0l\ud800' })
    expect(text).toBe('x y z w|n\ufffdl\ufffd')
  })

  it('is cut at 4,096 characters, never within a pair, however much the fields hold', () => {
    expect(compileTemplate('{a}'.repeat(1_000))({ a: 'x'.repeat(1_000_000) })).toBe('x'.repeat(4_096))
    expect(compileTemplate(`${'x'.repeat(4_095)}{a}`)({ a: '😀' })).toBe('x'.repeat(4_095))
    expect(compileTemplate(`${'x'.repeat(4_094)}{a}`)({ a: '😀' })).toBe(`${'x'.repeat(4_094)}😀`)
  })

  it('of any text over any payload gives one storable line and never throws', () => {
    const template = fc.string({
      unit: fc.constantFrom('{', '}', '{a}', '{a.b}', '.', 'x', '\n', '__proto__'),
    })
    fc.assert(
      fc.property(fc.oneof(template, fc.string()), fc.jsonValue(), (text, context) => {
        for (const made of [compileTemplate(text)(context), summarise(context)]) {
          expect(made.length).toBeLessThanOrEqual(4_096)
          expect(made).not.toMatch(/[\n\r\0]/)
          expect(Buffer.from(made).toString()).toBe(made)
        }
      }),
    )
  })
})

describe('a summary', () => {
  it.each([
    [{ a: 1, b: [null] }, '{"a":1,"b":[null]}'],
    ['plain\ntext', 'plain text'],
    [7, '7'],
    [null, 'null'],
    [undefined, ''],
    [{ a: 'x\ny' }, '{"a":"x\\ny"}'],
  ])('of %j is %j', (value, expected) => {
    expect(summarise(value)).toBe(expected)
  })

  it('is cut at 500 characters', () => {
    expect(summarise({ a: 'x'.repeat(600) })).toBe(`{"a":"${'x'.repeat(494)}`)
  })
})

describe('a line', () => {
  it('of usual text is returned as it is, cut only where it is longer', () => {
    expect(oneLine('tab\tand é', 100)).toBe('tab\tand é')
    expect(oneLine('abc', 3)).toBe('abc')
    expect(oneLine('abcd', 3)).toBe('abc')
    expect(oneLine('a\r\n\r\nb', 10)).toBe('a  b')
    expect(oneLine('😀😀', 3)).toBe('😀')
  })
})
