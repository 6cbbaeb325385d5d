/** The SQL of Ask, and the questions it begins with. */

import type {
  Agent,
  AskSession,
  AskSessionSaved,
  AskSessionWrite,
  AskStartersResult,
  AskTurn,
  LabelFacet,
  Source,
  Trigger,
} from '../../../schemas/types.ts'
import type { Clock } from '../../clock.ts'
import { fail } from '../../errors.ts'
import { acceptedBy } from '../../log/lifecycle.ts'
import type { Database, StoreHandle } from '../../log/store/handle.ts'
import { dollars, dollarsSql, iso } from '../../model/units.ts'
import type { ModelMessage } from '../models/types.ts'
import { Tape } from '../runs/tape.ts'
import type { Parked, Step, StepData } from '../runs/types.ts'
import {
  type AskMode,
  type AskSessionCalls,
  type BuildStep,
  CLOSING,
  CUT,
  framesOf,
  type NewTurn,
} from './calls.ts'

interface SessionRow {
  id: string
  title: string
  state: string | null
  created_at: number
  updated_at: number
  turns: number
  running: string | null
  cost: number
}

export interface TurnRow {
  id: string
  seq: number
  owner: string
  session: string | null
  kept: number
  mode: AskMode
  step: BuildStep | null
  question: string
  answer: string
  error: string | null
  provider: string
  model: string
  rounds: number
  tool_calls: number
  input_tokens: number
  output_tokens: number
  cost_usd: number
  uncosted_calls: number
  reserved_usd: number
  bytes: number
  asked_at: number
  finished_at: number | null
  /** JSON of `AskedAs`; null: of an older release. */
  asked_as: string | null
  snapshot: string
  state: 'running' | 'answered' | 'exhausted' | 'cancelled' | 'failed'
}

/** What a turn needs to be taken up again, beside its tape. */
export type AskedAs = Pick<NewTurn, 'asker' | 'given'>

interface StepRow {
  n: number
  kind: string
  round: number
  at: number
  ms: number | null
  data: string
}

type NewTurnRow = Pick<
  TurnRow,
  | 'id'
  | 'owner'
  | 'session'
  | 'kept'
  | 'mode'
  | 'step'
  | 'question'
  | 'provider'
  | 'model'
  | 'bytes'
  | 'asked_at'
  | 'asked_as'
  | 'snapshot'
>

const OF_SESSION = 'owner = @owner AND session = @id AND kept = 1'
const SESSION = `SELECT s.id, s.title, s.created_at, s.updated_at,
  (SELECT count(*) FROM ask_turns t WHERE t.owner = s.owner AND t.session = s.id AND t.kept = 1) AS turns,
  (SELECT max(t.id) FROM ask_turns t WHERE t.owner = s.owner AND t.session = s.id AND t.kept = 1 AND t.state = 'running') AS running,
  (SELECT ${dollarsSql('coalesce(sum(t.cost_usd), 0)')} FROM ask_turns t WHERE t.owner = s.owner AND t.session = s.id AND t.kept = 1) AS cost`

type Of = { owner: string; id: string }

export type AskQueries = ReturnType<typeof askQueries>

