/** Runs as they are read, and what runs read: on a connection of its own, which never writes. */
import { ownField } from '../../../schemas/fields-of.ts'
import type {
  AgentForecast,
  Run,
  RunDetail,
  RunHandoff,
  RunStep,
  RunsResult,
} from '../../../schemas/types.ts'
import type { Row } from '../../calls.ts'
import type { Clock } from '../../clock.ts'
import { fail } from '../../errors.ts'
import { cautiousTokens, makeBriefInSteps, renderBrief } from '../../log/brief/brief.ts'
import { entityLinesInSteps } from '../../log/entity-views.ts'
import { acceptedIn } from '../../log/lifecycle.ts'
import { fewAtOnce, inTurns, type Snapshot, type Steps } from '../../log/steps.ts'
import { type ReadContext, requireProject } from '../../log/timeline/context.ts'
import { readDocument, readDocuments } from '../../log/timeline/documents.ts'
import { compilePlan, gapsIn, parseInstant, queryOf } from '../../log/timeline/plan.ts'
import { parseEventId, presentRow } from '../../log/timeline/present.ts'
import { readInSteps } from '../../log/timeline/read.ts'
import { namedCuts, wideContextRows } from '../../log/timeline/rows.ts'
import { statsInSteps } from '../../log/timeline/stats.ts'
import { setFacts } from '../../log/timeline/traces.ts'
import { DAY_MS, dollars, iso, isoOrNull } from '../../model/units.ts'
import { maskAddresses } from '../../net/address-secrets.ts'
import { type FindingTold, findingsTold } from '../../outbox/rows.ts'
import { incidentQueries, presentMark, storedClaims } from '../finding-queries.ts'
import { inspectInSteps } from '../inspect.ts'
import { fence, renderRow, renderRows } from './prompt.ts'
import {
  type HandoffRow,
  noAgentNamed,
  OPEN_STATES,
  type RunQueries,
  type RunRow,
  requireKnownAgent,
  runQueries,
  type StepRow,
  skillNow,
} from './queries.ts'
import type { BriefAnswer, BriefQuestion, RunPort, Shown } from './types.ts'

/** Words for several statuses at once (SPEC.md, Ingest and reads: successful or failed). */
const STATUSES: Record<string, readonly RunRow['state'][]> = {
  successful: ['succeeded'],
  unsuccessful: ['failed', 'exhausted', 'empty', 'capped', 'cancelled'],
  failed: ['failed', 'exhausted', 'empty'],
  open: OPEN_STATES,
}
const FORECAST_DAYS = 7
/** Looks by tools at the same time, as of wide reads: a long one does not hold up the short ones. */
const LOOKS = 4

interface RunFilter {
  agent?: string | undefined
  project?: string | undefined
  status?: string | undefined
  entity?: string | undefined
  /** Only practice runs, or none of them; absent: both. */
  practice?: boolean | undefined
  outcome?: 'finding' | 'no_op' | undefined
  /** Those that ended then or later: ISO 8601. */
  ended_since?: string | undefined
  limit: number
  offset: number
}

export interface RunReads
  extends Pick<RunPort, 'readFor' | 'briefFor' | 'statsFor' | 'inspectFor' | 'eventsOf' | 'skillOf'> {
  listRuns(filter: RunFilter): Promise<RunsResult>
  getRun(id: string): Promise<RunDetail>
  agentForecast(agent: string): Promise<AgentForecast>
}

export function createRunReads(ctx: ReadContext, clock: Clock, snapshot: Snapshot): RunReads {
  const queries = runQueries(ctx.db)
  const incidents = incidentQueries(ctx.db)
  const told = findingsTold(ctx.db)
  // A storm wakes hundreds of runs at once, and each looks at up to 200,000 rows first.
  const [inOrderOfBriefs, inOrderOfLooks] = [fewAtOnce(1), fewAtOnce(LOOKS)]
  const present = (row: RunRow): Run => presentRun(row, queries.projectsOf.all(row.id), told(row.id))
  return {
    listRuns: (filter) => snapshot(() => listRuns(ctx, filter, present)),
    getRun: (id) =>
      snapshot(() => {
        const run = queries.byId.get(id) ?? fail('not_found', `no run has the id ${id}`)
        const projects = queries.projectsOf.all(id)
        const isAlone = run.practice === 1
        return presentRunDetail(
          queries,
          run,
          told,
          isAlone ? null : incidents.of(run.incident, projects.length ? projects : null),
        )
      }),
    agentForecast: (agent) => snapshot(() => forecast(ctx, agent, clock.now())),
    readFor: (projects, request) =>
      inTurns(
        readInSteps(ctx, { ...request, ...scoped(projects) }, clock.now(), undefined, renderRow),
        snapshot,
      ),
    briefFor: (projects, question) =>
      inOrderOfBriefs(() => inTurns(briefInSteps(ctx, projects, question), snapshot)),
    statsFor: (projects, request, asOf) =>
      inTurns(statsInSteps(ctx, { ...request, ...scoped(projects) }, asOf, asOf), snapshot),
    inspectFor: (projects, question, now) =>
      inOrderOfLooks(() =>
        inTurns(inspectInSteps(ctx, question, { projects, now, isRedacted: true }), snapshot),
      ),
    eventsOf: (ids) => snapshot(() => eventsOf(ctx, ids, clock.now())),
    skillOf: (projects, name) => snapshot(() => skillNow(ctx.db, projects, name)?.body ?? null),
  }
}

