/** What the lifecycle of the sync of the catalog takes, written down apart from the machine. */
import type { Situation } from './situation.ts'

export const catalogSync: Situation[] = [
  ...['following', 'synced', 'out_of_sync', 'failed'].map((state) => ({
    state,
    takes: { look: 'fetching', follow: 'following' },
  })),
  { state: 'fetching', takes: { fetched: 'planning', fail: 'failed', interrupt: 'following' } },
  {
    state: 'planning',
    takes: {
      matches: 'synced',
      differs: 'out_of_sync',
      apply: 'applying',
      fail: 'failed',
      interrupt: 'following',
    },
  },
  {
    state: 'applying',
    takes: { applied: 'synced', differs: 'out_of_sync', fail: 'failed', interrupt: 'following' },
  },
]
