/** The entity a run was woken for: one that has ended has that of its conclusion, which may be another. */
import type { RunQueries, RunRow } from './queries.ts'

export interface Entity {
  label: string
  entity: string
}

/** The key of a firing that is of no single entity. */
export const NO_LABEL = 'key'

/** Follows repeats to the run they repeat, then asks what woke that. */
export function wokenFor(queries: RunQueries, run: RunRow): Entity {
  let first = run
  for (let before = run; before.rerun_of !== null; ) {
    const repeated = queries.byId.get(before.rerun_of)
    if (!repeated) break
    first = before = repeated
  }
  const handedOver = queries.handedOver.get(first.id)
  if (handedOver) return handedOver
  const firing = first.depth === 0 && first.firing_id !== null ? queries.firingOf.get(first.firing_id) : null
  return firing
    ? { label: firing.label ?? NO_LABEL, entity: firing.entity }
    : { label: first.label, entity: first.entity }
}
