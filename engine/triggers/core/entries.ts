/** Events of one key that a condition counts, in typed arrays, in order of (event time, id). */

import { parseDigits } from '../../log/ingest/json.ts'
import { labelStart, type PackedEvents, rawOf, textOf } from '../../log/ingest/packed.ts'
import type { LabelLookup, Seen, TriggerDefinition } from '../types.ts'

const FIRST_CAPACITY = 8

export class Entries {
  private ts = new Float64Array(FIRST_CAPACITY)
  private ids = new Float64Array(FIRST_CAPACITY)
  private numbers = new Float64Array(FIRST_CAPACITY)
  /** Only where texts are counted. */
  private texts: string[] | null = null
  private start = 0
  private end = 0

  get length(): number {
    return this.end - this.start
  }

  tsAt(i: number): number {
    return this.ts[this.start + i]!
  }

  idAt(i: number): number {
    return this.ids[this.start + i]!
  }

  numberAt(i: number): number {
    return this.numbers[this.start + i]!
  }

  textAt(i: number): string {
    return this.texts![this.start + i]!
  }

  /** Event time of the newest; -Infinity: there is none. */
  get lastTs(): number {
    return this.end === this.start ? Number.NEGATIVE_INFINITY : this.ts[this.end - 1]!
  }

  /** Place of the first entry with a later event time. */
  after(ts: number): number {
    let low = this.start
    let high = this.end
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.ts[middle]! > ts) high = middle
      else low = middle + 1
    }
    return low - this.start
  }

  /**
   * Its id is larger than those before, so it goes behind those of the same event time.
   * @returns its place
   */
  insert(ts: number, id: number, value: number | string): number {
    if (this.end === this.ts.length) this.makeRoom()
    const place = ts >= this.lastTs ? this.length : this.after(ts)
    const at = this.start + place
    if (at < this.end) {
      this.ts.copyWithin(at + 1, at, this.end)
      this.ids.copyWithin(at + 1, at, this.end)
      this.numbers.copyWithin(at + 1, at, this.end)
      this.texts?.splice(at, 0, '')
    }
    this.end++
    this.ts[at] = ts
    this.ids[at] = id
    if (typeof value === 'number') this.numbers[at] = value
    else {
      this.texts ??= []
      this.texts[at] = value
    }
    return place
  }

  /** Forgets the first entries. */
  drop(count: number): void {
    this.start += count
    // What is forgotten must not stay in memory.
    if (this.start * 2 > this.ts.length)
      this.moveTo(Math.max(FIRST_CAPACITY, this.length + (this.length >> 1)))
  }

  /** The entries of another, all of an earlier event time, come before these. */
  prepend(older: Entries): void {
    const { length } = older
    const [ts, ids, numbers, texts] = [this.ts, this.ids, this.numbers, this.texts]
    const { start, end } = this
    older.moveTo(length + end - start + FIRST_CAPACITY)
    older.ts.set(ts.subarray(start, end), length)
    older.ids.set(ids.subarray(start, end), length)
    older.numbers.set(numbers.subarray(start, end), length)
    this.ts = older.ts
    this.ids = older.ids
    this.numbers = older.numbers
    if (texts || older.texts) this.texts = [...(older.texts ?? []), ...(texts?.slice(start, end) ?? [])]
    this.start = 0
    this.end = length + end - start
  }

  private makeRoom(): void {
    this.moveTo(this.start * 2 > this.end ? this.ts.length : this.ts.length * 2)
  }

  private moveTo(capacity: number): void {
    this.ts = moved(this.ts, this.start, this.end, capacity)
    this.ids = moved(this.ids, this.start, this.end, capacity)
    this.numbers = moved(this.numbers, this.start, this.end, capacity)
    if (this.texts) this.texts = this.texts.slice(this.start, this.end)
    this.end -= this.start
    this.start = 0
  }
}

function moved(from: Float64Array<ArrayBuffer>, start: number, end: number, capacity: number) {
  const to = new Float64Array(capacity)
  to.set(from.subarray(start, end))
  return to
}

/* Keys: what a trigger counts by, fires by and cools down by. */

export interface Key {
  /** Of its labels: two entities of the same value but another label have one text and two histories. */
  id: number | string
  text: string
  /** Label ids that all of its events carry. */
  labels: number[]
}

export interface KeyReader {
  /** Null where the event lacks a component. */
  read(event: EventCursor): Key | null
  /** Id of a key that is known by its labels. */
  idOf(labels: readonly number[]): number | string
  /** Names of the components, for people. */
  names: string
}

/** How a definition makes a key of an event. */
export function compileKey({ spec, entityLabel }: TriggerDefinition): KeyReader {
  const keyField = spec.key_field ? entityLabel || spec.key_field : null
  const entity = (event: EventCursor) => (keyField ? event.label(keyField) : event.entityLabel())
  const groups = 'group_by' in spec.condition ? spec.condition.group_by : undefined
  const single = !groups || (groups.length === 1 && (groups[0] === 'key_value' || groups[0] === entityLabel))
  if (single) {
    const own = groups && groups[0] !== 'key_value' ? groups[0]! : null
    return {
      read(event) {
        const label = own ? event.label(own) : entity(event)
        return label === undefined ? null : { id: label, text: event.value(label), labels: [label] }
      },
      idOf: (labels) => labels[0]!,
      names: own ?? keyField ?? 'entity',
    }
  }
  return {
    read(event) {
      const labels: number[] = []
      const parts: string[] = []
      for (const name of groups) {
        const label = component(name, event, entity)
        if (label === undefined) return null
        labels.push(label)
        parts.push(`${name}=${name === 'source' ? event.sourceName(event.sourceId) : event.value(label)}`)
      }
      return { id: idOf(labels), text: parts.join(', '), labels }
    },
    idOf,
    names: groups.join(', '),
  }
}

type Find = (event: EventCursor) => number | undefined

function component(name: string, event: EventCursor, entity: Find): number | undefined {
  if (name === 'key_value') return entity(event)
  if (name === 'event_type') return event.typeLabel()
  if (name === 'source') return event.sourceLabel()
  return event.label(name)
}

const idOf = (labels: readonly number[]) => (labels.length === 1 ? labels[0]! : labels.join(','))

/*
 * The event that is judged, wherever it lies: in the columns of a batch that was just stored, or as
 * read from the store. One cursor walks over all of them, so that an event no trigger looks at costs
 * no object, and its text, numbers and payload are read only when a filter asks.
 */

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
