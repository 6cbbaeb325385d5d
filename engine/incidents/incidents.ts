/** Incidents on the connection that writes: what firings and the clock do to them, and what is asked of them. */

import type { Incident, IncidentsBulk, IncidentsChanged } from '../../schemas/types.ts'
import type { Clock } from '../clock.ts'
import { fail, SvcError } from '../errors.ts'
import type { Live } from '../log/live.ts'
import { snapshotsOf } from '../log/steps.ts'
import type { Appender } from '../log/store/append.ts'
import type { StoreHandle } from '../log/store/handle.ts'
import type { ReadContext } from '../log/timeline/context.ts'
import { rankOf, severityOfRank } from '../model/units.ts'
import { triggerQueries } from '../triggers/queries.ts'
import { maintenanceWrites } from './maintenance.ts'
import {
  createFiringIncidents,
  type FiringIncidents,
  incidentsChanged,
  parseIncidentId,
  presentIncident,
  presentIncidents,
} from './present.ts'
import { createIncidentReads } from './reads.ts'
import type { IncidentAct, IncidentAction, IncidentWho } from './steps.ts'
import {
  ACT_EVENTS,
  type ActivityRow,
  actsTaken,
  addActivity,
  advanceIncident,
  countsOf,
  type IncidentEvent,
  type IncidentRow,
  idOf,
  incidentQueries,
  QUIET_MS,
  takes,
} from './steps.ts'

export interface IncidentWrites {
  /**
   * @throws SvcError not_found; wrong_state; conflict for a stale version, with the incident as it is now; invalid
   */
  actOnIncident(id: string, act: IncidentAct, who: IncidentWho): Promise<Incident>
  /** One act on each that accepts it, in one transaction. @throws SvcError not_found for the first unknown id */
  actOnIncidents(body: IncidentsBulk, who: IncidentWho): Promise<IncidentsChanged>
}

export function openIncidents(parts: {
  store: StoreHandle
  ctx: ReadContext
  clock: Clock
  appender: Pick<Appender, 'insertRest'>
  live: Pick<Live, 'tellIncidents'>
  /** Something happened to one, by its number, in the transaction of that. */
  touched(incident: number): void
  /** What a snooze held back may be sent: called after a commit. */
  onPending(): void
}) {
  const { store, ctx, clock, appender, live, touched, onPending } = parts
  let isOpen = false
  const incidents = createFiringIncidents({
    ...{ store, touched },
    ctx: { ...ctx, settle: () => appender.insertRest() },
    changed: (numbers) => {
      live.tellIncidents(() => incidentsChanged(store.db, numbers, clock.now()))
      // Who opens the engine looks for what waits by itself.
      if (isOpen) onPending()
    },
  })
  adoptFirings(store, incidents, clock.now())
  isOpen = true
  const reads = createIncidentReads(ctx, clock, snapshotsOf(ctx, false))
  const writes = { store, clock, incidents }
  return { incidents, calls: { ...reads, ...incidentWrites(writes), ...maintenanceWrites(writes) } }
}

/* What people do to incidents, each in one transaction. */

/** Longest snooze, ms. */
const SNOOZE_MAX_MS = 366 * 86_400_000

const SAID: Readonly<Record<IncidentAction, ActivityRow['action']>> = {
  acknowledge: 'acknowledged',
  assign: 'assigned',
  snooze: 'snoozed',
  unsnooze: 'unsnoozed',
  handle: 'handled',
  reopen: 'reopened',
  severity: 'severity',
  notes: 'note',
}

