/**
 * Requests of Slack: signed with the signing secret, each done once, answered within three seconds. A button is done
 * as whoever pressed it before Slack is answered; a question is a row by then.
 */
import { textOfSlack } from '../../schemas/plain-text.ts'
import type { Incident, SlackTeamBound } from '../../schemas/types.ts'
import type { Caller } from '../calls.ts'
import type { Clock, Timers } from '../clock.ts'
import type { ProposalCalls } from '../declared/setup/proposals.ts'
import { fail, SvcError } from '../errors.ts'
import type { IncidentWrites } from '../incidents/incidents.ts'
import { verifySignature } from '../log/ingest/signature.ts'
import { type Egress, within } from '../net/fetch.ts'
import type { SlackAccess, SlackApi } from '../outbox/slack-api.ts'
import { ACT_ID, escaped, incidentActs, type SlackAct } from '../outbox/slack-messages.ts'
import {
  type Mapped,
  postTo,
  type SlackAnswers,
  type SlackAskPort,
  type SlackRight,
  whisper,
} from './answers.ts'

/** A request as it came. */
export interface SlackRequest {
  /** The body, byte for byte: it is what is signed. */
  raw: Uint8Array
  signature: string | undefined
  /** Seconds since 1970, as text. */
  timestamp: string | undefined
}

interface SlackRequests {
  /**
   * @returns what to answer with; empty: nothing but 200.
   * @throws SvcError unavailable: no signing secret is set, or it takes too long; bad_signature
   */
  take(request: SlackRequest): Promise<Record<string, unknown>>
  /** Epoch ms of the last request that Slack signed; null: none since the start. */
  heardAt(): number | null
}

