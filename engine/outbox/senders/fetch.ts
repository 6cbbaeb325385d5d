/**
 * Firings that are fetched, for recipients without an address: an agent behind NAT asks, is given one
 * delivery with a lease, and acknowledges it before the lease ends. One that is not acknowledged waits
 * again and goes to whoever asks next; after the last try it has failed, as any delivery does.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import { fail } from '../../errors.ts'
import type { StoreHandle } from '../../store/handle.ts'
import { moveDelivery } from '../delivery.ts'
import { deliveryRows } from '../rows.ts'

/** A delivery in somebody's hands. */
export interface Leased {
  deliveryId: string
  /** Proves that one holds it. */
  lease: string
  /** Epoch ms. */
  until: number
  /** Number of this try, from 1. */
  tries: number
}

export interface Holding {
  deliveryId: string
  lease: string
}

export type Leases = ReturnType<typeof createLeases>

/** @param onPending called when a delivery waits again. */
export function createLeases({
  store,
  clock,
  onPending,
}: {
  store: StoreHandle
  clock: Clock
  onPending(): void
}) {
  const { db } = store
  const rows = deliveryRows(db)

  /** Ends a lease, with the try it was. @param error null: it was acknowledged */
  function end(id: string, event: { type: string; reason?: string }, error: string | null): void {
    const { held_since } = rows.held.get(id)!
    const at = clock.now()
    moveDelivery(db, id, { ...event, at })
    rows.addTry.run({ id, at: held_since, ms: Math.max(0, at - held_since), status: null, error })
    rows.letGo.run(id)
    // The next of its key may go.
    store.afterCommit(onPending)
  }

  /** @throws SvcError not_found; conflict when another holds it, or nobody */
  function require(subscription: string, { deliveryId, lease }: Holding) {
    const row = rows.held.get(deliveryId)
    if (row?.recipient !== subscription)
      return fail('not_found', `this subscription has no delivery ${deliveryId}`)
    if (row.state === 'delivered')
      fail('conflict', `delivery ${deliveryId} is acknowledged already; nothing is left to do`)
    if (row.state !== 'running' || row.lease !== hashOf(lease))
      fail('conflict', 'lease: it ended, and the delivery waits again or is with another; fetch anew', {
        field: 'lease',
      })
    return row
  }

  return {
    /** Hands out the oldest that waits, in order per key; null: none does. @param leaseMs how long it is held */
    claim: (subscription: string, leaseMs: number): Leased | null =>
      store.tx(() => {
        const deliveryId = rows.firstFetched.get(subscription)
        if (deliveryId === undefined) return null
        const now = clock.now()
        const lease = randomBytes(16).toString('hex')
        const { send } = moveDelivery(db, deliveryId, { type: 'claim', at: now })
        rows.hold.run(hashOf(lease), now + leaseMs, now, deliveryId)
        // The end of the lease may be what is due next.
        store.afterCommit(onPending)
        return { deliveryId, lease, until: now + leaseMs, tries: send! }
      }),

    /** @throws SvcError not_found; conflict */
    acknowledge: (subscription: string, holding: Holding): void => {
      store.tx(() => {
        require(subscription, holding)
        end(holding.deliveryId, { type: 'acknowledge' }, null)
      })
    },

    /** @returns what acknowledges it, within the transaction. @throws SvcError not_found; conflict */
    ending(subscription: string, holding: Holding): () => void {
      require(subscription, holding)
      return () => this.acknowledge(subscription, holding)
    },

    /** Gives back what was never told: it is no failure of the recipient's. @throws SvcError not_found; conflict */
    release: (subscription: string, holding: Holding): void => {
      store.tx(() => {
        require(subscription, holding)
        moveDelivery(db, holding.deliveryId, { type: 'interrupted', at: clock.now() })
        rows.letGo.run(holding.deliveryId)
        store.afterCommit(onPending)
      })
    },

    /** Holds it longer, from now. @returns when the lease ends, epoch ms. @throws SvcError not_found; conflict */
    extend: (subscription: string, holding: Holding, leaseMs: number): number =>
      store.tx(() => {
        const { lease, held_since } = require(subscription, holding)
        const until = clock.now() + leaseMs
        rows.hold.run(lease!, until, held_since, holding.deliveryId)
        return until
      }),

    /** What was held too long waits again, or has failed after the last try. */
    endLapsed: (): void => {
      const ids = rows.lapsed.all(clock.now())
      if (ids.length === 0) return
      const reason = 'its lease ended before it was acknowledged'
      store.tx(() => {
        for (const id of ids) end(id, { type: 'retry', reason }, reason)
      })
    },

    /** When the next lease ends, epoch ms; null: nothing is held. */
    nextEnd: (): number | null => rows.nextLapse.get() ?? null,
  }
}

const hashOf = (lease: string): string => createHash('sha256').update(lease).digest('hex')