const scoped = (projects: readonly string[]) => (projects.length ? { project: projects } : {})

function eventsOf(ctx: ReadContext, ids: readonly string[], now: number): Row[] {
  const numbers = ids.flatMap((id) => parseEventId(id) ?? [])
  const masked = new Set(ctx.names.masked())
  return ctx.rows
    .read(
      [...new Set(numbers)].sort((a, b) => a - b),
      true,
    )
    .filter((stored) => stored && !masked.has(stored.source_id))
    .map((stored) => presentRow(stored, ctx.dictionary, ctx.names, now))
    .concat(documentsOf(ctx, numbers, now))
}

/** Documents have ids of events, and may be cited as such. */
const documentsOf = (ctx: ReadContext, numbers: readonly number[], now: number): Row[] =>
  numbers.flatMap((number) => readDocument(ctx.db, ctx.names, number, now) ?? [])

function listRuns(ctx: ReadContext, filter: RunFilter, present: (row: RunRow) => Run): RunsResult {
  const { status, agent = null, entity = null, limit, offset } = filter
  const states = status === undefined ? null : statesOf(status)
  const project = filter.project === undefined ? null : requireProject(ctx.db, filter.project)
  const where = `FROM runs r WHERE (@agent IS NULL OR r.agent = @agent) AND (@entity IS NULL OR r.entity = @entity)
    AND (@states IS NULL OR r.state IN (SELECT value FROM json_each(@states)))
    AND (@practice IS NULL OR r.practice = @practice) AND (@outcome IS NULL OR r.outcome = @outcome)
    AND (@since IS NULL OR r.finished_at >= @since)
    AND (@project IS NULL OR EXISTS (SELECT 1 FROM run_projects p WHERE p.run_id = r.id AND p.project = @project))`
  const values = {
    agent,
    entity,
    project,
    states: states && JSON.stringify(states),
    practice: filter.practice === undefined ? null : Number(filter.practice),
    outcome: filter.outcome ?? null,
    since: filter.ended_since === undefined ? null : parseInstant(filter.ended_since, 'ended_since'),
  }
  const rows = ctx.db
    .prepare<typeof values & { limit: number; offset: number }, RunRow>(
      `SELECT r.* ${where} ORDER BY r.seq DESC LIMIT @limit OFFSET @offset`,
    )
    .all({ ...values, limit, offset })
  const total = ctx.db.prepare<typeof values, number>(`SELECT count(*) ${where}`).pluck().get(values)!
  if (total === 0 && agent !== null) requireKnownAgent(ctx.db, agent, true)
  return { runs: rows.map(present), total }
}

function statesOf(status: string): readonly string[] {
  const known = [...OPEN_STATES, 'succeeded', 'exhausted', 'failed', 'cancelled', 'capped', 'empty', 'ok']
  const several = ownField(STATUSES, status)
  if (several) return several
  if (status === 'ok') return ['succeeded']
  if (known.includes(status)) return [status]
  return fail('invalid', `status must be one of ${[...Object.keys(STATUSES), ...known].join(', ')}`, {
    field: 'status',
  })
}

