/** How documents of sources are stored: the row that ingest reads, with its documents and keys. */

import { randomBytes } from 'node:crypto'
import { didYouMean } from '../../schemas/near-names.ts'
import type { Label } from '../../schemas/types.ts'
import type { IngestRoute } from '../calls.ts'
import type { Clock } from '../clock.ts'
import type { Keys } from '../declared/keys.ts'
import { fail } from '../errors.ts'
import type { Figures } from '../log/figures.ts'
import { advance, firstSnapshot, recordCreated, renameInHistory } from '../log/lifecycle.ts'
import type { DocumentsWriter } from '../log/retention.ts'
import type { StoreHandle } from '../log/store/handle.ts'
import type { CredentialLookup } from '../model/credentials.ts'
import { type DeclaredKind, type Doc, equal, type Stored, type Stroke } from '../model/documents.ts'
import { maskFields } from '../net/address-secrets.ts'
import { hostOf, type Secrets, type VariableUse, variableIn } from '../net/secrets.ts'
import { addressesIn, ConfigSecrets, defaultPoll, withMaskedAddresses } from './config-secrets.ts'
import { addressOf, connectorOf, secretFields } from './connectors/index.ts'
import { type Carried, CoverageReader } from './health.ts'
import { compileLive, type LiveSource, liveAgain, routeOf } from './live.ts'
import {
  type PollQueries,
  pollQueries,
  type SourceQueries,
  type SourceRow,
  sourceQueries,
} from './queries.ts'
import type { RecentEvent } from './sample.ts'

type Config = Record<string, unknown>

export class SourceKind implements DeclaredKind {
  readonly kind = 'source'

  constructor(private readonly parts: SourceStore) {}

  find(key: string): Stored | undefined {
    const row = this.parts.queries.byName(key)
    return row && this.stored(row)
  }

  list(): Stored[] {
    return this.parts.queries.all().map((row) => this.stored(row))
  }

  open(sealed: string): Doc {
    const { '@id': id, ...doc } = JSON.parse(sealed) as { '@id': number } & Config
    const { config } = this.parts.configs.open({
      id,
      connector: String(doc.connector),
      config: JSON.stringify(doc.config ?? {}),
    })
    return withConfig(doc, config)
  }

  create(key: string, doc: Doc, stroke: Stroke, revive: string | null): string {
    const { queries, configs } = this.parts
    const connector = String(doc.connector)
    const id = revive === null ? this.insert(key, doc, stroke) : this.revive(revive, key, doc, stroke)
    const config = configOf(doc)
    const sealed = configs.seal(id, connector, config)
    queries.update(id, pollOf(doc), sealed, stroke)
    this.materialise(id, connector, config)
    this.beginPolls(id, connector, revive === null ? config : configOf(this.open(revive)), config, stroke.at)
    if (doc.paused === true) this.move(id, key, 'pause', stroke)
    return sealedJson(id, doc, sealed)
  }

  update(stored: Stored, doc: Doc, stroke: Stroke): string {
    const { queries, configs } = this.parts
    const row = queries.byName(stored.key)!
    const config = configOf(doc)
    const sealed = configs.seal(row.id, row.connector, config, row.config)
    queries.update(row.id, pollOf(doc), sealed, stroke)
    this.beginPolls(row.id, row.connector, configOf(stored.doc), config, stroke.at)
    const isPaused = doc.paused === true
    if (isPaused !== (row.state === 'paused'))
      this.move(row.id, row.name, isPaused ? 'pause' : 'resume', stroke)
    // A paused one keeps its documents as they are; edits made meanwhile show once it is resumed.
    if (!isPaused) this.materialise(row.id, row.connector, config)
    return sealedJson(row.id, doc, sealed)
  }

  remove(stored: Stored, stroke: Stroke): void {
    const { queries, configs, keys, documents } = this.parts
    const row = queries.byName(stored.key)!
    this.move(row.id, row.name, 'delete', stroke)
    queries.update(row.id, row.poll, configs.strip(row), stroke)
    keys.revokeOfSource(row.id, stroke.by)
    documents.replace(row.id, [], null)
  }

