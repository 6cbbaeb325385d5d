/**
 * What happens to incidents, each step in the caller's transaction: the machine says what becomes of the state, its
 * effects are written to the row, and one row of the activity says what it was.
 */
import { lifecycles } from '../../machines/index.ts'
import { type Snapshot, step } from '../../machines/step.ts'
import { ownField } from '../../schemas/fields-of.ts'
import type { IncidentActivity, IncidentCounts, IncidentsBulk, TriggerSpec } from '../../schemas/types.ts'
import { severityOf } from '../documents/trigger.ts'
import { fail } from '../errors.ts'
import { lookup } from '../log/ingest/json-project.ts'
import { acceptedBy, carryOut, type Executors, move } from '../log/lifecycle.ts'
import type { Database } from '../log/store/handle.ts'
import type { ReadContext } from '../log/timeline/context.ts'
import { presentRow } from '../log/timeline/present.ts'
import { rankOf, type Severity, severityNamed, severityOfRank } from '../model/units.ts'
import type { FiringRow } from '../triggers/queries.ts'

/** Who acts, and how that is known. */
export interface IncidentWho {
  by: string
  via: IncidentActivity['via']
}

/** What a person does to an incident. */
export type IncidentAction = IncidentsBulk['action']

export interface IncidentAct {
  action: IncidentAction
  /** The version the actor saw; absent: whatever it is. */
  version?: number | undefined
  /** Of assign: null takes it from whoever has it; absent: whoever asks. */
  assignee?: string | null | undefined
  /** Of snooze, ISO 8601: until when; null or absent: until it changes. */
  until?: string | null | undefined
  severity?: Severity | undefined
  /** Of a note. */
  text?: string | undefined
}

/** Nothing fired for so long: it is over. */
export const QUIET_MS = 86_400_000
/** Nobody did it: the service itself. */
export const NOBODY: IncidentWho = { by: 'svc', via: 'svc' }

/** An event of the machine, with what it brings. */
export interface IncidentEvent {
  type: string
  until?: number | null
  rises?: boolean
  how?: NonNullable<IncidentRow['handled_how']>
  /** Of snooze: the maintenance window that does it. */
  maintenance?: number
  /** Of reopen: whoever had it has it again. */
  keeps?: boolean
  /** Of assign. */
  assignee?: string | null
  /** Of fire and set_severity: 3 is critical. */
  rank?: number
}

/** Who does it and when, epoch ms. */
interface Act {
  who: IncidentWho
  at: number
  /** Of what ends a snooze: delivers what it held back. */
  tellHeldBack?: (row: IncidentRow) => void
}

type Doing = Act & { row: IncidentRow; event: IncidentEvent; db: Database }

export const idOf = (number: number): string => `inc_${number}`

/** What each effect of the machine writes. */
export const INCIDENT_EFFECTS: Executors<Doing> = {
  note_fired: ({ row, at, event }) => {
    const rank = event.rank ?? row.rank
    row.firings++
    row.last_fired_at = Math.max(row.last_fired_at, at)
    row.quiet_from = Math.max(row.quiet_from, at)
    row.fired_rank = Math.max(row.fired_rank, rank)
    if (event.rises) row.rank = rank
  },
  note_severity: ({ row, event }) => {
    row.rank = event.rank ?? row.rank
  },
  note_taken: ({ row, who, at }) => {
    row.acknowledged_at = at
    row.acknowledged_by = who.by
    if (row.assignee !== null) return
    row.assignee = who.by
    row.is_assigned_by_taking = 1
  },
  note_given_back: ({ row }) => {
    row.acknowledged_at = null
    row.acknowledged_by = null
    if (!row.is_assigned_by_taking) return
    row.assignee = null
    row.is_assigned_by_taking = 0
  },
  note_assigned: ({ row, event }) => {
    row.assignee = event.assignee ?? null
    row.is_assigned_by_taking = 0
  },
  note_snoozed: ({ row, who, at, event }) => {
    row.snoozed_at = at
    row.snoozed_by = who.by
    row.snoozed_until = event.until ?? null
    row.maintenance_id = event.maintenance ?? null
  },
  note_unsnoozed: ({ row }) => unsnooze(row),
  tell_held_back: ({ row, tellHeldBack }) =>
    (tellHeldBack ?? fail('internal', `nothing delivers what was held back of ${idOf(row.id)}`))(row),
  note_handled: ({ row, who, at, event, db }) => {
    unsnooze(row)
    row.handled_at = at
    row.handled_by = who.by
    row.handled_how = event.how ?? 'person'
    incidentQueries(db).handleResults.run(at, who.by, row.id)
  },
  note_reopened: ({ row, at, db }) => {
    incidentQueries(db).reopenResults.run(row.handled_at!, row.handled_by!, row.id)
    row.handled_at = null
    row.handled_by = null
    row.handled_how = null
    row.quiet_from = at
  },
}

