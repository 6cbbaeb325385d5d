/** Ask: a question that is answered by a model over reads of the instance. What its parts hand one another. */
import type { AskProposal, AskRequest, AskTurn } from '../../schemas/types.ts'
import type { Caller } from '../calls.ts'
import type { CallRefusal } from '../models/reserving.ts'
import type { ModelMessage } from '../models/types.ts'
import type { Step, StepWrite } from '../runs/types.ts'

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
}

export interface BegunTurn {
  id: string
  /** Fences its data. */
  marker: string
  /** What was said before. */
  earlier: ModelMessage[]
  /** Epoch ms. */
  askedAt: number
}

export interface TurnEnd {
  event: 'answer' | 'exhaust' | 'cancel' | 'fail'
  /** What there is of an answer. */
  answer: string
  error: string | null
}

/** A proposal as a tool was called for it; its arguments hold their schema. */
export interface Draft {
  kind: AskProposal['kind']
  args: Record<string, unknown>
}

/** What a turn asks of the store. */
export interface AskPort {
  /** @throws SvcError not_found; wrong_state: the session is being answered; too_large */
  beginTurn(turn: NewTurn): Promise<BegunTurn>
  recordAskSteps(turn: string, steps: readonly StepWrite[]): Promise<void>
  /** Reserves what a call may cost and writes its step. @returns why it must not be made; null: it may */
  beginAskCall(turn: string, step: StepWrite, ceilingUsd: number | null): Promise<CallRefusal | null>
  endTurn(turn: string, end: TurnEnd): Promise<AskTurn>
  /** @throws SvcError not_found: there is none, or it is another credential's */
  askTurn(turn: string, owner: string): Promise<AskTurn>
  /** Plans what a proposal would change. @throws SvcError as making it would */
  planProposal(draft: Draft, caller: Caller): Promise<AskProposal>
}

/** A turn that has ended, for its trace. */
export interface EndedTurn {
  turn: AskTurn
  steps: Step[]
  earlier: ModelMessage[]
}
