/**
 * The SQL of findings: each is how a run ended, and a chain of runs is one result of a project.
 *
 * The claims of a finding are held against their events, by comparison alone: each event exists and was read by who claims
 * it, and holds the words that are quoted, the number that is named, or the two numbers that are compared. A claim
 * that gives nothing to compare may be right, and is unproved.
 */
import { headlineOf } from '../../schemas/plain-text.ts'
import { countWords } from '../../schemas/plain-words.ts'
import type {
  CheckedClaim,
  Claim,
  FindingIncident,
  FindingMark,
  MarkWrite,
  ProjectToday,
  ResultMarked,
} from '../../schemas/types.ts'
import type { Row } from '../calls.ts'
import type { Clock } from '../clock.ts'
import { fail } from '../errors.ts'
import { firstSnapshot } from '../log/lifecycle.ts'
import type { Database } from '../log/store/handle.ts'
import { dollarsSql, iso } from '../model/units.ts'
import { agentsOfChain, type MarkRow } from './runs/queries.ts'

export interface FindingRow extends MarkRow {
  run_id: string
  agent: string
  entity: string
  label: string
  trigger_name: string | null
  outcome: 'finding' | 'no_op'
  verdict: string | null
  headline: string | null
  next_step: string | null
  finding: string | null
  external: number
  practice: number
  /** Epoch ms it ended. */
  at: number
  event_id: string | null
  verified_ok: number | null
  verified_total: number | null
  handled_at: number | null
  handled_by: string | null
  incident: string
}

/** The last run of a chain that concluded, with what the chain came to. */
export interface ResultRow extends FindingRow {
  /** JSON list of the agents, first to last. */
  chain: string
  cost_usd: number
  uncosted: number
  /** Milliseconds from the first start to the last end. */
  duration_ms: number | null
}

/** What an outside agent records. */
interface ExternalFinding {
  run_id: string
  project: string
  agent: string
  entity: string
  label: string
  verdict: string | null
  headline: string | null
  next_step: string | null
  finding: string
  at: number
  event_id: string
  practice: 0 | 1
  claims: CheckedClaim[]
}

/** Narrows a list; null narrows nothing. `before` is epoch ms and a run id, as of the last row seen. */
interface FindingFilter {
  project: string
  agent: string | null
  entity: string | null
  /** right, wrong or partly; any: it is marked; none: it is not. */
  mark: MarkFilter | null
  before_at: number | null
  before_id: string | null
  limit: number
}

/** The same of several projects, their ids as a JSON list, between two instants. */
export type FindingsFilter = Omit<FindingFilter, 'project'> & {
  projects: string
  since: number
  until: number
}

export type MarkFilter = FindingMark['mark'] | 'any' | 'none'

export type FindingQueries = ReturnType<typeof findingQueries>

const COLUMNS = `r.id AS run_id, r.agent, r.entity, r.label, r.trigger_name, r.outcome, r.verdict, r.headline,
  r.next_step, r.note AS finding, r.woken_by = 'external' AS external, r.practice, r.finished_at AS at, r.event_id,
  r.verified_ok, r.verified_total, r.handled_at, r.handled_by, r.incident, r.mark, r.mark_note,
  r.mark_cause, r.marked_at, r.marked_by`
const NARROWED = `(@agent IS NULL OR r.agent = @agent)
  AND (@entity IS NULL OR r.entity = @entity)
  AND (@mark IS NULL OR CASE @mark WHEN 'any' THEN r.mark IS NOT NULL WHEN 'none' THEN r.mark IS NULL
    ELSE r.mark = @mark END)
  AND (@before_at IS NULL OR (r.finished_at, r.id) < (@before_at, @before_id))`
const FROM = 'FROM run_projects p JOIN runs r ON r.id = p.run_id'
const OF_PROJECT = `${FROM} WHERE p.project = @project`
/** Down the index of when runs ended: only so far as a page reaches. */
const OF_PROJECTS = `FROM runs r CROSS JOIN run_projects p ON p.run_id = r.id
  WHERE p.project IN (SELECT value FROM json_each(@projects)) AND r.finished_at BETWEEN @since AND @until
    AND r.outcome IS NOT NULL`
