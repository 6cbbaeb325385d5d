/** The SQL of firings, their events and keys, and of what triggers remember. Times are epoch ms. */

import { didYouMean } from '../../schemas/near-names.ts'
import type {
  Dispatch,
  Evaluation,
  Firing,
  FiringKey,
  Label,
  TriggerSpec,
  WhyRecord,
} from '../../schemas/types.ts'
import { fail } from '../errors.ts'
import type { EntityRule } from '../log/entity-rules.ts'
import { parseDigits } from '../log/ingest/json.ts'
import type { Database } from '../log/store/handle.ts'
import type { StoredRow } from '../log/store/scan.ts'
import { labelIdsOf } from '../log/store/tail.ts'
import { requireProject } from '../log/timeline/context.ts'
import { eventId } from '../log/timeline/present.ts'
import { unpackIds } from '../model/ids.ts'
import { iso, isoOrNull } from '../model/units.ts'
import type { AlertRow, Seen, TriggerDefinition, Verdict } from './types.ts'

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
  suppressed_by: 'snooze' | 'maintenance' | null
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

const BESIDE_MAX = 100
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
    /** As `lastFired`. */
    lastSeverity: db
      .prepare<[number, string], FiringRow['severity']>(
        `SELECT f.severity FROM firing_keys k JOIN firings f ON f.id = k.firing_id
         WHERE k.trigger_id = ? AND k.key = ? AND f.fired_at IS NOT NULL AND f.resolves IS NULL AND f.practice = 0
         ORDER BY k.firing_id DESC LIMIT 1`,
      )
      .pluck(),
    // A resolved firing is an end: it starts no cooldown.
    lastFired: db
      .prepare<[number, string], number | null>(
        // A burst is told after what fired beside it in spite of a cooldown, and was begun before: its newest firings are looked at.
        `SELECT max(fired_at) FROM (SELECT f.fired_at FROM firing_keys k JOIN firings f ON f.id = k.firing_id
         WHERE k.trigger_id = ? AND k.key = ? AND f.fired_at IS NOT NULL AND f.resolves IS NULL AND f.practice = 0
         ORDER BY k.firing_id DESC LIMIT ${BESIDE_MAX})`,
      )
      .pluck(),
    lastFiredBefore: db
      .prepare<[number, string, number, number], number>(
        `SELECT f.fired_at FROM firing_keys k JOIN firings f ON f.id = k.firing_id
         WHERE k.trigger_id = ? AND k.key = ? AND f.fired_at <= ? AND f.resolves IS NULL
           AND f.practice = 0 AND coalesce(f.event_id, 0) < ? ORDER BY f.fired_at DESC LIMIT 1`,
      )
      .pluck(),
    /** Whether the last firing of a key before an event lasted still: of a trigger with `resolve`, and not over by then. */
    lastedThen: db
      .prepare<{ trigger: number; key: string; at: number; event: number }, number>(
        `SELECT json_extract(f.spec, '$.condition.resolve') IS NOT NULL AND NOT EXISTS (
             SELECT 1 FROM firings r WHERE r.trigger_id = f.trigger_id AND r.fired_at <= @at AND r.resolves = f.dispatch_id)
         FROM firing_keys k JOIN firings f ON f.id = k.firing_id
         WHERE k.trigger_id = @trigger AND k.key = @key AND f.fired_at <= @at AND f.resolves IS NULL
           AND f.practice = 0 AND coalesce(f.event_id, 0) < @event ORDER BY f.fired_at DESC, f.id DESC LIMIT 1`,
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
    active: db.prepare<[number], { key: string; labels: string; since: number; lead: number }>(
      'SELECT key, labels, since, lead FROM active_keys WHERE trigger_id = ?',
    ),
    activeKey: db
      .prepare<[number, string], string>(
        'SELECT dispatch_id FROM active_keys WHERE trigger_id = ? AND key = ?',
      )
      .pluck(),
    addActive: db.prepare<[number, string, string, number, string]>(
      'INSERT OR REPLACE INTO active_keys (trigger_id, key, labels, since, dispatch_id) VALUES (?, ?, ?, ?, ?)',
    ),
    shiftActive: db.prepare<[number, number, number, string]>(
      'UPDATE active_keys SET since = ?, lead = ? WHERE trigger_id = ? AND key = ?',
    ),
    dropActive: db.prepare<[number, string]>('DELETE FROM active_keys WHERE trigger_id = ? AND key = ?'),
    alerts: db.prepare<[number], AlertRow>(
      'SELECT * FROM active_alerts WHERE trigger_id = ? AND over_at IS NULL ORDER BY key, since, event_id',
    ),
    saveAlert: db.prepare<AlertRow & { trigger_id: number }>(
      `INSERT OR REPLACE INTO active_alerts (trigger_id, key, alert, labels, event_id, ts, since, rank, told)
       VALUES (@trigger_id, @key, @alert, @labels, @event_id, @ts, @since, @rank, @told)`,
    ),
    overAlert: db.prepare<[number, number, string, string]>(
      'UPDATE active_alerts SET over_at = ? WHERE trigger_id = ? AND key = ? AND alert = ?',
    ),
    trimAlerts: db.prepare<{ trigger: number; key: string }>(
      `DELETE FROM active_alerts WHERE trigger_id = @trigger AND key = @key AND over_at < (SELECT over_at FROM active_alerts
         WHERE trigger_id = @trigger AND key = @key AND over_at IS NOT NULL ORDER BY over_at DESC LIMIT 1 OFFSET 200)`,
    ),
    dropAlerts: db.prepare<[number, string]>('DELETE FROM active_alerts WHERE trigger_id = ? AND key = ?'),
    lastHandled: db
      .prepare<[number, string], number | null>(
        'SELECT handled_at FROM incidents WHERE trigger_id = ? AND key = ? ORDER BY id DESC LIMIT 1',
      )
      .pluck(),
    watched: db.prepare<[number], { key: string; labels: string; last_id: number; last_at: number }>(
      'SELECT key, labels, last_id, last_at FROM watched_keys WHERE trigger_id = ?',
    ),
    saveWatched: db.prepare<[number, string, string, number, number]>(
      'INSERT OR REPLACE INTO watched_keys (trigger_id, key, labels, last_id, last_at, silent) VALUES (?, ?, ?, ?, ?, 0)',
    ),
    dropWatched: db.prepare<[number, string]>('DELETE FROM watched_keys WHERE trigger_id = ? AND key = ?'),
    /** Of a version that kept the keys that had fallen silent. */
    dropSilent: db.prepare<[]>('DELETE FROM watched_keys WHERE silent = 1'),
    basis: db.prepare<[number], string>('SELECT basis FROM key_bases WHERE trigger_id = ?').pluck(),
    saveBasis: db.prepare<[number, string]>(
      'INSERT OR REPLACE INTO key_bases (trigger_id, basis) VALUES (?, ?)',
    ),
    /** Triggers that are gone, with a burst that is open or keys that are remembered: these have a basis. */
    ofNoTrigger: db
      .prepare<[], number>(
        `SELECT trigger_id FROM (SELECT trigger_id FROM firings WHERE state IN ('gathering', 'held')
             UNION SELECT trigger_id FROM key_bases)
         WHERE trigger_id NOT IN (SELECT id FROM triggers WHERE state <> 'deleted')`,
      )
      .pluck(),
    forget: ['active_keys', 'active_alerts', 'watched_keys', 'key_bases'].map((table) =>
      db.prepare<[number]>(`DELETE FROM ${table} WHERE trigger_id = ?`),
    ),
    schedule: db.prepare<[number], ScheduleRow>('SELECT * FROM trigger_schedules WHERE trigger_id = ?'),
    pauseDeleted: db.prepare<{ paused: number }>(
      `UPDATE trigger_schedules SET last_slot = @paused WHERE last_slot <> @paused
         AND trigger_id NOT IN (SELECT id FROM triggers WHERE state <> 'deleted')`,
    ),
    saveSchedule: db.prepare<[number, string, number, number]>(
      'INSERT OR REPLACE INTO trigger_schedules (trigger_id, condition, anchor, last_slot) VALUES (?, ?, ?, ?)',
    ),
    note: db.prepare<[number, string, number | null, number, string, string | null, string]>(
      'INSERT INTO evaluations (trigger_id, trigger_name, event_id, at, reason, dispatch_id, detail) VALUES (?, ?, ?, ?, ?, ?, ?)',
    ),
  }
}

