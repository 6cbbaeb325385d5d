/**
 * Posts to Slack: firings to a subscribed channel, one message each; findings of agents as a message in the channel
 * with the whole note in its thread where it does not fit. Refusals that would come again are tried once; what may
 * pass is tried again, from the part that is missing; a thread that was deleted meanwhile is begun anew. Before a message
 * is posted again whose try was cut off it is looked for in Slack by its metadata, where the bot may read the channel.
 */

import type { AgentSpec, FiringMessage } from '../../schemas/types.ts'
import { incidentQueries } from '../agents/finding-queries.ts'
import type { RunRow } from '../agents/runs/queries.ts'
import type { Database } from '../log/store/handle.ts'
import { slackChannelOf } from '../model/credentials.ts'
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
  digestOf,
  type FindingMessage,
  findingMessage,
  firingMessage,
  type IncidentCard,
  type SlackGrowth,
  type SlackMessage,
  withIncident,
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

/** Where a firing is posted. */
export interface SlackPlace {
  /** Of its incident, in the channel; null: there is none yet. */
  thread: { channel: string; ts: string } | null
  /** Null: it is of no incident. */
  card: IncidentCard | null
  /** A try before was cut off, or not answered: the message may be there. */
  isUnsure: boolean
  /** Epoch ms since when it may be. */
  since: number
}

/** A message that is there. */
export interface SlackPlaced {
  /** Id of the channel. */
  channel: string
  /** As it was addressed. */
  address: string
  ts: string
  /** Of the message whose thread it is in; null: it heads one. */
  thread: string | null
  /** What heads the thread, without where its incident stands. */
  base: SlackMessage
  /** Digest of it as it was posted. */
  shown: string | null
}

type FiringOut = SlackOut & {
  place(): Promise<SlackPlace>
  /** It is there. @returns false: that cannot be written down */
  placed(at: SlackPlaced): Promise<boolean>
}

/**
 * Posts a firing as one message: the first of an incident in a channel heads its thread, those after it are in there.
 * @param message the body of its delivery, JSON
 */
export async function sendFiring(
  { id, url, message }: { id: string; url: string; message: string },
  { slack, situation, signal, place, placed }: FiringOut,
): Promise<Outcome> {
  const base = firingMessage(JSON.parse(message) as FiringMessage, slack.publicUrl)
  const { thread, card, isUnsure, since } = await place()
  const address = slackChannelOf(url) ?? ''
  const access = await slack.access()
  const heads = card === null ? base : withIncident(base, card)
  const metadata = { event_type: 'svc_firing', event_payload: { delivery_id: id } }
  const post = async (to: SlackPlace['thread']): Promise<SlackAnswer> => {
    const where = { channel: to?.channel ?? address, thread: to?.ts ?? null, since }
    const there = isUnsure ? await findPosted(where, { delivery_id: id }, { slack, access, signal }) : []
    if ('ok' in there) return there
    if (there[0]) return { ok: true, body: { channel: where.channel, ts: there[0].ts } }
    const { text, blocks } = to === null ? heads : base
    const body = { channel: where.channel, text, blocks, ...PLAIN, metadata }
    return slack.api('chat.postMessage', { ...body, ...(to ? { thread_ts: to.ts } : {}) }, access, signal)
  }
  let to = thread
  let said = await post(to)
  if (!said.ok && to !== null && (said.code === THREAD_GONE || CHANNEL_GONE.has(said.code))) {
    to = null
    said = await post(to)
  }
  if (!said.ok) return outcomeOfSaid(said, situation())
  const { channel, ts } = said.body
  const at = { address, thread: to?.ts ?? null, base, shown: digestOf(heads) }
  const isNoted = await placed({
    ...at,
    channel: typeof channel === 'string' ? channel : address,
    ts: typeof ts === 'string' ? ts : '',
  })
  return outcomeOfSaid(isNoted ? null : CUT_OFF, situation())
}

const CHANNEL_ID = /^[CGD][A-Z0-9]{2,}$/
const LOOKED_AT = 100
const LOOKS = 3
/** Clocks differ. */
const MARGIN_S = 120

/**
 * Messages of ours that are in a channel or a thread, by their metadata; none where the bot may not look there, or the
 * channel is named and not numbered. @returns a refusal of Slack's that may pass
 */
