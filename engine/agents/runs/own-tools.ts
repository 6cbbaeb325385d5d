/** The tools of the service itself that a run is offered: they read, within the projects it works for. */

import { labelsGiven, listGiven, textGiven } from '../../../schemas/argument-forms.ts'
import { ownField } from '../../../schemas/fields-of.ts'
import { check } from '../../../schemas/index.ts'
import { readInstant } from '../../../schemas/instants.ts'
import { didYouMean } from '../../../schemas/near-names.ts'
import { askToolSchema } from '../../../schemas/tools.ts'
import type { AgentSpec, InspectRequest, ReadRequest, StatsRequest } from '../../../schemas/types.ts'
import type { ReadAnswer } from '../../calls.ts'
import { fail, SvcError } from '../../errors.ts'
import { parseDuration } from '../../model/units.ts'
import type { ToolCall, ToolSpec } from '../models/types.ts'
import { entityNamed, fence, nameEntity, renderRows, shownOf, withGaps } from './prompt.ts'
import { isEndedMeanwhile, type RunPort, type Shown, type StartedRun } from './types.ts'

const READ_WINDOW = '1h'
const RESULT_MAX = 20_000

const SELECTOR = {
  type: 'object',
  description: 'Labels that must all hold, such as {"service": "checkout"}.',
  additionalProperties: { type: 'string' },
}
const SOURCES = { type: 'array', items: { type: 'string' }, description: 'Only these sources.' }

/** @returns the tools that this run is offered besides conclude */
export function ownTools({
  definition,
  skills,
}: Pick<StartedRun, 'skills'> & { definition: Pick<AgentSpec, 'remembers'> }): ToolSpec[] {
  const tools: ToolSpec[] = [
    {
      name: 'read',
      description:
        'Events of everything that has all the given labels, across all sources, in time order. Each begins with its id. Widen the window to see what came before.',
      input: {
        type: 'object',
        properties: {
          selector: SELECTOR,
          window: { type: 'string', description: 'How far back, such as 15m, 2h, 7d. 1h without it.' },
          from: { type: 'string', description: 'Start of the window instead of its length, ISO 8601.' },
          to: {
            type: 'string',
            description: 'End of the window, ISO 8601; the instant of this run without it.',
          },
          event_types: { type: 'array', items: { type: 'string' }, description: 'Only these types.' },
          text: { type: 'string', description: 'Only events whose text has these words.' },
          sources: {
            ...SOURCES,
            description: 'Only these sources; without a selector all of what they brought.',
          },
          cursor: {
            type: 'string',
            description: 'Cursor of the answer before: its next page, or a fold unfolded.',
          },
        },
      },
    },
    {
      name: 'stats',
      description:
        'How often each value of a label came in a window, against the window before it: what changed most is first.',
      input: {
        type: 'object',
        properties: {
          by: { type: 'string', description: 'Label to count by; source and event_type work too.' },
          where: SELECTOR,
          window: { type: 'string', description: 'Length of the window, such as 30m. 30m without it.' },
          top: { type: 'integer', description: 'Rows, at most 50.' },
          sources: SOURCES,
        },
        required: ['by'],
      },
    },
    ...lookSpecs(),
  ]
  if (skills.length)
    tools.push({
      name: 'skill',
      description: 'The whole text of one of the skills listed in your instructions.',
      input: {
        type: 'object',
        properties: { name: { type: 'string', enum: skills.map(({ name }) => name) } },
        required: ['name'],
      },
    })
  if (definition.remembers)
    tools.push({
      name: 'remember',
      description: 'Keeps an observation on the timeline of an entity, for later runs to read.',
      input: {
        type: 'object',
        properties: {
          key: { type: 'string', description: 'The entity; that of this run without it.' },
          label: {
            type: 'string',
            description: 'The label whose value key is; that of this run without it.',
          },
          content: { type: 'string', description: 'What to remember.' },
        },
        required: ['content'],
      },
    })
  return tools
}

/**
 * @param round that the call is of: models number their calls anew in each
 * @returns what the tool answers; null when it is none of these. Faults of arguments are results.
 */
