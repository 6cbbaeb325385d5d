/**
 * One trace: all spans and events of its id as a tree, of svc's own runs the run with its steps. Nothing is stored for
 * the latter: a run is on its tape, and is told in the same shape, under the ids by which it is exported.
 */
import { createHash } from 'node:crypto'
import { escapeLine } from '../../../schemas/plain-text.ts'
import type { Trace, TraceLink, TraceRow } from '../../../schemas/types.ts'
import type { TraceAsked } from '../../calls.ts'
import { fail } from '../../errors.ts'
import {
  type ContextRow,
  cautiousTokens,
  SPAN_ID_LABELS,
  SPAN_PARENT_LABELS,
  shortened,
  shortNumber,
  TRACE_ID_LABELS,
} from '../../log/brief/brief.ts'
import { LINKED_TRACE_LABELS } from '../../log/ingest/label.ts'
import type { Steps } from '../../log/steps.ts'
import type { Database, Statement } from '../../log/store/handle.ts'
import type { ReadContext } from '../../log/timeline/context.ts'
import { type Around, type Looked, linesOf, placeOf } from '../../log/timeline/inspect-pages.ts'
import { iso } from '../../log/timeline/present.ts'
import {
  aroundOf,
  extentOf,
  type FoundTrace,
  fieldsIn,
  findTraceInSteps,
  inOrder,
  kindOf,
  linksInSteps,
  serviceOf,
  servicesOf,
  spanName,
  statusOf,
  TRACE_ROWS_MAX,
  type TracePart,
  toMicros,
} from '../../log/timeline/traces.ts'
import { levelNamed } from '../../model/units.ts'
import { redact, scrubbed } from '../../net/redact.ts'
import { isOpen, type RunRow, runQueries, type StepRow } from '../runs/queries.ts'
import type { StepData } from '../runs/types.ts'

const FAILED_LEVELS = new Set(['ERROR', 'FATAL'])

/** @throws SvcError invalid; not_found where neither an event that may be read nor a run has the id */
export function* traceInSteps(ctx: ReadContext, asked: TraceAsked, now: number): Steps<Trace> {
  ctx.names.refresh()
  const around = aroundOf(ctx, asked, now)
  const { run, ...whole } =
    (yield* wholeInSteps(around, asked.id)) ??
    fail('not_found', `no event that may be read here has the trace id ${asked.id}, and no run`, {
      field: 'id',
    })
  const { id, parts, others } = whole
  const links = yield* allLinksInSteps(around, { run, ...whole })
  const rows = rowsOfTree(parts, links)
  const spans = rows.filter(({ duration_ms }) => duration_ms !== null)
  return {
    ...{ id, ...extentOf(parts) },
    run: run && { id: run.id, agent: run.agent, status: run.state, is_open: isOpen(run.state) },
    services: servicesOf(parts),
    spans: spans.length,
    events: rows.length - spans.length,
    failed: rows.filter(({ is_failed }) => is_failed).length,
    rows,
    is_cut: parts.length >= TRACE_ROWS_MAX,
    others,
  }
}

/** Spans below the one that began them, events below their span; without recursion, for a chain may be long. */
function rowsOfTree(parts: readonly TracePart[], links: ReadonlyMap<string, TraceLink[]>): TraceRow[] {
  const first = Math.min(...parts.map(({ begin }) => begin))
  const spans = new Map(parts.flatMap((part) => (part.length === null ? [] : [[part.span, part]])))
  const below = new Map<TracePart | null, TracePart[]>()
  for (const part of [...parts].sort(inOrder)) {
    const above = spans.get(part.length === null ? part.span : part.parent) ?? null
    const parent = above === part ? null : above
    below.set(parent, [...(below.get(parent) ?? []), part])
  }
  const rows: TraceRow[] = []
  const seen = new Set<TracePart>()
  const walk = (roots: readonly TracePart[]): void => {
    const open = roots.map((part) => ({ part, depth: 0 })).reverse()
    for (let next = open.pop(); next; next = open.pop()) {
      const { part, depth } = next
      if (seen.has(part)) continue
      seen.add(part)
      const children = below.get(part) ?? []
      const isOrphan = part.parent !== '' && !spans.has(part.parent)
      const own = (part.length === null ? null : links.get(part.span)) ?? []
      // What names a span that is not stored stands on the first.
      const toNone = rows.length === 0 ? (links.get('') ?? []) : []
      const key = part.row.id || `step-${rows.length}`
      rows.push(rowOf(part, { first, depth, children, isOrphan, key, links: [...own, ...toNone] }))
      for (const child of children.toReversed()) open.push({ part: child, depth: depth + 1 })
    }
  }
  walk(below.get(null) ?? [])
  // Spans that name each other as their parents are below nothing.
  for (const part of parts) if (!seen.has(part)) walk([part])
  return rows
}

