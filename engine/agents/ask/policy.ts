/**
 * A question to Ask as a policy of the one loop: its tools read as the caller, its text is told as it comes, and a
 * model that is away is waited for. Each step is stored before the next is taken, so that a turn goes on from there
 * after a stop.
 */
import type { AskFrame } from '../../../schemas/types.ts'
import {
  AT_ONCE,
  type Choice,
  type LoopParts,
  noteAt,
  type Policy,
  runLoop,
  stepAt,
  waitForModel,
} from '../loop.ts'
import type { ModelMessage, ToolCall } from '../models/types.ts'
import { isBlank, isCut, Tape } from '../runs/tape.ts'
import type { Parked, Step, StepData, StepWrite, StoredReply, Unavailable } from '../runs/types.ts'
import {
  type AskPort,
  type BegunTurn,
  CLOSING,
  CUT,
  type NewTurn,
  ROUNDS,
  shownOf,
  type TurnEnd,
  waitFrame,
} from './calls.ts'
import { answerIn, asRest, joinParagraphs } from './queries.ts'
import { type AskTool, callTool, type ToolWorld, unknownEvents } from './tool-calls.ts'

/** Events that an answer names and nobody was shown, which are looked up. */
const GHOSTS_MAX = 10
/** Calls of tools that are made of one reply. */
const CALLS_MAX = 16
const SAY_SOMETHING = 'Your reply was empty. Go on from here: call a tool, or answer.'
const OVER = 'Your rounds are used up. Answer now with what you found, and say what you did not get to see.'

export interface TurnParts extends LoopParts {
  port: Pick<AskPort, 'recordAskSteps' | 'beginAskCall'>
  tools: readonly AskTool[]
  world: ToolWorld
  system: string
  tell(frame: AskFrame): void
  /** What is waited is no part of the time of the turn. */
  waitUntil(at: number): Promise<void>
}

type Asked = Pick<NewTurn, 'question' | 'model'>

/** A turn at work. */
export class Turn implements Policy<TurnEnd> {
  readonly outputTokens = 2_048
  readonly cutsMax = 3
  private readonly tape: Tape
  /** Of the reply that is coming in. */
  private partial = ''

  constructor(
    private readonly begun: BegunTurn,
    private readonly asked: Asked,
    private readonly parts: TurnParts,
  ) {
    this.tape = new Tape(begun.steps)
  }

  get steps(): Step[] {
    return this.tape.steps
  }

  /** What was said before, as its model is told it. */
  get earlier(): ModelMessage[] {
    const { forgot } = this
    const { earlier } = this.begun
    return forgot === 0 ? earlier : asRest(earlier.slice(forgot))
  }

  private get forgot(): number {
    return this.steps.reduce((n, { kind, data }) => (kind === 'note' ? Math.max(n, data.forgot ?? 0) : n), 0)
  }

  async forget(kept: number): Promise<boolean> {
    const forgot = this.begun.earlier.length - kept
    if (forgot <= this.forgot) return false
    const text = 'the conversation was longer than the model takes; what was said first is told no more'
    await this.write(noteAt(this.tape, this.parts.clock, { text, forgot }))
    return true
  }

  /** What there is of an answer. */
  get answer(): string {
    return joinParagraphs([answerIn(this.steps), this.partial])
  }

  /** @returns how it ends; the caller writes that. @throws what the port throws; an abort of the signal */
  async go(): Promise<TurnEnd> {
    const { tape, parts, begun } = this
    if (!tape.prompt) {
      const { system } = parts
      // Their schemas are the program's: the row names them.
      const tools = parts.tools.map(({ spec }) => ({ name: spec.name, description: '', input: {} }))
      const prompt = { system, message: this.asked.question, tools, marker: begun.marker, shown: [] }
      await this.write(stepAt(tape, parts.clock, 'prompt', prompt))
    }
    if (tape.waitsNow) await parts.waitUntil(tape.waitsNow.until)
    const end = await runLoop(tape, this, parts)
    return end.event === 'answer' ? await this.withoutGhosts(end) : end
  }

  /** An answer that names events which nobody was shown is told to: a model makes up what it cannot find. */
  private async withoutGhosts(end: TurnEnd): Promise<TurnEnd> {
    const told = [...this.earlier, ...this.tape.messages()].filter(({ role }) => role !== 'assistant')
    const said = JSON.stringify(told)
    const named = idsIn(end.answer).filter((id) => !new RegExp(`\\b${id}\\b`).test(said))
    const ghosts = await unknownEvents(named.slice(0, GHOSTS_MAX), this.parts.world)
    if (ghosts.length === 0) return end
    const word = `\n\n*svc has no event ${ghosts.join(' or ')} that you may read: do not rely on what is said of it here.*`
    this.parts.tell({ type: 'text', text: word })
    return { ...end, answer: `${end.answer}${word}` }
  }

