/**
 * One question, from its asking to its end. Each step is stored before the next is taken; the text of
 * the model is told as it comes.
 */
import type { AskFrame } from '../../../schemas/types.ts'
import type { Clock } from '../../clock.ts'
import { roomAfter } from '../models/adapter.ts'
import { nextTry } from '../models/faults.ts'
import { type Reserved, reserveCall } from '../models/reserving.ts'
import {
  ModelFault,
  type ModelMessage,
  type ModelReply,
  type Models,
  type ToolCall,
} from '../models/types.ts'
import { AT_ONCE } from '../runs/loop.ts'
import { callInText, isCut, Tape } from '../runs/tape.ts'

import type { Step, StepData, StepKind, StepWrite } from '../runs/types.ts'
import {
  type AskPort,
  type BegunTurn,
  CLOSING,
  CUT,
  type NewTurn,
  parkedOf,
  ROUNDS,
  shownOf,
  type TurnEnd,
  waitFrame,
} from './calls.ts'

import { joined } from './queries.ts'
import type { AskTool, ToolWorld } from './tool-calls.ts'
import { callTool } from './tools.ts'

const OUTPUT_TOKENS = 2_048
/** Replies of a turn whose calls were cut off; one more, and it ends. */
const CUTS_MAX = 3
/** Calls of tools that are made of one reply. */
const CALLS_MAX = 16
const OVER = 'Your rounds are used up. Answer now with what you found, and say what you did not get to see.'

export interface TurnParts {
  port: Pick<AskPort, 'recordAskSteps' | 'beginAskCall'>
  models: Models
  tools: readonly AskTool[]
  world: ToolWorld
  clock: Clock
  /** Ends what is asked: a person, the deadline, or the daemon's stop. */
  signal: AbortSignal
  system: string
  tell(frame: AskFrame): void
  /** Resolves when a call that held money has ended. @throws an abort of the signal */
  moneyFreed(): Promise<void>
  /** Resolves then (epoch ms); what is waited is no part of the time of the turn. @throws an abort of the signal */
  waitUntil(at: number): Promise<void>
}

type Asked = Pick<NewTurn, 'question' | 'model'>

/** A turn at work. */
export class Turn {
  /** Of the reply that is coming in. */
  private partial = ''
  private readonly tape = new Tape([])

  constructor(
    private readonly begun: BegunTurn,
    private readonly asked: Asked,
    private readonly parts: TurnParts,
  ) {}

  get steps(): Step[] {
    return this.tape.steps
  }

  get earlier(): ModelMessage[] {
    return this.begun.earlier
  }

  /** What there is of an answer. */
  get answer(): string {
    const whole = this.steps.flatMap((step) => (step.kind === 'model' ? (step.data.reply?.text ?? []) : []))
    return joined([...whole, this.partial])
  }

  /** @returns how it ends; the caller writes that. @throws what the port throws; an abort of the signal */
  async go(): Promise<TurnEnd> {
    const { system, tools } = this.parts
    const { question } = this.asked
    // Their schemas are the program's: the row names them.
    const named = tools.map(({ spec }) => ({ name: spec.name, description: '', input: {} }))
    await this.write('prompt', 0, {
      system,
      message: question,
      tools: named,
      marker: this.begun.marker,
      shown: [],
    })
    for (;;) {
      const ended = await this.round()
      if (ended) return ended
    }
  }

  private async round(): Promise<TurnEnd | null> {
    const { tape } = this
    const isLast = tape.rounds >= ROUNDS
    if (isLast) await this.write('note', tape.rounds, { text: 'its rounds were used up', say: OVER })
    const reply = await this.ask(isLast)
    if (typeof reply === 'string') return { event: 'fail', answer: this.answer, error: reply }
    if (reply.stop === 'refusal')
      return { event: 'fail', answer: this.answer, error: 'the model refused to answer' }
    if (isLast && isCut(reply)) return this.cutShort()
    if (isLast) {
      this.parts.tell({ type: 'text', text: CLOSING })
      return { event: 'exhaust', answer: `${this.answer}${CLOSING}`.trim(), error: null }
    }
    if (reply.calls.length === 0) return this.weigh(reply)
    if (isCut(reply) && tape.cuts > CUTS_MAX) return this.cutShort()
    await this.answerCalls(reply.calls)
    return null
  }

