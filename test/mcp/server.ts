/**
 * A real MCP server on loopback, made with the official SDK's server classes of either generation: what it
 * lists and answers is what a test says, and what it is sent is kept.
 */
import { randomUUID } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { createMcpHandler, Server as ModernServer } from '@modelcontextprotocol/server'

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
  /** Knows no session any more, as one that was deployed anew. */
  forget(): void
  close(): Promise<void>
}

export interface ServerOptions {
  /** The only Authorization it takes. */
  authorization?: string
  /** How its refusal says where to sign in. */
  signIn?: string
  /** Answers as JSON instead of a stream of events. */
  json?: boolean
  /** Tools on one page of its list. */
  pageSize?: number
  /** modern: revision 2026-07-28 alone, without sessions; else those that begin with `initialize` alone. */
  revision?: 'modern'
  /** Says that its list may change. */
  listChanged?: boolean
  /** Status with which it meets a session that it does not know; 404 unless said. */
  forgotten?: number
  /** Status with which a server of before 2026-07-28 meets a request before `initialize`. */
  puzzled?: number
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
  const modern = toNodeHandler(
    createMcpHandler(() => speakingModern(started, options), {
      legacy: 'reject',
      responseMode: options.json ? 'auto' : 'sse',
    }),
  )
  const server = http.createServer(async (request, response) => {
    const { headers } = request
    started.requests.push({ method: request.method!, headers })
    if (options.authorization && headers.authorization !== options.authorization)
      return void response
        .writeHead(401, options.signIn ? { 'www-authenticate': options.signIn } : {})
        .end('who are you')
    if (options.revision === 'modern') return modern(request, response)
    const session = headers['mcp-session-id'] as string | undefined
    if (options.puzzled && headers['mcp-method'] === 'server/discover')
      return void response.writeHead(options.puzzled).end('what is this')
    const transport = session === undefined ? await begin() : transports.get(session)
    if (!transport)
      return void response
        .writeHead(options.forgotten ?? 404)
        .end('Bad Request: No valid session ID provided')
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
    forget: () => transports.clear(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return started
}

/** A server of the SDK that lists and answers what the test says. */
function speaking(of: McpTestServer, options: ServerOptions): Server {
  const server = new Server(
    { name: 'test', version: '1' },
    { capabilities: { tools: options.listChanged ? { listChanged: true } : {} } },
  )
  const { list, call } = said(of, options)
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => list(params) as never)
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => (await call(params)) as never)
  return server
}

/** The same, of the second generation. */
function speakingModern(of: McpTestServer, options: ServerOptions): ModernServer {
  const server = new ModernServer(
    { name: 'test', version: '1' },
    { capabilities: { tools: options.listChanged ? { listChanged: true } : {} } },
  )
  const { list, call } = said(of, options)
  server.setRequestHandler('tools/list', async ({ params }) => list(params) as never)
  server.setRequestHandler('tools/call', async ({ params }) => (await call(params)) as never)
  return server
}

interface Call {
  name: string
  arguments?: Record<string, unknown> | undefined
}

/** What is answered, whatever the generation. */
const said = (of: McpTestServer, { pageSize }: ServerOptions) => ({
  list(params: { cursor?: string | undefined } | undefined) {
    const from = Number(params?.cursor ?? 0)
    const until = pageSize === undefined ? of.tools.length : from + pageSize
    const page = of.tools.slice(from, until).map(({ answer: _answer, inputSchema, ...tool }) => ({
      inputSchema: inputSchema ?? { type: 'object' },
      ...tool,
    }))
    return { tools: page, ...(until < of.tools.length ? { nextCursor: String(until) } : {}) }
  },
  async call(params: Call): Promise<unknown> {
    const args = params.arguments ?? {}
    of.calls.push({ tool: params.name, args })
    const tool = of.tools.find(({ name }) => name === params.name)
    if (!tool) throw new Error(`no tool is named ${params.name}`)
    const answer = await (tool.answer ?? (() => 'done'))(args)
    return typeof answer === 'string' ? textResult(answer) : answer
  },
})
