/**
 * The planning of a draft in guided setup (SPEC.md, Project lifecycle): its sub-steps as they are
 * shown, in the background, until there is a plan. What the check finds is fixed up to three times;
 * a plan that is still wrong then opens with its problems, for a person to edit or plan again, and
 * cannot be applied. Planning that was interrupted waits to be asked for again.
 */
import { setup } from 'xstate'
import { effect } from './effect.ts'
import type { Lifecycle } from './step.ts'

/** Rounds of fixing what the check found (SPEC.md, Project lifecycle). */
const MAX_FIX_ROUNDS = 3

interface Context {
  fix_rounds: number
}
interface Event {
  type: string
  /** Whose events are looked at, of look. */
  source?: string
  /** How many problems the check of the edited plan found, of edit; that check asks no model. */
  problems?: number
  /** Why planning ends, of fail. */
  reason?: string
}

const rounds = ({ context }: { context: Context }): number => context.fix_rounds ?? 0

const model = setup({
  types: {} as { context: Context; events: Event },
  guards: {
    fix_rounds_left: (at) => rounds(at) < MAX_FIX_ROUNDS,
    edited_plan_is_valid: ({ event }) => event.problems === 0,
  },
  actions: {
    read_instance: effect(),
    look_at_source: effect<{ source: string | null }>(),
    write_plan: effect(),
    check_plan: effect(),
    fix_plan: effect<{ round: number }>(),
    note_failure: effect<{ reason: string | null }>(),
    stop_planning: effect(),
    create_project: effect(),
  },
})

/** What every sub-step of planning takes. */
const underWay = {
  fail: {
    target: 'failed',
    actions: {
      type: 'note_failure',
      params: ({ event }: { event: Event }) => ({ reason: event.reason ?? null }),
    },
  },
  interrupted: 'interrupted',
  discard: { target: 'discarded', actions: 'stop_planning' },
} as const

const look = {
  target: 'looking',
  // Again for each source.
  reenter: true,
  actions: {
    type: 'look_at_source',
    params: ({ event }: { event: Event }) => ({ source: event.source ?? null }),
  },
} as const

/** What a draft takes that is not being planned. */
const atRest = {
  replan: { target: 'reading', actions: model.assign({ fix_rounds: 0 }) },
  edit: [{ guard: 'edited_plan_is_valid', target: 'ready' }, { target: 'faulty' }],
  discard: 'discarded',
} as const

export const draft: Lifecycle = {
  version: 1,
  events: {
    look: 'look at what one source sends',
    write: 'enough was read to write the plan',
    check: 'the plan is written, or fixed',
    pass: 'the check found nothing',
    problems: 'the check found problems',
    fail: 'planning cannot go on, such as without a model provider',
    interrupted: 'the daemon stopped in the middle',
    replan: 'plan it again, for a changed goal or an instruction',
    edit: 'keep an edited plan, checked',
    apply: 'create the project and everything it needs, in one go',
    unapply: 'undo the apply: the draft is back, with its plan',
    discard: 'delete the draft',
    restore: 'undo the delete; its plan, if it had one, is checked again',
  },
  machine: model.createMachine({
    id: 'draft',
    context: { fix_rounds: 0 },
    initial: 'reading',
    states: {
      reading: {
        description: 'reading what is on the instance',
        entry: 'read_instance',
        on: { look, write: 'writing', ...underWay },
      },
      looking: {
        description: 'looking at what a source sends',
        on: { look, write: 'writing', ...underWay },
      },
      writing: {
        description: 'writing the plan',
        entry: 'write_plan',
        on: { check: 'checking', ...underWay },
      },
      checking: {
        description: 'checking it',
        entry: 'check_plan',
        on: {
          pass: 'ready',
          problems: [{ guard: 'fix_rounds_left', target: 'fixing' }, { target: 'faulty' }],
          ...underWay,
        },
      },
      fixing: {
        description: 'fixing what the check found',
        entry: [
          model.assign({ fix_rounds: (at) => rounds(at) + 1 }),
          { type: 'fix_plan', params: (at) => ({ round: rounds(at) }) },
        ],
        on: { check: 'checking', ...underWay },
      },
      ready: {
        description: 'has a valid plan',
        on: { ...atRest, apply: { target: 'applied', actions: 'create_project' } },
      },
      faulty: { description: 'has a plan with problems, shown beside what they are about', on: atRest },
      failed: { description: 'planning failed; the reason is shown', on: atRest },
      interrupted: { description: 'planning was interrupted, and goes on when asked to', on: atRest },
      applied: {
        description: 'is a project now',
        on: { unapply: 'ready' },
      },
      discarded: { description: 'gone, until its delete is undone', on: { restore: 'interrupted' } },
    },
  }),
}
