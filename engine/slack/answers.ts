/**
 * Questions asked in Slack, answered in a thread by Ask as whoever asked: the answer is a message that is edited while
 * it comes. Each question is a row from the moment it is taken, so that a stop of the daemon loses none: the next start
 * takes the turn up from its tape, and the message with it.
 * The rows of both, requests that were taken and questions, are written here. Times are epoch ms.
 */

import type { SlackPeople, SlackPeopleWrite, SlackPerson, SlackTeamBound } from '../../schemas/types.ts'
import type { AskCaller, AskTurnCalls } from '../agents/ask/calls.ts'
import type { Clock, Timers } from '../clock.ts'
import { fail, SvcError } from '../errors.ts'
import type { Tallies } from '../log/figures.ts'
import { openSettings } from '../log/settings.ts'
import type { StoreHandle } from '../log/store/handle.ts'
import { pauseOf } from '../log/worker-loop.ts'
import { DAY_MS } from '../model/units.ts'
import { type Egress, within } from '../net/fetch.ts'
import { findPosted } from '../outbox/send-slack.ts'
import type { SlackAnswer as Said, SlackAccess, SlackApi } from '../outbox/slack-api.ts'
import { escaped, mrkdwn, sections } from '../outbox/slack-messages.ts'

/** A question that is being answered in a thread. */
export interface SlackAnswer {
  /** Turn of Ask. */
  turn: string
  /** Team and user. */
  person: string
  name: string
  channel: string
  /** Null: the message that heads the thread is to be posted. */
  thread_ts: string | null
  /** Of the answer, once it is there. */
  ts: string | null
  question: string
  at: number
}

/** What was asked and answered in a thread before. */
interface EarlierAnswer {
  question: string
  answer: string
}

/** What requests and answers need of the store. */
export interface SlackAskPort {
  /** Takes a request. @returns false: it was done already */
  beginSlackRequest(id: string): Promise<boolean>
  /** @param kind command, mention or button. @param outcome for /metrics */
  endSlackRequest(id: string, kind: string, outcome: string): Promise<void>
  /** Questions of a person in the last 24 hours. */
  slackAsked(person: string): Promise<number>
  beginSlackAnswer(answer: Omit<SlackAnswer, 'at'>): Promise<void>
  /** Where it is, once it is there. */
  placeSlackAnswer(turn: string, thread: string | null, ts: string | null): Promise<void>
  endSlackAnswer(turn: string, answer: string, state: 'answered' | 'failed'): Promise<void>
  /** Those that a stopped daemon left. */
  openSlackAnswers(): Promise<SlackAnswer[]>
  /** In order. */
  earlierSlackAnswers(channel: string, thread: string): Promise<EarlierAnswer[]>
}

const KEPT_MS = 30 * DAY_MS
const EARLIER = 8

/** On the writing connection. */
export function openSlackRows(
  { db, tx }: StoreHandle,
  clock: Clock,
  tallies: Pick<Tallies, 'add'>,
): SlackAskPort {
  const forgetRequests = db.prepare<[number]>('DELETE FROM slack_requests WHERE at < ?')
  const forgetAnswers = db.prepare<[number]>(
    "DELETE FROM slack_answers WHERE at < ? AND state <> 'answering'",
  )
  const take = db.prepare<[string, number]>('INSERT OR IGNORE INTO slack_requests (id, at) VALUES (?, ?)')
  const isDone = db
    .prepare<[string], number>('SELECT done_at IS NOT NULL FROM slack_requests WHERE id = ?')
    .pluck()
  const done = db.prepare<[number, string]>('UPDATE slack_requests SET done_at = ? WHERE id = ?')
  const asked = db
    .prepare<[string, number], number>('SELECT count(*) FROM slack_answers WHERE person = ? AND at > ?')
    .pluck()
  const begin = db.prepare<SlackAnswer>(
    `INSERT OR IGNORE INTO slack_answers (turn, person, name, channel, thread_ts, ts, question, at, state)
     VALUES (@turn, @person, @name, @channel, @thread_ts, @ts, @question, @at, 'answering')`,
  )
  const place = db.prepare<[string | null, string | null, string]>(
    'UPDATE slack_answers SET thread_ts = coalesce(?, thread_ts), ts = coalesce(?, ts) WHERE turn = ?',
  )
  const end = db.prepare<[string, string, string]>(
    'UPDATE slack_answers SET answer = ?, state = ? WHERE turn = ?',
  )
  const open = db.prepare<[], SlackAnswer>(
    `SELECT turn, person, name, channel, thread_ts, ts, question, at FROM slack_answers
     WHERE state = 'answering' ORDER BY at`,
  )
  const earlier = db.prepare<[string, string], EarlierAnswer>(
    `SELECT question, answer FROM slack_answers WHERE channel = ? AND thread_ts = ? AND state = 'answered'
     ORDER BY at DESC LIMIT ${EARLIER}`,
  )
  return {
    beginSlackRequest: async (id) =>
      tx(() => {
        forgetRequests.run(clock.now() - DAY_MS)
        take.run(id, clock.now())
        return isDone.get(id) !== 1
      }),
    endSlackRequest: async (id, kind, outcome) => {
      tx(() => void done.run(clock.now(), id))
      tallies.add('slack_requests', { kind, outcome })
    },
    slackAsked: async (person) => asked.get(person, clock.now() - DAY_MS) ?? 0,
    beginSlackAnswer: async (answer) =>
      tx(() => {
        forgetAnswers.run(clock.now() - KEPT_MS)
        begin.run({ ...answer, at: clock.now() })
      }),
    placeSlackAnswer: async (turn, thread, ts) => tx(() => void place.run(thread, ts, turn)),
    endSlackAnswer: async (turn, answer, state) => tx(() => void end.run(answer, state, turn)),
    openSlackAnswers: async () => open.all(),
    earlierSlackAnswers: async (channel, thread) => earlier.all(channel, thread).reverse(),
  }
}

