/**
 * Findings of a project: recorded by an outside agent with a project key, listed as results, marked
 * as handled (SPEC.md, Finding; Projects: results). Each is an event on its entity's timeline, and
 * is stored with it in one transaction.
 */
import { randomBytes } from 'node:crypto'
import { headlineOf, textOfMarkdown } from '../../schemas/plain-text.ts'
import type {
  AllFindingsResult,
  CheckedClaim,
  Finding,
  FindingCreate,
  FindingCreated,
  FindingIncident,
  FindingsResult,
  FoundFinding,
  InspectedEvent,
  Label,
  ProjectResult,
  ProjectResultDetail,
  ProjectToday,
  ResultsResult,
} from '../../schemas/types.ts'
import type { Row } from '../calls.ts'
import type { Clock } from '../clock.ts'
import { fail } from '../errors.ts'
import type { Ending, Fetcher } from '../outbox/fetching.ts'
import type { FindingItem } from '../sources/connectors/written.ts'
import {
  checkClaims,
  type FindingQueries,
  type FindingRow,
  type MarkFilter,
  presentMark,
  type ResultRow,
  type ShownEvents,
} from './finding-queries.ts'

const FINDING_MAX_BYTES = 65_536
const SUMMARY_MAX = 400
const RESERVED_VERDICT = 'no_op'

export interface FindingsParts {
  clock: Clock
  queries: FindingQueries
  /** Whether an agent of the service has that name. */
  isAgent(name: string): boolean
  /** @throws SvcError not_found where no agent has or had that name */
  requireKnownAgent(name: string): void
  /** Primary labels of a project's sources, the first of each. */
  entityLabels(project: string): string[]
  /** Whether any event ever had that label. */
  isKnownLabel(name: string, value: string): boolean
  /** Those of the ids that exist, with payloads. @param project only what it reads; null: everything */
  events(ids: readonly string[], project: string | null): Row[]
  /** Whether a firing is held, and what ends it. */
  ending: Ending
  /**
   * Who hands over on which verdict in a project; none too where a trigger of it watches findings such as this one.
   * `paused`: those that would, were they not paused.
   */
  handoffs(
    project: string,
    finding: { agent: string; verdict: string },
  ): {
    handoffs: readonly { agent: string; verdict: string; to: string }[]
    paused: readonly string[]
  }
  /** Whether a finding of this writer answers a practice firing of the project. */
  answersPractice(project: string, writer: string): boolean
  /** Links it to the incidents it is about, inside its transaction. @returns their ids */
  foundOutside(
    runId: string,
    of: { label: string; value: string; delivery: string | null; project: string | null },
  ): string[]
  /** Notes that it did; inside the transaction of the finding. */
  practiceAnswered(project: string, runId: string): void
  /** Stores the event and calls `alongside` in the same transaction. */
  append(item: FindingItem, alongside: (eventId: string) => void): Promise<void>
}

/**
 * Records the finding of an outside agent, and ends the firing it is about, where it names one.
 * @param writer name its finding carries: that of its key; on an open instance the body may say.
 * @param told what svc's tools told it of the events that its claims cite.
 * @throws SvcError invalid, also where a claim cites what may not be read; conflict when an agent of the service has the writer's name, or the lease of
 * the firing has ended; not_found; forbidden
 */