interface Place {
  /** Start of the trace, epoch ms. */
  first: number
  depth: number
  children: readonly TracePart[]
  isOrphan: boolean
  key: string
  links: TraceLink[]
}

function rowOf(part: TracePart, { first, depth, children, isOrphan, key, links }: Place): TraceRow {
  const { row, begin, length, span, parent, recorded, own } = part
  const isSpan = length !== null
  const status = isSpan ? statusOf(recorded) : null
  return {
    key,
    event_id: row.id || null,
    span_id: span || null,
    parent_id: (isSpan && parent) || null,
    is_orphan: isSpan && isOrphan,
    depth,
    offset_ms: toMicros(begin - first),
    duration_ms: isSpan ? toMicros(length) : null,
    self_ms: isSpan ? toMicros(selfOf(part, children)) : null,
    name: isSpan ? spanName(part) : row.text,
    service: serviceOf(part),
    source: own ? null : row.source,
    event_type: own ? null : row.type,
    kind: isSpan ? kindOf(recorded) : null,
    status,
    is_failed: own?.isFailed ?? (isSpan ? status === 'error' : FAILED_LEVELS.has(levelNamed(row.type) ?? '')),
    text: row.text,
    ...usedBy(part),
    run: own ? { id: own.run, round: own.round, step: own.step } : null,
    links,
  }
}

/** Tokens and cost, as svc knows them of its runs, and as others say by gen_ai.usage.*. */
function usedBy({ own, recorded }: TracePart): Pick<TraceRow, 'input_tokens' | 'output_tokens' | 'cost_usd'> {
  if (own)
    return {
      input_tokens: own.tokens?.input ?? null,
      output_tokens: own.tokens?.output ?? null,
      cost_usd: own.costUsd,
    }
  const given = fieldsIn(recorded.attributes)
  const count = (...names: string[]): number | null => {
    const value = Number(names.map((name) => given[name]).find((one) => one !== undefined) ?? Number.NaN)
    return Number.isSafeInteger(value) && value >= 0 ? value : null
  }
  return {
    // The names of before v1.27 of the conventions are still sent.
    input_tokens: count('gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens'),
    output_tokens: count('gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens'),
    cost_usd: null,
  }
}

/** How long a span was at work while none below it was: its length less what theirs cover of it. */
function selfOf({ begin, length }: TracePart, children: readonly TracePart[]): number {
  // From its own begin on: a time since 1970 in milliseconds has steps of a quarter of a microsecond, which add up.
  const end = length ?? 0
  let covered = 0
  let until = 0
  for (const child of children) {
    if (child.length === null) continue
    const offset = toMicros(child.begin - begin)
    const from = Math.max(offset, until)
    const to = Math.min(offset + child.length, end)
    if (to <= from) continue
    covered += to - from
    until = to
  }
  return (length ?? 0) - covered
}

/* The same as lines, for models. */

const TEXT_MAX = 340
const LABELS_MAX = 300
const DEPTH_MAX = 12

