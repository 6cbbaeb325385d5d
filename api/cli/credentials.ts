/**
 * Which daemon a client command talks to, and with which token. The order (SPEC.md,
 * Authentication 10): flag, then SVCD_URL and SVC_AUTH_TOKEN, then the saved login, then the local
 * instance. A stored token only goes to where it belongs: the login's to the address it was made
 * for, the local instance's to a loopback address.
 */
import { join } from 'node:path'
import { parseHttpUrl, parsePort, parseToken } from '../config-values.ts'
import { resolveHome } from '../data-home.ts'
import { type Environment, readVariable } from '../environment.ts'
import { readIfThere, readLogin, type SavedLogin } from './login/file.ts'

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

/** Where a token was found, in words. */
type Found = '--token' | 'SVC_AUTH_TOKEN' | 'the saved login' | 'the root token of the data home'

/**
 * Finds the daemon and the token.
 * @throws ConfigError for a flag or variable that cannot be used, CliError for a broken login file.
 */
export function resolveTarget(flags: ClientFlags, env: Environment): Target {
  const { url, token } = locate(flags, env)
  return { url, token }
}

/** As resolveTarget, with where the token was found; null: there is none. */
export function locate(flags: ClientFlags, env: Environment): Target & { from: Found | null } {
  const { home } = resolveHome(flags.dataDir, env)
  const login = readLogin(home)
  const url = flagUrl(flags.svcd) ?? environmentUrl(env) ?? login?.url ?? localUrl(env)
  const candidates: [Found, () => string | null | undefined][] = [
    ['--token', () => flagToken(flags.token)],
    ['SVC_AUTH_TOKEN', () => environmentToken(env)],
    ['the saved login', () => savedToken(url, login)],
    [
      'the root token of the data home',
      () => (isLoopback(url) ? readRootToken(join(home, 'root_token')) : null),
    ],
  ]
  for (const [from, find] of candidates) {
    const token = find() ?? null
    if (token !== null) return { url, token, from }
  }
  return { url, token: null, from: null }
}

function savedToken(url: string, login: SavedLogin | null): string | null {
  return login && login.url === url ? login.key : null
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

function readRootToken(file: string): string | null {
  return readIfThere(file)?.trim() || null
}
