/** However many deliveries wait for one recipient, none is compared with all of them. */
import { expect, it } from 'vitest'
import { READY } from '../../../engine/outbox/rows.ts'
import { openTestStore } from '../open-test-store.ts'

it('what may be sent is found by recipient and key', () => {
  const { store } = openTestStore()
  const plan = store.db
    .prepare(`EXPLAIN QUERY PLAN SELECT d.id FROM deliveries d WHERE ${READY}`)
    .all({ now: 0 }) as { detail: string }[]
  const earlier = plan.map(({ detail }) => detail).filter((detail) => / e /.test(detail))
  expect(earlier).toEqual([expect.stringContaining('deliveries_open (state=? AND recipient=? AND key=?')])
})
