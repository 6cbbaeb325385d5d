/** The SQL of Ask. */
import { dollarsSql } from '../models/dollars.ts'
import type { Database } from '../store/handle.ts'
import type { AskMode, BuildStep } from './types.ts'

export interface SessionRow {
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
  snapshot: string
  state: 'running' | 'answered' | 'exhausted' | 'cancelled' | 'failed'
}

export interface StepRow {
  n: number
  kind: string
  round: number
  at: number
  ms: number | null
  data: string
}

export type NewTurnRow = Pick<
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
    `INSERT INTO ask_turns (id, seq, owner, session, kept, mode, step, question, provider, model, bytes, asked_at, snapshot)
     VALUES (@id, (SELECT coalesce(max(seq), 0) + 1 FROM ask_turns), @owner, @session, @kept, @mode, @step, @question, @provider, @model, @bytes, @asked_at, @snapshot)`,
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
    running: db.prepare<[], TurnRow>("SELECT * FROM ask_turns WHERE state = 'running'"),
    steps: db.prepare<[string], StepRow>('SELECT * FROM ask_steps WHERE turn_id = ? ORDER BY n'),
    saveStep: db.prepare<[string, number, string, number, number, number | null, string]>(
      'INSERT OR REPLACE INTO ask_steps (turn_id, n, kind, round, at, ms, data) VALUES (?, ?, ?, ?, ?, ?, ?)',
    ),
    grow: db.prepare<[number, string]>('UPDATE ask_turns SET bytes = bytes + ? WHERE id = ?'),
    countTool: db.prepare<[string]>('UPDATE ask_turns SET tool_calls = tool_calls + 1 WHERE id = ?'),
    reserve: db.prepare<[number, string]>('UPDATE ask_turns SET reserved_usd = ? WHERE id = ?'),
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
