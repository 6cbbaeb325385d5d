/** What a look asks of the store, wherever that is, and what passes between them. */
import type {
  CatalogCommit,
  CatalogImported,
  CatalogPullRequest,
  CatalogRepository,
  CatalogRepositoryWrite,
} from '../../schemas/types.ts'
import type { Access } from '../calls.ts'
import type { WriteBy } from '../declared/write.ts'
import type { UsableCredential } from '../model/credentials.ts'
import type { Adopted } from './adoption.ts'
import type { FaultCode } from './git.ts'
import type { CommitTexts, HowApplied, PlanAsked, PlannedCommit } from './plan.ts'
import type { HistoryRow } from './rows.ts'

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
