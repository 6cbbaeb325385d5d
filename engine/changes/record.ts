/** A recorded change-set as it is shown: who, when, why, and each object's fields, secrets masked. */
import type { ChangeSet } from '../../schemas/types.ts'
import type { ChangeKind, Kinds } from './declared.ts'
import { plannedChange } from './plan.ts'
import type { ChangeQueries, ChangeSetRow } from './queries.ts'

/** @param most objects shown; a list must not repeat a catalog of thousands. */
export function presentSet(
  row: ChangeSetRow,
  queries: ChangeQueries,
  kinds: Kinds,
  most = Number.POSITIVE_INFINITY,
): ChangeSet {
  const changes = queries.changes(row.id)
  return {
    id: row.id,
    at: new Date(row.at).toISOString(),
    actor: row.actor,
    actor_id: row.actor_id,
    origin: row.origin,
    why: row.why,
    summary: row.summary,
    undoes: row.undoes,
    undone_by: row.undone_by,
    projects: queries.projects(row.id),
    objects: changes.length,
    changes: changes.slice(0, most).map((change) => {
      const kind = change.kind as ChangeKind
      const open = (sealed: string | null) => (sealed === null ? null : kinds[kind].open(sealed))
      const planned = plannedChange(kind, change.key, open(change.before), open(change.after), kinds[kind])
      return { ...planned, name: change.name }
    }),
  }
}
