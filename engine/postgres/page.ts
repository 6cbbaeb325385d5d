/**
 * What is new in a table. A strict "greater than the last value" loses the rows that share it, and those
 * of transactions that began before and committed after. So a row is told by its place, the cursor value
 * and then its primary key (without one, a digest of the row), and the digests of the newest rows that
 * were read are kept: what lies in that window and is not among them is new, whenever it was committed.
 *
 * All comparing is the database's, in its own types and collation; here values are texts.
 */
import type { Session } from './session.ts'
import { oldestOf, type Place, pageAfter, type Reading, windowOf } from './sql.ts'

export interface TableCursor {
  /** The furthest row that was read. */
  at: Place
  /** Rows up to here are not looked at again; null: all are. */
  low: Place | null
  /** Digests of the rows after `low` that were read. */
  seen: string[]
}

export interface Page {
  /** JSON texts, in the order of their places. */
  rows: string[]
  cursor: TableCursor | null
  /** More rows wait. */
  more: boolean
  /** Rows over the size of an item, which are passed over. */
  tooLarge: number
}

interface PageRow {
  place: string
  digest: string
  /** Truth values are texts here, t or f: whether it lies beyond all that were read. */
  ahead: string
  /** Whether the page still has room for it. */
  fits: string
  /** Null where it is over the size of an item. */
  json: string | null
}

/** Reads the next rows and where the next page begins, in the session's one snapshot. @throws UpstreamError */
export async function readPage(
  session: Session,
  reading: Reading,
  before: TableCursor | null,
): Promise<Page> {
  const found = await session.query<PageRow>(...pageAfter(reading, before))
  const cut = found.findIndex(({ fits }) => fits !== 't')
  const rows = cut < 0 ? found : found.slice(0, cut)
  const last = rows.at(-1)
  if (!last) return { rows: [], cursor: before, more: false, tooLarge: 0 }
  const end = placeOf(last)
  const at = before === null || last.ahead === 't' ? end : before.at
  const read = [...(before?.seen ?? []), ...rows.map(({ digest }) => digest)]
  const low = (await oldestWithin(session, reading, end, before?.low ?? null)) ?? before?.low ?? null
  const known = new Set(read)
  const within = await session.query<{ digest: string }>(...windowOf(reading, low, at))
  return {
    // A column of type json may hold line breaks, which mean nothing between its tokens.
    rows: rows.flatMap(({ json }) => (json === null ? [] : [json.replace(/[\r\n]+/g, ' ')])),
    cursor: { at, low, seen: within.map(({ digest }) => digest).filter((digest) => known.has(digest)) },
    more: cut >= 0 || found.length >= reading.limit,
    tooLarge: rows.filter(({ json }) => json === null).length,
  }
}

/**
 * Where the window begins now: so many rows before the end of the page. Not before the furthest row: where
 * a page ends earlier, rows that were committed late still wait between the two.
 */
async function oldestWithin(
  session: Session,
  reading: Reading,
  end: Place,
  low: Place | null,
): Promise<Place | null> {
  const [oldest] = await session.query<{ place: string }>(...oldestOf(reading, low, end))
  return oldest ? placeOf(oldest) : null
}

const placeOf = ({ place }: { place: string }): Place => JSON.parse(place) as Place
