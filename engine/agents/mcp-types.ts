/** Tools of external MCP servers as a run sees them. */
import type { ToolPolicy } from '../../schemas/types.ts'
import type { AppCredential } from '../model/credentials.ts'
import type { ToolImage } from './models/types.ts'

/** A server that can be connected to: references in its credential are resolved. */
export interface McpServerRef {
  name: string
  url: string
  headers: Record<string, string>
  /** Values that no text of the server's may carry on: its credential. */
  secrets?: string[]
  /** An app of GitHub whose token goes with each request, in this header. */
  app?: { credential: AppCredential; header: string }
  /** It is a program of this machine, and `url` only its name: its command line, and all of its environment. */
  program?: { words: readonly [string, ...string[]]; env: Readonly<Record<string, string>> }
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
  /** Of what the server says of it: see mcp-connection.ts. */
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
  /**
   * Lists those servers again that say that their list may change, where it may have. What is new of them is among `tools`
   * from then on, and what says something else by now is marked as changed; no tool goes away within a run.
   * @returns what those list now that list something else than before
   */
  relist(): Promise<ReadonlyMap<string, readonly ExternalTool[]>>
  /** Calls a tool by its name here. Never throws: what went wrong is a result with `isError`. */
  call(name: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<ToolResult>
  /** Ends the connections; they live for one run. */
  close(): Promise<void>
}

/**
 * The tools to offer: those that some call may be allowed of. Those that the agent lists by name come first, since a model
 * may take only so many.
 */
export function offered<T extends Pick<ExternalTool, 'server' | 'tool' | 'readOnly' | 'changed'>>(
  tools: readonly T[],
  policy: readonly ToolPolicy[],
): T[] {
  const isNamed = ({ server, tool }: T) => policy.some((row) => row.server === server && row.tool === tool)
  const found = tools.filter((tool) => {
    const ofServer = policy.filter(({ server }) => server === tool.server)
    const isListed = isNamed(tool) || (tool.readOnly && ofServer.some((row) => row.tool === '*'))
    return !tool.changed && (isListed || (tool.readOnly && ofServer.length === 0))
  })
  return [...found.filter(isNamed), ...found.filter((tool) => !isNamed(tool))]
}

/*
 * Text of external servers made safe to show: to a model, on a terminal, in a page. What a reader cannot
 * see must not speak to a model, so control, zero-width, direction and tag characters go.
 */

/** Line feeds and tabs stay; a half of a surrogate pair is no character. */
const UNSEEN = /(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/** Text without the characters that are not seen. */
export const visible = (text: string): string => text.replace(UNSEEN, '')

/** At most `limit` UTF-16 units, the last an ellipsis where something was cut. */
export function clipped(text: string, limit: number): string {
  if (text.length <= limit) return text
  return `${text.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

/** Bytes of UTF-8 of a result that reach the model. */
export const RESULT_BYTES = 8 * 1024
/** Of a larger text only this much is looked at: cutting first keeps a huge one from holding the thread. */
const LOOKED_AT = 4 * RESULT_BYTES

/** A result at most 8 KB long; a line says what was cut. */
export function boundedResult(text: string): string {
  const seen = visible(text.slice(0, LOOKED_AT))
  const bytes = Buffer.from(seen)
  if (bytes.length <= RESULT_BYTES && text.length <= LOOKED_AT) return seen
  const note = `\n[cut: the result has ${text.length} characters; ask for less]`
  let end = Math.min(bytes.length, RESULT_BYTES - note.length)
  // Never within a character.
  while (end > 0 && end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end) + note
}
