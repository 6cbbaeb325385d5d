/**
 * JSON of one line read as bytes. A position of 0 stands for what is not JSON, or not plain to see.
 * Past the last byte there are zeros: a byte that ends every token, so that no end is checked.
 */

export const QUOTE: u8 = 0x22
export const BACKSLASH: u8 = 0x5c
export const COMMA: u8 = 0x2c
export const COLON: u8 = 0x3a
export const MINUS: u8 = 0x2d
export const DOT: u8 = 0x2e
export const ZERO: u8 = 0x30
export const NEWLINE: u8 = 0x0a
export const OPEN_OBJECT: u8 = 0x7b
export const CLOSE_OBJECT: u8 = 0x7d
export const OPEN_LIST: u8 = 0x5b
export const CLOSE_LIST: u8 = 0x5d

/** Whether the string read last holds an escape. */
export let escaped: bool = false

export function isDigit(byte: u8): bool {
  return <u8>(byte - ZERO) < 10
}

/** Space within a line: a line break ends it. */
export function skipSpace(from: usize): usize {
  let p = from
  let byte = load<u8>(p)
  while (byte === 0x20 || byte === 0x09 || byte === 0x0d) byte = load<u8>(++p)
  return p
}

/** The closing quote of the string whose first byte is at `from`. */
export function closingQuote(from: usize): usize {
  let p = from
  escaped = false
  while (true) {
    const bytes = v128.load(p)
    const found = i8x16.bitmask(
      v128.or(
        v128.or(i8x16.eq(bytes, i8x16.splat(QUOTE)), i8x16.eq(bytes, i8x16.splat(BACKSLASH))),
        i8x16.lt_u(bytes, i8x16.splat(0x20)),
      ),
    )
    if (found === 0) {
      p += 16
      continue
    }
    p += <usize>ctz(found)
    const byte = load<u8>(p)
    if (byte === QUOTE) return p
    if (byte !== BACKSLASH) return 0
    p = pastEscape(p)
    if (p === 0) return 0
    escaped = true
  }
}

function pastEscape(slash: usize): usize {
  const byte = load<u8>(slash + 1)
  if (byte === 0x75) {
    for (let i = 2; i < 6; i++) if (!isHex(load<u8>(slash + i))) return 0
    return slash + 6
  }
  const isKnown =
    byte === QUOTE ||
    byte === BACKSLASH ||
    byte === 0x2f ||
    byte === 0x62 ||
    byte === 0x66 ||
    byte === 0x6e ||
    byte === 0x72 ||
    byte === 0x74
  return isKnown ? slash + 2 : 0
}

function isHex(byte: u8): bool {
  const lower = byte | 0x20
  return isDigit(byte) || (lower >= 0x61 && lower <= 0x66)
}

/** Past the value at `start`. @param levels brackets it may open. */
export function pastValue(start: usize, levels: i32): usize {
  const first = load<u8>(start)
  if (first === QUOTE) {
    const close = closingQuote(start + 1)
    return close === 0 ? 0 : close + 1
  }
  if (first === OPEN_OBJECT) return levels > 0 ? pastObject(start, levels) : 0
  if (first === OPEN_LIST) return levels > 0 ? pastList(start, levels) : 0
  if (isDigit(first) || first === MINUS) return pastNumber(start)
  return pastWord(start)
}

function pastObject(start: usize, levels: i32): usize {
  let p = skipSpace(start + 1)
  if (load<u8>(p) === CLOSE_OBJECT) return p + 1
  while (true) {
    if (load<u8>(p) !== QUOTE) return 0
    p = closingQuote(p + 1)
    if (p === 0) return 0
    p = skipSpace(p + 1)
    if (load<u8>(p) !== COLON) return 0
    p = pastValue(skipSpace(p + 1), levels - 1)
    if (p === 0) return 0
    p = skipSpace(p)
    const next = load<u8>(p)
    if (next === CLOSE_OBJECT) return p + 1
    if (next !== COMMA) return 0
    p = skipSpace(p + 1)
  }
}

function pastList(start: usize, levels: i32): usize {
  let p = skipSpace(start + 1)
  if (load<u8>(p) === CLOSE_LIST) return p + 1
  while (true) {
    p = pastValue(p, levels - 1)
    if (p === 0) return 0
    p = skipSpace(p)
    const next = load<u8>(p)
    if (next === CLOSE_LIST) return p + 1
    if (next !== COMMA) return 0
    p = skipSpace(p + 1)
  }
}

/** Numbers with an exponent are rare enough for JSON.parse. */
function pastNumber(start: usize): usize {
  let p = load<u8>(start) === MINUS ? start + 1 : start
  if (load<u8>(p) === ZERO) p++
  else {
    const digits = p
    while (isDigit(load<u8>(p))) p++
    if (p === digits) return 0
  }
  if (load<u8>(p) === DOT) {
    const digits = ++p
    while (isDigit(load<u8>(p))) p++
    if (p === digits) return 0
  }
  const next = load<u8>(p) | 0x20
  return next === 0x65 ? 0 : p
}

/** true, false or null. */
function pastWord(start: usize): usize {
  const word = load<u32>(start)
  if (word === 0x65757274 || word === 0x6c6c756e) return start + 4
  return word === 0x736c6166 && load<u8>(start + 4) === 0x65 ? start + 5 : 0
}
