/**
 * One run, from where its tape stands to its end. Each step is on disk before the next is taken, so a
 * daemon that stops in the middle goes on from there: what was answered is not asked again, and an
 * external call that was begun is not made twice.
 */
import type { CheckedClaim, ReadRequest } from '../../../schemas/types.ts'
import type { Clock } from '../../clock.ts'
import { checkClaims } from '../claims.ts'
import { decide, type ExternalTools, offered } from '../mcp-tools/client.ts'
import type { ExternalTool } from '../mcp-tools/types.ts'
import { roomAfter } from '../models/adapter.ts'
import { type Reserved, reserveCall } from '../models/reserving.ts'
import { ModelFault, type ModelReply, type Models, type ToolCall, type ToolSpec } from '../models/types.ts'
import { callOwnTool, ownTools } from './own-tools.ts'
import {
  CONCLUDE,
  type Conclusion,
  concludeTool,
  type FirstView,
  fence,
  firstMessage,
  readConclusion,
  systemOf,
  TIMELINE_TOKENS,
} from './prompt.ts'
import { callInText, isCut, Tape } from './tape.ts'
import type {
  BriefQuestion,
  LoopEnd,
  RunEnd,
  RunPort,
  StartedRun,
  StepData,
  StepKind,
  StepWrite,
} from './types.ts'

/** Of one reply, at first. */
const OUTPUT_TOKENS = 4_096
/** Replies of a run that were cut off; one more, and it has failed. */
const CUTS_MAX = 4
/** How often a run that must conclude is told to. */
const TOLD_MAX = 2
const GO_ON =
  'Your reply was cut off: it was longer than there was room for. Go on exactly where it stopped, and repeat nothing.'
const BEGIN_AGAIN =
  'Your reply was cut off before it said anything. There is more room now: think less, and answer or call a tool.'
/** Claims that do not hold are sent back once; faults of form this often. */
const REPAIRS = 1
const FAULTS_MAX = 3

interface LoopParts {
  port: RunPort
  models: Models
  tools: ExternalTools
  clock: Clock
  /** Ends what is asked: the deadline, a person, or the daemon's stop. */
  signal: AbortSignal
  /** Resolves when a call that held money has ended. @throws an abort of the signal */
  moneyFreed(): Promise<void>
}

type Choice = StepData['model']['asked']['choice']

/** What a call of the loop came to: an end, or null to go on. */
type Ended = LoopEnd | null

/** @returns how it ends; the caller writes that. @throws what the port throws; an abort of the signal */
export async function runLoop(run: StartedRun, parts: LoopParts): Promise<LoopEnd> {
  return await new Loop(run, parts).go()
}

class Loop {
  private readonly tape: Tape
  private readonly external: ToolSpec[]

  private readonly answering: Answering

  constructor(
    private readonly run: StartedRun,
    private readonly parts: LoopParts,
  ) {
    this.tape = new Tape(run.steps)
    this.answering = new Answering(run, this.tape, parts)
    this.external = offered(parts.tools.tools, run.definition.tools ?? []).map(
      ({ name, description, input }) => ({ name, description, input }),
    )
  }

  async go(): Promise<LoopEnd> {
    if (!this.tape.prompt) await this.begin()
    for (;;) {
      const ended = (await this.answerCalls()) ?? (await this.weighReply()) ?? (await this.ask())
      if (ended?.event === 'park') return { ...ended, otherwise: this.kept() ?? ended.otherwise }
      if (ended) return ended.event === 'succeed' ? ended : (this.kept() ?? ended)
    }
  }

  /** A conclusion whose claims were sent back, and that nothing better came after: it is kept as it is. */
  private kept(): RunEnd | null {
    const last = this.tape.lastConclusion()
    if (!last) return null
    const conclusion = readConclusion(last.call.arguments, this.run.definition)
    return typeof conclusion === 'string' ? null : succeeded(conclusion, last.claims)
  }

  private async begin(): Promise<void> {
    const { run } = this
    const { message, shown } = run.told ?? firstMessage(run, await this.view())
    const tools = [...ownTools(run), concludeTool(run.definition), ...this.external]
    await this.write('prompt', 0, { system: systemOf(run), message, tools, marker: run.marker, shown })
  }

