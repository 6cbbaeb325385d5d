/** The SQL of firings, their events and keys, and of what triggers remember. Times are epoch ms. */
import type { Database } from '../store/handle.ts'

export interface FiringRow {
  id: number
  dispatch_id: string
  trigger_id: number
  trigger_name: string
  project: string | null
  /** JSON list. */
  projects: string
  kind: string
  key: string
  label: string | null
  value_text: string | null
  cause: string
  /** JSON of the trigger's spec as it was. */
  spec: string
  opened_at: number
  last_at: number
  fired_at: number | null
  due_at: number | null
  as_of: number | null
  value: number | null
  reason: string
  event_id: number | null
  events: number
  key_count: number
  crossings: number
  held_back: number
  late_by: number | null
  slot: number | null
  resolves: string | null
  practice: number
  parent_run_id: string | null
  /** When a limit began to hold it back; null: none did, or it was not recorded. */
  held_at: number | null
  dropped_at: number | null
  /** Of its incident; null: it is of none. */
  incident_id: number | null
  severity: 'critical' | 'warning' | 'info' | null
  /** Why its deliveries were held back; null: they were not. */
  suppressed_by: 'snooze' | null
  snapshot: string
  state: 'tripped' | 'gathering' | 'held' | 'fired' | 'dropped'
}

export type NewFiring = Omit<
  FiringRow,
  'id' | 'state' | 'practice' | 'held_at' | 'dropped_at' | 'incident_id' | 'severity' | 'suppressed_by'
> & {
  practice: 0 | 1
}

const NEW_COLUMNS = [
  'dispatch_id',
  'trigger_id',
  'trigger_name',
  'project',
  'projects',
  'kind',
  'key',
  'label',
  'value_text',
  'cause',
  'spec',
  'opened_at',
  'last_at',
  'fired_at',
  'due_at',
  'as_of',
  'value',
  'reason',
  'event_id',
  'events',
  'key_count',
  'crossings',
  'held_back',
  'late_by',
  'slot',
  'resolves',
  'practice',
  'parent_run_id',
  'snapshot',
] as const

export interface ScheduleRow {
  trigger_id: number
  /** JSON of its condition as it was. */
  condition: string
  anchor: number
  last_slot: number
}

export type TriggerQueries = ReturnType<typeof prepare>

const prepared = new WeakMap<Database, TriggerQueries>()

/** The statements of a connection, prepared once. */
export function triggerQueries(db: Database): TriggerQueries {
  const known = prepared.get(db) ?? prepare(db)
  prepared.set(db, known)
  return known
}

function prepare(db: Database) {
  return { ...firings(db), ...memory(db) }
}

