/** What of a run its moments tell. */
import type { RunRow } from '../../../runs/queries.ts'

export type RunFacts = Pick<
  RunRow,
  | 'id'
  | 'agent'
  | 'woken_by'
  | 'trigger_name'
  | 'dispatch_id'
  | 'label'
  | 'entity'
  | 'depth'
  | 'rerun_of'
  | 'practice'
  | 'made_at'
  | 'started_at'
  | 'finished_at'
  | 'wakes'
  | 'rounds'
  | 'cost_usd'
  | 'uncosted_calls'
  | 'outcome'
  | 'verdict'
  | 'headline'
  | 'error'
  | 'event_id'
  | 'state'
> & {
  /** How often a stop of the service came in the middle of it. */
  resumed: number
}

export const RUN_COLUMNS = `r.id, r.agent, r.woken_by, r.trigger_name, r.dispatch_id, r.label, r.entity, r.depth, r.rerun_of,
  r.practice, r.made_at, r.started_at, r.finished_at, r.wakes, r.rounds, r.cost_usd, r.uncosted_calls, r.outcome,
  r.verdict, r.headline, r.error, r.event_id, r.state,
  coalesce(json_extract(r.snapshot, '$.context.resumes'), 0) AS resumed`
