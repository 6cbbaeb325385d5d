/** Home: what is wrong, what was found, who is at work, and how the sources are, in one answer. */
import type { Home, Source } from '../../schemas/types.ts'
import { headlineOf, nextStepOf } from '../findings/headline.ts'
import { dollarsSql } from '../models/dollars.ts'
import { severityOf } from '../parts/trigger-spec.ts'
import type { Database } from '../store/handle.ts'
import type { ReadContext } from '../timeline/context.ts'
import { countsOf } from './counts.ts'
import { iso, isoOrNull, presentIncidents } from './present.ts'
import type { IncidentRow } from './queries.ts'
import { idOf } from './steps.ts'
import { eventsSince, stripOf } from './strip.ts'

const INCIDENTS_MAX = 50
const FINDINGS_MAX = 8
const AGENTS_MAX = 20
const SOURCES_MAX = 50
const TRIGGERS_MAX = 8
const DAYS = 7
const DAY_MS = 86_400_000
const ON_FIRE_HOURS = 6
const QUIET_HOURS = 24

/**
 * @param sources as they are listed
 * @param hours of the strip; absent: 6 while an incident is open, else 24
 * @param now epoch ms
 */
export function homeOf(
  ctx: ReadContext,
  sources: readonly Source[],
  hours: number | undefined,
  now: number,
): Home {
  const { db } = ctx
  const rows = db
    .prepare<[], IncidentRow>(
      `SELECT * FROM incidents WHERE state IN ('open', 'acknowledged')
       ORDER BY rank DESC, last_fired_at DESC, id DESC LIMIT ${INCIDENTS_MAX}`,
    )
    .all()
  const last = db
    .prepare<[], IncidentRow>(
      "SELECT * FROM incidents WHERE state = 'handled' ORDER BY handled_at DESC, id DESC LIMIT 1",
    )
    .all()
  const shown = presentIncidents(db, [...rows, ...last], now, null)
  const hasEvents = ctx.index.all().some(({ n }) => n > 0)
  const isOnFire = rows.length > 0
  const { strip, lastHour } = stripOf(ctx, hours ?? (isOnFire ? ON_FIRE_HOURS : QUIET_HOURS), now)
  return {
    state: isOnFire ? 'on_fire' : hasEvents ? 'quiet' : 'empty',
    incidents: shown.slice(0, rows.length),
    counts: countsOf(db, null),
    last_handled: shown[rows.length] ?? null,
    findings: findingsOf(db),
    agents: agentsOf(db),
    sources: sourcesOf(ctx, sources, lastHour, now),
    sources_total: sources.length,
    today: todayOf(ctx, now),
    strip,
    triggers: triggersOf(db, now),
    checklist: checklistOf(db, hasEvents),
  }
}

interface FindingRow {
  run_id: string
  project: string
  project_name: string
  at: number
  agent: string
  entity: string
  verdict: string | null
  headline: string | null
  next_step: string | null
  note: string | null
  verified_ok: number | null
  verified_total: number | null
  handled_at: number | null
  handled_by: string | null
  incident_id: number | null
}

/** The last of each chain, newest first. */
function findingsOf(db: Database): Home['findings'] {
  return db
    .prepare<[], FindingRow>(
      `SELECT r.id AS run_id, p.id AS project, p.name AS project_name, r.finished_at AS at, r.agent, r.entity, r.verdict,
         r.headline, r.next_step, r.note, r.verified_ok, r.verified_total, r.handled_at, r.handled_by,
         (SELECT max(ir.incident_id) FROM incident_runs ir WHERE ir.run_id = r.id) AS incident_id
       FROM runs r JOIN projects p ON p.id = (SELECT min(rp.project) FROM run_projects rp WHERE rp.run_id = r.id)
       WHERE r.finished_at IS NOT NULL AND r.outcome = 'finding' AND r.practice = 0 AND p.state <> 'deleted'
         AND NOT EXISTS (SELECT 1 FROM runs l WHERE l.root_run_id = r.root_run_id AND l.seq > r.seq
           AND l.outcome = 'finding' AND l.practice = 0)
       ORDER BY r.finished_at DESC LIMIT ${FINDINGS_MAX}`,
    )
    .all()
    .map(
      ({
        at,
        note,
        headline,
        next_step,
        verified_ok,
        verified_total,
        handled_at,
        handled_by,
        incident_id,
        ...row
      }) => ({
        ...row,
        at: iso(at),
        headline: headline ?? headlineOf(note ?? ''),
        next_step: next_step ?? nextStepOf(note ?? ''),
        claims: verified_total === null ? null : { held: verified_ok ?? 0, total: verified_total },
        handled: handled_at === null ? null : { at: iso(handled_at), by: handled_by ?? '' },
        incident: incident_id === null ? null : idOf(incident_id),
      }),
    )
}

interface AgentRow {
  run_id: string
  agent: string
  entity: string
  trigger: string | null
  status: 'queued' | 'running' | 'parked'
  round: number
  max_rounds: number | null
  started_at: number | null
  incident_id: number | null
}

/** Runs at work: their state leads, by its index. */
function agentsOf(db: Database): Home['agents'] {
  return db
    .prepare<[], AgentRow>(
      `SELECT r.id AS run_id, r.agent, r.entity, r.trigger_name AS "trigger", r.state AS status, r.rounds AS round,
         json_extract(r.snapshot, '$.context.max_rounds') AS max_rounds, r.started_at,
         (SELECT max(ir.incident_id) FROM incident_runs ir WHERE ir.run_id = r.id) AS incident_id
       FROM runs r WHERE r.state IN ('queued', 'running', 'parked') AND r.practice = 0
       ORDER BY r.seq DESC LIMIT ${AGENTS_MAX}`,
    )
    .all()
    .map(({ max_rounds, started_at, incident_id, ...row }) => ({
      ...row,
      max_rounds: max_rounds ?? 0,
      started_at: isoOrNull(started_at),
      incident: incident_id === null ? null : idOf(incident_id),
    }))
}

