/** All that a reader answers, on one connection that cannot write. */
import { agentTestReads } from '../agent-tests/calls.ts'
import type { Clock } from '../clock.ts'
import { createScenarioReads } from '../evals/scenario-of-run.ts'
import { Figures } from '../figures.ts'
import { createReplayReads } from '../graph/replay/calls.ts'
import { createIncidentReads } from '../incidents/calls.ts'
import type { ModelReads } from '../models/calls.ts'
import { modelUsageOf } from '../models/usage.ts'
import { performOn } from '../operations/index.ts'
import type { OperationInput } from '../operations/input.ts'
import { createReads } from '../reads.ts'
import { createRunReads } from '../runs/run-reads.ts'
import { snapshotsOf } from '../snapshot.ts'
import type { Database } from '../store/handle.ts'
import { createReadContext } from '../timeline/context.ts'
import { inTurns } from '../timeline/steps.ts'
import { createTriggerReads } from '../triggers/reads.ts'
import type { EngineCalls } from '../whole-engine.ts'
import type { SharedOptions } from './protocol.ts'

type Calls = Record<string, (...args: never[]) => Promise<unknown>>

/** By name; `perform` runs an operation. @param db a connection of its own, opened once the writer has migrated the file. */
export function readerCalls(db: Database, options: SharedOptions, clock: Clock): Calls {
  const secret = db.prepare("SELECT value FROM meta WHERE key = 'cursor_secret'").pluck().get() as string
  const ctx = createReadContext(db, false, secret)
  const snapshot = snapshotsOf(ctx, true)
  const figures = new Figures(options.figures)
  const models: ModelReads = {
    modelUsage: (days) => snapshot(() => modelUsageOf(db, days, clock.now())),
  }
  const triggerReads = createTriggerReads(ctx, clock, snapshot, options.slack?.publicUrl ?? null)
  const runReads = createRunReads(ctx, clock, snapshot)
  const atHand = {
    ...createReads(ctx, clock, true, () => figures.countRead()),
    ...triggerReads,
    ...createIncidentReads(ctx, clock, snapshot),
    ...runReads,
    ...createScenarioReads(
      ctx,
      { ...runReads, ...triggerReads },
      async () => (await import('../create-engine.ts')).createEngine,
    ),
    ...agentTestReads(db, snapshot),
    ...createReplayReads(ctx, clock, (steps) => inTurns(steps, snapshot)),
    ...models,
    close: async () => db.close(),
    // A call that writes is not among them, and fails.
    perform: (id: string, input: OperationInput) => performOn(calls as unknown as EngineCalls)(id, input),
  }
  const calls = opening(atHand, async () => {
    const { createReadingEngine } = await import('../reading-engine.ts')
    return createReadingEngine({ options, ctx, clock, snapshot, figures, secret })
  })
  return calls
}

/**
 * Calls that are at hand, and any other of those that are opened with the first that is made: what is declared is
 * loaded then, and no start and no read of events waits for it.
 */
function opening(atHand: Calls, open: () => Promise<Calls>): Calls {
  let opened: Promise<Calls> | null = null
  return new Proxy(atHand, {
    get: (known, name: string) =>
      known[name] ??
      (async (...args: never[]) => {
        opened ??= open().catch((error: unknown) => {
          opened = null
          throw error
        })
        return (await opened)[name]!(...args)
      }),
  })
}
