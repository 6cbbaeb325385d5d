/**
 * Posts findings to Slack as they come: a message in the channel, then the whole note in its thread where it
 * does not fit. Refusals that would come again are tried once; what may pass is tried again, from the part
 * that is missing. A crash between a post and its record repeats that one message.
 */
import type { Clock, Timers } from '../clock.ts'
import type { Egress } from '../egress/index.ts'
import { createPosting, type Posting } from '../posting.ts'
import type { SlackAnswer, SlackApi, SlackRefusal } from './api.ts'
import type { SlackMessage } from './message/finding.ts'
import type { SlackPost, SlackPostPort } from './posts.ts'

/** After each failed try but the last. */
const WAITS_MS = [1_000, 5_000, 30_000, 120_000, 600_000]
const LONGEST_ASKED_MS = 3_600_000
const AT_ONCE = 4
const HOOK_MS = 10_000

export function startSlackPoster(parts: {
  port: SlackPostPort
  api: SlackApi
  egress: Egress
  clock: Clock
  timers: Timers
  onError(error: Error): void
}): Posting {
  const { port, clock, timers, onError } = parts
  return createPosting({
    due: (limit, busy) => port.dueSlackPosts(limit, busy),
    next: () => port.nextSlackPost(),
    post: (one) => post(one, parts),
    atOnce: AT_ONCE,
    clock,
    timers,
    onError,
  })
}

type Parts = Parameters<typeof startSlackPoster>[0]

async function post(one: SlackPost, parts: Parts): Promise<void> {
  const { port, clock } = parts
  const there = { runId: one.runId, channel: one.channel, ts: one.ts, parts: one.parts }
  const refused = one.channel === null ? await viaHook(one, parts) : await viaApi(one, there, parts)
  const waits = WAITS_MS[one.tries - 1]
  if (refused === null) return port.settleSlackPost({ ...there, outcome: 'ok', error: null, dueAt: null })
  const { error, isFinal, retryAfterMs } = refused
  if (isFinal || waits === undefined)
    return port.settleSlackPost({ ...there, outcome: 'failed', error, dueAt: null })
  const wait = Math.max(waits, Math.min(retryAfterMs ?? 0, LONGEST_ASKED_MS))
  return port.settleSlackPost({ ...there, outcome: null, error, dueAt: clock.now() + wait })
}

/** @param there what is in Slack by now; kept up to date. @returns null: all of it is there */
async function viaApi(
  one: SlackPost,
  there: { runId: string; channel: string | null; ts: string | null; parts: number },
  { api, port }: Parts,
): Promise<SlackRefusal | null> {
  const say = (message: SlackMessage, thread: string | null, more: object = {}) =>
    api('chat.postMessage', { ...bodyOf(one, message, there.channel!, thread), ...more }, one.access)
  const updated = await update(one, there, api)
  if (updated !== null && !updated.ok && !GONE.has(updated.code)) return updated
  if (there.ts === null) {
    const said = await say(one.message.first, null)
    if (!said.ok) return said
    const { ts, channel } = said.body
    there.ts = typeof ts === 'string' ? ts : ''
    if (typeof channel === 'string') there.channel = channel
    await port.noteSlackPost(there)
  }
  for (const message of one.message.thread.slice(there.parts)) {
    // An edit of a message tells nobody.
    const isTold = updated?.ok && one.grows?.isOther && there.parts === one.message.thread.length - 1
    const said = await say(message, there.ts, isTold ? { reply_broadcast: true } : {})
    if (!said.ok) return said
    there.parts++
    await port.noteSlackPost(there)
  }
  return null
}

/** Of a message that cannot be updated any more: another is posted. */
const GONE = new Set(['message_not_found', 'cant_update_message', 'edit_window_closed', 'channel_not_found'])

/**
 * Updates the message of an earlier finding of the incident; again on each try, which changes nothing.
 * @returns null: there is none
 */
async function update(
  one: SlackPost,
  there: { channel: string | null; ts: string | null },
  api: SlackApi,
): Promise<SlackAnswer | null> {
  if (one.grows === null) return null
  const { channel, ts } = one.grows
  const said = await api('chat.update', { ...bodyOf(one, one.message.first, channel, null), ts }, one.access)
  if (said.ok) Object.assign(there, { channel, ts })
  return said
}

/** Nothing in a message is turned into a preview, and no name in it into a mention. */
const bodyOf = (one: SlackPost, { text, blocks }: SlackMessage, channel: string, thread: string | null) => ({
  channel,
  text,
  blocks,
  unfurl_links: false,
  unfurl_media: false,
  link_names: false,
  parse: 'none',
  metadata: { event_type: 'svc_finding', event_payload: { run_id: one.runId } },
  ...(thread === null ? {} : { thread_ts: thread }),
})

/** An incoming webhook has no threads: the message is all there is. */
async function viaHook({ hook, fault, message }: SlackPost, { egress }: Parts): Promise<SlackRefusal | null> {
  const refused = (error: string, isFinal: boolean) => ({
    ...{ ok: false as const, code: '', retryAfterMs: null },
    error,
    isFinal,
  })
  if (fault !== null) return refused(fault, true)
  if (hook === null) return refused('the agent names no channel of Slack any more', true)
  const answer = await egress.send({
    url: hook,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...message.first, unfurl_links: false, unfurl_media: false }),
    audience: 'operator',
    timeoutMs: HOOK_MS,
    maxResponseBytes: 0,
  })
  if (!answer.ok)
    return refused(
      `the Slack webhook cannot be reached: ${answer.message}`,
      answer.fault === 'not_allowed' || answer.fault === 'invalid',
    )
  if (answer.status >= 200 && answer.status < 300) return null
  return refused(`the Slack webhook answered ${answer.status}`, answer.status < 500 && answer.status !== 429)
}
