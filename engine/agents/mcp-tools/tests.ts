/** Tests of MCP servers: connecting to one and listing its tools, as a run does. */
import type { McpTestedTool, McpTestResult } from '../../../schemas/types.ts'
import type { Clock, Timers } from '../../clock.ts'
import { type Egress, fetchOver } from '../../net/fetch.ts'
import type { GithubTokens } from '../../net/github-app.ts'
import type { McpToolTests, McpToolWrites, ServersToConnect } from './calls.ts'
import { connectTools } from './client.ts'
import type { ExternalTool } from './types.ts'

export interface TestsParts {
  calls: Pick<McpToolWrites, 'mcpServersToConnect' | 'mcpServerToTry' | 'seenMcpTools' | 'listMcpTools'>
  egress: Egress
  tokens: GithubTokens
  clock: Clock
  timers: Timers
}

/** Beyond what the client waits for a call itself. */
const REQUEST_MS = 65_000
const ANSWER_BYTES = 16 * 1024 * 1024

/** The way out to MCP servers; an operator registered them, so they may be inside the network. */
export const mcpFetch = (egress: Egress): typeof fetch =>
  fetchOver(egress, { audience: 'operator', timeoutMs: REQUEST_MS, maxResponseBytes: ANSWER_BYTES })

export function mcpToolTests({ calls, egress, tokens, clock, timers }: TestsParts): McpToolTests {
  const http = mcpFetch(egress)

  /** @param note what becomes of the tools that were listed. */
  async function ask(
    { servers, skipped, pins }: ServersToConnect,
    note: (tools: readonly ExternalTool[]) => Promise<McpTestedTool[]>,
  ): Promise<McpTestResult> {
    if (skipped[0]) return { ok: false, ms: 0, tools: [], error: skipped[0].reason }
    const at = clock.now()
    const pinned = (server: string, tool: string) => pins.get(server)?.get(tool) ?? null
    const external = await connectTools(servers, { http, tokens, timers, clock, pinned })
    const ms = clock.now() - at
    try {
      const reasons = external.skipped.map(({ reason }) => reason)
      if (external.tools.length === 0 && reasons[0]) return { ok: false, ms, tools: [], error: reasons[0] }
      const tools = await note(external.tools)
      return { ok: true, ms, tools, ...(reasons.length ? { notes: reasons } : {}) }
    } finally {
      await external.close()
    }
  }

  return {
    testMcpServer: async (name) => {
      // Answers 404 for a name that is none; a run skips it instead.
      await calls.listMcpTools(name)
      return ask(await calls.mcpServersToConnect([name]), (tools) => calls.seenMcpTools(name, tools))
    },
    tryMcpServer: async (body) => {
      const to = await calls.mcpServerToTry(body)
      const known = to.pins.get(body.name ?? '')
      return ask(to, async (tools) =>
        tools.map(({ tool, server, description, readOnly, changed }) => ({
          name: tool,
          description: description.replace(`[${server}] `, ''),
          read_only: readOnly,
          state: changed ? 'changed' : known?.has(tool) ? 'pinned' : 'new',
        })),
      )
    },
  }
}
