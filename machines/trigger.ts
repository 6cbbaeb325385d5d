/** A trigger: active and paused back and forth; deleted, and brought back by undoing the delete. */
import { createMachine } from 'xstate'
import type { Lifecycle } from './step.ts'

export const trigger: Lifecycle = {
  version: 1,
  events: {
    pause: 'stop watching',
    resume: 'watch again',
    delete: 'take it away, with its subscriptions; agents it woke stay',
    restore: 'undo the delete',
  },
  machine: createMachine({
    id: 'trigger',
    initial: 'active',
    states: {
      active: {
        description: 'watches its sources and fires',
        on: { pause: 'paused', delete: 'deleted' },
      },
      paused: { description: 'does not fire', on: { resume: 'active', delete: 'deleted' } },
      deleted: { description: 'gone, until its delete is undone', on: { restore: 'active' } },
    },
  }),
}
