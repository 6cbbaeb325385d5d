/**
 * The scripted model of the demo: no model, but fixed rules that read what a run is told, as a person would who
 * knows nothing of the shop. It speaks through the port of all models, so that runs, their steps and costs look as
 * always; it answers the demo's agents alone. It names the change before the errors.
 */
import type { Adapter, WireReply, WireRequest } from './adapter.ts'
import { ModelFault, type ModelMessage, type ToolCall } from './types.ts'

/** Id of its provider; no other may have it. */
export const SCRIPTED_PROVIDER = 'svc-demo'
/** As every run shows it. */
export const SCRIPTED_MODEL = 'scripted model (demo)'

/** The prompt of the agent that it answers; where that was edited, what wakes it says that it is of the demo. */
export const SCRIPTED_PROMPT =
  'You take the first look at an incident of the demo shop. Say which change came before the errors, what shows it, and how to take it back.'

/** The prompt of the agent that the first hands over to. */
export const SCRIPTED_SECOND_PROMPT =
  'You take over an incident of the demo shop once its change is known. Say which services fail with it, what shows that, and how to take the change back.'

/** The trigger that wakes the agents that it answers; those of anybody else it refuses. */
export const SCRIPTED_TRIGGER = 'demo-errors'

/** Where the shop writes down what was changed. */
const CHANGES = 'demo-deploys'
/** Where requests are followed from service to service. */
const REQUESTS = 'demo-traces'
const WINDOW = '30m'
/** Errors are of this fault alone, not of one that was mended a minute ago: as far as the window of the trigger. */
const ERRORS_WINDOW = '30s'
/** Ids in a claim that counts. */
const COUNTED = 20
const HEADLINE = 100

export const scripted: Adapter = {
  async send(provider, request) {
    if (!isOfDemo(request))
      throw new ModelFault(
        'refused',
        'the scripted model answers the agents of the demo alone: choose another model provider',
        provider.id,
      )
    return answer(request)
  },
  list: async () => [SCRIPTED_MODEL],
}

function isOfDemo({ system, messages: [first] }: WireRequest): boolean {
  const woken = first?.role === 'user' ? first.text : ''
  return (
    [SCRIPTED_PROMPT, SCRIPTED_SECOND_PROMPT].some((prompt) => system.startsWith(prompt)) ||
    woken.includes(`trigger ${SCRIPTED_TRIGGER} fired `)
  )
}

function answer({ messages }: WireRequest): WireReply {
  const results = messages.flatMap((message) => (message.role === 'tool' ? message.results : []))
  const asked = askedOf(messages)
  const calls = results.length
    ? [conclude(asked, results.map(({ content }) => content).join('\n'))]
    : asked.isSecond
      ? [...reads(asked), failedRequests()]
      : reads(asked)
  return {
    ...{ text: '', calls, raw: null, stop: 'tools', model: SCRIPTED_MODEL, cost: 0 },
    usage: { input: 0, output: 0, cacheWrite: 0, cacheRead: 0 },
  }
}

interface Asked {
  label: string
  entity: string
  /** It takes over from the first. */
  isSecond: boolean
}

/** The entity of a run, and who it is, as its first message says it. */
function askedOf([first]: readonly ModelMessage[]): Asked {
  const text = first?.role === 'user' ? first.text : ''
  const [, label = 'service', entity = ''] = /\b(?:for|over|at) (\w+)=(\S+?)(?:\.| |$)/m.exec(text) ?? []
  return { label, entity, isSecond: /^You take over /m.test(text) }
}

/** It reads first: a claim holds only of what was read. */
function reads({ label, entity }: Asked): ToolCall[] {
  const read = (id: string, more: object): ToolCall => ({
    id,
    name: 'read',
    arguments: { selector: { [label]: entity }, window: WINDOW, ...more },
  })
  return [
    read('errors', { window: ERRORS_WINDOW, event_types: ['error'] }),
    read('changes', { sources: [CHANGES] }),
  ]
}

/** Of every service: what fails in one makes others fail. */
const failedRequests = (): ToolCall => ({
  ...{ id: 'requests', name: 'read' },
  arguments: { sources: [REQUESTS], selector: { level: 'ERROR' }, window: ERRORS_WINDOW },
})

interface Line {
  id: string
  /** When it, or the first it stands for, came, epoch ms. */
  at: number
  source: string
  text: string
  count: number
  /** Labels, where the line shows them. */
  service: string | null
  trace: string | null
}

/** "evt_12 2026-11-20T12:00:00Z logs error (×3 evt_9..evt_12 since 2026-…): text {service=checkout}". */
const LINE = /^(evt_\d+) (\S+) (\S+) \S+(?: \(×(\d+) \S+ since ([^),]+)[^)]*\))?: (.*?)(?: \{([^}]*)\})?$/

/** Each event once, oldest first. */
export function linesIn(text: string): Line[] {
  const found = new Map<string, Line>()
  for (const line of text.split('\n')) {
    const [, id, at, source, count, since, said, labels] = LINE.exec(line) ?? []
    if (id)
      found.set(id, {
        id,
        at: Date.parse(since ?? at!),
        source: source!,
        text: said!,
        count: Number(count ?? 1),
        service: labelIn(labels, 'service'),
        trace: labelIn(labels, 'trace_id'),
      })
  }
  return [...found.values()].sort((a, b) => a.at - b.at)
}

