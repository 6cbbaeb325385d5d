/**
 * The checks before anything else is looked at: a request that could not have come from where it
 * claims is refused before its credential, its path or its body matter. In open mode the Host must
 * be one of ours (DNS rebinding), and no foreign origin may call (cross-site requests).
 */
import type { IncomingMessage } from 'node:http'
import { fail, SvcError } from '../../engine/index.ts'
import type { IngestResult } from '../../schemas/types.ts'
import { ambiguous, foreignHost, foreignOrigin, type HostRules } from '../host-rules.ts'
import type { Identity } from './auth.ts'

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

/* Of requests that are looked at ahead of the framework (direct-ingest.ts). */

/** What came of a request before the framework had it: why it is refused, or what its caller is to be told. */
export type Outcome = { error: Error } | { identity: Identity; result: IngestResult }

const OUTCOME = Symbol('what came of it before the framework had it')

interface Given extends IncomingMessage {
  [OUTCOME]?: Outcome
}

/** What came of a request ahead of the framework; undefined: the framework has it from the start. */
export const outcomeOf = (request: IncomingMessage): Outcome | undefined => (request as Given)[OUTCOME]

/** Says what came of a request, before the framework is given it. */
export function setOutcome(request: IncomingMessage, outcome: Outcome): void {
  ;(request as Given)[OUTCOME] = outcome
}
