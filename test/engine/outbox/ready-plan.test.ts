/** However many deliveries and runs there are, what is looked for again and again is found by an index of what waits. */
import { afterEach, expect, it } from 'vitest'
import { runQueries } from '../../../engine/agents/runs/queries.ts'
import { Records } from '../../../engine/log/retention.ts'
import { watchStatements } from '../../../engine/log/store/handle.ts'
import { deliveryRows, READY } from '../../../engine/outbox/rows.ts'
import { openTestStore } from '../open-test-store.ts'

afterEach(() => watchStatements(null))

const { store } = openTestStore()

/** How SQLite goes about a statement, a step each. */
function planOf(sql: string): string[] {
  const names = Object.fromEntries([...sql.matchAll(/@(\w+)/g)].map(([, name]) => [name, 0]))
  const values = [...sql.matchAll(/\?/g)].map(() => 0)
  const plan = store.db
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all(...values, ...(Object.keys(names).length ? [names] : [])) as { detail: string }[]
  return plan.map(({ detail }) => detail)
}

/** The one statement of those that `open` prepares whose text has `part`. */
function statementOf(open: () => unknown, part: string): string {
  const found: string[] = []
  watchStatements((_, sql) => void (sql.includes(part) && found.push(sql)))
  open()
  expect(found).toHaveLength(1)
  return found[0]!
}

it('what may be sent is found by recipient and key', () => {
  const plan = planOf(`SELECT d.id FROM deliveries d WHERE ${READY}`)
  const earlier = plan.filter((detail) => / e /.test(detail))
  expect(earlier).toEqual([expect.stringContaining('deliveries_open (state=? AND recipient=? AND key=?')])
})

it('when the next is to be sent is found in the order of the index, without those that wait behind another', () => {
  const plan = planOf(statementOf(() => deliveryRows(openTestStore().store.db), 'd.due_at > @after'))
  expect(plan[0]).toBe('SEARCH d USING INDEX deliveries_due (due_at>?)')
  expect(plan).not.toContain('USE TEMP B-TREE FOR ORDER BY')
})

it('what is fetched is looked for from the first that waits on', () => {
  const plan = planOf(statementOf(() => deliveryRows(openTestStore().store.db), 'min(o.seq)'))
  expect(plan).toContain('SEARCH d USING INDEX deliveries_recipient (recipient=? AND seq>?)')
  expect(plan).toContain('SEARCH o USING INDEX deliveries_open (state=? AND recipient=?)')
})

it.each([
  ['woken_by IN (', 'SEARCH runs USING INDEX runs_waiting (agent=?)'],
  ['count(*) FROM runs INDEXED', 'SEARCH runs USING INDEX runs_open (state=?)'],
  [
    'sum(cost_usd), 0) FROM model_usage, made',
    'SEARCH runs USING INDEX runs_reserved (agent=? AND reserved_usd>?)',
  ],
])('runs of before are not read where %s is asked', (part, step) => {
  const plan = planOf(statementOf(() => runQueries(openTestStore().store.db), part))
  expect(plan).toContain(step)
  expect(plan.join('\n')).not.toMatch(/runs_agent|runs_entity|SCAN runs/)
})

it('firings that are old are found without reading all runs for those that are examples', () => {
  const { store: own } = openTestStore()
  const nothing = { lookBacks: () => new Map<number, number>(), longestHandoffMs: () => 0 }
  const plan = planOf(statementOf(() => new Records(own, 1, nothing, nothing), 'DELETE FROM firings'))
  expect(plan).toContain('SCAN e')
  expect(plan).toContain('SEARCH r USING INDEX sqlite_autoindex_runs_1 (id=?)')
})
