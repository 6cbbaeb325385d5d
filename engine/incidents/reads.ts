/** Incidents as they are listed and shown. */

import { ownField } from '../../schemas/fields-of.ts'
import type {
  Incident,
  IncidentDetail,
  IncidentsResult,
  SlackPostShown,
  Source,
  TriggerSpec,
} from '../../schemas/types.ts'
import { STATE } from '../../schemas/words.ts'
import { handledIncidentQueries, presentMark, storedClaims } from '../agents/finding-queries.ts'
import type { MarkRow } from '../agents/runs/queries.ts'
import type { Row } from '../calls.ts'
import type { Clock } from '../clock.ts'
import { TRIGGER_DEFAULTS } from '../documents/trigger.ts'
import { fail } from '../errors.ts'
import type { Snapshot } from '../log/steps.ts'
import type { Database } from '../log/store/handle.ts'
import { SOURCE_LABEL } from '../log/store/labels.ts'
import { firstPositions } from '../log/store/scan.ts'
import type { ReadContext } from '../log/timeline/context.ts'
import { parseInstant } from '../log/timeline/plan.ts'
import { presentRow } from '../log/timeline/present.ts'
import { DAY_MS, iso, isoOrNull, parseDuration, rankOf, severityOfRank } from '../model/units.ts'
import { deliveriesOfIncident, presentDelivery } from '../outbox/rows.ts'
import { matcherOf } from '../triggers/core/index.ts'
import { type FiringRow, presentFiring, requireNamed, seenOf } from '../triggers/queries.ts'
import type { AlertRow } from '../triggers/types.ts'
import { type HomeOfIncidents, homeOf } from './home.ts'
import { handledOf, oneLine, parseIncidentId, presentActivity, presentIncidents } from './present.ts'
import { type ActivityRow, countsOf, type IncidentRow, idOf, incidentQueries } from './steps.ts'

export interface IncidentFilter {
  state?: Incident['state'] | 'active' | 'all' | undefined
  severity?: Incident['severity'] | undefined
  trigger?: string | undefined
  entity?: string | undefined
  /** By id or name. */
  project?: string | undefined
  /** `none`: of nobody. */
  assignee?: string | undefined
  q?: string | undefined
  /** Those that were opened then or later: ISO 8601. */
  opened_since?: string | undefined
  /** next_before of the page before. */
  before?: string | undefined
  limit: number
}

export interface IncidentReads {
  /** @param own id of the project of a project key, which sees that project's alone; null: all */
  listIncidents(filter: IncidentFilter, own: string | null): Promise<IncidentsResult>
  /** @throws SvcError not_found */
  getIncident(id: string, own: string | null): Promise<IncidentDetail>
  /**
   * @param sources as they are listed
   * @param hours of the strip; absent: 6 while an incident is open, else 24
   */
  home(sources: readonly Source[], hours?: number): Promise<HomeOfIncidents>
}

const PAGE_MAX = 200
const ACTIVITY_MAX = 200
const FIRINGS_MAX = 50
const DELIVERIES_MAX = 50
const BEFORE_DAYS = 30
const BEFORE_MAX = 5

/**
 * One page.
 * @param own id of the only project whose incidents are seen; null: all
 * @param at now, epoch ms
 * @throws SvcError invalid; not_found where nothing is listed and a trigger or project that was named is not known
 */
function listIncidents(
  db: Database,
  filter: IncidentFilter,
  own: string | null,
  at: number,
): IncidentsResult {
  const limit = Math.min(PAGE_MAX, Math.max(1, Math.trunc(filter.limit)))
  const rows = pageOf(db, filter, own, limit + 1)
  // Whoever reads one project must not learn what others are called.
  if (own === null) requireNamed(db, rows, filter)
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    incidents: presentIncidents(db, shown, at, own),
    next_before: rows.length > limit && last ? cursorOf(last, filter.state === 'handled') : null,
    counts: countsOf(db, own),
  }
}

/** What a page goes on from: the order of its list, as numbers. */
const cursorOf = (row: IncidentRow, isByHandled: boolean): string =>
  isByHandled ? `${row.handled_at}.${row.id}` : `${row.rank}.${row.last_fired_at}.${row.id}`

