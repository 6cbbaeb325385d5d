/**
 * A run as a policy of the one loop: it looks by its own tools and those of MCP servers, and ends with a conclusion
 * whose claims hold, or with what it said last. Each step is on disk before the next is taken, so a daemon that
 * stops in the middle goes on from there; an external call that was begun is not made twice.
 */
import type { CheckedClaim, ReadRequest } from '../../../schemas/types.ts'
import { isObject } from '../../model/merge.ts'
import { iso } from '../../model/units.ts'
import { checkClaims } from '../finding-queries.ts'
import { AT_ONCE, type Choice, type LoopParts, type Policy, runLoop, stepAt } from '../loop.ts'
import { decide, type ExternalTools } from '../mcp-client.ts'
import { type ExternalTool, offered } from '../mcp-types.ts'
import { ModelFault, type ToolCall, type ToolSpec, toolsMaxOf } from '../models/types.ts'
import { callOwnTool, ownTools, unreadArguments } from './own-tools.ts'
import {
  CONCLUDE,
  type Conclusion,
  concludeTool,
  type FirstView,
  fence,
  firstMessage,
  nameEntity,
  readConclusion,
  systemOf,
  TIMELINE_TOKENS,
} from './prompt.ts'
import { isBlank, isCut, Tape } from './tape.ts'
import type {
  BriefQuestion,
  LoopEnd,
  RunEnd,
  RunPort,
  StartedRun,
  StepData,
  StepKind,
  StepWrite,
  StoredReply,
  Unavailable,
} from './types.ts'

/** How often a run that must conclude is told to. */
const TOLD_MAX = 2
const GO_ON =
  'Your reply was cut off: it was longer than there was room for. Go on exactly where it stopped, and repeat nothing.'
const BEGIN_AGAIN =
  'Your reply was cut off before it said anything. There is more room now: think less, and answer or call a tool.'
const SAY_SOMETHING = 'Your reply was empty. Go on from here: call a tool, or end with the conclude tool.'
/** Tools that are left out, by name. */
const NAMED = 10
/** Claims that do not hold are sent back once; faults of form this often. */
const REPAIRS = 1
const FAULTS_MAX = 3

interface RunParts extends LoopParts {
  port: RunPort
  tools: ExternalTools
}

/** @returns how it ends; the caller writes that. @throws what the port throws; an abort of the signal */
export async function takeRun(run: StartedRun, parts: RunParts): Promise<LoopEnd> {
  const policy = new RunPolicy(run, parts)
  if (!policy.tape.prompt) await policy.open()
  const ended = await runLoop(policy.tape, policy, parts)
  await policy.record([])
  if (ended.event === 'park') return { ...ended, otherwise: policy.kept() ?? ended.otherwise }
  return ended.event === 'succeed' ? ended : (policy.kept() ?? ended)
}

const specOf = ({ name, description, input }: ExternalTool): ToolSpec => ({ name, description, input })

class RunPolicy implements Policy<LoopEnd> {
  readonly outputTokens = 4_096
  readonly cutsMax = 4
  readonly tape: Tape
  private readonly answering: Answering

  constructor(
    private readonly run: StartedRun,
    private readonly parts: RunParts,
  ) {
    this.tape = new Tape(run.steps)
    this.answering = new Answering(run, this.tape, parts)
  }

  /** What it is told first. */
  async open(): Promise<void> {
    const { run, parts } = this
    const external = offered(parts.tools.tools, run.definition.tools ?? []).map(specOf)
    const { message, shown } = run.told ?? firstMessage(run, await this.view())
    const tools = [...ownTools(run), concludeTool(run.definition), ...external]
    await this.write('prompt', { system: systemOf(run), message, tools, marker: run.marker, shown })
    await this.tellLeftOut(0)
  }

  /** Says which tools its model is not told of, where there are more than a request to it may name. @param before known by then */
  private async tellLeftOut(before: number): Promise<void> {
    const { tools } = this.tape
    if (tools.length <= toolsMaxOf('compatible')) return
    const { provider, model } = this.briefed()
    const asked = await this.parts.models.resolve(provider, model).catch((error: unknown) => {
      // Nothing can be asked: the call that follows says so.
      if (error instanceof ModelFault) return null
      throw error
    })
    if (asked) await this.noteLeftOut(asked, before)
  }

  /** A fallback that answered may have been told of fewer than the model that is asked first. */
  private async tellLeftOutBy({ provider, kind, fallbackFor }: StoredReply): Promise<void> {
    if (fallbackFor) await this.noteLeftOut({ provider, kind }, 0)
  }

