/** Posts a firing to a subscribed address, signed. */
import type { Audience, Egress } from '../../egress/index.ts'
import { type Outcome, outcomeOf, type Situation } from '../outcome.ts'
import { signatureHeaders } from './sign.ts'

/** Where it goes. */
export interface Target {
  url: string
  /** What to sign with; null: it goes unsigned. */
  secret: string | null
  audience: Audience
}

/** What every sender needs. */
export interface Out {
  egress: Egress
  situation(): Situation
  /** The daemon stops, and what is under way is cut off. */
  signal: AbortSignal
}

const TIMEOUT_MS = 10_000

/** @param message the body of the delivery, JSON */
export async function sendWebhook(
  { id, message, url, secret, audience }: Target & { id: string; message: string },
  { egress, situation, signal }: Out,
): Promise<Outcome> {
  const answer = await egress.send({
    url,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...signatureHeaders(id, situation().now, message, secret),
    },
    body: message,
    audience,
    timeoutMs: TIMEOUT_MS,
    // What a recipient writes is shown to nobody, so it is not read.
    maxResponseBytes: 0,
    // Recipients know a delivery by its id.
    repeatable: true,
    signal,
  })
  return outcomeOf(answer, situation())
}
