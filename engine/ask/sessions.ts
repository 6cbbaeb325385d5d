/** Conversations with Ask: rows of the credential that made them, which no other sees. */
import type { AskSessionSaved, AskSessionWrite } from '../../schemas/types.ts'
import type { Clock } from '../clock.ts'
import { fail } from '../errors.ts'
import type { StoreHandle } from '../store/handle.ts'
import type { AskSessionCalls } from './calls.ts'
import { presentSession, presentTurn } from './present.ts'
import type { AskQueries } from './queries.ts'

/** Conversations of a credential; the one longest not asked in goes when there is one more. */
const KEPT = 50
const TITLE_MAX = 120
/** Of what a client keeps with a conversation, and of the turns of one, each. */
export const SESSION_MAX = 2_000_000
const ID = /^[0-9a-f]{16,64}$/

/** Whether a conversation so named is kept. */
export const isKept = (id: string | null): id is string => id !== null && ID.test(id)

/** The first line of a text as a title. */
export const titleOf = (text: string): string => text.trim().split('\n')[0]!.trim().slice(0, TITLE_MAX)

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
      const turns = queries.turnsOf
        .all({ owner, id })
        .map((turn) => presentTurn(turn, queries.steps.all(turn.id)))
      return { ...session, state: row.state, turns }
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
