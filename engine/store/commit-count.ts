/**
 * Counts commits in the data file, in the transaction itself, and tells the witness beside it after
 * each. A transaction that changes nothing is not counted: counting it would make it one that writes.
 */
import type { Database, Statement } from './handle.ts'
import { Witness } from './witness.ts'

export class CommitCount {
  private n: number
  private changesBefore = 0
  private isCounted = false
  private readonly changes: Statement<[], number>
  private readonly update: Statement<[number]>
  private readonly lastEvent: Statement<[], number | null>
  private readonly witness: Witness

  /** @param incarnation of the data file, by which the witness knows it. */
  constructor(db: Database, file: string, incarnation: string) {
    this.changes = db.prepare('SELECT total_changes()').pluck() as Statement<[], number>
    this.update = db.prepare('UPDATE commits SET n = ?')
    this.lastEvent = db.prepare('SELECT max(id) FROM events').pluck() as Statement<[], number | null>
    this.n = db.prepare('SELECT n FROM commits').pluck().get() as number
    this.witness = new Witness(file, incarnation, this.n, this.lastEvent.get() ?? 0)
  }

  /** First of an outermost transaction. */
  begin(): void {
    this.isCounted = false
    this.changesBefore = this.changes.get()!
  }

  /** Last of an outermost transaction. */
  beforeCommit(): void {
    if (this.changes.get() === this.changesBefore) return
    this.update.run(this.n + 1)
    this.isCounted = true
  }

  /** After COMMIT. */
  committed(): void {
    if (!this.isCounted) return
    this.isCounted = false
    this.n++
    this.witness.committed(this.n, this.lastEvent.get() ?? 0)
  }

  /** After a clean stop: the data file is complete by itself. */
  close(): void {
    this.witness.remove()
  }

  /** After a stop whose log could not be copied: the next start looks whether all of it is there. */
  leave(): void {
    this.witness.leave()
  }
}