const ORDER: readonly Home['sources'][number]['state'][] = ['failing', 'quiet', 'paused', 'ok']

function sourcesOf(
  ctx: ReadContext,
  sources: readonly Source[],
  lastHour: ReadonlyMap<number, number>,
  now: number,
): Home['sources'] {
  const ids = new Map(
    ctx.db
      .prepare<[], { id: number; name: string }>("SELECT id, name FROM sources WHERE state <> 'deleted'")
      .all()
      .map(({ id, name }) => [name, id]),
  )
  return sources
    .map((source): Home['sources'][number] => {
      const { health } = source
      const isFailing = health.status === 'error' || health.status === 'refused'
      const lastMs = health.last_ingest === null ? null : Date.parse(health.last_ingest)
      const isQuiet = lastMs === null || now - lastMs > DAY_MS
      const state = source.paused ? 'paused' : isFailing ? 'failing' : isQuiet ? 'quiet' : 'ok'
      return {
        name: source.name,
        connector: source.connector,
        state,
        reason: health.reason,
        last_event_at: health.last_ingest,
        per_minute: Math.round(((lastHour.get(ids.get(source.name) ?? 0) ?? 0) / 60) * 10) / 10,
      }
    })
    .sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || (a.name < b.name ? -1 : 1))
    .slice(0, SOURCES_MAX)
}

/** Since 00:00 UTC. */
function todayOf(ctx: ReadContext, now: number): Home['today'] {
  const { db } = ctx
  const midnight = new Date(now).setUTCHours(0, 0, 0, 0)
  const one = (sql: string): number => db.prepare<{ at: number }, number>(sql).pluck().get({ at: midnight })!
  const ended = "FROM runs WHERE finished_at >= @at AND practice = 0 AND woken_by <> 'external'"
  return {
    since: iso(midnight),
    events: eventsSince(ctx, midnight),
    firings: one('SELECT count(*) FROM firings WHERE fired_at >= @at AND practice = 0 AND resolves IS NULL'),
    incidents: one('SELECT count(*) FROM incidents WHERE opened_at >= @at'),
    runs: one(`SELECT count(*) ${ended}`),
    findings: one(
      `SELECT count(*) FROM runs WHERE finished_at >= @at AND practice = 0 AND outcome = 'finding'`,
    ),
    spent_usd: one(`SELECT ${dollarsSql('coalesce(sum(cost_usd), 0)')} ${ended}`),
    // Led by what is of today: deliveries have no index by time.
    deliveries_failed:
      one(`SELECT count(*) FROM firings f JOIN deliveries d ON d.firing_id = f.id
           WHERE f.fired_at >= @at AND f.practice = 0 AND d.state = 'failed'`) +
      one(`SELECT count(*) FROM runs r JOIN deliveries d ON d.finding_of = r.id
           WHERE r.finished_at >= @at AND r.practice = 0 AND d.state = 'failed'`),
  }
}

interface TriggerRow {
  id: number
  name: string
  spec: string
  firings: number
  incidents: number
}

/** Those that fired most in the last days. */
function triggersOf(db: Database, now: number): Home['triggers'] {
  const from = now - DAYS * DAY_MS
  const rows = db
    .prepare<{ from: number }, TriggerRow>(
      `SELECT t.id, t.name, t.spec, t.firings,
         (SELECT count(*) FROM incidents i WHERE i.opened_at >= @from AND i.trigger_id = t.id) AS incidents
       FROM (SELECT id, name, spec, (SELECT count(*) FROM firings f WHERE f.trigger_id = triggers.id
               AND f.fired_at >= @from AND f.practice = 0 AND f.resolves IS NULL) AS firings
             FROM triggers WHERE state <> 'deleted') t
       WHERE t.firings > 0 ORDER BY t.firings DESC, t.name LIMIT ${TRIGGERS_MAX}`,
    )
    .all({ from })
  const daily = db.prepare<[number, number, number], { ago: number; n: number }>(
    `SELECT (? - fired_at) / ${DAY_MS} AS ago, count(*) AS n FROM firings
     WHERE trigger_id = ? AND fired_at >= ? AND practice = 0 AND resolves IS NULL GROUP BY 1`,
  )
  return rows.map(({ id, name, spec, firings, incidents }) => {
    const spark = new Array<number>(DAYS).fill(0)
    for (const { ago, n } of daily.all(now, id, from))
      spark[DAYS - 1 - Math.min(DAYS - 1, Math.max(0, ago))]! += n
    return { name, severity: severityOf(JSON.parse(spec)), firings, spark, incidents }
  })
}

function checklistOf(db: Database, hasEvents: boolean): Home['checklist'] {
  const is = (sql: string): boolean => db.prepare<[], number>(`SELECT EXISTS (${sql})`).pluck().get() === 1
  return {
    event: hasEvents,
    trigger: is("SELECT 1 FROM triggers WHERE state <> 'deleted'"),
    notification:
      is('SELECT 1 FROM subscriptions WHERE removed_at IS NULL AND disabled_at IS NULL') ||
      is(
        "SELECT 1 FROM projects p, json_each(p.spec, '$.wakes') w WHERE p.state <> 'deleted' AND w.value <> '{}'",
      ),
    agent: is("SELECT 1 FROM agents WHERE state <> 'deleted'"),
  }
}
