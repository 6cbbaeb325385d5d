/**
 * How a plan is asked of a model: it may look at what is here first, then it must propose; what the check
 * finds is given back, until there is nothing more to fix or no round is left.
 */
import type { Clock, Timers } from '../../clock.ts'
import { within } from '../../egress/index.ts'
import { roomAfter } from '../../models/output-bounds.ts'
import { nextTry, type Waited, waitWords } from '../../models/patience.ts'
import {
  ModelFault,
  type ModelMessage,
  type ModelReply,
  type Models,
  type ToolCall,
} from '../../models/types.ts'
import type { UsageEntry } from '../../models/usage.ts'
import { shortened } from '../../runs/compact.ts'
import { callInText } from '../../runs/text-call.ts'
import type { PlanningJob, PlanningPort } from './port.ts'
import { firstMessage, PLANNING_RULES } from './prompt.ts'
import { lookAt, type PlanningReads, PROPOSE, planningTools } from './tools.ts'

/** Calls until a plan must be proposed, and rounds of fixing after it. */
const CALLS_MAX = 4
const FIXES_MAX = 3
const OUTPUT_TOKENS = 8_000
/** Plans that were cut off; one more, and there is none. */
const CUTS_MAX = 2

export interface TurnParts {
  port: PlanningPort & PlanningReads & { recordModelUsage(entry: UsageEntry): Promise<void> }
  models: Models
  clock: Clock
  timers: Timers
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
  private cuts = 0

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

  /** A reply that came whole: one that was cut off is asked for again, with more room. */
  private async ask(choice: 'any' | { tool: string }): Promise<ModelReply> {
    const n = this.calls++
    for (;;) {
      const reply = await this.askOnce(choice, `${n}${this.cuts ? `.${this.cuts}` : ''}`)
      if (reply.stop === 'refusal') throw new ModelFault('refused', 'the model refused to write a plan')
      if (reply.stop !== 'length') return withNames(reply, this.tools, n)
      if (++this.cuts > CUTS_MAX)
        throw new ModelFault(
          'malformed',
          'the plan was longer than the model may write at once; narrow the goal, or choose a model that may write more',
        )
    }
  }

  private async askOnce(choice: 'any' | { tool: string }, n: string): Promise<ModelReply> {
    const { models, signal, clock, port } = this.parts
    signal.throwIfAborted()
    const { outputTokens } = await models.resolve('', '')
    const request = {
      provider: '',
      model: '',
      system: PLANNING_RULES,
      tools: this.tools,
      choice,
      maxTokens: roomAfter(OUTPUT_TOKENS, this.cuts, outputTokens),
      signal,
    }
    const reply = await this.patiently(() => models.call({ ...request, messages: this.messages }))
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
    return reply
  }

  /** Asks again what was too long, once it is shorter, and a model that is not to be had, as long as runs wait for theirs. */
  private async patiently(call: () => Promise<ModelReply>): Promise<ModelReply> {
    const { port, signal } = this.parts
    let waited: Waited = { since: null, tries: 0 }
    for (;;) {
      try {
        const reply = await call()
        if (waited.since !== null) await port.planningWait(this.job, null)
        return reply
      } catch (error) {
        signal.throwIfAborted()
        if (!(error instanceof ModelFault)) throw error
        if (error.code === 'overflow' && this.compact()) continue
        if (!error.later) throw error
        waited = await this.wait(error, error.later.waitMs, waited)
      }
    }
  }

  /** @param asked milliseconds, as the provider says. @throws ModelFault where it must not wait any longer; an abort */
  private async wait(fault: ModelFault, asked: number | null, waited: Waited): Promise<Waited> {
    const { clock, timers, port, signal } = this.parts
    const { code, message, provider } = fault
    const reason = provider && !message.startsWith(provider) ? `${provider}: ${message}` : message
    const next = nextTry(waited, clock.now(), asked, 'planning')
    if ('refusal' in next) throw new ModelFault(code, `${reason}; ${next.refusal}`)
    await port.planningWait(this.job, waitWords({ until: next.until, asked: asked !== null, reason }))
    await within(timers, next.until - clock.now(), signal, new Promise<never>(() => {}))
    signal.throwIfAborted()
    return { since: next.since, tries: waited.tries + 1 }
  }

  /** What was said is longer than the model takes. @returns whether it is shorter now */
  private compact(): boolean {
    let isShorter = false
    for (const [i, message] of this.messages.entries()) {
      if (message.role !== 'tool') continue
      const results = message.results.map((result) => ({ ...result, content: shortened(result.content) }))
      isShorter ||= results.some(({ content }, at) => content !== message.results[at]!.content)
      this.messages[i] = { role: 'tool', results }
    }
    return isShorter
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
