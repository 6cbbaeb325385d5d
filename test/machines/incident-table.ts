/** What the lifecycle of an incident takes, written down apart from the machine, as tables.ts has the others. */
import type { Situation, Taken } from './situation.ts'

const says = (...types: string[]) => types.map((type) => ({ type }))
const free = { until: null, was_taken: false }
const opens = (...effects: string[]): Taken => ({ to: 'open', context: free, effects: says(...effects) })
const handled: Taken = {
  to: 'handled',
  context: free,
  brings: { how: 'quiet' },
  effects: [{ type: 'note_handled', params: { how: 'quiet' } }],
}
const snoozed = (wasTaken: boolean, until: number | null): Taken => ({
  to: 'snoozed',
  context: { until, was_taken: wasTaken },
  brings: { until },
  effects: [{ type: 'note_snoozed', params: { until } }],
})
const assigned = (to: string): Taken => ({ to, effects: says('note_assigned') })
/** Of a snooze, whatever becomes of its time. */
const ofSnooze = (wasTaken: boolean, until: number | null) => ({
  acknowledge: { to: 'acknowledged', context: free, effects: says('note_unsnoozed', 'note_taken') },
  assign: { ...assigned('snoozed'), context: { until, was_taken: wasTaken } },
  snooze: snoozed(wasTaken, 9_000),
  unsnooze: wasTaken
    ? { to: 'acknowledged', context: free, effects: says('tell_held_back', 'note_unsnoozed') }
    : opens('tell_held_back', 'note_unsnoozed', 'note_given_back'),
  handle: handled,
  reopen: opens('tell_held_back', 'note_unsnoozed', 'note_given_back'),
})
/** The instant of lifecycles.test.ts. */
const DUE = 1000
export const incident: Situation[] = [
  {
    state: 'open',
    context: free,
    takes: {
      fire: { to: 'open', brings: { rises: true }, effects: says('note_fired') },
      acknowledge: { to: 'acknowledged', effects: says('note_taken') },
      assign: assigned('open'),
      snooze: snoozed(false, null),
      set_severity: { to: 'open', brings: { rises: true }, effects: says('note_severity') },
      handle: handled,
    },
  },
  {
    state: 'acknowledged',
    context: free,
    takes: {
      fire: { to: 'acknowledged', effects: says('note_fired') },
      assign: assigned('acknowledged'),
      snooze: snoozed(true, DUE),
      set_severity: { ...opens('note_severity', 'note_given_back'), brings: { rises: true } },
      handle: handled,
      reopen: opens('note_given_back'),
    },
  },
  {
    state: 'acknowledged',
    context: free,
    takes: {
      fire: { ...opens('note_fired', 'note_given_back'), brings: { rises: true } },
      assign: assigned('acknowledged'),
      snooze: snoozed(true, null),
      set_severity: { to: 'acknowledged', effects: says('note_severity') },
      handle: handled,
      reopen: opens('note_given_back'),
    },
  },
  {
    state: 'snoozed',
    context: { until: DUE, was_taken: false },
    takes: {
      ...ofSnooze(false, DUE),
      fire: {
        to: 'snoozed',
        context: { until: DUE, was_taken: false },
        brings: { at: DUE - 1 },
        effects: says('note_fired'),
      },
      wake: { ...opens('tell_held_back', 'note_unsnoozed', 'note_given_back'), brings: { at: DUE } },
      set_severity: {
        ...opens('note_severity', 'tell_held_back', 'note_unsnoozed', 'note_given_back'),
        brings: { rises: true },
      },
    },
  },
  {
    state: 'snoozed',
    context: { until: DUE, was_taken: true },
    takes: {
      ...ofSnooze(true, DUE),
      fire: { ...opens('note_fired', 'note_unsnoozed', 'note_given_back'), brings: { at: DUE } },
      wake: { ...opens('tell_held_back', 'note_unsnoozed', 'note_given_back'), brings: { at: DUE + 1 } },
      set_severity: {
        to: 'snoozed',
        context: { until: DUE, was_taken: true },
        effects: says('note_severity'),
      },
    },
  },
  {
    // Until it changes: no time ends it.
    state: 'snoozed',
    context: { until: null, was_taken: false },
    takes: {
      ...ofSnooze(false, null),
      fire: {
        ...opens('note_fired', 'note_unsnoozed', 'note_given_back'),
        brings: { at: 9_999, rises: true },
      },
      set_severity: {
        ...opens('note_severity', 'tell_held_back', 'note_unsnoozed', 'note_given_back'),
        brings: { rises: true },
      },
    },
  },
  { state: 'handled', context: free, takes: { reopen: opens('note_reopened', 'note_given_back') } },
  {
    // Whoever had it has it again.
    state: 'handled',
    context: free,
    takes: {
      reopen: {
        to: 'acknowledged',
        context: free,
        effects: says('note_reopened'),
        brings: { keeps: true },
      },
    },
  },
]
