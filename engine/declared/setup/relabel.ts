/**
 * Stored events as a changed source would have labelled them. Both configs are asked what they make of the stored
 * payload; where they agree, what is stored stays: it may come of what is not stored, such as a header.
 *
 * A world is what is declared before or after a change, as far as it decides what fires.
 */
import type { Label, PlanBacktestLabels, TriggerSpec } from '../../../schemas/types.ts'
import type { Move } from '../../gitops/moved.ts'
import type { EntityRule } from '../../log/entity-rules.ts'
import { parseForWriting } from '../../log/ingest/json.ts'
import type { PreparedEvent } from '../../log/ingest/packed.ts'
import { compileSource, type Prepare } from '../../log/ingest/prepare.ts'
import { parseItem } from '../../log/ingest/split.ts'
import type { Database } from '../../log/store/handle.ts'
import { eventId } from '../../log/timeline/present.ts'
import {
  type Doc,
  type DocumentOf,
  differences,
  type Edit,
  equal,
  type Kinds,
  nameSince,
} from '../../model/documents.ts'
import type { MappingConnector } from '../../sources/connectors/connector.ts'
import { connectorOf, secretFields } from '../../sources/connectors/index.ts'
import type { LabelLookup, TriggerDefinition } from '../../triggers/types.ts'

export interface SourceState {
  /** Of its row; of one that is made by the change, of none. */
  id: number
  name: string
  connector: string
  config: Readonly<Record<string, unknown>>
  paused: boolean
}

export interface World {
  sources: ReadonlyMap<string, SourceState>
  triggers: ReadonlyMap<string, { spec: TriggerSpec; paused: boolean }>
  /** Trigger → agents whose wiring is on. */
  wakes: ReadonlyMap<string, ReadonlySet<string>>
  entities: readonly EntityRule[]
}

interface Sides {
  before: World
  after: World
}

export interface Worlds extends Sides {
  /** The state before of the source that had this name some time, by its name of now. */
  sourceOf(name: string): SourceState | undefined
}

/** Ids of sources that are made by the change: no row has one of them. */
const NEW_ID = 2 ** 40

/** @param edit completed. @param moves what got another name before it, or by it */
export function worldsOf(db: Database, kinds: Kinds, edit: Edit, moves: readonly Move[] = []): Worlds {
  const rows = db.prepare("SELECT name, id FROM sources WHERE state <> 'deleted'").raw().all()
  // In the names that the change gives: another name alone fires nothing else.
  const ids = new Map((rows as [string, number][]).map(([name, id]) => [edit.nameOf('source', name), id]))
  const stored = <K extends 'source' | 'trigger' | 'entity' | 'project'>(kind: K) =>
    new Map(
      kinds[kind]
        .list()
        .map(({ key, doc }) => [edit.nameOf(kind, key), edit.inNames(kind, doc) as DocumentOf<K>]),
    )
  const before = worldOf({
    ...{ sources: stored('source'), triggers: stored('trigger'), projects: stored('project'), ids },
    entities: stored('entity'),
  })
  const named = (name: string) => before.sources.get(edit.nameOf('source', name))
  return {
    before,
    sourceOf: (name) => named(name) ?? named(nameSince(moves, 'source', name)),
    after: worldOf({
      ...{ sources: edit.all('source'), triggers: edit.all('trigger'), projects: edit.all('project'), ids },
      entities: edit.all('entity'),
    }),
  }
}

interface Documents {
  sources: ReadonlyMap<string, DocumentOf<'source'>>
  triggers: ReadonlyMap<string, DocumentOf<'trigger'>>
  projects: ReadonlyMap<string, DocumentOf<'project'>>
  entities: ReadonlyMap<string, DocumentOf<'entity'>>
  ids: ReadonlyMap<string, number>
}

function worldOf({ sources, triggers, projects, entities, ids }: Documents): World {
  const wakes = new Map<string, Set<string>>()
  for (const { wakes: of = {} } of projects.values())
    for (const [trigger, agents] of Object.entries(of))
      for (const [agent, { enabled }] of Object.entries(agents))
        if (enabled) wakes.set(trigger, (wakes.get(trigger) ?? new Set()).add(agent))
  let made = NEW_ID
  return {
    sources: new Map(
      [...sources].map(([name, { connector, config = {}, paused = false }]) => [
        name,
        { id: ids.get(name) ?? made++, name, connector: String(connector), config, paused },
      ]),
    ),
    triggers: new Map(
      [...triggers].map(([name, doc]) => {
        const { paused = false, prevent_destroy: _guard, sync: _sync, ...spec } = doc
        return [name, { spec: { ...spec }, paused }]
      }),
    ),
    wakes,
    entities: [...entities].map(([name, spec]) => ({ ...spec, name })),
  }
}