  private async noteLeftOut(
    { provider, kind }: { provider: string; kind: string },
    before: number,
  ): Promise<void> {
    const { tools } = this.tape
    const most = toolsMaxOf(kind)
    const out = tools.slice(Math.max(most, before)).map(({ name }) => name)
    if (out.length === 0) return
    const named =
      out.length > NAMED ? `${out.slice(0, NAMED).join(', ')} and ${out.length - NAMED} more` : out.join(', ')
    const text = `${named} left out: a request to ${provider} names ${most} tools at most, and there are ${tools.length}; list those that the agent needs under tools`
    // Said once, however often a fallback answers.
    if (this.tape.steps.some((step) => step.kind === 'note' && step.data.text === text)) return
    await this.write('note', { text, aside: true })
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

  briefed() {
    const { provider = '', model = '', fallback_provider = '', fallback_model = '' } = this.run.definition
    const { system } = this.tape.prompt!
    const { tools } = this.tape
    return {
      provider,
      model,
      fallback: { provider: fallback_provider, model: fallback_model },
      system,
      tools,
    }
  }

  async choose(): Promise<{ choice: Choice } | { end: LoopEnd }> {
    if (this.isOver) return { end: this.exhausted('its rounds are used up') }
    const forced = { tool: CONCLUDE }
    if (this.isExtra) return { choice: this.run.definition.concludes ? forced : 'none' }
    await this.offerMore()
    return { choice: this.tape.told > 0 ? forced : 'auto' }
  }

  /** A call may have made a server list other tools, as one does that offers them in sets. */
  private async offerMore(): Promise<void> {
    const { tape, run, parts } = this
    if ((await parts.tools.relist()).size === 0) return
    const known = new Set(tape.tools.map(({ name }) => name))
    const more = offered(parts.tools.tools, run.definition.tools ?? []).filter(({ name }) => !known.has(name))
    if (more.length === 0) return
    const text = `there are more tools to call: ${more.map(({ name }) => name).join(', ')}`
    await this.write('note', { text, tools: more.map(specOf) })
    await this.tellLeftOut(known.size)
  }

  /** The call behind its last round, which is made to conclude. */
  private get isExtra(): boolean {
    return this.tape.rounds === this.run.maxRounds
  }

  private get isOver(): boolean {
    return this.tape.rounds > this.run.maxRounds
  }

  ends(): null {
    return null
  }

  stopped(why: 'cut' | { refused: string }): RunEnd {
    const { cuts, lastText: note } = this.tape
    if (why !== 'cut') return { event: 'fail', reason: why.refused, note }
    const reason = `its reply was cut off ${cuts} times, the last time at ${this.lastRoom} tokens; ask for less in its prompt, or choose a model that may write more`
    return { event: 'fail', reason, note }
  }

  /** In their order; those that only read, side by side. */
  async answerCalls([call]: readonly ToolCall[], reply: StoredReply): Promise<LoopEnd | null> {
    await this.tellLeftOutBy(reply)
    if (call!.cut) await this.write('refused', { call: call!, reason: this.cutReason(call!) })
    else if (isConclude(call!)) return await this.conclude(call!)
    else await this.answering.answerNext()
    return null
  }

  private cutReason({ name }: ToolCall): string {
    return `cut off: the reply had more than the ${this.lastRoom} tokens there were for it, so ${name} was not called; call it again, shorter if you can. There is room for ${this.lastRoom} tokens or more`
  }

  /** Tokens there were for the last reply. */
  private get lastRoom(): number {
    const last = this.tape.steps.findLast((step) => step.kind === 'model')
    return last?.kind === 'model' ? last.data.asked.max_tokens : this.outputTokens
  }

  private async conclude(call: ToolCall): Promise<LoopEnd | null> {
    const { tape, run } = this
    const conclusion = unreadArguments(call) ?? readConclusion(call.arguments, run.definition, run.entity)
    const sentBack = tape.sentBack
    if (typeof conclusion === 'string') {
      await this.write('conclude', { call, fault: conclusion, claims: [] })
      return sentBack + 1 >= FAULTS_MAX ? this.lastWord(`its conclusion was refused: ${conclusion}`) : null
    }
    const unknown = sentBack > 0 || this.isOver ? null : await this.unknownEntity(conclusion)
    if (unknown) {
      await this.write('conclude', { call, fault: unknown, claims: [] })
      return null
    }
    const claims = await this.checked(conclusion)
    const repairs = tape.steps.filter((step) => step.kind === 'conclude' && step.data.fault === null).length
    await this.write('conclude', { call, fault: null, claims })
    // What is unproved may be right: it is shown as such, and costs no other call.
    const holds = claims.every(({ ok, unproved }) => ok || unproved)
    return holds || repairs >= REPAIRS || this.isOver ? succeeded(conclusion, claims) : null
  }

  private async checked({ claims }: Conclusion): Promise<CheckedClaim[]> {
    if (claims.length === 0) return []
    const ids = [...new Set(claims.flatMap(({ events }) => events))]
    const rows = await this.parts.port.eventsOf(ids)
    return checkClaims(claims, new Map(rows.map((row) => [row.id, row])), this.tape.shown())
  }

  /** A name that was mistyped has a timeline which nobody reads: it is asked for once more, and kept where it is meant. */
  private async unknownEntity({ entity, outcome }: Conclusion): Promise<string | null> {
    const { run, parts } = this
    const { label, key } = { label: entity?.label ?? run.label, key: entity?.key ?? run.entity }
    if (outcome === 'no_op' || (label === run.label && key === run.entity)) return null
    const at = iso(run.asOf)
    const asked = { selector: { [label]: key }, from: iso(run.asOf - 1), to: at, as_of: at, limit: 1 }
    const { rows, last_seen } = await parts.port.readFor(run.projects, asked)
    if (rows.length > 0 || last_seen !== null) return null
    return `no event that you may read has ${nameEntity({ label, entity: key })}. Conclude again: without key and label where it is about ${nameEntity(run)}, else with the label and value that events have; the same once more is kept`
  }

  /** A reply without calls is the last word, unless the run has to conclude. */
  async weigh(reply: StoredReply): Promise<LoopEnd | null> {
    const { tape, run } = this
    if (reply.calls.length > 0 || tape.last?.kind !== 'model') return null
    await this.tellLeftOutBy(reply)
    if (isCut(reply)) {
      const say = reply.text.trim() ? GO_ON : BEGIN_AGAIN
      await this.write('note', { text: 'its reply was cut off', say, cut: true })
      return null
    }
    if (isBlank(reply) && !this.isOver && !tape.wasBlank) {
      await this.write('note', { text: 'its reply was empty', say: SAY_SOMETHING, blank: true })
      return null
    }
    if (run.definition.concludes && tape.told < TOLD_MAX && !this.isOver) {
      const say = 'End this run with the conclude tool now: outcome finding with your note, or no_op.'
      await this.write('note', { text: 'it stopped without a conclusion', say })
      return null
    }
    const kept = this.kept()
    if (kept || !run.definition.concludes) return kept ?? this.lastWord(null)
    // A plain text is no conclusion of an agent that ends every run with the tool; it is kept as a note.
    if (this.isOver) return this.exhausted('it did not end with the conclude tool', this.toolHint)
    return this.empty(`it did not end with the conclude tool, though it was told to ${TOLD_MAX} times`)
  }

  /** A conclusion whose claims were sent back, and that nothing better came after: it is kept as it is. */
  kept(): RunEnd | null {
    return keptOf(this.tape, this.run)
  }

  /**
   * Of a run that need not conclude: what its last reply says. What was said along with calls before is half a
   * thought, kept as the note of a run that did not come to an end.
   */
  private lastWord(fault: string | null): RunEnd {
    const { tape } = this
    const said = fault === null && tape.reply?.text.trim() ? tape.lastText?.trim() : undefined
    const nothing = { verdict: null, headline: null, nextStep: null, entity: null, claims: [] }
    if (said) return succeeded({ outcome: 'finding', note: said, ...nothing }, [])
    if (fault === null && this.isOver)
      return this.exhausted('its last reply was empty and its rounds are used up', this.toolHint)
    return this.empty(fault ?? 'it ended without a text and without a conclusion')
  }

  /** It came to no conclusion; what it said is kept as a note. */
  private empty(why: string): RunEnd {
    return { event: 'empty', reason: `${why}${this.toolHint}`, note: this.tape.lastText?.trim() || null }
  }

  /** What to look at where a run called no tool at all, conclude included (SPEC.md, Errors). */
  private get toolHint(): string {
    const { toolCalls, sentBack } = this.tape
    return toolCalls + sentBack === 0 ? '; it called no tool: check that the model supports tool calling' : ''
  }

  begin: NonNullable<Policy<LoopEnd>['begin']> = (step, ceilingUsd) =>
    this.answering.kept((before) => this.parts.port.beginCall(this.run.id, step, ceilingUsd, before))

  unpaid(reason: string): RunEnd {
    return { event: 'cap', reason, note: this.tape.lastText }
  }

  failed(reason: string): RunEnd {
    return this.isExtra ? this.exhausted(reason) : { event: 'fail', reason, note: this.tape.lastText }
  }

  /** It leaves its place to others, and is taken up again when its model is tried anew. */
  async away(why: Unavailable, otherwise: (reason: string) => LoopEnd): Promise<LoopEnd> {
    return { event: 'park', why, otherwise: otherwise(why.reason) as RunEnd }
  }

  private exhausted(why: string, hint = ''): RunEnd {
    const reason = `${why} after ${this.run.maxRounds}; raise max_rounds of the agent to give it more`
    return { event: 'exhaust', reason: `${reason}${hint}`, note: this.tape.lastText }
  }

  async record(steps: readonly StepWrite[]): Promise<void> {
    await this.answering.record(steps)
  }

  private async write<K extends StepKind>(kind: K, data: StepData[K]): Promise<void> {
    const step = stepAt(this.tape, this.parts.clock, kind, data)
    await this.record([step])
    this.tape.put(step)
  }
}

function keptOf(tape: Tape, { definition, entity }: StartedRun): RunEnd | null {
  const last = tape.lastConclusion()
  if (!last) return null
  const conclusion = readConclusion(last.call.arguments, definition, entity)
  return typeof conclusion === 'string' ? null : succeeded(conclusion, last.claims)
}

/** What a run comes to that is cut off in between: a conclusion that was sent back holds, and what it said last is its note. */
export function endCutOff(run: StartedRun, event: 'deadline' | 'fail', reason: string): RunEnd {
  const tape = new Tape(run.steps)
  return keptOf(tape, run) ?? { event, reason, note: tape.lastText }
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

/** The tool of our own that does not only read. */
const WRITES = 'remember'

const isConclude = ({ name }: ToolCall): boolean => name.trim().toLowerCase() === CONCLUDE

type AnsweringParts = Pick<RunParts, 'port' | 'tools' | 'clock' | 'signal'>

class Answering {
  /** Answered, and written with what is written next: mostly the next call of the model. */
  private unwritten: StepWrite[] = []

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

  /**
   * What our own tools answer waits for the next write, unless it changed something: a stop in between asks them again. A
   * write of its own would be a third of what a round costs the writer.
   */
  private async askOwn(calls: readonly ToolCall[]): Promise<void> {
    const first = this.tape.next
    const steps = await Promise.all(calls.map((call, i) => this.ownStep(call, first + i)))
    this.parts.signal.throwIfAborted()
    if (calls.some(({ name }) => this.nameOf(name) === WRITES)) return await this.put(steps)
    this.unwritten.push(...steps)
    for (const step of steps) this.tape.put(step)
  }

  private async ownStep(given: ToolCall, n: number): Promise<StepWrite> {
    const { run, parts, tape } = this
    const at = parts.clock.now()
    const own = await callOwnTool(run, parts.port, { ...given, name: this.nameOf(given.name) }, tape.rounds)
    const ms = parts.clock.now() - at
    if (own === null) {
      const reason = this.whyNone(given)
      return { n, kind: 'refused', round: tape.rounds, at, ms, data: { call: given, reason } }
    }
    const { text, isError, shown } = own
    const data = { call: given, server: null, result: text, is_error: isError, shown }
    return { n, kind: 'tool', round: tape.rounds, at, ms, data }
  }

  /** Why there is no such tool: it never was there, or its server is gone since the daemon went on with the run. */
  private whyNone(given: ToolCall): string {
    const { tools } = this.tape
    const name = this.nameOf(given.name)
    const offered = tools.find((tool) => tool.name === name)
    if (!offered)
      return `no tool is named ${given.name.slice(0, 64)}; there are ${tools.map((tool) => tool.name).join(', ')}`
    const skipped = this.parts.tools.skipped.find(({ server }) =>
      offered.description.startsWith(`[${server}] `),
    )
    return `${name} cannot be called since the run was taken up again: ${skipped?.reason ?? 'its server does not list it any more'}`
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
    // A server that passes over what it does not know would do it without any argument.
    const unread = takesArguments(external) ? null : unreadArguments(call)
    const reason = decision.allowed ? unread : `refused: ${decision.reason}`
    if (reason !== null)
      return { n, kind: 'refused', round, at, ms: parts.clock.now() - at, data: { call, reason } }
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
    return this.tape.tools.find(({ name }) => name.toLowerCase() === wanted)?.name ?? given
  }

  private async put(steps: readonly StepWrite[]): Promise<void> {
    await this.record(steps)
    for (const step of steps) this.tape.put(step)
  }

  /** With what was answered before. */
  async record(steps: readonly StepWrite[]): Promise<void> {
    await this.kept(async (before) => {
      if (before.length + steps.length > 0)
        await this.parts.port.recordSteps(this.run.id, [...before, ...steps])
    })
  }

  /** @param write gets what was answered, and writes it with its own. */
  async kept<T>(write: (before: readonly StepWrite[]) => Promise<T>): Promise<T> {
    const result = await write(this.unwritten)
    this.unwritten = []
    return result
  }
}

/** Whether a tool has an argument of that very name, so that text in it is no sign of a call that cannot be read. */
function takesArguments({ input }: ExternalTool): boolean {
  const { properties } = input as { properties?: unknown }
  return isObject(properties) && Object.hasOwn(properties, 'arguments')
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
