/** An API key: active until it is revoked, once and for good. */
import { createMachine } from 'xstate'
import type { Lifecycle } from './step.ts'

export const key: Lifecycle = {
  version: 1,
  events: ['revoke'],
  machine: createMachine({
    id: 'key',
    initial: 'active',
    states: {
      active: { on: { revoke: 'revoked' } },
      revoked: { type: 'final' },
    },
  }),
}
