/**
 * The checks before anything else is looked at: a request that could not have come from where it
 * claims is refused before its credential, its path or its body matter. In open mode the Host must
 * be one of ours (DNS rebinding), and no foreign origin may call (cross-site requests).
 */
import type { IncomingMessage } from 'node:http'
import { fail, SvcError } from '../../engine/index.ts'
import { ambiguous, foreignHost, foreignOrigin, type HostRules } from '../host-rules.ts'

export interface GuardRules extends HostRules {
  secured: boolean
}

/** @throws SvcError invalid; method_not_allowed */
export function checkRawHeaders(request: IncomingMessage): void {
  const fault = ambiguous(request)
  if (fault !== null) fail('invalid', fault)
  if (request.method === 'TRACE' || request.method === 'CONNECT')
    fail('method_not_allowed', `${request.method} is not supported`)
}

/** @throws SvcError forbidden when an open daemon is asked under a name that is not its own. */
export function checkHost(request: IncomingMessage, rules: GuardRules): void {
  if (rules.secured) return
  const fault = foreignHost(request, rules, 'daemon')
  if (fault !== null) throw new SvcError('forbidden', fault)
}

/**
 * @param cookie whether the credential is the console's cookie, which a browser sends by itself.
 * @throws SvcError forbidden for a page of another site.
 */
export function checkOrigin(request: IncomingMessage, rules: GuardRules, cookie: boolean): void {
  if (rules.secured && !cookie) return
  const fault = foreignOrigin(request, rules, 'daemon')
  if (fault !== null) throw new SvcError('forbidden', fault)
}
