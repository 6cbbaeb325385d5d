/**
 * Clients that people sign in by OAuth 2.1, as they are stored: registered clients (RFC 7591), grants that a person
 * consented to, and their tokens by SHA-256 alone. A refresh token is exchanged once; one that comes again was seen by
 * somebody else, and ends its grant (OAuth 2.1, section 4.3.1; RFC 9700, section 4.14.2).
 *
 * Logins that a person approved and whose machine has not yet come for its key (SPEC.md,
 * Authentication 10). A grant is kept under the hash of a one-time code, for 60 seconds, bound to the
 * challenge of the command that asked (RFC 7636, S256) and to its port on 127.0.0.1. It holds no key:
 * that is made when the code comes back with the verifier. Grants are in memory alone: a restart drops
 * them, and the person approves again.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { LoginApprove, LoginExchange, OauthRevoked, OauthSession } from '../../schemas/types.ts'
import type { Caller, OauthTokenRecord, SessionRecord } from '../calls.ts'
import type { Clock } from '../clock.ts'
import { fail } from '../errors.ts'
import type { Database, StoreHandle } from '../log/store/handle.ts'
import { iso } from '../model/units.ts'
import type { Egress } from '../net/fetch.ts'
import { hashSecret } from './keys.ts'

export const ACCESS_TOKEN_PREFIX = 'svc_oat_'
const REFRESH_TOKEN_PREFIX = 'svc_ort_'
const ACCESS_MS = 3_600_000
/** A refresh token that is not used for so long is forgotten, and its grant with it. */
const REFRESH_MS = 30 * 86_400_000
/** Registered at once; those that nobody signed in make room, the oldest first. */
const CLIENTS_MAX = 500
/** A client that nobody signed in is kept so long at least, for a person may be reading its consent page. */
const CLIENT_FRESH_MS = 10 * 60_000
const GRANTS_MAX = 500
/** Spent refresh tokens of one grant that are remembered. */
const SPENT_MAX = 1_000
const TOUCH_MS = 60_000

export interface OauthClient {
  id: string
  name: string
  redirectUris: string[]
}

export interface NewGrant {
  clientId: string
  approver: string
  approverHash: string
  resource: string
  scopes: string[]
}

/** Tokens as they are told once. */
export interface OauthTokens {
  grant: string
  access: string
  refresh: string
  /** Seconds. */
  expiresIn: number
  scopes: string[]
}

export interface RefreshAsked {
  hash: string
  clientId: string
  /** Null: it names none. */
  resource: string | null
  /** Fewer than were consented to; null: all. */
  scopes: string[] | null
}

/** Refused, with the error of RFC 6749, section 5.2. */
export interface OauthFault {
  fault: 'invalid_grant' | 'invalid_scope' | 'invalid_target'
  detail: string
  /** Its session was ended. */
  isEnded?: true
}

export interface OauthCalls {
  /** @throws SvcError too_many */
  registerOauthClient(of: Omit<OauthClient, 'id'>): Promise<OauthClient>
  /** Stores a client that has a metadata document, once a person consented. @throws SvcError too_many */
  keepOauthClient(client: OauthClient): Promise<void>
  findOauthClient(id: string): Promise<OauthClient | null>
  /** A person consented and the client came with its code. @throws SvcError too_many; not_found */
  openOauthGrant(grant: NewGrant): Promise<OauthTokens>
  /** New tokens for a refresh token, which is spent; one that was spent before ends the grant. */
  refreshOauthTokens(asked: RefreshAsked): Promise<OauthTokens | OauthFault>
  /** Ends the grant of a token of the client. @returns whether it did, or the token is of another client */
  endOauthToken(of: { hash: string; clientId: string }): Promise<{ isOthers: boolean; isEnded: boolean }>
  endOauthGrant(grant: string): Promise<void>
  touchOauthGrants(ids: string[]): Promise<void>
  /** Newest first. */
  listOauthSessions(): Promise<OauthSession[]>
  /** @throws SvcError not_found */
  revokeOauthSession(id: string): Promise<OauthRevoked>
}

