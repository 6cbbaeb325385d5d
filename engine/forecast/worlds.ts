/** What is declared before and after a change, as far as it decides what fires, and what of it the change reaches. */
import type { Label, TriggerSpec } from '../../schemas/types.ts'
import type { EntityRule } from '../log/entity-rules.ts'
import type { Database } from '../log/store/handle.ts'
import { type Doc, type DocumentOf, differences, type Edit, equal, type Kinds } from '../model/documents.ts'
import { secretFields } from '../sources/connectors/config.ts'
import { connectorOf } from '../sources/connectors/index.ts'
import type { TriggerDefinition } from '../triggers/types.ts'

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

export interface Worlds {
  before: World
  after: World
}

/** Ids of sources that are made by the change: no row has one of them. */
const NEW_ID = 2 ** 40

/** @param edit completed. */
export function worldsOf(db: Database, kinds: Kinds, edit: Edit): Worlds {
  const rows = db.prepare("SELECT name, id FROM sources WHERE state <> 'deleted'").raw().all()
  // In the names that the change gives: another name alone fires nothing else.
  const ids = new Map((rows as [string, number][]).map(([name, id]) => [edit.nameOf('source', name), id]))
  const stored = <K extends 'source' | 'trigger' | 'entity' | 'project'>(kind: K) =>
    new Map(
      kinds[kind]
        .list()
        .map(({ key, doc }) => [edit.nameOf(kind, key), edit.inNames(kind, doc) as DocumentOf<K>]),
    )
  return {
    before: worldOf({
      ...{ sources: stored('source'), triggers: stored('trigger'), projects: stored('project'), ids },
      entities: stored('entity'),
    }),
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

export function reachedBy({ before, after }: Worlds): Reached {
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

function reasonOf(name: string, { before, after }: Worlds, moved: ReadonlySet<string>): Reason | null {
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
