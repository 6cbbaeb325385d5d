/**
 * Answers of models as files, so that a run over a scenario is repeated without its model, in another folder and on
 * another machine. An answer is found by a hash of what was asked, without what is of one machine or one process.
 */
import { createHash } from 'node:crypto'
import { redact } from '../../net/redact.ts'
import {
  ModelFault,
  type ModelMessage,
  type ModelReply,
  type ModelRequest,
  type Models,
} from '../models/types.ts'

/** What a model was asked, as far as its answer depends on it; secrets are taken out. */
interface Question {
  system: string
  messages: unknown[]
  tools: unknown[]
  choice: unknown
  max_tokens: number
}

interface TapedCall {
  /** Hash of the whole question. */
  key: string
  /** Key of the call whose messages these follow; null: none. */
  after: string | null
  /** System, tools and bounds; absent where they are those of the call before. */
  asked?: Omit<Question, 'messages'>
  /** Those since the call before. */
  messages: unknown[]
  /** One for each time that it was asked. */
  replies: TapedReply[]
}

type TapedReply = Pick<ModelReply, 'text' | 'calls' | 'stop' | 'model' | 'usage'>

/** A tape as it is written. */
export interface TapeFile {
  version: 1
  scenario: string
  noise: number
  variant: string
  model: Awaited<ReturnType<Models['resolve']>> | null
  calls: TapedCall[]
}

/** Of which runs a tape is. */
export type TapeOf = Pick<TapeFile, 'scenario' | 'noise' | 'variant'>

/** Begins the sentence that says why a tape no longer fits. */
export const STALE = 'the tape no longer fits: '

/** @returns the reason that is in the error of a run; null: its tape fits, or it had none */
export function staleIn(error: string | null): string | null {
  const at = error?.indexOf(STALE) ?? -1
  return at < 0 ? null : error!.slice(at + STALE.length)
}

/** Name of the file of a tape: the same on every machine. */
export const tapeName = ({ scenario, noise, variant }: TapeOf): string =>
  `${[scenario, noise, variant].join('.').replaceAll(/[^\w.-]+/g, '-')}.${hashOf(variant).slice(0, 6)}.json`

/** Answers of `models`, kept. @returns the models, and what to write once all is answered */
export function recorded(models: Models, of: TapeOf): { models: Models; tape(): TapeFile } {
  const file: TapeFile = { version: 1, ...of, model: null, calls: [] }
  const questions = new Map<string, Question>()
  return {
    tape: () => file,
    models: {
      ...models,
      resolve: async (provider, model) => {
        file.model = await models.resolve(provider, model)
        return file.model
      },
      call: async (request) => {
        const reply = await models.call(request)
        const question = questionOf(request)
        const key = hashOf(question)
        const known = file.calls.find((call) => call.key === key)
        const taped = tapedOf(reply)
        if (known) known.replies.push(taped)
        else file.calls.push({ ...callOf(question, key, questions), replies: [taped] })
        questions.set(key, question)
        return reply
      },
    },
  }
}

/** The answers of a tape. A question that it has no answer to is refused with the first difference. */
export function replayed(file: TapeFile | null, name: string): Models {
  const unfit = (why: string) => new ModelFault('malformed', `${STALE}${why}`)
  const questions = new Map<string, Question>()
  for (const call of file?.calls ?? []) questions.set(call.key, wholeOf(call, questions))
  const left = new Map(file?.calls.map(({ key, replies }) => [key, [...replies]]))
  return {
    ceilingUsd: async () => 0,
    resolve: async (provider, model) => file?.model ?? { provider, kind: 'tape', model, outputTokens: 4_096 },
    call: async (request): Promise<ModelReply> => {
      if (file === null) throw unfit(`there is no tape ${name}`)
      const question = questionOf(request)
      const replies = left.get(hashOf(question))
      if (!replies) throw unfit(firstDifference(question, [...questions.values()]))
      const reply = replies.shift()
      if (!reply) throw unfit('what is asked was asked fewer times when it was recorded')
      return {
        ...{ ...reply, raw: null, provider: file.model?.provider ?? 'tape', kind: 'compatible' },
        ...{ keySource: 'tape', costUsd: 0, costFrom: null, ms: 0, firstTokenMs: null, tries: 1 },
      }
    },
  }
}

