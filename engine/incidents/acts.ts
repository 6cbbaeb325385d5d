/** What people do to incidents, each in one transaction. */
import type { Incident, IncidentsBulk, IncidentsChanged } from '../../schemas/types.ts'
import type { Clock } from '../clock.ts'
import { fail, SvcError } from '../errors.ts'
import type { StoreHandle } from '../store/handle.ts'
import { countsOf } from './counts.ts'
import type { FiringIncidents } from './firing.ts'
import { parseIncidentId, presentIncident } from './present.ts'
import { type ActivityRow, type IncidentRow, incidentQueries } from './queries.ts'
import { rankOf, severityOfRank } from './severity.ts'
import { addActivity, advanceIncident, type IncidentEvent, idOf, takes } from './steps.ts'
import type { IncidentAct, IncidentAction, IncidentWho, IncidentWrites } from './types.ts'

/** Longest snooze, ms. */
const SNOOZE_MAX_MS = 366 * 86_400_000

/** The event of the machine for each action; a note is none. */
const EVENTS: Readonly<Record<Exclude<IncidentAction, 'notes'>, string>> = {
  acknowledge: 'acknowledge',
  assign: 'assign',
  snooze: 'snooze',
  unsnooze: 'unsnooze',
  handle: 'handle',
  reopen: 'reopen',
  severity: 'set_severity',
}
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

export function incidentWrites(parts: {
  store: StoreHandle
  clock: Clock
  incidents: Pick<FiringIncidents, 'tell'>
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
      const { event, detail } = eventOf(row, given, who)
      advanceIncident(db, row, event, { who, at }, { action, detail })
    }
    incidents.tell(row.id)
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

    actOnIncidents: async ({ ids, ...body }: IncidentsBulk, who): Promise<IncidentsChanged> =>
      store.tx(() => {
        const at = clock.now()
        const rows = [...new Set(ids.map((id) => require(id)))]
        const skipped: IncidentsChanged['skipped'] = []
        const done: Incident[] = []
        for (const row of rows) {
          if (body.action !== 'notes' && !takes(row, EVENTS[body.action]))
            skipped.push({
              ...{ id: idOf(row.id), state: row.state },
              reason: `it is ${row.state} and does not accept ${body.action}`,
            })
          else {
            act(row, body, who, at)
            done.push(presentIncident(db, row, at))
          }
        }
        return { incidents: done, skipped, counts: countsOf(db, null) }
      }),
  }
}

function eventOf(
  row: IncidentRow,
  { action, assignee, until, severity }: IncidentAct,
  who: IncidentWho,
): { event: IncidentEvent; detail: object } {
  const type = EVENTS[action as Exclude<IncidentAction, 'notes'>]
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
  return fail(
    'conflict',
    `incident ${idOf(row.id)} was changed since you looked: it is ${stateWords(row)}, version ${row.version} and not ${seen}`,
    { field: 'version' },
  )
}

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
