/**
 * One connection for one poll: to addresses that were checked, in one transaction that reads, with a
 * snapshot of its own and a limit on every statement. And what the catalog of the database has of its tables.
 */

import { isIP } from 'node:net'
import type { Client, ClientConfig } from 'pg'
import { ownField } from '../../../schemas/fields-of.ts'
import { countWords } from '../../../schemas/plain-words.ts'
import type { Label, PostgresConfig } from '../../../schemas/types.ts'
import { isLabelName } from '../../log/ingest/label.ts'
import { addressesOf, mayReach, NOT_ALLOWED, systemResolve } from '../../net/address.ts'
import { ENTITY_SHARE, type Reach, UpstreamError } from '../connectors/connector.ts'

export interface Session {
  /** Rows of a statement, values as texts. @throws UpstreamError */
  query<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>
}

const CONNECT_MS = 10_000
const STATEMENT_MS = 10_000
const resolve = systemResolve()

/**
 * Works in a session, which ends with it.
 * @param dsn opened. @throws UpstreamError with what to do, never with anything of the dsn's secret
 */
export async function inSession<T>(
  dsn: unknown,
  reach: Reach,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const target = typeof dsn === 'string' ? parseDsn(dsn.trim()) : 'dsn is missing'
  if (typeof target === 'string') throw new UpstreamError(target)
  const client = await connect(target, await checkedAddresses(target.host), reach.signal)
  const cut = () => client.connection.stream.destroy()
  reach.signal.addEventListener('abort', cut, { once: true })
  try {
    await client.query('BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY')
    await client.query(
      `SET LOCAL statement_timeout = ${STATEMENT_MS}; SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO'; SET LOCAL extra_float_digits = 1`,
    )
    return await work({
      query: async <Row>(sql: string, values: readonly unknown[] = []) =>
        (await client.query(sql, [...values])).rows as Row[],
    })
  } catch (error) {
    throw error instanceof UpstreamError ? error : new UpstreamError(sentenceOf(error, reach.signal.aborted))
  } finally {
    reach.signal.removeEventListener('abort', cut)
    // Nothing was written, so there is nothing to end but the connection.
    client.connection.stream.destroy()
  }
}

async function checkedAddresses(host: string): Promise<readonly string[]> {
  let addresses: readonly string[]
  try {
    addresses = await addressesOf(host, resolve)
  } catch {
    throw new UpstreamError(`the host name in dsn cannot be resolved: correct it, or check the name server`)
  }
  if (!mayReach(addresses, 'operator', false)) throw new UpstreamError(`dsn: ${NOT_ALLOWED}`)
  return addresses
}

/** The library keeps its connection to itself in its types; it is what can be cut off. */
type Connected = Client & { connection: { stream: { destroy(): void } } }

/** Each address in turn; where encryption is preferred and not to be had, without. */
async function connect(dsn: Dsn, addresses: readonly string[], signal: AbortSignal): Promise<Connected> {
  const tries = addresses.flatMap((address) =>
    dsn.sslMode === 'prefer'
      ? [
          { address, ssl: true },
          { address, ssl: false },
        ]
      : [{ address, ssl: dsn.sslMode !== 'disable' }],
  )
  let last: unknown
  for (const { address, ssl } of tries) {
    // Without encryption only where the server has none, never because a certificate or a password failed.
    if (!ssl && dsn.sslMode === 'prefer' && !isWithoutSsl(last)) continue
    try {
      return await connectTo(dsn, address, ssl, signal)
    } catch (error) {
      last = error
      if (signal.aborted) break
    }
  }
  throw new UpstreamError(sentenceOf(last, signal.aborted))
}

const isWithoutSsl = (error: unknown): boolean =>
  error instanceof Error && error.message === 'The server does not support SSL connections'

