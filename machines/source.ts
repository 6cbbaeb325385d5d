/** A source: active and paused back and forth, deleted for good. */
import { createMachine } from 'xstate'
import type { Lifecycle } from './step.ts'

export const source: Lifecycle = {
  version: 1,
  events: ['pause', 'resume', 'delete'],
  machine: createMachine({
    id: 'source',
    initial: 'active',
    states: {
      active: { on: { pause: 'paused', delete: 'deleted' } },
      paused: { on: { resume: 'active', delete: 'deleted' } },
      deleted: { type: 'final' },
    },
  }),
}
