/**
 * Authorization codes that a person consented to and whose client has not yet come (OAuth 2.1, section 4.1): 32 random
 * bytes, good once, for 60 seconds, bound to client, redirect address, resource and PKCE challenge. In memory alone,
 * under their SHA-256: a restart drops them, and the client asks again.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { type Clock, SvcError } from '../../../engine/index.ts'

const CODE_MS = 60_000
/** A code that was used is remembered, so that one that comes again ends what was made of it. */
const USED_MS = 600_000
/** Consented to at once: more than people do, and a bound for the memory. */
const CODES_MAX = 200

/** What a code stands for. */
export interface Consent {
  clientId: string
  redirectUri: string
  resource: string
  scopes: string[]
  challenge: string
  approver: string
  approverHash: string
}

interface Held {
  consent: Consent
  /** Epoch ms. */
  madeAt: number
  /** Set once it came: the grant made of it, when it is there. */
  used: { grant: string | null; isAgain: boolean } | null
}

export class OauthCodes {
  private readonly held = new Map<string, Held>()

  constructor(private readonly clock: Clock) {}

  /** @throws SvcError too_many */
  make(consent: Consent): string {
    const now = this.clock.now()
    for (const [hash, { madeAt, used }] of this.held)
      if (now - madeAt > (used ? USED_MS : CODE_MS)) this.held.delete(hash)
    if (this.held.size >= CODES_MAX)
      throw new SvcError('too_many', `${CODES_MAX} sign-ins wait for their clients`, { retryAfter: 60 })
    const code = `svc_oac_${randomBytes(32).toString('base64url')}`
    this.held.set(digest(code), { consent, madeAt: now, used: null })
    return code
  }

  /**
   * Takes a code back, once: one that comes with another client, address or verifier is spent too, since somebody
   * else has seen it.
   * @returns what it stands for, with `keep` for the grant made of it, which is false where the code came again
   *   meanwhile; the grant of a code that came before, to be ended; or null
   */
  redeem(
    code: string,
    by: { clientId: string; redirectUri: string; verifier: string },
  ): { consent: Consent; keep(grant: string): boolean } | { again: string | null } | null {
    const found = this.held.get(digest(code))
    if (!found) return null
    if (found.used) {
      found.used.isAgain = true
      return { again: found.used.grant }
    }
    const used: NonNullable<Held['used']> = { grant: null, isAgain: false }
    found.used = used
    const { consent, madeAt } = found
    const isGood =
      this.clock.now() - madeAt <= CODE_MS &&
      consent.clientId === by.clientId &&
      consent.redirectUri === by.redirectUri &&
      isSame(challengeOf(by.verifier), consent.challenge)
    if (!isGood) return null
    return {
      consent,
      keep: (grant) => {
        used.grant = grant
        return !used.isAgain
      },
    }
  }
}

/** RFC 7636, section 4.2: the base64url of the SHA-256 of the verifier. */
const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url')
const digest = (code: string): string => createHash('sha256').update(code).digest('hex')
const isSame = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
