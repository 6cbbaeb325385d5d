/** The steps of a run read back: what was said so far, and what is still to be done. */
import type { ModelMessage, ToolCall } from '../models/types.ts'
import type { Shown, Step, StepKind, StepWrite } from './types.ts'

/** Told of an external call that a stop came between: it may have happened, so it is not made again. */
const INTERRUPTED = 'interrupted: the service stopped during this call; its outcome is unknown'

type StepOf<K extends StepKind> = Extract<Step, { kind: K }>

export class Tape {
  constructor(readonly steps: Step[]) {}

  get prompt(): StepOf<'prompt'>['data'] | null {
    return this.steps.find((step) => step.kind === 'prompt')?.data ?? null
  }

  /** Model calls that came to something. */
  get rounds(): number {
    return this.steps.filter(({ kind, ms }) => kind === 'model' && ms !== null).length
  }

  /** The last thing said, asked or answered. */
  get last(): Step | null {
    return this.steps.findLast((step) => step.kind !== 'note' || step.data.resumed !== true) ?? null
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

  /** The last text a model gave, for what remains of a run that did not conclude. */
  get lastText(): string | null {
    for (const step of [...this.steps].reverse())
      if (step.kind === 'model' && step.data.reply?.text.trim()) return step.data.reply.text
    return null
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
    return this.steps.filter((step) => step.kind === 'note' && step.data.say !== undefined).length
  }

  /** Calls of the last reply without an answer. */
  pending(): ToolCall[] {
    const last = this.lastReply()
    if (!last) return []
    const answered = new Set(this.after(last.n).flatMap((step) => answerTo(step)?.id ?? []))
    return last.data.reply!.calls.filter(({ id }) => !answered.has(id))
  }

  /** Everything that was shown, with how many events each stood for. */
  shown(): Map<string, number> {
    const all = new Map<string, number>()
    const add = (shown: Shown | undefined) => {
      for (const [id, count] of shown ?? []) all.set(id, Math.max(count, all.get(id) ?? 0))
    }
    for (const step of this.steps) if (step.kind === 'prompt' || step.kind === 'tool') add(step.data.shown)
    return all
  }

  /** The conversation as a model is given it. */
  messages(): ModelMessage[] {
    const messages: ModelMessage[] = []
    let results: { id: string; content: string; isError?: boolean }[] = []
    const flush = () => {
      if (results.length) messages.push({ role: 'tool', results })
      results = []
    }
    for (const step of this.steps) {
      if (step.kind === 'prompt') messages.push({ role: 'user', text: step.data.message })
      else if (step.kind === 'model' && step.data.reply) {
        flush()
        const { text, calls, raw } = step.data.reply
        messages.push({ role: 'assistant', text, calls, raw })
      } else if (step.kind === 'note' && step.data.say !== undefined) {
        flush()
        messages.push({ role: 'user', text: step.data.say })
      } else {
        const answer = answerTo(step)
        if (answer) results.push(answer)
      }
    }
    flush()
    return messages
  }

  /** What its model was answered to each call, by the number of the step. */
  answers(): Map<number, { id: string; content: string; isError?: boolean }> {
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
    return last?.kind === 'model' && last.data.reply ? last : null
  }

  private after(n: number): Step[] {
    return this.steps.filter((step) => step.n > n)
  }
}

/** What a model is answered to one of its calls. */
function answerTo(step: Step): { id: string; content: string; isError?: boolean } | null {
  if (step.kind === 'tool') {
    const { call, result = INTERRUPTED, is_error = true } = step.data
    return { id: call.id, content: result, ...(is_error ? { isError: true } : {}) }
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
