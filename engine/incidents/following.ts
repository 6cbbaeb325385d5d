/** Incidents as those who follow a live tail are told of them. */
import type { Incident } from '../../schemas/types.ts'
import type { Database } from '../store/handle.ts'
import { presentIncidents } from './present.ts'
import { incidentQueries } from './queries.ts'

/** Of a burst those that are told of: whoever shows more reads them. */
const TOLD_MAX = 100

/** @param at now, epoch ms */
export function incidentsChanged(db: Database, numbers: readonly number[], at: number): Incident[] {
  const { byId } = incidentQueries(db)
  return presentIncidents(
    db,
    numbers.slice(-TOLD_MAX).flatMap((number) => byId.get(number) ?? []),
    at,
    null,
  )
}
