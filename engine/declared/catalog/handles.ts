/**
 * The catalog as agents read it (SPEC.md, Authentication, scope read): what there is, by handle, and of one
 * source or trigger what its newest events are like. Not the catalog file, which engine/declared/catalog has.
 */
import type { CatalogDescription, CatalogListing, Source, Trigger } from '../../../schemas/types.ts'
import type { Row } from '../../calls.ts'
import { SvcError } from '../../errors.ts'
import type { Declared } from '../declared.ts'
import { belongings } from '../operations.ts'
import { getTrigger, listTriggers, wokenBy } from '../parts.ts'

/** Newest events of a source by which its schema and labels are told. */
const SAMPLED = 200
const SHOWN = 3
const VALUES_MAX = 20

/** @param project id: only its sources and triggers; null: all */
export function catalogListing(declared: Declared, project: string | null): CatalogListing {
  const belongs = belongings(declared)
  const isSeen = (of: { projects: readonly string[] }) => project === null || of.projects.includes(project)
  return {
    sources: declared.sources
      .list((name) => belongs('source', name))
      .filter((source) => isSeen(source) && (project === null || !isShared(source)))
      .map(({ name, type, projects }) => ({ name, type, projects: seen(projects, project) })),
    triggers: listTriggers(declared)
      .filter(isSeen)
      .map(({ name, projects, sources, key_field }) => ({
        name,
        project: project ?? projects[0] ?? null,
        sources,
        key_field: key_field || null,
      })),
    projects: declared.kinds.project
      .list()
      .filter(({ key }) => project === null || key === project)
      .map(({ key, name, doc }) => ({ id: key, name, template: doc.template })),
  }
}

/** Holds what several projects recorded: a key of one reads it by POST /read, where the others' rows are masked. */
const isShared = ({ type }: Source): boolean => type === 'agent_memory' || type === 'finding'

/** What a project key sees of whose a part is. */
const seen = (projects: readonly string[], project: string | null): string[] =>
  projects.filter((id) => project === null || id === project)

/**
 * @param handle `source:<name>` or `trigger:<name>`
 * @param project id: only its sources and triggers; null: all
 * @param newest of a source, newest first
 * @throws SvcError invalid for another handle; not_found; forbidden for what is not of the project, whether
 *   or not it exists
 */
export function describeHandle(
  declared: Declared,
  handle: string,
  project: string | null,
  newest: (source: string, limit: number) => Row[],
): CatalogDescription {
  const [, kind, name] = /^(source|trigger):(.+)$/.exec(handle) ?? []
  if (kind === undefined || name === undefined)
    throw new SvcError('invalid', 'handle must be source:<name> or trigger:<name>', { field: 'handle' })
  if (project !== null) {
    const listed = catalogListing(declared, project)
    const own = kind === 'source' ? listed.sources : listed.triggers
    if (!own.some((one) => one.name === name))
      throw new SvcError(
        'forbidden',
        `this key only reads project ${listed.projects[0]?.name ?? project} and records findings in it`,
      )
  }
  if (kind === 'trigger') return ofTrigger(declared, handle, getTrigger(declared, name), project)
  const belongs = belongings(declared)
  const source = declared.sources.get(name, (of) => belongs('source', of))
  return ofSource(declared, handle, source, newest(name, SAMPLED), project)
}

function ofSource(
  declared: Declared,
  handle: string,
  source: Source,
  events: readonly Row[],
  project: string | null,
): CatalogDescription {
  const { events_total, last_ingest, status } = source.health
  const newest = events[0]?.event_time ?? null
  const declaredLabels = (source.config.labels ?? []) as { name: string; primary?: boolean }[]
  return {
    handle,
    kind: 'source',
    entry: project === null ? { ...source } : cardOf(source, project),
    schema: {
      event_types: [...new Set(events.map(({ event_type }) => event_type))].sort(),
      fields: Object.fromEntries(
        events.flatMap(({ labels }) =>
          Object.entries(labels).map(([label, value]) => [label, typeof value] as const),
        ),
      ) as Record<string, 'string' | 'number'>,
      sampled_events: events.length,
    },
    labels: valuesOf(events),
    primary_label: declaredLabels.find(({ primary }) => primary)?.name ?? null,
    freshness: {
      last_event_time: newest,
      lag_seconds:
        newest === null ? null : Math.max(0, Math.round((declared.clock.now() - Date.parse(newest)) / 1000)),
      last_ingest,
      events_total,
      status,
    },
    lineage: catalogTriggers(declared, project)
      .filter(({ sources }) => sources.includes(source.name))
      .map(({ name }) => ({ from: handle, to: `trigger:${name}`, transform: 'condition' })),
    sample: events.slice(0, SHOWN).map(({ raw: _, ...event }) => event),
  }
}

/** A source as a project key sees it: without where it reads and is sent to. */
const cardOf = ({ name, type, connector, mode, state, health, config }: Source, project: string) => ({
  ...{ name, type, connector, mode, state, health },
  config: { labels: config.labels ?? [] },
  projects: [project],
})

/** Values of each label in the events with how many carry them, most frequent first. */
function valuesOf(events: readonly Row[]): NonNullable<CatalogDescription['labels']> {
  const counted = new Map<string, Map<string, { value: string; events: number; last_ingest: string }>>()
  for (const { labels, ingested_at } of events)
    for (const [label, given] of Object.entries(labels)) {
      const values = counted.get(label) ?? new Map()
      const value = String(given)
      const known = values.get(value) ?? { value, events: 0, last_ingest: ingested_at }
      values.set(value, { ...known, events: known.events + 1 })
      counted.set(label, values)
    }
  return Object.fromEntries(
    [...counted].map(([label, values]) => [
      label,
      [...values.values()].sort((a, b) => b.events - a.events).slice(0, VALUES_MAX),
    ]),
  )
}

const catalogTriggers = (declared: Declared, project: string | null): Trigger[] =>
  listTriggers(declared).filter(({ projects }) => project === null || projects.includes(project))

function ofTrigger(
  declared: Declared,
  handle: string,
  trigger: Trigger,
  project: string | null,
): CatalogDescription {
  const projects = declared.kinds.project.list().filter(({ key }) => project === null || key === project)
  const wakes = wokenBy(
    trigger.name,
    projects.map(({ doc }) => doc),
  )
  return {
    handle,
    kind: 'trigger',
    entry: { ...trigger, projects: seen(trigger.projects, project), wakes },
    subscribers: trigger.subscriptions,
    lineage: [
      ...trigger.sources.map((source) => ({ from: `source:${source}`, to: handle, transform: 'condition' })),
      ...wakes.map((agent) => ({ from: handle, to: `agent:${agent}`, transform: 'wakes' })),
    ],
  }
}
