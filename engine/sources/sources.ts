/**
 * Sources (SPEC.md, Sources and labels): made, read, changed and deleted here, and compiled for
 * ingest. Every write is one transaction; the live registry follows after the commit.
 */
import { randomBytes } from 'node:crypto'
import { check } from '../../schemas/index.ts'
import type {
  DependentsResult,
  DiscoverRequest,
  FieldsResult,
  Label,
  LabelsPreview,
  LabelsPreviewResult,
  Source,
  SourceCreated,
  SourceTestResult,
  SourceWrite,
} from '../../schemas/types.ts'
import type { Clock } from '../clock.ts'
import { secretFields, validateConfig } from '../connectors/config.ts'
import type { ReferenceConnector } from '../connectors/connector.ts'
import { connectorOf, hasConnector } from '../connectors/index.ts'
import type { DocumentsWriter } from '../documents-writer.ts'
import type { Caller, IngestRoute } from '../engine.ts'
import { fail } from '../errors.ts'
import { validateLabels } from '../ingest/label.ts'
import type { Keys } from '../keys/keys.ts'
import { acceptedBy, advance, firstSnapshot, recordCreated } from '../lifecycle/advance.ts'
import type { Secrets } from '../secrets.ts'
import type { StoreHandle } from '../store/handle.ts'
import { parseDuration } from '../timeline/duration.ts'
import { coverFields, previewLabel, type RecentEvent } from './fields.ts'
import { healthOf } from './health.ts'
import { compileLive, type LiveSource, routeOf } from './live.ts'
import { type SourceRow, sourceQueries } from './queries.ts'

export type { LiveSource } from './live.ts'

const MASK = '•'.repeat(8)
const DEFAULT_POLL = '5s'
const MEMORY_NAME = 'agent_memory'
const SAMPLE_MAX = 2_000

export interface SourcesParts {
  store: StoreHandle
  clock: Clock
  secrets: Secrets
  keys: Keys
  documents: DocumentsWriter
  /** Newest events of a source. */
  recent(sourceId: number, limit: number): RecentEvent[]
  purge: { request(sourceId: number): number }
  /** Why ingest is refused for want of storage, or null. */
  storageReason(): string | null
}

export interface Sources {
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
  /** @throws SvcError not_found */
  requireByName(name: string): LiveSource
  /** The memory source of that name, or the first one, made when there is none. */
  memorySource(name: string | undefined, caller: Caller): LiveSource
  live(): LiveSource[]
}

export function createSources(parts: SourcesParts): Sources {
  return new SourceRegistry(parts)
}

class SourceRegistry implements Sources {
  private readonly queries: ReturnType<typeof sourceQueries>
  private byId = new Map<number, LiveSource>()
  private byKey = new Map<string, LiveSource>()

  constructor(private readonly parts: SourcesParts) {
    this.queries = sourceQueries(parts.store.db)
    this.reload()
  }

  private reload(): void {
    const before = this.byId
    const live = this.queries
      .all()
      .map((row) => compileLive(row, (r) => this.openConfig(r), before.get(row.id)))
    this.byId = new Map(live.map((source) => [source.id, source]))
    this.byKey = new Map(
      live.filter((source) => source.ingestKey).map((source) => [source.ingestKey, source]),
    )
  }

  /** Runs a write and makes it live once it is committed. */
  private write<T>(change: () => T): T {
    const result = this.parts.store.tx(change)
    this.reload()
    return result
  }

  list(): Source[] {
    return this.queries.all().map((row) => this.present(row))
  }

  get(name: string): Source {
    return this.present(this.row(name))
  }

  create(body: SourceWrite, caller: Caller, mintKey: boolean): SourceCreated {
    const config = this.validated(body)
    const connector = connectorOf(body.connector)
    if (connector.internal)
      fail('invalid', `connector: ${body.connector} sources are made by the service itself`, {
        field: 'connector',
      })
    return this.write(() => {
      if (this.queries.byName(body.name)) fail('conflict', `a source named ${body.name} exists`)
      const at = this.parts.clock.now()
      const ingestKey =
        connector.mode === 'push' ? `${connector.kind}-${randomBytes(16).toString('hex')}` : null
      const id = this.queries.insert({
        name: body.name,
        connector: connector.kind,
        poll: body.poll ?? DEFAULT_POLL,
        config: '{}',
        ingestKey,
        snapshot: firstSnapshot('source'),
        at,
      })
      this.queries.setConfig(id, this.sealConfig(id, connector.kind, config))
      recordCreated(this.parts.store.db, 'source', body.name, caller, at)
      this.materialise(id, connector.kind, config)
      const mint = mintKey && ingestKey !== null && config.signature_scheme === undefined
      const key = mint
        ? this.parts.keys.create(
            { name: `ingest ${body.name}`.slice(0, 64), scopes: ['ingest'], source: body.name },
            caller,
            { sourceId: id },
          )
        : undefined
      return { ok: true, name: body.name, ingest_key: ingestKey, ...(key ? { key } : {}) }
    })
  }