export async function callOwnTool(
  run: StartedRun,
  port: RunPort,
  call: ToolCall,
  round: number,
): Promise<OwnResult | null> {
  const spec = ownTools(run).find(({ name }) => name === call.name)
  if (!spec) return null
  const taken = takenArguments(spec, call.arguments)
  if (typeof taken === 'string') return failed(taken)
  const answer = await answerOf(run, port, { ...call, arguments: taken.args }, round)
  return answer && taken.note ? { ...answer, text: `${taken.note}\n${answer.text}` } : answer
}

async function answerOf(
  run: StartedRun,
  port: RunPort,
  call: ToolCall,
  round: number,
): Promise<OwnResult | null> {
  try {
    switch (call.name) {
      case 'read':
        return await read(run, port, call.arguments)
      case 'stats':
        return await stats(run, port, call.arguments)
      case 'skill':
        return await skill(run, port, call.arguments)
      case 'remember':
        return await remember(run, port, call, round)
      default:
        return isLookTool(call.name) ? await look(run, port, call.name, call.arguments) : null
    }
  } catch (error) {
    if (!(error instanceof SvcError) || isEndedMeanwhile(error) || error.code === 'internal') throw error
    // Names and values that others chose may be in it.
    return failed(fence(run.marker, error.message))
  }
}

export type ReadPort = Pick<RunPort, 'readFor' | 'statsFor'>

/** The tool `read`. @throws SvcError */
export async function read(run: Within, port: ReadPort, args: Record<string, unknown>): Promise<OwnResult> {
  const selector = selectorOf(args.selector)
  const hasSelector = selector !== null && Object.keys(selector).length > 0
  if (!hasSelector && (args.selector !== undefined || !wordsOf(args.sources)))
    return failed(
      'selector must be a map of at least one label to its value, such as {"service": "checkout"}; without one, name sources',
    )
  const { at, cursor } = placeIn(args.cursor, run.asOf)
  const to = Math.min(at, instantIn(args, 'to') ?? at)
  const window = typeof args.window === 'string' && args.window ? args.window : READ_WINDOW
  const from = instantIn(args, 'from') ?? to - parseDuration(window, 'window')
  const answer = await port.readFor(run.projects, {
    ...(hasSelector ? { selector } : {}),
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    as_of: new Date(at).toISOString(),
    max_tokens: LOOK_TOKENS,
    ...narrowed(args),
    ...(typeof args.text === 'string' && args.text ? { text: args.text } : {}),
    ...(cursor === undefined ? {} : { cursor }),
  })
  const next = answer.next_cursor
  const more = next === null ? '' : `; the next page: the same arguments and cursor ${cursorAt(at, next)}`
  const heading = `${answer.from} to ${answer.to}: ${answer.rows.length} rows${restOf(answer)}${more}`
  return {
    text: `${heading}\n${fence(run.marker, withGaps(answer, renderRows(answer.rows)))}`,
    isError: false,
    shown: shownOf(answer),
  }
}

/** @returns epoch ms; undefined where none is given. @throws SvcError invalid */
function instantIn(args: Record<string, unknown>, name: 'from' | 'to'): number | undefined {
  const given = args[name]
  const text = typeof given === 'string' ? given.trim() : ''
  if (text === '') return undefined
  const instant = readInstant(text)
  return instant === null
    ? fail('invalid', `${name} must be an ISO 8601 time, such as 2026-11-20T12:00:00Z`, { field: name })
    : Date.parse(instant)
}

/** What is not there, and how to see it: a search that stopped early must not look like silence. */
function restOf({ omitted, scanned, searched_to: stopped, truncated }: ReadAnswer): string {
  const left = omitted?.reduce((sum, { count }) => sum + count, 0) ?? 0
  const unfit = left
    ? `, ${left} more events did not fit: narrow the window, or name event_types`
    : truncated && stopped === undefined
      ? ', more events did not fit: narrow the window, or name event_types'
      : ''
  if (stopped === undefined) return unfit
  return `${unfit}; the search looked at ${scanned} events, back to ${stopped}, and stopped there: read again with to ${stopped} to search further back`
}

function narrowed(args: Record<string, unknown>): Pick<ReadRequest, 'sources' | 'event_types'> {
  const sources = wordsOf(args.sources)
  const types = wordsOf(args.event_types)
  return { ...(sources ? { sources } : {}), ...(types ? { event_types: types } : {}) }
}

