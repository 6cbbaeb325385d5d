/**
 * Which requests can have come from where they claim, for every door that listens. A Host that is not
 * ours is a web page that got our address under its own name (DNS rebinding); a foreign Origin is a
 * page of another site. Each rule gives the sentence of a refusal, or null.
 */
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

export interface HostRules {
  /** Bind address. */
  host: string
  publicUrl: string | null
  allowedHosts: readonly string[]
}

/** True for a bind address that only this machine reaches. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}

/** Headers that would be read one way here and another way by a proxy if they came twice. */
const ONCE = new Set(['host', 'authorization', 'content-type', 'content-encoding', 'idempotency-key'])

/** A repeated header, no Host (RFC 9112, section 3.2), or a target that names another host than it. */
export function ambiguous(request: IncomingMessage): string | null {
  const seen = new Set<string>()
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i]!.toLowerCase()
    if (!ONCE.has(name)) continue
    if (seen.has(name)) return `the ${name} header is given twice`
    seen.add(name)
  }
  if (request.headers.host === undefined && request.httpVersion === '1.1') return 'the Host header is missing'
  const target = request.url ?? ''
  if (!target.startsWith('/') && target !== '*') {
    const authority = /^https?:\/\/([^/]*)/i.exec(target)?.[1]
    if (authority?.toLowerCase() !== request.headers.host?.toLowerCase())
      return 'the request target names another host than the Host header'
  }
  return null
}

/** A Host that is none of ours. @param server how the sentence names us, such as "daemon". */
export function foreignHost(request: IncomingMessage, rules: HostRules, server: string): string | null {
  const given = request.headers.host ?? ''
  const name = hostName(given)
  return name !== null && isOwnName(name, rules)
    ? null
    : `host ${printable(given)} is not one this ${server} answers to; set SVC_PUBLIC_URL or SVC_ALLOWED_HOSTS`
}

/** A page of another site. @param server how the sentence names us. */
export function foreignOrigin(request: IncomingMessage, rules: HostRules, server: string): string | null {
  const { origin } = request.headers
  if (origin !== undefined && !isOwnOrigin(origin, request.headers.host ?? '', rules))
    return `origin ${printable(origin)} may not call this ${server}`
  const site = request.headers['sec-fetch-site']
  // A link from elsewhere may open a page; it may not fetch or post.
  if (
    site === 'cross-site' &&
    !(request.method === 'GET' && request.headers['sec-fetch-mode'] === 'navigate')
  )
    return `a page of another site may not call this ${server}`
  return null
}

/** The host without its port; null when it is no plain host. */
function hostName(host: string): string | null {
  const match = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?$/.exec(host)
  return match ? match[1]!.toLowerCase().replace(/^\[|\]$/g, '') : null
}

function isOwnName(name: string, rules: HostRules): boolean {
  if (name === 'localhost' || isIP(name) !== 0 || name === rules.host.toLowerCase()) return true
  if (rules.publicUrl && new URL(rules.publicUrl).hostname.toLowerCase() === name) return true
  return rules.allowedHosts.some((allowed) => allowed.toLowerCase() === name)
}

function isOwnOrigin(origin: string, host: string, rules: HostRules): boolean {
  if (rules.publicUrl && origin === new URL(rules.publicUrl).origin) return true
  return origin === `http://${host}` || origin === `https://${host}`
}

/** Header text fit for a message: no control characters, not long. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?').slice(0, 100) || '(none)'
}
