/**
 * The checks before anything else is looked at: a request that could not have come from where it
 * claims is refused before its credential, its path or its body matter. In open mode the Host must
 * be one of ours (DNS rebinding), and no foreign origin may call (cross-site requests).
 */
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { fail, SvcError } from '../../engine/index.ts'

export interface HostRules {
  /** Bind address. */
  host: string
  publicUrl: string | null
  allowedHosts: readonly string[]
  secured: boolean
}

/** A repeated header would be read one way here and another way by a proxy. */
export function checkRawHeaders(request: IncomingMessage): void {
  const seen = new Set<string>()
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i]!.toLowerCase()
    if (
      name !== 'host' &&
      name !== 'authorization' &&
      name !== 'content-type' &&
      name !== 'content-encoding' &&
      name !== 'idempotency-key'
    )
      continue
    if (seen.has(name)) fail('invalid', `the ${name} header is given twice`)
    seen.add(name)
  }
  const target = request.url ?? ''
  if (!target.startsWith('/') && target !== '*') {
    const authority = /^https?:\/\/([^/]*)/i.exec(target)?.[1]
    if (authority?.toLowerCase() !== request.headers.host?.toLowerCase())
      fail('invalid', 'the request target names another host than the Host header')
  }
  if (request.method === 'TRACE' || request.method === 'CONNECT')
    fail('method_not_allowed', `${request.method} is not supported`)
}

/** @throws SvcError forbidden when an open daemon is asked under a name that is not its own. */
export function checkHost(request: IncomingMessage, rules: HostRules): void {
  if (rules.secured) return
  const given = request.headers.host ?? ''
  const name = hostName(given)
  if (name === null || !isOwnName(name, rules))
    throw new SvcError(
      'forbidden',
      `host ${printable(given)} is not one this daemon answers to; set SVC_PUBLIC_URL or SVC_ALLOWED_HOSTS`,
    )
}

/**
 * @param cookie whether the credential is the console's cookie, which a browser sends by itself.
 * @throws SvcError forbidden for a page of another site.
 */
export function checkOrigin(request: IncomingMessage, rules: HostRules, cookie: boolean): void {
  if (rules.secured && !cookie) return
  const { origin } = request.headers
  if (origin !== undefined && !isOwnOrigin(origin, request.headers.host ?? '', rules))
    throw new SvcError('forbidden', `origin ${printable(origin)} may not call this daemon`)
  const site = request.headers['sec-fetch-site']
  // A link from elsewhere may open the console; it may not fetch or post.
  if (
    site === 'cross-site' &&
    !(request.method === 'GET' && request.headers['sec-fetch-mode'] === 'navigate')
  )
    throw new SvcError('forbidden', 'a page of another site may not call this daemon')
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
