/** Agents at work: runs with their steps, repeated and cancelled; what an agent would be told, and cost. */
import type { RerunRequest } from '../../schemas/types.ts'
import { fail } from '../errors.ts'
import { narrowedQuery } from './events.ts'
import { isAdmin, type OperationInput, PAGED, pageOf, SCENARIO_ADVICE } from './input.ts'
import { tagged } from './operation.ts'

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
    query: {
      ...NARROWED,
      agent: WORD,
      entity: WORD,
      practice: { type: 'boolean' },
      outcome: { type: 'string', enum: ['finding', 'no_op'] },
      ended_since: {
        type: 'string',
        description: 'Instant: only runs that ended then or later.',
        minLength: 1,
        maxLength: 40,
      },
      ...PAGE,
    },
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
    run: (engine, { params, body }) => engine.rerun(params.run, { ...howOf(body), agent: params.name }),
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

/* What the agents of a project found, and what outside agents record in it (SPEC.md, Projects; Keys). */

const resultOperation = tagged('projects')
const MARK = {
  type: 'string',
  enum: ['right', 'wrong', 'partly', 'any', 'none'],
  description: 'Only results that are marked so; any: marked at all; none: not marked.',
} as const
const CURSOR = { type: 'string', pattern: '^[0-9]{1,16}\\..{1,80}$' } as const
/** Who writes on an open instance without saying a name. */
const ANYBODY = 'open instance'

/** Who holds a delivery or marks: without scope admin, what is its own alone. */
const fetcherOf = ({ caller }: Pick<OperationInput, 'caller'>) => ({
  by: { id: caller.id, name: caller.name },
  own: !isAdmin({ caller }),
})

