/**
 * Times of ingest: the wall clock, but never falling as ids grow, and never at or before an
 * instant some reader was already told about. That makes "as of" answers the same every time.
 */
import type { Clock } from '../clock.ts'
import { WriterState } from './writer-state.ts'

export class Stamp {
  /** @param floor nothing is stamped before it, epoch ms. @param state of the writer, which other threads see */
  constructor(
    private readonly clock: Clock,
    floor: number,
    private readonly state = new WriterState(),
  ) {
    state.raise(floor)
  }

  /** Time of ingest for what is stored now, epoch ms; inside the transaction that stores it. */
  next(): number {
    return this.state.stamp(this.clock.now())
  }

  /** Promises that nothing will be stamped at or before `instant` (epoch ms) any more; by the writer. */
  close(instant: number): void {
    this.state.raise(instant + 1)
  }
}
