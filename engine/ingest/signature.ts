/**
 * Webhook signatures, checked over the raw body as it was sent (SPEC.md, Webhook connector config:
 * signature_scheme). How each sender signs is a row of signature-schemes.ts; here a claim is checked.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { type Claim, SCHEMES, type SignatureScheme } from './signature-schemes.ts'

export type { SignatureScheme } from './signature-schemes.ts'

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
  const claim = SCHEMES[scheme]({ headers, header: keys.header, secrets })
  if (typeof claim === 'string') return claim
  const expected = 'token' in claim ? claim.secrets.map(fingerprint) : digestsOf(claim, wireBody, secrets)
  if (expected.length === 0)
    return 'the signing secret is not base64, with or without whsec_; copy it anew from the sender'
  const given = 'token' in claim ? [fingerprint(claim.token)] : claim.digests
  // All are tried, so that the time taken does not tell which one matched.
  const matching = given.flatMap((one) => expected.filter((other) => timingSafeEqual(one, other)))
  if (matching.length === 0) return `${scheme} ${'token' in claim ? 'token' : 'signature'} does not match`
  return 'token' in claim ? null : ageFault(claim, wireBody, nowMs)
}

/** What a right signature would be, for each secret that can be a key. */
function digestsOf(claim: Claim, wireBody: Uint8Array, secrets: readonly string[]): Buffer[] {
  const { algorithm = 'sha256', before = '', keyOf = (secret: string) => Buffer.from(secret) } = claim
  return secrets.flatMap((secret) => {
    const key = keyOf(secret)
    return key ? [createHmac(algorithm, key).update(before).update(wireBody).digest()] : []
  })
}

/** Of one length whatever the text is, so that comparing tells nothing of it. */
const fingerprint = (text: string): Buffer => createHash('sha256').update(text).digest()

/** A true signature that was sent again later, by whoever heard it. */
function ageFault({ sent }: Claim, wireBody: Uint8Array, nowMs: number): string | null {
  if (!sent) return null
  const at = typeof sent.at === 'number' ? sent.at : sent.at(wireBody)
  if (typeof at === 'string') return at
  return Math.abs(nowMs - at) > sent.windowMs
    ? `${sent.name} is more than ${sent.windowMs / 1_000} s away`
    : null
}