/** The statements of Ask, prepared once. */
export function askQueries(db: Database) {
  const insert = db.prepare<NewTurnRow>(
    `INSERT INTO ask_turns (id, seq, owner, session, kept, mode, step, question, provider, model, bytes, asked_at, asked_as, snapshot)
     VALUES (@id, (SELECT coalesce(max(seq), 0) + 1 FROM ask_turns), @owner, @session, @kept, @mode, @step, @question, @provider, @model, @bytes, @asked_at, @asked_as, @snapshot)`,
  )
  return {
    sessions: db.prepare<[string], SessionRow>(
      `${SESSION}, NULL AS state FROM ask_sessions s WHERE s.owner = ? ORDER BY s.updated_at DESC, s.id`,
    ),
    session: db.prepare<Of, SessionRow>(
      `${SESSION}, s.state FROM ask_sessions s WHERE s.owner = @owner AND s.id = @id`,
    ),
    saveSession: db.prepare<Of & { title: string; state: string | null; at: number }>(
      `INSERT INTO ask_sessions (owner, id, title, state, created_at, updated_at) VALUES (@owner, @id, @title, @state, @at, @at)
       ON CONFLICT (owner, id) DO UPDATE SET title = @title, state = @state, updated_at = @at`,
    ),
    touchSession: db.prepare<Of & { at: number }>(
      'UPDATE ask_sessions SET updated_at = @at WHERE owner = @owner AND id = @id',
    ),
    removeSession: db.prepare<Of>('DELETE FROM ask_sessions WHERE owner = @owner AND id = @id'),
    /** Those beyond the newest so many of a credential. */
    surplus: db
      .prepare<[string, number], string>(
        'SELECT id FROM ask_sessions WHERE owner = ? ORDER BY updated_at DESC, id LIMIT -1 OFFSET ?',
      )
      .pluck(),
    turnsOf: db.prepare<Of, TurnRow>(`SELECT * FROM ask_turns WHERE ${OF_SESSION} ORDER BY seq`),
    bytesOf: db
      .prepare<Of, number>(`SELECT coalesce(sum(bytes), 0) FROM ask_turns WHERE ${OF_SESSION}`)
      .pluck(),
    removeTurns: db.prepare<Of>(`DELETE FROM ask_turns WHERE ${OF_SESSION}`),
    removeFrom: db.prepare<Of & { seq: number }>(`DELETE FROM ask_turns WHERE ${OF_SESSION} AND seq >= @seq`),
    /** Turns of no conversation are there for who reads them yet. */
    removeLoose: db.prepare<[string, string, number]>(
      `DELETE FROM ask_turns WHERE kept = 0 AND owner = ? AND state <> 'running' AND id NOT IN (
         SELECT id FROM ask_turns WHERE kept = 0 AND owner = ? ORDER BY seq DESC LIMIT ?)`,
    ),
    insertTurn: (row: NewTurnRow) => insert.run(row),
    turn: db.prepare<[string], TurnRow>('SELECT * FROM ask_turns WHERE id = ?'),
    running: db.prepare<[], TurnRow>("SELECT * FROM ask_turns WHERE state = 'running' ORDER BY seq"),
    steps: db.prepare<[string], StepRow>('SELECT * FROM ask_steps WHERE turn_id = ? ORDER BY n'),
    saveStep: db.prepare<[string, number, string, number, number, number | null, string]>(
      'INSERT OR REPLACE INTO ask_steps (turn_id, n, kind, round, at, ms, data) VALUES (?, ?, ?, ?, ?, ?, ?)',
    ),
    grow: db.prepare<[number, string]>('UPDATE ask_turns SET bytes = bytes + ? WHERE id = ?'),
    countTool: db.prepare<[string]>('UPDATE ask_turns SET tool_calls = tool_calls + 1 WHERE id = ?'),
    reserve: db.prepare<[number, string]>('UPDATE ask_turns SET reserved_usd = ? WHERE id = ?'),
    /** A call that was cut off may have been paid: what it reserved counts as spent, for the day it counts at all. */
    assume: db.prepare<{ id: string; at: number }>(
      `INSERT INTO ask_cut_calls (at, usd) SELECT @at, reserved_usd FROM ask_turns WHERE id = @id AND reserved_usd > 0`,
    ),
    forgetCut: db.prepare<[number]>('DELETE FROM ask_cut_calls WHERE at < ?'),
    addUsage: db.prepare<{
      id: string
      provider: string
      model: string
      input: number
      output: number
      cost: number
      uncosted: number
    }>(
      `UPDATE ask_turns SET rounds = rounds + 1, provider = @provider, model = @model, input_tokens = input_tokens + @input,
         output_tokens = output_tokens + @output, cost_usd = ${dollarsSql('cost_usd + @cost')}, uncosted_calls = uncosted_calls + @uncosted,
         reserved_usd = 0 WHERE id = @id`,
    ),
    finish: db.prepare<{ id: string; answer: string; error: string | null; at: number }>(
      'UPDATE ask_turns SET answer = @answer, error = @error, finished_at = @at, reserved_usd = 0 WHERE id = @id',
    ),
  }
}

