/**
 * A data file of before there were incidents: its firings of the last 24 hours become incidents, once, in one
 * transaction, each step as if it were taken when it fired. Migration 0030 says that it is to be done.
 */
import type { StoreHandle } from '../store/handle.ts'
import { triggerQueries } from '../triggers/queries.ts'
import type { FiringIncidents } from './firing.ts'
import { QUIET_MS } from './steps.ts'

const CACHE_KIB = 131_072

/** @param now epoch ms */
export function adoptFirings(
  store: Pick<StoreHandle, 'db' | 'tx'>,
  incidents: Pick<FiringIncidents, 'fired' | 'woke'>,
  now: number,
): void {
  const { db } = store
  const isDue = db.prepare("SELECT 1 FROM meta WHERE key = 'incidents_due'").pluck()
  if (isDue.get() === undefined) return
  const ids = db
    .prepare<[number], number>(
      `SELECT id FROM firings WHERE fired_at >= ? AND state = 'fired' AND practice = 0 AND incident_id IS NULL
       ORDER BY fired_at, id`,
    )
    .pluck()
  const runs = db
    .prepare<[number], string>('SELECT run_id FROM deliveries WHERE firing_id = ? AND run_id IS NOT NULL')
    .pluck()
  const chain = db.prepare<[string], void>(
    `INSERT OR IGNORE INTO incident_runs (incident_id, run_id) SELECT ir.incident_id, c.id FROM incident_runs ir
     JOIN runs r ON r.id = ir.run_id JOIN runs c ON c.root_run_id = r.root_run_id AND c.practice = 0
     WHERE ir.run_id = ?`,
  )
  const { byId } = triggerQueries(db)
  // All of it is one transaction, whose pages are changed again and again.
  const cache = db.pragma('cache_size', { simple: true }) as number
  db.pragma(`cache_size = -${CACHE_KIB}`)
  store.tx(() => {
    for (const id of ids.all(now - QUIET_MS)) {
      const row = byId.get(id)!
      incidents.fired(row)
      for (const run of runs.all(id)) {
        incidents.woke(row, run)
        chain.run(run)
      }
    }
    db.prepare("DELETE FROM meta WHERE key = 'incidents_due'").run()
  })
  db.pragma(`cache_size = ${cache}`)
}
