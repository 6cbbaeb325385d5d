/** Agents at work as callers see them: what is written, and the names of what is read. */
import type { AgentPreview, AgentSpec, RememberRequest, RerunResult } from '../../../schemas/types.ts'
import type { Caller } from '../../calls.ts'
import { fail } from '../../errors.ts'
import { atOnce } from '../../log/steps.ts'
import type { ReadContext } from '../../log/timeline/context.ts'
import { tokensOf } from '../../log/timeline/fit.ts'
import { parseEventId, presentRow } from '../../log/timeline/present.ts'
import { answerRead } from '../../log/timeline/read.ts'
import type { CredentialLookup } from '../../model/credentials.ts'
import { hasMaskedSecret } from '../../net/address-secrets.ts'
import { openVariable, variableIn } from '../../net/secrets.ts'
import { type GithubPost, githubPlaceOf } from '../../outbox/send-github.ts'
import type { WriteBack } from '../../outbox/send-webhook.ts'
import { storedClaims } from '../claims.ts'
import { createFinishing, createJournal } from './finishing.ts'
import type { Making } from './making.ts'
import { ownTools } from './own-tools.ts'
import { askedFirst } from './policy.ts'
import { concludeTool, type FirstView, firstMessage, renderRow, systemOf } from './prompt.ts'
import type { RunRow } from './queries.ts'
import { briefInSteps, type RunReads } from './run-reads.ts'
import { createParking, createStarting } from './starting.ts'
import type { RunPort, RunsParts, StartedRun } from './types.ts'

/** Who cancelled a run where nobody has to sign in. */
const NOBODY_KNOWN = 'somebody, without signing in'

interface Rerun {
  asOf: 'same' | 'now'
  practice: boolean
  tape?: boolean
  prompt?: string
  provider?: string
  model?: string
}

interface RunWrites
  extends Pick<RunPort, 'claimRuns' | 'recordSteps' | 'beginCall' | 'parkRun' | 'finishRun' | 'rememberFor'> {
  /** @throws SvcError not_found; wrong_state; conflict */
  rerun(run: string, how: Rerun): Promise<RerunResult>
  /** @throws SvcError not_found; wrong_state */
  cancelRun(run: string, by: Caller): Promise<{ ok: true }>
  /** What an agent would be told of a firing. @throws SvcError not_found */
  previewAgent(agent: string, dispatchId: string): Promise<AgentPreview>
}

export type RunCalls = RunWrites & RunReads

export function runWrites(
  parts: RunsParts & {
    making: Making
    ctx: ReadContext
    /** Row id of a firing. @throws SvcError not_found */
    firingId(dispatchId: string): { id: number; label: string | null; entity: string; project: string | null }
    remember(agent: string, request: RememberRequest, key: string): Promise<void>
  },
): RunWrites {
  const { clock, making, ctx } = parts
  const finishing = createFinishing(parts, making)
  const parking = createParking(parts, finishing)
  const starting = createStarting(parts, finishing)
  const journal = createJournal(parts, finishing)

  /** A run that never was, as it would be started now. */
  function supposed(agent: string, dispatchId: string): StartedRun {
    const definition = parts.agent(agent) ?? fail('not_found', `no agent is named ${agent}`)
    const { id, label, entity, project } = parts.firingId(dispatchId)
    const told = parts.firing(id, project)
    // As it was then: what was found since is not told.
    const then = told?.firing?.firedAt ?? clock.now()
    const row = {
      id: 'run_preview',
      agent,
      definition: JSON.stringify(definition),
      firing_id: id,
      dispatch_id: dispatchId,
      trigger_name: null,
      label: label ?? 'key',
      entity,
      root_run_id: 'run_preview',
      depth: 0,
      practice: 1,
      tape: 0,
      as_of: then,
      deadline_at: then,
    } as RunRow
    const run = starting.startedOf(row, [])
    return { ...run, origin: { ...run.origin, trigger: told?.trigger ?? null } }
  }

  return {
    claimRuns: async (limit, underWay) => starting.claimRuns(limit, underWay),
    recordSteps: async (run, steps) => journal.recordSteps(run, steps),
    beginCall: async (run, step, ceilingUsd) => journal.beginCall(run, step, ceilingUsd),
    parkRun: async (run, why) => parking.park(run, why),
    finishRun: (run, end, servers) => finishing.finishRun(run, end, servers),
    rerun: async (run, how) => {
      const again = making.repeat(run, how)
      parts.onPending()
      return { run_id: again, rerun_of: run }
    },
    cancelRun: async (run, by) => {
      finishing.cancelRun(run, by.isAnybody ? NOBODY_KNOWN : by.name)
      return { ok: true }
    },
    previewAgent: async (agent, dispatchId) => {
      const run = supposed(agent, dispatchId)
      const view = viewOf(ctx, run, clock.now())
      const system = systemOf(run)
      const { message } = firstMessage(run, view)
      const tools = [...ownTools(run), concludeTool(run.definition)]
      return {
        system,
        message,
        tools: tools.map(({ name, description }) => ({ name, description })),
        tokens: tokensOf(system) + tokensOf(message) + tokensOf(JSON.stringify(tools)),
      }
    },
    rememberFor: (agent, request, key) => parts.remember(agent, request, key),
  }
}

