/**
 * Fetching firings as callers see it: wait for one, acknowledge it, hold it longer. A credential
 * fetches by the subscriptions it made; one with scope admin by any.
 */
import type { FiringFetched, FiringMessage, LeaseExtended } from '../../schemas/types.ts'
import type { Caller } from '../calls.ts'
import { fail } from '../errors.ts'
import type { Holding, Leased, Leases } from './senders/fetch.ts'
import type { Subscriptions } from './subscriptions.ts'
import type { Waiting } from './waiting.ts'

/** Who asks. `own`: only by a subscription of this caller's. */
export interface Fetcher {
  by: Caller
  own: boolean
}

export interface FetchWrites {
  /** @throws SvcError not_found; forbidden; invalid for one that is posted to */
  claimFiring(subscription: string, leaseMs: number, fetcher: Fetcher): Promise<Leased | null>
  /** @throws SvcError not_found; forbidden; conflict when the lease has ended */
  acknowledgeFiring(subscription: string, holding: Holding, fetcher: Fetcher): Promise<{ ok: true }>
  /** @throws SvcError not_found; forbidden; conflict when the lease has ended */
  extendLease(
    subscription: string,
    holding: Holding,
    leaseMs: number,
    fetcher: Fetcher,
  ): Promise<LeaseExtended>
  /** @throws SvcError not_found; forbidden; conflict when the lease has ended */
  releaseFiring(subscription: string, holding: Holding, fetcher: Fetcher): Promise<{ ok: true }>
}

export interface FetchCalls extends FetchWrites {
  /**
   * Waits for a firing of a subscription and takes it for a time.
   * @param how `timeoutMs` 0 asks once; `signal`: the caller went away, and nothing is taken for it
   * @throws SvcError not_found; forbidden; invalid
   */
  fetchFiring(
    subscription: string,
    how: { timeoutMs: number; leaseMs: number; signal?: AbortSignal | undefined },
    fetcher: Fetcher,
  ): Promise<FiringFetched>
}

/**
 * Whether the fetcher holds a delivery. @returns what acknowledges it, within the transaction.
 * @throws SvcError not_found; forbidden; conflict when the lease has ended
 */
export type Ending = (subscription: string, holding: Holding, fetcher: Fetcher) => () => void

export function fetchWrites(
  subscriptions: Subscriptions,
  leases: Leases,
): { fetches: FetchWrites; ending: Ending } {
  const require = (id: string, { by, own }: Fetcher): string => {
    const row = subscriptions.require(id)
    if (own && row.caller !== by.id)
      fail('forbidden', 'another credential made this subscription; make one of your own')
    if (row.kind !== 'mcp')
      fail('invalid', 'subscription: its firings are posted to an address, so there is nothing to fetch', {
        field: 'subscription',
      })
    return id
  }
  const fetches: FetchWrites = {
    claimFiring: async (id, leaseMs, fetcher) => leases.claim(require(id, fetcher), leaseMs),
    acknowledgeFiring: async (id, holding, fetcher) => {
      leases.acknowledge(require(id, fetcher), holding)
      return { ok: true }
    },
    extendLease: async (id, holding, leaseMs, fetcher) => ({
      lease_until: new Date(leases.extend(require(id, fetcher), holding, leaseMs)).toISOString(),
    }),
    releaseFiring: async (id, holding, fetcher) => {
      leases.release(require(id, fetcher), holding)
      return { ok: true }
    },
  }
  return { fetches, ending: (id, holding, fetcher) => leases.ending(require(id, fetcher), holding) }
}

/** What waiting for a firing needs of the outbox. */
export interface FetchPort extends Pick<FetchWrites, 'claimFiring' | 'releaseFiring'> {
  /** @throws SvcError not_found */
  deliveryMessage(id: string): Promise<FiringMessage>
}

/** @param calls of the outbox, wherever it runs */
export function fetchFiringBy(calls: FetchPort, waiting: Waiting): FetchCalls['fetchFiring'] {
  return async (subscription, { timeoutMs, leaseMs, signal }, fetcher) => {
    const leased = await waiting.wait(
      {
        claim: () => calls.claimFiring(subscription, leaseMs, fetcher),
        giveBack: async (taken) => {
          await calls.releaseFiring(subscription, taken, fetcher)
        },
      },
      timeoutMs,
      signal,
    )
    if (!leased) return { delivery: null }
    const message = await calls.deliveryMessage(leased.deliveryId)
    if (signal?.aborted) {
      // It went while the message was read: nobody is told, so nobody holds it.
      await calls.releaseFiring(subscription, leased, fetcher)
      return { delivery: null }
    }
    return {
      delivery: {
        delivery_id: leased.deliveryId,
        lease: leased.lease,
        lease_until: new Date(leased.until).toISOString(),
        tries: leased.tries,
        message,
      },
    }
  }
}