function forecast(ctx: ReadContext, agent: string, now: number): AgentForecast {
  const spec = ctx.db
    .prepare<[string], string>("SELECT spec FROM agents WHERE name = ? AND state <> 'deleted'")
    .pluck()
    .get(agent)
  if (spec === undefined) fail('not_found', noAgentNamed(ctx.db, agent))
  const since = now - FORECAST_DAYS * DAY_MS
  const counted = ctx.db
    .prepare<[string, number], { runs: number; priced: number; cost: number; first: number | null }>(
      `SELECT count(*) AS runs, coalesce(sum(rounds > 0 AND uncosted_calls = 0), 0) AS priced,
         coalesce(sum(CASE WHEN uncosted_calls = 0 THEN cost_usd ELSE 0 END), 0) AS cost, min(started_at) AS first
       FROM runs WHERE agent = ? AND started_at > ? AND practice = 0 AND woken_by <> 'external'`,
    )
    .get(agent, since)!
  const spent = runQueries(ctx.db).spentBy.get({ agent })!
  // A young agent is not judged by days it was not there.
  const days = Math.max(1, (now - (counted.first ?? now)) / DAY_MS)
  const { budget_usd = null } = JSON.parse(spec) as { budget_usd?: number | null }
  return presentForecast({ ...counted, days, spent, budget: budget_usd })
}

/*
 * What a run is shown first, with `context: brief`: 36 hours of all that it may read, in few tokens. The same
 * question has the same answer, for as long as the events are there: it looks at what had been ingested by an
 * instant, and at nothing of the present.
 */

const BACK_MS = 36 * 3_600_000
/** Rows that one brief looks at, of each source the newest. */
const BRIEF_ROWS = 200_000
/** Of the budget, for documents of the entity. */
const DOCUMENTS_SHARE = 0.2

/** Some rows at a time. @param projects ids; none: everything. */
export function* briefInSteps(
  ctx: ReadContext,
  projects: readonly string[],
  { label, entity, to, asOf, fired, budget }: BriefQuestion,
  most = BRIEF_ROWS,
): Steps<BriefAnswer> {
  const from = to - BACK_MS
  const scope = projects.length ? { project: projects } : {}
  const plan = compilePlan(scope, ctx.db, ctx.dictionary, ctx.names)
  const query = queryOf(plan, { from, to }, ctx.ceilingAt(asOf))
  const rules = ctx.entities.of(ctx.entities.versionAsOf(asOf))
  const thing = rules.of(label, entity)
  const joinedConstraints = thing ? [{ label, value: entity, thing }] : []
  const documents = fitting(
    readDocuments(ctx.db, ctx.names, { selector: { [label]: entity }, joinedConstraints, ...scope }, asOf),
    DOCUMENTS_SHARE * budget,
  )
  const seen = { rules, ceiling: query.ceiling, projects }
  const told = yield* entityLinesInSteps(ctx, { label, value: entity, to }, seen)
  const { rows, cuts } = yield* wideContextRows(
    ctx,
    query,
    most,
    label,
    thing ? { value: entity, names: thing.names } : undefined,
  )
  yield* setFacts(ctx, rows, to)
  yield
  const lines = [...told, ...(documents.length ? [renderRows(documents)] : [])]
  const above = lines.map((line) => `${line}\n`).join('')
  const brief = yield* makeBriefInSteps({
    rows,
    ...{ entity, label, fired, now: to },
    budget: budget - cautiousTokens(fence('0'.repeat(16), above)),
    cuts: namedCuts(ctx, cuts),
    gaps: gapsIn(ctx, scope, { from, to }, { asOf, ceiling: query.ceiling, rules }),
    known: ctx.wordings,
  })
  const shown = brief.sections.flatMap(({ lines }) => lines.flatMap((line) => line.shown))
  return {
    text: above + renderBrief(brief),
    ...{ from, to },
    shown: [...documents.map(({ id }): Shown[number] => [id, 1]), ...shown],
  }
}

/** Whole documents, as long as they fit. */
function fitting(documents: readonly Row[], budget: number): Row[] {
  const kept: Row[] = []
  let tokens = 0
  for (const row of documents) {
    tokens += cautiousTokens(`${renderRows([row])}\n`)
    if (tokens > budget) break
    kept.push(row)
  }
  return kept
}

/* Runs as they are answered. */

