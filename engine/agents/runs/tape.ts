/** The steps of a run read back: what was said so far, and what is still to be done. */
import type { ShownEvents } from '../finding-queries.ts'
import type { ModelMessage, ToolAnswer, ToolCall, ToolSpec } from '../models/types.ts'
import type { Parked, Shown, Step, StepKind, StepWrite, StoredReply } from './types.ts'

/** Told of an external call that a stop came between: it may have happened, so it is not made again. */
const INTERRUPTED = 'interrupted: the service stopped during this call; its outcome is unknown'

/** Whether a reply ended before it was over: in its text, or in one of its calls. */
export const isCut = ({ stop, calls }: Pick<StoredReply, 'stop' | 'calls'>): boolean =>
  stop === 'length' && (calls.length === 0 || calls.some(({ cut }) => cut))

/** Whether a reply has neither a text nor a call: models that think, or were answered by tools, end like that now and then. */
export const isBlank = ({ text, calls }: Pick<StoredReply, 'text' | 'calls'>): boolean =>
  text.trim() === '' && calls.length === 0

const isCutText = (reply: StoredReply): boolean => isCut(reply) && reply.calls.length === 0

type StepOf<K extends StepKind> = Extract<Step, { kind: K }>

export class Tape {
  /** What a step says, made once: what was said is the same object with each call (models/models.ts). */
  private readonly said = new WeakMap<Step['data'], ModelMessage>()
  private readonly answered = new WeakMap<Step['data'], ToolAnswer>()

  constructor(readonly steps: Step[]) {}

  get prompt(): StepOf<'prompt'>['data'] | null {
    return this.steps.find((step) => step.kind === 'prompt')?.data ?? null
  }

  /** What the model may call, with what was offered since the prompt. */
  get tools(): readonly ToolSpec[] {
    const later = this.steps.flatMap((step) => (step.kind === 'note' ? (step.data.tools ?? []) : []))
    const first = this.prompt?.tools ?? []
    return later.length ? [...first, ...later] : first
  }

  /** Model calls that came to something: a reply that was cut off is none by itself. */
  get rounds(): number {
    return this.replies().filter((reply) => !isCut(reply)).length
  }

  /** Replies that were cut off, those too that were asked for again whole. */
  get cuts(): number {
    return this.replies().filter(isCut).length
  }

  private replies(): StoredReply[] {
    return this.steps.flatMap((step) => (step.kind === 'model' ? (step.data.reply ?? []) : []))
  }

  /** The last wait for the model since a reply; null: it answered since, or was never waited for. */
  get parked(): Parked | null {
    const last = this.steps.findLast(
      ({ kind, data }) => (kind === 'note' && 'parked' in data) || (kind === 'model' && 'reply' in data),
    )
    return last?.kind === 'note' ? (last.data.parked ?? null) : null
  }

  /** The same where nothing was asked since: it waits now. */
  get waitsNow(): Parked | null {
    const { last } = this
    return last?.kind === 'note' ? (last.data.parked ?? null) : null
  }

  /** How often it was taken up again. */
  get resumed(): number {
    return this.steps.filter((step) => step.kind === 'note' && step.data.resumed === true).length
  }

  /** The last thing said, asked or answered. */
  get last(): Step | null {
    const isSaid = (step: Step) =>
      step.kind !== 'note' || (step.data.resumed !== true && step.data.aside !== true)
    return this.steps.findLast(isSaid) ?? null
  }

  /** The last conclusion that kept the rules of form. */
  lastConclusion(): StepOf<'conclude'>['data'] | null {
    for (const step of [...this.steps].reverse())
      if (step.kind === 'conclude' && step.data.fault === null) return step.data
    return null
  }

  /** The last reply, if nothing was asked since. */
  get reply(): NonNullable<StepOf<'model'>['data']['reply']> | null {
    const last = this.lastReply()
    return last?.data.reply ?? null
  }

  /**
   * What a model said last, for what remains of a run that did not conclude: the note of a conclusion that was refused
   * since it broke a rule of form, else the last text; of several where it was cut.
   */
  get lastText(): string | null {
    const at = this.steps.findLastIndex((step) => refusedNote(step) !== null || saidText(step))
    if (at < 0) return null
    const refused = refusedNote(this.steps[at]!)
    if (refused !== null) return refused
    const replies = this.replies()
    const last = replies.findLastIndex(({ text }) => text.trim() !== '')
    let first = last
    while (first > 0 && isCutText(replies[first - 1]!)) first--
    return replies
      .slice(first, last + 1)
      .map(({ text }) => text)
      .join('')
  }

  get toolCalls(): number {
    return this.steps.filter(({ kind }) => kind === 'tool' || kind === 'refused').length
  }

  /** Conclusions that were sent back: a fault, or claims that do not hold. */
  get sentBack(): number {
    return this.steps.filter((step) => step.kind === 'conclude').length
  }