/** The tool `stats`. @throws SvcError */
export async function stats(run: Within, port: ReadPort, args: Record<string, unknown>): Promise<OwnResult> {
  if (typeof args.by !== 'string' || args.by === '') return failed('by must name a label')
  const request: Omit<StatsRequest, 'project'> = { by: args.by }
  const where = selectorOf(args.where)
  if (where && Object.keys(where).length) request.where = where
  if (typeof args.window === 'string') request.window = args.window
  if (typeof args.top === 'number') request.top = Math.trunc(args.top)
  const sources = wordsOf(args.sources)
  if (sources) request.sources = sources
  const answer = await port.statsFor(run.projects, request, run.asOf)
  return { text: fence(run.marker, answer.stats.slice(0, RESULT_MAX)), isError: false, shown: [] }
}

async function skill(run: StartedRun, port: RunPort, args: Record<string, unknown>): Promise<OwnResult> {
  const name = typeof args.name === 'string' ? args.name.trim() : ''
  const known = run.skills.map((one) => one.name)
  if (!known.includes(name))
    return failed(`no skill is named ${name}; there are ${known.join(', ') || 'none'}`)
  const body = await port.skillOf(run.projects, name)
  if (body === null) return failed(`the skill ${name} was removed since this run began`)
  return { text: body, isError: false, shown: [] }
}

async function remember(run: StartedRun, port: RunPort, call: ToolCall, round: number): Promise<OwnResult> {
  const { content } = call.arguments
  const named = entityNamed(call.arguments, run.entity)
  const key = named.key ?? run.entity
  // An entity of another name is mostly of the same kind.
  const label = (named.key && named.label) || run.label
  const request = {
    key,
    label,
    content: typeof content === 'string' ? content : '',
    memory_type: 'observation',
  }
  const fault = check('request-remember.json', request)
  if (fault) return failed(fault)
  if (run.practice) return { text: 'practice: nothing is kept', isError: false, shown: [] }
  // Of the call: asked again after a restart, it is remembered once.
  await port.rememberFor(run.agent, request, `${run.id}/${round}/${call.id}`)
  return {
    text: `remembered on the timeline of ${nameEntity({ label, entity: key })}`,
    isError: false,
    shown: [],
  }
}

/* The tools that look (engine/agents) as runs and Ask call them: arguments of a model, fenced answers. */

/** Tokens of one answer, its fence included. */
const LOOK_TOKENS = 4_000
const FENCE_TOKENS = 60

type Looking = InspectRequest['tool']

/** Of these Ask has other tools: list_sources, source_fields, entities. */
const SHARED = ['changed', 'series', 'trace', 'event', 'document', 'labels'] as const

const ENTITIES: ToolSpec = {
  name: 'entities',
  description: 'Values of one label, such as every service, with how many events and the newest of each.',
  input: {
    type: 'object',
    properties: {
      label: { type: 'string', description: 'The label, such as service; labels has those there are.' },
      prefix: { type: 'string', description: 'Only values that begin with this.' },
      window: { type: 'string', description: 'How far back; 24h without it.' },
      cursor: { type: 'string', description: 'Cursor of the answer before: its next page.' },
    },
    required: ['label'],
  },
}
const SOURCES_TOOL: ToolSpec = {
  name: 'sources',
  description: 'Sources you may read, with the types of events of each and its newest one; silent ones too.',
  input: {
    type: 'object',
    properties: { window: { type: 'string', description: 'How far back; 24h without it.' } },
  },
}

/** The conclude tool, and the one of skills, which the projects of a run decide on. */
const BESIDE = 2

/**
 * Why a run of an agent would be without some of its tools. @param external what its MCP servers are known to offer it
 * @returns null: its provider takes all of them in one request, or there is none
 */
export function toolsFault(
  definition: Partial<AgentSpec>,
  external: number,
  asked: { provider: string; most: number } | null,
): string | null {
  const own = ownTools({ definition, skills: [] }).length + BESIDE
  if (!asked || own + external <= asked.most) return null
  return `its MCP servers offer it ${external} tools, and beside ${own} of svc a request to ${asked.provider} names ${asked.most - own} at most: the others are left out of its runs; list those it needs under tools`
}

