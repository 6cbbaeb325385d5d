/** Agents at work: runs with their steps, repeated and cancelled; what an agent would be told, and cost. */
import type { RerunRequest } from '../../schemas/types.ts'
import { tagged } from './operation.ts'
import { SCENARIO_ADVICE } from './words.ts'

const operation = tagged('runs')

const WORD = { type: 'string', minLength: 1, maxLength: 1024 } as const
const PAGE = {
  limit: { type: 'integer', default: 50, minimum: 1, maximum: 200 },
  offset: { type: 'integer', default: 0, minimum: 0 },
} as const
const STATUSES = [
  ...(['successful', 'unsuccessful', 'failed', 'open'] as const),
  ...([
    'queued',
    'running',
    'parked',
    'succeeded',
    'exhausted',
    'cancelled',
    'capped',
    'empty',
    'ok',
  ] as const),
] as const
const NARROWED = { status: { type: 'string', enum: STATUSES }, project: WORD } as const

/** It counts, unless practice is asked for. @param asked null: no body was sent */
function howOf(asked: RerunRequest | null | undefined) {
  const { as_of = 'same', practice = false, ...other } = asked ?? {}
  return { asOf: as_of, practice, ...other }
}

export const runs = [
  operation({
    id: 'listRuns',
    route: 'GET /api/runs',
    scope: 'read',
    role: 'reader',
    query: { ...NARROWED, agent: WORD, entity: WORD, practice: { type: 'boolean' }, ...PAGE },
    answer: 'runs-result.json',
    summary: 'List runs of agents, newest first',
    run: (engine, { query }) => engine.listRuns(query),
  }),
  operation({
    id: 'getRun',
    route: 'GET /api/runs/{id}',
    scope: 'read',
    role: 'reader',
    answer: 'run-detail.json',
    summary: 'One run with its steps, claims and chain',
    run: (engine, { params }) => engine.getRun(params.id),
  }),
  operation({
    id: 'rerun',
    route: 'POST /api/runs/{id}/rerun',
    scope: 'admin',
    role: 'writer',
    optionalBody: 'request-rerun.json',
    answer: 'rerun-result.json',
    status: 201,
    summary: 'Repeat a finished run against its agent as it is',
    run: (engine, { params, body }) => engine.rerun(params.id, howOf(body)),
  }),
  operation({
    id: 'cancelRun',
    route: 'POST /api/runs/{id}/cancel',
    scope: 'admin',
    // What asks a model for it is cut off there, too.
    role: 'network',
    answer: 'done.json',
    summary: 'End a run that waits or is at work',
    run: (engine, { params, caller }) => engine.cancelRun(params.id, caller),
  }),
  operation({
    id: 'previewScenario',
    route: 'POST /api/runs/{id}/scenario',
    scope: 'admin',
    role: 'wide',
    advice: SCENARIO_ADVICE,
    body: 'request-scenario.json',
    answer: 'scenario-preview.json',
    summary:
      'What a scenario for svc evals would hold, made from this run: nothing is stored, and nothing leaves',
    run: (engine, { params, body }) => engine.previewScenario(params.id, body),
  }),
  operation({
    id: 'downloadScenario',
    route: 'POST /api/runs/{id}/scenario/file',
    scope: 'admin',
    role: 'wide',
    advice: SCENARIO_ADVICE,
    body: 'request-scenario.json',
    answer: 'scenario-file.json',
    file: ({ id }) => `${id}.scenario.json`,
    summary: 'The scenario as one file that svc evals reads, with stand-ins for names',
    run: (engine, { params, body }) => engine.scenarioOfRun(params.id, body),
  }),
  operation({
    id: 'listAgentRuns',
    route: 'GET /api/agents/builtin/{name}/runs',
    scope: 'read',
    role: 'reader',
    query: { ...NARROWED, ...PAGE },
    answer: { listOf: 'run.json' },
    summary: 'Runs of one agent, newest first',
    run: async (engine, { params, query }) => (await engine.listRuns({ ...query, agent: params.name })).runs,
  }),
  operation({
    id: 'rerunOfAgent',
    route: 'POST /api/agents/builtin/{name}/runs/{run}/rerun',
    scope: 'admin',
    role: 'writer',
    optionalBody: 'request-rerun.json',
    answer: 'rerun-result.json',
    status: 201,
    summary: 'Repeat a finished run; the same as /api/runs/{id}/rerun',
    run: (engine, { params, body }) => engine.rerun(params.run, howOf(body)),
  }),
  operation({
    id: 'previewAgent',
    route: 'GET /api/agents/builtin/{name}/preview',
    scope: 'read',
    role: 'reader',
    query: { firing: { ...WORD, required: true } },
    answer: 'agent-preview.json',
    summary: 'The prompt an agent would get for a past firing',
    run: (engine, { params, query }) => engine.previewAgent(params.name, query.firing),
  }),
  operation({
    id: 'agentForecast',
    route: 'GET /api/agents/builtin/{name}/forecast',
    scope: 'read',
    role: 'reader',
    answer: 'agent-forecast.json',
    summary: 'What an agent may cost',
    run: (engine, { params }) => engine.agentForecast(params.name),
  }),
]
