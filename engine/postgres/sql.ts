/** The statements of a page. Names come from the catalog and are quoted; values are parameters. */
import { type Column, quoted, type Table } from './table.ts'

/** A place in the order of reading as texts: the cursor value, then the key. */
export type Place = readonly [value: string, ...key: string[]]

export interface Reading {
  table: Table
  cursorColumn: Column
  /** Columns to select; null: all of them. */
  select: readonly Column[] | null
  /** Rows of a page. */
  limit: number
}

type Statement = [sql: string, values: unknown[]]

/** Rows behind the furthest that are looked at again. */
export const WINDOW = 2_000
/** Below the 1 MiB an item may have. */
const ROW_BYTES = 1_000_000
const PAGE_BYTES = 16 * 1024 * 1024
/** Digits of a digest: 64 bits, against 2,000 others. */
const DIGEST = 16
const ROW = 'svc_row'

/**
 * The next rows, with the digest and place of each, and whether they fit. Measured 2026-11, a million rows,
 * pages of 1,000 over a full window: 35 ms; 3,300 where the planner may guess how many the digests leave.
 */
export function pageAfter(
  reading: Reading,
  before: { at: Place; low: Place | null; seen: readonly string[] } | null,
): Statement {
  const order = orderOf(reading)
  const values = new Values(order)
  const ahead = before ? `${order.tuple} > ${values.place(before.at)}` : 'true'
  const from = `${notNull(order)}${before?.low ? ` AND ${order.tuple} > ${values.place(before.low)}` : ''}`
  const seen = before?.seen ?? []
  const columns = (reading.select ?? reading.table.columns).map(({ name }) => quoted(name))
  const of = (row: string) => columns.map((column) => `${row}.${column}`).join(', ')
  // Limited before it is filtered, so that the planner walks an index: as many as were read, and a page.
  const next = `SELECT ${of(ROW)}, ${order.place} AS svc_place, ${order.digest} AS svc_digest, ${ahead} AS svc_ahead
    FROM ${reading.table.sql} AS ${ROW} WHERE ${from} ORDER BY ${order.by} LIMIT ${reading.limit + seen.length}`
  const rows = `SELECT svc_place AS place, svc_digest AS digest, svc_ahead AS ahead,
      (SELECT row_to_json(chosen.*)::text FROM (SELECT ${of('next')}) AS chosen) AS json
    FROM (${next}) AS next WHERE svc_digest <> ALL (${values.add(seen)}::text[]) LIMIT ${reading.limit}`
  const sized = `SELECT *, octet_length(json) AS bytes, row_number() OVER () AS n FROM (${rows}) AS found OFFSET 0`
  const summed = `SELECT *, sum(CASE WHEN bytes <= ${ROW_BYTES} THEN bytes ELSE 0 END) OVER (ORDER BY n) AS total FROM (${sized}) AS sized`
  return [
    `SELECT place, digest, ahead, total <= ${PAGE_BYTES} AS fits,
      CASE WHEN bytes <= ${ROW_BYTES} AND total <= ${PAGE_BYTES} THEN json END AS json
    FROM (${summed}) AS summed ORDER BY n`,
    values.list,
  ]
}

/** The row so many before `end` that none further back is in the window; none where it is all in it. */
export function oldestOf(reading: Reading, low: Place | null, end: Place): Statement {
  const order = orderOf(reading)
  const values = new Values(order)
  const within = between(order, values, low, end)
  return [
    `SELECT ${order.place} AS place FROM ${reading.table.sql} AS ${ROW} WHERE ${within}
    ORDER BY ${order.descending} OFFSET ${WINDOW} LIMIT 1`,
    values.list,
  ]
}

/** The digests of the rows in the window. */
export function windowOf(reading: Reading, low: Place | null, at: Place): Statement {
  const order = orderOf(reading)
  const values = new Values(order)
  const within = between(order, values, low, at)
  return [`SELECT ${order.digest} AS digest FROM ${reading.table.sql} AS ${ROW} WHERE ${within}`, values.list]
}

interface Order {
  types: string[]
  column: string
  tuple: string
  by: string
  descending: string
  place: string
  digest: string
}

function orderOf({ table, cursorColumn }: Reading): Order {
  const column = `${ROW}.${quoted(cursorColumn.name)}`
  const key =
    table.key.length > 0
      ? table.key.map(({ name, type }) => ({ sql: `${ROW}.${quoted(name)}`, type }))
      : [{ sql: `md5((${ROW}.*)::text)`, type: 'text' }]
  const parts = [column, ...key.map(({ sql }) => sql)]
  const place = `json_build_array(${parts.map((part) => `${part}::text`).join(', ')})::text`
  return {
    types: [cursorColumn.type, ...key.map(({ type }) => type)],
    column,
    tuple: `(${parts.join(', ')})`,
    by: parts.join(', '),
    descending: parts.map((part) => `${part} DESC`).join(', '),
    place,
    digest: `left(md5(${place}), ${DIGEST})`,
  }
}

const notNull = ({ column }: Order): string => `${column} IS NOT NULL`

function between(order: Order, values: Values, low: Place | null, high: Place): string {
  const after = low ? ` AND ${order.tuple} > ${values.place(low)}` : ''
  return `${notNull(order)}${after} AND ${order.tuple} <= ${values.place(high)}`
}

/** Parameters in the order in which a statement names them. */
class Values {
  readonly list: unknown[] = []
  constructor(private readonly order: Order) {}

  add(value: unknown): string {
    this.list.push(value)
    return `$${this.list.length}`
  }

  /** Texts become values of the columns' types again. */
  place(place: Place): string {
    return `(${place.map((text, i) => `${this.add(text)}::text::${this.order.types[i]}`).join(', ')})`
  }
}
