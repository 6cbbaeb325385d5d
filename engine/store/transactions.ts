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
}

/** @throws SvcError storage_full or unavailable from `tx`, where the disk has no room or the store is busy. */
export function transactions(
  db: Database,
  { begin, beforeCommit, committed }: Accompaniment,
): Pick<StoreHandle, 'tx' | 'rehearse' | 'afterCommit'> {
  let due: (() => void)[] = []
  return {
    tx: (fn) => {
      if (db.inTransaction) return db.transaction(fn)()
      due = []
      const result = outermost(db, () => {
        begin()
        const value = fn()
        beforeCommit()
        return value
      })
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
      }
    },
    afterCommit: (fn) => {
      if (db.inTransaction) due.push(fn)
      else fn()
    },
  }
}

function outermost<T>(db: Database, fn: () => T): T {
  try {
    return db.transaction(fn).immediate()
  } catch (error) {
    throw survivableDiskFault(error) ?? error
  }
}
