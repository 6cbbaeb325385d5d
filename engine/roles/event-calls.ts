/**
 * The calls on events, firings and runs that every role of the store answers, made once. A reader has them from its
 * start: nothing here may load what is declared.
 */
import { agentTestReads } from '../agents/agent-tests.ts'
import type { ModelReads } from '../agents/models/calls.ts'
import { modelUsageOf } from '../agents/models/usage.ts'
import { createRunReads } from '../agents/runs/run-reads.ts'
import type { Clock } from '../clock.ts'
import { createReplayReads } from '../graph/replay.ts'
import { createMaintenanceReads } from '../incidents/maintenance.ts'
import { createIncidentReads } from '../incidents/reads.ts'
import type { Figures } from '../log/figures.ts'
import { atOnce, inTurns, type Snapshot, type Steps } from '../log/steps.ts'
import type { ReadContext } from '../log/timeline/context.ts'
import { createReads } from '../log/timeline/reads.ts'
import { type EvidenceCalls, evidenceOf } from '../triggers/message.ts'
import { createTriggerReads } from '../triggers/reads.ts'

/**
 * Reads of events, firings, runs and what they cost: at hand from the start, for they need nothing that is declared.
 * @param isReader on a connection of its own: wide reads give way to others between two steps
 */
export function eventCalls(
  ctx: ReadContext,
  clock: Clock,
  figures: Figures,
  isReader: boolean,
  view: Snapshot,
  /** Links in what is posted begin with it; null: there are none. */
  publicUrl: string | null,
) {
  const models: ModelReads = {
    modelUsage: (days) => view(() => modelUsageOf(ctx.db, days, clock.now())),
  }
  const inSteps = <T>(steps: Steps<T>): Promise<T> =>
    isReader ? inTurns(steps, view) : view(() => atOnce(steps))
  const reads = {
    ...createReads(ctx, clock, isReader, () => figures.countRead()),
    ...createTriggerReads(ctx, clock, view, publicUrl),
  }
  const evidence: EvidenceCalls = { firingEvidence: (id, sides) => evidenceOf(reads, id, sides) }
  return {
    ...reads,
    ...evidence,
    ...createIncidentReads(ctx, clock, view),
    ...createMaintenanceReads(ctx, clock, view),
    ...createRunReads(ctx, clock, view),
    ...agentTestReads(ctx.db, view),
    ...createReplayReads(ctx, clock, inSteps),
    ...models,
  }
}
