/**
 * Stored events as a changed source would have labelled them. Both configs are asked what they make of the stored
 * payload; where they agree, what is stored stays: it may come of what is not stored, such as a header.
 */
import type { PlanBacktestLabels } from '../../schemas/types.ts'
import { parseForWriting } from '../log/ingest/json.ts'
import type { PreparedEvent } from '../log/ingest/packed.ts'
import { compileSource, type Prepare } from '../log/ingest/prepare.ts'
import { parseItem } from '../log/ingest/split.ts'
import { eventId } from '../log/timeline/present.ts'
import type { MappingConnector } from '../sources/connectors/connector.ts'
import { connectorOf } from '../sources/connectors/index.ts'
import type { LabelLookup } from '../triggers/types.ts'
import type { SourceState } from './worlds.ts'

/** Of one label; more would be read by nobody. */
const EXAMPLES = 3
/** Ids of stored labels that are kept at hand. */
const AT_HAND = 1_000_000
/** Ids of labels that no event has. */
const NEW_LABEL = 2 ** 31

/** What judging looks at of an event. */
export interface Labelled {
  id: number
  ts: number
  ingestedAt: number
  /** @source, @type, then its own, the entity first where it has one. */
  labels: Uint32Array
  hasEntity: boolean
  /** Number labels as JSON. */
  numbers: string | null
  /** Summary text, where it is another than is stored. */
  text?: string
}

/** Labels of the store, and those that a change would make. */
export class MoreLabels implements LabelLookup {
  /** By id: an entry of a list is found in a fraction of the time of one in a map. */
  private readonly atHand: ({ name: string; value: string } | undefined)[] = []
  private readonly made: { name: string; value: string }[] = []
  private readonly ids = new Map<string, Map<string, number>>()

  constructor(private readonly stored: LabelLookup) {}

  label(id: number): { name: string; value: string } {
    if (id >= NEW_LABEL) return this.made[id - NEW_LABEL]!
    if (id >= AT_HAND) return this.stored.label(id)
    const { atHand } = this
    const known = atHand[id]
    if (known) return known
    // Without gaps: V8 would make a map of a list that has many.
    while (atHand.length < id) atHand.push(undefined)
    const read = this.stored.label(id)
    atHand[id] = read
    return read
  }

  find(name: string, value: string): number | undefined {
    return this.ids.get(name)?.get(value) ?? this.stored.find(name, value)
  }

  /** The id of a label, made where there is none. */
  idOf(name: string, value: string): number {
    const known = this.ids.get(name) ?? new Map<string, number>()
    this.ids.set(name, known)
    let id = known.get(value) ?? this.stored.find(name, value)
    if (id === undefined) {
      id = NEW_LABEL + this.made.length
      this.made.push({ name, value })
    }
    known.set(value, id)
    return id
  }
}

interface Difference {
  lost: number
  gained: number
  changed: number
  examples: { event: string; from: string | null; to: string | null }[]
}

export class Relabelling {
  private readonly before: Prepare
  private readonly after: Prepare
  private readonly differences = new Map<string, Difference>()
  private events = 0
  private notStored = 0
  private unreadable = 0

  constructor(
    private readonly source: { before: SourceState; after: SourceState },
    private readonly labels: MoreLabels,
  ) {
    const compiled = ({ connector, config, name }: SourceState) =>
      compileSource(connectorOf(connector) as MappingConnector, { ...config }, name)
    this.before = compiled(source.before)
    this.after = compiled(source.after)
  }

  /**
   * The event as it would be labelled. @param raw its payload. @param counts whether it is in the span
   * @returns null: it would not be stored
   */
  apply(event: Labelled, raw: Uint8Array, counts: boolean): Labelled | null {
    if (counts) this.events++
    const made = this.madeOf(raw, event.ingestedAt)
    if (made === null) {
      if (counts) this.unreadable++
      return event
    }
    const [before, after] = made
    if (after === null) {
      if (counts) this.notStored++
      return null
    }
    return this.relabelled(event, before, after, counts)
  }

  /** What was found, most first. */
  result(): PlanBacktestLabels {
    const size = ({ lost, gained, changed }: Difference) => lost + gained + changed
    return {
      source: this.source.before.name,
      events: this.events,
      labels: [...this.differences]
        .map(([label, difference]) => ({ label, ...difference }))
        .sort((a, b) => size(b) - size(a) || (a.label < b.label ? -1 : 1)),
      not_stored: this.notStored,
      unreadable: this.unreadable,
    }
  }

