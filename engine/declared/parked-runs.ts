/** Runs that wait because a model is not to be had, for whoever looks at how the instance is. */
import type { EngineStatus } from '../calls.ts'
import type { Database } from '../store/handle.ts'

interface ParkedRow {
  agent: string
  parked_since: number
  parked_until: number
  parked_why: string | null
}

const WHAT = 'r.agent, r.parked_since, r.parked_until, r.parked_why'
const ORDER = 'ORDER BY r.parked_until, r.seq'

/** Of all agents, practice included: it waits as well. Null: none does. */
export function parkedRuns(db: Database): EngineStatus['parked'] {
  return summed(
    db.prepare<[], ParkedRow>(`SELECT ${WHAT} FROM runs r WHERE r.state = 'parked' ${ORDER}`).all(),
  )
}

/** Of a project. @param project id */
export function parkedRunsOf(db: Database, project: string): EngineStatus['parked'] {
  return summed(
    db
      .prepare<[string], ParkedRow>(
        `SELECT ${WHAT} FROM runs r WHERE r.state = 'parked' AND r.practice = 0
           AND EXISTS (SELECT 1 FROM run_projects p WHERE p.project = ? AND p.run_id = r.id) ${ORDER}`,
      )
      .all(project),
  )
}

function summed(rows: readonly ParkedRow[]): EngineStatus['parked'] {
  const [next] = rows
  if (!next) return null
  const byAgent: Record<string, number> = {}
  for (const { agent } of rows) byAgent[agent] = (byAgent[agent] ?? 0) + 1
  return {
    runs: rows.length,
    since: Math.min(...rows.map(({ parked_since }) => parked_since)),
    until: next.parked_until,
    reason: next.parked_why ?? '',
    byAgent,
  }
}

/** "2 runs of agents wait for a model since 2026-11-23T01:00:00.000Z: overloaded; tried again at …". */
export function parkedSentence({ runs, since, until, reason }: NonNullable<EngineStatus['parked']>): string {
  const who = runs === 1 ? '1 run of an agent waits' : `${runs} runs of agents wait`
  const iso = (ms: number) => new Date(ms).toISOString()
  return `${who} for a model since ${iso(since)}: ${reason}; tried again at ${iso(until)}`
}