  /** Its row stays, and with it its events, keys and cursor. */
  rename(from: string, to: string): void {
    const { queries, store } = this.parts
    queries.rename(queries.byName(from)!.id, to)
    renameInHistory(store.db, 'source', from, to)
  }

  mask(doc: Doc): Doc {
    const masked = this.maskFields(doc)
    if (!masked.config) return masked
    return { ...masked, config: withMaskedAddresses(String(doc.connector), configOf(masked)) }
  }

  maskFields(doc: Doc): Doc {
    if (!doc.config) return doc
    return { ...doc, config: maskFields(configOf(doc), secretFields(String(doc.connector))) }
  }

  variables(doc: Doc): VariableUse[] {
    const [connector, config] = [String(doc.connector), configOf(doc)]
    return secretFields(connector).flatMap((name) => {
      const variable = variableIn(config[name])
      if (variable === null) return []
      return [{ field: `config.${name}`, variable, host: hostOf(addressOf(connector, config)) }]
    })
  }

  addresses(doc: Doc): Record<string, unknown> {
    return Object.fromEntries(
      Object.entries(addressesIn(configOf(doc))).map(([field, value]) => [`config.${field}`, value]),
    )
  }

  private insert(name: string, doc: Doc, { at, by }: Stroke): number {
    const connector = connectorOf(String(doc.connector))
    const ingestKey =
      connector.mode === 'push' ? `${connector.kind}-${randomBytes(16).toString('hex')}` : null
    const id = this.parts.queries.insert({
      name,
      connector: connector.kind,
      poll: pollOf(doc),
      // Secrets are bound to the id, which the row gives.
      config: '{}',
      ingestKey,
      snapshot: firstSnapshot('source'),
      at,
    })
    recordCreated(this.parts.store.db, 'source', name, by, at)
    return id
  }

  /** The row it was comes back, with its ingest URL and the events that were not purged. */
  private revive(recorded: string, name: string, doc: Doc, stroke: Stroke): number {
    const { '@id': id } = JSON.parse(recorded) as { '@id': number }
    if (this.parts.queries.byId(id)?.state !== 'deleted') return this.insert(name, doc, stroke)
    this.move(id, name, 'restore', stroke)
    return id
  }

  private move(id: number, name: string, event: string, { by, at }: Stroke): void {
    advance(this.parts.store.db, { kind: 'source', id, name }, event, by, at)
  }

  /** Documents that did not change keep their rows. */
  private materialise(id: number, kind: string, config: Config): void {
    const connector = connectorOf(kind)
    if (connector.mode !== 'reference') return
    const primary = ((config.labels ?? []) as Label[]).find((label) => label.primary)
    this.parts.documents.replace(id, connector.documents(config), primary?.name ?? null)
  }

  /**
   * Polls at once what was made, edited or resumed: from where it stands, or anew where it reads
   * something else than before.
   */
  private beginPolls(id: number, kind: string, before: Config, after: Config, at: number): void {
    const connector = connectorOf(kind)
    if (connector.mode !== 'poll') return
    const changed = connector.identity.filter((field) => !equal(before[field], after[field]))
    if (changed.length === 0) this.parts.polls.begin(id, at)
    else this.parts.polls.restart(id, at, restartNotice(changed, at))
  }

  private stored(row: SourceRow): Stored {
    const { config, unreadable } = this.parts.configs.open(row)
    const doc = withConfig(
      {
        connector: row.connector,
        ...(row.poll === defaultPoll(row.connector) ? {} : { poll: row.poll }),
        ...(row.state === 'paused' ? { paused: true } : {}),
      },
      config,
    )
    return {
      key: row.name,
      name: row.name,
      doc,
      sealed: sealedJson(row.id, doc, row.config),
      changeSet: row.change_set,
      state: row.state,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
      unreadable,
    }
  }
}

const pollOf = (doc: Doc): string => String(doc.poll ?? defaultPoll(String(doc.connector)))

