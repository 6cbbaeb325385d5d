/** A store that is only read: what is built on a store works on it, as long as it writes nothing. */
import type { Database, StoreHandle } from './handle.ts'

/** @param db a connection that cannot write, inside the snapshot of a read or outside of one. */
export function readingStore(db: Database): StoreHandle {
  const refuse = (): never => {
    throw new Error('nothing is written on a connection that reads')
  }
  return {
    db,
    // What is planned and not written runs in a transaction too; one view of the store is what it needs.
    tx: (fn) => (db.inTransaction ? fn() : db.transaction(fn).deferred()),
    rehearse: refuse,
    afterCommit: refuse,
  }
}
