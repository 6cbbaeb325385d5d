/** Conversations and turns as they are told. */

import type { AskSession, AskTurn } from '../../schemas/types.ts'
import { acceptedBy } from '../lifecycle/advance.ts'
import { dollars } from '../models/dollars.ts'
import type { Step } from '../runs/types.ts'
import { CLOSING, CUT, framesOf } from './frames.ts'
import { waitsNow } from './parked.ts'
import type { SessionRow, StepRow, TurnRow } from './queries.ts'

const iso = (ms: number): string => new Date(ms).toISOString()

export const presentSession = (row: SessionRow): AskSession => ({
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
  const parked = waitsNow(steps)
  if (!parked) return null
  const { reason, since, until, tries } = parked
  return { reason, since: iso(since), until: iso(until), tries }
}

/** What was said beyond the replies that are whole: the piece of one that was cut off, or the closing word. */
function restOf({ state, answer }: TurnRow, steps: readonly Step[]): string {
  if (state === 'exhausted') return answer.endsWith(CUT.trim()) ? CUT : CLOSING
  if (state !== 'cancelled' && state !== 'failed') return ''
  const whole = joined(steps.flatMap((step) => (step.kind === 'model' ? (step.data.reply?.text ?? []) : [])))
  return answer.startsWith(whole) ? answer.slice(whole.length).trim() : ''
}

/** Texts of the replies of one turn as one. */
export const joined = (texts: readonly string[]): string => texts.filter((text) => text.trim()).join('\n\n')
