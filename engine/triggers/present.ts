/** Firings, deliveries and evaluations as they are answered. */

import type { Dispatch, Evaluation, Firing, FiringKey, TriggerSpec, WhyRecord } from '../../schemas/types.ts'
import type { Database } from '../store/handle.ts'
import { eventId } from '../timeline/present.ts'
import { unpackIds } from './ids.ts'
import { type FiringRow, triggerQueries } from './queries.ts'
import type { Verdict } from './types.ts'

const LISTED_EVENTS = 100
const LISTED_KEYS = 20

export const isoOrNull = (ms: number | null): string | null =>
  ms === null ? null : new Date(ms).toISOString()
const iso = (ms: number): string => new Date(ms).toISOString()

export function presentFiring(db: Database, row: FiringRow): Firing {
  const spec = JSON.parse(row.spec) as TriggerSpec
  const counts = new Map(
    db
      .prepare<[number], { state: string; n: number }>(
        'SELECT state, count(*) AS n FROM deliveries WHERE firing_id = ? GROUP BY state',
      )
      .all(row.id)
      .map(({ state, n }) => [state, n]),
  )
  const count = (state: string): number => counts.get(state) ?? 0
  const [pending, delivered, failed] = [
    count('pending') + count('running'),
    count('delivered'),
    count('failed'),
  ]
  const { condition } = spec
  return {
    dispatch_id: row.dispatch_id,
    trigger: row.trigger_name,
    kind: row.kind,
    project: row.project,
    projects: JSON.parse(row.projects) as string[],
    state: row.state as Firing['state'],
    key: row.key,
    entity:
      row.label !== null && row.value_text !== null ? { label: row.label, value: row.value_text } : null,
    fired_at: isoOrNull(row.fired_at),
    opened_at: iso(row.opened_at),
    due_at: isoOrNull(row.due_at),
    reason: row.reason,
    value: row.value,
    predicate: 'predicate' in condition ? condition.predicate : null,
    window: 'window' in condition ? condition.window : null,
    events: row.events,
    event_ids: firstEvents(db, row.id, LISTED_EVENTS).map(eventId),
    first_event: row.event_id === null ? null : eventId(row.event_id),
    key_count: row.key_count,
    keys: keysOf(db, row.id),
    held_back: row.held_back,
    late_by: row.late_by === null ? null : row.late_by / 1_000,
    resolves: row.resolves,
    practice: row.practice === 1,
    parent_run_id: row.parent_run_id,
    incident: row.incident_id === null ? null : `inc_${row.incident_id}`,
    severity: row.severity,
    suppressed_by: row.suppressed_by,
    subscribers: pending + delivered + failed,
    delivered,
    pending,
    failed,
  }
}

export function keysOf(db: Database, firingId: number): FiringKey[] {
  return triggerQueries(db)
    .keysOf.all(firingId, LISTED_KEYS)
    .map(({ key, events, first_event }) => ({
      key,
      events,
      first_event: first_event === null ? '' : eventId(first_event),
    }))
}

/** The first ids a firing carries, in the order they were folded in. */
export function firstEvents(db: Database, firingId: number, limit: number): number[] {
  const ids: number[] = []
  for (const chunk of triggerQueries(db).eventsOf.iterate(firingId)) {
    ids.push(...unpackIds(chunk.ids))
    if (ids.length >= limit) break
  }
  return ids.slice(0, limit)
}

/** All of them, ascending. */
export function allEvents(db: Database, firingId: number): number[] {
  return triggerQueries(db)
    .eventsOf.all(firingId)
    .flatMap(({ ids }) => unpackIds(ids))
    .sort((a, b) => a - b)
}

/** A firing as /api/activity/dispatches answers it. */
export function presentDispatch(firing: Firing, error: string | null, payload: string | null): Dispatch {
  return {
    dispatch_id: firing.dispatch_id,
    trigger: firing.trigger,
    project: firing.project,
    key: firing.key,
    kind: firing.kind,
    fired_at: firing.fired_at!,
    subscribers: firing.subscribers,
    delivered: firing.delivered,
    pending: firing.pending,
    payload,
    error,
    practice: firing.practice,
    parent_run_id: firing.parent_run_id,
  }
}

/** A verdict worked out now. */
export function presentVerdict(
  trigger: string,
  verdict: Verdict,
  dispatchId: string | null,
  recomputed: boolean,
): WhyRecord {
  const { triggerId: _id, eventId: _event, at, until, ...rest } = verdict
  return { trigger, ...rest, at: iso(at), until: isoOrNull(until), dispatch_id: dispatchId, recomputed }
}

export interface EvaluationRow {
  id: number
  trigger_id: number
  trigger_name: string
  event_id: number | null
  at: number
  reason: WhyRecord['reason']
  dispatch_id: string | null
  /** JSON of the rest of the verdict. */
  detail: string
}

export function presentEvaluation(row: EvaluationRow): Evaluation {
  const detail = JSON.parse(row.detail) as Omit<Verdict, 'triggerId' | 'eventId' | 'at' | 'reason'>
  const verdict = {
    ...detail,
    triggerId: row.trigger_id,
    eventId: row.event_id,
    at: row.at,
    reason: row.reason,
  }
  return {
    event_id: row.event_id === null ? null : eventId(row.event_id),
    ...presentVerdict(row.trigger_name, verdict, row.dispatch_id, false),
  }
}
