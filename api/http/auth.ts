/**
 * Who is calling (SPEC.md, Authentication). Open mode: anybody, with every scope, by the name of a key that is sent. Secured mode: the
 * root token, an API key, or the console's session cookie. Tokens are compared by their SHA-256: the root's in constant time, keys by look-up.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import {
  type Caller,
  type Directory,
  type Engine,
  type IngestRoute,
  type OauthTokenRecord,
  type SessionRecord,
  SvcError,
} from '../../engine/index.ts'
import { NO_AUTH } from '../../schemas/caller-words.ts'
import type { Identity as IdentityShown } from '../../schemas/types.ts'
import { callerAddress } from '../caller-address.ts'
import { kindOf } from './oauth/resources.ts'

/** The connector whose first source has an address before it is there: POST /ingest/claude_code. */
export const SELF_MADE = 'claude_code'
/** Where Amazon Data Firehose sends the access key it was given, and nothing else of its own. */
export const FIREHOSE_KEY = 'x-amz-firehose-access-key'
export const SESSION_COOKIE = 'svc_session'
const SESSION_IDLE_MS = 30 * 86_400_000
const FAILURES_PER_MINUTE = 10
const MINUTE_MS = 60_000

export interface Identity extends Caller {
  scopes: readonly string[]
  /** The only source a bound ingest key may write to. */
  sourceId: number | null
  /** Id and name of the project of a project key. */
  project: string | null
  projectName: string | null
  /** The root token, or a key that a person let a machine have: what its session does, a person does. */
  isPerson: boolean
  /** The OAuth grant behind the access token; null: the caller did not come with an OAuth token. */
  oauth: NonNullable<IdentityShown['oauth']> | null
}

const MAY_ALL = {
  scopes: ['admin', 'ingest', 'read'],
  ...{ sourceId: null, project: null, projectName: null, isPerson: true, oauth: null },
}
const OPEN: Identity = { id: 'open', name: NO_AUTH, isAnybody: true, ...MAY_ALL }
const ROOT: Identity = { id: 'env:auth', name: 'auth token (env)', ...MAY_ALL }

/** Whether a credential is one of many: the operator's own is not kept from the others, nor is anybody of an open instance. */
export const isBounded = ({ id }: Identity): boolean => id !== OPEN.id && id !== ROOT.id

/** A JSON Web Token, by which Google Pub/Sub says who it is where its subscription authenticates: none of ours, and not checked. */
const OF_SENDER = /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/
/** What access tokens of OAuth begin with. */
const OAUTH_TOKEN = /^svc_oat_/

export class Authenticator {
  private keysByHash = new Map<string, Identity>()
  private tokens = new Map<string, OauthTokenRecord>()
  private routes = new Map<string, IngestRoute>()
  /** By the hash of the cookie's value; the engine keeps them over a restart. */
  private readonly sessions = new Map<string, SessionRecord>()
  private readonly usedSessions = new Set<string>()
  private readonly failures = new Map<string, { count: number; since: number }>()
  private readonly used = new Set<string>()
  private readonly rootHash: Buffer | null

  /** @param rootToken null for open mode. @param now epoch ms. @param isProxy whose X-Forwarded-For is believed. */
  constructor(
    private readonly engine: Engine,
    rootToken: string | null,
    private readonly now: () => number,
    private readonly isProxy: ((address: string) => boolean) | null = null,
  ) {
    this.rootHash = rootToken === null ? null : sha256(rootToken)
  }

  /** The address that rate limits of callers without a credential count by. */
  addressOf(request: Parameters<typeof callerAddress>[0]): string {
    return callerAddress(request, this.isProxy)
  }

  get secured(): boolean {
    return this.rootHash !== null
  }

  /** Reads keys and ingest routes again: at start and after each change of them. */
  async refresh(): Promise<void> {
    const directory: Directory = await this.engine.directory()
    this.tokens = new Map(directory.tokens.map((token) => [token.hash, token]))
    this.keysByHash = new Map(
      directory.keys.map((key) => [
        key.hash,
        {
          id: `key:${key.id}`,
          name: key.name,
          scopes: key.scopes,
          sourceId: key.sourceId,
          project: key.project,
          projectName: key.projectName,
          isPerson: key.isLogin,
          oauth: null,
        },
      ]),
    )
    this.routes = new Map(directory.routes.map((route) => [route.ingestKey, route]))
  }

