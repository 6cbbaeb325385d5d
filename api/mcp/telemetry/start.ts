/** A process of `svc telemetry`: settings, log, server, until it is told to stop. */
import type { AddressInfo } from 'node:net'
import type { Identity } from '../../../schemas/types.ts'
import { LOG_FORMATS, LOG_LEVELS } from '../../config.ts'
import {
  choiceOf,
  parseBindHost,
  parseChoice,
  parseHosts,
  parseHttpUrl,
  parsePort,
} from '../../config-values.ts'
import type { Environment } from '../../environment.ts'
import { createLog, linesTo } from '../../log.ts'
import { version } from '../../version.ts'
import { Access } from '../access.ts'
import { Daemon } from '../daemon.ts'
import { createExchange } from '../exchange.ts'
import { SignIn } from '../http/sign-in.ts'
import { settingsReader } from '../settings.ts'
import { untilSignal, whyNotListening } from '../start.ts'
import { buildTelemetryHttp, TELEMETRY_PATH } from './http.ts'
import { TelemetryServer } from './server.ts'
import type { Workspace } from './tools.ts'

const DRAIN_MS = 5_000

export interface TelemetryFlags {
  host?: string
  port?: string
  /** Address that clients know it by. */
  url?: string
}

/** @throws ConfigError naming the flag or variable and the rule it breaks */
function settingsOf(flags: TelemetryFlags, env: Environment) {
  const { choose, read } = settingsReader(env)
  const url = choose(flags.url, '--url', 'SVC_TELEMETRY_URL', parseHttpUrl)
  return {
    host: choose(flags.host, '--host', 'SVC_TELEMETRY_HOST', parseBindHost) ?? '127.0.0.1',
    port: choose(flags.port, '--port', 'SVC_TELEMETRY_PORT', parsePort) ?? 8789,
    ownUrl: url,
    allowedHosts: [...(read('SVC_ALLOWED_HOSTS', parseHosts) ?? []), ...(url ? [new URL(url).hostname] : [])],
    level: read('SVC_LOG_LEVEL', (value, from) => parseChoice(value, LOG_LEVELS, from)) ?? 'info',
    format: read('SVC_LOG_FORMAT', (value, from) => parseChoice(value, LOG_FORMATS, from)) ?? 'json',
  }
}

/**
 * The instance by the id that it has at the daemon itself, so that a client may ask either.
 * @param said what the daemon says of it; undefined: it is of before and does not
 */
export function workspaceAt(svcd: string, said: Identity['workspace']): Workspace {
  const { hostname } = new URL(svcd)
  return said ? { ...said, url: said.url ?? svcd } : { id: hostname, name: hostname, url: svcd }
}

/**
 * Serves until a signal. @param target the daemon. @returns "closed", or what was wrong. @throws ConfigError
 */
export async function startTelemetry(
  flags: TelemetryFlags,
  target: { url: string },
  around: { err(text: string): void; env: Environment },
): Promise<'closed' | Error> {
  const { host, port, ownUrl, allowedHosts, level, format } = settingsOf(flags, around.env)
  const log = createLog({ level, format }, linesTo(2))
  const daemon = new Daemon(target.url, createExchange(), `svc-telemetry/${version}`)
  const now = () => performance.now()
  const server = buildTelemetryHttp({
    rules: { host, publicUrl: ownUrl, allowedHosts },
    daemon,
    access: new Access(daemon, now),
    signIn: new SignIn({
      ...{ daemon, ownUrl, now, path: TELEMETRY_PATH, name: 'svc telemetry' },
      scopes: ['read', 'keys'],
    }),
    telemetry: new TelemetryServer({
      ...{ version, log },
      workspace: ({ workspace }) => workspaceAt(target.url, workspace),
    }),
    onFault: (error) => log.error({ err: error }, 'a fault of ours'),
  })
  const fault = await new Promise<NodeJS.ErrnoException | null>((resolve) => {
    server.once('error', resolve)
    server.listen({ host, port }, () => resolve(null))
  })
  if (fault)
    return whyNotListening(
      fault,
      'svc telemetry',
      { host, port },
      {
        host: choiceOf(flags.host, '--host', around.env, 'SVC_TELEMETRY_HOST'),
        port: choiceOf(flags.port, '--port', around.env, 'SVC_TELEMETRY_PORT'),
      },
    )
  const name = host.includes(':') ? `[${host}]` : host
  const { port: bound } = server.address() as AddressInfo
  around.err(`svc telemetry: http://${name}:${bound}${TELEMETRY_PATH} -> ${target.url}\n`)
  const stopped = untilSignal(log)
  await new Promise<void>((resolve) => {
    if (stopped.aborted) resolve()
    else stopped.addEventListener('abort', () => resolve(), { once: true })
  })
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS)
  server.closeIdleConnections()
  await closed
  clearTimeout(cut)
  return 'closed'
}
