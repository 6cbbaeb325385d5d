/**
 * The sync in the store: its one row and its history (the SQL), what a look asks of it, wherever the store is, and the
 * sync as its readers see it.
 */

import { kindWord } from '../../schemas/kinds.ts'
import { andMore, placeHead } from '../../schemas/problem-words.ts'
import type {
  CatalogCommit,
  CatalogImported,
  CatalogPullRequest,
  CatalogRepository,
  CatalogRepositoryWrite,
  CatalogSync,
  CatalogSyncEntry,
  CatalogSyncHistory,
  Health,
} from '../../schemas/types.ts'
import type { Access } from '../calls.ts'
import type { CatalogFiles } from '../declared/catalog/catalog.ts'
import type { Declared, WriteBy } from '../declared/declared.ts'
import type { Database } from '../log/store/handle.ts'
import type { UsableCredential } from '../model/credentials.ts'
import { isoOrNull } from '../model/units.ts'
import { type Adopted, adoptCommit } from './adoption.ts'
import type { FaultCode } from './git.ts'
import {
  type CommitTexts,
  type HowApplied,
  type Outcome,
  type PlanAsked,
  type PlannedCommit,
  planCommit,
} from './plan.ts'

/** Entries that are kept. */
const HISTORY_MAX = 100

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

/** Kind of what keeps the instance from being synced. */
export type SyncCode =
  | Exclude<FaultCode, 'mirror' | 'protected' | 'moved'>
  | 'rewritten'
  | 'drifted'
  | 'deletions'
  | 'refused'

/** What a look begins with. */
export interface SyncPlace {
  head: CatalogCommit | null
  target: CatalogCommit | null
  applied: CatalogCommit | null
  /** Names under which its files are remembered. */
  catalogs: string[]
  /** What it came to last: nothing has to be planned anew while commit and version are the same. */
  planned: {
    commit: string
    version: number
    code: string | null
    reason: string | null
    changes: number
    prune: boolean
  } | null
  /** Newest change-set. */
  version: number
}

export interface FetchedCommit {
  head: CatalogCommit
  /** Commit the instance is to be like; null: the newest. */
  target: CatalogCommit | null
}

/** What a look came to without an apply. */
export type Settled = { nextAt: number } & (
  | { outcome: 'matches'; commit: CatalogCommit; planned: PlannedCommit | null }
  | {
      outcome: 'differs'
      commit: CatalogCommit
      planned: PlannedCommit | null
      code: SyncCode | null
      reason: string | null
      /** All of the commit is applied: what differs was changed by hand since, in parts that keep that. */
      isApplied?: boolean
    }
  | {
      outcome: 'failed'
      commit: CatalogCommit | null
      planned: PlannedCommit | null
      code: SyncCode
      reason: string
    }
)

export interface ToApply {
  nextAt: number
  commit: CatalogCommit
  /** An older commit than the newest: it holds until there is a newer one. */
  isRollback: boolean
  /** The instance was like it, and is not any more. */
  isDrifted: boolean
  planned: PlannedCommit
  how: HowApplied
  by: WriteBy
  why: string | null
}

/** Not for doors: texts of files are trusted where they are given. */
export interface SyncPort {
  /** At a start. @param repository null: none is followed any more */
  followRepository(repository: CatalogRepository | null): Promise<void>
  /** @throws SvcError wrong_state */
  beginSync(): Promise<SyncPlace>
  fetchedCommit(fetched: FetchedCommit): Promise<void>
  settleSync(settled: Settled): Promise<void>
  /** What follows is an apply. */
  beginApply(): Promise<void>
  /** One transaction with its history. @throws SvcError conflict: the instance changed since it was planned; invalid */
  applyCommit(toApply: ToApply): Promise<CatalogImported>
  /** The newest entry that was not reported, with the credential to report it with. */
  unreportedSync(credential: string): Promise<{ entry: HistoryRow; credential: UsableCredential } | null>
  reportedSync(entry: number): Promise<void>
  /** The repository that was stored; null: none was. */
  repositorySetting(): Promise<CatalogRepositoryWrite | null>
  saveRepositorySetting(setting: CatalogRepositoryWrite | null): Promise<void>
  notePullRequest(pullRequest: CatalogPullRequest): Promise<void>
}

/** For what passes them on to the thread that answers. */
export const syncPortAccess: Record<keyof SyncPort, Access> = {
  followRepository: 'writes',
  beginSync: 'writes',
  fetchedCommit: 'writes',
  settleSync: 'writes',
  beginApply: 'writes',
  applyCommit: 'writes',
  // Where the token can be opened.
  unreportedSync: 'writes',
  reportedSync: 'writes',
  repositorySetting: 'writes',
  saveRepositorySetting: 'writes',
  notePullRequest: 'writes',
}

/** On the thread of wide reads. */
export interface SyncPlanPort {
  adoptCommit(asked: CommitTexts): Promise<{ wanted: string[] } | { adopted: Adopted }>
  planCommit(asked: PlanAsked): Promise<{ wanted: string[] } | { planned: PlannedCommit }>
}

/** Parts that an answer holds where not all are asked for, and those in no file. */
const PARTS_SHOWN = 1_000

export interface SyncReads extends SyncPlanPort {
  /** @param parts all of them, or those that are not synced */
  catalogSync(parts: 'all' | 'differing'): Promise<CatalogSync>
  catalogSyncHistory(): Promise<CatalogSyncHistory>
  /** The newest commit that was read, and the pull request that is open for what was changed by hand. */
  adoptionState(): Promise<{ head: CatalogCommit | null; pullRequest: CatalogPullRequest | null }>
}

export type SyncHealth = NonNullable<Health['catalog_sync']>