export async function recordFinding(
  parts: FindingsParts,
  project: string,
  body: FindingCreate,
  writer: string,
  fetcher: Fetcher,
  told: readonly ToldEvent[] = [],
): Promise<FindingCreated> {
  const bytes = Buffer.byteLength(body.finding)
  if (bytes > FINDING_MAX_BYTES)
    fail('invalid', `finding has ${bytes} bytes; at most ${FINDING_MAX_BYTES} are allowed`, {
      field: 'finding',
    })
  if (body.verdict === RESERVED_VERDICT)
    fail('invalid', 'verdict must not be no_op: with nothing to report there is no finding', {
      field: 'verdict',
    })
  if (parts.isAgent(writer))
    fail('conflict', `${writer} is the name of an agent of this service; give the key another name`)
  const run_id = `run_${randomBytes(8).toString('hex')}`
  const label = body.label ?? labelFor(parts, project, body.entity)
  const { entity, finding, verdict, firing } = body
  // Clients fill every field: of a blank one what the note says is shown, as where there is none.
  const headline = body.headline?.trim() || null
  const next_step = body.next_step?.trim() || null
  const cited = checkCited(body, told, (ids) => parts.events(ids, fetcher.own ? project : null))
  const notices = [
    ...unknownEntity(parts, label, entity),
    ...noHandoff(parts, project, verdict, writer),
    ...cited.notices,
  ]
  const end =
    firing &&
    parts.ending(firing.subscription_id, { deliveryId: firing.delivery_id, lease: firing.lease }, fetcher)
  const practice = parts.answersPractice(project, writer)
  let event_id = ''
  let incidents: string[] = []
  await parts.append(
    {
      key: entity,
      label,
      agent: writer,
      finding,
      run_id,
      project,
      ...(verdict ? { verdict } : {}),
      ...(headline ? { headline } : {}),
      ...(next_step ? { next_step } : {}),
    },
    (id) => {
      event_id = id
      parts.queries.insert({
        run_id,
        project,
        agent: writer,
        entity,
        label,
        verdict: verdict ?? null,
        ...{ headline, next_step, finding },
        at: parts.clock.now(),
        event_id: id,
        practice: practice ? 1 : 0,
        claims: cited.claims,
      })
      end?.()
      if (practice) parts.practiceAnswered(project, run_id)
      else
        incidents = parts.foundOutside(run_id, {
          ...{ label, value: entity, delivery: firing?.delivery_id ?? null },
          project: fetcher.own ? project : null,
        })
    },
  )
  return {
    ...{ ok: true as const, run_id, agent: writer, entity, verdict: verdict ?? null, event_id },
    ...{ claims: cited.claims, notices, incidents },
  }
}

/** An entity that was mistyped has a timeline of its own, which nobody reads. */
function unknownEntity(parts: FindingsParts, label: string, entity: string): string[] {
  if (parts.isKnownLabel(label, entity)) return []
  return [`no event has ${label}=${entity}: if that is a mistake, record it again under the right name`]
}

const HANDOFFS_TOLD = 5

/** Whoever gives a verdict by which agents hand over would wait for what never begins. */
function noHandoff(
  parts: FindingsParts,
  project: string,
  verdict: string | undefined,
  writer: string,
): string[] {
  if (!verdict) return []
  const { handoffs, paused } = parts.handoffs(project, { agent: writer, verdict })
  if (handoffs.length === 0) return []
  if (paused[0] !== undefined)
    return [
      `verdict ${verdict} hands over to nobody: the trigger that watches such findings is paused (${paused.join(', ')})`,
    ]
  const told = handoffs.slice(0, HANDOFFS_TOLD).map((one) => `${one.agent} on ${one.verdict} to ${one.to}`)
  const left = handoffs.length - told.length
  const known = `${told.join(', ')}${left ? ` and ${left} more` : ''}`
  return [
    `verdict ${verdict} hands over to nobody: only agents of the project do by themselves (${known}); for yours a trigger over findings does, with the filters agent = ${writer} and verdict = ${verdict}`,
  ]
}

/** The label the entity is known by: among those of the project's sources, else the first of them. */
export function labelFor(parts: FindingsParts, project: string, entity: string): string {
  const labels = parts.entityLabels(project)
  return labels.find((label) => parts.isKnownLabel(label, entity)) ?? labels[0] ?? 'key'
}

/** What is asked of findings: each, or the newest of each incident, which stands for what it grew to. */
export interface FindingsAsked {
  entity?: string | undefined
  agent?: string | undefined
  by?: 'incident' | 'finding' | undefined
  limit: number
}

/** Newest first. */
export function listFindings(
  { queries }: FindingsParts,
  project: string,
  { entity, agent, by = 'incident', limit }: FindingsAsked,
): FindingsResult {
  const filter = {
    project,
    agent: agent ?? null,
    entity: entity ?? null,
    mark: null,
    before_at: null,
    before_id: null,
    limit,
  }
  const rows = queries.findings(filter, by === 'incident')
  return { findings: rows.map((row) => presentFinding(row, queries.incident(row, project))) }
}

/** What is asked of results: each chain, or the last of each incident, a finding before nothing found. */
export interface ResultsAsked {
  show?: string | undefined
  by?: 'chain' | 'incident' | undefined
  mark?: MarkFilter | undefined
  before?: string | undefined
  limit: number
}

/**
 * One result per chain of runs, newest first; or one per incident.
 * @param show findings or agent:<name>; absent: all.
 * @param mark only results that are marked so; any: marked at all; none: not marked
 * @param before as next_before of the page before.
 * @throws SvcError invalid; not_found for an agent that never was
 */