/*
 * Who of Slack may do what: an admin maps people, by user id or e-mail address, to the scope of a credential; who is
 * not mapped may do nothing, and ask where everyone may. And the workspace that requests are taken of.
 */

/** Scopes, from the lowest; each has those before it. */
const RIGHTS = ['read', 'respond', 'admin'] as const
export type SlackRight = (typeof RIGHTS)[number]

/** Somebody in Slack, with what they may. */
export interface Mapped {
  /** Team and user, such as slack:T1:U1: the id of the caller. */
  id: string
  name: string
  scopes: SlackRight[]
}

export interface SlackPeopleSettings {
  get(): SlackPeople
  /** As checked and looked up by the caller. */
  put(people: SlackPeople): SlackPeople
  /** The scopes of a person; none where they are not mapped. @param everyone what all may who are not mapped */
  scopesOf(user: string, everyone: boolean): SlackRight[]
  nameOf(user: string): string | null
  team(): SlackTeamBound | null
  bindTeam(team: SlackTeamBound | null): void
}

const PEOPLE = 'slack_people'
const TEAM = 'slack_bound_team'
const NOBODY: SlackPeople = { people: [], everyone: 'read', proposals_channel: '' }

/** On the connection that has the settings. */
export function openSlackPeople(store: StoreHandle, clock: Clock): SlackPeopleSettings {
  const settings = openSettings(store, clock)
  const get = (): SlackPeople => settings.get<SlackPeople>(PEOPLE) ?? NOBODY
  const find = (user: string) => get().people.find((one) => one.user === user)
  return {
    get,
    put: (people) => {
      settings.put(PEOPLE, people)
      return people
    },
    scopesOf: (user, everyone) => {
      const right = find(user)?.rights ?? (everyone && get().everyone === 'read' ? 'read' : null)
      return right === null ? [] : scopesUpTo(right)
    },
    nameOf: (user) => find(user)?.name || null,
    team: () => settings.get<SlackTeamBound>(TEAM) ?? null,
    bindTeam: (team) => settings.put(TEAM, team ?? undefined),
  }
}

const scopesUpTo = (right: SlackRight): SlackRight[] => RIGHTS.slice(0, RIGHTS.indexOf(right) + 1)

/** What Slack says of somebody. */
interface SlackUser {
  id: string
  name: string
}

/** Looks people up in Slack, by e-mail address. */
export type FindByEmail = (
  email: string,
) => Promise<{ user: SlackUser } | { error: string; isNobody: boolean }>

/**
 * What is stored of a mapping as it is entered: addresses are looked up once, so that a button never waits for that.
 * @throws SvcError invalid, naming the entry: it says nobody or twice the same, or nobody has the address
 */
