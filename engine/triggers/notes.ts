/**
 * Why events fired, or did not, as records. Firings and errors are always kept, as long as their
 * firing; of every other reason at most PER_MINUTE of a trigger a minute, and of a trigger the newest
 * KEPT. What is not recorded is worked out again when it is asked for (explain, why.ts).
 */
import type { WhyRecord } from '../../schemas/types.ts'
import type { Database, Statement } from '../store/handle.ts'
import type { TriggerQueries } from './queries.ts'
import type { NoteFilter, Verdict } from './types.ts'

/** Of one trigger and reason. */
export const PER_MINUTE = 20
/** Of one trigger. */
export const KEPT = 2_000
const MINUTE_MS = 60_000
type Reason = WhyRecord['reason']
const ALWAYS: ReadonlySet<Reason> = new Set(['fired', 'no_subscriber', 'error'])

export class Notes {
  private minute = 0
  private counts = new Map<string, number>()
  /** Triggers with new records since they were last pruned. */
  private readonly grown = new Map<number, number>()
  private readonly pruneRows: Statement<[number, number, number]>

  constructor(
    db: Database,
    private readonly queries: TriggerQueries,
  ) {
    this.pruneRows = db.prepare(
      `DELETE FROM evaluations WHERE trigger_id = ? AND reason NOT IN ('fired', 'no_subscriber', 'error')
         AND id <= (SELECT id FROM evaluations WHERE trigger_id = ? AND reason NOT IN ('fired', 'no_subscriber', 'error')
                    ORDER BY id DESC LIMIT 1 OFFSET ?)`,
    )
  }

  /** Whether one more of this kind would be kept. */
  readonly wanted: NoteFilter = (triggerId, reason, at) => {
    if (ALWAYS.has(reason)) return true
    return (this.countsOf(at).get(`${triggerId} ${reason}`) ?? 0) < PER_MINUTE
  }

  /** Records what came of an event, if it is to be kept. */
  add(trigger: string, verdict: Verdict, dispatchId: string | null): void {
    const { triggerId, reason, at, eventId, ...detail } = verdict
    if (!ALWAYS.has(reason)) {
      const counts = this.countsOf(at)
      const key = `${triggerId} ${reason}`
      const n = counts.get(key) ?? 0
      if (n >= PER_MINUTE) return
      counts.set(key, n + 1)
      this.grown.set(triggerId, (this.grown.get(triggerId) ?? 0) + 1)
    }
    this.queries.note.run(triggerId, trigger, eventId, at, reason, dispatchId, JSON.stringify(detail))
  }

  /** Removes what is beyond the newest of each trigger that has grown; call inside a transaction. */
  prune(): void {
    for (const [triggerId, n] of this.grown) {
      if (n < PER_MINUTE) continue
      this.pruneRows.run(triggerId, triggerId, KEPT)
      this.grown.delete(triggerId)
    }
  }

  private countsOf(at: number): Map<string, number> {
    const minute = Math.floor(at / MINUTE_MS)
    if (minute !== this.minute) {
      this.minute = minute
      this.counts = new Map()
    }
    return this.counts
  }
}
