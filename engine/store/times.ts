/**
 * Event times of a sealed segment as bytes: an 8-byte base and 65,536 u32 milliseconds above it.
 * Offsets without an event hold the largest u32. Times further than 49 days above the base (a
 * segment that mixes live events with a back-fill) do not fit; then all are stored as f64.
 */
import { SEGMENT_SIZE } from './posting.ts'

const NONE = 0xffff_ffff
const NARROW_BYTES = 8 + SEGMENT_SIZE * 4

/** Times by offset. `at` gives NaN where there is no event. */
export interface Times {
  at(offset: number): number
}

/** @param ts epoch ms by offset, NaN where there is no event. */
export function encodeTimes(ts: Float64Array): Uint8Array {
  let base = Number.POSITIVE_INFINITY
  let top = Number.NEGATIVE_INFINITY
  for (const t of ts) {
    if (t < base) base = t
    if (t > top) top = t
  }
  if (top - base >= NONE) return new Uint8Array(ts.slice().buffer)
  const bytes = new Uint8Array(NARROW_BYTES)
  new DataView(bytes.buffer).setFloat64(0, base, true)
  const above = new Uint32Array(bytes.buffer, 8)
  for (let i = 0; i < SEGMENT_SIZE; i++) above[i] = Number.isNaN(ts[i]!) ? NONE : ts[i]! - base
  return bytes
}

/** Reads what encodeTimes wrote. */
export function decodeTimes(stored: Uint8Array): Times {
  const bytes = new Uint8Array(stored)
  if (bytes.length !== NARROW_BYTES) {
    const wide = new Float64Array(bytes.buffer)
    return { at: (offset) => wide[offset]! }
  }
  const base = new DataView(bytes.buffer).getFloat64(0, true)
  const above = new Uint32Array(bytes.buffer, 8)
  return {
    at: (offset) => {
      const value = above[offset]!
      return value === NONE ? Number.NaN : base + value
    },
  }
}
