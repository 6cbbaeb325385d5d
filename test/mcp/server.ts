/**
 * A real MCP server on loopback, made with the official SDK's server classes: what it lists and answers
 * is what a test says, and what it is sent is kept.
 */
import { randomUUID } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'

export interface Offered {
  name: string
  description?: string
  inputSchema?: object
  annotations?: { readOnlyHint?: boolean }
  /** What a call answers: text, or a whole result. Never settled: it never answers. */
  answer?: (args: Record<string, unknown>) => unknown
}

export interface Asked {
  method: string
  headers: http.IncomingHttpHeaders
}

export interface McpTestServer {
  url: string
  /** What it lists from now on. */
  tools: Offered[]
  requests: Asked[]
  calls: { tool: string; args: Record<string, unknown> }[]
  /** Sessions that were begun and not ended. */
  sessions: number
  close(): Promise<void>
}

export interface ServerOptions {
  /** The only Authorization it takes. */
  authorization?: string
  /** Answers as JSON instead of a stream of events. */
  json?: boolean
  /** Tools on one page of its list. */
  pageSize?: number
}

export const textResult = (text: string, more: object = {}) => ({
  content: [{ type: 'text', text }],
  ...more,
})

export async function startMcpServer(tools: Offered[], options: ServerOptions = {}): Promise<McpTestServer> {
  const transports = new Map<string, StreamableHTTPServerTransport>()
  const begin = async () => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      enableJsonResponse: options.json ?? false,
      onsessioninitialized: (id) => void transports.set(id, transport),
      onsessionclosed: (id) => void transports.delete(id),
    })
    await speaking(started, options).connect(transport)
    return transport
  }
  const server = http.createServer(async (request, response) => {
    const { headers } = request
    started.requests.push({ method: request.method!, headers })
    if (options.authorization && headers.authorization !== options.authorization)
      return void response.writeHead(401).end('who are you')
    const session = headers['mcp-session-id'] as string | undefined
    const transport = session === undefined ? await begin() : transports.get(session)
    if (!transport) return void response.writeHead(404).end()
    await transport.handleRequest(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const started: McpTestServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    tools,
    requests: [],
    calls: [],
    get sessions() {
      return transports.size
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return started
}

/** A server of the SDK that lists and answers what the test says. */
function speaking(of: McpTestServer, { pageSize }: ServerOptions): Server {
  const server = new Server({ name: 'test', version: '1' }, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
    const from = Number(params?.cursor ?? 0)
    const until = pageSize === undefined ? of.tools.length : from + pageSize
    const page = of.tools.slice(from, until).map(({ answer: _answer, inputSchema, ...tool }) => ({
      inputSchema: inputSchema ?? { type: 'object' },
      ...tool,
    }))
    return { tools: page as never, ...(until < of.tools.length ? { nextCursor: String(until) } : {}) }
  })
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const args = params.arguments ?? {}
    of.calls.push({ tool: params.name, args })
    const tool = of.tools.find(({ name }) => name === params.name)
    if (!tool) throw new Error(`no tool is named ${params.name}`)
    const answer = await (tool.answer ?? (() => 'done'))(args)
    return (typeof answer === 'string' ? textResult(answer) : answer) as never
  })
  return server
}
