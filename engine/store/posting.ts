/**
 * Postings: which of a segment's 65,536 offsets carry a label. Up to 4,096 offsets they are a
 * sorted u16 list, above that an 8 KiB bitmap, whichever is smaller (the array and bitmap
 * containers of Roaring bitmaps, Chambi et al. 2016). The byte length tells which: a bitmap is
 * exactly 8,192 bytes, and a list of 4,096 is never written as a list.
 */
export const SEGMENT_SIZE = 65_536
const BITMAP_BYTES = SEGMENT_SIZE / 8
const LIST_MAX = 4_095

/** Offsets of one label in one segment. */
export type Posting =
  | { list: Uint16Array; bits?: undefined }
  | { list?: undefined; bits: Uint8Array; n: number }

/** The segment an event id belongs to. */
export const segmentOf = (id: number): number => Math.floor(id / SEGMENT_SIZE)
/** Offset of an event id in its segment. */
export const offsetOf = (id: number): number => id % SEGMENT_SIZE

/** Number of offsets in a posting. */
export function sizeOf(posting: Posting): number {
  return posting.bits ? posting.n : posting.list.length
}

/** Bytes to store. @param offsets ascending, without repeats. */
export function encodePosting(offsets: Uint16Array): Uint8Array {
  // A view: the caller copies it into its block. Platforms of Node are little-endian.
  if (offsets.length <= LIST_MAX)
    return new Uint8Array(offsets.buffer, offsets.byteOffset, offsets.byteLength)
  const bits = new Uint8Array(BITMAP_BYTES)
  for (let i = 0; i < offsets.length; i++) {
    const offset = offsets[i]!
    bits[offset >> 3]! |= 1 << (offset & 7)
  }
  return bits
}

/** Reads what encodePosting wrote. @param n number of offsets, from the row. */
export function decodePosting(bytes: Uint8Array, n: number): Posting {
  if (bytes.length === BITMAP_BYTES) return { bits: bytes, n }
  // A copy, because a u16 view needs an even byte offset and the row's buffer promises none;
  // not by slice(), which on a Buffer gives a view.
  const copy = new Uint8Array(bytes)
  return { list: new Uint16Array(copy.buffer, 0, copy.length >> 1) }
}

/** True when the posting holds the offset. */
export function has(posting: Posting, offset: number): boolean {
  if (posting.bits) return (posting.bits[offset >> 3]! & (1 << (offset & 7))) !== 0
  const list = posting.list
  let low = 0
  let high = list.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const value = list[middle]!
    if (value === offset) return true
    if (value < offset) low = middle + 1
    else high = middle - 1
  }
  return false
}

/** All offsets, ascending. */
export function offsetsOf(posting: Posting): Uint16Array {
  if (!posting.bits) return posting.list
  const out = new Uint16Array(posting.n)
  let at = 0
  for (let byte = 0; byte < posting.bits.length; byte++) {
    const value = posting.bits[byte]!
    if (value === 0) continue
    for (let bit = 0; bit < 8; bit++) if (value & (1 << bit)) out[at++] = byte * 8 + bit
  }
  return out
}

/** Offsets in any of the postings, ascending. */
export function union(postings: readonly Posting[]): Posting {
  if (postings.length === 1) return postings[0]!
  const bits = new Uint8Array(BITMAP_BYTES)
  for (const posting of postings) {
    if (posting.bits) for (let i = 0; i < BITMAP_BYTES; i++) bits[i]! |= posting.bits[i]!
    else for (const offset of posting.list) bits[offset >> 3]! |= 1 << (offset & 7)
  }
  let n = 0
  for (let i = 0; i < BITMAP_BYTES; i++) n += POPCOUNT[bits[i]!]!
  return { bits, n }
}

const POPCOUNT = Uint8Array.from({ length: 256 }, (_, byte) => {
  let n = 0
  for (let bit = byte; bit; bit &= bit - 1) n++
  return n
})

/** A list of offsets that grows at its end. */
export class GrowingList {
  private items: Uint16Array = new Uint16Array(4)
  length = 0

  /** Appends an offset larger than all before it. */
  push(offset: number): void {
    if (this.length === this.items.length) {
      const larger = new Uint16Array(this.items.length * 2)
      larger.set(this.items)
      this.items = larger
    }
    this.items[this.length++] = offset
  }

  /** The offsets so far; valid until the next push or remove. */
  view(): Uint16Array {
    return this.items.subarray(0, this.length)
  }

  last(): number {
    return this.items[this.length - 1]!
  }

  /** Drops the offsets for which `gone` says so. */
  remove(gone: (offset: number) => boolean): void {
    let kept = 0
    for (let i = 0; i < this.length; i++) {
      const offset = this.items[i]!
      if (!gone(offset)) this.items[kept++] = offset
    }
    this.length = kept
  }
}
