/** The external tools of one run: its servers connected, and what they list noted. */
import type { Clock, Timers } from '../clock.ts'
import type { McpToolWrites } from '../mcp-tools/calls.ts'
import { connectTools, type ExternalTools } from '../mcp-tools/index.ts'

/** @returns how a run's servers are connected; what cannot be is skipped, with its reason */
export function connector(parts: {
  calls: Pick<McpToolWrites, 'mcpServersToConnect' | 'seenMcpTools'>
  http: typeof fetch
  clock: Clock
  timers: Timers
}): (servers: readonly string[], signal: AbortSignal) => Promise<ExternalTools> {
  const { calls, http, clock, timers } = parts
  return async (names, signal) => {
    const { servers, skipped, pins } = await calls.mcpServersToConnect(names)
    const pinned = (server: string, tool: string) => pins.get(server)?.get(tool) ?? null
    const external = await connectTools(servers, { http, timers, clock, signal, pinned })
    for (const { name } of servers) {
      const listed = external.tools.filter(({ server }) => server === name)
      if (listed.length) await calls.seenMcpTools(name, listed)
    }
    return { ...external, skipped: [...skipped, ...external.skipped] }
  }
}
