/**
 * The delivery of a firing to one recipient (SPEC.md, Run and delivery statuses). It is at least
 * once: one that the daemon stopped in the middle of is sent again, under the same id, which the
 * recipient knows it by. A try that fails for now waits until `due_at`; after the last try, or a
 * refusal, the delivery has failed until a person sends it again.
 */
import { setup } from 'xstate'
import { effect } from './effect.ts'
import type { Lifecycle } from './step.ts'

/** Seconds to wait after each failed try: about 21 hours in all, and no try after the last wait's. */
export const RETRY_SECONDS = [5, 30, 120, 600, 1800, 7200, 21_600, 43_200] as const
/** Tries of a delivery that is given no other number. */
export const MAX_TRIES = RETRY_SECONDS.length + 1

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
}

const tries = ({ context }: { context: Context }): number => context.tries ?? 0

const model = setup({
  types: {} as { context: Context; events: Event; input: Partial<Pick<Context, 'max_tries'>> | undefined },
  guards: {
    is_due: ({ context, event }) => (context.due_at ?? null) === null || (event.at ?? 0) >= context.due_at!,
    tries_left: (at) => tries(at) < (at.context.max_tries ?? MAX_TRIES),
  },
  actions: {
    send: effect<{ try: number }>(),
    note_delivered: effect(),
    note_failure: effect<{ reason: string | null; is_final: boolean }>(),
    disable_recipient: effect(),
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

const again = { target: 'pending', actions: model.assign({ tries: 0, due_at: null }) } as const

export const delivery: Lifecycle = {
  version: 1,
  events: {
    claim: 'it is due, and a worker takes it',
    acknowledge: 'the recipient took it',
    retry: 'the try failed in a way that may pass',
    refuse: 'the recipient refused it for good',
    gone: 'the recipient says that it is gone',
    interrupted: 'the daemon stopped in the middle',
    withdraw: 'its subscription was removed before it was sent',
    redeliver: 'a person sends it again, under the same id',
  },
  machine: model.createMachine({
    id: 'delivery',
    context: ({ input }) => ({ tries: 0, max_tries: input?.max_tries ?? MAX_TRIES, due_at: null }),
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
          withdraw: { target: 'failed', actions: failure(true, 'its subscription was removed') },
        },
      },
      running: {
        description: 'being sent; to an agent of this service, until its run ends',
        on: {
          acknowledge: { target: 'delivered', actions: 'note_delivered' },
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
      delivered: { description: 'the recipient took it', on: { redeliver: again } },
      failed: { description: 'not delivered; the last reason is shown', on: { redeliver: again } },
    },
  }),
}
