/** The tools of the telemetry query server (SPEC.md, Telemetry query server): each asks the daemon and answers in Markdown. */
import type {
  Identity,
  TelemetryAgentsArguments,
  TelemetryCreateApiKeyArguments,
  TelemetryMetricsArguments,
  TelemetrySpansArguments,
  TelemetryTracesArguments,
  TraceLink,
  TraceSummary,
} from '../../../schemas/types.ts'
import type { Call, Given } from '../../client/call.ts'
import * as calls from '../../client/calls.ts'
import { ToolError } from '../tool.ts'
import { answer, cell, code, duration, round } from './markdown.ts'

/** Calls of the API in the name of one caller. @throws ToolError with the sentence of a refusal */
export type Ask = <T, Input>(call: Call<T, Input>, ...given: Given<NoInfer<Input>, AbortSignal>) => Promise<T>

/** What there is to ask: an instance is one workspace. */
export interface Workspace {
  id: string
  name: string
  /** Address of its console; null: not known. */
  url: string | null
}

export interface TelemetryContext {
  identity: Identity
  workspace: Workspace
  ask: Ask
  /** Name of the client program, as it says. */
  client: string
}

export interface TelemetryTool {
  name: string
  title: string
  description: string
  isReadOnly: boolean
  run(args: never, context: TelemetryContext): Promise<string>
}

const defineTool = <A>(
  tool: Omit<TelemetryTool, 'run'> & { run(args: A, context: TelemetryContext): Promise<string> },
): TelemetryTool => tool as TelemetryTool

const SIZE = 'Markdown of at most 16,000 characters.'

const getMe = defineTool({
  name: 'get_me',
  title: 'Who is asking',
  description: `Who this connection is: its credential, its user where a person signed in, and the workspaces it may read. ${SIZE}`,
  isReadOnly: true,
  run: async (_args, context) => {
    const { identity } = context
    const { oauth } = identity
    const lines = oauth
      ? [
          `- User: ${cell(oauth.user_name)} (${code(oauth.user)})`,
          `- Signed in through: ${cell(oauth.client_name)}, until somebody signs it out in Settings under Access and API keys`,
          `- May create API keys: ${mayCreateKeys(identity) ? 'yes' : 'no'}`,
        ]
      : [
          '- User: none, since this connection has no sign-in of a person',
          `- Credential: ${cell(identity.name)} (${code(identity.id)}), scopes ${identity.scopes.map((one) => code(one)).join(', ')}`,
          ...(identity.project
            ? [`- Reads only the project ${cell(identity.project_name ?? identity.project)}`]
            : []),
        ]
    return ['# Who is asking', '', ...lines, '', workspaces(await listedFor(context))].join('\n')
  },
})

const listWorkspaces = defineTool({
  name: 'list_workspaces',
  title: 'List workspaces',
  description: `The workspaces that this connection may know of, which of them it reads, and the id of that one, which other tools take as workspace. ${SIZE}`,
  isReadOnly: true,
  run: async (_args, context) => workspaces(await listedFor(context)),
})

/** Workspaces as they are told of: what the platform says of an instance it hosts, else the instance alone. */
interface ListedWorkspaces {
  all: (Workspace & { isHere: boolean })[]
  /** Why those of the platform are not in it; empty: they are, or there is no platform. */
  note: string
}

/**
 * A person sees those of the platform; a key is of the one workspace that it was made in (SPEC.md, Telemetry query
 * server authentication).
 */
async function listedFor({ identity, workspace, ask }: TelemetryContext): Promise<ListedWorkspaces> {
  const own = { ...workspace, isHere: true }
  if (identity.oauth === undefined && identity.id !== 'open') return { all: [own], note: '' }
  const { workspaces: listed, reason, detail = '' } = await ask(calls.listWorkspaces)
  if (reason === 'none') return { all: [own], note: '' }
  if (reason !== null) return { all: [own], note: `Others are not listed: ${cell(detail)}.` }
  const all = listed.map(({ is_current: isHere, ...one }) => ({ ...one, isHere }))
  return { all: all.some(({ isHere }) => isHere) ? all : [own, ...all], note: '' }
}

