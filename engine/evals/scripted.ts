/**
 * Agents that are scripts, in every report beside models: four that know nothing and must score 0, rules that
 * a person would write, and one that is told the truth. What a model adds is what it scores above the rules.
 */
import { cautiousTokens } from '../context/index.ts'
import type { ModelReply, ModelRequest, Models, ToolCall } from '../models/types.ts'
import { readMessage, type SeenLine, type SeenMessage } from './first-message.ts'
import { randomOf } from './noise.ts'

export const SCRIPTED = ['random', 'newest', 'frequent-error', 'newest-change', 'rules', 'told'] as const
export type ScriptedName = (typeof SCRIPTED)[number]
/** They look at nothing that could tell them the cause. */
export const TRIVIAL = ['random', 'newest', 'frequent-error', 'newest-change'] as const

/** What the one that is told knows: of each cause one event, as it is in the store. */
export interface Told {
  causes: { event: string; at: number; service: string | null; text: string }[]
}

type Names = (seen: SeenMessage) => SeenLine[]

const NAMES: Record<Exclude<ScriptedName, 'told'>, Names> = {
  // Of all events, as a guess is: of those that are shown it would be a guess among what the brief picked out.
  random: ({ lines }) => {
    const last = Math.max(0, ...lines.map(lastOf))
    const guess = 1 + Math.floor(randomOf(lines.map(({ ids }) => ids[0]).join())() * last)
    return last ? [{ ...lines[0]!, ids: [`evt_${guess}`] }] : []
  },
  newest: ({ lines }) => lines.toSorted((a, b) => lastOf(b) - lastOf(a)).slice(0, 1),
  'frequent-error': ({ lines }) =>
    lines
      .filter(({ text }) => /\b(error|fatal|critical)\b/.test(text.slice(0, 60)))
      .toSorted((a, b) => countIn(b) - countIn(a))
      .slice(0, 1),
  'newest-change': ({ lines }) => lines.filter(({ section }) => section === 'Changes').slice(-1),
  rules: byRules,
}

/** Ids of the events that a scripted agent names as the cause. @param message the first message of a run */
export const namedBy = (name: Exclude<ScriptedName, 'told'>, message: string): string[] =>
  NAMES[name](readMessage(message)).flatMap(({ ids }) => ids.at(-1) ?? [])

function lastOf({ ids }: SeenLine): number {
  return Number(ids.at(-1)!.slice(4))
}
const countIn = ({ text }: SeenLine): number => Number(/×(\d+)/.exec(text)?.[1] ?? 1)

/** @param told of `told` alone */
export function scriptedModels(name: ScriptedName, told: Told = { causes: [] }): Models {
  return {
    call: async (request) => (name === 'told' ? tell(request, told) : answer(request, NAMES[name])),
    ceilingUsd: async () => 0,
    resolve: async () => ({ provider: 'scripted', kind: 'scripted', model: name, outputTokens: 4_096 }),
  }
}

/** Answers the first run of each agent, which is there to be repeated: it looks at nothing. */
export const silentModels: Models = {
  call: async (request) => reply(request, [conclude('no_op', [])]),
  ceilingUsd: async () => 0,
  resolve: async () => ({ provider: 'scripted', kind: 'scripted', model: 'silent', outputTokens: 4_096 }),
}

function answer(request: ModelRequest, names: Names): ModelReply {
  const first = request.messages[0]
  const named = names(readMessage(first?.role === 'user' ? first.text : ''))
  return reply(request, [
    conclude(
      named.length ? 'finding' : 'no_op',
      named.map((line) => [line.ids.at(-1)!, quoteOf(line)]),
    ),
  ])
}

/** Reads what it is told of, for what was not read holds no claim. */
function tell(request: ModelRequest, { causes }: Told): ModelReply {
  const hasRead = request.messages.some(({ role }) => role === 'tool')
  if (hasRead || causes.length === 0)
    return reply(request, [
      conclude(
        causes.length ? 'finding' : 'no_op',
        causes.map(({ event, text }) => [event, text.slice(0, QUOTED)]),
      ),
    ])
  return reply(
    request,
    causes.map(({ at, service }, i) => ({
      id: `read-${i}`,
      name: 'read',
      arguments: {
        ...(service === null ? {} : { selector: { service } }),
        window: '10s',
        to: new Date(at + 5_000).toISOString(),
      },
    })),
  )
}

function conclude(
  outcome: 'finding' | 'no_op',
  named: readonly (readonly [event: string, quote: string])[],
): ToolCall {
  const claims = named.map(([event, quote]) => ({
    ...{ text: `The cause is ${event}.`, role: 'cause', events: [event] },
    ...(quote === '' ? {} : { quote }),
  }))
  const summary = 'Named by a script, which understands nothing of it.'
  return {
    id: 'end',
    name: 'conclude',
    arguments: { outcome, summary, ...(claims.length ? { claims } : {}) },
  }
}

/** Characters of a text that are quoted: a claim that quotes nothing is unproved. */
const QUOTED = 40