/** A trigger as it is evaluated in a world. @param id that its decisions carry. @returns null: there is none */
export function definitionIn(
  { sources, triggers, entities }: World,
  name: string,
  id: number,
  silent: ReadonlySet<string> = new Set(),
): TriggerDefinition | null {
  const found = triggers.get(name)
  if (!found) return null
  const watched = found.spec.sources.flatMap((source) => sources.get(source) ?? [])
  const primary = watched.flatMap(
    ({ config }) => ((config.labels ?? []) as Label[]).find((label) => label.primary)?.name ?? [],
  )[0]
  return {
    id,
    name,
    spec: found.spec,
    paused: found.paused,
    sourceIds: watched.filter((source) => !silent.has(source.name)).map((source) => source.id),
    entityLabel: found.spec.key_field || (primary ?? null),
    ...(found.spec.joined ? { entities } : {}),
  }
}

/* What the change reaches. */

export type Reason = 'created' | 'changed' | 'deleted' | 'source' | 'wiring'

export interface Reached {
  /** By name, with what of it changes. */
  triggers: Map<string, Reason>
  /** Sources whose events are labelled anew: as they are and as they would be. */
  relabelled: { before: SourceState; after: SourceState }[]
  /** Sources that take nothing after the change, and did before. */
  silent: Set<string>
  /** In sentences. */
  notes: string[]
}

/** Fields of a trigger that decide nothing of when it fires. */
const SAID_ONLY = new Set(['description', 'emit', 'severity', 'severity_field'])

export function reachedBy({ before, after }: Sides): Reached {
  const notes: string[] = []
  const silent = new Set<string>()
  const relabelled: Reached['relabelled'] = []
  for (const source of before.sources.values()) {
    const then = after.sources.get(source.name)
    if (!then || (then.paused && !source.paused)) silent.add(source.name)
    else if (relabels(source, then, notes)) relabelled.push({ before: source, after: then })
    if (then && source.paused && !then.paused)
      notes.push(
        `source ${source.name} is resumed: what it would have taken while it was paused is not known`,
      )
  }
  for (const { name } of after.sources.values())
    if (!before.sources.has(name))
      notes.push(`source ${name} is new: it has no stored events, and nothing fires for it here`)
  const moved = new Set([...silent, ...relabelled.map(({ after: { name } }) => name)])
  const triggers = new Map<string, Reason>()
  for (const name of new Set([...before.triggers.keys(), ...after.triggers.keys()].sort())) {
    const reason = reasonOf(name, { before, after }, moved)
    if (reason) triggers.set(name, reason)
  }
  return { triggers, relabelled, silent, notes }
}

function reasonOf(name: string, { before, after }: Sides, moved: ReadonlySet<string>): Reason | null {
  const [was, is] = [before.triggers.get(name), after.triggers.get(name)]
  if (!was) return 'created'
  if (!is) return 'deleted'
  const isChanged = differences(was.spec, is.spec).some(({ path }) => !SAID_ONLY.has(path.split('/')[1]!))
  // Its keys are the things of the entities.
  const isRekeyed = is.spec.joined === true && !equal(before.entities, after.entities)
  if (isChanged || isRekeyed || was.paused !== is.paused) return 'changed'
  // Which sources it watches, and the label that is its key.
  const fed = [before, after].map((world) => {
    const { sourceIds, entityLabel } = definitionIn(world, name, 0)!
    return { sourceIds, entityLabel }
  })
  if (is.spec.sources.some((source) => moved.has(source)) || !equal(fed[0], fed[1])) return 'source'
  const agents = [before, after].map(({ wakes }) => [...(wakes.get(name) ?? [])].sort())
  return equal(agents[0], agents[1]) ? null : 'wiring'
}

/** Whether the events of a source may be labelled otherwise; what cannot be told is added to the notes. */
function relabels(before: SourceState, after: SourceState, notes: string[]): boolean {
  const { name } = before
  if (before.connector !== after.connector) {
    notes.push(
      `source ${name} becomes one of connector ${after.connector}: what it would have received is not known, so its stored events are taken as they are`,
    )
    return false
  }
  const connector = connectorOf(before.connector)
  const secrets = new Set(secretFields(before.connector))
  const open = (config: Doc) =>
    Object.fromEntries(Object.entries(config).filter(([key]) => !secrets.has(key)))
  const changed = new Set(
    differences(open(before.config), open(after.config)).map(({ path }) => path.split('/')[1]!),
  )
  if (changed.size === 0 || connector.mode === 'reference') return false
  const other = connector.mode === 'poll' ? connector.identity.filter((field) => changed.has(field)) : []
  if (other.length)
    notes.push(
      `source ${name} would read something else (${other.join(', ')}): what is not known, so its stored events are taken as it read them`,
    )
  if (changed.has('dedupe_field'))
    notes.push(
      `source ${name} would know duplicates by another field: its stored events are all taken as new`,
    )
  return true
}

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
