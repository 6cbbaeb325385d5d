/**
 * The sync of the catalog with a git repository. A look fetches, plans and, where the policy or a person says so,
 * applies; what it came to is the state until the next look. What the daemon stopped in the middle of is begun anew:
 * until the apply has committed, nothing of the instance has changed.
 */
import { createMachine } from 'xstate'
import type { Lifecycle } from './step.ts'

const looks = { look: 'fetching', follow: 'following' } as const
const stops = { fail: 'failed', interrupt: 'following' } as const

export const catalogSync: Lifecycle = {
  version: 1,
  events: {
    look: 'its time has come, the repository was pushed to, or a person asks',
    fetched: 'the newest commit is here',
    matches: 'the instance is as the commit says',
    differs: 'the instance is not as the commit says, and nobody may apply that yet',
    apply: 'the policy or a person lets the plan be applied',
    applied: 'the plan is applied, in the same transaction',
    fail: 'the repository cannot be read, or its files have problems; the instance stays as it was',
    interrupt: 'the daemon stopped in the middle',
    follow: 'another repository, path, branch or policy is followed',
  },
  machine: createMachine({
    id: 'catalog_sync',
    initial: 'following',
    states: {
      following: { description: 'waits for its first look', on: looks },
      fetching: {
        description: 'asks the repository for its newest commit',
        on: { fetched: 'planning', ...stops },
      },
      planning: {
        description: 'compares the commit with the instance',
        on: { matches: 'synced', differs: 'out_of_sync', apply: 'applying', ...stops },
      },
      applying: {
        description: 'applies the plan of the commit',
        on: { applied: 'synced', differs: 'out_of_sync', ...stops },
      },
      synced: { description: 'the instance is as the commit says', on: looks },
      out_of_sync: { description: 'the instance and the commit differ', on: looks },
      failed: { description: 'the last look failed, and the instance stays as it was', on: looks },
    },
  }),
}
