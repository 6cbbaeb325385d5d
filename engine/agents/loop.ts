/**
 * The one loop of a model: it is asked, what it calls is answered, until its policy says that it is over. Runs, Ask
 * and planning are policies: what there is to call, what ends it, what is kept, what is streamed, and who pays.
 *
 * ```
 * ask ─→ reply ─ refused, or cut off too often ─→ end
 *  ↑       │ otherwise
 *  │       ↓
 *  ├── answered ─ its calls, in their order; then what its policy weighs ─→ end
 *  └── no reply ─ too long: compacted │ model away: it waits, or is parked │ else ─→ end
 * ```
 *
 * All it knows is on the tape, so that it goes on from there after a stop: what was answered is not asked again.
 */
import type { Clock, Timers } from '../clock.ts'
import { within } from '../net/fetch.ts'
import { nextTry } from './models/adapter.ts'
import {
  ModelFault,
  type ModelMessage,
  type ModelReply,
  type ModelRequest,
  type Models,
  type ToolCall,
  type ToolSpec,
} from './models/types.ts'
import { type CallRefusal, type Reserved, reserveCall, roomAfter } from './models/usage.ts'
import { callInText, isCut, type Tape } from './runs/tape.ts'
import type { Parked, StepData, StepKind, StepWrite, StoredReply, Unavailable } from './runs/types.ts'

/** Calls of one reply that are made side by side at most: each reads the store, or asks a server. */
export const AT_ONCE = 8
/** Of what was said before the tape began, where there is no room for all: the question before and its answer. */
const MESSAGES_KEPT = 2
/** Tokens of a reply that a model is asked for which has no room for more beside what was said. */
const NARROW = 1_024
/** What to do about a conversation that is too long for a model from its first message on. */
const TOO_LONG =
  '. Nothing of it is left to be told in short: shorten the prompt, give it fewer tools and skills, or choose a model that takes more'
/** How endpoints say that the room for the reply is part of what is too long. */
const COUNTS_REPLY = /completion|max_(new_)?tokens|output tokens|requested:? \d|you requested/i
/** Every model may write as much; whether it may write more is asked. */
const ANY_MODEL_WRITES = 4_096

export type Choice = StepData['model']['asked']['choice']

/** What is asked of the model besides what is on the tape. */
interface Briefed extends Pick<ModelRequest, 'provider' | 'model' | 'fallback'> {
  system: string
  tools: readonly ToolSpec[]
  /** Said before the tape begins. */
  earlier?: readonly ModelMessage[]
}

/** What a loop is of. `End` is what it comes to. */
export interface Policy<End> {
  /** Tokens of one reply, at first; more after each that was cut off. */
  readonly outputTokens: number
  /** Replies that were cut off; one more ends it. */
  readonly cutsMax: number
  /** A reply that was cut off is asked for again whole, and is no part of what was said. */
  readonly asksCutAgain?: true
  /** Who is told the text as it comes, and that it is void. */
  readonly reader?: { hear(delta: string): void; unhear(): void }
  briefed(): Briefed
  /** What may be answered next, or the end where nothing more may be asked. */
  choose(): Promise<{ choice: Choice } | { end: End }>
  /** What a reply ends by itself, before its calls are looked at; null: it goes on. */
  ends(reply: StoredReply): End | null
  /** @param why the model did not answer, in a sentence; or `cut`: its replies were cut off too often, this one too */
  stopped(why: 'cut' | { refused: string }): End
  /** Answers the first of the calls that have no answer, and those that may be made at the same time. */
  answerCalls(pending: readonly ToolCall[], reply: StoredReply): Promise<End | null>
  /** After all calls of a reply are answered; null: it is asked again. */
  weigh(reply: StoredReply): Promise<End | null>
  /** There is no room for what was said before the tape began. @returns whether more than `kept` messages of it were told */
  forget?(kept: number): Promise<boolean>
  /** Keeps steps, and counts what they cost. */
  record(steps: readonly StepWrite[]): Promise<void>
  /** Reserves what a call may cost and writes its step, or says why not; null: nobody's budget pays for it. */
  readonly begin: ((step: StepWrite, ceilingUsd: number | null) => Promise<CallRefusal | null>) | null
  /** No budget pays for the next call. */
  unpaid(reason: string): End
  /** A call has no reply, and is not made again. */
  failed(reason: string, fault: ModelFault): End
  /** The model is unavailable. @returns null: it was waited for. @param otherwise where no wait is left */
  away(why: Unavailable, otherwise: (reason: string) => End): Promise<End | null>
}

export interface LoopParts {
  models: Models
  clock: Clock
  /** Ends what is asked: a person, the deadline, or the daemon's stop. */
  signal: AbortSignal
  /** Resolves when a call that held money has ended. @throws an abort of the signal */
  moneyFreed(): Promise<void>
}

/** The call of a model that is under way. */
type Begun = { n: number; round: number; at: number; asked: StepData['model']['asked'] }

/**
 * Goes on from where the tape stands to its end.
 * @throws what the policy throws; an abort of the signal
 */
