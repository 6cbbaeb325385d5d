/** Rows with headings between them. */
import type { Event as ApiEvent } from '../../schemas/types.ts'
import type { Group } from './explore-state.ts'

export type Line = { head: string; n: number } | { event: ApiEvent }

/**
 * Groups rows that are newest first. By source and type each group is whole, the one with the
 * newest event first; by minute the order of time stays as it is.
 */
export function groupRows(rows: readonly ApiEvent[], group: Group): Line[] {
  if (group === 'none') return rows.map((event) => ({ event }))
  const groups = new Map<string, ApiEvent[]>()
  for (const row of rows) {
    const key =
      group === 'source'
        ? row.source
        : group === 'type'
          ? row.event_type
          : row.event_time.slice(0, 16).replace('T', ' ')
    const list = groups.get(key)
    if (list) list.push(row)
    else groups.set(key, [row])
  }
  return [...groups].flatMap(([head, list]): Line[] => [
    { head, n: list.length },
    ...list.map((event) => ({ event })),
  ])
}
