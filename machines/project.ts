/**
 * A project (SPEC.md, Project lifecycle). Made from a template or by hand it runs at once; made by
 * guided setup it is a draft first, then set up (steps connect, try, done), which runs as well. Who
 * holds it, a crew or a person, is context: it changes in every state of a project that is there.
 * Resuming and undoing a delete lead back to the step it was at.
 */
import { setup } from 'xstate'
import type { Lifecycle } from './step.ts'

type Left = 'draft' | 'connect' | 'try' | 'done' | 'running'
interface Context {
  held_by: 'crew' | 'person' | null
  /** The state that a pause or a delete left; a paused project that is deleted keeps it. */
  left: Left | null
}

const left =
  (state: Left) =>
  ({ context }: { context: Context }): boolean =>
    context.left === state

const model = setup({
  types: {} as { context: Context },
  guards: {
    nobody_holds_it: ({ context }) => !context.held_by,
    no_person_holds_it: ({ context }) => context.held_by !== 'person',
    somebody_holds_it: ({ context }) => Boolean(context.held_by),
    left_draft: left('draft'),
    left_connect: left('connect'),
    left_try: left('try'),
    left_done: left('done'),
  },
})

const holding = {
  hold: { guard: 'nobody_holds_it', actions: model.assign({ held_by: 'crew' }) },
  takeover: { guard: 'no_person_holds_it', actions: model.assign({ held_by: 'person' }) },
  release: { guard: 'somebody_holds_it', actions: model.assign({ held_by: null }) },
} as const

const deletedFrom = (state: Left) =>
  ({ target: 'deleted', actions: model.assign({ held_by: null, left: state }) }) as const
const pausedFrom = (state: Left) => ({ target: 'paused', actions: model.assign({ left: state }) }) as const

const setUpAt = (state: 'connect' | 'try' | 'done') =>
  ({
    connect: 'connect',
    try: 'try',
    done: 'done',
    unapply: 'draft',
    update: state,
    pause: pausedFrom(state),
    ...holding,
    delete: deletedFrom(state),
  }) as const

const backToStep = [
  { guard: 'left_connect', target: 'connect' },
  { guard: 'left_try', target: 'try' },
  { guard: 'left_done', target: 'done' },
  { target: 'running' },
] as const

export const project: Lifecycle = {
  version: 1,
  events: {
    draft: 'guided setup begins from a goal',
    create: 'make it from a template or from listed objects',
    plan: 'plan the draft again, for a changed goal or an instruction',
    edit: 'keep an edited plan',
    apply: 'create it and everything its plan needs',
    unapply: 'undo the apply: the draft is back',
    connect: 'go to the step that connects its sources',
    try: 'go to the step that tries it',
    done: 'end the steps of guided setup',
    update: 'change its parameters or objects',
    pause: 'switch its triggers and agents off',
    resume: 'restore exactly what the pause stopped',
    hold: 'a crew takes it',
    takeover: 'a person takes it',
    release: 'whoever holds it hands it back',
    delete: 'take it away',
    restore: 'undo the delete',
  },
  machine: model.createMachine({
    id: 'project',
    context: { held_by: null, left: null },
    initial: 'none',
    states: {
      none: { description: 'not made yet', on: { draft: 'draft', create: 'running', apply: 'connect' } },
      draft: {
        description: 'a goal and its plan; nothing is created yet',
        on: { plan: 'draft', edit: 'draft', apply: 'connect', ...holding, delete: deletedFrom('draft') },
      },
      connect: { description: 'set up, its sources are being connected; it runs', on: setUpAt('connect') },
      try: { description: 'set up, being tried; it runs', on: setUpAt('try') },
      done: { description: 'set up; it runs', on: setUpAt('done') },
      running: {
        description: 'made from a template or by hand; it runs',
        on: { update: 'running', pause: pausedFrom('running'), ...holding, delete: deletedFrom('running') },
      },
      paused: {
        description: 'its triggers and agents are off',
        on: {
          update: 'paused',
          resume: backToStep,
          ...holding,
          delete: { target: 'deleted', actions: model.assign({ held_by: null }) },
        },
      },
      deleted: {
        description: 'gone, until its delete is undone; one that was paused is then paused again',
        on: { restore: [{ guard: 'left_draft', target: 'draft' }, ...backToStep] },
      },
    },
  }),
}
