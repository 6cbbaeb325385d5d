/**
 * A run of svc as parts of a trace: the run, below it each call of its model and of a tool, and what it hands over.
 * Nothing of it is stored: a run is on its tape, and is told in the shape of a trace, under the ids by which it is
 * exported.
 */
import { createHash } from 'node:crypto'
import type { TraceLink } from '../../../schemas/types.ts'
import type { ContextRow } from '../../log/brief/brief.ts'
import type { Database, Statement } from '../../log/store/handle.ts'
import type { TracePart } from '../../log/timeline/traces.ts'
import { redact, scrubbed } from '../../net/redact.ts'
import { isOpen, type RunRow, runQueries, type StepRow } from '../runs/queries.ts'
import type { StepData } from '../runs/types.ts'

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

/** The run before it, and those it handed over to, by the span of the run. */
export function runLinks(db: Database, run: RunRow): [string, TraceLink[]][] {
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