/**
 * One result per chain and project: of the last run in that project that concluded, and none while one of
 * them is at work. Projects that share a chain's first agent may go on with it in different ways.
 */
const isResult = (r: string) => `${r}.outcome IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM runs l JOIN run_projects lp ON lp.run_id = l.id AND lp.project = p.project
  WHERE l.root_run_id = ${r}.root_run_id AND l.practice = ${r}.practice
    AND (l.state IN ('queued', 'running', 'parked') OR (l.seq > ${r}.seq AND l.outcome IS NOT NULL)))`
const IS_RESULT = isResult('r')
/** Another of the same incident and project, among those that are asked for. @param more what else holds of it */
const noOther = (more: string) => `NOT EXISTS (
  SELECT 1 FROM runs o JOIN run_projects op ON op.run_id = o.id AND op.project = p.project
  WHERE o.incident = r.incident AND o.practice = r.practice AND o.id <> r.id
    AND (@agent IS NULL OR o.agent = @agent) AND (@entity IS NULL OR o.entity = @entity) AND ${more})`

const NEWER = "(o.outcome = 'finding', o.finished_at, o.seq) > (r.outcome = 'finding', r.finished_at, r.seq)"
/** Results of a project that ended at or after an instant, practice left out. */
const SINCE = `WHERE p.project = @project AND r.finished_at >= @at AND r.practice = 0 AND ${IS_RESULT}`

