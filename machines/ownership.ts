/**
 * An object a template planned for its project (SPEC.md, Ownership of template-project objects).
 * Made by the plan it is planned; an object of the same name that belonged to no project is adopted
 * instead, and stays its maker's: edits leave it adopted, and so does undoing its delete. A new plan
 * changes no state: what was edited by hand is kept, what is missing stays listed until its repair.
 * `match` is an edit that puts back what the plan says, as undoing a hand edit does.
 */
import { setup } from 'xstate'
import type { Lifecycle } from './step.ts'

interface Context {
  /** Whether it was there before the project. */
  adopted: boolean
}

const model = setup({
  types: {} as { context: Context },
  guards: { was_adopted: ({ context }) => context.adopted === true },
})

export const ownership: Lifecycle = {
  version: 1,
  events: {
    plan: 'the plan names it, when the project is made or planned again',
    adopt: 'the plan names an object that is there already and belongs to no project',
    edit: 'a hand edit',
    match: 'an edit that puts back what the plan says',
    delete: 'a hand delete',
    restore: 'undo the delete',
    repair: 're-create or reset it from the plan',
  },
  machine: model.createMachine({
    id: 'ownership',
    context: { adopted: false },
    initial: 'none',
    states: {
      none: {
        description: 'not in any plan yet',
        on: { plan: 'planned', adopt: { target: 'adopted', actions: model.assign({ adopted: true }) } },
      },
      planned: {
        description: 'as the plan says',
        on: { plan: 'planned', edit: 'customized', match: 'planned', delete: 'missing' },
      },
      customized: {
        description: 'edited by hand; a new plan keeps it',
        on: {
          plan: 'customized',
          edit: 'customized',
          match: 'planned',
          delete: 'missing',
          repair: 'planned',
        },
      },
      adopted: {
        description: 'was there before the project, which uses it as it is',
        on: { plan: 'adopted', edit: 'adopted', match: 'adopted', delete: 'missing' },
      },
      missing: {
        description: 'deleted by hand; the project page lists it',
        on: {
          plan: 'missing',
          restore: [{ guard: 'was_adopted', target: 'adopted' }, { target: 'customized' }],
          repair: { target: 'planned', actions: model.assign({ adopted: false }) },
        },
      },
    },
  }),
}
