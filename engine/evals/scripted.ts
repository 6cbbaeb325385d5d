/**
 * Agents that are scripts, in every report beside models: four that know nothing and must score 0, rules that
 * a person would write, and one that is told the truth. What a model adds is what it scores above the rules.
 */
import { cautiousTokens } from '../context/index.ts'
import type { ModelReply, ModelRequest, Models, ToolCall } from '../models/types.ts'
import { readMessage, type SeenLine, type SeenMessage } from './first-message.ts'
import { randomOf } from './noise.ts'
import { countIn, namedByRules } from './rules.ts'

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
  rules: namedByRules,
}

/** Ids of the events that a scripted agent names as the cause. @param message the first message of a run */
export const namedBy = (name: Exclude<ScriptedName, 'told'>, message: string): string[] =>
  NAMES[name](readMessage(message)).flatMap(({ ids }) => ids.at(-1) ?? [])

function lastOf({ ids }: SeenLine): number {
  return Number(ids.at(-1)!.slice(4))
}

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
