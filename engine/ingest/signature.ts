/**
 * Webhook signatures: an HMAC over the raw body as sent, SHA-256 but of Vercel (SPEC.md, Webhook connector
 * config: signature_scheme). Senders name their headers; the plain scheme's header is configurable.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'

export type SignatureScheme = 'github' | 'linear' | 'hmac_sha256' | 'vercel'

/** How far Linear's webhookTimestamp may be from now, either way: an older delivery is a replay. */
const LINEAR_WINDOW_MS = 60_000
const DEFAULT_HEADER = 'X-Signature'
const PREFIX = 'sha256='

/**
 * @param keys `secrets`: the current one and, while senders move to it, the one before; any may match.
 *   `header`: for hmac_sha256 only, X-Signature when absent.
 * @param wireBody the bytes on the wire, before any inflating.
 * @param headers lower-case names. @param nowMs epoch ms.
 * @returns null when the signature holds, else the reason, which holds neither secret nor content.
 */
export function verifySignature(
  scheme: SignatureScheme,
  keys: { secrets: readonly string[]; header?: string },
  wireBody: Uint8Array,
  headers: Record<string, string>,
  nowMs: number,
): string | null {
  // An empty secret would be one that everybody knows.
  const secrets = keys.secrets.filter((secret) => secret !== '')
  if (secrets.length === 0) return 'no signing secret configured'
  const header = headerOf(scheme, keys.header)
  const given = headers[header.toLowerCase()]?.trim()
  if (!given) return `missing ${header} header`
  const digest = scheme === 'vercel' ? sha1Of(given) : digestOf(scheme, given)
  if (typeof digest === 'string') return digest
  const algorithm = scheme === 'vercel' ? 'sha1' : 'sha256'
  // All are tried, so that the time taken does not tell which one matched.
  const matching = secrets.filter((secret) => timingSafeEqual(hmac(algorithm, secret, wireBody), digest))
  if (matching.length === 0) return `${scheme} signature does not match`
  return scheme === 'linear' ? ageFault(wireBody, nowMs) : null
}

function headerOf(scheme: SignatureScheme, configured: string | undefined): string {
  if (scheme === 'github') return 'X-Hub-Signature-256'
  if (scheme === 'vercel') return 'x-vercel-signature'
  return scheme === 'linear' ? 'Linear-Signature' : (configured ?? DEFAULT_HEADER)
}

/** The 32 bytes of a signature header, or what is wrong with it. */
function digestOf(scheme: SignatureScheme, given: string): Buffer | string {
  const isPrefixed = given.startsWith(PREFIX)
  const hex = isPrefixed && scheme !== 'linear' ? given.slice(PREFIX.length) : given
  // Checked before decoding: the decoder drops a bad tail, so it would accept a forged longer text.
  const isDigest = /^[0-9a-f]{64}$/i.test(hex) && (scheme !== 'github' || isPrefixed)
  if (isDigest) return Buffer.from(hex, 'hex')
  return scheme === 'github' ? 'signature is not sha256=<hex>' : 'signature is not 64 hexadecimal digits'
}

/** The 20 bytes of a signature of Vercel, or what is wrong with it. */
const sha1Of = (given: string): Buffer | string =>
  /^[0-9a-f]{40}$/i.test(given) ? Buffer.from(given, 'hex') : 'signature is not 40 hexadecimal digits'

const hmac = (algorithm: 'sha1' | 'sha256', secret: string, body: Uint8Array): Buffer =>
  createHmac(algorithm, secret).update(body).digest()

function ageFault(body: Uint8Array, nowMs: number): string | null {
  let parsed: unknown
  try {
    parsed = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString())
  } catch {
    return 'the body is not JSON with a webhookTimestamp'
  }
  const sent = (parsed as { webhookTimestamp?: unknown } | null)?.webhookTimestamp
  if (typeof sent !== 'number') return 'the body has no webhookTimestamp'
  return Math.abs(nowMs - sent) > LINEAR_WINDOW_MS ? 'webhookTimestamp is more than 60 s away' : null
}
