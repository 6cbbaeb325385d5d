/** Projects and their templates (SPEC.md, Projects); each write is a change-set. */
import type { Project } from '../../schemas/types.ts'
import type { WriteBy } from '../declared/declared.ts'
import type { StoreCalls } from '../roles/calls.ts'
import { type OperationInput, PLAN_ADVICE } from './input.ts'
import { type Operation, type Route, tagged } from './operation.ts'

const operation = tagged('projects')

/** On a secured instance each new source that events are sent to gets an ingest key. */
const minting = ({ by, secured }: Pick<OperationInput, 'by' | 'secured'>): WriteBy => ({
  ...by,
  mintKeys: secured,
})

const listTemplates = {
  id: 'listTemplates',
  route: 'GET /api/projects/templates',
  scope: 'read',
  role: 'reader',
  summary: 'Templates with parameters, setup steps and actions',
} as const
const listProjects = {
  id: 'listProjects',
  route: 'GET /api/projects',
  scope: 'read',
  projectKey: true,
  role: 'reader',
  summary: 'Projects, Default first',
} as const

/** Lists and pages of projects say how each is doing: one call in place of two more for each. */
const HEALTH = {
  health: {
    type: 'boolean',
    description: 'true: each with its `health`, and its totals of `today`; not for a key of a project.',
  },
} as const

const doing = async (
  engine: Pick<StoreCalls, 'projectHealth' | 'projectToday'>,
  project: Project,
): Promise<Project> => ({
  ...project,
  health: await engine.projectHealth(project.id),
  today: await engine.projectToday(project.id),
})

const listed = operation({
  ...listProjects,
  query: HEALTH,
  answer: 'projects-result.json',
  hashed: true,
  run: async (engine, { project, query }) => {
    if (project !== null) return { projects: [await engine.projectCard(project)] }
    const projects = await engine.listProjects()
    return {
      projects: query.health ? await Promise.all(projects.map((one) => doing(engine, one))) : projects,
    }
  },
})
const offered = operation({
  ...listTemplates,
  answer: 'templates-result.json',
  run: (engine) => engine.listTemplates(),
})

