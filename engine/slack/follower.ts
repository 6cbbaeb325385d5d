/**
 * Brings threads in Slack up to date, one at a time: the message of an incident shows where it stands, its thread says
 * what happened. Rows are the only memory: a step is written down before it is taken and after it, and one that was
 * cut off is looked for in Slack before it is taken again.
 */
import type { Clock, Timers } from '../clock.ts'
import { createWorkerLoop, pauseOf } from '../log/worker-loop.ts'
import { findPosted, type SlackAccounts } from '../outbox/send-slack.ts'
import type { SlackAccess, SlackAnswer, SlackRefusal } from '../outbox/slack-api.ts'
import type { SlackThreadPort, SlackWork, SlackWorkDone } from './threads.ts'

export interface SlackFollower {
  /** Something may be due. */
  nudge(): void
  /** Waits for what is under way. Never rejects. */
  stop(): Promise<void>
}

export interface FollowerParts {
  port: Pick<SlackThreadPort, 'claimSlackWork' | 'settleSlackWork' | 'nextSlackWork'>
  accounts: SlackAccounts
  clock: Clock
  timers: Timers
  onError(error: Error): void
}

const PLAIN = { unfurl_links: false, unfurl_media: false, link_names: false, parse: 'none' } as const
const LONGEST_WAIT_MS = 30_000
const LONGEST_RETRY_MS = 3_600_000

/** Starts it; the first `nudge` looks for what is due. */
export function startFollower({ port, accounts, clock, timers, onError }: FollowerParts): SlackFollower {
  const stopping = new AbortController()
  let looking: Promise<unknown> = Promise.resolve()
  const loop = createWorkerLoop({
    look: () => {
      const now = look()
      looking = now.catch(() => {})
      return now
    },
    timers,
    onError,
  })

  async function look(): Promise<number | null> {
    while (!stopping.signal.aborted) {
      const work = await port.claimSlackWork()
      if (work === null) break
      await port.settleSlackWork(await bringUpToDate(work))
    }
    const due = await port.nextSlackWork()
    return due === null ? null : Math.min(LONGEST_WAIT_MS, Math.max(0, due - clock.now()))
  }

  async function bringUpToDate(work: SlackWork): Promise<SlackWorkDone> {
    const access = await accounts.access()
    const done: SlackWorkDone = {
      ...{ thread: work.thread, touched: work.touched, problem: null, retryAt: null },
    }
    const refused = await step(work, done, access)
    if (refused === null) return done
    const wait = Math.min(LONGEST_RETRY_MS, refused.retryAfterMs ?? pauseOf(6))
    return { ...done, problem: refused.error, retryAt: refused.isFinal ? null : clock.now() + wait }
  }

  /** @returns a refusal; null: nothing is missing any more */
  async function step(
    work: SlackWork,
    done: SlackWorkDone,
    access: SlackAccess,
  ): Promise<SlackRefusal | null> {
    const say = sayer(work, access)
    let at = { channel: work.channel, ts: work.ts }
    if (at.ts === '' && work.message) {
      const said = await say.once(null, { subject: work.subject }, work.message)
      if (!said.ok) return said
      at = placeOf(said, at.channel)
      Object.assign(done, { ...at, shown: work.message.digest })
    }
    if (!work.hasLink) {
      const link = await say.link(at.channel, at.ts)
      if (link !== null) done.permalink = link
    }
    if (work.reply) {
      const of = { subject: work.subject, up_to: String(work.reply.upTo) }
      const said = await say.once(at.ts, of, work.reply)
      if (!said.ok) return said
      const { ts } = placeOf(said, at.channel)
      done.told = { upTo: work.reply.upTo, ts, permalink: await say.link(at.channel, ts) }
    }
    if (work.message && done.shown === undefined) {
      const { text, blocks, digest } = work.message
      const said = await accounts.api('chat.update', { ...at, text, blocks, ...PLAIN }, access)
      if (!said.ok) return said
      done.shown = digest
    }
    return null
  }

  /** What posts in a channel, or in a thread there. */
  function sayer({ channel, isUnsure, since }: SlackWork, access: SlackAccess) {
    const looked = { slack: accounts, access, signal: undefined }
    return {
      /** Posts, or finds that a try before did. */
      once: async (
        thread: string | null,
        of: Record<string, string>,
        { text, blocks }: { text: string; blocks: object[] },
      ): Promise<SlackAnswer> => {
        const there = isUnsure ? await findPosted({ channel, thread, since }, of, looked) : []
        if ('ok' in there) return there
        if (there[0]) return { ok: true, body: { channel, ts: there[0].ts } }
        const body = {
          ...{ channel, text, blocks, ...PLAIN },
          metadata: { event_type: 'svc_thread', event_payload: of },
        }
        return accounts.api(
          'chat.postMessage',
          { ...body, ...(thread === null ? {} : { thread_ts: thread }) },
          access,
        )
      },
      /** Null: Slack did not say. */
      link: async (of: string, ts: string): Promise<string | null> => {
        const said = await accounts.api('chat.getPermalink', { channel: of, message_ts: ts }, access)
        return said.ok && typeof said.body.permalink === 'string' ? said.body.permalink : null
      },
    }
  }

  return {
    nudge: loop.nudge,
    stop: async () => {
      stopping.abort()
      loop.stop()
      await looking
    },
  }
}

const placeOf = ({ body }: { body: Record<string, unknown> }, channel: string) => ({
  channel: typeof body.channel === 'string' ? body.channel : channel,
  ts: typeof body.ts === 'string' ? body.ts : '',
})