  /** The source behind an ingest URL. */
  ingestRoute(key: string): IngestRoute | undefined {
    return this.routes.get(key) ?? (key === SELF_MADE ? this.routesOf(SELF_MADE)[0] : undefined)
  }

  /** What can be pushed to of a connector, in the order it was made. */
  routesOf(connector: string): IngestRoute[] {
    return [...this.routes.values()]
      .filter((route) => route.connector === connector)
      .sort((a, b) => a.sourceId - b.sourceId)
  }

  /**
   * The caller of a request; null when it has no credential or one that is not known.
   * @param isProbe of /health: whoever sends a wrong credential too often is answered like anybody, never told
   *   to wait.
   * @param inAddress a key in the address or a password, for senders that send no bearer token: one that may send events
   *   alone, for proxies write addresses down.
   * @throws SvcError too_many after ten wrong credentials in a minute from one address; forbidden
   */
  identify(
    request: Pick<FastifyRequest, 'headers' | 'raw'> & { cookies?: FastifyRequest['cookies'] },
    isProbe = false,
    inAddress: string | null = null,
  ): { identity: Identity | null; cookie: boolean } {
    const token = bearer(request)
    if (!this.secured) return { identity: this.anybody(token), cookie: false }
    if (inAddress !== null && (token === null || OF_SENDER.test(token))) {
      const identity = this.verify(inAddress, this.addressOf(request.raw))
      if (identity && !identity.scopes.every((scope) => scope === 'ingest'))
        throw new SvcError('forbidden', 'a key in the address or a password must have the scope ingest alone')
      return { identity, cookie: false }
    }
    if (token !== null) {
      const signedIn = this.signedIn(token)
      // What is for the telemetry query server opens a few reads here, which that server asks.
      return { identity: signedIn ?? this.verify(token, this.addressOf(request.raw), isProbe), cookie: false }
    }
    const cookie = request.cookies?.[SESSION_COOKIE]
    const idHash = cookie === undefined ? '' : sha256(cookie).toString('hex')
    const session = this.sessions.get(idHash)
    if (!session) return { identity: null, cookie: false }
    const isIdle = this.now() - session.usedAt > SESSION_IDLE_MS
    const identity = isIdle ? null : this.byTokenHash(session.tokenHash)
    if (identity) {
      session.usedAt = this.now()
      this.usedSessions.add(idHash)
    } else this.sessions.delete(idHash)
    return { identity, cookie: true }
  }

  /**
   * Identifies the caller of the server at `resource`. An access token that was issued for another resource (RFC 8707) is
   * refused. Cookies are ignored, because a browser sends them by itself.
   * @param resource address of the server. @throws SvcError too_many
   */
  identifyFor(
    request: FastifyRequest,
    resource: string,
  ): { identity: Identity | null; hasCredential: boolean } {
    if (!this.secured) return { identity: OPEN, hasCredential: false }
    const token = bearer(request)
    if (token === null) return { identity: null, hasCredential: false }
    const signedIn = this.signedIn(token)
    if (signedIn === null)
      return { identity: this.verify(token, this.addressOf(request.raw)), hasCredential: true }
    return { identity: signedIn.oauth?.resource === resource ? signedIn : null, hasCredential: true }
  }

  /** Nothing is checked, and everybody may do everything; a key that is sent all the same says whose name a call goes by. */
  private anybody(token: string | null): Identity {
    const key = token === null ? undefined : this.keysByHash.get(sha256(token).toString('hex'))
    if (!key) return OPEN
    this.used.add(key.id)
    return { ...OPEN, name: key.name }
  }

  /** SHA-256 of the credential behind a person's request, which what the person consents to ends with; or null. */
  credentialHash(request: FastifyRequest): string | null {
    const token = bearer(request)
    if (token !== null) return sha256(token).toString('hex')
    const cookie = request.cookies?.[SESSION_COOKIE]
    return cookie === undefined
      ? null
      : (this.sessions.get(sha256(cookie).toString('hex'))?.tokenHash ?? null)
  }

