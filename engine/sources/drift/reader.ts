/** Coverage of live sources, remembered until new events come: what is looked at often must cost little. */
import type { SourceQueries } from '../queries.ts'
import { type Carried, type Coverage, coverageOf, LOOKED_AT } from './coverage.ts'

/** What a page shows that asks every few seconds may be this old. */
const STALE_MS = 15_000
/** What is only shown is read for so many sources a second: an instance may have thousands. */
const SHOWN_PER_SECOND = 5

interface Known {
  coverage: Coverage | null
  events: number
  at: number
}

export interface CoverageParts {
  queries: Pick<SourceQueries, 'byName'>
  /** Newest events of a source. */
  carried(sourceId: number, limit: number): Carried[]
  clock: { now(): number }
}

export class CoverageReader {
  private readonly known = new Map<number, Known>()
  /** Reads for what is shown, in this second. */
  private shown = { second: 0, count: 0 }

  constructor(private readonly parts: CoverageParts) {}

  /**
   * @param fresh of the events as they are now; else as they were some seconds ago.
   * @returns null where the source is not there or has no events.
   */
  of(name: string, fresh: boolean): Coverage | null {
    const row = this.parts.queries.byName(name)
    if (!row) return null
    const now = this.parts.clock.now()
    const known = this.known.get(row.id)
    if (known && (known.events === row.events || (!fresh && now - known.at < STALE_MS))) return known.coverage
    if (!fresh && row.events > 0 && !this.mayShow(now)) return known?.coverage ?? null
    const coverage = row.events === 0 ? null : coverageOf(this.parts.carried(row.id, LOOKED_AT))
    this.known.set(row.id, { coverage, events: row.events, at: now })
    return coverage
  }

  private mayShow(now: number): boolean {
    const second = Math.floor(now / 1_000)
    if (this.shown.second !== second) this.shown = { second, count: 0 }
    return ++this.shown.count <= SHOWN_PER_SECOND
  }
}
