/** A source: active and paused back and forth; deleted, and brought back by undoing the delete. */
import { createMachine } from 'xstate'
import type { Lifecycle, Snapshot } from './step.ts'

export const source: Lifecycle = {
  version: 2,
  events: {
    pause: 'stop taking events in',
    resume: 'take events in again',
    delete: 'take it away; its stored events stay',
    restore: 'undo the delete',
  },
  machine: createMachine({
    id: 'source',
    initial: 'active',
    states: {
      active: { description: 'takes events in', on: { pause: 'paused', delete: 'deleted' } },
      paused: { description: 'takes nothing in', on: { resume: 'active', delete: 'deleted' } },
      deleted: { description: 'gone, until its delete is undone', on: { restore: 'active' } },
    },
  }),
  // In version 1 a delete was for good.
  migrate: { 1: (old): Snapshot => ({ ...old, status: 'active' }) },
}
