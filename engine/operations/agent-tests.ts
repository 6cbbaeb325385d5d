/** Examples of agents, and tests that run them all in practice. */
import { tagged } from './operation.ts'

const operation = tagged('agents')

export const agentTests = [
  operation({
    id: 'listAgentExamples',
    route: 'GET /api/agents/builtin/{name}/examples',
    scope: 'read',
    role: 'reader',
    answer: 'agent-examples-result.json',
    summary: 'List what an agent is tested by',
    run: (engine, { params }) => engine.listAgentExamples(params.name),
  }),
  operation({
    id: 'addAgentExample',
    route: 'POST /api/agents/builtin/{name}/examples',
    scope: 'admin',
    role: 'writer',
    body: 'request-agent-example-write.json',
    answer: 'agent-example.json',
    status: 201,
    summary: 'Keep a past firing with what the agent should make of it',
    run: (engine, { params, body, caller: { id, name } }) =>
      engine.addAgentExample(params.name, body, { id, name }),
  }),
  operation({
    id: 'removeAgentExample',
    route: 'DELETE /api/agents/builtin/{name}/examples/{id}',
    scope: 'admin',
    role: 'writer',
    answer: 'done.json',
    summary: 'Remove an example; tests that had it keep it',
    run: (engine, { params }) => engine.removeAgentExample(params.name, params.id),
  }),
  operation({
    id: 'startAgentTest',
    route: 'POST /api/agents/builtin/{name}/tests',
    scope: 'admin',
    role: 'writer',
    optionalBody: 'request-agent-test-start.json',
    answer: 'agent-test.json',
    status: 201,
    summary: 'Run an agent over its examples in practice, as it is saved or with changes that are not',
    run: (engine, { params, body, caller: { id, name } }) =>
      engine.startAgentTest(params.name, body ?? {}, { id, name }),
  }),
  operation({
    id: 'listAgentTests',
    route: 'GET /api/agents/builtin/{name}/tests',
    scope: 'read',
    role: 'reader',
    query: {
      limit: { type: 'integer', default: 20, minimum: 1, maximum: 50 },
      offset: { type: 'integer', default: 0, minimum: 0 },
    },
    answer: 'agent-tests-result.json',
    summary: 'List tests of an agent, newest first',
    run: (engine, { params, query }) => engine.listAgentTests(params.name, query),
  }),
  operation({
    id: 'getAgentTest',
    route: 'GET /api/agents/builtin/{name}/tests/{id}',
    scope: 'read',
    role: 'reader',
    answer: 'agent-test.json',
    summary: 'One test, as far as its runs have come',
    run: (engine, { params }) => engine.getAgentTest(params.name, params.id),
  }),
]
