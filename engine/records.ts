/**
 * Retention of what is recorded about events: firings with their deliveries, why events fired nothing,
 * incidents that are handled, runs with their steps (but for those that are an agent's examples, and their firings), proposals that were
 * decided and conversations with Ask go when they are older than events are kept. What they cost stays: usage
 * and budgets are of a lifetime.
 */
import type { StoreHandle } from './store/handle.ts'

/** Rows of each kind per transaction: a run has some ten steps. */
const CHUNK = 200
/** How often it is looked whether anything is old. */
const LOOK_MS = 60_000

export class Records {
  private lookAt = 0
  private readonly statements

  constructor(
    private readonly store: StoreHandle,
    /** Milliseconds; null: everything is kept. */
    private readonly maxAgeMs: number | null,
  ) {
    const { db } = store
    this.statements = [
      // What a recipient still waits for is not old.
      `DELETE FROM firings WHERE id IN (
         SELECT f.id FROM firings f WHERE f.last_at < ? AND f.state IN ('fired', 'dropped')
           AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.firing_id = f.id AND d.state IN ('pending', 'running'))
           AND f.id NOT IN (SELECT r.firing_id FROM agent_examples e JOIN runs r ON r.id = e.run_id
                            WHERE r.firing_id IS NOT NULL)
         ORDER BY f.id LIMIT ${CHUNK})`,
      `DELETE FROM incidents WHERE id IN (
         SELECT id FROM incidents WHERE state = 'handled' AND handled_at < ? ORDER BY handled_at LIMIT ${CHUNK})`,
      `DELETE FROM evaluations WHERE id IN (SELECT id FROM evaluations WHERE at < ? ORDER BY id LIMIT ${CHUNK})`,
      // With the deliveries of their findings.
      `DELETE FROM runs WHERE id IN (
         SELECT id FROM runs WHERE finished_at < ?
           AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.finding_of = runs.id AND d.state IN ('pending', 'running'))
           AND id NOT IN (SELECT run_id FROM agent_examples) ORDER BY finished_at LIMIT ${CHUNK})`,
      `DELETE FROM handoffs WHERE id IN (
         SELECT id FROM handoffs WHERE at < ? AND state <> 'started' LIMIT ${CHUNK})`,
      // What waits for a person is not old.
      `DELETE FROM proposals WHERE id IN (SELECT id FROM proposals WHERE decided_at < ? LIMIT ${CHUNK})`,
      `DELETE FROM ask_turns WHERE id IN (SELECT id FROM ask_turns WHERE finished_at < ? LIMIT ${CHUNK})`,
      `DELETE FROM ask_sessions WHERE updated_at < ?`,
    ].map((sql) => db.prepare<[number]>(sql))
  }

  /** Does one step. @param now epoch ms. @returns true when there is more to do at once */
  step(now: number): boolean {
    if (this.maxAgeMs === null || now < this.lookAt) return false
    const cutoff = now - this.maxAgeMs
    const removed = this.store.tx(() =>
      this.statements.reduce((sum, statement) => sum + statement.run(cutoff).changes, 0),
    )
    if (removed > 0) return true
    this.lookAt = now + LOOK_MS
    return false
  }
}