  /** What was said ends in the middle, and is told so. */
  private cutShort(): TurnEnd {
    this.parts.tell({ type: 'text', text: CUT })
    return { event: 'exhaust', answer: `${this.answer}${CUT}`.trim(), error: null }
  }

  private weigh(reply: ModelReply): TurnEnd {
    const { answer } = this
    if (isCut(reply)) return this.cutShort()
    if (reply.text.trim() || this.tape.toolCalls > 0)
      return answer
        ? { event: 'answer', answer, error: null }
        : { event: 'fail', answer, error: 'the model ended without a word; ask again' }
    return {
      event: 'fail',
      answer,
      error: 'the model gave no text and called no tool; check that it supports tool calling',
    }
  }

  /** @returns the reply, or why there is none */
  private async ask(isLast: boolean): Promise<ModelReply | string> {
    const { parts, tape } = this
    parts.signal.throwIfAborted()
    const choice = isLast ? ('none' as const) : ('auto' as const)
    const at = parts.clock.now()
    const n = tape.next
    const round = tape.rounds + 1
    let asked: StepData['model']['asked'] = { choice, max_tokens: OUTPUT_TOKENS, ceiling_usd: null }
    try {
      const request = {
        provider: '',
        model: this.asked.model,
        system: parts.system,
        messages: [...this.begun.earlier, ...tape.messages()],
        tools: parts.tools.map(({ spec }) => spec),
        choice,
        maxTokens: await this.room(),
      }
      let begun: StepWrite | null = null
      const begin = (reserved: Reserved) => {
        asked = { ...asked, max_tokens: reserved.maxTokens, ceiling_usd: reserved.ceilingUsd }
        begun = { n, kind: 'model', round, at, ms: null, data: { asked } }
        return parts.port.beginAskCall(this.begun.id, begun, reserved.ceilingUsd)
      }
      const reserved = await reserveCall(parts.models, request, begin, () => parts.moneyFreed())
      if (typeof reserved === 'string') return reserved
      tape.put(begun!)
      const reply = this.readCalls(
        await parts.models.call({
          ...request,
          maxTokens: reserved.maxTokens,
          signal: parts.signal,
          onText: (delta) => this.hear(delta),
          onAgain: () => this.unhear(),
        }),
      )
      this.partial = ''
      const { ms, ...kept } = reply
      await this.put([{ n, kind: 'model', round, at, ms, data: { asked, reply: kept } }])
      return reply
    } catch (error) {
      if (!(error instanceof ModelFault)) throw error
      const { code, message, provider, later } = error
      const ms = parts.clock.now() - at
      await this.put([{ n, kind: 'model', round, at, ms, data: { asked, error: { code, message } } }])
      if (code === 'aborted') throw error
      if (code === 'overflow' && (await this.compact())) return this.ask(isLast)
      const reason = provider && !message.startsWith(provider) ? `${provider}: ${message}` : message
      const refusal = later ? await this.park(reason, later.waitMs) : ''
      if (refusal === null) return this.ask(isLast)
      return refusal ? `${reason}; ${refusal}` : reason
    }
  }

  /**
   * The model is not to be had: it waits, and who reads is told until when.
   * @param asked milliseconds, as the provider says. @returns why it must not wait any longer; null: it waited
   */
  private async park(reason: string, asked: number | null): Promise<string | null> {
    const { tape, parts } = this
    // What was told of the reply that broke off is void.
    if (this.partial !== '') this.unhear()
    const before = parkedOf(tape.steps)
    const now = parts.clock.now()
    const next = nextTry({ since: before?.since ?? null, tries: before?.tries ?? 0 }, now, asked, 'an answer')
    if ('refusal' in next) return next.refusal
    const parked = { reason, ...next, tries: (before?.tries ?? 0) + 1, asked: asked !== null }
    const text = `it waits for its model until ${new Date(next.until).toISOString()}: ${reason}`
    await this.write('note', tape.rounds, { text, parked })
    parts.tell(waitFrame(parked))
    await parts.waitUntil(next.until)
    return null
  }

