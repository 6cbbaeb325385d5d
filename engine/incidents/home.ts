/** Home: what is wrong, what was found, who is at work, and how the sources are, in one answer. */

import { headlineOf } from '../../schemas/plain-text.ts'
import type { Home, Source } from '../../schemas/types.ts'
import { nextStepOf } from '../agents/findings.ts'
import { severityOf } from '../documents/trigger.ts'
import { CHANGE_KIND, NO_CHANGE_KIND } from '../log/brief/words.ts'
import type { Database } from '../log/store/handle.ts'
import { offsetOf, offsetsOf, SEGMENT_SIZE, SOURCE_LABEL, TYPE_LABEL } from '../log/store/labels.ts'
import { eachPosition, firstPositions, type Query } from '../log/store/scan.ts'
import type { Segment } from '../log/store/segments.ts'
import type { ReadContext } from '../log/timeline/context.ts'
import { labelsNamed } from '../log/timeline/fit.ts'
import { eventId, presentRow } from '../log/timeline/present.ts'
import { DAY_MS, dollarsSql, iso, isoOrNull, levelNamed, type Severity } from '../model/units.ts'
import { connectorOf } from '../sources/connectors/index.ts'
import { presentIncidents } from './present.ts'
import { countsOf, type IncidentRow, idOf } from './steps.ts'

/** Home without what other rooms add to it. */
export type HomeOfIncidents = Omit<Home, 'demo' | 'proposals_open' | 'caller'>

