/** Conversations with Ask; what is asked and answered is a stream, which the door writes itself. */
import { isAdmin } from './input.ts'
import { tagged } from './operation.ts'

const operation = tagged('ask')
/** A state of 2,000,000 characters, each of them escaped. */
const SESSION_BYTES = 12 * 1024 * 1024

export const ask = [
  operation({
    id: 'cancelAsk',
    route: 'POST /api/agent/chat/{turn}/cancel',
    scope: 'read',
    role: 'network',
    answer: 'ask-cancelled.json',
    summary: 'Stop answering; what there is of the answer is kept',
    run: (engine, { params, caller }) => engine.cancelAsk(params.turn, caller),
  }),
  operation({
    id: 'listAskStarters',
    route: 'GET /api/ask/starters',
    scope: 'read',
    role: 'reader',
    answer: 'ask-starters-result.json',
    summary: 'Questions to begin with, made of what is on the instance',
    run: (engine, input) => engine.askStarters(isAdmin(input)),
  }),
  operation({
    id: 'listAskSessions',
    route: 'GET /api/ask/sessions',
    scope: 'read',
    role: 'reader',
    answer: 'ask-sessions-result.json',
    summary: 'Conversations of this credential',
    run: (engine, { caller }) => engine.listAskSessions(caller),
  }),
  operation({
    id: 'getAskSession',
    route: 'GET /api/ask/sessions/{id}',
    scope: 'read',
    role: 'reader',
    answer: 'ask-session-detail.json',
    summary: 'A conversation with its turns',
    run: (engine, { params, caller }) => engine.getAskSession(params.id, caller),
  }),
  operation({
    id: 'saveAskSession',
    route: 'PUT /api/ask/sessions/{id}',
    scope: 'read',
    role: 'writer',
    body: 'request-ask-session-write.json',
    bodyLimit: SESSION_BYTES,
    answer: 'ask-session-saved.json',
    summary: 'Make or rename a conversation',
    run: (engine, { params, body, caller }) => engine.saveAskSession(params.id, body, caller),
  }),
  operation({
    id: 'deleteAskSession',
    route: 'DELETE /api/ask/sessions/{id}',
    scope: 'read',
    role: 'writer',
    answer: 'done.json',
    summary: 'Delete a conversation',
    run: (engine, { params, caller }) => engine.deleteAskSession(params.id, caller),
  }),
]
