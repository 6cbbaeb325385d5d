/**
 * Undoing a change-set: each object is taken back to what it was, by a three-way merge with what it
 * is now, so that later changes to other fields stay.
 */
import { fail } from '../errors.ts'
import { type ChangeKind, type DeclaredKind, type Kinds, kindWord } from './declared.ts'
import type { Edit } from './edit.ts'
import { equal } from './fields.ts'
import type { ChangeRow } from './queries.ts'

/**
 * @throws SvcError conflict when the object is no longer there, or is there again; fields changed
 *   since are collected by the edit.
 */
export function stageUndo(edit: Edit, changeSet: number, changes: readonly ChangeRow[], kinds: Kinds): void {
  for (const change of [...changes].reverse()) {
    const kind = change.kind as ChangeKind
    const label = `${kindWord(kind)} ${change.name}`
    const now = edit.get(kind, change.key)
    if (change.before === null) {
      undoCreate(edit, change, now, label, kinds[kind])
    } else if (change.after === null) {
      if (now) fail('conflict', `${label} was made again since change-set ${changeSet}; delete it first`)
      edit.revive(kind, change.key, change.before)
    } else {
      if (!now) fail('conflict', `${label} was deleted since change-set ${changeSet}; undo that first`)
      const was = kinds[kind].open(change.before)
      edit.put(kind, change.key, { prevent_destroy: false, ...was }, changeSet)
    }
  }
}

function undoCreate(
  edit: Edit,
  change: ChangeRow,
  now: Readonly<Record<string, unknown>> | undefined,
  label: string,
  adapter: DeclaredKind,
): void {
  const kind = change.kind as ChangeKind
  if (!now) return
  // The Default project is made with the first part outside a project, and outlives that part.
  if (now.template === 'default') {
    const made = adapter.open(change.after!)
    edit.put(kind, change.key, { ...made, uses: {}, wakes: {}, handoffs: {} }, change.change_set)
    return
  }
  // What others made of it since would be lost with it.
  if (!equal(now, adapter.open(change.after!)))
    fail('conflict', `${label} was changed after it was made; delete it instead of undoing its creation`)
  edit.remove(kind, change.key)
}
