/** Requests of Slack that were taken, each once, and questions that are answered there. Times are epoch ms. */
import type { Clock } from '../clock.ts'
import type { StoreHandle } from '../log/store/handle.ts'
import type { Tallies } from '../log/tallies.ts'

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
export interface EarlierAnswer {
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

const DAY_MS = 86_400_000
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
