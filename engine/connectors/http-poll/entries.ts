/** Where the entries lie in an answer, as the bytes that came: a number that is parsed may be rounded. */
import { arrayElements, memberRange, OPEN_LIST, type Range, trim } from '../../ingest/json-scan.ts'

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

/** The same walk as that of label fields: the longest name at each level first. */
function rangeAt(bytes: Buffer, within: Range, path: string): Range | null {
  const exact = childOf(bytes, within, path)
  if (exact) return exact
  for (let dot = path.lastIndexOf('.'); dot > 0; dot = path.lastIndexOf('.', dot - 1)) {
    const head = childOf(bytes, within, path.slice(0, dot))
    const found = head && rangeAt(bytes, head, path.slice(dot + 1))
    if (found) return found
  }
  return null
}

function childOf(bytes: Buffer, within: Range, name: string): Range | null {
  if (bytes[within[0]] !== OPEN_LIST) return memberRange(bytes, within, name)
  if (!/^\d{1,6}$/.test(name)) return null
  return arrayElements(bytes, within, Number(name) + 1)?.ranges[Number(name)] ?? null
}

/** A byte order mark is not part of the JSON. */
const startOf = (bytes: Buffer): number =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
