/**
 * Lines of one wording told by their bytes, as they are stored: what varies is passed over, and nothing is made a
 * text that is not shown. Two lines with the same skeleton are masked alike (words.ts) whatever varies in them; of a
 * wording there may be several skeletons, each of which is masked once.
 *
 * Templates are lines by wording. Every line is masked once and joins a class of equal lines; a class joins the template
 * whose words agree with its own in enough of their weight, as in Drain (He et al. 2017), where rare words
 * weigh more: half-equal prefixes such as TraceID and SpanID must not merge lines of nine places in code.
 */

import {
  type ContextRow,
  type Kind,
  type LineClass,
  mapAt,
  type Template,
  type Timed,
  valueAt,
  type Wording,
  type Wordings,
} from './types.ts'
import { ANY, LOOKED_AT, Masker } from './words.ts'

const OTHER = 0
const SPACE = 1
const LETTER = 2
const UNDERSCORE = 3
const DIGIT = 4
/** Letters that are not ASCII, of which some are white space. */
const FOREIGN = 5
/** What only a text tells: colours of terminals. */
const UNTOLD = 6
/** Of each byte of a word, above what is counted: what it is carried to is lost. */
const OF_WORD = 1 << 30

const KINDS = new Uint8Array(256).map((_, byte) => {
  const letter = String.fromCharCode(byte)
  if (byte > 127) return FOREIGN
  if (byte === 127 || byte === 27) return UNTOLD
  if (/\s/.test(letter)) return SPACE
  if (/[A-Za-z]/.test(letter)) return LETTER
  if (/\d/.test(letter)) return DIGIT
  return letter === '_' ? UNDERSCORE : OTHER
})
/** What a byte of a word adds to the counts of its digits, letters and hexadecimal digits, ten bits each; 0: it is of none. */
const COUNTS = new Int32Array(256).map((_, byte) => {
  const kind = KINDS[byte]!
  const isHex = /[0-9a-f]/i.test(String.fromCharCode(byte))
  if (kind === UNDERSCORE) return OF_WORD
  return kind === DIGIT || kind === LETTER
    ? OF_WORD + (kind === DIGIT ? 1 : 1 << 10) + (isHex ? 1 << 20 : 0)
    : 0
})
const COUNT = (1 << 10) - 1

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
  /** The skeleton, four bytes in one, and its length in bytes. */
  shape: Uint32Array
  length: number
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
   * @param line what it is told: no function has to be made for each line
   * @returns what the first line of this skeleton was
   */
  get<L>(page: Uint8Array, from: number, to: number, of: (line: L) => T, line: L): T {
    const length = skeletonOf(page, from, Math.min(to, from + LOOKED_AT), to - from > LOOKED_AT)
    if (length < 0) return of(line)
    const key = hashOf(length)
    const first = this.entries.get(key) ?? null
    for (let entry = first; entry; entry = entry.next) if (isWritten(entry, length)) return entry.value
    const shape = fours.slice(0, foursOf(length))
    const value = of(line)
    if (this.entries.size >= this.most) this.entries.clear()
    this.entries.set(key, { shape, length, value, next: first })
    return value
  }
}

/** The skeleton that was last made; of each byte at most three are written. */
const written = new Uint8Array(3 * LOOKED_AT + 8)
/** The same four bytes at a time, since each line is hashed and compared. */
const fours = new Uint32Array(written.buffer)
const foursOf = (length: number): number => (length + 3) >> 2

/** Of what is written; what is left of its last four bytes is made 0. */
function hashOf(length: number): number {
  const count = foursOf(length)
  for (let i = length; i < 4 * count; i++) written[i] = 0
  let hash = -2_128_831_035
  for (let i = 0; i < count; i++) {
    hash = Math.imul(hash ^ fours[i]!, 16_777_619)
    // A multiplication carries upwards alone.
    hash ^= hash >>> 15
  }
  return hash
}

function isWritten({ shape, length: known }: Entry<unknown>, length: number): boolean {
  if (known !== length) return false
  for (let i = 0; i < shape.length; i++) if (shape[i] !== fours[i]) return false
  return true
}

