/** What sources are made of and work with. */
import type { Clock } from '../clock.ts'
import type { CredentialLookup } from '../credentials/types.ts'
import type { DocumentsWriter } from '../documents-writer.ts'
import type { Figures } from '../figures.ts'
import type { Keys } from '../keys/keys.ts'
import type { Secrets } from '../secrets.ts'
import type { StoreHandle } from '../store/handle.ts'
import { ConfigSecrets } from './config-secrets.ts'
import type { Carried } from './drift/coverage.ts'
import { CoverageReader } from './drift/reader.ts'
import { type PollQueries, pollQueries } from './poll-queries.ts'
import { type SourceQueries, sourceQueries } from './queries.ts'
import { SourceRegistry } from './registry.ts'
import type { RecentEvent } from './sample/fields.ts'

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
