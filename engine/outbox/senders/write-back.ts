/** Posts a finding to the receiver of its agent (SPEC.md, Outbound 5). */
import { addressSecrets } from '../../address-secrets.ts'
import { storedFault } from '../../stored-fault.ts'
import { type Outcome, outcomeOf, outcomeOfRefusal } from '../outcome.ts'
import type { Out } from './webhook.ts'

export interface WriteBack {
  kind: 'write_back'
  runId: string
  url: string
  /** Sent as a bearer token. */
  token: string | null
  /** Why the address or the token cannot be had, so that nothing is sent; null: they can, or there is no token. */
  fault: string | null
  /** JSON. */
  body: string
}

const TIMEOUT_MS = 15_000
const MAX_ANSWER_BYTES = 64 * 1024
const BODY_SHOWN = 200

/** Posts a finding. @returns what came of it; a receiver that says 410 is refused like any other: there is no subscription to switch off */
export async function sendWriteBack(
  { runId, url, token, fault, body }: WriteBack,
  { egress, situation, signal }: Out,
): Promise<Outcome> {
  if (fault !== null) return outcomeOfRefusal({ reason: fault, isFinal: true }, situation())
  const answer = await egress.send({
    url,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      // The same in every try: a receiver takes each run once.
      'idempotency-key': runId,
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
    body,
    audience: 'operator',
    timeoutMs: TIMEOUT_MS,
    maxResponseBytes: MAX_ANSWER_BYTES,
    repeatable: true,
    signal,
  })
  const outcome = outcomeOf(answer, situation())
  const event = outcome.event === 'gone' ? 'refuse' : outcome.event
  if (event === 'acknowledge' || event === 'interrupted') return outcome
  // A receiver may repeat what it was sent; what it wrote is cut after the secrets are out of it.
  const sent = [token, ...addressSecrets(url)]
  const reason = answer.ok
    ? `HTTP ${answer.status}: ${storedFault(answer.body.toString(), sent).slice(0, BODY_SHOWN)}`
    : storedFault(answer.message, sent)
  return { ...outcome, event, reason }
}
