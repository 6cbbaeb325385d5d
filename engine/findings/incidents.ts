/**
 * Findings of one incident as one that grows: a projection of the rows of its runs, each of which stays a
 * finding of its own, with its event. Which runs are of one is runs/same-incident.ts.
 */
import type { FindingIncident } from '../../schemas/types.ts'
import type { Database } from '../store/handle.ts'
import { headlineOf } from './headline.ts'

const NOTES_MAX = 50

interface NoteRow {
  run_id: string
  event_id: string | null
  at: number
  agent: string
  entity: string
  verdict: string | null
  headline: string | null
  note: string | null
}

interface Counted {
  runs: number
  findings: number
  first: number
  last: number
}

/** @param projects those whose runs are told of, as a JSON list; null: all */
type Of = { incident: string; projects: string | null }

const OF = `FROM runs r WHERE r.incident = @incident AND r.practice = 0 AND (@projects IS NULL OR EXISTS (
  SELECT 1 FROM run_projects p WHERE p.run_id = r.id AND p.project IN (SELECT value FROM json_each(@projects))))`

/** The statements of a connection, prepared once. @returns what reads an incident as it grew */
export function incidentQueries(db: Database) {
  const counted = db.prepare<Of, Counted>(
    `SELECT count(*) AS runs, coalesce(sum(r.outcome = 'finding'), 0) AS findings,
       min(CASE WHEN r.outcome = 'finding' THEN r.finished_at END) AS first,
       max(CASE WHEN r.outcome = 'finding' THEN r.finished_at END) AS last ${OF} AND r.outcome IS NOT NULL`,
  )
  const verdicts = db
    .prepare<Of, string>(
      // Of chains: what an agent hands over with is no cause.
      `SELECT r.verdict ${OF} AND r.outcome = 'finding' AND r.verdict IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM runs l WHERE l.root_run_id = r.root_run_id AND l.seq > r.seq
           AND l.outcome = 'finding' AND l.practice = 0)
       GROUP BY r.verdict ORDER BY min(r.finished_at), min(r.seq)`,
    )
    .pluck()
  const notes = db.prepare<Of, NoteRow>(
    `SELECT r.id AS run_id, r.event_id, r.finished_at AS at, r.agent, r.entity, r.verdict, r.headline, r.note
     ${OF} AND r.outcome = 'finding' ORDER BY r.finished_at DESC, r.seq DESC LIMIT ${NOTES_MAX}`,
  )
  return {
    /** @param projects null: of all. @returns null: nothing was found of it */
    of: (incident: string, projects: readonly string[] | null): FindingIncident | null => {
      const of: Of = { incident, projects: projects && JSON.stringify(projects) }
      const { runs, findings, first, last } = counted.get(of)!
      if (findings === 0) return null
      return {
        id: incident,
        first_seen: iso(first),
        updated: iso(last),
        runs,
        findings,
        verdicts: verdicts.all(of),
        notes: notes.all(of).map(({ at, headline, note, ...row }) => ({
          ...row,
          at: iso(at),
          headline: headline ?? headlineOf(note ?? ''),
        })),
      }
    },
  }
}

const iso = (ms: number): string => new Date(ms).toISOString()
