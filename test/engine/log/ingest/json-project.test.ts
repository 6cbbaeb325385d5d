import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseDigits } from '../../../../engine/log/ingest/json.ts'
import { compileField, headsOf, Projection } from '../../../../engine/log/ingest/json-project.ts'
import { longOr } from '../../../chaos/scale.ts'

const DEPTH = 100
const read = (text: string, names: string[], before = '', after = ''): unknown => {
  const bytes = Buffer.from(before + text + after)
  const start = Buffer.byteLength(before)
  const end = start + Buffer.byteLength(text)
  const isAscii = !/[^\0-\x7f]/.test(before + text + after)
  return Projection.of(names)!.read(bytes, [start, end], DEPTH, isAscii)
}
const parse = (text: string): unknown => {
  try {
    return parseDigits(text)
  } catch {
    return undefined
  }
}

describe('the wanted fields of an item', () => {
  it.each([
    ['are those it has', '{"a":1,"b":"x","c":null}', { a: 1, b: 'x' }],
    ['keep their type', '{"a":true,"b":[1,{"a":2}]}', { a: true, b: [1, { a: 2 }] }],
    ['may be written with space and escapes', ' {"a" :\t"\\u00e9\\n" }'.trim(), { a: 'é\n' }],
    ['may hold any text', '{"a":"é😀","b":"€"}', { a: 'é😀', b: '€' }],
    ['are the last of that name', '{"a":1,"a":2}', { a: 2 }],
    ['are not those further down', '{"c":{"a":1},"b":-0.5}', { b: -0.5 }],
    ['are none in an empty object', '{}', {}],
    [
      'are numbers of any length',
      '{"a":12345678901234567890,"b":-12}',
      { a: '12345678901234567890', b: -12 },
    ],
  ])('%s', (_what, text, expected) => {
    expect(read(text, ['a', 'b'])).toEqual(expected)
    expect(read(text, ['a', 'b'], '{"z":1}\n', '\n{"y":"é"}')).toEqual(expected)
  })

  it.each([
    ['a list', '[1]'],
    ['a text', '"a"'],
    ['an escaped name', '{"\\u0061":1}'],
    ['a number with an exponent', '{"a":1e400}'],
    ['a value cut short', '{"a":"x'],
    ['a bracket missing', '{"a":{"b":1}'],
    ['a comma too many', '{"a":1,}'],
    ['a comma too many in a list', '{"a":[1,]}'],
    ['something after it', '{"a":1} x'],
    ['a leading zero', '{"a":01}'],
    ['a bare minus', '{"a":-}'],
    ['a dot without digits', '{"a":1.}'],
    ['a word that is none', '{"a":trux}'],
    ['a wrong escape', '{"b":"\\x41"}'],
    ['a line break in a text', '{"a":"x\ny"}'],
    ['deep nesting', `{"a":${'['.repeat(100)}${']'.repeat(100)}}`],
  ])('are left to JSON.parse where there is %s', (_what, text) => {
    expect(read(text, ['a', 'b'])).toBeNull()
  })

  it('are read a hundred levels deep', () => {
    const text = `{"a":${'['.repeat(99)}${']'.repeat(99)}}`
    expect(read(text, ['a'])).toEqual(JSON.parse(text))
  })

  it('include none that cannot be an own field, and not hundreds', () => {
    expect(Projection.of(['a', '__proto__'])).toBeNull()
    expect(Projection.of(Array.from({ length: 300 }, (_, i) => `f${i}`))).toBeNull()
  })
})

describe('reading some fields', () => {
  const names = fc.constantFrom('a', 'b', 'ab', 'a.b', 'é', '', 'toString', 'long name', 'b.c')
  const payload = fc.dictionary(
    names,
    fc.oneof(fc.jsonValue(), fc.string({ unit: 'binary' }), fc.dictionary(names, fc.jsonValue())),
  )

  it('gives what reading all of them gives, wherever a field is looked up', () => {
    fc.assert(
      fc.property(
        payload,
        fc.array(names, { minLength: 1 }),
        fc.constantFrom(0, 1),
        (value, fields, indent) => {
          const text = JSON.stringify(value, null, indent)
          const part = read(text, fields.flatMap(headsOf), 'x\n', ',{}')
          // An exponent or an escaped name is left to JSON.parse.
          if (part === null) return
          for (const field of fields)
            expect(compileField(field)(part)).toEqual(compileField(field)(parse(text)))
        },
      ),
    )
  })

  it('takes nothing that JSON.parse refuses', () => {
    const broken = fc.tuple(payload, fc.nat(), fc.nat(), fc.string({ unit: 'binary-ascii', maxLength: 2 }))
    fc.assert(
      fc.property(broken, ([value, at, length, put]) => {
        const whole = JSON.stringify(value)
        const from = at % whole.length
        // As bytes, half a surrogate pair is another character.
        const cut = whole.slice(0, from) + put + whole.slice(from + (length % 3))
        const text = Buffer.from(cut.trim()).toString()
        const part = read(text, ['a', 'b'])
        if (part !== null) expect(parse(text)).toMatchObject(part as object)
      }),
      { numRuns: longOr(5_000, 1_500) },
    )
  })
})