const NARROWED = `(@state IS NULL OR i.state = @state) AND (@rank IS NULL OR i.rank = @rank)
  AND (@trigger IS NULL OR i.trigger_name = @trigger) AND (@own IS NULL OR i.project = @own)
  AND (@project IS NULL OR i.project IN (SELECT id FROM projects WHERE id = @project OR (name = @project AND state <> 'deleted')))
  AND (@entity IS NULL OR i.key = @entity OR i.value_text = @entity OR i.label || '=' || i.value_text = @entity)
  AND (@assignee IS NULL OR i.assignee = @assignee) AND (@nobodys = 0 OR i.assignee IS NULL)
  AND (@number IS NULL OR i.id = @number) AND (@since IS NULL OR i.opened_at >= @since)
  AND (@words IS NULL OR i.sentence LIKE @words ESCAPE '\\' OR i.trigger_name LIKE @words ESCAPE '\\'
    OR i.key LIKE @words ESCAPE '\\' OR EXISTS (SELECT 1 FROM firings f JOIN events e ON e.id = f.event_id
      WHERE f.id = i.titled_by AND e.text LIKE @words ESCAPE '\\') OR EXISTS (SELECT 1 FROM incident_runs ir JOIN runs r ON r.id = ir.run_id
      WHERE ir.incident_id = i.id AND r.practice = 0 AND r.headline LIKE @words ESCAPE '\\'))`

