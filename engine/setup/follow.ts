/** What follows for a draft from an edit of its project, in the same transaction. */
import type { Stroke } from '../changes/declared.ts'
import type { Staged } from '../changes/edit.ts'
import type { Database } from '../store/handle.ts'
import { moveDraft, setupQueries } from './queries.ts'

/** A draft is applied, deleted or brought back with its project; undoing an apply makes it a draft again. */
export function followDrafts(db: Database, staged: readonly Staged[], { at }: Stroke): void {
  const queries = setupQueries(db)
  for (const { kind, key, stored, doc, revive } of staged) {
    if (kind !== 'project' || !queries.byId(key)) continue
    const event = eventOf(stored?.doc.draft === true, doc && doc.draft === true, revive !== null)
    if (!event) continue
    moveDraft(db, { id: key, name: String((doc ?? stored!.doc).name) }, { type: event }, at)
    if (event === 'discard') queries.endSteps(key, 'stopped')
    if (event === 'unapply') queries.ownKey(key, null)
  }
}

/** @param is whether it is a draft afterwards; null: it is gone. */
function eventOf(was: boolean, is: boolean | null, isRevived: boolean): string | null {
  if (isRevived) return is ? 'restore' : null
  if (was && is === null) return 'discard'
  if (was && !is) return 'apply'
  return !was && is ? 'unapply' : null
}
