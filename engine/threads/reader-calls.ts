/** All that a reader answers, on one connection that cannot write. */
import { agentTestReads } from '../agent-tests/calls.ts'
import type { Clock } from '../clock.ts'
import { createScenarioReads } from '../evals/scenario-of-run.ts'
import { Figures } from '../figures.ts'
import { graphReads } from '../graph/calls.ts'
import { createReplayReads } from '../graph/replay/calls.ts'
import type { ModelReads } from '../models/calls.ts'
import { modelUsageOf } from '../models/usage.ts'
import { createReads } from '../reads.ts'
import { createRunReads } from '../runs/run-reads.ts'
import { snapshotsOf } from '../snapshot.ts'
import type { Database } from '../store/handle.ts'
import { createReadContext } from '../timeline/context.ts'
import { inTurns } from '../timeline/steps.ts'
import { createTriggerReads } from '../triggers/reads.ts'
import type { SharedOptions } from './protocol.ts'
import { READS } from './who-answers.ts'

/** By name. @param db a connection of its own, opened once the writer has migrated the file. */
export function readerCalls(db: Database, options: SharedOptions, clock: Clock): Record<string, unknown> {
  const secret = db.prepare("SELECT value FROM meta WHERE key = 'cursor_secret'").pluck().get() as string
  const ctx = createReadContext(db, false, secret)
  const snapshot = snapshotsOf(ctx, true)
  const figures = new Figures(options.figures)
  const models: ModelReads = {
    modelUsage: (days) => snapshot(() => modelUsageOf(db, days, clock.now())),
  }
  const triggerReads = createTriggerReads(ctx, clock, snapshot)
  const runReads = createRunReads(ctx, clock, snapshot)
  return {
    ...declaredReads(async () => {
      const { createReadingEngine } = await import('../reading-engine.ts')
      return createReadingEngine({ options, ctx, clock, snapshot, figures, secret })
    }),
    ...createReads(ctx, clock, true, () => figures.countRead()),
    ...triggerReads,
    ...runReads,
    ...createScenarioReads(
      ctx,
      { ...runReads, ...triggerReads },
      async () => (await import('../create-engine.ts')).createEngine,
    ),
    ...agentTestReads(db, snapshot),
    ...createReplayReads(ctx, clock, (steps) => inTurns(steps, snapshot)),
    ...graphReads(ctx, snapshot),
    ...models,
  }
}

type Calls = Record<string, (...args: never[]) => Promise<unknown>>

/** What is declared is loaded and opened with the first that asks for it: no start and no read of events waits. */
function declaredReads(open: () => Promise<Calls>): Calls {
  let opened: Promise<Calls> | null = null
  return Object.fromEntries(
    READS.map((name) => [
      name,
      async (...args: never[]) => {
        opened ??= open().catch((error: unknown) => {
          opened = null
          throw error
        })
        return (await opened)[name]!(...args)
      },
    ]),
  )
}
