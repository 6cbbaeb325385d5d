/**
 * Storage in use against its limit (SPEC.md, Storage): SVC_MAX_DB_SIZE, else the volume's size.
 * At 95 % ingest is refused with 507 and admitted again below 93 %, so that it does not flap; a body
 * that would go past the limit itself is refused before it is stored.
 *
 * Counted is what data needs: pages freed by deletion are free, because they are written again before
 * the file grows, and the log is not counted, because what it holds are pages that are counted already.
 * Its bytes do count where the volume itself runs out; then it is folded into the data file first.
 */
import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { OpenStore } from './open.ts'

const REFUSE_PCT = 95
const ADMIT_PCT = 93
/** With less than this left on the volume, a checkpoint could fail half way. */
const RESERVE_BYTES = 32 * 1024 * 1024
/** Fewer free pages are kept: the next writes take them. */
const GIVEN_BACK_BYTES = 1024 * 1024
const MAX_AGE_MS = 1_000
/** The log is not folded for room more often than this. */
const FOLD_EVERY_MS = 10_000
/** Measured anew once what was admitted may have grown the data by this part of the limit. */
const GROWTH_PART = 0.005
/** Bytes of data that a byte of a body becomes: at first, and within which bounds it is learned. */
const GROWTH = { first: 3, least: 1.5, most: 30 }
/** A body up to this part of the limit that finds no room means that storage is full. */
const USUAL_PART = 0.2
/** A body must be this long to learn from, in bytes. */
const LEARN_FROM = 32_768

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
  /** Bytes of bodies admitted since the measurement. */
  private admitted = 0
  /** Bytes of data per byte of a body, learned from one measurement to the next. */
  private growth = GROWTH.first
  private refusing = false
  /** What a refused body would have needed: as long as there is no room for that, nothing is taken. */
  private wanted = 0
  private foldedAt = Number.NEGATIVE_INFINITY

  /**
   * @param maxDbSize bytes, or null for the volume's size.
   * @param told what `refusal` says, for others to see.
   */
  constructor(
    private readonly store: Pick<OpenStore, 'db' | 'file' | 'foldLog'>,
    private readonly maxDbSize: number | null,
    private readonly told: { refusal: string | null } = { refusal: null },
  ) {}

  /** Counts the bytes of a body that will be stored, so that a burst cannot outrun the measurement. */
  admit(bytes: number): void {
    this.admitted += bytes
  }

  /** Storage in use; at most a second old. @param now epoch ms. */
  measure(now: number): Measure {
    if (
      this.cached &&
      now - this.cached.at < MAX_AGE_MS &&
      now >= this.cached.at &&
      this.admitted * this.growth < GROWTH_PART * this.cached.measure.maxBytes
    )
      return this.cached.measure
    const measure = this.read()
    this.learn(measure)
    this.cached = { at: now, measure }
    this.admitted = 0
    return measure
  }

  /** Storage in use, measured anew: for retention, which must not act on a figure of before. */
  measureAnew(now: number): Measure {
    this.cached = null
    return this.measure(now)
  }

  /** Whether the volume runs out while the file has pages that nothing is on. @param now epoch ms */
  wantsRoom(now: number): boolean {
    const { diskFree, freeBytes } = this.measure(now)
    return diskFree < RESERVE_BYTES && freeBytes >= GIVEN_BACK_BYTES
  }

  /** Such pages were cut off: once there are no more the log is folded, and the file is as short as it can be. */
  gaveBack(now: number): void {
    this.cached = null
    if (!this.wantsRoom(now)) this.foldedAt = Number.NEGATIVE_INFINITY
  }

  /**
   * Why ingest is refused now, in a sentence, or null when it is not.
   * Not between `admit` and the commit, for what is admitted would be forgotten.
   */
  refusal(now: number): string | null {
    const reason = this.reasonAt(now)
    if (reason !== this.told.refusal) this.told.refusal = reason
    return reason
  }

  private reasonAt(now: number): string | null {
    if (this.measure(now).diskFree < RESERVE_BYTES) this.foldLog(now)
    const m = this.measure(now)
    if (m.pctUsed >= REFUSE_PCT) this.refusing = true
    else if (m.pctUsed < ADMIT_PCT && m.usedBytes + this.wanted < m.maxBytes) {
      this.refusing = false
      this.wanted = 0
    }
    if (m.diskFree < RESERVE_BYTES)
      return `the volume has ${megabytes(m.diskFree)} free, under the ${megabytes(RESERVE_BYTES)} a checkpoint needs; free some space`
    if (!this.refusing) return null
    const limit = m.maxBytesSource === 'env' ? 'SVC_MAX_DB_SIZE' : 'the volume'
    return `storage is at ${m.pctUsed} % of ${megabytes(m.maxBytes)} (${limit}); ingest is refused from ${REFUSE_PCT} % and taken again below ${ADMIT_PCT} %: purge a source, set retention, or raise SVC_MAX_DB_SIZE`
  }

  /**
   * Why a body cannot be stored although others are, in a sentence, or null when it can: with what was
   * admitted before it, it would go past the limit. Reckoned from the last measurement.
   * @param bytes length of the body.
   */
  refusalOf(bytes: number): string | null {
    const m = this.cached?.measure
    if (!m) return null
    if (m.usedBytes + (this.admitted + bytes) * this.growth < m.maxBytes) return null
    // One that is far too large says nothing about the others.
    if (bytes * this.growth <= USUAL_PART * m.maxBytes) {
      this.refusing = true
      this.wanted = bytes * this.growth
    }
    return `storage is at ${m.pctUsed} % of ${megabytes(m.maxBytes)}, and this request, which needs about ${megabytes(bytes * this.growth)}, would take it past the limit: send less at once, purge a source, set retention, or raise SVC_MAX_DB_SIZE`
  }

  private learn({ usedBytes }: Measure): void {
    if (!this.cached || this.admitted < LEARN_FROM) return
    const seen = (usedBytes - this.cached.measure.usedBytes) / this.admitted
    this.growth = Math.min(GROWTH.most, Math.max(GROWTH.least, (this.growth + seen) / 2))
  }

  private foldLog(now: number): void {
    if (now - this.foldedAt < FOLD_EVERY_MS) return
    this.foldedAt = now
    this.store.foldLog()
    this.cached = null
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
    const usedBytes = dbBytes - freeBytes
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
