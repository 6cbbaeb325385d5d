/**
 * Signatures of what is posted, by Standard Webhooks: recipients can check them with a library they
 * already have, and an old message sent again by somebody else is known by its timestamp.
 */
import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32

/** A secret to sign with, as recipients' libraries take it. It is shown once, to who subscribes. */
export function newSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

/**
 * The headers that identify and sign one try. The id stays the same over all tries, the timestamp does
 * not: recipients refuse what is older than a few minutes.
 * @param body exactly what is sent.
 * @param secret null: the message goes unsigned.
 */
export function signatureHeaders(
  id: string,
  atMs: number,
  body: string,
  secret: string | null,
): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1000))
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp }
  if (secret === null) return headers
  const key = Buffer.from(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret, 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { ...headers, 'webhook-signature': `v1,${signature}` }
}
