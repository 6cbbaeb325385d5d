/** Where the entries lie in an answer, as the bytes that came: a number that is parsed may be rounded. */
import { headsOf } from '../../ingest/field.ts'
import { arrayElements, memberRanges, OPEN_LIST, type Range, trim } from '../../ingest/json-scan.ts'

const ENTRIES_MAX = 1_000

export interface Entries {
  /** JSON text of each, in the order of the answer. */
  texts: string[]
  /** How many there are, read or not. */
  count: number
  isList: boolean
}

/** @param bytes JSON. @param path empty: all of it. @returns null where there is nothing at the path. */
export function entriesAt(bytes: Buffer, path: string): Entries | null {
  const whole = trim(bytes, startOf(bytes), bytes.length)
  const range = path === '' ? whole : rangeAt(bytes, whole, path)
  if (range === null) return null
  const text = ([start, end]: Range) => bytes.toString('utf8', start, end)
  if (bytes[range[0]] !== OPEN_LIST) return { texts: [text(range)], count: 1, isList: false }
  const { ranges, count } = arrayElements(bytes, range, ENTRIES_MAX)!
  return { texts: ranges.map(text), count, isList: true }
}

/** The same walk as that of label fields: the longest name at each level first. One pass over each level. */
function rangeAt(bytes: Buffer, within: Range, path: string): Range | null {
  const heads = headsOf(path)
  const found =
    bytes[within[0]] === OPEN_LIST ? elementsAt(bytes, within, heads) : memberRanges(bytes, within, heads)
  for (const head of heads) {
    const one = found.get(head)
    if (!one) continue
    const end = head === path ? one : rangeAt(bytes, one, path.slice(head.length + 1))
    if (end) return end
  }
  return null
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