function unsnooze(row: IncidentRow): void {
  row.snoozed_at = null
  row.snoozed_by = null
  row.snoozed_until = null
  row.maintenance_id = null
}

/** When the clock alone does something to it; null: never. */
function dueOf({ handled_at, quiet_from, snoozed_until }: IncidentRow): number | null {
  if (handled_at !== null) return null
  return Math.min(quiet_from + QUIET_MS, snoozed_until ?? Number.MAX_SAFE_INTEGER)
}

/** The event of the machine for each act of a person but a note, which is none; the others are the service's. */
export const ACT_EVENTS: Readonly<Record<Exclude<IncidentAction, 'notes'>, string>> = {
  acknowledge: 'acknowledge',
  assign: 'assign',
  snooze: 'snooze',
  unsnooze: 'unsnooze',
  handle: 'handle',
  reopen: 'reopen',
  severity: 'set_severity',
}
const ACTS = Object.keys(ACT_EVENTS) as (keyof typeof ACT_EVENTS)[]

/** Whether its state takes an act now. */
export const takes = ({ snapshot }: Pick<IncidentRow, 'snapshot'>, act: keyof typeof ACT_EVENTS): boolean =>
  acceptedBy('incident', snapshot).includes(ACT_EVENTS[act])

/** The acts of people that its state takes now, by the names that they are called by. */
export const actsTaken = (row: Pick<IncidentRow, 'snapshot'>): string[] =>
  ACTS.filter((act) => takes(row, act))

/**
 * It fired again. Where nothing but that becomes of it the version stays, so that whoever acts on what they see is not
 * refused for it; of many in a row the last row of the activity counts them.
 */
export function fireAgain(db: Database, row: IncidentRow, rank: number, at: number): void {
  // A lower severity that a person set stays, until a firing is worse than any before it.
  const rises = rank > row.fired_rank && rank > row.rank
  const event: IncidentEvent = { type: 'fire', rises, rank }
  const { snapshot, effects } = step(lifecycles.incident, JSON.parse(row.snapshot) as Snapshot, {
    ...event,
    at,
  })
  if (snapshot.value !== row.state || rises) {
    const detail = { firings: 1, ...(rises ? { severity: severityOfRank(rank) } : {}) }
    advanceIncident(db, row, event, { who: NOBODY, at }, { action: rises ? 'severity' : 'woken', detail })
    return
  }
  carryOut('incident', INCIDENT_EFFECTS, effects, { row, who: NOBODY, at, event, db })
  saveIncident(db, row)
  countFired(db, row, at)
}

/**
 * One step; the row is as it is stored then.
 * @param said action and more of the activity; null: the caller writes what happened
 * @throws SvcError wrong_state; conflict
 */
export function advanceIncident(
  db: Database,
  row: IncidentRow,
  event: IncidentEvent,
  act: Act,
  said: { action: ActivityRow['action']; detail?: object },
): void {
  const { who, at } = act
  const { assignee: _assignee, rank: _rank, maintenance: _window, ...brought } = event
  const { from, state, snapshot, effects } = move(
    db,
    { kind: 'incident', id: row.id, name: idOf(row.id) },
    { ...brought, at },
  )
  row.snapshot = JSON.stringify(snapshot)
  row.state = state as IncidentRow['state']
  row.version++
  carryOut('incident', INCIDENT_EFFECTS, effects, { ...act, row, event, db })
  saveIncident(db, row)
  addActivity(db, row, { who, at }, { ...said, from: from as IncidentRow['state'] })
}

/** What changed of the row beside its state. */
export function saveIncident(db: Database, row: IncidentRow): void {
  row.due_at = dueOf(row)
  incidentQueries(db).save.run(row)
}

/** @param from state before; absent: as it is */
export function addActivity(
  db: Database,
  row: IncidentRow,
  { who, at }: { who: IncidentWho; at: number },
  {
    action,
    detail = {},
    from,
  }: { action: ActivityRow['action']; detail?: object; from?: IncidentRow['state'] | null },
): void {
  const queries = incidentQueries(db)
  queries.addActivity.run({
    incident_id: row.id,
    n: (queries.lastActivity.get(row.id)?.n ?? 0) + 1,
    at,
    by_name: who.by,
    via: who.via,
    action,
    from_state: from === undefined ? row.state : from,
    to_state: row.state,
    detail: JSON.stringify(detail),
  })
}

