/**
 * Rolling back: objects are taken to what they were right after a change-set, whatever came since.
 * What was made since is deleted, what was deleted comes back.
 */
import { type ChangeKind, changeKinds, type Doc } from './declared.ts'
import type { Edit } from './edit.ts'
import type { ChangeQueries } from './queries.ts'

/**
 * @param changeSet id of the last one that stays in effect; 0: before there were any.
 * @param isMeant narrows to some objects, such as those of a project; told what they are and were.
 */
export function stageRollback(
  edit: Edit,
  changeSet: number,
  queries: ChangeQueries,
  open: (kind: ChangeKind, sealed: string) => Doc,
  isMeant: (kind: ChangeKind, key: string) => boolean,
): void {
  const due = queries.changedSince(changeSet).filter(({ kind, key }) => isMeant(kind as ChangeKind, key))
  const order = (kind: string) => changeKinds.indexOf(kind as ChangeKind)
  for (const row of due.sort((a, b) => order(a.kind) - order(b.kind))) {
    const kind = row.kind as ChangeKind
    const then = queries.documentAt(kind, row.key, changeSet)
    if (then === null || then === undefined) edit.remove(kind, row.key)
    else if (edit.has(kind, row.key)) edit.put(kind, row.key, { prevent_destroy: false, ...open(kind, then) })
    else edit.revive(kind, row.key, then)
  }
}
