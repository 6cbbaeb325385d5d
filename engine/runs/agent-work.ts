/** What agents did, for lists of them: two statements for all. */

import type { Agent } from '../../schemas/types.ts'
import { dollarsSql } from '../models/dollars.ts'
import type { Database } from '../store/handle.ts'

type Work = Pick<Agent, 'stats' | 'last_run'>

const NOTHING: Work['stats'] = {
  runs: 0,
  finished: 0,
  ok: 0,
  avg_duration_ms: null,
  cost_usd: 0,
  input_tokens: 0,
  output_tokens: 0,
  uncosted_runs: 0,
}

/** Practice is left out, and so are findings of outside agents. @returns by the agent's name */
export function workOfAgents(db: Database): (agent: string) => Work {
  const stats = new Map(
    db
      .prepare<[], Work['stats'] & { agent: string }>(
        `SELECT agent, count(*) AS runs, count(finished_at) AS finished, sum(state = 'succeeded') AS ok,
           CAST(avg(finished_at - started_at) AS INTEGER) AS avg_duration_ms, ${dollarsSql('sum(cost_usd)')} AS cost_usd,
           sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
           sum(uncosted_calls > 0) AS uncosted_runs
         FROM runs WHERE practice = 0 AND woken_by <> 'external' GROUP BY agent`,
      )
      .all()
      .map(({ agent, ...rest }) => [agent, rest]),
  )
  const last = new Map(
    db
      .prepare<[], { agent: string; id: string; status: string; made_at: number; seq: number }>(
        `SELECT agent, id, state AS status, made_at, max(seq) AS seq FROM runs
         WHERE practice = 0 AND woken_by <> 'external' GROUP BY agent`,
      )
      .all()
      .map(({ agent, id, status, made_at }) => [agent, { id, status, at: new Date(made_at).toISOString() }]),
  )
  return (agent) => ({ stats: stats.get(agent) ?? NOTHING, last_run: last.get(agent) ?? null })
}
