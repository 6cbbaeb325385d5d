/** Examples of agents, and tests that run them all in practice. */
import type { FastifyInstance } from 'fastify'
import type { AgentExampleWrite, AgentTestStart } from '../../../schemas/types.ts'
import type { Doors } from '../doors.ts'
import { body, fields, optionalBody } from '../validate.ts'
import { describe } from './route.ts'

type Name = { Params: { name: string } }
type Id = { Params: { name: string; id: string } }
const TAG = 'agents'
const BASE = '/api/agents/builtin/:name'

export function agentTestRoutes(app: FastifyInstance, { engine }: Doors): void {
  app.get<Name>(
    `${BASE}/examples`,
    describe(TAG, 'listAgentExamples', 'List what an agent is tested by', 200, 'agent-examples-result.json'),
    async ({ params }) => engine.listAgentExamples(params.name),
  )
  app.post<Name & { Body: AgentExampleWrite }>(
    `${BASE}/examples`,
    describe(
      TAG,
      'addAgentExample',
      'Keep a past firing with what the agent should make of it',
      201,
      'agent-example.json',
      { body: body('request-agent-example-write.json') },
    ),
    async ({ params, body: example, identity: { id, name } }, reply) =>
      reply.code(201).send(await engine.addAgentExample(params.name, example, { id, name })),
  )
  app.delete<Id>(
    `${BASE}/examples/:id`,
    describe(TAG, 'removeAgentExample', 'Remove an example; tests that had it keep it', 200, 'done.json'),
    async ({ params }) => engine.removeAgentExample(params.name, params.id),
  )
  app.post<Name & { Body: AgentTestStart | null }>(
    `${BASE}/tests`,
    describe(
      TAG,
      'startAgentTest',
      'Run an agent over its examples in practice, as it is saved or with changes that are not',
      201,
      'agent-test.json',
      { body: optionalBody('request-agent-test-start.json') },
    ),
    async ({ params, body: tried, identity: { id, name } }, reply) =>
      reply.code(201).send(await engine.startAgentTest(params.name, tried ?? {}, { id, name })),
  )
  app.get<Name & { Querystring: { limit: number; offset: number } }>(
    `${BASE}/tests`,
    describe(TAG, 'listAgentTests', 'List tests of an agent, newest first', 200, 'agent-tests-result.json', {
      querystring: fields({
        limit: { type: 'integer', default: 20, minimum: 1, maximum: 50 },
        offset: { type: 'integer', default: 0, minimum: 0 },
      }),
    }),
    async ({ params, query }) => engine.listAgentTests(params.name, query),
  )
  app.get<Id>(
    `${BASE}/tests/:id`,
    describe(TAG, 'getAgentTest', 'One test, as far as its runs have come', 200, 'agent-test.json'),
    async ({ params }) => engine.getAgentTest(params.name, params.id),
  )
}
