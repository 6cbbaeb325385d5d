/**
 * The steps of a run as a page tells them. What a step holds is open in the API's shape, so each is read
 * with care: what is missing is left out, and nothing is made up.
 */
import type { CheckedClaim, RunStep } from '../../schemas/types.ts'

export interface Call {
  name: string
  arguments: Record<string, unknown>
}
/** Events a step showed, with how many each stood for. */
export type Shown = { id: string; count: number }[]

interface Told {
  n: number
  round: number
  at: string
  /** Milliseconds; null: not completed. */
  ms: number | null
}

export type Chapter = Told &
  (
    | { kind: 'prompt'; system: string; message: string; tools: string[]; shown: Shown }
    | {
        kind: 'model'
        /** Null while it is asked, and where it failed. */
        text: string | null
        calls: Call[]
        provider: string
        model: string
        usage: Partial<Record<UsageField, number>>
        /** US dollars; null: not priced. */
        cost: number | null
        tries: number
        error: string | null
        isAsked: boolean
      }
    | {
        kind: 'tool'
        call: Call
        server: string | null
        result: string | null
        isError: boolean
        shown: Shown
      }
    | { kind: 'refused'; call: Call; reason: string }
    | { kind: 'conclude'; call: Call; fault: string | null; claims: CheckedClaim[]; sentBack: boolean }
    | { kind: 'note'; text: string; say: string | null }
  )

type UsageField = 'input_tokens' | 'output_tokens' | 'cache_creation_input_tokens' | 'cache_read_input_tokens'

/** @param steps in their order */
export function chaptersOf(steps: readonly RunStep[]): Chapter[] {
  const lastConclusion = steps.findLastIndex(({ kind }) => kind === 'conclude')
  return steps.map((step, i) => chapter(step, i < lastConclusion))
}

function chapter({ n, round, at, ms, kind, data }: RunStep, isBeforeLast: boolean): Chapter {
  const told = { n, round, at, ms }
  switch (kind) {
    case 'prompt':
      return {
        ...told,
        kind,
        system: text(data.system),
        message: text(data.message),
        tools: list(data.tools).map((tool) => text(record(tool).name)),
        shown: shownOf(data.shown),
      }
    case 'model': {
      const reply = record(data.reply)
      const error = record(data.error)
      return {
        ...told,
        kind,
        text: data.reply ? text(reply.text) : null,
        calls: list(reply.calls).map(callOf),
        provider: text(reply.provider),
        model: text(reply.model),
        usage: record(reply.usage) as Partial<Record<UsageField, number>>,
        cost: typeof reply.costUsd === 'number' ? reply.costUsd : null,
        tries: typeof reply.tries === 'number' ? reply.tries : 1,
        error: data.error ? text(error.message) || text(error.code) : null,
        isAsked: !data.reply && !data.error,
      }
    }
    case 'tool':
      return {
        ...told,
        kind,
        call: callOf(data.call),
        server: typeof data.server === 'string' ? data.server : null,
        result: typeof data.result === 'string' ? data.result : null,
        isError: data.is_error === true,
        shown: shownOf(data.shown),
      }
    case 'refused':
      return { ...told, kind, call: callOf(data.call), reason: text(data.reason) }
    case 'conclude':
      return {
        ...told,
        kind,
        call: callOf(data.call),
        fault: typeof data.fault === 'string' ? data.fault : null,
        claims: claimsOf(list(data.claims) as CheckedClaim[]),
        sentBack: isBeforeLast,
      }
    default:
      return {
        ...told,
        kind: 'note',
        text: text(data.text),
        say: typeof data.say === 'string' ? data.say : null,
      }
  }
}

/** The first message a run was told; null while it is not told anything. */
export function toldFirst(chapters: readonly Chapter[]): Extract<Chapter, { kind: 'prompt' }> | null {
  return chapters.find((one) => one.kind === 'prompt') ?? null
}

/** "selector: service=pay, window: 2h": the arguments of a call on one line. */
export function argumentWords({ arguments: given }: Call): string {
  return Object.entries(given)
    .map(([name, value]) => `${name}: ${valueWords(value)}`)
    .join(', ')
}

function valueWords(value: unknown): string {
  if (typeof value === 'string') return value
  if (value !== null && typeof value === 'object' && !Array.isArray(value))
    return Object.entries(value)
      .map(([name, one]) => `${name}=${typeof one === 'string' ? one : JSON.stringify(one)}`)
      .join(' ')
  return JSON.stringify(value)
}

const CHARS_SHOWN = 140
/** The lines around data from outside; the whole text still has them. */
const FENCE = /^(<<<data [0-9a-f]+|data [0-9a-f]+>>>)$/gm

/** The beginning of a text on one line. */
export function opening(of: string, max = CHARS_SHOWN): string {
  const line = of.replace(FENCE, '').replace(/\s+/g, ' ').trim()
  return line.length > max ? `${line.slice(0, max - 1)}…` : line
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
/** Tapes of older releases have claims without a role. */
const claimsOf = (claims: readonly CheckedClaim[]): CheckedClaim[] =>
  claims.map((claim, i) => ({
    ...{ role: i === 0 ? 'cause' : 'context', count: null, was: null, now: null, unproved: false },
    ...claim,
  }))

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const record = (value: unknown): Record<string, unknown> =>
  value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : {}

function callOf(value: unknown): Call {
  const { name, arguments: given } = record(value)
  return { name: text(name), arguments: record(given) }
}

function shownOf(value: unknown): Shown {
  return list(value).flatMap((one) => {
    const [id, count] = list(one)
    return typeof id === 'string' ? [{ id, count: typeof count === 'number' ? count : 1 }] : []
  })
}
