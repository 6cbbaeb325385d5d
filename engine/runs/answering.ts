/**
 * The calls of a reply as they are answered. Those that only read and stand side by side in the reply are
 * made side by side; the tape has them in the order they were asked in, whichever came back first.
 */
import type { Clock } from '../clock.ts'
import { decide, type ExternalTools } from '../mcp-tools/index.ts'
import type { ExternalTool } from '../mcp-tools/types.ts'
import type { ToolCall } from '../models/types.ts'
import { CONCLUDE } from './conclude.ts'
import { fence } from './fence.ts'
import { callOwnTool } from './own-tools.ts'
import type { Tape } from './tape.ts'
import type { RunPort, StartedRun, StepWrite } from './types.ts'

/** Made side by side at most: each reads the store, or asks a server. */
export const AT_ONCE = 8
/** The tool of our own that does not only read. */
const WRITES = 'remember'

export const isConclude = ({ name }: ToolCall): boolean => name.trim().toLowerCase() === CONCLUDE

interface AnsweringParts {
  port: RunPort
  tools: ExternalTools
  clock: Clock
  signal: AbortSignal
}

export class Answering {
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