  /** The identity of the root token or a key by its SHA-256; null: it opens nothing any more. */
  byHash(hash: string): Identity | null {
    return this.byTokenHash(hash)
  }

  /**
   * The identity behind an access token of OAuth: what was consented to, as far as who consented may do it now.
   * @returns null: it is none, or expired, or revoked
   */
  private signedIn(token: string): Identity | null {
    if (!OAUTH_TOKEN.test(token)) return null
    const found = this.tokens.get(sha256(token).toString('hex'))
    const identity = found === undefined ? null : this.identityOf(found)
    if (identity) this.used.add(identity.id)
    return identity
  }

  private identityOf(token: OauthTokenRecord): Identity | null {
    const { grant, clientId, clientName, approverHash, resource, scopes, expiresAt } = token
    const approver = expiresAt > this.now() ? this.byTokenHash(approverHash) : null
    if (approver === null || approver.project !== null) return null
    const isAdmin = approver.scopes.includes('admin')
    return {
      id: `oauth:${grant}`,
      name: clientName,
      scopes: scopes.filter((scope) => isAdmin || approver.scopes.includes(scope)),
      ...{ sourceId: null, project: null, projectName: null, isPerson: false },
      oauth: {
        ...{ client_id: clientId, client_name: clientName, scopes, resource },
        ...{ user: approver.id, user_name: approver.name, is_admin: isAdmin },
      },
    }
  }

  /** The caller of a door that has no cookies. @param token null: none was sent. @throws SvcError too_many */
  identifyToken(token: string | null, address: string): Identity | null {
    if (!this.secured) return OPEN
    return token === null ? null : this.verify(token, address)
  }

  /** The identity behind a token. @param isProbe never throws. @throws SvcError too_many */
  verify(token: string, address: string, isProbe = false): Identity | null {
    const identity = this.byTokenHash(sha256(token).toString('hex'))
    if (identity) {
      if (identity.id.startsWith('key:')) this.used.add(identity.id)
      return identity
    }
    const waitMs = this.countFailure(address)
    if (waitMs > 0 && !isProbe) throw tooMany(waitMs)
    return null
  }

  /**
   * Before a code or a token of OAuth is looked for, which the writer does: who guessed wrong too often waits.
   * @throws SvcError too_many
   */
  admit(address: string): void {
    const entry = this.failures.get(address)
    const waitMs = entry === undefined ? 0 : MINUTE_MS - (this.now() - entry.since)
    if (entry && entry.count >= FAILURES_PER_MINUTE && waitMs > 0) throw tooMany(waitMs)
  }

  /** Notes that a code or a token of OAuth was wrong. */
  noteWrong(address: string): void {
    this.countFailure(address)
  }

  /** True while the identity's credential has not been revoked. */
  stillHolds(identity: Caller): boolean {
    if (identity.id.startsWith('oauth:'))
      return [...this.tokens.values()].some(
        (token) => `oauth:${token.grant}` === identity.id && this.identityOf(token) !== null,
      )
    return (
      !identity.id.startsWith('key:') ||
      [...this.keysByHash.values()].some((known) => known.id === identity.id)
    )
  }

  /** Reads the sessions of before a restart. */
  async resume(): Promise<void> {
    if (!this.secured) return
    for (const session of await this.engine.loadSessions(this.now() - SESSION_IDLE_MS))
      this.sessions.set(session.idHash, session)
  }

  /** Exchanges a token for the cookie of a session. @returns null when the token is not known. */
  async openSession(token: string, address: string): Promise<string | null> {
    if (!this.verify(token, address)) return null
    const cookie = randomBytes(32).toString('base64url')
    const session: SessionRecord = {
      idHash: sha256(cookie).toString('hex'),
      tokenHash: sha256(token).toString('hex'),
      usedAt: this.now(),
    }
    await this.engine.saveSessions([session])
    this.sessions.set(session.idHash, session)
    return cookie
  }

  /** Why a token opens no session, as far as that is known. */
  async refusalOf(token: string): Promise<string> {
    const key = await this.engine.revokedKey(sha256(token).toString('hex'))
    if (!key) return 'this is neither the root token nor a key; check that all of it was pasted'
    return `the key ${key.name} was revoked on ${key.revokedAt}; log in with another`
  }