export async function runLoop<End>(tape: Tape, policy: Policy<End>, parts: LoopParts): Promise<End> {
  return await new Loop(tape, policy, parts).go()
}

class Loop<End> {
  constructor(
    private readonly tape: Tape,
    private readonly policy: Policy<End>,
    private readonly parts: LoopParts,
  ) {}

  async go(): Promise<End> {
    for (;;) {
      const ended = (await this.readReply()) ?? (await this.ask())
      if (ended) return ended
    }
  }

  /** The last reply, where nothing was asked since: its calls are answered, and it is weighed. */
  private async readReply(): Promise<End | null> {
    const { tape, policy, parts } = this
    const { reply } = tape
    if (!reply) return null
    // What it began is nothing to act on.
    if (reply.stop === 'refusal' || reply.stop === 'filter')
      return policy.stopped({ refused: refusalOf(reply) })
    const over =
      policy.ends(reply) ?? (isCut(reply) && tape.cuts > policy.cutsMax ? policy.stopped('cut') : null)
    if (over) return over
    for (let pending = tape.pending(); pending.length > 0; pending = tape.pending()) {
      parts.signal.throwIfAborted()
      const ended = await policy.answerCalls(pending, reply)
      if (ended) return ended
    }
    return await policy.weigh(reply)
  }

  /** Asks the model once more. */
  private async ask(): Promise<End | null> {
    const { policy, parts, tape } = this
    parts.signal.throwIfAborted()
    const next = await policy.choose()
    if ('end' in next) return next.end
    const { choice } = next
    // A call that a stop came between stays on the tape as it is, and is asked again behind it.
    const begun: Begun = {
      n: tape.next,
      round: tape.rounds + 1,
      at: parts.clock.now(),
      asked: { choice, max_tokens: policy.outputTokens, ceiling_usd: null },
    }
    try {
      const { earlier = [], tools, ...to } = policy.briefed()
      const messages = [...earlier, ...tape.messages()]
      const request = { ...to, tools: [...tools], messages, choice, maxTokens: await this.room(to) }
      const unpaid = await this.pay(request, begun)
      if (unpaid !== null) return policy.unpaid(unpaid)
      await this.keepReply(await this.call(request, begun), begun)
      return null
    } catch (error) {
      return await this.faulted(error, begun)
    }
  }

  /** @returns why nobody pays for it; null: it is paid for, with as much room as there is money for */
  private async pay(request: Omit<ModelRequest, 'signal'>, begun: Begun): Promise<string | null> {
    const { policy, parts, tape } = this
    const write = policy.begin
    if (!write) {
      begun.asked.max_tokens = request.maxTokens
      return null
    }
    const step = (): StepWrite => ({ ...placed(begun), ms: null, data: { asked: begun.asked } })
    const begin = (reserved: Reserved) => {
      begun.asked = { ...begun.asked, max_tokens: reserved.maxTokens, ceiling_usd: reserved.ceilingUsd }
      return write(step(), reserved.ceilingUsd)
    }
    const reserved = await reserveCall(parts.models, request, begin, () => parts.moneyFreed())
    if (typeof reserved === 'string') return reserved
    tape.put(step())
    return null
  }

  private call(request: Omit<ModelRequest, 'signal'>, { asked }: Begun): Promise<ModelReply> {
    const { policy, parts } = this
    const { reader } = policy
    const told = reader
      ? { onText: (delta: string) => reader.hear(delta), onAgain: () => reader.unhear() }
      : {}
    return parts.models.call({ ...request, maxTokens: asked.max_tokens, signal: parts.signal, ...told })
  }

  private async keepReply(given: ModelReply, begun: Begun): Promise<void> {
    const { ms, ...reply } = this.readCalls(given)
    const again = this.policy.asksCutAgain && isCut(reply) ? ({ again: true } as const) : {}
    await this.put({ ...placed(begun), ms, data: { asked: begun.asked, reply, ...again } })
    this.parts.signal.throwIfAborted()
  }

  /** Weak models write a call as text, and give calls of one reply the same id. */
  private readCalls(reply: ModelReply): ModelReply {
    const written = reply.calls.length ? null : this.readText(reply)
    // The text is the call: it is nothing that was said to whoever reads.
    if (written) {
      this.policy.reader?.unhear()
      return { ...reply, text: '', calls: [written], raw: undefined }
    }
    const calls = tellApart(reply.calls)
    // The provider's own blocks say nothing of an id that was given here.
    return calls.every((call, i) => call === reply.calls[i]) ? reply : { ...reply, calls, raw: undefined }
  }

  private readText({ text }: ModelReply): ToolCall | null {
    const { earlier = [], tools } = this.policy.briefed()
    return callInText(text, tools, `text-${this.tape.rounds}`, [...earlier, ...this.tape.messages()])
  }

  /** Tokens for the next reply: more after each that was cut off, as far as the model may write. */
  private async room({ provider, model }: Pick<ModelRequest, 'provider' | 'model'>): Promise<number> {
    const { cuts, isNarrow } = this.tape
    const first = isNarrow ? NARROW : this.policy.outputTokens
    if (cuts === 0 && first <= ANY_MODEL_WRITES) return first
    const { outputTokens } = await this.parts.models.resolve(provider, model)
    return roomAfter(first, cuts, outputTokens)
  }

