/**
 * The live sources, found by ingest key, id or name. Derived from the rows: loaded at start and
 * again after each change is committed, never before.
 */
import type { IngestRoute } from '../calls.ts'
import { fail } from '../errors.ts'
import type { Figures } from '../figures.ts'
import type { ConfigSecrets } from './config-secrets.ts'
import { compileLive, type LiveSource, liveAgain, routeOf } from './live.ts'
import type { SourceQueries } from './queries.ts'

export class SourceRegistry {
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
    return this.byName.get(name) ?? fail('not_found', `no source is named ${name}`)
  }

  has(name: string): boolean {
    return this.byName.has(name)
  }

  routes(): IngestRoute[] {
    // What only the service writes to has no URL.
    return [...this.byKey.values()].filter(({ connector }) => !connector.internal).map(routeOf)
  }
}
