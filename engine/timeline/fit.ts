/**
 * Fits events into a budget of tokens. Whole events only; repeats of one event (same source, type
 * and text but for numbers and ids) are folded into one row with their count and first and last
 * time; rare ones are kept before common ones, because the one deploy line explains the thousand
 * errors. The order is a function of the rows alone, so that the next page goes on where this one
 * stopped and the pages together hold every event once.
 */
import type { Row } from '../engine.ts'
import { foldedRow, pointOf } from './points.ts'
import { renderRow } from './present.ts'

/** A token is counted as 4 bytes of UTF-8, the usual rule of thumb for English and code. */
export const BYTES_PER_TOKEN = 4

export const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)

interface Group {
  /** Oldest first. */
  rows: Row[]
  newest: string
}

export interface Fitted {
  /** Rows kept, in no particular order. */
  rows: Row[]
  /** Groups given so far, of this chunk: where the next page begins. */
  taken: number
  /** True when this chunk has more groups. */
  more: boolean
  tokens: number
  /** Rows of this chunk left for later pages. */
  left: Row[]
}

/**
 * @param rows one chunk of the timeline, oldest first.
 * @param budget tokens for rows, above 0.
 * @param skip groups that earlier pages gave.
 */
export function fitRows(rows: readonly Row[], budget: number, skip: number): Fitted {
  const groups = groupRepeats(rows)
  const kept: Row[] = []
  let tokens = 0
  let taken = skip
  for (; taken < groups.length; taken++) {
    let row = foldedRow(groups[taken]!.rows)
    let cost = costOf(row)
    if (cost > budget && kept.length === 0) {
      row = cutToFit(row, budget)
      cost = costOf(row)
    }
    if (tokens + cost > budget) break
    kept.push(row)
    tokens += cost
  }
  return {
    rows: kept,
    taken,
    more: taken < groups.length,
    tokens,
    left: groups.slice(taken).flatMap((group) => group.rows),
  }
}

/** What a row takes: its lines of the text timeline, and its payload where asked for. */
function costOf(row: Row): number {
  return tokensOf(`${renderRow(row)}\n${row.raw ?? ''}`)
}

/** Rare before common, then newest first, then by id: a total order. */
function groupRepeats(rows: readonly Row[]): Group[] {
  const groups = new Map<string, Group>()
  for (const row of rows) {
    const key = row.reference
      ? row.id
      : (pointOf(row)?.series ?? `${row.source}\0${row.event_type}\0${shapeOf(row.text)}`)
    const group = groups.get(key)
    if (group) {
      group.rows.push(row)
      group.newest = row.event_time
    } else groups.set(key, { rows: [row], newest: row.event_time })
  }
  return [...groups.values()].sort(
    (a, b) =>
      Number(!!b.rows[0]!.reference) - Number(!!a.rows[0]!.reference) ||
      a.rows.length - b.rows.length ||
      compare(b.newest, a.newest) ||
      compare(a.rows[0]!.id, b.rows[0]!.id),
  )
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Text with numbers and long hexadecimal ids blanked: what makes two events repeats. */
function shapeOf(text: string): string {
  return text.replace(/[0-9a-f]{8}(?:-?[0-9a-f]{4,})+|\d+/gi, '#')
}

/**
 * An event larger than the whole budget would stop the paging; its text is cut with a note of
 * where the whole is, and its payload is left to GET /api/events/{id}.
 */
function cutToFit(row: Row, budget: number): Row {
  const { raw: _raw, ...bare } = row
  if (costOf(bare) <= budget) return bare
  const note = ` … [cut; the whole is event ${row.id}]`
  const slim: Row = { ...bare, labels: {}, text: note }
  const room = (budget - costOf(slim)) * BYTES_PER_TOKEN - BYTES_PER_TOKEN
  const text =
    room > 0 ? Buffer.from(row.text.split('\n')[0]!).subarray(0, room).toString().replace(/�+$/, '') : ''
  return { ...slim, text: text + note }
}