/** @throws SvcError invalid, not_found */
export function* traceLinesInSteps(around: Around): Steps<Looked> {
  const { question, budget } = around
  const { id = '' } = question
  const found = yield* wholeInSteps(around, id)
  if (found === null)
    return {
      heading: `No event that may be read here has the trace id ${id}`,
      text: 'no events',
      shown: [],
    }
  const { id: trace, parts: rows, run } = found
  const lines = linesOfTrace(rows, yield* allLinksInSteps(around, found))
  const begin = Math.min(...rows.map((one) => one.begin))
  const others =
    found.others.length > 0
      ? `; ${found.others.length} other trace ids begin like it: ${found.others.slice(0, 3).join(', ')}`
      : ''
  const most = rows.length >= TRACE_ROWS_MAX ? `, the first ${TRACE_ROWS_MAX} looked at` : ''
  const sources = new Set(rows.flatMap(({ row }) => row.source || [])).size
  const what = run
    ? `the run ${run.id} of the agent ${run.agent}, which ${run.state}, ${rows.length} steps and events`
    : `${rows.length} events and spans of ${sources} sources`
  const heading = `Trace ${trace}: ${what}${most}, begun ${iso(begin)}; ms after that, how long, whose${others}`
  const at = placeOf(question)
  const page = linesOf(
    lines.map(({ text }) => text),
    at,
    budget - cautiousTokens(`${heading}\n`),
  )
  return {
    heading,
    text: page.lines.join('\n'),
    shown: lines
      .slice(at, at + page.lines.length)
      .flatMap(({ row }): [string, number][] => (row.id ? [[row.id, 1]] : [])),
    next: page.next,
  }
}

function linesOfTrace(
  all: readonly TracePart[],
  links: ReadonlyMap<string, TraceLink[]>,
): { row: ContextRow; text: string }[] {
  const first = Math.min(...all.map(({ begin }) => begin))
  const parents = new Map(
    all.flatMap(({ span, parent, length }) => (length === null ? [] : [[span, parent]])),
  )
  const depthOf = ({ span, length }: TracePart): number => {
    let depth = length === null && parents.has(span) ? 1 : 0
    for (let at = parents.get(span); at && parents.has(at) && depth < DEPTH_MAX; at = parents.get(at)) depth++
    return depth
  }
  return [...all].sort(inOrder).map((one, n) => {
    const { id, source, type, entity, text, labels } = one.row
    const length = one.length === null ? '' : ` ${shortNumber(one.length)}ms`
    const named = Object.entries(labels)
      .filter(([name, value]) => !HIDDEN.has(name) && String(value) !== entity)
      .map(([name, value]) => `${name}=${value}`)
      .join(' ')
    const rest = named && !one.own ? ` {${escapeLine(redact(named)).slice(0, LABELS_MAX)}}` : ''
    const whose = one.own ? serviceOf(one) : entity
    const what = one.own ? ownWords(one) : `${source} ${type}`
    const linked = [
      ...((one.length === null ? undefined : links.get(one.span)) ?? []),
      ...(n === 0 ? (links.get('') ?? []) : []),
    ]
    return {
      row: one.row,
      text: `${'  '.repeat(depthOf(one))}${id ? `${id} ` : ''}+${Math.round(one.begin - first)}ms${length}${whose ? ` ${escapeLine(whose)}` : ''} ${what}: ${shortened(text, TEXT_MAX)}${rest}${linked.map(linkWords).join('')}`,
    }
  })
}

/** Which step of its run it is, and what it used. */
function ownWords({ own, length }: TracePart): string {
  const round = own?.round ? `round ${own.round}` : 'run'
  const tokens = own?.tokens ? `, ${own.tokens.input} tokens in, ${own.tokens.output} out` : ''
  return `${length === null ? `${round}, note` : round}${tokens}`
}

const LINKED_MAX = 4

function linkWords({ trace_id, span_id, direction, name, service }: TraceLink, n: number): string {
  if (n >= LINKED_MAX) return n === LINKED_MAX ? ' [more links]' : ''
  const what = name === null ? '' : ` (${escapeLine(redact(`${name}${service ? ` of ${service}` : ''}`))})`
  return ` [${direction === 'to' ? 'links to' : 'linked from'} trace ${escapeLine(trace_id)}${span_id ? ` span ${escapeLine(span_id)}` : ''}${what}]`
}

