import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileLabels, isLabelName, validateLabels } from '../../../../engine/log/ingest/label.ts'
import type { Label } from '../../../../schemas/types.ts'

const resolve = (
  labels: Label[],
  context: unknown,
  stamped?: Record<string, string | number>,
  entity?: string,
) => compileLabels(labels)(context as Record<string, unknown>, stamped, entity)
/** What a single label of the field x makes of a value. */
const one = (value: unknown, more: Partial<Label> = {}) => {
  const { strings, numbers } = resolve([{ name: 'x', field: 'x', ...more } as Label], { x: value })
  return strings[0]?.[1] ?? numbers?.x
}

describe('a string label', () => {
  it.each([
    ['text', 'checkout', 'checkout'],
    ['spaces around', ' \ta b\r\n', 'a b'],
    ['1,024 bytes and spaces', ` ${'x'.repeat(1_024)} `, 'x'.repeat(1_024)],
    ['a space that is not one of ASCII', '\u00a0a', '\u00a0a'],
    ['a whole number', 500, '500'],
    ['a number', 1.5, '1.5'],
    ['a large number', 1e21, '1e+21'],
    ['true', true, 'true'],
    ['false', false, 'false'],
    ['NUL within', 'a\0b', 'a\ufffdb'],
    ['half a surrogate pair', 'a\ud800', 'a\ufffd'],
    ['a surrogate pair', '😀', '😀'],
    ['1,024 bytes', 'é'.repeat(512), 'é'.repeat(512)],
  ])('of %s is its text', (_what, value, expected) => {
    expect(one(value)).toBe(expected)
  })

  it.each([
    ['null', null],
    ['nothing', undefined],
    ['empty text', ''],
    ['spaces', ' \n '],
    ['an object', { a: 1 }],
    ['a list', ['a']],
    ['a number past all doubles', JSON.parse('1e400')],
  ])('of %s is omitted', (_what, value) => {
    expect(resolve([{ name: 'x', field: 'x' }], { x: value })).toEqual({
      strings: [],
      hasEntity: false,
      numbers: null,
    })
  })

  it.each([
    ['1,025 bytes', 'x'.repeat(1_025)],
    ['1,026 bytes in 513 characters', 'é'.repeat(513)],
  ])('of %s is omitted and named, a stamped one too', (_what, value) => {
    const omitted = { strings: [], hasEntity: false, numbers: null, tooLong: 'x' }
    expect(resolve([{ name: 'x', field: 'x' }], { x: value })).toEqual(omitted)
    expect(compileLabels([])({}, { x: value }, 'x')).toEqual(omitted)
  })

  it('can be a constant, a number among them', () => {
    const { strings } = resolve(
      [
        { name: 'env', const: 'prod' },
        { name: 'n', const: 5 },
      ],
      {},
    )
    expect(strings).toEqual([
      ['env', 'prod'],
      ['n', '5'],
    ])
  })

  it('is rewritten by pattern, then by map', () => {
    const label: Partial<Label> = { pattern: '^svc-(.*)$', replace: '$1', map: { chk: 'checkout', long: '' } }
    expect(one('svc-chk', label)).toBe('checkout')
    expect(one('svc-cart', label)).toBe('cart')
    expect(one('chk', label)).toBeUndefined()
    expect(one('svc-long', label)).toBeUndefined()
    expect(one(12, { map: { '12': 'twelve' } })).toBe('twelve')
    expect(one('constructor', { map: { a: 'b' } })).toBe('constructor')
    expect(one('a1', { pattern: '\\d' })).toBe('a')
    expect(one(' chk ', { map: label.map! })).toBe('checkout')
    expect(one(' chk', { map: { ' chk': 'c', chk: 'd' } })).toBe('c')
    expect(one('a b', { pattern: 'b' })).toBe('a')
  })

  it('can be taken out of a text too long to be a label', () => {
    const log = `order=77 ${'x'.repeat(5_000)}`
    expect(one(log, { pattern: '^order=(\\d+) .*$', replace: '$1' })).toBe('77')
    expect(one(log, { map: { a: 'b' } })).toBeUndefined()
  })
})

describe('a number label', () => {
  it.each([
    [12.5, 12.5],
    [-1e-7, -1e-7],
    ['12.50', 12.5],
    [' 7 ', 7],
    ['1e3', 1_000],
    ['.5', 0.5],
    ['-3', -3],
    ['12ms', undefined],
    ['0x10', undefined],
    ['Infinity', undefined],
    ['1e400', undefined],
    ['', undefined],
    [' ', undefined],
    [true, undefined],
    [null, undefined],
    [{}, undefined],
    [[1], undefined],
  ])('of %j is %s', (value, expected) => {
    expect(one(value, { type: 'number' })).toBe(expected)
  })

  it('is read after pattern and map', () => {
    expect(one('12ms', { type: 'number', pattern: 'ms$' })).toBe(12)
    expect(one('high', { type: 'number', map: { high: '3' } })).toBe(3)
    expect(resolve([{ name: 'n', const: 4, type: 'number' }], {}).numbers).toEqual({ n: 4 })
  })
})

