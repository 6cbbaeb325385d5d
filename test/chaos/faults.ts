/**
 * Faults at SQL statements, for tests: counts every statement that may change the file (writes, and
 * the statements that begin, end and undo transactions) in this process, and acts right before each.
 * Wraps better-sqlite3 itself, so that no product code knows of it.
 */
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import BetterSqlite3 from 'better-sqlite3'

export interface Faults {
  /** Counts from zero again; `act` is called before each statement, the first being 1. */
  arm(act: (n: number, db: BetterSqlite3.Database) => void): void
  /** Statements since arm(). */
  count(): number
}

type Call = (this: BetterSqlite3.Statement, ...args: unknown[]) => unknown

/** @returns the faults of this process; nothing happens until they are armed. */
export function installFaults(): Faults {
  const fault = { count: 0, busy: false, act: (_n: number, _db: BetterSqlite3.Database) => {} }
  const before = (db: BetterSqlite3.Database): void => {
    if (fault.busy) return
    fault.busy = true
    try {
      fault.act(++fault.count, db)
    } finally {
      fault.busy = false
    }
  }
  const memory = new BetterSqlite3(':memory:')
  const statement = Object.getPrototypeOf(memory.prepare('SELECT 1')) as Record<string, Call>
  for (const name of ['run', 'get', 'all', 'iterate']) {
    const real = statement[name]!
    statement[name] = function (...args) {
      // COMMIT, ROLLBACK and savepoints count as reading only, but answer no rows. Copying the log comes after
      // a commit, which stands whatever becomes of it.
      if ((!this.readonly || !this.reader) && !this.source.includes('wal_checkpoint')) before(this.database)
      return real.apply(this, args)
    }
  }
  const database = Object.getPrototypeOf(memory) as {
    exec: (this: BetterSqlite3.Database, sql: string) => unknown
  }
  const exec = database.exec
  database.exec = function (sql) {
    before(this)
    return exec.call(this, sql)
  }
  memory.close()
  return {
    arm: (act) => void Object.assign(fault, { count: 0, act }),
    count: () => fault.count,
  }
}

/**
 * Random bytes that come in the same order in every run from here on, so that two runs of the same
 * operation make the same ids, ingest keys and sealed secrets.
 */
export function foreseeRandom(): void {
  let next = 0
  crypto.randomBytes = ((size: number) =>
    crypto
      .createHash('shake256', { outputLength: size })
      .update(String(next++))
      .digest()) as typeof crypto.randomBytes
  syncBuiltinESMExports()
}
