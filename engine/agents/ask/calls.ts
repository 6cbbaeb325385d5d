/** Ask as the doors call it. */

import { foldsIn } from '../../../schemas/event-line.ts'
import type {
  AskCancelled,
  AskFrame,
  AskProposal,
  AskRequest,
  AskSessionDetail,
  AskSessionSaved,
  AskSessionsResult,
  AskSessionWrite,
  AskStartersResult,
  AskTurn,
} from '../../../schemas/types.ts'
import type { Access, Caller } from '../../calls.ts'
import { waitWords } from '../models/adapter.ts'
import type { ModelMessage } from '../models/types.ts'
import type { CallRefusal } from '../models/usage.ts'
import type { Parked, Step, StepWrite } from '../runs/types.ts'

/** Told the frames of a turn in order, each with its number, then its end. */
export interface FrameReader {
  frame(n: number, frame: AskFrame): void
  end(): void
}

export interface AskSessionCalls {
  /** Conversations of a credential, the one last asked in first. */
  listAskSessions(caller: Caller): Promise<AskSessionsResult>
  /** @throws SvcError not_found */
  getAskSession(id: string, caller: Caller): Promise<AskSessionDetail>
  /** Makes or renames one. @throws SvcError invalid; too_large */
  saveAskSession(id: string, body: AskSessionWrite, caller: Caller): Promise<AskSessionSaved>
  /** @throws SvcError not_found */
  deleteAskSession(id: string, caller: Caller): Promise<{ ok: true }>
}

export interface AskTurnCalls {
  /**
   * Begins to answer. @returns the turn, whose frames `followAsk` gives.
   * @throws SvcError invalid, also where no model can be asked; forbidden; not_found; wrong_state;
   *   too_large; too_many
   */
  ask(body: AskRequest, caller: AskCaller): Promise<{ turn: string }>
  /**
   * Frames of a turn after number `after`, then those to come. One that is no longer in memory is told
   * from its beginning. @throws SvcError not_found
   */
  followAsk(turn: string, after: number, caller: Caller, reader: FrameReader): Promise<{ stop(): void }>
  /** @throws SvcError not_found; wrong_state */
  cancelAsk(turn: string, caller: Caller): Promise<AskCancelled>
}

export interface AskStarterCalls {
  /** Questions to begin with. @param isAdmin may have parts proposed */
  askStarters(isAdmin: boolean): Promise<AskStartersResult>
}

export type AskCalls = AskSessionCalls & AskTurnCalls & AskStarterCalls

/** For what passes them on to the thread that answers; the port is not for doors. */
export const askPortAccess: Record<keyof AskPort, Access> = {
  claimTurns: 'writes',
  beginTurn: 'writes',
  recordAskSteps: 'writes',
  beginAskCall: 'writes',
  endTurn: 'writes',
  askTurn: 'writes',
  planProposal: 'writes',
}

/* Ask: a question that is answered by a model over reads of the instance. What its parts hand one another. */

/** Who asks: tools are called with what this credential may. */
export interface AskCaller extends Caller {
  scopes: readonly string[]
}

export type AskMode = NonNullable<AskRequest['mode']>
export type BuildStep = NonNullable<AskRequest['step']>

export interface NewTurn {
  /** Id of the credential. */
  owner: string
  session: string | null
  /** Turn of the session it takes the place of. */
  replaces: string | null
  mode: AskMode
  step: BuildStep | null
  question: string
  /** What was said before, as the caller gave it; none: the session says. */
  given: { role: 'user' | 'assistant'; content: string }[]
  provider: string
  model: string
  /** Who asks, for when it is taken up again. */
  asker: Pick<AskCaller, 'name' | 'scopes'>
}

export interface BegunTurn {
  id: string
  /** Fences its data. */
  marker: string
  /** What was said before. */
  earlier: ModelMessage[]
  /** Epoch ms. */
  askedAt: number
  /** No event had been stored with a later time when it began: later than the clock, where that was set back. Epoch ms. */
  newest: number
  /** Its tape: of one that a stop came between, what was done before. */
  steps: Step[]
}

/** A turn that a stop came between, to be gone on with. */
export interface ClaimedTurn {
  begun: BegunTurn
  turn: NewTurn
}

export interface TurnEnd {
  event: 'answer' | 'exhaust' | 'cancel' | 'fail'
  /** What there is of an answer. */
  answer: string
  error: string | null
}

/** A proposal as a tool was called for it; its arguments hold their schema. */
export interface ProposalDraft {
  kind: AskProposal['kind']
  args: Record<string, unknown>
}

/** What a turn asks of the store. */
export interface AskPort {
  /** @throws SvcError not_found; wrong_state: the session is being answered; too_large */
  beginTurn(turn: NewTurn): Promise<BegunTurn>
  /** Takes up what a stopped daemon left, once at the start; those that must not go on have ended. */
  claimTurns(): Promise<ClaimedTurn[]>
  recordAskSteps(turn: string, steps: readonly StepWrite[]): Promise<void>
  /** Reserves what a call may cost and writes its step. @returns why it must not be made; null: it may */
  beginAskCall(turn: string, step: StepWrite, ceilingUsd: number | null): Promise<CallRefusal | null>
  endTurn(turn: string, end: TurnEnd): Promise<AskTurn>
  /** @throws SvcError not_found: there is none, or it is another credential's */
  askTurn(turn: string, owner: string): Promise<AskTurn>
  /** Plans what a proposal would change. @throws SvcError as making it would */
  planProposal(draft: ProposalDraft, caller: Caller): Promise<AskProposal>
}

/** A turn that has ended, for its trace. */
export interface EndedTurn {
  turn: AskTurn
  steps: Step[]
  earlier: ModelMessage[]
}

/* The answer of a turn in pieces, made again from its steps: what its stream gave, without its breaks. */

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

/** Its model is unavailable for now. */
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
