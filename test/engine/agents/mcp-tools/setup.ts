/** Servers and connections that end with their test, over the real way out. */
import { onTestFinished } from 'vitest'
import { connectTools, type ExternalTool, type McpServerRef } from '../../../../engine/agents/mcp-client.ts'
import { fetchOver } from '../../../../engine/net/fetch.ts'
import type { GithubTokens } from '../../../../engine/net/github-app.ts'
import { type McpTestServer, type Offered, type ServerOptions, startMcpServer } from '../../../mcp/server.ts'
import { client } from '../../net/egress/setup.ts'
import { noApps } from '../../net/no-apps.ts'

export async function server(tools: Offered[], options?: ServerOptions): Promise<McpTestServer> {
  const started = await startMcpServer(tools, options)
  onTestFinished(() => started.close())
  return started
}

export const ref = (
  name: string,
  { url }: { url: string },
  more: Partial<McpServerRef> = {},
): McpServerRef => ({
  name,
  url,
  headers: {},
  ...more,
})

/** @param pins hashes by `server/tool`. */
export async function connected(
  servers: McpServerRef[],
  {
    pins = {},
    signal,
    tokens,
  }: { pins?: Record<string, string>; signal?: AbortSignal; tokens?: GithubTokens } = {},
) {
  const { external, time } = connecting(servers, { pins, signal, tokens })
  const tools = await external
  onTestFinished(() => tools.close())
  return { ...tools, time }
}

/** Not waited for, so that a test can move time. */
export function connecting(
  servers: McpServerRef[],
  {
    pins = {},
    signal,
    tokens = noApps,
  }: {
    pins?: Record<string, string>
    signal?: AbortSignal | undefined
    tokens?: GithubTokens | undefined
  } = {},
) {
  const egress = client()
  const { time } = egress
  const http = fetchOver(egress, {
    audience: 'operator',
    timeoutMs: 65_000,
    maxResponseBytes: 16 * 1024 * 1024,
  })
  const external = connectTools(servers, {
    ...{ http, tokens },
    timers: time,
    clock: time,
    ...(signal ? { signal } : {}),
    pinned: (name, tool) => pins[`${name}/${tool}`] ?? null,
  })
  return { external, time }
}

export const tool = (more: Partial<ExternalTool> = {}): ExternalTool => ({
  name: 'desk__close',
  server: 'desk',
  tool: 'close',
  description: '[desk] Closes a ticket.',
  input: { type: 'object' },
  hash: 'x',
  readOnly: false,
  changed: false,
  ...more,
})
