/**
 * Entries of each key, over the span of event time that windows still reach. What is not in memory
 * is read from the history; nothing is forgotten while events are judged, because those of the
 * transaction that is open are in no history yet.
 */

import type { HistoryQuery, Seen } from '../types.ts'
import { type Compiled, type EvaluatorPorts, KEY_WEIGHT } from './condition.ts'
import { Entries, EventCursor, type Key } from './entries.ts'
import { failing } from './filters.ts'

/** How long the entries of an idle key stay, beyond their window. */
const IDLE_MS = 10 * 60_000
/** Kept besides the window for events that come out of order by little, which is common. */
const SLACK_MIN_MS = 60_000
const SLACK_PART = 4

export interface Window {
  entries: Entries
  /** All entries of a later event time are in memory. */
  coversFrom: number
  /** Id of the event that used it last. */
  used: number
}

export class Windows<W extends Window> {
  readonly byKey = new Map<number | string, W>()
  private readonly slackMs: number

  constructor(
    private readonly trigger: Compiled,
    private readonly lengthMs: number,
    private readonly reader: HistoryReader,
    /** What an event counts as; null: it does not. */
    private readonly entryOf: (event: EventCursor) => number | string | null,
    private readonly create: (entries: Entries, coversFrom: number) => W,
    /** Entries came or went at the front. */
    private readonly shifted: (window: W, by: number) => void,
  ) {
    const slack = Math.max(SLACK_MIN_MS, lengthMs / SLACK_PART)
    this.slackMs = reader.exists ? Math.min(trigger.maxLateMs, slack) : trigger.maxLateMs
  }

  /** The window of a key, that covers all after `ts - length`. */
  at(key: Pick<Key, 'id' | 'labels'>, ts: number, beforeId: number): W {
    const needed = ts - this.lengthMs
    let window = this.byKey.get(key.id)
    if (!window) {
      const { exists } = this.reader
      const coversFrom = exists ? needed - this.slackMs : Number.NEGATIVE_INFINITY
      const entries = exists ? this.read(key, coversFrom, FOREVER, beforeId) : new Entries()
      window = this.create(entries, coversFrom)
      this.byKey.set(key.id, window)
    } else if (window.coversFrom > needed) {
      const from = needed - this.slackMs
      if (this.reader.exists) {
        const older = this.read(key, from, window.coversFrom, beforeId)
        const count = older.length
        window.entries.prepend(older)
        this.shifted(window, count)
      }
      window.coversFrom = from
    }
    if (beforeId !== FOREVER) window.used = beforeId
    return window
  }

  sweep(now: number): number {
    let weight = 0
    for (const [id, window] of this.byKey) {
      const { entries } = window
      const horizon = Math.min(entries.lastTs, now) - this.lengthMs - this.slackMs
      if (entries.lastTs <= now - this.lengthMs - this.slackMs - IDLE_MS) {
        this.byKey.delete(id)
        continue
      }
      const gone = entries.after(horizon)
      if (gone > 0) {
        entries.drop(gone)
        this.shifted(window, -gone)
        window.coversFrom = Math.max(window.coversFrom, horizon)
      }
      weight += entries.length + KEY_WEIGHT
    }
    return weight
  }

  *keys(): Iterable<[number | string, number, number]> {
    for (const [id, { used, entries }] of this.byKey) yield [id, used, entries.length + KEY_WEIGHT]
  }

  private read(key: Pick<Key, 'id' | 'labels'>, from: number, to: number, beforeId: number): Entries {
    const entries = new Entries()
    this.reader.forward(this.trigger, key, { from, to, beforeId }, (event) => {
      const value = this.entryOf(event)
      if (value !== null) entries.insert(event.ts, event.id, value)
    })
    return entries
  }
}

/*
 * What triggers that are defined together have in common. Where nothing but the events that are judged counts, those
 * that take the same events and count the same of them have the same windows: a plan is judged before and after, and
 * most of it is alike on both sides.
 */

export class Shared {
  private readonly made = new Map<string, unknown>()

  /** @param what all that it follows from. @returns what was made of that before, else what is made now */
  get<T>(kind: string, what: unknown, make: () => T): T {
    const text = JSON.stringify([kind, what])
    let made = this.made.get(text) as T | undefined
    if (made === undefined) {
      made = make()
      this.made.set(text, made)
    }
    return made
  }
}

/*
 * A sum of floats that is exact, whatever was added and taken away before: the value of a window must
 * not depend on what left it, or a restart would change it. Shewchuk's partial sums, as in Python's
 * math.fsum.
 */

export class ExactSum {
  /** Do not overlap, smallest first; their sum is exact. */
  private readonly partials: number[] = []

  add(value: number): void {
    const { partials } = this
    let x = value
    let kept = 0
    for (let k = 0; k < partials.length; k++) {
      let y = partials[k]!
      if (Math.abs(x) < Math.abs(y)) [x, y] = [y, x]
      const high = x + y
      const low = y - (high - x)
      if (low !== 0) partials[kept++] = low
      x = high
    }
    partials.length = kept
    if (x !== 0) partials.push(x)
  }

  /** Rounded once. */
  value(): number {
    const { partials } = this
    let k = partials.length - 1
    if (k < 0) return 0
    let high = partials[k]!
    let low = 0
    while (k > 0 && low === 0) {
      const x = high
      const y = partials[--k]!
      high = x + y
      low = y - (high - x)
    }
    // Half way between two floats, the partials below decide where to.
    if (k > 0 && Math.sign(low) === Math.sign(partials[k - 1]!)) {
      const twice = low * 2
      const rounded = high + twice
      if (twice === rounded - high) return rounded
    }
    return high
  }
}

/* Reads back what a trigger would have counted, by the same filters and the same key. */

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

  /** As EventCursor.reset. */
  reset(): void {
    this.cursor.reset()
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
    { definition, readsPayload, key }: Compiled,
    labels: readonly number[],
    query: Omit<HistoryQuery, 'sourceIds' | 'labels' | 'withPayload'>,
  ): Seen[] {
    const { sourceIds } = definition
    const alike = key.alike?.(labels, this.ports.labels)
    return this.ports.history!.read({ sourceIds, labels, alike, withPayload: readsPayload, ...query })
  }
}