/** @returns the tools that a run is offered; it reads its projects, so none is named */
export const lookSpecs = (): ToolSpec[] => [
  ...SHARED.map((name): ToolSpec => {
    const { description, ...input } = askToolSchema(name)
    const { project: _project, ...properties } = input.properties as Record<string, unknown>
    return { name, description, input: { ...input, properties } }
  }),
  ENTITIES,
  SOURCES_TOOL,
]

const NAMES = new Set<string>([...SHARED, 'entities', 'sources'])
export const isLookTool = (name: string): name is Looking => NAMES.has(name)

/** Calls one. Faults of arguments are results. @throws SvcError */
export async function look(
  run: Within,
  port: Pick<RunPort, 'inspectFor'>,
  tool: Looking,
  args: Record<string, unknown>,
): Promise<OwnResult> {
  const { at, cursor } = placeIn(args.cursor, run.asOf)
  const question: InspectRequest = {
    tool,
    ...lookArguments(args),
    ...instantsOf(args),
    ...(cursor === undefined ? {} : { cursor }),
    as_of: new Date(at).toISOString(),
    max_tokens: LOOK_TOKENS - FENCE_TOKENS,
  }
  const fault = check('request-inspect.json', question)
  if (fault) return failed(fault)
  const { heading, text, events, next_cursor: next } = await port.inspectFor(run.projects, question, at)
  const more =
    next === null ? '' : `\nmore: call again with the same arguments and cursor ${cursorAt(at, next)}`
  return {
    text: `${fence(run.marker, `${heading}\n${text}`)}${more}`,
    isError: false,
    shown: events.map(({ id, count, numbers }) => (numbers ? [id, count, numbers] : [id, count])),
  }
}

const WORDS = ['id', 'label', 'prefix', 'window', 'baseline'] as const

function instantsOf(args: Record<string, unknown>): Pick<InspectRequest, 'from' | 'to'> {
  const [from, to] = [instantIn(args, 'from'), instantIn(args, 'to')]
  return {
    ...(from === undefined ? {} : { from: new Date(from).toISOString() }),
    ...(to === undefined ? {} : { to: new Date(to).toISOString() }),
  }
}

/** Models give empty words and empty lists for what they leave out. */
function lookArguments(args: Record<string, unknown>): Partial<InspectRequest> {
  const selector = selectorOf(args.selector)
  const sources = wordsOf(args.sources)
  const types = wordsOf(args.event_types)
  return {
    ...Object.fromEntries(
      WORDS.flatMap((name) => {
        const value = args[name]
        return typeof value === 'string' && value.trim() ? [[name, value.trim()]] : []
      }),
    ),
    ...(selector && Object.keys(selector).length ? { selector } : {}),
    ...(sources ? { sources } : {}),
    ...(types ? { event_types: types } : {}),
  }
}

/**
 * A cursor with the instant its first page spoke for: the pages of Ask, whose instant is that of the call, go on
 * from the same one.
 */
const cursorAt = (at: number, cursor: string): string => `${at.toString(36)}~${cursor}`

function placeIn(given: unknown, asOf: number): { at: number; cursor: string | undefined } {
  if (typeof given !== 'string' || given.trim() === '') return { at: asOf, cursor: undefined }
  const parts = /^([0-9a-z]{1,11})~(.+)$/.exec(given.trim())
  if (!parts) return { at: asOf, cursor: given.trim() }
  return { at: Math.min(asOf, Number.parseInt(parts[1]!, 36)), cursor: parts[2] }
}

/* Arguments of a model as the schema of a tool has them. What was dropped without a word made an answer of more than was asked. */

type Args = Record<string, unknown>
type Argument = { type?: string }

/** @returns why the text of a call's arguments could not be read; null: it could */
export function unreadArguments({
  name,
  arguments: given,
}: Pick<ToolCall, 'name' | 'arguments'>): string | null {
  const text = given.arguments
  if (typeof text !== 'string' || Object.keys(given).length > 1) return null
  try {
    JSON.parse(text)
  } catch (error) {
    return `the arguments of ${name.slice(0, 64)} are no JSON object, so it was not called: ${(error as Error).message}. Call it again`
  }
  return `the arguments of ${name.slice(0, 64)} are no JSON object, so it was not called. Call it again`
}

