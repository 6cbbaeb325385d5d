/** New rows of a PostgreSQL table (SPEC.md, Sources and labels 4). */

import { createHash } from 'node:crypto'
import type { FieldsOf } from '../../../schemas/fields-of.ts'
import { countWords } from '../../../schemas/plain-words.ts'
import type { Label, PostgresConfig } from '../../../schemas/types.ts'
import { headsOf } from '../../log/ingest/json-project.ts'
import { compileTemplate, isLabelName, oneLine, summarise, templateFields } from '../../log/ingest/label.ts'
import {
  ENTITY_SHARE,
  type Item,
  type MappedEvent,
  type PollConnector,
  type Polled,
  type Reach,
} from '../connectors/connector.ts'
import {
  type Column,
  columnOf,
  findTable,
  inSession,
  isInteger,
  isTime,
  parseDsn,
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
function faultsOf({ dsn }: PostgresConfig): string[] {
  const fault = dsn?.startsWith('${') ? null : parseDsn(dsn ?? '')
  return typeof fault === 'string' ? [fault] : []
}

function compileRows(config: Partial<PostgresConfig>): (item: Item) => MappedEvent[] {
  const { table = '', cursor_column: cursor = '', time_column: time, text_template: template } = config
  const textOf = template === undefined ? null : compileTemplate(template)
  const bare = table.replace(/^.*\./, '')
  const dsn = parseDsn(config.dsn ?? '')
  const place = { table: bare, ...(typeof dsn === 'string' ? {} : { database: dsn.database }) }
  return (item) => {
    const row = item.value as Record<string, unknown>
    return [
      {
        eventType: bare,
        text: textOf?.(row).trim() || tellingOf(row) || oneLine(summarise(item.whole()), TEXT_MAX),
        eventTime: time === undefined ? momentOf(row[cursor]) : row[time],
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

/* What a database has to read, and a config for one of its tables. */

const TABLES_MAX = 500
/** Whether the schema of the config takes the name: of more than one dot it cannot be told what they part. */
const NAMEABLE = `n.nspname || c.relname !~ '[."''\\u0001-\\u001f\\u007f]'`
const TABLES = `SELECT n.nspname || '.' || c.relname AS name, ${NAMEABLE} AS nameable,
    CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'view' ELSE 'table' END AS kind
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
    AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
    AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT')
  ORDER BY NOT (${NAMEABLE}), c.relkind IN ('v', 'm'), n.nspname, c.relname LIMIT ${TABLES_MAX}`

/** Rows looked at for what a column covers: the newest. */
const LOOKED_AT = 200
const CURSOR_TIMES = ['updated_at', 'modified_at', 'updated', 'last_modified']
const CURSOR_NUMBERS = ['id', 'pk']
const ENTITIES = ['tenant_id', 'account_id', 'customer_id', 'org_id', 'user_id', 'project_id']
const CLASSES = ['status', 'state', 'type', 'environment', 'region']

/**
 * @returns without a table: those the user may read; with one: its columns and a proposed config. The dsn
 *   is never part of it.
 * @throws UpstreamError
 */
function proposeTable(config: Partial<PostgresConfig>, reach: Reach): Promise<Record<string, unknown>> {
  const { dsn, ...rest } = config
  return inSession(dsn, reach, async (session) =>
    rest.table
      ? describeTable(session, await findTable(session, rest.table), rest)
      : listTables(session, rest),
  )
}

async function listTables(session: Session, rest: object): Promise<Record<string, unknown>> {
  const found = await session.query<{ name: string; nameable: string; kind: string }>(TABLES)
  const tables = found.filter(({ nameable }) => nameable === 't').map(({ name, kind }) => ({ name, kind }))
  const others = found.length - tables.length
  const told = others > 0 ? `; left out for dots, quotes or control characters in names: ${others}` : ''
  return {
    summary:
      found.length === 0
        ? 'the user of dsn may read no table: GRANT SELECT on one'
        : `${countWords(tables.length, 'table')}${tables.length > 0 ? '; name one and discover again' : ''}${told}`,
    tables,
    proposed_config: rest,
  }
}

async function describeTable(
  session: Session,
  table: Table,
  rest: Omit<Partial<PostgresConfig>, 'dsn'>,
): Promise<Record<string, unknown>> {
  const cursor = rest.cursor_column
    ? columnOf(table, rest.cursor_column, 'cursor_column')
    : cursorOf(table.columns)
  const hasKey = table.key.length > 0
  const coverage = await coverageOf(session, table, cursor)
  const entity = entityOf(coverage)
  const shown = coverage.map(({ label, rows, of }) => ({ label, rows, of }))
  return {
    summary: `${countWords(table.columns.length, 'column')}${cursor ? `; rows are read in the order of ${cursor.name}` : ''}${hasKey ? '' : '; it has no primary key, so equal rows count as one'}${coverageText(entity)}`,
    columns: table.columns,
    coverage: shown,
    proposed_config: {
      ...rest,
      ...(cursor ? { cursor_column: cursor.name } : {}),
      labels: labelsOf(table.columns, entity),
    },
  }
}

function cursorOf(columns: readonly Column[]): Column | undefined {
  const named = (names: readonly string[], fits: (column: Column) => boolean) =>
    names.flatMap((name) => calledOf(columns.filter(fits), name) ?? [])[0]
  return (
    named(CURSOR_TIMES, isTime) ??
    named(CURSOR_NUMBERS, isInteger) ??
    columns.find(isTime) ??
    columns.find(isInteger) ??
    columns[0]
  )
}

/** Mappers of objects write `updatedAt`, which PostgreSQL makes `updatedat` where it was not quoted. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

/** `tenant_id`, `tenant id`, `tenantId` or `tenantID`; not `paid`, and not `id` alone. */
const isId = ({ name }: Column): boolean =>
  /[a-z0-9][^a-z0-9]+id$/i.test(name) || /[A-Za-z0-9]Id$|[a-z0-9]ID$/.test(name)

/** The column of that name, however its words are joined; where several are, the one spelled so. */
function calledOf<One extends Column>(columns: readonly One[], name: string): One | undefined {
  return (
    columns.find((column) => column.name === name) ??
    columns.find((column) => plain(column.name) === plain(name))
  )
}

/** A column that can be a label. */
interface Labelled extends Column {
  label: string
}

interface Coverage extends Labelled {
  /** Of the rows looked at, those that have a value in it. */
  rows: number
  of: number
}

/** Those that can be labels: as they are spelled, else with underscores where a label can have no such character. */
const labelled = (columns: readonly Column[]): Labelled[] =>
  columns.flatMap((column) => {
    const label = [column.name, column.name.replaceAll(/[^A-Za-z0-9]+/g, '_')].find(isLabelName)
    return label === undefined ? [] : [{ ...column, label }]
  })

/** Columns that could be the entity, the likely ones first, with how many of the newest rows have each. */
async function coverageOf(session: Session, table: Table, cursor: Column | undefined): Promise<Coverage[]> {
  const columns = labelled(table.columns)
  const known = ENTITIES.flatMap((name) => calledOf(columns, name) ?? [])
  const all = [...known, ...columns.filter((column) => isId(column) && !known.includes(column))]
  if (all.length === 0) return []
  const counts = all.map(({ name }, i) => `count(nullif(${quoted(name)}::text, ''))::text AS c${i}`)
  const order = cursor ? ` ORDER BY ${quoted(cursor.name)} DESC NULLS LAST` : ''
  const selected = all.map(({ name }) => quoted(name)).join(', ')
  const newest = `SELECT ${selected} FROM ${table.sql}${order} LIMIT ${LOOKED_AT}`
  const [found] = await session.query<Record<string, string>>(
    `SELECT count(*)::text AS n, ${counts.join(', ')} FROM (${newest}) AS newest`,
  )
  return all.map((column, i) => ({ ...column, rows: Number(found![`c${i}`]), of: Number(found!.n) }))
}

/** The likeliest that enough rows have, since a row without it has no entity; else the one that most have. */
function entityOf(coverage: readonly Coverage[]): Coverage | undefined {
  return (
    coverage.find(({ rows, of }) => of === 0 || rows / of >= ENTITY_SHARE) ??
    [...coverage].sort((a, b) => b.rows - a.rows)[0]
  )
}

function coverageText(entity: Coverage | undefined): string {
  if (!entity) return '; no column tells what they are about'
  const { label, rows, of } = entity
  return of === 0
    ? `; the entity is ${label}, and there are no rows yet`
    : `; the entity is ${label}, which is on ${rows} of the newest ${countWords(of, 'row')}`
}

function labelsOf(columns: readonly Column[], entity: Labelled | undefined): Label[] {
  const classes = CLASSES.flatMap((name) => calledOf(labelled(columns), name) ?? [])
  return [
    ...(entity ? [{ name: entity.label, field: entity.name, primary: true }] : []),
    ...classes.map(({ label, name }) => ({ name: label, field: name })),
  ]
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
    const reading = {
      table,
      cursorColumn: columnOf(table, config.cursor_column, 'cursor_column'),
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
      ...noticeOf(page.tooLarge, isOther),
    }
  })
}

function noticeOf(tooLarge: number, isOther: boolean): { notice?: string } {
  const told = [
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
}

interface Page {
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
async function readPage(session: Session, reading: Reading, before: TableCursor | null): Promise<Page> {
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

/* The statements of a page. Names come from the catalog and are quoted; values are parameters. */

/** A place in the order of reading as texts: the cursor value, then the key. */
type Place = readonly [value: string, ...key: string[]]

interface Reading {
  table: Table
  cursorColumn: Column
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
