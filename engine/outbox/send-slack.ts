/**
 * Posts to Slack: firings to a subscribed channel, one message each; findings of agents as a message in the channel
 * with the whole note in its thread where it does not fit. Refusals that would come again are tried once; what may
 * pass is tried again, from the part that is missing; a thread that was deleted meanwhile is begun anew. A crash
 * between a post and its record repeats that message.
 */

import type { AgentSpec, FiringMessage } from '../../schemas/types.ts'
import { incidentQueries } from '../agents/finding-queries.ts'
import type { RunRow } from '../agents/runs/queries.ts'
import type { Database } from '../log/store/handle.ts'
import { slackChannelOf } from '../model/addresses.ts'
import { openVariable, variableIn } from '../net/secrets.ts'
import {
  interrupted,
  type Out,
  type Outcome,
  outcomeOf,
  outcomeOfRefusal,
  type Situation,
} from './send-webhook.ts'
import {
  INTERRUPTED,
  type SlackAccess,
  type SlackAnswer,
  type SlackApi,
  type SlackRefusal,
  type SlackSettings,
} from './slack-api.ts'
import {
  type FindingMessage,
  findingMessage,
  firingMessage,
  type SlackGrowth,
  type SlackMessage,
} from './slack-messages.ts'

/** How Slack is called, and with which token. */
export interface SlackAccounts {
  api: SlackApi
  access(): Promise<SlackAccess>
  /** Address of the console, for buttons. */
  publicUrl: string | null
}

interface SlackOut extends Out {
  slack: SlackAccounts
}

const HOOK_MS = 10_000

/** Nothing in a message is turned into a preview, and no name in it into a mention. */
const PLAIN = { unfurl_links: false, unfurl_media: false, link_names: false, parse: 'none' } as const

/** Posts a firing as one message. @param message the body of its delivery, JSON */
export async function sendFiring(
  { id, url, message }: { id: string; url: string; message: string },
  { slack, situation, signal }: SlackOut,
): Promise<Outcome> {
  const { text, blocks } = firingMessage(JSON.parse(message) as FiringMessage, slack.publicUrl)
  const said = await slack.api(
    'chat.postMessage',
    {
      ...{ channel: slackChannelOf(url), text, blocks, ...PLAIN },
      metadata: { event_type: 'svc_firing', event_payload: { delivery_id: id } },
    },
    await slack.access(),
    signal,
  )
  return outcomeOfSaid(said.ok ? null : said, situation())
}

type FindingOut = SlackOut & {
  /** A message is there. @returns false: that cannot be written down, so no other may follow */
  note(progress: SlackProgress): Promise<boolean>
}

/** Posts what of a finding is missing, as the bot; where the agent names no channel, to its incoming webhook. */
export async function sendFinding(post: SlackPost, out: FindingOut): Promise<Outcome> {
  if (post.channel === null) return viaHook(post, out)
  return outcomeOfSaid(await viaApi({ ...post, channel: post.channel }, out), out.situation())
}

/** @param refusal null: all of it is there */
function outcomeOfSaid(refusal: SlackRefusal | null, situation: Situation): Outcome {
  if (refusal?.code === INTERRUPTED) return interrupted
  return outcomeOfRefusal(refusal && { ...refusal, reason: refusal.error }, situation)
}

/** What was begun is gone on with by the next start. */
const CUT_OFF: SlackRefusal = {
  ...{ ok: false, code: INTERRUPTED, error: '', isFinal: false, retryAfterMs: null },
}

/** Slack's words for a thread, or its channel, that is no longer there to be gone on with. */
const THREAD_GONE = 'thread_not_found'
const CHANNEL_GONE = new Set(['channel_not_found', 'is_archived', 'not_in_channel'])

const NOTHING_THERE: SlackProgress = { channel: null, ts: null, parts: 0 }

/** @returns null: all of it is there */
async function viaApi(post: SlackPost & { channel: string }, out: FindingOut): Promise<SlackRefusal | null> {
  const { channel, there } = post
  const refusal = await postFrom(there ?? NOTHING_THERE, post, out)
  const isGone =
    refusal?.code === THREAD_GONE ||
    (refusal !== null && CHANNEL_GONE.has(refusal.code) && there !== null && there.channel !== channel)
  // Who deleted what was there deleted half a message: all of it is posted anew, where findings go now.
  return isGone ? postFrom(NOTHING_THERE, { ...post, grows: null }, out) : refusal
}