/** Writes the skeleton. @param isCut whether the text goes on. @returns its length; -1: only the text tells */
export function skeletonOf(page: Uint8Array, from: number, end: number, isCut = false): number {
  let at = 0
  // Where the number of a place in code ends: it is kept.
  let placeEnd = -1
  for (let i = from; i < end; ) {
    const byte = page[i]!
    const kind = KINDS[byte]!
    if (kind >= FOREIGN) {
      // Of what is not ASCII the masker looks at more bytes; no such letter is of a word to it, and few are white space.
      if (kind === UNTOLD || isCut || (FOREIGN_LEADS[byte] === 1 && isForeignSpace(page, i, end))) return -1
      written[at++] = byte
      i++
      continue
    }
    if (kind === SPACE || kind === OTHER) {
      if (kind === OTHER && byte < BLANK) written[at++] = ITSELF
      written[at++] = kind === SPACE ? BLANK : byte
      i++
      continue
    }
    let counts = 0
    let j = i
    for (; j < end; j++) {
      const one = page[j]!
      const of = COUNTS[one]!
      if (of === 0) break
      counts = (counts + of) | 0
      // Most words stay as they are; those that do not are written over.
      written[at + j - i] = one
    }
    const length = j - i
    const digits = counts & COUNT
    const letters = (counts >>> 10) & COUNT
    const hexes = (counts >>> 20) & COUNT
    const ahead = length > digits ? placeAhead(page, j, end) : -1
    if (digits === 0 || ahead > 0 || j === placeEnd) at += length
    else if (digits === length) at = putMarker(at, NUMBER, length, hexes)
    else if (length >= ID_MIN && letters > 0 && !(KINDS[byte] === DIGIT && joins(page, i, from))) {
      if (hexes < length && namesTrace(page, i, j)) return -1
      at = putMarker(at, ID, length, hexes)
    } else {
      at = putMarker(at, length < ID_MIN ? SHORT : LONG, length, hexes)
      at = putLetters(at, page, i, j)
    }
    placeEnd = ahead
    i = j
  }
  return at
}

/** White space that is not ASCII, as JavaScript has it, in UTF-8. */
const FOREIGN_SPACES = [...'\u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff', ...spacesOfWidths()].map(
  (letter) => Buffer.from(letter),
)

function* spacesOfWidths(): Generator<string> {
  for (let code = 0x2000; code <= 0x200a; code++) yield String.fromCharCode(code)
}

/** Bytes that begin one of them. */
const FOREIGN_LEADS = new Uint8Array(256)
for (const [lead] of FOREIGN_SPACES) FOREIGN_LEADS[lead!] = 1

