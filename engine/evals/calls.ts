/** What the engine in process answers of evals: reports that were handed in, and runs as scenarios. */
import type { Clock } from '../clock.ts'
import type { StoreHandle } from '../store/handle.ts'
import type { ReadContext } from '../timeline/context.ts'
import { createEvalReports } from './reports.ts'
import { createScenarioReads } from './scenario-of-run.ts'

/** @param reads of the runs that scenarios are made from, and of their firings */
export const evalCalls = (
  store: StoreHandle,
  clock: Clock,
  ctx: ReadContext,
  reads: Parameters<typeof createScenarioReads>[1],
) => ({ ...createScenarioReads(ctx, reads), ...createEvalReports(store, clock) })
