/** Incidents and Home as they are asked for. */
import type { Home } from '../../schemas/types.ts'
import type { Clock } from '../clock.ts'
import { fail } from '../errors.ts'
import type { Snapshot } from '../snapshot.ts'
import type { ReadContext } from '../timeline/context.ts'
import type { IncidentReads, IncidentWrites } from './types.ts'

const NONE = { open: { critical: 0, warning: 0, info: 0 }, acknowledged: 0, snoozed: 0 }

/** @param snapshot runs a read on one view of the store. */
export function createIncidentReads(_ctx: ReadContext, _clock: Clock, _snapshot: Snapshot): IncidentReads {
  return {
    listIncidents: async () => ({ incidents: [], next_before: null, counts: NONE }),
    getIncident: async (id) => fail('not_found', `no incident has the id ${id}`),
    home: async () => fail('not_found', 'nothing is shown yet') as Home,
  }
}

export function incidentWrites(): IncidentWrites {
  return {
    actOnIncident: async (id) => fail('not_found', `no incident has the id ${id}`),
    actOnIncidents: async ({ ids }) => fail('not_found', `no incident has the id ${ids[0]}`),
  }
}
