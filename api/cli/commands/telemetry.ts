/** `svc telemetry`: the telemetry query server apart from the daemon. */
import { Command } from 'commander'
import { resolveTarget } from '../credentials.ts'
import { CliError, EXIT } from '../exit.ts'
import type { Io } from '../terminal.ts'

const HELP = `Serves the telemetry query server apart from the daemon, on another machine or address. The daemon itself serves it at
/telemetry/mcp.
Clients send an API key with scope read (Authorization: Bearer), or sign in by OAuth. For the latter the
daemon must name the address of this server in SVC_OAUTH_RESOURCES, unless both are on this machine.

Examples:
  svc telemetry                                        http://127.0.0.1:8789/telemetry/mcp
  svc telemetry --svcd https://svc.example.com --host 0.0.0.0 --url https://telemetry.example.com/telemetry/mcp

Tools, sign-in and limits: docs/telemetry.md.
`

interface Flags {
  host?: string
  port?: string
  url?: string
  svcd?: string
}

export function telemetryCommand(io: Io): Command {
  return new Command('telemetry')
    .description('Serve the telemetry query server apart from the daemon (Model Context Protocol)')
    .option('--host <host>', 'bind address (SVC_TELEMETRY_HOST, else 127.0.0.1); 0.0.0.0 exposes it')
    .option('--port <port>', 'bind port (SVC_TELEMETRY_PORT, else 8789)')
    .option('--url <url>', 'address clients reach it at, with its path (SVC_TELEMETRY_URL)')
    .option('--svcd <url>', 'daemon to ask (SVCD_URL, else the saved login, else the local one)')
    .addHelpText('after', () => `\n${HELP}`)
    .action(async ({ svcd, ...flags }: Flags) => {
      const target = resolveTarget(svcd === undefined ? {} : { svcd }, io.env)
      const { startTelemetry } = await import('../../mcp/telemetry/start.ts')
      const ended = await startTelemetry(flags, target, io)
      if (ended instanceof Error) throw new CliError(ended.message, EXIT.failed)
    })
}
