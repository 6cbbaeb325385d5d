/** New rows of a PostgreSQL table (SPEC.md, Sources and labels 4). */

import { createHash } from 'node:crypto'
import type { FieldsOf } from '../../../schemas/fields-of.ts'
import type { Label, PostgresConfig } from '../../../schemas/types.ts'
import { headsOf } from '../../log/ingest/json-project.ts'
import { compileTemplate, oneLine, summarise, templateFields } from '../../log/ingest/label.ts'
import { timesIn, zoneFaults } from '../../log/ingest/time.ts'
import type { Item, MappedEvent, PollConnector, Polled, Reach } from '../connectors/connector.ts'
import {
  type Column,
  columnOf,
  findTable,
  inSession,
  isTime,
  parseDsn,
  proposeTable,
  quoted,
  type Session,
  type Table,
} from './postgres-session.ts'

const TEXT_MAX = 300
/** Columns whose value says what a row is, where there is no template. */
const TELLING = ['status', 'state', 'type', 'name']

export const postgres: PollConnector = {
  kind: 'postgres',
  label: 'PostgreSQL',
  mode: 'poll',
  description:
    'New rows of a table or view, in the order of a column that grows, such as updated_at or id. It only reads; rows that share a value or are committed late are not missed.',
  sourceType: 'event_stream',
  configSchema: 'connector-postgres.json',
  provides: [
    { name: 'table', help: 'Name of the table, where no column is called so.' },
    { name: 'database', help: 'Name of the database, where no column is called so.' },
  ],
  suggestedPoll: '30s',
  minPollMs: 1_000,
  // Not dsn: a new password must not read the whole table again. A new database does, see pollTable.
  identity: ['table', 'cursor_column'],
  validate: (config: FieldsOf<PostgresConfig>) => faultsOf(config),
  compile: (config: FieldsOf<Partial<PostgresConfig>>) => compileRows(config),
  poll: (config: FieldsOf<PostgresConfig>, cursor, reach) => pollTable(config, cursor, reach),
  discover: (config, reach) => proposeTable(config as Partial<PostgresConfig>, reach),
}

/** A reference to a variable is looked at when it is resolved. */
function faultsOf({ dsn, zone }: PostgresConfig): string[] {
  const fault = dsn?.startsWith('${') ? null : parseDsn(dsn ?? '')
  return [...(typeof fault === 'string' ? [fault] : []), ...zoneFaults(zone)]
}

function compileRows(config: Partial<PostgresConfig>): (item: Item) => MappedEvent[] {
  const { table = '', cursor_column: cursor = '', time_column: time, text_template: template } = config
  const textOf = template === undefined ? null : compileTemplate(template)
  const timed = timesIn(config.zone)
  const bare = table.replace(/^.*\./, '')
  const dsn = parseDsn(config.dsn ?? '')
  const place = { table: bare, ...(typeof dsn === 'string' ? {} : { database: dsn.database }) }
  return (item) => {
    const row = item.value as Record<string, unknown>
    // A name is looked up as PostgreSQL does where it is not quoted, as by `columnOf`.
    const cellOf = (name: string): unknown => (Object.hasOwn(row, name) ? row[name] : row[name.toLowerCase()])
    return [
      {
        eventType: bare,
        text: textOf?.(row).trim() || tellingOf(row) || oneLine(summarise(item.whole()), TEXT_MAX),
        eventTime: timed(time === undefined ? momentOf(cellOf(cursor)) : cellOf(time)),
        context: { ...place, ...row },
        dedupeKey: createHash('sha256').update(item.raw).digest('base64url'),
      },
    ]
  }
}

function tellingOf(row: Record<string, unknown>): string {
  const told = TELLING.filter((name) => typeof row[name] === 'string' && row[name] !== '')
  const key = row.id ?? row.key
  const named = typeof key === 'string' || typeof key === 'number' ? [String(key)] : []
  return told.length === 0
    ? ''
    : oneLine([...named, ...told.map((name) => `${name}=${row[name]}`)].join(' '), TEXT_MAX)
}

/** The cursor where it is a time; as a number or a text of digits it is an id. */
function momentOf(value: unknown): string | undefined {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\d/.test(value) ? value : undefined
}

/* One poll of a table: its columns as they are now, then the next page of its rows. */

const LIMIT = 200

interface Stored {
  database: string
  cursor: TableCursor
}

