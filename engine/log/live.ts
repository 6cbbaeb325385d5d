/** Live tails: every commit is offered to the listeners whose filter it fits. */

import { escapeText } from '../../schemas/plain-text.ts'
import type { Incident } from '../../schemas/types.ts'
import type { Row, TailFilter, TailMessage } from '../calls.ts'
import { iso } from '../model/units.ts'
import type { EntityNames, Name } from './entity-rules.ts'
import { labelStart, textOf } from './ingest/packed.ts'
import { type AppendedBatch, sizeOfBatch, tsOf } from './store/append.ts'
import type { Dictionary } from './store/labels.ts'
import type { SourceNames } from './timeline/context.ts'
import { eventId, offsetOfEvent, parseEventId } from './timeline/present.ts'
import type { Backlog } from './timeline/reads.ts'

/** Rows of one commit sent to one listener; a larger burst is told as a gap, to be read instead. */
const ROWS_PER_COMMIT = 500

/** A stored event with its labels by name. */
interface LiveEvent {
  id: number
  sourceId: number
  ts: number
  ingestedAt: number
  eventType: string
  text: string
  claimed: string | null
  strings: [name: string, value: string][]
  hasEntity: boolean
  numbers: Record<string, number>
}

interface Listener {
  filter: TailFilter
  send(message: TailMessage): void
}

export class Live {
  private readonly listeners = new Set<Listener>()

  constructor(
    private readonly names: SourceNames,
    private readonly dictionary: Dictionary,
    private readonly entities: EntityNames,
  ) {}

  add(filter: TailFilter, send: (message: TailMessage) => void): () => void {
    const listener = { filter, send }
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  /** Tells of incidents that changed. @param read called where somebody follows */
  tellIncidents(read: () => readonly Incident[]): void {
    // A tail of sources asks for their events alone.
    const wanted = [...this.listeners].filter(({ filter }) => filter.sources.length === 0)
    if (wanted.length === 0) return
    for (const incident of read())
      for (const { filter, send } of wanted) if (isAbout(incident, this.wantedOf(filter))) send({ incident })
  }

  /** @param now epoch ms, for the age of the rows. */
  publish(batches: readonly AppendedBatch[], now: number): void {
    if (this.listeners.size === 0) return
    const events = batches.flatMap((batch) => this.eventsOf(batch))
    if (events.length === 0) return
    this.names.refresh()
    for (const { filter, send } of this.listeners) {
      const wanted = this.wantedOf(filter)
      const rows: Row[] = []
      let missed = 0
      let lastSent = events[0]!.id - 1
      for (const event of events) {
        if (!this.fits(event, filter, wanted)) continue
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

  private eventsOf(batch: AppendedBatch): LiveEvent[] {
    const { events, kept, firstId, sourceId, ingestedAt } = batch
    return Array.from({ length: sizeOfBatch(batch) }, (_, k): LiveEvent => {
      const i = kept ? kept[k]! : k
      const [, type, ...own] = Array.from(
        events.labels.subarray(labelStart(events, i), events.labelEnds[i]),
        (id) => this.dictionary.label(id),
      )
      const numbers = events.numbers?.[i]
      return {
        id: firstId + k,
        sourceId,
        ts: tsOf(events, i, ingestedAt),
        ingestedAt,
        eventType: type!.value,
        text: textOf(events, i),
        claimed: events.claimed?.[i] ?? null,
        strings: own.map(({ name, value }) => [name, value]),
        hasEntity: events.hasEntity[i] === 1,
        numbers: numbers ? (JSON.parse(numbers) as Record<string, number>) : {},
      }
    })
  }

  /** The names that fulfil each constraint of a filter, by the rules of now. */
  private wantedOf({ selector }: TailFilter): Name[][] {
    const rules = this.entities.rules()
    return Object.entries(selector).map(
      ([label, value]) => (rules.size ? rules.of(label, value)?.names : undefined) ?? [{ label, value }],
    )
  }

  private fits(event: LiveEvent, filter: TailFilter, wanted: readonly Name[][]): boolean {
    if (filter.sources.length && !filter.sources.includes(this.names.get(event.sourceId)?.name ?? ''))
      return false
    return wanted.every((names) => names.some((name) => carries(event, name)))
  }

  private present(event: LiveEvent, now: number): Row {
    const source = this.names.get(event.sourceId)
    const [label, value] = event.strings[0] ?? []
    return {
      id: eventId(event.id),
      offset: offsetOfEvent(event.ts, now),
      source: source?.name ?? `source ${event.sourceId}`,
      source_type: source?.sourceType ?? 'event_stream',
      event_type: event.eventType,
      event_time: iso(event.ts),
      ingested_at: iso(event.ingestedAt),
      ...(event.claimed === null ? {} : { claimed_time: event.claimed }),
      entity: event.hasEntity && label !== undefined && value !== undefined ? { label, value } : null,
      labels: { ...Object.fromEntries(event.strings), ...event.numbers },
      text: escapeText(event.text),
    }
  }
}

function carries(event: LiveEvent, { label, value }: Name): boolean {
  if (label === 'key_value') return event.hasEntity && event.strings[0]![1] === value
  const number = event.numbers[label]
  return number !== undefined
    ? String(number) === value
    : event.strings.some(([n, v]) => n === label && v === value)
}

/** Whether an incident is of the entity that a tail asks for, if it does. @param wanted names, of which one each */
const isAbout = ({ entity }: Incident, wanted: readonly Name[][]): boolean =>
  wanted.every((names) =>
    names.some(
      ({ label, value }) =>
        entity !== null && (label === entity.label || label === 'key_value') && value === entity.value,
    ),
  )

/**
 * Follows a tail from where it was left: listening begins before the backlog is read, and what both
 * would give is sent once.
 * @param listen registers a listener and returns how to stop it; it has begun when this resolves.
 */
export async function follow(
  listen: (send: (message: TailMessage) => void) => Promise<() => void>,
  backlog: () => Promise<Backlog>,
  afterId: string | undefined,
  listener: (message: TailMessage) => void,
): Promise<{ stop: () => void }> {
  let held: TailMessage[] | null = []
  const stop = await listen((message) => {
    if (held) held.push(message)
    else listener(message)
  })
  const { rows, missed, notice } = await backlog().catch((error: unknown) => {
    stop()
    throw error
  })
  if (notice !== null) listener({ notice })
  if (missed > 0) listener({ missed, afterId: afterId ?? '' })
  if (rows.length) listener({ rows })
  // What the backlog leaves out is told as missed: sent behind it, a reader would go on from there and get the rest twice.
  const through = numberOf(rows.at(-1))
  const waiting = held
  held = null
  for (const message of waiting) {
    if (!('rows' in message)) {
      listener(message)
      continue
    }
    const fresh = message.rows.filter((row) => numberOf(row) > through)
    if (fresh.length) listener({ rows: fresh })
  }
  return { stop }
}

const numberOf = (row: Row | undefined): number => (row && parseEventId(row.id)) ?? 0