/** The statements of findings, prepared once. */
export function findingQueries(db: Database) {
  const insert = db.prepare<
    Omit<ExternalFinding, 'claims'> & {
      snapshot: string
      claims: string | null
      verified_ok: number | null
      verified_total: number | null
    }
  >(
    `INSERT INTO runs (id, seq, agent, definition, definition_hash, woken_by, label, entity, root_run_id, depth,
       incident, practice, made_at, as_of, started_at, finished_at, outcome, verdict, headline, next_step, note, event_id,
       claims, verified_ok, verified_total, snapshot)
     VALUES (@run_id, (SELECT coalesce(max(seq), 0) + 1 FROM runs), @agent, '{}', '', 'external', @label, @entity,
       @run_id, 0, @run_id, @practice, @at, @at, @at, @at, 'finding', @verdict, @headline, @next_step, @finding, @event_id,
       @claims, @verified_ok, @verified_total, @snapshot)`,
  )
  const addProject = db.prepare<[string, string]>('INSERT INTO run_projects (run_id, project) VALUES (?, ?)')
  const byRun = db.prepare<[string, string], ResultRow>(
    `SELECT ${COLUMNS}, ${chainOf()} ${FROM} WHERE p.project = ? AND r.id = ? AND r.outcome IS NOT NULL`,
  )
  const projectsOf = db.prepare<[string], string>('SELECT project FROM run_projects WHERE run_id = ?').pluck()
  const NEWEST = 'ORDER BY r.finished_at DESC, r.id DESC LIMIT @limit'
  const findings = (more: string) =>
    db.prepare<FindingFilter, FindingRow>(
      `SELECT ${COLUMNS} ${OF_PROJECT} AND ${NARROWED} AND r.outcome = 'finding' AND r.practice = 0 ${more} ${NEWEST}`,
    )
  const results = <F extends object = FindingFilter>(more: string, of = OF_PROJECT) =>
    db.prepare<F & { findings: 0 | 1 }, ResultRow & { project: string }>(
      `SELECT ${COLUMNS}, ${chainOf()}, p.project ${of} AND ${NARROWED}
         AND (@findings = 0 OR r.outcome = 'finding') ${more} ${NEWEST}`,
    )
  const eachFinding = findings('')
  const grownFindings = findings(
    `AND ${noOther("o.outcome = 'finding' AND (o.finished_at, o.seq) > (r.finished_at, r.seq)")}`,
  )
  const chain = `AND ${IS_RESULT}`
  const incident = `${chain} AND ${noOther(`${NEWER} AND ${isResult('o')}`)}`
  const run = `AND r.practice = 0 AND ${noOther(`${NEWER} AND o.outcome IS NOT NULL`)}`
  const eachResult = results(chain)
  const grownResults = results(incident)
  const ofProjects = {
    chain: results<FindingsFilter>(chain, OF_PROJECTS),
    incident: results<FindingsFilter>(incident, OF_PROJECTS),
    run: results<FindingsFilter>(run, OF_PROJECTS),
  }
  const claims = db.prepare<[string], string | null>('SELECT claims FROM runs WHERE id = ?').pluck()
  const incidents = incidentQueries(db)
  const handle = db.prepare(
    `UPDATE runs SET handled_at = ?, handled_by = ? WHERE id = ? AND outcome IS NOT NULL
       AND EXISTS (SELECT 1 FROM run_projects p WHERE p.run_id = runs.id AND p.project = ?)`,
  )
  const setMark = db.prepare<MarkRow & { project: string; run: string }>(
    `UPDATE runs SET mark = @mark, mark_note = @mark_note, mark_cause = @mark_cause, marked_at = @marked_at,
       marked_by = @marked_by
     WHERE id = @run AND EXISTS (SELECT 1 FROM run_projects p WHERE p.run_id = runs.id AND p.project = @project)`,
  )
  return {
    setMark: (project: string, run: string, mark: MarkRow) => void setMark.run({ ...mark, project, run }),
    insert: ({ claims, ...finding }: ExternalFinding) => {
      const begun = JSON.parse(firstSnapshot('run')) as Record<string, unknown>
      // It comes from elsewhere, ended.
      const snapshot = JSON.stringify({ ...begun, value: 'succeeded', status: 'done' })
      insert.run({
        ...finding,
        snapshot,
        claims: claims.length ? JSON.stringify(claims) : null,
        verified_ok: claims.length ? claims.filter(({ ok }) => ok).length : null,
        verified_total: claims.length || null,
      })
      addProject.run(finding.run_id, finding.project)
    },
    byRun: (project: string, runId: string) => byRun.get(project, runId),
    /** Ids of the projects that a run was made in, deleted ones too. */
    projectsOf: (runId: string) => projectsOf.all(runId),
    claimsOf: (runId: string) => storedClaims(claims.get(runId) ?? null),
    /** @param isGrown one of each incident, the newest; else each */
    findings: (filter: FindingFilter, isGrown: boolean) =>
      (isGrown ? grownFindings : eachFinding).all(filter),
    results: (filter: FindingFilter, onlyFindings: boolean, isGrown: boolean) =>
      (isGrown ? grownResults : eachResult).all({ ...filter, findings: onlyFindings ? 1 : 0 }),
    /** A run in several of the projects is a row of each. @param by run: of each incident the newest run that concluded */
    ofProjects: (filter: FindingsFilter, onlyFindings: boolean, by: 'chain' | 'incident' | 'run') =>
      ofProjects[by].all({ ...filter, findings: onlyFindings ? 1 : 0 }),
    /** What was found of its incident in a project; null: nothing was, or it is practice. */
    incident: ({ incident, practice }: FindingRow, project: string) =>
      practice ? null : incidents.of(incident, [project]),
    since: totals(db),
    /** @returns whether there is such a result. */
    mark: (project: string, runId: string, at: number | null, by: string | null) =>
      handle.run(at, by, runId, project).changes === 1,
  }
}

/** @returns totals of a project's results that ended at or after an instant, practice left out */
function totals(db: Database) {
  const since = db.prepare<{ project: string; at: number }, Pick<ProjectToday, 'found' | 'looked_at'>>(
    `SELECT coalesce(sum(r.outcome = 'finding'), 0) AS found, count(*) AS looked_at ${FROM} ${SINCE}`,
  )
  // Those that people handle: what its runs count as one incident may have opened none.
  const incidentsSince = db
    .prepare<{ project: string; at: number }, number>(
      `SELECT count(DISTINCT ir.incident_id) ${FROM} JOIN incident_runs ir ON ir.run_id = r.id
       ${SINCE} AND r.outcome = 'finding'`,
    )
    .pluck()
  const ended = db.prepare<[string, number], Pick<ProjectToday, 'runs' | 'spent_usd'>>(
    `SELECT count(*) AS runs, ${dollarsSql('coalesce(sum(r.cost_usd), 0)')} AS spent_usd
     ${FROM} WHERE p.project = ? AND r.finished_at >= ? AND r.practice = 0`,
  )
  return (project: string, at: number) => ({
    ...since.get({ project, at })!,
    incidents: incidentsSince.get({ project, at })!,
    ...ended.get(project, at)!,
  })
}