/** @throws UpstreamError */
function pollTable(config: PostgresConfig, cursor: string | null, reach: Reach): Promise<Polled> {
  return inSession(config.dsn, reach, async (session) => {
    const table = await findTable(session, config.table)
    if (config.time_column) columnOf(table, config.time_column, 'time_column')
    const reading = {
      table,
      cursorColumn: columnOf(table, config.cursor_column, 'cursor_column'),
      by: tellingColumns(table),
      select: selectOf(table, config),
      limit: config.limit ?? LIMIT,
    }
    const [{ database }] = (await session.query<{ database: string }>(
      'SELECT current_database() AS database',
    )) as [{ database: string }]
    const stored = cursor === null ? null : (JSON.parse(cursor) as Stored)
    const isOther = stored !== null && stored.database !== database
    const before = isOther ? null : (stored?.cursor ?? null)
    const page = await readPage(session, reading, before)
    return {
      items: page.rows,
      cursor:
        page.cursor === null ? null : JSON.stringify({ database, cursor: page.cursor } satisfies Stored),
      more: page.more,
      ...noticeOf(page.tooLarge, isOther, [...page.told, ...randomIn(reading.cursorColumn, page.cursor)]),
    }
  })
}

/** A UUID of version 4: no other column is so often taken for one that grows. */
const RANDOM = /^[\da-f]{8}-[\da-f]{4}-4/

function randomIn({ name, type }: Column, cursor: TableCursor | null): string[] {
  if (type !== 'uuid' || !cursor || !RANDOM.test(cursor.at[0])) return []
  return [
    `${name} holds random values (UUIDs of version 4), which do not grow: new rows that lie before the last ${WINDOW.toLocaleString('en')} are missed; set cursor_column to a time or a number that grows`,
  ]
}

function noticeOf(tooLarge: number, isOther: boolean, more: string[]): { notice?: string } {
  const told = [
    ...more,
    isOther ? 'the database is another than before: reading begins anew' : [],
    tooLarge > 0
      ? `${tooLarge} ${tooLarge === 1 ? 'row was' : 'rows were'} over 1 MB and left out: name fewer columns`
      : [],
  ].flat()
  return told.length > 0 ? { notice: told.join('; ') } : {}
}

/** Those named, and those that cursor, key, time, text and labels read; null: all. */
function selectOf(table: Table, config: PostgresConfig): Column[] | null {
  const named = (config.columns ?? '').split(',').flatMap((name) => name.trim() || [])
  if (named.length === 0) return null
  const fields = ((config.labels ?? []) as Label[]).flatMap((label) =>
    'field' in label ? [label.field] : [],
  )
  const read = [...fields, ...templateFields(config.text_template ?? '')].flatMap(headsOf)
  const wanted = new Set([
    ...named.map((name) => columnOf(table, name, 'columns').name),
    columnOf(table, config.cursor_column, 'cursor_column').name,
    ...(config.time_column ? [columnOf(table, config.time_column, 'time_column').name] : []),
    ...table.key.map(({ name }) => name),
    ...read,
  ])
  return table.columns.filter(({ name }) => wanted.has(name))
}

/*
 * What is new in a table. A strict "greater than the last value" loses the rows that share it, and those
 * of transactions that began before and committed after. So a row is told by its place, the cursor value
 * and then its primary key (without one, a digest of the row), and the digests of the newest rows that
 * were read are kept: what lies in that window and is not among them is new, whenever it was committed.
 *
 * All comparing is the database's, in its own types and collation; here values are texts.
 */

interface TableCursor {
  /** The furthest row that was read. */
  at: Place
  /** Rows up to here are not looked at again; null: all are. */
  low: Place | null
  /** Digests of the rows after `low` that were read. */
  seen: string[]
  /** What places are of; absent in cursors of older versions. */
  by?: Telling
  /** Type of the cursor column whose values places have; absent in cursors of older versions. */
  type?: string
  /** The state of the table whose rows were read last. */
  state?: string
}

/** What tells the rows of one cursor value: the columns of the primary key, or a digest of all columns. */
interface Telling {
  isKey: boolean
  columns: string[]
}

const tellingColumns = ({ key, columns }: Table): Telling => ({
  isKey: key.length > 0,
  columns: (key.length > 0 ? key : columns).map(({ name }) => name),
})

