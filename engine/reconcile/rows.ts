/** The SQL of the sync: its one row, and its history. */
import type {
  CatalogCommit,
  CatalogPullRequest,
  CatalogRepository,
  CatalogSyncEntry,
} from '../../schemas/types.ts'
import type { Database } from '../log/store/handle.ts'
import type { Outcome } from './plan.ts'

/** Entries that are kept. */
export const HISTORY_MAX = 100

/** Times in epoch ms. */
export interface SyncRow {
  settings: CatalogRepository
  isFollowed: boolean
  state: string
  lookedAt: number | null
  fetchedAt: number | null
  nextAt: number | null
  head: CatalogCommit | null
  target: CatalogCommit | null
  applied: CatalogCommit | null
  appliedAt: number | null
  changeSet: number | null
  catalogs: string[]
  code: string | null
  reason: string | null
  plannedVersion: number | null
  outcome: (Outcome & { commit: CatalogCommit }) | null
  pullRequest: CatalogPullRequest | null
}

interface Stored {
  settings: string
  is_followed: number
  state: string
  looked_at: number | null
  fetched_at: number | null
  next_at: number | null
  head: string | null
  target: string | null
  applied: string | null
  applied_at: number | null
  change_set: number | null
  catalogs: string
  code: string | null
  reason: string | null
  planned_version: number | null
  outcome: string | null
  pull_request: string | null
}

export interface HistoryRow {
  id: number
  at: number
  outcome: CatalogSyncEntry['outcome']
  commit: CatalogCommit | null
  by: string
  policy: CatalogRepository['policy']
  creates: number
  updates: number
  deletes: number
  changeSet: number | null
  code: string | null
  reason: string | null
}

type Columns = Partial<Omit<SyncRow, 'state'>>

/** Fields that are stored as JSON, and the columns of all. */
const COLUMNS: Readonly<Record<keyof Columns, readonly [column: string, isJson: boolean]>> = {
  settings: ['settings', true],
  isFollowed: ['is_followed', false],
  lookedAt: ['looked_at', false],
  fetchedAt: ['fetched_at', false],
  nextAt: ['next_at', false],
  head: ['head', true],
  target: ['target', true],
  applied: ['applied', true],
  appliedAt: ['applied_at', false],
  changeSet: ['change_set', false],
  catalogs: ['catalogs', true],
  code: ['code', false],
  reason: ['reason', false],
  plannedVersion: ['planned_version', false],
  outcome: ['outcome', true],
  pullRequest: ['pull_request', true],
}

export function syncRows(db: Database) {
  const read = db.prepare<[], Stored>('SELECT * FROM catalog_syncs WHERE id = 1')
  const light = db.prepare<[], Stored>(
    `SELECT settings, is_followed, state, looked_at, fetched_at, next_at, head, target, applied, applied_at, change_set,
       catalogs, code, reason, planned_version, pull_request, NULL AS outcome FROM catalog_syncs WHERE id = 1`,
  )
  const make = db.prepare<[string, string]>(
    'INSERT INTO catalog_syncs (id, settings, is_followed, snapshot) VALUES (1, ?, 1, ?)',
  )
  const append = db.prepare<Omit<HistoryRow, 'id' | 'commit'> & { commit: string | null }>(
    `INSERT INTO catalog_sync_history
       (at, outcome, commit_of, by_name, policy, creates, updates, deletes, change_set, code, reason)
     VALUES (@at, @outcome, @commit, @by, @policy, @creates, @updates, @deletes, @changeSet, @code, @reason)`,
  )
  const forget = db.prepare<[number]>(
    'DELETE FROM catalog_sync_history WHERE id <= (SELECT max(id) FROM catalog_sync_history) - ?',
  )
  const COLUMNS_OF = `id, at, outcome, commit_of, by_name AS "by", policy, creates, updates, deletes,
    change_set AS changeSet, code, reason`
  type StoredEntry = Omit<HistoryRow, 'commit'> & { commit_of: string | null }
  const list = db.prepare<[number], StoredEntry>(
    `SELECT ${COLUMNS_OF} FROM catalog_sync_history ORDER BY id DESC LIMIT ?`,
  )
  const unreported = db.prepare<[], StoredEntry>(
    `SELECT ${COLUMNS_OF} FROM catalog_sync_history
     WHERE reported_at IS NULL AND commit_of IS NOT NULL ORDER BY id DESC LIMIT 1`,
  )
  const reported = db.prepare<[number, number]>(
    'UPDATE catalog_sync_history SET reported_at = ? WHERE id <= ? AND reported_at IS NULL',
  )
  const entryOf = ({ commit_of: commit, ...rest }: StoredEntry): HistoryRow => ({
    ...rest,
    commit: commit === null ? null : (JSON.parse(commit) as CatalogCommit),
  })
  return {
    /** @param isWhole with what it came to, which may be large */
    find: (isWhole = true): SyncRow | null => {
      const row = (isWhole ? read : light).get()
      return row ? rowOf(row) : null
    },
    make: (settings: CatalogRepository, snapshot: string) =>
      void make.run(JSON.stringify(settings), snapshot),
    /** Writes these fields of the row. */
    save: (fields: Columns): void => {
      const given = (Object.keys(fields) as (keyof Columns)[]).filter((field) => fields[field] !== undefined)
      if (given.length === 0) return
      const values = given.map((field) => {
        const value = fields[field]
        if (typeof value === 'boolean') return Number(value)
        return COLUMNS[field][1] && value !== null ? JSON.stringify(value) : value
      })
      db.prepare(
        `UPDATE catalog_syncs SET ${given.map((field) => `${COLUMNS[field][0]} = ?`).join(', ')} WHERE id = 1`,
      ).run(...values)
    },
    append: ({ commit, ...entry }: Omit<HistoryRow, 'id'>): void => {
      append.run({ ...entry, commit: commit === null ? null : JSON.stringify(commit) })
      forget.run(HISTORY_MAX)
    },
    /** Newest first. */
    history: (limit: number): HistoryRow[] => list.all(limit).map(entryOf),
    /** The newest that GitHub was not told of. */
    unreported: (): HistoryRow | null => {
      const row = unreported.get()
      return row ? entryOf(row) : null
    },
    reported: (id: number, at: number) => void reported.run(at, id),
  }
}

const parsed = <T>(text: string | null): T | null => (text === null ? null : (JSON.parse(text) as T))

const rowOf = (row: Stored): SyncRow => ({
  settings: JSON.parse(row.settings) as CatalogRepository,
  isFollowed: row.is_followed === 1,
  state: row.state,
  lookedAt: row.looked_at,
  fetchedAt: row.fetched_at,
  nextAt: row.next_at,
  head: parsed(row.head),
  target: parsed(row.target),
  applied: parsed(row.applied),
  appliedAt: row.applied_at,
  changeSet: row.change_set,
  catalogs: JSON.parse(row.catalogs) as string[],
  code: row.code,
  reason: row.reason,
  plannedVersion: row.planned_version,
  outcome: parsed(row.outcome),
  pullRequest: parsed(row.pull_request),
})
