/** Which agents loaded the skills of a project lately (SPEC.md, Skill: loaded_by, last 7 days). */
import type { Database } from '../store/handle.ts'

const WINDOW_MS = 7 * 86_400_000

/**
 * @param project id
 * @param now epoch ms
 * @returns names of agents whose runs for the project loaded a skill in the last seven days, sorted
 */
export function skillLoads(db: Database, project: string, now: number): (skill: string) => string[] {
  const rows = db
    .prepare<[string, number], { skill: string; agent: string }>(
      `SELECT DISTINCT s.value AS skill, r.agent FROM run_projects p JOIN runs r ON r.id = p.run_id,
         json_each(r.skills) s
       WHERE p.project = ? AND r.skills <> '[]' AND coalesce(r.finished_at, r.started_at) > ?
       ORDER BY r.agent`,
    )
    .all(project, now - WINDOW_MS)
  return (skill) => rows.flatMap((row) => (row.skill === skill ? [row.agent] : []))
}
