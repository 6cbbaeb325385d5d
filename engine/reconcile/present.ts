/** The sync as its readers see it. */

import { kindWord } from '../../schemas/kinds.ts'
import type {
  CatalogCommit,
  CatalogPullRequest,
  CatalogSync,
  CatalogSyncHistory,
  Health,
} from '../../schemas/types.ts'
import type { CatalogFiles } from '../declared/catalog/catalog.ts'
import type { Declared } from '../declared/declared.ts'
import { isoOrNull } from '../model/units.ts'

import { adoptCommit } from './adoption.ts'
import { type Outcome, planCommit } from './plan.ts'
import type { SyncPlanPort } from './port.ts'
import { HISTORY_MAX, type SyncRow, syncRows } from './rows.ts'

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

/** Which parts were changed by hand and stay so. */
export function driftText(drifted: Outcome['parts']): string {
  const named = drifted.slice(0, DRIFT_NAMED).map(({ kind, name }) => `${kindWord(kind)} ${name}`)
  const more = drifted.length > DRIFT_NAMED ? ` and ${drifted.length - DRIFT_NAMED} more` : ''
  return `changed by hand, and kept by sync: warn: ${named.join(', ')}${more}`
}

/** The first problem of the files, with its place, and how many more there are. */
export function problemText({ problems }: Outcome): string {
  const [first] = problems
  if (!first) return 'the files of the commit have problems'
  const at = first.file === undefined ? '' : `${first.file}:${first.line}:${first.column}: `
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : ''
  return `${at}${first.path ? `${first.path}: ` : ''}${first.message}${more}`.slice(0, 500)
}
