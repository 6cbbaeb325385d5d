/** The SQL of incidents: their rows, what happened to them, and the runs they woke. Times are epoch ms. */
import type { IncidentActivity } from '../../schemas/types.ts'
import type { Database } from '../store/handle.ts'

export interface IncidentRow {
  id: number
  trigger_id: number
  trigger_name: string
  project: string | null
  key: string
  label: string | null
  value_text: string | null
  sentence: string
  rank: number
  fired_rank: number
  opened_at: number
  last_fired_at: number
  firings: number
  assignee: string | null
  is_assigned_by_taking: number
  acknowledged_at: number | null
  acknowledged_by: string | null
  snoozed_at: number | null
  snoozed_by: string | null
  snoozed_until: number | null
  handled_at: number | null
  handled_by: string | null
  handled_how: 'person' | 'resolved' | 'verdict' | 'quiet' | null
  previous: number | null
  quiet_from: number
  due_at: number | null
  snapshot: string
  state: 'open' | 'acknowledged' | 'snoozed' | 'handled'
  version: number
}

/** Columns that are written once. */
const FIRST = [
  ...['trigger_id', 'trigger_name', 'project', 'key', 'label', 'value_text', 'sentence', 'opened_at'],
  ...['previous', 'snapshot'],
] as const
/** Columns that change; the snapshot and the version are the lifecycle's (lifecycle/advance.ts). */
const CHANGING = [
  ...['rank', 'fired_rank', 'last_fired_at', 'firings', 'assignee', 'is_assigned_by_taking'],
  ...['acknowledged_at', 'acknowledged_by', 'snoozed_at', 'snoozed_by', 'snoozed_until', 'handled_at'],
  ...['handled_by', 'handled_how', 'quiet_from', 'due_at'],
] as const

export type NewIncident = Omit<IncidentRow, 'id' | 'state' | 'version'>

export interface ActivityRow {
  incident_id: number
  n: number
  at: number
  by_name: string
  via: IncidentActivity['via']
  action: IncidentActivity['action']
  from_state: IncidentRow['state'] | null
  to_state: IncidentRow['state']
  /** JSON of what else there is to say. */
  detail: string
}

export type IncidentQueries = ReturnType<typeof prepare>

const prepared = new WeakMap<Database, IncidentQueries>()

/** The statements of a connection, prepared once. */
export function incidentQueries(db: Database): IncidentQueries {
  const known = prepared.get(db) ?? prepare(db)
  prepared.set(db, known)
  return known
}

function prepare(db: Database) {
  const all = [...FIRST, ...CHANGING]
  const insert = db.prepare<NewIncident>(
    `INSERT INTO incidents (${all.join(', ')}) VALUES (${all.map((column) => `@${column}`).join(', ')})`,
  )
  return {
    /** @returns its number */
    insert: (row: NewIncident): number => Number(insert.run(row).lastInsertRowid),
    save: db.prepare<IncidentRow>(
      `UPDATE incidents SET ${CHANGING.map((column) => `${column} = @${column}`).join(', ')} WHERE id = @id`,
    ),
    /** What is changed beside the state is a change that others must have seen, too. */
    touch: db.prepare<[number]>('UPDATE incidents SET version = version + 1 WHERE id = ?'),
    byId: db.prepare<[number], IncidentRow>('SELECT * FROM incidents WHERE id = ?'),
    active: db.prepare<[number, string], IncidentRow>(
      "SELECT * FROM incidents WHERE trigger_id = ? AND key = ? AND state <> 'handled'",
    ),
    last: db
      .prepare<[number, string], number>(
        'SELECT id FROM incidents WHERE trigger_id = ? AND key = ? ORDER BY id DESC LIMIT 1',
      )
      .pluck(),
    ofDispatch: db
      .prepare<[string], number | null>('SELECT incident_id FROM firings WHERE dispatch_id = ?')
      .pluck(),
    /** A firing is of an incident. */
    link: db.prepare<[number, string | null, string | null, number]>(
      'UPDATE firings SET incident_id = ?, severity = ?, suppressed_by = ? WHERE id = ?',
    ),
    linkAll: db.prepare<[number, string, string]>(
      'UPDATE firings SET incident_id = ?, severity = ? WHERE id IN (SELECT value FROM json_each(?))',
    ),
    due: db.prepare<[number], IncidentRow>(
      'SELECT * FROM incidents WHERE due_at <= ? ORDER BY due_at, id LIMIT 200',
    ),
    nextDue: db
      .prepare<[], number | null>('SELECT min(due_at) FROM incidents WHERE due_at IS NOT NULL')
      .pluck(),
    isActiveKey: db
      .prepare<[number, string], number>('SELECT 1 FROM active_keys WHERE trigger_id = ? AND key = ?')
      .pluck(),
    lastActivity: db.prepare<[number], ActivityRow>(
      'SELECT * FROM incident_activity WHERE incident_id = ? ORDER BY n DESC LIMIT 1',
    ),
    addActivity: db.prepare<ActivityRow>(
      `INSERT INTO incident_activity (incident_id, n, at, by_name, via, action, from_state, to_state, detail)
       VALUES (@incident_id, @n, @at, @by_name, @via, @action, @from_state, @to_state, @detail)`,
    ),
    growActivity: db.prepare<[number, string, number, number]>(
      'UPDATE incident_activity SET at = ?, detail = ? WHERE incident_id = ? AND n = ?',
    ),
    addRun: db.prepare<[number, string]>(
      'INSERT OR IGNORE INTO incident_runs (incident_id, run_id) VALUES (?, ?)',
    ),
    /** A run goes on with what another looked at. */
    copyRuns: db.prepare<[string, string]>(
      'INSERT OR IGNORE INTO incident_runs (incident_id, run_id) SELECT incident_id, ? FROM incident_runs WHERE run_id = ?',
    ),
    /** What a person has an agent look at. */
    addRunOfEntity: db.prepare<[string, string, string]>(
      `INSERT OR IGNORE INTO incident_runs (incident_id, run_id)
       SELECT id, ? FROM incidents WHERE state <> 'handled' AND label = ? AND value_text = ?`,
    ),
    ofRun: db.prepare<[string], IncidentRow>(
      `SELECT i.* FROM incident_runs ir JOIN incidents i ON i.id = ir.incident_id
       WHERE ir.run_id = ? AND i.state <> 'handled' ORDER BY i.id`,
    ),
    /** Its results, those that nobody handled yet. */
    handleResults: db.prepare<[number, string, number]>(
      `UPDATE runs SET handled_at = ?, handled_by = ? WHERE outcome IS NOT NULL AND practice = 0
         AND handled_at IS NULL AND id IN (SELECT run_id FROM incident_runs WHERE incident_id = ?)`,
    ),
    /** Those that were handled with it. */
    reopenResults: db.prepare<[number, string, number]>(
      `UPDATE runs SET handled_at = NULL, handled_by = NULL WHERE handled_at = ? AND handled_by = ?
         AND id IN (SELECT run_id FROM incident_runs WHERE incident_id = ?)`,
    ),
  }
}
