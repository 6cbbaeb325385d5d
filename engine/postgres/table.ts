/** The table a source reads, as the catalog of its database has it. */
import { UpstreamError } from '../connectors/connector.ts'
import type { Session } from './session.ts'

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
}

/** An identifier in quotes. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

const FIND = `SELECT c.oid::text AS oid, n.nspname::text AS schema, c.relname::text AS name
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
  }
}

interface Found {
  oid: string
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
/** Whether they are whole numbers. */
export const isInteger = ({ type }: Column): boolean => /^(smallint|integer|bigint)$/.test(type)