  async closeSession(cookie: string): Promise<void> {
    const idHash = sha256(cookie).toString('hex')
    this.sessions.delete(idHash)
    this.usedSessions.delete(idHash)
    await this.engine.dropSession(idHash)
  }

  /** Writes down which keys and sessions were used since the last call. */
  async flushUsed(): Promise<void> {
    const used = [...this.used]
    this.used.clear()
    const of = (kind: string) => used.flatMap((id) => (id.startsWith(kind) ? [id.slice(kind.length)] : []))
    const [keys, grants] = [of('key:'), of('oauth:')]
    if (keys.length) await this.engine.touchKeys(keys)
    if (grants.length) await this.engine.touchOauthGrants(grants)
    const sessions = [...this.usedSessions].flatMap((idHash) => this.sessions.get(idHash) ?? [])
    this.usedSessions.clear()
    if (sessions.length) await this.engine.saveSessions(sessions)
  }

  private byTokenHash(hash: string): Identity | null {
    if (this.rootHash && timingSafeEqual(Buffer.from(hash, 'hex'), this.rootHash)) return ROOT
    return this.keysByHash.get(hash) ?? null
  }

  /** @returns how long the address is told to wait, ms; 0 while it has failed less than ten times. */
  private countFailure(address: string): number {
    const now = this.now()
    const entry = this.failures.get(address)
    if (!entry || now - entry.since > MINUTE_MS) {
      // Bounded: an attacker with many addresses must not grow the table.
      if (this.failures.size > 10_000) this.failures.clear()
      this.failures.set(address, { count: 1, since: now })
      return 0
    }
    entry.count++
    return entry.count > FAILURES_PER_MINUTE ? MINUTE_MS - (now - entry.since) : 0
  }
}

const tooMany = (waitMs: number): SvcError =>
  new SvcError('too_many', 'too many wrong credentials; wait a minute', {
    retryAfter: Math.ceil(waitMs / 1000),
  })

/** Who is calling, as it is shown. */
export const identityShown = ({
  id,
  name,
  scopes,
  project,
  projectName,
  oauth,
}: Identity): IdentityShown => ({
  ...{ id, name, scopes: [...scopes] },
  ...(project === null ? {} : { project, project_name: projectName }),
  ...(oauth === null ? {} : { oauth }),
})

/** What an access token for the telemetry query server opens here: what `svc telemetry` asks in its name. */
const TELEMETRY_ROUTES = new Set([
  ...['GET /health', 'GET /api/whoami', 'GET /api/traces', 'GET /api/traces/:id', 'GET /api/telemetry/spans'],
  ...['GET /api/telemetry/metrics', 'GET /api/telemetry/agents', 'POST /api/telemetry/keys'],
  'GET /api/workspaces',
])

/** @param pattern of the route; null: there is none. @throws SvcError unauthenticated */
export function checkAudience({ oauth }: Identity, method: string, pattern: string | null): void {
  if (oauth === null || kindOf(oauth.resource) !== 'telemetry') return
  if (!TELEMETRY_ROUTES.has(`${method} ${pattern}`))
    throw new SvcError(
      'unauthenticated',
      'this access token is for the telemetry query server, not for the API',
    )
}

/** @throws SvcError unauthenticated, forbidden */
export function requireScope(
  identity: Identity | null,
  scope: 'any' | 'read' | 'ingest' | 'admin' | 'findings' | 'respond',
): Identity {
  if (!identity) throw new SvcError('unauthenticated', 'authentication required')
  if (scope !== 'any' && !identity.scopes.includes(scope) && !identity.scopes.includes('admin'))
    throw new SvcError('forbidden', `this credential lacks the '${scope}' scope`)
  return identity
}

function bearer(request: Pick<FastifyRequest, 'headers'>): string | null {
  const match = /^(?:bearer|splunk) +(\S+)\s*$/i.exec(request.headers.authorization ?? '') // as Splunk's senders name it
  if (match) return match[1]!
  const header = request.headers['x-svc-token'] ?? request.headers[FIREHOSE_KEY]
  return typeof header === 'string' && header.trim() !== '' ? header.trim() : null
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
