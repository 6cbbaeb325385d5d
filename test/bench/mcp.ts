/**
 * What svc mcp adds to a read: the same read by the official client through `svc mcp`, and on the daemon's
 * API, in turns, one after another, on one daemon. Both are warm, and both parse their answer.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { startDaemon } from '../chaos/daemon.ts'
import { createGenerator, makeBodies, SOURCE } from './data.ts'
import { sendAll } from './http.ts'

const BUNDLE = fileURLToPath(new URL('../../dist/svc.mjs', import.meta.url))
const EVENTS = 200_000
const READS = 400
const WARM = 100
/** What the tool asks of the daemon for its 6,000 tokens. */
const TOKENS = 4_500

export interface McpCost {
  transport: 'streamable-http' | 'stdio'
  /** Milliseconds, p50. */
  direct: number
  through: number
}

/** @returns what a read takes on the API and through each transport */
export async function measureMcpCost(folder: string): Promise<McpCost[]> {
  const daemon = await startDaemon(folder)
  const answer = await fetch(`${daemon.url}/api/sources`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(SOURCE),
  })
  const { ingest_key } = (await answer.json()) as { ingest_key: string }
  const generator = createGenerator(13, Date.now())
  await sendAll(`${daemon.url}/ingest/${ingest_key}`, makeBodies(generator, 0, EVENTS / 1_000, EVENTS), 4)
  const costs: McpCost[] = []
  for (const transport of ['streamable-http', 'stdio'] as const) {
    const { client, stop } = await connect(transport, daemon.url, folder)
    await client.listTools()
    const times: { direct: number[]; through: number[] } = { direct: [], through: [] }
    for (let i = 0; i < READS + WARM; i++) {
      const selector = { entity: generator.entity() }
      const asked = performance.now()
      await readDirect(daemon.url, selector)
      const between = performance.now()
      await client.callTool({ name: 'read', arguments: { selector, window: '30d' } })
      const done = performance.now()
      if (i < WARM) continue
      times.direct.push(between - asked)
      times.through.push(done - between)
    }
    await stop()
    costs.push({ transport, direct: median(times.direct), through: median(times.through) })
  }
  await daemon.stop()
  return costs
}

async function readDirect(url: string, selector: Record<string, string>): Promise<void> {
  const answer = await fetch(`${url}/read`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ selector, window: '30d', max_tokens: TOKENS }),
  })
  await answer.json()
}

async function connect(transport: McpCost['transport'], svcd: string, home: string) {
  const client = new Client({ name: 'bench', version: '1' })
  const env = { PATH: process.env.PATH ?? '', SVC_HOME: home, SVCD_URL: svcd }
  if (transport === 'stdio') {
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: [BUNDLE, 'mcp'], env, stderr: 'ignore' }),
    )
    return { client, stop: () => client.close() }
  }
  const child = spawn(process.execPath, [BUNDLE, 'mcp', '--transport', transport, '--port', '0'], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [line] = (await once(createInterface({ input: child.stderr }), 'line')) as [string]
  const url = /on (\S+) ->/.exec(line)?.[1]
  if (!url) throw new Error(`svc mcp did not start: ${line}`)
  const wire = new StreamableHTTPClientTransport(new URL(url))
  // The SDK's class says of its own fields that they may be undefined, which its interface does not.
  await client.connect(wire as Parameters<typeof client.connect>[0])
  const stop = async () => {
    await client.close()
    child.kill()
    await once(child, 'exit')
  }
  return { client, stop }
}

function median(times: number[]): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)]!
}
