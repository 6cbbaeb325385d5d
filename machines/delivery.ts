/**
 * The delivery of a firing, or of an agent's finding, to one subscriber (SPEC.md, Run and delivery statuses). It
 * is at least once: one that the daemon stopped in the middle of is sent again, under the same id, which the
 * recipient knows it by. A try that fails for now waits until `due_at`; after the last try, or a refusal, the
 * delivery has failed until a person sends it again.
 */
import { setup } from 'xstate'
import { effect } from './effect.ts'
import type { Lifecycle } from './step.ts'

/** About 21 hours in all. */
const A_NIGHT = [5, 30, 120, 600, 1800, 7200, 21_600, 43_200] as const

/**
 * Seconds to wait after each failed try, by what is sent and how; there is no try after the last wait's. A
 * finding is read by people, who are there now: what cannot be posted for minutes is shown as failed.
 */
export const RETRY_SECONDS = {
  webhook: A_NIGHT,
  slack: A_NIGHT,
  slack_finding: [1, 5, 30, 120, 600],
  write_back: [1, 2],
  github: [1, 5, 30, 120, 600],
  /** Fetched: one that was not acknowledged in time waits for whoever asks next. */
  mcp: [0, 0, 0, 0],
  /** An agent of this service is woken once; its run is repeated by a rerun. */
  agent: [],
} as const satisfies Record<string, readonly number[]>

/** A row of the retry table. */
export type RetryKind = keyof typeof RETRY_SECONDS

/** Tries of a delivery: one more than there are waits. */
export const maxTries = (kind: RetryKind): number => RETRY_SECONDS[kind].length + 1

interface Context {
  /** Tries begun and not interrupted, since it was made or last sent again by hand. */
  tries: number
  max_tries: number
  /** Epoch ms before which it is not tried; null: at once. */
  due_at: number | null
}
interface Event {
  type: string
  /** Epoch ms. */
  at?: number
  /** Epoch ms, of retry: the wait of this try, with jitter, or what the recipient asked for. */
  due_at?: number
  reason?: string
  /** Epoch ms, of acknowledge: when it was answered; `at` where it is not given. */
  delivered_at?: number
}

const tries = ({ context }: { context: Context }): number => context.tries ?? 0

const model = setup({
  types: {} as { context: Context; events: Event; input: Partial<Pick<Context, 'max_tries'>> | undefined },
  guards: {
    is_due: ({ context, event }) => (context.due_at ?? null) === null || (event.at ?? 0) >= context.due_at!,
    tries_left: (at) => tries(at) < (at.context.max_tries ?? maxTries('webhook')),
  },
  actions: {
    send: effect<{ try: number }>(),
    note_delivered: effect<{ at: number | null }>(),
    note_failure: effect<{ reason: string | null; is_final: boolean }>(),
    disable_recipient: effect(),
    begin_again: effect<{ keeps_progress: boolean }>(),
  },
})

const failure = (isFinal: boolean, reason: string | null = null) =>
  ({
    type: 'note_failure',
    params: ({ event }: { event: Event }) => ({
      reason: event.reason ?? reason,
      is_final: isFinal,
    }),
  }) as const

/** @param keepsProgress what is with the recipient already is not sent twice; false: all of it is sent anew */
const again = (keepsProgress: boolean) =>
  ({
    target: 'pending',
    actions: [
      model.assign({ tries: 0, due_at: null }),
      { type: 'begin_again', params: { keeps_progress: keepsProgress } },
    ],
  }) as const

export const delivery: Lifecycle = {
  version: 1,
  events: {
    claim: 'it is due, and a worker takes it',
    acknowledge: 'the subscriber took it',
    retry: 'the try failed in a way that may pass',
    refuse: 'the subscriber refused it for good',
    gone: 'the subscriber says that it is gone',
    interrupted: 'the daemon stopped in the middle',
    withdraw: 'its subscription was removed before it was sent',
    redeliver: 'a person sends it again, under the same id',
  },
  machine: model.createMachine({
    id: 'delivery',
    context: ({ input }) => ({ tries: 0, max_tries: input?.max_tries ?? maxTries('webhook'), due_at: null }),
    initial: 'pending',
    states: {
      pending: {
        description: 'waits to be sent, or to be sent again when it is due',
        on: {
          claim: {
            guard: 'is_due',
            target: 'running',
            actions: [
              model.assign({ tries: (at) => tries(at) + 1, due_at: null }),
              { type: 'send', params: (at) => ({ try: tries(at) }) },
            ],
          },
          withdraw: {
            target: 'failed',
            actions: [model.assign({ due_at: null }), failure(true, 'its subscription was removed')],
          },
        },
      },
      running: {
        description: 'being sent; to an agent of this service, until its run ends',
        on: {
          acknowledge: {
            target: 'delivered',
            actions: {
              type: 'note_delivered',
              params: ({ event }) => ({ at: event.delivered_at ?? event.at ?? null }),
            },
          },
          retry: [
            {
              guard: 'tries_left',
              target: 'pending',
              actions: [model.assign({ due_at: ({ event }) => event.due_at ?? null }), failure(false)],
            },
            { target: 'failed', actions: failure(true) },
          ],
          refuse: { target: 'failed', actions: failure(true) },
          gone: { target: 'failed', actions: [failure(true), 'disable_recipient'] },
          // What the daemon cut off is no failure of the recipient's, so the try does not count.
          interrupted: {
            target: 'pending',
            actions: model.assign({ tries: (at) => Math.max(0, tries(at) - 1) }),
          },
        },
      },
      delivered: { description: 'the subscriber took it', on: { redeliver: again(false) } },
      failed: { description: 'not delivered; the last reason is shown', on: { redeliver: again(true) } },
    },
  }),
}
