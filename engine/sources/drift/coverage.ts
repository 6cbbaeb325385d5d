/** How many of the last events of a source carry each label. */

/** One event: the names of its labels. */
export interface Carried {
  labels: readonly string[]
  /** Which of them is its entity: the primary one, or what its connector takes in its place. */
  entity?: string | undefined
}

export interface Coverage {
  /** Events looked at. */
  sampled: number
  counts: ReadonlyMap<string, number>
  /** Events by the label that is their entity. */
  entities: ReadonlyMap<string, number>
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
  const entities = new Map<string, number>()
  const count = (map: Map<string, number>, label: string) => map.set(label, (map.get(label) ?? 0) + 1)
  for (const { labels, entity } of events) {
    for (const label of new Set(labels)) count(counts, label)
    if (entity !== undefined) count(entities, entity)
  }
  const newest = new Set(events.slice(0, STOPPED_AFTER).flatMap(({ labels }) => labels))
  return { sampled: events.length, counts, entities, newest }
}
