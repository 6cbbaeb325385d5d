/**
 * The event that is judged, wherever it lies: in the columns of a batch that was just stored, or as
 * read from the store. One cursor walks over all of them, so that an event no trigger looks at costs
 * no object, and its text, numbers and payload are read only when a filter asks.
 */
import { parseDigits } from '../../ingest/json-digits.ts'
import { labelStart, type PackedEvents, rawOf, textOf } from '../../ingest/packed.ts'
import type { LabelLookup, Seen } from '../types.ts'

/** Places of the first labels of an event. */
const TYPE_PLACE = 1
const OWN_PLACE = 2

export class EventCursor {
  id = 0
  sourceId = 0
  ts = 0
  ingestedAt = 0
  bypass = false
  /** Label ids of this event lie in [from, to). */
  labels: Uint32Array = new Uint32Array()
  from = 0
  to = 0
  private hasEntity = false
  private seen: Seen | null = null
  private events: PackedEvents | null = null
  private place = 0
  private readonly names: string[] = []
  private named = false
  private numbersRead: Readonly<Record<string, number>> | undefined
  private payloadRead: { value: unknown } | undefined

  constructor(
    private readonly lookup: LabelLookup,
    /** Name of a source as it is now. */
    readonly sourceName: (id: number) => string,
  ) {}

  /** @param place of the event in `events` */
  setPacked(events: PackedEvents, place: number, id: number): void {
    this.forget()
    this.seen = null
    this.events = events
    this.place = place
    this.id = id
    const ts = events.ts[place]!
    this.ts = Number.isNaN(ts) ? this.ingestedAt : ts
    this.labels = events.labels
    this.from = labelStart(events, place)
    this.to = events.labelEnds[place]!
    this.hasEntity = events.hasEntity[place] === 1
  }

  setSeen(seen: Seen): void {
    this.forget()
    this.seen = seen
    this.events = null
    this.id = seen.id
    this.sourceId = seen.sourceId
    this.ts = seen.ts
    this.ingestedAt = seen.ingestedAt
    this.bypass = seen.bypass
    this.labels = seen.labels
    this.from = 0
    this.to = seen.labels.length
    this.hasEntity = seen.hasEntity
  }

  private forget(): void {
    this.named = false
    this.numbersRead = undefined
    this.payloadRead = undefined
  }

  sourceLabel(): number {
    return this.labels[this.from]!
  }

  typeLabel(): number {
    return this.labels[this.from + TYPE_PLACE]!
  }

  /** Label id of the entity. */
  entityLabel(): number | undefined {
    return this.hasEntity ? this.labels[this.from + OWN_PLACE] : undefined
  }

  /** Label id of a string label. */
  label(name: string): number | undefined {
    const { names, labels, from } = this
    const n = this.to - from
    if (!this.named) {
      for (let k = OWN_PLACE; k < n; k++) names[k] = this.lookup.label(labels[from + k]!).name
      this.named = true
    }
    for (let k = OWN_PLACE; k < n; k++) if (names[k] === name) return labels[from + k]
    return undefined
  }

  value(label: number): string {
    return this.lookup.label(label).value
  }

  number(name: string): number | undefined {
    this.numbersRead ??= this.readNumbers()
    return Object.hasOwn(this.numbersRead, name) ? this.numbersRead[name] : undefined
  }

  /** Names of its number labels. */
  numberNames(): string[] {
    this.numbersRead ??= this.readNumbers()
    return Object.keys(this.numbersRead)
  }

  text(): string {
    return this.seen ? this.seen.text() : textOf(this.events!, this.place)
  }

  payload(): unknown {
    this.payloadRead ??= { value: this.seen ? this.seen.payload() : parse(rawOf(this.events!, this.place)) }
    return this.payloadRead.value
  }

  private readNumbers(): Readonly<Record<string, number>> {
    if (this.seen) return this.seen.numbers()
    const json = this.events!.numbers?.[this.place]
    return json ? (JSON.parse(json) as Record<string, number>) : {}
  }
}

function parse(raw: Uint8Array): unknown {
  try {
    return parseDigits(Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString())
  } catch {
    // A line of a log is no JSON, and has no fields.
    return undefined
  }
}