const workspaces = ({ all, note }: ListedWorkspaces): string =>
  answer(
    '## Workspaces',
    {
      columns: ['id', 'name', 'console', 'read here'],
      rows: all.map(({ id, name, url, isHere }) => [
        ...[code(id), cell(name), cell(url), isHere ? 'yes' : 'no, by a connection of its own'],
      ]),
    },
    [note].filter(Boolean),
    () => 'The page of the platform has all of them.',
  )

const traces = defineTool<TelemetryTracesArguments>({
  name: 'traces',
  title: 'Find traces',
  description: `Traces of a window, newest first, runs of svc's agents among them (service svc, name of the agent): one is listed if one of its spans fits all that is given. Continue with spans and its trace_id. ${SIZE}`,
  isReadOnly: true,
  run: async ({ workspace: _, ...query }, { ask }) => {
    const found = await ask(calls.listTraces, query)
    const { traces: all, looked_at: lookedAt, next_to: next } = found
    if (all.length === 0) return `No trace in ${sinceOf(query)} fits (${lookedAt} looked at).${more(next)}`
    return answer(
      `## Traces (${all.length}) in ${sinceOf(query)}`,
      {
        columns: ['trace_id', 'began', 'root span', 'service', 'duration', 'spans', 'failed', 'services'],
        rows: all.map((one) => [
          ...[code(one.id), one.began_at, cell(rootOf(one)), cell(one.service), duration(one.duration_ms)],
          ...[String(one.spans), String(one.failed), cell(one.services.join(', '))],
        ]),
      },
      ['Open one: spans with trace_id.'],
      (shown) => `${lessThan(shown)}.`,
      more(next).trim(),
    )
  },
})

/** Name of the first span; of a run of svc with how it ended. */
const rootOf = ({ name, run }: TraceSummary): string => (run ? `${name} (run of svc, ${run.status})` : name)

const spans = defineTool<TelemetrySpansArguments>({
  name: 'spans',
  title: 'Find spans',
  description: `Spans of a window as asked for, newest first, or those of one trace in order with what each took and why it failed. ${SIZE}`,
  isReadOnly: true,
  run: async ({ workspace: _, ...query }, { ask, identity }) => {
    const { service, name, status, min_duration: least, trace_id: trace } = query
    const isWhole = [service, name, status, least].every((one) => one === undefined)
    // A project key reads those of its project, which only the list narrows.
    if (trace !== undefined && isWhole && identity.project === undefined)
      return wholeTrace(trace, query.limit ?? TREE_ROWS, ask)
    const { spans: all, looked_at: lookedAt, next_to: next } = await ask(calls.listSpans, query)
    const where = trace === undefined ? sinceOf(query) : `trace ${code(trace)}`
    if (all.length === 0) return `No span in ${where} fits (${lookedAt} looked at).${more(next)}`
    return answer(
      `## Spans (${all.length}) in ${where}`,
      {
        columns: ['began', 'service', 'span', 'duration', 'status', 'kind', 'trace_id', 'span_id', 'says'],
        rows: all.map((one) => [
          ...[one.began_at, cell(one.service), cell(one.name), duration(one.duration_ms)],
          ...[one.status === 'error' ? '**error**' : one.status, cell(one.kind), code(one.trace_id)],
          ...[code(one.span_id), cell(saysOf(one))],
        ]),
      },
      [],
      (shown) => `${lessThan(shown)}, or narrow it by service, name or status.`,
      more(next).trim(),
    )
  },
})

const TREE_ROWS = 200
/** Links of a span that are told. */
const LINKS = 4

const linkWords = ({ trace_id, direction, name, service }: TraceLink): string =>
  `${direction === 'to' ? 'links to' : 'linked from'} trace ${trace_id}${name === null ? '' : ` (${name}${service ? ` of ${service}` : ''})`}`

