/**
 * A firing. A trigger that tripped fires at once, unless its storm rule gathers the burst until it
 * pauses, or a limit holds it back until it allows another; a burst of too few events is dropped.
 */
import { setup } from 'xstate'
import { effect } from './effect.ts'
import type { Lifecycle } from './step.ts'

const model = setup({ actions: { deliver: effect(), note_held: effect(), note_dropped: effect() } })

const hold = { target: 'held', actions: 'note_held' } as const
const drop = { target: 'dropped', actions: 'note_dropped' } as const

export const firing: Lifecycle = {
  version: 1,
  events: {
    release: 'it is sent to its subscribers: at once, or when the burst has paused or the limit allows it',
    gather: 'its burst is taken in until it pauses',
    hold: 'a limit holds it back',
    drop: 'the burst had fewer events than min_count, or its trigger was deleted',
  },
  machine: model.createMachine({
    id: 'firing',
    initial: 'tripped',
    states: {
      tripped: {
        description: 'just tripped; what becomes of it is decided in the same transaction',
        on: { release: 'fired', gather: 'gathering', hold },
      },
      gathering: {
        description: 'takes in the events of a burst',
        on: { release: 'fired', hold, drop },
      },
      held: {
        description: 'takes in what comes until a limit allows it',
        on: { release: 'fired', drop },
      },
      fired: { description: 'sent to its subscribers', type: 'final', entry: 'deliver' },
      dropped: { description: 'let pass', type: 'final' },
    },
  }),
}
