/**
 * Which servers clients can be signed in to, by their addresses (RFC 8707): the telemetry query server of this daemon,
 * and the servers of `svc mcp` and `svc telemetry` before it. An access token is for one of them and opens no other.
 */
import type { FastifyRequest } from 'fastify'
import { SvcError } from '../../../engine/index.ts'

export type ResourceKind = 'telemetry' | 'mcp'

export const TELEMETRY_PATH = '/telemetry/mcp'
/** Scopes of each kind, as a client may ask for them; the first is asked for where it names none. */
export const SCOPES: Readonly<Record<ResourceKind, readonly string[]>> = {
  telemetry: ['read', 'keys'],
  mcp: ['read', 'ingest', 'respond', 'admin'],
}
/** What the person may let a client do besides what it asked for: some never ask for more than they begin with. */
export const OFFERED: Readonly<Record<ResourceKind, readonly string[]>> = { telemetry: ['keys'], mcp: [] }
/** Paths that `svc mcp` and `svc telemetry` serve. */
export const MCP_PATHS = ['/mcp', '/sse'] as const
const LOCAL_PATHS = new Set<string>([...MCP_PATHS, TELEMETRY_PATH])
const HOST = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?$/

/**
 * The address that clients know this daemon by: SVC_PUBLIC_URL, else the one they asked. Without a trailing slash.
 * @throws SvcError invalid for a Host that is none
 */
export function baseOf(
  request: Pick<FastifyRequest, 'headers'>,
  { publicUrl }: { publicUrl: string | null },
): string {
  if (publicUrl !== null) return publicUrl
  const host = request.headers.host ?? ''
  if (!HOST.test(host)) throw new SvcError('invalid', 'the Host header is not a host')
  // As addresses are written down: the port of http is not in them.
  return new URL(`http://${host}`).origin
}

/** An instance is one workspace, by the name that people know it by. */
export function workspaceOf(publicUrl: string | null): { id: string; name: string; url: string | null } {
  const id = publicUrl === null ? 'local' : new URL(publicUrl).hostname
  return { id, name: publicUrl === null ? 'This machine' : id, url: publicUrl }
}

export const telemetryUrlOf = (base: string): string => base + TELEMETRY_PATH

export const kindOf = (resource: string): ResourceKind =>
  new URL(resource).pathname.endsWith(TELEMETRY_PATH) ? 'telemetry' : 'mcp'

/** An address of the computer that asks: nobody else listens there (RFC 8252, section 7.3). */
export function isLoopback(url: URL): boolean {
  return url.protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname)
}

/**
 * A server that tokens may be made for, as it is written down; null: none that is known here. Another server that
 * says this daemon signs its clients in would be given what opens this one.
 * @param base address of the daemon. @param others addresses of SVC_OAUTH_RESOURCES
 */
export function knownResource(given: string, base: string, others: readonly string[]): string | null {
  if (!URL.canParse(given)) return null
  const url = new URL(given)
  if (url.hash !== '' || url.username !== '' || url.password !== '' || url.search !== '') return null
  const plain = url.href.replace(/\/$/, '')
  const own = [telemetryUrlOf(base), ...MCP_PATHS.map((path) => base + path)]
  if (own.includes(plain) || others.includes(plain)) return plain
  // A daemon that is asked on its own machine has its other servers there as well.
  const isHere = isLoopback(new URL(base)) && isLoopback(url) && LOCAL_PATHS.has(url.pathname)
  return isHere ? plain : null
}
