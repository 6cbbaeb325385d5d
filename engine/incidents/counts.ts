/** How many incidents there are that are not handled. */
import type { IncidentCounts } from '../../schemas/types.ts'
import type { Database } from '../store/handle.ts'
import { severityOfRank } from './severity.ts'

interface Counted {
  state: 'open' | 'acknowledged' | 'snoozed'
  rank: number
  n: number
}

/** By state and severity. @param project those of it alone; null: all */
export function countedBy(db: Database, project: string | null): Counted[] {
  return db
    .prepare<{ project: string | null }, Counted>(
      `SELECT state, rank, count(*) AS n FROM incidents
       WHERE state <> 'handled' AND (@project IS NULL OR project = @project) GROUP BY state, rank`,
    )
    .all({ project })
}

/** @param project those of it alone; null: all */
export function countsOf(db: Database, project: string | null): IncidentCounts {
  const counts: IncidentCounts = { open: { critical: 0, warning: 0, info: 0 }, acknowledged: 0, snoozed: 0 }
  for (const { state, rank, n } of countedBy(db, project))
    if (state === 'open') counts.open[severityOfRank(rank)] += n
    else counts[state] += n
  return counts
}
