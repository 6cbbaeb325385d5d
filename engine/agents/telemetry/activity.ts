/**
 * Agents and what they did in a window: those of svc by their runs, those of others by the spans they send
 * (OpenTelemetry semantic conventions for generative AI: gen_ai.operation.name, gen_ai.agent.name, gen_ai.tool.name,
 * gen_ai.usage.*, https://opentelemetry.io/docs/specs/semconv/gen-ai/).
 *
 * Spans by themselves (`listSpans`): those of a window that are as it is asked for, newest first, or those of one trace, in order.
 */
import { grouped } from '../../../schemas/grouped.ts'
import type {
  AgentActivity,
  AgentActivityResult,
  TelemetrySpan,
  TelemetrySpansResult,
} from '../../../schemas/types.ts'
import type { ActivityAsked, SpansAsked } from '../../calls.ts'
import { fail } from '../../errors.ts'
import { TRACE_ID_LABELS } from '../../log/brief/brief.ts'
import type { Steps } from '../../log/steps.ts'
import type { Database } from '../../log/store/handle.ts'
import { firstPositions, type Position } from '../../log/store/scan.ts'
import { projectScope, type ReadContext } from '../../log/timeline/context.ts'
import { askedQuery, windowOf } from '../../log/timeline/inspect-pages.ts'
import { parseInstant } from '../../log/timeline/plan.ts'
import {
  aroundOf,
  BATCH,
  fieldsIn,
  findTraceInSteps,
  kindOf,
  placed,
  rowsAt,
  SPAN_TYPE,
  serviceOf,
  spanName,
  statusOf,
  type TracePart,
  toMicros,
} from '../../log/timeline/traces.ts'
import { iso } from '../../model/units.ts'
import { SETTING } from '../models/providers.ts'
import { costOf, type Price, withOwnPrices } from '../models/usage.ts'
import { filterOf } from './traces.ts'

const WINDOW_DEFAULT = '24h'
/** Spans looked at for one answer. */
const LOOKED_MAX = 50_000
const AGENTS_MAX = 200
const TOOLS_MAX = 20

/** @throws SvcError invalid, naming the field; not_found for a project that is not there */
export function* activityInSteps(
  ctx: ReadContext,
  asked: ActivityAsked,
  now: number,
): Steps<AgentActivityResult> {
  ctx.names.refresh()
  const around = aroundOf(ctx, asked, now, {
    window: asked.window ?? WINDOW_DEFAULT,
    event_types: [SPAN_TYPE],
  })
  const { from, until } = windowOf(around)
  const scope = asked.project === undefined ? null : projectScope(ctx.db, ctx.names, asked.project).ids
  const own = ownAgents(ctx.db, from, scope)
  yield
  const query = yield* askedQuery(around, from, until)
  const told: Told[] = []
  let lookedAt = 0
  let isCut = false
  let after: Position | null = null
  for (;;) {
    const positions: Position[] = firstPositions(ctx.index.all(), query, 'desc', BATCH, after)
    lookedAt += positions.length
    told.push(...partsAt(around, positions).flatMap((part) => toldBy(part) ?? []))
    if (positions.length < BATCH) break
    isCut = lookedAt >= LOOKED_MAX
    if (isCut) break
    after = positions.at(-1)!
    yield
  }
  const all = [...own, ...outsideAgents(told, pricesIn(ctx.db))]
  const agents = all.sort((a, b) => b.runs - a.runs || (a.name < b.name ? -1 : 1))
  return { agents: agents.slice(0, AGENTS_MAX), found: agents.length, looked_at: lookedAt, is_cut: isCut }
}

function pricesIn(db: Database): Price[] {
  const own = db.prepare<[string], string>('SELECT value FROM settings WHERE key = ?').pluck()
  return withOwnPrices(JSON.parse(own.get(SETTING.prices) ?? '[]') as Price[])
}

/* Those of svc, by their runs. */

interface OwnRow {
  agent: string
  runs: number
  failed: number
  input: number
  output: number
  cost: number
  unpriced: number
  models: string | null
  last: number
}

