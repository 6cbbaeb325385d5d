/**
 * One connection to an external MCP server, by the official client over Streamable HTTP. A server is asked
 * by `server/discover` whether it speaks revision 2026-07-28, and is else spoken to as those before it are,
 * with `initialize` and a session (2026-07-28, Streamable HTTP: Backward Compatibility). The client
 * declares no capability: a server can ask nothing of us, neither samples of a model nor input of people,
 * and the stream of its notifications is not opened.
 */
import type {
  Client,
  jsonSchemaValidator,
  StandardSchemaV1,
  StreamableHTTPClientTransport,
  Tool,
} from '@modelcontextprotocol/client'
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
  const sdk = await import('@modelcontextprotocol/client')
  const { timers, signal } = options
  let broken = new AbortController()
  const begin = (mode: 'auto' | 'legacy') => {
    const wire = new sdk.StreamableHTTPClientTransport(new URL(server.url), {
      fetch: withoutNotifications(options.http),
      requestInit: { headers: server.headers },
    })
    const made = new sdk.Client(
      { name: 'svc', version: '1' },
      { capabilities: {}, jsonSchemaValidator: unchecked, versionNegotiation: { mode } },
    )
    made.onerror = (error) => {
      if (!BROKEN.test(error.message)) return
      // The client itself would wait for an answer that cannot come any more.
      broken.abort(new Error('the connection broke off within the answer'))
      broken = new AbortController()
    }
    return { client: made, transport: wire, listed: listedBy(wire) }
  }
  let { client, transport, listed } = begin('auto')
  const within = async <T>(ms: number, run: (signal: AbortSignal) => Promise<T>, by?: AbortSignal) => {
    try {
      return await bounded({ timers, ms, signals: [signal, by, broken.signal] }, run)
    } catch (error) {
      throw new Error(reasonOf(error, server))
    }
  }
  const definitions = new Map<string, ListedTool>()
  const end = () => client.close().catch(() => {})
  try {
    await within(CONNECT_MS, async () => {
      try {
        await client.connect(transport, OURS_FIRST)
      } catch (error) {
        if (!isPuzzled(error)) throw error
        void end()
        ;({ client, transport, listed } = begin('legacy'))
        await client.connect(transport, OURS_FIRST)
      }
    })
  } catch (error) {
    void end()
    throw error
  }
  return {
    list: () =>
      within(LIST_MS, async (cut) => {
        let cursor: unknown
        definitions.clear()
        for (let page = 0; page < PAGES_MAX; page++) {
          const params = typeof cursor === 'string' ? { cursor } : {}
          const asked = { method: 'tools/list' as const, params }
          const result = await client.request(asked, AS_IT_IS, { ...OURS_FIRST, signal: cut })
          // Of two with a name the first is meant.
          for (const tool of listed().filter(isListedTool))
            if (!definitions.has(tool.name)) definitions.set(tool.name, tool)
          cursor = result.nextCursor
          if (typeof cursor !== 'string' || cursor === '') break
        }
        return [...definitions.values()]
      }),
    call: (name, args, by) =>
      within(
        CALL_MS,
        async (cut) => {
          const result = await callOf(client, definitions.get(name), { name, arguments: args }, cut)
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

/**
 * Over a revision with `_meta`, arguments that the schema says so of are sent as headers, too (2026-07-28,
 * Streamable HTTP: Custom Headers from Tool Parameters), which the client does where it knows the tool. It
 * is not told of the schema of answers: none is compiled.
 */
function callOf(
  client: Client,
  tool: ListedTool | undefined,
  params: { name: string; arguments: Record<string, unknown> },
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const how = { ...OURS_FIRST, signal }
  if (client.getProtocolEra() !== 'modern' || !tool)
    return client.request({ method: 'tools/call', params }, AS_IT_IS, how)
  const { name, inputSchema } = tool
  return client.callTool(params, { ...how, toolDefinition: { name, inputSchema } as Tool })
}

/**
 * The tools of the last list that came, as the server wrote them: the client would refuse the whole list
 * for one tool that is not as it should be, which must not hide the others.
 */
function listedBy(transport: StreamableHTTPClientTransport): () => unknown[] {
  let tools: unknown[] = []
  let hand: StreamableHTTPClientTransport['onmessage']
  Object.defineProperty(transport, 'onmessage', {
    get: () => hand && ((message: unknown) => hand!(without(message) as never)),
    set: (handler: typeof hand) => {
      hand = handler
    },
  })
  const without = (message: unknown): unknown => {
    const { result } = message as { result?: { tools?: unknown } }
    if (!Array.isArray(result?.tools)) return message
    tools = result.tools
    return { ...(message as object), result: { ...result, tools: [] } }
  }
  return () => tools.splice(0)
}

/** Results are read by hand. */
const AS_IT_IS: StandardSchemaV1<unknown, Record<string, unknown>> = {
  '~standard': {
    version: 1,
    vendor: 'svc',
    validate: (value) => ({ value: value as Record<string, unknown> }),
  },
}

/** A server of before 2026-07-28 that fails at a request before `initialize` instead of refusing it. */
function isPuzzled(error: unknown): boolean {
  const { code, status } = error as { code?: unknown; status?: unknown }
  return code === 'ERA_NEGOTIATION_FAILED' && typeof status === 'number' && status >= 500
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