export function listResults(
  parts: FindingsParts,
  project: string,
  { show, mark, by = 'chain', before, limit }: ResultsAsked,
): ResultsResult {
  const agent = readShow(show)
  const at = before === undefined ? null : readCursor(before)
  const filter = {
    project,
    agent,
    entity: null,
    mark: mark ?? null,
    before_at: at?.at ?? null,
    before_id: at?.id ?? null,
    limit: limit + 1,
  }
  const rows = parts.queries.results(filter, show === 'findings', by === 'incident')
  if (rows.length === 0 && agent !== null) parts.requireKnownAgent(agent)
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    results: shown.map((row) => presentResult(row, parts.queries.incident(row, project))),
    next_before: rows.length > limit && last ? `${last.at}.${last.run_id}` : null,
    today: todayOf(parts, project),
  }
}

/** What is asked of all projects. */
export interface AllFindingsAsked {
  agent?: string | undefined
  entity?: string | undefined
  mark?: MarkFilter | undefined
  show?: 'findings' | 'all' | undefined
  /** run: the newest run of each incident that concluded, of chains at work and of agents that handed over, too. */
  by?: 'chain' | 'incident' | 'run' | undefined
  /** Epoch ms. */
  since?: number | undefined
  before?: string | undefined
  limit: number
}

/** The project that something was found in, as it is told beside it. */
export type FoundIn = FoundFinding['project']

/** One of several projects, with its whole note, which a page of them leaves out. */
export type FoundInProject = AllFindingsResult['findings'][number] & { note: string }

/**
 * What agents found in several projects, newest first; a run that is of several is told once, of one that is there.
 * @param projects by id
 * @throws SvcError invalid
 */
export function listAllFindings(
  { queries }: FindingsParts,
  projects: ReadonlyMap<string, FoundIn>,
  { agent, entity, mark, show = 'findings', by = 'incident', since = 0, before, limit }: AllFindingsAsked,
): { findings: FoundInProject[]; next_before: string | null } {
  const found = new Map<string, ResultRow & { project: string }>()
  let at = before === undefined ? null : readCursor(before)
  for (let isMore = true; isMore && found.size <= limit; ) {
    const rows = queries.ofProjects(
      {
        ...{ agent: agent ?? null, entity: entity ?? null, mark: mark ?? null, limit: limit + 1 },
        ...{
          projects: JSON.stringify([...projects.keys()]),
          since,
          until: at?.at ?? Number.MAX_SAFE_INTEGER,
        },
        ...{ before_at: at?.at ?? null, before_id: at?.id ?? null },
      },
      show === 'findings',
      by,
    )
    for (const row of rows) {
      const known = found.get(row.run_id)
      if (!known || projects.get(known.project)!.deleted) found.set(row.run_id, row)
    }
    const last = rows.at(-1)
    if (last) at = { at: last.at, id: last.run_id }
    isMore = rows.length > limit
  }
  const shown = [...found.values()].slice(0, limit)
  const last = shown.at(-1)
  return {
    findings: shown.map((row) => ({
      project: projects.get(row.project)!,
      result: presentResult(row, queries.incident(row, row.project)),
      ...{ agent: row.agent, trigger: row.trigger_name, note: row.finding ?? '' },
    })),
    next_before: found.size > limit && last ? `${last.at}.${last.run_id}` : null,
  }
}

/** Totals since 00:00 UTC. */
export function todayOf({ clock, queries }: FindingsParts, project: string): ProjectToday {
  const midnight = new Date(clock.now()).setUTCHours(0, 0, 0, 0)
  return queries.since(project, midnight)
}

/** Marks a result as handled, or no longer. @throws SvcError not_found */
export function markHandled(
  { clock, queries }: FindingsParts,
  project: string,
  runId: string,
  handled: boolean,
  by: string,
): { ok: true; id: string; handled: { at: string; by: string } | null } {
  const at = clock.now()
  if (!queries.mark(project, runId, handled ? at : null, handled ? by : null))
    fail('not_found', `this project has no result ${runId}`)
  return { ok: true, id: runId, handled: handled ? { at: new Date(at).toISOString(), by } : null }
}

/** One result with its whole note. @throws SvcError not_found */
export function getResult({ queries }: FindingsParts, project: string, runId: string): ProjectResultDetail {
  const row = queries.byRun(project, runId) ?? fail('not_found', `this project has no result ${runId}`)
  return {
    ...presentResult(row, queries.incident(row, project)),
    note: row.finding ?? '',
    event_id: row.event_id ?? '',
    checked_claims: queries.claimsOf(runId),
  }
}