/** What the plan of an entry does, in numbers: null where there is none, which is not the same as nothing to do. */
export const countsTold = ({
  outcome,
  creates,
  updates,
  deletes,
}: Pick<HistoryRow, 'outcome' | PlanCount>): Pick<HistoryRow, PlanCount> | null =>
  outcome === 'failed' ? null : { creates, updates, deletes }

type PlanCount = 'creates' | 'updates' | 'deletes'

export function syncReads(parts: { declared: Declared; catalog: CatalogFiles }): SyncReads {
  const rows = syncRows(parts.declared.store.db)
  return {
    planCommit: async (asked) => planCommit(parts, asked),
    adoptCommit: async (asked) => adoptCommit(parts, asked),
    adoptionState: async () => {
      const { head, pullRequest } = rows.find(false) ?? { head: null, pullRequest: null }
      return { head, pullRequest }
    },
    catalogSync: async (shown) => presentSync(rows.find(), shown),
    catalogSyncHistory: async () => ({
      entries: rows.history(HISTORY_MAX).map(({ id: _id, at, changeSet, code: _code, ...entry }) => ({
        ...entry,
        ...(countsTold(entry) ?? { creates: null, updates: null, deletes: null }),
        at: new Date(at).toISOString(),
        change_set: changeSet,
      })),
    }),
  }
}

/** What GET /health and the metrics say; null: no repository is followed. */
export function syncHealth({ store }: Pick<Declared, 'store'>): SyncHealth | null {
  const row = syncRows(store.db).find(false)
  if (!row?.isFollowed) return null
  const { state, applied, head, fetchedAt, reason } = row
  return {
    state: state as SyncHealth['state'],
    commit: applied?.id ?? null,
    head: head?.id ?? null,
    fetched_at: isoOrNull(fetchedAt),
    reason,
  }
}

const OFF: CatalogSync = {
  ...{ state: 'off', repository: null, code: null, reason: null, head: null, target: null, applied: null },
  ...{ applied_at: null, change_set: null, looked_at: null, fetched_at: null, next_at: null, planned: null },
  ...{ plan: null, fingerprint: null, problems: [], warnings: [], files: [], parts: [], unmanaged: [] },
  counts: { synced: 0, out_of_sync: 0, drifted: 0, adopted: 0, failed: 0, unmanaged: 0 },
}

function presentSync(row: SyncRow | null, shown: 'all' | 'differing'): CatalogSync {
  if (!row?.isFollowed) return OFF
  const { outcome } = row
  return {
    ...{ state: row.state as CatalogSync['state'], repository: row.settings },
    ...{ code: row.code as CatalogSync['code'], reason: row.reason },
    ...{ head: row.head, target: row.target, applied: row.applied },
    ...{ applied_at: isoOrNull(row.appliedAt), change_set: row.changeSet },
    looked_at: isoOrNull(row.lookedAt),
    fetched_at: isoOrNull(row.fetchedAt),
    next_at: isoOrNull(row.nextAt),
    planned: outcome?.commit ?? null,
    ...outcomeShown(outcome, shown),
  }
}

/** Of what a commit comes to. */
export function outcomeShown(
  outcome: Omit<NonNullable<SyncRow['outcome']>, 'commit'> | null,
  shown: 'all' | 'differing',
): Pick<
  CatalogSync,
  | 'plan'
  | 'fingerprint'
  | 'problems'
  | 'warnings'
  | 'files'
  | 'parts'
  | 'unmanaged'
  | 'counts'
  | 'conflicts'
  | 'kept'
> {
  const {
    plan = null,
    fingerprint = null,
    problems = [],
    warnings = [],
    files = [],
    parts = [],
    unmanaged = [],
    conflicts,
    kept,
  } = outcome ?? {}
  const counted = (state: string) => parts.filter((part) => part.state === state).length
  const differing = () => parts.filter(({ state }) => state !== 'synced').slice(0, PARTS_SHOWN)
  return {
    ...{ plan, fingerprint, problems, warnings, files },
    ...(conflicts ? { conflicts } : {}),
    ...(kept ? { kept } : {}),
    parts: shown === 'all' ? parts : differing(),
    unmanaged: unmanaged.slice(0, PARTS_SHOWN),
    counts: {
      synced: counted('synced'),
      out_of_sync: counted('out_of_sync'),
      drifted: counted('drifted'),
      adopted: counted('adopted'),
      failed: files.filter(({ state }) => state === 'failed').length,
      unmanaged: unmanaged.length,
    },
  }
}

/* What a sync that did not end well is told as. */

/** By the code of the sync. */
export const REASONS: Readonly<Record<string, string>> = {
  rewritten:
    'the history of the branch was rewritten: the commit that was applied is not in it any more. A person has to apply the new one',
  drifted: 'the instance was changed otherwise since the commit was applied',
}

const DRIFT_NAMED = 5

/** Which parts were changed by hand and stay so: as they say themselves, or as whoever merged said. */
export function driftText(drifted: Outcome['parts']): string {
  const named = drifted.slice(0, DRIFT_NAMED).map(({ kind, name }) => `${kindWord(kind)} ${name}`)
  const more = drifted.length > DRIFT_NAMED ? ` and ${drifted.length - DRIFT_NAMED} more` : ''
  const by = drifted.every(({ sync }) => sync === 'warn') ? 'sync: warn' : 'a merge'
  return `changed by hand, and kept by ${by}: ${named.join(', ')}${more}`
}

/** The first problem of the files, with its place, and how many more there are. */
export function problemText({ problems }: Outcome): string {
  const [first] = problems
  if (!first) return 'the files of the commit have problems'
  return `${placeHead(first)}${first.path ? `${first.path}: ` : ''}${first.message}${andMore(problems)}`.slice(
    0,
    500,
  )
}
