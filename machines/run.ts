/**
 * A run of an agent (SPEC.md, Run and delivery statuses). A round is one model call, so a run that
 * is capped before any call never starts. A restart of the daemon resumes it from its journal, three
 * times at most. While its model is unavailable it is parked, on its tape, and goes on when it is tried
 * again. Only queued, running and parked can still change: a rerun is a new run. What it says to its model
 * is no effect: while it runs, the loop reads from the tape what comes next.
 */
import { setup } from 'xstate'
import { effect } from './effect.ts'
import type { Lifecycle } from './step.ts'

/** Rounds of an agent that sets none (SPEC.md, Limits); with external MCP servers the run is given 12. */
const DEFAULT_ROUNDS = 6
/** Times a run is taken up again after a restart, before it fails. */
const MAX_RESUMES = 3

interface Context {
  rounds: number
  max_rounds: number
  resumes: number
}
interface Event {
  type: string
  /** Why it ends; absent of succeed. */
  reason?: string
  /** Of park: since when its model is unavailable, when it is tried again (epoch ms), and why. */
  since?: number
  until?: number
  why?: string
}

const rounds = ({ context }: { context: Context }): number => context.rounds ?? 0
const cap = ({ context }: { context: Context }): number => context.max_rounds ?? DEFAULT_ROUNDS
const resumes = ({ context }: { context: Context }): number => context.resumes ?? 0

const model = setup({
  types: {} as { context: Context; events: Event; input: Partial<Pick<Context, 'max_rounds'>> | undefined },
  guards: {
    rounds_left: (at) => rounds(at) < cap(at),
    rounds_used_up: (at) => rounds(at) >= cap(at),
    resumes_left: (at) => resumes(at) < MAX_RESUMES,
  },
  actions: {
    begin_run: effect(),
    resume_run: effect<{ after: 'stop' | 'wait' }>(),
    park_run: effect<{ since: number; until: number; why: string }>(),
    end_run: effect<{ status: string; reason: string | null }>(),
  },
})

/** A way to end; the outcome, its deliveries and its handoffs are written with it. */
const end = (
  status: 'succeeded' | 'exhausted' | 'failed' | 'capped' | 'empty' | 'cancelled',
  reason: string | null = null,
) =>
  ({
    target: status,
    actions: {
      type: 'end_run',
      params: ({ event }: { event: Event }) => ({ status, reason: event.reason ?? reason }),
    },
  }) as const

const nextRound = model.assign({ rounds: (at) => rounds(at) + 1 })

export const run: Lifecycle = {
  version: 2,
  // The second has more states, and a cancelled run is no longer a failed one.
  migrate: { 1: (old) => old },
  events: {
    start: 'its turn has come; the first round begins',
    round: 'the next round begins',
    succeed: 'it ended with a finding, or with nothing to report',
    empty:
      'it ended without a conclusion: it said nothing, or it has to conclude and only said a text, kept as a note',
    exhaust: 'the last round ended without a conclusion; the text so far is a partial note',
    cap: 'a cap is reached before a model call: the budget or the runs of a day',
    fail: 'it cannot go on, such as without a model provider',
    deadline: 'it took longer than it may',
    park: 'its model is unavailable for now',
    go_on: 'its model is tried again',
    interrupted: 'the daemon stopped in the middle',
    cancel: 'a person stops it',
  },
  machine: model.createMachine({
    id: 'run',
    context: ({ input }) => ({ rounds: 0, max_rounds: input?.max_rounds ?? DEFAULT_ROUNDS, resumes: 0 }),
    initial: 'queued',
    states: {
      queued: {
        description: 'waits for its turn',
        on: {
          start: { target: 'running', actions: [nextRound, 'begin_run'] },
          cap: end('capped'),
          fail: end('failed'),
          cancel: end('cancelled'),
        },
      },
      running: {
        description: 'asks the model, round by round',
        on: {
          round: { guard: 'rounds_left', target: 'running', actions: nextRound },
          succeed: end('succeeded'),
          empty: end('empty'),
          exhaust: { guard: 'rounds_used_up', ...end('exhausted') },
          cap: end('capped'),
          fail: end('failed'),
          deadline: end('failed', 'deadline'),
          park: {
            target: 'parked',
            actions: {
              type: 'park_run',
              params: ({ event: { since = 0, until = 0, why = '' } }) => ({ since, until, why }),
            },
          },
          interrupted: [
            {
              guard: 'resumes_left',
              target: 'running',
              actions: [
                model.assign({ resumes: (at) => resumes(at) + 1 }),
                { type: 'resume_run', params: { after: 'stop' } },
              ],
            },
            end('failed', 'it was interrupted again and again'),
          ],
          cancel: end('cancelled'),
        },
      },
      parked: {
        description: 'waits on its tape until its model is tried again; nothing is reserved for it',
        on: {
          go_on: { target: 'running', actions: { type: 'resume_run', params: { after: 'wait' } } },
          cancel: end('cancelled'),
        },
      },
      succeeded: { description: 'ended with a finding, or with nothing to report', type: 'final' },
      exhausted: { description: 'reached its round cap; a partial note is kept', type: 'final' },
      failed: { description: 'could not end; the reason is shown', type: 'final' },
      cancelled: { description: 'a person stopped it', type: 'final' },
      capped: { description: 'a cap was reached before a model call', type: 'final' },
      empty: {
        description: 'ended without a conclusion; a text that was none is kept as a note',
        type: 'final',
      },
    },
  }),
}
