/**
 * Fetching firings as callers see it: wait for one, acknowledge it, hold it longer. A credential
 * fetches by the subscriptions it made; one with scope admin by any.
 */

import { createHash, randomBytes } from 'node:crypto'
import type { FiringFetched, FiringMessage, LeaseExtended } from '../../schemas/types.ts'
import type { Caller } from '../calls.ts'
import type { Clock, Timers } from '../clock.ts'
import { fail } from '../errors.ts'
import type { StoreHandle } from '../log/store/handle.ts'
import { deliveryRows, moveDelivery } from './rows.ts'
import type { Subscriptions } from './subscriptions.ts'

/** Who asks. `own`: only by a subscription of this caller's. */
export interface Fetcher {
  by: Caller
  own: boolean
}

interface FetchWrites {
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

/*
 * Callers who wait for a firing. Each asks at once, and again whenever a commit left something to be
 * delivered; who came first is asked first. Nothing is kept: a caller that goes away was never there.
 */

/** How a waiting caller takes a delivery, and gives one back that it is no longer there for. */
interface Taking {
  claim(): Promise<Leased | null>
  giveBack(leased: Leased): Promise<void>
}

export interface Waiting {
  /**
   * @param timeoutMs how long to wait; 0 asks once.
   * @param signal the caller went away: nothing is taken for it.
   * @returns null: none came in that time
   */
  wait(taking: Taking, timeoutMs: number, signal: AbortSignal | undefined): Promise<Leased | null>
  /** Something may wait to be fetched. */
  nudge(): void
  /** Lets everybody go. */
  stop(): void
}

interface Waiter {
  taking: Taking
  isAsking: boolean
  /** Something came while it was asking. */
  isNudged: boolean
  settle(leased: Leased | null): void
  fail(error: unknown): void
}

/** @param onError told what giving back throws; its lease then ends by itself */
export function createWaiting(timers: Timers, onError: (error: Error) => void): Waiting {
  const waiters = new Set<Waiter>()
  let isStopped = false

  /** One claim at a time: two would take two. */
  async function ask(waiter: Waiter): Promise<void> {
    waiter.isNudged = true
    if (waiter.isAsking) return
    waiter.isAsking = true
    try {
      while (waiter.isNudged && waiters.has(waiter)) {
        waiter.isNudged = false
        const leased = await waiter.taking.claim()
        if (leased && waiters.has(waiter)) waiter.settle(leased)
        else if (leased) await waiter.taking.giveBack(leased).catch(onError)
      }
    } catch (error) {
      waiter.fail(error)
    }
    waiter.isAsking = false
  }

  return {
    nudge: () => {
      for (const waiter of waiters) void ask(waiter)
    },
    stop: () => {
      isStopped = true
      for (const waiter of waiters) waiter.settle(null)
    },
    wait: (taking, timeoutMs, signal) =>
      new Promise((resolve, reject) => {
        let callOff = () => {}
        const leave = () => {
          waiters.delete(waiter)
          callOff()
          signal?.removeEventListener('abort', gone)
        }
        const waiter: Waiter = {
          taking,
          isAsking: false,
          isNudged: false,
          settle: (leased) => {
            leave()
            resolve(leased)
          },
          fail: (error) => {
            leave()
            reject(error)
          },
        }
        const gone = () => waiter.settle(null)
        waiters.add(waiter)
        signal?.addEventListener('abort', gone)
        if (isStopped || signal?.aborted) return gone()
        void ask(waiter).then(() => {
          if (!waiters.has(waiter)) return
          if (timeoutMs <= 0) gone()
          // Asked once more, so that one whose queue was deleted meanwhile is told so, not that none came.
          else callOff = timers.after(timeoutMs, () => void ask(waiter).then(gone))
        })
      }),
  }
}

/*
 * Firings that are fetched, for recipients without an address: an agent behind NAT asks, is given one
 * delivery with a lease, and acknowledges it before the lease ends. One that is not acknowledged waits
 * again and goes to whoever asks next; after the last try it has failed, as any delivery does.
 */

/** A delivery in somebody's hands. */
interface Leased {
  deliveryId: string
  /** Proves that one holds it. */
  lease: string
  /** Epoch ms. */
  until: number
  /** Number of this try, from 1. */
  tries: number
}

interface Holding {
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
        const deliveryId = rows.firstFetched.get({ recipient: subscription })
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

    /**
     * Moves the end of a lease to `leaseMs` from now, unless it ends later already.
     * @returns when the lease ends, epoch ms. @throws SvcError not_found; conflict
     */
    extend: (subscription: string, holding: Holding, leaseMs: number): number =>
      store.tx(() => {
        const { lease, lease_until, held_since } = require(subscription, holding)
        const until = Math.max(lease_until!, clock.now() + leaseMs)
        rows.hold.run(lease!, until, held_since, holding.deliveryId)
        return until
      }),

    /** What was held too long waits again, or has failed after the last try. */
    endLapsed: (): void => {
      const ids = rows.lapsed.all({ now: clock.now() })
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
