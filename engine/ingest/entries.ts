/**
 * Where the entries of a list lie in a document (the answer of an API, a webhook's body), as the bytes that came:
 * a number that is parsed may be rounded. The path is walked as label fields are, into strings that are JSON too.
 */
import { headsOf } from './field.ts'
import { arrayElements, memberRanges, OPEN_LIST, OPEN_OBJECT, type Range, trim } from './json-scan.ts'
import { parseText, TEXT_LEVELS } from './json-text.ts'

const ENTRIES_MAX = 1_000
const QUOTE = 0x22

export interface Entries {
  /** JSON text of each, in the order of the document. */
  texts: string[]
  /** How many there are, read or not. */
  count: number
  isList: boolean
}

/** What lies at a path. */
interface Place {
  /** The document, or the string in it that is JSON. */
  bytes: Buffer
  range: Range
  /** The whole document with `text` instead of what lies here. */
  with(text: string): string
}

/** @param bytes JSON. @param path empty: all of it. @returns null where there is nothing at the path. */
export function entriesAt(bytes: Buffer, path: string): Entries | null {
  const place = placeOf(bytes, path)
  return place && entriesOf(place, ENTRIES_MAX)
}

/**
 * The entries of a list, or the one object, at a path, and what is around them.
 * @param bytes JSON. @param most texts that are read; `count` tells how many there are.
 * @returns null where neither a list nor an object lies at the path. `around` is the document with an empty list
 *   in their place.
 */
export function nestedEntriesAt(
  bytes: Buffer,
  path: string,
  most: number,
): (Entries & { around: string }) | null {
  const place = placeOf(bytes, path)
  const first = place?.bytes[place.range[0]]
  if (!place || (first !== OPEN_LIST && first !== OPEN_OBJECT)) return null
  return { ...entriesOf(place, most), around: place.with('[]') }
}

function entriesOf({ bytes, range }: Place, most: number): Entries {
  const text = ([start, end]: Range) => bytes.toString('utf8', start, end)
  if (bytes[range[0]] !== OPEN_LIST) return { texts: [text(range)], count: 1, isList: false }
  const { ranges, count } = arrayElements(bytes, range, most)!
  return { texts: ranges.map(text), count, isList: true }
}

function placeOf(bytes: Buffer, path: string): Place | null {
  const whole = placeIn(bytes, trim(bytes, startOf(bytes), bytes.length), (text) => text)
  return path === '' ? whole : placeAt(whole, path, TEXT_LEVELS)
}

/** @param wrap makes the whole document of this one: itself, or the string it is in. */
function placeIn(bytes: Buffer, range: Range, wrap: (text: string) => string): Place {
  const [start, end] = range
  return {
    bytes,
    range,
    with: (text) => wrap(bytes.toString('utf8', 0, start) + text + bytes.toString('utf8', end)),
  }
}

/** The same walk as that of label fields: the longest name at each level first. One pass over each level. */
function placeAt(within: Place, path: string, levels: number): Place | null {
  const inner = levels > 0 ? textIn(within) : null
  if (inner) return placeAt(inner, path, levels - 1)
  const { bytes, range } = within
  const heads = headsOf(path)
  const found =
    bytes[range[0]] === OPEN_LIST ? elementsAt(bytes, range, heads) : memberRanges(bytes, range, heads)
  for (const head of heads) {
    const at = found.get(head)
    if (!at) continue
    // From the start of the same bytes, whatever the range was that they were found in.
    const one: Place = { ...within, range: at, with: replacing(within, at) }
    const end =
      head === path ? (levels > 0 && textIn(one)) || one : placeAt(one, path.slice(head.length + 1), levels)
    if (end) return end
  }
  return null
}

/** Replaces a part of what a place's bytes say, and puts the rest around it as the place does. */
function replacing({ bytes, range, with: put }: Place, [start, end]: Range): (text: string) => string {
  return (text) => put(bytes.toString('utf8', range[0], start) + text + bytes.toString('utf8', end, range[1]))
}

/** The document that a string is; null: it is none. */
function textIn(place: Place): Place | null {
  const { bytes, range } = place
  if (bytes[range[0]] !== QUOTE) return null
  const text = JSON.parse(bytes.toString('utf8', ...range)) as string
  if (parseText(text) === undefined) return null
  const inner = Buffer.from(text)
  return placeIn(inner, trim(inner, 0, inner.length), (whole) => place.with(JSON.stringify(whole)))
}

function elementsAt(bytes: Buffer, within: Range, names: readonly string[]): ReadonlyMap<string, Range> {
  const numbers = names.filter((name) => /^\d{1,6}$/.test(name))
  if (numbers.length === 0) return new Map()
  const ranges = arrayElements(bytes, within, Math.max(...numbers.map(Number)) + 1)?.ranges ?? []
  return new Map(numbers.flatMap((name) => (ranges[Number(name)] ? [[name, ranges[Number(name)]!]] : [])))
}

/** A byte order mark is not part of the JSON. */
const startOf = (bytes: Buffer): number =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
