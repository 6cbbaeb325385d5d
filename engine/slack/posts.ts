/**
 * Findings that wait to be posted to Slack, on the writing connection. Rows of runs are the queue: they are
 * put in it in the transaction that ends the run, and what a stopped daemon did not post the next one does.
 */
import type { AgentSpec } from '../../schemas/types.ts'
import type { Clock } from '../clock.ts'
import { incidentQueries } from '../findings/incidents.ts'
import type { RunRow } from '../runs/queries.ts'
import { openVariable, variableIn } from '../secret-variables.ts'
import type { StoreHandle } from '../store/handle.ts'
import { type FindingMessage, findingMessage, type SlackGrowth } from './message/finding.ts'
import type { SlackAccess, SlackSettings } from './settings.ts'

/** A finding to be posted: credentials are in it, so it is not for doors. */
export interface SlackPost {
  runId: string
  /** Id of the channel; null: the address of an incoming webhook is used. */
  channel: string | null
  hook: string | null
  /** Why the address cannot be had; null: it can. */
  fault: string | null
  message: FindingMessage
  /** The message of an earlier finding of the same incident, which this one updates; null: it is a new one. */
  grows: SlackGrown | null
  /** Of the message in the channel, once it is there. */
  ts: string | null
  /** Messages of the thread that are there. */
  parts: number
  /** Number of this try, from 1. */
  tries: number
  access: SlackAccess
}

export interface SlackGrown {
  channel: string
  ts: string
  /** No finding of the incident had this verdict: the channel is told, too. */
  isOther: boolean
}

/** What came of a try. */
export interface SlackPosted {
  runId: string
  /** Null: it is tried again at `dueAt`, epoch ms. */
  outcome: 'ok' | 'failed' | null
  error: string | null
  dueAt: number | null
  /** What is there by now. */
  channel: string | null
  ts: string | null
  parts: number
}

export interface SlackPostPort {
  dueSlackPosts(limit: number, busy: readonly string[]): Promise<SlackPost[]>
  settleSlackPost(posted: SlackPosted): Promise<void>
  /** A message is there; the rest of the try is under way. */
  noteSlackPost(posted: Pick<SlackPosted, 'runId' | 'channel' | 'ts' | 'parts'>): Promise<void>
  /** Epoch ms; null: none waits. */
  nextSlackPost(): Promise<number | null>
}

export function slackPosts(parts: {
  store: StoreHandle
  clock: Clock
  settings: SlackSettings
  publicUrl: string | null
  /** The agent as it is, secrets in the clear; null: there is none of that name. */
  agent(name: string): AgentSpec | null
  /** What `${NAME}` refers to. */
  env: Readonly<Record<string, string | undefined>>
}): SlackPostPort {
  const { store, clock, settings, publicUrl, agent, env } = parts
  const { db } = store
  const due = db.prepare<[number, number], RunRow & SlackRow>(
    "SELECT * FROM runs WHERE slack = 'pending' AND slack_due_at <= ? ORDER BY slack_due_at LIMIT ?",
  )
  const posted = db.prepare<[string, string, number], RunRow & SlackRow>(
    `SELECT * FROM runs WHERE incident = ? AND agent = ? AND seq < ? AND practice = 0 AND slack = 'ok'
       AND slack_channel IS NOT NULL AND slack_ts <> '' ORDER BY seq DESC LIMIT 1`,
  )
  const incidents = incidentQueries(db)
  const next = db
    .prepare<[], number | null>("SELECT min(slack_due_at) FROM runs WHERE slack = 'pending'")
    .pluck()
  const note = db.prepare(
    'UPDATE runs SET slack_channel = @channel, slack_ts = @ts, slack_parts = @parts WHERE id = @runId',
  )
  const settle = db.prepare(
    `UPDATE runs SET slack = coalesce(@outcome, 'pending'), slack_error = @error, slack_due_at = @dueAt,
       slack_channel = @channel, slack_ts = @ts, slack_parts = @parts, slack_tries = slack_tries + 1
     WHERE id = @runId`,
  )

  /** The message that is there of the same incident and agent, in the channel it goes to. */
  function earlierOf(row: RunRow & SlackRow, channel: string): (RunRow & SlackRow) | null {
    const before = posted.get(row.incident, row.agent, row.seq)
    if (!before) return null
    const then = JSON.parse(before.definition) as AgentSpec
    const isThere = before.slack_channel === channel || then.slack_channel === channel
    // One that could not be updated was posted anew.
    return isThere && (row.slack_ts ?? before.slack_ts) === before.slack_ts ? before : null
  }

  function growthOf(
    row: RunRow,
    before: RunRow & SlackRow,
  ): { growth: SlackGrowth; isOther: boolean } | null {
    const grown = incidents.of(row.incident, null)
    if (!grown) return null
    const others = grown.notes.filter(({ run_id }) => run_id !== row.id)
    return {
      growth: {
        firstSeen: Date.parse(grown.first_seen),
        runs: grown.runs,
        findings: grown.findings,
        verdicts: grown.verdicts,
        before: before.slack_parts === 0 ? foundOf(before) : null,
      },
      isOther: row.verdict !== null && others.every(({ verdict }) => verdict !== row.verdict),
    }
  }

  function postOf(row: RunRow & SlackRow): SlackPost {
    const then = JSON.parse(row.definition) as AgentSpec
    const now = agent(row.agent)
    // The agent as it is: a channel that was replaced gets what waits.
    const channel = now?.slack_channel || then.slack_channel || null
    const before = channel === null ? null : earlierOf(row, channel)
    const grown = before && growthOf(row, before)
    return {
      runId: row.id,
      channel: row.slack_channel ?? channel,
      ...hookOf(channel === null ? now?.slack_webhook : undefined, env),
      message: findingMessage(foundOf(row), publicUrl, grown?.growth ?? null),
      grows:
        before && grown
          ? { channel: before.slack_channel!, ts: before.slack_ts!, isOther: grown.isOther }
          : null,
      ts: row.slack_ts,
      parts: row.slack_parts,
      tries: row.slack_tries + 1,
      access: settings.access(),
    }
  }

  return {
    dueSlackPosts: async (limit, busy) =>
      due
        .all(clock.now(), limit + busy.length)
        .filter(({ id }) => !busy.includes(id))
        .slice(0, limit)
        .map(postOf),
    settleSlackPost: async (posted) => void store.tx(() => settle.run(posted)),
    noteSlackPost: async (posted) => void store.tx(() => note.run(posted)),
    nextSlackPost: async () => next.get() ?? null,
  }
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

interface SlackRow {
  slack_channel: string | null
  slack_ts: string | null
  slack_parts: number
  slack_tries: number
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

const port: Record<keyof SlackPostPort, true> = {
  dueSlackPosts: true,
  settleSlackPost: true,
  noteSlackPost: true,
  nextSlackPost: true,
}

/** Names of the calls, for what passes them on to the writer thread. */
export const slackPostNames = Object.keys(port) as (keyof SlackPostPort)[]