function incidentWrites(parts: {
  store: StoreHandle
  clock: Clock
  incidents: Pick<FiringIncidents, 'tell' | 'tellHeldBack'>
}): IncidentWrites {
  const { store, clock, incidents } = parts
  const { db } = store
  const queries = incidentQueries(db)
  const require = (id: string): IncidentRow =>
    queries.byId.get(parseIncidentId(id)) ?? fail('not_found', `no incident has the id ${id}`)

  /** @throws SvcError wrong_state; invalid */
  function act(row: IncidentRow, given: IncidentAct, who: IncidentWho, at: number): void {
    checkAct(given, at)
    const action = SAID[given.action]
    if (given.action === 'notes') addActivity(db, row, { who, at }, { action, detail: { text: given.text } })
    else {
      if (given.action === 'reopen' && row.state === 'handled') refuseBeside(row)
      refuseUntaken(row, given.action)
      const { event, detail } = eventOf(row, given, who)
      const { tellHeldBack } = incidents
      advanceIncident(db, row, event, { who, at, tellHeldBack }, { action, detail })
    }
    incidents.tell(row.id)
  }

  /** In the words that an incident is read with, and acted on by. @throws SvcError wrong_state */
  function refuseUntaken(row: IncidentRow, action: Exclude<IncidentAction, 'notes'>): void {
    if (takes(row, action)) return
    const accepts = actsTaken(row)
    fail(
      'wrong_state',
      `incident ${idOf(row.id)} is ${row.state} and does not accept ${action}; it accepts ${accepts.join(', ')}`,
      { state: row.state, accepts },
    )
  }

  /** There is one at a time of a trigger and key. @throws SvcError conflict */
  function refuseBeside(row: IncidentRow): void {
    const next = queries.active.get(row.trigger_id, row.key)
    if (next)
      fail(
        'conflict',
        `incident ${idOf(row.id)} was followed by ${idOf(next.id)}, which is not handled; act on that one`,
      )
  }

  return {
    actOnIncident: async (id, given, who) =>
      store.tx(() => {
        const at = clock.now()
        const row = require(id)
        const now = { ...row }
        try {
          if (given.version !== undefined && given.version !== row.version) staleVersion(row, given.version)
          act(row, given, who, at)
        } catch (error) {
          throw withIncident(error, () => presentIncident(db, now, at))
        }
        return presentIncident(db, row, at)
      }),

    actOnIncidents: async ({ ids, versions = {}, ...body }: IncidentsBulk, who): Promise<IncidentsChanged> =>
      store.tx(() => {
        const at = clock.now()
        const rows = [...new Set(ids.map((id) => require(id)))]
        const skipped: IncidentsChanged['skipped'] = []
        const done: IncidentRow[] = []
        for (const row of rows) {
          const seen = versions[idOf(row.id)] ?? row.version
          if (seen !== row.version)
            skipped.push({ id: idOf(row.id), state: row.state, reason: changedWords(row, seen) })
          else if (body.action !== 'notes' && !takes(row, body.action))
            skipped.push({
              ...{ id: idOf(row.id), state: row.state },
              reason: `it is ${row.state} and does not accept ${body.action}`,
            })
          else {
            act(row, body, who, at)
            done.push(row)
          }
        }
        return { incidents: presentIncidents(db, done, at, null), skipped, counts: countsOf(db, null) }
      }),
  }
}

function eventOf(
  row: IncidentRow,
  { action, assignee, until, severity }: IncidentAct,
  who: IncidentWho,
): { event: IncidentEvent; detail: object } {
  const type = ACT_EVENTS[action as Exclude<IncidentAction, 'notes'>]
  switch (action) {
    case 'assign': {
      const to = assignee === undefined ? who.by : assignee
      return { event: { type, assignee: to }, detail: { assignee: to } }
    }
    case 'snooze': {
      const ms = until ? Date.parse(until) : null
      return { event: { type, until: ms }, detail: { until: ms } }
    }
    case 'severity':
      return {
        event: { type, rank: rankOf(severity!), rises: rankOf(severity!) > row.rank },
        detail: { severity },
      }
    case 'handle':
      return { event: { type, how: 'person' }, detail: { how: 'person' } }
    default:
      return { event: { type }, detail: {} }
  }
}

