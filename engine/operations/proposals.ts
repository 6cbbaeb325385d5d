/** Proposals: a change that a credential may plan and not make, until a person approves it. */
import { isAdmin } from './input.ts'
import { tagged } from './operation.ts'

const operation = tagged('changes')

export const proposals = [
  operation({
    id: 'listProposals',
    route: 'GET /api/proposals',
    scope: 'read',
    role: 'reader',
    query: {
      state: { type: 'string', enum: ['open', 'approved', 'declined', 'withdrawn'] },
      before: { type: 'string', maxLength: 64 },
      limit: { type: 'integer', default: 50 },
    },
    answer: 'proposals-result.json',
    summary: 'Proposals, newest first',
    run: (engine, { query }) => engine.listProposals(query),
  }),
  operation({
    id: 'propose',
    route: 'POST /api/proposals',
    scope: 'read',
    role: 'writer',
    body: 'request-proposal-create.json',
    answer: 'proposal.json',
    status: 201,
    recorded: true,
    summary: 'Plan a change and leave it to a person',
    run: (engine, { body, by }) => engine.propose(body, by),
  }),
  operation({
    id: 'getProposal',
    route: 'GET /api/proposals/{id}',
    scope: 'read',
    role: 'reader',
    answer: 'proposal.json',
    summary: 'One proposal',
    run: (engine, { params }) => engine.getProposal(params.id),
  }),
  operation({
    id: 'approveProposal',
    route: 'POST /api/proposals/{id}/approve',
    scope: 'admin',
    role: 'writer',
    answer: 'proposal.json',
    access: 'changes',
    summary: 'Write exactly what was planned, or refuse',
    run: (engine, { params, by }) => engine.approveProposal(params.id, by),
  }),
  operation({
    id: 'declineProposal',
    route: 'POST /api/proposals/{id}/decline',
    scope: 'admin',
    role: 'writer',
    optionalBody: 'request-proposal-decline.json',
    answer: 'proposal.json',
    summary: 'Decline it; nothing is written',
    run: (engine, { params, body, by }) => engine.declineProposal(params.id, body?.reason ?? '', by),
  }),
  operation({
    id: 'withdrawProposal',
    route: 'POST /api/proposals/{id}/withdraw',
    scope: 'read',
    role: 'writer',
    answer: 'proposal.json',
    summary: 'Take back what you proposed',
    run: (engine, { params, by, caller }) => engine.withdrawProposal(params.id, !isAdmin({ caller }), by),
  }),
]