export async function lookedUp(write: SlackPeopleWrite, find: FindByEmail): Promise<SlackPeople> {
  const people: SlackPerson[] = []
  for (const [i, { user = '', email = '', name = '', rights }] of write.people.entries()) {
    const place = `people[${i}]`
    if ((user === '') === (email === ''))
      fail('invalid', `${place} must have either user or email`, { field: place })
    const found = user === '' ? await find(email) : { user: { id: user, name: '' } }
    if ('error' in found && found.isNobody)
      fail('invalid', `${place}.email: nobody in the workspace has it`, { field: `${place}.email` })
    const known = 'user' in found ? found.user : null
    if (known && people.some((one) => one.user === known.id))
      fail('invalid', `${place}: the same person is there twice`, { field: place })
    people.push({
      ...{ user: known?.id ?? '', email, name: name || known?.name || '', rights },
      ...('error' in found ? { problem: found.error } : {}),
    })
  }
  return {
    people,
    everyone: write.everyone ?? 'read',
    proposals_channel: write.proposals_channel ?? '',
  }
}

/** A question, and where it was asked. */
export interface Asked {
  question: string
  who: Mapped
  channel: string
  /** Thread it is answered in; null: one is begun. */
  thread: string | null
  /** Address that the command came with, for where the bot may not post; null: it was a mention. */
  hook: string | null
  /** Incident whose thread it was asked in; null: none. */
  incident: string | null
}

export interface SlackAnswers {
  /** Begins to answer. @returns why it is not answered; null: it is */
  begin(asked: Asked): Promise<string | null>
  /** Goes on with those that a stopped daemon left. */
  takeUp(): Promise<void>
  /** Leaves what is being answered for the next start. Never rejects. */
  stop(): Promise<void>
}

export interface AnswersParts {
  port: SlackAskPort
  ask: AskTurnCalls
  api: SlackApi
  access(): Promise<SlackAccess>
  /** What somebody may by now. @param person team and user */
  scopesOf(person: string): Promise<string[]>
  egress: Egress
  clock: Clock
  timers: Timers
  onError(error: Error): void
}

/** Slack lets a message be edited some 50 times a minute (Web API, tier 3). */
const EDIT_MS = 1_500
/** An address of a command is good for half an hour, and nobody looks for so long. */
const HOOK_MS = 120_000
const POST_MS = 10_000
const BLOCKS_MAX = 40
const EARLIER_MAX = 40_000
const TRIES = 6
const PLAIN = { unfurl_links: false, unfurl_media: false, link_names: false, parse: 'none' } as const
const LOOKING = 'Looking into it…'

interface Message {
  text: string
  blocks: object[]
}

/** Where an answer is. */
interface Place {
  channel: string
  ts: string
  thread: string
}

/** What was heard of a turn. */
interface Heard {
  /** As far as it has come. */
  text(): string
  over: Promise<{ text: string } | { error: string }>
}