/** @param projects ids; null: all */
function ownAgents(db: Database, from: number, projects: readonly string[] | null): AgentActivity[] {
  // What an agent from outside recorded is kept as a run, but svc did not run it.
  const within = `AND woken_by <> 'external'${
    projects === null
      ? ''
      : ' AND id IN (SELECT run_id FROM run_projects WHERE project IN (SELECT value FROM json_each(@projects)))'
  }`
  const given = { from, projects: JSON.stringify(projects ?? []) }
  const rows = db
    .prepare<typeof given, OwnRow>(
      `SELECT agent, count(*) AS runs, sum(state IN ('failed', 'capped', 'exhausted')) AS failed,
         sum(input_tokens + cache_creation_input_tokens + cache_read_input_tokens) AS input,
         sum(output_tokens) AS output, sum(cost_usd) AS cost, sum(uncosted_calls) AS unpriced,
         json_group_array(DISTINCT model) AS models, max(made_at) AS last
       FROM runs WHERE made_at >= @from AND practice = 0 AND @projects IS NOT NULL ${within} GROUP BY agent`,
    )
    .all(given)
  const tools = db
    .prepare<typeof given, { agent: string; name: string | null; calls: number }>(
      `SELECT r.agent, json_extract(s.data, '$.call.name') AS name, count(*) AS calls
       FROM runs r JOIN run_steps s ON s.run_id = r.id AND s.kind = 'tool'
       WHERE r.made_at >= @from AND r.practice = 0 AND @projects IS NOT NULL ${within.replace('id IN', 'r.id IN')}
       GROUP BY r.agent, name ORDER BY calls DESC`,
    )
    .all(given)
  const errors = db
    .prepare<typeof given, { agent: string; error: string; times: number }>(
      `SELECT agent, error, count(*) AS times FROM runs
       WHERE made_at >= @from AND practice = 0 AND error IS NOT NULL AND @projects IS NOT NULL ${within}
       GROUP BY agent, error ORDER BY times DESC`,
    )
    .all(given)
  return rows.map((row) => ({
    name: row.agent,
    from: 'svc',
    service: null,
    runs: row.runs,
    failed: row.failed,
    model_calls: null,
    input_tokens: row.input,
    output_tokens: row.output,
    cost_usd: row.unpriced > 0 && row.cost === 0 ? null : row.cost,
    models: (JSON.parse(row.models ?? '[]') as (string | null)[]).filter((model) => model !== null),
    tools: tools
      .flatMap(({ agent, name, calls }) => (agent === row.agent && name !== null ? [{ name, calls }] : []))
      .slice(0, TOOLS_MAX),
    error: errors.find(({ agent }) => agent === row.agent)?.error ?? null,
    last_at: iso(row.last),
  }))
}

/* Those of others, by what their spans say. */

/** What a span says of an agent. */
interface Told {
  trace: string
  span: string
  parent: string
  at: number
  service: string | null
  /** Name of the agent; null: it does not say. */
  agent: string | null
  operation: string
  model: string | null
  tool: string | null
  input: number
  output: number
  isFailed: boolean
  error: string | null
}

const MODEL_CALLS = new Set(['chat', 'text_completion', 'generate_content', 'embeddings'])

function toldBy(part: TracePart): Told | null {
  const given = fieldsIn(part.recorded.attributes)
  const text = (name: string): string | null =>
    typeof given[name] === 'string' && given[name] !== '' ? given[name] : null
  const count = (...names: string[]): number =>
    Number(names.map((name) => given[name]).find((value) => value !== undefined) ?? 0) || 0
  if (!Object.keys(given).some((name) => name.startsWith('gen_ai.'))) return null
  const isFailed = statusOf(part.recorded) === 'error'
  const said = fieldsIn(part.recorded.status).message
  return {
    ...{ trace: part.trace, span: part.span, parent: part.parent, at: part.row.at },
    service: serviceOf(part),
    agent: text('gen_ai.agent.name') ?? text('gen_ai.agent.id'),
    operation: text('gen_ai.operation.name') ?? 'chat',
    model: text('gen_ai.response.model') ?? text('gen_ai.request.model'),
    tool: text('gen_ai.tool.name'),
    // The names of before v1.27 of the conventions are still sent.
    input: count('gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens'),
    output: count('gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens'),
    isFailed,
    error: isFailed
      ? (text('error.type') ?? (typeof said === 'string' && said !== '' ? said : 'error'))
      : null,
  }
}