  /** How often it was told something besides. */
  get told(): number {
    return this.steps.filter(
      (step) =>
        step.kind === 'note' && step.data.say !== undefined && !step.data.cut && step.data.blank !== true,
    ).length
  }

  /** It was told that its reply said nothing, and called no tool since. */
  get wasBlank(): boolean {
    const at = this.steps.findLastIndex((step) => step.kind === 'note' && step.data.blank === true)
    return at >= 0 && !this.steps.slice(at).some(({ kind }) => kind === 'tool' || kind === 'refused')
  }

  /** Calls of the last reply without an answer. */
  pending(): ToolCall[] {
    const last = this.lastReply()
    if (!last) return []
    const answered = new Set(this.after(last.n).flatMap((step) => answerTo(step)?.id ?? []))
    return last.data.reply!.calls.filter(({ id }) => !answered.has(id))
  }

  /** Everything that was shown, with how many events each stood for wherever it was, and the numbers told of it. */
  shown(): ShownEvents {
    const all = new Map<string, { counts: Set<number>; numbers: number[] }>()
    const add = (shown: Shown | undefined) => {
      for (const [id, count, numbers = []] of shown ?? []) {
        const known = all.get(id) ?? { counts: new Set(), numbers: [] }
        known.counts.add(count)
        known.numbers.push(...numbers)
        all.set(id, known)
      }
    }
    for (const step of this.steps) if (step.kind === 'prompt' || step.kind === 'tool') add(step.data.shown)
    return all
  }

  /** Answers of tools up to the step of this number are told in short. */
  get compacted(): number {
    return this.steps.reduce(
      (n, step) => Math.max(n, step.kind === 'note' ? (step.data.compacted ?? 0) : 0),
      0,
    )
  }

  /** Its model has no room for a reply as long as it may be. */
  get isNarrow(): boolean {
    return this.steps.some((step) => step.kind === 'note' && step.data.narrow === true)
  }

  /**
   * Up to which step answers may be told in short that are not yet: those before the last reply, then all.
   * Null: there is nothing to gain any more.
   */
  toCompact(): number | null {
    const done = this.compacted
    const isLong = (upTo: number) =>
      this.steps.some((step) => {
        const answer = step.n > done && step.n <= upTo ? answerTo(step) : null
        return (
          answer !== null && (shortenAnswer(answer.content) !== answer.content || answer.images !== undefined)
        )
      })
    const before = this.lastReplied()
    if (isLong(before)) return before
    return isLong(this.next - 1) ? this.next - 1 : null
  }

  /** The conversation as a model is given it. */
  messages(): ModelMessage[] {
    const { compacted } = this
    const messages: ModelMessage[] = []
    let results: ToolAnswer[] = []
    const flush = () => {
      if (results.length) messages.push({ role: 'tool', results })
      results = []
    }
    for (const step of this.steps) {
      if (step.kind === 'prompt')
        messages.push(onceFor(this.said, step.data, { role: 'user', text: step.data.message }))
      else if (step.kind === 'model' && step.data.reply) {
        flush()
        const { text, calls, raw } = step.data.reply
        if (step.data.again) continue
        // It said nothing: there is no such message.
        if (isBlank(step.data.reply)) continue
        messages.push(onceFor(this.said, step.data, { role: 'assistant', text, calls, raw }))
      } else if (step.kind === 'note' && step.data.say !== undefined) {
        flush()
        messages.push(onceFor(this.said, step.data, { role: 'user', text: step.data.say }))
      } else {
        const answer = this.answered.get(step.data) ?? answerTo(step)
        if (answer)
          results.push(step.n <= compacted ? inShort(answer) : onceFor(this.answered, step.data, answer))
      }
    }
    flush()
    return messages
  }

  /** What its model was answered to each call, by the number of the step. */
  answers(): Map<number, ToolAnswer> {
    return new Map(
      this.steps.flatMap((step) => {
        const answer = answerTo(step)
        return answer ? [[step.n, answer]] : []
      }),
    )
  }

  /** Writes down a step, or the completion of one. */
  put(write: StepWrite): void {
    const at = this.steps.findIndex(({ n }) => n === write.n)
    if (at === -1) this.steps.push(write as Step)
    else this.steps[at] = write as Step
  }

  get next(): number {
    return (this.steps.at(-1)?.n ?? 0) + 1
  }

  private lastReply(): StepOf<'model'> | null {
    const last = [...this.steps].reverse().find((step) => step.kind === 'model')
    return last?.kind === 'model' && last.data.reply && !last.data.again ? last : null
  }

  private lastReplied(): number {
    return this.steps.findLast((step) => step.kind === 'model' && step.data.reply)?.n ?? 0
  }

  private after(n: number): Step[] {
    return this.steps.filter((step) => step.n > n)
  }
}