/**
 * One result with its whole note, by its id alone; where it is of several projects, of the first.
 * @param projects by id
 * @throws SvcError not_found
 */
export function findFinding(
  parts: FindingsParts,
  projects: ReadonlyMap<string, FoundIn>,
  runId: string,
): FoundFinding {
  const madeIn = new Set(parts.queries.projectsOf(runId))
  for (const [id, project] of projects)
    if (madeIn.has(id) && parts.queries.byRun(id, runId))
      return { project, result: getResult(parts, id, runId) }
  return fail('not_found', `no finding has the id ${runId}`)
}

/** The name of the primary label among a source's labels. */
export function primaryOf(labels: readonly Label[]): string | undefined {
  return labels.find((label) => label.primary)?.name
}

function readShow(show: string | undefined): string | null {
  if (show === undefined || show === '' || show === 'findings') return null
  const agent = /^agent:(.+)$/.exec(show)?.[1]
  return agent ?? fail('invalid', 'show must be findings or agent:<name>', { field: 'show' })
}

function readCursor(before: string): { at: number; id: string } {
  const match = /^(\d{1,16})\.(.{1,80})$/.exec(before)
  return match
    ? { at: Number(match[1]), id: match[2]! }
    : fail('invalid', 'before must be next_before of an earlier answer', { field: 'before' })
}

function presentFinding(row: FindingRow, incident: FindingIncident | null): Finding {
  const { run_id, agent, entity, label, verdict, headline, next_step, finding } = row
  return {
    run_id,
    agent,
    entity,
    label,
    verdict,
    headline,
    next_step,
    finding: finding ?? '',
    at: new Date(row.at).toISOString(),
    trigger: row.trigger_name,
    external: row.external === 1,
    verified: row.verified_total === null ? null : { ok: row.verified_ok!, total: row.verified_total },
    handled: handledOf(row),
    mark: presentMark(row),
    incident,
  }
}

function presentResult(row: ResultRow, incident: FindingIncident | null): ProjectResult {
  const note = row.finding ?? ''
  const isFinding = row.outcome === 'finding'
  return {
    id: row.run_id,
    at: new Date(row.at).toISOString(),
    entity: row.entity,
    label: row.label,
    kind: isFinding ? 'action' : 'no_action',
    headline: row.headline?.trim() || (note ? headlineOf(note) : NOTHING),
    summary: textOfMarkdown(note).slice(0, SUMMARY_MAX),
    next_step: row.next_step?.trim() || nextStepOf(note),
    verdict: row.verdict,
    chain: JSON.parse(row.chain) as string[],
    cost_usd: row.external === 1 || row.uncosted > 0 ? null : row.cost_usd,
    handled: handledOf(row),
    mark: presentMark(row),
    external: row.external === 1,
    practice: row.practice === 1,
    claims: row.verified_total === null ? null : { held: row.verified_ok ?? 0, total: row.verified_total },
    incident,
  }
}

/* What a note says of itself where it has no headline and no next step of its own. */

const NEXT_STEP_MAX = 300

/** Headline of a run that found nothing and says no more. */
export const NOTHING = 'Nothing to report'

