/**
 * Incidents as they are answered, a few statements for all of a page, and as firings make them.
 *
 * What a firing does to incidents, in the transaction that writes it: it opens one, adds to the one that is not
 * handled, or ends it; and whether its deliveries are held back. What the clock does is here, too.
 */
import { headlineOf, textOfMarkdown } from '../../schemas/plain-text.ts'
import type { Incident, IncidentActivity, TriggerSpec } from '../../schemas/types.ts'
import { sentenceOf, titleOf } from '../../schemas/words.ts'
import { NOTHING, nextStepOf } from '../agents/findings.ts'
import { agentsOfChain } from '../agents/runs/queries.ts'
import { fail } from '../errors.ts'
import { firstSnapshot } from '../log/lifecycle.ts'
import type { Database, StoreHandle } from '../log/store/handle.ts'
import { eventId } from '../log/timeline/present.ts'
import { dollarsSql, iso, isoOrNull, rankOf, severityOfRank } from '../model/units.ts'
import { type FiringRow, firstEvents } from '../triggers/queries.ts'
import { type Covering, holdInMaintenance, windowAt } from './maintenance.ts'
import {
  type ActivityRow,
  actsTaken,
  addActivity,
  advanceIncident,
  type EventsAtHand,
  type FindingOf,
  fireAgain,
  fireMany,
  type IncidentRow,
  type IncidentWho,
  idOf,
  incidentQueries,
  incidentsOfFinding,
  NOBODY,
  QUIET_MS,
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
  let deliver: (firing: FiringRow) => void = () => fail('internal', 'no firing is delivered yet')

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
      titled_by: row.id,
      ...{ rank, fired_rank: rank, opened_at: at, last_fired_at: at, firings: 1 },
      ...{ assignee: null, is_assigned_by_taking: 0, acknowledged_at: null, acknowledged_by: null },
      ...{ snoozed_at: null, snoozed_by: null, snoozed_until: null, maintenance_id: null },
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

  /** Its trigger says that it is over: as severe as the worst that fired, so that all are told who were told of that. */
  function resolved(row: FiringRow): number | null {
    const active = queries.active.get(row.trigger_id, row.key)
    const began = queries.ofDispatch.get(row.resolves!)
    const of = began?.incident_id ?? active?.id ?? null
    row.severity = active ? severityOfRank(active.fired_rank) : (began?.severity ?? null)
    // Who was told of nothing is not told that it is over.
    const isTold = of === null ? !began?.suppressed_by : queries.isTold.get(of) !== undefined
    if (!isTold) row.suppressed_by = 'maintenance'
    if (of !== null || !isTold) queries.link.run(of, row.severity, row.suppressed_by, row.id)
    if (!active) return of
    handleBy(active, 'resolved', row.fired_at!)
    return of
  }

  function handleBy(
    incident: IncidentRow,
    how: 'resolved' | 'quiet' | 'verdict' | 'deleted',
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

  /** Until the window ends. */
  function snoozeBy(incident: IncidentRow, { id, until, reason, who }: Covering, at: number): void {
    const said = { action: 'snoozed', detail: { until, text: reason } } as const
    advanceIncident(db, incident, { type: 'snooze', until, maintenance: id }, { who, at }, said)
  }

  const isSnoozedBeyond = ({ state, snoozed_until }: IncidentRow, until: number): boolean =>
    state === 'snoozed' && (snoozed_until === null || snoozed_until >= until)

  /** Of what was held back the newest is told: those before it are of the same incident, and passed. */
  function tellHeldBack({ id }: IncidentRow): void {
    const newest = queries.newestFiring.get(id)
    if (!newest?.suppressed_by) return
    newest.suppressed_by = null
    queries.link.run(id, newest.severity, null, newest.id)
    deliver(newest)
  }

  /** A snooze is over by the clock, or with its maintenance window; not while another window lasts. */
  function endSnooze(incident: IncidentRow, who: IncidentWho, at: number): void {
    const newest = incident.maintenance_id === null ? undefined : queries.newestFiring.get(incident.id)
    const window = newest ? windowAt(db, ctx, newest, at) : null
    const [type, action] =
      who === NOBODY ? (['wake', 'woken'] as const) : (['unsnooze', 'unsnoozed'] as const)
    if (window) snoozeBy(incident, window, at)
    else advanceIncident(db, incident, { type }, { who, at, tellHeldBack }, { action })
    tell(incident.id)
  }

  return {
    tell,
    tellHeldBack,
    endSnooze,

    /** Given once, by what tells whom a firing reaches; in the transaction of what ended the snooze. */
    deliverBy: (send: (firing: FiringRow) => void): void => {
      deliver = send
    },

    /**
     * A firing is told: what is of an incident gets its number, its severity, and whether it is held back.
     * @returns whether its deliveries are held back
     */
    fired: (row: FiringRow): boolean => {
      if (row.practice) return false
      if (row.resolves !== null) {
        row.incident_id = resolved(row)
        return row.suppressed_by !== null
      }
      const severity = severityOfFiring(ctx, JSON.parse(row.spec) as TriggerSpec, () =>
        firstEvents(db, row.id, EVENTS_MAX),
      )
      const window = holdInMaintenance(db, ctx, row)
      if (severity === 'none') {
        if (window) queries.link.run(null, null, 'maintenance', row.id)
        return window !== null
      }
      let incident = queries.active.get(row.trigger_id, row.key)
      if (incident) {
        // What is worse than all before it is what whoever comes to it must read first.
        if (rankOf(severity) > incident.fired_rank) incident.titled_by = row.id
        fireAgain(db, incident, rankOf(severity), row.fired_at!)
      } else incident = open(row, rankOf(severity))
      if (window && !isSnoozedBeyond(incident, window.until)) snoozeBy(incident, window, row.fired_at!)
      const isHeld = incident.state === 'snoozed'
      row.incident_id = incident.id
      row.severity = severity
      row.suppressed_by = window ? 'maintenance' : isHeld ? 'snooze' : null
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

    /** A trigger is deleted: nothing would end its incidents any more. @param trigger its row */
    triggerGone: (trigger: number, at: number): void => {
      for (const incident of queries.ofTrigger.all(trigger)) handleBy(incident, 'deleted', at)
    },

    /** Its delete is undone: what that ended goes on. */
    triggerBack: (trigger: number, at: number): void => {
      for (const incident of queries.goneWith.all(trigger)) {
        const again = { type: 'reopen', keeps: incident.acknowledged_by !== null }
        advanceIncident(db, incident, again, { who: NOBODY, at }, { action: 'reopened' })
        tell(incident.id)
      }
    },

    /** What is due by the clock: snoozes that are over, and what was quiet for 24 hours. */
    tick: (now: number): void => {
      for (const incident of queries.due.all(now)) {
        if (incident.snoozed_until !== null && incident.snoozed_until <= now) endSnooze(incident, NOBODY, now)
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

const HOUR_MS = 3_600_000
const SPARK_HOURS = 24
const SUMMARY_MAX = 300
const EVENT_TEXT_MAX = 300

/** inc_128, or 128. @throws SvcError not_found for what is no id of an incident */
export function parseIncidentId(id: string): number {
  const number = /^(?:inc_|#)?([1-9][0-9]{0,14})$/.exec(id)?.[1]
  return number === undefined ? fail('not_found', `no incident has the id ${id}`) : Number(number)
}

/** A run that an incident woke, and what its chain came to where it concluded. */
interface RunRow {
  incident_id: number
  id: string
  agent: string
  state: NonNullable<Incident['run']>['status']
  rounds: number
  max_rounds: number | null
  error: string | null
  started_at: number | null
}
interface ResultRow {
  incident_id: number
  id: string
  project: string | null
  at: number
  agent: string
  chain: string
  outcome: 'finding' | 'no_op'
  verdict: string | null
  headline: string | null
  next_step: string | null
  note: string | null
  rounds: number
  cost_usd: number
  uncosted: number
  verified_ok: number | null
  verified_total: number | null
  handled_at: number | null
  handled_by: string | null
}

interface EventRow {
  incident_id: number
  id: number
  source: string
  text: string
}

interface TitleRow {
  incident_id: number
  spec: string
  reason: string
  events: number
  text: string | null
}

type Of = { ids: string; project: string | null }
const OWN = `(@project IS NULL OR EXISTS (SELECT 1 FROM run_projects p WHERE p.run_id = r.id AND p.project = @project))`
const FROM = `FROM incident_runs ir JOIN runs r ON r.id = ir.run_id
  WHERE ir.incident_id IN (SELECT value FROM json_each(@ids)) AND r.practice = 0 AND ${OWN}`
const CHAIN = 'FROM runs c WHERE c.root_run_id = r.root_run_id AND c.seq <= r.seq AND c.practice = 0'

/** An event of a source that the project uses. */
const OF_OWN_SOURCE = `(@project IS NULL OR e.source_id IN (SELECT s.id FROM sources s JOIN project_uses u
  ON u.name = s.name AND u.kind = 'source' WHERE u.project = @project))`

type PresentQueries = ReturnType<typeof prepare>
const prepared = new WeakMap<Database, PresentQueries>()
function presentQueries(db: Database): PresentQueries {
  const known = prepared.get(db) ?? prepare(db)
  prepared.set(db, known)
  return known
}

function prepare(db: Database) {
  return {
    /** Of each the run at work, else the newest. */
    runs: db.prepare<Of, RunRow>(
      `SELECT * FROM (SELECT ir.incident_id, r.id, r.agent, r.state, r.rounds,
         json_extract(r.snapshot, '$.context.max_rounds') AS max_rounds, r.error, r.started_at,
         row_number() OVER (PARTITION BY ir.incident_id
           ORDER BY r.state IN ('queued', 'running', 'parked') DESC, r.seq DESC) AS place ${FROM})
       WHERE place = 1`,
    ),
    /** Of each how the last run ended that concluded, a finding before nothing found. */
    results: db.prepare<Of, ResultRow>(
      `SELECT n.incident_id, r.id, r.finished_at AS at, r.agent, r.outcome, r.verdict, r.headline, r.next_step, r.note,
         r.verified_ok, r.verified_total, r.handled_at, r.handled_by,
         coalesce((SELECT p.project FROM run_projects p WHERE p.run_id = r.id AND p.project = @project),
           (SELECT min(p.project) FROM run_projects p WHERE p.run_id = r.id)) AS project,
         ${agentsOfChain()} AS chain,
         (SELECT sum(c.rounds) ${CHAIN}) AS rounds,
         (SELECT ${dollarsSql('coalesce(sum(c.cost_usd), 0)')} ${CHAIN}) AS cost_usd,
         (SELECT coalesce(sum(c.uncosted_calls), 0) + (sum(c.rounds) = 0) ${CHAIN}) AS uncosted
       FROM (SELECT ir.incident_id, r.id, row_number() OVER (PARTITION BY ir.incident_id
               ORDER BY r.outcome = 'finding' DESC, r.finished_at DESC, r.seq DESC) AS place
             ${FROM} AND r.outcome IS NOT NULL) n JOIN runs r ON r.id = n.id WHERE n.place = 1`,
    ),
    /** Of each the firing that it is titled by; the text of its event as that is shown. */
    titles: db.prepare<Of, TitleRow>(
      `SELECT i.id AS incident_id, f.spec, f.reason, f.events, substr(e.text, 1, ${4 * EVENT_TEXT_MAX}) AS text
       FROM incidents i JOIN firings f ON f.id = i.titled_by
         LEFT JOIN events e ON e.id = f.event_id AND ${OF_OWN_SOURCE}
       WHERE i.id IN (SELECT value FROM json_each(@ids))`,
    ),
    /** Of each the event that tripped its last firing; a key of a project is shown those of its sources. */
    events: db.prepare<Of, EventRow>(
      `SELECT n.incident_id, e.id, s.name AS source, substr(e.text, 1, ${4 * EVENT_TEXT_MAX}) AS text
       FROM (SELECT i.value AS incident_id, (SELECT f.event_id FROM firings f
               WHERE f.incident_id = i.value AND f.resolves IS NULL
               ORDER BY f.fired_at DESC, f.id DESC LIMIT 1) AS event_id
             FROM json_each(@ids) i) n
         JOIN events e ON e.id = n.event_id JOIN sources s ON s.id = e.source_id
       WHERE ${OF_OWN_SOURCE}`,
    ),
    // What is bound is a real number to SQLite, and so is what it is divided into.
    spark: db.prepare<{ ids: string; from: number }, { incident_id: number; hour: number; n: number }>(
      `SELECT incident_id, CAST((fired_at - @from) / ${HOUR_MS} AS INTEGER) AS hour, count(*) AS n FROM firings
       WHERE incident_id IN (SELECT value FROM json_each(@ids)) AND fired_at >= @from AND resolves IS NULL
       GROUP BY 1, 2`,
    ),
  }
}

/** One of them, as it is now. @param at epoch ms */
export const presentIncident = (db: Database, row: IncidentRow, at: number): Incident =>
  presentIncidents(db, [row], at, null)[0]!

/**
 * @param at now, epoch ms
 * @param project what was found in it alone, and by its runs; null: all
 */
export function presentIncidents(
  db: Database,
  rows: readonly IncidentRow[],
  at: number,
  project: string | null,
): Incident[] {
  if (rows.length === 0) return []
  const queries = presentQueries(db)
  const ids = JSON.stringify(rows.map(({ id }) => id))
  const from = (Math.floor(at / HOUR_MS) - SPARK_HOURS + 1) * HOUR_MS
  const sparks = new Map<number, number[]>()
  for (const { incident_id, hour, n } of queries.spark.all({ ids, from })) {
    const spark = sparks.get(incident_id) ?? emptySpark()
    sparks.set(incident_id, spark)
    spark[Math.min(SPARK_HOURS - 1, hour)]! += n
  }
  const runs = new Map(queries.runs.all({ ids, project }).map((run) => [run.incident_id, run]))
  const results = new Map(queries.results.all({ ids, project }).map((result) => [result.incident_id, result]))
  const titles = new Map(queries.titles.all({ ids, project }).map((title) => [title.incident_id, title]))
  const events = new Map(queries.events.all({ ids, project }).map((event) => [event.incident_id, event]))
  return rows.map((row) => ({
    ...present(row, runs.get(row.id), results.get(row.id), sparks.get(row.id) ?? emptySpark()),
    ...titleAndSentence(row, titles.get(row.id), results.get(row.id)),
    event: presentEvent(events.get(row.id)),
  }))
}

const emptySpark = (): number[] => new Array<number>(SPARK_HOURS).fill(0)

function present(
  row: IncidentRow,
  run: RunRow | undefined,
  found: ResultRow | undefined,
  spark: number[],
): Omit<Incident, 'event' | 'headline' | 'sentence'> {
  const result = found ? presentResult(found) : null
  return {
    id: idOf(row.id),
    number: row.id,
    state: row.state,
    accepts: actsTaken(row),
    severity: severityOfRank(row.rank),
    trigger: row.trigger_name,
    key: row.key,
    entity:
      row.label !== null && row.value_text !== null ? { label: row.label, value: row.value_text } : null,
    project: row.project,
    opened_at: iso(row.opened_at),
    last_fired_at: iso(row.last_fired_at),
    firings: row.firings,
    spark,
    result,
    claims:
      found && found.verified_total !== null
        ? { held: found.verified_ok ?? 0, total: found.verified_total }
        : null,
    run: run ? presentRun(run) : null,
    assignee: row.assignee,
    acknowledged: whoAndWhen(row.acknowledged_at, row.acknowledged_by),
    snoozed_until: isoOrNull(row.snoozed_until),
    snoozed:
      row.snoozed_at === null
        ? null
        : {
            at: iso(row.snoozed_at),
            by: row.snoozed_by ?? '',
            until: isoOrNull(row.snoozed_until),
            maintenance: row.maintenance_id === null ? null : `mnt_${row.maintenance_id}`,
          },
    handled: handledOf(row),
    previous: row.previous === null ? null : idOf(row.previous),
    version: row.version,
  }
}

/** What was found; else what tripped it. The trigger in plain words beside that. */
function titleAndSentence(
  { sentence }: IncidentRow,
  title: TitleRow | undefined,
  found: ResultRow | undefined,
): Pick<Incident, 'headline' | 'sentence'> {
  const result = found?.outcome === 'finding' ? presentResult(found) : null
  const tripped = title ? titleOf(JSON.parse(title.spec) as TriggerSpec, title) : sentence
  return { headline: result?.headline ?? tripped, sentence }
}

function presentEvent(row: EventRow | undefined): Incident['event'] {
  if (!row) return null
  const { id, source, text } = row
  return { id: eventId(id), source, text: oneLine(text) }
}

/** The text of an event, cut between characters, never within one. */
export function oneLine(whole: string): string {
  const text = whole.replace(/\s+/g, ' ').trim()
  const characters = [...text]
  return characters.length <= EVENT_TEXT_MAX ? text : `${characters.slice(0, EVENT_TEXT_MAX - 1).join('')}…`
}

const whoAndWhen = (at: number | null, by: string | null) =>
  at === null ? null : { at: iso(at), by: by ?? '' }

export const handledOf = ({ handled_at, handled_by, handled_how }: IncidentRow): Incident['handled'] =>
  handled_at === null ? null : { at: iso(handled_at), by: handled_by ?? '', how: handled_how ?? 'person' }

function presentRun({ id, agent, state, rounds, max_rounds, error, started_at }: RunRow): Incident['run'] {
  return {
    ...{ run_id: id, agent, status: state, round: rounds, max_rounds: max_rounds ?? 0 },
    ...{ reason: error, started_at: isoOrNull(started_at) },
  }
}

function presentResult(row: ResultRow): NonNullable<Incident['result']> {
  const note = row.note ?? ''
  return {
    run_id: row.id,
    project: row.project,
    at: iso(row.at),
    agent: row.agent,
    chain: JSON.parse(row.chain) as string[],
    kind: row.outcome === 'finding' ? 'action' : 'no_action',
    verdict: row.verdict,
    headline: row.headline ?? (note ? headlineOf(note) : NOTHING),
    summary: textOfMarkdown(note).slice(0, SUMMARY_MAX),
    next_step: row.next_step ?? nextStepOf(note),
    rounds: row.rounds,
    cost_usd: row.uncosted > 0 ? null : row.cost_usd,
    handled: whoAndWhen(row.handled_at, row.handled_by),
  }
}

export function presentActivity(row: ActivityRow): IncidentActivity {
  const detail = JSON.parse(row.detail) as {
    firings?: number
    severity?: Incident['severity']
    assignee?: string | null
    until?: number | null
    how?: NonNullable<Incident['handled']>['how']
    text?: string
  }
  return {
    n: row.n,
    at: iso(row.at),
    by: row.by_name,
    via: row.via,
    action: row.action,
    from: row.from_state,
    to: row.to_state,
    firings: detail.firings ?? null,
    severity: detail.severity ?? null,
    assignee: detail.assignee ?? null,
    until: isoOrNull(detail.until ?? null),
    how: detail.how ?? null,
    text: detail.text ?? null,
  }
}

/* Incidents as those who follow a live tail are told of them. */

/** Of a burst those that are told of: whoever shows more reads them. */
const TOLD_MAX = 100

/** @param at now, epoch ms */
export function incidentsChanged(db: Database, numbers: readonly number[], at: number): Incident[] {
  const { byId } = incidentQueries(db)
  return presentIncidents(
    db,
    numbers.slice(-TOLD_MAX).flatMap((number) => byId.get(number) ?? []),
    at,
    null,
  )
}