async function wholeTrace(id: string, limit: number, ask: Ask): Promise<string> {
  const trace = await ask(calls.getTrace, { id })
  const rows = trace.rows.slice(0, limit)
  const others = trace.others.length
    ? [`Other traces that begin alike: ${trace.others.map(code).join(', ')}.`]
    : []
  const cut = trace.rows.length - rows.length
  return answer(
    `## Trace ${code(trace.id)}${trace.run ? `, run ${code(trace.run.id)} of the agent ${cell(trace.run.agent)}, ${trace.run.status}` : ''}: ${trace.spans} spans of ${trace.services.map((one) => cell(one)).join(', ')}, ${duration(trace.duration_ms)}, ${trace.failed} failed`,
    {
      columns: ['span', 'service', 'after', 'duration', 'own time', 'status', 'tokens', 'span_id', 'says'],
      rows: rows.map((one) => [
        `${'· '.repeat(Math.min(one.depth, 20))}${cell(one.name)}`,
        cell(one.service),
        duration(one.offset_ms),
        one.duration_ms === null ? 'event' : duration(one.duration_ms),
        one.self_ms === null ? '–' : duration(one.self_ms),
        one.is_failed ? '**error**' : (one.status ?? '–'),
        one.input_tokens === null && one.output_tokens === null
          ? '–'
          : `${one.input_tokens ?? 0} in, ${one.output_tokens ?? 0} out`,
        code(one.span_id),
        cell(
          [one.is_failed ? one.text : '', ...one.links.slice(0, LINKS).map(linkWords)]
            .filter(Boolean)
            .join('; ') || '–',
        ),
      ]),
    },
    [
      `Began ${trace.began_at}. A dot is a level of the tree; own time is that in which no span below was at work.`,
      ...others,
      cut > 0 || trace.is_cut ? `${cut} more rows: give a larger limit, or name, service or status.` : '',
    ],
    () => 'Ask for parts of it: trace_id with service, name or status.',
  )
}

/** Why it failed, else the attributes that say most. */
function saysOf(one: {
  status: string
  text: string
  attributes: { name: string; value: string }[]
}): string {
  if (one.status === 'error') return one.text
  return one.attributes
    .filter(({ name }) => /^(http|url|db|rpc|messaging|gen_ai|error|exception)\./.test(name))
    .slice(0, 4)
    .map(({ name, value }) => `${name}=${value}`)
    .join(' ')
}

const metrics = defineTool<TelemetryMetricsArguments>({
  name: 'metrics',
  title: 'Read metrics',
  description: `Metrics as series by name and labels over a window: latest, lowest, highest and mean, rate and increase of counters, percentiles of histograms. ${SIZE}`,
  isReadOnly: true,
  run: async ({ workspace: _, ...query }, { ask }) => {
    const { series, found, looked_at: lookedAt, is_cut: isCut } = await ask(calls.listMetricSeries, query)
    if (series.length === 0) return `No metric in ${sinceOf(query)} fits (${lookedAt} points looked at).`
    return answer(
      `## Metrics (${series.length} of ${found} series) in ${sinceOf(query)}`,
      {
        columns: [
          ...['metric', 'service', 'labels', 'type', 'unit', 'points', 'latest', 'min', 'max', 'avg'],
          ...['increase', 'rate/s', 'p50', 'p90', 'p95', 'p99'],
        ],
        rows: series.map((one) => [
          ...[cell(one.name), cell(one.instance ? `${one.service} (${one.instance})` : one.service)],
          cell(one.labels.map(({ name, value }) => `${name}=${value}`).join(' ')),
          ...[one.type, cell(one.unit), String(one.points), round(one.latest)],
          ...[round(one.min), round(one.max), round(one.avg), round(one.increase), round(one.rate)],
          ...[round(one.p50), round(one.p90), round(one.p95), round(one.p99)],
        ]),
      },
      [
        'Of a histogram latest is how many were counted, avg the mean of what was counted in the window.',
        isCut
          ? 'There are more points than were looked at: narrow it by name, service or a shorter window.'
          : '',
        found > series.length ? 'For other series give a larger limit, or name or service.' : '',
      ],
      () => 'Narrow it by name or service.',
    )
  },
})