export const results = [
  resultOperation({
    id: 'listAllFindings',
    route: 'GET /api/findings',
    scope: 'read',
    projectKey: true,
    role: 'reader',
    query: {
      project: { ...WORD, description: 'Only of this project, its id or name; of all when absent.' },
      agent: {
        ...WORD,
        description: 'Only what this agent concluded, where it handed over, too; practice left out.',
      },
      entity: { ...WORD, description: 'Only of this entity, by its value.' },
      since: {
        type: 'string',
        description: 'Instant: only those that ended then or later.',
        minLength: 1,
        maxLength: 40,
      },
      show: {
        type: 'string',
        enum: ['findings', 'all'],
        default: 'findings',
        description: 'all: what found nothing, too.',
      },
      by: { type: 'string', enum: ['chain', 'incident'], default: 'incident' },
      mark: MARK,
      before: CURSOR,
      limit: { type: 'integer', default: 50, minimum: 1, maximum: 200 },
    },
    answer: 'all-findings-result.json',
    summary: 'What agents found in all projects, newest first: one per incident, or per chain of runs',
    run: async (engine, input) => {
      const { by, ...query } = await narrowedQuery(engine, input)
      return engine.allFindings({ ...query, by: query.agent === undefined || by === 'chain' ? by : 'run' })
    },
  }),
  resultOperation({
    id: 'getFinding',
    route: 'GET /api/findings/{run}',
    scope: 'read',
    projectKey: true,
    role: 'reader',
    query: {
      project: { ...WORD, description: 'Only if it is of this project, its id or name.' },
    },
    answer: 'found-finding.json',
    summary: 'One finding with its whole note, whichever project it is of',
    run: async (engine, input) =>
      engine.findFinding(input.params.run, (await narrowedQuery(engine, input)).project),
  }),
  resultOperation({
    id: 'getOutline',
    route: 'GET /api/projects/{id}/outline',
    scope: 'read',
    projectKey: true,
    role: 'reader',
    answer: 'project-outline.json',
    summary: 'What the project does, in sentences',
    run: (engine, { params }) => engine.projectOutline(params.id),
  }),
  resultOperation({
    id: 'getProjectHealth',
    route: 'GET /api/projects/{id}/health',
    scope: 'read',
    projectKey: true,
    role: 'reader',
    answer: 'project-health.json',
    summary: 'Whether the project works, and what to do',
    run: (engine, { params }) => engine.projectHealth(params.id),
  }),
  resultOperation({
    id: 'listResults',
    route: 'GET /api/projects/{id}/results',
    scope: 'read',
    projectKey: true,
    role: 'reader',
    query: {
      show: { type: 'string', pattern: '^(findings|agent:.+)?$' },
      by: { type: 'string', enum: ['chain', 'incident'], default: 'chain' },
      mark: MARK,
      before: CURSOR,
      limit: { type: 'integer', default: 20, minimum: 1 },
    },
    answer: 'results-result.json',
    summary: 'What the agents found: one per chain of runs',
    run: (engine, { params, query }) => engine.projectResults(params.id, query),
  }),
  resultOperation({
    id: 'getResult',
    route: 'GET /api/projects/{id}/results/{run}',
    scope: 'read',
    projectKey: true,
    role: 'reader',
    answer: 'project-result-detail.json',
    summary: 'One result with its whole note',
    run: (engine, { params }) => engine.projectResult(params.id, params.run),
  }),
  resultOperation({
    id: 'markHandled',
    route: 'POST /api/projects/{id}/results/{run}/handled',
    scope: 'admin',
    role: 'writer',
    body: 'request-handled.json',
    answer: 'result-handled.json',
    summary: 'Mark a result as handled, or no longer',
    run: (engine, { params, body, caller }) =>
      engine.markHandled(params.id, params.run, body.handled, caller.name),
  }),
  resultOperation({
    id: 'markFinding',
    route: 'POST /api/projects/{id}/results/{run}/mark',
    scope: 'admin',
    role: 'writer',
    body: 'request-mark.json',
    answer: 'result-marked.json',
    summary:
      'Mark a finding as right, wrong or partly right, with the event that was the true cause; or take the mark away',
    run: (engine, { params, body, by, caller }) =>
      engine.markFinding(params.id, params.run, body, !isAdmin({ caller }), by),
  }),
  resultOperation({
    id: 'listFindings',
    route: 'GET /api/projects/{id}/findings',
    scope: 'read',
    projectKey: true,
    role: 'reader',
    query: {
      entity: { type: 'string' },
      agent: { type: 'string' },
      by: { type: 'string', enum: ['incident', 'finding'], default: 'incident' },
      limit: { type: 'integer', default: 20, minimum: 1 },
    },
    answer: 'findings-result.json',
    summary: 'Findings recorded in the project',
    run: (engine, { params, query }) => engine.projectFindings(params.id, query),
  }),
  resultOperation({
    id: 'recordFinding',
    route: 'POST /api/projects/{id}/findings',
    scope: 'findings',
    projectKey: true,
    // The network thread remembers what svc's tools told each caller.
    role: 'network',
    body: 'request-finding-create.json',
    answer: 'finding-created.json',
    status: 201,
    repeatable: true,
    summary: 'Record a finding; it carries the name of the key',
    run: async (engine, { params, body: { agent, ...finding }, caller, secured }) => {
      if (agent !== undefined && secured)
        fail('invalid', 'agent: a finding carries the name of its key', { field: 'agent' })
      const writer = secured || !caller.isAnybody ? caller.name : (agent ?? ANYBODY)
      return engine.recordFinding(params.id, finding, writer, fetcherOf({ caller }))
    },
  }),
  resultOperation({
    id: 'listProjectKeys',
    route: 'GET /api/projects/{id}/keys',
    scope: 'admin',
    role: 'reader',
    query: PAGED,
    answer: 'keys-result.json',
    access: 'shows',
    summary: 'Keys of the project, newest first',
    run: async (engine, { params, secured, query }) => {
      const id = await engine.projectId(params.id)
      const keys = (await engine.listKeys()).filter((key) => key.project === id)
      const { rows, next_before } = pageOf(keys, query)
      return { keys: rows, next_before, enforced: secured, scopes: ['read', 'findings'] }
    },
  }),
  resultOperation({
    id: 'createProjectKey',
    route: 'POST /api/projects/{id}/keys',
    scope: 'admin',
    role: 'writer',
    body: 'request-project-key-create.json',
    answer: 'key-created.json',
    status: 201,
    secret: true,
    access: 'changes',
    summary: 'Make a key that reads the project and records findings in it',
    run: (engine, { params, body, by }) => engine.createProjectKey(params.id, body, by),
  }),
]
