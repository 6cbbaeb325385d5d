/** The instance in figures: storage in use, counters, whether it is well. */

import type { Usage } from '../schemas/types.ts'
import type { EngineStatus } from './engine.ts'
import type { Pipeline } from './pipeline.ts'
import type { Reads } from './reads.ts'
import type { SealedSecrets } from './sealed-secrets.ts'
import type { Sources } from './sources/sources.ts'
import type { Capacity } from './store/capacity.ts'
import type { Tallies } from './tallies.ts'
import type { ReadContext } from './timeline/context.ts'
import { iso } from './timeline/present.ts'

export function usageOf(capacity: Capacity, sources: Sources, ctx: ReadContext, now: number): Usage {
  const m = capacity.measure(now)
  const all = ctx.index.all()
  const oldest = all.length ? Math.min(...all.map((segment) => segment.minTs)) : null
  const listed = sources.live()
  return {
    db_bytes: m.dbBytes,
    wal_bytes: m.walBytes,
    free_bytes: m.freeBytes,
    events: all.reduce((sum, segment) => sum + segment.n, 0),
    max_bytes: m.maxBytes,
    max_bytes_source: m.maxBytesSource,
    disk_total: m.diskTotal,
    disk_free: m.diskFree,
    pct_used: m.pctUsed,
    ingest_paused: capacity.refusal(now) !== null,
    oldest_event: oldest === null ? null : iso(oldest),
    sources: listed.map(({ name }) => ({ name, events: sources.store.queries.byName(name)?.events ?? 0 })),
  }
}

/** What the status is made of. */
export interface StatusParts {
  capacity: Capacity
  sources: Sources
  ctx: ReadContext
  pipeline: Pipeline
  reads: Reads
  tallies: Tallies
  sealed: SealedSecrets
  /** What is wrong beside the storage and the sealed secrets. */
  faults: readonly string[]
}

export function statusOf(parts: StatusParts, now: number): EngineStatus {
  const { capacity, sources, ctx, pipeline, reads, tallies, sealed, faults } = parts
  const m = capacity.measure(now)
  const refusal = capacity.refusal(now)
  const unreadable = sealed.look()
  return {
    ingestPaused: refusal !== null,
    pctUsed: m.pctUsed,
    detail:
      [refusal, unreadable.sentence, ...faults].filter((sentence) => sentence !== null).join('; ') || null,
    unreadableSecrets: unreadable.names,
    eventsStored: ctx.index.all().reduce((sum, segment) => sum + segment.n, 0),
    bySource: sources.live().map((source) => ({
      source: source.name,
      ingested: source.counters.events,
      rejected: source.counters.rejected,
      state: source.paused ? 'paused' : 'active',
    })),
    tallies: tallies.list(),
    counters: { ...pipeline.counters, reads: reads.counters.reads },
    dbBytes: m.dbBytes,
    walBytes: m.walBytes,
    maxBytes: m.maxBytes,
  }
}
