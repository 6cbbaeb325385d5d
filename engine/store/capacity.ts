/**
 * Storage in use against its limit (SPEC.md, Storage): SVC_MAX_DB_SIZE, else the volume's size.
 * At 95 % ingest is refused with 507 and admitted again below 93 %, so that it does not flap.
 * Pages freed by deletion count as free, because they are written again before the file grows.
 */
import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { OpenStore } from './open.ts'

const REFUSE_PCT = 95
const ADMIT_PCT = 93
/** With less than this left on the volume, a checkpoint could fail half way. */
const RESERVE_BYTES = 32 * 1024 * 1024
const MAX_AGE_MS = 1_000

export interface Measure {
  dbBytes: number
  walBytes: number
  freeBytes: number
  usedBytes: number
  maxBytes: number
  maxBytesSource: 'env' | 'volume'
  diskTotal: number
  diskFree: number
  /** Percent of the limit in use, two decimals. */
  pctUsed: number
}

export class Capacity {
  private cached: { at: number; measure: Measure } | null = null
  private admitted = 0
  private refusing = false

  /** @param maxDbSize bytes, or null for the volume's size. */
  constructor(
    private readonly store: OpenStore,
    private readonly maxDbSize: number | null,
  ) {}

  /** Counts bytes admitted since the last measurement, so a burst cannot outrun it. */
  admit(bytes: number): void {
    this.admitted += bytes
  }

  /** Storage in use; at most a second old. @param now epoch ms. */
  measure(now: number): Measure {
    if (
      this.cached &&
      now - this.cached.at < MAX_AGE_MS &&
      now >= this.cached.at &&
      this.admitted < RESERVE_BYTES / 8
    )
      return this.cached.measure
    const measure = this.read()
    this.cached = { at: now, measure }
    this.admitted = 0
    return measure
  }

  /** Storage in use, measured anew: for retention, which must not act on a figure of before. */
  measureAnew(now: number): Measure {
    this.cached = null
    return this.measure(now)
  }

  /** Why ingest is refused now, in a sentence, or null when it is not. */
  refusal(now: number): string | null {
    const m = this.measure(now)
    if (m.pctUsed >= REFUSE_PCT) this.refusing = true
    else if (m.pctUsed < ADMIT_PCT) this.refusing = false
    if (m.diskFree < RESERVE_BYTES)
      return `the volume has ${megabytes(m.diskFree)} free, under the ${megabytes(RESERVE_BYTES)} a checkpoint needs; free some space`
    if (!this.refusing) return null
    const limit = m.maxBytesSource === 'env' ? 'SVC_MAX_DB_SIZE' : 'the volume'
    return `storage is at ${m.pctUsed} % of ${megabytes(m.maxBytes)} (${limit}); ingest is refused from ${REFUSE_PCT} % and taken again below ${ADMIT_PCT} %: purge a source, set retention, or raise SVC_MAX_DB_SIZE`
  }

  private read(): Measure {
    const { db, file } = this.store
    const pageSize = db.pragma('page_size', { simple: true }) as number
    const dbBytes = (db.pragma('page_count', { simple: true }) as number) * pageSize
    const freeBytes = (db.pragma('freelist_count', { simple: true }) as number) * pageSize
    const walBytes = file ? sizeOf(`${file}-wal`) : 0
    const volume = file ? statfsSync(dirname(file)) : null
    const diskTotal = volume ? volume.blocks * volume.bsize : Number.MAX_SAFE_INTEGER
    const diskFree = volume ? volume.bavail * volume.bsize : Number.MAX_SAFE_INTEGER
    const maxBytes = this.maxDbSize ?? diskTotal
    const usedBytes = dbBytes - freeBytes + walBytes
    const pctUsed = Math.round((usedBytes / maxBytes) * 10_000) / 100
    return {
      dbBytes,
      walBytes,
      freeBytes,
      usedBytes,
      maxBytes,
      maxBytesSource: this.maxDbSize === null ? 'volume' : 'env',
      diskTotal,
      diskFree,
      pctUsed,
    }
  }
}

/** Stat only: opening a database file by another way would drop its locks. */
function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

function megabytes(bytes: number): string {
  return bytes >= 10e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${(bytes / 1e6).toFixed(1)} MB`
}
