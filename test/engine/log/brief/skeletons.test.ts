/** Lines told by their bytes: never two wordings as one, and mostly one wording as one. */
import { describe, expect, it } from 'vitest'
import { randomOf } from '../../../../engine/agents/evals/incident.ts'
import { Skeletons, skeletonOf } from '../../../../engine/log/brief/skeletons.ts'
import { Masker } from '../../../../engine/log/brief/words.ts'

const masked = (text: string): string => new Masker().words(text).join(' ')

/** A class for each skeleton, as templates ask for it. */
function classes() {
  const skeletons = new Skeletons<string>()
  return (text: string): string => {
    const bytes = Buffer.from(`before ${text} after`)
    return skeletons.get(bytes, 7, bytes.length - 6, masked, text)
  }
}

describe('a line', () => {
  // Whatever the masker treats in its own way: ids in parts, places in code, decimals, quotes, mail addresses.
  const PARTS = [
    ...['a', 'f', 'g', 'Z', '_', '1', '22', '333', '4444', '5678', '666666', '12345678', '123456789'],
    ...[
      'deadbeef',
      '1234beef',
      '1234bexf',
      'abc123',
      '9abcdef',
      '9abcde',
      '9abcd',
      'p9',
      'p99',
      'x-1',
      'x-5',
    ],
    ...[
      '-',
      '.',
      ',',
      ':',
      '#',
      '@',
      '"',
      ' ',
      '  ',
      '\t',
      '/',
      '=',
      '\u0001',
      '\u0005',
      'é',
      '→',
      '—',
      '日',
      '\u00a0',
      '\u2003',
      '\u3000',
      '\ufeff',
      '\u001b[3m',
    ],
  ]

  it('is never of the class of one that is masked otherwise', () => {
    const random = randomOf('skeletons')
    const oneOf = (list: readonly string[]): string => list[Math.floor(random() * list.length)]!
    const many = (count: number, make: () => string): string[] => Array.from({ length: count }, make)
    for (let round = 0; round < 3_000; round++) {
      // Few parts, so that texts come close to one another.
      const few = many(5, () => oneOf(PARTS))
      const classOf = classes()
      for (const text of many(30, () => many(1 + Math.floor(random() * 4), () => oneOf(few)).join('')))
        if (classOf(text) !== masked(text)) expect.fail(`${JSON.stringify(text)} is of ${classOf(text)}`)
    }
  })

  it.each([
    ['places in code', 'cart.go:88', 'cart.go:89'],
    ['ids in parts', '1234beef-5678', '1234bexf-5678'],
    ['ids and numbers', 'x-12345678-1234', 'x-1234567-1234'],
    ['words with digits by their length', '.9abcd', '.99abcd'],
    ['what a decimal eats of an id', '1.5abcdef', '1.5ghijkl'],
    ['control bytes and what stands for numbers', '7', '\u0001\u0011'],
  ])('tells %s apart', (_, one, other) => {
    expect(masked(one)).not.toBe(masked(other))
    const classOf = classes()
    expect([classOf(one), classOf(other)]).toEqual([masked(one), masked(other)])
  })

  it('that may name a request is of no class of those that do not, though both are ids', () => {
    const tells = (text: string): boolean => {
      const bytes = Buffer.from(text)
      return skeletonOf(bytes, 0, bytes.length) >= 0
    }
    expect(['x1trace_id=5', 'X9TRACE id: 5'].map(tells)).toEqual([false, false])
    expect(['x1graze_id=5', 'trace_id=5', 'deadbeef12'].map(tells)).toEqual([true, true, true])
  })

  it('that is longer than is looked at is told by its beginning, as the masker does', () => {
    const classOf = classes()
    const long = 'word '.repeat(79)
    for (const end of ['1234567890', '12345678-1234', 'name:12345', 'abc123'])
      expect(classOf(`${long}${end}`)).toBe(masked(`${long}${end}`))
  })

  it('of a wording is of its class whatever ids, numbers, times and addresses are in it', () => {
    const skeletons = new Skeletons<number>()
    let made = 0
    for (let i = 0; i < 500; i++) {
      const id = (i * 2_654_435_761).toString(16).padStart(16, 'a7')
      const text = `12:${10 + (i % 50)}:${10 + (i % 49)}.${100 + i} [TraceID: ${id} SpanID: ${id.slice(0, 12)}] Cart.go:88 order ${10_000 + i} took ${i % 9}.${10 + (i % 80)}ms of 10.0.${i % 256}.7`
      const bytes = Buffer.from(text)
      skeletons.get(bytes, 0, bytes.length, () => made++, text)
    }
    // Lengths of numbers, and ids that begin with a digit or not, make some more than one.
    expect(made).toBeLessThan(25)
  })

  it('is forgotten where there are too many, and made again', () => {
    const skeletons = new Skeletons<string>(2)
    let made = 0
    const tell = (text: string) => {
      const bytes = Buffer.from(text)
      return skeletons.get(bytes, 0, bytes.length, (line) => `${line} ${made++}`, text)
    }
    expect([tell('one'), tell('one'), tell('two'), tell('two')]).toEqual(['one 0', 'one 0', 'two 1', 'two 1'])
    expect([tell('three'), tell('three'), tell('one')]).toEqual(['three 2', 'three 2', 'one 3'])
  })

  it('with colours or white space that is not ASCII is told by its text alone, one with other letters is not', () => {
    const tells = (text: string): boolean => {
      const bytes = Buffer.from(text)
      return skeletonOf(bytes, 0, bytes.length) >= 0
    }
    const blanks = Array.from({ length: 0x1_0000 }, (_, code) => String.fromCharCode(code)).filter(
      (letter) => letter > '\u007f' && /\s/.test(letter),
    )
    expect(blanks.length).toBeGreaterThan(15)
    for (const blank of ['\u001b[31mred', ...blanks])
      expect([blank, tells(`a${blank}b`)]).toEqual([blank, false])
    for (const letter of ['naïve', 'a → b', '日本', '😀'])
      expect([letter, tells(letter)]).toEqual([letter, true])
  })

  it('that is longer than is looked at in bytes and not in letters is told by its text', () => {
    const classOf = classes()
    const wide = 'ä'.repeat(250)
    for (const end of [' one', ' two']) expect(classOf(`${wide}${end}`)).toBe(masked(`${wide}${end}`))
  })
})