function chainOf(): string {
  const chain = `FROM runs c JOIN run_projects cp ON cp.run_id = c.id AND cp.project = p.project
    WHERE c.root_run_id = r.root_run_id AND c.seq <= r.seq AND c.practice = r.practice`
  return `${agentsOfChain('JOIN run_projects cp ON cp.run_id = up.id AND cp.project = p.project')} AS chain,
    (SELECT ${dollarsSql('coalesce(sum(c.cost_usd), 0)')} ${chain}) AS cost_usd,
    (SELECT coalesce(sum(c.uncosted_calls), 0) + (sum(c.rounds) = 0) ${chain}) AS uncosted,
    (SELECT max(c.finished_at) - min(c.started_at) ${chain}) AS duration_ms`
}

/* Whether a finding is right, as a person or a key marks it once it is known. */

interface MarksParts {
  clock: Clock
  queries: Pick<FindingQueries, 'byRun' | 'setMark'>
  /** Those of the ids that exist. @param project only what it reads; null: everything */
  events(ids: readonly string[], project: string | null): readonly unknown[]
}

/** @returns null where nobody marked it */
export function presentMark({
  mark,
  mark_note,
  mark_cause,
  marked_at,
  marked_by,
}: MarkRow): FindingMark | null {
  if (mark === null || marked_at === null) return null
  return {
    ...{ mark, note: mark_note, cause: mark_cause },
    ...{ at: new Date(marked_at).toISOString(), by: marked_by ?? '' },
  }
}

/**
 * Marks a result as right, wrong or partly right, or takes its mark away; call inside a transaction.
 * @param by name of who marks it
 * @param own the marker reads what the project reads, and nothing else
 * @throws SvcError not_found where the project has no such result; invalid where the true cause is no event that the
 *   marker may read, and where a note or a cause comes without a mark
 */
export function markFinding(
  { clock, queries, events }: MarksParts,
  project: string,
  runId: string,
  { mark, note, cause }: MarkWrite,
  { by, own }: { by: string; own: boolean },
): ResultMarked {
  const row = queries.byRun(project, runId) ?? fail('not_found', `this project has no result ${runId}`)
  if (mark === null && (note !== undefined || cause !== undefined))
    fail('invalid', 'note and cause belong to a mark: mark must be right, wrong or partly', { field: 'mark' })
  if (cause !== undefined && events([cause], own ? project : null).length === 0)
    fail('invalid', `cause: ${cause} is no event that you may read`, { field: 'cause' })
  const marked: MarkRow =
    mark === null
      ? { mark, mark_note: null, mark_cause: null, marked_at: null, marked_by: null }
      : { mark, mark_note: note ?? null, mark_cause: cause ?? null, marked_at: clock.now(), marked_by: by }
  queries.setMark(project, runId, marked)
  return { ok: true, id: runId, mark: presentMark(marked), before: presentMark(row) }
}

/** A mark in words, for the log of the project. */
export function markWords({ id, mark }: ResultMarked): string {
  if (mark === null) return `took the mark of finding ${id} away`
  const how = mark.mark === 'partly' ? 'partly right' : mark.mark
  return `marked finding ${id} as ${how}${mark.cause === null ? '' : `: the cause was ${mark.cause}`}`
}

/*
 * Findings of one incident as one that grows: a projection of the rows of its runs, each of which stays a
 * finding of its own, with its event. Which runs are of one is runs/making.ts.
 */

const NOTES_MAX = 50