export function createOauth(store: StoreHandle, clock: Clock): OauthCalls & { tokens(): OauthTokenRecord[] } {
  const rows = oauthQueries(store.db)
  const issue = (grant: string, scopes: string[], granted: string[]): OauthTokens => {
    const now = clock.now()
    const [access, refresh] = [ACCESS_TOKEN_PREFIX, REFRESH_TOKEN_PREFIX].map(
      (prefix) => prefix + randomBytes(32).toString('base64url'),
    ) as [string, string]
    rows.dropAccess(grant)
    rows.addToken(hashSecret(access), grant, 'access', scopes, now + ACCESS_MS)
    rows.addToken(hashSecret(refresh), grant, 'refresh', granted, now + REFRESH_MS)
    rows.forgetSpent(grant)
    return { grant, access, refresh, expiresIn: ACCESS_MS / 1_000, scopes }
  }
  const prune = (): void => rows.prune(clock.now())
  const keep = ({ id, name, redirectUris }: OauthClient): void => {
    prune()
    const now = clock.now()
    const isNew = rows.client(id) === null
    if (isNew && rows.clients() >= CLIENTS_MAX && rows.dropUnused(now - CLIENT_FRESH_MS) === 0)
      fail('too_many', `${CLIENTS_MAX} clients are registered; revoke sessions, or register again later`, {
        retryAfter: CLIENT_FRESH_MS / 1_000,
      })
    rows.addClient({ id, name, uris: JSON.stringify(redirectUris), now })
  }

  return {
    tokens: () => rows.active(clock.now()),
    registerOauthClient: async (given) =>
      store.tx(() => {
        const client = { ...given, id: `svc_client_${randomBytes(16).toString('base64url')}` }
        keep(client)
        return client
      }),
    keepOauthClient: async (client) => store.tx(() => keep(client)),
    findOauthClient: async (id) => rows.client(id),
    openOauthGrant: async (grant) =>
      store.tx(() => {
        prune()
        if (!rows.client(grant.clientId)) fail('not_found', 'the client is not registered any more')
        if (rows.grants() >= GRANTS_MAX)
          fail(
            'too_many',
            `${GRANTS_MAX} clients are signed in; sign some out in Settings under Access and API keys`,
          )
        const id = randomBytes(8).toString('hex')
        rows.addGrant({ ...grant, id, scopes: JSON.stringify(grant.scopes), now: clock.now() })
        return issue(id, grant.scopes, grant.scopes)
      }),
    refreshOauthTokens: async (asked) => store.tx(() => refreshed(rows, asked, clock.now(), issue)),
    endOauthToken: async ({ hash, clientId }) =>
      store.tx(() => {
        const token = rows.token(hash)
        if (!token) return { isOthers: false, isEnded: false }
        if (token.client_id !== clientId) return { isOthers: true, isEnded: false }
        rows.dropGrant(token.grant_id)
        return { isOthers: false, isEnded: true }
      }),
    endOauthGrant: async (grant) => void rows.dropGrant(grant),
    touchOauthGrants: async (ids) =>
      store.tx(() => {
        for (const id of ids) rows.touch(id, clock.now(), clock.now() - TOUCH_MS)
      }),
    listOauthSessions: async () => rows.sessions(clock.now()),
    revokeOauthSession: async (id) => {
      if (rows.dropGrant(id) === 0) fail('not_found', `no signed-in client has the id ${id}`)
      return { ok: true, note: 'its tokens no longer open anything' }
    },
  }
}

/** Inside a transaction. */
function refreshed(
  rows: ReturnType<typeof oauthQueries>,
  { hash, clientId, resource, scopes }: RefreshAsked,
  now: number,
  issue: (grant: string, scopes: string[], granted: string[]) => OauthTokens,
): OauthTokens | OauthFault {
  const token = rows.token(hash)
  const unknown = {
    fault: 'invalid_grant',
    detail: 'the refresh token is not known, expired or revoked',
  } as const
  if (token?.kind !== 'refresh' || token.client_id !== clientId) return unknown
  if (token.spent_at !== null) {
    rows.dropGrant(token.grant_id)
    return {
      fault: 'invalid_grant',
      detail: 'the refresh token was used before: the session has been ended',
      isEnded: true,
    }
  }
  if (token.expires_at <= now) return unknown
  if (resource !== null && resource !== token.resource)
    return { fault: 'invalid_target', detail: 'resource is not the one that was consented to' }
  const granted = JSON.parse(token.granted) as string[]
  if (scopes?.some((scope) => !granted.includes(scope)))
    return { fault: 'invalid_scope', detail: 'scope is more than was consented to' }
  rows.spend(hash, now)
  rows.use(token.grant_id, clientId, now)
  return issue(token.grant_id, scopes ?? granted, granted)
}

/* Client ID Metadata Documents. */