const agents = defineTool<TelemetryAgentsArguments>({
  name: 'agents',
  title: 'List agents',
  description: `Agents at work in a window with runs, cost, tokens, tools and errors: those of svc, and those of others known from the GenAI spans they send. ${SIZE}`,
  isReadOnly: true,
  run: async ({ workspace: _, ...query }, { ask }) => {
    const { agents: all, found, is_cut: isCut } = await ask(calls.listAgentActivity, query)
    const since = `the last ${query.window ?? '24h'}`
    if (all.length === 0) return `No agent was at work in ${since}.`
    return answer(
      `## Agents (${all.length} of ${found}) in ${since}`,
      {
        columns: [
          ...['agent', 'from', 'runs', 'failed', 'cost (USD)', 'tokens in', 'tokens out', 'models', 'tools'],
          ...['error', 'last at work'],
        ],
        rows: all.map((one) => [
          cell(one.name),
          cell(one.from === 'svc' ? 'svc' : `spans of ${one.service ?? 'no service'}`),
          ...[String(one.runs), String(one.failed), one.cost_usd === null ? 'no price' : round(one.cost_usd)],
          ...[String(one.input_tokens), String(one.output_tokens), cell(one.models.join(', '))],
          ...[cell(one.tools.map(({ name, calls: n }) => `${name} ×${n}`).join(', '))],
          ...[cell(one.error), one.last_at],
        ]),
      },
      [isCut ? 'There are more spans than were looked at: give a shorter window.' : ''],
      () => 'Give a shorter window.',
    )
  },
})

/** Scopes of OAuth that the telemetry server knows; `keys` is asked for when it is needed. */
export const KEYS_SCOPE = 'keys'

/** Whether a person who signed in let the client make keys, and may do so. */
export const mayCreateKeys = ({ oauth }: Identity): boolean =>
  oauth?.is_admin === true && oauth.scopes.includes(KEYS_SCOPE)

const createApiKey = defineTool<TelemetryCreateApiKeyArguments>({
  name: 'create_api_key',
  title: 'Create an API key',
  description: `Makes an API key of the workspace, shown once. Only in a session that a person with admin access signed in to, never with a key. ${SIZE}`,
  isReadOnly: false,
  run: async ({ scopes, name }, { ask, client, identity }) => {
    if (identity.id !== 'open' && !mayCreateKeys(identity))
      throw new ToolError('create_api_key needs a session that a person with admin access signed in to')
    const made = await ask(calls.createTelemetryKey, {
      body: { name: name ?? `made by ${identity.oauth?.client_name ?? client}`.slice(0, 64), scopes },
    })
    return [
      `## API key ${cell(made.name)}`,
      '',
      `- Key: \`${made.secret}\` (shown once; keep it now)`,
      `- Id: ${code(made.id)}, scopes ${made.scopes.map((one) => code(one)).join(', ')}`,
      '- Send it as `Authorization: Bearer <key>`. It is revoked in Settings under Access and API keys.',
    ].join('\n')
  },
})

export const telemetryTools: readonly TelemetryTool[] = [
  ...[getMe, listWorkspaces, traces, spans, metrics, agents, createApiKey],
]

/** @throws ToolError where another workspace is asked for than the one that is read here */
export async function checkWorkspace(asked: unknown, context: TelemetryContext): Promise<void> {
  const { id, name } = context.workspace
  if (asked === undefined || asked === id || asked === name) return
  const found = (await listedFor(context)).all.filter((one) => one.id === asked || one.name === asked)
  if (found.some(({ isHere }) => isHere)) return
  const words = JSON.stringify(String(asked).slice(0, 80))
  throw new ToolError(
    found[0]
      ? `workspace ${words} is not read here: connect to its own telemetry query server, whose console is at ${found[0].url}`
      : `workspace ${words} not found: this connection reads ${id}; see list_workspaces`,
    'workspace',
  )
}

const sinceOf = ({ window, to }: { window?: string | undefined; to?: string | undefined }): string =>
  to === undefined ? `the last ${window ?? '1h'}` : `${window ?? '1h'} before ${to}`

/** By less than fits, as what began in the same millisecond comes with the last one. */
const lessThan = (shown: number): string =>
  `Give limit ${Math.max(1, Math.floor(shown / 2))}, whose answer says where the rest begins`

const more = (next: string | null): string => (next === null ? '' : ` There may be more: give to ${next}.`)
