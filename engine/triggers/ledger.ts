/** What was decided, read back from its rows: the evaluator's memory beyond the process. */
import { unpackIds } from './ids.ts'
import type { TriggerQueries } from './queries.ts'
import type { Ledger } from './types.ts'

/** The ledger as it is. */
export function createLedger(queries: TriggerQueries): Ledger {
  return {
    lastFired: (triggerId, key) => queries.lastFired.get(triggerId, key) ?? null,
    firedSince: (triggerId, after) => queries.firedSince.all(triggerId, after),
    open: (triggerId) => {
      const row = queries.open.get(triggerId)
      if (!row) return null
      return {
        state: row.state as 'gathering' | 'held',
        openedAt: row.opened_at,
        lastAt: row.last_at,
        events: row.events,
        ids: () => queries.eventsOf.all(row.id).flatMap(({ ids }) => unpackIds(ids)),
        dueAt: row.due_at ?? row.last_at,
      }
    },
    active: (triggerId) =>
      queries.active.all(triggerId).map(({ key, labels, since }) => ({
        key,
        labels: JSON.parse(labels) as number[],
        since,
      })),
    watched: (triggerId) =>
      queries.watched.all(triggerId).map(({ key, labels, last_id, last_at, silent }) => ({
        key,
        labels: JSON.parse(labels) as number[],
        lastId: last_id,
        lastAt: last_at,
        isSilent: silent === 1,
      })),
  }
}

/**
 * The ledger as it was when an event was judged: only cooldowns and limits are kept that far back.
 * @param at time of ingest of the event, epoch ms. @param eventId of the event.
 */
export function ledgerAsOf(queries: TriggerQueries, at: number, eventId: number): Ledger {
  return {
    lastFired: (triggerId, key) => queries.lastFiredBefore.get(triggerId, key, at, eventId) ?? null,
    firedSince: (triggerId, after) => queries.firedSince.all(triggerId, after).filter((fired) => fired < at),
    open: () => null,
    active: () => [],
    watched: () => [],
  }
}
