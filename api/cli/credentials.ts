/**
 * Which daemon a client command talks to, and with which token. The order (SPEC.md,
 * Authentication 10): flag, then SVCD_URL and SVC_AUTH_TOKEN, then the saved login, then the local
 * instance. A stored token only goes to where it belongs: the login's to the address it was made
 * for, the local instance's to a loopback address.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { resolveHome } from '../config.ts'
import { ConfigError, parseHttpUrl, parsePort, parseToken } from '../config-values.ts'
import { type Environment, readVariable } from '../environment.ts'
import { CliError } from './exit.ts'

/** Options every client command takes. */
export interface ClientFlags {
  svcd?: string
  token?: string
  dataDir?: string
}

export interface Target {
  /** Base address, without a trailing slash. */
  url: string
  token: string | null
}

/**
 * Finds the daemon and the token.
 * @throws ConfigError for a flag or variable that cannot be used, CliError for a broken login file.
 */
export function resolveTarget(flags: ClientFlags, env: Environment): Target {
  const { home } = resolveHome(flags.dataDir, env)
  const login = readLogin(join(home, 'login.json'))
  const url = flagUrl(flags.svcd) ?? environmentUrl(env) ?? login?.url ?? localUrl(env)
  return { url, token: flagToken(flags.token) ?? environmentToken(env) ?? storedToken(url, login, home) }
}

function storedToken(url: string, login: { url: string; token: string } | null, home: string): string | null {
  if (login && login.url === url) return login.token
  return isLoopback(url) ? readRootToken(join(home, 'root_token')) : null
}

function flagUrl(flag: string | undefined): string | undefined {
  return flag === undefined ? undefined : parseHttpUrl(flag, '--svcd')
}

function flagToken(flag: string | undefined): string | undefined {
  return flag === undefined ? undefined : parseToken(flag.trim(), '--token')
}

function environmentUrl(env: Environment): string | undefined {
  const value = readVariable(env, 'SVCD_URL')
  return value === undefined ? undefined : parseHttpUrl(value, 'SVCD_URL')
}

function environmentToken(env: Environment): string | undefined {
  const value = readVariable(env, 'SVC_AUTH_TOKEN')
  return value === undefined ? undefined : parseToken(value, 'SVC_AUTH_TOKEN')
}

function localUrl(env: Environment): string {
  const port = readVariable(env, 'SVC_PORT')
  return `http://127.0.0.1:${port === undefined ? 8787 : parsePort(port, 'SVC_PORT')}`
}

/** True where the address stays on this machine. */
export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url)
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}

function readLogin(file: string): { url: string; token: string } | null {
  const text = readIfThere(file)
  if (text === null) return null
  try {
    const { url, key } = JSON.parse(text) as { url?: unknown; key?: unknown }
    return { url: parseHttpUrl(String(url), 'url'), token: parseToken(String(key), 'key') }
  } catch (error) {
    const reason = error instanceof ConfigError ? error.message : 'it is not JSON'
    throw new CliError(`the saved login ${file} cannot be used (${reason}); remove it`)
  }
}

function readRootToken(file: string): string | null {
  return readIfThere(file)?.trim() || null
}

function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    // Another user's home, or a file only the daemon's user reads: go on as if there were none.
    if (code === 'EACCES') return null
    throw error
  }
}
