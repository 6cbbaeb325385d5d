/** Ask put together: what is stored of it, and the part that asks models, over an engine's own reads. */
import { createAsk } from './ask/ask.ts'
import type { AskTurnCalls } from './ask/calls.ts'
import { planProposal } from './ask/planning.ts'
import type { AskReads } from './ask/tools/tool.ts'
import { type AskStoreParts, openAskStore } from './ask/turns.ts'
import type { AskPort, EndedTurn } from './ask/types.ts'
import type { Clock, Timers } from './clock.ts'
import type { Declared } from './declared/declared.ts'
import type { Models } from './models/types.ts'

/** What is stored of Ask, on the writing connection. */
export function storedAsk(declared: Declared, parts: Omit<AskStoreParts, 'store' | 'clock'>) {
  const { store, clock } = declared
  return {
    ...openAskStore({ store, clock, ...parts }),
    planProposal: (async (draft, caller) =>
      planProposal(declared, draft, caller)) satisfies AskPort['planProposal'],
  }
}

/** An engine in process with Ask at work in it; closing it ends what is asked. */
export function withAsk<E extends AskReads & AskPort & { close(): Promise<void> }>(
  engine: E,
  parts: {
    models: Models
    clock: Clock
    timers: Timers
    onError(error: Error): void
    finished(ended: EndedTurn): void
  },
): E & AskTurnCalls {
  const { close } = engine
  const ask = createAsk({ port: engine, reads: engine, ...parts })
  return Object.assign(engine, ask.calls, {
    close: async () => {
      await ask.stop()
      await close()
    },
  })
}

/** Ask for a part that is made before it. */
export const laterAsk = (ask: () => AskTurnCalls): AskTurnCalls => ({
  ask: (body, caller) => ask().ask(body, caller),
  followAsk: (turn, after, caller, reader) => ask().followAsk(turn, after, caller, reader),
  cancelAsk: (turn, caller) => ask().cancelAsk(turn, caller),
})
