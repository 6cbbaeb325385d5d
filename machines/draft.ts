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
  /** How many problems the check found, of edit and problems; that of an edit asks no model. */
  problems?: number
  /** Why planning ends, of fail and interrupted. */
  reason?: string
  /** Of fail: there is no model to plan with. */
  no_provider?: boolean
  /** Of replan: who is to look, and what to change; null: it is planned from the goal. */
  who?: string
  instruction?: string | null
}

const rounds = ({ context }: { context: Context }): number => context.fix_rounds ?? 0
const things = (count: number): string => (count === 1 ? '1 thing' : `${count} things`)

const model = setup({
  types: {} as { context: Context; events: Event },
  guards: {
    fix_rounds_left: (at) => rounds(at) < MAX_FIX_ROUNDS,
    edited_plan_is_valid: ({ event }) => event.problems === 0,
  },
  actions: {
    begin_again: effect<{ who: string; instruction: string | null }>(),
    show_step: effect<{ text: string }>(),
    end_steps: effect<{ as: 'done' | 'stopped' }>(),
    note_fault: effect<{ reason: string | null; no_provider: boolean }>(),
    forget_key: effect(),
  },
})

/** A sub-step begins, in the words it is shown by. */
const show = (text: (at: { context: Context; event: Event }) => string) =>
  ({
    type: 'show_step',
    params: (at: { context: Context; event: Event }) => ({ text: text(at) }),
  }) as const
const stopSteps = { type: 'end_steps', params: { as: 'stopped' } } as const
const endSteps = { type: 'end_steps', params: { as: 'done' } } as const

/** Planning ends without a plan. @param reason where the event brings none */
const stop = (target: 'failed' | 'interrupted', reason: string | null) =>
  ({
    target,
    actions: [
      stopSteps,
      {
        type: 'note_fault',
        params: ({ event }: { event: Event }) => ({
          reason: event.reason ?? reason,
          no_provider: event.no_provider === true,
        }),
      },
    ],
  }) as const

/** What every sub-step of planning takes. */
const underWay = {
  fail: stop('failed', null),
  interrupted: stop('interrupted', 'svc was stopped while this was planned; plan it again'),
  discard: { target: 'discarded', actions: stopSteps },
} as const

const look = {
  target: 'looking',
  // Again for each source.
  reenter: true,
  actions: show(({ event }) => `Looking at what ${event.source ?? 'a source'} sends`),
} as const

/** Again after each look. */
const write = { target: 'writing', reenter: true } as const

/** A plan that is kept is no longer one that failed. */
const mended = { type: 'note_fault', params: { reason: null, no_provider: false } } as const

/** What a draft takes that is not being planned. */
const atRest = {
  replan: {
    target: 'reading',
    actions: [
      model.assign({ fix_rounds: 0 }),
      {
        type: 'begin_again',
        params: ({ event }: { event: Event }) => ({
          who: event.who ?? 'svc',
          instruction: event.instruction ?? null,
        }),
      },
    ],
  },
  edit: [
    { guard: 'edited_plan_is_valid', target: 'ready', actions: mended },
    { target: 'faulty', actions: mended },
  ],
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
        on: { look, write, ...underWay },
      },
      looking: {
        description: 'looking at what a source sends',
        on: { look, write, ...underWay },
      },
      writing: {
        description: 'writing the plan',
        entry: show(() => 'Writing the plan'),
        on: { look, write, check: 'checking', ...underWay },
      },
      checking: {
        description: 'checking it',
        entry: show((at) => (rounds(at) ? 'Checking again' : 'Checking the plan')),
        on: {
          pass: { target: 'ready', actions: endSteps },
          problems: [
            { guard: 'fix_rounds_left', target: 'fixing' },
            { target: 'faulty', actions: endSteps },
          ],
          ...underWay,
        },
      },
      fixing: {
        description: 'fixing what the check found',
        entry: [
          model.assign({ fix_rounds: (at) => rounds(at) + 1 }),
          show(({ event: { problems = 0 } }) => `Fixing ${things(problems)} the check found`),
        ],
        on: { check: 'checking', ...underWay },
      },
      ready: {
        description: 'has a valid plan',
        on: { ...atRest, apply: 'applied' },
      },
      faulty: { description: 'has a plan with problems, shown beside what they are about', on: atRest },
      failed: { description: 'planning failed; the reason is shown', on: atRest },
      interrupted: { description: 'planning was interrupted, and goes on when asked to', on: atRest },
      applied: {
        description: 'is a project now',
        on: { unapply: { target: 'ready', actions: 'forget_key' } },
      },
      discarded: { description: 'gone, until its delete is undone', on: { restore: 'interrupted' } },
    },
  }),
}
