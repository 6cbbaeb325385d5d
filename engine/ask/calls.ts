/** Ask as the doors call it. */
import type {
  AskCancelled,
  AskFrame,
  AskRequest,
  AskSessionDetail,
  AskSessionSaved,
  AskSessionsResult,
  AskSessionWrite,
} from '../../schemas/types.ts'
import type { Access } from '../access.ts'
import type { Caller } from '../calls.ts'
import type { AskCaller, AskPort } from './types.ts'

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

export type AskCalls = AskSessionCalls & AskTurnCalls

/** For what passes them on to the thread that answers; the port is not for doors. */
export const askPortAccess: Record<keyof AskPort, Access> = {
  beginTurn: 'writes',
  recordAskSteps: 'writes',
  beginAskCall: 'writes',
  endTurn: 'writes',
  askTurn: 'writes',
  planProposal: 'writes',
}
