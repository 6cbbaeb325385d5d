/** One item: where the values of the wanted fields lie, and what they say. */
import { fieldOf } from './plan'
import {
  CLOSE_OBJECT,
  COLON,
  COMMA,
  closingQuote,
  DOT,
  escaped,
  isDigit,
  MINUS,
  OPEN_LIST,
  OPEN_OBJECT,
  pastValue,
  QUOTE,
  skipSpace,
  ZERO,
} from './scan'

const DIGITS_MAX: i32 = 15
/** An object itself is the first of the 100 levels a value may nest. */
const LEVELS: i32 = 99

/** Of each field (64 at most): where its value begins and ends, and the item it is of. */
const found: usize = memory.data(64 * 16)
/** Goes up by one with each item, so that what an item before had is not taken for its own. */
let stamp: u32 = 0

/** Past the object at `start`, its wanted fields noted; 0 where it is not plain to see. */
export function readItem(start: usize): usize {
  if (load<u8>(start) !== OPEN_OBJECT) return 0
  stamp++
  let p = skipSpace(start + 1)
  if (load<u8>(p) === CLOSE_OBJECT) return p + 1
  while (true) {
    if (load<u8>(p) !== QUOTE) return 0
    const name = p + 1
    const close = closingQuote(name)
    if (close === 0 || escaped) return 0
    const field = fieldOf(name, close - name)
    p = skipSpace(close + 1)
    if (load<u8>(p) !== COLON) return 0
    const value = skipSpace(p + 1)
    p = pastValue(value, LEVELS)
    if (p === 0) return 0
    if (field >= 0) {
      // Text with an escape differs from its bytes.
      if (load<u8>(value) === QUOTE && escaped) return 0
      const slot = found + ((<usize>field) << 4)
      store<u32>(slot, <u32>value)
      store<u32>(slot, <u32>p, 4)
      store<u32>(slot, stamp, 8)
    }
    p = skipSpace(p)
    const next = load<u8>(p)
    if (next === CLOSE_OBJECT) return p + 1
    if (next !== COMMA) return 0
    p = skipSpace(p + 1)
  }
}

// The text of the value asked about last.
export let valueAt: usize = 0
export let valueSize: usize = 0

/** The item does not have it, or it is null. */
export const ABSENT: u32 = 0
/** An object or a list. */
const NESTED: u32 = 1
/** A number whose text JavaScript may write otherwise. */
export const OTHERWISE: u32 = 2
export const PLAIN: u32 = 3

/** Looks at a field of the item; PLAIN sets `valueAt` and `valueSize` to its text. */
export function look(field: i32): u32 {
  const slot = found + ((<usize>field) << 4)
  if (load<u32>(slot, 8) !== stamp) return ABSENT
  const start = <usize>load<u32>(slot)
  const stop = <usize>load<u32>(slot, 4)
  const first = load<u8>(start)
  if (first === QUOTE) {
    valueAt = start + 1
    valueSize = stop - start - 2
    return PLAIN
  }
  if (first === OPEN_OBJECT || first === OPEN_LIST) return NESTED
  if (first === 0x6e) return ABSENT
  valueAt = start
  valueSize = stop - start
  if (isDigit(first) || first === MINUS) return isCanonical(start, stop) ? PLAIN : OTHERWISE
  return PLAIN
}

/**
 * Whether this number is written as it stands here (ingest/json.ts): an integer with all its digits; of a
 * fraction up to 15 survive the way through a double, and zeros at its end are left out.
 */
function isCanonical(start: usize, stop: usize): bool {
  const first = load<u8>(start) === MINUS ? start + 1 : start
  let dot: usize = 0
  for (let p = first; p < stop; p++) if (load<u8>(p) === DOT) dot = p
  const digits = <i32>(stop - first) - (dot === 0 ? 0 : 1)
  if (dot === 0) return first === start || load<u8>(first) !== ZERO
  if (digits > DIGITS_MAX) return false
  if (load<u8>(stop - 1) === ZERO) return false
  if (load<u8>(first) !== ZERO) return true
  for (let p = dot + 1; p < stop && p <= dot + 6; p++) if (load<u8>(p) !== ZERO) return true
  return false
}

/** Where the value of a field begins; 0 where the item has none. */
export function fieldStart(field: i32): usize {
  const slot = found + ((<usize>field) << 4)
  return load<u32>(slot, 8) === stamp ? <usize>load<u32>(slot) : 0
}

/** Where it ends. */
export function fieldStop(field: i32): usize {
  return load<u32>(found + ((<usize>field) << 4), 4)
}
