/**
 * Firings and runs of a project that is deleted with what it recorded: they go in the transaction of the
 * delete. What runs cost stays, since usage and budgets are of a lifetime.
 */
import type { Database } from '../store/handle.ts'

/**
 * Removes the firings of triggers, with their deliveries and what was noted of them, and the runs that
 * are of no other project that is there. Runs that wait or are at work, and those that are examples of an agent, stay;
 * so do the firings of these, which its tests are told of.
 * @param triggers ids of the triggers that were deleted
 * @returns how many firings and runs are gone
 */
export function purgeRecords(
  db: Database,
  project: string,
  triggers: readonly number[],
): { firings: number; runs: number } {
  const ids = JSON.stringify(triggers)
  const firings = db
    .prepare<[string]>(
      `DELETE FROM firings WHERE trigger_id IN (SELECT value FROM json_each(?))
         AND id NOT IN (SELECT r.firing_id FROM agent_examples e JOIN runs r ON r.id = e.run_id
                        WHERE r.firing_id IS NOT NULL)`,
    )
    .run(ids).changes
  for (const table of TRIGGER_TABLES)
    db.prepare<[string]>(`DELETE FROM ${table} WHERE trigger_id IN (SELECT value FROM json_each(?))`).run(ids)
  const isPurged = `state NOT IN ('queued', 'running', 'parked') AND id NOT IN (SELECT run_id FROM agent_examples)
    AND id IN (SELECT run_id FROM run_projects WHERE project = @project)
    AND id NOT IN (SELECT run_id FROM run_projects WHERE project <> @project
      AND project IN (SELECT id FROM projects WHERE state <> 'deleted'))`
  const values = { project }
  db.prepare<typeof values>(
    `DELETE FROM handoffs WHERE state <> 'started' AND from_run IN (SELECT id FROM runs WHERE ${isPurged})`,
  ).run(values)
  const runs = db.prepare<typeof values>(`DELETE FROM runs WHERE ${isPurged}`).run(values).changes
  return { firings, runs }
}

/** What triggers remember of their events beside firings. */
const TRIGGER_TABLES = [
  'active_keys',
  'watched_keys',
  'key_bases',
  'trigger_schedules',
  'evaluations',
] as const