/* Stored rows as triggers see them. */

const decoder = new TextDecoder()

/** @param row with its payload, or `rawOf` to read it with: few triggers look at payloads. */
export function seenOf(row: StoredRow, rawOf?: (id: number) => Uint8Array | undefined): Seen {
  let numbers: Record<string, number> | undefined
  let payload: { value: unknown } | undefined
  return {
    id: row.id,
    sourceId: row.source_id,
    ts: row.ts,
    ingestedAt: row.ingested_at,
    labels: labelIdsOf(row.labels),
    hasEntity: row.entity !== null,
    bypass: false,
    numbers: () => {
      numbers ??= row.numbers ? (JSON.parse(row.numbers) as Record<string, number>) : {}
      return numbers
    },
    text: () => row.text,
    payload: () => {
      if (!payload) {
        const raw = row.raw ?? rawOf?.(row.id)
        payload = { value: raw ? parsed(decoder.decode(raw)) : undefined }
      }
      return payload.value
    },
  }
}

/** Text that is no JSON has no fields. */
function parsed(text: string): unknown {
  try {
    return parseDigits(text)
  } catch {
    return undefined
  }
}

/* The triggers as they are evaluated: from their rows, with the live sources they watch. */

interface TriggerRow {
  id: number
  name: string
  spec: string
  state: string
}