export async function findPosted(
  { channel, thread, since }: { channel: string; thread: string | null; since: number },
  of: Readonly<Record<string, string>>,
  {
    slack,
    access,
    signal,
  }: { slack: Pick<SlackAccounts, 'api'>; access: SlackAccess; signal: AbortSignal | undefined },
): Promise<{ ts: string; payload: Record<string, unknown> }[] | SlackRefusal> {
  if (!CHANNEL_ID.test(channel)) return []
  const found: { ts: string; payload: Record<string, unknown> }[] = []
  let cursor = ''
  for (let n = 0; n < LOOKS; n++) {
    const said = await slack.api(
      thread === null ? 'conversations.history' : 'conversations.replies',
      {
        ...{ channel, include_all_metadata: true, limit: LOOKED_AT },
        ...(thread === null ? {} : { ts: thread }),
        oldest: String(Math.max(0, Math.floor(since / 1_000) - MARGIN_S)),
        ...(cursor ? { cursor } : {}),
      },
      access,
      signal,
    )
    // Posted twice is better than never.
    if (!said.ok) return said.isFinal || said.code === 'ratelimited' ? found : said
    const { messages = [], response_metadata: more } = said.body as {
      messages?: { ts?: string; metadata?: { event_payload?: Record<string, unknown> } }[]
      response_metadata?: { next_cursor?: string }
    }
    for (const { ts, metadata } of messages) {
      const payload = metadata?.event_payload
      if (ts && payload && Object.entries(of).every(([name, value]) => payload[name] === value))
        found.push({ ts, payload })
    }
    cursor = more?.next_cursor ?? ''
    if (cursor === '') break
  }
  return found
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
/** Part number in the metadata of what heads a thread. */
const HEAD = '0'

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
  const heads = headOf(post)
  const there = { ...begun, channel: begun.channel ?? post.channel, shown: digestOf(heads) }
  const say = (message: SlackMessage, thread: string | null, part: string, more: object = {}) =>
    slack.api(
      'chat.postMessage',
      { ...bodyOf(post, message, there.channel, thread, part), ...more },
      post.access,
      signal,
    )
  const missed = post.isUnsure ? await lookAgain(there, post, out) : null
  if (missed) return missed
  const updated = await update(post, out)
  if (updated !== null && !updated.ok && !GONE.has(updated.code)) return updated
  if (updated?.ok && there.ts === null) {
    const { channel, ts, before } = post.grows!
    Object.assign(there, { channel, ts, grew: before ?? '' })
    if (!(await note({ ...there }))) return CUT_OFF
  }
  if (there.ts === null) {
    const said = await say(heads, null, HEAD)
    if (!said.ok) return said
    const { ts: posted, channel: id } = said.body
    there.ts = typeof posted === 'string' ? posted : ''
    if (typeof id === 'string') there.channel = id
    if (!(await note({ ...there }))) return CUT_OFF
  }
  for (const message of post.message.thread.slice(there.parts)) {
    // An edit of a message tells nobody.
    const isTold = updated?.ok && post.grows?.isOther && there.parts === post.message.thread.length - 1
    const part = String(there.parts + 1)
    const said = await say(message, there.ts, part, isTold ? { reply_broadcast: true } : {})
    if (!said.ok) return said
    there.parts++
    const { ts: last } = said.body
    if (!(await note({ ...there, ...(typeof last === 'string' ? { last } : {}) }))) return CUT_OFF
  }
  return null
}

const headOf = ({ message, card }: SlackPost): SlackMessage =>
  card === null ? message.first : withIncident(message.first, card)

/** What of a finding is there although nobody wrote it down. @returns a refusal that may pass; null: it was looked for */
async function lookAgain(
  there: SlackProgress & { channel: string },
  post: SlackPost,
  { slack, signal, note }: FindingOut,
): Promise<SlackRefusal | null> {
  const look = (thread: string | null) =>
    findPosted(
      { channel: there.channel, thread, since: post.since },
      { run_id: post.runId },
      { slack, access: post.access, signal },
    )
  const before = { ...there }
  if (there.ts === null && post.grows === null) {
    const heads = await look(null)
    if ('ok' in heads) return heads
    there.ts = heads.find(({ payload }) => payload.part === HEAD)?.ts ?? null
  }
  const thread = there.ts ?? post.grows?.ts ?? null
  if (thread !== null) {
    const parts = await look(thread)
    if ('ok' in parts) return parts
    const known = parts.map(({ payload }) => Number(payload.part)).filter((part) => part > there.parts)
    there.parts = Math.max(there.parts, ...known)
    if (there.parts > before.parts) there.ts = thread
  }
  const isMore = there.ts !== before.ts || there.parts !== before.parts
  return isMore && !(await note({ ...there })) ? CUT_OFF : null
}

/** Of a message that cannot be updated any more: another is posted. */
const GONE = new Set(['message_not_found', 'cant_update_message', 'edit_window_closed', 'channel_not_found'])

/**
 * Updates the message of an earlier finding of the incident; again on each try, which changes nothing.
 * @returns null: there is none
 */
async function update(post: SlackPost, { slack, signal }: FindingOut): Promise<SlackAnswer | null> {
  if (post.grows === null) return null
  const { channel, ts, isOlder } = post.grows
  if (isOlder) return { ok: true, body: {} }
  return slack.api(
    'chat.update',
    { ...bodyOf(post, headOf(post), channel, null, HEAD), ts },
    post.access,
    signal,
  )
}

