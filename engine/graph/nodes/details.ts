/** The one line under the name of a part in the graph. */
import type { AgentSpec, McpServerSpec, SkillSpec, SourceSpec, TriggerSpec } from '../../../schemas/types.ts'
import { sentenceOf } from '../../../schemas/words.ts'
import type { Doc, PartKind } from '../../changes/declared.ts'

/** Connector of a source, sentence of a trigger, model of an agent, address of an MCP server, description of a skill. */
export function detailOf(kind: PartKind, doc: Doc): string {
  if (kind === 'source') return (doc as unknown as SourceSpec).connector
  if (kind === 'trigger') return sentenceOf(doc as unknown as TriggerSpec)
  if (kind === 'agent') return modelOf(doc as unknown as AgentSpec)
  if (kind === 'mcp_server') return addressOf((doc as unknown as McpServerSpec).url)
  return (doc as unknown as SkillSpec).description
}

function modelOf({ model, provider }: AgentSpec): string {
  return model || (provider ? `default model of ${provider}` : 'default model')
}

/** Without name, password and query, where credentials tend to be. */
function addressOf(url: string): string {
  if (!URL.canParse(url)) return url
  const { protocol, host, pathname } = new URL(url)
  return `${protocol}//${host}${pathname}`
}