/**
 * What a model is asked, the same each time that a scenario is run: the marker around data, which is of the instance
 * and the firing, is replaced by a fixed one.
 */
export function steady(models: Models): Models {
  return {
    ...models,
    call: (request) => {
      const marker = MARKER.exec(firstText(request))?.[1]
      if (marker === undefined) return models.call(request)
      const fixed = <T>(of: T): T => JSON.parse(JSON.stringify(of).replaceAll(marker, FIXED_MARKER)) as T
      const messages = request.messages.map((message) =>
        // The provider's own blocks go back as they came.
        message.role === 'assistant' ? message : fixed(message),
      )
      return models.call({ ...request, system: fixed(request.system), messages })
    },
  }
}

const MARKER = /<<<data ([0-9a-f]{16})\n/
const FIXED_MARKER = '0'.repeat(16)

const firstText = ({ messages }: ModelRequest): string =>
  messages[0]?.role === 'user' ? messages[0].text : ''

const hashOf = (of: unknown): string =>
  createHash('sha256').update(JSON.stringify(of)).digest('hex').slice(0, 32)

const clean = <T>(of: T): T =>
  JSON.parse(JSON.stringify(of), (_, value: unknown) =>
    typeof value === 'string' ? redact(value) : value,
  ) as T

function questionOf({ system, messages, tools, choice, maxTokens }: ModelRequest): Question {
  return clean({ system, messages: messages.map(saidIn), tools, choice, max_tokens: maxTokens })
}

/** Without the provider's own blocks, which say nothing more. */
const saidIn = (message: ModelMessage): unknown =>
  message.role === 'assistant' ? { role: message.role, text: message.text, calls: message.calls } : message

const tapedOf = ({ text, calls, stop, model, usage }: ModelReply): TapedReply =>
  clean({ text, calls, stop, model, usage })

/** A call as it is kept: what it adds to the longest earlier one that it goes on from. */
function callOf(
  question: Question,
  key: string,
  earlier: ReadonlyMap<string, Question>,
): Omit<TapedCall, 'replies'> {
  const { messages, ...asked } = question
  let after: string | null = null
  let shared = 0
  for (const [other, { messages: before, ...rest }] of earlier)
    if (before.length > shared && same(before, messages.slice(0, before.length)) && same(rest, asked)) {
      after = other
      shared = before.length
    }
  return { key, after, ...(after === null ? { asked } : {}), messages: messages.slice(shared) }
}

function wholeOf({ after, asked, messages }: TapedCall, before: ReadonlyMap<string, Question>): Question {
  const first = after === null ? undefined : before.get(after)
  return { ...(first ?? (asked as Question)), messages: [...(first?.messages ?? []), ...messages] }
}

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Of the recorded questions the one that goes on longest as this one, and where they part. */
function firstDifference(question: Question, recorded: readonly Question[]): string {
  const partings = recorded.map((was) => partingOf(was, question))
  const last = partings.toSorted((a, b) => b.depth - a.depth)[0]
  return last?.words ?? 'nothing was recorded'
}

function partingOf(was: Question, is: Question): { depth: number; words: string } {
  const parts = (of: Question): [string, unknown][] => [
    ['the system prompt', of.system],
    ['the tools', of.tools],
    ['the choice of tools', of.choice],
    ['the bound of the reply', of.max_tokens],
    ...of.messages.map((message, i): [string, unknown] => [`message ${i + 1}`, message]),
  ]
  const [before, now] = [parts(was), parts(is)]
  for (const [i, [name, value]] of now.entries()) {
    if (i >= before.length) return { depth: i, words: `${name} was not sent when it was recorded` }
    if (!same(before[i]![1], value))
      return { depth: i, words: `${name} differs: ${differing(before[i]![1], value)}` }
  }
  return { depth: now.length, words: `message ${was.messages.length} is no longer sent` }
}

/** Characters shown of either side. */
const SHOWN = 60

function differing(was: unknown, is: unknown): string {
  const [before, now] = [was, is].map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))
  let at = 0
  while (at < before!.length && before![at] === now![at]) at++
  const from = Math.max(0, at - 20)
  const part = (text: string) => JSON.stringify(text.slice(from, from + SHOWN))
  return `at character ${at + 1} it was ${part(before!)} and is ${part(now!)}`
}
