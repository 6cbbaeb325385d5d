/** The instance in figures: storage in use, counters, whether it is well. */

import type { Usage } from '../schemas/types.ts'
import type { Declared } from './declared/declared.ts'
import { instanceFaults } from './declared/instance-health.ts'
import { parkedRuns } from './declared/parked-runs.ts'
import type { EngineStatus } from './engine.ts'
import type { Figures } from './figures.ts'
import { countedBy } from './incidents/counts.ts'
import { severityOfRank } from './incidents/severity.ts'
import type { SealedSecrets } from './sealed-secrets.ts'
import type { Capacity } from './store/capacity.ts'
import type { ReadContext } from './timeline/context.ts'
import { iso } from './timeline/present.ts'

export interface UsageParts {
  declared: Declared
  /** As the writer holds it, or as a reader finds it. */
  storage: Pick<Capacity, 'measure' | 'refusal'>
  ctx: ReadContext
}

export function usageOf({ declared, storage, ctx }: UsageParts): Usage {
  const { sources, clock } = declared
  const now = clock.now()
  const m = storage.measure(now)
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
    ingest_paused: storage.refusal(now) !== null,
    oldest_event: oldest === null ? null : iso(oldest),
    sources: listed.map(({ name }) => ({ name, events: sources.store.queries.byName(name)?.events ?? 0 })),
  }
}

/** What the status is made of. */
export interface StatusParts extends UsageParts {
  figures: Figures
  sealed: SealedSecrets
  /** Whether there is a model provider. */
  hasProvider(): boolean
}

/** All but what was tallied, which is where it is counted. */
export function statusOf(parts: StatusParts): Omit<EngineStatus, 'tallies'> {
  const { declared, storage, ctx, figures, sealed } = parts
  const { sources, clock } = declared
  const now = clock.now()
  const faults = instanceFaults(declared, parts.hasProvider())
  const m = storage.measure(now)
  const refusal = storage.refusal(now)
  const unreadable = sealed.look()
  return {
    ingestPaused: refusal !== null,
    pctUsed: m.pctUsed,
    detail:
      [refusal, unreadable.sentence, ...faults].filter((sentence) => sentence !== null).join('; ') || null,
    parked: parkedRuns(declared.store.db),
    unreadableSecrets: unreadable.names,
    eventsStored: ctx.index.all().reduce((sum, segment) => sum + segment.n, 0),
    bySource: sources.live().map((source) => ({
      source: source.name,
      ingested: source.counters.events,
      rejected: source.counters.rejected,
      state: source.paused ? 'paused' : 'active',
    })),
    incidents: countedBy(declared.store.db, null).map(({ state, rank, n }) => ({
      ...{ state, n },
      severity: severityOfRank(rank),
    })),
    counters: { ...figures.pipeline, reads: figures.reads },
    dbBytes: m.dbBytes,
    walBytes: m.walBytes,
    maxBytes: m.maxBytes,
  }
}
