/** Stored events for the evaluator: what a trigger has to know of a key's past is read by label. */

import type { WhyRecord } from '../../schemas/types.ts'
import type { Database, Statement } from '../log/store/handle.ts'
import { SOURCE_LABEL } from '../log/store/labels.ts'
import { firstPositions } from '../log/store/scan.ts'
import type { ReadContext } from '../log/timeline/context.ts'
import { unpackIds } from '../model/ids.ts'
import { rankOf } from '../model/units.ts'
import { seenOf, type TriggerQueries } from './queries.ts'
import type { AlertRow, History, HistoryQuery, KeyAlert, Ledger, NoteFilter, Verdict } from './types.ts'

/** Rows materialised at a time. */
const PAGE = 2_000

/** @param ctx a view of the index that is up to date when `read` is called. */
export function createHistory(ctx: ReadContext): History {
  const rawOf = (id: number) => ctx.rows.read([id], true)[0]?.raw
  return {
    read: (query) => {
      const groups = groupsOf(ctx, query)
      if (groups.some((group) => group.length === 0)) return []
      const positions = firstPositions(
        ctx.index.all(),
        {
          groups,
          masked: ctx.names.masked().flatMap((id) => ctx.dictionary.find(SOURCE_LABEL, String(id)) ?? []),
          from: query.from,
          to: query.to,
          afterId: -1,
          ceiling: query.beforeId - 1,
        },
        query.order,
        query.limit,
        null,
      )
      const seen = []
      for (let from = 0; from < positions.length; from += PAGE)
        for (const row of ctx.rows.read(
          positions.slice(from, from + PAGE).map(({ id }) => id),
          query.withPayload,
        ))
          seen.push(seenOf(row, rawOf))
      return seen
    },
  }
}

function groupsOf(ctx: ReadContext, { sourceIds, labels, alike }: HistoryQuery): (readonly number[])[] {
  const sources = sourceIds.flatMap((id) => ctx.dictionary.find(SOURCE_LABEL, String(id)) ?? [])
  return [sources, ...(alike ?? labels.map((label) => [label]))]
}

/*
 * Why events fired, or did not, as records. Firings and errors are always kept, as long as their
 * firing; of every other reason at most PER_MINUTE of a trigger a minute, and of a trigger the newest
 * KEPT. What is not recorded is worked out again when it is asked for (explain, reads.ts).
 */

/** Of one trigger and reason. */
export const PER_MINUTE = 20
/** Of one trigger. */
export const KEPT = 2_000
const MINUTE_MS = 60_000
type Reason = WhyRecord['reason']
const ALWAYS: ReadonlySet<Reason> = new Set(['fired', 'no_subscriber', 'error'])

export class Notes {
  private minute = 0
  private counts = new Map<string, number>()
  /** Triggers with new records since they were last pruned. */
  private readonly grown = new Map<number, number>()
  private readonly pruneRows: Statement<[number, number, number]>

  constructor(
    db: Database,
    private readonly queries: TriggerQueries,
  ) {
    this.pruneRows = db.prepare(
      `DELETE FROM evaluations WHERE trigger_id = ? AND reason NOT IN ('fired', 'no_subscriber', 'error')
         AND id <= (SELECT id FROM evaluations WHERE trigger_id = ? AND reason NOT IN ('fired', 'no_subscriber', 'error')
                    ORDER BY id DESC LIMIT 1 OFFSET ?)`,
    )
  }

  /** Whether one more of this kind would be kept. */
  readonly wanted: NoteFilter = (triggerId, reason, at) => {
    if (ALWAYS.has(reason)) return true
    return (this.countsOf(at).get(`${triggerId} ${reason}`) ?? 0) < PER_MINUTE
  }

  /** Records what came of an event, if it is to be kept. */
  add(trigger: string, verdict: Verdict, dispatchId: string | null): void {
    const { triggerId, reason, at, eventId, ...detail } = verdict
    if (!ALWAYS.has(reason)) {
      const counts = this.countsOf(at)
      const key = `${triggerId} ${reason}`
      const n = counts.get(key) ?? 0
      if (n >= PER_MINUTE) return
      counts.set(key, n + 1)
      this.grown.set(triggerId, (this.grown.get(triggerId) ?? 0) + 1)
    }
    this.queries.note.run(triggerId, trigger, eventId, at, reason, dispatchId, JSON.stringify(detail))
  }

  /** Removes what is beyond the newest of each trigger that has grown; call inside a transaction. */
  prune(): void {
    for (const [triggerId, n] of this.grown) {
      if (n < PER_MINUTE) continue
      this.pruneRows.run(triggerId, triggerId, KEPT)
      this.grown.delete(triggerId)
    }
  }

  private countsOf(at: number): Map<string, number> {
    const minute = Math.floor(at / MINUTE_MS)
    if (minute !== this.minute) {
      this.minute = minute
      this.counts = new Map()
    }
    return this.counts
  }
}

/* What was decided, read back from its rows: the evaluator's memory beyond the process. */

/** The ledger as it is. */
export function createLedger(queries: TriggerQueries): Ledger {
  return {
    lastFired: (triggerId, key) => queries.lastFired.get(triggerId, key) ?? null,
    lastRank: (triggerId, key) => {
      const severity = queries.lastSeverity.get(triggerId, key) ?? null
      return severity && rankOf(severity)
    },
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
        keys: () => queries.keysOf.all(row.id, -1).map(({ key }) => key),
        dueAt: row.due_at ?? row.last_at,
      }
    },
    active: (triggerId) =>
      queries.active.all(triggerId).map(({ key, labels, since, lead }) => ({
        key,
        labels: JSON.parse(labels) as number[],
        since,
        lead,
      })),
    alerts: (triggerId) => queries.alerts.all(triggerId).map(keyAlertOf),
    handledAt: (triggerId, key) => queries.lastHandled.get(triggerId, key) ?? null,
    watched: (triggerId) =>
      queries.watched.all(triggerId).map(({ key, labels, last_id, last_at }) => ({
        key,
        labels: JSON.parse(labels) as number[],
        lastId: last_id,
        lastAt: last_at,
        isSilent: false,
      })),
  }
}

const keyAlertOf = ({ key, labels, alert, event_id, ts, since, rank, told }: AlertRow): KeyAlert => ({
  ...{ key, labels: JSON.parse(labels) as number[], alert },
  ...{ eventId: event_id, ts, since, rank, isTold: told === 1 },
})

/**
 * The ledger as it was when an event was judged: only cooldowns and limits are kept that far back.
 * @param at time of ingest of the event, epoch ms. @param eventId of the event.
 */
export function ledgerAsOf(queries: TriggerQueries, at: number, eventId: number): Ledger {
  return {
    lastFired: (triggerId, key) => queries.lastFiredBefore.get(triggerId, key, at, eventId) ?? null,
    // What fired in spite of a cooldown is recorded; nothing that is worked out anew did.
    lastRank: () => null,
    firedSince: (triggerId, after) => queries.firedSince.all(triggerId, after).filter((fired) => fired < at),
    open: () => null,
    active: () => [],
    alerts: () => [],
    handledAt: () => null,
    watched: () => [],
  }
}
