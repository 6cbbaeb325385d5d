/**
 * Where deliveries change their state: the machine decides (machines/delivery.ts), and what its effects ask for
 * is written with the new state, in the transaction of the caller. Nobody else moves a delivery.
 *
 * ```
 *            claim               acknowledge
 *  pending ─────────▶ running ─────────────▶ delivered
 *     ▲  ▲              │ │                      │
 *     │  └── retry, ────┘ └─ refuse, gone, the ─▶ failed ──┐
 *     │   interrupted        last retry                    │
 *     └────────────────────── redeliver ───────────────────┘
 * ```
 */

import type { LifecycleEvent } from '../../machines/step.ts'
import { move } from '../lifecycle/advance.ts'
import { carryOut, type Executors } from '../lifecycle/effects.ts'
import type { Database } from '../store/handle.ts'
import { type DeliveryRows, deliveryRows } from './rows.ts'

export interface Moved {
  state: string
  /** Number of the try to be made now, from 1; null: none is. */
  send: number | null
}

interface Written {
  rows: DeliveryRows
  id: string
  /** Epoch ms, of the event. */
  at: number
  moved: Moved
}

/** What each effect of the machine is; test/engine/outbox/delivery.test.ts holds that none is missing. */
export const effects: Executors<Written> = {
  send: ({ moved }, params: { try: number }) => {
    moved.send = params.try
  },
  note_delivered: ({ rows, id, at }, params: { at: number | null }) =>
    void rows.setDelivered.run(params.at ?? at, id),
  note_failure: ({ rows, id }, params: { reason: string | null }) =>
    void rows.setReason.run(params.reason, id),
  begin_again: ({ rows, id }, params: { keeps_progress: boolean }) =>
    void rows.beginAgain.run(params.keeps_progress ? 1 : 0, id),
  disable_recipient: ({ rows, id, at }) => void rows.disableRecipient.run(at, id),
}

/**
 * Moves a delivery by an event; call inside a transaction.
 * @param event with `at`, epoch ms
 * @throws SvcError not_found; wrong_state, naming the state and what it accepts; conflict
 */
export function moveDelivery(db: Database, id: string, event: LifecycleEvent & { at: number }): Moved {
  const { state, snapshot, effects: asked } = move(db, { kind: 'delivery', id, name: id }, event)
  const moved: Moved = { state, send: null }
  const rows = deliveryRows(db)
  carryOut('delivery', effects, asked, { rows, id, at: event.at, moved })
  rows.setDue.run((snapshot.context.due_at as number | null) ?? null, id)
  return moved
}