interface NoteRow {
  run_id: string
  event_id: string | null
  at: number
  agent: string
  entity: string
  verdict: string | null
  headline: string | null
  note: string | null
}

interface Counted {
  runs: number
  findings: number
  first: number
  last: number
  looked: number
}

/** @param projects those whose runs are told of, as a JSON list; null: all. @param before epoch ms; null: until now */
type Of = { incident: string | number; projects: string | null; before: number | null }

/** Runs that one trigger woke for one entity, while that was not quiet. */
const OF_RUNS = 'runs r WHERE r.incident = @incident'
/** Runs of an incident that people handle, and that may have been quiet in between. */
const OF_HANDLED = 'incident_runs ir JOIN runs r ON r.id = ir.run_id WHERE ir.incident_id = @incident'

/** The statements of a connection, prepared once. @returns what reads an incident as it grew, by its first chain of runs */
export const incidentQueries = (db: Database) => grownQueries<string>(db, OF_RUNS)

/** The same of the incidents that people handle, by their number. */
export const handledIncidentQueries = (db: Database) => grownQueries<number>(db, OF_HANDLED)

function grownQueries<Id extends string | number>(db: Database, of: string) {
  const OF = `FROM ${of} AND r.practice = 0 AND (@before IS NULL OR r.finished_at < @before)
    AND (@projects IS NULL OR EXISTS (SELECT 1 FROM run_projects p WHERE p.run_id = r.id
      AND p.project IN (SELECT value FROM json_each(@projects))))`
  const counted = db.prepare<Of, Counted>(
    `SELECT count(*) AS runs, coalesce(sum(r.outcome = 'finding'), 0) AS findings,
       min(CASE WHEN r.outcome = 'finding' THEN r.finished_at END) AS first,
       max(CASE WHEN r.outcome = 'finding' THEN r.finished_at END) AS last, max(r.finished_at) AS looked
     ${OF} AND r.outcome IS NOT NULL`,
  )
  const verdicts = db
    .prepare<Of, string>(
      // Of chains: what an agent hands over with is no cause.
      `SELECT r.verdict ${OF} AND r.outcome = 'finding' AND r.verdict IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM runs l WHERE l.root_run_id = r.root_run_id AND l.seq > r.seq
           AND l.outcome = 'finding' AND l.practice = 0 AND (@before IS NULL OR l.finished_at < @before))
       GROUP BY r.verdict ORDER BY min(r.finished_at), min(r.seq)`,
    )
    .pluck()
  const notes = db.prepare<Of, NoteRow>(
    `SELECT r.id AS run_id, r.event_id, r.finished_at AS at, r.agent, r.entity, r.verdict, r.headline, r.note
     ${OF} AND r.outcome = 'finding' ORDER BY r.finished_at DESC, r.seq DESC LIMIT ${NOTES_MAX}`,
  )
  return {
    /**
     * @param projects null: of all
     * @param before as it was then, epoch ms; null: as it is
     * @returns null: nothing was found of it
     */
    of: (
      incident: Id,
      projects: readonly string[] | null,
      before: number | null = null,
    ): (Omit<FindingIncident, 'id'> & { id: Id }) | null => {
      const of: Of = { incident, projects: projects && JSON.stringify(projects), before }
      const { runs, findings, first, last, looked } = counted.get(of)!
      if (findings === 0) return null
      return {
        id: incident,
        first_seen: iso(first),
        updated: iso(last),
        looked_at: iso(looked),
        runs,
        findings,
        verdicts: verdicts.all(of),
        notes: notes.all(of).map(({ at, headline, note, ...row }) => ({
          ...row,
          at: iso(at),
          headline: headline?.trim() || headlineOf(note ?? ''),
        })),
      }
    },
  }
}

/** Fractions are compared as people write them. */
const TOLERANCE = 1e-9

/**
 * Events that a writer of claims was shown, each with what it stood for wherever it was shown, and with numbers that lines
 * told of it: svc has worked them out of events, of which it is one.
 */
export type ShownEvents = ReadonlyMap<string, { counts: ReadonlySet<number>; numbers: readonly number[] }>