const bodyOf = (
  post: SlackPost,
  { text, blocks }: SlackMessage,
  channel: string,
  thread: string | null,
  part: string,
) => ({
  ...{ channel, text, blocks, ...PLAIN },
  metadata: { event_type: 'svc_finding', event_payload: { run_id: post.runId, part } },
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
  /** Of the last of these. */
  last?: string
  /** Digest of what heads the thread, as it was posted. */
  shown?: string
  /** It updated a message that was there: the run whose finding that showed; empty: a firing. */
  grew?: string
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
  /** Where its incident stands; null: it is of none. */
  card: IncidentCard | null
  /** A try before was cut off, or not answered: more of it may be there. */
  isUnsure: boolean
  /** Epoch ms since when it may be. */
  since: number
  access: SlackAccess
}

interface SlackGrown {
  channel: string
  ts: string
  /** No finding of the incident had this verdict: the channel is told, too. */
  isOther: boolean
  /** What heads the thread shows a later finding, and stays. */
  isOlder: boolean
  /** The run whose finding heads it; null: a firing does. */
  before: string | null
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
  threads: {
    /** The thread of the run's incident in a channel, and whose finding heads it; null: there is none. */
    rootFor(run: string, channel: string): { channel: string; ts: string; run: string | null } | null
    cardFor(run: string): IncidentCard | null
  }
}): (runId: string, progress: SlackProgress | null) => SlackPost | null {
  const { db, settings, publicUrl, agent, env, threads } = parts
  const byId = db.prepare<[string], RunRow>('SELECT * FROM runs WHERE id = ?')
  const posted = db.prepare<[string, string, number], RunRow & { progress: string }>(
    `SELECT r.*, d.progress FROM runs r JOIN deliveries d ON d.finding_of = r.id AND d.recipient_kind = 'slack'
     WHERE r.incident = ? AND r.agent = ? AND r.seq < ? AND r.practice = 0 AND d.state = 'delivered'
       AND d.progress ->> 'channel' IS NOT NULL AND d.progress ->> 'ts' <> '' ORDER BY r.seq DESC LIMIT 1`,
  )
  const incidents = incidentQueries(db)
  const sent = db.prepare<
    [string],
    { progress: string | null; was_cut: 0 | 1; tries: number; made_at: number }
  >(
    `SELECT d.progress, d.was_cut, d.made_at, (SELECT count(*) FROM delivery_tries t WHERE t.delivery_id = d.id) AS tries
     FROM deliveries d WHERE d.finding_of = ? AND d.recipient_kind = 'slack' ORDER BY d.seq DESC LIMIT 1`,
  )
  /** What heads the thread of its incident in the channel, by whoever it was posted. */
  function rootOf(row: RunRow, progress: SlackProgress | null, channel: string): Earlier | null {
    const ts = progress?.ts ?? null
    const root = threads.rootFor(row.id, channel)
    if (root === null || (ts ?? root.ts) !== root.ts) return null
    // One that heads it by itself is posted anew where all of it was there.
    if (root.run === row.id && progress?.grew === undefined) return null
    const id = root.run === row.id ? (progress?.grew ?? '') : (root.run ?? '')
    const before = byId.get(id) ?? null
    const its = before && (JSON.parse(sent.get(before.id)?.progress ?? 'null') as SlackProgress | null)
    return { row: before, there: { channel: root.channel, ts: root.ts, parts: its?.parts ?? 1 } }
  }

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
        before:
          before.row && before.row.seq < row.seq && before.there.parts === 0 ? foundOf(before.row) : null,
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
    const ts = progress?.ts ?? null
    const before = channel === null ? null : (earlierOf(row, ts, channel) ?? rootOf(row, progress, channel))
    const grown = before && growthOf(row, before)
    const delivery = sent.get(runId)
    return {
      kind: 'slack',
      runId,
      channel: channel ?? progress?.channel ?? null,
      ...hookOf(channel === null ? now?.slack_webhook : undefined, env),
      message: findingMessage(foundOf(row), publicUrl, grown?.growth ?? null),
      grows:
        before && grown
          ? {
              ...{ channel: before.there.channel, ts: before.there.ts },
              ...{ isOther: grown.isOther, isOlder: (before.row?.seq ?? 0) > row.seq },
              before: before.row?.id ?? null,
            }
          : null,
      there: progress,
      card: threads.cardFor(runId),
      isUnsure: delivery?.was_cut === 1 || (delivery?.tries ?? 0) > 0,
      since: delivery?.made_at ?? 0,
      access: settings.access(),
    }
  }
}

/** A finding that is in Slack. */
interface Earlier {
  /** Null: a firing heads the thread. */
  row: RunRow | null
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
