/** A project as a graph, what a draft of it would do, and what happened in it. */
import { tagged } from './operation.ts'
import { PLAN_ADVICE } from './words.ts'

const operation = tagged('projects')
const BIG_BODY = 16 * 1024 * 1024
const INSTANT = { type: 'string', minLength: 1, maxLength: 40 } as const

export const replay = [
  operation({
    id: 'getReplay',
    route: 'GET /api/projects/{id}/replay',
    scope: 'read',
    projectKey: true,
    role: 'wide',
    query: {
      from: INSTANT,
      to: INSTANT,
      result: { type: 'string', minLength: 1, maxLength: 64 },
      limit: { type: 'integer', default: 2_000, minimum: 1, maximum: 5_000 },
    },
    answer: 'replay.json',
    summary: 'What happened between two instants, or in the chain of one result',
    run: (engine, { params, query, project }) =>
      engine.replay(params.id, { ...query, isAlone: project !== null }),
  }),
]

export const graph = [
  operation({
    id: 'getProjectGraph',
    route: 'GET /api/projects/{id}/graph',
    scope: 'read',
    projectKey: true,
    role: 'reader',
    answer: 'project-graph.json',
    summary: 'The project as a graph with its live state',
    run: (engine, { params, project }) => engine.projectGraph(params.id, project !== null),
  }),
  operation({
    id: 'placeGraphNodes',
    route: 'PUT /api/projects/{id}/graph/positions',
    scope: 'admin',
    role: 'writer',
    body: 'request-graph-positions.json',
    answer: 'graph-positions.json',
    summary: 'Replace where people put nodes',
    run: (engine, { params, body }) => engine.placeNodes(params.id, body),
  }),
  operation({
    id: 'previewDraft',
    route: 'POST /api/projects/{id}/draft/preview',
    scope: 'admin',
    role: 'wide',
    advice: PLAN_ADVICE,
    body: 'request-draft-preview.json',
    bodyLimit: BIG_BODY,
    answer: 'draft-preview.json',
    summary:
      'What operations would do: plan, graph, problems, conflicts and catalog file; nothing is written',
    run: (engine, { params, body, by }) => engine.previewDraft(params.id, body, by),
  }),
]