function pageOf(db: Database, filter: IncidentFilter, own: string | null, limit: number): IncidentRow[] {
  const isHandled = filter.state === 'handled'
  const after = (filter.before ?? '').split('.').filter((part) => part !== '')
  const parts = isHandled ? 2 : 3
  if (
    filter.before !== undefined &&
    (after.length !== parts || !after.every((part) => /^\d{1,16}$/.test(part)))
  )
    fail('invalid', 'before must be next_before of an earlier answer of the same list', { field: 'before' })
  const [a = null, b = null, c = null] = after.map(Number)
  const { q } = filter
  const number = q === undefined ? undefined : /^(?:inc_|#)?([1-9][0-9]{0,14})$/.exec(q.trim())?.[1]
  const isNobodys = filter.assignee === 'none'
  return db
    .prepare<Record<string, unknown>, IncidentRow>(
      isHandled
        ? `SELECT i.* FROM incidents i WHERE i.state = 'handled' AND ${NARROWED}
             AND (@a IS NULL OR (i.handled_at, i.id) < (@a, @b)) AND @c IS NULL
           ORDER BY i.handled_at DESC, i.id DESC LIMIT @limit`
        : `SELECT i.* FROM incidents i WHERE ${filter.state === 'all' ? '1' : "i.state <> 'handled'"} AND ${NARROWED}
             AND (@a IS NULL OR (i.rank, i.last_fired_at, i.id) < (@a, @b, @c))
           ORDER BY i.rank DESC, i.last_fired_at DESC, i.id DESC LIMIT @limit`,
    )
    .all({
      ...{ a, b, c, own, limit },
      state: filter.state === undefined || /^(active|all)$/.test(filter.state) ? null : filter.state,
      since: filter.opened_since === undefined ? null : parseInstant(filter.opened_since, 'opened_since'),
      rank: filter.severity === undefined ? null : rankOf(filter.severity),
      trigger: filter.trigger ?? null,
      project: filter.project ?? null,
      entity: filter.entity ?? null,
      assignee: isNobodys ? null : (filter.assignee ?? null),
      nobodys: isNobodys ? 1 : 0,
      number: number === undefined ? null : Number(number),
      words: q === undefined || number !== undefined ? null : `%${q.trim().replace(/[\\%_]/g, '\\$&')}%`,
    })
}

/** @param own id of the only project whose incidents are seen; null: all. @throws SvcError not_found */
function incidentDetail(ctx: ReadContext, id: string, own: string | null, at: number): IncidentDetail {
  const { db } = ctx
  const row = incidentQueries(db).byId.get(parseIncidentId(id))
  if (!row || (own !== null && row.project !== own)) return fail('not_found', `no incident has the id ${id}`)
  const [shown] = presentIncidents(db, [row], at, own)
  return {
    ...shown!,
    project_name: nameOfProject(db, shown!.project),
    finding: findingOf(db, shown!),
    history: historyOf(db, row.id, own),
    also: alsoOf(ctx, row, own, at),
    alerts: alertsOf(ctx, row, own, at),
    wakes: wakesOf(db, row.trigger_name, own),
    activity: activityOf(db, row.id),
    firings_total: row.firings,
    firings: firingsOf(db, row.id).map((firing) => presentFiring(db, firing)),
    deliveries: deliveriesOfIncident(db, row.id, own, DELIVERIES_MAX).map((one) => presentDelivery(db, one)),
    happened_before: happenedBefore(db, row, at, own),
    slack: slackPostsOf(db, row.id),
  }
}

const nameOfProject = (db: Database, id: string | null): string | null =>
  db.prepare<[string | null], string>('SELECT name FROM projects WHERE id = ?').pluck().get(id) ?? null

const SLACK_MAX = 50

/** Links to what Slack has of it: what heads its threads first, then the newest. */
const slackPostsOf = (db: Database, incident: number): IncidentDetail['slack'] =>
  db
    .prepare<[number], Omit<SlackPostShown, 'at'> & { at: number }>(
      `SELECT t.channel, p.ts, CASE WHEN p.ts = t.ts THEN NULL ELSE t.ts END AS thread_ts, p.kind,
         CASE WHEN p.ts = t.ts THEN coalesce(t.permalink, p.permalink) ELSE p.permalink END AS permalink, p.at,
         CASE WHEN p.ts = t.ts THEN t.problem END AS problem
       FROM slack_threads t JOIN slack_posts p ON p.thread_id = t.id WHERE t.incident_id = ?
       ORDER BY p.ts <> t.ts, p.at DESC, p.ts DESC LIMIT ${SLACK_MAX}`,
    )
    .all(incident)
    .map((post) => ({ ...post, at: iso(post.at) }))

function findingOf(db: Database, { result }: Incident): IncidentDetail['finding'] {
  if (result === null) return null
  const run = db
    .prepare<[string], MarkRow & { note: string | null; event_id: string | null; claims: string | null }>(
      'SELECT note, event_id, claims, mark, mark_note, mark_cause, marked_at, marked_by FROM runs WHERE id = ?',
    )
    .get(result.run_id)!
  const { note, event_id, claims } = run
  return { note: note ?? '', event_id, claims: storedClaims(claims), mark: presentMark(run) }
}

function historyOf(db: Database, id: number, own: string | null): IncidentDetail['history'] {
  const grown = handledIncidentQueries(db).of(id, own === null ? null : [own])
  return grown && { ...grown, id: idOf(id) }
}

const activityOf = (db: Database, id: number): IncidentDetail['activity'] =>
  db
    .prepare<[number], ActivityRow>(
      `SELECT * FROM incident_activity WHERE incident_id = ? ORDER BY n DESC LIMIT ${ACTIVITY_MAX}`,
    )
    .all(id)
    .map(presentActivity)

/** The newest, and the first. */
function firingsOf(db: Database, id: number): FiringRow[] {
  const of = (order: 'ASC' | 'DESC', limit: number) =>
    db
      .prepare<[number], FiringRow>(
        `SELECT * FROM firings WHERE incident_id = ? ORDER BY fired_at ${order}, id ${order} LIMIT ${limit}`,
      )
      .all(id)
  const newest = of('DESC', FIRINGS_MAX)
  if (newest.length < FIRINGS_MAX) return newest
  const [first] = of('ASC', 1)
  return newest.some((firing) => firing.id === first!.id) ? newest : [...newest.slice(0, -1), first!]
}

/** Events looked at for those that met the trigger and fired nothing, the newest. */
const MEANWHILE_MAX = 500
const ALSO_MAX = 20

/**
 * What met the trigger since the first firing and fired nothing, since the trigger waited its cooldown: by type, newest
 * first. Whoever has the incident would not know of them.
 * @param own id of the only project whose sources are seen; null: all
 */
function alsoOf(ctx: ReadContext, row: IncidentRow, own: string | null, at: number): IncidentDetail['also'] {
  const { db, dictionary, names } = ctx
  const first = db
    .prepare<[number], Pick<FiringRow, 'spec' | 'event_id'>>(
      `SELECT spec, event_id FROM firings WHERE incident_id = ? AND resolves IS NULL
       ORDER BY fired_at, id LIMIT 1`,
    )
    .get(row.id)
  if (!first || first.event_id === null || row.label === null || row.value_text === null) return []
  const spec = JSON.parse(first.spec) as TriggerSpec
  // Of many events each counts, a burst holds all that come, and alerts of which the end is told are told, too.
  if (!('event' in spec.condition) || spec.condition.resolve || spec.storm) return []
  const entity = dictionary.find(row.label, row.value_text)
  if (entity === undefined) return []
  const query = {
    groups: [sourceLabels(ctx, spec.sources, own), [entity]],
    masked: names.masked().flatMap((id) => dictionary.find(SOURCE_LABEL, String(id)) ?? []),
    ...{ from: 0, to: Number.MAX_SAFE_INTEGER },
    afterId: first.event_id,
    ceiling: row.handled_at === null ? ctx.index.tail.lastId : ctx.ceilingAt(row.handled_at),
  }
  const ids = firstPositions(ctx.index.all(), query, 'desc', MEANWHILE_MAX, null).map(({ id }) => id)
  const fired = new Set(
    db
      .prepare<[number], number>(
        'SELECT event_id FROM firings WHERE incident_id = ? AND event_id IS NOT NULL',
      )
      .pluck()
      .all(row.id),
  )
  const holds = matcherOf(spec.filters ?? [], {
    labels: dictionary,
    sourceName: (id) => names.get(id)?.name ?? '',
  })
  const maxLate = parseDuration(spec.max_late ?? TRIGGER_DEFAULTS.max_late, 'max_late')
  const found = new Map<string, IncidentDetail['also'][number]>()
  const rawOf = (id: number) => ctx.rows.read([id], true)[0]?.raw
  const groups = spec.condition.group_by ?? []
  const [began] = ctx.rows.read([first.event_id], false)
  const partsOf = (event: Row) => JSON.stringify(groups.map((name) => partOf(event, name)))
  const shared = began && groups.length > 0 ? partsOf(presentRow(began, dictionary, names, at)) : null
  for (const stored of ctx.rows.read(ids, false)) {
    if (fired.has(stored.id) || stored.ingested_at - stored.ts > maxLate || !holds(seenOf(stored, rawOf)))
      continue
    const event = presentRow(stored, dictionary, names, at)
    // What has another key fires by itself.
    if (shared !== null && partsOf(event) !== shared) continue
    const { id, source, event_type, text, event_time } = event
    const known = found.get(event_type)
    if (known) known.events++
    else found.set(event_type, { event_type, events: 1, id, source, text: oneLine(text), at: event_time })
  }
  return [...found.values()].slice(0, ALSO_MAX)
}

const ALERTS_MAX = 50

/** Alerts of an incident, of a trigger whose events say when they are over. @param own as of alsoOf */
function alertsOf(
  ctx: ReadContext,
  row: IncidentRow,
  own: string | null,
  at: number,
): IncidentDetail['alerts'] {
  if (row.handled_at !== null) return []
  const found = ctx.db
    .prepare<[number, string, number], AlertRow & { over_at: number | null }>(
      `SELECT * FROM active_alerts WHERE trigger_id = ? AND key = ? ORDER BY over_at IS NOT NULL, since DESC, event_id DESC LIMIT ?`,
    )
    .all(row.trigger_id, row.key, ALERTS_MAX)
  const ids = found.map(({ event_id }) => event_id).sort((a, b) => a - b)
  const rows = new Map(ctx.rows.read(ids, false).map((stored) => [stored.id, stored]))
  return found.flatMap(({ event_id, since, over_at, told }) => {
    const stored = rows.get(event_id)
    if (!stored || (own !== null && !usesSource(ctx, stored.source_id, own))) return []
    const { id, source, event_type, text } = presentRow(stored, ctx.dictionary, ctx.names, at)
    return {
      ...{ event_type, id, source, text: oneLine(text).replace(STATE, ''), began_at: iso(since) },
      ...{ over_at: isoOrNull(over_at), told: told === 1 },
    }
  })
}

const usesSource = ({ db, names }: ReadContext, source: number, project: string): boolean =>
  db
    .prepare<[string, string], number>(
      "SELECT 1 FROM project_uses WHERE project = ? AND kind = 'source' AND name = ?",
    )
    .pluck()
    .get(project, names.get(source)?.name ?? '') !== undefined

/** A component of the key of an event. */
function partOf({ event_type, source, entity, labels }: Row, name: string): string | number | undefined {
  if (name === 'event_type') return event_type
  if (name === 'source') return source
  return name === 'key_value' ? entity?.value : ownField(labels, name)
}

/** @param own id of the only project whose sources are seen; null: all */
function sourceLabels(
  { db, dictionary, names }: ReadContext,
  sources: readonly string[],
  own: string | null,
) {
  const used = db
    .prepare<[string | null], string>("SELECT name FROM project_uses WHERE project = ? AND kind = 'source'")
    .pluck()
  const seen = own === null ? null : new Set(used.all(own))
  return sources
    .filter((name) => seen === null || seen.has(name))
    .flatMap((name) => names.idsOf(name))
    .flatMap((id) => dictionary.find(SOURCE_LABEL, String(id)) ?? [])
}

/** The agents that its trigger wakes, those too that are off. @param own id of the only project that is seen; null: all */
const wakesOf = (db: Database, trigger: string, own: string | null): IncidentDetail['wakes'] =>
  db
    .prepare<{ trigger: string; own: string | null }, { agent: string; on: number }>(
      `SELECT a.key AS agent, max(json_extract(a.value, '$.enabled')) AS "on"
       FROM projects p, json_each(p.spec, '$.wakes') t, json_each(t.value) a
       WHERE p.state <> 'deleted' AND t.key = @trigger AND (@own IS NULL OR p.id = @own)
       GROUP BY a.key ORDER BY a.key`,
    )
    .all({ trigger, own })
    .map(({ agent, on }) => ({ agent, on: on === 1 }))

function happenedBefore(
  db: Database,
  { id, trigger_id, key }: IncidentRow,
  at: number,
  own: string | null,
): IncidentDetail['happened_before'] {
  const since = at - BEFORE_DAYS * DAY_MS
  const count = db
    .prepare<[number, string, number, number], number>(
      'SELECT count(*) FROM incidents WHERE trigger_id = ? AND key = ? AND id < ? AND opened_at >= ?',
    )
    .pluck()
    .get(trigger_id, key, id, since)!
  const rows = db
    .prepare<[number, string, number], IncidentRow>(
      `SELECT * FROM incidents WHERE trigger_id = ? AND key = ? AND id < ? ORDER BY id DESC LIMIT ${BEFORE_MAX}`,
    )
    .all(trigger_id, key, id)
  const note = db
    .prepare<[number], string>(
      `SELECT json_extract(detail, '$.text') FROM incident_activity
       WHERE incident_id = ? AND action = 'note' ORDER BY n DESC LIMIT 1`,
    )
    .pluck()
  const shown = presentIncidents(db, rows, at, own)
  return {
    days: BEFORE_DAYS,
    count,
    incidents: rows.map((row, i) => ({
      id: idOf(row.id),
      number: row.id,
      headline: shown[i]!.headline,
      severity: severityOfRank(row.rank),
      opened_at: iso(row.opened_at),
      firings: row.firings,
      handled: handledOf(row),
      verdict: shown[i]!.result?.verdict ?? null,
      next_step: shown[i]!.result?.next_step ?? null,
      note: note.get(row.id) ?? null,
    })),
  }
}

/* Incidents and Home as they are asked for. */

/** @param snapshot runs a read on one view of the store. */
export function createIncidentReads(ctx: ReadContext, clock: Clock, snapshot: Snapshot): IncidentReads {
  return {
    listIncidents: (filter, own) => snapshot(() => listIncidents(ctx.db, filter, own, clock.now())),
    getIncident: (id, own) => snapshot(() => incidentDetail(ctx, id, own, clock.now())),
    home: (sources, hours) => snapshot(() => homeOf(ctx, sources, hours, clock.now())),
  }
}
