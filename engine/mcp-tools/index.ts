/** Tools of external MCP servers, for the runs of agents. */
export { connectTools } from './client.ts'
export { decide, offered } from './policy.ts'
export type {
  ExternalTool,
  ExternalTools,
  McpServerRef,
  ToolPolicy,
} from './types.ts'