  private async view(): Promise<FirstView | null> {
    const { port } = this.parts
    const { projects } = this.run
    const asked = askedFirst(this.run)
    if (!asked) return null
    return 'brief' in asked
      ? { brief: await port.briefFor(projects, asked.brief) }
      : { timeline: await port.readFor(projects, asked.timeline) }
  }

  /** Answers the calls of the last reply, in their order; those that only read, side by side. */
  private async answerCalls(): Promise<Ended> {
    for (;;) {
      const [call] = this.tape.pending()
      if (!call || this.refused) return null
      this.parts.signal.throwIfAborted()
      if (call.cut) await this.write('refused', this.tape.rounds, { call, reason: this.cutReason(call) })
      else if (isConclude(call)) {
        const ended = await this.conclude(call)
        if (ended) return ended
      } else await this.answering.answerNext()
    }
  }

  /** The model said that it will not: what it began is nothing to act on. */
  private get refused(): boolean {
    return this.tape.reply?.stop === 'refusal'
  }

  private cutReason({ name }: ToolCall): string {
    return `cut off: the reply had more than the ${this.lastRoom()} tokens there were for it, so ${name} was not called; call it again, shorter if you can. There is room for ${this.lastRoom()} tokens or more`
  }

  /** Tokens there were for the last reply. */
  private lastRoom(): number {
    const last = this.tape.steps.findLast((step) => step.kind === 'model')
    return last?.kind === 'model' ? last.data.asked.max_tokens : OUTPUT_TOKENS
  }

  private async conclude(call: ToolCall): Promise<Ended> {
    const { tape, run } = this
    const conclusion = readConclusion(call.arguments, run.definition)
    const sentBack = tape.sentBack
    if (typeof conclusion === 'string') {
      await this.write('conclude', tape.rounds, { call, fault: conclusion, claims: [] })
      return sentBack + 1 >= FAULTS_MAX ? this.lastWord(`its conclusion was refused: ${conclusion}`) : null
    }
    const claims = await this.checked(conclusion)
    const repairs = tape.steps.filter((step) => step.kind === 'conclude' && step.data.fault === null).length
    await this.write('conclude', tape.rounds, { call, fault: null, claims })
    // What is unproved may be right: it is shown as such, and costs no other call.
    const holds = claims.every(({ ok, unproved }) => ok || unproved)
    return holds || repairs >= REPAIRS || this.isOver() ? succeeded(conclusion, claims) : null
  }

  private async checked({ claims }: Conclusion): Promise<CheckedClaim[]> {
    if (claims.length === 0) return []
    const ids = [...new Set(claims.flatMap(({ events }) => events))]
    const rows = await this.parts.port.eventsOf(ids)
    return checkClaims(claims, new Map(rows.map((row) => [row.id, row])), this.tape.shown())
  }

  /** A reply without calls is the last word, unless the run has to conclude. */
  private async weighReply(): Promise<Ended> {
    const { tape, run } = this
    const reply = tape.reply
    if (!reply) return null
    if (this.refused) return { event: 'fail', reason: 'the model refused to answer', note: tape.lastText }
    if (isCut(reply) && tape.cuts > CUTS_MAX) return this.cutShort()
    if (reply.calls.length > 0 || tape.last?.kind !== 'model') return null
    if (isCut(reply)) {
      const say = reply.text.trim() ? GO_ON : BEGIN_AGAIN
      await this.write('note', tape.rounds, { text: 'its reply was cut off', say, cut: true })
      return null
    }
    if (run.definition.concludes && tape.told < TOLD_MAX && !this.isOver()) {
      await this.write('note', tape.rounds, {
        text: 'it stopped without a conclusion',
        say: 'End this run with the conclude tool now: outcome finding with your note, or no_op.',
      })
      return null
    }
    const kept = this.kept()
    if (kept || !run.definition.concludes) return kept ?? this.lastWord(null)
    // A plain text is no conclusion of an agent that ends every run with the tool; it is kept as a note.
    if (this.isOver()) return this.exhausted('it did not end with the conclude tool')
    return {
      event: 'empty',
      reason: `it did not end with the conclude tool, though it was told to ${TOLD_MAX} times`,
      note: tape.lastText?.trim() || null,
    }
  }

