/** Flags and environment of `svc mcp` to one typed configuration; a flag wins over the environment. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel } from '../config.ts'
import {
  ConfigError,
  parseBindHost,
  parseChoice,
  parseHosts,
  parseHttpUrl,
  parsePort,
  parsePublicUrl,
  parseSwitch,
  parseToken,
} from '../config-values.ts'
import { type Environment, readVariable } from '../environment.ts'
import type { HostRules } from '../host-rules.ts'
import { parseToolsets, type Toolset } from './toolsets.ts'

export const TRANSPORTS = ['stdio', 'streamable-http', 'sse'] as const
export type Transport = (typeof TRANSPORTS)[number]

export interface McpFlags {
  transport?: string
  host?: string
  port?: string
  /** Comma separated. */
  toolsets?: string
  readOnly?: boolean
}

export interface McpSettings extends HostRules {
  transport: Transport
  port: number
  /** Address that clients know the MCP server by; null: the one they asked. */
  ownUrl: string | null
  /** Whether a caller of an HTTP transport may come with this credential where the daemon is open. */
  admits(token: string | null): boolean
  /** Sets of tools that are offered; null: all. */
  toolsets: Toolset[] | null
  /** Only tools that change nothing are offered. */
  readOnly: boolean
  logLevel: LogLevel
  logFormat: LogFormat
}

/**
 * Reads settings of a process, each by its parser, which throws a ConfigError that names where the value is from.
 * @returns `choose` takes the flag, else the variable; `read` the variable alone; null: neither is set
 */
export function settingsReader(env: Environment) {
  const choose = <T>(
    flag: string | undefined,
    name: string,
    variable: string,
    parse: (value: string, from: string) => T,
  ): T | null => {
    if (flag !== undefined) return parse(flag, name)
    const value = readVariable(env, variable)
    return value === undefined ? null : parse(value, variable)
  }
  const read = <T>(variable: string, parse: (value: string, from: string) => T) =>
    choose(undefined, variable, variable, parse)
  return { choose, read }
}

/** @throws ConfigError naming the flag or variable and the rule it breaks */
export function loadMcpSettings(flags: McpFlags, env: Environment, isTerminal: boolean): McpSettings {
  const { choose, read } = settingsReader(env)
  const transport =
    choose(flags.transport, '--transport', 'SVC_MCP_TRANSPORT', (value, from) =>
      parseChoice(value, TRANSPORTS, from),
    ) ?? 'stdio'
  if (transport === 'stdio' && (flags.host !== undefined || flags.port !== undefined))
    throw new ConfigError(
      '--host and --port are for --transport streamable-http or sse; stdio listens nowhere',
    )
  const required = read('SVC_AUTH_TOKEN', parseToken)
  const ownUrl = read('SVC_MCP_URL', parseHttpUrl)
  return {
    transport,
    admits: (token) => required === null || (token !== null && isSame(token, required)),
    host: choose(flags.host, '--host', 'SVC_MCP_HOST', parseBindHost) ?? '127.0.0.1',
    port: choose(flags.port, '--port', 'SVC_MCP_PORT', parsePort) ?? 8788,
    ownUrl,
    publicUrl: read('SVC_PUBLIC_URL', parsePublicUrl),
    allowedHosts: [
      ...(read('SVC_ALLOWED_HOSTS', parseHosts) ?? []),
      ...(ownUrl === null ? [] : [new URL(ownUrl).hostname]),
    ],
    toolsets: choose(flags.toolsets, '--toolsets', 'SVC_MCP_TOOLSETS', parseToolsets),
    readOnly: flags.readOnly ?? read('SVC_MCP_READ_ONLY', parseSwitch) ?? false,
    logLevel: read('SVC_LOG_LEVEL', (value, from) => parseChoice(value, LOG_LEVELS, from)) ?? 'info',
    logFormat:
      read('SVC_LOG_FORMAT', (value, from) => parseChoice(value, LOG_FORMATS, from)) ??
      (isTerminal ? 'pretty' : 'json'),
  }
}

/** Takes as long for a token that is nearly right. */
const isSame = (a: string, b: string): boolean => timingSafeEqual(sha256(a), sha256(b))

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()
