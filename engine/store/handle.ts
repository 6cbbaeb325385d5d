/** What the slices get of the store: the writing connection and transactions. */
import type BetterSqlite3 from 'better-sqlite3'

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
