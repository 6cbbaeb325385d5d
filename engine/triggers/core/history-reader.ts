/** Reads back what a trigger would have counted, by the same filters and the same key. */
import type { HistoryQuery, Seen } from '../types.ts'
import type { Compiled } from './compile.ts'
import { EventCursor } from './cursor.ts'
import { failing } from './filters.ts'
import type { Key } from './keys.ts'
import type { EvaluatorPorts } from './ports.ts'

const PAGE = 1_000
const PAGE_MAX = 20_000
/** Of pages that get larger, newest first. */
const FIRST_PAGE = 50

export const FOREVER = Number.MAX_SAFE_INTEGER

export class HistoryReader {
  private readonly cursor: EventCursor

  constructor(private readonly ports: EvaluatorPorts) {
    this.cursor = new EventCursor(ports.labels, ports.sourceName)
  }

  /** False: what is not in memory cannot be read. */
  get exists(): boolean {
    return this.ports.history !== null
  }

  /** Events of a key that count, by (event time, id). @param from exclusive @param to inclusive */
  forward(
    trigger: Compiled,
    key: Pick<Key, 'id' | 'labels'>,
    { from, to, beforeId }: { from: number; to: number; beforeId: number },
    visit: (event: EventCursor) => void,
  ): void {
    let start = from
    let limit = PAGE
    /** Ids at `start` that were visited already: pages overlap by their last instant. */
    let seenAtStart = new Set<number>()
    for (;;) {
      const page = this.read(trigger, key.labels, { from: start, to, beforeId, order: 'asc', limit })
      for (const seen of page) {
        if (seen.ts > from && !seenAtStart.has(seen.id) && this.counts(trigger, key, seen)) visit(this.cursor)
      }
      if (page.length < limit) return
      const last = page.at(-1)!.ts
      // A page of one instant says nothing of what comes after it.
      if (last === start) limit *= 2
      else limit = PAGE_MAX
      seenAtStart = new Set(page.filter(({ ts }) => ts === last).map(({ id }) => id))
      start = last
    }
  }

  /** The newest event of a key that counts, of the last `most`. @param accept whether this is the one */
  newest(
    trigger: Compiled,
    key: Pick<Key, 'id' | 'labels'>,
    { beforeId, most }: { beforeId: number; most: number },
    accept: (event: EventCursor) => boolean,
  ): void {
    if (!this.exists) return
    for (let limit = FIRST_PAGE; ; limit = Math.min(most, limit * 10)) {
      const page = this.read(trigger, key.labels, {
        from: -FOREVER,
        to: FOREVER,
        beforeId,
        order: 'desc',
        limit,
      })
      for (const seen of page) if (this.counts(trigger, key, seen) && accept(this.cursor)) return
      if (page.length < limit || limit >= most) return
    }
  }

  private counts(trigger: Compiled, key: Pick<Key, 'id'>, seen: Seen): boolean {
    return this.keyOf(trigger, seen)?.id === key.id
  }

  private keyOf(trigger: Compiled, seen: Seen): Key | null {
    const { cursor } = this
    cursor.setSeen(seen)
    if (cursor.ingestedAt - cursor.ts > trigger.maxLateMs || failing(trigger.filters, cursor)) return null
    return trigger.key.read(cursor)
  }

  private read(
    { definition, readsPayload }: Compiled,
    labels: readonly number[],
    query: Omit<HistoryQuery, 'sourceIds' | 'labels' | 'withPayload'>,
  ): Seen[] {
    const { sourceIds } = definition
    return this.ports.history!.read({ sourceIds, labels, withPayload: readsPayload, ...query })
  }
}