/**
 * A span that names no agent is of the nearest one above it, else of the only one of its trace, else of its service.
 * A run is a span of an agent at work below no other of the same agent; where none says so, a trace.
 */
function outsideAgents(told: readonly Told[], prices: readonly Price[]): AgentActivity[] {
  const byTrace = grouped(told, ({ trace }) => trace)
  const groups = new Map<string, { name: string; service: string | null; spans: Told[]; runs: number }>()
  for (const [trace, spans] of byTrace) {
    const known = new Map(spans.map((span) => [span.span, span]))
    const named = new Set(spans.flatMap(({ agent }) => agent ?? []))
    const only = trace !== '' && named.size === 1 ? [...named][0]! : null
    const counted = new Set<string>()
    for (const span of spans) {
      const name = agentAbove(span, known) ?? only ?? span.service ?? 'unknown'
      const key = JSON.stringify([name, span.service])
      const group = groups.get(key) ?? { name, service: span.service, spans: [], runs: 0 }
      groups.set(key, group)
      group.spans.push(span)
      const isRun = span.operation === 'invoke_agent' && !isBelow(span, name, known)
      const hasRuns = spans.some(
        (one) => one.operation === 'invoke_agent' && (agentAbove(one, known) ?? only ?? one.service) === name,
      )
      if (isRun) group.runs++
      else if (!hasRuns && !counted.has(key)) {
        counted.add(key)
        group.runs++
      }
    }
  }
  return [...groups.values()].map((group) => shownOf(group, prices))
}

/** Spans above it, nearest first, itself included; those that name each other end it. */
function* upFrom(span: Told, known: ReadonlyMap<string, Told>): Generator<Told> {
  const seen = new Set<Told>()
  for (let at: Told | undefined = span; at && !seen.has(at); at = known.get(at.parent)) {
    seen.add(at)
    yield at
  }
}

function agentAbove(span: Told, known: ReadonlyMap<string, Told>): string | null {
  for (const { agent } of upFrom(span, known)) if (agent !== null) return agent
  return null
}

function isBelow(span: Told, name: string, known: ReadonlyMap<string, Told>): boolean {
  for (const above of upFrom(span, known))
    if (above !== span && above.operation === 'invoke_agent' && above.agent === name) return true
  return false
}

