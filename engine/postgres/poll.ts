/** One poll of a table: its columns as they are now, then the next page of its rows. */
import type { Label, PostgresConfig } from '../../schemas/types.ts'
import type { Polled, Reach } from '../connectors/connector.ts'
import { headsOf } from '../ingest/field.ts'
import { templateFields } from '../ingest/template.ts'
import { readPage, type TableCursor } from './page.ts'
import { inSession } from './session.ts'
import { type Column, columnOf, findTable, type Table } from './table.ts'

const LIMIT = 200

interface Stored {
  database: string
  cursor: TableCursor
}

/** @throws UpstreamError */
export function pollTable(config: PostgresConfig, cursor: string | null, reach: Reach): Promise<Polled> {
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