/** Those that the old address /api/usecases has too. */
const shared = [
  operation({
    id: 'getTemplate',
    route: 'GET /api/projects/templates/{key}',
    scope: 'read',
    role: 'reader',
    answer: 'template.json',
    summary: 'One template',
    run: (engine, { params }) => engine.getTemplate(params.key),
  }),
  operation({
    id: 'detectTemplate',
    route: 'POST /api/projects/templates/{key}/detect',
    scope: 'admin',
    role: 'reader',
    answer: 'detect-result.json',
    summary: 'What the template can work out from the environment',
    run: (engine, { params }) => engine.detectTemplate(params.key),
  }),
  listed,
  operation({
    id: 'createProject',
    route: 'POST /api/projects',
    scope: 'admin',
    role: 'writer',
    body: 'request-project-create.json',
    answer: 'project.json',
    status: 201,
    recorded: true,
    versioned: true,
    access: 'changes',
    summary: 'Make a project from a template or from objects, all or nothing',
    run: (engine, { body, ...input }) => engine.createProject(body, minting(input)),
  }),
  operation({
    id: 'getProject',
    route: 'GET /api/projects/{id}',
    scope: 'read',
    projectKey: true,
    role: 'reader',
    query: HEALTH,
    answer: 'project-shown.json',
    versioned: true,
    summary: 'One project with its objects and wiring',
    run: async (engine, { params, project, query }) => {
      if (project !== null) return engine.projectCard(params.id)
      const one = await engine.getProject(params.id)
      return query.health ? doing(engine, one) : one
    },
  }),
  operation({
    id: 'updateProject',
    route: 'PUT /api/projects/{id}',
    scope: 'admin',
    role: 'writer',
    body: 'request-project-update.json',
    answer: 'project-planned.json',
    merges: true,
    recorded: true,
    versioned: true,
    access: 'changes',
    summary: 'Plan again and apply only the difference',
    run: (engine, { params, body, ...input }) => engine.updateProject(params.id, body, minting(input)),
  }),
  operation({
    id: 'deleteProject',
    route: 'DELETE /api/projects/{id}',
    scope: 'admin',
    role: 'writer',
    query: {
      purge_events: { type: 'boolean', default: false },
      delete: { type: 'string', maxLength: 100_000 },
    },
    answer: 'project-deleted.json',
    guarded: true,
    recorded: true,
    access: 'changes',
    summary: 'Delete a project; delete=kind:name,... picks the objects that go',
    run: (engine, { params, query: { purge_events: purgeEvents, delete: picked }, by }) =>
      engine.deleteProject(params.id, { purgeEvents, picked }, by),
  }),
  operation({
    id: 'pauseProject',
    route: 'POST /api/projects/{id}/pause',
    scope: 'admin',
    role: 'writer',
    optionalBody: 'request-project-pause.json',
    answer: 'project.json',
    recorded: true,
    versioned: true,
    access: 'changes',
    summary: 'Stop its triggers and agents, and with sources its sources',
    run: (engine, { params, body, by }) => engine.moveProject(params.id, 'pause', body?.sources ?? false, by),
  }),
  operation({
    id: 'resumeProject',
    route: 'POST /api/projects/{id}/resume',
    scope: 'admin',
    role: 'writer',
    answer: 'project.json',
    recorded: true,
    versioned: true,
    access: 'changes',
    summary: 'Restore exactly what pause stopped',
    run: (engine, { params, by }) => engine.moveProject(params.id, 'resume', false, by),
  }),
  operation({
    id: 'repairProject',
    route: 'POST /api/projects/{id}/repair',
    scope: 'admin',
    role: 'writer',
    body: 'request-project-repair.json',
    answer: 'project.json',
    recorded: true,
    versioned: true,
    access: 'changes',
    summary: 'Make one planned object again, or reset it',
    run: (engine, { params, body, ...input }) => engine.repairProject(params.id, body.key, minting(input)),
  }),
  operation({
    id: 'runAction',
    route: 'POST /api/projects/{id}/actions/{name}',
    scope: 'admin',
    role: 'writer',
    optionalBody: 'request-action.json',
    answer: 'action-done.json',
    summary: 'Run a named action of the project',
    run: (engine, { params, body, by }) => engine.runProjectAction(params.id, params.name, body ?? {}, by),
  }),
  operation({
    id: 'getProjectSummary',
    route: 'GET /api/projects/{id}/summary',
    scope: 'read',
    projectKey: true,
    role: 'reader',
    answer: 'project-summary-shown.json',
    summary: 'The project with runs, sources and when it last fired',
    run: async (engine, { params, project }) => {
      const summary = await engine.projectSummary(params.id)
      if (project === null) return summary
      // A key of the project sees its card, not its parameters.
      const { runs, runs_total, last_fired, today } = summary
      return { ...(await engine.projectCard(params.id)), runs, runs_total, last_fired, today }
    },
  }),
]

/** The same operation at its old address, /api/usecases (SPEC.md, Versioning 2), with its own id. */
const legacy = (of: Operation): Operation => ({
  ...of,
  id: `legacy${of.id[0]!.toUpperCase()}${of.id.slice(1)}`,
  route: of.route.replace('/api/projects', '/api/usecases').replace('/templates', '/recipes') as Route,
})

const legacyListed = operation({
  ...listProjects,
  answer: 'usecases-result.json',
  run: async (engine, { project }) => ({
    usecases: project === null ? await engine.listProjects() : [await engine.projectCard(project)],
  }),
})
const legacyOffered = operation({
  ...listTemplates,
  answer: 'recipes-result.json',
  run: async (engine) => ({ recipes: (await engine.listTemplates()).templates }),
})