export function nextStepOf(note: string): string | null {
  const match = /(?:^|\n)[#*\s-]*next step[s]?\**\s*:\**\s*(.+)/i.exec(note)
  return match ? textOfMarkdown(match[1]!).slice(0, NEXT_STEP_MAX) : null
}

function handledOf(row: FindingRow): Finding['handled'] {
  return row.handled_at === null
    ? null
    : { at: new Date(row.handled_at).toISOString(), by: row.handled_by ?? '' }
}

/* What an outside agent's finding cites, held against the events that its key may read. */

/** Ids in the prose of a finding that are looked up. */
const CITED_MAX = 100
const CITED = /\bevt_\d{1,15}\b/g

interface Cited {
  claims: CheckedClaim[]
  /** Of ids in its prose that are no events. */
  notices: string[]
}

/**
 * @param told what tools told its writer of events; of the others it knows each by itself.
 * @param read gives those of the ids that exist and may be read, with payloads.
 * @throws SvcError invalid where a claim cites an event that does not, naming the claim
 */
function checkCited(
  { claims = [], finding, headline = '' }: Pick<FindingCreate, 'claims' | 'finding' | 'headline'>,
  told: readonly ToldEvent[],
  read: (ids: readonly string[]) => Row[],
): Cited {
  const inClaims = claims.flatMap(({ events }) => events)
  const inText = [...new Set(`${headline} ${finding}`.match(CITED) ?? [])].slice(0, CITED_MAX)
  if (inClaims.length + inText.length === 0) return { claims: [], notices: [] }
  const events = new Map(read([...new Set([...inClaims, ...inText])]).map((row) => [row.id, row]))
  for (const [i, claim] of claims.entries()) {
    const missing = claim.events.find((id) => !events.has(id))
    if (missing !== undefined)
      fail('invalid', `claims[${i}].events: ${missing} is no event that may be read here`, {
        field: `claims[${i}].events`,
      })
  }
  const shown: ShownEvents = new Map([
    ...[...events.keys()].map((id) => [id, { counts: new Set([1]), numbers: [] }] as const),
    ...told.map(
      ({ id, counts, numbers = [] }) => [id, { counts: new Set([1, ...counts]), numbers }] as const,
    ),
  ])
  const missing = inText.filter((id) => !events.has(id))
  return {
    claims: checkClaims(claims, events, shown),
    notices: missing.length ? [`no event that may be read here: ${missing.join(', ')}`] : [],
  }
}

/* What tools told a caller from outside of events: it may cite numbers that stand in none of them. */

/** Of one event: as how many it counted on lines that named it, and the numbers that they told of it. */
export interface ToldEvent {
  id: string
  counts: readonly number[]
  numbers?: readonly number[]
}

/** Callers remembered, events of each and numbers of one; the oldest go first. All full, they take some 100 MB. */
const TOLD_MAX = { callers: 100, events: 2_000, numbers: 50 }

/**
 * Remembers, in memory, which counts and numbers svc's tools told each caller. After a restart a caller must call the tool
 * again before it cites such a number.
 * @example told.keep('key_1', [{ id: 'evt_7', count: 12, numbers: [41.3] }])
 */
export class ToldEvents {
  private readonly byCaller = new Map<string, Map<string, { counts: Set<number>; numbers: number[] }>>()

  /** @param caller id of its credential */
  keep(caller: string, events: readonly InspectedEvent[]): void {
    const known = this.byCaller.get(caller) ?? new Map<string, { counts: Set<number>; numbers: number[] }>()
    this.byCaller.delete(caller)
    this.byCaller.set(caller, known)
    for (const { id, count, numbers = [] } of events) {
      // That there is one of it is known of every event.
      if (count === 1 && numbers.length === 0) continue
      const before = known.get(id)
      known.delete(id)
      known.set(id, {
        counts: new Set(before?.counts).add(count),
        numbers: [...new Set([...(before?.numbers ?? []), ...numbers])].slice(-TOLD_MAX.numbers),
      })
    }
    dropOldest(known, TOLD_MAX.events)
    dropOldest(this.byCaller, TOLD_MAX.callers)
  }

  /** @returns what the caller was told of the events that these claims cite */
  of(caller: string, claims: FindingCreate['claims'] = []): ToldEvent[] {
    const known = this.byCaller.get(caller)
    const cited = new Set(claims.flatMap(({ events }) => events))
    return [...cited].flatMap((id) => {
      const one = known?.get(id)
      return one ? [{ id, counts: [...one.counts], numbers: one.numbers }] : []
    })
  }
}

function dropOldest(map: Map<string, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return
    map.delete(key)
  }
}

const MINUTE_MS = 60_000
/** Two in a second: a loop that went wrong is stopped, a script that hands in a day's findings is not much slowed. */
const FINDINGS_PER_MINUTE = 120

/**
 * How many findings a credential records: each is an event and an incident's note, may be posted to Slack and GitHub, and
 * wakes what goes by findings. The operator's token, and callers without a credential, are not bounded.
 */
export class FindingRate {
  private readonly byCaller = new Map<string, { count: number; since: number }>()

  constructor(private readonly clock: Clock) {}

  /** @param caller id of its credential @throws SvcError too_many */
  admit(caller: string): void {
    if (!/^(key|oauth):/.test(caller)) return
    const now = this.clock.now()
    for (const [one, { since }] of this.byCaller)
      if (now - since >= MINUTE_MS || now < since) this.byCaller.delete(one)
    const entry = this.byCaller.get(caller) ?? { count: 0, since: now }
    if (entry.count >= FINDINGS_PER_MINUTE)
      fail('too_many', `this credential recorded ${FINDINGS_PER_MINUTE} findings within a minute; wait`, {
        retryAfter: Math.ceil((entry.since + MINUTE_MS - now) / 1_000),
      })
    entry.count++
    this.byCaller.set(caller, entry)
  }
}
