/**
 * Firings that are fetched, for recipients without an address: an agent behind NAT asks, is given one
 * delivery with a lease, and acknowledges it before the lease ends. One that is not acknowledged waits
 * again and goes to whoever asks next; after the last try it has failed, as any delivery does.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '../clock.ts'
import { fail } from '../errors.ts'
import { move } from '../lifecycle/advance.ts'
import type { StoreHandle } from '../store/handle.ts'

/** Times one is handed out before it has failed. */
export const FETCH_TRIES = 5

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

interface HeldRow {
  recipient: string
  state: string
  lease: string | null
  lease_until: number | null
  held_since: number
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
  const first = db.prepare<[string], { id: string; tries: number }>(
    `SELECT d.id, coalesce(json_extract(d.snapshot, '$.context.tries'), 0) AS tries FROM deliveries d
     WHERE d.recipient = ? AND d.recipient_kind = 'mcp' AND d.state = 'pending'
       AND NOT EXISTS (SELECT 1 FROM deliveries e WHERE e.state IN ('pending', 'running')
                       AND e.recipient = d.recipient AND e.key = d.key AND e.seq < d.seq)
     ORDER BY d.seq LIMIT 1`,
  )
  const hold = db.prepare<[string, number, number, string]>(
    'UPDATE deliveries SET lease = ?, lease_until = ?, held_since = ?, due_at = NULL, reason = NULL WHERE id = ?',
  )
  const held = db.prepare<[string], HeldRow>(
    'SELECT recipient, state, lease, lease_until, coalesce(held_since, made_at) AS held_since FROM deliveries WHERE id = ?',
  )
  const letGo = db.prepare<[number | null, string | null, string]>(
    'UPDATE deliveries SET lease = NULL, lease_until = NULL, held_since = NULL, due_at = NULL, delivered_at = ?, reason = ? WHERE id = ?',
  )
  const lapsed = db
    .prepare<[number], string>('SELECT id FROM deliveries WHERE lease_until IS NOT NULL AND lease_until <= ?')
    .pluck()
  const nextEnd = db
    .prepare<[], number | null>('SELECT min(lease_until) FROM deliveries WHERE lease_until IS NOT NULL')
    .pluck()
  const addTry = db.prepare<[string, string, number, number, string | null]>(
    `INSERT INTO delivery_tries (delivery_id, n, at, ms, status, error)
     VALUES (?, (SELECT count(*) + 1 FROM delivery_tries WHERE delivery_id = ?), ?, ?, NULL, ?)`,
  )
  const step = (id: string, event: { type: string; [key: string]: unknown }) =>
    move(db, { kind: 'delivery', id, name: id }, event)

  /** @throws SvcError not_found; conflict when another holds it, or nobody */
  function require(subscription: string, { deliveryId, lease }: Holding): HeldRow {
    const row = held.get(deliveryId)
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
        const found = first.get(subscription)
        if (!found) return null
        const now = clock.now()
        const lease = randomBytes(16).toString('hex')
        step(found.id, { type: 'claim', at: now })
        hold.run(hashOf(lease), now + leaseMs, now, found.id)
        // The end of the lease may be what is due next.
        store.afterCommit(onPending)
        return { deliveryId: found.id, lease, until: now + leaseMs, tries: found.tries + 1 }
      }),

    /** @throws SvcError not_found; conflict */
    acknowledge: (subscription: string, holding: Holding): void => {
      store.tx(() => {
        const { held_since } = require(subscription, holding)
        const now = clock.now()
        step(holding.deliveryId, { type: 'acknowledge', at: now })
        addTry.run(holding.deliveryId, holding.deliveryId, held_since, Math.max(0, now - held_since), null)
        letGo.run(now, null, holding.deliveryId)
        // The next of its key may go.
        store.afterCommit(onPending)
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
        step(holding.deliveryId, { type: 'interrupted', at: clock.now() })
        letGo.run(null, null, holding.deliveryId)
        store.afterCommit(onPending)
      })
    },

    /** Holds it longer, from now. @returns when the lease ends, epoch ms. @throws SvcError not_found; conflict */
    extend: (subscription: string, holding: Holding, leaseMs: number): number =>
      store.tx(() => {
        const { lease, held_since } = require(subscription, holding)
        const until = clock.now() + leaseMs
        hold.run(lease!, until, held_since, holding.deliveryId)
        return until
      }),

    /** What was held too long waits again, or has failed after the last try. */
    endLapsed: (): void => {
      const now = clock.now()
      const ids = lapsed.all(now)
      if (ids.length === 0) return
      store.tx(() => {
        for (const id of ids) {
          const { held_since } = held.get(id)!
          const reason = 'its lease ended before it was acknowledged'
          step(id, { type: 'retry', at: now, reason, due_at: now })
          addTry.run(id, id, held_since, Math.max(0, now - held_since), reason)
          letGo.run(null, reason, id)
        }
        store.afterCommit(onPending)
      })
    },

    /** When the next lease ends, epoch ms; null: nothing is held. */
    nextEnd: (): number | null => nextEnd.get() ?? null,
  }
}

const hashOf = (lease: string): string => createHash('sha256').update(lease).digest('hex')
