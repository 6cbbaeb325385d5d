/** Live tails: every commit is offered to the listeners whose filter it fits. */
import type { Row, TailFilter, TailMessage } from './engine.ts'
import type { Appended } from './store/append.ts'
import { eventId, iso, offsetOfEvent } from './timeline/present.ts'
import type { SourceNames } from './timeline/source-names.ts'

/** Rows of one commit sent to one listener; a larger burst is told as a gap, to be read instead. */
const ROWS_PER_COMMIT = 500

interface Listener {
  filter: TailFilter
  send(message: TailMessage): void
}

export class Live {
  private readonly listeners = new Set<Listener>()

  constructor(private readonly names: SourceNames) {}

  add(filter: TailFilter, send: (message: TailMessage) => void): () => void {
    const listener = { filter, send }
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  /** @param now epoch ms, for the age of the rows. */
  publish(events: readonly Appended[], now: number): void {
    if (this.listeners.size === 0 || events.length === 0) return
    this.names.refresh()
    for (const { filter, send } of this.listeners) {
      const rows: Row[] = []
      let missed = 0
      let lastSent = events[0]!.id - 1
      for (const event of events) {
        if (!this.fits(event, filter)) continue
        if (rows.length === ROWS_PER_COMMIT) missed++
        else {
          rows.push(this.present(event, now))
          lastSent = event.id
        }
      }
      if (rows.length) send({ rows })
      if (missed) send({ missed, afterId: eventId(lastSent) })
    }
  }

  private fits({ event, sourceId }: Appended, filter: TailFilter): boolean {
    if (filter.sources.length && !filter.sources.includes(this.names.get(sourceId)?.name ?? '')) return false
    return Object.entries(filter.selector).every(([name, value]) => {
      if (name === 'key_value') return event.hasEntity && event.strings[0]![1] === value
      const number = event.numbers?.[name]
      return number !== undefined
        ? String(number) === value
        : event.strings.some(([n, v]) => n === name && v === value)
    })
  }

  private present({ id, sourceId, ts, ingestedAt, event }: Appended, now: number): Row {
    const source = this.names.get(sourceId)
    const [label, value] = event.strings[0] ?? []
    return {
      id: eventId(id),
      offset: offsetOfEvent(ts, now),
      source: source?.name ?? `source ${sourceId}`,
      source_type: source?.sourceType ?? 'event_stream',
      event_type: event.eventType,
      event_time: iso(ts),
      ingested_at: iso(ingestedAt),
      ...(event.claimed === null ? {} : { claimed_time: event.claimed }),
      entity: event.hasEntity && label !== undefined && value !== undefined ? { label, value } : null,
      labels: { ...Object.fromEntries(event.strings), ...event.numbers },
      text: event.text,
    }
  }
}

/**
 * Follows a tail from where it was left: listening begins before the backlog is read, and what both
 * would give is sent once.
 * @param listen registers a listener and returns how to stop it; it has begun when this resolves.
 */
export async function follow(
  listen: (send: (message: TailMessage) => void) => Promise<() => void>,
  backlog: () => Promise<{ rows: Row[]; more: boolean }>,
  afterId: string | undefined,
  listener: (message: TailMessage) => void,
): Promise<{ stop: () => void }> {
  let held: TailMessage[] | null = []
  const stop = await listen((message) => {
    if (held) held.push(message)
    else listener(message)
  })
  const { rows, more } = await backlog()
  // How many were missed is not known; that some were is what counts.
  if (more) listener({ missed: 1, afterId: afterId ?? '' })
  if (rows.length) listener({ rows })
  const seen = new Set(rows.map((row) => row.id))
  const waiting = held
  held = null
  for (const message of waiting) {
    if (!('rows' in message)) {
      listener(message)
      continue
    }
    const fresh = message.rows.filter((row) => !seen.has(row.id))
    if (fresh.length) listener({ rows: fresh })
  }
  return { stop }
}
