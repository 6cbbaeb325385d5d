/**
 * How a plan is asked of a model: it may look at what is here first, then it must propose; what the check
 * finds is given back, until there is nothing more to fix or no round is left.
 */
import type { Clock } from '../../clock.ts'
import {
  ModelFault,
  type ModelMessage,
  type ModelReply,
  type Models,
  type ToolCall,
} from '../../models/types.ts'
import type { UsageEntry } from '../../models/usage.ts'
import { callInText } from '../../runs/text-call.ts'
import type { PlanningJob, PlanningPort } from './port.ts'
import { firstMessage, PLANNING_RULES } from './prompt.ts'
import { lookAt, type PlanningReads, PROPOSE, planningTools } from './tools.ts'

/** Calls until a plan must be proposed, and rounds of fixing after it. */
const CALLS_MAX = 4
const FIXES_MAX = 3
const OUTPUT_TOKENS = 8_000
const CALL_MS = 120_000

export interface TurnParts {
  port: PlanningPort & PlanningReads & { recordModelUsage(entry: UsageEntry): Promise<void> }
  models: Models
  clock: Clock
  signal: AbortSignal
}

/** @throws ModelFault; SvcError wrong_state when the planning is over; what the port throws */
export async function planTurn(job: PlanningJob, parts: TurnParts): Promise<void> {
  await new Turn(job, parts).go()
}

class Turn {
  private readonly messages: ModelMessage[]
  private readonly tools
  private calls = 0

  constructor(
    private readonly job: PlanningJob,
    private readonly parts: TurnParts,
  ) {
    this.messages = [{ role: 'user', text: firstMessage(job) }]
    this.tools = planningTools(job)
  }

  async go(): Promise<void> {
    // With nothing here to look at, the first thing to do is to write.
    if (this.job.facts.sources.length === 0) await this.parts.port.planningStep(this.job, 'write')
    for (;;) {
      const isLast = this.calls >= CALLS_MAX - 1
      const reply = await this.ask(isLast ? { tool: PROPOSE } : 'any')
      const proposed = reply.calls.find(({ name }) => name === PROPOSE)
      if (proposed) {
        await this.propose(reply, proposed)
        return
      }
      if (this.calls >= CALLS_MAX)
        throw new ModelFault(
          'malformed',
          'the model wrote no plan: check that it supports tool calling, or choose another one',
        )
      await this.look(reply)
    }
  }

  /** Looks at what was asked for; a reply without a call is told to make one. */
  private async look(reply: ModelReply): Promise<void> {
    this.messages.push({ role: 'assistant', text: reply.text, calls: reply.calls, raw: reply.raw })
    if (reply.calls.length === 0) {
      this.messages.push({ role: 'user', text: `Call the ${PROPOSE} tool with the plan now.` })
      return
    }
    const results = []
    for (const call of reply.calls) {
      this.parts.signal.throwIfAborted()
      results.push({ id: call.id, ...(await lookAt(call, this.job, this.parts.port)) })
    }
    this.messages.push({ role: 'tool', results })
    await this.parts.port.planningStep(this.job, 'write')
  }

  private async propose(first: ModelReply, given: ToolCall): Promise<void> {
    let reply = first
    let call: ToolCall | undefined = given
    for (let fixes = 0; ; fixes++) {
      const { problems, isOver } = await this.parts.port.proposePlan(this.job, call?.arguments ?? {})
      if (isOver || fixes >= FIXES_MAX) return
      const told = `The check found problems. Fix them and call ${PROPOSE} again with the whole plan; keep every key.\n${problems
        .map(({ where, message }) => `- ${where}: ${message}`)
        .join('\n')}`
      if (call) {
        const { id } = call
        const results = reply.calls.map((one) => ({
          id: one.id,
          content: one.id === id ? told : 'not looked at: the plan was proposed',
          isError: one.id === id,
        }))
        this.messages.push({ role: 'assistant', text: reply.text, calls: reply.calls, raw: reply.raw })
        this.messages.push({ role: 'tool', results })
      } else this.messages.push({ role: 'user', text: told })
      reply = await this.ask({ tool: PROPOSE })
      call = reply.calls.find(({ name }) => name === PROPOSE)
      if (!call) this.messages.push({ role: 'assistant', text: reply.text || '(nothing)', calls: [] })
    }
  }

  private async ask(choice: 'any' | { tool: string }): Promise<ModelReply> {
    const { models, signal, clock, port } = this.parts
    signal.throwIfAborted()
    const n = this.calls++
    const reply = await models.call({
      provider: '',
      model: '',
      system: PLANNING_RULES,
      messages: this.messages,
      tools: this.tools,
      choice,
      maxTokens: OUTPUT_TOKENS,
      timeoutMs: CALL_MS,
      signal,
    })
    await port.recordModelUsage({
      id: `setup ${this.job.project} ${this.job.attempt} ${n}`,
      at: clock.now(),
      surface: 'setup',
      agent: null,
      runId: null,
      practice: false,
      model: reply.model,
      provider: reply.provider,
      keySource: reply.keySource,
      calls: 1,
      usage: reply.usage,
      costUsd: reply.costUsd,
    })
    signal.throwIfAborted()
    if (reply.stop === 'length')
      throw new ModelFault(
        'malformed',
        'the plan was longer than the model may write at once; narrow the goal',
      )
    return withNames(reply, this.tools, n)
  }
}

/** Names of tools as they are, and a call that was written as text as a call. */
function withNames(reply: ModelReply, tools: ReturnType<typeof planningTools>, n: number): ModelReply {
  const calls = reply.calls.map((call) => {
    const wanted = call.name.trim().toLowerCase()
    return { ...call, name: tools.find(({ name }) => name === wanted)?.name ?? call.name }
  })
  if (calls.length) return { ...reply, calls }
  const written = callInText(reply.text, tools, `text_${n}`)
  // Nothing of the provider's own blocks says that it was a call.
  return written ? { ...reply, calls: [written], raw: undefined } : { ...reply, calls }
}
