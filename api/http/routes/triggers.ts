/** Triggers (SPEC.md, Endpoints; each write is a change-set). */
import type { FastifyInstance } from 'fastify'
import type { TriggerWrite } from '../../../schemas/types.ts'
import type { Doors } from '../doors.ts'
import { body } from '../validate.ts'
import { withEtag, writeBy } from '../write-by.ts'
import { describe } from './route.ts'

type Named = { Params: { name: string } }
const TAG = 'triggers'

export function triggerRoutes(app: FastifyInstance, { engine }: Doors): void {
  app.get(
    '/api/triggers',
    describe(TAG, 'listTriggers', 'List triggers', 200, { listOf: 'trigger.json' }),
    async () => engine.listTriggers(),
  )
  app.get<Named>(
    '/api/triggers/:name',
    describe(TAG, 'getTrigger', 'One trigger', 200, 'trigger.json'),
    async ({ params }, reply) => withEtag(reply, await engine.getTrigger(params.name)),
  )
  app.post<{ Body: TriggerWrite }>(
    '/api/triggers',
    describe(TAG, 'createTrigger', 'Make a trigger', 201, 'part-written.json', {
      body: body('request-trigger-write.json'),
    }),
    async (request, reply) => {
      const made = await engine.createTrigger(request.body, writeBy(request))
      return withEtag(reply.code(201), made)
    },
  )
  app.put<Named & { Body: TriggerWrite }>(
    '/api/triggers/:name',
    describe(
      TAG,
      'updateTrigger',
      'Replace the definition; a null description keeps it',
      200,
      'part-written.json',
      {
        body: body('request-trigger-write.json'),
      },
    ),
    async (request, reply) =>
      withEtag(reply, await engine.updateTrigger(request.params.name, request.body, writeBy(request))),
  )
  app.delete<Named>(
    '/api/triggers/:name',
    describe(TAG, 'deleteTrigger', 'Delete a trigger; agents it woke stay', 200, 'part-deleted.json'),
    async (request) => engine.deleteTrigger(request.params.name, writeBy(request)),
  )
  for (const event of ['pause', 'resume'] as const)
    app.post<Named>(
      `/api/triggers/:name/${event}`,
      describe(
        TAG,
        `${event}Trigger`,
        event === 'pause' ? 'Stop evaluating it' : 'Evaluate it again',
        200,
        'part-moved.json',
      ),
      async (request, reply) =>
        withEtag(reply, await engine.moveTrigger(request.params.name, event, writeBy(request))),
    )
}
