/**
 * Firings told to agents of this service: the delivery is under way from the firing on, and is settled in the
 * transaction that ends the run. Nothing is sent, so the worker has no part in it.
 */
import type { Database } from '../../store/handle.ts'
import { moveDelivery } from '../delivery.ts'
import { addDelivery, deliveryRows, type NewDelivery } from '../rows.ts'

/**
 * Writes the delivery and wakes the agent, in the transaction of the firing.
 * @param wake makes the run, or finds the one that waits. @returns its id; null: there is no such agent
 */
export function tellAgent(
  db: Database,
  delivery: Omit<NewDelivery, 'kind'>,
  wake: (deliveryId: string) => string | null,
): string | null {
  const { at, recipient } = delivery
  const id = addDelivery(db, { ...delivery, kind: 'agent' })
  moveDelivery(db, id, { type: 'claim', at })
  const run = wake(id)
  if (run === null) moveDelivery(db, id, { type: 'refuse', at, reason: `no agent is named ${recipient}` })
  return run
}

/** The run that a delivery started, or joined. */
export function noteRun(db: Database, deliveryId: string, run: string): void {
  deliveryRows(db).setRun.run(run, deliveryId)
}

/** What the deliveries to an agent came to. @param reason null: its run succeeded */
export function settleRun(db: Database, run: string, reason: string | null, at: number): void {
  const event = reason === null ? { type: 'acknowledge', at } : { type: 'refuse', at, reason }
  for (const id of deliveryRows(db).ofRun.all(run)) moveDelivery(db, id, event)
}
