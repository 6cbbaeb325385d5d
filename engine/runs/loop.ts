/**
 * One run, from where its tape stands to its end. Each step is on disk before the next is taken, so a
 * daemon that stops in the middle goes on from there: what was answered is not asked again, and an
 * external call that was begun is not made twice.
 */
import type { CheckedClaim } from '../../schemas/types.ts'
import { checkClaims } from '../claims/check.ts'
import type { Clock } from '../clock.ts'
import { decide, type ExternalTools, offered } from '../mcp-tools/index.ts'
import { ModelFault, type ModelReply, type Models, type ToolCall, type ToolSpec } from '../models/types.ts'
import { CONCLUDE, type Conclusion, concludeTool, readConclusion } from './conclude.ts'
import { fence } from './fence.ts'
import { askedFirst } from './first-view.ts'
import { callOwnTool, ownTools } from './own-tools.ts'
import { type FirstView, firstMessage, systemOf } from './prompt.ts'
import { Tape } from './tape.ts'
import { callInText } from './text-call.ts'
import type { RunEnd, RunPort, StartedRun, StepData, StepKind, StepWrite } from './types.ts'

/** Of one reply. */
const OUTPUT_TOKENS = 4_096
const CALL_MS = 120_000
/** How often a run that must conclude is told to. */
const TOLD_MAX = 2
/** Claims that do not hold are sent back once; faults of form this often. */
const REPAIRS = 1
const FAULTS_MAX = 3

export interface LoopParts {
  port: RunPort
  models: Models
  tools: ExternalTools
  clock: Clock
  /** Ends what is asked: the deadline, a person, or the daemon's stop. */
  signal: AbortSignal
  /** Told each piece of text as it comes. */
  onText?(run: string, delta: string): void
}

type Choice = StepData['model']['asked']['choice']

/** What a call of the loop came to: an end, or null to go on. */
type Ended = RunEnd | null

/** @returns how it ends; the caller writes that. @throws what the port throws; an abort of the signal */
export async function runLoop(run: StartedRun, parts: LoopParts): Promise<RunEnd> {
  return await new Loop(run, parts).go()
}

class Loop {
  private readonly tape: Tape
  private readonly external: ToolSpec[]

  constructor(
    private readonly run: StartedRun,
    private readonly parts: LoopParts,
  ) {
    this.tape = new Tape(run.steps)
    this.external = offered(parts.tools.tools, run.definition.tools ?? []).map(
      ({ name, description, input }) => ({ name, description, input }),
    )
  }