/**
 * @param events with payloads, by id; what is missing does not exist.
 * @param read the events that its writer was shown: repeats are folded.
 */
export function checkClaims(
  claims: readonly Claim[],
  events: ReadonlyMap<string, Row>,
  read: ShownEvents,
): CheckedClaim[] {
  return claims.map((claim, i) => {
    const { why, unproved } = judge(claim, events, read)
    const { text, events: ids, quote = null, number = null, count = null, was = null, now = null } = claim
    return {
      ...{ text, role: claim.role ?? roleOf(i), events: ids, quote, number, count, was, now },
      ...{ ok: why === null, unproved, why },
    }
  })
}

const NO_PROOF =
  'unproved: it has no quote, number, count or comparison that could be held against its events'
/** What an agent concluded, or kept, says what it thought, and not what happened. */
const SAID_BY_AGENTS: ReadonlySet<Row['source_type']> = new Set(['finding', 'agent_memory'])
const NO_EVIDENCE =
  'unproved: it rests on findings and memories alone, which say what an agent thought; cite the events that they rest on'

/** What the first claim says is the cause, unless it says otherwise. */
const roleOf = (i: number): CheckedClaim['role'] => (i === 0 ? 'cause' : 'context')

const isProof = ({ quote, number, count, was, now }: Claim): boolean =>
  (quote !== undefined && folded(quote) !== '') ||
  number !== undefined ||
  count !== undefined ||
  (was !== undefined && now !== undefined)

/** @returns why it does not hold; null: it does */
function judge(
  claim: Claim,
  events: ReadonlyMap<string, Row>,
  read: ShownEvents,
): { why: string | null; unproved: boolean } {
  const { events: ids } = claim
  const missing = ids.find((id) => !events.has(id))
  if (missing !== undefined) return { why: `${missing} is no event`, unproved: false }
  const unread = ids.find((id) => !read.has(id))
  if (unread !== undefined) return { why: `${unread} was not read in this run`, unproved: false }
  const evidence = ids.filter((id) => !SAID_BY_AGENTS.has(events.get(id)!.source_type))
  if (evidence.length === 0) return { why: NO_EVIDENCE, unproved: true }
  const fault = faultOf(
    claim,
    evidence.map((id) => events.get(id)!),
    read,
  )
  if (fault !== null) return { why: fault, unproved: false }
  return isProof(claim) ? { why: null, unproved: false } : { why: NO_PROOF, unproved: true }
}

/** @param cited those of its events that are evidence */
function faultOf(claim: Claim, cited: readonly Row[], read: ShownEvents): string | null {
  const { quote, number, count } = claim
  if (quote && folded(quote) !== '' && !cited.some((row) => holdsQuote(row, quote)))
    return `none of its events has the words "${quote}"`
  if (number !== undefined && !cited.some((row) => holdsNumber(row, number, read)))
    return `none of its events has the number ${number}`
  if (count !== undefined) {
    const fault = countFault(
      cited.map(({ id }) => id),
      count,
      read,
    )
    if (fault) return fault
  }
  return comparisonFault(claim, cited, read)
}

/** How many events they are: those cited, or those that the lines they were shown on stood for. */
function countFault(ids: readonly string[], count: number, read: ShownEvents): string | null {
  const lines = [...new Set(ids)].map((id) => standsFor(read.get(id)!.counts))
  if (count === lines.length) return null
  let sums = new Set([0])
  for (const counts of lines)
    sums = new Set([...sums].flatMap((sum) => counts.map((more) => sum + more).filter((all) => all <= count)))
  if (count > lines.length && sums.has(count)) return null
  const most = lines.reduce((all, counts) => all + Math.max(...counts), 0)
  return `they are ${countWords(Math.max(lines.length, most), 'event')}, not ${count}`
}

/**
 * What one event may count as. The first event of a line stands for none, because the last one stands for all of
 * the line: that it was looked at by itself as well makes them no more.
 */
const standsFor = (counts: ReadonlySet<number>): number[] =>
  [...counts].filter((count) => count !== 1 || !counts.has(0))

