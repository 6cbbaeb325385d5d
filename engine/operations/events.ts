/** Reads of events (SPEC.md, Ingest and reads), and what they take of the disk. */

import type { ProjectCard } from '../../schemas/types.ts'
import type { Row } from '../calls.ts'
import { fail } from '../errors.ts'
import type { OperationInput } from './input.ts'
import { readJson, rowJson, tagged } from './operation.ts'

const operation = tagged('read')

/** What a body may name to look at less. */
interface Narrowing {
  project?: string | undefined
  sources?: string[] | undefined
}

/**
 * What a project key may read: its own project, which a body need not name. @throws SvcError forbidden
 */
async function narrowed<T extends Narrowing>(
  engine: { projectCard(project: string): Promise<ProjectCard> },
  { body, project }: Pick<OperationInput<unknown, unknown, T>, 'body' | 'project'>,
): Promise<T> {
  if (project === null) return body
  const { name, sources } = await engine.projectCard(project)
  const isElsewhere = body.project !== undefined && body.project !== project && body.project !== name
  // Not 404: a key must not learn which sources there are.
  if (isElsewhere || body.sources?.some((source) => !sources.includes(source)))
    fail('forbidden', `this key only reads project ${name} and records findings in it`)
  return { ...body, project }
}

/** The same of a question in the address. @throws SvcError forbidden */
export async function narrowedQuery<T extends Narrowing>(
  engine: { projectCard(project: string): Promise<ProjectCard> },
  { query, project }: Pick<OperationInput<unknown, T, unknown>, 'query' | 'project'>,
): Promise<T> {
  return narrowed(engine, { body: query, project })
}

export const instance = [
  tagged('instance')({
    id: 'getUsage',
    route: 'GET /api/usage',
    scope: 'read',
    role: 'reader',
    answer: 'usage.json',
    summary: 'Storage in use',
    run: (engine) => engine.usage(),
  }),
]