  update(name: string, body: SourceWrite, _caller: Caller): { ok: true; name: string; relabeled: false } {
    const row = this.row(name)
    if (body.name !== name)
      fail('invalid', 'name must equal the name in the path: a source is not renamed', { field: 'name' })
    if (body.connector !== row.connector)
      fail('invalid', `connector must stay ${row.connector}: make another source for another connector`, {
        field: 'connector',
      })
    const config = this.validated({ ...body, config: this.withKeptSecrets(row, body.config ?? {}) })
    return this.write(() => {
      this.queries.update(
        row.id,
        body.poll ?? row.poll,
        this.sealConfig(row.id, row.connector, config),
        this.parts.clock.now(),
      )
      this.materialise(row.id, row.connector, config)
      return { ok: true, name, relabeled: false }
    })
  }

  remove(
    name: string,
    { purgeEvents }: { cascade: boolean; purgeEvents: boolean },
    caller: Caller,
  ): { ok: true; purged_events: number; deleted: string[] } {
    const row = this.row(name)
    return this.write(() => {
      const at = this.parts.clock.now()
      advance(this.parts.store.db, 'source', row.id, name, 'delete', caller, at)
      this.queries.retire(row.id, at)
      this.parts.keys.revokeOfSource(row.id, caller)
      const purged = purgeEvents ? this.parts.purge.request(row.id) : 0
      this.parts.documents.replace(row.id, [], null)
      return { ok: true, purged_events: purged, deleted: [] }
    })
  }

  move(name: string, event: 'pause' | 'resume', caller: Caller): { ok: true; state: string } {
    const row = this.row(name)
    return this.write(() => {
      const { state } = advance(
        this.parts.store.db,
        'source',
        row.id,
        name,
        event,
        caller,
        this.parts.clock.now(),
      )
      return { ok: true, state }
    })
  }

  test(body: SourceWrite): SourceTestResult {
    const existing = this.queries.byName(body.name)
    const config = this.validated({
      ...body,
      config:
        existing && existing.connector === body.connector
          ? this.withKeptSecrets(existing, body.config ?? {})
          : (body.config ?? {}),
    })
    const connector = connectorOf(body.connector)
    if (connector.mode === 'push')
      return {
        ok: true,
        events: 0,
        note: connector.note(existing?.ingest_key ? `/ingest/${existing.ingest_key}` : 'its ingest URL'),
      }
    const documents = (connector as ReferenceConnector).documents(config)
    return {
      ok: true,
      events: documents.length,
      sample: documents.slice(0, 3).map((document) => document.text),
    }
  }

  async discover(body: DiscoverRequest): Promise<Record<string, unknown>> {
    if (!hasConnector(body.connector))
      fail('not_found', `connector ${body.connector} is not known`, { field: 'connector' })
    const connector = connectorOf(body.connector)
    if (!connector.discover)
      fail('invalid', `the ${body.connector} connector does not support discovery`, { field: 'connector' })
    return connector.discover(body.config ?? {})
  }

  previewLabel(body: LabelsPreview): LabelsPreviewResult {
    const faults = validateLabels([body.label as Label])
    if (faults.length) fail('invalid', faults.join('; '), { field: 'label' })
    if (body.sample !== undefined) return previewLabel(null, body.label as Label, body.sample)
    const source = this.requireByName(
      body.source ?? fail('invalid', 'give source or sample', { field: 'source' }),
    )
    const payloads = this.parts
      .recent(source.id, SAMPLE_MAX)
      .map((event) => JSON.parse(Buffer.from(event.raw).toString()) as unknown)
    return previewLabel(source.connector, body.label as Label, payloads)
  }

