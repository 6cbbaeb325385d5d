/**
 * A run that has ended as a tree of spans, after the GenAI conventions (SPEC.md, Outbound 6): the run,
 * and below it each call of its model and each call of a tool. Made of what is on the tape, so nothing in
 * the loop knows of it.
 */
import type { RunDetail } from '../../schemas/types.ts'
import type { ModelMessage } from '../models/types.ts'
import { resultsOf } from '../runs/results.ts'
import { Tape } from '../runs/tape.ts'
import type { Step } from '../runs/types.ts'
import { type Attributes, attributesOf, type Clean, cleaner, cut, type Given } from './attributes.ts'
import { argumentsOf, definitionsOf, FINISH_REASONS, inputMessages, outputMessages } from './messages.ts'

export interface TraceSpan {
  name: string
  kind: 'internal' | 'client'
  /** Epoch ms. */
  start: number
  end: number
  attributes: Attributes
  events: { name: string; at: number; attributes: Attributes }[]
  /** Its status is error, with this text, which may be empty; null: its status is unset. */
  error: string | null
  children: TraceSpan[]
}

/** What is asked of a trace besides the run. */
export interface SpanOptions {
  instance: string
  /** Labels of the event that woke it. */
  labels: Readonly<Record<string, string | number>>
  /** Off: no messages, prompts, arguments, results, and no text of a model or an error. */
  content: boolean
}

/** A model may call what no tool is named. */
const NAME_MAX = 128

type StepOf<K extends Step['kind']> = Extract<Step, { kind: K }>
type ToolStep = StepOf<'tool' | 'refused' | 'conclude'>

/** What the spans of one trace share. */
export interface Around {
  /** As it was asked for, and as it was; empty: not known. */
  model: { wanted: string; used: string; provider: string }
  steps: Step[]
  tape: Tape
  /** Attributes of every span. */
  common: Given
  content: boolean
  clean: Clean
  /** What its model was answered, by number of the step. */
  answers: ReturnType<Tape['answers']>
  /** Where a step that was not completed ends, epoch ms. */
  end: number
  /** What was said before the first step. */
  earlier?: readonly ModelMessage[]
}

/** @param run that has ended @returns its root span */
export function spansOf(run: RunDetail, options: SpanOptions): TraceSpan {
  const { instance, content } = options
  const steps = stepsOf(run)
  const made = Date.parse(run.started_at ?? run.made_at)
  const start = Math.min(made, ...steps.map(({ at }) => at))
  const last = Math.max(start, ...steps.map(({ at, ms }) => at + (ms ?? 0)))
  const end = run.finished_at === null ? last : Math.max(last, Date.parse(run.finished_at))
  const tape = new Tape(steps)
  const around: Around = {
    model: {
      wanted: typeof run.definition.model === 'string' ? run.definition.model : '',
      used: run.model ?? '',
      provider: run.provider || providerOf(run),
    },
    steps,
    tape,
    answers: tape.answers(),
    clean: cleaner(),
    common: {
      'session.id': run.id,
      'gen_ai.agent.name': run.agent,
      'gen_ai.agent.version': run.definition_hash,
      'user.id': instance,
    },
    content,
    end,
  }
  return {
    name: run.agent,
    kind: 'internal',
    start,
    end,
    attributes: attributesOf({ ...around.common, ...rootOf(run, around, options) }),
    events: notesOf(steps),
    error: run.status === 'failed' ? errorText(around, run.error) : null,
    children: stepSpans(around),
  }
}

/** What was said of a run besides, as events of its root. */
export const notesOf = (steps: readonly Step[]): TraceSpan['events'] =>
  steps.flatMap((step) =>
    step.kind === 'note'
      ? [{ name: 'svc.note', at: step.at, attributes: attributesOf({ 'svc.text': step.data.text }) }]
      : [],
  )

/** Each call of a model and of a tool. */
export const stepSpans = (around: Around): TraceSpan[] =>
  around.steps.flatMap((step) => {
    if (step.kind === 'model') return [modelSpan(around, step)]
    if (step.kind === 'tool' || step.kind === 'refused' || step.kind === 'conclude')
      return [toolSpan(around, step)]
    return []
  })

function rootOf(run: RunDetail, { steps, tape, content }: Around, { instance, labels }: SpanOptions): Given {
  const results = content ? resultsOf(steps) : []
  return {
    'gen_ai.operation.name': 'invoke_agent',
    'openinference.span.kind': 'AGENT',
    'input.value': content ? tape.prompt?.message : null,
    'output.value': content ? run.finding : null,
    'svc.run_id': run.id,
    'svc.dispatch_id': run.dispatch_id,
    'svc.trigger': run.trigger,
    'svc.key': run.key,
    ...Object.fromEntries(
      Object.entries(labels).map(([name, value]) => [`svc.label.${name}`, String(value)]),
    ),
    ...(run.label && run.key ? { [`svc.label.${run.label}`]: run.key } : {}),
    'svc.instance': instance,
    'svc.agent': run.agent,
    'svc.provider': run.provider,
    'svc.status': run.status,
    'svc.outcome': run.outcome,
    'svc.verdict': run.verdict,
    'svc.rounds': run.rounds,
    'svc.tool_calls': run.tool_calls,
    'svc.model_calls': steps.filter(({ kind }) => kind === 'model').length,
    'svc.cost_usd': run.cost_usd,
    'svc.results': results.map(({ url }) => url),
    'svc.note': content ? run.finding : null,
    'svc.run.skipped_reason': skippedReason(run, steps),
    'svc.woken_by': run.woken_by,
    'svc.parent_run_id': run.parent_run_id,
    'svc.practice': run.practice || null,
    'error.type': run.status === 'failed' ? (faultOf(steps) ?? 'failed') : null,
  }
}

