/**
 * Schemas without references, for those that know none of our others: of the MCP tools, of Ask's, and of what is declared
 * of a part. Each is made when it is first asked for: as a file of their own they were 9,000 lines, read at every start.
 */
import { schemaIds, schemaOf } from './all.ts'
import { selfContained } from './self-contained.ts'

type Made = Readonly<Record<string, unknown>>

const known = new Map<string, Made>()

function made(id: string): Made {
  const found = known.get(id) ?? selfContained(schemaOf(id), schemaOf)
  known.set(id, found)
  return found
}

const fileName = (name: string): string => name.replaceAll('_', '-')

/** Of every MCP tool, as its schema files name it. */
export const toolNames: readonly string[] = schemaIds.flatMap((id) => {
  const name = /^mcp-call-(.+?)\.json$/.exec(id)?.[1]
  return name === undefined || name.endsWith('-result') ? [] : [name.replaceAll('-', '_')]
})

/**
 * Arguments and result of an MCP tool. @param name such as `get_event`. @throws Error when there is none: a fault of ours.
 */
export const toolSchema = (name: string): { input: Made; output: Made } => ({
  input: made(`mcp-call-${fileName(name)}.json`),
  output: made(`mcp-call-${fileName(name)}-result.json`),
})

/** Arguments of a tool of Ask, with its description. @throws Error when there is none: a fault of ours. */
export const askToolSchema = (name: string): Made & { description: string } =>
  made(`ask-call-${fileName(name)}.json`) as Made & { description: string }

/** What is declared of a kind of part, such as `trigger`. @throws Error when there is none: a fault of ours. */
export const specSchema = (kind: string): Made & { properties: object } =>
  made(`${fileName(kind)}-spec.json`) as Made & { properties: object }