function shownOf(
  { name, service, spans, runs }: { name: string; service: string | null; spans: Told[]; runs: number },
  prices: readonly Price[],
): AgentActivity {
  const calls = spans.filter(({ operation }) => MODEL_CALLS.has(operation))
  const costs = calls.map(({ model, input, output }) =>
    model === null
      ? null
      : costOf('compatible', prices, model, {
          ...{ input_tokens: input, output_tokens: output },
          ...{ cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
        }),
  )
  const tools = grouped(
    spans.filter(({ operation, tool }) => operation === 'execute_tool' && tool !== null),
    ({ tool }) => tool!,
  )
  const sum = (of: (span: Told) => number) => calls.reduce((total, span) => total + of(span), 0)
  return {
    ...{ name, from: 'spans', service, runs },
    failed: spans.filter(({ operation, isFailed }) => isFailed && operation === 'invoke_agent').length,
    model_calls: calls.length,
    input_tokens: sum(({ input }) => input),
    output_tokens: sum(({ output }) => output),
    // What has no price is not free.
    cost_usd:
      costs.length > 0 && costs.every((cost) => cost === null)
        ? null
        : costs.reduce<number>((total, cost) => total + (cost ?? 0), 0),
    models: [...new Set(calls.flatMap(({ model }) => model ?? []))],
    tools: [...tools]
      .map(([tool, all]) => ({ name: tool, calls: all.length }))
      .sort((a, b) => b.calls - a.calls)
      .slice(0, TOOLS_MAX),
    error: spans.find(({ error }) => error !== null)?.error ?? null,
    last_at: iso(Math.max(...spans.map(({ at }) => at))),
  }
}

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 200
/** With those that share the instant of the last. */
const PAGE_MAX = 1_000
/** Spans looked at for one answer. */
const SPANS_LOOKED_MAX = 50_000
const SPANS_WINDOW_DEFAULT = '1h'
/** Attributes of a span that are told, and characters of a value. */
const ATTRIBUTES_MAX = 30
const VALUE_MAX = 200

/** @throws SvcError invalid, naming the field; not_found for a trace or a project that is not there */
export function* spansInSteps(ctx: ReadContext, asked: SpansAsked, now: number): Steps<TelemetrySpansResult> {
  ctx.names.refresh()
  const fits = filterOf(asked)
  const limit = Math.min(LIMIT_MAX, Math.max(1, asked.limit ?? LIMIT_DEFAULT))
  if (asked.trace_id !== undefined) return yield* spansOfTrace(ctx, asked, { fits, limit, now })
  const end = asked.to === undefined ? now : Math.min(now, parseInstant(asked.to, 'to'))
  const around = aroundOf(ctx, asked, end, {
    window: asked.window ?? SPANS_WINDOW_DEFAULT,
    event_types: [SPAN_TYPE],
  })
  const { from, to, until } = windowOf(around)
  const query = yield* askedQuery(around, from, asked.to === undefined ? until : to)
  const spans: TelemetrySpan[] = []
  let lookedAt = 0
  let oldest = end
  let after: Position | null = null
  while (lookedAt < SPANS_LOOKED_MAX) {
    const positions: Position[] = firstPositions(ctx.index.all(), query, 'desc', BATCH, after)
    for (const part of partsAt(around, positions)) {
      // Those of one instant are on one page: the next begins before it.
      if (spans.length >= limit && part.row.at < oldest)
        return { spans, looked_at: lookedAt, next_to: iso(oldest - 1) }
      lookedAt++
      oldest = part.row.at
      if (spans.length < PAGE_MAX && fits([part])) spans.push(spanOf(part))
    }
    if (positions.length < BATCH) return { spans, looked_at: lookedAt, next_to: null }
    after = positions.at(-1)!
    yield
  }
  return { spans, looked_at: lookedAt, next_to: iso(oldest - 1) }
}

function* spansOfTrace(
  ctx: ReadContext,
  asked: SpansAsked,
  { fits, limit, now }: { fits: ReturnType<typeof filterOf>; limit: number; now: number },
): Steps<TelemetrySpansResult> {
  const id = asked.trace_id!
  const found = yield* findTraceInSteps(aroundOf(ctx, asked, now), id)
  if (found === null)
    return fail('not_found', `no event that may be read here has the trace id ${id}`, { field: 'trace_id' })
  const all = found.parts.filter(({ length }) => length !== null)
  const spans = all.filter((part) => fits([part])).sort((a, b) => a.begin - b.begin)
  return { spans: spans.slice(0, limit).map(spanOf), looked_at: all.length, next_to: null }
}

/** Spans at places of the index, newest first, as the places are. */
function partsAt(around: ReturnType<typeof aroundOf>, positions: readonly Position[]): TracePart[] {
  const byId = new Map(
    rowsAt(around, positions, true).map(({ row, raw }) => [
      Number(row.id.slice(4)),
      { row, trace: traceOf(row.labels), ...placed(row, raw) },
    ]),
  )
  return positions.flatMap(({ id }) => byId.get(id) ?? []).filter(({ length }) => length !== null)
}

function traceOf(labels: Readonly<Record<string, unknown>>): string {
  const name = TRACE_ID_LABELS.find((label) => labels[label] !== undefined)
  return name === undefined ? '' : String(labels[name])
}

function spanOf(part: TracePart): TelemetrySpan {
  const { row, trace, begin, length, span, parent, recorded } = part
  return {
    event_id: row.id,
    trace_id: trace || null,
    span_id: span || null,
    parent_id: parent || null,
    name: spanName(part),
    service: serviceOf(part),
    kind: kindOf(recorded),
    status: statusOf(recorded),
    began_at: iso(begin),
    duration_ms: toMicros(length ?? 0),
    text: row.text,
    attributes: attributesOf(fieldsIn(recorded.attributes)),
  }
}

function attributesOf(given: Record<string, unknown>): TelemetrySpan['attributes'] {
  return Object.entries(given)
    .slice(0, ATTRIBUTES_MAX)
    .map(([name, value]) => ({
      name,
      value: (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, VALUE_MAX),
    }))
}
