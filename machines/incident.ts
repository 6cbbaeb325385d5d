/**
 * An incident: the firings of one trigger for one key, from the first until it is handled. A firing after that opens
 * a new one. What a person does, and what ends it, are events; so is each firing, which changes the state only
 * where the severity rises, or where a snooze is over.
 */
import { setup } from 'xstate'
import { effect } from './effect.ts'
import type { Lifecycle } from './step.ts'

/** How it was handled. */
export type HandledHow = 'person' | 'resolved' | 'verdict' | 'quiet' | 'deleted'

interface Context {
  /** Epoch ms until when it is snoozed; null: it is not, or until it changes. */
  until: number | null
  /** Somebody had it when it was snoozed, and has it again when the snooze is taken back. */
  was_taken: boolean
}
interface Event {
  type: string
  /** Epoch ms. */
  at?: number
  /** Of snooze, epoch ms; null or absent: until it changes. */
  until?: number | null
  /** Of fire and set_severity: the severity is higher than it was. */
  rises?: boolean
  /** Of handle. */
  how?: HandledHow
  /** Of reopen: somebody had it, and has it again. */
  keeps?: boolean
}

const model = setup({
  types: {} as { context: Context; events: Event },
  guards: {
    rises: ({ event }) => event.rises === true,
    is_due: ({ context, event }) => (context.until ?? null) !== null && (event.at ?? 0) >= context.until!,
    rises_or_is_due: ({ context, event }) =>
      event.rises === true || ((context.until ?? null) !== null && (event.at ?? 0) >= context.until!),
    was_taken: ({ context }) => context.was_taken === true,
    keeps: ({ event }) => event.keeps === true,
  },
  actions: {
    note_fired: effect(),
    note_severity: effect(),
    note_taken: effect(),
    note_given_back: effect(),
    note_assigned: effect(),
    note_snoozed: effect<{ until: number | null }>(),
    note_unsnoozed: effect(),
    tell_held_back: effect(),
    note_handled: effect<{ how: HandledHow }>(),
    note_reopened: effect(),
  },
})

const forgetSnooze = model.assign({ until: null, was_taken: false })
const snooze = (wasTaken: boolean | 'as it was') =>
  ({
    target: 'snoozed',
    actions: [
      model.assign({
        until: ({ event }) => event.until ?? null,
        was_taken: ({ context }) => (wasTaken === 'as it was' ? context.was_taken === true : wasTaken),
      }),
      { type: 'note_snoozed', params: ({ event }: { event: Event }) => ({ until: event.until ?? null }) },
    ],
  }) as const
const handle = {
  target: 'handled',
  actions: [
    forgetSnooze,
    { type: 'note_handled', params: ({ event }: { event: Event }) => ({ how: event.how ?? 'person' }) },
  ],
} as const
const openAgain = ['note_given_back'] as const
const wakeUp = [forgetSnooze, 'note_unsnoozed', 'note_given_back'] as const
/** A firing that ends a snooze is told itself, and who takes the incident knows of it: else what was held back is told. */
const wakeAndTell = ['tell_held_back', ...wakeUp] as const
const FIRE = { actions: 'note_fired' } as const
const SET_SEVERITY = { actions: 'note_severity' } as const
const ASSIGN = { actions: 'note_assigned' } as const

export const incident: Lifecycle = {
  version: 1,
  events: {
    fire: 'its trigger fired again for its key',
    acknowledge: 'somebody has it; its deliveries go on',
    assign: 'somebody is given it, or it is taken from them',
    snooze: 'its deliveries are held back, until a time or until it changes',
    unsnooze: 'a person ends the snooze',
    wake: 'the time of the snooze is over',
    set_severity: 'a person sets its severity',
    handle:
      'a person handled it, its trigger says that it is over, an agent gave a verdict that closes, nothing fired for 24 hours, or its trigger was deleted',
    reopen: 'a person opens it again, or the delete of its trigger is undone',
  },
  machine: model.createMachine({
    id: 'incident',
    context: { until: null, was_taken: false },
    initial: 'open',
    states: {
      open: {
        description: 'nobody has said that they have it',
        on: {
          fire: FIRE,
          acknowledge: { target: 'acknowledged', actions: 'note_taken' },
          assign: ASSIGN,
          snooze: snooze(false),
          set_severity: SET_SEVERITY,
          handle,
        },
      },
      acknowledged: {
        description: 'somebody has it',
        on: {
          fire: [{ guard: 'rises', target: 'open', actions: ['note_fired', ...openAgain] }, FIRE],
          assign: ASSIGN,
          snooze: snooze(true),
          set_severity: [
            { guard: 'rises', target: 'open', actions: ['note_severity', ...openAgain] },
            SET_SEVERITY,
          ],
          handle,
          reopen: { target: 'open', actions: openAgain },
        },
      },
      snoozed: {
        description: 'its deliveries are held back',
        on: {
          fire: [{ guard: 'rises_or_is_due', target: 'open', actions: ['note_fired', ...wakeUp] }, FIRE],
          acknowledge: { target: 'acknowledged', actions: [forgetSnooze, 'note_unsnoozed', 'note_taken'] },
          assign: ASSIGN,
          snooze: snooze('as it was'),
          unsnooze: [
            {
              guard: 'was_taken',
              target: 'acknowledged',
              actions: ['tell_held_back', forgetSnooze, 'note_unsnoozed'],
            },
            { target: 'open', actions: wakeAndTell },
          ],
          wake: { guard: 'is_due', target: 'open', actions: wakeAndTell },
          set_severity: [
            { guard: 'rises', target: 'open', actions: ['note_severity', ...wakeAndTell] },
            SET_SEVERITY,
          ],
          handle,
          reopen: { target: 'open', actions: wakeAndTell },
        },
      },
      handled: {
        description: 'over; the next firing opens a new one',
        on: {
          reopen: [
            { guard: 'keeps', target: 'acknowledged', actions: 'note_reopened' },
            { target: 'open', actions: ['note_reopened', 'note_given_back'] },
          ],
        },
      },
    },
  }),
}
