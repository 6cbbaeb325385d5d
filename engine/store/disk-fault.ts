/**
 * Errors of SQLite that come from the disk, as the errors callers are told. A full volume is
 * survivable: SQLite has undone the transaction, and writing goes on once there is room.
 */
import { SvcError } from '../errors.ts'

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
