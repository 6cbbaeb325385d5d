/**
 * A skill (SPEC.md, Skill lifecycle). It exists while a project uses it: `users` counts them, and
 * the last removal deletes it. Its content is replaced for every project that uses it.
 */
import { setup } from 'xstate'
import type { Lifecycle } from './step.ts'

interface Context {
  /** Projects that use it. */
  users: number
}
// A skill that exists has a user, so a count that is missing is one.
const users = ({ context }: { context: Context }): number => context.users ?? 1

const model = setup({
  types: {} as { context: Context },
  guards: { others_use_it: (at) => users(at) > 1 },
})

export const skill: Lifecycle = {
  version: 1,
  events: {
    use: 'one more project uses it',
    edit: 'replace its content for every project that uses it',
    remove: 'a project leaves it, or is deleted',
    restore: 'undo the delete',
  },
  machine: model.createMachine({
    id: 'skill',
    context: { users: 1 },
    initial: 'exists',
    states: {
      exists: {
        description: 'used by one project or more',
        on: {
          use: { target: 'exists', actions: model.assign({ users: (at) => users(at) + 1 }) },
          edit: 'exists',
          remove: [
            {
              guard: 'others_use_it',
              target: 'exists',
              actions: model.assign({ users: (at) => users(at) - 1 }),
            },
            { target: 'deleted', actions: model.assign({ users: 0 }) },
          ],
        },
      },
      deleted: {
        description: 'gone with its last user, until that is undone',
        on: { restore: { target: 'exists', actions: model.assign({ users: 1 }) } },
      },
    },
  }),
}