interface SourceRow {
  id: number
  name: string
  labels: string | null
}

/** Every trigger that is not deleted, in the order they were made. */
export function readDefinitions(db: Database): TriggerDefinition[] {
  const sources = liveSources(db)
  return db
    .prepare<[], TriggerRow>(
      "SELECT id, name, spec, state FROM triggers WHERE state <> 'deleted' ORDER BY id",
    )
    .all()
    .map(({ id, name, spec, state }) => {
      const is = JSON.parse(spec) as TriggerSpec
      return withEntities(db, definitionOf(id, name, is, state === 'paused', sources))
    })
}

/** A definition that need not be stored, for backtests. */
export function draftDefinition(db: Database, spec: TriggerSpec): TriggerDefinition {
  return withEntities(db, definitionOf(0, '', spec, false, liveSources(db)))
}

/** A definition with the joined entities of now, where it goes by them. */
function withEntities(db: Database, definition: TriggerDefinition): TriggerDefinition {
  return definition.spec.joined ? { ...definition, entities: entitiesOf(db) } : definition
}

const entitiesOf = (db: Database): EntityRule[] =>
  db
    .prepare<[], { name: string; spec: string }>('SELECT name, spec FROM entities ORDER BY name')
    .all()
    .map(({ name, spec }) => ({ ...(JSON.parse(spec) as EntityRule), name }))

/**
 * A definition of the past: the sources it names are those that had the name, deleted ones included.
 * @param source what is known of a source by its name
 * @param entities joined entities of then, where the trigger goes by them
 */
export function pastDefinition(
  of: Pick<TriggerDefinition, 'id' | 'name' | 'spec'>,
  source: (name: string) => { ids: readonly number[]; labels: readonly Label[] },
  entities: readonly EntityRule[] = [],
): TriggerDefinition {
  const sources = of.spec.sources.map(source)
  const primaries = sources.flatMap(({ labels }) => labels.find((label) => label.primary)?.name ?? [])
  return {
    ...of,
    paused: false,
    sourceIds: sources.flatMap(({ ids }) => ids),
    entityLabel: of.spec.key_field || (primaries[0] ?? null),
    ...(of.spec.joined ? { entities } : {}),
  }
}

type Sources = ReadonlyMap<string, SourceRow>

function liveSources(db: Database): Sources {
  const rows = db
    .prepare<[], SourceRow>(
      "SELECT id, name, json_extract(config, '$.labels') AS labels FROM sources WHERE state <> 'deleted'",
    )
    .all()
  return new Map(rows.map((row) => [row.name, row]))
}

function definitionOf(
  id: number,
  name: string,
  spec: TriggerSpec,
  paused: boolean,
  sources: Sources,
): TriggerDefinition {
  const watched = spec.sources.flatMap((source) => sources.get(source) ?? [])
  return {
    id,
    name,
    spec,
    paused,
    sourceIds: watched.map((source) => source.id),
    entityLabel: spec.key_field || primaryLabel(watched),
  }
}

/** The primary label of the first source that has one. */
function primaryLabel(sources: readonly SourceRow[]): string | null {
  for (const { labels } of sources) {
    const primary = (JSON.parse(labels ?? '[]') as Label[]).find((label) => label.primary)
    if (primary) return primary.name
  }
  return null
}

/* Firings, deliveries and evaluations as they are answered. */

const LISTED_EVENTS = 100
const LISTED_KEYS = 20

export function presentFiring(db: Database, row: FiringRow): Firing {
  const spec = JSON.parse(row.spec) as TriggerSpec
  const counts = new Map(
    db
      .prepare<[number], { state: string; n: number }>(
        'SELECT state, count(*) AS n FROM deliveries WHERE firing_id = ? GROUP BY state',
      )
      .all(row.id)
      .map(({ state, n }) => [state, n]),
  )
  const count = (state: string): number => counts.get(state) ?? 0
  const [pending, delivered, failed] = [
    count('pending') + count('running'),
    count('delivered'),
    count('failed'),
  ]
  const { condition } = spec
  return {
    dispatch_id: row.dispatch_id,
    trigger: row.trigger_name,
    kind: row.kind,
    project: row.project,
    projects: JSON.parse(row.projects) as string[],
    state: row.state as Firing['state'],
    key: row.key,
    entity:
      row.label !== null && row.value_text !== null ? { label: row.label, value: row.value_text } : null,
    fired_at: isoOrNull(row.fired_at),
    opened_at: iso(row.opened_at),
    due_at: isoOrNull(row.due_at),
    reason: row.reason,
    value: row.value,
    predicate: 'predicate' in condition ? condition.predicate : null,
    window: 'window' in condition ? condition.window : null,
    events: row.events,
    event_ids: firstEvents(db, row.id, LISTED_EVENTS).map(eventId),
    first_event: row.event_id === null ? null : eventId(row.event_id),
    key_count: row.key_count,
    keys: keysOf(db, row.id),
    held_back: row.held_back,
    late_by: row.late_by === null ? null : row.late_by / 1_000,
    resolves: row.resolves,
    practice: row.practice === 1,
    parent_run_id: row.parent_run_id,
    incident: row.incident_id === null ? null : `inc_${row.incident_id}`,
    severity: row.severity,
    suppressed_by: row.suppressed_by,
    subscribers: pending + delivered + failed,
    delivered,
    pending,
    failed,
  }
}