const INCIDENTS_MAX = 50
const FINDINGS_MAX = 8
const AGENTS_MAX = 20
const SOURCES_MAX = 50
const TRIGGERS_MAX = 8
const DAYS = 7
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
): HomeOfIncidents {
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
  const states = sourcesOf(ctx, sources, lastHour, now)
  return {
    state: isOnFire ? 'on_fire' : hasEvents ? 'quiet' : 'empty',
    incidents: shown.slice(0, rows.length),
    counts: countsOf(db, null),
    last_handled: shown[rows.length] ?? null,
    findings: findingsOf(db),
    agents: agentsOf(db),
    sources: states.slice(0, SOURCES_MAX),
    sources_total: sources.length,
    source_counts: countStates(states),
    agents_total: db.prepare<[], number>(`SELECT count(*) FROM runs r WHERE ${AT_WORK}`).pluck().get()!,
    // By the index of those that are not handled, not past all that were handled since the beginning.
    oldest_opened_at: isoOrNull(
      db
        .prepare<[], number | null>(
          "SELECT min(+opened_at) FROM incidents WHERE state <> 'handled' AND state = 'open'",
        )
        .pluck()
        .get() ?? null,
    ),
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

const AT_WORK = "r.state IN ('queued', 'running', 'parked') AND r.practice = 0"

/** Runs at work: their state leads, by its index. */
function agentsOf(db: Database): Home['agents'] {
  return db
    .prepare<[], AgentRow>(
      `SELECT r.id AS run_id, r.agent, r.entity, r.trigger_name AS "trigger", r.state AS status, r.rounds AS round,
         json_extract(r.snapshot, '$.context.max_rounds') AS max_rounds, r.started_at,
         (SELECT max(ir.incident_id) FROM incident_runs ir WHERE ir.run_id = r.id) AS incident_id
       FROM runs r WHERE ${AT_WORK}
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

/** Whether silence of a source says something: findings, notes and documents come when there is something to write. */
const isExpected = ({ connector, mode }: Source): boolean =>
  mode !== 'reference' && connector !== 'memory' && connectorOf(connector).internal !== true

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
      const isQuiet = isExpected(source) && (lastMs === null || now - lastMs > DAY_MS)
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
}

function countStates(sources: Home['sources']): Home['source_counts'] {
  const counts: Home['source_counts'] = { failing: 0, quiet: 0, paused: 0, ok: 0 }
  for (const { state } of sources) counts[state]++
  return counts
}

/** Since 00:00 UTC. */
function todayOf(ctx: ReadContext, now: number): Home['today'] {
  const { db } = ctx
  const midnight = new Date(now).setUTCHours(0, 0, 0, 0)
  const one = (sql: string): number => db.prepare<{ at: number }, number>(sql).pluck().get({ at: midnight })!
  const ended = 'FROM runs WHERE finished_at >= @at AND practice = 0'
  return {
    since: iso(midnight),
    events: eventsSince(ctx, midnight),
    firings: one('SELECT count(*) FROM firings WHERE fired_at >= @at AND practice = 0 AND resolves IS NULL'),
    incidents: one('SELECT count(*) FROM incidents WHERE opened_at >= @at'),
    runs: one(`SELECT count(*) ${ended}`),
    findings: one(`SELECT count(*) ${ended} AND outcome = 'finding'`),
    // As the day of the usage of models has it: practice, Ask and guided setup are paid, too.
    spent_usd: one(`SELECT ${dollarsSql('coalesce(sum(cost_usd), 0)')} FROM model_usage WHERE at >= @at`),
    uncosted_calls: one(
      'SELECT coalesce(sum(calls), 0) FROM model_usage WHERE at >= @at AND cost_usd IS NULL',
    ),
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
    `SELECT CAST((? - fired_at) / ${DAY_MS} AS INTEGER) AS ago, count(*) AS n FROM firings
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

/* The last hours for Home: events by level, firings, and what was changed; bounded, for it is asked again and again. */

type Strip = Home['strip']

const HOUR_MS = 3_600_000
const BUCKETS = 72
const FIRINGS_MAX = 200
const CHANGES_MAX = 50
const TEXT_MAX = 120
/** Events that are counted at most, the newest: some 20 ms (measured 2026-11-23). */
const COUNTED_MAX = 400_000
/** The label that says how bad an event is, before all else: of an alert that is over its severity stays what it was. */
const LEVEL_LABEL = 'level'
/** Other labels that senders put a level in, and the type, where that is one. */
const LEVEL_LABELS = ['severity', 'severity_text', 'log_level', TYPE_LABEL]

/**
 * @param now epoch ms
 * @returns the strip, and how many events each source had in its last hour, by its id
 */
function stripOf(
  ctx: ReadContext,
  hours: number,
  now: number,
): { strip: Strip; lastHour: ReadonlyMap<number, number> } {
  const step = Math.ceil((hours * HOUR_MS) / BUCKETS)
  // Whole steps: the same answer until a step is over.
  const to = (Math.floor(now / step) + 1) * step
  const from = to - BUCKETS * step
  const query = queryOf(ctx, from, to, [])
  const counted = countLevels(ctx, query, from, step)
  const strip = {
    hours,
    from: iso(from),
    to: iso(to),
    step_seconds: step / 1_000,
    buckets: counted.buckets.map((counts, i) => ({ at: iso(from + i * step), ...counts })),
    firings: firingsOf(ctx, from),
    changes: changesOf(ctx, from, to),
    cut: counted.cut,
  }
  return { strip, lastHour: counted.lastHour }
}

/** Events stored of a time since an instant. @param from epoch ms */
function eventsSince(ctx: ReadContext, from: number): number {
  const query = queryOf(ctx, from, Number.MAX_SAFE_INTEGER, [])
  let events = 0
  for (const segment of ctx.index.all())
    if (segment.minTs >= from) events += segment.n
    else if (segment.maxTs >= from) eachPosition([segment], query, () => events++)
  return events
}

function queryOf(ctx: ReadContext, from: number, to: number, groups: number[][]): Query {
  const masked = ctx.names.masked().flatMap((id) => ctx.dictionary.find(SOURCE_LABEL, String(id)) ?? [])
  // Events are found by their labels: without one to look for there are none, and each has a source.
  const any = groups.length > 0 ? groups : [[...labelsNamed(ctx, SOURCE_LABEL).keys()]]
  return { groups: any, masked, from, to: to - 1, afterId: -1, ceiling: ctx.index.tail.lastId }
}

/** Ids of labels that say a level, each with its place in KINDS. */
interface LevelLabels {
  /** Of those called `level`. */
  own: Map<number, number>
  /** Of all others, where they say more than info. */
  others: Map<number, number>
}

function levelLabels(ctx: ReadContext): LevelLabels {
  const kindsIn = (name: string): [number, number][] =>
    [...labelsNamed(ctx, name)].flatMap(([id, value]): [number, number][] => {
      const level = levelNamed(value)
      return level === undefined ? [] : [[id, KINDS.indexOf(KIND_OF[level] ?? 'info')]]
    })
  return {
    own: new Map(kindsIn(LEVEL_LABEL)),
    others: new Map(LEVEL_LABELS.flatMap(kindsIn).filter(([, kind]) => kind > 0)),
  }
}

function countLevels(ctx: ReadContext, query: Query, from: number, step: number) {
  const levels = levelLabels(ctx)
  const buckets = Array.from({ length: BUCKETS }, () => ({ error: 0, warn: 0, info: 0 }))
  const segments = ctx.index
    .all()
    .filter((segment) => segment.maxTs >= query.from && segment.minTs <= query.to)
    .sort((a, b) => b.maxTs - a.maxTs)
  const sources = labelsNamed(ctx, SOURCE_LABEL)
  const sourceIds = new Set(sources.keys())
  const lastHour = new Map<number, number>()
  const hourAgo = query.to + 1 - HOUR_MS
  let left = COUNTED_MAX
  let cut = false
  for (const segment of segments) {
    if (left <= 0) {
      cut = true
      break
    }
    const kinds = kindsOf(segment, levels)
    eachPosition([segment], query, (id, ts) => {
      left--
      buckets[Math.floor((ts - from) / step)]![KINDS[kinds[offsetOf(id)]!]!]++
    })
    if (segment.maxTs >= hourAgo)
      countSources(segment, { ...query, from: hourAgo }, sourceIds, sources, lastHour)
  }
  return { buckets, cut, lastHour }
}

function countSources(
  segment: Segment,
  query: Query,
  sourceIds: ReadonlySet<number>,
  sources: ReadonlyMap<number, string>,
  counts: Map<number, number>,
): void {
  for (const label of sourceIds) {
    if (!segment.posting(label)) continue
    let n = 0
    eachPosition([segment], { ...query, groups: [[label]] }, () => n++)
    const source = Number(sources.get(label))
    counts.set(source, (counts.get(source) ?? 0) + n)
  }
}

const KINDS = ['info', 'warn', 'error'] as const
const KIND_OF: Readonly<Record<string, (typeof KINDS)[number]>> = {
  FATAL: 'error',
  ERROR: 'error',
  WARN: 'warn',
}

/** The level that each event of a segment says, as a place in KINDS: its label `level`, else the worst of others. */
function kindsOf(segment: Segment, { own, others }: LevelLabels) {
  const kinds = new Uint8Array(SEGMENT_SIZE)
  let isMarked = false
  for (const [label, posting] of segment.postings(new Set(others.keys())))
    for (const offset of offsetsOf(posting)) {
      isMarked = true
      kinds[offset] = Math.max(kinds[offset]!, others.get(label)!)
    }
  // Most events say info: they are walked only where there is something to take back.
  const wanted = [...own].flatMap(([label, kind]) => (kind > 0 || isMarked ? [label] : []))
  for (const [label, posting] of segment.postings(new Set(wanted)))
    for (const offset of offsetsOf(posting)) kinds[offset] = own.get(label)!
  return kinds
}

function firingsOf({ db }: ReadContext, from: number): Strip['firings'] {
  return db
    .prepare<
      [number],
      {
        at: number
        dispatch_id: string
        trigger: string
        key: string
        severity: Severity | null
        incident_id: number | null
      }
    >(
      `SELECT fired_at AS at, dispatch_id, trigger_name AS "trigger", key, severity, incident_id FROM firings
       WHERE fired_at >= ? AND practice = 0 AND resolves IS NULL ORDER BY fired_at DESC, id DESC LIMIT ${FIRINGS_MAX}`,
    )
    .all(from)
    .map(({ at, incident_id, ...rest }) => ({
      at: iso(at),
      ...rest,
      incident: incident_id === null ? null : idOf(incident_id),
    }))
}

function changesOf(ctx: ReadContext, from: number, to: number): Strip['changes'] {
  const types = [...labelsNamed(ctx, TYPE_LABEL)]
    .filter(([, value]) => CHANGE_KIND.test(value) && !NO_CHANGE_KIND.test(value))
    .map(([id]) => id)
  if (types.length === 0) return []
  const found = firstPositions(ctx.index.all(), queryOf(ctx, from, to, [types]), 'desc', CHANGES_MAX, null)
  return ctx.rows
    .read(
      found.map(({ id }) => id),
      false,
    )
    .map((stored) => {
      const row = presentRow(stored, ctx.dictionary, ctx.names, stored.ts)
      return {
        at: iso(stored.ts),
        event_id: eventId(stored.id),
        source: row.source,
        type: row.event_type,
        text: row.text.length > TEXT_MAX ? `${row.text.slice(0, TEXT_MAX - 1)}…` : row.text,
      }
    })
}