export function createSlackAnswers(parts: AnswersParts): SlackAnswers {
  const { port, ask, api, onError } = parts
  const stopping = new AbortController()
  const underWay = new Set<Promise<void>>()

  function track(work: Promise<void>): void {
    const kept = work.catch((error) => onError(error instanceof Error ? error : new Error(String(error))))
    underWay.add(kept)
    void kept.finally(() => underWay.delete(kept))
  }

  async function begin({ question, who, channel, thread, hook, incident }: Asked): Promise<string | null> {
    const earlier = thread === null ? [] : await port.earlierSlackAnswers(channel, thread)
    const about = incident === null ? '' : `(Asked in the thread of incident ${incident}.) `
    const caller: AskCaller = { id: who.id, name: `${who.name} in Slack`, scopes: who.scopes }
    let turn: string
    try {
      turn = (
        await ask.ask({ messages: [...said(earlier), { role: 'user', content: about + question }] }, caller)
      ).turn
    } catch (error) {
      if (error instanceof SvcError) return error.message
      throw error
    }
    const answer = {
      ...{ turn, person: personOf(who.id), name: who.name, channel, question },
      ...{ thread_ts: thread, ts: null },
    }
    await port.beginSlackAnswer(answer)
    track(answerIn({ ...answer, at: parts.clock.now() }, caller, hook, false))
    return null
  }

  /** @param isUnsure it was begun before a stop: a message of it may be there */
  async function answerIn(
    of: SlackAnswer,
    caller: AskCaller,
    hook: string | null,
    isUnsure: boolean,
  ): Promise<void> {
    const heard = listen(ask, of.turn, caller, onError)
    const access = await parts.access()
    const place = await placed(of, access, isUnsure)
    if (place === null) return viaHook(of, heard, hook)
    let shown = ''
    let wait = EDIT_MS
    for (;;) {
      const ended = await within(parts.timers, wait, stopping.signal, heard.over)
      if (ended === 'aborted') return
      wait = EDIT_MS
      if (ended === 'timeout') {
        const text = heard.text()
        if (text === shown) continue
        const edited = await api(
          'chat.update',
          { ...{ channel: place.channel, ts: place.ts }, ...PLAIN, ...partial(text) },
          access,
        )
        if (edited.ok) shown = text
        else wait = Math.max(EDIT_MS, edited.retryAfterMs ?? 0)
        continue
      }
      await finish(of, place, ended.value, access)
      return
    }
  }

  /** Where the answer is, its thread begun first where there is none; null: the bot may not post there. */
  async function placed(of: SlackAnswer, access: SlackAccess, isUnsure: boolean): Promise<Place | null> {
    if (of.ts !== null) return { channel: of.channel, ts: of.ts, thread: of.thread_ts ?? of.ts }
    const post = async (thread: string | null, message: Message): Promise<string | null> => {
      const key = { turn: of.turn, is: thread === null ? 'question' : 'answer' }
      const look = { slack: { api }, access, signal: undefined }
      const there = isUnsure ? await findPosted({ channel: of.channel, thread, since: of.at }, key, look) : []
      if (Array.isArray(there) && there[0]) return there[0].ts
      const metadata = { event_type: 'svc_answer', event_payload: key }
      const body = { channel: of.channel, ...message, ...PLAIN, metadata }
      const answered = await again(() =>
        api('chat.postMessage', { ...body, ...(thread === null ? {} : { thread_ts: thread }) }, access),
      )
      return answered.ok && typeof answered.body.ts === 'string' ? answered.body.ts : null
    }
    const thread = of.thread_ts ?? (await post(null, heading(of)))
    if (thread === null) return null
    await port.placeSlackAnswer(of.turn, thread, null)
    const ts = await post(thread, partial(''))
    if (ts === null) return null
    await port.placeSlackAnswer(of.turn, thread, ts)
    return { channel: of.channel, ts, thread }
  }

  async function finish(
    of: SlackAnswer,
    { channel, ts, thread }: Place,
    ended: { text: string } | { error: string },
    access: SlackAccess,
  ): Promise<void> {
    const [first, ...more] = whole(ended, of.name)
    const edited = await again(() => api('chat.update', { channel, ts, ...PLAIN, ...first! }, access))
    for (const message of edited.ok ? more : [])
      await again(() => api('chat.postMessage', { channel, thread_ts: thread, ...PLAIN, ...message }, access))
    if (stopping.signal.aborted && !edited.ok) return
    await port.endSlackAnswer(
      of.turn,
      'text' in ended ? ended.text : ended.error,
      'text' in ended ? 'answered' : 'failed',
    )
  }

  /** What may pass is tried again. */
  async function again(call: () => Promise<Said>): Promise<Said> {
    for (let n = 1; ; n++) {
      const answered = await call()
      if (answered.ok || answered.isFinal || n === TRIES) return answered
      const wait = answered.retryAfterMs ?? pauseOf(n)
      if ((await within(parts.timers, wait, stopping.signal, new Promise<never>(() => {}))) === 'aborted')
        return answered
    }
  }

  /** Where the bot may not post: to the address that came with the command. */
  async function viaHook(of: SlackAnswer, heard: Heard, hook: string | null): Promise<void> {
    const ended = await within(parts.timers, HOOK_MS, stopping.signal, heard.over)
    if (ended === 'aborted') return
    const late = { error: `there was no answer within ${HOOK_MS / 1_000} seconds` }
    const outcome = ended === 'timeout' ? late : ended.value
    if (hook !== null)
      await postTo(
        hook,
        'text' in outcome ? inChannel(of, outcome.text) : whisper(refusal(outcome.error)),
        parts.egress,
      )
    await port.endSlackAnswer(
      of.turn,
      'text' in outcome ? outcome.text : outcome.error,
      'text' in outcome ? 'answered' : 'failed',
    )
  }

  return {
    begin,
    takeUp: async () => {
      for (const of of await port.openSlackAnswers()) {
        const id = `slack:${of.person}`
        const caller = { id, name: `${of.name} in Slack`, scopes: await parts.scopesOf(of.person) }
        track(answerIn(of, caller, null, true))
      }
    },
    stop: async () => {
      stopping.abort()
      await Promise.all(underWay)
    },
  }
}