/** @param told how its finding was told */
export function presentRun(row: RunRow, projects: string[], told: FindingTold): Run {
  const { context } = JSON.parse(row.snapshot) as { context: { max_rounds?: number } }
  const isCosted = row.uncosted_calls === 0 && row.rounds > 0
  return {
    id: row.id,
    agent: row.agent,
    status: row.state,
    // What the service does is not for people to ask for.
    accepts: acceptedIn('run', row.state).filter((event) => event === 'cancel'),
    woken_by: row.woken_by,
    trigger: row.trigger_name,
    dispatch_id: row.dispatch_id,
    key: row.entity,
    label: row.label,
    projects,
    parent_run_id: row.parent_run_id,
    root_run_id: row.root_run_id,
    depth: row.depth,
    rerun_of: row.rerun_of,
    practice: row.practice === 1,
    tape: row.tape === 1,
    definition_hash: row.definition_hash,
    wakes: row.wakes,
    made_at: iso(row.made_at),
    as_of: isoOrNull(row.as_of),
    started_at: isoOrNull(row.started_at),
    finished_at: isoOrNull(row.finished_at),
    duration_ms:
      row.finished_at === null || row.started_at === null ? null : row.finished_at - row.started_at,
    rounds: row.rounds,
    max_rounds: context.max_rounds ?? 0,
    tool_calls: row.tool_calls,
    skills: JSON.parse(row.skills) as string[],
    provider: row.provider || null,
    model: row.model,
    input_tokens: row.input_tokens,
    output_tokens: row.output_tokens,
    cache_creation_input_tokens: row.cache_creation_input_tokens,
    cache_read_input_tokens: row.cache_read_input_tokens,
    cost_usd: isCosted ? dollars(row.cost_usd) : null,
    cache_saved_usd: isCosted ? dollars(row.cache_saved_usd) : null,
    fallback_for: row.fallback === null ? null : (JSON.parse(row.fallback) as Run['fallback_for']),
    parked: parkedOf(row),
    cancelled_by: row.cancelled_by,
    outcome: row.outcome,
    verdict: row.verdict,
    headline: row.headline,
    next_step: row.next_step,
    finding: row.note,
    event_id: row.event_id,
    verified: row.verified_total === null ? null : { ok: row.verified_ok ?? 0, total: row.verified_total },
    error: row.error,
    ...told,
    handled: row.handled_at === null ? null : { at: iso(row.handled_at), by: row.handled_by ?? '' },
    mark: presentMark(row),
  }
}

function parkedOf({ state, parked_since, parked_until, parked_why, parked_times }: RunRow): Run['parked'] {
  if (state !== 'parked' || parked_since === null || parked_until === null) return null
  return { reason: parked_why ?? '', since: iso(parked_since), until: iso(parked_until), tries: parked_times }
}

/** @param incident what was found of its incident, with those of other runs */
function presentRunDetail(
  queries: RunQueries,
  row: RunRow,
  told: (run: string) => FindingTold,
  incident: RunDetail['incident'],
): RunDetail {
  const present = (one: RunRow) => presentRun(one, queries.projectsOf.all(one.id), told(one.id))
  return {
    ...present(row),
    claims: storedClaims(row.claims),
    steps: queries.steps.all(row.id).map(presentStep),
    handoffs: queries.handoffsFrom.all(row.id).map(presentHandoff),
    chain: queries.chain
      .all(row.root_run_id, Number.MAX_SAFE_INTEGER)
      .filter((one) => one.practice === row.practice)
      .map(present),
    servers: JSON.parse(row.servers) as RunDetail['servers'],
    definition: shownDefinition(row),
    incident,
  }
}

/** Runs of older releases have the address of the receiver as it was entered. */
function shownDefinition(row: RunRow): Record<string, unknown> {
  const { webhook_url: url, ...definition } = JSON.parse(row.definition) as Record<string, unknown>
  return url === undefined ? definition : { ...definition, webhook_url: maskAddresses(url) }
}

function presentStep({ n, kind, round, at, ms, data }: StepRow): RunStep {
  return { n, kind: kind as RunStep['kind'], round, at: iso(at), ms, data: shown(JSON.parse(data)) }
}

/** A provider's own blocks are kept to be replayed, and say nothing more; of images the text names each. */
function shown(given: Record<string, unknown>): Record<string, unknown> {
  const { images: _images, ...data } = given
  const reply = data.reply as Record<string, unknown> | undefined
  if (!reply) return data
  const { raw: _raw, ...rest } = reply
  return { ...data, reply: rest }
}

function presentHandoff({ to_agent, verdict, state, to_run, at }: HandoffRow): RunHandoff {
  return { to_agent, verdict, state, to_run, at: iso(at) }
}

interface Spend {
  runs: number
  priced: number
  cost: number
  /** Days the runs are counted over. */
  days: number
  /** Lifetime, what is reserved included. */
  spent: number
  budget: number | null
}

function presentForecast({ runs, priced, cost, days, spent, budget }: Spend): AgentForecast {
  const perDay = runs / days
  const perRun = priced > 0 ? dollars(cost / priced) : null
  const daily = perRun === null ? null : dollars(perRun * perDay)
  return {
    runs_per_day: perDay,
    cost_per_run_usd: perRun,
    per_day_usd: daily,
    per_month_usd: daily === null ? null : dollars(daily * 30),
    spent_usd: dollars(spent),
    budget_usd: budget,
    days_left: budget === null || !daily ? null : Math.max(0, (budget - spent) / daily),
  }
}
