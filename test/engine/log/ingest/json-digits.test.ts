/** Numbers of JSON keep their digits: two that differ in the payload are never one value. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  compareDecimals,
  exactNumber,
  parseDigits,
  parseForWriting,
} from '../../../../engine/log/ingest/json.ts'

/** JSON numbers of any length: integers, decimals, exponents. */
const integers = fc.oneof(
  fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map(String),
  fc.bigInt({ min: 2n ** 53n - 3n, max: 2n ** 53n + 3n }).map(String),
)
const decimals = fc
  .tuple(integers, fc.stringMatching(/^\d{1,30}$/))
  .map(([whole, rest]) => `${whole}.${rest}`)
const exponents = fc
  .tuple(fc.oneof(integers, decimals), fc.constantFrom('e', 'E'), fc.integer({ min: -420, max: 420 }))
  .map(([digits, e, power]) => `${digits}${e}${power}`)
const numbers = fc.oneof(integers, decimals, exponents)

/** The value of a JSON number as a fraction of integers, worked out apart from the product. */
function fractionOf(text: string): [bigint, bigint] {
  const [mantissa = '', power = '0'] = text.toLowerCase().split('e')
  const [whole = '', rest = ''] = mantissa.split('.')
  const shift = BigInt(power) - BigInt(rest.length)
  const digits = BigInt(whole.replace('-', '') + rest) * (whole.startsWith('-') ? -1n : 1n)
  return shift >= 0n ? [digits * 10n ** shift, 1n] : [digits, 10n ** -shift]
}
const isSame = (a: string, b: string): boolean => {
  const [[n, d], [m, e]] = [fractionOf(a), fractionOf(b)]
  return n * e === m * d
}

describe('digits of the payload: a number of JSON', () => {
  it.each([
    ['12345678901234567890', '12345678901234567890'],
    ['12345678901234567891', '12345678901234567891'],
    ['9007199254740993', '9007199254740993'],
    ['1000000000000000000000', '1000000000000000000000'],
    ['-9223372036854775808', '-9223372036854775808'],
    ['0.12345678901234567891', '0.12345678901234567891'],
    ['0.0000001', '0.0000001'],
    ['1e400', '1e400'],
    ['1e-400', '1e-400'],
    ['9007199254740992', 9_007_199_254_740_992],
    ['0.30000000000000004', 0.30000000000000004],
    ['1.50', 1.5],
    ['1.0', 1],
    ['1e3', 1_000],
    ['-0', -0],
  ])('%s is %j', (text, expected) => {
    expect(exactNumber(text)).toBe(expected)
    expect(parseDigits(`{"a":[${text}]}`)).toEqual({ a: [expected] })
  })

  it('keeps its value, whatever its digits are', () => {
    fc.assert(
      fc.property(numbers, (text) => {
        expect(isSame(String(exactNumber(text)), text)).toBe(true)
      }),
      { numRuns: 2_000 },
    )
  })

  it('is read the same alone and within a text, where a text that looks like one stays text', () => {
    fc.assert(
      fc.property(numbers, fc.string(), (number, other) => {
        const [given, text] = [exactNumber(number), `${number} ${other}`]
        expect(parseDigits(`{"a": ${number}, "b":[${JSON.stringify(text)}, ${number}]}`)).toEqual({
          a: given,
          b: [text, given],
        })
      }),
    )
  })

  it('is a number again where it is written', () => {
    const text = '{"order":12345678901234567890,"name":"12345678901234567890","n":[1e400,0.5]}'
    expect(JSON.stringify(parseForWriting(text))).toBe(text)
  })

  it('is compared by all of its digits', () => {
    fc.assert(
      fc.property(numbers, numbers, (a, b) => {
        if (/e/i.test(a + b)) return
        const [[n, d], [m, e]] = [fractionOf(a), fractionOf(b)]
        const exact = n * e - m * d
        expect(Math.sign(compareDecimals(a, b))).toBe(exact === 0n ? 0 : exact < 0n ? -1 : 1)
      }),
      { numRuns: 2_000 },
    )
    expect(compareDecimals('12345678901234567891', '12345678901234567890')).toBe(1)
  })
})