  /** What both configs make of a payload; null: it is not read as the one event that was stored of it. */
  private madeOf(raw: Uint8Array, at: number): [PreparedEvent, PreparedEvent | null] | null {
    try {
      const value = parseItem(raw)
      const item = { raw, value, whole: () => parseForWriting(Buffer.from(raw).toString()) }
      const before = this.before(item, undefined, 0, at)
      const after = this.after(item, undefined, 0, at)
      if (before.length !== 1 || after.length > 1) return null
      return [before[0]!, after[0] ?? null]
    } catch {
      // A payload that is no item of this source by itself: it is counted, and its labels stay.
      return null
    }
  }

  private relabelled(
    event: Labelled,
    before: PreparedEvent,
    after: PreparedEvent,
    counts: boolean,
  ): Labelled {
    const { labels: lookup } = this
    const differ = (name: string, from: string | null, to: string | null) => {
      if (counts && from !== to) this.differ(name, event.id, from, to)
    }
    let type = event.labels[1]!
    if (before.eventType !== after.eventType) {
      differ('@type', lookup.label(type).value, after.eventType)
      type = lookup.idOf('@type', after.eventType)
    }
    let { ts } = event
    if (before.ts !== after.ts) {
      ts = after.ts ?? event.ingestedAt
      differ('@time', new Date(event.ts).toISOString(), new Date(ts).toISOString())
    }
    const strings = this.strings(event, before, after, differ)
    const numbers = numbersOf(event, before, after, differ)
    const stored = event.hasEntity ? lookup.label(event.labels[2]!).name : null
    const [was, is] = [before, after].map((one) => (one.hasEntity ? one.strings[0]![0] : null))
    let entity = was === is ? stored : is!
    if (entity !== null && !strings.has(entity)) entity = null
    differ('@entity', stored, entity)
    return {
      ...{ id: event.id, ts, ingestedAt: event.ingestedAt, numbers, hasEntity: entity !== null },
      ...(before.text === after.text ? {} : { text: after.text }),
      labels: Uint32Array.from([
        event.labels[0]!,
        type,
        ...(entity === null ? [] : [strings.get(entity)!]),
        ...[...strings].filter(([name]) => name !== entity).map(([, id]) => id),
      ]),
    }
  }

  /** Ids by name. */
  private strings(event: Labelled, before: PreparedEvent, after: PreparedEvent, differ: Differ) {
    const { labels: lookup } = this
    const ids = new Map<string, number>()
    for (let at = 2; at < event.labels.length; at++)
      ids.set(lookup.label(event.labels[at]!).name, event.labels[at]!)
    const [was, is] = [new Map(before.strings), new Map(after.strings)]
    for (const name of new Set([...was.keys(), ...is.keys()])) {
      const [from, to] = [was.get(name), is.get(name)]
      if (from === to) continue
      const stored = ids.get(name)
      differ(name, stored === undefined ? null : lookup.label(stored).value, to ?? null)
      if (to === undefined) ids.delete(name)
      else ids.set(name, lookup.idOf(name, to))
    }
    return ids
  }

  private differ(name: string, id: number, from: string | null, to: string | null): void {
    const known = this.differences.get(name) ?? { lost: 0, gained: 0, changed: 0, examples: [] }
    this.differences.set(name, known)
    if (to === null) known.lost++
    else if (from === null) known.gained++
    else known.changed++
    if (known.examples.length < EXAMPLES) known.examples.push({ event: eventId(id), from, to })
  }
}

type Differ = (name: string, from: string | null, to: string | null) => void

function numbersOf(
  event: Labelled,
  before: PreparedEvent,
  after: PreparedEvent,
  differ: Differ,
): string | null {
  const stored = event.numbers === null ? {} : (JSON.parse(event.numbers) as Record<string, number>)
  const [was, is] = [before.numbers ?? {}, after.numbers ?? {}]
  let isOther = false
  for (const name of new Set([...Object.keys(was), ...Object.keys(is)])) {
    if (was[name] === is[name]) continue
    isOther = true
    const [from, to] = [stored[name], is[name]]
    differ(name, from === undefined ? null : String(from), to === undefined ? null : String(to))
    if (to === undefined) delete stored[name]
    else stored[name] = to
  }
  if (!isOther) return event.numbers
  return Object.keys(stored).length ? JSON.stringify(stored) : null
}
