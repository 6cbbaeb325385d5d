/** The SQL of findings. */
import type { Database } from '../store/handle.ts'

export interface FindingRow {
  run_id: string
  project: string
  agent: string
  entity: string
  label: string
  verdict: string | null
  headline: string | null
  next_step: string | null
  finding: string
  external: number
  at: number
  event_id: string
  handled_at: number | null
  handled_by: string | null
}

/** Narrows a list; null narrows nothing. `before` is epoch ms and a run id, as of the last row seen. */
export interface FindingFilter {
  project: string
  agent: string | null
  entity: string | null
  before_at: number | null
  before_id: string | null
  limit: number
}

export type FindingQueries = ReturnType<typeof findingQueries>

/** The statements of findings, prepared once. */
export function findingQueries(db: Database) {
  const insert = db.prepare<Omit<FindingRow, 'handled_at' | 'handled_by'>>(
    `INSERT INTO findings (run_id, project, agent, entity, label, verdict, headline, next_step, finding, external, at, event_id)
     VALUES (@run_id, @project, @agent, @entity, @label, @verdict, @headline, @next_step, @finding, @external, @at, @event_id)`,
  )
  const byRun = db.prepare<[string, string], FindingRow>(
    'SELECT * FROM findings WHERE project = ? AND run_id = ?',
  )
  const list = db.prepare<FindingFilter, FindingRow>(
    `SELECT * FROM findings WHERE project = @project
       AND (@agent IS NULL OR agent = @agent) AND (@entity IS NULL OR entity = @entity)
       AND (@before_at IS NULL OR (at, run_id) < (@before_at, @before_id))
     ORDER BY at DESC, run_id DESC LIMIT @limit`,
  )
  const since = db.prepare<[string, number], { found: number; looked_at: number }>(
    'SELECT count(*) AS found, count(DISTINCT entity) AS looked_at FROM findings WHERE project = ? AND at >= ?',
  )
  const handle = db.prepare(
    'UPDATE findings SET handled_at = ?, handled_by = ? WHERE project = ? AND run_id = ?',
  )
  return {
    insert: (row: Omit<FindingRow, 'handled_at' | 'handled_by'>) => insert.run(row),
    byRun: (project: string, runId: string) => byRun.get(project, runId),
    list: (filter: FindingFilter) => list.all(filter),
    since: (project: string, at: number) => since.get(project, at)!,
    /** @returns whether there is such a finding. */
    mark: (project: string, runId: string, at: number | null, by: string | null) =>
      handle.run(at, by, project, runId).changes === 1,
  }
}
