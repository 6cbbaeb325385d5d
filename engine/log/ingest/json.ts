/**
 * JSON read as bytes, without parsing it: where strings end, how deep brackets nest, where an array's
 * elements lie. Used before JSON.parse, because a value nested some thousands deep parses but breaks
 * what later reads it, and because only the bytes themselves are lossless.
 */

import { isUtf8 } from 'node:buffer'

export const OPEN_LIST = 0x5b
export const NEWLINE = 0x0a

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const CLOSE_LIST = 0x5d
export const OPEN_OBJECT = 0x7b
export const CLOSE_OBJECT = 0x7d

/** Start (inclusive) and end (exclusive) of some bytes. */
export type Range = [start: number, end: number]

/** Space as JSON knows it (RFC 8259, section 2). */
export const isSpace = (byte: number): boolean =>
  byte === 0x20 || byte === NEWLINE || byte === 0x0d || byte === 0x09

/** The range without the space around; empty where there is nothing else. */
export function trim(bytes: Buffer, from: number, to: number): Range {
  let start = from
  let end = to
  while (start < end && isSpace(bytes[start]!)) start++
  while (end > start && isSpace(bytes[end - 1]!)) end--
  return [start, end]
}

/** Index of the quote that ends the string begun at `start`, or -1. */
function closingQuote(bytes: Buffer, start: number, end: number): number {
  for (let i = bytes.indexOf(QUOTE, start + 1); i !== -1 && i < end; i = bytes.indexOf(QUOTE, i + 1)) {
    let slashes = 0
    while (bytes[i - 1 - slashes] === BACKSLASH) slashes++
    if (slashes % 2 === 0) return i
  }
  return -1
}

/**
 * Elements of the array that begins at `start`, or null when its brackets do not close at `end`, so
 * that the whole is not one array. Whether each element is JSON is for JSON.parse to say.
 * @param most ranges returned; elements past it are only counted, in `count`.
 * @returns also how deep the deepest element nests.
 */
export function arrayElements(
  bytes: Buffer,
  [start, end]: Range,
  most: number,
): { ranges: Range[]; count: number; depth: number } | null {
  const ranges: Range[] = []
  let count = 0
  let depth = 0
  let deepest = 0
  let elementStart = start + 1
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!
    if (byte === QUOTE) {
      i = closingQuote(bytes, i, end)
      if (i === -1) return null
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      if (++depth > deepest) deepest = depth
    } else if (byte === COMMA && depth === 1) {
      if (++count <= most) ranges.push(trim(bytes, elementStart, i))
      elementStart = i + 1
    } else if ((byte === CLOSE_LIST || byte === CLOSE_OBJECT) && --depth === 0) {
      if (i !== end - 1 || byte !== CLOSE_LIST) return null
      const last = trim(bytes, elementStart, i)
      if ((last[0] < last[1] || count > 0) && ++count <= most) ranges.push(last)
      return { ranges, count, depth: deepest - 1 }
    }
  }
  return null
}

/**
 * Where the values of keys lie in the object that begins at the start of `range`; of a repeated key the last, as
 * JSON.parse takes it. The bytes must be JSON. Keys that are not there are left out, and so are all of what is no
 * object.
 */
export function memberRanges(
  bytes: Buffer,
  [start, end]: Range,
  keys: readonly string[],
): ReadonlyMap<string, Range> {
  const found = new Map<string, Range>()
  if (bytes[start] !== OPEN_OBJECT) return found
  const wanted = new Set(keys)
  let depth = 0
  let name: string | null = null
  let from = start + 1
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!
    if (byte === QUOTE) {
      const close = closingQuote(bytes, i, end)
      if (close === -1) return new Map()
      if (depth === 1 && name === null) name = JSON.parse(bytes.toString('utf8', i, close + 1)) as string
      i = close
    } else if (byte === COLON && depth === 1) from = i + 1
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth++
    else if ((byte === COMMA && depth === 1) || byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      if (byte !== COMMA) depth--
      if (depth > 1 || (depth === 1 && byte !== COMMA)) continue
      if (name !== null && wanted.has(name)) found.set(name, trim(bytes, from, i))
      name = null
    }
  }
  return found
}

/**
 * Whether a document goes on after this line: a bracket of it is still open and the line ends where
 * something must follow, as the lines of a pretty-printed document do. A line cut short ends anywhere.
 */
export function goesOn(bytes: Buffer, [start, end]: Range): boolean {
  if (start === end) return false
  const last = bytes[end - 1]
  if (last !== OPEN_LIST && last !== OPEN_OBJECT && last !== COMMA && last !== COLON) return false
  let depth = 0
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!
    if (byte === QUOTE) {
      i = closingQuote(bytes, i, end)
      if (i === -1) return false
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth++
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth--
  }
  return depth > 0
}

/**
 * Objects that follow one another with nothing but space between them, as Splunk's senders and jq write them.
 * @param most that are looked for; where there are more, there is one more in the answer.
 * @returns where they lie, the last to the end where it does not close; null where there are not several, or there is more.
 */
