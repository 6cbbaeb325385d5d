/**
 * Deliveries that wait to be sent: rows are the queue. A worker claims, sends, and settles; what a
 * stopped daemon left claimed goes back to waiting at the next start.
 */
import type { Clock } from '../clock.ts'
import { fail } from '../errors.ts'
import { move } from '../lifecycle/advance.ts'
import type { StoreHandle } from '../store/handle.ts'
import type { Claimed, TryResult } from './dispatcher.ts'
import type { Leases } from './leases.ts'
import type { Subscriptions } from './subscriptions.ts'

/**
 * Waits, and may be sent once its time comes: in order per recipient and key, so none is while an
 * earlier one is not settled.
 */
const READY = `d.state = 'pending' AND d.recipient_kind IN ('webhook', 'slack')
  AND NOT EXISTS (SELECT 1 FROM deliveries e WHERE e.state IN ('pending', 'running')
                  AND e.recipient = d.recipient AND e.key = d.key AND e.seq < d.seq)`

export type Outbox = ReturnType<typeof createOutbox>

/** @param onPending called when a delivery waits again. */
export function createOutbox({
  store,
  clock,
  subscriptions,
  leases,
  onPending,
}: {
  store: StoreHandle
  clock: Clock
  subscriptions: Subscriptions
  leases: Leases
  onPending(): void
}) {
  const { db } = store
  const due = db.prepare<[number, string, number], { id: string; recipient: string; tries: number }>(
    `SELECT d.id, d.recipient, coalesce(json_extract(d.snapshot, '$.context.tries'), 0) AS tries
     FROM deliveries d
     WHERE ${READY} AND (d.due_at IS NULL OR d.due_at <= ?)
       AND d.recipient NOT IN (SELECT value FROM json_each(?))
     ORDER BY d.due_at, d.seq LIMIT ?`,
  )
  const next = db
    .prepare<[], number | null>(`SELECT min(coalesce(d.due_at, 0)) FROM deliveries d WHERE ${READY}`)
    .pluck()
  const addTry = db.prepare<[string, string, number, number, number | null, string | null]>(
    `INSERT INTO delivery_tries (delivery_id, n, at, ms, status, error)
     VALUES (?, (SELECT count(*) + 1 FROM delivery_tries WHERE delivery_id = ?), ?, ?, ?, ?)`,
  )
  const save = db.prepare<[number | null, number | null, string | null, string]>(
    'UPDATE deliveries SET due_at = ?, delivered_at = ?, reason = ? WHERE id = ?',
  )
  const running = db
    .prepare<[], string>(
      "SELECT id FROM deliveries WHERE state = 'running' AND recipient_kind IN ('webhook', 'slack')",
    )
    .pluck()
  const recipientOf = db.prepare<[string], string>('SELECT recipient FROM deliveries WHERE id = ?').pluck()
  const step = (id: string, event: { type: string; [key: string]: unknown }) =>
    move(db, { kind: 'delivery', id, name: id }, event)
  const recover = (): void => {
    store.tx(() => {
      for (const id of running.all()) step(id, { type: 'interrupted', at: clock.now() })
    })
  }
  recover()
  return {
    /** Takes what is due, at most `limit`, of none of the recipients in `busy`. */
    claim: (limit: number, busy: readonly string[]): Claimed[] => {
      const now = clock.now()
      leases.endLapsed()
      const found = due.all(now, JSON.stringify(busy), limit)
      if (found.length === 0) return []
      return store.tx(() =>
        found.flatMap(({ id, recipient, tries }): Claimed[] => {
          const target = subscriptions.target(recipient)
          step(id, { type: 'claim', at: now })
          if (target) return [{ deliveryId: id, recipientId: recipient, tries: tries + 1, ...target }]
          const reason = 'its subscription was removed'
          step(id, { type: 'refuse', at: now, reason })
          save.run(null, null, reason, id)
          return []
        }),
      )
    },

    /** Records a try and what came of it. @throws SvcError wrong_state when it is not being sent */
    settle: (id: string, { event, at, ms, status, reason, dueAt }: TryResult): void => {
      store.tx(() => {
        const { state } = step(id, { type: event, at, reason: reason ?? undefined, due_at: dueAt })
        if (event !== 'interrupted')
          addTry.run(id, id, at, ms, status, event === 'acknowledge' ? null : reason)
        save.run(
          state === 'pending' ? (dueAt ?? null) : null,
          state === 'delivered' ? at + ms : null,
          event === 'acknowledge' ? null : reason,
          id,
        )
        if (event === 'gone') subscriptions.disable(recipientOf.get(id)!)
      })
    },

    /** When the next one is due, or a lease ends, epoch ms; null: nothing waits. */
    nextDue: (): number | null => {
      const [sent, lapses] = [next.get() ?? null, leases.nextEnd()]
      return sent === null || lapses === null ? (sent ?? lapses) : Math.min(sent, lapses)
    },

    /** A person sends it again, under the same id. @throws SvcError not_found; wrong_state; conflict */
    redeliver: (id: string): void => {
      store.tx(() => {
        const recipient = recipientOf.get(id) ?? fail('not_found', `no delivery has the id ${id}`)
        if (!subscriptions.isThere(recipient))
          fail('conflict', 'its subscription was removed or disabled: there is nobody to send it to')
        step(id, { type: 'redeliver', at: clock.now() })
        save.run(null, null, null, id)
        store.afterCommit(onPending)
      })
    },
  }
}