/** Words that the event has, as far as its line shows them whole: the name of a number, a place in code, the text. */
function quoteOf({ section, text }: SeenLine): string {
  const stopped = /STOPPED: .*?, last at (?:\d\d-\d\d )?[\d:]+: (.*)$/.exec(text)?.[1]
  const said = stopped ?? text.slice(text.indexOf(': ') + 2)
  if (section === 'Numbers that moved') return text.slice(0, text.indexOf(': ')).split(' ').at(-1) ?? ''
  if (section === 'Requests that took another path') return /[\w.$]+[:#]\d+/.exec(text)?.[0] ?? ''
  return said.split(/ \{|…/, 1)[0]!.slice(0, QUOTED).trim()
}

function reply(request: ModelRequest, calls: ToolCall[]): ModelReply {
  const { system, messages, tools } = request
  return {
    ...{ text: '', calls, raw: null, provider: 'scripted', kind: 'compatible', model: 'scripted' },
    ...{
      keySource: 'scripted',
      stop: 'tools',
      costUsd: 0,
      costFrom: null,
      ms: 0,
      firstTokenMs: null,
      tries: 1,
    },
    usage: {
      input_tokens: cautiousTokens(JSON.stringify([system, messages, tools])),
      output_tokens: cautiousTokens(JSON.stringify(calls)),
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    },
  }
}

/** Minutes before it began in which a change may be its cause. */
const BEFORE = 180
/** Minutes that clocks may differ, and in which what a change does begins. */
const NEAR = 3
/** Lines of an error that are more than a few. */
const MANY = 5
/** A second cause is named from so much of the score of the first. */
const ALSO = 0.75
const NAMED_MAX = 2

/**
 * As a person would by rote: what changed shortly before it began, nearest first, of the entity or of one that
 * its lines name; a request that breaks first somewhere; what stopped; a number of another that moved then.
 */
function byRules(seen: SeenMessage): SeenLine[] {
  const { lines } = seen
  const numbers = lines.filter(({ section }) => section === 'Numbers that moved')
  const sinces = numbers.slice(0, 3).flatMap(({ since }) => since ?? [])
  const moved = lines.filter(({ section }) => section === 'New, risen or stopped')
  const wrong = moved.filter((line) => isTrouble(line) && countIn(line) >= MANY)
  const around: Around = {
    entity: seen.entity,
    began: Math.min(seen.onset ?? 0, ...sinces),
    said: moved.map(({ text }) => text.toLowerCase()).join(' '),
    words: wordsOf(wrong.map(({ text }) => text).join(' ')),
    starts: [...numbers, ...wrong].flatMap(({ since, at, text }) => {
      const from = since ?? at
      return from === null ? [] : [{ from, text }]
    }),
  }
  const scored = lines
    .map((line): [SeenLine, number] => [line, scoreByRules(line, around)])
    .filter(([, score]) => score >= 1.5)
    .sort((a, b) => b[1] - a[1])
  const best = scored[0]?.[1] ?? 0
  return scored
    .filter(([{ section }, score], i) => i === 0 || (section === 'Changes' && score >= ALSO * best))
    .slice(0, NAMED_MAX)
    .map(([line]) => line)
}

interface Around {
  entity: string
  /** Minutes of the day. */
  began: number
  /** What moved, in lower case. */
  said: string
  words: ReadonlySet<string>
  /** When numbers and errors began. */
  starts: { from: number; text: string }[]
}

function scoreByRules(line: SeenLine, around: Around): number {
  const { section, since, text } = line
  if (section === 'Changes') return scoreOfChange(line, around)
  if (section === 'Requests that took another path') return /breaks first/.test(text) ? 8 : 6
  if (section === 'Numbers that moved') {
    const isOther = line.entity !== around.entity
    const isThen = since !== null && Math.abs(since - around.began) <= 5
    return (isOther ? 2.2 : 2) + (isThen ? 0.6 : 0) + strength(text)
  }
  if (/STOPPED/.test(text)) return 4
  return isTrouble(line) ? 1.5 + Math.min(1, Math.log10(countIn(line)) / 2) : 0
}

function scoreOfChange(line: SeenLine, { entity, began, said, words, starts }: Around): number {
  const { at, text } = line
  if (at === null) return 0
  const before = began - at
  const isFollowed = starts.some(
    (one) => one.from >= at && one.from <= at + NEAR && one.text.includes(line.entity),
  )
  if (before > BEFORE) return isTrouble(line) ? 2.5 : 0
  if (before < 0 && !isFollowed) return 0
  const isNear = line.entity === entity || said.includes(line.entity)
  const shared = [...wordsOf(text)].filter((word) => words.has(word) && word !== entity).length
  const nearness = before < 0 ? 3 : 6 / (1 + Math.log2(1 + before / 5))
  return nearness + (isNear ? 1 : 0) + Math.min(2, shared) + (isTrouble(line) ? 1 : 0)
}

const isTrouble = ({ text, section }: SeenLine): boolean =>
  section !== 'As usual' &&
  !/ alerts page /.test(text) &&
  /\b(error|fatal|fail|failed|killed|expired|refused|down|lost|timed out|unreachable|denied)\b/i.test(text)

/** Of a number: 0 to 1 by how many times it changed. */
function strength(text: string): number {
  const found = /: (-?[\d.]+) \([^)]*\) → (-?[\d.]+)/.exec(text)
  if (!found) return 0
  const [usual, now] = [Math.abs(Number(found[1])) + 1e-9, Math.abs(Number(found[2])) + 1e-9]
  return Math.min(1, Math.abs(Math.log10(now / usual)) / 2)
}

const wordsOf = (text: string): Set<string> =>
  new Set((text.toLowerCase().match(/[a-z][a-z0-9_.-]{3,}/g) ?? []).map((word) => word.replace(/[.,]$/, '')))
