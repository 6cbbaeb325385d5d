/** Deliveries put together: who is told, what waits to be posted, and what waits to be fetched. */
import type { Clock, Timers } from '../clock.ts'
import type { Secrets } from '../secrets.ts'
import type { StoreHandle } from '../store/handle.ts'
import { fetchWrites } from './fetching.ts'
import { createLeases } from './leases.ts'
import { createOutbox } from './outbox.ts'
import { createSubscriptions } from './subscriptions.ts'
import { createWaiting } from './waiting.ts'

export interface DeliveriesParts {
  store: StoreHandle
  clock: Clock
  secrets: Secrets
  /** Called when a delivery waits again. */
  onPending(): void
}

export function openDeliveries({ store, clock, secrets, onPending }: DeliveriesParts) {
  const subscriptions = createSubscriptions({ store, clock, secrets })
  const leases = createLeases({ store, clock, onPending })
  const outbox = createOutbox({ store, clock, subscriptions, leases, onPending })
  return { subscriptions, outbox, ...fetchWrites(subscriptions, leases) }
}

/** Who waits in this process, and how they are told that something came. */
export function waitersNudgedBy(
  timers: Timers,
  onError: (error: Error) => void,
  alsoPending: (() => void) | undefined,
) {
  const waiting = createWaiting(timers, onError)
  return {
    waiting,
    onPending: () => {
      waiting.nudge()
      alsoPending?.()
    },
  }
}
