/** Names of the calls about external tools, for what passes them on: to the writer thread. */
import type { McpToolWrites } from './calls.ts'

const writes: Record<keyof McpToolWrites, true> = {
  mcpServersToConnect: true,
  mcpServerToTry: true,
  seenMcpTools: true,
  listMcpTools: true,
  approveMcpTool: true,
}

export const mcpToolWriteNames = Object.keys(writes) as (keyof McpToolWrites)[]
