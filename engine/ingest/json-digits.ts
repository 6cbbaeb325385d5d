/**
 * JSON parsed so that no number loses a digit. A double holds about 15 digits, so JSON.parse reads
 * 12345678901234567890 and …891 as one number. Here a number that a double cannot give back comes as
 * its text, which labels, filters and templates take as they take any text: equal digits are one
 * value, whether the payload wrote them as a number or in quotes.
 */

/** Up to this many characters a number without an exponent survives the way through a double. */
const SAFE_LENGTH = 15
/** What a text must hold for one of its numbers to be lost; a text that holds it may lose none. */
const MAY_LOSE = /\d[\d.]{15}|\d[eE][+-]?\d{3}|0\.000000/
/** A decimal without an exponent, of a length that costs nothing to compare. */
const PLAIN = /^([+-]?\d{1,400})(?:\.(\d{0,400}))?$/
const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/**
 * A number of JSON as its digits say it.
 * @param digits JSON number text.
 * @returns the number; its text where JavaScript would write another value, or another integer text.
 */
export function exactNumber(digits: string): number | string {
  const number = Number(digits)
  if (digits.length <= SAFE_LENGTH && !/[eE]|0\.000000/.test(digits)) return number
  const written = String(number)
  if (written === digits) return number
  // JavaScript writes an exponent from 1e21 on and below 1e-6; digits without one stay without.
  const isRewritten = written.includes('e') && !/[eE]/.test(digits)
  return !isRewritten && decimalOf(written) === decimalOf(digits) ? number : digits
}

/** The value of a decimal in one spelling: significant digits and the power of ten of the last. */
function decimalOf(text: string): string {
  const match = NUMBER.exec(text)
  if (!match) return text
  const [, whole = '', fraction = '', exponent = '0'] = match
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return '0'
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length)
  return `${text.startsWith('-') ? '-' : ''}${significant}e${power}`
}

/**
 * Compares numbers by all of their digits. Rounding keeps their order, so only those that are one double
 * are looked at closely. @param a, b texts that Number() takes. @returns below 0, 0 or above 0.
 */
export function compareDecimals(a: string, b: string): number {
  const difference = Number(a) - Number(b)
  if (difference !== 0 && !Number.isNaN(difference)) return difference
  const [left, right] = [PLAIN.exec(a.trim()), PLAIN.exec(b.trim())]
  if (!left || !right) return 0
  const places = Math.max(left[2]?.length ?? 0, right[2]?.length ?? 0)
  const scaled = ([, whole, fraction = '']: RegExpExecArray) => BigInt(whole + fraction.padEnd(places, '0'))
  const exact = scaled(left) - scaled(right)
  return exact === 0n ? 0 : exact < 0n ? -1 : 1
}

/** Whether a number of a JSON text may lose digits as JSON.parse reads it; a cheap look. */
export const mayLoseDigits = (text: string): boolean => MAY_LOSE.test(text)

/** The value of a JSON text; a number that would lose digits is their text. @throws SyntaxError */
export const parseDigits = (text: string): unknown =>
  mayLoseDigits(text) ? parseWith(text, (digits) => digits) : JSON.parse(text)

/** The same, to be written as JSON again: there numbers stay numbers. @throws SyntaxError */
export const parseForWriting = (text: string): unknown =>
  mayLoseDigits(text) ? parseWith(text, rawJson) : JSON.parse(text)

/** Whether it is a number of `parseForWriting` that stays as its digits. */
export const isWrittenDigits = (value: unknown): boolean => isRawJson(value)

/** ECMAScript's JSON.parse source text access, which the compiler's library does not know yet. */
type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown
const parse = JSON.parse as (text: string, reviver: Reviver) => unknown
// The types of the compiler's library do not know them yet.
const { rawJSON: rawJson, isRawJSON: isRawJson } = JSON as unknown as {
  rawJSON(digits: string): unknown
  isRawJSON(value: unknown): boolean
}

function parseWith(text: string, kept: (digits: string) => unknown): unknown {
  return parse(text, (_key, value, { source }) => {
    if (typeof value !== 'number' || source === undefined) return value
    const exact = exactNumber(source)
    return typeof exact === 'string' ? kept(exact) : exact
  })
}
