/** Reads on one view of the store. */
import type { ReadContext } from './timeline/context.ts'

export type Snapshot = <T>(answer: () => T) => Promise<T>

/**
 * Runs each read on one snapshot of the store.
 * @param isReader true on a connection of its own, which must catch up before each read.
 */
export function snapshotsOf(ctx: ReadContext, isReader: boolean): Snapshot {
  const catchUp = (answer: () => unknown): unknown => {
    ctx.index.refresh(isReader)
    ctx.names.refresh()
    return answer()
  }
  // Deferred: the snapshot is taken by the first statement, and everything reads from it.
  const view = isReader ? ctx.db.transaction(catchUp).deferred : catchUp
  return <T>(answer: () => T) => new Promise<T>((resolve) => resolve(view(answer) as T))
}
