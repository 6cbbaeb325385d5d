/** Reads on one view of the store. */
import type { ReadContext } from './timeline/context.ts'

export type Snapshot = <T>(answer: () => T) => Promise<T>

/**
 * Runs each read on one snapshot of the store.
 * @param isReader true on a connection of its own, which must catch up before each read.
 */
export function snapshotsOf(ctx: ReadContext, isReader: boolean): Snapshot {
  return (answer) => {
    const run = () => {
      ctx.index.refresh(isReader)
      ctx.names.refresh()
      return answer()
    }
    // Deferred: the snapshot is taken by the first statement, and everything reads from it.
    return new Promise((resolve) => resolve(isReader ? ctx.db.transaction(run).deferred() : run()))
  }
}
