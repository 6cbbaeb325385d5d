/**
 * Requests of Slack: signed with the signing secret, each done once, answered within three seconds. A button is done
 * as whoever pressed it before Slack is answered; a question is a row by then.
 */
import type { SlackTeamBound } from '../../schemas/types.ts'
import type { Clock, Timers } from '../clock.ts'
import { fail } from '../errors.ts'
import { verifySignature } from '../log/ingest/signature.ts'
import { type Egress, within } from '../net/fetch.ts'
import type { SlackAccess, SlackApi } from '../outbox/slack-api.ts'
import { type ActCalls, carryOutAct, pressedIn, type Told } from './acts.ts'
import { postTo, type SlackAnswers, whisper } from './answers.ts'
import type { Mapped } from './people.ts'
import type { SlackAskPort } from './rows.ts'

/** A request as it came. */
export interface SlackRequest {
  /** The body, byte for byte: it is what is signed. */
  raw: Uint8Array
  signature: string | undefined
  /** Seconds since 1970, as text. */
  timestamp: string | undefined
}

export interface SlackRequests {
  /**
   * @returns what to answer with; empty: nothing but 200.
   * @throws SvcError unavailable: no signing secret is set, or it takes too long; bad_signature
   */
  take(request: SlackRequest): Promise<Record<string, unknown>>
  /** Epoch ms of the last request that Slack signed; null: none since the start. */
  heardAt(): number | null
}

export interface RequestsParts {
  /** Null: none is set. */
  secret(): Promise<string | null>
  port: Pick<SlackAskPort, 'beginSlackRequest' | 'endSlackRequest' | 'slackAsked'>
  /** Somebody, and the workspace that requests are taken of; null: of any. @param name as Slack says it */
  person(
    user: { team: string; id: string; name: string },
    asks: boolean,
  ): Promise<{ who: Mapped; bound: SlackTeamBound | null }>
  threadOf(channel: string, ts: string): Promise<string | null>
  calls: ActCalls
  answers: Pick<SlackAnswers, 'begin'>
  api: SlackApi
  access(): Promise<SlackAccess>
  /** The channels are others than before. */
  onChannels(): void
  egress: Egress
  clock: Clock
  timers: Timers
  onError(error: Error): void
}

/** Questions of one person in 24 hours. */
const DAILY_CAP = 50
const QUESTION_MAX = 2_000
/** Slack waits three seconds. */
const ANSWER_MS = 2_500
/** Of Slack's events: what changes which channels there are, or which the bot is in. */
const OF_CHANNELS = /^(channel|group|member)_/

type Reply = Record<string, unknown>
const NOTHING: Reply = {}

