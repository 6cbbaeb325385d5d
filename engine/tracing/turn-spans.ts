/** A turn of Ask that has ended as a tree of spans: the question, its calls of models, its calls of tools. */
import { createHash } from 'node:crypto'
import { toolsOf } from '../ask/tools/index.ts'
import type { EndedTurn } from '../ask/types.ts'
import { Tape } from '../runs/tape.ts'
import type { Step } from '../runs/types.ts'
import { attributesOf, cleaner } from './attributes.ts'
import { type Around, errorText, notesOf, type SpanOptions, stepSpans, type TraceSpan } from './spans.ts'

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
