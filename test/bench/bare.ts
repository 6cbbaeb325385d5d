/** The yardstick: better-sqlite3 alone, the same rows into the events table alone, 1,000 a commit. */
import BetterSqlite3 from 'better-sqlite3'
import type { Generator } from './data.ts'

/** @returns rows per second, WAL and synchronous=FULL like the daemon. */
export function bareInsertRate(file: string, generator: Generator, rows: number): number {
  const db = new BetterSqlite3(file)
  db.pragma('page_size = 8192')
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  db.pragma('cache_size = -32768')
  db.exec(
    'CREATE TABLE events (id INTEGER PRIMARY KEY, source_id INTEGER NOT NULL, ts INTEGER NOT NULL, ingested_at INTEGER NOT NULL, labels BLOB NOT NULL, entity INTEGER, numbers TEXT, claimed_time TEXT, text TEXT NOT NULL, raw BLOB NOT NULL)',
  )
  const insert = db.prepare('INSERT INTO events VALUES (?,?,?,?,?,?,?,?,?,?)')
  const labels = new Uint8Array(24)
  // Payloads and texts are made before the clock runs.
  const raws = Array.from({ length: 20_000 }, (_, n) => Buffer.from(generator.line(n, rows)))
  const texts = raws.map((raw) => {
    const { method, path, status, ms, note } = JSON.parse(raw.toString()) as Record<string, string>
    return `${method} ${path} ${status} in ${ms} ms, ${note}`
  })
  const commit = db.transaction((from: number) => {
    for (let i = from; i < from + 1_000; i++)
      insert.run(i + 1, 1, 1.7e12 + i, 1.7e12, labels, 1, null, null, texts[i % 20_000], raws[i % 20_000])
  })
  const started = performance.now()
  for (let from = 0; from < rows; from += 1_000) commit.immediate(from)
  const seconds = (performance.now() - started) / 1_000
  db.close()
  return rows / seconds
}
