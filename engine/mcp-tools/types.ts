/** Tools of external MCP servers as a run sees them. */

import type { ToolImage } from '../models/types.ts'

/** A server that can be connected to: references in its credential are resolved. */
export interface McpServerRef {
  name: string
  url: string
  headers: Record<string, string>
  /** Values that no text of the server's may carry on: its credential. */
  secrets?: readonly string[]
}

export interface ExternalTool {
  /** `server__tool`: 64 characters of [A-Za-z0-9_-] at most, unique in any case of letters. */
  name: string
  server: string
  /** As the server calls it. */
  tool: string
  /** For the model: begins with `[server] `. */
  description: string
  /** JSON Schema of its arguments. */
  input: object
  /** Of what the server says of it: see definition.ts. */
  hash: string
  /** `annotations.readOnlyHint === true`; what says nothing counts as writing. */
  readOnly: boolean
  /** Differs from what was pinned: not to be offered, and refused, until that is approved. */
  changed: boolean
}

/** What came of a call. */
export interface ToolResult {
  text: string
  /** Those its text names; absent: none. */
  images?: ToolImage[]
  isError: boolean
  /** Milliseconds it took. */
  ms: number
}

/** A server that is left out of a run. */
export interface SkippedServer {
  server: string
  reason: string
}

export interface ExternalTools {
  /** The changed ones too, so that a change can be told. */
  tools: ExternalTool[]
  skipped: SkippedServer[]
  /** Calls a tool by its name here. Never throws: what went wrong is a result with `isError`. */
  call(name: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<ToolResult>
  /** Ends the connections; they live for one run. */
  close(): Promise<void>
}

export type { ToolPolicy } from '../../schemas/types.ts'
