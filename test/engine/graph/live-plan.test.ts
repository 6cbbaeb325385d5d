/** What is polled every two seconds goes through no table that grows. */
import { describe, expect, it } from 'vitest'
import { deliverySql, liveSql } from '../../../engine/graph/activity.ts'

import { openTestStore } from '../open-test-store.ts'

const VALUES = {
  project: 'uc_1',
  midnight: 0,
  seq: 0,
  triggers: '[]',
  agents: '[]',
  subscriptions: '[]',
  sources: '[]',
  wires: '[]',
}
/** Lists handed in, and rows that an index led to before. */
const BOUNDED = /^SCAN (.* VIRTUAL TABLE|\(subquery-\d+\)|recent$|d$)/

describe('the statements of the live graph', () => {
  const { store } = openTestStore()

  it.each(Object.entries({ ...liveSql, ...deliverySql }))('%s is led by an index', (_name, sql) => {
    const plan = store.db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(VALUES) as { detail: string }[]
    const details = plan.map(({ detail }) => detail)
    expect(details.length).toBeGreaterThan(0)
    expect(details.filter((detail) => detail.startsWith('SCAN') && !BOUNDED.test(detail))).toEqual([])
    // All runs an agent ever had are no way to those of today.
    if (sql.includes('finished_at >= @midnight')) expect(details.join('\n')).toContain('runs_finished')
  })
})
