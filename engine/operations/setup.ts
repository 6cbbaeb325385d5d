/** Guided setup (SPEC.md, Guided setup): a goal becomes a plan, and a plan a project. */
import { fail } from '../errors.ts'
import { isAdmin } from './input.ts'
import { tagged } from './operation.ts'

const operation = tagged('setup')

export const setup = [
  operation({
    id: 'startDraft',
    route: 'POST /api/setup/drafts',
    scope: 'admin',
    role: 'writer',
    body: 'request-setup-draft.json',
    answer: 'draft-started.json',
    status: 202,
    summary: 'Begin from a goal; its plan is written in the background',
    run: (engine, { body, by }) => engine.startDraft(body, by),
  }),
  operation({
    id: 'checkSetup',
    route: 'POST /api/setup/check',
    scope: 'admin',
    role: 'reader',
    body: 'request-setup-check.json',
    answer: 'setup-checked.json',
    summary: 'A plan as applying would take it, with its problems',
    run: (engine, { body }) => engine.checkSetup(body),
  }),
  operation({
    id: 'applySetup',
    route: 'POST /api/setup/apply',
    scope: 'admin',
    role: 'writer',
    body: 'request-setup-apply.json',
    answer: 'setup-applied.json',
    status: 201,
    recorded: true,
    access: 'changes',
    guarded: true,
    summary: 'Make the project and everything it needs, all or nothing',
    run: (engine, { body, by, secured }) => engine.applySetup(body, by, secured),
  }),
  operation({
    id: 'getSetup',
    route: 'GET /api/projects/{id}/setup',
    scope: 'read',
    role: 'reader',
    answer: 'setup.json',
    versioned: true,
    access: 'shows',
    summary: 'A draft with its planning and plan, or what is to be connected',
    run: async (engine, { params, caller }) => {
      const setup = await engine.getSetup(params.id)
      if (setup.draft && !isAdmin({ caller })) fail('forbidden', "this credential lacks the 'admin' scope")
      return setup
    },
  }),
  operation({
    id: 'saveSetup',
    route: 'PUT /api/projects/{id}/setup',
    scope: 'admin',
    role: 'writer',
    body: 'request-setup-save.json',
    answer: 'setup.json',
    guarded: true,
    versioned: true,
    summary: 'Keep an edited plan, or go to a step',
    run: (engine, { params, body, by }) => engine.saveSetup(params.id, body, by),
  }),
  operation({
    id: 'planDraft',
    route: 'POST /api/projects/{id}/setup/plan',
    scope: 'admin',
    role: 'writer',
    body: 'request-setup-plan.json',
    answer: 'done.json',
    status: 202,
    guarded: true,
    summary: 'Plan a draft again, from a goal or by an instruction',
    run: (engine, { params, body, by }) => engine.planDraft(params.id, body, by),
  }),
  operation({
    id: 'stopPlanning',
    route: 'DELETE /api/projects/{id}/setup/plan',
    scope: 'admin',
    role: 'writer',
    answer: 'done.json',
    summary: 'Stop the planning of a draft; what it had so far stays',
    run: (engine, { params, by }) => engine.stopPlanning(params.id, by),
  }),
  operation({
    id: 'sendTestEvent',
    route: 'POST /api/projects/{id}/setup/test-event',
    scope: 'admin',
    role: 'writer',
    body: 'request-setup-test-event.json',
    answer: 'test-event-sent.json',
    summary: "Send the plan's example event; it wakes nobody",
    run: (engine, { params, body, caller: { id, name } }) =>
      engine.sendTestEvent(params.id, body.source, { id, name }),
  }),
  operation({
    id: 'startPractice',
    route: 'POST /api/projects/{id}/setup/practice',
    scope: 'admin',
    role: 'writer',
    answer: 'practice-started.json',
    summary: 'Who looks first looks once at the newest event',
    run: (engine, { params }) => engine.startPractice(params.id),
  }),
]