/**
 * It fired so many times more while it was open, none worse than those before: what as many steps would leave.
 * @param at of the last of them, epoch ms
 */
export function fireMany(db: Database, row: IncidentRow, more: number, at: number): void {
  row.firings += more
  row.last_fired_at = Math.max(row.last_fired_at, at)
  row.quiet_from = Math.max(row.quiet_from, at)
  saveIncident(db, row)
  countFired(db, row, at, more)
}

function countFired(db: Database, row: IncidentRow, at: number, more = 1): void {
  const queries = incidentQueries(db)
  const last = queries.lastActivity.get(row.id)
  if (last?.action !== 'fired') {
    addActivity(db, row, { who: NOBODY, at }, { action: 'fired', detail: { firings: more } })
    return
  }
  const { firings } = JSON.parse(last.detail) as { firings: number }
  queries.growActivity.run(at, JSON.stringify({ firings: firings + more }), row.id, last.n)
}

/* The SQL of incidents: their rows, what happened to them, and the runs they woke. Times are epoch ms. */

export interface IncidentRow {
  id: number
  trigger_id: number
  trigger_name: string
  project: string | null
  key: string
  label: string | null
  value_text: string | null
  sentence: string
  /** Firing it is titled by: the first of the most severe. */
  titled_by: number | null
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
  /** Window that it is snoozed by; null: a person, or it is not. */
  maintenance_id: number | null
  handled_at: number | null
  handled_by: string | null
  handled_how: 'person' | 'resolved' | 'verdict' | 'quiet' | 'deleted' | null
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
/** Columns that change; the snapshot and the version are the lifecycle's (log/lifecycle.ts). */
const CHANGING = [
  ...['titled_by', 'rank', 'fired_rank', 'last_fired_at', 'firings', 'assignee', 'is_assigned_by_taking'],
  ...['acknowledged_at', 'acknowledged_by', 'snoozed_at', 'snoozed_by', 'snoozed_until', 'handled_at'],
  'maintenance_id',
  ...['handled_by', 'handled_how', 'quiet_from', 'due_at'],
] as const

type NewIncident = Omit<IncidentRow, 'id' | 'state' | 'version'>

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

type IncidentQueries = ReturnType<typeof prepare>

const prepared = new WeakMap<Database, IncidentQueries>()

/** The statements of a connection, prepared once. */
export function incidentQueries(db: Database): IncidentQueries {
  const known = prepared.get(db) ?? prepare(db)
  prepared.set(db, known)
  return known
}

/** Of a trigger that is deleted, or comes back. */
const prepareOfTrigger = (db: Database) => ({
  ofTrigger: db.prepare<[number], IncidentRow>(
    "SELECT * FROM incidents WHERE trigger_id = ? AND state <> 'handled' ORDER BY id",
  ),
  goneWith: db.prepare<[number], IncidentRow>(
    "SELECT * FROM incidents WHERE trigger_id = ? AND handled_how = 'deleted' ORDER BY id",
  ),
})

/** Of the firings of an incident. */
const prepareOfFirings = (db: Database) => ({
  ofDispatch: db.prepare<[string], Pick<FiringRow, 'incident_id' | 'severity' | 'suppressed_by'>>(
    'SELECT incident_id, severity, suppressed_by FROM firings WHERE dispatch_id = ?',
  ),
  /** A firing is of an incident. */
  link: db.prepare<[number | null, string | null, string | null, number]>(
    'UPDATE firings SET incident_id = ?, severity = ?, suppressed_by = ? WHERE id = ?',
  ),
  /** Its newest firing but a resolved one. */
  newestFiring: db.prepare<[number], FiringRow>(
    `SELECT * FROM firings WHERE incident_id = ? AND fired_at IS NOT NULL AND resolves IS NULL
       ORDER BY fired_at DESC, id DESC LIMIT 1`,
  ),
  /** A firing that was told of it. */
  isTold: db
    .prepare<[number], number>(
      'SELECT 1 FROM firings WHERE incident_id = ? AND resolves IS NULL AND suppressed_by IS NULL LIMIT 1',
    )
    .pluck(),
  linkAll: db.prepare<[number, string, string]>(
    'UPDATE firings SET incident_id = ?, severity = ? WHERE id IN (SELECT value FROM json_each(?))',
  ),
})

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
    ...prepareOfTrigger(db),
    last: db
      .prepare<[number, string], number>(
        'SELECT id FROM incidents WHERE trigger_id = ? AND key = ? ORDER BY id DESC LIMIT 1',
      )
      .pluck(),
    ...prepareOfFirings(db),
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

/** Of whom a finding from outside is: its entity, and the delivery that it answers, if any. */
export interface FindingOf {
  label: string
  value: string
  delivery: string | null
  /** Only incidents of its triggers; null: all. */
  project: string | null
}

/** Incidents that are not handled and that it is about: that of the delivery, else those of the entity. */
export function incidentsOfFinding(db: Database, of: FindingOf): number[] {
  return db
    .prepare<FindingOf, number>(
      `SELECT i.id FROM incidents i WHERE i.state <> 'handled'
         AND CASE WHEN @delivery IS NULL THEN i.label = @label AND i.value_text = @value
           ELSE i.id = (SELECT f.incident_id FROM deliveries d JOIN firings f ON f.id = d.firing_id
             WHERE d.id = @delivery) END
         AND (@project IS NULL OR i.project = @project OR EXISTS (SELECT 1 FROM project_uses u
           WHERE u.project = @project AND u.kind = 'trigger' AND u.name = i.trigger_name))
       ORDER BY i.id`,
    )
    .pluck()
    .all(of)
}

/* How many incidents there are that are not handled. */

interface Counted {
  state: 'open' | 'acknowledged' | 'snoozed'
  rank: number
  n: number
}

/** By state and severity. @param project those of it alone; null: all */
export function countedBy(db: Database, project: string | null): Counted[] {
  return db
    .prepare<{ project: string | null }, Counted>(
      `SELECT state, rank, count(*) AS n FROM incidents
       WHERE state <> 'handled' AND (@project IS NULL OR project = @project) GROUP BY state, rank`,
    )
    .all({ project })
}

/** @param project those of it alone; null: all */
export function countsOf(db: Database, project: string | null): IncidentCounts {
  const counts: IncidentCounts = { open: { critical: 0, warning: 0, info: 0 }, acknowledged: 0, snoozed: 0 }
  for (const { state, rank, n } of countedBy(db, project))
    if (state === 'open') counts.open[severityOfRank(rank)] += n
    else counts[state] += n
  return counts
}

/* How bad an incident is: the severity of its trigger, or the one a field of what tripped it says. */

/** Events as they can be read in the transaction that stores them. */
export interface EventsAtHand extends Pick<ReadContext, 'rows' | 'dictionary' | 'names'> {
  /** Puts those where they are read that wait to be written in one statement. */
  settle(): void
}

/** Events of a firing whose field is looked at, the newest; those of a burst are all. */
const LOOKED_AT = 20
const PAYLOAD = 'payload.'

/**
 * The severity of a firing: the highest that the field says of its newest events, of a burst of any of them, else that of the trigger.
 * @param ids of the events it carries, as they were folded in
 * @returns none: it opens no incident
 */
export function severityOfFiring(
  ctx: EventsAtHand,
  spec: TriggerSpec,
  ids: () => readonly number[],
): Severity | 'none' {
  const field = spec.severity_field
  const own = severityOf(spec)
  if (!field) return own
  ctx.settle()
  const inPayload = field.startsWith(PAYLOAD)
  const looked = spec.storm ? ids() : ids().slice(-LOOKED_AT)
  const said = ctx.rows.read(looked, inPayload).flatMap((stored) => {
    const { labels, raw } = presentRow(stored, ctx.dictionary, ctx.names, stored.ts)
    return severityNamed(inPayload ? inText(raw, field) : ownField(labels, field)) ?? []
  })
  if (said.length === 0) return own
  return severityOfRank(Math.max(...said.map(rankOf)))
}

function inText(raw: string | undefined, field: string): unknown {
  try {
    return lookup({ payload: JSON.parse(raw ?? '') }, field)
  } catch {
    // What is no JSON has no field.
    return undefined
  }
}

/** Incidents go along with their trigger when it gets another name. */
export function renameInIncidents(db: Database, to: string): void {
  db.prepare(
    `UPDATE incidents SET trigger_name = @to
     WHERE trigger_id = (SELECT id FROM triggers WHERE name = @to AND state <> 'deleted')`,
  ).run({ to })
}