/** Firings with their events and keys. */
function firings(db: Database) {
  const insert = db.prepare(
    `INSERT OR IGNORE INTO firings (${NEW_COLUMNS.join(', ')}) VALUES (${NEW_COLUMNS.map((c) => `@${c}`).join(', ')})`,
  )
  return {
    /** @returns its row id; null when its cause has fired before. */
    insertFiring: (row: NewFiring): number | null => {
      const { changes, lastInsertRowid } = insert.run(row)
      return changes === 1 ? Number(lastInsertRowid) : null
    },
    byId: db.prepare<[number], FiringRow>('SELECT * FROM firings WHERE id = ?'),
    byDispatch: db.prepare<[string], FiringRow>('SELECT * FROM firings WHERE dispatch_id = ?'),
    open: db.prepare<[number], FiringRow>(
      "SELECT * FROM firings WHERE trigger_id = ? AND state IN ('gathering', 'held')",
    ),
    /** What a release, or a fold, changes of a firing. */
    saveBurst: db.prepare<
      [number, number | null, number, number, number, number, number | null, number | null, string, number]
    >(
      'UPDATE firings SET last_at = ?, due_at = ?, events = ?, key_count = ?, crossings = ?, held_back = ?, fired_at = ?, as_of = ?, reason = ? WHERE id = ?',
    ),
    setHeld: db.prepare<[number, number]>('UPDATE firings SET held_at = ? WHERE id = ?'),
    setDropped: db.prepare<[number, number]>('UPDATE firings SET dropped_at = ? WHERE id = ?'),
    setProjects: db.prepare<[string, number]>('UPDATE firings SET projects = ? WHERE id = ?'),
    addEvents: db.prepare<[number, number, number, Uint8Array]>(
      'INSERT INTO firing_events (firing_id, seq, n, ids) VALUES (?, ?, ?, ?)',
    ),
    eventsOf: db.prepare<[number], { seq: number; n: number; ids: Uint8Array }>(
      'SELECT seq, n, ids FROM firing_events WHERE firing_id = ? ORDER BY seq',
    ),
    saveKey: db.prepare<[number, number, string, number, number | null]>(
      'INSERT INTO firing_keys (firing_id, trigger_id, key, events, first_event) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET events = excluded.events',
    ),
    keysOf: db.prepare<[number, number], { key: string; events: number; first_event: number | null }>(
      'SELECT key, events, first_event FROM firing_keys WHERE firing_id = ? ORDER BY events DESC, first_event LIMIT ?',
    ),
    // A resolved firing is an end: it starts no cooldown.
    lastFired: db
      .prepare<[number, string], number>(
        `SELECT f.fired_at FROM firing_keys k JOIN firings f ON f.id = k.firing_id
         WHERE k.trigger_id = ? AND k.key = ? AND f.fired_at IS NOT NULL AND f.resolves IS NULL AND f.practice = 0
         ORDER BY k.firing_id DESC LIMIT 1`,
      )
      .pluck(),
    lastFiredBefore: db
      .prepare<[number, string, number, number], number>(
        `SELECT f.fired_at FROM firing_keys k JOIN firings f ON f.id = k.firing_id
         WHERE k.trigger_id = ? AND k.key = ? AND f.fired_at <= ? AND f.resolves IS NULL
           AND f.practice = 0 AND coalesce(f.event_id, 0) < ? ORDER BY f.fired_at DESC LIMIT 1`,
      )
      .pluck(),
    firedSince: db
      .prepare<[number, number], number>(
        'SELECT fired_at FROM firings WHERE trigger_id = ? AND fired_at > ? AND resolves IS NULL AND practice = 0 ORDER BY fired_at',
      )
      .pluck(),
    /** Those a stored event may be part of: it came while they were open. */
    around: db.prepare<[number, number, number], FiringRow>(
      `SELECT * FROM firings WHERE trigger_id = ? AND opened_at >= ? - 86400000 * 31
         AND (fired_at IS NULL OR fired_at >= ?) AND state <> 'dropped' ORDER BY id LIMIT 50`,
    ),
  }
}

/** What a trigger keeps over a restart: keys that are active or watched, schedules, why nothing fired. */
function memory(db: Database) {
  return {
    active: db.prepare<[number], { key: string; labels: string; since: number; dispatch_id: string }>(
      'SELECT key, labels, since, dispatch_id FROM active_keys WHERE trigger_id = ?',
    ),
    activeKey: db
      .prepare<[number, string], string>(
        'SELECT dispatch_id FROM active_keys WHERE trigger_id = ? AND key = ?',
      )
      .pluck(),
    addActive: db.prepare<[number, string, string, number, string]>(
      'INSERT OR REPLACE INTO active_keys (trigger_id, key, labels, since, dispatch_id) VALUES (?, ?, ?, ?, ?)',
    ),
    dropActive: db.prepare<[number, string]>('DELETE FROM active_keys WHERE trigger_id = ? AND key = ?'),
    watched: db.prepare<
      [number],
      { key: string; labels: string; last_id: number; last_at: number; silent: number }
    >('SELECT key, labels, last_id, last_at, silent FROM watched_keys WHERE trigger_id = ?'),
    saveWatched: db.prepare<[number, string, string, number, number, number]>(
      'INSERT OR REPLACE INTO watched_keys (trigger_id, key, labels, last_id, last_at, silent) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    basis: db.prepare<[number], string>('SELECT basis FROM key_bases WHERE trigger_id = ?').pluck(),
    saveBasis: db.prepare<[number, string]>(
      'INSERT OR REPLACE INTO key_bases (trigger_id, basis) VALUES (?, ?)',
    ),
    forget: [
      db.prepare<[number]>('DELETE FROM active_keys WHERE trigger_id = ?'),
      db.prepare<[number]>('DELETE FROM watched_keys WHERE trigger_id = ?'),
      db.prepare<[number]>('DELETE FROM key_bases WHERE trigger_id = ?'),
    ],
    schedule: db.prepare<[number], ScheduleRow>('SELECT * FROM trigger_schedules WHERE trigger_id = ?'),
    saveSchedule: db.prepare<[number, string, number, number]>(
      'INSERT OR REPLACE INTO trigger_schedules (trigger_id, condition, anchor, last_slot) VALUES (?, ?, ?, ?)',
    ),
    note: db.prepare<[number, string, number | null, number, string, string | null, string]>(
      'INSERT INTO evaluations (trigger_id, trigger_name, event_id, at, reason, dispatch_id, detail) VALUES (?, ?, ?, ?, ?, ?, ?)',
    ),
  }
}