function restartNotice(changed: readonly string[], at: number): string {
  const when = new Date(at).toISOString().slice(0, 16).replace('T', ' ')
  return `It reads anew since ${when} UTC, because ${changed.join(', ')} changed.`
}

const configOf = (doc: Doc): Config => (doc.config ?? {}) as Config

function withConfig(doc: Doc, config: Config): Doc {
  const { config: _sealed, ...rest } = doc
  return Object.keys(config).length ? { ...rest, config } : rest
}

const sealedJson = (id: number, doc: Doc, config: string): string =>
  JSON.stringify({ '@id': id, ...doc, config: JSON.parse(config) as Config })

/* What sources are made of and work with. */

export interface SourcesParts {
  store: StoreHandle
  clock: Clock
  secrets: Secrets
  /** What `${NAME}` in a secret field refers to. */
  env: Readonly<Record<string, string | undefined>>
  /** What sources name as their credential. */
  credentials: CredentialLookup
  keys: Keys
  documents: DocumentsWriter
  /** Newest events of a source with their payload. */
  recent(sourceId: number, limit: number): RecentEvent[]
  /** Labels of the newest events of a source. */
  carried(sourceId: number, limit: number): Carried[]
  /** Why ingest is refused for want of storage, or null. */
  storageReason(): string | null
  /** Counts what comes. */
  figures: Figures
}

/** The parts with what is derived from them. */
export interface SourceStore extends SourcesParts {
  queries: SourceQueries
  polls: PollQueries
  configs: ConfigSecrets
  live: SourceRegistry
  /** Which labels come. */
  coverage: CoverageReader
}

/** Prepares the statements and compiles every source. */
export function openSourceStore(parts: SourcesParts): SourceStore {
  const queries = sourceQueries(parts.store.db)
  const configs = new ConfigSecrets(parts.secrets)
  const live = new SourceRegistry(queries, configs, parts.env, parts.figures)
  const coverage = new CoverageReader({ queries, carried: parts.carried, clock: parts.clock })
  return { ...parts, coverage, queries, polls: pollQueries(parts.store.db), configs, live }
}

/*
 * The live sources, found by ingest key, id or name. Derived from the rows: loaded at start and
 * again after each change is committed, never before.
 */

class SourceRegistry {
  private sources = new Map<number, LiveSource>()
  private byKey = new Map<string, LiveSource>()
  private byName = new Map<string, LiveSource>()
  private revision = 0

  constructor(
    private readonly queries: SourceQueries,
    private readonly configs: ConfigSecrets,
    private readonly env: Readonly<Record<string, string | undefined>>,
    private readonly figures: Figures,
  ) {
    this.reload()
  }

  /** Compiles the sources that are new or whose config changed; those that are deleted are dropped. */
  reload(): void {
    const { env, sources: before } = this
    const revision = ++this.revision
    const live = this.queries.all().map(
      (row) =>
        liveAgain(row, before.get(row.id)) ??
        compileLive(row, this.configs.open(row), {
          ...{ env, revision },
          counters: this.figures.ofSource(row.id, row.config),
        }),
    )
    this.sources = new Map(live.map((source) => [source.id, source]))
    this.byName = new Map(live.map((source) => [source.name, source]))
    this.byKey = new Map(live.filter(({ ingestKey }) => ingestKey).map((s) => [s.ingestKey, s]))
  }

  /** In the order they were made. */
  all(): LiveSource[] {
    return [...this.sources.values()].sort((a, b) => a.id - b.id)
  }

  byId(id: number): LiveSource | undefined {
    return this.sources.get(id)
  }

  byIngestKey(key: string): LiveSource | undefined {
    return this.byKey.get(key)
  }

  /** @throws SvcError not_found */
  requireByName(name: string): LiveSource {
    return (
      this.byName.get(name) ??
      fail('not_found', `no source is named ${name}${didYouMean(name, this.byName.keys())}`)
    )
  }

  has(name: string): boolean {
    return this.byName.has(name)
  }

  routes(): IngestRoute[] {
    // What only the service writes to has no URL.
    return [...this.byKey.values()].filter(({ connector }) => !connector.internal).map(routeOf)
  }
}