export function keysOf(db: Database, firingId: number): FiringKey[] {
  return triggerQueries(db)
    .keysOf.all(firingId, LISTED_KEYS)
    .map(({ key, events, first_event }) => ({
      key,
      events,
      first_event: first_event === null ? '' : eventId(first_event),
    }))
}

/** The first ids a firing carries, in the order they were folded in. */
export function firstEvents(db: Database, firingId: number, limit: number): number[] {
  const ids: number[] = []
  for (const chunk of triggerQueries(db).eventsOf.iterate(firingId)) {
    ids.push(...unpackIds(chunk.ids))
    if (ids.length >= limit) break
  }
  return ids.slice(0, limit)
}

/** All of them, ascending. */
export function allEvents(db: Database, firingId: number): number[] {
  return triggerQueries(db)
    .eventsOf.all(firingId)
    .flatMap(({ ids }) => unpackIds(ids))
    .sort((a, b) => a - b)
}

/** A firing as /api/activity/dispatches answers it. */
export function presentDispatch(firing: Firing, error: string | null, payload: string | null): Dispatch {
  return {
    dispatch_id: firing.dispatch_id,
    trigger: firing.trigger,
    project: firing.project,
    key: firing.key,
    kind: firing.kind,
    fired_at: firing.fired_at!,
    subscribers: firing.subscribers,
    delivered: firing.delivered,
    pending: firing.pending,
    payload,
    error,
    practice: firing.practice,
    parent_run_id: firing.parent_run_id,
  }
}

/** A verdict worked out now. */
export function presentVerdict(
  trigger: string,
  verdict: Verdict,
  dispatchId: string | null,
  recomputed: boolean,
): WhyRecord {
  const { triggerId: _id, eventId: _event, at, until, ...rest } = verdict
  return { trigger, ...rest, at: iso(at), until: isoOrNull(until), dispatch_id: dispatchId, recomputed }
}

export interface EvaluationRow {
  id: number
  trigger_id: number
  trigger_name: string
  event_id: number | null
  at: number
  reason: WhyRecord['reason']
  dispatch_id: string | null
  /** JSON of the rest of the verdict. */
  detail: string
}

export function presentEvaluation(row: EvaluationRow): Evaluation {
  const detail = JSON.parse(row.detail) as Omit<Verdict, 'triggerId' | 'eventId' | 'at' | 'reason'>
  const { trigger_id: triggerId, event_id: id, at, reason } = row
  const verdict = { ...detail, triggerId, eventId: id, at, reason }
  return {
    event_id: id === null ? null : eventId(id),
    ...presentVerdict(row.trigger_name, verdict, row.dispatch_id, false),
  }
}

/** What a trigger fired and looked at goes along when it gets another name. */
export function renameInFirings(db: Database, to: string): void {
  const id = db
    .prepare<[string], number>("SELECT id FROM triggers WHERE name = ? AND state <> 'deleted'")
    .pluck()
    .get(to)
  db.prepare('UPDATE firings SET trigger_name = ? WHERE trigger_id = ?').run(to, id)
  db.prepare('UPDATE evaluations SET trigger_name = ? WHERE trigger_id = ?').run(to, id)
}

/**
 * Refuses a list that is empty because a trigger or project was mistyped.
 * @param listed what was found: where it is not empty, the names are known. @throws SvcError not_found: no trigger is or was named so, or no project
 */
export function requireNamed(
  db: Database,
  listed: readonly unknown[],
  { trigger, project }: { trigger?: string | undefined; project?: string | undefined },
): void {
  if (listed.length > 0) return
  if (project !== undefined) requireProject(db, project)
  if (trigger === undefined) return
  const known = db.prepare<[], string>('SELECT DISTINCT name FROM triggers').pluck().all()
  if (!known.includes(trigger))
    fail('not_found', `no trigger is named ${trigger}${didYouMean(trigger, known)}`, { field: 'trigger' })
}
