/** What the agents of a project found, and what outside agents record in it (SPEC.md, Projects; Keys). */
import type { FastifyInstance } from 'fastify'
import { type FindingsAsked, type ResultsAsked, SvcError } from '../../../engine/index.ts'
import type {
  FindingCreate,
  Handled,
  KeysResult,
  MarkWrite,
  ProjectKeyCreate,
} from '../../../schemas/types.ts'
import type { Doors } from '../doors.ts'
import { body, fields } from '../validate.ts'
import { writeBy } from '../write-by.ts'
import { fetcherOf } from './fetching.ts'
import type { OfProject } from './projects.ts'
import { describe } from './route.ts'

const TAG = 'projects'
const MARKS = ['right', 'wrong', 'partly', 'any', 'none'] as const
/** Who writes on an open instance without saying a name. */
const ANYBODY = 'open instance'

export function resultRoutes(app: FastifyInstance, doors: Doors): void {
  const { engine } = doors
  app.get<OfProject>(
    '/api/projects/:id/outline',
    describe(TAG, 'getOutline', 'What the project does, in sentences', 200, 'project-outline.json'),
    async ({ params }) => engine.projectOutline(params.id),
  )
  app.get<OfProject>(
    '/api/projects/:id/health',
    describe(
      TAG,
      'getProjectHealth',
      'Whether the project works, and what to do',
      200,
      'project-health.json',
    ),
    async ({ params }) => engine.projectHealth(params.id),
  )
  app.get<OfProject & { Querystring: ResultsAsked }>(
    '/api/projects/:id/results',
    describe(TAG, 'listResults', 'What the agents found: one per chain of runs', 200, 'results-result.json', {
      querystring: fields({
        show: { type: 'string', pattern: '^(findings|agent:.+)?$' },
        by: { type: 'string', enum: ['chain', 'incident'], default: 'chain' },
        mark: {
          type: 'string',
          enum: [...MARKS],
          description: 'Only results that are marked so; any: marked at all; none: not marked.',
        },
        before: { type: 'string', pattern: '^[0-9]{1,16}\\..{1,80}$' },
        limit: { type: 'integer', default: 20 },
      }),
    }),
    async ({ params, query }) => engine.projectResults(params.id, query),
  )
  app.get<{ Params: { id: string; run: string } }>(
    '/api/projects/:id/results/:run',
    describe(TAG, 'getResult', 'One result with its whole note', 200, 'project-result-detail.json'),
    async ({ params }) => engine.projectResult(params.id, params.run),
  )
  app.post<{ Params: { id: string; run: string }; Body: Handled }>(
    '/api/projects/:id/results/:run/handled',
    describe(TAG, 'markHandled', 'Mark a result as handled, or no longer', 200, 'result-handled.json', {
      body: body('request-handled.json'),
    }),
    async (request) =>
      engine.markHandled(request.params.id, request.params.run, request.body.handled, request.identity.name),
  )
  app.post<{ Params: { id: string; run: string }; Body: MarkWrite }>(
    '/api/projects/:id/results/:run/mark',
    describe(
      TAG,
      'markFinding',
      'Mark a finding as right, wrong or partly right, with the event that was the true cause; or take the mark away',
      200,
      'result-marked.json',
      { body: body('request-mark.json') },
    ),
    async (request) =>
      engine.markFinding(
        request.params.id,
        request.params.run,
        request.body,
        fetcherOf(request).own,
        writeBy(request),
      ),
  )
  findingRoutes(app, doors)
  projectKeyRoutes(app, doors)
}

function findingRoutes(app: FastifyInstance, { engine, auth }: Doors): void {
  app.get<OfProject & { Querystring: FindingsAsked }>(
    '/api/projects/:id/findings',
    describe(TAG, 'listFindings', 'Findings recorded in the project', 200, 'findings-result.json', {
      querystring: fields({
        entity: { type: 'string' },
        agent: { type: 'string' },
        by: { type: 'string', enum: ['incident', 'finding'], default: 'incident' },
        limit: { type: 'integer', default: 20 },
      }),
    }),
    async ({ params, query }) => engine.projectFindings(params.id, query),
  )
  app.post<OfProject & { Body: FindingCreate }>(
    '/api/projects/:id/findings',
    describe(
      TAG,
      'recordFinding',
      'Record a finding; it carries the name of the key',
      201,
      'finding-created.json',
      {
        body: body('request-finding-create.json'),
      },
    ),
    async (request, reply) => {
      const { agent, ...finding } = request.body
      if (agent !== undefined && auth.secured)
        throw new SvcError('invalid', 'agent: a finding carries the name of its key', { field: 'agent' })
      const writer = auth.secured ? request.identity.name : (agent ?? ANYBODY)
      return reply
        .code(201)
        .send(await engine.recordFinding(request.params.id, finding, writer, fetcherOf(request)))
    },
  )
}

function projectKeyRoutes(app: FastifyInstance, { engine, auth }: Doors): void {
  app.get<OfProject>(
    '/api/projects/:id/keys',
    describe(TAG, 'listProjectKeys', 'Keys of the project', 200, 'keys-result.json'),
    async ({ params }): Promise<KeysResult> => {
      const id = await engine.projectId(params.id)
      await auth.flushUsed()
      const keys = (await engine.listKeys()).filter((key) => key.project === id)
      return { keys, enforced: auth.secured, scopes: ['read', 'findings'] }
    },
  )
  app.post<OfProject & { Body: ProjectKeyCreate }>(
    '/api/projects/:id/keys',
    describe(
      TAG,
      'createProjectKey',
      'Make a key that reads the project and records findings in it',
      201,
      'key-created.json',
      {
        body: body('request-project-key-create.json'),
      },
    ),
    async (request, reply) => {
      const created = await engine.createProjectKey(request.params.id, request.body, writeBy(request))
      await auth.refresh()
      return reply.code(201).header('cache-control', 'no-store').send(created)
    },
  )
}
