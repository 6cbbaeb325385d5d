/**
 * Who a credential is, by the daemon's word (GET /api/whoami). An answer is good for a second, so that a
 * revoked key gets no further than that; calls themselves carry the credential and are checked again.
 */
import { createHash } from 'node:crypto'
import type { Identity } from '../../schemas/types.ts'
import * as calls from '../client/calls.ts'
import type { Daemon } from './daemon.ts'

const FRESH_MS = 1_000
/** More credentials than this at once are forgotten and asked for again. */
const KNOWN_MAX = 1_000

/**
 * The credential of a client. What a person signed in to has another token after each refresh (OAuth 2.1, section 4.3), and
 * stays one credential: its sessions go on with the new token.
 */
export class Credential {
  /** Its token is no longer known, and it waits for the next. */
  isLapsed = false

  /** @param id what stands for it where it is kept. @param isRefreshed its token may be another one later */
  constructor(
    public token: string | null,
    readonly id: string = hashOf(token),
    readonly isRefreshed = false,
  ) {}
}

export class Access {
  private readonly known = new Map<string, { at: number; identity: Promise<Identity> }>()
  private readonly refreshed = new Map<string, Credential>()

  /** @param now milliseconds, never going back. */
  constructor(
    private readonly daemon: Daemon,
    private readonly now: () => number,
  ) {}

  /**
   * @param token null: none. @param isNew asks the daemon whatever was answered before: a session begins.
   * @throws DaemonError, with status 401 where the daemon does not know it.
   */
  identify(token: string | null, isNew = false): Promise<Identity> {
    const key = hashOf(token)
    const entry = isNew ? undefined : this.known.get(key)
    if (entry && this.now() - entry.at < FRESH_MS) return entry.identity
    if (this.known.size >= KNOWN_MAX) this.known.clear()
    const identity = this.daemon.as(token).ask(calls.whoAmI)
    this.known.set(key, { at: this.now(), identity })
    // A refusal is asked for anew: the daemon may be back, the key may have been made meanwhile.
    identity.catch(() => {
      if (this.known.get(key)?.identity === identity) this.known.delete(key)
    })
    return identity
  }

  /**
   * The credential of a request, whose token is the one to go by from now on.
   * @param identity by the daemon's word; null: it cannot be asked, and a token is what it was
   */
  credentialOf(token: string | null, identity: Identity | null): Credential {
    if (identity === null)
      return [...this.refreshed.values()].find((one) => one.token === token) ?? new Credential(token)
    if (!identity.id.startsWith('oauth:')) return new Credential(token)
    const id = hashOf(identity.id)
    const found = this.refreshed.get(id) ?? new Credential(token, id, true)
    found.token = token
    found.isLapsed = false
    this.refreshed.delete(id)
    this.refreshed.set(id, found)
    if (this.refreshed.size > KNOWN_MAX) this.refreshed.delete(this.refreshed.keys().next().value!)
    return found
  }
}

/** What stands for a token where it is kept: it is not to be had from it. */
export const hashOf = (token: string | null): string =>
  createHash('sha256')
    .update(token === null ? '' : `bearer ${token}`)
    .digest('hex')
