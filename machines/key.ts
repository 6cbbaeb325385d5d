/** An API key: active until it is revoked, once and for good. */
import { createMachine } from 'xstate'
import type { Lifecycle } from './step.ts'

export const key: Lifecycle = {
  version: 1,
  events: { revoke: 'the key, or the project it belongs to, is taken away' },
  machine: createMachine({
    id: 'key',
    initial: 'active',
    states: {
      active: { description: 'opens what its scopes allow', on: { revoke: 'revoked' } },
      revoked: { description: 'opens nothing, for good', type: 'final' },
    },
  }),
}
