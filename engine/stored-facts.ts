/** Facts about the data file that the engine begins with, and what it leaves in it for later. */
import { randomBytes } from 'node:crypto'
import type { OpenStore } from './store/open.ts'

/** What cursors of reads are signed with; made with the file. @param given in place of a random one, of a new file */
export function metaSecret(store: OpenStore, given?: string): string {
  store.db
    .prepare("INSERT OR IGNORE INTO meta VALUES ('cursor_secret', ?)")
    .run(given ?? randomBytes(32).toString('hex'))
  return store.db.prepare("SELECT value FROM meta WHERE key = 'cursor_secret'").pluck().get() as string
}

/** Time of ingest of the newest event, epoch ms; 0: there is none. */
export function lastIngest(store: OpenStore): number {
  return (
    (store.db.prepare('SELECT ingested_at FROM events ORDER BY id DESC LIMIT 1').pluck().get() as
      | number
      | undefined) ?? 0
  )
}

/** Marks a source for removal of its events. @returns how many there are. */
export function requestPurge(store: OpenStore, sourceId: number, now: number): number {
  store.db.prepare('INSERT OR IGNORE INTO purges (source_id, requested_at) VALUES (?, ?)').run(sourceId, now)
  const events = store.db.prepare('SELECT events FROM sources WHERE id = ?').pluck().get(sourceId) as
    | number
    | undefined
  const documents = store.db
    .prepare('SELECT count(*) FROM documents WHERE source_id = ?')
    .pluck()
    .get(sourceId) as number
  return (events ?? 0) + documents
}