  fields(name: string, limit: number): FieldsResult {
    const source = this.requireByName(name)
    return coverFields(
      source.connector,
      (source.config.labels ?? []) as Label[],
      this.parts.recent(source.id, Math.min(SAMPLE_MAX, Math.max(1, Math.trunc(limit)))),
    )
  }

  dependents(kind: string, name: string): DependentsResult {
    if (kind !== 'source') fail('invalid', 'kind must be source', { field: 'kind' })
    this.row(name)
    return { dependents: [] }
  }

  routes(): IngestRoute[] {
    return [...this.byKey.values()].map(routeOf)
  }

  byIngestKey(key: string): LiveSource | undefined {
    return this.byKey.get(key)
  }

  requireByName(name: string): LiveSource {
    return (
      [...this.byId.values()].find((source) => source.name === name) ??
      fail('not_found', `no source is named ${name}`)
    )
  }

  memorySource(name: string | undefined, caller: Caller): LiveSource {
    if (name !== undefined) {
      const source = this.requireByName(name)
      return source.connector.kind === 'memory'
        ? source
        : fail('invalid', `source: ${name} is not a memory source`, { field: 'source' })
    }
    const first = [...this.byId.values()]
      .filter((source) => source.connector.kind === 'memory')
      .sort((a, b) => a.id - b.id)[0]
    if (first) return first
    this.create({ name: MEMORY_NAME, connector: 'memory' }, caller, false)
    return this.requireByName(MEMORY_NAME)
  }

  live(): LiveSource[] {
    return [...this.byId.values()]
  }

  private row(name: string): SourceRow {
    return this.queries.byName(name) ?? fail('not_found', `no source is named ${name}`)
  }

  private validated(body: SourceWrite): Record<string, unknown> {
    const fault = check('request-source-write.json', body)
    if (fault) fail('invalid', fault)
    if (body.project) fail('invalid', `project: no project is named ${body.project}`, { field: 'project' })
    parseDuration(body.poll ?? DEFAULT_POLL, 'poll')
    return validateConfig(body.connector, body.config ?? {})
  }

  /** Omitted or masked keeps a secret, "" clears it, anything else replaces it. */
  private withKeptSecrets(row: SourceRow, given: Record<string, unknown>): Record<string, unknown> {
    const stored = this.openConfig(row)
    const merged = { ...given }
    for (const name of secretFields(row.connector))
      if (merged[name] === undefined || merged[name] === MASK) merged[name] = stored[name]
    return merged
  }

  private sealConfig(id: number, kind: string, config: Record<string, unknown>): string {
    const sealed = { ...config }
    for (const name of secretFields(kind))
      if (typeof sealed[name] === 'string')
        sealed[name] = this.parts.secrets.seal(sealed[name], `sources/${id}/${name}`)
    return JSON.stringify(sealed)
  }

  private openConfig(row: SourceRow): Record<string, unknown> {
    const config = JSON.parse(row.config) as Record<string, unknown>
    for (const name of secretFields(row.connector)) {
      if (typeof config[name] !== 'string') continue
      try {
        config[name] = this.parts.secrets.open(config[name], `sources/${row.id}/${name}`)
      } catch {
        // Without its key file a secret is gone: the source then refuses everything and says so,
        // while the others go on.
        delete config[name]
      }
    }
    return config
  }

  private materialise(id: number, kind: string, config: Record<string, unknown>): void {
    const connector = connectorOf(kind)
    if (connector.mode !== 'reference') return
    const primary = ((config.labels ?? []) as Label[]).find((label) => label.primary)
    this.parts.documents.replace(id, connector.documents(config), primary?.name ?? null)
  }

  private present(row: SourceRow): Source {
    const connector = connectorOf(row.connector)
    const live = this.byId.get(row.id)!
    const config = { ...live.config }
    for (const name of secretFields(row.connector)) if (config[name] !== undefined) config[name] = MASK
    return {
      name: row.name,
      type: connector.sourceType,
      connector: row.connector,
      mode: connector.mode,
      poll: row.poll,
      config,
      state: row.state as Source['state'],
      paused: row.state === 'paused',
      accepts: acceptedBy('source', row.snapshot),
      ingest_key: row.ingest_key,
      signed: live.signature !== null,
      owned_by: row.owned_by,
      customized: row.customized === 1,
      projects: [],
      created_at: new Date(row.created_at).toISOString(),
      updated_at: new Date(row.updated_at).toISOString(),
      health: healthOf(row, live, this.parts.storageReason()),
    }
  }
}
