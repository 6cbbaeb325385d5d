/** Runs as they are read, and what runs read: on a connection of its own, which never writes. */
import type {
  AgentForecast,
  InspectResult,
  ReadRequest,
  Run,
  RunDetail,
  RunsResult,
  StatsRequest,
  StatsResult,
} from '../../schemas/types.ts'
import type { ReadAnswer, Row } from '../calls.ts'
import type { Clock } from '../clock.ts'
import { fail } from '../errors.ts'
import { incidentQueries } from '../findings/incidents.ts'
import { type InspectQuestion, inspectInSteps } from '../inspect/index.ts'
import { findingsTold } from '../outbox/findings.ts'
import type { Snapshot } from '../snapshot.ts'
import type { ReadContext } from '../timeline/context.ts'
import { readDocument } from '../timeline/documents.ts'
import { parseEventId, presentRow } from '../timeline/present.ts'
import { readInSteps } from '../timeline/read.ts'
import { answerStats } from '../timeline/stats.ts'
import { inTurns } from '../timeline/steps.ts'
import { briefInSteps } from './brief-read.ts'
import { renderRow } from './fence.ts'
import { requireKnownAgent } from './known-agent.ts'
import { OPEN_STATES } from './open-states.ts'
import { presentForecast, presentRun, presentRunDetail } from './present.ts'
import { type RunRow, runQueries } from './queries.ts'
import type { BriefAnswer, BriefQuestion } from './types.ts'

/** Words for several statuses at once (SPEC.md, Ingest and reads: successful or failed). */
const STATUSES: Record<string, readonly RunRow['state'][]> = {
  successful: ['succeeded'],
  unsuccessful: ['failed', 'exhausted', 'empty', 'capped', 'cancelled'],
  failed: ['failed', 'exhausted', 'empty'],
  open: OPEN_STATES,
}
const FORECAST_DAYS = 7
const DAY_MS = 86_400_000

export interface RunFilter {
  agent?: string | undefined
  project?: string | undefined
  status?: string | undefined
  entity?: string | undefined
  /** Left out unless asked for. */
  practice?: boolean | undefined
  limit: number
  offset: number
}

export interface RunReads {
  listRuns(filter: RunFilter): Promise<RunsResult>
  getRun(id: string): Promise<RunDetail>
  agentForecast(agent: string): Promise<AgentForecast>
  /** For runs at work, within their projects. */
  readFor(projects: readonly string[], request: Omit<ReadRequest, 'project'>): Promise<ReadAnswer>
  /** What a run is shown first; others have their turn while it is read. */
  briefFor(projects: readonly string[], question: BriefQuestion): Promise<BriefAnswer>
  statsFor(
    projects: readonly string[],
    request: Omit<StatsRequest, 'project'>,
    asOf: number,
  ): Promise<StatsResult>
  /** One of the tools that look, as of `now`; what looks like a secret is taken out. */
  inspectFor(projects: readonly string[], question: InspectQuestion, now: number): Promise<InspectResult>
  eventsOf(ids: readonly string[]): Promise<Row[]>
  skillOf(projects: readonly string[], name: string): Promise<string | null>
}

export function createRunReads(ctx: ReadContext, clock: Clock, snapshot: Snapshot): RunReads {
  const queries = runQueries(ctx.db)
  const incidents = incidentQueries(ctx.db)
  const told = findingsTold(ctx.db)
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
    briefFor: (projects, question) => inTurns(briefInSteps(ctx, projects, question), snapshot),
    statsFor: (projects, request, asOf) =>
      snapshot(() => answerStats(ctx, { ...request, ...scoped(projects) }, asOf, asOf)),
    inspectFor: (projects, question, now) =>
      inTurns(inspectInSteps(ctx, question, { projects, now, isRedacted: true }), snapshot),
    eventsOf: (ids) => snapshot(() => eventsOf(ctx, ids, clock.now())),
    skillOf: (projects, name) =>
      snapshot(
        () =>
          ctx.db
            .prepare<[string, string], string>(
              `SELECT json_extract(s.spec, '$.body') FROM skills s
               JOIN project_uses u ON u.kind = 'skill' AND u.name = s.name
               WHERE s.name = ? AND s.state <> 'deleted' AND u.project IN (SELECT value FROM json_each(?)) LIMIT 1`,
            )
            .pluck()
            .get(name, JSON.stringify(projects)) ?? null,
      ),
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
  const project = filter.project === undefined ? null : projectId(ctx, filter.project)
  const where = `FROM runs r WHERE (@agent IS NULL OR r.agent = @agent) AND (@entity IS NULL OR r.entity = @entity)
    AND (@states IS NULL OR r.state IN (SELECT value FROM json_each(@states)))
    AND (@practice = 1 OR r.practice = 0)
    AND (@project IS NULL OR EXISTS (SELECT 1 FROM run_projects p WHERE p.run_id = r.id AND p.project = @project))`
  const values = {
    agent,
    entity,
    project,
    states: states && JSON.stringify(states),
    practice: filter.practice === false ? 0 : 1,
  }
  const rows = ctx.db
    .prepare<typeof values & { limit: number; offset: number }, RunRow>(
      `SELECT r.* ${where} ORDER BY r.seq DESC LIMIT @limit OFFSET @offset`,
    )
    .all({ ...values, limit, offset })
  const total = ctx.db.prepare<typeof values, number>(`SELECT count(*) ${where}`).pluck().get(values)!
  if (total === 0 && agent !== null) requireKnownAgent(ctx.db, agent)
  return { runs: rows.map(present), total }
}

function statesOf(status: string): readonly string[] {
  const known = [...OPEN_STATES, 'succeeded', 'exhausted', 'failed', 'cancelled', 'capped', 'empty', 'ok']
  if (STATUSES[status]) return STATUSES[status]
  if (status === 'ok') return ['succeeded']
  if (known.includes(status)) return [status]
  return fail('invalid', `status must be one of ${[...Object.keys(STATUSES), ...known].join(', ')}`, {
    field: 'status',
  })
}

function projectId(ctx: ReadContext, word: string): string {
  return (
    ctx.db
      .prepare<[string, string], string>(
        "SELECT id FROM projects WHERE (id = ? OR name = ?) AND state <> 'deleted' LIMIT 1",
      )
      .pluck()
      .get(word, word) ?? fail('not_found', `no project has the id or name ${word}`, { field: 'project' })
  )
}

function forecast(ctx: ReadContext, agent: string, now: number): AgentForecast {
  const spec = ctx.db
    .prepare<[string], string>("SELECT spec FROM agents WHERE name = ? AND state <> 'deleted'")
    .pluck()
    .get(agent)
  if (spec === undefined) fail('not_found', `no agent is named ${agent}`)
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
