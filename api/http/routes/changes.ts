/** Change-sets: what was changed, by whom and why; composed, planned and undone. */
import type { FastifyInstance } from 'fastify'
import type { ChangeSetCreate, Rollback, Undo } from '../../../schemas/types.ts'
import type { Doors } from '../doors.ts'
import { body, fields } from '../validate.ts'
import { writeBy } from '../write-by.ts'
import { describe } from './route.ts'

const TAG = 'changes'
const KINDS = ['source', 'mcp_server', 'skill', 'trigger', 'agent', 'project', 'mcp server']
const BIG_BODY = 16 * 1024 * 1024
const ID = { type: 'object', properties: { id: { type: 'integer', minimum: 1 } } }

interface ListQuery {
  project?: string
  kind?: string
  name?: string
  before?: number
  limit: number
}

export function changeRoutes(app: FastifyInstance, { engine, auth }: Doors): void {
  app.get<{ Querystring: ListQuery }>(
    '/api/change-sets',
    describe(TAG, 'listChangeSets', 'Change history, newest first', 200, 'change-sets-result.json', {
      querystring: fields({
        project: { type: 'string', minLength: 1, maxLength: 200 },
        kind: { type: 'string', enum: KINDS },
        name: { type: 'string', minLength: 1 },
        before: { type: 'integer', minimum: 1 },
        limit: { type: 'integer', default: 50 },
      }),
    }),
    async ({ query }) => engine.listChangeSets(query),
  )
  app.get<{ Params: { id: number } }>(
    '/api/change-sets/:id',
    describe(TAG, 'getChangeSet', 'One change-set', 200, 'change-set.json', { params: ID }),
    async ({ params }) => engine.getChangeSet(params.id),
  )
  app.post<{ Body: ChangeSetCreate }>(
    '/api/change-sets',
    {
      ...describe(
        TAG,
        'applyChangeSet',
        'Apply operations all or nothing, or only plan them',
        200,
        'change-applied.json',
        {
          body: body('request-change-set-create.json'),
        },
      ),
      bodyLimit: BIG_BODY,
    },
    async (request) => {
      const by = writeBy(request)
      const applied = await engine.applyChangeSet(request.body, { ...by, why: request.body.why ?? by.why })
      if (applied.change_set !== null) await auth.refresh()
      return applied
    },
  )
  app.post<{ Params: { id: number }; Body: Undo }>(
    '/api/change-sets/:id/undo',
    describe(
      TAG,
      'undoChangeSet',
      'Undo a change-set by a new one; later changes to other fields stay',
      200,
      'change-applied.json',
      {
        params: ID,
        body: body('request-undo.json'),
      },
    ),
    async (request) => {
      const by = writeBy(request)
      const { why, dry_run } = request.body
      const applied = await engine.undoChangeSet(request.params.id, dry_run ?? false, {
        ...by,
        why: why ?? by.why,
      })
      if (applied.change_set !== null) await auth.refresh()
      return applied
    },
  )
  app.post<{ Params: { id: number }; Body: Rollback }>(
    '/api/change-sets/:id/rollback',
    describe(
      TAG,
      'rollBack',
      'Take the instance, or one project, back to how it was right after a change-set',
      200,
      'change-applied.json',
      { params: ID, body: body('request-rollback.json') },
    ),
    async (request) => {
      const by = writeBy(request)
      const { why, dry_run, project } = request.body
      const how = { project, dryRun: dry_run ?? false }
      const applied = await engine.rollBack(request.params.id, how, { ...by, why: why ?? by.why })
      if (applied.change_set !== null) await auth.refresh()
      return applied
    },
  )
}
