/** Events of one key that a condition counts, in order of (event time, id). */
import { ownField } from '../../../schemas/fields-of.ts'
import { EntityRules, type JoinedThing } from '../../log/entity-rules.ts'
import { parseDigits } from '../../log/ingest/json.ts'
import { labelStart, type PackedEvents, rawOf, textOf } from '../../log/ingest/packed.ts'
import type { LabelLookup, Seen, TriggerDefinition } from '../types.ts'

/** Event time, id and number of an entry, side by side: of the very many keys that few ask for, one look is one wait. */
const WIDTH = 3
/** Entries that are forgotten at once, at the least. */
const DROPPED_MIN = 32

export class Entries {
  private rows: number[] = []
  /** Only where texts are counted. */
  private texts: string[] | null = null
  /** Entries before it are forgotten, and not yet out of the rows. */
  private start = 0
  /** Event time of the newest; -Infinity: there is none. */
  lastTs = Number.NEGATIVE_INFINITY

  get length(): number {
    return this.rows.length / WIDTH - this.start
  }

  tsAt(i: number): number {
    return this.rows[(this.start + i) * WIDTH]!
  }

  idAt(i: number): number {
    return this.rows[(this.start + i) * WIDTH + 1]!
  }

  numberAt(i: number): number {
    return this.rows[(this.start + i) * WIDTH + 2]!
  }

  textAt(i: number): string {
    return this.texts![this.start + i]!
  }

  /** Place of the first entry with a later event time. */
  after(ts: number): number {
    let low = 0
    let high = this.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.tsAt(middle) > ts) high = middle
      else low = middle + 1
    }
    return low
  }

  /**
   * Its id is larger than those before, so it goes behind those of the same event time.
   * @returns its place
   */
  insert(ts: number, id: number, value: number | string): number {
    const { rows, length } = this
    const isNewest = ts >= this.lastTs
    const place = isNewest ? length : this.after(ts)
    const at = this.start + place
    const number = typeof value === 'number' ? value : 0
    if (place === length) rows.push(ts, id, number)
    else rows.splice(at * WIDTH, 0, ts, id, number)
    if (typeof value === 'string') {
      this.texts ??= []
      this.texts.splice(at, 0, value)
    }
    if (isNewest) this.lastTs = ts
    return place
  }

  /** Forgets the first entries. */
  drop(count: number): void {
    this.start += count
    const { start, rows, length } = this
    if (length === 0) this.lastTs = Number.NEGATIVE_INFINITY
    // What is forgotten must not stay in memory.
    if (start < DROPPED_MIN && length > 0) return
    if (start < length) return
    this.rows = rows.slice(start * WIDTH)
    if (this.texts) this.texts = this.texts.slice(start)
    this.start = 0
  }

  /** The entries of another, all of an earlier event time, come before these. */
  prepend(older: Entries): void {
    if (this.length === 0) this.lastTs = older.lastTs
    this.rows = [...older.rows.slice(older.start * WIDTH), ...this.rows.slice(this.start * WIDTH)]
    if (this.texts || older.texts)
      this.texts = [...(older.texts ?? []).slice(older.start), ...(this.texts ?? []).slice(this.start)]
    this.start = 0
  }
}

/* Keys: what a trigger counts by, fires by and cools down by. */

export interface Key {
  /** Of its labels: two entities of the same value but another label have one text and two histories. */
  readonly id: number | string
  readonly text: string
  /** Label ids that all of its events carry. */
  labels: number[]
}

export interface KeyReader {
  /** Null where the event lacks a component. */
  read(event: EventCursor): Key | null
  /** Id of a key that is known by its labels. */
  idOf(labels: readonly number[], lookup: LabelLookup): number | string
  /** For each label of a key those that its events may have instead; absent: that one alone. */
  alike?(labels: readonly number[], lookup: LabelLookup): number[][]
  /** Names of the components, for people. */
  names: string
}

