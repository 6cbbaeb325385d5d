/** The one line under the name of a part in the graph. */

import type { AgentSpec } from '../../../schemas/types.ts'
import { sentenceOf } from '../../../schemas/words.ts'
import type { Doc, PartKind } from '../../changes/declared.ts'
import { documentOf } from '../../changes/documents.ts'

/** Connector of a source, sentence of a trigger, model of an agent, address of an MCP server, description of a skill. */
export function detailOf(kind: PartKind, doc: Doc): string {
  if (kind === 'source') return documentOf('source', doc).connector
  if (kind === 'trigger') return sentenceOf(documentOf('trigger', doc))
  if (kind === 'agent') return modelOf(documentOf('agent', doc))
  if (kind === 'mcp_server') return addressOf(documentOf('mcp_server', doc).url)
  return documentOf('skill', doc).description
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
