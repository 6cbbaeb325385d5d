/**
 * External tools as the callers of the engine see them. Rows are read and written in the writer's thread;
 * connecting is the main thread's, see tests.ts.
 */

import type {
  McpServerSpec,
  McpServerTest,
  McpTestedTool,
  McpTestResult,
  McpTool,
} from '../../../schemas/types.ts'
import type { Caller } from '../../calls.ts'
import { keepMcpSecrets, normaliseMcpServer } from '../../documents/mcp-server.ts'
import { fail } from '../../errors.ts'
import type { StoredOf } from '../../model/documents.ts'
import { type Pins, type ResolveWith, resolveServer, type SeenTool } from './pins.ts'

import type { McpServerRef, SkippedServer } from './types.ts'

/** What a run needs to connect to its servers. */
export interface ServersToConnect {
  servers: McpServerRef[]
  /** Those that are not there, or whose credential cannot be had. */
  skipped: SkippedServer[]
  /** Hashes by server, then by tool. */
  pins: Map<string, Map<string, string>>
}

export interface McpToolWrites {
  /** With their credentials in the clear: never for a door to answer with. */
  mcpServersToConnect(names: readonly string[]): Promise<ServersToConnect>
  /** A server that is not saved; where it names one that is, a blank auth_value is the stored one. @throws SvcError invalid */
  mcpServerToTry(body: McpServerTest): Promise<ServersToConnect>
  /** Notes what a server lists: new tools are pinned, changed ones noted. @throws SvcError not_found */
  seenMcpTools(server: string, tools: readonly SeenTool[]): Promise<McpTestedTool[]>
  /** @throws SvcError not_found */
  listMcpTools(server: string): Promise<McpTool[]>
  /** @throws SvcError not_found; conflict where nothing waits, or not what `hash` says */
  approveMcpTool(server: string, tool: string, hash: string | undefined, by: Caller): Promise<McpTool>
}

export interface McpToolTests {
  /** Connects, lists and pins. A server that does not answer is a result. @throws SvcError not_found */
  testMcpServer(name: string): Promise<McpTestResult>
  /** The same for one that is not saved; nothing is pinned. @throws SvcError invalid */
  tryMcpServer(body: McpServerTest): Promise<McpTestResult>
}

export type McpToolCalls = McpToolWrites & McpToolTests

export function mcpToolWrites(parts: {
  pins: Pins
  find(server: string): StoredOf<'mcp_server'> | undefined
  resolveWith: ResolveWith
}): McpToolWrites {
  const { pins, find, resolveWith } = parts
  const require = (server: string): StoredOf<'mcp_server'> =>
    find(server) ?? fail('not_found', `no MCP server is named ${server}`)
  const toConnect = (given: readonly { name: string; spec: McpServerSpec | null }[]): ServersToConnect => {
    const answer: ServersToConnect = { servers: [], skipped: [], pins: new Map() }
    for (const { name, spec } of given) {
      const found = spec === null ? `no MCP server is named ${name}` : resolveServer(name, spec, resolveWith)
      if (typeof found === 'string') answer.skipped.push({ server: name, reason: found })
      else answer.servers.push(found)
      answer.pins.set(name, pins.of(name))
    }
    return answer
  }
  const specOf = (stored: StoredOf<'mcp_server'> | undefined): McpServerSpec | null =>
    stored ? stored.doc : null
  return {
    mcpServersToConnect: async (names) =>
      toConnect(names.map((name) => ({ name, spec: specOf(find(name)) }))),
    mcpServerToTry: async ({ name = '', ...given }) =>
      toConnect([{ name, spec: normaliseMcpServer(keepMcpSecrets({ ...given }, find(name))) }]),
    seenMcpTools: async (server, tools) => {
      require(server)
      return pins.see(server, tools)
    },
    listMcpTools: async (server) => {
      require(server)
      return pins.list(server)
    },
    approveMcpTool: async (server, tool, hash, by) => {
      require(server)
      return pins.approve(server, tool, hash, by.name)
    },
  }
}
