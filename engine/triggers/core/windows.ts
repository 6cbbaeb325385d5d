/**
 * Entries of each key, over the span of event time that windows still reach. What is not in memory
 * is read from the history; nothing is forgotten while events are judged, because those of the
 * transaction that is open are in no history yet.
 */
import type { Compiled } from './compile.ts'
import { KEY_WEIGHT } from './condition.ts'
import type { EventCursor } from './cursor.ts'
import { Entries } from './entries.ts'
import { FOREVER, type HistoryReader } from './history-reader.ts'
import type { Key } from './keys.ts'

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
