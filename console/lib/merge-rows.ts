import type { Event as ApiEvent } from '../../schemas/types.ts'

/**
 * Rows of a timeline that came live and rows that were read, as one list in the order of a read: newest first by
 * the event's own time, of one time the last stored first. A row that is in both is there once.
 * @param live in any order: a tail gives events as they are stored, which need not be by their times
 * @param stored newest first
 */
export function mergeRows(live: readonly ApiEvent[], stored: readonly ApiEvent[]): ApiEvent[] {
  if (live.length === 0) return [...stored]
  const known = new Set(stored.map(({ id }) => id))
  return [...live.filter(({ id }) => !known.has(id)), ...stored].sort(newerFirst)
}

/** Times have one form, so that they compare as text; ids are numbers after their prefix, of which the longer is larger. */
function newerFirst(a: ApiEvent, b: ApiEvent): number {
  if (a.event_time !== b.event_time) return a.event_time < b.event_time ? 1 : -1
  if (a.id.length !== b.id.length) return b.id.length - a.id.length
  return a.id < b.id ? 1 : a.id === b.id ? 0 : -1
}
