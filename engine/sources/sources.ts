/**
 * Sources (SPEC.md, Sources and labels) as the engine offers them: reads of their rows here, changes
 * in write.ts, what can be tried in trial.ts, and the live ones that ingest uses in registry.ts.
 */
import type {
  DependentsResult,
  DiscoverRequest,
  FieldsResult,
  LabelsPreview,
  LabelsPreviewResult,
  Source,
  SourceCreated,
  SourceTestResult,
  SourceWrite,
} from '../../schemas/types.ts'
import type { Caller, IngestRoute } from '../engine.ts'
import { fail } from '../errors.ts'
import { acceptedBy } from '../lifecycle/advance.ts'
import { maskSecrets } from './config-secrets.ts'
import { healthOf } from './health.ts'
import type { LiveSource } from './live.ts'
import { openSourceStore, type SourceStore, type SourcesParts } from './parts.ts'
import type { SourceRow } from './queries.ts'
import { SourceTrials } from './trial.ts'
import { SourceWrites } from './write.ts'

export type { LiveSource } from './live.ts'

/** Names may not be found, bodies may break a rule: every method may throw SvcError. */
export interface Sources {
  /** By name, without those that are deleted; secrets masked. */
  list(): Source[]
  get(name: string): Source
  create(body: SourceWrite, caller: Caller, mintKey: boolean): SourceCreated
  update(name: string, body: SourceWrite, caller: Caller): { ok: true; name: string; relabeled: false }
  remove(
    name: string,
    options: { cascade: boolean; purgeEvents: boolean },
    caller: Caller,
  ): { ok: true; purged_events: number; deleted: string[] }
  move(name: string, event: 'pause' | 'resume', caller: Caller): { ok: true; state: string }
  test(body: SourceWrite): SourceTestResult
  discover(body: DiscoverRequest): Promise<Record<string, unknown>>
  previewLabel(body: LabelsPreview): LabelsPreviewResult
  fields(name: string, limit: number): FieldsResult
  dependents(kind: string, name: string): DependentsResult
  routes(): IngestRoute[]
  byIngestKey(key: string): LiveSource | undefined
  byId(id: number): LiveSource | undefined
  /** @throws SvcError not_found */
  requireByName(name: string): LiveSource
  /** The memory source of that name, or the first one, made when there is none. */
  memorySource(name: string | undefined, caller: Caller): LiveSource
  /** In the order they were made. */
  live(): LiveSource[]
}

/** Loads the sources of a store. */
export function createSources(parts: SourcesParts): Sources {
  const store = openSourceStore(parts)
  const { live } = store
  const writes = new SourceWrites(store)
  const trials = new SourceTrials(store)
  return {
    list: () => list(store),
    get: (name) => present(store, requireRow(store, name), store.storageReason()),
    create: (body, caller, mintKey) => writes.create(body, caller, mintKey),
    update: (name, body) => writes.update(name, body),
    remove: (name, { purgeEvents }, caller) => writes.remove(name, purgeEvents, caller),
    move: (name, event, caller) => writes.move(name, event, caller),
    test: (body) => trials.test(body),
    discover: (body) => trials.discover(body),
    previewLabel: (body) => trials.previewLabel(body),
    fields: (name, limit) => trials.fields(name, limit),
    dependents: (kind, name) => dependents(store, kind, name),
    routes: () => live.routes(),
    byIngestKey: (key) => live.byIngestKey(key),
    byId: (id) => live.byId(id),
    requireByName: (name) => live.requireByName(name),
    memorySource: (name, caller) => writes.memorySource(name, caller),
    live: () => live.all(),
  }
}

function list(store: SourceStore): Source[] {
  const storageReason = store.storageReason()
  return store.queries.all().map((row) => present(store, row, storageReason))
}

function requireRow(store: SourceStore, name: string): SourceRow {
  return store.queries.byName(name) ?? fail('not_found', `no source is named ${name}`)
}

/** Nothing depends on a source before there are triggers. */
function dependents(store: SourceStore, kind: string, name: string): DependentsResult {
  if (kind === 'trigger') return fail('not_found', `no trigger is named ${name}`)
  if (kind !== 'source') fail('invalid', 'kind must be source or trigger', { field: 'kind' })
  requireRow(store, name)
  return { dependents: [] }
}

function present({ live }: SourceStore, row: SourceRow, storageReason: string | null): Source {
  const source = live.byId(row.id) ?? fail('not_found', `no source is named ${row.name}`)
  return {
    name: row.name,
    type: source.connector.sourceType,
    connector: row.connector,
    mode: source.connector.mode,
    poll: row.poll,
    config: maskSecrets(row.connector, source),
    state: row.state as Source['state'],
    paused: row.state === 'paused',
    accepts: acceptedBy('source', row.snapshot),
    ingest_key: row.ingest_key,
    signed: source.signature !== null,
    owned_by: row.owned_by,
    customized: row.customized === 1,
    projects: [],
    created_at: new Date(row.created_at).toISOString(),
    updated_at: new Date(row.updated_at).toISOString(),
    health: healthOf(row, source, storageReason),
  }
}
