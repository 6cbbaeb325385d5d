/** A proposed change: open until a person approves or declines it, or its author withdraws it. */
import { createMachine } from 'xstate'
import type { Lifecycle } from './step.ts'

export const proposal: Lifecycle = {
  version: 1,
  events: {
    approve: 'a person approves it: exactly what was planned is written',
    decline: 'a person declines it',
    withdraw: 'who proposed it takes it back',
  },
  machine: createMachine({
    id: 'proposal',
    initial: 'open',
    states: {
      open: {
        description: 'waits for a person; nothing is written',
        on: { approve: 'approved', decline: 'declined', withdraw: 'withdrawn' },
      },
      approved: { description: 'written, as the change-set it names', type: 'final' },
      declined: { description: 'nothing was written', type: 'final' },
      withdrawn: { description: 'nothing was written', type: 'final' },
    },
  }),
}
