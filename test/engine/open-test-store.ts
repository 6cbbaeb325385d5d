/** A store in memory with a clock the test moves, and what its history says. */
import { type OpenStore, openStore } from '../../engine/log/store/open.ts'

export const T0 = Date.parse('2026-11-20T12:00:00Z')
export const ME = { id: 'key:0a1b2c3d', name: 'maria' }

export interface TestClock {
  at: number
  now(): number
}

export interface TestStore {
  store: OpenStore
  clock: TestClock
  /** Rows of the history as "kind object: from -event-> to by actor", oldest first. */
  history(): string[]
}

export function openTestStore(): TestStore {
  const clock: TestClock = { at: T0, now: () => clock.at }
  const store = openStore(null, T0)
  return {
    store,
    clock,
    history: () =>
      store.db
        .prepare(
          "SELECT kind || ' ' || object || ': ' || coalesce(from_state, '') || ' -' || event || '-> ' || to_state || ' by ' || actor FROM history ORDER BY id",
        )
        .pluck()
        .all() as string[],
  }
}
