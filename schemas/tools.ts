/**
 * Schemas that clients and models are given: of the MCP tools, of Ask's tools, and of what a catalog declares of a source,
 * trigger, agent, MCP server or skill. A client knows none of the schemas that these refer to, so each reference is
 * replaced by what it refers to, when the schema is first asked for.
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

/** The name of every MCP tool. */
export const toolNames: readonly string[] = schemaIds.flatMap((id) => {
  const name = /^mcp-call-(.+?)\.json$/.exec(id)?.[1]
  return name === undefined || name.endsWith('-result') ? [] : [name.replaceAll('-', '_')]
})

/**
 * Arguments and result of an MCP tool.
 * @param name such as `get_event`
 * @throws Error when no tool has this name: a fault in svc
 */
export const toolSchema = (name: string): { input: Made; output: Made } => ({
  input: made(`mcp-call-${fileName(name)}.json`),
  output: made(`mcp-call-${fileName(name)}-result.json`),
})

/**
 * Arguments of a tool of Ask, with its description.
 * @param name such as `list_sources`
 * @throws Error when no tool of Ask has this name: a fault in svc
 */
export const askToolSchema = (name: string): Made & { description: string } =>
  made(`ask-call-${fileName(name)}.json`) as Made & { description: string }

/**
 * The fields that a catalog declares of a part.
 * @param kind of the part, such as `trigger` or `mcp_server`
 * @throws Error when no schema describes this kind: a fault in svc
 */
export const specSchema = (kind: string): Made & { properties: object } =>
  made(`${fileName(kind)}-spec.json`) as Made & { properties: object }
