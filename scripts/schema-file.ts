/** What all migrations come to, as the statements that make a new file. */
import BetterSqlite3 from 'better-sqlite3'
import { migrate, readMigrations, SCHEMA_FILE, schemaHead } from '../engine/log/store/open.ts'

/** Path of the file, from the root of the project. */
export const SCHEMA_PATH = `engine/log/store/migrations/${SCHEMA_FILE}`

/** @returns its text: every statement of the schema as SQLite keeps it, then the rows that migrations put in. */
export function renderSchema(): string {
  const migrations = readMigrations()
  const db = new BetterSqlite3(':memory:')
  migrate(db, migrations)
  const kept = db
    .prepare(
      "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY rowid",
    )
    .all() as { type: string; name: string; sql: string }[]
  const statements = kept.map(({ sql }) => `${sql};\n`)
  for (const { name } of kept.filter(({ type }) => type === 'table')) {
    const columns = db.prepare('SELECT name FROM pragma_table_info(?) ORDER BY cid').pluck().all(name)
    const values = columns.map((column) => `quote("${column}")`).join(` || ', ' || `)
    for (const row of db.prepare(`SELECT ${values} FROM "${name}"`).pluck().all())
      statements.push(`INSERT INTO "${name}" VALUES (${row});\n`)
  }
  db.close()
  return schemaHead(migrations.at(-1)!.version) + statements.join('')
}
