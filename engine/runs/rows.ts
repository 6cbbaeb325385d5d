/** Runs, their steps and handoffs as they are stored. */
import type { Run } from '../../schemas/types.ts'
import type { MarkRow } from '../findings/queries.ts'

export interface RunRow extends MarkRow {
  id: string
  seq: number
  agent: string
  /** JSON of the agent's spec as it was; secrets are references or absent. */
  definition: string
  definition_hash: string
  woken_by: 'trigger' | 'schedule' | 'handoff' | 'rerun' | 'practice' | 'test' | 'manual' | 'external'
  trigger_name: string | null
  firing_id: number | null
  dispatch_id: string | null
  label: string
  entity: string
  parent_run_id: string | null
  root_run_id: string
  depth: number
  rerun_of: string | null
  practice: number
  /** 1: answered by the tape of the run it repeats. */
  tape: number
  made_at: number
  as_of: number | null
  started_at: number | null
  finished_at: number | null
  deadline_at: number | null
  wakes: number
  rounds: number
  tool_calls: number
  provider: string | null
  model: string | null
  input_tokens: number
  output_tokens: number
  cache_creation_input_tokens: number
  cache_read_input_tokens: number
  cost_usd: number
  uncosted_calls: number
  /** Of the call under way. */
  reserved_usd: number
  /** Of calls that were cut off: what they may have cost. */
  assumed_usd: number
  assumed_at: number | null
  /** Epoch ms of the first fault since a reply; null: its model answers. */
  parked_since: number | null
  /** Epoch ms, as is when it is tried again. */
  parked_until: number | null
  parked_why: string | null
  /** Since a reply. */
  parked_times: number
  cancelled_by: string | null
  cache_saved_usd: number
  /** JSON of `fallbackFor` of the last reply. */
  fallback: string | null
  outcome: 'finding' | 'no_op' | null
  verdict: string | null
  headline: string | null
  next_step: string | null
  note: string | null
  claims: string | null
  verified_ok: number | null
  verified_total: number | null
  event_id: string | null
  error: string | null
  results: string
  servers: string
  /** JSON list: skills it loaded, in order. */
  skills: string
  handled_at: number | null
  handled_by: string | null
  /** Which runs are of one is same-incident.ts. */
  incident: string
  wake_key: string | null
  /** Epoch ms of the last firing it answers. */
  woke_at: number | null
  snapshot: string
  state: Run['status']
  version: number
}

/** A run that waits, as its index has it. */
export type WaitingRow = Pick<RunRow, 'seq' | 'agent' | 'definition_hash' | 'label' | 'entity' | 'practice'>

export interface StepRow {
  run_id: string
  n: number
  kind: string
  round: number
  at: number
  ms: number | null
  data: string
}

export interface HandoffRow {
  id: string
  from_run: string
  from_agent: string
  to_agent: string
  verdict: string
  label: string
  entity: string
  projects: string
  at: number
  to_run: string | null
  snapshot: string
  state: string
}
