/** How many of the last events of a source carry each label. */

/** One event: the names of its labels. */
export interface Carried {
  labels: readonly string[]
}

export interface Coverage {
  /** Events looked at. */
  sampled: number
  counts: ReadonlyMap<string, number>
  /** Labels of the newest events, as many as STOPPED_AFTER. */
  newest: ReadonlySet<string>
}

/** Events looked at, the newest of a source. */
export const LOOKED_AT = 500
/** A label that most events had and so many of the newest lack was renamed or dropped. */
export const STOPPED_AFTER = 20

/** @param events newest first. @returns null where there is none: nothing is known then. */
export function coverageOf(events: readonly Carried[]): Coverage | null {
  if (events.length === 0) return null
  const counts = new Map<string, number>()
  for (const { labels } of events)
    for (const label of new Set(labels)) counts.set(label, (counts.get(label) ?? 0) + 1)
  const newest = new Set(events.slice(0, STOPPED_AFTER).flatMap(({ labels }) => labels))
  return { sampled: events.length, counts, newest }
}
