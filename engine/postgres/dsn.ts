/**
 * Connection URLs, read by us and not by the client library: it would take a socket path, another host or
 * options of the server from the query, and what is missing from environment variables of its own.
 */
import { isIP } from 'node:net'

/** How the connection is encrypted, in libpq's words. */
export type SslMode = 'disable' | 'prefer' | 'require' | 'verify-ca' | 'verify-full'

export interface Dsn {
  /** Without brackets. */
  host: string
  port: number
  user: string
  password: string
  database: string
  sslMode: SslMode
}

const SSL_MODES: readonly string[] = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full']
const FORM = 'dsn must be a URL such as postgresql://user:password@host:5432/database'

/** @returns a sentence that quotes nothing of it where it is none: it holds a password. */
export function parseDsn(text: string): Dsn | string {
  if (!/^postgres(ql)?:\/\//.test(text)) return FORM
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || text.includes('#'))
    return `${FORM}; characters such as @ / # : in a password must be percent-encoded`
  const host = decoded(url.hostname)?.replace(/^\[|\]$/g, '')
  const [user, password] = [decoded(url.username), decoded(url.password)]
  const database = decoded(url.pathname.slice(1))
  if (!host || !user || password === null || database === null) return FORM
  if (!/^[A-Za-z0-9._-]+$/.test(host) && isIP(host) === 0)
    return 'dsn must name one host, by name or IP address; a socket path is none'
  for (const name of url.searchParams.keys())
    if (name !== 'sslmode') return 'dsn takes one parameter alone: sslmode'
  const sslMode = url.searchParams.get('sslmode') ?? 'prefer'
  if (!SSL_MODES.includes(sslMode)) return `sslmode of dsn must be one of ${SSL_MODES.join(', ')}`
  return {
    host,
    port: Number(url.port || 5432),
    user,
    password,
    database: database || user,
    sslMode: sslMode as SslMode,
  }
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