const labelIn = (labels: string | undefined, name: string): string | null =>
  labels
    ?.split(' ')
    .find((label) => label.startsWith(`${name}=`))
    ?.slice(name.length + 1) ?? null

/** As people say it: what the demo is about happened just now. */
const clockOf = (at: number): string => `${new Date(at).toISOString().slice(11, 19)} UTC`

function conclude({ entity, isSecond }: Asked, read: string): ToolCall {
  const lines = linesIn(read)
  const errors = mostOf(lines.filter(({ source }) => source !== CHANGES && source !== REQUESTS))
  const [onset] = errors
  const change = lines.filter(({ source, at }) => source === CHANGES && at <= (onset?.at ?? 0)).at(-1)
  if (!onset) return end({ outcome: 'no_op', summary: `No errors of ${entity} were found.` })
  const requests = lines.filter(({ source }) => source === REQUESTS)
  const effects = [
    { text: `${entity} fails with this error.`, role: 'effect', events: [onset.id], quote: onset.text },
    isSecond && requests.length ? spreadOf(entity, requests) : countOf(errors),
  ]
  if (!change)
    return end({
      ...{ outcome: 'finding', verdict: 'investigate', headline: cut(`${entity} fails: ${onset.text}`) },
      summary: `${entity} has failed since ${clockOf(onset.at)}: ${onset.text} (${onset.id}).\n\nNo change of it was found in the ${WINDOW} before.`,
      next_step: `Look for what changed in ${entity} before ${clockOf(onset.at)}.`,
      claims: effects,
    })
  const what = change.text.replace(/, (before|by) .*$/, '')
  const seconds = Math.round((onset.at - change.at) / 1_000)
  const cause = {
    text: `${what} came ${seconds} s earlier.`,
    ...{ role: 'cause', events: [change.id], quote: change.text },
  }
  return end({
    ...{ outcome: 'finding', verdict: 'take_back', headline: cut(`${entity} fails since ${lower(what)}`) },
    summary: [
      `${entity} has failed since ${clockOf(onset.at)}: ${onset.text} (${onset.id}).`,
      `The change before it, ${seconds} s earlier: ${change.text} (${change.id}). No other change of ${entity} came between the two.`,
      ...(isSecond && requests.length ? [effects[1]!.text] : []),
      'Written by the scripted model of the demo, from made-up events.',
    ].join('\n\n'),
    next_step: nextStep(change.text),
    claims: [cause, ...effects],
  })
}

interface Claim {
  text: string
  role: string
  events: string[]
  count?: number
  quote?: string
}

function countOf(errors: readonly Line[]): Claim {
  const counted = errors.slice(0, COUNTED)
  const count = counted.reduce((sum, line) => sum + line.count, 0)
  return { text: `It came ${count} times.`, role: 'context', events: counted.map(({ id }) => id), count }
}

/** Which other service fails too, by a request that failed in both. */
function spreadOf(entity: string, requests: readonly Line[]): Claim {
  const own = requests.filter(({ service }) => service === entity)
  const traces = new Set(own.map(({ trace }) => trace))
  const other = requests.find(({ service, trace }) => service !== entity && traces.has(trace))
  const shown = other ?? own[0] ?? requests[0]!
  return {
    text: other
      ? `${other.service} fails with it: its requests wait for ${entity}.`
      : 'No other service fails with it.',
    ...{ role: 'effect', events: [shown.id], quote: shown.text },
  }
}

/** Those of the text that came most often. */
function mostOf(lines: readonly Line[]): Line[] {
  const counts = new Map<string, number>()
  for (const { text, count } of lines) counts.set(text, (counts.get(text) ?? 0) + count)
  const most = [...counts].sort((a, b) => b[1] - a[1])[0]?.[0]
  return lines.filter(({ text }) => text === most)
}

/** How each kind of change is taken back. */
const BACK: readonly [RegExp, (found: readonly string[]) => string][] = [
  [/^Deploy of (\S+) \S+, before ([^\s,]+)/, ([, service, version]) => `Roll back ${service} to ${version}.`],
  [
    /^Config of (\S+): (\S+) from (\S+) to/,
    ([, service, name, value]) => `Set ${name} of ${service} back to ${value}.`,
  ],
  [
    /^Flag (\S+) of (\S+) from (\S+) to/,
    ([, flag, service, value]) => `Set ${flag} of ${service} back to ${value} percent.`,
  ],
]

function nextStep(change: string): string {
  for (const [kind, say] of BACK) {
    const found = kind.exec(change)
    if (found) return say(found)
  }
  return `Take back: ${change}`
}

const end = (args: Record<string, unknown>): ToolCall => ({ id: 'end', name: 'conclude', arguments: args })
const cut = (text: string): string => (text.length > HEADLINE ? `${text.slice(0, HEADLINE - 1)}…` : text)
const lower = (text: string): string => `${text[0]!.toLowerCase()}${text.slice(1)}`