/** Turns that wait for their model now. */
export interface ParkedTurns {
  turns: number
  /** Since when the first of them waits, epoch ms. */
  since: number
  /** When the next of them is asked again, epoch ms. */
  until: number
  /** Why, of that one. */
  reason: string
}

/** @returns null: none does */
export function parkedTurns(db: Database): ParkedTurns | null {
  // Behind a wait stands at most that the service was started in it.
  const waits = db
    .prepare<[], string>(
      `SELECT json_extract(s.data, '$.parked') FROM ask_turns t JOIN ask_steps s ON s.turn_id = t.id
       WHERE t.state = 'running' AND json_extract(s.data, '$.parked') IS NOT NULL AND s.n = (
         SELECT max(n) FROM ask_steps WHERE turn_id = t.id AND json_extract(data, '$.resumed') IS NULL)`,
    )
    .pluck()
    .all()
    .map((parked) => JSON.parse(parked) as Parked)
    .sort((a, b) => a.until - b.until)
  const [next] = waits
  if (!next) return null
  const since = Math.min(...waits.map((parked) => parked.since))
  return { turns: waits.length, since, until: next.until, reason: next.reason }
}

/* Conversations and turns as they are told. */

const presentSession = (row: SessionRow): AskSession => ({
  id: row.id,
  title: row.title,
  created_at: iso(row.created_at),
  updated_at: iso(row.updated_at),
  turns: row.turns,
  running: row.running,
  cost_usd: row.cost,
})

export const stepsOf = (rows: readonly StepRow[]): Step[] =>
  rows.map(({ n, kind, round, at, ms, data }) => ({ n, kind, round, at, ms, data: JSON.parse(data) }) as Step)

export function presentTurn(row: TurnRow, rows: readonly StepRow[]): AskTurn {
  const steps = stepsOf(rows)
  return {
    id: row.id,
    session: row.session,
    state: row.state,
    accepts: acceptedBy('ask_turn', row.snapshot),
    mode: row.mode,
    step: row.step,
    question: row.question,
    answer: row.answer,
    error: row.error,
    provider: row.provider,
    model: row.model,
    rounds: row.rounds,
    tool_calls: row.tool_calls,
    input_tokens: row.input_tokens,
    output_tokens: row.output_tokens,
    cost_usd: row.uncosted_calls > 0 ? null : dollars(row.cost_usd),
    asked_at: iso(row.asked_at),
    finished_at: row.finished_at === null ? null : iso(row.finished_at),
    parked: row.state === 'running' ? parkedNow(steps) : null,
    frames: framesOf(steps, restOf(row, steps)),
  }
}

function parkedNow(steps: readonly Step[]): AskTurn['parked'] {
  const parked = new Tape([...steps]).waitsNow
  if (!parked) return null
  const { reason, since, until, tries } = parked
  return { reason, since: iso(since), until: iso(until), tries }
}

/** What was said beyond the replies that are whole: the piece of one that was cut off, or a word of svc. */
function restOf({ state, answer }: TurnRow, steps: readonly Step[]): string {
  if (state === 'exhausted') return answer.endsWith(CUT.trim()) ? CUT : CLOSING
  if (state === 'running') return ''
  const whole = answerIn(steps)
  const rest = answer.startsWith(whole) ? answer.slice(whole.length) : ''
  // A word of svc is a paragraph of its own.
  return state === 'answered' ? rest : rest.trim()
}

/** What the replies say that are whole. */
export const answerIn = (steps: readonly Step[]): string =>
  joinParagraphs(steps.flatMap((step) => (step.kind === 'model' ? (step.data.reply?.text ?? []) : [])))