async function connectTo(dsn: Dsn, address: string, ssl: boolean, signal: AbortSignal): Promise<Connected> {
  // Loaded at the first poll: most instances have no such source.
  const { default: pg } = await import('pg')
  const { host, port, user, password, database, sslMode } = dsn
  const config: ClientConfig = {
    host: address,
    port,
    user,
    // A function, so that an empty one is not looked for in the environment and files of the process.
    password: () => password,
    database,
    application_name: 'svc',
    connectionTimeoutMillis: CONNECT_MS,
    // What the server says of a value is its text, so that nothing is rounded.
    types: { getTypeParser: () => (value: unknown) => value } as ClientConfig['types'],
    ssl: ssl
      ? {
          host,
          rejectUnauthorized: sslMode.startsWith('verify'),
          ...(sslMode === 'verify-ca' ? { checkServerIdentity: () => undefined } : {}),
        }
      : false,
  }
  const client = new pg.Client(config) as Connected
  // What goes wrong is told by what is waited for; without a listener it would end the process.
  client.on('error', () => {})
  const cut = () => client.connection.stream.destroy()
  signal.addEventListener('abort', cut, { once: true })
  try {
    await client.connect()
    return client
  } catch (error) {
    cut()
    throw error
  } finally {
    signal.removeEventListener('abort', cut)
  }
}

/*
 * Connection URLs, read by us and not by the client library: it would take a socket path, another host or
 * options of the server from the query, and what is missing from environment variables of its own.
 */

/** How the connection is encrypted, in libpq's words. */
type SslMode = 'disable' | 'prefer' | 'require' | 'verify-ca' | 'verify-full'

interface Dsn {
  /** Without brackets. */
  host: string
  port: number
  user: string
  password: string
  database: string
  sslMode: SslMode
}

const SSL_MODES: readonly string[] = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full']
const FORM = 'dsn must be a URL: postgresql:// and then user:password@host:5432/database'

