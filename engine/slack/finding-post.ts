/**
 * A finding as it is posted to Slack, on the writing connection: in the channel of the agent as it is, and as part
 * of the message of an earlier finding of the same incident where there is one.
 */
import type { AgentSpec } from '../../schemas/types.ts'
import { incidentQueries } from '../findings/incidents.ts'
import type { RunRow } from '../runs/queries.ts'
import { openVariable, variableIn } from '../secret-variables.ts'
import type { Database } from '../store/handle.ts'
import { type FindingMessage, findingMessage, type SlackGrowth } from './message/finding.ts'
import type { SlackAccess, SlackSettings } from './settings.ts'

/** What of a finding is in Slack by now. */
export interface SlackProgress {
  /** Id of the channel it is in. */
  channel: string | null
  /** Of the message in the channel, once it is there. */
  ts: string | null
  /** Messages of the thread that are there. */
  parts: number
}

/** A finding to be posted: credentials are in it, so it is not for doors. */
export interface SlackPost {
  kind: 'slack'
  runId: string
  /** Where it goes; null: the address of an incoming webhook is used. */
  channel: string | null
  hook: string | null
  /** Why the address cannot be had; null: it can. */
  fault: string | null
  message: FindingMessage
  /** The message of an earlier finding of the same incident, which this one updates; null: it is a new one. */
  grows: SlackGrown | null
  /** What of it is there by earlier tries; null: nothing. */
  there: SlackProgress | null
  access: SlackAccess
}

export interface SlackGrown {
  channel: string
  ts: string
  /** No finding of the incident had this verdict: the channel is told, too. */
  isOther: boolean
}

/** @returns what makes the post of a run's finding, or null where the run is gone */
export function slackPosts(parts: {
  db: Database
  settings: SlackSettings
  publicUrl: string | null
  /** The agent as it is, secrets in the clear; null: there is none of that name. */
  agent(name: string): AgentSpec | null
  /** What `${NAME}` refers to. */
  env: Readonly<Record<string, string | undefined>>
}): (runId: string, progress: SlackProgress | null) => SlackPost | null {
  const { db, settings, publicUrl, agent, env } = parts
  const byId = db.prepare<[string], RunRow>('SELECT * FROM runs WHERE id = ?')
  const posted = db.prepare<[string, string, number], RunRow & { progress: string }>(
    `SELECT r.*, d.progress FROM runs r JOIN deliveries d ON d.finding_of = r.id AND d.recipient_kind = 'slack'
     WHERE r.incident = ? AND r.agent = ? AND r.seq < ? AND r.practice = 0 AND d.state = 'delivered'
       AND d.progress ->> 'channel' IS NOT NULL AND d.progress ->> 'ts' <> '' ORDER BY r.seq DESC LIMIT 1`,
  )
  const incidents = incidentQueries(db)
  /** The message that is there of the same incident and agent, in the channel it goes to. */
  function earlierOf(row: RunRow, ts: string | null, channel: string): Earlier | null {
    const before = posted.get(row.incident, row.agent, row.seq)
    if (!before) return null
    const then = JSON.parse(before.definition) as AgentSpec
    const there = JSON.parse(before.progress) as Earlier['there']
    const isThere = there.channel === channel || then.slack_channel === channel
    // One that could not be updated was posted anew.
    return isThere && (ts ?? there.ts) === there.ts ? { row: before, there } : null
  }

  function growthOf(row: RunRow, before: Earlier): { growth: SlackGrowth; isOther: boolean } | null {
    const grown = incidents.of(row.incident, null)
    if (!grown) return null
    const others = grown.notes.filter(({ run_id }) => run_id !== row.id)
    return {
      growth: {
        firstSeen: Date.parse(grown.first_seen),
        runs: grown.runs,
        findings: grown.findings,
        verdicts: grown.verdicts,
        before: before.there.parts === 0 ? foundOf(before.row) : null,
      },
      isOther: row.verdict !== null && others.every(({ verdict }) => verdict !== row.verdict),
    }
  }

  return (runId, progress) => {
    const row = byId.get(runId)
    if (!row) return null
    const then = JSON.parse(row.definition) as AgentSpec
    const now = agent(row.agent)
    // The agent as it is: a channel that was replaced gets what waits.
    const channel = now?.slack_channel || then.slack_channel || null
    const before = channel === null ? null : earlierOf(row, progress?.ts ?? null, channel)
    const grown = before && growthOf(row, before)
    return {
      kind: 'slack',
      runId,
      channel: channel ?? progress?.channel ?? null,
      ...hookOf(channel === null ? now?.slack_webhook : undefined, env),
      message: findingMessage(foundOf(row), publicUrl, grown?.growth ?? null),
      grows:
        before && grown
          ? { channel: before.there.channel, ts: before.there.ts, isOther: grown.isOther }
          : null,
      there: progress,
      access: settings.access(),
    }
  }
}

/** A finding that is in Slack. */
interface Earlier {
  row: RunRow
  there: SlackProgress & { channel: string; ts: string }
}

/** The address of an incoming webhook; one that refers to a variable is what the variable says. */
function hookOf(
  given: string | null | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Pick<SlackPost, 'hook' | 'fault'> {
  const variable = variableIn(given)
  if (variable === null) return { hook: given ?? null, fault: null }
  const found = openVariable(variable, env)
  return typeof found === 'string'
    ? { hook: null, fault: `slack_webhook: ${found}` }
    : { hook: found.value, fault: null }
}

const foundOf = (row: RunRow) => ({
  runId: row.id,
  agent: row.agent,
  trigger: row.trigger_name,
  verdict: row.verdict,
  model: row.model,
  label: row.label,
  entity: row.entity,
  headline: row.headline,
  nextStep: row.next_step,
  note: row.note ?? '',
  at: row.finished_at ?? 0,
})
