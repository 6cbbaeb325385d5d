/**
 * Events ready to be stored, in columns: a body of 1,000 items crosses to another thread as a few
 * arrays instead of some ten thousand objects, its payloads without a copy. Labels are ids where
 * the packer knows them; the others are named once and get their id from the writer.
 */
import { SOURCE_LABEL, TYPE_LABEL } from '../store/labels.ts'
import type { Range } from './json.ts'

/** From here on an entry of `labels` is a place in `newLabels`, not an id. */
export const NEW_LABEL = 0x8000_0000

/** Shorter texts are copies by themselves (V8 keeps a view from this length on). */
const OWN_COPY_LENGTH = 13

/** Arrays of an entry per event are null where every entry would be. */
export interface PackedEvents {
  n: number
  /** Event times, epoch ms; NaN: the time of ingest. */
  ts: Float64Array
  /** Label ids, event after event: @source, @type, then its own, the entity first where it has one. */
  labels: Uint32Array
  /** Where the labels of each event end. */
  labelEnds: Uint32Array
  newLabels: [name: string, value: string][]
  /** 1 where the first label of its own is the entity. */
  hasEntity: Uint8Array
  /** Texts in UTF-8, event after event. */
  text: Uint8Array
  /** Where the text of each event ends. */
  textEnds: Uint32Array
  body: Uint8Array
  /** Start and end of each event's bytes in the body. */
  ranges: Uint32Array
  /** Bytes of the events that are not their item's. */
  ownRaws: (Uint8Array | null)[] | null
  /** Number labels as JSON. */
  numbers: (string | null)[] | null
  claimed: (string | null)[] | null
  dedupeKeys: (string | null)[] | null
}

/** Label ids that are known without a look at the disk. */
export interface KnownLabels {
  /** Ids of a name by value; may change at any time. */
  known(name: string): ReadonlyMap<string, number>
}

/** What the packer knows of a label name. */
interface Values {
  name: string
  ids: ReadonlyMap<string, number>
  /** Places of new values. */
  places: Map<string, number>
}

/** Collects the events of one body. */
export class Packer {
  private n = 0
  private readonly ts: number[] = []
  private readonly labels: number[] = []
  private readonly labelEnds: number[] = []
  private readonly newLabels: [string, string][] = []
  private readonly values = new Map<string, Values>()
  /** The values of the name that stood last at each place of an event: mostly it does again. */
  private readonly usual: Values[] = []
  private readonly hasEntity: number[] = []
  private readonly texts: string[] = []
  private readonly ranges: number[] = []
  private readonly ownRaws = new Sparse<Uint8Array>()
  private readonly numbers = new Sparse<string>()
  private readonly claimed = new Sparse<string>()
  private readonly dedupeKeys = new Sparse<string>()
  private readonly source: number

  constructor(
    sourceId: number,
    private readonly body: Uint8Array,
    private readonly known: KnownLabels,
  ) {
    this.source = this.label(0, SOURCE_LABEL, String(sourceId))
  }

  /** @param range where the bytes of its item lie in the body. */
  add(event: PreparedEvent, range: Range): void {
    this.ts.push(event.ts ?? Number.NaN)
    const { strings } = event
    this.labels.push(this.source, this.label(1, TYPE_LABEL, event.eventType))
    for (let k = 0; k < strings.length; k++)
      this.labels.push(this.label(k + 2, strings[k]![0], strings[k]![1]))
    this.labelEnds.push(this.labels.length)
    this.hasEntity.push(event.hasEntity ? 1 : 0)
    this.texts.push(event.text)
    this.ranges.push(range[0], range[1])
    if (event.raw) this.ownRaws.set(this.n, event.raw)
    if (event.numbers) this.numbers.set(this.n, JSON.stringify(event.numbers))
    if (event.claimed !== null) this.claimed.set(this.n, event.claimed)
    if (event.dedupeKey !== null) this.dedupeKeys.set(this.n, event.dedupeKey)
    this.n++
  }

