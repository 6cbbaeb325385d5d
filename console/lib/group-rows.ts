/** Rows with headings between them. */
import type { Event as ApiEvent } from '../../schemas/types.ts'
import type { Group } from './explore-state.ts'
import { count } from './time.ts'

export type Line = { head: string; count: string } | { event: ApiEvent }

/**
 * Groups rows that are newest first. By source and type each group is together, the one with the
 * newest event first; by minute the order of time stays as it is.
 * @param hasMore older rows are not loaded yet: any source and type may have some of them, and the oldest minute.
 */
export function groupRows(rows: readonly ApiEvent[], group: Group, hasMore: boolean): Line[] {
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
  return [...groups].flatMap(([head, list], i): Line[] => [
    {
      head,
      count:
        hasMore && (group !== 'minute' || i === groups.size - 1)
          ? `${count(list.length)} loaded`
          : count(list.length),
    },
    ...list.map((event) => ({ event })),
  ])
}
