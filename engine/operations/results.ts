/** What the agents of a project found, and what outside agents record in it (SPEC.md, Projects; Keys). */
import { fail } from '../errors.ts'
import { isAdmin, type OperationInput } from './input.ts'
import { tagged } from './operation.ts'

const operation = tagged('projects')
/** Who writes on an open instance without saying a name. */
const ANYBODY = 'open instance'

/** Who holds a delivery or marks: without scope admin, what is its own alone. */
const fetcherOf = ({ caller }: Pick<OperationInput, 'caller'>) => ({
  by: { id: caller.id, name: caller.name },
  own: !isAdmin({ caller }),
})

export const results = [
  operation({
    id: 'getOutline',
    route: 'GET /api/projects/{id}/outline',
    scope: 'read',
    projectKey: true,
    role: 'reader',
    answer: 'project-outline.json',
    summary: 'What the project does, in sentences',
    run: (engine, { params }) => engine.projectOutline(params.id),
  }),
  operation({
    id: 'getProjectHealth',
    route: 'GET /api/projects/{id}/health',
    scope: 'read',
    projectKey: true,
    role: 'reader',
    answer: 'project-health.json',
    summary: 'Whether the project works, and what to do',
    run: (engine, { params }) => engine.projectHealth(params.id),
  }),
  operation({
    id: 'listResults',
    route: 'GET /api/projects/{id}/results',
    scope: 'read',
    projectKey: true,
    role: 'reader',
    query: {
      show: { type: 'string', pattern: '^(findings|agent:.+)?$' },
      by: { type: 'string', enum: ['chain', 'incident'], default: 'chain' },
      mark: {
        type: 'string',
        enum: ['right', 'wrong', 'partly', 'any', 'none'],
        description: 'Only results that are marked so; any: marked at all; none: not marked.',
      },
      before: { type: 'string', pattern: '^[0-9]{1,16}\\..{1,80}$' },
      limit: { type: 'integer', default: 20 },
    },
    answer: 'results-result.json',
    summary: 'What the agents found: one per chain of runs',
    run: (engine, { params, query }) => engine.projectResults(params.id, query),
  }),
  operation({
    id: 'getResult',
    route: 'GET /api/projects/{id}/results/{run}',
    scope: 'read',
    projectKey: true,
    role: 'reader',
    answer: 'project-result-detail.json',
    summary: 'One result with its whole note',
    run: (engine, { params }) => engine.projectResult(params.id, params.run),
  }),
  operation({
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
  operation({
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
  operation({
    id: 'listFindings',
    route: 'GET /api/projects/{id}/findings',
    scope: 'read',
    projectKey: true,
    role: 'reader',
    query: {
      entity: { type: 'string' },
      agent: { type: 'string' },
      by: { type: 'string', enum: ['incident', 'finding'], default: 'incident' },
      limit: { type: 'integer', default: 20 },
    },
    answer: 'findings-result.json',
    summary: 'Findings recorded in the project',
    run: (engine, { params, query }) => engine.projectFindings(params.id, query),
  }),
  operation({
    id: 'recordFinding',
    route: 'POST /api/projects/{id}/findings',
    scope: 'findings',
    projectKey: true,
    role: 'writer',
    body: 'request-finding-create.json',
    answer: 'finding-created.json',
    status: 201,
    summary: 'Record a finding; it carries the name of the key',
    run: async (engine, { params, body: { agent, ...finding }, caller, secured }) => {
      if (agent !== undefined && secured)
        fail('invalid', 'agent: a finding carries the name of its key', { field: 'agent' })
      const writer = secured ? caller.name : (agent ?? ANYBODY)
      return engine.recordFinding(params.id, finding, writer, fetcherOf({ caller }))
    },
  }),
  operation({
    id: 'listProjectKeys',
    route: 'GET /api/projects/{id}/keys',
    scope: 'admin',
    role: 'reader',
    answer: 'keys-result.json',
    access: 'shows',
    summary: 'Keys of the project',
    run: async (engine, { params, secured }) => {
      const id = await engine.projectId(params.id)
      const keys = (await engine.listKeys()).filter((key) => key.project === id)
      return { keys, enforced: secured, scopes: ['read', 'findings'] }
    },
  }),
  operation({
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
