/** Tools of external MCP servers, for the runs of agents. */
export { connectTools } from './client.ts'
export { type Decision, decide, offered } from './policy.ts'
export type {
  ExternalTool,
  ExternalTools,
  McpServerRef,
  SkippedServer,
  ToolPolicy,
  ToolResult,
} from './types.ts'