/** @returns a sentence that quotes nothing of it where it is none: it holds a password. */
export function parseDsn(text: string): Dsn | string {
  if (!/^postgres(ql)?:\/\//.test(text)) return FORM
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || text.includes('#'))
    return `${FORM}; characters such as @ / # : in a password must be percent-encoded`
  const host = decoded(url.hostname)?.replace(/^\[|\]$/g, '')
  const [user, password] = [decoded(url.username), decoded(url.password)]
  const database = decoded(url.pathname.slice(1))
  if (!host || !user || password === null || database === null) return FORM
  if (!/^[A-Za-z0-9._-]+$/.test(host) && isIP(host) === 0)
    return 'dsn must name one host, by name or IP address; a socket path is none'
  for (const name of url.searchParams.keys())
    if (name !== 'sslmode') return 'dsn takes one parameter alone: sslmode'
  const sslMode = url.searchParams.get('sslmode') ?? 'prefer'
  if (!SSL_MODES.includes(sslMode)) return `sslmode of dsn must be one of ${SSL_MODES.join(', ')}`
  return {
    host,
    port: Number(url.port || 5432),
    user,
    password,
    database: database || user,
    sslMode: sslMode as SslMode,
  }
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

/* What PostgreSQL or the way to it says when it does not work, as a sentence that says what to do. */

/** SQLSTATE, PostgreSQL's Appendix A, and codes of the network. */
const SENTENCES: Readonly<Record<string, string>> = {
  '28P01': 'PostgreSQL refuses user or password; correct both in dsn',
  '28000': 'PostgreSQL lets this user not connect: check pg_hba.conf and sslmode in dsn',
  '3D000': 'PostgreSQL has no such database: correct its name in dsn',
  '42501':
    'the user of dsn may not read the table: GRANT SELECT on it (and USAGE on its schema), or name as columns those it may read',
  '53300': 'PostgreSQL has no connection left: raise max_connections, or use a pooler',
  '57014': 'PostgreSQL took longer than 10 s: put an index on the cursor column and the primary key',
  '57P03': 'PostgreSQL is starting up or shutting down',
  '25006': 'PostgreSQL refused: the table cannot be read without writing',
  ECONNREFUSED:
    'PostgreSQL cannot be reached: connection refused; check host and port of dsn, and that it runs',
  ECONNRESET: 'PostgreSQL closed the connection',
  EPIPE: 'PostgreSQL closed the connection',
  ETIMEDOUT: 'PostgreSQL cannot be reached: check host and port of dsn, and firewalls between',
  EHOSTUNREACH: 'PostgreSQL cannot be reached: check host and port of dsn, and the network between',
  ENETUNREACH: 'PostgreSQL cannot be reached: check host and port of dsn, and the network between',
}
const TLS = /CERT|SELF_SIGNED|ISSUER|ALTNAME|ERR_TLS|ERR_SSL|EPROTO/
const SHOWN = 200

/** @param isCut the time of the poll was over. */
function sentenceOf(error: unknown, isCut: boolean): string {
  if (isCut) return 'PostgreSQL gave no answer in time'
  const { code, message = '' } = error as { code?: unknown; message?: string }
  if (typeof code === 'string') {
    const known = ownField(SENTENCES, code)
    if (known) return known
    if (TLS.test(code))
      return `TLS with PostgreSQL failed (${code}): check sslmode in dsn and the certificate`
    if (/^[0-9A-Z]{5}$/.test(code)) return `PostgreSQL refused the query (${code}): ${oneLine(message)}`
    return `PostgreSQL cannot be reached (${code})`
  }
  if (/does not support SSL/.test(message))
    return 'PostgreSQL offers no TLS: correct sslmode in dsn, or switch TLS on'
  if (/timeout/i.test(message)) return 'PostgreSQL did not answer within 10 s: check host and port of dsn'
  return 'PostgreSQL ended the connection'
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').slice(0, SHOWN)

/* The table a source reads, as the catalog of its database has it. */

export interface Column {
  name: string
  /** As a cast takes it, such as timestamp with time zone. */
  type: string
}

export interface Table {
  /** Quoted, with its schema. */
  sql: string
  columns: Column[]
  /** Columns of the primary key; none: it has none. */
  key: Column[]
  /** Another one where it was emptied by TRUNCATE, made anew, restored or written anew as a whole. */
  state: string
}

/** An identifier in quotes. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** A table with partitions has no file of its own: what TRUNCATE gives anew are those of its partitions, at any depth. */
const FILES = `CASE c.relkind WHEN 'p' THEN (
    WITH RECURSIVE part(oid) AS (
      SELECT inhrelid FROM pg_inherits WHERE inhparent = c.oid
      UNION ALL SELECT i.inhrelid FROM pg_inherits i JOIN part ON i.inhparent = part.oid)
    SELECT count(*) || ':' || coalesce(sum(p.relfilenode::bigint), 0) FROM part JOIN pg_class p ON p.oid = part.oid)
  ELSE c.relfilenode::text END`
const FIND = `SELECT c.oid::text AS oid, c.oid || ':' || ${FILES} AS state, n.nspname::text AS schema, c.relname::text AS name
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.oid = to_regclass($1) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')`
const COLUMNS = `SELECT attname::text AS name, format_type(atttypid, -1) AS type
  FROM pg_attribute WHERE attrelid = $1::oid AND attnum > 0 AND NOT attisdropped ORDER BY attnum`
const KEY = `SELECT a.attname::text AS name, format_type(a.atttypid, -1) AS type
  FROM pg_index i CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, place)
  JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
  WHERE i.indrelid = $1::oid AND i.indisprimary ORDER BY k.place`

/**
 * @param name table or schema.table, in its own case of letters or folded to lower case.
 * @throws UpstreamError where there is none that the user can see
 */
export async function findTable(session: Session, name: string): Promise<Table> {
  const found = (await lookUp(session, name)) ?? (await lookUp(session, name.toLowerCase()))
  if (!found)
    throw new UpstreamError(
      `the database has no table ${name} that the user of dsn can see: correct table, or name its schema as in public.orders`,
    )
  return {
    sql: `${quoted(found.schema)}.${quoted(found.name)}`,
    columns: await session.query<Column>(COLUMNS, [found.oid]),
    key: await session.query<Column>(KEY, [found.oid]),
    state: found.state,
  }
}

interface Found {
  oid: string
  state: string
  schema: string
  name: string
}

async function lookUp(session: Session, name: string): Promise<Found | undefined> {
  const [found] = await session.query<Found>(FIND, [name.split('.').map(quoted).join('.')])
  return found
}

/** @throws UpstreamError where the table has no such column */
export function columnOf(table: Table, name: string, field: string): Column {
  const column =
    table.columns.find((one) => one.name === name) ??
    table.columns.find((one) => one.name === name.toLowerCase())
  if (!column) throw new UpstreamError(`the table has no column ${name}: correct ${field}`)
  return column
}

/** Whether values of the type are moments. */
export const isTime = ({ type }: Column): boolean => /^(timestamp|date\b)/.test(type)
/** Whether they are texts. */
const isText = ({ type }: Column): boolean => /^(text|character|citext)/.test(type)
/** Whether they are whole numbers. */
const isInteger = ({ type }: Column): boolean => /^(smallint|integer|bigint)$/.test(type)

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
/** The same where they are no ids. */
const NAMES = ['tenant', 'account', 'customer', 'org', 'organization', 'service', 'user', 'project']
/** When a row came to be, where its rows are read in the order of something else. */
const TIMES = ['created_at', 'occurred_at', 'event_time', 'inserted_at', 'created', 'timestamp', 'time', 'at']
const CLASSES = ['status', 'state', 'type', 'environment', 'region']

/**
 * @returns without a table: those the user may read; with one: its columns and a proposed config. The dsn
 *   is never part of it.
 * @throws UpstreamError
 */
export function proposeTable(
  config: Partial<PostgresConfig>,
  reach: Reach,
): Promise<Record<string, unknown>> {
  const { dsn, ...rest } = config
  return inSession(dsn, reach, async (session) => {
    if (!rest.table) return listTables(session, rest)
    const table = await findTable(session, rest.table)
    return describeTable(session, table, await readableOf(session, table), rest)
  })
}

/** The columns that the user may read: a grant may name some of them alone. */
async function readableOf(session: Session, { sql, columns }: Table): Promise<Column[]> {
  const found = await session.query<{ name: string }>(
    `SELECT name FROM unnest($2::text[]) AS name WHERE has_column_privilege($1, name, 'SELECT')`,
    [sql, columns.map(({ name }) => name)],
  )
  const names = new Set(found.map(({ name }) => name))
  // Of none it is refused below, with what to do.
  return names.size === 0 ? columns : columns.filter(({ name }) => names.has(name))
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
  all: Table,
  readable: Column[],
  rest: Omit<Partial<PostgresConfig>, 'dsn'>,
): Promise<Record<string, unknown>> {
  const table = { ...all, columns: readable }
  const cursor = rest.cursor_column
    ? columnOf(table, rest.cursor_column, 'cursor_column')
    : cursorOf(table.columns)
  const time = !rest.time_column && cursor && !isTime(cursor) ? timeOf(table.columns) : undefined
  const hasKey = table.key.length > 0
  const coverage = await coverageOf(session, table, cursor)
  const hidden = all.columns.length - readable.length
  const entity = entityOf(coverage)
  const shown = coverage.map(({ label, rows, of }) => ({ label, rows, of }))
  return {
    summary: `${countWords(table.columns.length, 'column')}${cursor ? `; rows are read in the order of ${cursor.name}` : ''}${time ? `, at the time of ${time.name}` : ''}${hasKey ? '' : '; it has no primary key, so equal rows count as one'}${hidden > 0 ? `; left out, as the user of dsn may not read them: ${hidden}` : ''}${coverageText(entity)}`,
    columns: table.columns,
    coverage: shown,
    proposed_config: {
      ...rest,
      ...(cursor ? { cursor_column: cursor.name } : {}),
      ...(time ? { time_column: time.name } : {}),
      // All columns are read where none is named.
      ...(hidden > 0 && !rest.columns ? { columns: readable.map(({ name }) => name).join(', ') } : {}),
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

/** When rows came to be, where a column is named so: others may say when something ends. */
const timeOf = (columns: readonly Column[]): Column | undefined =>
  TIMES.flatMap((name) => calledOf(columns.filter(isTime), name) ?? [])[0]

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
  const ids = columns.filter((column) => isId(column) && !known.includes(column))
  const names = NAMES.flatMap((name) => calledOf(columns.filter(isText), name) ?? [])
  const all = [...known, ...ids, ...names]
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
