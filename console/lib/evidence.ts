/** What happened to the entity of a firing around it, with the events it carries marked. */
import type { Event as ApiEvent, FiringDetail, ReadRequest } from '../../schemas/types.ts'
import { durationMs } from './time.ts'

export const AROUND_MAX = 200
/** Events of other entities that are read one by one. */
const OTHERS_MAX = 20
/** What came right after shows what followed. */
const AFTER_MS = 60_000

type Part = Pick<
  FiringDetail,
  'entity' | 'opened_at' | 'fired_at' | 'context_window' | 'window' | 'event_ids' | 'events'
>

/** The read of its entity's timeline around it; null: it is of no entity. */
export function aroundRequest({
  entity,
  opened_at,
  fired_at,
  context_window,
  window,
}: Part): ReadRequest | null {
  if (!entity) return null
  const before = Math.max(durationMs(context_window), durationMs(window ?? ''))
  return {
    selector: { [entity.label]: entity.value },
    from: new Date(Date.parse(opened_at) - before).toISOString(),
    ...(fired_at ? { to: new Date(Date.parse(fired_at) + AFTER_MS).toISOString() } : {}),
    order: 'desc',
    limit: AROUND_MAX,
  }
}

/** Ids it carries that the timeline does not show: of other entities, or from before. */
export function othersOf(evidence: readonly string[], shown: readonly ApiEvent[]): string[] {
  const known = new Set(shown.map(({ id }) => id))
  return evidence.filter((id) => !known.has(id)).slice(0, OTHERS_MAX)
}

/** Both as one timeline, newest first. */
export function asTimeline(shown: readonly ApiEvent[], others: readonly ApiEvent[]): ApiEvent[] {
  const known = new Set(shown.map(({ id }) => id))
  return [...shown, ...others.filter(({ id }) => !known.has(id))].sort(
    (a, b) => Date.parse(b.event_time) - Date.parse(a.event_time) || idNumber(b) - idNumber(a),
  )
}

const idNumber = ({ id }: ApiEvent): number => Number(id.replace('evt_', ''))