  /** Tokens for the next reply: more after each that was cut off, as far as the model may write. */
  private async room(): Promise<number> {
    const { cuts } = this.tape
    if (cuts === 0) return OUTPUT_TOKENS
    const { outputTokens } = await this.parts.models.resolve('', this.asked.model)
    return roomAfter(OUTPUT_TOKENS, cuts, outputTokens)
  }

  /** What was said is longer than the model takes. @returns whether it is shorter now */
  private async compact(): Promise<boolean> {
    const upTo = this.tape.toCompact()
    if (upTo === null) return false
    const text = 'it was longer than the model takes; older answers of tools are told in short from here on'
    await this.write('note', this.tape.rounds, { text, compacted: upTo })
    return true
  }

  /** The provider broke off: what was told of its reply is void, it is asked again. */
  private unhear(): void {
    this.partial = ''
    this.parts.tell({ type: 'again' })
  }

  /** Two replies of one turn are two paragraphs. */
  private hear(delta: string): void {
    const isNext = this.partial === '' && this.answer !== ''
    this.partial += delta
    this.parts.tell({ type: 'text', text: isNext ? `\n\n${delta}` : delta })
  }

  /** Weak models write a call as text. */
  private readCalls(reply: ModelReply): ModelReply {
    if (reply.calls.length) return reply
    const specs = this.parts.tools.map(({ spec }) => spec)
    const call = callInText(reply.text, specs, `text-${this.tape.rounds}`)
    return call ? { ...reply, calls: [call] } : reply
  }

  /** All of them read or plan, so that none needs another: they are made side by side, and kept in their order. */
  private async answerCalls(calls: readonly ToolCall[]): Promise<void> {
    for (let at = 0; at < calls.length; at += AT_ONCE) {
      this.parts.signal.throwIfAborted()
      const first = this.tape.next
      const group = calls.slice(at, at + AT_ONCE)
      const answers = await Promise.allSettled(
        group.map((call, i) => this.answerCall(call, at + i, first + i)),
      )
      const fault = answers.find((answer) => answer.status === 'rejected')
      if (fault) throw fault.reason
      await this.put(answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : [])))
    }
  }

  private async answerCall(given: ToolCall, i: number, n: number): Promise<StepWrite> {
    const { parts, tape } = this
    const round = tape.rounds
    const wanted = given.name.trim().toLowerCase()
    const tool = parts.tools.find(({ spec }) => spec.name === wanted)
    const call = { ...given, name: tool?.spec.name ?? given.name.slice(0, 64) }
    parts.tell({ type: 'tool', id: call.id, name: call.name, input: call.arguments })
    const at = parts.clock.now()
    const done = (ok: boolean, text: string) =>
      parts.tell({ type: 'tool_done', id: call.id, ms: parts.clock.now() - at, ok, ...shownOf(text) })
    const refusal = call.cut
      ? 'cut off: the reply was longer than there was room for; call it again, there is more room now'
      : i >= CALLS_MAX
        ? `not made: at most ${CALLS_MAX} calls are made of one reply`
        : tool
          ? null
          : `no tool is named ${call.name}; there are ${parts.tools.map(({ spec }) => spec.name).join(', ')}`
    if (refusal !== null || !tool) {
      done(false, refusal ?? '')
      return { n, kind: 'refused', round, at, ms: 0, data: { call, reason: refusal ?? '' } }
    }
    const { text, isError, proposal } = await callTool(tool, call, parts.world)
    const data: StepData['tool'] = {
      call,
      server: null,
      result: text,
      is_error: isError,
      ...(proposal ? { proposal } : {}),
    }
    done(!isError, text)
    if (proposal) parts.tell({ type: 'proposal', kind: proposal.kind, id: call.id, payload: proposal })
    return { n, kind: 'tool', round, at, ms: parts.clock.now() - at, data }
  }

  private async write<K extends StepKind>(kind: K, round: number, data: StepData[K]): Promise<void> {
    const at = this.parts.clock.now()
    await this.put([{ n: this.tape.next, kind, round, at, ms: 0, data }])
  }

  private async put(steps: readonly StepWrite[]): Promise<void> {
    await this.parts.port.recordAskSteps(this.begun.id, steps)
    for (const step of steps) this.tape.put(step)
  }
}
