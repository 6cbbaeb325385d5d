/** Service agents (SPEC.md, Endpoints); their trigger, handoffs and switch are a project's wiring. */

import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { packReport } from '../agents/evals/reports.ts'
import { renameOperation, tagged } from './operation.ts'

const operation = tagged('agents')
const OF_PROJECT = { project: { type: 'string', minLength: 1, maxLength: 200 } } as const

export const agents = [
  operation({
    id: 'listAgents',
    route: 'GET /api/agents/builtin',
    scope: 'read',
    role: 'reader',
    query: OF_PROJECT,
    answer: 'agents-result.json',
    hashed: true,
    summary: 'List agents, their wiring that of the project asked for',
    run: (engine, { query }) => engine.listAgents(query.project),
  }),
  operation({
    id: 'getAgent',
    route: 'GET /api/agents/builtin/{name}',
    scope: 'read',
    role: 'reader',
    query: OF_PROJECT,
    answer: 'agent.json',
    versioned: true,
    summary: 'One agent',
    run: (engine, { params, query }) => engine.getAgent(params.name, query.project),
  }),
  operation({
    id: 'createAgent',
    route: 'POST /api/agents/builtin',
    scope: 'admin',
    role: 'writer',
    body: 'request-agent-write.json',
    answer: 'part-written.json',
    status: 201,
    recorded: true,
    versioned: true,
    summary: 'Make an agent; it starts off',
    run: (engine, { body, by }) => engine.createAgent(body, by),
  }),
  operation({
    id: 'updateAgent',
    route: 'PUT /api/agents/builtin/{name}',
    scope: 'admin',
    role: 'writer',
    body: 'request-agent-update.json',
    answer: 'part-written.json',
    merges: true,
    recorded: true,
    versioned: true,
    summary: 'Change an agent; what is absent is kept, as is a blank secret, and null takes a bound away',
    run: (engine, { params, body, by }) => engine.updateAgent(params.name, body, by),
  }),
  renameOperation(
    operation,
    'renameAgent',
    'POST /api/agents/builtin/{name}/rename',
    'agent',
    'Give it another name; its runs, tests, wiring and handoffs go along',
  ),
  operation({
    id: 'deleteAgent',
    route: 'DELETE /api/agents/builtin/{name}',
    scope: 'admin',
    role: 'writer',
    answer: 'part-deleted.json',
    guarded: true,
    recorded: true,
    summary: 'Delete an agent; its findings stay',
    run: (engine, { params, by }) => engine.deleteAgent(params.name, by),
  }),
  operation({
    id: 'enableAgent',
    route: 'POST /api/agents/builtin/{name}/enable',
    scope: 'admin',
    role: 'writer',
    query: OF_PROJECT,
    answer: 'part-moved.json',
    recorded: true,
    summary: 'Switch what wakes it on, in one project or everywhere',
    run: (engine, { params, query, by }) => engine.switchAgent(params.name, true, query.project, by),
  }),
  operation({
    id: 'disableAgent',
    route: 'POST /api/agents/builtin/{name}/disable',
    scope: 'admin',
    role: 'writer',
    query: OF_PROJECT,
    answer: 'part-moved.json',
    recorded: true,
    summary: 'Switch what wakes it off, in one project or everywhere',
    run: (engine, { params, query, by }) => engine.switchAgent(params.name, false, query.project, by),
  }),
]

/* Examples of agents, and tests that run them all in practice. */

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

/* Reports of svc evals, published by the command and read by the console. */

const evalOperation = tagged('evals')
/** Bytes of a report. */
const REPORT_MAX = 32 * 1024 * 1024

export const evals = [
  evalOperation({
    id: 'listEvalReports',
    route: 'GET /api/evals/reports',
    scope: 'read',
    role: 'reader',
    answer: 'eval-reports-result.json',
    summary: 'Reports that were published, newest first',
    run: (engine) => engine.listEvalReports(),
  }),
  evalOperation({
    id: 'getEvalReport',
    route: 'GET /api/evals/reports/{id}',
    scope: 'read',
    role: 'reader',
    answer: { schema: 'eval-report.json', write: promisify<Uint8Array, Uint8Array>(gunzip) },
    summary: 'One report, as it was published',
    run: (engine, { params }) => engine.getEvalReport(params.id),
  }),
  evalOperation({
    id: 'handInEvalReport',
    route: 'POST /api/evals/reports',
    scope: 'admin',
    // Packed here: the writer has no time for megabytes.
    role: 'network',
    body: 'eval-report.json',
    bodyLimit: REPORT_MAX,
    answer: 'eval-report-handed-in.json',
    status: 201,
    summary: 'Hand in a report; the newest 50 are kept',
    run: async (engine, { body, caller }) => engine.handInEvalReport(await packReport(body), caller.name),
  }),
  evalOperation({
    id: 'deleteEvalReport',
    route: 'DELETE /api/evals/reports/{id}',
    scope: 'admin',
    role: 'writer',
    answer: 'done.json',
    summary: 'Delete a report',
    run: (engine, { params }) => engine.deleteEvalReport(params.id),
  }),
]
