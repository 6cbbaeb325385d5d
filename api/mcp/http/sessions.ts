/**
 * Sessions of clients that come over HTTP. An id is 128 random bits and opens its session to the
 * credential it was made with alone: it is no authentication. Their number is bounded; of those that are
 * idle, the one that was used longest ago makes room, of the credential that has the most.
 */
import { randomBytes } from 'node:crypto'
import type { Credential } from '../access.ts'
import type { Session } from '../session.ts'
import { Refusal } from './refuse.ts'

export const SESSIONS_MAX = 1_000
/** Of one credential: a client that begins anew for each call takes its own places, not those of others. */
export const SESSIONS_OF_ONE = 100
/** Without a request and without an open stream for this long, a session ends. */
export const IDLE_MS = 30 * 60_000
/** A session whose token is no longer known and may be refreshed, as that of a client that sleeps over night. */
export const LAPSED_MS = 24 * 3_600_000

export interface HttpSession<T> {
  id: string
  session: Session
  transport: T
  /** Milliseconds, when it was last asked something. */
  usedAt: number
  /** Streams of notifications that are open. */
  streams: number
}

export class Sessions<T extends { close(): Promise<void> }> {
  private readonly byId = new Map<string, HttpSession<T>>()

  /** @param now milliseconds, never going back. */
  constructor(
    private readonly now: () => number,
    private readonly max = SESSIONS_MAX,
    private readonly maxOfOne = Math.min(SESSIONS_OF_ONE, max),
  ) {}

  get size(): number {
    return this.byId.size
  }

  all(): HttpSession<T>[] {
    return [...this.byId.values()]
  }

  /**
   * @param credential that begins a session: its own idle ones make room for it first; one without a token is what all
   *   clients of an open instance share, so that it has no bound of its own.
   * @throws Refusal 503 when all are in use; 429 when all that one credential may have are
   */
  makeRoom({ id, token }: Credential): void {
    const own = this.all().filter(({ session }) => session.credential.id === id)
    if (token !== null && own.length >= this.maxOfOne) {
      const idle = this.leastUsed(own)
      if (!idle)
        throw new Refusal(429, `all ${this.maxOfOne} sessions of this credential are in use; end one first`, {
          'retry-after': '5',
        })
      this.end(idle.id)
    }
    if (this.byId.size < this.max) return
    const idle = this.leastUsed(this.all())
    if (!idle)
      throw new Refusal(503, `all ${this.max} sessions are in use; try again later`, { 'retry-after': '5' })
    this.end(idle.id)
  }

  add(id: string, session: Session, transport: T): HttpSession<T> {
    const made = { id, session, transport, usedAt: this.now(), streams: 0 }
    this.byId.set(id, made)
    // Some that began at the same time found room, each before the others were there.
    while (this.byId.size > this.max) {
      const idle = this.leastUsed(this.all().filter((one) => one !== made))
      if (!idle) break
      this.end(idle.id)
    }
    return made
  }

  /**
   * @param credential of the request. @returns the session, used now.
   * @throws Refusal 404 for an id that is not there or belongs to another credential: the same words, so
   * that an id cannot be guessed
   */
  open(id: string, credential: Credential): HttpSession<T> {
    const found = this.byId.get(id)
    if (!found || found.session.credential.id !== credential.id)
      throw new Refusal(
        404,
        'no session has this id: it has ended, was idle for 30 minutes, or belongs to another credential; send initialize to begin another',
      )
    found.usedAt = this.now()
    return found
  }

  end(id: string): void {
    const found = this.byId.get(id)
    if (!found) return
    this.byId.delete(id)
    void found.transport.close()
  }

  endAll(which: (session: HttpSession<T>) => boolean = () => true): void {
    for (const one of this.all()) if (which(one)) this.end(one.id)
  }

  /** Ends those that have been idle for too long. */
  expire(): void {
    const [idle, lapsed] = [this.now() - IDLE_MS, this.now() - LAPSED_MS]
    this.endAll(
      ({ usedAt, streams, session }) =>
        (usedAt <= idle && streams === 0 && session.busy === 0) ||
        (usedAt <= lapsed && session.credential.isLapsed),
    )
  }

  /** One that only waits: without a stream first, then used longest ago. */
  private leastUsed(among: readonly HttpSession<T>[]): HttpSession<T> | undefined {
    const counts = new Map<string, number>()
    for (const { session } of this.byId.values())
      counts.set(session.credential.id, (counts.get(session.credential.id) ?? 0) + 1)
    const idleBefore = this.now() - IDLE_MS
    return among
      .filter((one) => one.session.busy === 0 && (one.streams === 0 || one.usedAt <= idleBefore))
      .sort(
        (a, b) =>
          counts.get(b.session.credential.id)! - counts.get(a.session.credential.id)! ||
          a.streams - b.streams ||
          a.usedAt - b.usedAt,
      )[0]
  }
}

export const newSessionId = (): string => randomBytes(16).toString('hex')
