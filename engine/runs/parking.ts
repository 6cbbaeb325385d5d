/**
 * Runs whose model is not to be had. Such a run waits on its tape, with its place and what was reserved
 * for its call given back, and is taken up again when its model is tried anew, after a restart too: when
 * that is stands in its row.
 */
import { fail } from '../errors.ts'
import { move } from '../lifecycle/advance.ts'
import type { RunsParts } from './parts.ts'
import type { RunRow } from './queries.ts'
import type { Unavailable } from './types.ts'

/**
 * Milliseconds that a run waits for its model, from the first fault to the last try; a reply in between
 * begins it anew. Written for users in docs/agents.md, section "A model that is not to be had".
 */
export const PARKED_MAX_MS = 60 * 60_000
/** Twice as long after each try, unless the provider asks for more. */
const FIRST_WAIT_MS = 15_000
const LONGEST_WAIT_MS = 5 * 60_000

export type Parking = ReturnType<typeof createParking>

export function createParking({ store, clock, queries }: RunsParts) {
  const { db } = store

  /** Epoch ms of the next try; null: it would come too late. */
  function nextTry(
    { parked_times }: RunRow,
    since: number,
    now: number,
    asked: number | null,
  ): number | null {
    const end = since + PARKED_MAX_MS
    const backoff = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** parked_times)
    if (asked !== null && now + asked > end) return null
    const at = Math.min(now + Math.max(backoff, asked ?? 0), end)
    return at > now ? at : null
  }

  return {
    /**
     * @returns why it must not wait any longer; null: it waits
     * @throws SvcError not_found; wrong_state: it was ended meanwhile
     */
    park: (id: string, { reason, waitMs }: Unavailable): string | null =>
      store.tx(() => {
        const run = queries.byId.get(id) ?? fail('not_found', `no run has the id ${id}`)
        const now = clock.now()
        const since = run.parked_since ?? now
        const until = nextTry(run, since, now, waitMs)
        if (until === null && waitMs !== null && since + PARKED_MAX_MS > now)
          return `it asks to be tried again in ${minutes(waitMs)}, and a run waits no longer than an hour`
        if (until === null) return 'it was tried for an hour'
        move(db, { kind: 'run', id, name: id }, { type: 'park', at: now })
        queries.park.run({ id, since, until, why: reason })
        return null
      }),
    /** Takes one that is due from its wait; inside the caller's transaction. */
    goOn: (id: string, now: number): void => {
      move(db, { kind: 'run', id, name: id }, { type: 'go_on', at: now })
    },
  }
}

const minutes = (ms: number): string => {
  const count = Math.ceil(ms / 60_000)
  return `${count} minute${count === 1 ? '' : 's'}`
}
