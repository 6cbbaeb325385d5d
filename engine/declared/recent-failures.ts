/** How the last runs and deliveries went: what health is judged by. */
import { SCRIPTED_PROVIDER } from '../models/scripted.ts'
import { type FindingTold, findingsTold } from '../outbox/findings.ts'
import type { Database } from '../store/handle.ts'

/** What is older says nothing of how it goes now. */
const WINDOW_MS = 7 * 86_400_000
const RUNS_LOOKED_AT = 10

interface LastRun {
  agent: string
  /** Id of the newest that ended. */
  run: string
  state: string
  error: string | null
  /** How many failed one after the other, newest first; at most those looked at. */
  failed: number
  /** How its finding was told. */
  told: FindingTold
}

type Ended = Omit<LastRun, 'failed' | 'told'>

/** The last run of each agent of a project that ended within seven days, practice left out. */
export function lastRuns(db: Database, project: string, now: number): LastRun[] {
  const ended = db
    .prepare<{ project: string; since: number }, Ended>(
      `SELECT agent, run, state, error FROM (
         SELECT r.agent, r.id AS run, r.state, r.error, r.seq,
           row_number() OVER (PARTITION BY r.agent ORDER BY r.seq DESC) AS n
         FROM run_projects p JOIN runs r ON r.id = p.run_id
         WHERE p.project = @project AND r.finished_at > @since AND r.practice = 0 AND r.woken_by <> 'external'
           AND r.state NOT IN ('queued', 'running', 'parked', 'cancelled'))
       WHERE n <= ${RUNS_LOOKED_AT} ORDER BY agent, seq DESC`,
    )
    .all({ project, since: now - WINDOW_MS })
  const told = findingsTold(db)
  const byAgent = new Map<string, Ended[]>()
  for (const run of ended) byAgent.set(run.agent, [...(byAgent.get(run.agent) ?? []), run])
  return [...byAgent.values()].map((runs) => {
    const succeeded = runs.findIndex(({ state }) => !isFailure(state))
    return { ...runs[0]!, told: told(runs[0]!.run), failed: succeeded < 0 ? runs.length : succeeded }
  })
}

const isFailure = (state: string): boolean => state === 'failed' || state === 'empty'

interface FailingRecipient {
  masked: string
  reason: string | null
  disabled: boolean
}

/** Addresses subscribed to a project or its triggers whose last delivery within seven days failed. */
export function failingDeliveries(
  db: Database,
  project: string,
  triggers: readonly string[],
  now: number,
): FailingRecipient[] {
  const subscribed = db
    .prepare<[string, string], { id: string; masked: string; disabled_at: number | null }>(
      `SELECT id, masked, disabled_at FROM subscriptions WHERE removed_at IS NULL
         AND (project = ? OR (project IS NULL AND trigger_name IN (SELECT value FROM json_each(?))))
       ORDER BY created_at, id`,
    )
    .all(project, JSON.stringify(triggers))
  const newest = db.prepare<[string, number], { state: string; reason: string | null }>(
    `SELECT state, reason FROM deliveries WHERE recipient = ? AND made_at > ? AND state IN ('delivered', 'failed')
     ORDER BY seq DESC LIMIT 1`,
  )
  return subscribed.flatMap(({ id, masked, disabled_at }) => {
    const last = newest.get(id, now - WINDOW_MS)
    const disabled = disabled_at !== null
    return disabled || last?.state === 'failed' ? [{ masked, reason: last?.reason ?? null, disabled }] : []
  })
}

const INSTANCE_WINDOW_MS = 86_400_000
const INSTANCE_RUNS = 5
const INSTANCE_LEAST = 3

/** Why no agent of the instance gets anything done; null: some do, or too few were asked to tell. */
export function allRunsFail(db: Database, now: number): string | null {
  const runs = db
    .prepare<[number], { state: string; error: string | null }>(
      `SELECT state, error FROM runs WHERE finished_at > ? AND practice = 0 AND woken_by <> 'external' AND state <> 'cancelled'
       ORDER BY finished_at DESC LIMIT ${INSTANCE_RUNS}`,
    )
    .all(now - INSTANCE_WINDOW_MS)
  if (runs.length < INSTANCE_LEAST || !runs.every(({ state }) => isFailure(state))) return null
  return `the last ${runs.length} runs of agents failed: ${runs[0]!.error ?? 'no reason is recorded'}`
}

/** Whether the wiring of a project that runs wakes any agent that needs a model provider. */
export function wakesAnyAgent(db: Database): boolean {
  return (
    db
      .prepare(
        `SELECT 1 FROM projects p, json_each(p.spec, '$.wakes') t, json_each(t.value) a
         WHERE p.state NOT IN ('deleted', 'paused', 'draft') AND json_extract(a.value, '$.enabled')
           AND NOT EXISTS (SELECT 1 FROM agents g WHERE g.name = a.key AND g.state <> 'deleted'
             AND json_extract(g.spec, '$.provider') = ?) LIMIT 1`,
      )
      .get(SCRIPTED_PROVIDER) !== undefined
  )
}