const HIDDEN = new Set<string>([
  ...[...TRACE_ID_LABELS, ...SPAN_ID_LABELS, ...SPAN_PARENT_LABELS, ...LINKED_TRACE_LABELS, 'signal'],
])

/* A run of svc as parts of a trace: the run, below it each call of its model and of a tool, what it hands over. */

/** Characters of arguments in a text, and of a text. */
const ARGUMENTS_MAX = 200
const TEXT_MOST = 1_000
/** As they are among the kinds of OpenTelemetry. */
const INTERNAL = 1
const CLIENT = 3
const FAILED = 2

/** Service of a run, and of svc's own tools. */
export const OWN_SERVICE = 'svc'
/** Service of a call of a model that no provider answered. */
export const UNANSWERED_SERVICE = 'model'

/** What a run can be asked for by, under the names of its export. */
const attributesOf = (run: RunRow): Record<string, string> =>
  Object.fromEntries(
    Object.entries({
      ...{ 'gen_ai.agent.name': run.agent, 'svc.run_id': run.id, 'svc.trigger': run.trigger_name },
      ...{ 'svc.key': run.entity, 'svc.status': run.state, 'svc.outcome': run.outcome },
      ...{ 'svc.verdict': run.verdict, 'svc.woken_by': run.woken_by },
    }).filter((entry): entry is [string, string] => Boolean(entry[1])),
  )

/** The id of a run's trace: that of the run without `run_`. */
export function traceIdOf(id: string): string {
  const own = id.slice(id.indexOf('_') + 1)
  return /^(?!0{32})[0-9a-f]{32}$/.test(own) ? own : hex(id, 32)
}

/** @param n of the span in its trace, the root first */
export const spanIdOf = (id: string, n: number): string => hex(`${id}/${n}`, 16)

const hex = (text: string, length: number): string =>
  createHash('sha256').update(text).digest('hex').slice(0, length)

interface Whole extends FoundTrace {
  run: RunRow | null
}

/** What was received under the id, and the run that has it. @param now runs that had not ended then are at work */
function* wholeInSteps(around: Around, asked: string): Steps<Whole | null> {
  const { db } = around.ctx
  const [run, ...alike] = runsOf(db, asked, around.projects)
  if (!run) {
    const found = yield* findTraceInSteps(around, asked)
    return found && { run: null, ...found }
  }
  const id = traceIdOf(run.id)
  const own = partsOfRun(db, run, around.now)
  const known = new Set(own.flatMap(({ span, length }) => (length === null ? [] : [span])))
  // Its own spans come back where runs are exported to this instance.
  const received = ((yield* findTraceInSteps(around, id, false))?.parts ?? []).filter(
    ({ span, length }) => length === null || !known.has(span),
  )
  return { run, id, parts: [...own, ...received], others: alike.map((one) => traceIdOf(one.id)) }
}

/** Newest first. @param asked the id of a run, or that of its trace, whole or its first characters. @param projects none: all */
export function runsOf(db: Database, asked: string, projects: readonly string[]): RunRow[] {
  const id = asked.startsWith('run_') ? asked : `run_${asked}`
  if (!/^run_[0-9a-f]{8,32}$/.test(id)) return []
  const found =
    byIds.get(db) ??
    db.prepare<[{ id: string; end: string; projects: string | null }], RunRow>(
      `SELECT * FROM runs WHERE id >= @id AND id < @end AND (@projects IS NULL OR id IN (
         SELECT r.run_id FROM run_projects r JOIN projects p ON p.id = r.project
         WHERE p.id IN (SELECT value FROM json_each(@projects)) OR p.name IN (SELECT value FROM json_each(@projects))))
       ORDER BY id DESC LIMIT 50`,
    )
  byIds.set(db, found)
  return found.all({ id, end: `${id}g`, projects: projects.length ? JSON.stringify(projects) : null })
}

/** The statement of a connection, prepared once: a list looks up each trace it looks into. */
const byIds = new WeakMap<
  Database,
  Statement<[{ id: string; end: string; projects: string | null }], RunRow>
>()

