/**
 * What happens to incidents, each step in the caller's transaction: the machine says what becomes of the state, its
 * effects are written to the row, and one row of the activity says what it was.
 */
import { lifecycles } from '../../machines/index.ts'
import { type Snapshot, step } from '../../machines/step.ts'
import { acceptedBy, move } from '../lifecycle/advance.ts'
import { carryOut, type Executors } from '../lifecycle/effects.ts'
import type { Database } from '../store/handle.ts'
import { type ActivityRow, type IncidentRow, incidentQueries } from './queries.ts'
import { severityOfRank } from './severity.ts'
import type { IncidentWho } from './types.ts'

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
  /** Of assign. */
  assignee?: string | null
  /** Of fire and set_severity: 3 is critical. */
  rank?: number
}

type Doing = { row: IncidentRow; who: IncidentWho; at: number; event: IncidentEvent; db: Database }

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
  },
  note_unsnoozed: ({ row }) => unsnooze(row),
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
}

/** When the clock alone does something to it; null: never. */
export function dueOf({ handled_at, quiet_from, snoozed_until }: IncidentRow): number | null {
  if (handled_at !== null) return null
  return Math.min(quiet_from + QUIET_MS, snoozed_until ?? Number.MAX_SAFE_INTEGER)
}

/** Whether its state takes an event now. */
export const takes = ({ snapshot }: Pick<IncidentRow, 'snapshot'>, event: string): boolean =>
  acceptedBy('incident', snapshot).includes(event)

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
  { who, at }: { who: IncidentWho; at: number },
  said: { action: ActivityRow['action']; detail?: object },
): void {
  const { assignee: _assignee, rank: _rank, ...brought } = event
  const { from, state, snapshot, effects } = move(
    db,
    { kind: 'incident', id: row.id, name: idOf(row.id) },
    { ...brought, at },
  )
  row.snapshot = JSON.stringify(snapshot)
  row.state = state as IncidentRow['state']
  row.version++
  carryOut('incident', INCIDENT_EFFECTS, effects, { row, who, at, event, db })
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
