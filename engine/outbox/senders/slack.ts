/**
 * Posts to Slack: firings to a subscribed channel, one message each; findings of agents as a message in the channel
 * with the whole note in its thread where it does not fit. Refusals that would come again are tried once; what may
 * pass is tried again, from the part that is missing; a thread that was deleted meanwhile is begun anew. A crash
 * between a post and its record repeats that message.
 */
import type { FiringMessage } from '../../../schemas/types.ts'
import { channelOf } from '../../slack/address.ts'
import { INTERRUPTED, type SlackAnswer, type SlackApi, type SlackRefusal } from '../../slack/api.ts'
import type { SlackPost, SlackProgress } from '../../slack/finding-post.ts'
import type { SlackMessage } from '../../slack/message/finding.ts'
import { firingMessage } from '../../slack/message/firing.ts'
import type { SlackAccess } from '../../slack/settings.ts'
import { interrupted, type Outcome, outcomeOf, outcomeOfRefusal, type Situation } from '../outcome.ts'
import type { Out } from './webhook.ts'

export type { SlackPost } from '../../slack/finding-post.ts'

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
      ...{ channel: channelOf(url), text, blocks, ...PLAIN },
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
