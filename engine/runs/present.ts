/** Runs as they are answered. */

import type { AgentForecast, Run, RunDetail, RunHandoff, RunStep } from '../../schemas/types.ts'
import { maskAddresses } from '../address-secrets.ts'
import { storedClaims } from '../claims/check.ts'
import { presentMark } from '../findings/marks.ts'
import { acceptedIn } from '../lifecycle/advance.ts'
import { dollars } from '../models/dollars.ts'
import type { FindingTold } from '../outbox/findings.ts'
import type { HandoffRow, RunQueries, RunRow, StepRow } from './queries.ts'

const iso = (ms: number): string => new Date(ms).toISOString()
const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms))

/** @param told how its finding was told */
export function presentRun(row: RunRow, projects: string[], told: FindingTold): Run {
  const { context } = JSON.parse(row.snapshot) as { context: { max_rounds?: number } }
  const isCosted = row.uncosted_calls === 0 && row.rounds > 0
  return {
    id: row.id,
    agent: row.agent,
    status: row.state,
    // What the service does is not for people to ask for.
    accepts: acceptedIn('run', row.state).filter((event) => event === 'cancel'),
    woken_by: row.woken_by,
    trigger: row.trigger_name,
    dispatch_id: row.dispatch_id,
    key: row.entity,
    label: row.label,
    projects,
    parent_run_id: row.parent_run_id,
    root_run_id: row.root_run_id,
    depth: row.depth,
    rerun_of: row.rerun_of,
    practice: row.practice === 1,
    tape: row.tape === 1,
    definition_hash: row.definition_hash,
    wakes: row.wakes,
    made_at: iso(row.made_at),
    as_of: isoOrNull(row.as_of),
    started_at: isoOrNull(row.started_at),
    finished_at: isoOrNull(row.finished_at),
    duration_ms:
      row.finished_at === null || row.started_at === null ? null : row.finished_at - row.started_at,
    rounds: row.rounds,
    max_rounds: context.max_rounds ?? 0,
    tool_calls: row.tool_calls,
    skills: JSON.parse(row.skills) as string[],
    provider: row.provider || null,
    model: row.model,
    input_tokens: row.input_tokens,
    output_tokens: row.output_tokens,
    cache_creation_input_tokens: row.cache_creation_input_tokens,
    cache_read_input_tokens: row.cache_read_input_tokens,
    cost_usd: isCosted ? dollars(row.cost_usd) : null,
    cache_saved_usd: isCosted ? dollars(row.cache_saved_usd) : null,
    fallback_for: row.fallback === null ? null : (JSON.parse(row.fallback) as Run['fallback_for']),
    parked: parkedOf(row),
    cancelled_by: row.cancelled_by,
    outcome: row.outcome,
    verdict: row.verdict,
    headline: row.headline,
    next_step: row.next_step,
    finding: row.note,
    event_id: row.event_id,
    verified: row.verified_total === null ? null : { ok: row.verified_ok ?? 0, total: row.verified_total },
    error: row.error,
    ...told,
    handled: row.handled_at === null ? null : { at: iso(row.handled_at), by: row.handled_by ?? '' },
    mark: presentMark(row),
  }
}

function parkedOf({ state, parked_since, parked_until, parked_why, parked_times }: RunRow): Run['parked'] {
  if (state !== 'parked' || parked_since === null || parked_until === null) return null
  return { reason: parked_why ?? '', since: iso(parked_since), until: iso(parked_until), tries: parked_times }
}

/** @param incident what was found of its incident, with those of other runs */
export function presentRunDetail(
  queries: RunQueries,
  row: RunRow,
  told: (run: string) => FindingTold,
  incident: RunDetail['incident'],
): RunDetail {
  const present = (one: RunRow) => presentRun(one, queries.projectsOf.all(one.id), told(one.id))
  return {
    ...present(row),
    claims: storedClaims(row.claims),
    steps: queries.steps.all(row.id).map(presentStep),
    handoffs: queries.handoffsFrom.all(row.id).map(presentHandoff),
    chain: queries.chain
      .all(row.root_run_id, Number.MAX_SAFE_INTEGER)
      .filter((one) => one.practice === row.practice)
      .map(present),
    servers: JSON.parse(row.servers) as RunDetail['servers'],
    definition: shownDefinition(row),
    incident,
  }
}

/** Runs of older releases have the address of the receiver as it was entered. */
function shownDefinition(row: RunRow): Record<string, unknown> {
  const { webhook_url: url, ...definition } = JSON.parse(row.definition) as Record<string, unknown>
  return url === undefined ? definition : { ...definition, webhook_url: maskAddresses(url) }
}

function presentStep({ n, kind, round, at, ms, data }: StepRow): RunStep {
  return { n, kind: kind as RunStep['kind'], round, at: iso(at), ms, data: shown(JSON.parse(data)) }
}

/** A provider's own blocks are kept to be replayed, and say nothing more; of images the text names each. */
function shown(given: Record<string, unknown>): Record<string, unknown> {
  const { images: _images, ...data } = given
  const reply = data.reply as Record<string, unknown> | undefined
  if (!reply) return data
  const { raw: _raw, ...rest } = reply
  return { ...data, reply: rest }
}

function presentHandoff({ to_agent, verdict, state, to_run, at }: HandoffRow): RunHandoff {
  return { to_agent, verdict, state, to_run, at: iso(at) }
}

export interface Spend {
  runs: number
  priced: number
  cost: number
  /** Days the runs are counted over. */
  days: number
  /** Lifetime, what is reserved included. */
  spent: number
  budget: number | null
}

export function presentForecast({ runs, priced, cost, days, spent, budget }: Spend): AgentForecast {
  const perDay = runs / days
  const perRun = priced > 0 ? dollars(cost / priced) : null
  const daily = perRun === null ? null : dollars(perRun * perDay)
  return {
    runs_per_day: perDay,
    cost_per_run_usd: perRun,
    per_day_usd: daily,
    per_month_usd: daily === null ? null : dollars(daily * 30),
    spent_usd: dollars(spent),
    budget_usd: budget,
    days_left: budget === null || !daily ? null : Math.max(0, (budget - spent) / daily),
  }
}