export interface ClientDocumentCalls {
  /**
   * Fetches a client's document without reading it. @param url https
   * @returns its text and for how long it may be cached (milliseconds; null: its server does not say); or the reason it cannot be
   *   fetched, in words that follow "the document"
   */
  fetchClientDocument(url: string): Promise<{ text: string; maxAgeMs: number | null } | { fault: string }>
}

const DOCUMENT_TIMEOUT_MS = 5_000
/** The draft recommends 5 kB (section 6.6); a list of addresses may take a little more. */
const DOCUMENT_BYTES = 10 * 1_024

/** By the guarded way out: whoever opens a consent page names the address, so none of a private network is asked. */
export function clientDocumentCalls({ egress }: { egress: Pick<Egress, 'send'> }): ClientDocumentCalls {
  return {
    fetchClientDocument: async (url) => {
      const answer = await egress.send({
        ...{ url, method: 'GET', headers: { accept: 'application/json' }, audience: 'caller' },
        ...{ timeoutMs: DOCUMENT_TIMEOUT_MS, maxResponseBytes: DOCUMENT_BYTES, redirects: 0 },
      })
      if (!answer.ok) return { fault: `cannot be had: ${answer.message}` }
      const { status, headers, body } = answer
      if (status >= 300 && status < 400) return { fault: `answers ${status}: redirects are not followed` }
      if (status !== 200) return { fault: `answers ${status}` }
      if (!/^application\/(?:[\w.-]+\+)?json\b/i.test(headers['content-type'] ?? ''))
        return { fault: 'is not application/json' }
      const control = String(headers['cache-control'] ?? '')
      const seconds = /\bno-(?:store|cache)\b/i.test(control)
        ? '0'
        : /\bmax-age=(\d{1,9})/i.exec(control)?.[1]
      return { text: body.toString('utf8'), maxAgeMs: seconds === undefined ? null : Number(seconds) * 1_000 }
    },
  }
}

/* The SQL of them. */

interface TokenRow {
  grant_id: string
  kind: 'access' | 'refresh'
  expires_at: number
  spent_at: number | null
  client_id: string
  resource: string
  /** JSON list of what was consented to. */
  granted: string
}

