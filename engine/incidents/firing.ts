/**
 * What a firing does to incidents, in the transaction that writes it: it opens one, adds to the one that is not
 * handled, or ends it; and whether its deliveries are held back. What the clock does is here, too.
 */
import type { TriggerSpec } from '../../schemas/types.ts'
import { sentenceOf } from '../../schemas/words.ts'
import { firstSnapshot } from '../log/lifecycle.ts'
import type { StoreHandle } from '../log/store/handle.ts'
import { type FiringRow, firstEvents } from '../triggers/queries.ts'

import {
  addActivity,
  advanceIncident,
  type EventsAtHand,
  type FindingOf,
  fireAgain,
  fireMany,
  type IncidentRow,
  idOf,
  incidentQueries,
  incidentsOfFinding,
  NOBODY,
  QUIET_MS,
  rankOf,
  saveIncident,
  severityOfFiring,
} from './steps.ts'

/** Events of a firing among which its severity is looked for. */
const EVENTS_MAX = 1_000

export interface FiringIncidentsParts {
  store: Pick<StoreHandle, 'db' | 'afterCommit'>
  ctx: EventsAtHand
  /** Incidents changed, by their numbers; after the commit. */
  changed(numbers: readonly number[]): void
  /** Something happened to one, in the transaction of that. */
  touched?(number: number): void
}

export type FiringIncidents = ReturnType<typeof createFiringIncidents>

export function createFiringIncidents({ store, ctx, changed, touched: mark }: FiringIncidentsParts) {
  const { db } = store
  const queries = incidentQueries(db)
  const touched = new Set<number>()

  /** Tells who follows, each once after the commit; of what was undone again, that it is as it was. */
  function tell(number: number): void {
    mark?.(number)
    touched.add(number)
    store.afterCommit(() => {
      if (touched.size === 0) return
      const numbers = [...touched]
      touched.clear()
      changed(numbers)
    })
  }

  function open(row: FiringRow, rank: number): IncidentRow {
    const at = row.fired_at!
    const id = queries.insert({
      trigger_id: row.trigger_id,
      trigger_name: row.trigger_name,
      project: row.project,
      key: row.key,
      label: row.label,
      value_text: row.value_text,
      sentence: sentenceOf(JSON.parse(row.spec) as TriggerSpec),
      ...{ rank, fired_rank: rank, opened_at: at, last_fired_at: at, firings: 1 },
      ...{ assignee: null, is_assigned_by_taking: 0, acknowledged_at: null, acknowledged_by: null },
      ...{ snoozed_at: null, snoozed_by: null, snoozed_until: null },
      ...{ handled_at: null, handled_by: null, handled_how: null },
      previous: queries.last.get(row.trigger_id, row.key) ?? null,
      quiet_from: at,
      due_at: at + QUIET_MS,
      snapshot: firstSnapshot('incident'),
    })
    const opened = queries.byId.get(id)!
    addActivity(db, opened, { who: NOBODY, at }, { action: 'opened', from: null })
    return opened
  }

  /** Its trigger says that it is over. */
  function resolved(row: FiringRow): number | null {
    const active = queries.active.get(row.trigger_id, row.key)
    const of = queries.ofDispatch.get(row.resolves!) ?? active?.id ?? null
    if (of !== null) queries.link.run(of, null, null, row.id)
    if (!active) return of
    handleBy(active, 'resolved', row.fired_at!)
    return of
  }

  function handleBy(
    incident: IncidentRow,
    how: 'resolved' | 'quiet' | 'verdict',
    at: number,
    by = NOBODY,
  ): void {
    advanceIncident(
      db,
      incident,
      { type: 'handle', how },
      { who: by, at },
      { action: 'handled', detail: { how } },
    )
    tell(incident.id)
  }

  return {
    tell,

    /**
     * A firing is told: what is of an incident gets its number, its severity, and whether it is held back.
     * @returns whether its deliveries are held back
     */
    fired: (row: FiringRow): boolean => {
      if (row.practice) return false
      if (row.resolves !== null) {
        row.incident_id = resolved(row)
        return false
      }
      const severity = severityOfFiring(ctx, JSON.parse(row.spec) as TriggerSpec, () =>
        firstEvents(db, row.id, EVENTS_MAX),
      )
      if (severity === 'none') return false
      let incident = queries.active.get(row.trigger_id, row.key)
      if (incident) fireAgain(db, incident, rankOf(severity), row.fired_at!)
      else incident = open(row, rankOf(severity))
      const isHeld = incident.state === 'snoozed'
      row.incident_id = incident.id
      row.severity = severity
      row.suppressed_by = isHeld ? 'snooze' : null
      queries.link.run(incident.id, severity, row.suppressed_by, row.id)
      tell(incident.id)
      return isHeld
    },

    /** Firings that add to an open incident, each as bad as those before; nobody is told. @param at of the last, epoch ms */
    firedMore: (incident: number, severity: string, ids: readonly number[], at: number): void => {
      fireMany(db, queries.byId.get(incident)!, ids.length, at)
      queries.linkAll.run(incident, severity, JSON.stringify(ids))
    },

    /** A firing woke a run, or one that waits answers it too. */
    woke: ({ incident_id }: Pick<FiringRow, 'incident_id'>, run: string): void => {
      if (incident_id === null) return
      queries.addRun.run(incident_id, run)
      tell(incident_id)
    },

    /**
     * An outside agent recorded a finding: the incidents it is about have it, and who follows them is told.
     * @param of its entity, and the delivery it answers, if any; `project` null: whoever writes may see all of them
     * @returns ids of these incidents
     */
    foundOutside: (run: string, of: FindingOf): string[] => {
      const numbers = incidentsOfFinding(db, of)
      for (const number of numbers) {
        queries.addRun.run(number, run)
        tell(number)
      }
      return numbers.map(idOf)
    },

    /**
     * A run ended: those who follow its incidents are told.
     * @param closes its verdict is declared to close, and all its claims hold
     * @param at epoch ms
     */
    ended: ({ id, agent }: { id: string; agent: string }, closes: boolean, at: number): void => {
      const looked = queries.ofRun.all(id)
      for (const incident of looked) tell(incident.id)
      if (!closes) return
      for (const incident of looked) handleBy(incident, 'verdict', at, { by: agent, via: 'svc' })
    },

    /** What is due by the clock: snoozes that are over, and what was quiet for 24 hours. */
    tick: (now: number): void => {
      for (const incident of queries.due.all(now)) {
        if (incident.snoozed_until !== null && incident.snoozed_until <= now) {
          advanceIncident(db, incident, { type: 'wake' }, { who: NOBODY, at: now }, { action: 'woken' })
          tell(incident.id)
        }
        if (incident.quiet_from + QUIET_MS > now) continue
        // What lasts is not quiet: its trigger fires once, until it is over.
        if (queries.isActiveKey.get(incident.trigger_id, incident.key) === undefined)
          handleBy(incident, 'quiet', now)
        else {
          incident.quiet_from = now
          saveIncident(db, incident)
        }
      }
    },

    /** Epoch ms; null: nothing waits. */
    nextDue: (): number | null => queries.nextDue.get() ?? null,
  }
}