const wiring = [
  operation({
    id: 'getWiring',
    route: 'GET /api/projects/{id}/wiring',
    scope: 'read',
    role: 'reader',
    answer: {
      schema: 'wiring.json',
      write: ({ wiring }: { wiring: object; version: number }) => JSON.stringify(wiring),
    },
    versioned: true,
    summary: 'What wakes whom, and who takes over',
    run: async (engine, { params }) => {
      const { wiring, version } = await engine.getProject(params.id)
      return { wiring, version }
    },
  }),
  operation({
    id: 'updateWiring',
    route: 'PUT /api/projects/{id}/wiring',
    scope: 'admin',
    role: 'writer',
    body: 'wiring.json',
    answer: 'project.json',
    merges: true,
    recorded: true,
    versioned: true,
    summary: 'Replace the wiring',
    run: (engine, { params, body, by }) => engine.wireProject(params.id, body, by),
  }),
  operation({
    id: 'getDeletion',
    route: 'GET /api/projects/{id}/deletion',
    scope: 'read',
    role: 'reader',
    query: { delete: { type: 'string', maxLength: 100_000 } },
    answer: 'project-deletion.json',
    summary: 'What deleting it would take and leave; delete=kind:name,... picks the objects that go',
    run: (engine, { params, query }) => engine.projectRemoval(params.id, query.delete),
  }),
  operation({
    id: 'holdProject',
    route: 'POST /api/projects/{id}/hold',
    scope: 'admin',
    role: 'writer',
    answer: 'project.json',
    recorded: true,
    versioned: true,
    summary: 'A crew takes the project',
    run: (engine, { params, by }) => engine.holdProject(params.id, 'hold', by),
  }),
  operation({
    id: 'takeOverProject',
    route: 'POST /api/projects/{id}/takeover',
    scope: 'person',
    role: 'writer',
    answer: 'project.json',
    recorded: true,
    versioned: true,
    summary: 'A person takes the project over',
    run: (engine, { params, by }) => engine.holdProject(params.id, 'takeover', by),
  }),
  operation({
    id: 'releaseProject',
    route: 'POST /api/projects/{id}/release',
    scope: 'admin',
    role: 'writer',
    answer: 'project.json',
    recorded: true,
    versioned: true,
    summary: 'Release a held project',
    run: (engine, { params, by }) => engine.holdProject(params.id, 'release', by),
  }),
  operation({
    id: 'listHeldProjects',
    route: 'GET /api/crew/projects',
    scope: 'read',
    role: 'reader',
    answer: 'crew-projects-result.json',
    summary: 'Projects that a crew or a person holds, or just handed back',
    run: (engine) => engine.heldProjects(),
  }),
]

export const projects = [
  offered,
  ...shared,
  ...[legacyOffered, ...shared.map((one) => (one === listed ? legacyListed : one))].map(legacy),
  ...wiring,
]

/* A project as a graph, what a draft of it would do, and what happened in it. */

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
    id: 'moveGraphNodes',
    route: 'POST /api/projects/{id}/graph/positions',
    scope: 'admin',
    role: 'writer',
    body: 'request-graph-moves.json',
    answer: 'graph-positions.json',
    summary: 'Put some nodes elsewhere, or forget where they were put; the others stay',
    run: (engine, { params, body }) => engine.moveNodes(params.id, body),
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

/* The demo: a made-up shop that can be broken, with a scripted model; loaded and removed whole. */

const demoOperation = tagged('demo')

export const demo = [
  demoOperation({
    id: 'getDemo',
    route: 'GET /api/demo',
    scope: 'read',
    role: 'reader',
    answer: 'demo.json',
    summary: 'Whether the demo is loaded, and what of it is broken',
    run: (engine) => engine.demoStatus(),
  }),
  demoOperation({
    id: 'startDemo',
    route: 'POST /api/demo',
    scope: 'admin',
    role: 'writer',
    answer: 'demo.json',
    access: 'changes',
    summary: 'Load the demo, with 90 minutes of history and one open incident',
    run: (engine, { by }) => engine.startDemo(by),
  }),
  demoOperation({
    id: 'removeDemo',
    route: 'DELETE /api/demo',
    scope: 'admin',
    role: 'writer',
    answer: 'demo-removed.json',
    access: 'changes',
    summary: 'Remove the demo with all that it made',
    run: (engine, { by }) => engine.removeDemo(by),
  }),
  demoOperation({
    id: 'breakDemo',
    route: 'POST /api/demo/faults',
    scope: 'admin',
    role: 'writer',
    body: 'request-demo-break.json',
    answer: 'demo.json',
    summary: 'Break a service of the demo',
    run: (engine, { body }) => engine.breakDemo(body.service),
  }),
  demoOperation({
    id: 'mendDemo',
    route: 'DELETE /api/demo/faults',
    scope: 'admin',
    role: 'writer',
    query: {
      service: {
        type: 'string',
        enum: ['checkout', 'payments', 'cart', 'search'],
        description: 'Only this service; absent: all that are broken.',
      },
    },
    answer: 'demo.json',
    summary: 'Mend what is broken of the demo',
    run: (engine, { query }) => engine.mendDemo(query.service),
  }),
]
