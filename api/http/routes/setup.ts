/** Guided setup (SPEC.md, Guided setup): a goal becomes a plan, and a plan a project. */
import type { FastifyInstance } from 'fastify'
import { SvcError } from '../../../engine/index.ts'
import type {
  SetupApply,
  SetupCheck,
  SetupDraft,
  SetupReplan,
  SetupSave,
  SetupTestEvent,
} from '../../../schemas/types.ts'
import type { Doors } from '../doors.ts'
import { body } from '../validate.ts'
import { writeBy } from '../write-by.ts'
import type { OfProject } from './projects.ts'
import { describe } from './route.ts'

const TAG = 'setup'

export function setupRoutes(app: FastifyInstance, doors: Doors): void {
  planRoutes(app, doors)
  draftRoutes(app, doors)
  tryoutRoutes(app, doors)
}

function planRoutes(app: FastifyInstance, { engine, auth, config }: Doors): void {
  app.post<{ Body: SetupDraft }>(
    '/api/setup/drafts',
    describe(
      TAG,
      'startDraft',
      'Begin from a goal; its plan is written in the background',
      202,
      'draft-started.json',
      {
        body: body('request-setup-draft.json'),
      },
    ),
    async (request, reply) => reply.code(202).send(await engine.startDraft(request.body, writeBy(request))),
  )
  app.post<{ Body: SetupCheck }>(
    '/api/setup/check',
    describe(
      TAG,
      'checkSetup',
      'A plan as applying would take it, with its problems',
      200,
      'setup-checked.json',
      {
        body: body('request-setup-check.json'),
      },
    ),
    async (request) => engine.checkSetup(request.body),
  )
  app.post<{ Body: SetupApply }>(
    '/api/setup/apply',
    describe(
      TAG,
      'applySetup',
      'Make the project and everything it needs, all or nothing',
      201,
      'setup-applied.json',
      {
        body: body('request-setup-apply.json'),
      },
    ),
    async (request, reply) => {
      const applied = await engine.applySetup(request.body, writeBy(request), config.rootToken !== null)
      await auth.refresh()
      return reply.code(201).send(applied)
    },
  )
}

function draftRoutes(app: FastifyInstance, { engine }: Doors): void {
  app.get<OfProject>(
    '/api/projects/:id/setup',
    describe(
      TAG,
      'getSetup',
      'A draft with its planning and plan, or what is to be connected',
      200,
      'setup.json',
    ),
    async ({ params, identity }) => {
      const setup = await engine.getSetup(params.id)
      if (setup.draft && !identity.scopes.includes('admin'))
        throw new SvcError('forbidden', "this credential lacks the 'admin' scope")
      return setup
    },
  )
  app.put<OfProject & { Body: SetupSave }>(
    '/api/projects/:id/setup',
    describe(TAG, 'saveSetup', 'Keep an edited plan, or go to a step', 200, 'setup.json', {
      body: body('request-setup-save.json'),
    }),
    async (request) => engine.saveSetup(request.params.id, request.body, writeBy(request)),
  )
  app.post<OfProject & { Body: SetupReplan }>(
    '/api/projects/:id/setup/plan',
    describe(TAG, 'planDraft', 'Plan a draft again, from a goal or by an instruction', 202, 'done.json', {
      body: body('request-setup-plan.json'),
    }),
    async (request, reply) =>
      reply.code(202).send(await engine.planDraft(request.params.id, request.body, writeBy(request))),
  )
  app.delete<OfProject>(
    '/api/projects/:id/setup/plan',
    describe(TAG, 'stopPlanning', 'Stop the planning of a draft; what it had so far stays', 200, 'done.json'),
    async (request) => engine.stopPlanning(request.params.id, writeBy(request)),
  )
}

function tryoutRoutes(app: FastifyInstance, { engine }: Doors): void {
  app.post<OfProject & { Body: SetupTestEvent }>(
    '/api/projects/:id/setup/test-event',
    describe(
      TAG,
      'sendTestEvent',
      "Send the plan's example event; it wakes nobody",
      200,
      'test-event-sent.json',
      {
        body: body('request-setup-test-event.json'),
      },
    ),
    async (request) => {
      const { id, name } = request.identity
      return engine.sendTestEvent(request.params.id, request.body.source, { id, name })
    },
  )
  app.post<OfProject>(
    '/api/projects/:id/setup/practice',
    describe(
      TAG,
      'startPractice',
      'Who looks first looks once at the newest event',
      200,
      'practice-started.json',
    ),
    async ({ params }) => engine.startPractice(params.id),
  )
}
