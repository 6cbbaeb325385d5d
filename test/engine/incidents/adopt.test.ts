/** 19, step 2: an existing data file opens with its firings of the last 24 hours as incidents. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { expect, it, onTestFinished } from 'vitest'
import { MINUTE, openWorld } from '../triggers/trigger-world.ts'

const HOUR = 60 * MINUTE

/** The file as the version before 0030 left it: no incident in it, and what is to be done noted. */
function asBefore(dataFile: string): void {
  const db = new BetterSqlite3(dataFile)
  db.exec(`DELETE FROM incident_runs; DELETE FROM incident_activity; DELETE FROM incidents;
    DELETE FROM sqlite_sequence WHERE name = 'incidents';
    UPDATE firings SET incident_id = NULL, severity = NULL, suppressed_by = NULL;
    INSERT INTO meta VALUES ('incidents_due', '1');`)
  db.close()
}

it('open, and handled where their resolving firing came; once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-adopt-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const dataFile = join(folder, 'svc.db')
  const before = await openWorld({ dataFile })
  await before.trigger({ name: 'each', condition: { event: 'any' }, cooldown: '1m' })
  await before.trigger({
    name: 'two',
    condition: { aggregate: 'count', predicate: '> 1', window: '5m', resolve: true },
    severity: 'critical',
  })
  await before.trigger({ name: 'hourly', condition: { every: '1h' } })
  await before.post({ service: 'old' })
  before.pass(25 * HOUR)
  await before.post([{ service: 'pay' }, { service: 'pay' }])
  before.pass(10 * MINUTE)
  await before.post({ service: 'pay' })
  await before.engine.close()
  asBefore(dataFile)

  const { clock } = before
  const opened = await openWorld({ dataFile, clock })
  const list = async (engine: typeof opened.engine) => {
    const active = await engine.listIncidents({ limit: 10 }, null)
    const handled = await engine.listIncidents({ state: 'handled', limit: 10 }, null)
    return [...active.incidents, ...handled.incidents].map((one) => [
      ...[one.trigger, one.key, one.state, one.severity, one.firings, one.handled?.how ?? null],
    ])
  }
  const expected = [
    ['each', 'pay', 'open', 'warning', 2, null],
    ['two', 'pay', 'handled', 'critical', 1, 'resolved'],
  ]
  expect(await list(opened.engine)).toEqual(expected)
  const firings = await opened.firings('two')
  expect(firings.map(({ incident }) => incident)).toEqual([firings[0]!.incident, firings[0]!.incident])
  await opened.engine.close()
  const again = await openWorld({ dataFile, clock })
  expect(await list(again.engine)).toEqual(expected)
  await again.engine.close()
})
