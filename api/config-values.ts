/**
 * Parsers of configuration values. Each throws a ConfigError whose message names where the value
 * came from (a flag or a variable) and the rule, never the value: it may be a secret.
 */
import { isIP } from 'node:net'
import { type Environment, readVariable } from './environment.ts'

/**
 * A configuration that cannot be used, or leftovers that must be moved first; the process prints
 * the message and exits with 78 (EX_CONFIG). Not the engine's StartError: client commands read the
 * configuration, too, and must not load the engine for it.
 */
export class ConfigError extends Error {
  readonly exitCode = 78
  constructor(message: string) {
    super(message)
    this.name = 'ConfigError'
  }
}

/* What only the bind shows: that an address or a port is none of this machine. */

/** How an address and a port were chosen: a flag or a variable. */
export interface Choices {
  host: string
  port: string
}

/** The variable where it says the value; else the flag, which also is how to choose what nothing said yet. */
export const choiceOf = (
  given: string | undefined,
  flag: string,
  env: Environment,
  variable: string,
): string => (given === undefined && readVariable(env, variable) !== undefined ? variable : flag)

/** @param who is perhaps there already. @returns a sentence with the way out; null for another fault */
export function whyNotBound(
  { code }: NodeJS.ErrnoException,
  who: string,
  { host, port }: { host: string; port: number },
  choices: Choices,
): string | null {
  if (code === 'EADDRINUSE')
    return `port ${port} on ${host} is in use, perhaps by another ${who}; stop that program, or choose another port with ${choices.port}`
  if (code === 'EACCES')
    return `port ${port} needs more rights than this user has; choose one above 1023 with ${choices.port}`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `${host} is not an address of this machine; choose another with ${choices.host}`
  return null
}

const SIZE_UNITS: Record<string, number> = {
  '': 1,
  k: 1e3,
  m: 1e6,
  g: 1e9,
  t: 1e12,
  ki: 1024,
  mi: 1024 ** 2,
  gi: 1024 ** 3,
  ti: 1024 ** 4,
}

/**
 * A size: a number, then K, M, G or T (decimal) or Ki, Mi, Gi or Ti (binary), then an optional B.
 * @returns bytes, at least 1.
 */
export function parseSize(value: string, from: string): number {
  const match = /^([0-9]+(?:\.[0-9]+)?)\s*([kmgt]i?)?b?$/i.exec(value)
  const bytes = match ? Math.floor(Number(match[1]) * SIZE_UNITS[(match[2] ?? '').toLowerCase()]!) : 0
  if (bytes < 1 || !Number.isSafeInteger(bytes)) {
    throw new ConfigError(
      `${from} must be a size above 0: bytes, or a number with K, M, G, T, Ki, Mi, Gi or Ti, such as 20G or 512Mi`,
    )
  }
  return bytes
}

const DURATION_UNITS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A duration: a number and one of s, m, h, d. @returns milliseconds, at least 1. */
export function parseDuration(value: string, from: string): number {
  const match = /^([0-9]+(?:\.[0-9]+)?)([smhd])$/.exec(value)
  const milliseconds = match ? Math.round(Number(match[1]) * DURATION_UNITS[match[2]!]!) : 0
  if (milliseconds < 1 || !Number.isSafeInteger(milliseconds))
    throw new ConfigError(`${from} must be a number above 0 and one of s, m, h, d, such as 30d`)
  return milliseconds
}

/** A TCP port, 1 to 65535; 0 lets the system choose a free one. */
export function parsePort(value: string, from: string): number {
  const port = /^[0-9]{1,5}$/.test(value) ? Number(value) : Number.NaN
  if (!(port >= 0 && port <= 65_535)) throw new ConfigError(`${from} must be a port from 1 to 65535`)
  return port
}

/** Labels of letters, digits and dashes (RFC 1123, 2.1); one of digits alone in the end would be an address. */
const HOST_NAME = /^(?!.*(?:^|\.)[0-9]+\.?$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.|$)){1,127}$/i

/** A bind address: a host name or an IP address, without scheme or port; brackets are removed. */
export function parseBindHost(value: string, from: string): string {
  const host = value.replace(/^\[(.*)\]$/, '$1')
  if (isIP(host) === 0 && !HOST_NAME.test(host))
    throw new ConfigError(`${from} must be a host name or an IP address, without scheme or port`)
  return host
}