  private async faulted(error: unknown, begun: Begun): Promise<End | null> {
    if (!(error instanceof ModelFault) || error.code === 'aborted') throw error
    const { message, code, provider, later } = error
    const ms = this.parts.clock.now() - begun.at
    await this.put({ ...placed(begun), ms, data: { asked: begun.asked, error: { code, message } } })
    this.parts.signal.throwIfAborted()
    if (code === 'overflow' && ((await this.compact()) || (await this.narrow(begun, message)))) return null
    const said = provider && !message.startsWith(provider) ? `${provider}: ${message}` : message
    const reason = code === 'overflow' ? `${said}${TOO_LONG}` : said
    const otherwise = (why: string) => this.policy.failed(why, error)
    return later ? await this.policy.away({ reason, waitMs: later.waitMs }, otherwise) : otherwise(reason)
  }

  /** What was said is longer than the model takes. @returns whether it is shorter now */
  private async compact(): Promise<boolean> {
    const { tape, policy } = this
    if (await policy.forget?.(MESSAGES_KEPT)) return true
    const upTo = tape.toCompact()
    if (upTo === null) return (await policy.forget?.(0)) ?? false
    const text = 'it was longer than the model takes; older answers of tools are told in short from here on'
    await this.put(noteAt(tape, this.parts.clock, { text, compacted: upTo }))
    return true
  }

  /** Some models take what was said and the room for the reply together: a small one may have room for a shorter reply. */
  private async narrow({ asked }: Begun, why: string): Promise<boolean> {
    const { tape } = this
    if (!COUNTS_REPLY.test(why) || tape.isNarrow || asked.max_tokens <= NARROW) return false
    const text = `there was no room for a reply of ${asked.max_tokens} tokens; replies of ${NARROW} are asked for from here on`
    await this.put(noteAt(tape, this.parts.clock, { text, narrow: true }))
    return true
  }

  private async put(step: StepWrite): Promise<void> {
    await this.policy.record([step])
    this.tape.put(step)
  }
}

/** Who did not answer, and whether it was the model or a filter before it. */
const refusalOf = ({ provider, model, stop }: StoredReply): string =>
  stop === 'filter'
    ? `${provider}: a content filter ended the reply of ${model}; what it was told or wrote is something that this provider does not let through`
    : `${provider}: the model refused to answer (${model})`

/** @returns the calls, each with an id that no other has: by it its answer is kept, and told to the model */
function tellApart(calls: readonly ToolCall[]): ToolCall[] {
  const ids = new Set<string>()
  return calls.map((call) => {
    let { id } = call
    for (let n = 2; ids.has(id); n++) id = `${call.id}-${n}`
    ids.add(id)
    return id === call.id ? call : { ...call, id }
  })
}

const placed = ({ n, round, at }: Begun): Pick<StepWrite, 'n' | 'kind' | 'round' | 'at'> => ({
  n,
  kind: 'model',
  round,
  at,
})

/** The next step of a tape, begun and done now. */
export const stepAt = <K extends StepKind>(
  tape: Tape,
  clock: Clock,
  kind: K,
  data: StepData[K],
): StepWrite => ({
  n: tape.next,
  kind,
  round: tape.rounds,
  at: clock.now(),
  ms: 0,
  data,
})

export const noteAt = (tape: Tape, clock: Clock, data: StepData['note']): StepWrite =>
  stepAt(tape, clock, 'note', data)

/* A model that is waited for without leaving the loop, as Ask and planning do; runs are parked instead. */

interface WaitParts {
  clock: Clock
  /** Keeps the wait, and tells it to who waits for it. */
  told(step: StepWrite, parked: Parked): Promise<void>
  /** Resolves at that time, epoch ms. @throws an abort of the signal */
  waitUntil(at: number): Promise<void>
}

/**
 * @param waiter who waits, for the sentence: `an answer`
 * @returns why it must not wait any longer; null: it waited. @throws an abort of the signal
 */
export async function waitForModel(
  tape: Tape,
  { reason, waitMs }: Unavailable,
  waiter: string,
  parts: WaitParts,
): Promise<string | null> {
  const { clock } = parts
  const { since = null, tries = 0 } = tape.parked ?? {}
  const next = nextTry({ since, tries }, clock.now(), waitMs, waiter)
  if ('refusal' in next) return next.refusal
  const parked = { reason, ...next, tries: tries + 1, asked: waitMs !== null }
  const text = `it waits for its model until ${new Date(next.until).toISOString()}: ${reason}`
  await parts.told(noteAt(tape, clock, { text, parked }), parked)
  await parts.waitUntil(next.until)
  return null
}

/** Resolves at that time, epoch ms. @throws an abort of the signal */
export async function waitUntil(
  at: number,
  { clock, timers, signal }: { clock: Clock; timers: Timers; signal: AbortSignal },
): Promise<void> {
  await within(timers, Math.max(0, at - clock.now()), signal, new Promise<never>(() => {}))
  signal.throwIfAborted()
}
