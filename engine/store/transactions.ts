/** Transactions that nest, and what is to run once the outermost has committed. */
import { survivableDiskFault } from './disk-fault.ts'
import type { Database, StoreHandle } from './handle.ts'

/** What accompanies each outermost transaction. */
export interface Accompaniment {
  /** Inside it, first. */
  begin(): void
  /** Inside it, last. */
  beforeCommit(): void
  /** After COMMIT; must not throw. */
  committed(): void
  /** Once it is over, whatever came of it: null when it was committed; must not throw. */
  over(error: unknown): void
}

/** @throws SvcError storage_full or unavailable from `tx`, where the disk has no room or the store is busy. */
export function transactions(
  db: Database,
  { begin, beforeCommit, committed, over }: Accompaniment,
): Pick<StoreHandle, 'tx' | 'rehearse' | 'afterCommit'> {
  let due: (() => void)[] = []
  return {
    tx: (fn) => {
      if (db.inTransaction) return db.transaction(fn)()
      due = []
      const whole = () => {
        begin()
        const value = fn()
        beforeCommit()
        return value
      }
      const result = outermost(db, whole, over)
      const follows = due
      due = []
      for (const follow of follows) follow()
      committed()
      return result
    },
    rehearse: (fn) => {
      if (db.inTransaction) throw new Error('a rehearsal inside a transaction would undo it')
      due = []
      db.exec('BEGIN IMMEDIATE')
      try {
        return fn()
      } finally {
        due = []
        // SQLite ends the transaction by itself where the disk fails.
        if (db.inTransaction) db.exec('ROLLBACK')
        over(null)
      }
    },
    afterCommit: (fn) => {
      if (db.inTransaction) due.push(fn)
      else fn()
    },
  }
}

function outermost<T>(db: Database, fn: () => T, over: Accompaniment['over']): T {
  let result: T
  try {
    result = db.transaction(fn).immediate()
  } catch (error) {
    over(error)
    throw survivableDiskFault(error) ?? error
  }
  over(null)
  return result
}