/** Host names, comma separated. @returns them in lower case. */
export function parseHosts(value: string, from: string): string[] {
  const hosts = listed(value.toLowerCase())
  for (const host of hosts) {
    if (!/^(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(:[0-9]{1,5})?$/.test(host))
      throw new ConfigError(`${from} must be host names separated by commas, such as svc.example.com`)
  }
  return hosts
}

/** @returns it in lower case, as requests are read. */
export function parseHeaderName(value: string, from: string): string {
  const name = value.trim().toLowerCase()
  if (!/^[a-z0-9-]{1,64}$/.test(name))
    throw new ConfigError(`${from} must be the name of a header, such as X-Forwarded-User`)
  return name
}

/** An absolute http or https address. @returns it without a trailing slash. */
export function parseHttpUrl(value: string, from: string): string {
  const url = URL.canParse(value) ? new URL(value) : null
  if (
    !url ||
    !/^https?:$/.test(url.protocol) ||
    url.username !== '' ||
    url.password !== '' ||
    url.search !== '' ||
    url.hash !== ''
  ) {
    throw new ConfigError(
      `${from} must be an absolute http or https address without user, query or fragment, such as https://svc.example.com`,
    )
  }
  return url.href.replace(/\/+$/, '')
}

/**
 * The address people reach the daemon at. Pages, calls and the console's cookie are those of a whole host, so that one
 * with a path would lead nowhere.
 */
export function parsePublicUrl(value: string, from: string): string {
  const url = parseHttpUrl(value, from)
  if (new URL(url).pathname !== '/')
    throw new ConfigError(
      `${from} must have no path: svc is served at the root of its host, such as https://svc.example.com`,
    )
  return url
}

/** Absolute http or https addresses, comma separated. @returns them without trailing slashes */
export const parseHttpUrls = (value: string, from: string): string[] =>
  listed(value).map((url) => parseHttpUrl(url, from))

/** One of a list. */
export function parseChoice<T extends string>(value: string, choices: readonly T[], from: string): T {
  const choice = choices.find((entry) => entry === value.toLowerCase())
  if (choice === undefined) throw new ConfigError(`${from} must be one of ${choices.join(', ')}`)
  return choice
}

/** A token that fits in an Authorization header (RFC 9110, field values): visible ASCII, no blanks. */
export function parseToken(value: string, from: string): string {
  if (!/^[\x21-\x7e]{1,512}$/.test(value))
    throw new ConfigError(`${from} must be 1 to 512 visible ASCII characters without spaces`)
  return value
}

/** The name of an environment of the catalog. @throws ConfigError */
export function parseEnvironment(value: string, from: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(value)) return value
  throw new ConfigError(
    `${from} must be the name of an environment: letters, digits, dots, dashes, underscores`,
  )
}

/** Folders, comma separated. @returns them. @throws ConfigError for one that is no whole path: it would never be read */
export function parseFolders(value: string, from: string): string[] {
  const folders = listed(value)
  if (folders.every(isWholePath)) return folders
  throw new ConfigError(
    `${from} must be folders separated by commas, each as a whole path, such as /var/log,/srv/app/logs`,
  )
}

/** Which journals may be read: `on`, folders, or both; `off`: none. @throws ConfigError */
export function parseJournals(value: string, from: string): string[] {
  const words = listed(value)
  if ((words.length === 1 && words[0] === 'off') || words.every((word) => word === 'on' || isWholePath(word)))
    return words
  throw new ConfigError(
    `${from} must be on for the journal of the machine, folders of journals as whole paths, or both separated by commas, such as on,/var/log/journal/remote; off, or unset: none`,
  )
}

const listed = (value: string): string[] =>
  value
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')

const isWholePath = (word: string): boolean => word.startsWith('/')

/** 1, true, yes, on and their opposites, in any case. @throws ConfigError */
export function parseSwitch(value: string, from: string): boolean {
  const word = value.trim().toLowerCase()
  if (['1', 'true', 'yes', 'on'].includes(word)) return true
  if (['0', 'false', 'no', 'off'].includes(word)) return false
  throw new ConfigError(`${from} must be one of 1, true, yes, on, or 0, false, no, off`)
}
