/** A question to Ask: at work until it is answered, its rounds are used up, it is stopped, or it fails. */
import { createMachine } from 'xstate'
import type { Lifecycle } from './step.ts'

export const askTurn: Lifecycle = {
  version: 1,
  events: {
    answer: 'the model gave its answer',
    exhaust: 'its rounds were used up, or its room, before the model was done',
    cancel: 'a person stopped it, or nobody read it any more',
    fail: 'a model could not be asked, a budget was used up, or the service stopped',
  },
  machine: createMachine({
    id: 'ask_turn',
    initial: 'running',
    states: {
      running: {
        description: 'the model looks things up and writes',
        on: { answer: 'answered', exhaust: 'exhausted', cancel: 'cancelled', fail: 'failed' },
      },
      answered: { description: 'there is an answer', type: 'final' },
      exhausted: { description: 'what there was of an answer is kept', type: 'final' },
      cancelled: { description: 'what there was of an answer is kept', type: 'final' },
      failed: { description: 'there is no answer; the error says why', type: 'final' },
    },
  }),
}