  finish(): PackedEvents {
    const { n } = this
    return {
      n,
      ts: new Float64Array(this.ts),
      labels: new Uint32Array(this.labels),
      labelEnds: new Uint32Array(this.labelEnds),
      newLabels: this.newLabels,
      hasEntity: new Uint8Array(this.hasEntity),
      ...packedTexts(this.texts),
      body: this.body,
      ranges: new Uint32Array(this.ranges),
      ownRaws: this.ownRaws.finish(n),
      numbers: this.numbers.finish(n),
      claimed: this.claimed.finish(n),
      dedupeKeys: this.dedupeKeys.finish(n),
    }
  }

  /** @param at place of the label in its event. @returns its id, or NEW_LABEL and more. */
  private label(at: number, name: string, value: string): number {
    let values = this.usual[at]
    if (values === undefined || values.name !== name) {
      values = this.valuesOf(name)
      this.usual[at] = values
    }
    return values.ids.get(value) ?? values.places.get(value) ?? this.addNew(values, value)
  }

  private valuesOf(name: string): Values {
    let values = this.values.get(name)
    if (!values) {
      values = { name, ids: this.known.known(name), places: new Map() }
      this.values.set(name, values)
    }
    return values
  }

  private addNew({ name, places }: Values, value: string): number {
    // Cut from a text, a value would keep all of it in memory for as long as it is remembered.
    const own = value.length < OWN_COPY_LENGTH ? value : Buffer.from(value).toString()
    const place = NEW_LABEL + this.newLabels.length
    this.newLabels.push([name, own])
    places.set(own, place)
    return place
  }
}

/** A column that nearly always is empty. */
export class Sparse<T> {
  private items: (T | null)[] | null = null

  set(at: number, item: T): void {
    this.items ??= []
    while (this.items.length < at) this.items.push(null)
    this.items[at] = item
  }

  finish(n: number): (T | null)[] | null {
    while (this.items && this.items.length < n) this.items.push(null)
    return this.items
  }
}

/** Bytes of an event as received. */
export function rawOf(events: PackedEvents, i: number): Uint8Array {
  const { body, ranges } = events
  return (
    events.ownRaws?.[i] ??
    new Uint8Array(body.buffer, body.byteOffset + ranges[2 * i]!, ranges[2 * i + 1]! - ranges[2 * i]!)
  )
}

/** In a buffer of their own, which can be handed over. */
function packedTexts(texts: readonly string[]): Pick<PackedEvents, 'text' | 'textEnds'> {
  const all = texts.join('')
  const text = Buffer.allocUnsafeSlow(Buffer.byteLength(all))
  text.write(all)
  const isAscii = text.length === all.length
  let end = 0
  const textEnds = Uint32Array.from(texts, (one) => (end += isAscii ? one.length : Buffer.byteLength(one)))
  return { text, textEnds }
}

/** Summary text of an event, as UTF-8. */
export function textBytesOf({ text, textEnds }: PackedEvents, i: number): Uint8Array {
  const start = i === 0 ? 0 : textEnds[i - 1]!
  return new Uint8Array(text.buffer, text.byteOffset + start, textEnds[i]! - start)
}

/** Summary text of an event. */
export function textOf(events: PackedEvents, i: number): string {
  const { buffer, byteOffset, length } = textBytesOf(events, i)
  return Buffer.from(buffer, byteOffset, length).toString()
}

/** Where the labels of an event begin. */
export function labelStart(events: PackedEvents, i: number): number {
  return i === 0 ? 0 : events.labelEnds[i - 1]!
}

/** An event ready to be stored: what mapping and labelling made of an item. */
export interface PreparedEvent {
  eventType: string
  text: string
  /** Event time, epoch milliseconds; null: use the time of ingest. */
  ts: number | null
  /** The time as the item gave it, where it parsed but is too far off to be used. */
  claimed: string | null
  /** What the item gave for a time, where it is in no form that is known. */
  unknownTime?: string
  /** A label that it has a value for which is too long to be one. */
  tooLong?: string
  /** What would read it better than its source does, as its connector names it. */
  reader?: string
  /** String labels as [name, value]; the primary one first where `hasEntity`. No duplicate names. */
  strings: [string, string][]
  hasEntity: boolean
  /** Number labels; null when there are none. */
  numbers: Record<string, number> | null
  /** Identifies the item within its source for 72 hours; null: never a duplicate. */
  dedupeKey: string | null
  /** Payload to store where it is not exactly the bytes of the item. */
  raw: Uint8Array | null
}
