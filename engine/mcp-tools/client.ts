/**
 * External tools for one run: servers are connected in parallel and listed once, one that is dead is
 * skipped with a reason, and what comes back is bounded. The connections live for the run only.
 */
import type { Clock, Timers } from '../clock.ts'
import { type Connection, openConnection } from './connection.ts'
import { contentOf } from './content.ts'
import { type Definition, definitionOf, type ListedTool } from './definition.ts'
import { namesOf } from './names.ts'
import { scrubbed } from './reason.ts'
import { boundedResult } from './text.ts'
import type { ExternalTool, ExternalTools, McpServerRef, SkippedServer, ToolResult } from './types.ts'

export interface ConnectOptions {
  http: typeof fetch
  timers: Timers
  clock: Clock
  /** Ends connecting and every call. */
  signal?: AbortSignal
  /** The hash a tool was pinned with; null: it is seen for the first time. */
  pinned(server: string, tool: string): string | null
}

/** Of one server; more would fill a model's context before it has read anything. */
const TOOLS_MAX = 200
/** Characters of a schema as JSON. */
const SCHEMA_MAX = 32 * 1024

interface Found {
  server: McpServerRef
  listed: ListedTool
  definition: Definition
  connection: Connection
}

/**
 * Connects to the servers, 15 s each, and lists their tools, 5 s each.
 * @returns the tools, in the order of the servers; never throws for a server's sake.
 */
export async function connectTools(
  servers: readonly McpServerRef[],
  options: ConnectOptions,
): Promise<ExternalTools> {
  const { clock, pinned } = options
  const skipped: SkippedServer[] = []
  const connections: Connection[] = []
  const lists = await Promise.all(
    servers.map(async (server): Promise<Found[]> => {
      let connection: Connection | null = null
      try {
        connection = await openConnection(server, options)
        const found = read(server, connection, await connection.list(), skipped)
        connections.push(connection)
        return found
      } catch (error) {
        void connection?.close()
        skipped.push({ server: server.name, reason: (error as Error).message })
        return []
      }
    }),
  )
  const found = lists.flat()
  const names = namesOf(found.map(({ server, listed }) => ({ server: server.name, tool: listed.name })))
  const byName = new Map<string, Found & { tool: ExternalTool }>()
  const tools = found.map((one, i): ExternalTool => {
    const { server, listed, definition } = one
    const was = pinned(server.name, listed.name)
    const tool = {
      name: names[i]!,
      server: server.name,
      tool: listed.name,
      ...definition,
      changed: was !== null && was !== definition.hash,
    }
    byName.set(tool.name.toLowerCase(), { ...one, tool })
    return tool
  })
  return {
    tools,
    skipped,
    async call(name, args, signal): Promise<ToolResult> {
      const at = clock.now()
      const failed = (text: string): ToolResult => ({ text, isError: true, ms: clock.now() - at })
      const called = byName.get(name.trim().toLowerCase())
      if (!called) return failed(`no external tool is named ${name}`)
      const { server, tool, connection } = called
      if (tool.changed) return failed(`${tool.name} has changed and waits for approval`)
      try {
        const result = await connection.call(tool.tool, args, signal)
        const { text: said, images } = contentOf(result)
        const text = boundedResult(scrubbed(said, server)).trim() || '(empty result)'
        const ms = clock.now() - at
        return { text, isError: result.isError, ms, ...(images.length ? { images } : {}) }
      } catch (error) {
        return failed(`${tool.name} was not answered: ${(error as Error).message}`)
      }
    },
    async close() {
      await Promise.all(connections.splice(0).map((connection) => connection.close()))
    },
  }
}

/** The tools of one server that can be offered; what is left out is noted. */
function read(
  server: McpServerRef,
  connection: Connection,
  list: readonly ListedTool[],
  skipped: SkippedServer[],
): Found[] {
  const note = (reason: string) => skipped.push({ server: server.name, reason })
  // A name that is listed twice is the first of them: the second would take its place.
  const once = [...new Map([...list].reverse().map((listed) => [listed.name, listed])).values()].reverse()
  if (once.length > TOOLS_MAX) note(`it lists ${once.length} tools, of which ${TOOLS_MAX} are taken`)
  return once.slice(0, TOOLS_MAX).flatMap((listed) => {
    try {
      if (JSON.stringify(listed.inputSchema).length <= SCHEMA_MAX)
        return [{ server, listed, connection, definition: definitionOf(server.name, listed) }]
    } catch (error) {
      // A schema nested so deep that it cannot be written is too large as well.
      if (!(error instanceof RangeError)) throw error
    }
    note(`a tool is left out, for its schema is over ${SCHEMA_MAX / 1024} KB: ${listed.name.slice(0, 64)}`)
    return []
  })
}
