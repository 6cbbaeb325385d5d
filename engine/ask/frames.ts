/** The answer of a turn in pieces, made again from its steps: what its stream gave, without its breaks. */

import { foldsIn } from '../../schemas/event-line.ts'
import type { AskFrame, AskTurn } from '../../schemas/types.ts'
import { waitWords } from '../models/patience.ts'
import type { Parked, Step } from '../runs/types.ts'

/** Characters of a result that are shown. */
const PREVIEW_MAX = 400
const FOLDS_MAX = 200
/** Calls of the model that may look things up; one more is made to answer. */
export const ROUNDS = 10
/** Said where the rounds were used up, so that it never ends without a word. */
export const CLOSING = `\n\n*The ${ROUNDS} rounds of one answer are used up. Ask me to go on, or narrow the question.*`

/** Said where the model had no room for more, so that an answer that ends in the middle is known to. */
export const CUT = '\n\n*The answer was cut off: it was longer than there was room for. Ask me to go on.*'

/** Lines that fence data from instructions; they are for the model alone. */
const FENCE = /^<<<data \w+\n([\s\S]*)\ndata \w+>>>$/

function previewOf(result: string): string {
  const text = FENCE.exec(result.trim())?.[1] ?? result.replace(/^(<<<data \w+|data \w+>>>)$/gm, '').trim()
  return text.length > PREVIEW_MAX ? `${text.slice(0, PREVIEW_MAX - 1)}…` : text
}

/** What is shown of an answer of a tool: how it begins, and its folds, most of which stand further on. */
export function shownOf(result: string): Pick<ToolDone, 'preview' | 'folds'> {
  const folds = foldsIn(result).slice(0, FOLDS_MAX)
  return { preview: previewOf(result), ...(folds.length ? { folds } : {}) }
}

type ToolDone = Extract<AskFrame, { type: 'tool_done' }>

/** Its model is not to be had for now. */
export const waitFrame = (parked: Parked): AskFrame => ({
  type: 'wait',
  detail: waitWords(parked),
  reason: parked.reason,
  until: new Date(parked.until).toISOString(),
})

/** @param steps in order. @param rest text of a call that was cut off */
export function framesOf(steps: readonly Step[], rest: string): AskFrame[] {
  const frames: AskFrame[] = []
  for (const step of steps) {
    if (step.kind === 'model' && step.data.reply) {
      if (step.data.reply.text) frames.push({ type: 'text', text: step.data.reply.text })
    } else if (step.kind === 'tool') {
      const { call, result = '', is_error = true, proposal } = step.data
      frames.push({ type: 'tool', id: call.id, name: call.name, input: call.arguments })
      frames.push({
        type: 'tool_done',
        id: call.id,
        ms: step.ms ?? 0,
        ok: !is_error,
        ...shownOf(result),
      })
      if (proposal) frames.push({ type: 'proposal', kind: proposal.kind, id: call.id, payload: proposal })
    } else if (step.kind === 'note' && step.data.parked) frames.push(waitFrame(step.data.parked))
    else if (step.kind === 'refused') {
      const { call, reason } = step.data
      frames.push({ type: 'tool', id: call.id, name: call.name, input: call.arguments })
      frames.push({ type: 'tool_done', id: call.id, ms: 0, ok: false, ...shownOf(reason) })
    }
  }
  if (rest) frames.push({ type: 'text', text: rest })
  return frames
}

/** The last frame of a turn that has ended. */
export function lastFrame(turn: AskTurn): AskFrame {
  const { state, error, rounds, input_tokens, output_tokens, cost_usd, asked_at, finished_at } = turn
  if (state === 'failed' || state === 'running')
    return { type: 'error', detail: error ?? 'it is not answered any more' }
  const ms = finished_at === null ? 0 : Date.parse(finished_at) - Date.parse(asked_at)
  return { type: 'done', state, rounds, input_tokens, output_tokens, cost_usd, ms }
}

/** The first frame of a turn. */
export const firstFrame = (
  turn: Pick<AskTurn, 'id' | 'session' | 'mode' | 'provider' | 'model'>,
): AskFrame => ({
  type: 'start',
  turn: turn.id,
  session: turn.session,
  mode: turn.mode,
  provider: turn.provider,
  model: turn.model,
})

/** Everything a turn told, for a reader that comes when it is no longer in memory. */
export const allFrames = (turn: AskTurn): AskFrame[] => [firstFrame(turn), ...turn.frames, lastFrame(turn)]
