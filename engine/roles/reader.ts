/**
 * A reader: the role that answers what only reads, on a connection that cannot write. What it answers of events is at
 * hand; what is declared is opened with the first call that asks for it, so that no start and no read of events waits
 * for it.
 */

import { createScenarioReads } from '../agents/evals/scenario-of-run.ts'
import type { Tell } from '../calls.ts'
import type { Clock } from '../clock.ts'
import { Figures } from '../log/figures.ts'
import { snapshotsOf } from '../log/steps.ts'
import type { Database } from '../log/store/handle.ts'
import { createReadContext } from '../log/timeline/context.ts'
import { performOn } from '../operations/index.ts'
import type { OperationInput } from '../operations/input.ts'
import type { StoreCalls } from './calls.ts'
import { eventCalls } from './event-calls.ts'
import type { ByName, ReadingOptions } from './reader-declared.ts'

/** @param db a connection of its own, opened once the writer has migrated the file. @returns what it answers, `perform` an operation */
export function openReader(db: Database, options: ReadingOptions, clock: Clock): ByName {
  const secret = db.prepare("SELECT value FROM meta WHERE key = 'cursor_secret'").pluck().get() as string
  const ctx = createReadContext(db, false, secret)
  const snapshot = snapshotsOf(ctx, true)
  const figures = new Figures(options.figures)
  const ofEvents = eventCalls(ctx, clock, figures, true, snapshot, options.slack?.publicUrl ?? null)
  const atHand: ByName = {
    ...ofEvents,
    // Engines in memory, in which scenarios are checked.
    ...createScenarioReads(ctx, ofEvents, async () => (await import('./here.ts')).openEngineHere),
    close: async () => void db.close(),
    perform: (id: string, input: OperationInput, told?: Tell) => perform(id, input, told),
  }
  const calls = opening(atHand, async () => {
    const { openDeclaredReads } = await import('./reader-declared.ts')
    return openDeclaredReads({ options, ctx, clock, snapshot, figures, secret })
  })
  // By name it has every call there is: one that writes is not among them, and fails.
  const perform = performOn(calls as ByName & StoreCalls)
  return calls
}

/** Calls that are at hand, and any other of those that are opened with the first that is made. */
function opening(atHand: ByName, open: () => Promise<ByName>): ByName {
  let opened: Promise<ByName> | null = null
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