const saidText = (step: Step): boolean => step.kind === 'model' && !!step.data.reply?.text.trim()

/** @returns the note of a conclusion that was refused for its form, such as a verdict that is not listed */
function refusedNote(step: Step): string | null {
  if (step.kind !== 'conclude' || step.data.fault === null) return null
  const { summary } = step.data.call.arguments
  return typeof summary === 'string' && summary.trim() ? summary.trim() : null
}

/** @returns what is kept for it, or the new one, which is kept from now on */
function onceFor<K extends object, V>(kept: WeakMap<K, V>, key: K, made: V): V {
  const known = kept.get(key)
  if (known !== undefined) return known
  kept.set(key, made)
  return made
}

/** Its images take the most room, and were looked at. */
function inShort({ images: _images, content, ...answer }: ToolAnswer): ToolAnswer {
  return { ...answer, content: shortenAnswer(content) }
}

/** What a model is answered to one of its calls. */
function answerTo(step: Step): ToolAnswer | null {
  if (step.kind === 'tool') {
    const { call, result = INTERRUPTED, is_error = true, images } = step.data
    return {
      id: call.id,
      content: result,
      ...(is_error ? { isError: true } : {}),
      ...(images ? { images } : {}),
    }
  }
  if (step.kind === 'refused') return { id: step.data.call.id, content: step.data.reason, isError: true }
  if (step.kind !== 'conclude') return null
  const { call, fault, claims } = step.data
  const failing = claims.filter(({ ok }) => !ok)
  if (fault === null && failing.length === 0) return { id: call.id, content: 'concluded' }
  const text =
    fault ??
    `${failing.length} of ${claims.length} claims do not hold: ${failing.map((claim) => `"${claim.text}": ${claim.why}`).join('; ')}. Conclude again with claims that the events you read hold; leave out what they do not.`
  return { id: call.id, content: text, isError: true }
}

/*
 * Answers of tools made short, for a conversation that has grown longer than its model takes. What was
 * shown stays shown: the ids of the events stay, so that they can be cited and looked up again.
 */

/** Characters that stay of an answer, of its beginning. */
const KEPT = 300
/** With what stands before and behind it: a window, or the cursor of the next page. */
const FENCE = /^([\s\S]*?<<<data (\w+)\n)([\s\S]*)(\ndata \2>>>[\s\S]*)$/
const EVENT_ID = /\bevt_\d+\b/g

/** @returns the answer made short, the same each time; itself where that would be no shorter */
export function shortenAnswer(content: string): string {
  const [, open = '', , inner = content, close = ''] = FENCE.exec(content) ?? []
  const kept = inner.slice(0, KEPT)
  const ids = [...new Set(inner.match(EVENT_ID) ?? [])]
  const events = ids.length ? `; events in it: ${ids.join(', ')}` : ''
  const short = `${open}${kept}…\n[shortened for want of room: it had ${inner.length} characters${events}]${close}`
  return short.length < content.length ? short : content
}

/* A tool call that a weak model wrote as JSON text instead of making it. */

const NAMES = ['name', 'tool', 'function'] as const
const ARGUMENTS = ['arguments', 'parameters', 'input', 'args'] as const

/** Letters of a text however it is broken into lines, or quoted as JSON in JSON. */
const lettersOf = (text: string): string => text.replace(/\\[nrt]|[\s\\]/g, '')

/**
 * @param shown the conversation so far. A call that stands in it word for word is a quotation, such as of an event whose
 *  author wants the model to make that call, and is not made.
 * @returns the call, or null when the text is none of one of these tools.
 */
export function callInText(
  text: string,
  tools: readonly ToolSpec[],
  id: string,
  shown: readonly ModelMessage[],
): ToolCall | null {
  const json = /^\s*(?:```(?:json)?\s*)?(\{[\s\S]*\})\s*(?:```)?\s*$/.exec(text)?.[1]
  if (json === undefined) return null
  let value: Record<string, unknown>
  try {
    value = JSON.parse(json) as Record<string, unknown>
  } catch {
    // A text that only looks like one is a text.
    return null
  }
  const name = NAMES.map((key) => value[key]).find((one) => typeof one === 'string') as string | undefined
  const known = tools.find((tool) => tool.name.toLowerCase() === name?.trim().toLowerCase())
  const given = ARGUMENTS.map((key) => value[key]).find((one) => one !== null && typeof one === 'object')
  if (!known || !given || isQuoted(json, shown)) return null
  return { id, name: known.name, arguments: given as Record<string, unknown> }
}

function isQuoted(json: string, shown: readonly ModelMessage[]): boolean {
  const letters = lettersOf(json)
  return shown
    .flatMap((message) =>
      message.role === 'tool'
        ? message.results.map(({ content }) => content)
        : message.role === 'user'
          ? [message.text]
          : [],
    )
    .some((content) => lettersOf(content).includes(letters))
}
