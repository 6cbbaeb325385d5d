/** What the slices get of the store: the writing connection and transactions. */
import type BetterSqlite3 from 'better-sqlite3'
import { SvcError } from '../../errors.ts'

export type Database = BetterSqlite3.Database
export type { Statement } from 'better-sqlite3'

type AnyStatement = BetterSqlite3.Statement<unknown[]>

/** Told of each statement of a connection that is compiled when it is first used. */
type Watcher = (compile: () => void, sql: string) => void

/** Who is told of statements (tests, which compile all that an engine has). */
let watcher: Watcher | null = null

/** @param told of every statement that is prepared from now on; null: nobody any more. */
export function watchStatements(told: Watcher | null): void {
  watcher = told
}

/**
 * A statement that is compiled when it is first used. An engine holds some five hundred, a thread uses a few of them
 * before it is asked anything, and compiling all is more than half of what opening an engine costs.
 */
class LazyStatement {
  private isPlucked = false
  private isRaw = false

  constructor(
    private readonly compile: () => AnyStatement,
    sql: string,
  ) {
    watcher?.(() => void this.compile(), sql)
  }

  /** Compiled; its methods take the place of those below, so that later calls go straight to them. */
  private open(): AnyStatement {
    const statement = this.compile()
    if (this.isPlucked) statement.pluck()
    if (this.isRaw) statement.raw()
    this.run = statement.run.bind(statement)
    this.get = statement.get.bind(statement)
    this.all = statement.all.bind(statement)
    this.iterate = statement.iterate.bind(statement)
    return statement
  }

  run(...values: unknown[]): BetterSqlite3.RunResult {
    return this.open().run(...values)
  }
  get(...values: unknown[]): unknown {
    return this.open().get(...values)
  }
  all(...values: unknown[]): unknown[] {
    return this.open().all(...values)
  }
  iterate(...values: unknown[]): IterableIterator<unknown> {
    return this.open().iterate(...values)
  }

  /** Both are set where a statement is made, before its first use. */
  pluck(): this {
    this.isPlucked = true
    return this
  }
  raw(): this {
    this.isRaw = true
    return this
  }
}

/**
 * Makes a connection compile what it prepares at its first use.
 * A fault in a statement's text is thrown there; a test compiles all that an engine has.
 */
export function prepareLazily(db: Database): Database {
  const prepare = db.prepare.bind(db) as (sql: string) => AnyStatement
  const lazily = (sql: string) => new LazyStatement(() => prepare(sql), sql)
  return Object.assign(db, { prepare: lazily as never })
}

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
