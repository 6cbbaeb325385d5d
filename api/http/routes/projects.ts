/** Projects and their templates (SPEC.md, Projects); each write is a change-set. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type {
  ProjectCreate,
  ProjectPause,
  ProjectRepair,
  ProjectUpdate,
  Wiring,
} from '../../../schemas/types.ts'
import type { Doors } from '../doors.ts'
import { body, fields, optionalBody } from '../validate.ts'
import { withEtag, writeBy } from '../write-by.ts'
import { describe } from './route.ts'

export type OfProject = { Params: { id: string } }
const TAG = 'projects'

/** Lists as the old routes of /api/usecases name them (SPEC.md, Versioning 2). */
interface Words {
  base: string
  list: 'projects' | 'usecases'
  templates: 'templates' | 'recipes'
  /** Operation ids must differ from those of the current routes. */
  prefix: string
}

const CURRENT: Words = { base: '/api/projects', list: 'projects', templates: 'templates', prefix: '' }
const LEGACY: Words = { base: '/api/usecases', list: 'usecases', templates: 'recipes', prefix: 'legacy' }

export function projectRoutes(app: FastifyInstance, doors: Doors): void {
  for (const words of [CURRENT, LEGACY]) {
    templateRoutes(app, doors, words)
    recordRoutes(app, doors, words)
    moveRoutes(app, doors, words)
  }
  wiringRoutes(app, doors)
}

const operation = ({ prefix }: Words, id: string): string =>
  prefix === '' ? id : `${prefix}${id[0]!.toUpperCase()}${id.slice(1)}`

function templateRoutes(app: FastifyInstance, { engine }: Doors, words: Words): void {
  app.get(
    `${words.base}/${words.templates}`,
    describe(
      TAG,
      operation(words, 'listTemplates'),
      'Templates with parameters, setup steps and actions',
      200,
      `${words.templates}-result.json`,
    ),
    async () => ({ [words.templates]: (await engine.listTemplates()).templates }),
  )
  app.get<{ Params: { key: string } }>(
    `${words.base}/${words.templates}/:key`,
    describe(TAG, operation(words, 'getTemplate'), 'One template', 200, 'template.json'),
    async ({ params }) => engine.getTemplate(params.key),
  )
  app.post<{ Params: { key: string } }>(
    `${words.base}/${words.templates}/:key/detect`,
    describe(
      TAG,
      operation(words, 'detectTemplate'),
      'What the template can work out from the environment',
      200,
      'detect-result.json',
    ),
    async ({ params }) => engine.detectTemplate(params.key),
  )
}

function recordRoutes(app: FastifyInstance, { engine, auth }: Doors, words: Words): void {
  const mintingBy = (request: FastifyRequest) => ({ ...writeBy(request), mintKeys: auth.secured })
  app.get(
    words.base,
    describe(
      TAG,
      operation(words, 'listProjects'),
      'Projects, Default first',
      200,
      `${words.list}-result.json`,
    ),
    async (request) => {
      const { project } = request.identity
      const projects = project === null ? await engine.listProjects() : [await engine.projectCard(project)]
      return { [words.list]: projects }
    },
  )
  app.post<{ Body: ProjectCreate }>(
    words.base,
    describe(
      TAG,
      operation(words, 'createProject'),
      'Make a project from a template or from objects, all or nothing',
      201,
      'project.json',
      {
        body: body('request-project-create.json'),
      },
    ),
    async (request, reply) => {
      const made = await engine.createProject(request.body, mintingBy(request))
      await auth.refresh()
      return withEtag(reply.code(201), made)
    },
  )
  app.get<OfProject>(
    `${words.base}/:id`,
    describe(
      TAG,
      operation(words, 'getProject'),
      'One project with its objects and wiring',
      200,
      'project-shown.json',
    ),
    async (request, reply) => {
      const { id } = request.params
      if (request.identity.project !== null) return engine.projectCard(id)
      return withEtag(reply, await engine.getProject(id))
    },
  )
  app.put<OfProject & { Body: ProjectUpdate }>(
    `${words.base}/:id`,
    describe(
      TAG,
      operation(words, 'updateProject'),
      'Plan again and apply only the difference',
      200,
      'project-planned.json',
      {
        body: body('request-project-update.json'),
      },
    ),
    async (request, reply) => {
      const updated = await engine.updateProject(request.params.id, request.body, mintingBy(request))
      await auth.refresh()
      return withEtag(reply, updated)
    },
  )
  app.delete<OfProject & { Querystring: { purge_events: boolean; delete?: string } }>(
    `${words.base}/:id`,
    describe(
      TAG,
      operation(words, 'deleteProject'),
      'Delete a project; delete=kind:name,... picks the objects that go',
      200,
      'project-deleted.json',
      {
        querystring: fields({
          purge_events: { type: 'boolean', default: false },
          delete: { type: 'string', maxLength: 100_000 },
        }),
      },
    ),
    async (request) => {
      const { purge_events: purgeEvents, delete: picked } = request.query
      const result = await engine.deleteProject(request.params.id, { purgeEvents, picked }, writeBy(request))
      await auth.refresh()
      return result
    },
  )
}

