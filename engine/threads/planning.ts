/** Planning beside the store: models are asked on the main thread, plans are checked and kept by the writer. */
import type { Clock, Timers } from '../clock.ts'
import type { Models } from '../models/types.ts'
import type { NetworkCalls } from '../operations/network.ts'
import { type Planner, startPlanner } from '../setup/planning/planner.ts'
import type { PlanningPort } from '../setup/planning/port.ts'

/** The planner begins with its first nudge. */
export function startPlanning(parts: {
  engine: NetworkCalls
  /** Calls of the writer that are no part of the engine. */
  port: PlanningPort
  models: Models
  clock: Clock
  timers: Timers
  onError(error: Error): void
}): Planner {
  const { engine, port, ...more } = parts
  const { listConnectors, listTemplates, sourceFields, sourceEvents, recordModelUsage } = engine
  return startPlanner({
    ...more,
    port: { ...port, listConnectors, listTemplates, sourceFields, sourceEvents, recordModelUsage },
  })
}