  briefed() {
    const tools = this.parts.tools.map(({ spec }) => spec)
    return {
      provider: '',
      model: this.asked.model,
      system: this.tape.prompt!.system,
      tools,
      earlier: this.earlier,
    }
  }

  async choose(): Promise<{ choice: Choice }> {
    const { tape } = this
    if (tape.rounds < ROUNDS) return { choice: 'auto' }
    if (this.toldOver === null)
      await this.write(noteAt(tape, this.parts.clock, { text: 'its rounds were used up', say: OVER }))
    return { choice: 'none' }
  }

  /** Number of the step that told its model to answer now. */
  private get toldOver(): number | null {
    return this.steps.find((step) => step.kind === 'note' && step.data.say === OVER)?.n ?? null
  }

  ends(reply: StoredReply): TurnEnd | null {
    const { answer, tape } = this
    const last = this.steps.findLast(({ kind }) => kind === 'model')!
    const isLast = this.toldOver !== null && this.toldOver < last.n
    if (isCut(reply) && (isLast || reply.calls.length === 0)) return this.closed(CUT)
    if (isLast) return this.closed(CLOSING)
    if (reply.calls.length > 0) return null
    if (answer) return { event: 'answer', answer, error: null }
    if (!tape.wasBlank || tape.last?.kind !== 'model') return null
    const error =
      tape.toolCalls > 0
        ? 'the model ended without a word; ask again'
        : 'the model gave no text and called no tool; check that it supports tool calling'
    return { event: 'fail', answer, error }
  }

  /** What was said ends in the middle, and is told so. */
  private closed(word: string): TurnEnd {
    this.parts.tell({ type: 'text', text: word })
    return { event: 'exhaust', answer: `${this.answer}${word}`.trim(), error: null }
  }

  stopped(why: 'cut' | { refused: string }): TurnEnd {
    return why === 'cut' ? this.closed(CUT) : this.unpaid(why.refused)
  }

  unpaid(error: string): TurnEnd {
    return { event: 'fail', answer: this.answer, error }
  }

  failed(reason: string): TurnEnd {
    return this.unpaid(reason)
  }

  /** It waits, and who reads is told until when. */
  async away(why: Unavailable, otherwise: (reason: string) => TurnEnd): Promise<TurnEnd | null> {
    const { parts } = this
    // What was told of the reply that broke off is void.
    if (this.partial !== '') this.reader.unhear()
    const told = async (step: StepWrite, parked: Parked) => {
      await this.write(step)
      parts.tell(waitFrame(parked))
    }
    const refusal = await waitForModel(this.tape, why, 'an answer', { ...parts, told })
    return refusal === null ? null : otherwise(`${why.reason}; ${refusal}`)
  }

  readonly reader = {
    /** Two replies of one turn are two paragraphs. */
    hear: (delta: string): void => {
      const isNext = this.partial === '' && this.answer !== ''
      this.partial += delta
      this.parts.tell({ type: 'text', text: isNext ? `\n\n${delta}` : delta })
    },
    /** The provider broke off: what was told of its reply is void, it is asked again. */
    unhear: (): void => {
      this.partial = ''
      this.parts.tell({ type: 'again' })
    },
  }

  /** All of them read or plan, so that none needs another: they are made side by side, and kept in their order. */
  async answerCalls(pending: readonly ToolCall[], { calls }: StoredReply): Promise<null> {
    const first = this.tape.next
    const at = calls.length - pending.length
    const answers = await Promise.allSettled(
      pending.slice(0, AT_ONCE).map((call, i) => this.answerCall(call, at + i, first + i)),
    )
    const fault = answers.find((answer) => answer.status === 'rejected')
    if (fault) throw fault.reason
    const steps = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    await this.write(...steps)
    return null
  }

  /** A reply that said nothing is asked for once more. */
  async weigh(reply: StoredReply): Promise<null> {
    if (isBlank(reply) && this.tape.last?.kind === 'model')
      await this.write(
        noteAt(this.tape, this.parts.clock, { text: 'its reply was empty', say: SAY_SOMETHING, blank: true }),
      )
    return null
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

  readonly begin = (step: StepWrite, ceilingUsd: number | null) =>
    this.parts.port.beginAskCall(this.begun.id, step, ceilingUsd)

  async record(steps: readonly StepWrite[]): Promise<void> {
    await this.parts.port.recordAskSteps(this.begun.id, steps)
    // What came in of a reply is in it now.
    if (steps.some(({ kind, data }) => kind === 'model' && 'reply' in data)) this.partial = ''
  }

  private async write(...steps: StepWrite[]): Promise<void> {
    await this.record(steps)
    for (const step of steps) this.tape.put(step)
  }
}

/** Ids of events that a text names, once each. */
const idsIn = (text: string): string[] => [...new Set(text.match(/\bevt_\d{1,15}\b/g) ?? [])]
