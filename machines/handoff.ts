/**
 * A handoff from one agent to another on the same entity (SPEC.md, Outbound and Limits): proposed
 * when a run ends with a verdict that a handoff names, decided in the same transaction, and done
 * when the run it started ends. A chain stops after three. What is refused leaves its reason.
 */
import { setup } from 'xstate'
import { effect } from './effect.ts'
import type { Lifecycle } from './step.ts'

/** Handoffs of a chain (SPEC.md, Limits). */
const MAX_HANDOFFS = 3

interface Context {
  /** Handoffs in the chain before this one. */
  depth: number
}
/** The facts are read in the transaction that decides. */
interface Event {
  type: string
  /** Epoch ms. */
  at?: number
  /** Epoch ms at which this agent may hand over to that agent on this entity again. */
  cooldown_until?: number | null
  /** Whether a run of the target on this entity is queued or running. */
  is_target_busy?: boolean
}

const depth = ({ context }: { context: Context }): number => context.depth ?? 0

const model = setup({
  types: {} as {
    context: Context
    events: Event
    input: Partial<Context> | undefined
  },
  guards: {
    chain_is_full: (at) => depth(at) >= MAX_HANDOFFS,
    in_cooldown: ({ event }) => (event.at ?? 0) < (event.cooldown_until ?? 0),
    target_is_busy: ({ event }) => event.is_target_busy === true,
  },
  actions: {
    start_run: effect<{ depth: number }>(),
  },
})

const refused = (reason: 'chain_limit' | 'cooldown' | 'target_busy') =>
  ({ target: `refused_${reason}` }) as const

export const handoff: Lifecycle = {
  version: 1,
  events: {
    decide: 'the rules are looked at, in the transaction that ends the first run',
    finish: 'the run it started has ended, in whatever way',
  },
  machine: model.createMachine({
    id: 'handoff',
    context: ({ input }) => ({ depth: input?.depth ?? 0 }),
    initial: 'proposed',
    states: {
      proposed: {
        description: 'a verdict named the next agent',
        on: {
          decide: [
            { guard: 'chain_is_full', ...refused('chain_limit') },
            { guard: 'in_cooldown', ...refused('cooldown') },
            { guard: 'target_is_busy', ...refused('target_busy') },
            {
              target: 'started',
              actions: { type: 'start_run', params: (at) => ({ depth: depth(at) + 1 }) },
            },
          ],
        },
      },
      refused_chain_limit: { description: 'the chain has had three handoffs', type: 'final' },
      refused_cooldown: {
        description: 'the same handoff on the entity was too short a time ago',
        type: 'final',
      },
      refused_target_busy: { description: 'the next agent is at work on the entity', type: 'final' },
      started: { description: 'the next agent has its run', on: { finish: 'done' } },
      done: { description: 'that run has ended', type: 'final' },
    },
  }),
}
