/**
 * JSON read as bytes, without parsing it: where strings end, how deep brackets nest, where an array's
 * elements lie. Used before JSON.parse, because a value nested some thousands deep parses but breaks
 * what later reads it, and because only the bytes themselves are lossless.
 */

export const OPEN_LIST = 0x5b
export const NEWLINE = 0x0a

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const CLOSE_LIST = 0x5d
export const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

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
