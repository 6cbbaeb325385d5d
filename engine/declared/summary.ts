/** A project with what happened in it. */
import type { Project, ProjectToday, Run } from '../../schemas/types.ts'
import { type FindingsParts, todayOf } from '../findings/findings.ts'
import { findingsTold } from '../outbox/findings.ts'
import { presentRun } from '../runs/present.ts'
import { type RunRow, runQueries } from '../runs/queries.ts'
import type { Database } from '../store/handle.ts'
import { activities } from '../triggers/activity.ts'
import type { Declared } from './declared.ts'
import { projectNamed } from './project-writes.ts'

const LOG_MAX = 100
const RUNS_MAX = 20

export type ProjectSummary = Project & {
  log: { at: string; action: string; detail: string }[]
  /** Newest first, whatever they came to. */
  runs: Run[]
  runs_total: number
  sources: { name: string; last_event_at: string | null; events: number }[]
  triggers: { name: string; paused: boolean; last_fired: string | null }[]
  last_fired: string | null
  today: ProjectToday
}

/** @param id project id. */
export function summaryOf(declared: Declared, findings: FindingsParts, id: string): ProjectSummary {
  const project = projectNamed(declared, id)
  const { change_sets } = declared.changes.list({
    project: id,
    kind: null,
    key: null,
    before: null,
    limit: LOG_MAX,
  })
  const activityOf = activities(declared.store.db, declared.clock.now())
  const firedAt = (name: string) => activityOf(name).lastFired
  const names = (kind: string) =>
    project.objects.filter((o) => o.kind === kind && !o.missing).map((o) => o.name)
  return {
    ...project,
    log: change_sets.map(({ at, actor, origin, summary }) => ({
      at,
      action: origin,
      detail: `${summary} (${actor})`,
    })),
    ...runsOf(declared.store.db, id),
    sources: names('source').map((name) => {
      const row = declared.sources.store.queries.byName(name)
      const last = row?.last_ingest ?? null
      return {
        name,
        last_event_at: isoOrNull(last),
        events: row?.events ?? 0,
      }
    }),
    triggers: names('trigger').map((name) => ({
      name,
      paused: declared.kinds.trigger.find(name)?.doc.paused === true,
      last_fired: isoOrNull(firedAt(name)),
    })),
    last_fired: isoOrNull(
      names('trigger').reduce<number | null>((last, name) => later(last, firedAt(name)), null),
    ),
    today: todayOf(findings, id),
  }
}

/** Runs of a project, newest first, and how many there are. */
function runsOf(db: Database, project: string): { runs: Run[]; runs_total: number } {
  const { projectsOf } = runQueries(db)
  const told = findingsTold(db)
  const rows = db
    .prepare<[string, number], RunRow>(
      'SELECT r.* FROM run_projects p JOIN runs r ON r.id = p.run_id WHERE p.project = ? ORDER BY r.seq DESC LIMIT ?',
    )
    .all(project, RUNS_MAX)
  const total = db
    .prepare<[string], number>('SELECT count(*) FROM run_projects WHERE project = ?')
    .pluck()
    .get(project)!
  return { runs: rows.map((row) => presentRun(row, projectsOf.all(row.id), told(row.id))), runs_total: total }
}

const isoOrNull = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())
const later = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.max(a, b)