/** How a definition makes a key of an event. */
export function compileKey({ spec, entityLabel, entities }: TriggerDefinition): KeyReader {
  const keyField = spec.key_field ? entityLabel || spec.key_field : null
  const entity = (event: EventCursor) => (keyField ? event.label(keyField) : event.entityLabel())
  const groups = 'group_by' in spec.condition ? spec.condition.group_by : undefined
  const single = !groups || (groups.length === 1 && (groups[0] === 'key_value' || groups[0] === entityLabel))
  if (single) {
    const own = groups && groups[0] !== 'key_value' ? groups[0]! : null
    if (entities?.length) return new JoinedKeys(new EntityRules(entities), own ?? keyField, entityLabel)
    return {
      read(event) {
        const label = own ? event.label(own) : entity(event)
        return label === undefined ? null : new LabelKey(label, event.lookup)
      },
      idOf: (labels) => labels[0]!,
      names: own ?? keyField ?? 'entity',
    }
  }
  if (entities?.length)
    return new JoinedGroups(
      groups.map((name) => {
        if (name === 'source' || name === 'event_type') return { name, things: null }
        const field = name === 'key_value' ? keyField : name
        return { name, things: new JoinedKeys(new EntityRules(entities), field, entityLabel) }
      }),
    )
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

/** Things of label ids held in memory; then all begins anew. */
const THINGS_MAX = 100_000

/** The key of a trigger that goes by joined entities: the thing that an event is of, by any of its names. */
class JoinedKeys implements KeyReader {
  private things = new Map<number, JoinedThing | null>()
  readonly names: string

  /** @param field label it goes by; null: the entity of each event. @param entityLabel in which a thing is named */
  constructor(
    private readonly rules: EntityRules,
    private readonly field: string | null,
    private readonly entityLabel: string | null,
  ) {
    this.names = field ?? 'entity'
  }

  read(event: EventCursor): Key | null {
    const { lookup } = event
    const label = this.field ? event.label(this.field) : event.entityLabel()
    if (label !== undefined) {
      const thing = this.thingOf(label, lookup)
      return thing ? this.keyOf(thing, label, lookup) : new LabelKey(label, lookup)
    }
    if (!this.field) return null
    // By another of its names: only of a thing that has one in the label that the trigger goes by.
    for (const other of event.ownLabels()) {
      const thing = this.thingOf(other, lookup)
      if (thing?.names.some((name) => name.label === this.field)) return this.keyOf(thing, other, lookup)
    }
    return null
  }

  idOf(labels: readonly number[], lookup: LabelLookup): number | string {
    const label = labels[0]!
    return this.thingOf(label, lookup)?.id ?? label
  }

  alike(labels: readonly number[], lookup: LabelLookup): number[][] {
    return labels.map((label) => {
      const names = this.thingOf(label, lookup)?.names ?? []
      const ids = names.map(({ label: name, value }) => lookup.find(name, value))
      return [...new Set([label, ...ids.filter((id) => id !== undefined)])]
    })
  }

  private keyOf(thing: JoinedThing, label: number, lookup: LabelLookup): Key {
    const wanted = this.field ?? this.entityLabel
    const name = thing.names.find((one) => one.label === wanted) ?? thing.names[0]!
    // The name may be one that no event had yet.
    return { id: thing.id, text: name.value, labels: [lookup.find(name.label, name.value) ?? label] }
  }

  private thingOf(label: number, lookup: LabelLookup): JoinedThing | null {
    let thing = this.things.get(label)
    if (thing === undefined) {
      if (this.things.size >= THINGS_MAX) this.things.clear()
      const { name, value } = lookup.label(label)
      thing = this.rules.of(name, value)
      this.things.set(label, thing)
    }
    return thing
  }
}

/** The key of a trigger that groups by several labels and goes by joined entities: each label stands for its thing. */
class JoinedGroups implements KeyReader {
  readonly names: string

  /** @param groups things: null where what it groups by is no label, such as the source */
  constructor(private readonly groups: readonly { name: string; things: JoinedKeys | null }[]) {
    this.names = groups.map(({ name }) => name).join(', ')
  }

  read(event: EventCursor): Key | null {
    const labels: number[] = []
    const parts: string[] = []
    const ids: (number | string)[] = []
    for (const { name, things } of this.groups) {
      const key = things ? things.read(event) : plainKey(name, event)
      if (key === null) return null
      labels.push(key.labels[0]!)
      parts.push(`${name}=${key.text}`)
      ids.push(key.id)
    }
    return { id: JSON.stringify(ids), text: parts.join(', '), labels }
  }

  idOf(labels: readonly number[], lookup: LabelLookup): number | string {
    return JSON.stringify(labels.map((label, i) => this.groups[i]?.things?.idOf([label], lookup) ?? label))
  }

  alike(labels: readonly number[], lookup: LabelLookup): number[][] {
    return labels.map((label, i) => this.groups[i]?.things?.alike([label], lookup)[0] ?? [label])
  }
}

function plainKey(name: string, event: EventCursor): Key | null {
  const label = name === 'source' ? event.sourceLabel() : event.typeLabel()
  if (label === undefined) return null
  const text = name === 'source' ? event.sourceName(event.sourceId) : event.value(label)
  return { id: label, text, labels: [label] }
}

/** Of one label. Its text is read by what fires alone. */
class LabelKey implements Key {
  readonly labels: number[]

  constructor(
    readonly id: number,
    private readonly lookup: LabelLookup,
  ) {
    this.labels = [id]
  }

  get text(): string {
    return this.lookup.label(this.id).value
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
  private names: LabelNames
  private named = false
  private numbersRead: Readonly<Record<string, number>> | undefined
  private payloadRead: { value: unknown } | undefined

  constructor(
    readonly lookup: LabelLookup,
    /** Name of a source as it is now. */
    readonly sourceName: (id: number) => string,
  ) {
    this.names = new LabelNames(lookup)
  }

  /** A transaction was undone: ids of labels that it made are given to others. */
  reset(): void {
    this.names = new LabelNames(this.lookup)
  }

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
    if (!this.named) this.names.set(this.labels, this.from + OWN_PLACE, this.to)
    this.named = true
    return this.names.find(name)
  }

  /** Ids of its string labels, the entity first where it has one. */
  ownLabels(): Uint32Array {
    return this.labels.subarray(this.from + OWN_PLACE, this.to)
  }

  value(label: number): string {
    return this.lookup.label(label).value
  }

  number(name: string): number | undefined {
    this.numbersRead ??= this.readNumbers()
    return ownField(this.numbersRead, name)
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

/*
 * Labels of an event by name. Of names that are asked for each has a number, and of each label that came by it is known
 * which one it has: an event is asked for a label once for each trigger, and a comparison of names took longer than
 * all else of a filter.
 */

/** Names that are asked for; then all begins anew. */
const NAMES_MAX = 10_000
/** Label ids whose number is kept in a list; beyond, in a map. */
const LISTED_MAX = 1 << 24
/** In the list: not known yet. Else the number and two, of a name that nobody asks for one. */
const UNKNOWN = 0
const NOBODYS = 1
const FIRST = 2

class LabelNames {
  private readonly numbers = new Map<string, number>()
  private listed = new Uint16Array(1_024)
  private readonly others = new Map<number, number>()
  /** By number: its label of the event, and the turn in which that was set. */
  private readonly found: number[] = []
  private readonly turns: number[] = []
  private turn = 0
  private labels = new Uint32Array()
  private from = 0
  private to = 0

  constructor(private readonly lookup: LabelLookup) {}

  /** Takes the own labels of an event, ids in [from, to). */
  set(labels: Uint32Array, from: number, to: number): void {
    this.labels = labels as typeof this.labels
    this.from = from
    this.to = to
    const { found, turns } = this
    const turn = ++this.turn
    // From the last, so that of two of one name the first counts.
    for (let at = to - 1; at >= from; at--) {
      const label = labels[at]!
      const number = (this.listed[label] || this.numberOf(label)) - FIRST
      if (number < 0) continue
      found[number] = label
      turns[number] = turn
    }
  }

  /** Id of the event's label of a name. */
  find(name: string): number | undefined {
    const number = this.numbers.get(name) ?? this.ask(name)
    return this.turns[number] === this.turn ? this.found[number] : undefined
  }

  /** A name nobody asked for: of no label it is known that it has it. */
  private ask(name: string): number {
    if (this.numbers.size >= NAMES_MAX) this.numbers.clear()
    const number = this.numbers.size
    this.numbers.set(name, number)
    this.listed.fill(UNKNOWN)
    this.others.clear()
    this.set(this.labels, this.from, this.to)
    return number
  }

  private numberOf(label: number): number {
    if (label >= LISTED_MAX) {
      const known = this.others.get(label)
      if (known !== undefined) return known
    }
    const number = this.numbers.get(this.lookup.label(label).name)
    const kept = number === undefined ? NOBODYS : number + FIRST
    if (label >= LISTED_MAX) {
      if (this.others.size >= LISTED_MAX) this.others.clear()
      this.others.set(label, kept)
      return kept
    }
    if (label >= this.listed.length) {
      const grown = new Uint16Array(Math.min(LISTED_MAX, Math.max(label + 1, this.listed.length * 2)))
      grown.set(this.listed)
      this.listed = grown
    }
    this.listed[label] = kept
    return kept
  }
}