/**
 * @returns the arguments in the form that the schema has, and what to say of those that it has not; a sentence where
 *  one is not of its type, or was likely meant to be another
 */
function takenArguments({ name: tool, input }: ToolSpec, given: Args): { args: Args; note: string } | string {
  const unread = unreadArguments({ name: tool, arguments: given })
  if (unread) return unread
  const { properties } = input as { properties: Record<string, Argument> }
  const takes = `it takes ${Object.keys(properties).join(', ')}`
  const args: Args = {}
  const leftOut: string[] = []
  for (const [field, value] of Object.entries(given)) {
    if (isNothing(value)) continue
    const argument = ownField(properties, field)
    const shown = field.slice(0, 64)
    if (!argument) {
      const meant = didYouMean(field, Object.keys(properties))
      if (meant) return `${shown} is not an argument of ${tool}${meant}; ${takes}`
      leftOut.push(shown)
      continue
    }
    const { taken, fault } = takenValue(argument, value)
    if (fault) return `${field}${fault}`
    args[field] = taken
  }
  const note = `left out, as ${tool} has no such arguments: ${leftOut.join(', ')}; ${takes}`
  return { args, note: leftOut.length ? note : '' }
}

/** Models give nothing in many ways for what they leave out. */
function isNothing(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() === ''
  return (
    value === null || value === undefined || (typeof value === 'object' && Object.keys(value).length === 0)
  )
}

/** @returns the value in the form of its type, or what is wrong with it */
function takenValue({ type }: Argument, given: unknown): { taken?: unknown; fault?: string } {
  const value = type === 'array' ? listGiven({ type: 'string' }, given) : textGiven(given)
  const isPlain = ['string', 'number', 'boolean'].includes(typeof value)
  if (type === 'array') {
    return Array.isArray(value) && value.every((word) => typeof word === 'string')
      ? { taken: value }
      : { fault: ' must be a list of words' }
  }
  if (type === 'object') return takenMap(labelsGiven(given))
  if (type === 'integer') {
    const number = isPlain ? Number(value) : Number.NaN
    return Number.isFinite(number) ? { taken: number } : { fault: ' must be a whole number' }
  }
  return isPlain ? { taken: String(value) } : { fault: ' must be text' }
}

/** A map of labels, also as the tools of svc mcp take it. */
function takenMap(value: unknown): { taken?: Record<string, string>; fault?: string } {
  const entries: [unknown, unknown][] = Array.isArray(value)
    ? value.map((one) => [one?.label, one?.value])
    : typeof value === 'object' && value !== null
      ? Object.entries(value)
      : [[null, null]]
  const map = new Map<string, string>()
  for (const [label, one] of entries) {
    if (typeof label !== 'string')
      return { fault: ' must be a map of labels, such as {"service": "checkout"}' }
    if (!['string', 'number', 'boolean'].includes(typeof one))
      return { fault: `.${label.slice(0, 64)} must be one value; ask for each of several by itself` }
    if (map.has(label)) return { fault: ` has the label ${label.slice(0, 64)} twice` }
    map.set(label, String(one))
  }
  return { taken: Object.fromEntries(map) }
}

/* What tools of runs and Ask share: arguments as models give them, and what a call answers. */

interface OwnResult {
  text: string
  isError: boolean
  shown: Shown
}

/** Where a read of a model stands: what it may see, as of when, and how it is fenced. */
type Within = Pick<StartedRun, 'projects' | 'asOf' | 'marker'>

const failed = (text: string): OwnResult => ({
  text: `tool error: ${text}`,
  isError: true,
  shown: [],
})

/** @returns null where it is no map */
function selectorOf(value: unknown): Record<string, string> | null {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return null
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, String(one)]))
}

/** @returns undefined where it is no list of words */
function wordsOf(value: unknown): string[] | undefined {
  const words = Array.isArray(value) ? value.filter((one) => typeof one === 'string' && one !== '') : []
  return words.length ? (words as string[]) : undefined
}
