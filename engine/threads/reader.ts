/** The reader's thread: answers reads on a connection of its own, so that a wide one never holds up ingest. */
import { once } from 'node:events'
import { parentPort } from 'node:worker_threads'
import { agentTestReads } from '../agent-tests/calls.ts'
import { systemClock } from '../clock.ts'
import { graphReads } from '../graph/calls.ts'
import { createReplayReads } from '../graph/replay/calls.ts'
import type { ModelReads } from '../models/calls.ts'
import { modelUsageOf } from '../models/usage.ts'
import { createReads } from '../reads.ts'
import { createRunReads } from '../runs/run-reads.ts'
import { snapshotsOf } from '../snapshot.ts'
import { openReading } from '../store/open.ts'
import { createReadContext } from '../timeline/context.ts'
import { createTriggerReads } from '../triggers/reads.ts'
import { answer } from './answer.ts'
import type { ToThread } from './protocol.ts'

/** Waits until the file can be opened, then runs until the thread is ended. @throws StartError */
export async function runReader(dataFile: string): Promise<void> {
  const port = parentPort!
  await once(port, 'message')
  const db = openReading(dataFile)
  const secret = db.prepare("SELECT value FROM meta WHERE key = 'cursor_secret'").pluck().get() as string
  const ctx = createReadContext(db, false, secret)
  const reads = createReads(ctx, systemClock, true)
  const view = snapshotsOf(ctx, true)
  const triggers = createTriggerReads(ctx, systemClock, view)
  const runs = createRunReads(ctx, systemClock, view)
  const models: ModelReads = {
    modelUsage: (days) => view(() => modelUsageOf(db, days, systemClock.now())),
  }
  const calls = {
    ...reads,
    ...triggers,
    ...runs,
    ...agentTestReads(db, view),
    ...createReplayReads(ctx, systemClock, view),
    ...graphReads(ctx, view),
    ...models,
    close: async () => db.close(),
  }
  port.on('message', (message: ToThread) => {
    if (message.t === 'call') answer(calls as unknown as Record<string, unknown>, message, port)
  })
}
