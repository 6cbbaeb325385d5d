/** What the slices get of the store: the writing connection and transactions. */
import type BetterSqlite3 from 'better-sqlite3'
import { SvcError } from '../../errors.ts'

export type Database = BetterSqlite3.Database
export type { Statement } from 'better-sqlite3'

export interface StoreHandle {
  /** The one writing connection. */
  db: Database
  /**
   * Runs `fn` in one immediate transaction and returns its result; inside another transaction it
   * becomes a savepoint, so a failure undoes only itself. Synchronous: never await inside.
   */
  tx<T>(fn: () => T): T
  /**
   * Runs `fn` in a transaction that is rolled back, whatever comes of it: what it reads of its own
   * writes is as it would be, and nothing is left of it, what was to run after the commit included.
   * Ids that memory counts up may be skipped. Not inside another transaction.
   */
  rehearse<T>(fn: () => T): T
  /**
   * Runs `fn` once the outermost transaction has committed, at once where there is none; never when
   * it is rolled back. Only for what is read again from the rows, so that running it needlessly,
   * after a savepoint was undone, does no harm.
   */
  afterCommit(fn: () => void): void
}

/*
 * Errors of SQLite that come from the disk, as the errors callers are told. A full volume is
 * survivable: SQLite has undone the transaction, and writing goes on once there is room.
 */

/** Whether SQLite threw it, of whatever kind. */
export function isSqliteError(error: unknown): error is Error & { code: string } {
  return ((error as { code?: unknown } | null)?.code ?? '').toString().startsWith('SQLITE_')
}

/** Whether somebody else holds the file. */
export function isBusy(error: unknown): boolean {
  return isSqliteError(error) && error.code.startsWith('SQLITE_BUSY')
}

/** The error to answer with where a write found no room (507) or the store busy (503); else null. */
export function survivableDiskFault(error: unknown): SvcError | null {
  if (!isSqliteError(error)) return null
  if (error.code === 'SQLITE_FULL')
    return new SvcError(
      'storage_full',
      'the volume is full; nothing of this request was stored. Free some space, then repeat it',
    )
  if (isBusy(error)) return new SvcError('unavailable', 'the store is busy; try again', { retryAfter: 1 })
  return null
}