describe('the labels of an event', () => {
  const labels: Label[] = [
    { name: 'env', const: 'prod' },
    { name: 'service', field: 'svc', primary: true },
  ]

  it('have the primary one first, where it has a value', () => {
    expect(resolve(labels, { svc: 'cart' })).toEqual({
      strings: [
        ['service', 'cart'],
        ['env', 'prod'],
      ],
      hasEntity: true,
      numbers: null,
    })
    expect(resolve(labels, {})).toEqual({ strings: [['env', 'prod']], hasEntity: false, numbers: null })
  })

  it('include those the connector stamps, unless a declared one of that name has a value', () => {
    const stamped = { service: 'stamped', extra: 'e\0', none: '', n: 2, bad: Number.NaN }
    expect(resolve(labels, { svc: 'cart' }, stamped)).toEqual({
      strings: [
        ['service', 'cart'],
        ['env', 'prod'],
        ['extra', 'e\ufffd'],
      ],
      hasEntity: true,
      numbers: { n: 2 },
    })
    const filled = resolve(labels, {}, stamped)
    expect(filled.strings).toEqual([
      ['service', 'stamped'],
      ['env', 'prod'],
      ['extra', 'e\ufffd'],
    ])
    expect(filled.hasEntity).toBe(true)
    const number: Label[] = [{ name: 'n', field: 'n', type: 'number' }]
    expect(resolve(number, { n: 1 }, { n: 'text' })).toEqual({
      strings: [],
      hasEntity: false,
      numbers: { n: 1 },
    })
  })

  it('have the entity the connector names only where no declared primary one has a value', () => {
    const stamped = { env: 'x', key: 'order-1' }
    expect(resolve(labels, {}, stamped, 'key')).toEqual({
      strings: [
        ['key', 'order-1'],
        ['env', 'prod'],
      ],
      hasEntity: true,
      numbers: null,
    })
    expect(resolve(labels, { svc: 'cart' }, stamped, 'key').strings[0]).toEqual(['service', 'cart'])
    expect(resolve(labels, {}, {}, 'key').hasEntity).toBe(false)
  })

  it('are at most 64, the entity among them', () => {
    const many = Array.from({ length: 64 }, (_, i): Label => ({ name: `l${i}`, const: 'x' }))
    const { strings, hasEntity } = resolve(many, {}, { key: 'order-1' }, 'key')
    expect(strings).toHaveLength(64)
    expect(strings[0]).toEqual(['key', 'order-1'])
    expect(hasEntity).toBe(true)
  })

  it('are read from any payload without an error, never twice by a name, never as unstorable text', () => {
    const all: Label[] = [
      { name: 'a', field: 'a', primary: true },
      { name: 'b', field: 'a.b', pattern: 'x+', replace: '$0' },
      { name: 'c', field: 'c.0', type: 'number', map: { a: '1' } },
    ]
    const compiled = compileLabels(all)
    const payload = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'a.b', '__proto__'), fc.jsonValue())
    fc.assert(
      fc.property(payload, fc.dictionary(fc.constantFrom('a', 'd'), fc.string()), (context, stamped) => {
        const { strings, numbers } = compiled(context, stamped, 'd')
        const names = [...strings.map(([name]) => name), ...Object.keys(numbers ?? {})]
        expect(new Set(names).size).toBe(names.length)
        for (const [, value] of strings) {
          expect(value).not.toContain('\0')
          expect(Buffer.from(value).toString()).toBe(value)
        }
      }),
    )
  })
})

describe('declared labels', () => {
  it.each<[string, Label[], string[]]>([
    [
      'of every kind',
      [
        { name: 'a', const: 1 },
        { name: 'b', field: 'b', primary: true, pattern: '^(x)', replace: '$1' },
      ],
      [],
    ],
    [
      'with a name twice',
      [
        { name: 'a', const: 'x' },
        { name: 'a', field: 'a' },
      ],
      ['labels[1].name repeats a'],
    ],
    [
      'with two primary ones',
      [
        { name: 'a', field: 'a', primary: true },
        { name: 'b', field: 'b', primary: true },
      ],
      ['labels: at most one label is primary'],
    ],
    [
      'with a primary number',
      [{ name: 'a', field: 'a', primary: true, type: 'number' }],
      ['labels[0]: the primary label must be a string'],
    ],
    [
      'with a number that is text',
      [{ name: 'a', const: 'x', type: 'number' }],
      ['labels[0].const must be a number'],
    ],
    [
      'with a constant too long',
      [{ name: 'a', const: 'é'.repeat(513) }],
      ['labels[0].const must have at most 1024 bytes'],
    ],
    ['with a reserved name', [{ name: 'key_value', const: 'x' }], ['labels[0].name key_value is reserved']],
    [
      'with a prototype for a name',
      [{ name: '__proto__', const: 'x' }],
      ['labels[0].name __proto__ is reserved'],
    ],
    [
      'with lookahead',
      [{ name: 'a', field: 'a', pattern: '(?=x)' }],
      ['labels[0].pattern is not supported: invalid or unsupported Perl syntax: `(?=`'],
    ],
    [
      'with a group that is not there',
      [{ name: 'a', field: 'a', pattern: 'x', replace: '$1' }],
      ['labels[0].replace names group 1, which the pattern does not have'],
    ],
    ['with replace alone', [{ name: 'a', field: 'a', replace: 'x' }], ['labels[0].replace needs a pattern']],
  ])('%s are told what is wrong with them', (_what, labels, faults) => {
    expect(validateLabels(labels)).toEqual(faults)
  })

  it('have names of letters, digits and underscores', () => {
    expect(['a', 'A_9', 'x'.repeat(64)].map(isLabelName)).toEqual([true, true, true])
    expect(['', 'a.b', 'a-b', 'é', 'x'.repeat(65), 'key_value'].some(isLabelName)).toBe(false)
  })
})