export function createSlackRequests(parts: RequestsParts): SlackRequests {
  const { clock, timers, onError } = parts
  const underWay = new Map<string, Promise<Reply>>()
  let heardAt: number | null = null

  /** Does what a request asks for once, however often Slack sends it; one that a stop came between is done again. */
  async function once(
    id: string,
    kind: string,
    work: () => Promise<{ reply: Reply; outcome: string }>,
  ): Promise<Reply> {
    const known = underWay.get(id)
    const begun =
      known ??
      (async () => {
        if (!(await parts.port.beginSlackRequest(id))) return NOTHING
        const { reply, outcome } = await work()
        await parts.port.endSlackRequest(id, kind, outcome)
        return reply
      })()
    underWay.set(id, begun)
    void begun.catch(onError).finally(() => underWay.delete(id))
    const said = await within(timers, ANSWER_MS, undefined, begun)
    if (typeof said === 'string')
      fail('unavailable', 'it takes longer than Slack waits; what comes of it is shown there')
    return said.value
  }

  const background = (work: Promise<unknown>): void => void work.catch(onError)

  /** @returns why a question is not answered; null: it is */
  async function ask(
    asked: { question: string; channel: string; thread: string | null; hook: string | null },
    user: { team: string; id: string; name: string },
  ): Promise<string | null> {
    const { who, bound } = await parts.person(user, true)
    if (isElsewhere(bound, user.team)) return `This svc is for the workspace ${bound!.team_name} alone.`
    if (!who.scopes.includes('read'))
      return `You may not ask here. An admin of svc can give you (${user.id}) the right “read” under Settings, Slack.`
    if ((await parts.port.slackAsked(`${user.team}:${user.id}`)) >= DAILY_CAP)
      return `You have asked ${DAILY_CAP} questions in 24 hours; ask again later.`
    const incident = asked.thread === null ? null : await parts.threadOf(asked.channel, asked.thread)
    const refused = await parts.answers.begin({
      ...asked,
      ...{ question: asked.question.slice(0, QUESTION_MAX), who, incident },
    })
    return refused === null ? null : `That could not be answered: ${refused}`
  }

  function command(form: URLSearchParams): Promise<Reply> | Reply {
    const field = (name: string) => form.get(name) ?? ''
    const question = field('text')
      .trim()
      .replace(/^ask(\s+|$)/i, '')
    if (question === '' || question.toLowerCase() === 'help')
      return whisper(`Ask what happened: ${field('command')} what changed for checkout since noon?`)
    const user = {
      team: field('team_id'),
      id: field('user_id'),
      name: field('user_name') || field('user_id'),
    }
    return once(field('trigger_id') || `${user.team}:${user.id}:${clock.now()}`, 'command', async () => {
      const where = { channel: field('channel_id'), thread: null, hook: field('response_url') || null }
      const refused = await ask({ question, ...where }, user)
      return { reply: whisper(refused ?? 'Looking into it…'), outcome: refused === null ? 'done' : 'refused' }
    })
  }

  function pressed(text: string): Promise<Reply> | Reply {
    const payload = parsed(text)
    const found = pressedIn(payload)
    // A button that opens a page needs no answer.
    if (found === null) return NOTHING
    const { team, trigger_id, response_url } = payload as {
      team?: { id?: string }
      trigger_id?: string
      response_url?: string
    }
    const user = { team: team?.id ?? '', ...found.user }
    const id = trigger_id ?? `${user.team}:${user.id}:${JSON.stringify(found.act)}:${clock.now()}`
    return once(id, 'button', async () => {
      const { who, bound } = await parts.person(user, false)
      const told: Told = isElsewhere(bound, user.team)
        ? { outcome: 'refused', text: `This svc is for the workspace ${bound!.team_name} alone.` }
        : await carryOutAct(found.act, who, parts.calls, clock.now())
      if (told.text !== '' && response_url)
        background(
          postTo(
            response_url,
            {
              ...{ response_type: 'ephemeral', replace_original: false, text: told.text },
              ...(told.blocks ? { blocks: told.blocks } : {}),
            },
            parts.egress,
          ),
        )
      return { reply: NOTHING, outcome: told.outcome }
    })
  }

  async function event(text: string): Promise<Reply> {
    const body = parsed(text) as {
      type?: unknown
      challenge?: unknown
      team_id?: string
      event_id?: string
      event?: Mention & { type?: unknown }
    }
    if (body.type === 'url_verification') return { challenge: String(body.challenge ?? '') }
    const { event: what, event_id: id = '', team_id: team = '' } = body
    if (typeof what?.type !== 'string') return NOTHING
    if (OF_CHANNELS.test(what.type)) parts.onChannels()
    // What a bot says, and what was edited, asks nothing.
    if (what.type !== 'app_mention' || what.bot_id || what.edited || !what.user || !what.channel || !what.ts)
      return NOTHING
    return once(id || `${team}:${what.channel}:${what.ts}`, 'mention', () => mention(what, team))
  }

  async function mention(
    { text = '', user = '', channel = '', ts = '', thread_ts: thread = ts }: Mention,
    team: string,
  ): Promise<{ reply: Reply; outcome: string }> {
    const question = plainText(text)
    const refused =
      question === ''
        ? 'Ask what happened: mention me with a question, such as what changed for checkout since noon?'
        : await ask({ question, channel, thread, hook: null }, { team, id: user, name: user })
    if (refused !== null)
      background(
        parts
          .access()
          .then((access) =>
            parts.api(
              'chat.postEphemeral',
              { channel, user, thread_ts: thread, text: whisper(refused).text },
              access,
            ),
          ),
      )
    return { reply: NOTHING, outcome: refused === null ? 'done' : 'refused' }
  }

  return {
    heardAt: () => heardAt,
    async take({ raw, signature, timestamp }) {
      const key = await parts.secret()
      if (key === null)
        fail('unavailable', 'no signing secret of Slack is set; add one under Settings, Slack')
      const headers = {
        ...(signature === undefined ? {} : { 'x-slack-signature': signature }),
        ...(timestamp === undefined ? {} : { 'x-slack-request-timestamp': timestamp }),
      }
      const reason = verifySignature('slack', { secrets: [key] }, raw, headers, clock.now())
      if (reason !== null) fail('bad_signature', `invalid Slack signature: ${reason}`)
      heardAt = clock.now()
      const text = Buffer.from(raw).toString('utf8')
      if (text.trimStart().startsWith('{')) return event(text)
      const form = new URLSearchParams(text)
      if (form.has('payload')) return pressed(form.get('payload')!)
      return form.has('command') ? command(form) : NOTHING
    },
  }
}

interface Mention {
  text?: string
  user?: string
  channel?: string
  ts?: string
  thread_ts?: string
  bot_id?: string
  edited?: unknown
}

const isElsewhere = (bound: SlackTeamBound | null, team: string): boolean =>
  bound !== null && bound.team_id !== team

/** Without who is mentioned at its beginning, and as it was typed. */
const plainText = (text: string): string =>
  text
    .replace(/^(\s*<@[A-Z0-9]+(\|[^>]*)?>)+/, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .trim()

/** @throws SvcError invalid */
function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (value !== null && typeof value === 'object') return value as Record<string, unknown>
  } catch {
    // Said below.
  }
  return fail('invalid', 'the body must be JSON or a form')
}
