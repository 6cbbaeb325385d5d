/** What a database has to read, and a config for one of its tables. */
import type { Label, PostgresConfig } from '../../schemas/types.ts'
import type { Reach } from '../connectors/connector.ts'
import { inSession, type Session } from './session.ts'
import { type Column, columnOf, findTable, isInteger, isTime, type Table } from './table.ts'

const TABLES_MAX = 500
const TABLES = `SELECT n.nspname || '.' || c.relname AS name,
    CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'view' ELSE 'table' END AS kind
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
    AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
    AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT')
  ORDER BY c.relkind IN ('v', 'm'), n.nspname, c.relname LIMIT ${TABLES_MAX}`

const CURSOR_TIMES = ['updated_at', 'modified_at', 'updated', 'last_modified']
const CURSOR_NUMBERS = ['id', 'pk']
const ENTITIES = ['tenant_id', 'account_id', 'customer_id', 'org_id', 'user_id', 'project_id']
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
  return inSession(dsn, reach, async (session) =>
    rest.table ? describeTable(await findTable(session, rest.table), rest) : listTables(session, rest),
  )
}

async function listTables(session: Session, rest: object): Promise<Record<string, unknown>> {
  const tables = await session.query<{ name: string; kind: string }>(TABLES)
  return {
    summary:
      tables.length === 0
        ? 'the user of dsn may read no table: GRANT SELECT on one'
        : `${tables.length} table${tables.length === 1 ? '' : 's'}; name one and discover again`,
    tables,
    proposed_config: rest,
  }
}

function describeTable(table: Table, rest: Omit<Partial<PostgresConfig>, 'dsn'>): Record<string, unknown> {
  const cursor = rest.cursor_column
    ? columnOf(table, rest.cursor_column, 'cursor_column')
    : cursorOf(table.columns)
  const hasKey = table.key.length > 0
  return {
    summary: `${table.columns.length} columns${cursor ? `; rows are read in the order of ${cursor.name}` : ''}${hasKey ? '' : '; it has no primary key, so equal rows count as one'}`,
    columns: table.columns,
    proposed_config: {
      ...rest,
      ...(cursor ? { cursor_column: cursor.name } : {}),
      labels: labelsOf(table.columns),
    },
  }
}

function cursorOf(columns: readonly Column[]): Column | undefined {
  const named = (names: readonly string[], fits: (column: Column) => boolean) =>
    names.flatMap((name) => columns.find((column) => column.name === name && fits(column)) ?? [])[0]
  return (
    named(CURSOR_TIMES, isTime) ??
    named(CURSOR_NUMBERS, isInteger) ??
    columns.find(isTime) ??
    columns.find(isInteger) ??
    columns[0]
  )
}

function labelsOf(columns: readonly Column[]): Label[] {
  const names = columns.map(({ name }) => name).filter((name) => /^[A-Za-z0-9_]{1,64}$/.test(name))
  const entity = ENTITIES.find((name) => names.includes(name)) ?? names.find((name) => name.endsWith('_id'))
  return [
    ...(entity ? [{ name: entity, field: entity, primary: true }] : []),
    ...CLASSES.filter((name) => names.includes(name)).map((name) => ({ name, field: name })),
  ]
}
