/** `svc mcp`: tools, resources and prompts for outside agents, proxied to the daemon. */
import { Command } from 'commander'
import { resolveTarget } from '../credentials.ts'
import { CliError, EXIT } from '../exit.ts'
import type { Io } from '../terminal.ts'

const HELP = `Transports:
  stdio            one client starts this process and speaks over its input and output; calls carry
                   SVC_AUTH_TOKEN, else the saved login
  streamable-http  many clients at http://<host>:<port>/mcp
  sse              many clients of the older transport at http://<host>:<port>/sse

Over HTTP each client sends its own API key (Authorization: Bearer), which is passed to the daemon;
on a secured instance a client without one is refused. A read key shows reading tools only, a project
key those of its project.

Tool sets: events, findings, skills, runs, firings, projects, catalog, changes. A shorter list of tools
leaves a client more of its context.

Examples:
  svc mcp                                         for a client that starts it
  SVC_AUTH_TOKEN=<key> svc mcp --svcd https://svc.example.com
  svc mcp --toolsets events,findings --read-only  for an agent that only looks
  svc mcp --transport streamable-http             http://127.0.0.1:8788/mcp

How to connect common clients, sessions and limits: docs/mcp.md.
`

interface Flags {
  transport?: string
  host?: string
  port?: string
  toolsets?: string
  readOnly?: boolean
  svcd?: string
}

export function mcpCommand(io: Io): Command {
  return new Command('mcp')
    .description('Serve tools for outside agents (Model Context Protocol)')
    .option('--transport <transport>', 'stdio, streamable-http or sse (SVC_MCP_TRANSPORT, else stdio)')
    .option('--host <host>', 'bind address (SVC_MCP_HOST, else 127.0.0.1); 0.0.0.0 exposes it')
    .option('--port <port>', 'bind port (SVC_MCP_PORT, else 8788)')
    .option('--toolsets <sets>', 'offer only these tools, comma separated (SVC_MCP_TOOLSETS, else all)')
    .option('--read-only', 'offer only tools that change nothing (SVC_MCP_READ_ONLY)')
    .option('--svcd <url>', 'daemon to proxy to (SVCD_URL, else the saved login, else the local one)')
    .addHelpText('after', () => `\n${HELP}`)
    .action(async ({ svcd, ...flags }: Flags) => {
      const target = resolveTarget(svcd === undefined ? {} : { svcd }, io.env)
      // The protocol's code is loaded when it is used: client commands start without it.
      const { startMcp } = await import('../../mcp/start.ts')
      const ended = await startMcp(flags, target, io)
      if (ended instanceof Error) throw new CliError(ended.message, EXIT.failed)
    })
}
