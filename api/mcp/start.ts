/** A process of `svc mcp`: settings, log, transport, until it is told to stop. */
import { Console } from 'node:console'
import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import { type Choices, ConfigError, choiceOf, whyNotBound } from '../config-values.ts'
import { createLog, linesTo } from '../log.ts'
import { version } from '../version.ts'
import { Access } from './access.ts'
import { explain } from './call-tool.ts'
import { Daemon, DaemonError } from './daemon.ts'
import { createExchange } from './exchange.ts'
import { buildMcpHttp } from './http/server.ts'
import type { Shared } from './session.ts'
import { loadMcpSettings, type McpFlags, type McpSettings } from './settings.ts'
import { serveStdio } from './stdio.ts'
import { toolsOf } from './toolsets.ts'
import { Watches } from './watches.ts'

/** Answers under way get this long at a stop. */
const DRAIN_MS = 5_000

/** The outside world of the process. */
export interface Surroundings {
  err(text: string): void
  env: Readonly<Record<string, string | undefined>>
}

/**
 * Serves until a signal, or over stdio until the client goes.
 * @param target the daemon, and the process's own credential, which only stdio uses.
 * @returns "closed", or what was wrong. @throws ConfigError
 */
export async function startMcp(
  flags: McpFlags,
  target: { url: string; token: string | null },
  around: Surroundings,
): Promise<'closed' | Error> {
  const settings = loadMcpSettings(flags, around.env, process.stderr.isTTY === true)
  // Standard output is the protocol's; whatever writes a line writes it to standard error.
  globalThis.console = new Console(process.stderr, process.stderr)
  const log = createLog({ level: settings.logLevel, format: settings.logFormat }, linesTo(2))
  const daemon = new Daemon(target.url, createExchange(), `svc-mcp/${version}`)
  const now = () => performance.now()
  const shared: Shared = {
    daemon,
    access: new Access(daemon, now),
    watches: new Watches(),
    version,
    log,
    tools: toolsOf(settings.toolsets, settings.readOnly),
    consoleUrl: settings.publicUrl ?? target.url,
    every: (ms, fn) => {
      const timer = setInterval(fn, ms)
      timer.unref()
      return () => clearInterval(timer)
    },
  }
  const stopped = untilSignal(log)
  if (settings.transport === 'stdio') {
    void announceStdio(shared, target, around)
    return serveStdio(shared, target.token, { input: process.stdin, output: process.stdout, stopped })
  }
  return serveHttp({ flags, settings }, shared, now, around, stopped)
}

/** Aborted by SIGTERM, SIGINT or SIGHUP; a second SIGTERM or SIGINT ends the process at once. */
export function untilSignal(log: Logger): AbortSignal {
  const stop = new AbortController()
  const heard = (signal: NodeJS.Signals) => {
    log.info({ signal }, 'stopping')
    stop.abort()
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => {
      heard(signal)
      process.once(signal, () => process.exit(1))
    })
  // Of a terminal that closes: its shell and the system each send one, and unheard one would end the process.
  process.on('SIGHUP', () => {
    if (!stop.signal.aborted) heard('SIGHUP')
  })
  return stop.signal
}

async function serveHttp(
  { flags, settings }: { flags: McpFlags; settings: McpSettings },
  shared: Shared,
  now: () => number,
  around: Surroundings,
  stopped: AbortSignal,
): Promise<'closed' | Error> {
  const { transport, host } = settings
  const { server, beginStop } = buildMcpHttp(settings, shared, now)
  const fault = await new Promise<NodeJS.ErrnoException | null>((resolve) => {
    server.once('error', resolve)
    server.listen({ host, port: settings.port }, () => resolve(null))
  })
  if (fault)
    return whyNotListening(fault, 'svc mcp', settings, {
      host: choiceOf(flags.host, '--host', around.env, 'SVC_MCP_HOST'),
      port: choiceOf(flags.port, '--port', around.env, 'SVC_MCP_PORT'),
    })
  const { port } = server.address() as AddressInfo
  const name = host.includes(':') ? `[${host}]` : host
  const path = transport === 'sse' ? '/sse' : '/mcp'
  around.err(`svc mcp: ${transport} on http://${name}:${port}${path} -> ${shared.daemon.url}\n`)
  void warnIfExposed(shared, settings)
  await new Promise<void>((resolve) => {
    if (stopped.aborted) resolve()
    else stopped.addEventListener('abort', () => resolve(), { once: true })
  })
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS)
  await beginStop()
  server.closeIdleConnections()
  await closed
  clearTimeout(cut)
  return 'closed'
}

/**
 * Why it does not listen, by the name of what chose the address. A port that another program holds may be free the
 * next time; what can never be bound here is a wrong value. @throws ConfigError for such a one
 */
export function whyNotListening(
  error: NodeJS.ErrnoException,
  who: string,
  address: Pick<McpSettings, 'host' | 'port'>,
  choices: Choices,
): Error {
  const sentence = whyNotBound(error, who, address, choices)
  if (sentence !== null && error.code !== 'EADDRINUSE') throw new ConfigError(sentence)
  return new Error(sentence ?? error.message)
}

/** Tells the person who reads the client's log which instance this is, and as whom. */
async function announceStdio(
  { access, log }: Shared,
  target: { url: string; token: string | null },
  { err }: Surroundings,
): Promise<void> {
  try {
    const { name, scopes } = await access.identify(target.token)
    err(`svc mcp: stdio -> ${target.url} as ${name} (${scopes.join(', ')})\n`)
  } catch (error) {
    if (error instanceof DaemonError) err(`svc mcp: stdio -> ${target.url}: ${explain(error)}\n`)
    else log.error({ err: error }, 'a fault of ours')
  }
}

async function warnIfExposed({ access, log }: Shared, settings: McpSettings): Promise<void> {
  const isLocal = settings.host === 'localhost' || settings.host === '::1' || /^127\./.test(settings.host)
  if (isLocal || !settings.admits(null)) return
  try {
    await access.identify(null)
    log.warn(
      { host: settings.host, port: settings.port },
      'the daemon is open: whoever reaches this address may read and change everything; start svc up with --auth',
    )
  } catch (error) {
    if (!(error instanceof DaemonError)) throw error
    if (error.status !== 401) log.warn(`${explain(error)}; clients are told so until it is there`)
  }
}
