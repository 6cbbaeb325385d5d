/** The SQL of sources. */
import type { Database } from '../log/store/handle.ts'

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

interface NewSource {
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
  const rename = db.prepare('UPDATE sources SET name = ?, version = version + 1 WHERE id = ?')
  return {
    all: () => all.all(),
    byName: (name: string) => byName.get(name),
    rename: (id: number, name: string) => rename.run(name, id),
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

/* The SQL of where polled sources stand. */

export interface PollRow {
  source_id: number
  cursor: string | null
  /** Epoch ms, as all times here. */
  next_at: number
  last_poll_at: number | null
  last_ok_at: number | null
  last_error: string | null
  consecutive_errors: number
  notice: string | null
  restarted: string | null
}

/** A poll that is due. */
interface DueRow {
  source_id: number
  cursor: string | null
  /** Of the source's row: changes with each edit and each change of its state. */
  version: number
}

/** A poll by what it began with. */
export interface PollBegun {
  id: number
  cursor: string | null
  version: number
}

export type PollQueries = ReturnType<typeof pollQueries>

/** Only what a poll began with may be written over: its source as it was, and its cursor. */
const AS_BEGUN =
  "source_id = @id AND cursor IS @cursor AND EXISTS (SELECT 1 FROM sources WHERE id = @id AND version = @version AND state = 'active')"

/** The statements of polls, prepared once. */
export function pollQueries(db: Database) {
  const find = db.prepare<[number], PollRow>('SELECT * FROM polls WHERE source_id = ?')
  const all = db.prepare<[], PollRow>('SELECT * FROM polls')
  const begin = db.prepare(
    'INSERT INTO polls (source_id, next_at) VALUES (?, ?) ON CONFLICT (source_id) DO UPDATE SET next_at = excluded.next_at, restarted = NULL',
  )
  const restart = db.prepare(
    'INSERT OR REPLACE INTO polls (source_id, next_at, restarted) VALUES (@id, @at, @why)',
  )
  // A poll that is still ahead was made before the clock was set back: so was the time of the next.
  const due = db.prepare<[{ now: number; busy: string; limit: number }], DueRow>(
    `SELECT p.source_id, p.cursor, s.version FROM polls p JOIN sources s ON s.id = p.source_id
     WHERE (p.next_at <= @now OR p.last_poll_at > @now) AND s.state = 'active' AND p.source_id NOT IN (SELECT value FROM json_each(@busy))
     ORDER BY p.next_at, p.source_id LIMIT @limit`,
  )
  const next = db
    .prepare<[{ busy: string }], number | null>(
      `SELECT min(p.next_at) FROM polls p JOIN sources s ON s.id = p.source_id
       WHERE s.state = 'active' AND p.source_id NOT IN (SELECT value FROM json_each(@busy))`,
    )
    .pluck()
  const current = db
    .prepare<[number], number>("SELECT version FROM sources WHERE id = ? AND state = 'active'")
    .pluck()
  const asBegun = db.prepare<[PollBegun], number>(`SELECT 1 FROM polls WHERE ${AS_BEGUN}`).pluck()
  const worked = db.prepare(
    `UPDATE polls SET cursor = @newCursor, next_at = @nextAt, last_poll_at = @at, last_ok_at = @at,
     last_error = NULL, consecutive_errors = 0, notice = @notice WHERE ${AS_BEGUN}`,
  )
  const failed = db.prepare(
    `UPDATE polls SET next_at = @nextAt, last_poll_at = @at, last_error = @error,
     consecutive_errors = consecutive_errors + 1 WHERE ${AS_BEGUN}`,
  )
  return {
    find: (sourceId: number) => find.get(sourceId),
    all: () => new Map(all.all().map((row) => [row.source_id, row])),
    /** The next poll is due at once; where it stands is kept. */
    begin: (sourceId: number, at: number) => void begin.run(sourceId, at),
    /** Reading begins anew. @param why told on the source's health. */
    restart: (sourceId: number, at: number, why: string) => void restart.run({ id: sourceId, at, why }),
    /** @param busy sources whose poll is under way. */
    due: (now: number, busy: readonly number[], limit: number) =>
      due.all({ now, busy: JSON.stringify(busy), limit }),
    /** When the next is due of those that are not busy. */
    next: (busy: readonly number[]) => next.get({ busy: JSON.stringify(busy) }) ?? null,
    /** Version of an active source's row. */
    versionOf: (sourceId: number) => current.get(sourceId),
    isAsBegun: (begun: PollBegun) => asBegun.get(begun) !== undefined,
    /** @returns whether it was still as the poll began. */
    worked: (
      begun: PollBegun,
      row: { newCursor: string | null; nextAt: number; at: number; notice: string | null },
    ) => worked.run({ ...begun, ...row }).changes === 1,
    /** @returns whether it was still as the poll began. */
    failed: (begun: PollBegun, row: { nextAt: number; at: number; error: string }) =>
      failed.run({ ...begun, ...row }).changes === 1,
  }
}