export const events = [
  operation({
    id: 'read',
    route: 'POST /read',
    scope: 'read',
    projectKey: true,
    // Whether it is wide, and what has to be stored before it, is seen there.
    role: 'network',
    body: 'request-read.json',
    answer: { schema: 'read-result.json', write: readJson },
    summary: 'One entity’s events across all sources in time order',
    run: async (engine, { asked, ...input }) => engine.read(await narrowed(engine, input), asked),
  }),
  operation({
    id: 'exportEvents',
    route: 'GET /api/events/export',
    scope: 'read',
    role: 'wide',
    query: {
      window: { type: 'string', default: '7d', description: 'How far back.' },
      to: { type: 'string', description: 'End; now when absent.' },
      sources: { type: 'string', description: 'Names, parted by commas; all when absent.' },
      after: { type: 'string', description: 'Event id of the page before.', maxLength: 40 },
      limit: { type: 'integer', default: 5_000, minimum: 1, maximum: 5_000 },
      sample: {
        type: 'integer',
        default: 100,
        minimum: 1,
        maximum: 100,
        description: 'Of a hundred entities so many, with all of their events.',
      },
    },
    answer: 'exported-events.json',
    summary: 'Stored events with their payloads, redacted, in the order they were stored',
    run: (engine, { query: { sources, ...asked } }) =>
      engine.exportEvents({ ...asked, sources: sources?.split(',').filter(Boolean) }),
  }),
  operation({
    id: 'stats',
    route: 'POST /api/stats',
    scope: 'read',
    projectKey: true,
    role: 'wide',
    body: 'request-stats.json',
    answer: 'stats-result.json',
    summary: 'A label’s values, this window against the one before',
    run: async (engine, input) => engine.stats(await narrowed(engine, input)),
  }),
  operation({
    id: 'inspect',
    route: 'POST /api/inspect',
    scope: 'read',
    projectKey: true,
    role: 'network',
    body: 'request-inspect.json',
    answer: 'inspect-result.json',
    summary: 'The tools of agents that look: what changed, a number over time, a trace, a record in pages',
    run: async (engine, { asked, ...input }) => engine.inspect(await narrowed(engine, input), asked),
  }),
  operation({
    id: 'listTraces',
    route: 'GET /api/traces',
    scope: 'read',
    projectKey: true,
    role: 'wide',
    query: {
      service: { type: 'string', minLength: 1, description: 'Service of the span; svc: runs of svc.' },
      name: { type: 'string', minLength: 1, description: 'Part of the span’s name, or of a run’s agent.' },
      status: {
        type: 'string',
        enum: ['error', 'ok'],
        description: 'error: the span failed; ok: no span of the trace failed.',
      },
      min_duration: { type: 'string', description: 'The span took at least so long, such as 250ms.' },
      attribute: { type: 'string', description: 'name=value of an attribute of the span or its resource.' },
      window: { type: 'string', default: '1h', description: 'How far back.' },
      to: { type: 'string', description: 'End; now when absent. next_to of the page before.' },
      limit: { type: 'integer', default: 20, minimum: 1, maximum: 100 },
      project: { type: 'string', minLength: 1, description: 'Only what this project reads, its id or name.' },
    },
    answer: 'traces-result.json',
    summary: 'Traces with a span as it is asked for, newest first, runs of svc among them',
    run: async (engine, input) => engine.traces(await narrowedQuery(engine, input)),
  }),
  operation({
    id: 'getTrace',
    route: 'GET /api/traces/{id}',
    scope: 'read',
    role: 'wide',
    query: {
      project: { type: 'string', minLength: 1, description: 'Only what this project reads, its id or name.' },
    },
    answer: 'trace.json',
    summary: 'All spans and events of one trace id, whole or its first characters, or of a run',
    run: (engine, { params, query }) => engine.trace({ id: params.id, ...query }),
  }),
  operation({
    id: 'listSpans',
    route: 'GET /api/telemetry/spans',
    scope: 'read',
    projectKey: true,
    role: 'wide',
    query: {
      trace_id: { type: 'string', description: 'Spans of this trace, its id or the first 8 characters.' },
      service: { type: 'string', minLength: 1, description: 'Service of the span.' },
      name: { type: 'string', minLength: 1, description: 'Part of the span’s name.' },
      status: { type: 'string', enum: ['error', 'ok'], description: 'error: it failed; ok: it did not.' },
      min_duration: { type: 'string', description: 'It took at least so long, such as 250ms.' },
      attribute: { type: 'string', description: 'name=value of an attribute of the span or its resource.' },
      window: { type: 'string', default: '1h', description: 'How far back; not looked at with trace_id.' },
      to: { type: 'string', description: 'End; now when absent. next_to of the page before.' },
      limit: { type: 'integer', default: 50, minimum: 1, maximum: 200 },
      project: { type: 'string', minLength: 1, description: 'Only what this project reads, its id or name.' },
    },
    answer: 'telemetry-spans-result.json',
    summary: 'Spans as they are asked for, newest first, or those of one trace',
    run: async (engine, input) => engine.telemetrySpans(await narrowedQuery(engine, input)),
  }),
  operation({
    id: 'listMetricSeries',
    route: 'GET /api/telemetry/metrics',
    scope: 'read',
    projectKey: true,
    role: 'wide',
    query: {
      name: { type: 'string', minLength: 1, description: 'Part of the metric’s name.' },
      service: { type: 'string', minLength: 1, description: 'Service that sends it.' },
      window: { type: 'string', default: '1h', description: 'How far back.' },
      limit: { type: 'integer', default: 50, minimum: 1, maximum: 200 },
      project: { type: 'string', minLength: 1, description: 'Only what this project reads, its id or name.' },
    },
    answer: 'metric-series-result.json',
    summary: 'Metrics as series by name and labels, with what they did in the window',
    run: async (engine, input) => engine.metricSeries(await narrowedQuery(engine, input)),
  }),
  operation({
    id: 'listAgentActivity',
    route: 'GET /api/telemetry/agents',
    scope: 'read',
    projectKey: true,
    role: 'wide',
    query: {
      window: { type: 'string', default: '24h', description: 'How far back.' },
      project: { type: 'string', minLength: 1, description: 'Only what this project reads, its id or name.' },
    },
    answer: 'agent-activity-result.json',
    summary: 'Agents with runs, cost, tools and errors: those of svc, and those that send spans',
    run: async (engine, input) => engine.agentActivity(await narrowedQuery(engine, input)),
  }),
  operation({
    id: 'histogram',
    route: 'POST /api/histogram',
    scope: 'read',
    role: 'wide',
    body: 'request-histogram.json',
    answer: 'histogram-result.json',
    summary: 'Events over time',
    run: (engine, { body }) => engine.histogram(body),
  }),
  operation({
    id: 'listEntities',
    route: 'GET /api/entities',
    scope: 'read',
    role: 'reader',
    query: {
      label: { type: 'string', minLength: 1 },
      limit: { type: 'integer', default: 50, minimum: 1 },
      prefix: { type: 'string' },
    },
    answer: 'entities-shown.json',
    summary: 'Labels and their values with counts',
    run: (engine, { query: { label, limit, prefix } }) =>
      label === undefined ? engine.entities(limit) : engine.entityValues(label, limit, prefix),
  }),
  operation({
    id: 'getEvent',
    route: 'GET /api/events/{id}',
    scope: 'read',
    role: 'reader',
    answer: { schema: 'event-detail.json', write: (row: Row) => `{"event":${rowJson(row)}}` },
    summary: 'One event with its payload',
    run: (engine, { params }) => engine.event(params.id),
  }),
]