/** What a number was, and is now, stand in two events. */
function comparisonFault({ was, now }: Claim, cited: readonly Row[], read: ShownEvents): string | null {
  if (was === undefined && now === undefined) return null
  if (was === undefined || now === undefined) return 'a comparison needs both was and now'
  const before = cited.filter((row) => holdsNumber(row, was, read))
  const after = cited.filter((row) => holdsNumber(row, now, read))
  if (before.length === 0) return `none of its events has the number ${was}`
  if (after.length === 0) return `none of its events has the number ${now}`
  const isOne = before.length === 1 && after.length === 1 && before[0]!.id === after[0]!.id
  return isOne ? `${was} and ${now} stand in one event: cite one that was usual and one that is not` : null
}

/** Case and white space differ between a log and who quotes it; words do not. */
function holdsQuote(row: Row, quote: string): boolean {
  const wanted = folded(quote)
  return wanted !== '' && [row.text, row.raw ?? ''].some((text) => folded(text).includes(wanted))
}

function holdsNumber(row: Row, wanted: number, read: ShownEvents): boolean {
  const near = (value: number) => Math.abs(value - wanted) <= TOLERANCE * Math.max(1, Math.abs(wanted))
  const labels = Object.values(row.labels).flatMap((value) =>
    typeof value === 'number' ? [value] : numbersIn(value),
  )
  const told = read.get(row.id)?.numbers ?? []
  return [...told, ...labels, ...numbersIn(row.text), ...numbersInPayload(row.raw ?? '')].some(near)
}

const folded = (text: string): string => text.toLowerCase().replace(/\s+/g, ' ').trim()

/** Claims as they were stored, those of older releases too. @param json null: none */
export function storedClaims(json: string | null): CheckedClaim[] {
  if (json === null) return []
  return (JSON.parse(json) as Partial<CheckedClaim>[]).map(
    (claim, i) =>
      ({
        ...{ role: roleOf(i), count: null, was: null, now: null, unproved: false },
        ...claim,
      }) as CheckedClaim,
  )
}

/*
 * Numbers as an event has them written. A number counts where it stands by itself: `1,200` is 1200 and `48ms` is
 * 48, but the 7 of `ORD-7`, of `evt_7` and of `/orders/7` is a name, the 12 of `12:00:07` is a time, and the 2 of
 * `v2.15.1` a version. In a payload each value is looked at, and the keys are not.
 */

/** Times, dates, addresses, versions and the ids that have dashes: no number of theirs counts. */
const NO_NUMBERS =
  /\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?|\b\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\b|\b\d+(?:\.\d+){2,}\b|\b[0-9a-f]{8}(?:-?[0-9a-f]{4,})+\b/gi
/** One with thousands in groups of three, or plain; then a unit, or nothing. */
const NUMBER =
  /(?<![\w#.,]|\w[-/]|\/)-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[+-]?\d+)?(?=(?:[a-zµ%]{1,4})?(?![\w]|-\w|[.,]\d|\/[a-z]))/gi
/** Deeper payloads are looked at as text. */
const DEPTH_MAX = 64

/** @returns the numbers of a text, each as its value */
export function numbersIn(text: string): number[] {
  const folded = text.replace(NO_NUMBERS, ' ; ')
  return (folded.match(NUMBER) ?? []).map((word) => Number(word.replaceAll(',', '')))
}

/** @param raw a payload as it was received. @returns its numbers: values that are, and those written in texts */
export function numbersInPayload(raw: string): number[] {
  let value: unknown
  try {
    value = JSON.parse(raw)
  } catch {
    // It need not be JSON.
    return numbersIn(raw)
  }
  const found: number[] = []
  collect(value, found, 0)
  return found
}

function collect(value: unknown, found: number[], depth: number): void {
  if (typeof value === 'number') found.push(value)
  else if (typeof value === 'string') found.push(...numbersIn(value))
  else if (typeof value === 'object' && value !== null && depth < DEPTH_MAX)
    for (const one of Object.values(value)) collect(one, found, depth + 1)
}
