/** Requests of Slack that were taken, each once, and questions that are answered there. Times are epoch ms. */

import type { SlackPeople, SlackPeopleWrite, SlackPerson, SlackTeamBound } from '../../schemas/types.ts'
import type { Clock } from '../clock.ts'
import { fail } from '../errors.ts'
import { openSettings } from '../log/settings.ts'
import type { StoreHandle } from '../log/store/handle.ts'
import type { Tallies } from '../log/tallies.ts'
import { DAY_MS } from '../model/units.ts'

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
