/**
 * A question to Ask: at work until it is answered, its rounds are used up, it is stopped, or it fails. A restart of
 * the daemon resumes it from its tape, three times at most; while its model is unavailable it waits, as running.
 */
import { setup } from 'xstate'
import { effect } from './effect.ts'
import type { Lifecycle } from './step.ts'

/** Times a turn is taken up again after a restart, before it fails. */
const MAX_RESUMES = 3

interface Context {
  resumes: number
}
/** What an end leaves. */
interface Event {
  type: string
  /** What there is of an answer. */
  answer?: string
  /** Why there is none. */
  error?: string | null
}

const resumes = ({ context }: { context: Context }): number => context.resumes ?? 0

const model = setup({
  types: {} as { context: Context; events: Event },
  guards: { resumes_left: (at) => resumes(at) < MAX_RESUMES },
  actions: {
    resume_turn: effect(),
    end_turn: effect<{ answer: string; error: string | null }>(),
  },
})

const end = (target: 'answered' | 'exhausted' | 'cancelled' | 'failed', error: string | null = null) =>
  ({
    target,
    actions: {
      type: 'end_turn',
      params: ({ event }: { event: Event }) => ({ answer: event.answer ?? '', error: event.error ?? error }),
    },
  }) as const

export const askTurn: Lifecycle = {
  version: 2,
  // The second counts how often it was resumed.
  migrate: { 1: (old) => ({ ...old, context: { resumes: 0 } }) },
  events: {
    answer: 'the model gave its answer',
    exhaust: 'its rounds were used up, or its room, before the model was done',
    cancel: 'a person stopped it, or nobody read it any more',
    fail: 'a model could not be asked, a budget was used up, or who asked may ask no more',
    interrupted: 'the daemon stopped in the middle',
  },
  machine: model.createMachine({
    id: 'ask_turn',
    context: { resumes: 0 },
    initial: 'running',
    states: {
      running: {
        description: 'the model looks things up and writes',
        on: {
          answer: end('answered'),
          exhaust: end('exhausted'),
          cancel: end('cancelled'),
          fail: end('failed'),
          interrupted: [
            {
              guard: 'resumes_left',
              target: 'running',
              actions: [model.assign({ resumes: (at) => resumes(at) + 1 }), 'resume_turn'],
            },
            end('failed', 'the service stopped again and again while this was answered; ask again'),
          ],
        },
      },
      answered: { description: 'there is an answer', type: 'final' },
      exhausted: { description: 'what there was of an answer is kept', type: 'final' },
      cancelled: { description: 'what there was of an answer is kept', type: 'final' },
      failed: { description: 'there is no answer; the error says why', type: 'final' },
    },
  }),
}
