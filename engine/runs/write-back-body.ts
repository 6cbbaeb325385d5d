/** What is posted to the receiver of an agent's findings (reference: key and labels are the specification's). */
import { hasMaskedSecret } from '../address-secrets.ts'
import { storedClaims } from '../claims/check.ts'
import type { WriteBack } from '../outbox/senders/write-back.ts'
import { openVariable, variableIn } from '../secret-variables.ts'
import type { ReadContext } from '../timeline/context.ts'
import { parseEventId, presentRow } from '../timeline/present.ts'
import type { RunsParts } from './parts.ts'
import type { RunRow } from './queries.ts'

/**
 * The address and token are those of the agent as it is: a receiver that moved gets what waits.
 * @returns null: the run is gone
 */
export function writeBackOfRun(
  parts: Pick<RunsParts, 'agent' | 'firing' | 'env' | 'queries'>,
  ctx: ReadContext,
  run: string,
): WriteBack | null {
  const row = parts.queries.byId.get(run)
  if (!row) return null
  const then = JSON.parse(row.definition) as { webhook_url?: string; webhook_key_label?: string }
  const now = parts.agent(row.agent)
  const labels = labelsOf(parts, ctx, row)
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

/** Of the event that tripped the firing. */
function labelsOf(
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
