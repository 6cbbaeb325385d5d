/**
 * Sources (SPEC.md, Sources and labels) as the engine offers them: reads of their rows here, what
 * can be tried in trial.ts, the live ones that ingest uses in registry.ts. How they are written is
 * said in source-kind.ts.
 */
import type {
  DiscoverRequest,
  FieldsResult,
  LabelsPreview,
  LabelsPreviewResult,
  Source,
  SourceTestResult,
  SourceWrite,
} from '../../schemas/types.ts'
import type { IngestRoute } from '../calls.ts'
import { fail } from '../errors.ts'
import { acceptedBy } from '../lifecycle/advance.ts'
import { maskSecrets } from './config-secrets.ts'
import { driftOf } from './drift/drift.ts'
import { needsOfSource, proposedLabels } from './drift/needs.ts'
import { healthOf } from './health.ts'
import type { LiveSource } from './live.ts'
import { openSourceStore, type SourceStore, type SourcesParts } from './parts.ts'
import type { PollRow } from './poll-queries.ts'
import type { SourceRow } from './queries.ts'
import { SourceTrials, type ToAsk } from './trial.ts'

export type { LiveSource } from './live.ts'

/** Whose a part is: the same for every kind. */
export interface Belonging {
  owned_by: string | null
  customized: boolean
  projects: string[]
}

/** Names may not be found, bodies may break a rule: every method may throw SvcError. */
export interface Sources {
  /** What their documents are stored with. */
  store: SourceStore
  /** By name, without those that are deleted; secrets masked. */
  list(belonging: (name: string) => Belonging): Source[]
  get(name: string, belonging: (name: string) => Belonging): Source
  test(body: SourceWrite): { result: SourceTestResult } | { ask: ToAsk }
  discover(body: DiscoverRequest): ToAsk
  previewLabel(body: LabelsPreview): LabelsPreviewResult
  fields(name: string, limit: number): FieldsResult
  routes(): IngestRoute[]
  byIngestKey(key: string): LiveSource | undefined
  byId(id: number): LiveSource | undefined
  /** @throws SvcError not_found */
  requireByName(name: string): LiveSource
  has(name: string): boolean
  /** In the order they were made. */
  live(): LiveSource[]
  /** Compiles them again, after a change is committed. */
  reload(): void
}

/** Loads the sources of a store. */
export function createSources(parts: SourcesParts): Sources {
  const store = openSourceStore(parts)
  const { live } = store
  const trials = new SourceTrials(store)
  return {
    store,
    list: (belonging) => {
      const storageReason = store.storageReason()
      const polls = store.polls.all()
      return store.queries
        .all()
        .map((row) => present(store, row, storageReason, polls.get(row.id), belonging))
    },
    get: (name, belonging) => {
      const row = store.queries.byName(name) ?? fail('not_found', `no source is named ${name}`)
      return present(store, row, store.storageReason(), store.polls.find(row.id), belonging)
    },
    test: (body) => trials.test(body),
    discover: (body) => trials.discover(body),
    previewLabel: (body) => trials.previewLabel(body),
    fields: (name, limit) => trials.fields(name, limit),
    routes: () => live.routes(),
    byIngestKey: (key) => live.byIngestKey(key),
    byId: (id) => live.byId(id),
    requireByName: (name) => live.requireByName(name),
    has: (name) => live.has(name),
    live: () => live.all(),
    reload: () => live.reload(),
  }
}

function present(
  { live, credentials, coverage }: SourceStore,
  row: SourceRow,
  storageReason: string | null,
  poll: PollRow | undefined,
  belonging: (name: string) => Belonging,
): Source {
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
    ...belonging(row.name),
    version: row.change_set,
    created_at: new Date(row.created_at).toISOString(),
    updated_at: new Date(row.updated_at).toISOString(),
    health: healthOf(
      row,
      source,
      storageReason,
      poll,
      credentials,
      needsOfSource(row.name, { config: source.config }, proposedLabels(source.connector)).flatMap(
        (need) => driftOf(need, (name) => coverage.of(name, false)) ?? [],
      ),
    ),
  }
}