  async go(): Promise<RunEnd> {
    if (!this.tape.prompt) await this.begin()
    for (;;) {
      const ended = (await this.answerCalls()) ?? (await this.weighReply()) ?? (await this.ask())
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

  /** Answers the calls of the last reply, in their order. */
  private async answerCalls(): Promise<Ended> {
    for (const call of this.tape.pending()) {
      this.parts.signal.throwIfAborted()
      if (call.name.trim().toLowerCase() === CONCLUDE) {
        const ended = await this.conclude(call)
        if (ended) return ended
      } else await this.answer(call)
    }
    return null
  }

  private async answer(given: ToolCall): Promise<void> {
    const { run, parts, tape } = this
    const call = { ...given, name: this.nameOf(given.name) }
    const began = parts.clock.now()
    const external = parts.tools.tools.find(({ name }) => name === call.name)
    if (external) {
      const decision =
        run.practice && !external.readOnly
          ? ({
              allowed: false,
              reason: 'this is practice: a tool that may change things is not called',
            } as const)
          : decide(external, call.arguments, run.definition.tools ?? [], true)
      if (!decision.allowed) {
        await this.write('refused', tape.rounds, { call: given, reason: `refused: ${decision.reason}` })
        return
      }
      // On disk before it is made: after a stop in between it is not made again.
      const n = tape.next
      await this.put({
        n,
        kind: 'tool',
        round: tape.rounds,
        at: began,
        ms: null,
        data: { call: given, server: external.server },
      })
      const result = await parts.tools.call(external.name, call.arguments, parts.signal)
      parts.signal.throwIfAborted()
      const data = {
        call: given,
        server: external.server,
        result: fence(run.marker, result.text),
        is_error: result.isError,
      }
      await this.put({ n, kind: 'tool', round: tape.rounds, at: began, ms: result.ms, data })
      return
    }
    const own = await callOwnTool(run, parts.port, call)
    if (own === null) {
      const names = tape.prompt!.tools.map(({ name }) => name)
      await this.write('refused', tape.rounds, {
        call: given,
        reason: `no tool is named ${given.name.slice(0, 64)}; there are ${names.join(', ')}`,
      })
      return
    }
    const { text, isError, shown } = own
    const data = { call: given, server: null, result: text, is_error: isError, shown }
    await this.write('tool', tape.rounds, data, began)
  }

  /** Models differ in case and spaces. */
  private nameOf(given: string): string {
    const wanted = given.trim().toLowerCase()
    return this.tape.prompt!.tools.find(({ name }) => name.toLowerCase() === wanted)?.name ?? given
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
    if (!reply || reply.calls.length > 0 || tape.last?.kind !== 'model') return null
    if (reply.stop === 'refusal')
      return { event: 'fail', reason: 'the model refused to answer', note: reply.text || null }
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
    const said = fault === null ? tape.reply?.text.trim() : undefined
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

  /** Asks the model once more. */
  private async ask(): Promise<Ended> {
    const { run, parts, tape } = this
    parts.signal.throwIfAborted()
    if (tape.rounds > run.maxRounds) return this.exhausted('its rounds are used up')
    const isExtra = tape.rounds === run.maxRounds
    const { definition } = run
    const forced = { tool: CONCLUDE }
    const choice: Choice = isExtra
      ? definition.concludes
        ? forced
        : 'none'
      : tape.told > 0
        ? forced
        : 'auto'
    const { system, tools } = tape.prompt!
    const { provider = '', model = '' } = definition
    const request = {
      provider,
      model,
      system,
      messages: tape.messages(),
      tools,
      choice,
      maxTokens: OUTPUT_TOKENS,
    }
    const at = parts.clock.now()
    // A call that a stop came between stays on the tape as it is, and is asked again behind it.
    const n = tape.next
    const round = tape.rounds + 1
    let asked: StepData['model']['asked'] = { choice, max_tokens: OUTPUT_TOKENS, ceiling_usd: null }
    try {
      const ceiling = await parts.models.ceilingUsd(request)
      asked = { ...asked, ceiling_usd: ceiling }
      const refusal = await parts.port.beginCall(
        run.id,
        { n, kind: 'model', round, at, ms: null, data: { asked } },
        ceiling,
      )
      if (refusal !== null) return { event: 'cap', reason: refusal, note: tape.lastText }
      tape.put({ n, kind: 'model', round, at, ms: null, data: { asked } })
      const { ms, ...reply } = this.readCalls(
        await parts.models.call({
          ...request,
          timeoutMs: CALL_MS,
          signal: parts.signal,
          onText: (delta) => parts.onText?.(run.id, delta),
        }),
      )
      await this.put({ n, kind: 'model', round, at, ms, data: { asked, reply } })
      return null
    } catch (error) {
      return await this.faulted(error, { n, round, at, asked }, isExtra)
    }
  }

  private async faulted(
    error: unknown,
    { n, round, at, asked }: { n: number; round: number; at: number; asked: StepData['model']['asked'] },
    isExtra: boolean,
  ): Promise<RunEnd> {
    if (!(error instanceof ModelFault) || error.code === 'aborted') throw error
    const { message, code, provider } = error
    const ms = this.parts.clock.now() - at
    await this.put({ n, kind: 'model', round, at, ms, data: { asked, error: { code, message } } })
    const reason = provider && !message.startsWith(provider) ? `${provider}: ${message}` : message
    return isExtra ? this.exhausted(reason) : { event: 'fail', reason, note: this.tape.lastText }
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