function isForeignSpace(page: Uint8Array, i: number, end: number): boolean {
  next: for (const bytes of FOREIGN_SPACES) {
    if (bytes.length > end - i) continue
    for (let k = 0; k < bytes.length; k++) if (page[i + k] !== bytes[k]) continue next
    return true
  }
  return false
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

/** Of a length it is told what tells ids of several parts apart: up to 3, 7, 8, 11, and more. @returns where it ends */
function putMarker(at: number, marker: number, length: number, hexes: number): number {
  const size = length < 4 ? 1 : length < 8 ? 2 : length === 8 ? 3 : length < 12 ? 4 : 5
  written[at] = marker
  written[at + 1] = size + (hexes === length ? IS_HEX : 0)
  return at + 2
}

function putLetters(at: number, page: Uint8Array, from: number, to: number): number {
  let wasDigit = false
  for (let i = from; i < to; i++) {
    const isDigit = KINDS[page[i]!] === DIGIT
    if (!isDigit) written[at++] = page[i]!
    else if (!wasDigit) written[at++] = DIGITS
    wasDigit = isDigit
  }
  return at
}

/** Share of the weight in which a line agrees with the template it joins. */
const AGREES = 0.55
const SURE = 0.97
const WEIGHT_MAX = 2
/** Templates of one leaf that a line is compared with. */
const COMPARED = 200
const TRACE_ID = /trace[_\s-]?id/i

interface Leaf {
  templates: Template[]
  exact: Map<string, Template>
}

interface SourceWords {
  lines: number
  /** Lines that have a word. */
  having: Map<string, number>
}

export class Templates {
  private readonly masker = new Masker()
  private readonly classes = new Map<Kind, Map<string, LineClass>>()
  private readonly byWording = new Map<Kind, Map<Wording, LineClass>>()
  private lastKind: Kind | null = null
  private ofLastKind = new Map<Wording, LineClass>()
  private readonly byText = new Map<string, Wording>()
  private readonly sources = new Map<string, SourceWords>()
  private readonly leaves = new Map<string, Leaf>()
  private count = 0

  /** @param lines without samples, in order of time; each gets its class. @param byBytes what is known of wordings */
  constructor(
    lines: readonly Timed[],
    private readonly byBytes: Wordings = new Skeletons<Wording>(),
  ) {
    for (let i = 0; i < lines.length; i++) {
      const line = lines[i]!
      line.cls = this.classOf(line)
      line.cls.count++
    }
    for (const classes of this.classes.values())
      for (const { source, wording, count } of classes.values()) this.countWords(source, wording.words, count)
  }

  /** @param line one of those given. */
  of({ row, cls }: Timed): Template {
    cls!.template ??= this.find(row.source, row.type, cls!.wording)
    return cls!.template
  }

  // Of what is known nothing is made, and neither is a function: there are 100,000 lines.
  private classOf({ row, kind }: Timed): LineClass {
    row.wording ??= this.wordingOf(row)
    // Neighbours are mostly of one kind.
    if (kind !== this.lastKind) {
      this.lastKind = kind
      this.ofLastKind = mapAt(this.byWording, kind)
    }
    return this.ofLastKind.get(row.wording) ?? this.classOfNew(row, kind, row.wording)
  }

  private classOfNew({ source }: ContextRow, kind: Kind, wording: Wording): LineClass {
    // Wordings of different rows may be the same.
    const cls = valueAt(mapAt(this.classes, kind), wording.said, (): LineClass => {
      return { source, wording, count: 0, template: null }
    })
    this.ofLastKind.set(wording, cls)
    return cls
  }

  private wordingOf(row: ContextRow): Wording {
    const { page, from = 0, to = 0 } = row
    return page ? this.byBytes.get(page, from, to, this.maskedRow, row) : this.wordingOfText(row)
  }

  private wordingOfText({ text }: ContextRow): Wording {
    return valueAt(this.byText, text, () => this.masked(text))
  }

  private readonly maskedRow = ({ text }: ContextRow): Wording => this.masked(text)

  private masked(text: string): Wording {
    const words = this.masker.words(text)
    return { words, said: words.join(' '), mayTrace: TRACE_ID.test(text.slice(0, LOOKED_AT)) }
  }

  private countWords(source: string, words: readonly string[], lines: number): void {
    const all = valueAt(this.sources, source, () => ({ lines: 0, having: new Map() }))
    all.lines += lines
    for (const word of new Set(words)) all.having.set(word, (all.having.get(word) ?? 0) + lines)
  }

  private weight(source: string, word: string): number {
    if (word.includes(ANY) && word.length < 9) return 0
    const { lines, having } = this.sources.get(source)!
    return Math.min(WEIGHT_MAX, Math.log((1 + lines) / (having.get(word) ?? 1)) + 0.02)
  }

  private find(source: string, type: string, { words, said: text }: Wording): Template {
    const lead = words[0]!.includes(ANY) ? ANY : words[0]!.split('/')[0]!
    const at = `${source}\0${type}\0${words.length}\0${lead}`
    const leaf = valueAt(this.leaves, at, (): Leaf => ({ templates: [], exact: new Map() }))
    const known = leaf.exact.get(text)
    if (known) return known
    const template = this.nearest(source, leaf, words) ?? this.open(leaf, words)
    leaf.exact.set(text, template)
    return template
  }

  private open(leaf: Leaf, words: readonly string[]): Template {
    const template = { n: this.count++, words: [...words], byEntity: new Map() }
    leaf.templates.push(template)
    return template
  }

  /** The template that agrees most, with the words that differ taken out of it; null: none does. */
  private nearest(source: string, leaf: Leaf, words: readonly string[]): Template | null {
    const weights = words.map((word) => this.weight(source, word))
    const sum = weights.reduce((a, b) => a + b, 0) || 1
    let best: Template | null = null
    let most = 0
    for (let k = Math.max(0, leaf.templates.length - COMPARED); k < leaf.templates.length; k++) {
      const template = leaf.templates[k]!
      let agreed = 0
      for (let i = 0; i < words.length; i++)
        if (template.words[i] === words[i] || template.words[i] === ANY) agreed += weights[i]!
      if (agreed / sum <= most) continue
      most = agreed / sum
      best = template
      if (most > SURE) break
    }
    if (!best || most < AGREES) return null
    for (let i = 0; i < words.length; i++) if (best.words[i] !== words[i]) best.words[i] = ANY
    return best
  }
}
