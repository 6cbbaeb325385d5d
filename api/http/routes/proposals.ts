/** Proposals: a change that a credential may plan and not make, until a person approves it. */
import type { FastifyInstance } from 'fastify'
import type { Proposal, ProposalCreate, ProposalDecline } from '../../../schemas/types.ts'
import type { Doors } from '../doors.ts'
import { body, fields, optionalBody } from '../validate.ts'
import { writeBy } from '../write-by.ts'
import { describe } from './route.ts'

type Of = { Params: { id: string } }
const TAG = 'changes'
const STATES = ['open', 'approved', 'declined', 'withdrawn']

export function proposalRoutes(app: FastifyInstance, { engine, auth }: Doors): void {
  app.get<{ Querystring: { state?: Proposal['state']; before?: string; limit: number } }>(
    '/api/proposals',
    describe(TAG, 'listProposals', 'Proposals, newest first', 200, 'proposals-result.json', {
      querystring: fields({
        state: { type: 'string', enum: STATES },
        before: { type: 'string', maxLength: 64 },
        limit: { type: 'integer', default: 50 },
      }),
    }),
    async ({ query }) => engine.listProposals(query),
  )
  app.post<{ Body: ProposalCreate }>(
    '/api/proposals',
    describe(TAG, 'propose', 'Plan a change and leave it to a person', 201, 'proposal.json', {
      body: body('request-proposal-create.json'),
    }),
    async (request, reply) => reply.code(201).send(await engine.propose(request.body, writeBy(request))),
  )
  app.get<Of>(
    '/api/proposals/:id',
    describe(TAG, 'getProposal', 'One proposal', 200, 'proposal.json'),
    async ({ params }) => engine.getProposal(params.id),
  )
  app.post<Of>(
    '/api/proposals/:id/approve',
    describe(TAG, 'approveProposal', 'Write exactly what was planned, or refuse', 200, 'proposal.json'),
    async (request) => {
      const approved = await engine.approveProposal(request.params.id, writeBy(request))
      await auth.refresh()
      return approved
    },
  )
  app.post<Of & { Body: ProposalDecline | undefined }>(
    '/api/proposals/:id/decline',
    describe(TAG, 'declineProposal', 'Decline it; nothing is written', 200, 'proposal.json', {
      body: optionalBody('request-proposal-decline.json'),
    }),
    async (request) =>
      engine.declineProposal(request.params.id, request.body?.reason ?? '', writeBy(request)),
  )
  app.post<Of>(
    '/api/proposals/:id/withdraw',
    describe(TAG, 'withdrawProposal', 'Take back what you proposed', 200, 'proposal.json'),
    async (request) =>
      engine.withdrawProposal(
        request.params.id,
        !request.identity.scopes.includes('admin'),
        writeBy(request),
      ),
  )
}
