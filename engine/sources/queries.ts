/** The SQL of sources. */
import type { Database } from '../store/handle.ts'

export interface SourceRow {
  id: number
  name: string
  connector: string
  poll: string
  /** JSON; secrets sealed. */
  config: string
  ingest_key: string | null
  snapshot: string
  state: 'active' | 'paused' | 'deleted'
  owned_by: string | null
  customized: number
  created_at: number
  updated_at: number
  events: number
  last_ingest: number | null
  /** Change-set that last changed it. */
  change_set: number
}

export interface NewSource {
  name: string
  connector: string
  poll: string
  config: string
  ingestKey: string | null
  snapshot: string
  /** Epoch ms. */
  at: number
}

export type SourceQueries = ReturnType<typeof sourceQueries>

/** The statements of sources, prepared once. */
export function sourceQueries(db: Database) {
  const columns =
    'id, name, connector, poll, config, ingest_key, snapshot, state, owned_by, customized, created_at, updated_at, events, last_ingest, change_set'
  const all = db.prepare<[], SourceRow>(
    `SELECT ${columns} FROM sources WHERE state <> 'deleted' ORDER BY name`,
  )
  const byName = db.prepare<[string], SourceRow>(
    `SELECT ${columns} FROM sources WHERE name = ? AND state <> 'deleted'`,
  )
  const byId = db.prepare<[number], SourceRow>(`SELECT ${columns} FROM sources WHERE id = ?`)
  const insert = db.prepare(
    'INSERT INTO sources (name, connector, poll, config, ingest_key, snapshot, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const update = db.prepare(
    'UPDATE sources SET poll = ?, config = ?, change_set = ?, updated_at = ?, version = version + 1 WHERE id = ?',
  )
  return {
    all: () => all.all(),
    byName: (name: string) => byName.get(name),
    insert: (s: NewSource) =>
      Number(
        insert.run(s.name, s.connector, s.poll, s.config, s.ingestKey, s.snapshot, s.at, s.at)
          .lastInsertRowid,
      ),
    /** A deleted one included: it keeps its row, and so its name and number labels on its events. */
    byId: (id: number) => byId.get(id),
    update: (
      id: number,
      poll: string,
      config: string,
      { changeSet, at }: { changeSet: number; at: number },
    ) => update.run(poll, config, changeSet, at, id),
  }
}
