/** Incidents on the connection that writes: what firings and the clock do to them, and what is asked of them. */
import type { Clock } from '../clock.ts'
import type { Live } from '../live.ts'
import { snapshotsOf } from '../snapshot.ts'
import type { Appender } from '../store/append.ts'
import type { StoreHandle } from '../store/handle.ts'
import type { ReadContext } from '../timeline/context.ts'
import { incidentWrites } from './acts.ts'
import { adoptFirings } from './adopt.ts'
import { createIncidentReads } from './calls.ts'
import { createFiringIncidents } from './firing.ts'
import { incidentsChanged } from './following.ts'

export function openIncidents(parts: {
  store: StoreHandle
  ctx: ReadContext
  clock: Clock
  appender: Pick<Appender, 'insertRest'>
  live: Pick<Live, 'tellIncidents'>
}) {
  const { store, ctx, clock, appender, live } = parts
  const incidents = createFiringIncidents({
    store,
    ctx: { ...ctx, settle: () => appender.insertRest() },
    changed: (numbers) => live.tellIncidents(() => incidentsChanged(store.db, numbers, clock.now())),
  })
  adoptFirings(store, incidents, clock.now())
  const reads = createIncidentReads(ctx, clock, snapshotsOf(ctx, false))
  return { incidents, calls: { ...reads, ...incidentWrites({ store, clock, incidents }) } }
}