  /**
   * Of a run that need not conclude: what its last reply says. What was said along with calls before is half a
   * thought, kept as the note of a run that did not come to an end.
   */
  private lastWord(fault: string | null): RunEnd {
    const { tape } = this
    const said = fault === null && tape.reply?.text.trim() ? tape.lastText?.trim() : undefined
    if (said)
      return succeeded(
        {
          outcome: 'finding',
          note: said,
          verdict: null,
          headline: null,
          nextStep: null,
          entity: null,
          claims: [],
        },
        [],
      )
    if (fault === null && this.isOver())
      return this.exhausted('its last reply was empty and its rounds are used up')
    const hint = tape.toolCalls === 0 ? '; it called no tool: check that the model supports tool calling' : ''
    return {
      event: 'empty',
      reason: fault ?? `it ended without a text and without a conclusion${hint}`,
      note: tape.lastText?.trim() || null,
    }
  }

  private cutShort(): RunEnd {
    const reason = `its reply was cut off ${this.tape.cuts} times, the last time at ${this.lastRoom()} tokens; ask for less in its prompt, or choose a model that may write more`
    return { event: 'fail', reason, note: this.tape.lastText }
  }

  /** Asks the model once more. */
  private async ask(): Promise<Ended> {
    const { run, parts, tape } = this
    parts.signal.throwIfAborted()
    if (tape.rounds > run.maxRounds) return this.exhausted('its rounds are used up')
    const isExtra = tape.rounds === run.maxRounds
    const choice = this.choice(isExtra)
    const { system, tools } = tape.prompt!
    const { provider = '', model = '', fallback_provider = '', fallback_model = '' } = run.definition
    const fallback = { provider: fallback_provider, model: fallback_model }
    const at = parts.clock.now()
    // A call that a stop came between stays on the tape as it is, and is asked again behind it.
    const n = tape.next
    const round = tape.rounds + 1
    let asked: StepData['model']['asked'] = { choice, max_tokens: OUTPUT_TOKENS, ceiling_usd: null }
    try {
      const maxTokens = await this.room(provider, model)
      const messages = tape.messages()
      const request = { provider, model, system, messages, tools, choice, maxTokens, fallback }
      let begun: StepWrite | null = null
      const begin = (reserved: Reserved) => {
        asked = { ...asked, max_tokens: reserved.maxTokens, ceiling_usd: reserved.ceilingUsd }
        begun = { n, kind: 'model', round, at, ms: null, data: { asked } }
        return parts.port.beginCall(run.id, begun, reserved.ceilingUsd)
      }
      const reserved = await reserveCall(parts.models, request, begin, () => parts.moneyFreed())
      if (typeof reserved === 'string') return { event: 'cap', reason: reserved, note: tape.lastText }
      tape.put(begun!)
      const called = { ...request, maxTokens: reserved.maxTokens, signal: parts.signal }
      const { ms, ...reply } = this.readCalls(await parts.models.call(called))
      await this.put({ n, kind: 'model', round, at, ms, data: { asked, reply } })
      return null
    } catch (error) {
      return await this.faulted(error, { n, round, at, asked }, isExtra)
    }
  }

  private choice(isExtra: boolean): Choice {
    const forced = { tool: CONCLUDE }
    if (isExtra) return this.run.definition.concludes ? forced : 'none'
    return this.tape.told > 0 ? forced : 'auto'
  }

  /** Tokens for the next reply: more after each that was cut off, as far as the model may write. */
  private async room(provider: string, model: string): Promise<number> {
    const { cuts } = this.tape
    if (cuts === 0) return OUTPUT_TOKENS
    const { outputTokens } = await this.parts.models.resolve(provider, model)
    return roomAfter(OUTPUT_TOKENS, cuts, outputTokens)
  }

  private async faulted(
    error: unknown,
    { n, round, at, asked }: { n: number; round: number; at: number; asked: StepData['model']['asked'] },
    isExtra: boolean,
  ): Promise<Ended> {
    if (!(error instanceof ModelFault) || error.code === 'aborted') throw error
    const { message, code, provider, later } = error
    const ms = this.parts.clock.now() - at
    await this.put({ n, kind: 'model', round, at, ms, data: { asked, error: { code, message } } })
    if (code === 'overflow' && (await this.compact())) return null
    const reason = provider && !message.startsWith(provider) ? `${provider}: ${message}` : message
    const end: RunEnd = isExtra ? this.exhausted(reason) : { event: 'fail', reason, note: this.tape.lastText }
    return later ? { event: 'park', why: { reason, waitMs: later.waitMs }, otherwise: end } : end
  }