/** @param isShort of each step what a list shows: names, tokens and faults, without what was said; texts are empty */
export function partsOfRun(db: Database, run: RunRow, now: number, isShort = false): TracePart[] {
  const queries = runQueries(db)
  const steps = (isShort ? queries.shortSteps : queries.steps).all(run.id)
  const isAtWork = isOpen(run.state)
  const began = Math.min(run.started_at ?? run.made_at, ...steps.map(({ at }) => at))
  const last = Math.max(began, ...steps.map(({ at, ms }) => at + (ms ?? 0)))
  const end = isAtWork ? Math.max(last, now) : Math.max(last, run.finished_at ?? last)
  const told = new Telling(run, isAtWork, end, isShort)
  return [
    told.whole(began),
    ...steps.flatMap((step) => told.step(step)),
    ...queries.handoffsFrom.all(run.id).map((handoff) =>
      told.point(
        handoff.at,
        `hands over to ${handoff.to_agent}, verdict ${handoff.verdict}: ${handoff.state}`,
        {
          round: null,
          step: null,
        },
      ),
    ),
  ]
}

/** What is told of a part besides its place. */
interface Told {
  name: string
  text: string
  service: string
  kind: number
  error: boolean
  /** As they are exported; absent: none are told. */
  attributes?: Record<string, string>
  own: Pick<NonNullable<TracePart['own']>, 'round' | 'step' | 'isFailed' | 'tokens' | 'costUsd'>
}

/** Makes the parts of one run, whose spans are numbered as they are exported: the run, then each call. */
class Telling {
  private spans = 1

  constructor(
    private readonly run: RunRow,
    private readonly isAtWork: boolean,
    /** Where what was not completed ends, epoch ms. */
    private readonly end: number,
    private readonly isShort = false,
  ) {}

  whole(began: number): TracePart {
    const { agent, state, headline, error, rounds, input_tokens, output_tokens, cost_usd } = this.run
    const { cache_creation_input_tokens: written, cache_read_input_tokens: read, uncosted_calls } = this.run
    const isPriced = rounds > 0 && uncosted_calls === 0
    return this.span(began, this.end - began, 0, {
      ...{ name: agent, service: OWN_SERVICE, kind: INTERNAL, error: state === 'failed' },
      attributes: attributesOf(this.run),
      text: `${agent} ${state}${headline ? `: ${headline}` : ''}${error ? `: ${error}` : ''}`,
      own: {
        ...{ round: null, step: null, isFailed: state === 'failed' },
        tokens: { input: input_tokens + written + read, output: output_tokens },
        costUsd: isPriced ? cost_usd : null,
      },
    })
  }

  step({ kind, at, ms, data: written, ...of }: StepRow): TracePart[] {
    const place = { round: of.round, step: of.n }
    const data: unknown = JSON.parse(written)
    if (kind === 'note') return [this.point(at, (data as StepData['note']).text, place)]
    const told =
      kind === 'model'
        ? this.modelCall(data as StepData['model'], ms)
        : kind === 'tool' || kind === 'refused' || kind === 'conclude'
          ? this.toolCall(kind, data as StepData['tool'] & StepData['refused'] & StepData['conclude'])
          : null
    if (told === null) return []
    const length = ms ?? Math.max(0, this.end - at)
    return [this.span(at, length, this.spans++, { ...told, own: { ...told.own, ...place } })]
  }

  private modelCall({ asked, reply, error }: StepData['model'], ms: number | null): Told {
    const model = reply?.model || this.run.model || ''
    const isCutOff = ms === null && !this.isAtWork
    const calls = reply?.calls.map(({ name }) => name) ?? []
    const wants = calls.length > 0 ? `asks for ${calls.join(', ')}` : 'answers'
    const fault = error ? `${error.code}: ${error.message}` : isCutOff ? 'it was cut off' : null
    const usage = reply?.usage
    const input = usage
      ? usage.input_tokens + (usage.cache_creation_input_tokens ?? 0) + (usage.cache_read_input_tokens ?? 0)
      : 0
    return {
      name: model ? `chat ${model}` : 'chat',
      text: fault ?? (reply ? `${model} ${wants}` : `is asked for at most ${asked.max_tokens} tokens`),
      service: reply?.provider || this.run.provider || UNANSWERED_SERVICE,
      kind: CLIENT,
      error: fault !== null,
      own: {
        ...{ round: null, step: null, isFailed: fault !== null },
        tokens: usage ? { input, output: usage.output_tokens } : null,
        costUsd: reply?.costUsd ?? null,
      },
    }
  }