/** What a run would be shown, in the snapshot of the caller; a preview is of a firing. */
function viewOf(ctx: ReadContext, run: StartedRun, now: number): FirstView | null {
  const asked = run.origin.firing ? askedFirst(run) : null
  if (!asked) return null
  const { projects } = run
  if ('brief' in asked) return { brief: atOnce(briefInSteps(ctx, projects, asked.brief)) }
  const scope = projects.length ? { project: projects } : {}
  return { timeline: answerRead(ctx, { ...asked.timeline, ...scope }, now, undefined, renderRow) }
}

/* What is posted to the receiver of an agent's findings (reference: key and labels are the specification's). */

/**
 * The address and token are those of the agent as it is: a receiver that moved gets what waits.
 * @returns null: the run is gone
 */
export function writeBackOfRun(
  parts: Pick<RunsParts, 'agent' | 'eventLabels' | 'env' | 'queries'>,
  run: string,
): WriteBack | null {
  const row = parts.queries.byId.get(run)
  if (!row) return null
  const then = JSON.parse(row.definition) as { webhook_url?: string; webhook_key_label?: string }
  const now = parts.agent(row.agent)
  const labels = parts.eventLabels(row)
  const keyLabel = then.webhook_key_label
  const body = {
    event: 'finding',
    agent: row.agent,
    trigger: row.trigger_name,
    key: keyLabel && labels[keyLabel] !== undefined ? String(labels[keyLabel]) : row.entity,
    labels,
    finding: row.note ?? '',
    verdict: row.verdict,
    headline: row.headline,
    next_step: row.next_step,
    claims: storedClaims(row.claims),
    verified: row.verified_total === null ? null : { ok: row.verified_ok, total: row.verified_total },
    event_id: row.event_id,
    run_id: row.id,
    dispatch_id: row.dispatch_id,
    model: row.model,
    rounds: row.rounds,
    tool_calls: row.tool_calls,
    usage: {
      input_tokens: row.input_tokens,
      output_tokens: row.output_tokens,
      cache_creation_input_tokens: row.cache_creation_input_tokens,
      cache_read_input_tokens: row.cache_read_input_tokens,
    },
    cost_usd: row.uncosted_calls === 0 ? row.cost_usd : null,
    started_at: new Date(row.started_at!).toISOString(),
    finished_at: new Date(row.finished_at!).toISOString(),
    duration_s: (row.finished_at! - row.started_at!) / 1_000,
    prompt_hash: row.definition_hash,
  }
  const url = now?.webhook_url || then.webhook_url || ''
  const lost = hasMaskedSecret(url) ? 'webhook_url: the secret in it cannot be had; enter it again' : null
  const { token, fault } = tokenOf(now?.webhook_token || null, parts.env)
  return {
    kind: 'write_back',
    runId: row.id,
    url,
    token,
    fault: lost ?? fault,
    body: JSON.stringify(body),
  }
}

/** A token that refers to a variable is what the variable says, or a fault where it cannot be had. */
function tokenOf(given: string | null, env: RunsParts['env']): Pick<WriteBack, 'token' | 'fault'> {
  const variable = variableIn(given)
  const found = variable === null ? null : openVariable(variable, env)
  if (typeof found === 'string') return { token: null, fault: `webhook_token: ${found}` }
  return { token: found === null ? given : found.value, fault: null }
}

/** Labels of the event that tripped the firing of a run. */
export function eventLabelsOf(
  parts: Pick<RunsParts, 'firing'>,
  ctx: ReadContext,
  row: RunRow,
): Record<string, string | number> {
  const evidence = row.firing_id === null ? [] : (parts.firing(row.firing_id, null)?.firing?.evidence ?? [])
  const id = parseEventId(evidence[0] ?? '')
  const stored = id === null ? undefined : ctx.rows.read([id], false)[0]
  const labels = stored ? presentRow(stored, ctx.dictionary, ctx.names, stored.ts).labels : {}
  return { ...labels, [row.label]: row.entity }
}

/* What is written on GitHub of a finding. */

/**
 * What is written, with the credential of the agent as it is now. @returns null: the run is gone
 */
export function githubPostOfRun(
  parts: Pick<RunsParts, 'agent' | 'eventLabels' | 'queries'>,
  credentials: CredentialLookup,
  run: string,
): GithubPost | null {
  const row = parts.queries.byId.get(run)
  if (!row) return null
  const then = JSON.parse(row.definition) as AgentSpec
  const { github: name = then.github ?? '', github_writes: writes = [] } = parts.agent(row.agent) ?? then
  const place = githubPlaceOf(parts.eventLabels(row), writes)
  const credential = name === '' ? 'the agent names no credential of GitHub any more' : credentials.find(name)
  const fault = typeof credential === 'string' ? credential : place === null ? NO_PLACE : null
  const { check = 'neutral' } = then.verdicts?.find(({ verdict }) => verdict === row.verdict) ?? {}
  return {
    ...{ kind: 'github', runId: row.id, incident: row.incident, agent: row.agent, fault, writes },
    credential: typeof credential === 'string' ? null : credential,
    ...(place ?? { repo: '', number: null, sha: null }),
    ...{ verdict: row.verdict, headline: row.headline, nextStep: row.next_step, note: row.note ?? '' },
    verified: row.verified_total === null ? null : { ok: row.verified_ok ?? 0, total: row.verified_total },
    conclusion: check,
    startedAt: row.started_at!,
    finishedAt: row.finished_at!,
  }
}

const NO_PLACE = 'the agent writes nothing on GitHub any more, or its event names no place there'
