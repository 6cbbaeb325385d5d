/**
 * Lines of one wording told by their bytes, as they are stored: what varies is passed over, and nothing is made a
 * text that is not shown. Two lines with the same skeleton are masked alike (words.ts) whatever varies in them; of a
 * wording there may be several skeletons, each of which is masked once.
 */

import { LOOKED_AT } from './words.ts'

const OTHER = 0
const SPACE = 1
const LETTER = 2
const UNDERSCORE = 3
const DIGIT = 4
/** What only a text tells: colours of terminals, and letters that are not ASCII, of which some are white space. */
const UNTOLD = 5

const KINDS = new Uint8Array(256).map((_, byte) => {
  const letter = String.fromCharCode(byte)
  if (byte > 126 || byte === 27) return UNTOLD
  if (/\s/.test(letter)) return SPACE
  if (/[A-Za-z]/.test(letter)) return LETTER
  if (/\d/.test(letter)) return DIGIT
  return letter === '_' ? UNDERSCORE : OTHER
})
const HEX = new Uint8Array(256).map((_, byte) => Number(/[0-9a-f]/i.test(String.fromCharCode(byte))))

const HASH_SIGN = 35
const COLON = 58
const [MINUS, DOT, COMMA, BLANK] = [45, 46, 44, 32] as const
/** Longest number of a place in code. */
const PLACE_DIGITS = 5
/** From so many letters and digits on they are an id. */
const ID_MIN = 6

/** In lower case. */
const TRACE = Buffer.from('trace')

/* Markers: control bytes that no text has here, since each is white space or written with one before it. */
const NUMBER = 1
const ID = 2
const SHORT = 3
const LONG = 4
/** Before a control byte of the text itself. */
const ITSELF = 5
/** Digits of a word that has letters. */
const DIGITS = 6
/** Added to the length of what is hexadecimal. */
const IS_HEX = 16

interface Entry<T> {
  shape: Uint8Array
  value: T
  /** Of another skeleton with the same hash. */
  next: Entry<T> | null
}

/** Remembered at most: texts that are each worded in their own way must not fill the memory; some 5 MB. */
const MOST = 10_000

export class Skeletons<T> {
  private readonly entries = new Map<number, Entry<T>>()

  constructor(private readonly most = MOST) {}

  /**
   * @param of what the line is by its text, where its skeleton is new or is not told by bytes
   * @returns what the first line of this skeleton was
   */
  get(page: Uint8Array, from: number, to: number, of: () => T): T {
    const length = skeletonOf(page, from, Math.min(to, from + LOOKED_AT))
    if (length < 0) return of()
    const first = this.entries.get(hash) ?? null
    for (let entry = first; entry; entry = entry.next) if (isWritten(entry.shape, length)) return entry.value
    const key = hash
    const value = of()
    if (this.entries.size >= this.most) this.entries.clear()
    this.entries.set(key, { shape: written.slice(0, length), value, next: first })
    return value
  }
}

/** The skeleton that was last made, and its hash; of each byte at most three are written. */
const written = new Uint8Array(3 * LOOKED_AT + 8)
let at = 0
let hash = 0

function put(byte: number): void {
  written[at++] = byte
  hash = Math.imul(hash ^ byte, 16_777_619)
}

function isWritten(shape: Uint8Array, length: number): boolean {
  if (shape.length !== length) return false
  for (let i = 0; i < length; i++) if (shape[i] !== written[i]) return false
  return true
}

/** Writes the skeleton. @returns its length; -1: only the text tells */
export function skeletonOf(page: Uint8Array, from: number, end: number): number {
  at = 0
  hash = -2_128_831_035
  // Where the number of a place in code ends: it is kept.
  let placeEnd = -1
  for (let i = from; i < end; ) {
    const byte = page[i]!
    const kind = KINDS[byte]!
    if (kind === UNTOLD) return -1
    if (kind === SPACE || kind === OTHER) {
      if (kind === OTHER && byte < BLANK) put(ITSELF)
      put(kind === SPACE ? BLANK : byte)
      i++
      continue
    }
    let digits = 0
    let letters = 0
    let hexes = 0
    let j = i
    for (; j < end; j++) {
      const one = page[j]!
      const of = KINDS[one]!
      if (of < LETTER || of > DIGIT) break
      if (of === DIGIT) digits++
      else if (of === LETTER) letters++
      hexes += HEX[one]!
    }
    const length = j - i
    const ahead = length > digits ? placeAhead(page, j, end) : -1
    if (digits === 0 || ahead > 0 || j === placeEnd) for (let k = i; k < j; k++) put(page[k]!)
    else if (digits === length) putMarker(NUMBER, length, hexes)
    else if (length >= ID_MIN && letters > 0 && !(KINDS[byte] === DIGIT && joins(page, i, from))) {
      if (hexes < length && namesTrace(page, i, j)) return -1
      putMarker(ID, length, hexes)
    } else {
      putMarker(length < ID_MIN ? SHORT : LONG, length, hexes)
      putLetters(page, i, j)
    }
    placeEnd = ahead
    i = j
  }
  return at
}

/** Whether an id has the word trace in it: what is masked must not hide that a line names a request. */
function namesTrace(page: Uint8Array, from: number, to: number): boolean {
  next: for (let i = from; i <= to - TRACE.length; i++) {
    for (let k = 0; k < TRACE.length; k++) if ((page[i + k]! | 32) !== TRACE[k]) continue next
    return true
  }
  return false
}

/** Whether a number that begins here may be one with what is before it. */
function joins(page: Uint8Array, i: number, from: number): boolean {
  if (i === from) return false
  const before = page[i - 1]!
  return before === MINUS || before === DOT || before === COMMA
}

/** @param j after a name. @returns where the number of a place in code ends, as `main.go:12` has one; -1: there is none */
function placeAhead(page: Uint8Array, j: number, end: number): number {
  if (j >= end || (page[j] !== HASH_SIGN && page[j] !== COLON)) return -1
  let k = j + 1
  while (k < end && KINDS[page[k]!] === DIGIT) k++
  const digits = k - j - 1
  if (digits === 0 || digits > PLACE_DIGITS) return -1
  if (k === end) return k
  const after = KINDS[page[k]!]!
  if (after === LETTER || after === UNDERSCORE) return -1
  const goesOn = page[k] === COLON || page[k] === DOT
  return goesOn && k + 1 < end && KINDS[page[k + 1]!] === DIGIT ? -1 : k
}

/** Of a length it is told what tells ids of several parts apart: up to 3, 7, 8, 11, and more. */
function putMarker(marker: number, length: number, hexes: number): void {
  const size = length < 4 ? 1 : length < 8 ? 2 : length === 8 ? 3 : length < 12 ? 4 : 5
  put(marker)
  put(size + (hexes === length ? IS_HEX : 0))
}

function putLetters(page: Uint8Array, from: number, to: number): void {
  let wasDigit = false
  for (let i = from; i < to; i++) {
    const isDigit = KINDS[page[i]!] === DIGIT
    if (!isDigit) put(page[i]!)
    else if (!wasDigit) put(DIGITS)
    wasDigit = isDigit
  }
}
