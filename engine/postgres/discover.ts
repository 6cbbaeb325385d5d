/** What a database has to read, and a config for one of its tables. */
import type { Label, PostgresConfig } from '../../schemas/types.ts'
import { ENTITY_SHARE, type Reach } from '../connectors/connector.ts'
import { inSession, type Session } from './session.ts'
import { type Column, columnOf, findTable, isInteger, isTime, quoted, type Table } from './table.ts'

const TABLES_MAX = 500
const TABLES = `SELECT n.nspname || '.' || c.relname AS name,
    CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'view' ELSE 'table' END AS kind
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
    AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
    AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT')
  ORDER BY c.relkind IN ('v', 'm'), n.nspname, c.relname LIMIT ${TABLES_MAX}`

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
export function proposeTable(
  config: Partial<PostgresConfig>,
  reach: Reach,
): Promise<Record<string, unknown>> {
  const { dsn, ...rest } = config
  return inSession(dsn, reach, async (session) =>
    rest.table
      ? describeTable(session, await findTable(session, rest.table), rest)
      : listTables(session, rest),
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
  return {
    summary: `${table.columns.length} columns${cursor ? `; rows are read in the order of ${cursor.name}` : ''}${hasKey ? '' : '; it has no primary key, so equal rows count as one'}${coverageText(entity)}`,
    columns: table.columns,
    coverage,
    proposed_config: {
      ...rest,
      ...(cursor ? { cursor_column: cursor.name } : {}),
      labels: labelsOf(table.columns, entity?.label),
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

interface Coverage {
  label: string
  /** Of the rows looked at, those that have a value in it. */
  rows: number
  of: number
}

const labelNames = (columns: readonly Column[]): string[] =>
  columns.map(({ name }) => name).filter((name) => /^[A-Za-z0-9_]{1,64}$/.test(name))

/** Columns that could be the entity, the likely ones first, with how many of the newest rows have each. */
async function coverageOf(session: Session, table: Table, cursor: Column | undefined): Promise<Coverage[]> {
  const names = labelNames(table.columns)
  const known = ENTITIES.filter((name) => names.includes(name))
  const all = [...known, ...names.filter((name) => name.endsWith('_id') && !known.includes(name))]
  if (all.length === 0) return []
  const counts = all.map((name, i) => `count(nullif(${quoted(name)}::text, ''))::text AS c${i}`)
  const order = cursor ? ` ORDER BY ${quoted(cursor.name)} DESC NULLS LAST` : ''
  const newest = `SELECT ${all.map(quoted).join(', ')} FROM ${table.sql}${order} LIMIT ${LOOKED_AT}`
  const [found] = await session.query<Record<string, string>>(
    `SELECT count(*)::text AS n, ${counts.join(', ')} FROM (${newest}) AS newest`,
  )
  return all.map((label, i) => ({ label, rows: Number(found![`c${i}`]), of: Number(found!.n) }))
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
    : `; the entity is ${label}, which is on ${rows} of the newest ${of} row${of === 1 ? '' : 's'}`
}

function labelsOf(columns: readonly Column[], entity: string | undefined): Label[] {
  const names = labelNames(columns)
  return [
    ...(entity ? [{ name: entity, field: entity, primary: true }] : []),
    ...CLASSES.filter((name) => names.includes(name)).map((name) => ({ name, field: name })),
  ]
}