  private toolCall(
    kind: 'tool' | 'refused' | 'conclude',
    {
      call,
      server,
      is_error,
      result,
      reason,
      fault,
    }: StepData['tool'] & StepData['refused'] & StepData['conclude'],
  ): Told {
    const given = this.isShort ? '' : JSON.stringify(scrubbed(call.arguments ?? {})).slice(0, ARGUMENTS_MAX)
    const wrong =
      kind === 'refused' ? reason : kind === 'conclude' ? fault : is_error ? (result ?? 'error') : null
    return {
      name: call.name.trim() || 'tool',
      text: `${call.name} ${given}${wrong ? `: ${wrong}` : ''}`,
      service: (kind === 'tool' && server) || OWN_SERVICE,
      kind: INTERNAL,
      // A tool's error is an answer to its model, not a fault of the run.
      error: false,
      own: { round: null, step: null, isFailed: wrong !== null, tokens: null, costUsd: null },
    }
  }

  private span(
    begin: number,
    length: number,
    n: number,
    { name, text, service, kind, error, attributes, own }: Told,
  ): TracePart {
    const { id } = this.run
    return {
      ...{
        begin,
        length,
        trace: traceIdOf(id),
        span: spanIdOf(id, n),
        parent: n === 0 ? '' : spanIdOf(id, 0),
      },
      row: this.row(begin, text, service),
      recorded: { name: redact(name), kind, status: error ? { code: FAILED } : {}, attributes },
      own: { run: id, ...own },
    }
  }

  /** What took no time: a note, a handoff. */
  point(at: number, text: string, place: { round: number | null; step: number | null }): TracePart {
    const { id } = this.run
    return {
      ...{ begin: at, length: null, trace: traceIdOf(id), span: spanIdOf(id, 0), parent: '' },
      row: this.row(at, text, OWN_SERVICE),
      recorded: {},
      own: { run: id, ...place, isFailed: false, tokens: null, costUsd: null },
    }
  }

  /** It is no event, and has no id of one. */
  private row(at: number, text: string, service: string): ContextRow {
    const { label, entity } = this.run
    return {
      ...{ id: '', source: '', type: '', at, entity, values: {}, isSample: false },
      text: this.isShort ? '' : redact(text.slice(0, TEXT_MOST)),
      labels: { [label]: entity, service },
    }
  }
}

/** Links of what was received, and of the run. */
function* allLinksInSteps(around: Around, whole: Whole): Steps<Map<string, TraceLink[]>> {
  const links = yield* linksInSteps(around, whole)
  if (whole.run)
    for (const [span, all] of runLinks(around.ctx.db, whole.run))
      links.set(span, [...(links.get(span) ?? []), ...all])
  return links
}

/** The run before it, and those it handed over to, by the span of the run. */
function runLinks(db: Database, run: RunRow): [string, TraceLink[]][] {
  const queries = runQueries(db)
  const link = (id: string, agent: string, direction: TraceLink['direction']): TraceLink => ({
    ...{ trace_id: traceIdOf(id), span_id: spanIdOf(id, 0), direction, name: agent, service: OWN_SERVICE },
  })
  const before = run.parent_run_id === null ? undefined : queries.byId.get(run.parent_run_id)
  const after = queries.handoffsFrom
    .all(run.id)
    .flatMap(({ to_run, to_agent }) => (to_run === null ? [] : [link(to_run, to_agent, 'from')]))
  const all = [...(before ? [link(before.id, before.agent, 'to')] : []), ...after]
  return all.length ? [[spanIdOf(run.id, 0), all]] : []
}
