/**
 * Times of ingest: the wall clock, but never falling as ids grow, and never at or before an
 * instant some reader was already told about. That makes "as of" answers the same every time.
 */
import type { Clock } from '../clock.ts'

export class Stamp {
  constructor(
    private readonly clock: Clock,
    private floor: number,
  ) {}

  /** Time of ingest for what is stored now, epoch ms. */
  next(): number {
    this.floor = Math.max(this.floor, this.clock.now())
    return this.floor
  }

  /** Promises that nothing will be stamped at or before `instant` (epoch ms) any more. */
  close(instant: number): void {
    this.floor = Math.max(this.floor, instant + 1)
  }
}
