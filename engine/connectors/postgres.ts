/** New rows of a PostgreSQL table (SPEC.md, Sources and labels 4). */

import { createHash } from 'node:crypto'
import type { FieldsOf } from '../../schemas/fields-of.ts'
import type { PostgresConfig } from '../../schemas/types.ts'
import { compileTemplate, oneLine, summarise } from '../ingest/template.ts'
import { proposeTable } from '../postgres/discover.ts'
import { parseDsn } from '../postgres/dsn.ts'
import { pollTable } from '../postgres/poll.ts'
import type { Item, MappedEvent, PollConnector } from './connector.ts'

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
