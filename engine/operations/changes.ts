/** Change-sets: what was changed, by whom and why; composed, planned and undone. */
import type { WriteBy } from '../declared/declared.ts'
import { BACKTEST_ADVICE, isAdmin, PLAN_ADVICE } from './input.ts'
import { tagged } from './operation.ts'

const operation = tagged('changes')
const KINDS = [
  'source',
  'mcp_server',
  'skill',
  'trigger',
  'agent',
  'entity',
  'project',
  'mcp server',
] as const
const BIG_BODY = 16 * 1024 * 1024
const ID = { id: { type: 'integer', minimum: 1 } } as const

/** A reason in the body goes before one in a header. */
const told = (by: WriteBy, why: string | undefined): WriteBy => ({ ...by, why: why ?? by.why })

export const changes = [
  operation({
    id: 'listChangeSets',
    route: 'GET /api/change-sets',
    scope: 'read',
    role: 'reader',
    query: {
      project: { type: 'string', minLength: 1, maxLength: 200 },
      kind: { type: 'string', enum: KINDS },
      name: { type: 'string', minLength: 1 },
      before: { type: 'integer', minimum: 1 },
      limit: { type: 'integer', default: 50, minimum: 1 },
    },
    answer: 'change-sets-result.json',
    summary: 'Change history, newest first',
    run: (engine, { query }) => engine.listChangeSets(query),
  }),
  operation({
    id: 'getChangeSet',
    route: 'GET /api/change-sets/{id}',
    scope: 'read',
    role: 'reader',
    params: ID,
    answer: 'change-set.json',
    summary: 'One change-set',
    run: (engine, { params }) => engine.getChangeSet(params.id),
  }),
  operation({
    id: 'applyChangeSet',
    route: 'POST /api/change-sets',
    scope: 'admin',
    role: ({ body }) => (body.dry_run ? 'wide' : 'writer'),
    advice: PLAN_ADVICE,
    body: 'request-change-set-create.json',
    bodyLimit: BIG_BODY,
    answer: 'change-applied.json',
    recorded: true,
    access: 'changes',
    summary: 'Apply operations all or nothing, or only plan them',
    run: (engine, { body, by }) => engine.applyChangeSet(body, told(by, body.why)),
  }),
  operation({
    id: 'backtestChange',
    route: 'POST /api/change-sets/backtest',
    scope: 'read',
    role: 'wide',
    advice: BACKTEST_ADVICE,
    tells: true,
    body: 'request-plan-backtest.json',
    bodyLimit: BIG_BODY,
    answer: 'plan-backtest.json',
    summary: 'What a change would have done over stored events; nothing is written',
    run: (engine, { body, caller, told }) => engine.backtestChange(body, isAdmin({ caller }), told),
  }),
  operation({
    id: 'undoChangeSet',
    route: 'POST /api/change-sets/{id}/undo',
    scope: 'admin',
    role: ({ body }) => (body.dry_run ? 'wide' : 'writer'),
    advice: PLAN_ADVICE,
    params: ID,
    body: 'request-undo.json',
    answer: 'change-applied.json',
    recorded: true,
    access: 'changes',
    summary: 'Undo a change-set by a new one; later changes to other fields stay',
    run: (engine, { params, body: { dry_run = false, why }, by }) =>
      engine.undoChangeSet(params.id, dry_run, told(by, why)),
  }),
  operation({
    id: 'rollBack',
    route: 'POST /api/change-sets/{id}/rollback',
    scope: 'admin',
    role: ({ body }) => (body.dry_run ? 'wide' : 'writer'),
    advice: PLAN_ADVICE,
    params: ID,
    body: 'request-rollback.json',
    answer: 'change-applied.json',
    recorded: true,
    access: 'changes',
    summary: 'Take the instance, or one project, back to how it was right after a change-set',
    run: (engine, { params, body: { dry_run: dryRun = false, project, why }, by }) =>
      engine.rollBack(params.id, { project, dryRun }, told(by, why)),
  }),
]

/* Proposals: a change that a credential may plan and not make, until a person approves it. */

export const proposals = [
  operation({
    id: 'listProposals',
    route: 'GET /api/proposals',
    scope: 'read',
    role: 'reader',
    query: {
      state: { type: 'string', enum: ['open', 'approved', 'declined', 'withdrawn'] },
      before: { type: 'string', maxLength: 64 },
      limit: { type: 'integer', default: 50, minimum: 1 },
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
