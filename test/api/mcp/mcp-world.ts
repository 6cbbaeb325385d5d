/** A daemon's server, an MCP server before it over real HTTP, and the official client to talk to it. */
import type { AddressInfo } from 'node:net'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport as ClientTransport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { Ajv } from 'ajv'
import { pino } from 'pino'
import { Access } from '../../../api/mcp/access.ts'
import { Daemon } from '../../../api/mcp/daemon.ts'
import { createExchange } from '../../../api/mcp/exchange.ts'
import { buildMcpHttp } from '../../../api/mcp/http/server.ts'
import type { Shared } from '../../../api/mcp/session.ts'
import { loadMcpSettings } from '../../../api/mcp/settings.ts'
import { Watches } from '../../../api/mcp/watches.ts'
import { toolSchema } from '../../../schemas/tools.ts'
import type { Fields } from '../../contract/instance.ts'

export type McpWorld = Awaited<ReturnType<typeof startMcp>>

export interface McpOptions {
  transport?: 'streamable-http' | 'sse'
  env?: Record<string, string>
  sessionsMax?: number
}

/** An MCP server in process, before the daemon at `svcd`; its time is moved by hand. */
export async function startMcp(svcd: string, options: McpOptions = {}) {
  const { transport = 'streamable-http', env = {}, sessionsMax } = options
  const time = { at: 0 }
  const timers = new Map<() => void, { ms: number; due: number }>()
  const daemon = new Daemon(svcd, createExchange(), 'test')
  const shared: Shared = {
    daemon,
    access: new Access(daemon, () => time.at),
    watches: new Watches(),
    version: '1.0.0',
    log: pino({ level: 'silent' }),
    every: (ms, fn) => {
      const run = () => fn()
      timers.set(run, { ms, due: time.at + ms })
      return () => timers.delete(run)
    },
  }
  const settings = loadMcpSettings({ transport, port: '0' }, env, false)
  const { server, sessions, beginStop } = buildMcpHttp(settings, shared, () => time.at, sessionsMax)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const clients: Client[] = []
  return {
    base,
    url: `${base}${transport === 'sse' ? '/sse' : '/mcp'}`,
    shared,
    sessions,
    beginStop,
    /** Moves the time and does what is due. */
    pass(ms: number): void {
      time.at += ms
      for (const [run, timer] of timers)
        if (timer.due <= time.at) {
          timer.due = time.at + timer.ms
          run()
        }
    },
    /** A client of the official SDK. @param token its credential */
    async connect(token: string | null = null, headers: Record<string, string> = {}): Promise<Client> {
      const client = await connectTo(this.url, transport, token, headers)
      clients.push(client)
      return client
    },
    async stop(): Promise<void> {
      await Promise.all(clients.map((client) => client.close().catch(() => {})))
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function connectTo(
  url: string,
  transport: 'streamable-http' | 'sse',
  token: string | null,
  more: Record<string, string>,
): Promise<Client> {
  const headers = { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...more }
  const client = new Client({ name: 'test-client', version: '1' })
  const wire =
    transport === 'sse'
      ? new SSEClientTransport(new URL(url), { requestInit: { headers } })
      : new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
  await client.connect(wire as ClientTransport)
  return client
}

export interface Called {
  text: string
  content: Fields
  isError: boolean
  error: Fields | undefined
}

const ajv = new Ajv({ strict: true, formats: { 'date-time': true } })

/** One call of a tool; what it answers is checked against the schema that svc://tool/{name} has. */
export async function call(client: Client, name: string, args: Fields = {}): Promise<Called> {
  const result = await client.callTool({ name, arguments: args })
  if (result.structuredContent !== undefined) {
    const isRight = ajv.compile(toolSchema(name).output)
    if (!isRight(result.structuredContent)) throw new Error(`${name}: ${ajv.errorsText(isRight.errors)}`)
  }
  const [block] = result.content as { text: string }[]
  return {
    text: block?.text ?? '',
    content: (result.structuredContent ?? {}) as Fields,
    isError: result.isError === true,
    error: (result._meta as Fields | undefined)?.['svc/error'] as Fields | undefined,
  }
}

/** A call that is not refused. @throws Error with the refusal */
export async function called(client: Client, name: string, args: Fields = {}): Promise<Called> {
  const result = await call(client, name, args)
  if (result.isError) throw new Error(`${name}: ${result.text}`)
  return result
}

export const toolsOf = async (client: Client): Promise<string[]> =>
  (await client.listTools()).tools.map(({ name }) => name).sort()
