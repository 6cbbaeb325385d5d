/**
 * Runs whose model is not to be had. Such a run waits on its tape, with its place and what was reserved
 * for its call given back, and is taken up again when its model is tried anew, after a restart too: when
 * that is stands in its row. How long it waits is models/patience.ts.
 */
import { fail } from '../errors.ts'
import { move } from '../lifecycle/advance.ts'
import { nextTry } from '../models/patience.ts'
import type { RunsParts } from './parts.ts'
import type { Unavailable } from './types.ts'

export type Parking = ReturnType<typeof createParking>

export function createParking({ store, clock, queries }: RunsParts) {
  const { db } = store
  return {
    /**
     * @returns why it must not wait any longer; null: it waits
     * @throws SvcError not_found; wrong_state: it was ended meanwhile
     */
    park: (id: string, { reason, waitMs }: Unavailable): string | null =>
      store.tx(() => {
        const run = queries.byId.get(id) ?? fail('not_found', `no run has the id ${id}`)
        const now = clock.now()
        const next = nextTry({ since: run.parked_since, tries: run.parked_times }, now, waitMs, 'a run')
        if ('refusal' in next) return next.refusal
        move(db, { kind: 'run', id, name: id }, { type: 'park', at: now })
        queries.park.run({ id, ...next, why: reason })
        return null
      }),
    /** Takes one that is due from its wait; inside the caller's transaction. */
    goOn: (id: string, now: number): void => {
      move(db, { kind: 'run', id, name: id }, { type: 'go_on', at: now })
    },
  }
}
