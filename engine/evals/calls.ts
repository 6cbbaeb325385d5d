/** What the engine in process answers of evals: reports that were handed in, and runs as scenarios. */
import type { Clock } from '../clock.ts'
import type { StoreHandle } from '../store/handle.ts'
import type { ReadContext } from '../timeline/context.ts'
import { createEvalReports } from './reports.ts'
import { createScenarioReads } from './scenario-of-run.ts'
import type { OpenEngine } from './world.ts'

/**
 * @param reads of the runs that scenarios are made from, and of their firings
 * @param open engines in memory, in which scenarios are checked
 */
export const evalCalls = (
  store: StoreHandle,
  clock: Clock,
  ctx: ReadContext,
  reads: Parameters<typeof createScenarioReads>[1],
  open: OpenEngine,
) => ({ ...createScenarioReads(ctx, reads, async () => open), ...createEvalReports(store, clock) })
