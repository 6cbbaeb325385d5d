/** The calls about external tools by name, for what passes them on to the thread that answers. */
import type { Access } from '../access.ts'
import type { McpToolWrites } from './calls.ts'

export const mcpToolAccess: Record<keyof McpToolWrites, Access> = {
  mcpServersToConnect: 'reads',
  mcpServerToTry: 'reads',
  seenMcpTools: 'writes',
  listMcpTools: 'reads',
  approveMcpTool: 'writes',
}
