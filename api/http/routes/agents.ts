/** Service agents (SPEC.md, Endpoints); their trigger, handoffs and switch are a project's wiring. */
import type { FastifyInstance } from 'fastify'
import type { AgentWrite } from '../../../schemas/types.ts'
import type { Doors } from '../doors.ts'
import { body, fields } from '../validate.ts'
import { withEtag, writeBy } from '../write-by.ts'
import { describe } from './route.ts'

type Named = { Params: { name: string } }
type OfProject = { Querystring: { project?: string } }
const TAG = 'agents'
const OF_PROJECT = { querystring: fields({ project: { type: 'string', minLength: 1, maxLength: 200 } }) }

export function agentRoutes(app: FastifyInstance, { engine }: Doors): void {
  app.get<OfProject>(
    '/api/agents/builtin',
    describe(
      TAG,
      'listAgents',
      'List agents, their wiring that of the project asked for',
      200,
      'agents-result.json',
      OF_PROJECT,
    ),
    async ({ query }) => engine.listAgents(query.project),
  )
  app.get<Named & OfProject>(
    '/api/agents/builtin/:name',
    describe(TAG, 'getAgent', 'One agent', 200, 'agent.json', OF_PROJECT),
    async ({ params, query }, reply) => withEtag(reply, await engine.getAgent(params.name, query.project)),
  )
  app.post<{ Body: AgentWrite }>(
    '/api/agents/builtin',
    describe(TAG, 'createAgent', 'Make an agent; it starts off', 201, 'part-written.json', {
      body: body('request-agent-write.json'),
    }),
    async (request, reply) =>
      withEtag(reply.code(201), await engine.createAgent(request.body, writeBy(request))),
  )
  app.put<Named & { Body: Omit<AgentWrite, 'name'> & { name?: string } }>(
    '/api/agents/builtin/:name',
    describe(
      TAG,
      'updateAgent',
      'Change an agent; null or absent keeps, a blank secret too',
      200,
      'part-written.json',
      {
        body: body('request-agent-update.json'),
      },
    ),
    async (request, reply) => {
      const { name } = request.params
      return withEtag(reply, await engine.updateAgent(name, { name, ...request.body }, writeBy(request)))
    },
  )
  app.delete<Named>(
    '/api/agents/builtin/:name',
    describe(TAG, 'deleteAgent', 'Delete an agent; its findings stay', 200, 'part-deleted.json'),
    async (request) => engine.deleteAgent(request.params.name, writeBy(request)),
  )
  for (const [event, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const)
    app.post<Named & OfProject>(
      `/api/agents/builtin/:name/${event}`,
      describe(
        TAG,
        `${event}Agent`,
        `Switch what wakes it ${enabled ? 'on' : 'off'}, in one project or everywhere`,
        200,
        'part-moved.json',
        OF_PROJECT,
      ),
      async (request) =>
        engine.switchAgent(request.params.name, enabled, request.query.project, writeBy(request)),
    )
}