/** Why a run could not do its work, as a word. */
function skippedReason(run: RunDetail, steps: readonly Step[]): string | null {
  // Only the cap of a day is refused with the name of its field.
  if (run.status === 'capped') return /\bdaily_cap\b/.test(run.error ?? '') ? 'daily_run_cap' : 'budget'
  const fault = faultOf(steps)
  return fault === 'no_provider' || fault === 'no_model' ? fault : null
}

/** Code of the fault of the last call, if that has one. */
function faultOf(steps: readonly Step[]): string | null {
  const last = steps.findLast((step) => step.kind === 'model')
  return last?.kind === 'model' ? (last.data.error?.code ?? null) : null
}

function modelSpan(around: Around, step: StepOf<'model'>): TraceSpan {
  const { steps, tape, common, content, clean, end, earlier = [] } = around
  const { asked, reply, error } = step.data
  const model = around.model.wanted || reply?.model || around.model.used
  const before = new Tape(steps.filter(({ n }) => n < step.n))
  const prompt = tape.prompt
  const isOpen = step.ms === null
  const usage = reply?.usage
  const reason = reply ? FINISH_REASONS[reply.stop] : null
  return {
    name: model ? `chat ${model}` : 'chat',
    kind: 'client',
    start: step.at,
    end: step.ms === null ? Math.max(step.at, end) : step.at + step.ms,
    attributes: attributesOf({
      ...common,
      'gen_ai.operation.name': 'chat',
      'openinference.span.kind': 'LLM',
      'gen_ai.provider.name': reply?.provider || around.model.provider,
      'gen_ai.request.model': model,
      'gen_ai.request.max_tokens': asked.max_tokens,
      'gen_ai.response.model': reply?.model,
      'gen_ai.response.finish_reasons': reason ? [reason] : null,
      'gen_ai.usage.input_tokens': usage?.input_tokens,
      'gen_ai.usage.output_tokens': usage?.output_tokens,
      'gen_ai.usage.cache_creation_input_tokens': usage?.cache_creation_input_tokens,
      'gen_ai.usage.cache_read_input_tokens': usage?.cache_read_input_tokens,
      'gen_ai.input.messages': content
        ? inputMessages(prompt?.system ?? '', [...earlier, ...before.messages()], clean)
        : null,
      'gen_ai.output.messages':
        content && reply && reason ? outputMessages(reply.text, reply.calls, reason, clean) : null,
      'gen_ai.tool.definitions': content ? definitionsOf(prompt?.tools ?? []) : null,
      'svc.cost_usd': reply?.costUsd,
      'svc.tries': reply?.tries,
      'error.type': error?.code ?? (isOpen ? 'interrupted' : null),
    }),
    events:
      reply?.firstTokenMs === null || reply?.firstTokenMs === undefined
        ? []
        : [{ name: 'gen_ai.first_token', at: step.at + reply.firstTokenMs, attributes: {} }],
    error: error ? errorText(around, error.message) : isOpen ? 'it was cut off' : null,
    children: [],
  }
}

/** What went wrong in words, which may be those of a model or a provider. */
export const errorText = ({ content, clean }: Around, text: string | null): string =>
  content ? cut(clean(text ?? '')) : ''

const providerOf = (run: RunDetail): string =>
  typeof run.definition.provider === 'string' ? run.definition.provider : ''

function toolSpan({ answers, common, content, clean, end }: Around, step: ToolStep): TraceSpan {
  const { call } = step.data
  const answer = answers.get(step.n)
  const given = content ? argumentsOf(call, clean) : null
  return {
    name: cut(clean(call.name.trim()), NAME_MAX) || 'tool',
    kind: 'internal',
    start: step.at,
    end: step.ms === null ? Math.max(step.at, end) : step.at + step.ms,
    attributes: attributesOf({
      ...common,
      'gen_ai.operation.name': 'execute_tool',
      'openinference.span.kind': 'TOOL',
      'gen_ai.tool.name': cut(clean(call.name.trim()), NAME_MAX),
      'gen_ai.tool.call.id': call.id,
      'gen_ai.tool.call.arguments': given,
      'input.value': given,
      'output.value': content ? answer?.content : null,
      'svc.mcp_server': step.kind === 'tool' ? step.data.server : null,
      // A tool's error is an answer to its model, not a fault of the run.
      'svc.tool_error': answer?.isError ? true : null,
      'error.type': answer?.isError ? 'tool_error' : null,
    }),
    events: [],
    error: null,
    children: [],
  }
}

function stepsOf(run: RunDetail): Step[] {
  return run.steps.map((step) => ({ ...step, at: Date.parse(step.at) }) as Step)
}