/** Texts of the replies of one turn as one. */
export const joinParagraphs = (texts: readonly string[]): string =>
  texts.filter((text) => text.trim()).join('\n\n')

const LEFT_OUT =
  'What was said first in this conversation is left out here, for want of room. Where I ask for something of it, say that you do not see it any more, and do not guess.'

/** @returns what was said before a turn, with the word that more was: nobody is to take it for all there was */
export const asRest = (told: readonly ModelMessage[]): ModelMessage[] => [
  { role: 'user', text: LEFT_OUT },
  { role: 'assistant', text: 'I see.', calls: [] },
  ...told,
]

/* Conversations with Ask: rows of the credential that made them, which no other sees. */

/** Conversations of a credential; the one longest not asked in goes when there is one more. */
const KEPT = 50
const TITLE_MAX = 120
/** Of what a client keeps with a conversation, and of the turns of one, each. */
export const SESSION_MAX = 2_000_000
const ID = /^[0-9a-f]{16,64}$/

/** Whether a conversation so named is kept. */
export const isKept = (id: string | null): id is string => id !== null && ID.test(id)

/** The first line of a text as a title. */
const titleOf = (text: string): string => text.trim().split('\n')[0]!.trim().slice(0, TITLE_MAX)

export function createSessions(
  { tx }: StoreHandle,
  clock: Clock,
  queries: AskQueries,
): AskSessionCalls & {
  /** A turn is begun in it: it is made where it is not there. Inside a transaction. */
  enter(owner: string, id: string, question: string): void
} {
  const require = (owner: string, id: string) =>
    queries.session.get({ owner, id }) ?? fail('not_found', `no conversation has the id ${id}`)

  function remove(owner: string, id: string): void {
    queries.removeTurns.run({ owner, id })
    queries.removeSession.run({ owner, id })
  }

  function save(owner: string, id: string, title: string, state: string | null): void {
    queries.saveSession.run({ owner, id, title, state, at: clock.now() })
    for (const old of queries.surplus.all(owner, KEPT)) remove(owner, old)
  }

  function put(id: string, { title, state }: AskSessionWrite, owner: string): AskSessionSaved {
    if (!isKept(id)) fail('invalid', 'id must be 16 to 64 hexadecimal digits, a to f small', { field: 'id' })
    if (state !== undefined && state.length > SESSION_MAX)
      fail('too_large', `state is over ${SESSION_MAX.toLocaleString('en')} characters`, { field: 'state' })
    const now = queries.session.get({ owner, id })
    const named = title === undefined ? (now?.title ?? 'Untitled') : titleOf(title)
    if (named === '') fail('invalid', 'title must not be empty', { field: 'title' })
    save(owner, id, named, state ?? now?.state ?? null)
    return { ok: true, id, title: named }
  }

  return {
    listAskSessions: async ({ id }) => ({ sessions: queries.sessions.all(id).map(presentSession) }),
    getAskSession: async (id, { id: owner }) => {
      const row = require(owner, id)
      const { turns: _count, ...session } = presentSession(row)
      const turns = queries.turnsOf.all({ owner, id })
      const { leftOut } = toldBefore(queries, turns)
      return {
        ...session,
        state: row.state,
        turns: turns.map((turn) => presentTurn(turn, queries.steps.all(turn.id))),
        ...(leftOut > 0 ? { left_out: leftOut } : {}),
      }
    },
    saveAskSession: async (id, body, { id: owner }) => tx(() => put(id, body, owner)),
    deleteAskSession: async (id, { id: owner }) =>
      tx(() => {
        require(owner, id)
        remove(owner, id)
        return { ok: true }
      }),
    enter: (owner, id, question) => {
      const now = queries.session.get({ owner, id })
      if (!now) save(owner, id, titleOf(question), null)
      else queries.touchSession.run({ owner, id, at: clock.now() })
    },
  }
}

/** Of what was said before: so many turns, and so many characters, from the newest. */
const EARLIER_TURNS = 20
const EARLIER_MAX = 60_000