/** What the schemas of the bodies do not say. @throws SvcError invalid */
function checkAct({ action, until, severity, text }: IncidentAct, at: number): void {
  if (action === 'severity' && severity === undefined)
    fail('invalid', 'severity is required: critical, warning or info', { field: 'severity' })
  if (action === 'notes' && (text === undefined || text.trim() === ''))
    fail('invalid', 'text is required: a note says something', { field: 'text' })
  if (action !== 'snooze' || !until) return
  const ms = Date.parse(until)
  if (!(ms > at)) fail('invalid', 'until must be in the future', { field: 'until' })
  if (ms - at > SNOOZE_MAX_MS) fail('invalid', 'until must be within a year', { field: 'until' })
}

/** @throws SvcError conflict, saying who was first */
function staleVersion(row: IncidentRow, seen: number): never {
  return fail('conflict', `incident ${idOf(row.id)} ${changedWords(row, seen)}`, { field: 'version' })
}

const changedWords = (row: IncidentRow, seen: number): string =>
  `was changed since you looked: it is ${stateWords(row)}, version ${row.version} and not ${seen}`

/** "acknowledged by mara". */
function stateWords(row: IncidentRow): string {
  const { state } = row
  const by = {
    acknowledged: row.acknowledged_by,
    snoozed: row.snoozed_by,
    handled: row.handled_by,
    open: null,
  }[state]
  const severity = state === 'open' ? `, ${severityOfRank(row.rank)}` : ''
  return `${state}${by === null ? '' : ` by ${by}`}${severity}`
}

/** A refusal shows the incident as it is now, and so who was first. */
function withIncident(error: unknown, incident: () => Incident): unknown {
  if (!(error instanceof SvcError) || !['conflict', 'wrong_state'].includes(error.code)) return error
  return new SvcError(error.code, error.message, { ...error.extra, incident: incident() })
}

/*
 * A data file of before there were incidents: its firings of the last 24 hours become incidents, once, in one
 * transaction, each step as if it were taken when it fired. Firings that only add to an open one are added together:
 * a day of a chatty trigger is one step. Migration 0030 says that it is to be done.
 */

const CACHE_KIB = 131_072

/** Firings that add to an open incident, until something else becomes of it. */
interface Adding {
  incident: number
  severity: string
  /** Of the trigger as it was: one that was edited may say another severity. */
  spec: string
  ids: number[]
  at: number
}

const NONE: Adding = { incident: 0, severity: '', spec: '', ids: [], at: 0 }

/** @param now epoch ms */
function adoptFirings(
  store: Pick<StoreHandle, 'db' | 'tx'>,
  incidents: Pick<FiringIncidents, 'fired' | 'firedMore' | 'woke'>,
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
    const adding = new Map<string, Adding>()
    const settle = (key: string): void => {
      const { incident, severity, ids: added, at } = adding.get(key) ?? { ...NONE }
      adding.delete(key)
      if (added.length > 0) incidents.firedMore(incident, severity, added, at)
    }
    for (const id of ids.all(now - QUIET_MS)) {
      const row = byId.get(id)!
      const key = `${row.trigger_id} ${row.key}`
      const open = adding.get(key)
      if (open && row.resolves === null && row.spec === open.spec) {
        open.ids.push(row.id)
        open.at = row.fired_at!
        row.incident_id = open.incident
      } else {
        settle(key)
        incidents.fired(row)
        if (row.resolves === null && row.incident_id !== null && !row.spec.includes('"severity_field"'))
          adding.set(key, {
            ...{
              incident: row.incident_id,
              severity: row.severity!,
              spec: row.spec,
              ids: [],
              at: row.fired_at!,
            },
          })
      }
      for (const run of runs.all(id)) {
        incidents.woke(row, run)
        chain.run(run)
      }
    }
    for (const key of [...adding.keys()]) settle(key)
    db.prepare("DELETE FROM meta WHERE key = 'incidents_due'").run()
  })
  db.pragma(`cache_size = ${cache}`)
}
