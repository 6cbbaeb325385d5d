/**
 * Findings that wait to be posted to Slack, on the writing connection. Rows of runs are the queue: they are
 * put in it in the transaction that ends the run, and what a stopped daemon did not post the next one does.
 */
import type { AgentSpec } from '../../schemas/types.ts'
import type { Clock } from '../clock.ts'
import type { RunRow } from '../runs/queries.ts'
import { openVariable, variableIn } from '../secret-variables.ts'
import type { StoreHandle } from '../store/handle.ts'
import { type FindingMessage, findingMessage } from './message/finding.ts'
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
  /** Of the message in the channel, once it is there. */
  ts: string | null
  /** Messages of the thread that are there. */
  parts: number
  /** Number of this try, from 1. */
  tries: number
  access: SlackAccess
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

  function postOf(row: RunRow & SlackRow): SlackPost {
    const then = JSON.parse(row.definition) as AgentSpec
    const now = agent(row.agent)
    // The agent as it is: a channel that was replaced gets what waits.
    const channel = now?.slack_channel || then.slack_channel || null
    return {
      runId: row.id,
      channel: row.slack_channel ?? channel,
      ...hookOf(channel === null ? now?.slack_webhook : undefined, env),
      message: findingMessage(foundOf(row), publicUrl),
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