/** Posts what is missing. @returns null: all of it is there */
async function postFrom(
  begun: SlackProgress,
  post: SlackPost & { channel: string },
  out: FindingOut,
): Promise<SlackRefusal | null> {
  const { slack, note, signal } = out
  const there = { ...begun, channel: begun.channel ?? post.channel }
  const say = (message: SlackMessage, thread: string | null, more: object = {}) =>
    slack.api(
      'chat.postMessage',
      { ...bodyOf(post, message, there.channel, thread), ...more },
      post.access,
      signal,
    )
  const updated = await update(post, out)
  if (updated !== null && !updated.ok && !GONE.has(updated.code)) return updated
  if (updated?.ok && there.ts === null) {
    Object.assign(there, { channel: post.grows!.channel, ts: post.grows!.ts })
    if (!(await note({ ...there }))) return CUT_OFF
  }
  if (there.ts === null) {
    const said = await say(post.message.first, null)
    if (!said.ok) return said
    const { ts: posted, channel: id } = said.body
    there.ts = typeof posted === 'string' ? posted : ''
    if (typeof id === 'string') there.channel = id
    if (!(await note({ ...there }))) return CUT_OFF
  }
  for (const message of post.message.thread.slice(there.parts)) {
    // An edit of a message tells nobody.
    const isTold = updated?.ok && post.grows?.isOther && there.parts === post.message.thread.length - 1
    const said = await say(message, there.ts, isTold ? { reply_broadcast: true } : {})
    if (!said.ok) return said
    there.parts++
    if (!(await note({ ...there }))) return CUT_OFF
  }
  return null
}

/** Of a message that cannot be updated any more: another is posted. */
const GONE = new Set(['message_not_found', 'cant_update_message', 'edit_window_closed', 'channel_not_found'])

/**
 * Updates the message of an earlier finding of the incident; again on each try, which changes nothing.
 * @returns null: there is none
 */
async function update(post: SlackPost, { slack, signal }: FindingOut): Promise<SlackAnswer | null> {
  if (post.grows === null) return null
  const { channel, ts } = post.grows
  return slack.api(
    'chat.update',
    { ...bodyOf(post, post.message.first, channel, null), ts },
    post.access,
    signal,
  )
}

const bodyOf = (post: SlackPost, { text, blocks }: SlackMessage, channel: string, thread: string | null) => ({
  ...{ channel, text, blocks, ...PLAIN },
  metadata: { event_type: 'svc_finding', event_payload: { run_id: post.runId } },
  ...(thread === null ? {} : { thread_ts: thread }),
})

/** An incoming webhook has no threads: the message is all there is. */
async function viaHook(
  { hook, fault, message }: SlackPost,
  { egress, situation, signal }: FindingOut,
): Promise<Outcome> {
  if (fault !== null) return outcomeOfRefusal({ reason: fault, isFinal: true }, situation())
  if (hook === null)
    return outcomeOfRefusal(
      { reason: 'the agent names no channel of Slack any more', isFinal: true },
      situation(),
    )
  const answer = await egress.send({
    url: hook,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...message.first, unfurl_links: false, unfurl_media: false }),
    audience: 'operator',
    timeoutMs: HOOK_MS,
    maxResponseBytes: 0,
    signal,
  })
  const outcome = outcomeOf(answer, situation())
  const event = outcome.event === 'gone' ? 'refuse' : outcome.event
  if (event === 'acknowledge' || event === 'interrupted') return outcome
  const reason = answer.ok
    ? `the Slack webhook answered ${answer.status}`
    : `the Slack webhook cannot be reached: ${answer.message}`
  return { ...outcome, event, reason }
}

/*
 * A finding as it is posted to Slack, on the writing connection: in the channel of the agent as it is, and as part
 * of the message of an earlier finding of the same incident where there is one.
 */

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

interface SlackGrown {
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
