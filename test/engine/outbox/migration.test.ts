/** Issue 18.3: an existing data file opens with its write-backs and posts to Slack where they were. */
import BetterSqlite3 from 'better-sqlite3'
import { expect, it } from 'vitest'
import { migrate, readMigrations } from '../../../engine/log/store/open.ts'
import { findingsTold } from '../../../engine/outbox/rows.ts'

const VERSION = 29
const T = 1_760_000_000_000

type Row = Record<string, unknown>

function oldFile() {
  const db = new BetterSqlite3(':memory:')
  db.pragma('foreign_keys = ON')
  migrate(
    db,
    readMigrations().filter(({ version }) => version < VERSION),
  )
  const add = (table: string, row: Row) => {
    const columns = db.pragma(`table_info(${table})`) as {
      name: string
      notnull: number
      dflt_value: unknown
      type: string
    }[]
    const needed = columns
      .filter(({ notnull, dflt_value }) => notnull && dflt_value === null)
      .map(({ name, type }) => [name, type === 'TEXT' ? '{}' : 0] as const)
    const whole: Row = { ...Object.fromEntries(needed), ...row }
    const names = Object.keys(whole)
    db.prepare(`INSERT INTO ${table} (${names}) VALUES (${names.map((name) => `@${name}`)})`).run(whole)
  }
  return { db, add }
}

it('18.3: rows in every state are deliveries in the same state, and those of firings keep their order and tries', () => {
  const { db, add } = oldFile()
  const snapshot = (value: string) =>
    JSON.stringify({ value, context: { tries: 1, max_tries: 9, due_at: null }, status: 'active', v: 1 })
  add('firings', { id: 1, dispatch_id: 'f1' })
  for (const [seq, state] of ['delivered', 'pending', 'running', 'failed'].entries())
    add('deliveries', {
      ...{
        id: `d${seq}`,
        seq: seq + 1,
        firing_id: 1,
        recipient_kind: 'webhook',
        recipient: 'sub_1',
        key: 'k',
      },
      ...{ made_at: T + seq * 1_000, snapshot: snapshot(state) },
    })
  db.prepare("INSERT INTO delivery_tries VALUES ('d0', 1, ?, 30, 204, NULL)").run(T)
  const runs: [string, Row, Row][] = [
    ['none', {}, { delivery: null, slack: null }],
    ['waits', { delivery: 'pending', delivery_due_at: T + 9 }, { delivery: 'pending', delivery_error: null }],
    [
      'again',
      {
        delivery: 'pending',
        delivery_error: 'HTTP 503',
        delivery_tries: 1,
        delivery_due_at: T + 9,
        delivery_at: T,
      },
      { delivery: 'pending', delivery_error: 'HTTP 503' },
    ],
    [
      'ok',
      { delivery: 'ok', delivery_tries: 1, delivery_at: T + 700 },
      { delivery: 'ok', delivery_error: null },
    ],
    [
      'refused',
      { delivery: 'http 404', delivery_error: 'HTTP 404: no', delivery_tries: 1, delivery_at: T + 700 },
      { delivery: 'http 404', delivery_error: 'HTTP 404: no' },
    ],
    [
      'failed',
      { delivery: 'failed', delivery_error: 'refused', delivery_tries: 3, delivery_at: T + 700 },
      { delivery: 'failed', delivery_error: 'refused' },
    ],
    ['s-waits', { slack: 'pending', slack_due_at: T }, { slack: 'pending', slack_error: null }],
    [
      's-half',
      {
        ...{ slack: 'pending', slack_error: 'later', slack_tries: 2, slack_due_at: T + 5 },
        ...{ slack_channel: 'C1', slack_ts: '1.2', slack_parts: 1 },
      },
      { slack: 'pending', slack_error: 'later' },
    ],
    ['s-ok', { slack: 'ok', slack_tries: 1, slack_channel: 'C1', slack_ts: '1.3' }, { slack: 'ok' }],
    [
      's-failed',
      { slack: 'failed', slack_error: 'no token', slack_tries: 1 },
      { slack: 'failed', slack_error: 'no token' },
    ],
  ]
  for (const [seq, [id, row]] of runs.entries())
    add('runs', {
      ...{ id, seq, agent: 'a', entity: 'pay', incident: id, finished_at: T + 1_500 },
      ...row,
    })
  add('run_projects', { run_id: 'ok', project: 'p1' })

  migrate(db)

  const told = findingsTold(db)
  for (const [id, , expected] of runs) expect([id, told(id)]).toEqual([id, expect.objectContaining(expected)])
  const rows = db.prepare('SELECT * FROM deliveries ORDER BY seq').all() as Row[]
  // Those of findings come in where they were made, so that times never fall as numbers grow.
  expect(rows.map(({ made_at }) => made_at)).toEqual(rows.map(({ made_at }) => made_at).sort())
  expect(rows.filter(({ firing_id }) => firing_id === 1).map(({ id, state }) => [id, state])).toEqual([
    ['d0', 'delivered'],
    ['d1', 'pending'],
    ['d2', 'running'],
    ['d3', 'failed'],
  ])
  const of = (run: string) => rows.find(({ finding_of }) => finding_of === run)!
  expect(of('again')).toMatchObject({ recipient: 'write_back:a', key: 'pay', due_at: T + 9 })
  expect(JSON.parse(of('again').snapshot as string).context).toEqual({
    tries: 1,
    max_tries: 3,
    due_at: T + 9,
  })
  expect(of('ok')).toMatchObject({ projects: '["p1"]', delivered_at: T + 700 })
  expect(of('ok').id).toMatch(/^dlv_[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/)
  expect(JSON.parse(of('s-half').progress as string)).toEqual({ channel: 'C1', ts: '1.2', parts: 1 })
  const tries = db.prepare('SELECT * FROM delivery_tries ORDER BY delivery_id').all() as Row[]
  expect(tries).toHaveLength(5)
  expect(tries).toContainEqual({ delivery_id: 'd0', n: 1, at: T, ms: 30, status: 204, error: null })
  expect(tries.find(({ delivery_id }) => delivery_id === of('refused').id)).toMatchObject({ status: 404 })
  expect(db.pragma('foreign_key_check')).toEqual([])
  // Purged with its run.
  db.prepare("DELETE FROM runs WHERE id = 'ok'").run()
  expect(db.prepare("SELECT count(*) FROM deliveries WHERE finding_of = 'ok'").pluck().get()).toBe(0)
})