  /** What was said is longer than the model takes. @returns whether it is shorter now */
  private async compact(): Promise<boolean> {
    const { tape } = this
    const upTo = tape.toCompact()
    if (upTo === null) return false
    const text = 'it was longer than the model takes; older answers of tools are told in short from here on'
    await this.write('note', tape.rounds, { text, compacted: upTo })
    return true
  }

  private exhausted(why: string): RunEnd {
    const reason = `${why} after ${this.run.maxRounds}; raise max_rounds of the agent to give it more`
    return { event: 'exhaust', reason, note: this.tape.lastText }
  }

  private isOver(): boolean {
    return this.tape.rounds > this.run.maxRounds
  }

  /** Weak models write a call as text. */
  private readCalls(reply: ModelReply): ModelReply {
    if (reply.calls.length) return reply
    const call = callInText(reply.text, this.tape.prompt!.tools, `text-${this.tape.rounds}`)
    return call ? { ...reply, calls: [call] } : reply
  }

  private async write<K extends StepKind>(
    kind: K,
    round: number,
    data: StepData[K],
    began?: number,
  ): Promise<void> {
    const now = this.parts.clock.now()
    await this.put({
      n: this.tape.next,
      kind,
      round,
      at: began ?? now,
      ms: now - (began ?? now),
      data,
    } as StepWrite)
  }

  private async put(step: StepWrite): Promise<void> {
    await this.parts.port.recordSteps(this.run.id, [step])
    this.tape.put(step)
  }
}

function succeeded(
  { outcome, note, verdict, headline, nextStep, entity }: Conclusion,
  claims: CheckedClaim[],
): RunEnd {
  return { event: 'succeed', outcome, note, verdict, headline, nextStep, entity, claims }
}

/*
 * The calls of a reply as they are answered. Those that only read and stand side by side in the reply are
 * made side by side; the tape has them in the order they were asked in, whichever came back first.
 */

/** Made side by side at most: each reads the store, or asks a server. */
export const AT_ONCE = 8
/** The tool of our own that does not only read. */
const WRITES = 'remember'

const isConclude = ({ name }: ToolCall): boolean => name.trim().toLowerCase() === CONCLUDE

interface AnsweringParts {
  port: RunPort
  tools: ExternalTools
  clock: Clock
  signal: AbortSignal
}

class Answering {
  constructor(
    private readonly run: StartedRun,
    private readonly tape: Tape,
    private readonly parts: AnsweringParts,
  ) {}

  /** Answers the next call, and with it those behind it that may be made at the same time. */
  async answerNext(): Promise<void> {
    const [first, ...rest] = this.tape.pending()
    if (!first) return
    const external = this.externalOf(first)
    const joins = (call: ToolCall): boolean => {
      if (call.cut || isConclude(call)) return false
      const other = this.externalOf(call)
      return external ? other?.readOnly === true : !other && this.nameOf(call.name) !== WRITES
    }
    const alone = external ? !external.readOnly : this.nameOf(first.name) === WRITES
    const end = alone ? 0 : rest.findIndex((call) => !joins(call))
    const calls = [first, ...rest.slice(0, end < 0 ? rest.length : end)].slice(0, AT_ONCE)
    if (external) await this.askServers(calls)
    else await this.askOwn(calls)
  }

  /** What our own tools answer is written when all of it is there: a stop in between asks them again. */
  private async askOwn(calls: readonly ToolCall[]): Promise<void> {
    const first = this.tape.next
    const steps = await Promise.all(calls.map((call, i) => this.ownStep(call, first + i)))
    this.parts.signal.throwIfAborted()
    await this.put(steps)
  }

