/** A secured daemon on a port of its own, OTLP and all, with clients of the official SDK to ask its telemetry server. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { pino } from 'pino'
import { buildServer } from '../../../api/http/server.ts'
import { systemTimers } from '../../../engine/clock.ts'
import { clientDocumentCalls } from '../../../engine/declared/oauth.ts'
import { createEngine } from '../../../engine/local.ts'
import { createEgress } from '../../../engine/net/fetch.ts'

export const ROOT = 'svc_root_test-token-with-enough-length'

export type TelemetryWorld = Awaited<ReturnType<typeof openTelemetryWorld>>

/** @param options.lines collects what the daemon logs */
export async function openTelemetryWorld(
  options: {
    secured?: boolean
    dataFile?: string
    lines?: string[]
    publicUrl?: string
    others?: string[]
    root?: string
    /** What the engine reads of the environment. */
    env?: Record<string, string>
    /** Header that a proxy says who is asking in. */
    userHeader?: string
    /** Where the test serves what would be at an https address: a stand-in for names and certificates alone. */
    served?: (url: string) => string
  } = {},
) {
  const { secured = true, dataFile = null, lines = [] } = options
  const clock = { ahead: 0, now: () => Date.now() + clock.ahead }
  const engine = createEngine({ dataFile, clock, ...(options.env ? { env: options.env } : {}) })
  const out = createEgress({ allowPrivate: true, timers: systemTimers })
  if (options.served) {
    const { served } = options
    Object.assign(
      engine,
      clientDocumentCalls({ egress: { send: (asked) => out.send({ ...asked, url: served(asked.url) }) } }),
    )
  }
  const app = await buildServer({
    engine,
    clock,
    log: pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) }),
    config: {
      ...{ host: '127.0.0.1', port: 0, rootToken: secured ? (options.root ?? ROOT) : null },
      ...{ publicUrl: options.publicUrl ?? null, allowedHosts: [], oauthResources: options.others ?? [] },
      userHeader: options.userHeader ?? null,
      ...{ version: '1.0.0', hostedUrls: {}, consoleDir: null },
    },
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const mcpUrl = `${url}/telemetry/mcp`
  const clients: Client[] = []
  const as = (token: string | null): Record<string, string> =>
    token === null ? {} : { authorization: `Bearer ${token}` }
  const call = async <T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = as(ROOT),
  ): Promise<{ status: number; json: T; headers: Headers; text: string }> => {
    const answer = await fetch(url + path, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await answer.text()
    const isJson = answer.headers.get('content-type')?.includes('json')
    return {
      status: answer.status,
      text,
      headers: answer.headers,
      json: (isJson ? JSON.parse(text) : {}) as T,
    }
  }
  return {
    ...{ app, engine, clock, url, mcpUrl, lines, as, call },
    key: async (scopes: string[], more: object = {}) =>
      (
        await call<{ id: string; secret: string }>('POST', '/api/keys', {
          name: scopes.join('-'),
          scopes,
          ...more,
        })
      ).json,
    /** One JSON-RPC request as curl sends it (SPEC.md, Telemetry query server: Request). */
    rpc: (method: string, params: object, token: string | null, at = mcpUrl) =>
      fetch(at, {
        method: 'POST',
        headers: {
          ...as(token),
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      }),
    /** A client of the official SDK with a static key. */
    async connect(token: string | null, at = mcpUrl): Promise<Client> {
      const client = new Client({ name: 'test-client', version: '1' })
      const wire = new StreamableHTTPClientTransport(new URL(at), { requestInit: { headers: as(token) } })
      await client.connect(wire as Transport)
      clients.push(client)
      return client
    },
    async close(): Promise<void> {
      await Promise.all(clients.map((client) => client.close()))
      await app.close()
      await engine.close()
      out.close()
    },
  }
}

/** Text of a tool's answer. */
export async function asked(client: Client, name: string, args: Record<string, unknown> = {}) {
  const result = await client.callTool({ name, arguments: args })
  const [block] = result.content as { text: string }[]
  return { text: block?.text ?? '', isError: result.isError === true }
}

export const INITIALIZE = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'curl', version: '1' },
}