/**
 * Which turns the next question is told of, first to last: the newest that came to an answer.
 * @returns leftOut how many of the first ones it is not told of
 */
export function toldBefore(
  queries: AskQueries,
  turns: readonly TurnRow[],
): { told: { question: string; answer: string }[]; leftOut: number } {
  const told: { question: string; answer: string }[] = []
  let left = EARLIER_MAX
  let from = turns.length
  let isAll = turns.length <= EARLIER_TURNS
  for (let at = turns.length - 1; at >= Math.max(0, turns.length - EARLIER_TURNS); at--) {
    const { id, question, answer: text } = turns[at]!
    const answer = [text, ...cardsOf(queries, id)].filter(Boolean).join('\n\n')
    if (!answer) continue
    left -= question.length + answer.length
    isAll &&= left >= 0
    if (left < 0) break
    told.unshift({ question, answer })
    from = at
  }
  return { told, leftOut: isAll ? 0 : from }
}

/** Cards are no text of an answer, and are told so that they can be spoken of. */
function cardsOf(queries: AskQueries, turn: string): string[] {
  return queries.steps.all(turn).flatMap(({ kind, data }) => {
    const proposal = kind === 'tool' ? (JSON.parse(data) as StepData['tool']).proposal : undefined
    return proposal ? [`(Shown as a card: ${proposal.kind} ${proposal.name}.)`] : []
  })
}

/* Questions to begin with, made of what is on the instance. */

type Starter = AskStartersResult['starters'][number]

interface Known {
  sources: readonly Source[]
  entities: readonly LabelFacet[]
  triggers: readonly Trigger[]
  agents: readonly Agent[]
  /** May have parts proposed. */
  isAdmin: boolean
}

const SHOWN = 5
/** Connectors of what the service and its agents write, and of documents. */
const OWN = ['finding', 'memory', 'reference']
const asks = (question: string): Starter => ({ question, mode: 'ask' })
const builds = (step: NonNullable<Starter['step']>, question: string): Starter => ({
  question,
  mode: 'build',
  step,
})

/** The most telling first; those that have nothing to be about are left out. */
export function startersOf({ sources, entities, triggers, agents, isAdmin }: Known): Starter[] {
  const starters: Starter[] = []
  const facet = entities.find(({ primary, values }) => primary && values.length > 0) ?? entities[0]
  const value = facet?.values[0]
  const hasEvents = sources.some(({ health }) => health.events_total > 0)
  if (facet && value) starters.push(asks(`What happened to ${facet.label}=${value.value} in the last hour?`))
  if (hasEvents) starters.push(asks('What changed most in the last 24 hours?'))
  const fired = [...triggers]
    .filter(({ last_fired }) => last_fired)
    .sort((a, b) => (String(a.last_fired) < String(b.last_fired) ? 1 : -1))[0]
  if (fired) starters.push(asks(`Why did the trigger ${fired.name} fire last, and what came of it?`))
  if (agents.some(({ stats }) => stats.runs > stats.ok))
    starters.push(asks('Which runs of agents did not succeed, and why?'))
  const silent = sources.find(
    ({ health, state }) => state === 'active' && (health.status === 'error' || health.status === 'refused'),
  )
  if (silent) starters.push(asks(`Is anything wrong with the source ${silent.name}?`))
  if (isAdmin && sources.length === 0)
    starters.push(builds('sources', 'Which systems can I connect, and what is the quickest to begin with?'))
  const unwatched = sources.find(
    ({ name, connector }) =>
      !OWN.includes(connector) && !triggers.some(({ sources: of }) => of.includes(name)),
  )
  if (isAdmin && unwatched && hasEvents)
    starters.push(builds('watch', `What in the source ${unwatched.name} is worth a trigger?`))
  if (isAdmin && fired && agents.length === 0)
    starters.push(builds('agent', `Set up an agent that looks into ${fired.name} when it fires.`))
  if (starters.length < 2) starters.push(asks('What is set up here, and what is missing?'))
  return starters.slice(0, SHOWN)
}
