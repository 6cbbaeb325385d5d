/**
 * A run that has ended as a tree of spans, after the GenAI conventions (SPEC.md, Outbound 6): the run,
 * and below it each call of its model and each call of a tool. Made of what is on the tape, so nothing in
 * the loop knows of it.
 */

import { createHash } from 'node:crypto'
import type { RunDetail } from '../../../schemas/types.ts'
import { type Clean, redact, scrubbed } from '../../net/redact.ts'
import type { EndedTurn } from '../ask/calls.ts'
import { toolsOf } from '../ask/tool-calls.ts'
import type { ModelMessage, ToolCall, ToolSpec } from '../models/types.ts'
import { resultsOf } from '../runs/prompt.ts'
import { Tape } from '../runs/tape.ts'
import type { Step } from '../runs/types.ts'

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
interface SpanOptions {
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
interface Around {
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
const notesOf = (steps: readonly Step[]): TraceSpan['events'] =>
  steps.flatMap((step) =>
    step.kind === 'note'
      ? [{ name: 'svc.note', at: step.at, attributes: attributesOf({ 'svc.text': step.data.text }) }]
      : [],
  )

/** Each call of a model and of a tool. */
const stepSpans = (around: Around): TraceSpan[] =>
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
const errorText = ({ content, clean }: Around, text: string | null): string =>
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

/* A turn of Ask that has ended as a tree of spans: the question, its calls of models, its calls of tools. */

const AGENTS = { ask: 'ask', build: 'project-builder' } as const

/** @returns its root span, named after the agent it stands for */
export function turnSpans(
  { turn, steps, earlier }: EndedTurn,
  { instance, content }: Pick<SpanOptions, 'instance' | 'content'>,
): TraceSpan {
  const agent = AGENTS[turn.mode]
  const start = Date.parse(turn.asked_at)
  const last = Math.max(start, ...steps.map(({ at, ms }) => at + (ms ?? 0)))
  const end = turn.finished_at === null ? last : Math.max(last, Date.parse(turn.finished_at))
  const whole = withTools({ turn, steps })
  const tape = new Tape(whole)
  const around: Around = {
    model: { wanted: '', used: turn.model, provider: turn.provider },
    steps: whole,
    tape,
    answers: tape.answers(),
    clean: cleaner(),
    common: {
      'session.id': turn.session ?? turn.id,
      'gen_ai.agent.name': agent,
      'gen_ai.agent.version': versionOf(tape.prompt?.system ?? ''),
      'user.id': instance,
    },
    content,
    end,
    earlier,
  }
  const failed = turn.state === 'failed'
  const fault = steps.findLast((step) => step.kind === 'model')?.data as
    | { error?: { code: string } }
    | undefined
  return {
    name: agent,
    kind: 'internal',
    start,
    end,
    attributes: attributesOf({
      ...around.common,
      'gen_ai.operation.name': 'invoke_agent',
      'openinference.span.kind': 'CHAIN',
      'input.value': content ? turn.question : null,
      'output.value': content ? turn.answer : null,
      'svc.ask_turn': turn.id,
      'svc.ask_step': turn.step,
      'svc.instance': instance,
      'svc.agent': agent,
      'svc.provider': turn.provider,
      'svc.status': turn.state,
      'svc.rounds': turn.rounds,
      'svc.tool_calls': turn.tool_calls,
      'svc.model_calls': steps.filter(({ kind }) => kind === 'model').length,
      'svc.cost_usd': turn.cost_usd,
      'error.type': failed ? (fault?.error?.code ?? 'failed') : null,
    }),
    events: notesOf(steps),
    error: failed ? errorText(around, turn.error) : null,
    children: stepSpans(around),
  }
}

/** The prompt with the whole tools, of which its step keeps the names. */
function withTools({ turn, steps }: Pick<EndedTurn, 'turn' | 'steps'>): Step[] {
  const tools = toolsOf(turn.mode, turn.step).map(({ spec }) => spec)
  return steps.map((step) => (step.kind === 'prompt' ? { ...step, data: { ...step.data, tools } } : step))
}

/** Of the instructions without the time that ends them. */
const versionOf = (system: string): string =>
  createHash('sha256')
    .update(system.slice(0, system.lastIndexOf('\n')))
    .digest('hex')
    .slice(0, 12)

/* Conversations, tool calls and tool definitions as GenAI attributes write them: JSON, redacted, within bounds. */

type Part =
  | { type: 'text'; content: string }
  | { type: 'tool_call'; id: string; name: string; arguments: unknown }
  | { type: 'tool_call_response'; id: string; response: string }

/** Messages that are kept whatever follows: the instructions and what is asked. */
const FIRST = 2

interface Message {
  role: 'system' | 'user' | 'assistant' | 'tool'
  parts: Part[]
  finish_reason?: string
}

/** What a model is asked. @param system text that goes before the conversation */
export function inputMessages(system: string, messages: readonly ModelMessage[], clean: Clean): string {
  const first: Message[] = system ? [{ role: 'system', parts: [{ type: 'text', content: system }] }] : []
  return fitted(scrubbed([...first, ...messages.map(messageOf)], clean) as Message[])
}

/** What a model answers. */
function outputMessages(
  text: string,
  calls: readonly ToolCall[],
  finishReason: string,
  clean: Clean,
): string {
  const message = scrubbed(messageOf({ role: 'assistant', text, calls: [...calls] }), clean) as Message
  return fitted([{ ...message, finish_reason: finishReason }])
}

/** Arguments of a call. */
function argumentsOf(call: ToolCall, clean: Clean): string {
  const given = scrubbed(call.arguments, clean)
  return fittedJson(given) ?? cut(JSON.stringify(given))
}

/** Definitions without what does not fit, so that the JSON holds: schemas go first, then descriptions. */
export function definitionsOf(tools: readonly ToolSpec[]): string | null {
  if (tools.length === 0) return null
  const whole = tools.map(({ name, description, input }) => ({
    type: 'function',
    name,
    description,
    parameters: input,
  }))
  const described = whole.map(({ parameters: _schema, ...rest }) => rest)
  const named = described.map(({ description: _text, ...rest }) => rest)
  for (const form of [whole, described, named]) {
    const text = JSON.stringify(form)
    if (text.length <= ATTRIBUTE_MAX) return text
  }
  return fitting(named)
}

const FINISH_REASONS = {
  end: 'stop',
  tools: 'tool_calls',
  length: 'length',
  refusal: 'content_filter',
  filter: 'content_filter',
} as const

function messageOf(message: ModelMessage): Message {
  if (message.role === 'user') return { role: 'user', parts: [{ type: 'text', content: message.text }] }
  if (message.role === 'tool')
    return {
      role: 'tool',
      parts: message.results.map(({ id, content }) => ({
        type: 'tool_call_response',
        id,
        response: content,
      })),
    }
  const text: Part[] = message.text ? [{ type: 'text', content: message.text }] : []
  return {
    role: 'assistant',
    parts: [
      ...text,
      ...message.calls.map(
        ({ id, name, arguments: given }): Part => ({ type: 'tool_call', id, name, arguments: given }),
      ),
    ],
  }
}

/** Texts are cut first; then messages in the middle are left out, for the first say what is asked, the last why. */
function fitted(messages: readonly Message[]): string {
  const whole = fittedJson(messages)
  if (whole !== null) return whole
  // Their sizes say how many fit: tried one by one, a long conversation takes seconds.
  const sizes = messages.map(leastSize)
  let from = messages.length
  let left = ATTRIBUTE_MAX - 2 - sizes.slice(0, FIRST).reduce((sum, size) => sum + size + 1, 0)
  while (from > FIRST && left > sizes[from - 1]!) left -= sizes[--from]! + 1
  const kept = [...messages.slice(0, FIRST), ...messages.slice(from)]
  return fittedJson(kept) ?? cut(JSON.stringify(kept))
}

/** As many of the first as fit. */
function fitting(list: readonly unknown[]): string {
  let count = list.length
  let text = JSON.stringify(list)
  while (text.length > ATTRIBUTE_MAX) {
    count = Math.floor(count * 0.9)
    text = JSON.stringify(list.slice(0, count))
  }
  return text
}

/*
 * Values as spans carry them: without what looks like a secret, within 32,768 characters, and absent
 * where there is nothing to say.
 */

type Attribute = string | number | boolean | string[]
type Attributes = Record<string, Attribute>
/** What is null, empty text or an empty list is left out. */
type Given = Record<string, Attribute | null | undefined>

/** Characters of one attribute. */
export const ATTRIBUTE_MAX = 32_768
/** To these the texts within a structure are cut, one after the other, until it fits. */
const TEXT_LIMITS = [8_192, 2_048, 512, 128]

/** @returns attributes that say something, redacted and cut */
export function attributesOf(given: Given): Attributes {
  const kept: Attributes = {}
  for (const [name, value] of Object.entries(given)) {
    if (value === null || value === undefined) continue
    if (typeof value === 'number' && !Number.isFinite(value)) continue
    if (typeof value !== 'string' && !Array.isArray(value)) kept[name] = value
    else if (value.length > 0)
      kept[name] = typeof value === 'string' ? cut(redact(value)) : value.map((one) => cut(redact(one)))
  }
  return kept
}

/** @returns at most so many characters, none of them half of a pair */
function cut(text: string, max: number = ATTRIBUTE_MAX): string {
  if (text.length <= max) return text
  const last = text.charCodeAt(max - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? max - 1 : max)
}

/** For one run: each call of its model is asked all that was said before, and the same text is looked through once. */
export function cleaner(): Clean {
  const known = new Map<string, string>()
  return (text) => {
    const clean = known.get(text) ?? redact(text)
    known.set(text, clean)
    return clean
  }
}

/**
 * JSON of a structure that is scrubbed already, within the limit of an attribute.
 * @returns null where cutting its texts alone does not make it fit
 */
function fittedJson(value: unknown): string | null {
  const whole = JSON.stringify(value)
  if (whole.length <= ATTRIBUTE_MAX) return whole
  for (const limit of TEXT_LIMITS) {
    const text = JSON.stringify(shortened(value, limit))
    if (text.length <= ATTRIBUTE_MAX) return text
  }
  return null
}

/** Characters of the JSON of a structure whose texts are cut as far as they are. */
const leastSize = (value: unknown): number => JSON.stringify(shortened(value, TEXT_LIMITS.at(-1)!)).length

function shortened(value: unknown, limit: number): unknown {
  if (typeof value === 'string') return value.length > limit ? `${cut(value, limit)}…` : value
  if (Array.isArray(value)) return value.map((inner) => shortened(inner, limit))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shortened(inner, limit)]))
}
