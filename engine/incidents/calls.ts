/** Incidents and Home as they are asked for. */
import type { Clock } from '../clock.ts'
import type { Snapshot } from '../snapshot.ts'
import type { ReadContext } from '../timeline/context.ts'
import { homeOf } from './home.ts'
import { incidentDetail, listIncidents } from './reads.ts'
import type { IncidentReads } from './types.ts'

/** @param snapshot runs a read on one view of the store. */
export function createIncidentReads(ctx: ReadContext, clock: Clock, snapshot: Snapshot): IncidentReads {
  return {
    listIncidents: (filter, own) => snapshot(() => listIncidents(ctx.db, filter, own, clock.now())),
    getIncident: (id, own) => snapshot(() => incidentDetail(ctx.db, id, own, clock.now())),
    home: (sources, hours) => snapshot(() => homeOf(ctx, sources, hours, clock.now())),
  }
}
