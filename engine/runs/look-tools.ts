/** The tools that look (engine/inspect) as runs and Ask call them: arguments of a model, fenced answers. */
import { check } from '../../schemas/index.ts'
import { askToolSchemas } from '../../schemas/tools.ts'
import type { InspectRequest } from '../../schemas/types.ts'
import type { ToolSpec } from '../models/types.ts'
import { fence } from './fence.ts'
import { failed, type OwnResult, selectorOf, type Within, wordsOf } from './tool-arguments.ts'
import type { RunPort } from './types.ts'

/** Tokens of one answer, its fence included. */
export const LOOK_TOKENS = 4_000
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
const SOURCES: ToolSpec = {
  name: 'sources',
  description: 'Sources you may read, with the types of events of each and its newest one; silent ones too.',
  input: {
    type: 'object',
    properties: { window: { type: 'string', description: 'How far back; 24h without it.' } },
  },
}

/** @returns the tools that a run is offered; it reads its projects, so none is named */
export const lookSpecs = (): ToolSpec[] => [
  ...SHARED.map((name): ToolSpec => {
    const { description, ...input } = askToolSchemas[name]!
    const { project: _project, ...properties } = input.properties as Record<string, unknown>
    return { name, description, input: { ...input, properties } }
  }),
  ENTITIES,
  SOURCES,
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
    ...picked(args),
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
    shown: events.map(({ id, count }) => [id, count]),
  }
}

const WORDS = ['id', 'label', 'prefix', 'window', 'from', 'to', 'baseline'] as const

/** Models give empty words and empty lists for what they leave out. */
function picked(args: Record<string, unknown>): Partial<InspectRequest> {
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
export const cursorAt = (at: number, cursor: string): string => `${at.toString(36)}~${cursor}`

export function placeIn(given: unknown, asOf: number): { at: number; cursor: string | undefined } {
  if (typeof given !== 'string' || given.trim() === '') return { at: asOf, cursor: undefined }
  const parts = /^([0-9a-z]{1,11})~(.+)$/.exec(given.trim())
  if (!parts) return { at: asOf, cursor: given.trim() }
  return { at: Math.min(asOf, Number.parseInt(parts[1]!, 36)), cursor: parts[2] }
}
