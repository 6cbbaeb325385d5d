/**
 * What other threads see of the writer without asking it: up to which instant nothing is stored any more, and
 * since when it gets nothing written. It lies in shared memory, so that neither a read nor /health waits for a
 * writer that waits itself.
 */
import type { Clock } from '../../clock.ts'

/** Nothing is stamped before it any more, epoch ms. */
const FLOOR = 0
/** What the transaction under way stores is stamped so, epoch ms; 0: nothing yet. */
const STAMPED = 1
/** At work since then without having written anything, epoch ms; 0: it is not at work. */
const AT_WORK = 2
const SLOTS = 3

export class WriterState {
  private readonly slots: BigInt64Array
  private isBlocked = false

  /** @param memory that other threads see too; its own when absent. */
  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(SLOTS * 8)) {
    this.slots = new BigInt64Array(memory)
  }

  get memory(): SharedArrayBuffer {
    return this.slots.buffer as SharedArrayBuffer
  }

  /** Nothing is stamped before this instant (epoch ms) any more. */
  get floor(): number {
    return this.get(FLOOR)
  }

  /**
   * Promises that nothing will be stamped at or before `instant` (epoch ms) any more; on any thread.
   * @returns whether it holds at once; otherwise it does once the transaction under way is over.
   */
  close(instant: number): boolean {
    this.raise(instant + 1)
    // Whoever stamps says so before it looks at the floor again: one of the two sees the other.
    const stamped = this.get(STAMPED)
    return stamped === 0 || stamped > instant
  }

  raise(floor: number): void {
    for (let seen = this.get(FLOOR); seen < floor; ) {
      const was = Number(Atomics.compareExchange(this.slots, FLOOR, BigInt(seen), BigInt(floor)))
      if (was === seen) return
      seen = was
    }
  }

  /**
   * Stamps what the transaction under way stores; by the writer, inside it.
   * @param now epoch ms. @returns epoch ms, never before the floor
   */
  stamp(now: number): number {
    for (;;) {
      const at = Math.max(this.floor, Math.trunc(now))
      // Of several in one transaction the first is the earliest.
      const isFirst = this.get(STAMPED) === 0
      if (isFirst) this.set(STAMPED, at)
      if (this.floor <= at) {
        this.raise(at)
        return at
      }
      if (isFirst) this.set(STAMPED, 0)
    }
  }

  /** The writer takes up work. @param now epoch ms */
  begin(now: number): void {
    if (this.get(AT_WORK) === 0) this.set(AT_WORK, now)
  }

  /** A transaction is over, whatever came of it. */
  over(): void {
    this.set(STAMPED, 0)
  }

  /** The file can be written: what the writer is at goes on. */
  wrote(now: number): void {
    this.isBlocked = false
    if (this.get(AT_WORK) !== 0) this.set(AT_WORK, now)
  }

  /** The file could not be written, for somebody else holds it. */
  blocked(): void {
    this.isBlocked = true
  }

  /** Whether the last that was to be written could not be. */
  get isHeld(): boolean {
    return this.isBlocked
  }

  /** The writer has nothing to do; one that could not write is at it still. */
  end(): void {
    if (!this.isBlocked) this.set(AT_WORK, 0)
  }

  /** For how long the writer has been at work without writing, ms; on any thread. @param now epoch ms */
  silence(now: number): number {
    const since = this.get(AT_WORK)
    return since === 0 ? 0 : Math.max(0, now - since)
  }

  private get(slot: number): number {
    return Number(Atomics.load(this.slots, slot))
  }

  private set(slot: number, value: number): void {
    Atomics.store(this.slots, slot, BigInt(Math.trunc(value)))
  }
}

/*
 * Times of ingest: the wall clock, but never falling as ids grow, and never at or before an
 * instant some reader was already told about. That makes "as of" answers the same every time.
 */

export class Stamp {
  /** The last that was given, epoch ms: no event that is stored has a later one. */
  newest: number

  /** @param floor nothing is stamped before it, epoch ms. @param state of the writer, which other threads see */
  constructor(
    private readonly clock: Clock,
    floor: number,
    private readonly state = new WriterState(),
  ) {
    this.newest = floor
    state.raise(floor)
  }

  /** Time of ingest for what is stored now, epoch ms; inside the transaction that stores it. */
  next(): number {
    this.newest = this.state.stamp(this.clock.now())
    return this.newest
  }

  /** Promises that nothing will be stamped at or before `instant` (epoch ms) any more; by the writer. */
  close(instant: number): void {
    this.state.raise(instant + 1)
  }
}