/** Team and user, without the prefix of callers. */
const personOf = (id: string): string => id.replace(/^slack:/, '')

/** Listens to a turn from its beginning. */
function listen(ask: AskTurnCalls, turn: string, caller: AskCaller, onError: (error: Error) => void): Heard {
  let text = ''
  // Told nothing else at its end, as by a stop of the daemon.
  let error: string | null = 'the service stopped while this was answered; ask again'
  const over = new Promise<{ text: string } | { error: string }>((resolve) => {
    const reader = {
      frame: (_n: number, frame: { type: string; text?: string; detail?: string }) => {
        if (frame.type === 'start') text = ''
        if (frame.type === 'text') text += frame.text ?? ''
        if (frame.type === 'done') error = null
        if (frame.type === 'error') error = frame.detail ?? 'no reason was given'
      },
      end: () => {
        if (error !== null) resolve({ error })
        else resolve(text.trim() === '' ? { error: 'the model said nothing' } : { text })
      },
    }
    ask.followAsk(turn, 0, caller, reader).catch((fault: Error) => {
      if (!(fault instanceof SvcError)) onError(fault)
      resolve({ error: fault instanceof SvcError ? fault.message : 'it could not be answered' })
    })
  })
  return { text: () => text, over }
}

/** What was said before in the thread, the newest where it is long. */
function said(earlier: readonly { question: string; answer: string }[]) {
  const messages: { role: 'user' | 'assistant'; content: string }[] = []
  let left = EARLIER_MAX
  for (const { question, answer } of [...earlier].reverse()) {
    left -= question.length + answer.length
    if (left < 0) break
    messages.unshift({ role: 'user', content: question }, { role: 'assistant', content: answer })
  }
  return messages
}

const section = (text: string): object => ({
  type: 'section',
  text: { type: 'mrkdwn', text, verbatim: true },
})
const context = (text: string): object => ({
  type: 'context',
  elements: [{ type: 'mrkdwn', text: escaped(text), verbatim: true }],
})
const refusal = (reason: string): string => `That could not be answered: ${reason}`
const TEXT_MAX = 300
const short = (text: string): string =>
  escaped(text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX - 1)}…` : text)

/** The question, which heads the thread of a command. */
const heading = ({ question, name }: SlackAnswer): Message => ({
  text: short(question),
  blocks: [
    ...sections(`*${escaped(question.replace(/\s+/g, ' ').replaceAll('*', ''))}*`)
      .slice(0, 1)
      .map(section),
    context(`Asked by ${name}; the answer is in the thread`),
  ],
})

/** An answer as far as it has come. */
function partial(text: string): Message {
  const blocks = sections(mrkdwn(text)).slice(0, BLOCKS_MAX).map(section)
  return { text: text === '' ? LOOKING : short(text), blocks: [...blocks, context(LOOKING)] }
}

/** The answer, in as many messages as it takes. */
function whole(ended: { text: string } | { error: string }, name: string): Message[] {
  const text = 'text' in ended ? mrkdwn(ended.text) : escaped(refusal(ended.error))
  const parts = sections(text)
  const messages: Message[] = []
  for (let from = 0; from < parts.length; from += BLOCKS_MAX)
    messages.push({
      text: short('text' in ended ? ended.text : refusal(ended.error)),
      blocks: parts.slice(from, from + BLOCKS_MAX).map(section),
    })
  messages.at(-1)?.blocks.push(context(`Asked by ${name}`))
  return messages
}

const inChannel = (of: SlackAnswer, text: string): object => ({
  response_type: 'in_channel',
  replace_original: true,
  text: short(of.question),
  blocks: [
    ...heading(of).blocks.slice(0, 1),
    ...sections(mrkdwn(text)).slice(0, BLOCKS_MAX).map(section),
    context(`Asked by ${of.name}`),
  ],
})

/** Shown to whoever asked alone. */
export const whisper = (text: string): { response_type: 'ephemeral'; text: string } => ({
  response_type: 'ephemeral',
  text: escaped(text),
})

/** Posts to an address that came in a request that Slack signed; it may still lead to public addresses alone. */
export async function postTo(url: string, body: object, egress: Egress): Promise<void> {
  await egress.send({
    url,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    audience: 'caller',
    timeoutMs: POST_MS,
    maxResponseBytes: 0,
  })
}
