/** The triggers as they are evaluated: from their rows, with the live sources they watch. */
import type { Label, TriggerSpec } from '../../schemas/types.ts'
import type { Database } from '../store/handle.ts'
import type { TriggerDefinition } from './types.ts'

interface TriggerRow {
  id: number
  name: string
  spec: string
  state: string
}

interface SourceRow {
  id: number
  name: string
  labels: string | null
}

/** Every trigger that is not deleted, in the order they were made. */
export function readDefinitions(db: Database): TriggerDefinition[] {
  const sources = liveSources(db)
  return db
    .prepare<[], TriggerRow>(
      "SELECT id, name, spec, state FROM triggers WHERE state <> 'deleted' ORDER BY id",
    )
    .all()
    .map(({ id, name, spec, state }) =>
      definitionOf(id, name, JSON.parse(spec) as TriggerSpec, state === 'paused', sources),
    )
}

/** A definition that need not be stored, for backtests. */
export function draftDefinition(db: Database, spec: TriggerSpec): TriggerDefinition {
  return definitionOf(0, '', spec, false, liveSources(db))
}

/**
 * A definition of the past: the sources it names are those that had the name, deleted ones included.
 * @param source what is known of a source by its name
 */
export function pastDefinition(
  of: Pick<TriggerDefinition, 'id' | 'name' | 'spec'>,
  source: (name: string) => { ids: readonly number[]; labels: readonly Label[] },
): TriggerDefinition {
  const sources = of.spec.sources.map(source)
  const primaries = sources.flatMap(({ labels }) => labels.find((label) => label.primary)?.name ?? [])
  return {
    ...of,
    paused: false,
    sourceIds: sources.flatMap(({ ids }) => ids),
    entityLabel: of.spec.key_field || (primaries[0] ?? null),
  }
}

type Sources = ReadonlyMap<string, SourceRow>

function liveSources(db: Database): Sources {
  const rows = db
    .prepare<[], SourceRow>(
      "SELECT id, name, json_extract(config, '$.labels') AS labels FROM sources WHERE state <> 'deleted'",
    )
    .all()
  return new Map(rows.map((row) => [row.name, row]))
}

function definitionOf(
  id: number,
  name: string,
  spec: TriggerSpec,
  paused: boolean,
  sources: Sources,
): TriggerDefinition {
  const watched = spec.sources.flatMap((source) => sources.get(source) ?? [])
  return {
    id,
    name,
    spec,
    paused,
    sourceIds: watched.map((source) => source.id),
    entityLabel: spec.key_field || primaryLabel(watched),
  }
}

/** The primary label of the first source that has one. */
function primaryLabel(sources: readonly SourceRow[]): string | null {
  for (const { labels } of sources) {
    const primary = (JSON.parse(labels ?? '[]') as Label[]).find((label) => label.primary)
    if (primary) return primary.name
  }
  return null
}
