/**
 * Webhook signatures: HMAC-SHA256 over the raw bytes as sent (SPEC.md, Webhook connector). GitHub
 * and Linear name their headers; the plain scheme's header is configurable.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'

export type SignatureScheme = 'github' | 'linear' | 'hmac_sha256'

/** How far Linear's webhookTimestamp may be from now. */
const LINEAR_WINDOW_MS = 60_000
const DEFAULT_HEADER = 'X-Signature'

/**
 * @param secrets current first; any of them may match while senders move to the new one.
 * @param wireBody the bytes on the wire, before any inflating. @param headers lower-case names.
 * @returns null when the signature holds, else the reason, which never holds a secret.
 */
export function verifySignature(
  scheme: SignatureScheme,
  { secrets, header }: { secrets: readonly string[]; header?: string },
  wireBody: Uint8Array,
  headers: Record<string, string>,
  nowMs: number,
): string | null {
  if (secrets.length === 0) return 'no signing secret configured'
  const name =
    scheme === 'github'
      ? 'X-Hub-Signature-256'
      : scheme === 'linear'
        ? 'Linear-Signature'
        : (header ?? DEFAULT_HEADER)
  const given = headers[name.toLowerCase()]?.trim()
  if (!given) return `missing ${name} header`
  const prefixed = given.startsWith('sha256=')
  if (scheme === 'github' && !prefixed) return 'signature is not sha256=<hex>'
  const hex = prefixed && scheme !== 'linear' ? given.slice(7) : given
  // Checked before decoding: a decoder that drops a bad tail would accept a forged longer text.
  if (!/^[0-9a-f]{64}$/i.test(hex))
    return scheme === 'github' ? 'signature is not sha256=<hex>' : 'signature is not 64 hexadecimal digits'
  const digest = Buffer.from(hex, 'hex')
  const matches = secrets.filter((secret) =>
    timingSafeEqual(createHmac('sha256', secret).update(wireBody).digest(), digest),
  )
  if (matches.length === 0) return `${scheme} signature does not match`
  return scheme === 'linear' ? linearAge(wireBody, nowMs) : null
}

function linearAge(body: Uint8Array, nowMs: number): string | null {
  let sent: unknown
  try {
    sent = (JSON.parse(Buffer.from(body).toString()) as { webhookTimestamp?: unknown } | null)
      ?.webhookTimestamp
  } catch {
    return 'the body is not JSON with a webhookTimestamp'
  }
  if (typeof sent !== 'number') return 'the body has no webhookTimestamp'
  return Math.abs(nowMs - sent) > LINEAR_WINDOW_MS ? 'webhookTimestamp is more than 60 s away' : null
}