function moveRoutes(app: FastifyInstance, { engine, auth }: Doors, words: Words): void {
  const mintingBy = (request: FastifyRequest) => ({ ...writeBy(request), mintKeys: auth.secured })
  const moved = async (reply: FastifyReply, project: Promise<{ version: number }>) => {
    const answer = await project
    await auth.refresh()
    return withEtag(reply, answer)
  }
  app.post<OfProject & { Body: ProjectPause | undefined }>(
    `${words.base}/:id/pause`,
    describe(
      TAG,
      operation(words, 'pauseProject'),
      'Stop its triggers and agents, and with sources its sources',
      200,
      'project.json',
      {
        body: optionalBody('request-project-pause.json'),
      },
    ),
    async (request, reply) =>
      moved(
        reply,
        engine.moveProject(request.params.id, 'pause', request.body?.sources ?? false, writeBy(request)),
      ),
  )
  app.post<OfProject>(
    `${words.base}/:id/resume`,
    describe(
      TAG,
      operation(words, 'resumeProject'),
      'Restore exactly what pause stopped',
      200,
      'project.json',
    ),
    async (request, reply) =>
      moved(reply, engine.moveProject(request.params.id, 'resume', false, writeBy(request))),
  )
  app.post<OfProject & { Body: ProjectRepair }>(
    `${words.base}/:id/repair`,
    describe(
      TAG,
      operation(words, 'repairProject'),
      'Make one planned object again, or reset it',
      200,
      'project.json',
      {
        body: body('request-project-repair.json'),
      },
    ),
    async (request, reply) => {
      const { id } = request.params
      const repaired = await engine.repairProject(id, request.body.key, mintingBy(request))
      await auth.refresh()
      return withEtag(reply, repaired)
    },
  )
  app.post<{ Params: { id: string; name: string }; Body: Record<string, unknown> | undefined }>(
    `${words.base}/:id/actions/:name`,
    describe(
      TAG,
      operation(words, 'runAction'),
      'Run a named action of the project',
      200,
      'action-done.json',
      {
        body: optionalBody('request-action.json'),
      },
    ),
    async (request) => {
      const { params, body: args } = request
      return engine.runProjectAction(params.id, params.name, args ?? {}, writeBy(request))
    },
  )
  app.get<OfProject>(
    `${words.base}/:id/summary`,
    describe(
      TAG,
      operation(words, 'getProjectSummary'),
      'The project with runs, sources and when it last fired',
      200,
      'project-summary-shown.json',
    ),
    async (request) => {
      const summary = await engine.projectSummary(request.params.id)
      if (request.identity.project === null) return summary
      // A key of the project sees its card, not its parameters.
      const { runs, runs_total, last_fired, today } = summary
      return { ...(await engine.projectCard(request.params.id)), runs, runs_total, last_fired, today }
    },
  )
}

function wiringRoutes(app: FastifyInstance, { engine }: Doors): void {
  app.get<OfProject>(
    '/api/projects/:id/wiring',
    describe(TAG, 'getWiring', 'What wakes whom, and who takes over', 200, 'wiring.json'),
    async ({ params }, reply) => {
      const { wiring, version } = await engine.getProject(params.id)
      withEtag(reply, { version })
      return wiring
    },
  )
  app.put<OfProject & { Body: Wiring }>(
    '/api/projects/:id/wiring',
    describe(TAG, 'updateWiring', 'Replace the wiring', 200, 'project.json', { body: body('wiring.json') }),
    async (request, reply) =>
      withEtag(reply, await engine.wireProject(request.params.id, request.body, writeBy(request))),
  )
  app.get<OfProject>(
    '/api/projects/:id/deletion',
    describe(TAG, 'getDeletion', 'What deleting it would take and leave', 200, 'project-deletion.json'),
    async ({ params }) => engine.projectRemoval(params.id),
  )
  app.post<OfProject>(
    '/api/projects/:id/hold',
    describe(TAG, 'holdProject', 'A crew takes the project', 200, 'project.json'),
    async (request, reply) =>
      withEtag(reply, await engine.holdProject(request.params.id, 'hold', writeBy(request))),
  )
  app.post<OfProject>(
    '/api/projects/:id/takeover',
    describe(TAG, 'takeOverProject', 'A person takes the project over', 200, 'project.json'),
    async (request, reply) =>
      withEtag(reply, await engine.holdProject(request.params.id, 'takeover', writeBy(request))),
  )
  app.post<OfProject>(
    '/api/projects/:id/release',
    describe(TAG, 'releaseProject', 'Release a held project', 200, 'project.json'),
    async (request, reply) =>
      withEtag(reply, await engine.holdProject(request.params.id, 'release', writeBy(request))),
  )
  app.get(
    '/api/crew/projects',
    describe(
      TAG,
      'listHeldProjects',
      'Projects that a crew or a person holds, or just handed back',
      200,
      'crew-projects-result.json',
    ),
    async () => engine.heldProjects(),
  )
}