export function objectRanges(bytes: Buffer, [start, end]: Range, most: number): Range[] | null {
  const ranges: Range[] = []
  let depth = 0
  let from = start
  for (let i = start; i < end && ranges.length <= most; i++) {
    const byte = bytes[i]!
    if (depth === 0) {
      if (isSpace(byte)) continue
      if (byte !== OPEN_OBJECT) return null
      from = i
      depth = 1
    } else if (byte === QUOTE) {
      i = closingQuote(bytes, i, end)
      if (i === -1) break
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth++
    else if ((byte === CLOSE_LIST || byte === CLOSE_OBJECT) && --depth === 0) ranges.push([from, i + 1])
  }
  if (depth > 0 && ranges.length <= most) ranges.push([from, end])
  return ranges.length > 1 ? ranges : null
}

/** Whether brackets outside strings nest deeper than `most`. */
export function isDeeper(bytes: Buffer, [start, end]: Range, most: number): boolean {
  // Too short to open and close that many.
  if (end - start <= 2 * most) return false
  // Without that many brackets at all there is nothing to count: one cheap pass for nearly all items.
  let brackets = 0
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!
    if (byte === OPEN_LIST || byte === OPEN_OBJECT) brackets++
  }
  if (brackets <= most) return false
  let depth = 0
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!
    if (byte === QUOTE) {
      i = closingQuote(bytes, i, end)
      if (i === -1) return false
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      if (++depth > most) return true
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth--
  }
  return false
}

/*
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

/*
 * JSON inside a string, as senders wrap what others gave them: the `Message` of Amazon SNS, a log line. A path that
 * goes on behind such a string goes on in what it says. Bounded, since a payload decides how often: a text is at
 * most as long as an item, nests at most as deep, and holds others at most three levels within each other.
 */

const BYTES_MAX = 1_048_576
const DEPTH_MAX = 100
/** Strings within strings that are looked into. */
export const TEXT_LEVELS = 3

/** Whether a string may be a list or an object of JSON; a cheap look. */
const LOOKS_NESTED = /^[ \t\r\n]*[[{]/
/** The same in base64, or base64url (RFC 4648), as Google Pub/Sub, Amazon Kinesis and Firehose put messages into theirs. */
const LOOKS_ENCODED = /^(?:e[w-z0-9]|W[w-z0-9])[A-Za-z0-9+/_-]{6,}={0,2}$/

/** @returns the document that the text is in base64, else the text itself. */
export function decodedText(text: string): string {
  if (text.length > 2 * BYTES_MAX || !LOOKS_ENCODED.test(text)) return text
  const decoded = Buffer.from(text, 'base64')
  return isUtf8(decoded) ? decoded.toString() : text
}

/** @returns the object or list that the text is, plain or in base64, or undefined where it is none, or breaks a bound. */
export function parseText(given: string): object | undefined {
  const text = decodedText(given)
  // Few characters of a text are more than one byte: what is short in characters need not be counted.
  if (!LOOKS_NESTED.test(text) || text.length > BYTES_MAX || isTooDeep(text)) return undefined
  try {
    const value = parseDigits(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function isTooDeep(text: string): boolean {
  if (text.length <= 2 * DEPTH_MAX) return false
  const bytes = Buffer.from(text)
  return bytes.length > BYTES_MAX || isDeeper(bytes, [0, bytes.length], DEPTH_MAX)
}

/*
 * Where a text stops being JSON (RFC 8259). JSON.parse says it only sometimes, and quotes the
 * content, which may be a secret. Used on the error path alone.
 */

const SPACE = /[ \t\r\n]*/y
const PUNCTUATION = '{}[],:'
const LITERAL = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
// Printable text at a stretch, so that a long string costs few steps.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters end a JSON string.
const STRING = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y

type Expected = 'value' | 'value or ]' | 'name' | 'name or }' | 'colon' | 'comma or end'

/**
 * @param text what JSON.parse refused.
 * @returns index of the first token that cannot stand there; the text's length where it ends too soon.
 */
export function faultAt(text: string): number {
  const open: string[] = []
  let expected: Expected = 'value'
  let at = skip(SPACE, text, 0)
  while (at < text.length) {
    const end = tokenEnd(text, at)
    const next: Expected | null = end === at ? null : step(expected, text[at]!, open)
    if (next === null) return at
    expected = next
    at = skip(SPACE, text, end)
  }
  return at
}

/** What senders get wrong most: what Python writes of numbers that are none, and values without a line end between them. @param at the fault. */
export function hintAt(text: string, at: number): string {
  const number = /^-?(?:NaN|Infinity)/.exec(text.slice(at, at + 10))?.[0]
  if (number !== undefined) return `: ${number} is no JSON; send null`
  const isNext = /[{[]/.test(text[at] ?? '') && /[}\]]\s*$/.test(text.slice(Math.max(0, at - 10), at))
  return isNext
    ? '; one value follows another: put a line end between them (curl has --data-binary for it)'
    : ''
}

/** Index after the token at `at`; `at` itself when none begins there. */
function tokenEnd(text: string, at: number): number {
  const first = text[at]!
  if (PUNCTUATION.includes(first)) return at + 1
  return skip(first === '"' ? STRING : LITERAL, text, at)
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

/** What may follow a token, told by its first character; null where the token cannot stand. */
function step(expected: Expected, token: string, open: string[]): Expected | null {
  if (expected === 'colon') return token === ':' ? 'value' : null
  if (expected === 'comma or end') {
    if (token === ',' && open.length > 0) return open.at(-1) === '{' ? 'name' : 'value'
    return close(token, open)
  }
  if (expected === 'name' || expected === 'name or }') {
    if (token === '"') return 'colon'
    return expected === 'name or }' ? close(token, open) : null
  }
  if (token === '{' || token === '[') {
    open.push(token)
    return token === '{' ? 'name or }' : 'value or ]'
  }
  if (expected === 'value or ]' && token === ']') return close(token, open)
  return PUNCTUATION.includes(token) ? null : 'comma or end'
}

function close(token: string, open: string[]): Expected | null {
  if (token !== (open.at(-1) === '{' ? '}' : ']') || open.length === 0) return null
  open.pop()
  return 'comma or end'
}