interface RequestsParts {
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
  textOfSlack(text.replace(/^(\s*<@[A-Z0-9]+(\|[^>]*)?>)+/, '')).trim()

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

/*
 * Buttons of messages: what was pressed is done as the person, by the calls that the doors make, and recorded with who.
 * Whoever may not is told so alone; so is who comes too late, with who was first and the buttons of now.
 */

/** The calls that buttons make. */
export interface ActCalls
  extends Pick<IncidentWrites, 'actOnIncident'>,
    Pick<ProposalCalls, 'approveProposal' | 'declineProposal'> {
  rerun(run: string, how: { asOf: 'same' | 'now'; practice: boolean }): Promise<{ run_id: string }>
}

/** A button that was pressed. */
interface Pressed {
  act: SlackAct
  user: { id: string; name: string }
}

/** What is told to whoever pressed; null: the message itself shows it. */
export interface Told {
  text: string
  blocks?: object[]
  outcome: 'done' | 'refused' | 'late' | 'failed'
}

/** What each takes, as the routes of the API do. */
const NEEDS: Readonly<Record<SlackAct['do'], SlackRight>> = {
  acknowledge: 'respond',
  handle: 'respond',
  reopen: 'respond',
  snooze: 'respond',
  rerun: 'admin',
  approve: 'admin',
  decline: 'admin',
}
const WORDS: Readonly<Record<SlackAct['do'], string>> = {
  acknowledge: 'acknowledge incidents',
  handle: 'mark incidents handled',
  reopen: 'open incidents again',
  snooze: 'snooze incidents',
  rerun: 'run agents again',
  approve: 'approve proposals',
  decline: 'decline proposals',
}
const HOUR_MS = 3_600_000
/** No number of a button is above it: hours so many are a date yet. */
const MOST = 1e6

/** What of a payload of Slack's is a button that acts; null: none of it is. */
function pressedIn(payload: Record<string, unknown>): Pressed | null {
  const { type, user, actions } = payload as {
    type?: unknown
    user?: { id?: unknown; username?: unknown; name?: unknown }
    actions?: { action_id?: unknown; value?: unknown; selected_option?: { value?: unknown } }[]
  }
  const action = Array.isArray(actions) ? actions[0] : undefined
  if (type !== 'block_actions' || typeof action?.action_id !== 'string') return null
  if (!action.action_id.startsWith(ACT_ID)) return null
  const value = action.selected_option?.value ?? action.value
  const act = typeof value === 'string' ? actIn(value) : null
  if (act === null || typeof user?.id !== 'string') return null
  const name = [user.name, user.username, user.id].find((one) => typeof one === 'string' && one !== '')
  return { act, user: { id: user.id, name: String(name) } }
}

function actIn(value: string): SlackAct | null {
  try {
    const act = JSON.parse(value) as SlackAct
    const isWhole = Object.hasOwn(NEEDS, act.do) && typeof act.of === 'string'
    const isFit =
      [act.v ?? 0, act.h ?? 0].every((one) => Number.isSafeInteger(one) && one >= 0 && one <= MOST) &&
      typeof (act.i ?? '') === 'string'
    return isWhole && isFit ? act : null
  } catch {
    // A button of another app's making.
    return null
  }
}

/** @param now epoch ms. @throws what is a fault of ours */
async function carryOutAct(act: SlackAct, who: Mapped, calls: ActCalls, now: number): Promise<Told> {
  const needs = NEEDS[act.do]
  if (!who.scopes.includes(needs)) return refusedTo(act, who, needs)
  try {
    return { outcome: 'done', text: await done(act, who, calls, now) }
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    const isLate = error.code === 'wrong_state' || error.code === 'conflict'
    const incident = error.extra.incident as Incident | undefined
    return {
      outcome: isLate ? 'late' : 'failed',
      text: escaped(`Not done: ${incident ? firstWords(incident) : error.message}.`),
      ...(incident ? { blocks: fresh(incident) } : {}),
    }
  }
}

function refusedTo(act: SlackAct, { id }: Mapped, needs: SlackRight): Told {
  const user = id.split(':').at(-1)!
  return {
    outcome: 'refused',
    text: escaped(
      `You may not ${WORDS[act.do]} from Slack. An admin of svc can give you (${user}) the right “${needs}” under Settings, Slack.`,
    ),
  }
}

/** @returns what is told; empty: the message shows it */
async function done(act: SlackAct, who: Mapped, calls: ActCalls, now: number): Promise<string> {
  const by = { by: who.name, via: 'slack' } as const
  const caller: Caller = { id: who.id, name: `${who.name} in Slack` }
  const version = act.v === undefined ? {} : { version: act.v }
  switch (act.do) {
    case 'snooze': {
      const until = act.h ? new Date(now + act.h * HOUR_MS).toISOString() : null
      await calls.actOnIncident(act.of, { action: 'snooze', until, ...version }, by)
      return ''
    }
    case 'rerun': {
      const { run_id } = await calls.rerun(act.of, { asOf: 'now', practice: false })
      if (act.i) {
        const text = `Had run ${act.of} repeated, as ${run_id}`
        await calls.actOnIncident(act.i, { action: 'notes', text }, by)
      }
      return `Run ${run_id} has begun; what it finds is posted where its agent posts.`
    }
    case 'approve':
      await calls.approveProposal(act.of, { caller, origin: 'api' })
      return ''
    case 'decline':
      await calls.declineProposal(act.of, '', { caller, origin: 'api' })
      return ''
    default:
      await calls.actOnIncident(act.of, { action: act.do, ...version }, by)
      return ''
  }
}

/** "incident inc_3 was acknowledged by mara at 12:04 UTC". */
function firstWords({ id, state, acknowledged, snoozed, handled, severity }: Incident): string {
  const first = { acknowledged, snoozed, handled, open: null }[state]
  return first
    ? `incident ${id} was ${state} by ${first.by} at ${first.at.slice(11, 16)} UTC`
    : `incident ${id} was changed since this message: it is ${state}, ${severity}`
}

/** The buttons of now, for who pressed one of before. */
function fresh(incident: Incident): object[] {
  const elements = incidentActs({
    ...{ id: incident.id, version: incident.version, accepts: incident.accepts },
    run: null,
  })
  return [
    {
      type: 'section',
      text: { type: 'mrkdwn', text: escaped(`Not done: ${firstWords(incident)}.`), verbatim: true },
    },
    ...(elements.length ? [{ type: 'actions', elements }] : []),
  ]
}
