/** What a replay reads of the large tables it finds by an index, whatever else they hold. */
import { afterAll, describe, expect, it } from 'vitest'
import {
  DELIVERED_SINCE,
  HANDOFFS_SINCE,
  KEYS_FIRED,
  RUNS_SINCE,
  WRITTEN_BACK_SINCE,
} from '../../../engine/graph/replay.ts'
import { BURSTS, FIRED, MADE, RUNS_ENDED, STATES, TRIES } from '../../../engine/graph/replay-firings.ts'
import { EVALUATIONS } from '../../../engine/graph/replay-gaps.ts'
import { ENDED_RUNS, MADE_RUNS, OPEN_RUNS, STEPS, WRITTEN_BACK } from '../../../engine/graph/replay-runs.ts'
import { openStore } from '../../../engine/log/store/open.ts'

const store = openStore(null, 0)
afterAll(() => store.close())

/** The plan, one line a step, and whether it walks through a whole table. */
function planOf(sql: string): string[] {
  return store.db
    .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
    .all(...Array.from({ length: (sql.match(/\?/g) ?? []).length }, () => null))
    .map(({ detail }) => detail)
}

describe('a replay reads', () => {
  it.each([
    ['firings that fired', FIRED, 'firings_trigger'],
    ['bursts', BURSTS, 'firings_bursts'],
    ['evaluations', EVALUATIONS, 'evaluations_at'],
    ['deliveries of firings', MADE, 'deliveries_firing'],
    ['tries', TRIES, 'delivery_tries_at'],
    ['deliveries of runs', RUNS_ENDED, 'deliveries_run'],
    ['runs that were made', MADE_RUNS, 'run_projects_project'],
    ['runs that ended', ENDED_RUNS, 'runs_finished'],
    ['runs that are open', OPEN_RUNS, 'runs_open'],
    ['findings written back', WRITTEN_BACK, 'delivery_tries_at'],
    ['steps', STEPS, 'PRIMARY KEY'],
    ['states', STATES, 'history_object'],
    ['runs of a day', RUNS_SINCE, 'run_projects_project'],
    ['handoffs of a day', HANDOFFS_SINCE, 'runs_finished'],
    ['deliveries of a day', DELIVERED_SINCE, 'delivery_tries_at'],
    ['findings written back in a day', WRITTEN_BACK_SINCE, 'delivery_tries_at'],
    ['keys that wait', KEYS_FIRED, 'firings_counted'],
  ])('%s by an index', (_what, sql, index) => {
    const plan = planOf(sql)
    expect(plan.join('\n')).toContain(index)
    expect(plan.filter((line) => /^SCAN (?!json_each|j\b|value\b)/.test(line))).toEqual([])
  })
})
