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

export class Access {
  private readonly known = new Map<string, { at: number; identity: Promise<Identity> }>()

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
}

/** What stands for a credential where it is kept: sessions are bound to this. */
export const hashOf = (token: string | null): string =>
  createHash('sha256')
    .update(token === null ? '' : `bearer ${token}`)
    .digest('hex')
