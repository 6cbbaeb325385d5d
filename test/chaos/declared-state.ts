/** The whole content of a data file, to be compared; read with nothing of ours between. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import BetterSqlite3 from 'better-sqlite3'

/** What differs from one start to the next, and says nothing about what is declared; so does the count of commits. */
const OF_THE_START = ['clean_stop', 'incarnation']

/**
 * Every row of every table as text, one line each, in an order that does not depend on the file.
 * @param hide column values that may differ between runs, as table.column.
 * @throws Error when the file is damaged or a reference leads nowhere.
 */
export function dumpFile(file: string, hide: readonly string[] = []): string {
  const db = new BetterSqlite3(file)
  try {
    const faults = [
      ...(db.pragma('integrity_check') as { integrity_check: string }[]).filter(
        (row) => row.integrity_check !== 'ok',
      ),
      ...(db.pragma('foreign_key_check') as object[]),
    ]
    if (faults.length) throw new Error(`${file} is damaged: ${JSON.stringify(faults)}`)
    return tablesOf(db)
      .flatMap((table) => rowsOf(db, table, hide))
      .join('\n')
  } finally {
    db.close()
  }
}

function tablesOf(db: BetterSqlite3.Database): string[] {
  return db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .pluck()
    .all() as string[]
}

function rowsOf(db: BetterSqlite3.Database, table: string, hide: readonly string[]): string[] {
  if (table === 'commits') return []
  return (db.prepare(`SELECT * FROM "${table}"`).all() as Record<string, unknown>[])
    .filter((row) => !(table === 'meta' && OF_THE_START.includes(String(row.key))))
    .map((row) => {
      const shown = Object.entries(row).filter(([column]) => !hide.includes(`${table}.${column}`))
      return `${table} ${JSON.stringify(shown.map(([, value]) => (Buffer.isBuffer(value) ? value.toString('hex') : value)))}`
    })
    .sort()
}

/** What tells apart the bytes of a data file with its log; the same for two that are both not there. */
export function digestFile(file: string): string {
  const hash = createHash('sha256')
  for (const path of [file, `${file}-wal`])
    hash.update(existsSync(path) ? readFileSync(path) : '').update('\0')
  return hash.digest('hex')
}

/** The lines that only one of two dumps has, for messages. */
export function dumpDifference(a: string, b: string): string[] {
  const [left, right] = [new Set(a.split('\n')), new Set(b.split('\n'))]
  return [
    ...[...left].filter((line) => !right.has(line)).map((line) => `- ${line}`),
    ...[...right].filter((line) => !left.has(line)).map((line) => `+ ${line}`),
  ].map((line) => line.slice(0, 300))
}
