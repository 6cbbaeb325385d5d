/**
 * One connection to an external MCP server, by the official client over Streamable HTTP. It declares no
 * capability: a server can ask nothing of us, neither samples of a model nor input of people, and the
 * stream of its notifications is not opened.
 */
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js'
import type { Timers } from '../clock.ts'
import { bounded } from './bound.ts'
import type { ListedTool } from './definition.ts'
import { reasonOf } from './reason.ts'
import type { McpServerRef } from './types.ts'

export interface ConnectionOptions {
  http: typeof fetch
  timers: Timers
  /** Ends what is under way. */
  signal?: AbortSignal | undefined
}

/** A result as far as it is read. */
export interface RawResult {
  content: unknown[]
  structured: unknown
  isError: boolean
}

export interface Connection {
  /** @returns all pages of the list. @throws Error with a sentence */
  list(): Promise<ListedTool[]>
  /** @throws Error with a sentence */
  call(tool: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<RawResult>
  /** Ends the session and the connection; bounded in time, never throws. */
  close(): Promise<void>
}

const CONNECT_MS = 15_000
const LIST_MS = 5_000
const CALL_MS = 60_000
const CLOSE_MS = 2_000
/** A server that never ends its list is held to this many pages. */
const PAGES_MAX = 20
/** The client has timers of its own; ours come first. */
const OURS_FIRST = { timeout: 2 * CALL_MS }

/** @throws Error with a sentence that says why there is no connection */
export async function openConnection(server: McpServerRef, options: ConnectionOptions): Promise<Connection> {
  // Loaded when it is first used: most of a start is loading code.
  const [{ Client }, { StreamableHTTPClientTransport }, { ResultSchema }] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ])
  const { timers, signal } = options
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    fetch: withoutNotifications(options.http),
    requestInit: { headers: server.headers },
  })
  const client = new Client(
    { name: 'svc', version: '1' },
    { capabilities: {}, jsonSchemaValidator: unchecked },
  )
  let broken = new AbortController()
  client.onerror = (error) => {
    if (!BROKEN.test(error.message)) return
    // The client itself would wait for an answer that cannot come any more.
    broken.abort(new Error('the connection broke off within the answer'))
    broken = new AbortController()
  }
  const within = async <T>(ms: number, run: (signal: AbortSignal) => Promise<T>, by?: AbortSignal) => {
    try {
      return await bounded({ timers, ms, signals: [signal, by, broken.signal] }, run)
    } catch (error) {
      throw new Error(reasonOf(error, server))
    }
  }
  const end = () => client.close().catch(() => {})
  try {
    await within(CONNECT_MS, () => client.connect(transport, OURS_FIRST))
  } catch (error) {
    void end()
    throw error
  }
  return {
    list: () =>
      within(LIST_MS, async (cut) => {
        const tools: unknown[] = []
        let cursor: unknown
        for (let page = 0; page < PAGES_MAX; page++) {
          const params = typeof cursor === 'string' ? { cursor } : {}
          // Read by hand, so that one tool that is not as it should be does not hide the others.
          const asked = { method: 'tools/list' as const, params }
          const result = await client.request(asked, ResultSchema, { ...OURS_FIRST, signal: cut })
          tools.push(...(Array.isArray(result.tools) ? result.tools : []))
          cursor = result.nextCursor
          if (typeof cursor !== 'string' || cursor === '') break
        }
        return tools.filter(isListedTool)
      }),
    call: (name, args, by) =>
      within(
        CALL_MS,
        async (cut) => {
          const asked = { method: 'tools/call' as const, params: { name, arguments: args } }
          const result = await client.request(asked, ResultSchema, { ...OURS_FIRST, signal: cut })
          return {
            content: Array.isArray(result.content) ? result.content : [],
            structured: result.structuredContent,
            isError: result.isError === true,
          }
        },
        by,
      ),
    close: async () => {
      await bounded({ timers, ms: CLOSE_MS, signals: [] }, () => transport.terminateSession()).catch(() => {})
      await end()
    },
  }
}

const BROKEN = /^(SSE stream disconnected|Maximum reconnection attempts|Failed to reconnect)/

/** Results are text to us: compiling schemas that a server wrote would only give it a way to be slow. */
const unchecked: jsonSchemaValidator = {
  getValidator: () => {
    throw new Error('no schema of a server is compiled')
  },
}

/** Answers for the server that it has no stream of notifications; one that resumes an answer passes. */
function withoutNotifications(http: typeof fetch): typeof fetch {
  return async (input, init) =>
    init?.method === 'GET' && !new Headers(init.headers).has('last-event-id')
      ? new Response(null, { status: 405 })
      : http(input, init)
}

function isListedTool(value: unknown): value is ListedTool {
  if (typeof value !== 'object' || value === null) return false
  const { name, description, inputSchema } = value as Record<string, unknown>
  return (
    typeof name === 'string' &&
    name !== '' &&
    (description === undefined || typeof description === 'string') &&
    typeof inputSchema === 'object' &&
    inputSchema !== null &&
    !Array.isArray(inputSchema)
  )
}