function oauthQueries(db: Database) {
  const client = db.prepare<[string], { id: string; name: string; redirect_uris: string }>(
    'SELECT id, name, redirect_uris FROM oauth_clients WHERE id = ?',
  )
  const addClient = db.prepare<{ id: string; name: string; uris: string; now: number }>(
    `INSERT INTO oauth_clients (id, name, redirect_uris, created_at, used_at) VALUES (@id, @name, @uris, @now, @now)
     ON CONFLICT (id) DO UPDATE SET name = excluded.name, redirect_uris = excluded.redirect_uris, used_at = excluded.used_at`,
  )
  const count = (table: string) => db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck()
  const [clients, grants] = [count('oauth_clients'), count('oauth_grants')]
  const dropUnused = db.prepare<[number]>(
    `DELETE FROM oauth_clients WHERE id IN (SELECT id FROM oauth_clients WHERE used_at <= ?
       AND id NOT IN (SELECT client_id FROM oauth_grants) ORDER BY used_at LIMIT 50)`,
  )
  const addGrant = db.prepare<Omit<NewGrant, 'scopes'> & { id: string; scopes: string; now: number }>(
    `INSERT INTO oauth_grants (id, client_id, approver, approver_hash, resource, scopes, created_at, used_at)
     VALUES (@id, @clientId, @approver, @approverHash, @resource, @scopes, @now, @now)`,
  )
  const addToken = db.prepare<[string, string, string, string, number]>(
    'INSERT INTO oauth_tokens (hash, grant_id, kind, scopes, expires_at) VALUES (?, ?, ?, ?, ?)',
  )
  const token = db.prepare<[string], TokenRow>(
    `SELECT t.grant_id, t.kind, t.expires_at, t.spent_at, g.client_id, g.resource, g.scopes AS granted
     FROM oauth_tokens t JOIN oauth_grants g ON g.id = t.grant_id WHERE t.hash = ?`,
  )
  const spend = db.prepare<[number, string]>('UPDATE oauth_tokens SET spent_at = ? WHERE hash = ?')
  const dropAccess = db.prepare<[string]>("DELETE FROM oauth_tokens WHERE grant_id = ? AND kind = 'access'")
  const forgetSpent = db.prepare<[string, number]>(
    `DELETE FROM oauth_tokens WHERE hash IN (SELECT hash FROM oauth_tokens WHERE grant_id = ? AND spent_at IS NOT NULL
       ORDER BY spent_at DESC LIMIT -1 OFFSET ?)`,
  )
  const dropGrant = db.prepare<[string]>('DELETE FROM oauth_grants WHERE id = ?')
  const expire = db.prepare<[number]>('DELETE FROM oauth_tokens WHERE expires_at <= ?')
  const dropEmpty = db.prepare(
    'DELETE FROM oauth_grants WHERE id NOT IN (SELECT grant_id FROM oauth_tokens WHERE spent_at IS NULL)',
  )
  const active = db.prepare<[number], Omit<OauthTokenRecord, 'scopes'> & { scopes: string }>(
    `SELECT t.hash, g.id AS "grant", c.id AS clientId, c.name AS clientName, g.approver_hash AS approverHash,
       g.resource, t.scopes, t.expires_at AS expiresAt
     FROM oauth_tokens t JOIN oauth_grants g ON g.id = t.grant_id JOIN oauth_clients c ON c.id = g.client_id
     WHERE t.kind = 'access' AND t.expires_at > ?`,
  )
  const touch = db.prepare<[number, string, number]>(
    'UPDATE oauth_grants SET used_at = ? WHERE id = ? AND used_at <= ?',
  )
  const useClient = db.prepare<[number, string]>('UPDATE oauth_clients SET used_at = ? WHERE id = ?')
  const sessions = db.prepare<
    [number],
    Record<'id' | 'client' | 'client_id' | 'approver' | 'resource' | 'scopes', string> &
      Record<'created_at' | 'used_at' | 'expires_at', number>
  >(
    `SELECT g.id, c.name AS client, c.id AS client_id, g.approver, g.resource, g.scopes, g.created_at, g.used_at,
       max(t.expires_at) AS expires_at
     FROM oauth_grants g JOIN oauth_clients c ON c.id = g.client_id JOIN oauth_tokens t ON t.grant_id = g.id
     WHERE t.spent_at IS NULL AND t.expires_at > ? GROUP BY g.id ORDER BY g.created_at DESC, g.id`,
  )
  return {
    client: (id: string): OauthClient | null => {
      const row = client.get(id)
      return row ? { id, name: row.name, redirectUris: JSON.parse(row.redirect_uris) as string[] } : null
    },
    addClient: (row: Parameters<typeof addClient.run>[0]) => addClient.run(row),
    clients: () => clients.get() ?? 0,
    grants: () => grants.get() ?? 0,
    /** @returns how many made room */
    dropUnused: (before: number) => dropUnused.run(before).changes,
    addGrant: (row: Parameters<typeof addGrant.run>[0]) => addGrant.run(row),
    addToken: (
      hash: string,
      grant: string,
      kind: 'access' | 'refresh',
      scopes: string[],
      expiresAt: number,
    ) => addToken.run(hash, grant, kind, JSON.stringify(scopes), expiresAt),
    token: (hash: string) => token.get(hash),
    spend: (hash: string, at: number) => spend.run(at, hash),
    use: (grant: string, clientId: string, at: number) => {
      touch.run(at, grant, at)
      useClient.run(at, clientId)
    },
    dropAccess: (grant: string) => dropAccess.run(grant),
    forgetSpent: (grant: string) => forgetSpent.run(grant, SPENT_MAX),
    /** @returns 1, or 0 where there is none */
    dropGrant: (id: string) => dropGrant.run(id).changes,
    prune: (now: number) => {
      expire.run(now)
      dropEmpty.run()
    },
    active: (now: number): OauthTokenRecord[] =>
      active.all(now).map((row) => ({ ...row, scopes: JSON.parse(row.scopes) as string[] })),
    touch: (id: string, at: number, before: number) => touch.run(at, id, before),
    sessions: (now: number): OauthSession[] =>
      sessions.all(now).map(({ scopes, created_at, used_at, expires_at, ...row }) => ({
        ...row,
        scopes: JSON.parse(scopes) as string[],
        created_at: iso(created_at),
        last_used_at: iso(used_at),
        expires_at: iso(expires_at),
      })),
  }
}

/** How long a code is good for. */
const CODE_MS = 60_000
/** Approved at once: more than people do, and a bound for the memory. */
const WAITING_MAX = 100

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
    if (this.pending.size >= WAITING_MAX)
      fail('too_many', `${WAITING_MAX} approved logins wait for their machines`, {
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
