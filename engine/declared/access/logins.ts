/**
 * Logins that a person approved and whose machine has not yet come for its key (SPEC.md,
 * Authentication 10). A grant is kept under the hash of a one-time code, for 60 seconds, bound to the
 * challenge of the command that asked (RFC 7636, S256) and to its port on 127.0.0.1. It holds no key:
 * that is made when the code comes back with the verifier. Grants are in memory alone: a restart drops
 * them, and the person approves again.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { LoginApprove, LoginExchange } from '../../../schemas/types.ts'
import type { Caller, SessionRecord } from '../../calls.ts'
import type { Clock } from '../../clock.ts'
import { fail } from '../../errors.ts'
import type { StoreHandle } from '../../log/store/handle.ts'

/** How long a code is good for. */
const CODE_MS = 60_000
/** Approved at once: more than people do, and a bound for the memory. */
const GRANTS_MAX = 100

/** What a redeemed code entitles to. */
interface LoginGrant {
  /** What the machine calls itself; the person saw it. */
  machine: string
  scopes: LoginApprove['scopes']
  /** Who approved. */
  approver: Caller
}

interface Pending extends LoginGrant {
  challenge: string
  port: number | null
  /** Epoch ms. */
  expiresAt: number
}

export class LoginGrants {
  private readonly pending = new Map<string, Pending>()

  constructor(private readonly clock: Clock) {}

  /**
   * A person lets a machine have a key.
   * @returns the one-time code, and for how many seconds it is good.
   * @throws SvcError too_many
   */
  approve(ask: LoginApprove, approver: Caller): { code: string; expiresIn: number } {
    const now = this.clock.now()
    for (const [hash, { expiresAt }] of this.pending) if (expiresAt <= now) this.pending.delete(hash)
    if (this.pending.size >= GRANTS_MAX)
      fail('too_many', `${GRANTS_MAX} approved logins wait for their machines`, {
        retryAfter: CODE_MS / 1000,
      })
    const code = randomBytes(32).toString('base64url')
    const { challenge, port, machine, scopes } = ask
    this.pending.set(digest(code), { challenge, port, machine, scopes, approver, expiresAt: now + CODE_MS })
    return { code, expiresIn: CODE_MS / 1000 }
  }

  /**
   * Takes a code back, once: one that comes with the wrong verifier or port is spent too, since somebody
   * else has seen it. One sentence for every reason, so that nobody learns which codes there are.
   * @throws SvcError forbidden
   */
  redeem({ code, verifier, port }: LoginExchange): LoginGrant {
    const hash = digest(code)
    const grant = this.pending.get(hash)
    this.pending.delete(hash)
    const isGood =
      grant !== undefined &&
      grant.expiresAt > this.clock.now() &&
      grant.port === port &&
      isSame(challengeOf(verifier), grant.challenge)
    if (!isGood)
      fail(
        'forbidden',
        'this login code is not good: a code opens once, within 60 seconds, for the command that asked for it; run svc login again',
        { field: 'code' },
      )
    const { machine, scopes, approver } = grant
    return { machine, scopes, approver }
  }
}

/** RFC 7636, section 4.2: the base64url of the SHA-256 of the verifier. */
const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url')

const digest = (code: string): string => createHash('sha256').update(code).digest('hex')

const isSame = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))

/* The console's sessions (SPEC.md, Authentication): a cookie instead of the token, by hashes alone. */

export interface Sessions {
  /** Those used since `after`, epoch ms; older ones are forgotten. */
  load(after: number): SessionRecord[]
  /** Keeps a session, or notes that it was used. */
  save(sessions: readonly SessionRecord[]): void
  drop(idHash: string): void
}

export function createSessions({ db, tx }: StoreHandle): Sessions {
  const all = db.prepare<[], SessionRecord>(
    'SELECT id_hash AS idHash, token_hash AS tokenHash, used_at AS usedAt FROM sessions',
  )
  const expire = db.prepare('DELETE FROM sessions WHERE used_at < ?')
  const put = db.prepare<SessionRecord>(
    'INSERT OR REPLACE INTO sessions (id_hash, token_hash, used_at) VALUES (@idHash, @tokenHash, @usedAt)',
  )
  const remove = db.prepare('DELETE FROM sessions WHERE id_hash = ?')
  return {
    load: (after) => {
      expire.run(after)
      return all.all()
    },
    save: (sessions) =>
      tx(() => {
        for (const session of sessions) put.run(session)
      }),
    drop: (idHash) => {
      remove.run(idHash)
    },
  }
}