interface Page {
  /** JSON texts, in the order of their places. */
  rows: string[]
  cursor: TableCursor | null
  /** More rows wait. */
  more: boolean
  /** Rows over the size of an item, which are passed over. */
  tooLarge: number
  /** What should be known. */
  told: string[]
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
async function readPage(session: Session, reading: Reading, stored: TableCursor | null): Promise<Page> {
  const moved = stored === null ? { before: null, told: [] } : await placesNow(session, reading, stored)
  const { before, told } = moved
  const found = await session.query<PageRow>(...pageAfter(reading, before))
  const cut = found.findIndex(({ fits }) => fits !== 't')
  const rows = cut < 0 ? found : found.slice(0, cut)
  const last = rows.at(-1)
  if (!last)
    return { rows: [], more: false, tooLarge: 0, ...(await stateNow(session, reading, before, told)) }
  const end = placeOf(last)
  const at = before === null || last.ahead === 't' ? end : before.at
  const read = [...(before?.seen ?? []), ...rows.map(({ digest }) => digest)]
  const low = (await oldestWithin(session, reading, end, before?.low ?? null)) ?? before?.low ?? null
  const known = new Set(read)
  const within = await session.query<{ digest: string }>(...windowOf(reading, low, at))
  return {
    // A column of type json may hold line breaks, which mean nothing between its tokens.
    rows: rows.flatMap(({ json }) => (json === null ? [] : [json.replace(/[\r\n]+/g, ' ')])),
    cursor: {
      ...{ at, low, seen: within.map(({ digest }) => digest).filter((digest) => known.has(digest)) },
      by: reading.by,
      type: reading.cursorColumn.type,
      state: last.ahead === 't' ? reading.table.state : (before?.state ?? reading.table.state),
    },
    more: cut >= 0 || found.length >= reading.limit,
    tooLarge: rows.filter(({ json }) => json === null).length,
    told,
  }
}

/** Rows of one cursor value that are looked up to tell them otherwise. */
const RETOLD_MAX = 10_000

/**
 * Places as the table tells its rows now. Where it gained a column or a primary key, or its times a zone or none, the rows
 * that were read are looked up by what told them then; where that is gone, reading goes on behind the value it had come to.
 */
async function placesNow(
  session: Session,
  reading: Reading,
  before: TableCursor,
): Promise<{ before: TableCursor; told: string[] }> {
  const { by = reading.by, type = reading.cursorColumn.type, at, low } = before
  const was = { name: reading.cursorColumn.name, type }
  // A time is another text in another type, and so its digest; the text of a number stays as it is.
  const isOtherTime = was.type !== reading.cursorColumn.type && isTime(was) && isTime(reading.cursorColumn)
  const isFit = at.length === 1 + (by.isKey ? by.columns.length : 1)
  if (
    isFit &&
    !isOtherTime &&
    String(by.columns) === String(reading.by.columns) &&
    by.isKey === reading.by.isKey
  )
    return { before: { ...before, by }, told: [] }
  const has = (name: string) => reading.table.columns.some((column) => column.name === name)
  const rows =
    isFit && by.columns.every(has)
      ? await session.query<Retold>(
          ...retold({ ...reading, by, ...(isOtherTime ? { cursorColumn: was } : {}) }, reading, before),
        )
      : []
  const read = rows.filter(({ was_read: wasRead }) => wasRead === 't')
  const last = read.at(-1)
  // Where none is known by its digest, none of the window would be.
  const isKnown = before.seen.length === 0 || read.some(({ is_seen: isSeen }) => isSeen === 't')
  if (last && isKnown && rows.length < RETOLD_MAX) {
    const [lowest] = low === null ? [] : await session.query<{ place: string }>(...lastBelow(reading, low[0]))
    const seen = read.map(({ digest }) => digest)
    return {
      before: {
        ...before,
        at: placeOf(last),
        low: lowest ? placeOf(lowest) : null,
        seen,
        by: reading.by,
        type: reading.cursorColumn.type,
      },
      told: [],
    }
  }
  const behind: Place = [at[0]]
  const value = `${reading.cursorColumn.name} ${at[0]}`
  return {
    before: { ...before, at: behind, low: behind, seen: [], by: reading.by, type: reading.cursorColumn.type },
    told: [`what tells the rows of the table was changed: reading goes on behind ${value}`],
  }
}

/** Nothing new: whether that is so because the table is another than the one that was read. */
async function stateNow(
  session: Session,
  reading: Reading,
  before: TableCursor | null,
  told: string[],
): Promise<Pick<Page, 'cursor' | 'told'>> {
  const { state } = reading.table
  if (before === null) return { cursor: null, told }
  if (before.state === undefined || before.state === state) return { cursor: { ...before, state }, told }
  const [newest] = await session.query<{ place: string }>(...lastBelow(reading, null))
  // Also where it was only written anew, as by VACUUM FULL: then the row that was read last is there.
  if (!newest || String(placeOf(newest)) === String(before.at)) return { cursor: { ...before, state }, told }
  const { name } = reading.cursorColumn
  const anew = `the table was emptied, made anew or restored: its newest row (${name} ${placeOf(newest)[0]}) lies before what was read, and only rows behind ${name} ${before.at[0]} are read; to read it from its beginning, make the source anew`
  return { cursor: before, told: [...told, anew] }
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

/* The statements of a page. Names come from the catalog and are quoted; values are parameters. */

/** A place in the order of reading as texts: the cursor value, then the key. */
type Place = readonly [value: string, ...key: string[]]

interface Reading {
  table: Table
  cursorColumn: Column
  /** What tells its rows. */
  by: Telling
  /** Columns to select; null: all of them. */
  select: readonly Column[] | null
  /** Rows of a page. */
  limit: number
}

type Statement = [sql: string, values: unknown[]]

/** Rows behind the furthest that are looked at again. */
const WINDOW = 2_000
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
function pageAfter(
  reading: Reading,
  before: { at: Place; low: Place | null; seen: readonly string[] } | null,
): Statement {
  const order = orderOf(reading)
  const values = new Values(order)
  const ahead = before ? `${order.tupleOf(before.at)} > ${values.place(before.at)}` : 'true'
  const from = `${notNull(order)}${before?.low ? ` AND ${order.tupleOf(before.low)} > ${values.place(before.low)}` : ''}`
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
function oldestOf(reading: Reading, low: Place | null, end: Place): Statement {
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
function windowOf(reading: Reading, low: Place | null, at: Place): Statement {
  const order = orderOf(reading)
  const values = new Values(order)
  const within = between(order, values, low, at)
  return [`SELECT ${order.digest} AS digest FROM ${reading.table.sql} AS ${ROW} WHERE ${within}`, values.list]
}

interface Retold {
  digest: string
  place: string
  /** Truth values are texts here, t or f. */
  was_read: string
  /** It is in the window. */
  is_seen: string
}

/** The rows that were told as `was` tells, up to the furthest, as `now` tells them. */
function retold(was: Reading, now: Reading, before: Pick<TableCursor, 'at' | 'low' | 'seen'>): Statement {
  const { at, low, seen } = before
  const [old, order] = [orderOf(was), orderOf(now)]
  const values = new Values(old)
  const from = low ? ` AND ${old.column} >= ${values.add(low[0])}::text::${old.types[0]}` : ''
  const passed = low ? ` OR ${old.tupleOf(low)} <= ${values.place(low)}` : ''
  const known = `${old.digest} = ANY (${values.add(seen)}::text[])`
  return [
    `SELECT ${order.digest} AS digest, ${order.place} AS place, ${known}${passed} AS was_read, ${known} AS is_seen FROM ${now.table.sql} AS ${ROW}
    WHERE ${notNull(old)}${from} AND ${old.tupleOf(at)} <= ${values.place(at)} ORDER BY ${order.by} LIMIT ${RETOLD_MAX}`,
    values.list,
  ]
}

/** The last row below a cursor value; null: of all. */
function lastBelow(reading: Reading, value: string | null): Statement {
  const order = orderOf(reading)
  const below = value === null ? '' : ` AND ${order.column} < $1::text::${order.types[0]}`
  return [
    `SELECT ${order.place} AS place FROM ${reading.table.sql} AS ${ROW}
    WHERE ${notNull(order)}${below} ORDER BY ${order.descending} LIMIT 1`,
    value === null ? [] : [value],
  ]
}

interface Order {
  types: string[]
  column: string
  /** What a row is compared with a place by: as many as that has. */
  tupleOf(place: Place): string
  by: string
  descending: string
  place: string
  digest: string
}

function orderOf({ table, cursorColumn, by }: Reading): Order {
  const stored = `${ROW}.${quoted(cursorColumn.name)}`
  const { type } = columnOf(table, cursorColumn.name, 'cursor_column')
  const column = type === cursorColumn.type ? stored : `${stored}::${cursorColumn.type}`
  const named = by.columns.map((name) => columnOf(table, name, 'table'))
  const own = named.map(({ name, type }) => ({ sql: `${ROW}.${quoted(name)}`, type }))
  // As the text of the whole row, where these are all of its columns.
  const key = by.isKey
    ? own
    : [{ sql: `md5(ROW(${own.map(({ sql }) => sql).join(', ')})::text)`, type: 'text' }]
  const parts = [column, ...key.map(({ sql }) => sql)]
  const place = `json_build_array(${parts.map((part) => `${part}::text`).join(', ')})::text`
  return {
    types: [cursorColumn.type, ...key.map(({ type }) => type)],
    column,
    tupleOf: (place) => `(${parts.slice(0, place.length).join(', ')})`,
    by: parts.join(', '),
    descending: parts.map((part) => `${part} DESC`).join(', '),
    place,
    digest: `left(md5(${place}), ${DIGEST})`,
  }
}

const notNull = ({ column }: Order): string => `${column} IS NOT NULL`

function between(order: Order, values: Values, low: Place | null, high: Place): string {
  const after = low ? ` AND ${order.tupleOf(low)} > ${values.place(low)}` : ''
  return `${notNull(order)}${after} AND ${order.tupleOf(high)} <= ${values.place(high)}`
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