  private async ownStep(given: ToolCall, n: number): Promise<StepWrite> {
    const { run, parts, tape } = this
    const at = parts.clock.now()
    const own = await callOwnTool(run, parts.port, { ...given, name: this.nameOf(given.name) })
    const ms = parts.clock.now() - at
    if (own === null) {
      const names = tape.prompt!.tools.map(({ name }) => name)
      const reason = `no tool is named ${given.name.slice(0, 64)}; there are ${names.join(', ')}`
      return { n, kind: 'refused', round: tape.rounds, at, ms, data: { call: given, reason } }
    }
    const { text, isError, shown } = own
    const data = { call: given, server: null, result: text, is_error: isError, shown }
    return { n, kind: 'tool', round: tape.rounds, at, ms, data }
  }

  private async askServers(calls: readonly ToolCall[]): Promise<void> {
    const { clock } = this.parts
    const first = this.tape.next
    // On disk before they are made: after a stop in between they are not made again.
    const begun = calls.map((call, i) => this.begunStep(call, first + i, clock.now()))
    await this.put(begun)
    await Promise.all(
      begun.map(async (step, i) => {
        if (step.kind === 'tool') await this.askServer(calls[i]!, step)
      }),
    )
  }

  private begunStep(call: ToolCall, n: number, at: number): StepWrite {
    const { run, parts, tape } = this
    const round = tape.rounds
    const external = this.externalOf(call)!
    const decision =
      run.practice && !external.readOnly
        ? ({
            allowed: false,
            reason: 'this is practice: a tool that may change things is not called',
          } as const)
        : decide(external, call.arguments, run.definition.tools ?? [], true)
    if (!decision.allowed) {
      const data = { call, reason: `refused: ${decision.reason}` }
      return { n, kind: 'refused', round, at, ms: parts.clock.now() - at, data }
    }
    return { n, kind: 'tool', round, at, ms: null, data: { call, server: external.server } }
  }

  private async askServer(call: ToolCall, begun: StepWrite): Promise<void> {
    const { run, parts } = this
    const external = this.externalOf(call)!
    const result = await parts.tools.call(external.name, call.arguments, parts.signal)
    parts.signal.throwIfAborted()
    const data = {
      call,
      server: external.server,
      result: fence(run.marker, result.text),
      ...(result.images ? { images: result.images } : {}),
      is_error: result.isError,
    }
    await this.put([{ ...begun, ms: result.ms, data }])
  }

  private externalOf(call: ToolCall): ExternalTool | undefined {
    const name = this.nameOf(call.name)
    return this.parts.tools.tools.find((tool) => tool.name === name)
  }

  /** Models differ in case and spaces. */
  private nameOf(given: string): string {
    const wanted = given.trim().toLowerCase()
    return this.tape.prompt!.tools.find(({ name }) => name.toLowerCase() === wanted)?.name ?? given
  }

  private async put(steps: readonly StepWrite[]): Promise<void> {
    await this.parts.port.recordSteps(this.run.id, steps)
    for (const step of steps) this.tape.put(step)
  }
}

/* What a run asks for, to be shown first: the brief, or the timeline of its entity alone. */

/** What a run that a person started is shown of its entity. */
const ASKED_WINDOW_MS = 86_400_000

type Asked = { brief: BriefQuestion } | { timeline: Omit<ReadRequest, 'project'> }

/** @returns null where it is of no entity: its summary says what there is */
export function askedFirst(
  run: Pick<StartedRun, 'origin' | 'label' | 'entity' | 'asOf' | 'definition'>,
): Asked | null {
  const { origin, label, entity, asOf, definition } = run
  if (origin.kind === 'schedule' || (origin.kind === 'handoff' && !origin.firing)) return null
  // Without a firing a person asked for it, at the instant it reads as of.
  const { firedAt: to, window } = origin.firing ?? { firedAt: asOf, window: ASKED_WINDOW_MS }
  const known = Math.min(asOf, to)
  if (definition.context !== 'plain')
    return {
      brief: {
        ...{ label, entity, to, asOf: known, budget: TIMELINE_TOKENS },
        fired: origin.firing?.evidence ?? [],
      },
    }
  return {
    timeline: {
      selector: { [label]: entity },
      from: new Date(to - window).toISOString(),
      to: new Date(to).toISOString(),
      as_of: new Date(known).toISOString(),
      max_tokens: TIMELINE_TOKENS,
    },
  }
}
